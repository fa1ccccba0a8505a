"""How do rates look per category, and overall? Overall in both senses.

Micro is the mean over pairs (the source's "All"), macro the plain mean of the categories. Both carry intervals that
respect clusters, also when one instruction's pairs lie in several categories.

Sources: Lyu et al. (2024), "HREF", tables 2, 5 and 7.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.metrics._influence import Spread, share_interval
from hmc_crowd.metrics._intervals import Interval, ask_for, no_interval
from hmc_crowd.metrics._intervals_clusters import cluster_ways, spread_of
from hmc_crowd.metrics._leave_one_out import leave_one_out_agreement
from hmc_crowd.metrics._outcomes import Unparsed, read_outcomes, win_scores
from hmc_crowd.metrics._result import Metric, metrics_frame
from hmc_crowd.metrics._unit_intervals import mean_interval, unit_interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from numpy.typing import NDArray

    from hmc_crowd.metrics._intervals import Ask
    from hmc_crowd.metrics._intervals_clusters import Way

__all__ = ["CategoryTable", "agreement_table", "mean_table", "win_rate_table"]


@dataclass(frozen=True, eq=False)
class CategoryTable:
    """A rate per category and overall.

    Parameters
    ----------
    categories : mapping of str to Metric
        Sorted by name.
    micro : Metric
        Mean over rows: the "All" of the source's tables.
    macro : Metric
        Plain mean of the categories that have a value.
    name : str
        What was measured.
    """

    categories: Mapping[str, Metric]
    micro: Metric
    macro: Metric
    name: str = "rate"
    warnings: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        ends = "" if self.micro.low is None else f" [{self.micro.low:.4f}, {self.micro.high:.4f}]"
        return (
            f"{self.name}: all {float(self.micro):.4f}{ends} (macro {float(self.macro):.4f}, "
            f"{len(self.categories)} categories, n = {self.micro.n:,})"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return the categories, then ``all (micro)`` and ``all (macro)``, as `metrics_frame` lays them out."""
        frame = metrics_frame({**self.categories, "all (micro)": self.micro, "all (macro)": self.macro})
        return frame.rename(columns={"name": "category"})

    def _repr_html_(self) -> str:
        shown = self.to_frame()[["category", "value", "low", "high", "n", "dropped"]]
        return f"<p>{self.name}</p>{shown.to_html(index=False, na_rep='-', float_format='{:.4f}'.format)}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "name": self.name,
            "categories": {name: metric.to_dict() for name, metric in self.categories.items()},
            "micro": self.micro.to_dict(),
            "macro": self.macro.to_dict(),
            "warnings": list(self.warnings),
        }


def win_rate_table(
    outcomes: Any,
    categories: Any,
    *,
    tie: float = 0.5,
    unparsed: Unparsed = "drop",
    clusters: Any = None,
    level: float = 0.95,
    interval: str = "auto",
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> CategoryTable:
    """Return the win rate per category and overall.

    Parameters
    ----------
    outcomes : array of 'win', 'tie', 'loss', None, shape (n,)
    categories : array of text, shape (n,)
    tie, unparsed, clusters, level, interval, rng, n_boot
        As in `expected_win_rate`.

    Returns
    -------
    CategoryTable

    Examples
    --------
    >>> table = win_rate_table(["win", "tie", "loss"], ["a", "a", "b"])
    >>> table.micro.value, table.macro.value  # 1.5 / 3; (3/4 + 0) / 2
    (0.5, 0.375)
    """
    ask = ask_for(level, interval, rng, n_boot)
    codes = read_outcomes(outcomes)
    name = f"win rate (tie = {tie:g})"
    return mean_table(win_scores(codes, tie, unparsed), categories, ask, clusters, name=name, missing="unparsed")


def agreement_table(
    annotations: Any,
    categories: Any,
    prediction: Any = None,
    *,
    unparsed: Literal["drop", "wrong"] = "drop",
    clusters: Any = None,
    level: float = 0.95,
    interval: str = "auto",
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> CategoryTable:
    """Return leave-one-out agreement per category and overall (inner without a prediction, else outer).

    Parameters
    ----------
    annotations, prediction, unparsed
        As in `leave_one_out_agreement`.
    categories : array of text, shape (items,)
    clusters, level, interval, rng, n_boot
        As in `expected_win_rate`.

    Returns
    -------
    CategoryTable

    Examples
    --------
    >>> agreement_table([[1, 1, 1], [1, 1, 2]], ["a", "b"]).to_frame()["value"].round(4).tolist()
    [1.0, 0.3333, 0.6667, 0.6667]
    """
    ask = ask_for(level, interval, rng, n_boot)
    whole = leave_one_out_agreement(annotations, prediction, unparsed=unparsed, interval="none")
    scores = np.full(whole.details["items_given"], np.nan)
    if whole.value is not None:
        scores[whole.items["position"]] = whole.items["agreement"]
    return mean_table(scores, categories, ask, clusters, name=whole.name, missing="left out")


def mean_table(
    scores: NDArray[np.float64], categories: Any, ask: Ask, clusters: Any, *, name: str, missing: str
) -> CategoryTable:
    """Return the table of means of scores in [0, 1], NaN where a row leaves."""
    n = len(scores)
    names, code = category_codes(categories, n)
    ways = cluster_ways(clusters, n)
    keep = ~np.isnan(scores)
    rows: dict[str, Metric] = {}
    for place, category in enumerate(names):
        inside = code == place
        rows[category] = _mean_of(scores, keep & inside, inside, ways, ask, name, missing)
    micro = _mean_of(scores, keep, np.ones(n, dtype=bool), ways, ask, name, missing)
    return CategoryTable(rows, micro, _macro(scores, code, names, keep, ways, ask, name, missing), name)


def category_codes(categories: Any, n: int) -> tuple[list[str], NDArray[np.intp]]:
    """Return the sorted names of the categories and each row's position; missing ones are refused."""
    from hmc_crowd.metrics._validate import group_codes

    names, code = group_codes(categories, n, name="categories")
    if (code < 0).any():
        raise InputError(f"categories is missing at row {int((code < 0).argmax())}; give every row its category")
    return names, code


def _mean_of(
    scores: NDArray[np.float64],
    keep: NDArray[np.bool_],
    inside: NDArray[np.bool_],
    ways: tuple[Way, ...],
    ask: Ask,
    name: str,
    missing: str,
) -> Metric:
    n = int(keep.sum())
    common: dict[str, Any] = {"name": name, "n": n, "dropped": {missing: int(inside.sum()) - n}, "level": ask.level}
    if n == 0:
        return Metric.undefined("no row of this category has a score", **common)
    made = mean_interval(scores[keep], ask, tuple(way.take(keep) for way in ways))
    return Metric(float(scores[keep].mean()), **made.fields(), **common)


def _macro(
    scores: NDArray[np.float64],
    code: NDArray[np.intp],
    names: list[str],
    keep: NDArray[np.bool_],
    ways: tuple[Way, ...],
    ask: Ask,
    name: str,
    missing: str,
) -> Metric:
    values, group = scores[keep], code[keep]
    size = np.bincount(group, minlength=len(names))
    common: dict[str, Any] = {
        "name": f"{name}, macro",
        "n": len(values),
        "dropped": {missing: int((~keep).sum())},
        "level": ask.level,
    }
    filled = size > 0
    if not filled.any():
        return Metric.undefined("no category has a score", **common)
    mean = np.bincount(group, weights=values, minlength=len(names)) / np.maximum(size, 1)
    value, many = float(mean[filled].mean()), int(filled.sum())
    told = (f"{int((~filled).sum())} categories without a score are left out",) if not filled.all() else ()
    influence = (values - mean[group]) / (size[group] * many)
    ways = tuple(way.take(keep) for way in ways)
    made = _macro_interval(value, values, group, influence, ask, ways, len(names))
    return Metric(value, **{**made.fields(), "warnings": (*told, *made.warnings)}, **common)


def _macro_interval(
    value: float,
    values: NDArray[np.float64],
    group: NDArray[np.intp],
    influence: NDArray[np.float64],
    ask: Ask,
    ways: tuple[Way, ...],
    many: int,
) -> Interval:
    if ask.interval == "none":
        return no_interval("not asked for")
    if ask.interval == "bootstrap":
        inside = np.zeros((len(group), many))
        inside[np.arange(len(group)), group] = 1.0

        def again(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.asarray(np.nanmean((drawn @ (inside * values[:, None])) / (drawn @ inside), axis=1))

        return unit_interval(value, influence, ask, ways, statistic=again)
    parts = min((way.size for way in ways), default=len(values))
    if parts < 2 and ways:
        return no_interval("one cluster alone has no spread")
    spread = spread_of(influence, ways)
    ends = share_interval(value, Spread(spread.variance**0.5, spread.df, parts), len(values), ask.level)
    how = f", {spread.how}" if spread.how else ", t"
    return Interval(
        *ends, f"analytic (Wilson with the effective number of rows{how})", spread.warnings, spread.assumptions
    )
