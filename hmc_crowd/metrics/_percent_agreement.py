"""How often do two people who rated the same unit say the same? Plain agreement, with no correction for chance.

Two means are in use: over units (each unit's share of agreeing pairs; AlpacaEval's "one against one", the p_a of
Fleiss and Gwet) and over pairs (units with more ratings weigh more). Units are the default.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.metrics._intervals import ask_for
from hmc_crowd.metrics._intervals_clusters import cluster_ways, spread_of
from hmc_crowd.metrics._leave_one_out_counts import label_cells
from hmc_crowd.metrics._ratings import read_ratings
from hmc_crowd.metrics._result import Metric
from hmc_crowd.metrics._unit_intervals import mean_interval, unit_interval

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["pairwise_agreement", "percent_agreement"]


def percent_agreement(
    ratings: Any,
    *,
    average: Literal["units", "pairs"] = "units",
    clusters: Any = None,
    level: float = 0.95,
    interval: str = "auto",
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> Metric:
    """Return the share of pairs of ratings of one unit that agree (a share, in spite of the name).

    Parameters
    ----------
    ratings : array of shape (units, raters), wide frame, or long frame ``task, worker, label``
        NaN, None: not rated.
    average : {"units", "pairs"}, default "units"
        Mean over units of their shares, or over all pairs.
    clusters : array, shape (units,), optional
        Units that belong together.
    level, interval, rng, n_boot
        Of the interval: see `hmc_crowd.metrics.expected_win_rate`.

    Returns
    -------
    Metric
        ``n`` counts units with two ratings; ``details`` hold ``pairs``. Undefined if there are none.

    Examples
    --------
    Unit 1 has 3 of 3 pairs, unit 2 one of 3.

    >>> round(percent_agreement([[1, 1, 1], [2, 2, 1]]).value, 4)
    0.6667
    """
    if average not in {"units", "pairs"}:
        raise InputError(f"average is {average!r}; choose 'units' or 'pairs'")
    ask = ask_for(level, interval, rng, n_boot)
    read = read_ratings(ratings)
    ways = cluster_ways(clusters, read.n_units)
    keep = read.per_unit >= 2
    dropped = {**read.dropped, "unit with fewer than two ratings": int((~keep).sum())}
    common: dict[str, Any] = {"name": f"agreement (mean over {average})", "dropped": dropped, "level": ask.level}
    if not keep.any():
        return Metric.undefined("no unit has two ratings", **common)
    cells = label_cells(read)
    m = read.per_unit[keep].astype(np.float64)
    count = cells.count.astype(np.float64)
    same = (count * (count - 1.0)).sum(axis=0)[keep]
    pairs = m * (m - 1.0)
    ways = tuple(way.take(keep) for way in ways)
    common |= {"n": int(keep.sum()), "details": {"pairs": int(pairs.sum()) // 2}}
    if average == "units":
        share = same / pairs
        return Metric(float(share.mean()), **mean_interval(share, ask, ways).fields(), **common)
    value = float(same.sum() / pairs.sum())
    influence = (same - value * pairs) / pairs.sum()
    if spread_of(influence, ways).variance <= 0.0 and ask.interval != "none":
        return Metric(value, **mean_interval(same / pairs, ask, ways).fields(), **common)

    def again(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray((drawn @ same) / (drawn @ pairs))

    made = unit_interval(value, influence, ask, ways, statistic=again).fields()
    ends = {end: None if made[end] is None else min(max(made[end], 0.0), 1.0) for end in ("low", "high")}
    return Metric(value, **{**made, **ends}, **common)


def pairwise_agreement(ratings: Any) -> pd.DataFrame:
    """Return how often each two raters agree on the units that both rated.

    Parameters
    ----------
    ratings
        As in `percent_agreement`.

    Returns
    -------
    pandas.DataFrame
        ``first, second, units, agreed, rate``, one row per pair of raters with a unit in common. Takes time and
        memory in the pairs of ratings inside units.

    Examples
    --------
    >>> pairwise_agreement([["a", "a"], ["a", "b"]])[["units", "agreed", "rate"]].values.tolist()
    [[2.0, 1.0, 0.5]]
    """
    import pandas as pd

    read = read_ratings(ratings)
    order = np.lexsort((read.rater, read.unit))
    unit, rater, code = read.unit[order], read.rater[order], read.code[order]
    pair, agreed = [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=bool)]
    for shift in range(1, int(read.per_unit.max(initial=0))):
        same = unit[shift:] == unit[:-shift]
        pair.append(rater[:-shift][same] * read.n_raters + rater[shift:][same])
        agreed.append(code[:-shift][same] == code[shift:][same])
    found, place = np.unique(np.concatenate(pair), return_inverse=True)
    units = np.bincount(place, minlength=len(found))
    hits = np.bincount(place, weights=np.concatenate(agreed), minlength=len(found)).astype(np.intp)
    names = np.asarray(read.raters, dtype=object)
    size = max(read.n_raters, 1)
    return pd.DataFrame(
        {
            "first": names[found // size].tolist(),
            "second": names[found % size].tolist(),
            "units": units,
            "agreed": hits,
            "rate": hits / np.maximum(units, 1),
        }
    )
