"""What an aggregation hands over: labels with their doubt, the workers, and what all of it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from hmc_crowd.aggregation._counts import AnswerCounts

__all__ = ["AggregateResult"]


@dataclass(frozen=True)
class AggregateResult:
    """Labels of a batch of items.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per item with an answer, sorted by item: ``item, label, confidence, n_answers, tied`` and one column
        ``p_<label>`` per label. ``confidence`` is the probability of ``label`` under the method, not calibrated.
    workers : pandas.DataFrame
        One row per worker: ``worker, n_answers, skill`` and, where the method tells, ``accuracy`` with ``se, low,
        high`` (95%) and ``spammer_score``.
    method : str
        In words, for a report.
    assumptions : tuple of str
        What the labels rest on, one sentence each.
    cautions : tuple of str
        What makes this fit doubtful; empty if nothing was noticed.
    counts : AnswerCounts
        Rows given, used, left out and why.
    items_without_label : tuple
        Items whose every answer lacks a label: they are not in ``frame``.
    n_iter, converged : int or None, bool or None
        Of an iterative method.
    objective : tuple of float
        Its objective step by step; empty otherwise.
    version : str
        Of this package.
    """

    frame: pd.DataFrame
    workers: pd.DataFrame
    method: str
    assumptions: tuple[str, ...]
    cautions: tuple[str, ...]
    counts: AnswerCounts
    items_without_label: tuple[object, ...]
    n_iter: int | None
    converged: bool | None
    objective: tuple[float, ...]
    version: str

    @property
    def n_tied(self) -> int:
        """How many items are tied: their label is a convention, not a finding."""
        return int(self.frame["tied"].sum())

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of ``frame``."""
        return self.frame.copy()

    def __str__(self) -> str:
        steps = "" if not self.n_iter else f", {self.n_iter} iterations"
        return f"{self.method}: {len(self.frame):,} items labelled, {self.n_tied:,} tied{steps}; {self.counts}"

    def _repr_html_(self) -> str:
        from html import escape

        notes = "".join(f"<li>{escape(note)}</li>" for note in (*self.cautions, *self.assumptions))
        table = self.frame.head(10).to_html(index=False, escape=True)
        return f"<p>{escape(str(self))}</p>{table}<ul>{notes}</ul>"
