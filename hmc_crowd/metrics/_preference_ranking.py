"""Which models share a rank? Models that the data cannot tell apart do.

Sources: Lyu et al. (2024), "HREF", tables 5 and 7; Holm (1979).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.metrics._intervals import ask_for
from hmc_crowd.metrics._intervals_clusters import cluster_ways
from hmc_crowd.metrics._preference_tests import paired_p_values, read_scores
from hmc_crowd.metrics._result import Metric
from hmc_crowd.metrics._unit_intervals import mean_interval

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from hmc_crowd.metrics._intervals_clusters import Way

__all__ = ["Ranking", "corrected", "rank_models"]

Correction = Literal["holm", "bonferroni", "none"]


@dataclass(frozen=True, eq=False)
class Ranking:
    """Models in order, with groups that the data cannot tell apart.

    Parameters
    ----------
    table : pandas.DataFrame
        ``rank, model, value, low, high, n``, best first.
    pairs : pandas.DataFrame
        As `paired_p_values`, with ``p_corrected``.
    test, correction : str
        What was done.
    alpha : float
    """

    table: pd.DataFrame
    pairs: pd.DataFrame
    test: str
    correction: str
    alpha: float

    def __str__(self) -> str:
        best = self.table.iloc[0]
        groups = self.table["rank"].nunique()
        return (
            f"Ranking: {len(self.table)} models in {groups} groups, first {best['model']} ({best['value']:.4f}); "
            f"{self.test}, {self.correction}, alpha {self.alpha:g}"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the table."""
        return self.table.copy()


def rank_models(
    scores: Any,
    *,
    alpha: float = 0.05,
    correction: Correction = "holm",
    clusters: Any = None,
    level: float = 0.95,
) -> Ranking:
    """Rank models by mean score; models that do not differ significantly share a rank (1, 1, 3, ...).

    Parameters
    ----------
    scores
        As in `paired_p_values`; higher is better.
    alpha : float, default 0.05
        Level of the tests.
    correction : {"holm", "bonferroni", "none"}, default "holm"
        For testing all pairs.
    clusters : array, shape (items,), optional
        Items that belong together.
    level : float, default 0.95
        Coverage of each model's interval.

    Returns
    -------
    Ranking

    Notes
    -----
    A group is led by its best model: the next model joins if it does not differ from the LEADER, else it opens a new
    group with its own place as the rank. So two models of one group may differ from each other in rare cases, but each
    group's leader differs from the next group's. Pairs without a p-value do not differ.

    Examples
    --------
    >>> scores = {"a": [1, 1, 1, 1, 1, 0] * 20, "b": [1, 1, 1, 1, 0, 1] * 20, "c": [0, 0, 0, 0, 0, 1] * 20}
    >>> rank_models(scores).table[["rank", "model"]].values.tolist()
    [[1, 'a'], [1, 'b'], [3, 'c']]
    """
    import pandas as pd

    if correction not in {"holm", "bonferroni", "none"}:
        raise InputError(f"correction is {correction!r}; choose 'holm', 'bonferroni' or 'none'")
    if not 0.0 < alpha < 1.0:
        raise InputError(f"alpha is {alpha!r}; give a level between 0 and 1, such as 0.05")
    ask = ask_for(level)
    names, table = read_scores(scores)
    ways = cluster_ways(clusters, len(table))
    pairs = paired_p_values(dict(zip(names, table.T, strict=True)), clusters=clusters)
    pairs["p_corrected"] = corrected(pairs["p"].to_numpy(), correction)
    models = [_model(table[:, place], ask, ways) for place in range(len(names))]
    differs = np.zeros((len(names), len(names)), dtype=bool)
    left, right = np.triu_indices(len(names), 1)
    differs[left, right] = differs[right, left] = pairs["p_corrected"].to_numpy() < alpha
    order = sorted(range(len(names)), key=lambda place: (-np.nan_to_num(float(models[place]), nan=-np.inf), place))
    rows, leader, rank = [], order[0], 1
    for position, place in enumerate(order, start=1):
        if differs[leader, place]:
            leader, rank = place, position
        found = models[place]
        rows.append((rank, names[place], float(found), found.low, found.high, found.n))
    frame = pd.DataFrame(rows, columns=["rank", "model", "value", "low", "high", "n"])
    test = "paired t-test" + (" with clustered standard errors" if ways else "")
    told = {"none": "no correction"}.get(correction, f"{correction} over {len(pairs)} pairs")
    return Ranking(frame, pairs, test, told, alpha)


def corrected(p: NDArray[np.float64], correction: Correction) -> NDArray[np.float64]:
    """Return corrected p-values; NaN stays and does not count as a test.

    Examples
    --------
    >>> corrected(np.array([0.01, 0.04, 0.03]), "holm").round(4).tolist()  # 3 * .01; then 2 * .03; at least that
    [0.03, 0.06, 0.06]
    """
    out, known = p.astype(np.float64).copy(), ~np.isnan(p)
    values = out[known]
    m = len(values)
    if correction == "bonferroni":
        out[known] = np.minimum(values * m, 1.0)
    elif correction == "holm":
        order = np.argsort(values, kind="stable")
        stepped = np.minimum(np.maximum.accumulate(values[order] * (m - np.arange(m))), 1.0)
        values[order] = stepped
        out[known] = values
    return out


def _model(scores: NDArray[np.float64], ask: Any, ways: tuple[Way, ...]) -> Metric:
    keep = ~np.isnan(scores)
    values = scores[keep]
    if not len(values):
        return Metric.undefined("no item has a score")
    low, high = min(0.0, float(values.min())), max(1.0, float(values.max()))
    made = mean_interval(values, ask, tuple(way.take(keep) for way in ways), low=low, high=high)
    return Metric(float(values.mean()), n=len(values), level=ask.level, **made.fields())
