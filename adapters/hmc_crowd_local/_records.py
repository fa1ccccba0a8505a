"""What the workplace keeps of a HIT, a submission and an answer, apart from how it is stored."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from hmc_crowd._base.ids import digest
from hmc_crowd.errors import InputError
from hmc_crowd.platform import RemoteAnswer, RemoteSubmission, SubmissionState
from hmc_crowd_local._kinds import check_question
from hmc_crowd_local._timing import reading_allowance_s

if TYPE_CHECKING:
    from datetime import datetime

    from hmc_crowd.platform import Hit

__all__ = ["AnswerRecord", "HitRecord", "Recruited", "SubmissionRecord", "check_hit", "check_text", "content_hash"]


@dataclass(slots=True)
class HitRecord:
    """A published HIT; ``allow_repeat`` lets a worker meet a question again that he had in another HIT (a retest)."""

    hit_id: str
    hit: Hit
    created_at: datetime
    closed_at: datetime | None = None
    allow_repeat: bool = False

    @property
    def closes_at(self) -> datetime:
        """When it stops being offered by itself."""
        return self.created_at + timedelta(seconds=self.hit.lifetime_s)

    def is_offered(self, at: datetime) -> bool:
        """Whether it can be accepted at this moment, places apart."""
        return self.closed_at is None and at < self.closes_at

    def allowances_s(self) -> dict[str, float]:
        """Longest gap that counts as reading, by item."""
        return {
            each.item: reading_allowance_s(_words(each.text, *each.context, *each.options)) for each in self.hit.items
        }


class Recruited(NamedTuple):
    """Who sent a worker: the platform, the id of his work there, and the order that it is for."""

    platform: str
    external_id: str
    order_key: str


@dataclass(slots=True)
class SubmissionRecord:
    """One worker's work on one HIT; ``place`` is the slot it holds, None once that is free again."""

    submission_id: str
    hit_id: str
    worker: str
    place: int | None
    state: SubmissionState
    accepted_at: datetime
    deadline_at: datetime
    rendered_at: datetime | None = None
    submitted_at: datetime | None = None
    ended_at: datetime | None = None
    page_elapsed_s: float | None = None
    active_s: float | None = None
    time_quality: str = "ok"
    is_late: bool = False
    reviewed_at: datetime | None = None
    reason: str | None = None
    recruited_by: str | None = None
    external_id: str | None = None
    order_key: str | None = None

    def is_under_way_for(self, recruited: Recruited | None) -> bool:
        """Whether this is unfinished work that the same worker comes back to by the same way."""
        is_same = recruited is None or recruited[:2] == (self.recruited_by, self.external_id)
        return is_same and self.state is SubmissionState.ACCEPTED

    def remote(self) -> RemoteSubmission:
        """As the port shows it; work that came too late was never submitted as far as the requester is concerned."""
        elapsed = None if self.submitted_at is None else (self.submitted_at - self.accepted_at).total_seconds()
        return RemoteSubmission(
            submission_id=self.submission_id,
            hit_id=self.hit_id,
            worker=self.worker,
            state=self.state,
            accepted_at=self.accepted_at,
            submitted_at=self.submitted_at,
            platform_elapsed_s=elapsed,
            page_elapsed_s=self.page_elapsed_s,
            active_s=self.active_s,
            time_quality=self.time_quality,
        )


@dataclass(slots=True)
class AnswerRecord:
    """One answer, draft or final, with the times at which its question was shown and answered."""

    item: str
    aspect: str
    label: str
    shown_at: datetime | None = None
    answered_at: datetime | None = None
    swapped: bool | None = None
    mode: str = "blind"

    def remote(self, suggestion: str = "") -> RemoteAnswer:
        """As the port shows it."""
        return RemoteAnswer(
            self.item, self.aspect, self.label, self.shown_at, self.answered_at, self.swapped, self.mode, suggestion
        )


def content_hash(hit: Hit, *, allow_repeat: bool) -> str:
    """Return what tells whether two HITs of one key are the same."""
    content = asdict(hit)
    # What a HIT that was published before suggestions has not: its content is the same as ever.
    if not content["suggest_share"]:
        del content["suggest_share"]
    for each in content["items"]:
        if not each["suggestion"]:
            del each["suggestion"]
    return digest(json.dumps(content, sort_keys=True, ensure_ascii=True), allow_repeat)


def check_hit(hit: Hit) -> None:
    """Refuse a HIT that nobody could work on, or that the database could not hold."""
    if not hit.key or not hit.items:
        raise InputError(f"hit has key {hit.key!r} and {len(hit.items)} items; give it a key and at least one item")
    questions = [(each.item, each.aspect) for each in hit.items]
    if len(set(questions)) != len(questions):
        twice = next(each for position, each in enumerate(questions) if each in questions[:position])
        raise InputError(f"hit {hit.key!r} holds item {twice[0]!r}, aspect {twice[1]!r} twice; keep it once")
    for name, least in (("redundancy", 1), ("pay_minor", 0), ("time_limit_s", 1), ("lifetime_s", 1)):
        value = getattr(hit, name)
        if value < least:
            raise InputError(f"{name} of hit {hit.key!r} is {value}; it must be {least} or more")
    if not 0 <= hit.suggest_share <= 1:
        raise InputError(f"suggest_share of hit {hit.key!r} is {hit.suggest_share}; give a share in [0, 1]")
    for name in ("key", "title", "description", "scope", "guideline"):
        check_text(getattr(hit, name), name=f"{name} of hit {hit.key!r}")
    for text in (hit.terms.pool, *hit.terms.skills):
        check_text(text, name=f"terms of hit {hit.key!r}")
    for each in hit.items:
        check_question(each)
        texts = (each.item, each.aspect, each.group, each.text, each.question, each.language, each.category)
        for text in (*texts, each.suggestion, *each.context, *each.labels, *each.options):
            check_text(text, name=f"item {each.item!r} of hit {hit.key!r}")


def check_text(text: str, *, name: str) -> None:
    """Refuse text that a database cannot keep: a NUL character, or half of a surrogate pair."""
    is_plain = text.isascii()
    if "\x00" in text or (not is_plain and any("\ud800" <= each <= "\udfff" for each in text)):
        raise InputError(f"{name} holds a NUL or a lone surrogate character; remove it")


def _words(*texts: str) -> int:
    return sum(len(text.split()) for text in texts)
