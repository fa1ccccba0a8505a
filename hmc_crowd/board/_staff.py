"""Who could take this item, and would it be done in time? People by their keys, and one choice among the experts.

Source: requirement D23, as `hmc_crowd.quality.choose_expert` has it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from hmc_crowd.quality import Expert, choose_expert

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from hmc_crowd.store import KeyRecord

__all__ = ["Candidate", "ChoosesExpert", "Staff", "Wanted", "best_expert"]

_ASKED = "asked"
# An expert whose speed nobody has said is never full and never late.
_ANY_NUMBER = 1e9


@dataclass(frozen=True)
class Wanted:
    """What an item asks of its expert; ``due_in_s`` is None without a deadline."""

    item: str
    skills: frozenset[str] = frozenset()
    urgency: int = 3
    due_in_s: float | None = None


@dataclass(frozen=True)
class Candidate:
    """An expert.

    Parameters
    ----------
    name : str
        Names the expert; the id of the key.
    skills : frozenset of str
        What the expert knows.
    load : int
        Items that wait for this expert.
    per_hour : float, optional
        Items that the expert can do in an hour; not known where absent.
    """

    name: str
    skills: frozenset[str]
    load: int
    per_hour: float | None = None

    def needs_s(self) -> float | None:
        """Return after how many seconds one more item would be done; None where it is not known."""
        return None if self.per_hour is None else (self.load + 1) / self.per_hour * 3600.0


class ChoosesExpert(Protocol):
    """Anything that gives an item to one of the experts, or to none."""

    def __call__(self, wanted: Wanted, candidates: Sequence[Candidate]) -> str | None:
        """Return the name of the expert, or None where none has room."""
        ...


def best_expert(wanted: Wanted, candidates: Sequence[Candidate]) -> str | None:
    """Return the expert with the highest score of those who have room and time; None where nobody has room.

    The scores are those of `hmc_crowd.quality.choose_expert`; an item that asks for several skills is matched by the
    share of them that the expert has.

    Examples
    --------
    >>> both = [Candidate("ann", frozenset({"law"}), 9), Candidate("bea", frozenset(), 0)]
    >>> best_expert(Wanted("i", frozenset({"law"})), both), best_expert(Wanted("i"), both)
    ('ann', 'bea')
    """
    experts = [
        Expert(each.name, {_ASKED: _match(wanted, each)}, load=each.load, per_hour=each.per_hour or _ANY_NUMBER)
        for each in candidates
    ]
    due_in_s = None if wanted.due_in_s is None else max(0.0, wanted.due_in_s)
    found = choose_expert(wanted.item, experts, area=_ASKED, urgency=wanted.urgency, deadline_s=due_in_s)
    return found.expert


def _match(wanted: Wanted, candidate: Candidate) -> float:
    return len(wanted.skills & candidate.skills) / len(wanted.skills) if wanted.skills else 1.0


@dataclass
class Staff:
    """Who is there while one transaction allocates; loads grow as items are given out.

    Parameters
    ----------
    experts : dict of str to Candidate
        By name.
    workers : int
        How many of the crowd hold a key.
    per_hour : float, optional
        Items that all of them can do in an hour; not known unless a key says so.
    waiting : int
        Open places of the campaign's line.
    """

    experts: dict[str, Candidate]
    workers: int
    per_hour: float | None
    waiting: int
    given: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, keys: Sequence[KeyRecord], loads: Mapping[str, int], waiting: int) -> Staff:
        """Return the staff that the valid keys name."""
        valid = [key for key in keys if key.revoked_at is None]
        experts = {
            key.id: Candidate(key.id, frozenset(key.skills), loads.get(key.id, 0), key.per_hour)
            for key in valid
            if key.role == "expert"
        }
        crowd = [key for key in valid if key.role == "worker"]
        known = [key.per_hour for key in crowd if key.per_hour is not None]
        return cls(experts, len(crowd), sum(known) if known else None, waiting)

    def give(self, wanted: Wanted, choose: ChoosesExpert) -> tuple[str, str | None, str]:
        """Give an item to an expert; return the status, the expert, and whether the deadline can be met."""
        if not self.experts:
            return "no_worker", None, deadline(wanted.due_in_s, None)
        name = choose(wanted, list(self.experts.values()))
        if name is None or name not in self.experts:
            return "no_capacity", None, deadline(wanted.due_in_s, None)
        met = deadline(wanted.due_in_s, self.experts[name].needs_s())
        self.experts[name] = replace(self.experts[name], load=self.experts[name].load + 1)
        return "assigned", name, met

    def line_up(self, due_in_s: float | None, answers: int) -> tuple[str, str]:
        """Put an item before the crowd; return the status, and whether the deadline can be met."""
        self.waiting += answers
        needs = None if self.per_hour is None else self.waiting / self.per_hour * 3600.0
        return "queued" if self.workers else "no_worker", deadline(due_in_s, needs)


def deadline(due_in_s: float | None, needs_s: float | None) -> str:
    """Say whether work that takes so long is done in time.

    Examples
    --------
    >>> deadline(60.0, 90.0), deadline(60.0, None), deadline(-1.0, None), deadline(None, 90.0)
    ('cannot_be_met', 'not_known', 'cannot_be_met', 'none')
    """
    if due_in_s is None:
        return "none"
    if due_in_s <= 0 or (needs_s is not None and needs_s > due_in_s):
        return "cannot_be_met"
    return "not_known" if needs_s is None else "can_be_met"


def seconds_until(due_at: datetime | None, now: datetime) -> float | None:
    """Return how long a deadline is away."""
    return None if due_at is None else (due_at - now).total_seconds()
