"""The edge where aggregators plug in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

if TYPE_CHECKING:
    import pandas as pd

    from hmc_crowd.aggregation._counts import AnswerCounts

__all__ = ["Aggregator"]


@runtime_checkable
class Aggregator(Protocol):
    """Anything that turns answers into labels; `aggregate` takes one in place of a method's name.

    After ``fit`` it has ``labels_`` (Series), ``probabilities_`` (frame task x label), ``tied_`` (Series of bool) and
    ``n_answers_`` (Series of int), all with the same index of tasks, ``workers_`` (frame with one row per worker) and
    ``counts_``; ``assumptions`` says in sentences what the result rests on.
    """

    labels_: pd.Series[Any]
    probabilities_: pd.DataFrame
    tied_: pd.Series[bool]
    n_answers_: pd.Series[int]
    counts_: AnswerCounts

    @property
    def workers_(self) -> pd.DataFrame:
        """One row per worker; an attribute will do."""
        ...

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the result rests on, one sentence each."""
        ...

    def fit(self, answers: pd.DataFrame, gold: Any = None, *, labels: Any = None) -> Self:
        """Learn labels, and what belongs to them, from a long answer table."""
        ...
