"""What is known of workers from before: counts of (answered, true) label, as one long table.

Guarantee: the table is plain (worker, label, truth, count), so SQL or JSON can hold it; read back it gives the same
counts. Workers of the table who do not take part are counted and otherwise ignored; labels outside the label set are
refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd._base.checks import float_vector
from hmc_crowd.aggregation._names import coded as place_in
from hmc_crowd.aggregation._names import require_columns, require_same_kind
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from hmc_crowd.aggregation._counts import AnswerCounts

__all__ = ["WorkerHistory", "past_counts", "with_history"]


@dataclass(frozen=True)
class WorkerHistory:
    """Past counts of workers.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``worker, label, truth, count``: how often ``worker`` answered ``label`` where the truth was ``truth``.
        Counts may be fractions (expected counts) and must not be negative; rows for the same triple add up.

    Examples
    --------
    >>> rows = [("ann", "yes", "yes", 18), ("ann", "no", "yes", 2)]
    >>> history = WorkerHistory(pd.DataFrame(rows, columns=["worker", "label", "truth", "count"]))
    >>> history.accuracy().to_dict()
    {'ann': 0.9}
    >>> WorkerHistory.from_dict(history.to_dict()) == history
    True
    """

    table: pd.DataFrame

    def __post_init__(self) -> None:
        require_columns(self.table, ("worker", "label", "truth", "count"), name="history")
        names = self.table[["worker", "label", "truth"]]
        if bool(names.isna().to_numpy().any()):
            raise FrameError("history misses a worker, a label or a truth; history is what is known, drop these rows")
        if len(self.table):
            float_vector(self.table["count"], name="history.count", low=0.0)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WorkerHistory) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(len(self.table))

    def accuracy(self) -> pd.Series[Any]:
        """Share of right answers per worker, by the counts alone."""
        right = self.table["count"].where(self.table["label"] == self.table["truth"], 0.0)
        worker = self.table["worker"]
        share: pd.Series[Any] = right.groupby(worker).sum() / self.table["count"].groupby(worker).sum()
        return share.rename_axis("worker").rename("accuracy")

    def add(self, other: WorkerHistory) -> WorkerHistory:
        """Return both together."""
        both = pd.concat([self.table, other.table], ignore_index=True)
        return WorkerHistory(both.groupby(["worker", "label", "truth"], sort=True)["count"].sum().reset_index())

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the table."""
        return self.table.copy()

    def to_dict(self) -> dict[str, list[Any]]:
        """Return plain lists, ready for JSON."""
        return {name: self.table[name].tolist() for name in ("worker", "label", "truth", "count")}

    @classmethod
    def from_dict(cls, lists: Mapping[str, Any]) -> WorkerHistory:
        """Read what `to_dict` wrote."""
        return cls(pd.DataFrame({name: lists.get(name, []) for name in ("worker", "label", "truth", "count")}))


def with_history(counts: AnswerCounts, history: WorkerHistory | pd.DataFrame | None, workers: Any) -> AnswerCounts:
    """Return the counts of an answer table, with how many workers the history names and how many of them take part."""
    if history is None:
        return counts
    table = history.table if isinstance(history, WorkerHistory) else history
    named = pd.Index(table["worker"].unique())
    return replace(counts, history=len(named), history_used=int(named.isin(workers).sum()))


def past_counts(
    history: WorkerHistory | pd.DataFrame | None, workers: pd.Index[Any], labels: pd.Index[Any]
) -> NDArray[np.float64] | None:
    """Return past counts as (n_workers, K answered, K true), or None without history.

    Raises
    ------
    FrameError
        A label or truth of a worker who takes part is outside the label set, or workers are named by another kind
        (text, numbers) than in the answers.
    """
    if history is None:
        return None
    if isinstance(history, pd.DataFrame):
        history = WorkerHistory(history)
    if not isinstance(history, WorkerHistory):
        raise InputError(
            f"history is a {type(history).__name__}; give a WorkerHistory or a frame worker, label, truth, count"
        )
    require_same_kind(pd.Index(history.table["worker"]), workers, what="history names workers", others="the answers")
    k = len(labels)
    counts = np.zeros((len(workers), k, k))
    who = place_in(workers, pd.Index(history.table["worker"]))
    used = history.table[who >= 0]
    answered, true = (place_in(labels, pd.Index(used[name])) for name in ("label", "truth"))
    outside = (answered < 0) | (true < 0)
    if outside.any():
        row = used[outside].iloc[0]
        raise FrameError(
            f"history has labels outside {labels.tolist()[:20]}, first worker {row['worker']!r}: {row['label']!r} for "
            f"{row['truth']!r}; correct it, or name the whole label set, labels=[...]"
        )
    np.add.at(counts, (who[who >= 0], answered, true), used["count"].to_numpy(dtype=float))
    return counts
