"""From a platform into SQL: submissions with their three clocks, answers with their times; safe to repeat at any time.

Every page of submissions becomes one transaction: worker identities, submissions and answers together. What is there
already is left as it is, so an interrupted collection goes on where it stopped. What nobody can place (a submission of
an unknown HIT, a person who never came to our pages) is counted and never stops the others; what cannot be read of one
submission is set aside (`_set_aside.py`).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import pandas as pd

from hmc_crowd.campaign._arrivals import Matched, matched
from hmc_crowd.campaign._aspects import canonical
from hmc_crowd.campaign._data import known_labels
from hmc_crowd.campaign._filled import close_filled
from hmc_crowd.campaign._guideline import Versions
from hmc_crowd.campaign._incoming import GoldTally
from hmc_crowd.campaign._missing import put_missing, tell_standing
from hmc_crowd.campaign._own_tests import collect_attempts
from hmc_crowd.campaign._pools import meet
from hmc_crowd.campaign._pseudonyms import known_as
from hmc_crowd.campaign._publish import require_published
from hmc_crowd.campaign._quotas import hand_quotas
from hmc_crowd.campaign._sending import settle_tried
from hmc_crowd.campaign._set_aside import Aside, SetAside, read_submissions, within_span
from hmc_crowd.errors import InputError
from hmc_crowd.platform import Recruiter, RoutedPages, SubmissionState, TaskPages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from hmc_crowd.campaign._context import Context, Progress
    from hmc_crowd.platform import Platform, RemoteAnswer, RemoteSubmission
    from hmc_crowd.store import HitRecord, SubmissionRecord, Transaction

__all__ = ["Collected", "collect", "mirror", "pages_of"]

_PAGE = 500


@dataclass(frozen=True)
class Collected:
    """What a collection brought.

    Parameters
    ----------
    submissions, answers : int
        New or changed submissions, and new answers.
    unusable : int
        Answers with a label or an item that was not asked for.
    open_places : int
        Places that somebody may still take.
    unmatched : int
        Submissions that belong to no HIT of ours, or whose worker never came to our pages.
    late : int
        Complete work that came too late to be paid by itself; see `Status.unpaid_late`.
    repeated : int
        Answers of workers who had answered the item in an earlier round: kept, and not counted again.
    missing : int
        Questions that somebody newly skipped or reported, each with its reason (`Campaign.missing_answers`).
    attempts, attempts_unmatched : int
        New attempts at qualification tests on these pages, and those at questions or a mark that no version has.
    gold, gold_right : int
        New answers that met gold, and how many of them are right; `Campaign.incoming` says which.
    set_aside : tuple of SetAside
        Submissions that cannot be read, or were handed in without an answer that can; every collection tries again.
    """

    submissions: int
    answers: int
    unusable: int
    open_places: int
    unmatched: int = 0
    late: int = 0
    repeated: int = 0
    missing: int = 0
    gold: int = 0
    gold_right: int = 0
    attempts: int = 0
    attempts_unmatched: int = 0
    set_aside: tuple[SetAside, ...] = ()

    def __str__(self) -> str:
        odd = [
            f", {count:,} {what}"
            for count, what in (
                (self.unusable, "answers unusable"),
                (self.repeated, "answers repeated"),
                (self.missing, "questions skipped or reported"),
                (self.unmatched, "submissions without work here"),
                (self.late, "submissions late and unpaid"),
                (self.attempts, "new attempts at tests"),
                (self.attempts_unmatched, "attempts at a test that is not kept here"),
                (len(self.set_aside), "submissions set aside because they cannot be read"),
            )
            if count
        ]
        if self.gold:
            odd.append(f", {self.gold_right:,} of {self.gold:,} right on gold")
        return (
            f"{self.submissions:,} submissions new or changed, {self.answers:,} new answers{''.join(odd)}; "
            f"{self.open_places:,} places still open"
        )


def pages_of(platform: Platform, pages: TaskPages | None) -> TaskPages:
    """Return who shows the work: the pages given, or the platform itself."""
    found = pages if pages is not None else platform
    if isinstance(platform, Recruiter) and not isinstance(found, RoutedPages):
        raise InputError(f"platform {platform.name!r} shows people no pages of its own; pass pages= as well")
    if not isinstance(found, TaskPages):
        raise InputError(f"platform {platform.name!r} shows no pages of its own; pass pages= as well")
    return found


def collect(
    context: Context, platform: Platform, pages: TaskPages | None = None, progress: Progress | None = None
) -> Collected:
    """Read everything the platform holds of the campaign's HITs and store what is new."""
    shown_by = pages_of(platform, pages)
    settle_tried(context, platform, pages)
    found = mirror(context, platform, shown_by, progress=progress)
    meet(context, platform)
    hand_quotas(context, platform)
    tell_standing(context, platform)
    tried = collect_attempts(context, shown_by)
    return replace(found, attempts=tried.new, attempts_unmatched=tried.unmatched)


def mirror(
    context: Context,
    platform: Platform,
    pages: TaskPages,
    *,
    unreviewed: bool = False,
    progress: Progress | None = None,
) -> Collected:
    """Bring what is stored of a platform's submissions up to date.

    Parameters
    ----------
    unreviewed : bool, default False
        Whether to look also at HITs that are full, for what became of the submissions that wait for a review.
    """
    with context.store.read() as tx:
        reader = _Reader(context, tx, platform.name)
        # HITs in which nothing can happen any more are not asked about.
        also = reader.incomplete | (reader.unreviewed if unreviewed else set())
        hits = [hit for hit in require_published(context, tx) if hit.platform == platform.name]
        hits = [hit for hit in hits if hit.state in {"open", "stopped"} or hit.key in also]
    by_id: dict[str, list[HitRecord]] = defaultdict(list)
    for hit in hits:
        by_id[str(hit.platform_hit_id)].append(hit)
    found = Collected(0, 0, 0, 0)
    unmatched: dict[str, dict[str, str]] = defaultdict(dict)
    total = sum(hit.redundancy for hit in hits)
    frees = platform.capabilities.rejection_frees_slot
    if frees:
        _free(platform, pages, reader.rejected)  # ours, too, whose process died before it came to that
    aside = Aside(platform.name)
    for page in _batched(reader.news(read_submissions(platform, list(by_id), aside)), _PAGE):
        rows, others = matched(aside.sound(page), by_id, platform=platform.name, pages=pages)
        for each in others:
            unmatched[each.hit_id][each.submission_id] = each.state.value
        done = [each for each in rows if each.remote.state.has_work]
        answers, skips = aside.answers(pages, done), aside.skips(pages, done)
        aside.empty(done, answers, skips)
        # Places are freed before the states are stored: what is stored is not looked at again after a crash.
        _free(platform, pages, [each.remote.submission_id for each in rows if each.is_over(rejection_frees=frees)])
        with context.store.begin() as tx:
            found = reader.put(tx, rows, answers, found)
            left = put_missing(context, tx, platform.name, rows, skips)
            found = replace(found, missing=found.missing + left)
        if progress is not None:
            progress("collecting", found.submissions, total)
    open_places = close_filled(context, platform, hits, unmatched)
    left_out = sum(len(some) for some in unmatched.values())
    found = replace(found, open_places=open_places, unmatched=left_out, set_aside=tuple(aside.found.values()))
    if found.submissions or found.answers:
        counts: dict[str, Any] = {name: getattr(found, name) for name in ("submissions", "answers", "unusable")}
        if aside.found:
            counts["set_aside"] = len(aside.found)
        with context.store.begin() as tx:
            context.log(tx, "collected", **counts)
    return found


def _free(platform: Platform, pages: TaskPages, submissions: Sequence[str]) -> None:
    """Let somebody else have the places of recruited people whose work is over; repeating it is harmless."""
    if submissions and isinstance(pages, RoutedPages):
        pages.release(platform.name, submissions)


class _Reader:
    """Stores pages of submissions; holds what must be known about all of them."""

    def __init__(self, context: Context, tx: Transaction, platform: str) -> None:
        self._context = context
        self._platform = platform
        known = tx.work.submissions(context.campaign_id)
        known = known[known["platform"] == platform]
        answered = tx.work.answer_counts(context.campaign_id, platform)
        rows = list(zip(*(known[name].tolist() for name in ("submission_id", "state", "hit_key")), strict=True))
        # Work that was handed in and has no answers here is asked for again: where people are recruited in one place
        # and work in another, the word that they are done may come before their answers.
        self._seen = {key: state for key, state, _ in rows if key in answered or not SubmissionState(state).has_work}
        self.incomplete = {hit for key, state, hit in rows if key not in self._seen or state == SubmissionState.UNKNOWN}
        self.rejected = [key for key, state, _ in rows if state == SubmissionState.REJECTED]
        self.unreviewed = {hit for _, state, hit in rows if state == SubmissionState.SUBMITTED}
        self._answered = set(answered)
        self._gold = GoldTally(context, tx)
        self._aspects = {each.name: each for each in tx.campaigns.aspects(context.campaign_id)}
        self._labels = {
            each.name: tuple(known_labels(context, tx, each)) for each in tx.campaigns.aspects(context.campaign_id)
        }

    def news(self, remote: Iterable[RemoteSubmission]) -> Iterator[RemoteSubmission]:
        """Leave out what is known and has nothing more to bring."""
        return (each for each in remote if self._seen.get(each.submission_id) != each.state)

    def put(
        self,
        tx: Transaction,
        rows: Sequence[Matched],
        answers: Mapping[str, tuple[RemoteAnswer, ...]],
        so_far: Collected,
    ) -> Collected:
        """Store a page; return the counts with it."""
        context, platform = self._context, self._platform
        workers = {each.remote.submission_id: each.remote.worker for each in rows}
        names = known_as(context.worker_key, tx, platform, workers)
        by_round: dict[int, list[SubmissionRecord]] = defaultdict(list)
        for each in rows:
            record = each.record(platform, names[each.remote.submission_id])
            by_round[int(each.hit.round or 0)].append(self._marked(record, each, answers))
        changed = sum(tx.work.put_submissions(context.campaign_id, number, some) for number, some in by_round.items())
        late = [each.remote.submission_id for each in rows if each.is_late]
        tx.work.review_submissions(
            context.campaign_id, platform, late, "unpaid_late", by="collect", at=context.clock.now()
        )
        stored, unusable, repeated = self._put_answers(tx, rows, names, answers)
        return replace(
            so_far,
            submissions=so_far.submissions + changed,
            answers=so_far.answers + stored,
            unusable=so_far.unusable + unusable,
            late=so_far.late + len(late),
            repeated=so_far.repeated + repeated,
            gold=self._gold.met,
            gold_right=self._gold.right,
        )

    @staticmethod
    def _fitted(
        each: Matched, answers: Mapping[str, tuple[RemoteAnswer, ...]]
    ) -> tuple[tuple[RemoteAnswer, ...], bool]:
        """Return a submission's answers with times that its own clock allows, and whether any was cut."""
        found = each.answers(answers)
        if each.work is not None:  # by the clock of our own pages, whatever another platform's says
            return found, False
        return within_span(found, each.remote.accepted_at, each.remote.submitted_at)

    def _marked(
        self, record: SubmissionRecord, each: Matched, answers: Mapping[str, tuple[RemoteAnswer, ...]]
    ) -> SubmissionRecord:
        """Return a record that says so where its answers claim more time than there was."""
        return replace(record, time_quality="clock_suspect") if self._fitted(each, answers)[1] else record

    def _put_answers(
        self,
        tx: Transaction,
        rows: Sequence[Matched],
        names: Mapping[str, str],
        answers: Mapping[str, tuple[RemoteAnswer, ...]],
    ) -> tuple[int, int, int]:
        """Store the answers whose label the aspect knows; count the others, and the repetitions."""
        by_round: dict[int, list[tuple[object, ...]]] = defaultdict(list)
        unusable = repeated = stored = 0
        versions = Versions(self._context, tx)
        before = self._before(tx, versions, rows, names)
        for each in rows:
            worker = names[each.remote.submission_id]
            asked = {(item.item, item.aspect): versions.meaning_of(item) for item in each.hit.items}
            for answer in self._fitted(each, answers)[0]:
                label = self._canonical(answer) if (answer.item, answer.aspect) in asked else None
                if label is None:
                    unusable += 1
                    continue
                again = (worker, answer.item, answer.aspect, asked[answer.item, answer.aspect]) in before
                repeated += again
                if not again and answer.mode == "blind" and each.remote.submission_id not in self._answered:
                    self._gold.meet(answer.item, answer.aspect, label)
                by_round[int(each.hit.round or 0)].append(
                    (
                        each.remote.submission_id,
                        self._platform,
                        answer.item,
                        answer.aspect,
                        worker,
                        label,
                        answer.started_at,
                        answer.submitted_at,
                        int(again),
                        answer.mode,
                        answer.swapped,
                        answer.suggestion or None,
                    )
                )
        for number, some in by_round.items():
            frame = pd.DataFrame(some, columns=_COLUMNS).astype({"swapped": "boolean"})
            stored += tx.work.add_answers(self._context.campaign_id, number, frame)
        return stored, unusable, repeated

    def _before(
        self, tx: Transaction, versions: Versions, rows: Sequence[Matched], names: Mapping[str, str]
    ) -> set[tuple[str, str, str, str]]:
        """Return what these workers answered in earlier rounds, and by a guideline of which meaning.

        Asked under a guideline that means something else, it is another question.
        """
        found: set[tuple[str, str, str]] = set()
        workers = {names[each.remote.submission_id] for each in rows}
        for number in {int(each.hit.round or 0) for each in rows}:
            if number > 1:
                some = {names[each.remote.submission_id] for each in rows if each.hit.round == number}
                found |= tx.work.answered_before(self._context.campaign_id, sorted(some), number)
        if not found or not versions.has_changed:
            return {(*each, versions.meaning(each[2], versions.first.get(each[2], ""))) for each in found}
        answers = tx.work.answers(self._context.campaign_id)
        answers = answers[answers["worker"].isin(workers)]
        said = [answers[name].astype(str) for name in ("worker", "task", "aspect")]
        every = zip(*said, versions.meanings(answers), strict=True)
        return {each for each in every if each[:3] in found}

    def _canonical(self, answer: RemoteAnswer) -> str | None:
        """Return an answer's label as it is stored, or None where the aspect does not allow it."""
        aspect = self._aspects.get(answer.aspect)
        return None if aspect is None else canonical(aspect, self._labels[answer.aspect], answer.label)


_COLUMNS = ["submission_id", "platform", "item", "aspect", "worker", "label", "started", "submitted", "retest"]
_COLUMNS += ["mode", "swapped", "suggestion"]


def _batched(source: Iterable[RemoteSubmission], size: int) -> Iterator[tuple[RemoteSubmission, ...]]:
    # itertools.batched came with Python 3.12.
    iterator = iter(source)
    while page := tuple(islice(iterator, size)):
        yield page
