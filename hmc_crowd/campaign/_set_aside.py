"""What of one submission cannot be read is set aside, counted and said; everybody else's work comes in.

A platform, its pages and their workers are strangers: an id may hold what no database takes, a clock may say infinity,
an answer's reader may fail. None of it stops a collection. What is set aside is asked for again by every later one, and
comes in as soon as it can be read.

Times are claims. An answer's time that lies outside its submission is moved into it, as a device with a wrong clock
would need; what does not fit between accepting and handing in is cut, and the submission marked ``clock_suspect``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.numbers import finite_number
from hmc_crowd.errors import HmcCrowdError
from hmc_crowd.platform import TellsSkips

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from hmc_crowd.campaign._arrivals import Matched
    from hmc_crowd.platform import Platform, RemoteAnswer, RemoteSkip, RemoteSubmission, TaskPages

__all__ = ["Aside", "SetAside", "read_submissions", "within_span", "without_work"]

# What reading a stranger's data raises where it is wrong; whatever else goes wrong is a fault of ours, and stops.
_UNREADABLE = (ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError, RecursionError)
_FIRST, _LAST = datetime(2000, 1, 1, tzinfo=UTC), datetime(3000, 1, 1, tzinfo=UTC)
# Two clocks are read at slightly different moments.
_SLACK = timedelta(seconds=5)
_LONGEST_ID = 1_000


@dataclass(frozen=True)
class SetAside:
    """One submission that could not be read, or was handed in without anything that could, and why."""

    platform: str
    submission_id: str
    reason: str

    def __str__(self) -> str:
        return f"{self.submission_id[:40]!r} on {self.platform}: {self.reason}"


class Aside:
    """Reads page after page of submissions, and keeps what was set aside."""

    def __init__(self, platform: str) -> None:
        self._platform = platform
        self.found: dict[str, SetAside] = {}
        self.unread_hits: set[str] = set()

    def put(self, submission_id: str, reason: str) -> None:
        """Set a submission aside; the first reason counts."""
        self.found.setdefault(submission_id, SetAside(self._platform, submission_id, reason))

    def sound(self, rows: Sequence[RemoteSubmission]) -> list[RemoteSubmission]:
        """Return the rows that can be stored, with clocks that can be true; the others are set aside."""
        kept = []
        for each in rows:
            if each.problem:
                self.put(str(each.submission_id), each.problem)
            wrong = next((name for name in _IDS if not _is_id(getattr(each, name))), None)
            if wrong is None:
                kept.append(_with_sound_clocks(each))
            elif not each.problem:
                self.put(str(each.submission_id), f"its {wrong} is empty or cannot be stored")
        return kept

    def answers(self, pages: TaskPages, rows: Sequence[Matched]) -> dict[str, tuple[RemoteAnswer, ...]]:
        """Return the answers by the pages' ids of submissions; where one cannot be read, the others all the same."""
        found: dict[str, tuple[RemoteAnswer, ...]] = self._each(pages.answers, rows)
        return {each.answers_id: _sound_answers(found.get(each.answers_id, ())) for each in rows}

    def skips(self, pages: TaskPages, rows: Sequence[Matched]) -> dict[str, tuple[RemoteSkip, ...]]:
        """Return what was left open in submissions, by the pages' ids; nothing where the pages let nobody skip."""
        return self._each(pages.skips, rows) if rows and isinstance(pages, TellsSkips) else {}

    def _each(self, read: Callable[[list[str]], Mapping[str, Any]], rows: Sequence[Matched]) -> dict[str, Any]:
        """Read all at once, and one by one where that fails."""
        try:
            return dict(read([each.answers_id for each in rows]))
        except HmcCrowdError:
            raise
        except _UNREADABLE:
            pass
        found: dict[str, Any] = {}
        for each in rows:
            try:
                found |= read([each.answers_id])
            except HmcCrowdError:
                raise
            except _UNREADABLE as error:
                self.put(each.remote.submission_id, f"what it says cannot be read ({type(error).__name__})")
        return found

    def empty(
        self,
        rows: Sequence[Matched],
        answers: Mapping[str, Sequence[RemoteAnswer]],
        skips: Mapping[str, Sequence[RemoteSkip]],
    ) -> None:
        """Set aside what was handed in without one answer or skip that can be read."""
        for each in rows:
            if not answers.get(each.answers_id) and not skips.get(each.answers_id):
                self.put(each.remote.submission_id, "it was handed in without an answer that can be read")


def read_submissions(platform: Platform, hit_ids: Sequence[str], aside: Aside) -> Iterator[RemoteSubmission]:
    """Yield a platform's submissions; where their list cannot be read, HIT by HIT, and the HIT that fails is named."""
    seen: set[str] = set()
    try:
        for each in platform.submissions(hit_ids):
            seen.add(each.submission_id)
            yield each
        return
    except HmcCrowdError:
        raise
    except _UNREADABLE:
        pass
    for hit_id in hit_ids:
        try:
            rows = list(platform.submissions([hit_id]))
        except HmcCrowdError:
            raise
        except _UNREADABLE as error:
            aside.unread_hits.add(hit_id)
            aside.put(f"HIT {hit_id}", f"the list of its submissions cannot be read ({type(error).__name__})")
            continue
        yield from (each for each in rows if each.submission_id not in seen)


def without_work(state: str, *, answered: bool) -> bool:
    """Say whether a stored submission waits to be read: of no known state, or handed in with nothing here of it."""
    return state == "unknown" or (state in {"submitted", "approved", "rejected"} and not answered)


_IDS = ("submission_id", "hit_id", "worker")


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _LONGEST_ID and storable(value)


def _with_sound_clocks(each: RemoteSubmission) -> RemoteSubmission:
    """Return a submission without clocks that say what no clock can, marked where there were any."""
    values: dict[str, Any] = {name: _moment(getattr(each, name)) for name in ("accepted_at", "submitted_at")}
    values |= {name: _seconds(getattr(each, name)) for name in ("platform_elapsed_s", "page_elapsed_s", "active_s")}
    if all(getattr(each, name) == value for name, value in values.items()):
        return each
    return replace(each, **values, time_quality="clock_suspect")


def _moment(value: Any) -> datetime | None:
    is_aware = isinstance(value, datetime) and value.tzinfo is not None
    return value if is_aware and _FIRST <= value < _LAST else None


def _seconds(value: Any) -> float | None:
    number = None if isinstance(value, str) else finite_number(value)
    return number if number is not None and 0 <= number < 1e10 else None


def _sound_answers(answers: Sequence[RemoteAnswer]) -> tuple[RemoteAnswer, ...]:
    """Leave out what is no answer that a database holds, and times that are none; the answer itself stays."""
    kept = []
    for each in answers:
        if not all(isinstance(text, str) and storable(text) for text in (each.item, each.aspect, each.label)):
            continue
        kept.append(replace(each, started_at=_moment(each.started_at), submitted_at=_moment(each.submitted_at)))
    return tuple(kept)


def storable(text: str) -> bool:
    """Say whether a database holds this text: no NUL, no half of a surrogate pair."""
    if text.isascii():
        return "\0" not in text
    try:
        return "\0" not in text and bool(text.encode())
    except UnicodeEncodeError:
        return False


def within_span(
    answers: Sequence[RemoteAnswer], begin: datetime | None, end: datetime | None
) -> tuple[tuple[RemoteAnswer, ...], bool]:
    """Return answers whose times lie between accepting and handing in, and whether any time had to be cut for it.

    A device whose clock is wrong is wrong by the same for all of its answers: they are moved together first, which
    costs nobody a second. Only what is longer than the whole is cut.
    """
    timed = [each for each in answers if each.started_at is not None and each.submitted_at is not None]
    if not timed or begin is None or end is None or end < begin:
        return tuple(answers), False
    first = min(each.started_at for each in timed if each.started_at is not None)
    last = max(each.submitted_at for each in timed if each.submitted_at is not None)
    if first >= begin - _SLACK and last <= end + _SLACK:
        return tuple(answers), False
    moved = end - last if last > end or last - first > end - begin else begin - first

    def fitted(moment: datetime | None) -> datetime | None:
        return None if moment is None else min(end, max(begin, moment + moved))

    found = [
        replace(each, started_at=fitted(each.started_at), submitted_at=fitted(each.submitted_at)) for each in answers
    ]
    return tuple(found), last - first > end - begin + _SLACK
