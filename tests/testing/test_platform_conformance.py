"""Good platforms pass the suite, and each kind of broken one fails the check that is meant for it."""

import pytest
from hmc_crowd_local import connect

from hmc_crowd.errors import PlatformError
from hmc_crowd.platform import Account, Capabilities, RemoteAnswer
from hmc_crowd.testing import FakePlatform, drive_by_door, platform_conformance
from hmc_crowd.testing._checks import CHECKS


def test_the_workplace_keeps_the_contract(tmp_path, clock) -> None:
    numbers = iter(range(1000))
    report = platform_conformance(lambda: connect(str(tmp_path / f"{next(numbers)}.db"), clock=clock), drive_by_door)
    report.check()
    assert len(report.passed) == len(CHECKS)
    assert (report.failed, report.skipped) == ((), ())
    assert str(report) == f"platform local: {len(CHECKS)} checks passed, 0 failed"


@pytest.mark.parametrize("idempotent", [True, False])
@pytest.mark.parametrize("frees", [True, False])
def test_the_fake_keeps_the_contract(idempotent, frees) -> None:
    capabilities = Capabilities(idempotent_create=idempotent, rejection_frees_slot=frees)
    platform_conformance(lambda: FakePlatform(capabilities=capabilities), drive_by_door).check()


class PublishesTwice(FakePlatform):
    def publish(self, hit):
        self._desk.by_key.pop(hit.key, None)
        return super().publish(hit)


class ListsTwice(FakePlatform):
    def submissions(self, hit_ids):
        listed = list(super().submissions(hit_ids))
        return iter(listed + listed[:1])


class ForgetsWhatItFound(FakePlatform):
    def find(self, key):
        return None


class ShowsDrafts(FakePlatform):
    def answers(self, submission_ids):
        saved = {name: [each.remote() for each in self._desk.answers[name].values()] for name in submission_ids}
        return {name: tuple(each) or (RemoteAnswer("x", "label", "good"),) for name, each in saved.items()}


class ApprovesOnce(FakePlatform):
    def approve(self, submission_id):
        if self._desk.submission(submission_id).state.value == "approved":
            raise PlatformError("invalid state")
        return super().approve(submission_id)


class NeverCloses(FakePlatform):
    def expire(self, hit_id):
        return self._desk.remote_hit(hit_id, at=self.clock.now())


class KnowsEverything(FakePlatform):
    def submissions(self, hit_ids):
        return super().submissions([each for each in hit_ids if each in self._desk.hits])


class TakesAnyNumber(FakePlatform):
    def accept(self, hit_id, worker):
        hit = self._desk.hits[hit_id]
        for name in self._desk.of_hit[hit_id].values():
            self._desk.submissions[name].place = None
        assert hit
        return super().accept(hit_id, worker)


class Crashes(FakePlatform):
    def account(self):
        raise ZeroDivisionError("oops")


class OtherName(FakePlatform):
    def account(self):
        return Account("other", "", "", "")


@pytest.mark.parametrize(
    ("broken", "check"),
    [
        (PublishesTwice, "publish_again_is_the_same_hit"),
        (ListsTwice, "submissions_come_once_with_legal_states"),
        (ForgetsWhatItFound, "find_returns_what_was_published"),
        (ShowsDrafts, "drafts_and_returns_have_no_answers"),
        (ApprovesOnce, "approve_is_idempotent"),
        (NeverCloses, "expire_closes"),
        (KnowsEverything, "unknown_ids_are_refused"),
        (TakesAnyNumber, "places_are_not_exceeded"),
        (Crashes, "account_names_the_platform"),
        (OtherName, "account_names_the_platform"),
    ],
)
def test_a_broken_platform_fails_the_check_that_is_meant_for_it(broken, check) -> None:
    report = platform_conformance(broken, drive_by_door)
    assert check in dict(report.failed)
    assert not report.is_conformant
    assert check in str(report)
    with pytest.raises(PlatformError, match=f"platform 'fake' breaks the contract .*{check.replace('_', ' ')}"):
        report.check()


def test_a_wrong_capability_is_found() -> None:
    class SaysOtherwise(FakePlatform):
        def reject(self, submission_id, reason):
            remote = super().reject(submission_id, reason)
            self._desk.submission(submission_id).place = None
            return remote

    failed = dict(platform_conformance(SaysOtherwise, drive_by_door).failed)
    assert list(failed) == ["rejection_frees_the_place_as_capabilities_say"]


def test_a_platform_without_pages_skips_what_needs_them() -> None:
    class NoPages:
        """Hands everything on but the pages."""

        def __init__(self) -> None:
            self._inner = FakePlatform()

        def __getattr__(self, name):
            if name in {"show", "answers"}:
                raise AttributeError(name)
            return getattr(self._inner, name)

    report = platform_conformance(NoPages, drive_by_door)
    report.check()
    assert len(report.skipped) == sum(each.needs_pages for each in CHECKS)
    assert "do not apply" in str(report)


def test_every_platform_is_closed() -> None:
    closed = []

    class Closes(FakePlatform):
        def close(self):
            closed.append(self)

    platform_conformance(Closes, drive_by_door).check()
    assert len(closed) == len(CHECKS)
