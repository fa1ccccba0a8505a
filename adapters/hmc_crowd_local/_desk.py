"""May this worker do this, now? The rules of the workplace, in memory: no database, no clock of its own.

A `Desk` holds the HITs and submissions that somebody loaded, applies one step at a time and notes what changed; a step
either happens whole or raises and changes nothing. Guarantees: never more submissions hold a place than a HIT has
places, a worker has a HIT once and a question once, and an answer that was saved stays.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from hmc_crowd.errors import InputError, PlatformError
from hmc_crowd.platform import RemoteHit, SubmissionState
from hmc_crowd_local._clocks import stop_clocks
from hmc_crowd_local._kinds import checked_label
from hmc_crowd_local._records import AnswerRecord, HitRecord, SubmissionRecord, check_hit, check_text, content_hash
from hmc_crowd_local._states import FREE, Action, next_state

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from hmc_crowd._base.ids import IdSource
    from hmc_crowd.platform import Hit
    from hmc_crowd_local._records import Recruited
    from hmc_crowd_local._timing import PageEvent, Span

__all__ = ["Changes", "Desk"]


@dataclass
class Changes:
    """What is not stored yet, by key."""

    new_hits: dict[str, None] = field(default_factory=dict)
    closed_hits: dict[str, None] = field(default_factory=dict)
    grown_hits: dict[str, None] = field(default_factory=dict)
    new_submissions: dict[str, None] = field(default_factory=dict)
    changed_submissions: dict[str, None] = field(default_factory=dict)
    answers: dict[tuple[str, str, str], None] = field(default_factory=dict)
    events: list[tuple[str, int]] = field(default_factory=list)
    spans: dict[str, None] = field(default_factory=dict)
    claims: dict[tuple[str, str, str, str], str] = field(default_factory=dict)


class Desk:
    """The rules of the workplace over what it holds in memory.

    Parameters
    ----------
    ids : IdSource
        Names new HITs and submissions.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> import numpy as np
    >>> from hmc_crowd._base.clock import VirtualClock
    >>> from hmc_crowd._base.ids import RandomIds
    >>> from hmc_crowd.platform import Hit, HitItem
    >>> now = datetime(2026, 1, 1, tzinfo=UTC)
    >>> desk = Desk(RandomIds(VirtualClock(now), np.random.default_rng(0)))
    >>> question = HitItem("i1", "label", "d1", 1, "Hello.", labels=("fine", "rude"))
    >>> hit = desk.publish(Hit("k", "Judge", "", (question,), redundancy=1, pay_minor=5, currency="USD"), at=now)
    >>> work = desk.accept(hit.hit_id, "ann", at=now)
    >>> desk.save(work.submission_id, "ann", AnswerRecord("i1", "label", "fine"), at=now)
    >>> desk.submit(work.submission_id, "ann", at=now).state.value
    'submitted'
    """

    def __init__(self, ids: IdSource) -> None:
        self._ids = ids
        self.hits: dict[str, HitRecord] = {}
        self.by_key: dict[str, str] = {}
        self.submissions: dict[str, SubmissionRecord] = {}
        self.of_hit: dict[str, dict[str, str]] = defaultdict(dict)
        self.answers: dict[str, dict[tuple[str, str], AnswerRecord]] = defaultdict(dict)
        self.events: dict[str, list[PageEvent]] = defaultdict(list)
        self.skips: dict[str, set[tuple[str, str]]] = defaultdict(set)
        self.claims: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        # By worker and submission: what was counted as active time, no second of a worker twice.
        self.counted: dict[str, dict[str, list[Span]]] = defaultdict(dict)
        self.changes = Changes()

    # What was stored before: put on the desk without a check, because it was checked when it happened.

    def lay_hit(self, record: HitRecord) -> None:
        """Put a stored HIT on the desk."""
        self.hits[record.hit_id] = record
        self.by_key[record.hit.key] = record.hit_id

    def lay_submission(self, record: SubmissionRecord) -> None:
        """Put a stored submission on the desk."""
        self.submissions[record.submission_id] = record
        self.of_hit[record.hit_id][record.worker] = record.submission_id

    # The requester's side.

    def publish(self, hit: Hit, *, at: datetime, allow_repeat: bool = False) -> HitRecord:
        """Offer a HIT; the same key and content again is the same HIT, the same key with other content is refused."""
        check_hit(hit)
        if hit.key in self.by_key:
            record = self.hits[self.by_key[hit.key]]
            # It may have got more places since it was first published.
            first = replace(record.hit, redundancy=min(hit.redundancy, record.hit.redundancy))
            if content_hash(first, allow_repeat=record.allow_repeat) != content_hash(hit, allow_repeat=allow_repeat):
                raise PlatformError(
                    f"key {hit.key!r} is that of HIT {record.hit_id} with other content; give the bundle a new key"
                )
            return record
        record = HitRecord(self._ids.new(), hit, at, allow_repeat=allow_repeat)
        self.lay_hit(record)
        self.changes.new_hits[record.hit_id] = None
        return record

    def close(self, hit_id: str, *, at: datetime) -> HitRecord:
        """Offer the HIT to nobody more; said twice, the first time counts."""
        record = self.hit(hit_id)
        if record.closed_at is None:
            record.closed_at = at
            self.changes.closed_hits[hit_id] = None
        return record

    def grow(self, hit_id: str, places: int) -> HitRecord:
        """Bring a HIT to so many places in all; it never loses one."""
        record = self.hit(hit_id)
        if places > record.hit.redundancy:
            record.hit = replace(record.hit, redundancy=places)
            self.changes.grown_hits[hit_id] = None
        return record

    def review(
        self, submission_id: str, action: Action, *, at: datetime, reason: str | None = None
    ) -> SubmissionRecord:
        """Approve or reject submitted work."""
        record = self.submission(submission_id)
        self._lapse_if_due(record, at)
        state = next_state(submission_id, record.state, action)
        if state is not record.state:
            record.state, record.reviewed_at, record.reason = state, at, reason
            self._touch(record)
        return record

    def remote_hit(self, hit_id: str, *, at: datetime) -> RemoteHit:
        """Return the HIT as the port shows it: open while it is offered and has a free place."""
        record = self.hit(hit_id)
        is_open = record.is_offered(at) and bool(self.free_places(hit_id))
        return RemoteHit(hit_id, record.hit.key, record.hit.redundancy, is_open, record.created_at)

    # The worker's side.

    def accept(self, hit_id: str, worker: str, *, at: datetime, recruited: Recruited | None = None) -> SubmissionRecord:
        """Take a place; who has one under way gets that one back (a page loaded again, a second tab).

        ``recruited`` says which platform sent the worker; how long the HIT is offered is then that one's business.
        """
        record = self.hit(hit_id)
        if not worker:
            raise InputError("worker is empty; give the worker's id")
        check_text(worker, name="worker")
        self.sweep(hit_id, at=at)
        own = self.of_hit[hit_id].get(worker)
        if own is not None and self.submissions[own].is_under_way_for(recruited):
            return self.submissions[own]
        self._refuse_accept(record, worker, own, at, is_recruited=recruited is not None)
        recruited_by, external_id, order_key = recruited or (None, None, None)
        submission = SubmissionRecord(
            submission_id=self._ids.new(),
            hit_id=hit_id,
            worker=worker,
            place=self.free_places(hit_id)[0],
            state=SubmissionState.ACCEPTED,
            accepted_at=at,
            deadline_at=at + timedelta(seconds=_time_s(record.hit.time_limit_s, is_recruited=recruited is not None)),
            recruited_by=recruited_by,
            external_id=external_id,
            order_key=order_key,
        )
        self.lay_submission(submission)
        self.changes.new_submissions[submission.submission_id] = None
        for each in record.hit.items:
            question = (record.hit.scope, each.item, each.aspect)
            if worker not in self.claims[question]:
                self.claims[question].add(worker)
                self.changes.claims[(worker, *question)] = hit_id
        return submission

    def _refuse_accept(
        self, record: HitRecord, worker: str, own: str | None, at: datetime, *, is_recruited: bool
    ) -> None:
        if own is not None:
            state = self.submissions[own].state.value
            raise PlatformError(f"worker {worker!r} had HIT {record.hit_id} already ({state}); accept is once per HIT")
        if record.closed_at is not None or not (is_recruited or record.is_offered(at)):
            raise PlatformError(f"HIT {record.hit_id} is closed; accept is not possible any more")
        if not self.free_places(record.hit_id):
            raise PlatformError(f"HIT {record.hit_id} has all {record.hit.redundancy} places taken; accept another one")
        if not record.allow_repeat:
            for each in record.hit.items:
                if worker in self.claims[record.hit.scope, each.item, each.aspect]:
                    raise PlatformError(
                        f"worker {worker!r} had item {each.item!r}, aspect {each.aspect!r} in another HIT; "
                        f"accept of HIT {record.hit_id} would show it twice"
                    )

    def render(self, submission_id: str, worker: str, *, at: datetime) -> SubmissionRecord:
        """Note when the page was first shown; later renderings change nothing."""
        record = self._owned(submission_id, worker)
        if record.rendered_at is None:
            record.rendered_at = at
            self._touch(record)
        return record

    def save(self, submission_id: str, worker: str, answer: AnswerRecord, *, at: datetime) -> None:
        """Keep an answer as a draft; a later one to the same question takes its place until the work is handed in."""
        record = self._owned(submission_id, worker)
        self._lapse_if_due(record, at)
        next_state(submission_id, record.state, Action.SAVE)
        answer = replace(answer, label=self._checked_label(record, answer))
        self.answers[submission_id][answer.item, answer.aspect] = answer
        self.changes.answers[submission_id, answer.item, answer.aspect] = None

    def record_events(self, submission_id: str, worker: str, events: Iterable[PageEvent]) -> None:
        """Keep what the page saw; never refused for its state, because the raw record is evidence."""
        self._owned(submission_id, worker)
        kept = self.events[submission_id]
        for event in events:
            self.changes.events.append((submission_id, len(kept)))
            kept.append(event)

    def submit(
        self, submission_id: str, worker: str, *, at: datetime, expects_events: bool = False
    ) -> SubmissionRecord:
        """Hand the work in; after the deadline it stays expired: kept, flagged late, and not counted.

        ``expects_events``: it was done on a page that reports what it sees, so active time follows from that alone;
        silence means that the page's script did not run.
        """
        record = self._owned(submission_id, worker)
        self._lapse_if_due(record, at)
        state = next_state(submission_id, record.state, Action.SUBMIT)
        if record.submitted_at is not None:
            return record
        if state is SubmissionState.SUBMITTED:
            self._require_all_answers(record)
        record.is_late = state is SubmissionState.EXPIRED
        record.state, record.submitted_at = state, at
        record.ended_at = record.ended_at or at
        self._stop_clocks(record, () if expects_events else self.answers[submission_id].values(), at)
        self._touch(record)
        return record

    def give_back(self, submission_id: str, worker: str, *, at: datetime) -> SubmissionRecord:
        """Return the HIT without handing it in; the place is free again."""
        record = self._owned(submission_id, worker)
        self._lapse_if_due(record, at)
        self._end(record, next_state(submission_id, record.state, Action.RETURN), at)
        return record

    def lapse(self, submission_id: str) -> SubmissionRecord:
        """Let the time of accepted work run out; the place is free again from its deadline on."""
        record = self.submission(submission_id)
        self._end(record, next_state(submission_id, record.state, Action.EXPIRE), record.deadline_at)
        return record

    def release(self, submission_id: str, *, at: datetime) -> bool:
        """Free a place because the recruiting platform ended the work; what was answered or handed in is kept."""
        record = self.submission(submission_id)
        if record.state is SubmissionState.ACCEPTED:
            self._end(record, next_state(submission_id, record.state, Action.EXPIRE), min(at, record.deadline_at))
            return True
        had_place, record.place = record.place is not None, None
        self._touch(record)
        return had_place

    def sweep(self, hit_id: str, *, at: datetime) -> None:
        """Let all work of a HIT lapse whose deadline has passed."""
        for submission_id in self.of_hit[hit_id].values():
            self._lapse_if_due(self.submissions[submission_id], at)

    # Looking things up.

    def hit(self, hit_id: str) -> HitRecord:
        """Return a HIT, or refuse an unknown id."""
        if hit_id not in self.hits:
            raise PlatformError(f"HIT {hit_id!r} is unknown here; check the id and the database address")
        return self.hits[hit_id]

    def submission(self, submission_id: str) -> SubmissionRecord:
        """Return a submission, or refuse an unknown id."""
        if submission_id not in self.submissions:
            raise PlatformError(f"submission {submission_id!r} is unknown here; check the id and the database address")
        return self.submissions[submission_id]

    def free_places(self, hit_id: str) -> list[int]:
        """Return the numbers of the places that nobody holds, lowest first."""
        held = {self.submissions[each].place for each in self.of_hit[hit_id].values()}
        return [place for place in range(self.hits[hit_id].hit.redundancy) if place not in held]

    def barred(self, hit_id: str) -> frozenset[str]:
        """Return the workers who may not take this HIT: they had it, or had one of its questions elsewhere."""
        record = self.hit(hit_id)
        had = set(self.of_hit[hit_id])
        if not record.allow_repeat:
            had.update(*(self.claims[record.hit.scope, each.item, each.aspect] for each in record.hit.items))
        return frozenset(had)

    def _owned(self, submission_id: str, worker: str) -> SubmissionRecord:
        record = self.submission(submission_id)
        if record.worker != worker:
            raise PlatformError(f"submission {submission_id} is not that of worker {worker!r}; nothing was changed")
        return record

    def _lapse_if_due(self, record: SubmissionRecord, at: datetime) -> None:
        if record.state is SubmissionState.ACCEPTED and at > record.deadline_at:
            self.lapse(record.submission_id)

    def _end(self, record: SubmissionRecord, state: SubmissionState, at: datetime) -> None:
        record.state, record.ended_at = state, at
        # How long people worked who were not done in the end is a lower bound for how long the work takes.
        self._stop_clocks(record, self.answers[record.submission_id].values(), at)
        if state in FREE:
            record.place = None
        self._touch(record)

    def _stop_clocks(self, record: SubmissionRecord, answers: Iterable[AnswerRecord], at: datetime) -> None:
        name, mine = record.submission_id, self.counted[record.worker]
        others = [
            span for other, spans in mine.items() if other != name for span in spans if span[1] > record.accepted_at
        ]
        mine[name] = stop_clocks(record, self.hits[record.hit_id], answers, self.events[name], at=at, counted=others)
        self.changes.spans[name] = None

    def _touch(self, record: SubmissionRecord) -> None:
        if record.submission_id not in self.changes.new_submissions:
            self.changes.changed_submissions[record.submission_id] = None

    def _checked_label(self, record: SubmissionRecord, answer: AnswerRecord) -> str:
        check_text(answer.label, name=f"label of item {answer.item!r}")
        for each in self.hits[record.hit_id].hit.items:
            if (each.item, each.aspect) == (answer.item, answer.aspect):
                return checked_label(each, answer.label)
        raise InputError(
            f"item {answer.item!r}, aspect {answer.aspect!r} is not in HIT {record.hit_id}; nothing was saved"
        )

    def _require_all_answers(self, record: SubmissionRecord) -> None:
        given = self.answers[record.submission_id].keys() | self.skips[record.submission_id]
        missing = [each.item for each in self.hits[record.hit_id].hit.items if (each.item, each.aspect) not in given]
        if missing:
            raise PlatformError(
                f"submission {record.submission_id} is accepted; submit is not possible before item {missing[0]!r} "
                f"is answered ({len(missing)} missing)"
            )


def _time_s(limit_s: int, *, is_recruited: bool) -> int:
    """Return how long a place is kept; who was recruited elsewhere is on that platform's clock, so he gets grace."""
    return limit_s + max(limit_s, 3600) if is_recruited else limit_s
