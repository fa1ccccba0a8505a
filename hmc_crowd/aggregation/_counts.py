"""How many rows came in, how many were used, and why the others were not."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["AnswerCounts"]


@dataclass(frozen=True)
class AnswerCounts:
    """What became of the rows of an answer table: ``rows == used + missing_label + repeated``.

    Parameters
    ----------
    rows : int
        Rows given.
    used : int
        Answers that entered the aggregation.
    missing_label : int
        Rows left out because their label is missing (an abstention).
    repeated : int
        Rows left out because the same worker answered the same task again; 0 under ``repeats="all"``.
    tasks, workers, labels : int
        How many of each take part.
    tasks_without_label : int
        Tasks whose every row lacks a label: they get no result.
    gold, gold_used : int
        Gold items given, and those of them that have an answer; the others change nothing.
    history, history_used : int
        Workers of the history given, and those of them who take part; the others change nothing.

    Examples
    --------
    >>> print(AnswerCounts(rows=5, used=4, missing_label=1, repeated=0, tasks=2, workers=2, labels=2))
    4 of 5 answers used (1 without label, 0 repeated): 2 tasks, 2 workers, 2 labels
    """

    rows: int
    used: int
    missing_label: int
    repeated: int
    tasks: int
    workers: int
    labels: int
    tasks_without_label: int = 0
    gold: int = 0
    gold_used: int = 0
    history: int = 0
    history_used: int = 0

    def to_frame(self) -> pd.DataFrame:
        """Return a frame with columns ``count, value``, one row per count."""
        import pandas as pd

        return pd.DataFrame(list(asdict(self).items()), columns=["count", "value"])

    def __str__(self) -> str:
        gold = f"; {self.gold_used} of {self.gold} gold items have answers" if self.gold else ""
        past = f"; {self.history_used} of {self.history} workers of the history take part" if self.history else ""
        bare = f"; {self.tasks_without_label} tasks have no label at all" if self.tasks_without_label else ""
        return (
            f"{self.used:,} of {self.rows:,} answers used ({self.missing_label:,} without label, "
            f"{self.repeated:,} repeated): {self.tasks:,} tasks, {self.workers:,} workers, {self.labels:,} labels"
            f"{gold}{past}{bare}"
        )
