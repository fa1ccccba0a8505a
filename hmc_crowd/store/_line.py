"""What is a line of work, and what may be asked of one? The form that any queue behind the machine door has.

The store's own is `QueueRepository`, as ``tx.queue``: it takes part in the transaction of what it is about.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

__all__ = ["Place", "QueueAges", "WorkQueue"]


@dataclass(frozen=True)
class Place:
    """What an item waits for.

    Parameters
    ----------
    item : str
        Which item.
    answers : int, default 1
        How many people are to answer it.
    audience : {"crowd", "expert"}
        Who may take it; experts may take what is for the crowd, too.
    expert : str, optional
        The expert it is kept for.
    due_at : datetime, optional
        When it must be answered, aware.
    urgency : int, default 3
        From 1 to 5; of what is due at the same time, the more urgent goes first.
    """

    item: str
    answers: int = 1
    audience: str = "crowd"
    expert: str | None = None
    due_at: datetime | None = None
    urgency: int = 3


@dataclass(frozen=True)
class QueueAges:
    """How long the line is, and how long its oldest place has been waiting.

    Parameters
    ----------
    waiting, held : int
        Open places that nobody has in hand, and those that somebody has.
    oldest_s : float, optional
        Age of the open place that has been waiting longest, in seconds.
    overdue : int
        Open places past their deadline.
    """

    waiting: int
    held: int
    oldest_s: float | None
    overdue: int


class WorkQueue(Protocol):
    """A line of items in front of people; the store's own is `QueueRepository`, as ``tx.queue``."""

    def put(self, campaign: int, places: Sequence[Place]) -> int:
        """Add places; items that are in the line already are left as they are. Return how many are new."""
        ...

    def claim(
        self, campaign: int, worker: str, *, until: datetime, limit: int = 1, expert: str | None = None
    ) -> list[str]:
        """Take items for a worker until a moment; the first in line first, none that this worker had before."""
        ...

    def done(self, campaign: int, worker: str, items: Iterable[str]) -> int:
        """Close a worker's places; return how many."""
        ...

    def close(self, campaign: int, items: Iterable[str]) -> int:
        """Take items out of the line, whoever has them in hand; return how many places that were."""
        ...

    def give_back(self, campaign: int, worker: str, items: Iterable[str], *, expert: str | None = None) -> int:
        """Let others have what a worker has in hand, or an expert was to get; return how many places."""
        ...

    def places(self, campaign: int, items: Iterable[str]) -> Mapping[str, Sequence[Any]]:
        """Return each item's places: ``slot, audience, expert, holder, held_at, is_open``; unknown ones are absent."""
        ...

    def waiting(self, campaign: int, worker: str, *, limit: int = 100, expert: str | None = None) -> list[str]:
        """Return the items that a worker could claim now, in the order of the line; nothing is taken."""
        ...

    def loads(self) -> Mapping[str, int]:
        """Return how many open places are kept for each expert, over all campaigns."""
        ...

    def ages(self, campaign: int) -> QueueAges:
        """Return how long the line is."""
        ...
