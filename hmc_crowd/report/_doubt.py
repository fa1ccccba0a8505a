"""How far can labels from several answers be trusted?

Two drawings: how good the workers are, and whether a confidence of 90 % is right nine times in ten.

A block for any report (`write_document`): the numbers behind both drawings stand in tables below them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd._base.checks import float_vector, require_same_length
from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.report._blocks import Section, Table
from hmc_crowd.report._draw import Axis
from hmc_crowd.report._format import Column
from hmc_crowd.report._svg import Chart, Series, line_chart

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

__all__ = ["aggregation_section"]


def aggregation_section(
    workers: pd.DataFrame | None = None,
    *,
    confidence: ArrayLike | None = None,
    right: ArrayLike | None = None,
    bins: int = 10,
) -> Section:
    """Return a section on aggregated labels.

    Parameters
    ----------
    workers : pandas.DataFrame, optional
        ``worker, n_answers, accuracy, low, high``, as estimators of `hmc_crowd.aggregation` publish them in
        ``workers_``; give pseudonyms.
    confidence, right : array, shape (n,), optional
        Of items with gold: the confidence of their label, in [0, 1], and whether it was right.
    bins : int, default 10
        Equal bins of confidence.

    Returns
    -------
    Section
        With the drawings and tables that the data allow.

    Raises
    ------
    FrameError
        ``workers`` lacks a column.
    InputError
        Neither part is given, lengths differ, or a number is out of range.

    Examples
    --------
    >>> section = aggregation_section(confidence=[0.95, 0.92, 0.55, 0.51], right=[1, 1, 1, 0])
    >>> section.tables[0].frame[["n", "right"]].values.tolist()
    [[2.0, 0.5], [2.0, 1.0]]
    """
    if workers is None and (confidence is None or right is None):
        raise InputError("there is nothing to show; give workers, or confidence and right")
    charts: list[Chart] = []
    tables: list[Table] = []
    if workers is not None:
        ordered = _ordered(workers)
        charts.append(_worker_chart(ordered))
        ends = {"low": Column("From", "percent", 1), "high": Column("To", "percent", 1)}
        tables.append(
            Table(key="worker_quality", title="Workers by accuracy", frame=ordered, columns=ends, folded=True)
        )
    if confidence is not None and right is not None:
        binned = _binned(confidence, right, bins)
        charts.append(_calibration_chart(binned))
        columns = {"confidence": Column("Mean confidence", "percent", 1), "right": Column("Right", "percent", 1)}
        tables.append(Table(key="calibration", title="Confidence and truth", frame=binned, columns=columns))
    return Section(key="aggregation", title="Labels from several answers", charts=tuple(charts), tables=tuple(tables))


def _ordered(workers: pd.DataFrame) -> pd.DataFrame:
    needed = ["worker", "n_answers", "accuracy", "low", "high"]
    missing = [name for name in needed if name not in workers.columns]
    if missing:
        raise FrameError(f"workers lacks the column {', '.join(missing)}; pass an estimator's workers_")
    known = workers.loc[workers["accuracy"].notna(), needed]
    if known.empty:
        raise FrameError("workers has no accuracy at all; leave workers out")
    return known.sort_values(["accuracy", "n_answers"], ascending=[False, False]).reset_index(drop=True)


def _worker_chart(ordered: pd.DataFrame) -> Chart:
    rank = np.arange(1, len(ordered) + 1)
    low, median = ordered["accuracy"].min(), ordered["accuracy"].median()
    return line_chart(
        "worker-quality",
        [
            Series("accuracy", rank, ordered["accuracy"].to_numpy(dtype=float)),
            Series("upper end", rank, ordered["high"].to_numpy(dtype=float)),
            Series("lower end", rank, ordered["low"].to_numpy(dtype=float)),
        ],
        title="Accuracy of the workers, best first",
        description=f"{len(ordered):,} workers; half are right at least {median:.0%} of the time, the worst {low:.0%}. "
        "The outer lines are the ends of each one's interval.",
        x=Axis("Worker, by accuracy"),
        y=Axis("Right answers (%)", percent=True),
    )


def _binned(confidence: ArrayLike, right: ArrayLike, bins: int) -> pd.DataFrame:
    import pandas as pd

    if isinstance(bins, bool) or not isinstance(bins, int) or bins < 2:
        raise InputError(f"bins is {bins!r}; give a whole number of at least 2")
    sure = float_vector(confidence, name="confidence", low=0.0, high=1.0)
    good = float_vector(right, name="right", low=0.0, high=1.0)
    require_same_length([("confidence", sure), ("right", good)])
    place = np.minimum((sure * bins).astype(int), bins - 1)
    n = np.bincount(place, minlength=bins)
    there = n > 0
    return pd.DataFrame(
        {
            "confidence": np.bincount(place, weights=sure, minlength=bins)[there] / n[there],
            "right": np.bincount(place, weights=good, minlength=bins)[there] / n[there],
            "n": n[there],
        }
    )


def _calibration_chart(binned: pd.DataFrame) -> Chart:
    share = binned["n"] / binned["n"].sum()
    gap = float((share * (binned["confidence"] - binned["right"]).abs()).sum())
    return line_chart(
        "calibration",
        [
            Series("labels", binned["confidence"].to_numpy(), binned["right"].to_numpy()),
            Series("calibrated", np.array([0.0, 1.0]), np.array([0.0, 1.0])),
        ],
        title="Confidence against truth",
        description=f"{int(binned['n'].sum()):,} labels with gold; confidence and truth differ by {gap:.1%} on "
        "average.",
        x=Axis("Confidence (%)", percent=True),
        y=Axis("Right labels (%)", percent=True),
    )
