"""The checks of the platform contract, one promise each. A check raises `Broken` with what it met."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import PlatformError
from hmc_crowd.platform import Hit, HitItem, RemoteHit, RemoteSubmission, SubmissionState, named

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Bench", "Broken", "Check"]

_LABELS = ("good", "bad")
_UNKNOWN = "no-such-id"


class Broken(Exception):  # noqa: N818 because it is a finding, no error of ours
    """The platform did not keep a promise."""


@dataclass(frozen=True)
class Check:
    """A named check."""

    name: str
    run: Callable[[Bench], None]
    needs_pages: bool = False


CHECKS: list[Check] = []


def _check(function: Callable[[Bench], None]) -> Callable[[Bench], None]:
    CHECKS.append(Check(function.__name__, function))
    return function


def _check_of_pages(function: Callable[[Bench], None]) -> Callable[[Bench], None]:
    CHECKS.append(Check(function.__name__, function, needs_pages=True))
    return function


def _require(condition: bool, finding: str) -> None:
    if not condition:
        raise Broken(finding)


class Bench:
    """A platform under test and the hands of its workers."""

    def __init__(self, platform: Any, drive: Any) -> None:
        self.platform = platform
        self._drive = drive

    def hit(self, key: str = "hit-1", *, redundancy: int = 1) -> Hit:
        """Return a HIT of two questions that no other key shares."""
        items = tuple(
            HitItem(f"{key}-item-{i}", "label", f"{key}-group", i, f"Text {i} & <b>ü</b>", ("Before.",), _LABELS)
            for i in (1, 2)
        )
        return Hit(key, "Judge two replies", "A check.", items, redundancy, pay_minor=10, currency="USD")

    def published(self, key: str = "hit-1", *, redundancy: int = 1) -> tuple[Hit, RemoteHit]:
        """Publish such a HIT."""
        hit = self.hit(key, redundancy=redundancy)
        return hit, self.platform.publish(hit)

    def do(self, hit: Hit, remote: RemoteHit, worker: str, until: str = "submit") -> str:
        """Make a worker do the HIT."""
        name: str = self._drive(self.platform, remote, hit, worker, until)
        return name

    def submissions(self, *remotes: RemoteHit) -> list[RemoteSubmission]:
        """Return all submissions of some HITs."""
        return list(self.platform.submissions([remote.hit_id for remote in remotes]))

    def state(self, remote: RemoteHit, submission_id: str) -> SubmissionState:
        """Return the state of a submission as the platform lists it."""
        for each in self.submissions(remote):
            if each.submission_id == submission_id:
                return each.state
        raise Broken(f"submission {submission_id!r} is not among those of its HIT")

    def refuses(self, call: Callable[[], Any], what: str) -> None:
        """Require that a call raises PlatformError."""
        try:
            call()
        except PlatformError:
            return
        raise Broken(f"{what} was not refused with PlatformError")


@_check
def account_names_the_platform(bench: Bench) -> None:
    account = bench.platform.account()
    _require(
        account.platform == bench.platform.name, f"account says {account.platform!r}, name {bench.platform.name!r}"
    )
    _require(bool(account.mode), "account has no mode")


@_check
def fees_are_not_negative(bench: Bench) -> None:
    fee = bench.platform.fees.fee_minor(100, redundancy=3)
    _require(fee >= 0, f"the fee of 100 is {fee}")


@_check
def publish_returns_an_open_hit(bench: Bench) -> None:
    _, remote = bench.published(redundancy=3)
    _require(remote.key == "hit-1" and remote.redundancy == 3, f"publish returned {remote}")
    _require(remote.is_open, "a new HIT is not open")
    _require(remote.created_at.utcoffset() is not None, "created_at has no time zone")


@_check
def publish_again_is_the_same_hit(bench: Bench) -> None:
    hit, first = bench.published()
    if not bench.platform.capabilities.idempotent_create:
        return
    second = bench.platform.publish(hit)
    _require(second.hit_id == first.hit_id, f"one key became the HITs {first.hit_id} and {second.hit_id}")


@_check
def publish_of_other_content_under_a_key_is_refused(bench: Bench) -> None:
    hit, first = bench.published()
    if not bench.platform.capabilities.idempotent_create:
        return
    bench.refuses(lambda: bench.platform.publish(replace(hit, pay_minor=11)), "other content under a known key")
    found = bench.platform.find(hit.key)
    _require(found is not None and found.hit_id == first.hit_id, f"afterwards find returns {found}")


@_check
def find_returns_what_was_published(bench: Bench) -> None:
    bench.published("hit-0")
    hit, remote = bench.published("hit-1", redundancy=2)
    found = bench.platform.find(hit.key)
    _require(found is not None, "find returned None for a published key")
    same = (found.hit_id, found.key, found.redundancy) == (remote.hit_id, hit.key, 2)
    _require(same, f"published {remote}, found {found}")


@_check
def find_of_an_unknown_key_is_none(bench: Bench) -> None:
    found = bench.platform.find(_UNKNOWN)
    _require(found is None, f"find returned {found}")


@_check
def a_new_hit_has_no_submissions(bench: Bench) -> None:
    _, remote = bench.published()
    _require(bench.submissions(remote) == [], "a HIT that nobody took has submissions")


@_check
def submissions_come_once_with_legal_states(bench: Bench) -> None:
    hit, remote = bench.published(redundancy=3)
    other, far = bench.published("hit-2", redundancy=2)
    names = {bench.do(hit, remote, "A1ANN"), bench.do(hit, remote, "A2BOB"), bench.do(other, far, "A1ANN")}
    listed = bench.submissions(remote, far, remote)
    seen = [each.submission_id for each in listed]
    _require(len(set(seen)) == len(seen), f"a submission came twice: {sorted(seen)}")
    _require(set(seen) == names, f"{len(names)} submissions were handed in, listed are {sorted(seen)}")
    _require(all(each.state is SubmissionState.SUBMITTED for each in listed), "handed-in work is not 'submitted'")
    where = {(each.hit_id, each.worker) for each in listed}
    _require(
        where == {(remote.hit_id, "A1ANN"), (remote.hit_id, "A2BOB"), (far.hit_id, "A1ANN")},
        f"hit and worker are {where}",
    )


@_check
def clocks_make_sense(bench: Bench) -> None:
    hit, remote = bench.published()
    bench.do(hit, remote, "A1ANN")
    (one,) = bench.submissions(remote)
    for name in ("accepted_at", "submitted_at"):
        moment = getattr(one, name)
        _require(moment is None or moment.utcoffset() is not None, f"{name} has no time zone")
    in_order = one.accepted_at is None or one.submitted_at is None or one.accepted_at <= one.submitted_at
    _require(in_order, f"accepted at {one.accepted_at}, submitted at {one.submitted_at}")
    for name in ("platform_elapsed_s", "page_elapsed_s", "active_s"):
        seconds = getattr(one, name)
        _require(seconds is None or seconds >= 0, f"{name} is {seconds}")


@_check
def a_worker_does_a_hit_once(bench: Bench) -> None:
    hit, remote = bench.published(redundancy=2)
    bench.do(hit, remote, "A1ANN")
    bench.refuses(lambda: bench.do(hit, remote, "A1ANN"), "a second submission of one worker")
    _require(len(bench.submissions(remote)) == 1, "one worker has two submissions of a HIT")


@_check
def places_are_not_exceeded(bench: Bench) -> None:
    hit, remote = bench.published(redundancy=2)
    bench.do(hit, remote, "A1ANN")
    bench.do(hit, remote, "A2BOB", "accept")
    bench.refuses(lambda: bench.do(hit, remote, "A3CYD"), "a third worker on two places")


@_check
def returned_work_frees_its_place(bench: Bench) -> None:
    hit, remote = bench.published()
    first = bench.do(hit, remote, "A1ANN", "return")
    second = bench.do(hit, remote, "A2BOB")
    states = {each.submission_id: each.state for each in bench.submissions(remote)}
    _require(states.get(second) is SubmissionState.SUBMITTED, f"the second worker's state is {states.get(second)}")
    _require(states.get(first) in {None, SubmissionState.RETURNED}, f"the first worker's state is {states.get(first)}")


@_check_of_pages
def answers_are_those_handed_in(bench: Bench) -> None:
    hit, remote = bench.published()
    name = bench.do(hit, remote, "A1ANN")
    asked = [(each.item, each.aspect) for each in hit.items]
    answers = named(bench.platform.answers([name, name])[name], asked)
    given = [(each.item, each.aspect) for each in answers]
    _require(sorted(given) == sorted(asked), f"asked {asked}, answered {given}")
    _require(all(each.label in _LABELS for each in answers), f"labels are {[each.label for each in answers]}")


@_check_of_pages
def drafts_and_returns_have_no_answers(bench: Bench) -> None:
    hit, remote = bench.published(redundancy=2)
    names = [bench.do(hit, remote, "A1ANN", "accept"), bench.do(hit, remote, "A2BOB", "return")]
    answers = bench.platform.answers(names)
    _require(not any(answers.get(name) for name in names), f"work that was not handed in has answers: {answers}")


@_check_of_pages
def show_again_gives_the_same_address(bench: Bench) -> None:
    hits = [bench.hit("hit-1"), bench.hit("hit-2")]
    first, second = dict(bench.platform.show(hits)), dict(bench.platform.show(hits))
    _require(set(first) == {"hit-1", "hit-2"}, f"show returned the keys {sorted(first)}")
    _require(first == second, f"first {first}, then {second}")


@_check
def approve_is_idempotent(bench: Bench) -> None:
    hit, remote = bench.published()
    name = bench.do(hit, remote, "A1ANN")
    states = [bench.platform.approve(name).state, bench.platform.approve(name).state, bench.state(remote, name)]
    _require(states == [SubmissionState.APPROVED] * 3, f"approved twice, the states are {states}")


@_check
def work_under_way_is_not_approved(bench: Bench) -> None:
    hit, remote = bench.published()
    name = bench.do(hit, remote, "A1ANN", "accept")
    bench.refuses(lambda: bench.platform.approve(name), "approving work that was not handed in")


@_check
def reject_keeps_the_work(bench: Bench) -> None:
    hit, remote = bench.published()
    name = bench.do(hit, remote, "A1ANN")
    states = [bench.platform.reject(name, "Both gold items are wrong.").state, bench.state(remote, name)]
    _require(states == [SubmissionState.REJECTED] * 2, f"after rejecting the states are {states}")


@_check
def rejection_frees_the_place_as_capabilities_say(bench: Bench) -> None:
    hit, remote = bench.published()
    bench.platform.reject(bench.do(hit, remote, "A1ANN"), "Both gold items are wrong.")
    frees = bench.platform.capabilities.rejection_frees_slot
    found = bench.platform.find(hit.key)
    _require(found is not None and found.is_open == frees, f"rejection_frees_slot is {frees}, afterwards {found}")


@_check
def approve_after_reject_is_refused_or_done(bench: Bench) -> None:
    hit, remote = bench.published()
    name = bench.do(hit, remote, "A1ANN")
    bench.platform.reject(name, "Both gold items are wrong.")
    try:
        expected = bench.platform.approve(name).state
    except PlatformError:
        expected = SubmissionState.REJECTED
    state = bench.state(remote, name)
    _require(state is expected, f"approve said {expected}, the list says {state}")
    _require(state in {SubmissionState.APPROVED, SubmissionState.REJECTED}, f"the state is {state}")


@_check
def approved_work_is_not_rejected(bench: Bench) -> None:
    hit, remote = bench.published()
    name = bench.do(hit, remote, "A1ANN")
    bench.platform.approve(name)
    bench.refuses(lambda: bench.platform.reject(name, "Too late."), "rejecting approved work")
    _require(bench.state(remote, name) is SubmissionState.APPROVED, "approved work changed its state")


@_check
def expire_closes(bench: Bench) -> None:
    hit, remote = bench.published(redundancy=2)
    closed = [bench.platform.expire(remote.hit_id).is_open, bench.platform.expire(remote.hit_id).is_open]
    found = bench.platform.find(hit.key)
    _require(closed == [False, False], f"expire twice returned is_open {closed}")
    _require(found is not None and not found.is_open, f"afterwards find returns {found}")
    bench.refuses(lambda: bench.do(hit, remote, "A1ANN"), "accepting an expired HIT")


@_check
def work_under_way_survives_expire(bench: Bench) -> None:
    hit, remote = bench.published()
    name = bench.do(hit, remote, "A1ANN", "accept")
    bench.platform.expire(remote.hit_id)
    again = bench.do(hit, remote, "A1ANN", "submit")
    _require(again == name, f"the worker went on as {again}, not as {name}")
    _require(bench.state(remote, name) is SubmissionState.SUBMITTED, "work accepted before was not taken after expire")


@_check
def unknown_ids_are_refused(bench: Bench) -> None:
    platform = bench.platform
    bench.refuses(lambda: list(platform.submissions([_UNKNOWN])), "submissions of an unknown HIT")
    bench.refuses(lambda: platform.approve(_UNKNOWN), "approving an unknown submission")
    bench.refuses(lambda: platform.reject(_UNKNOWN, "Why."), "rejecting an unknown submission")
    bench.refuses(lambda: platform.expire(_UNKNOWN), "expiring an unknown HIT")


@_check_of_pages
def answers_of_unknown_ids_are_refused(bench: Bench) -> None:
    bench.refuses(lambda: bench.platform.answers([_UNKNOWN]), "answers of an unknown submission")
