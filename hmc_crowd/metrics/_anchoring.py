"""Does the machine's suggestion change what people answer? Agreement with the machine, shown against hidden.

Each answer was given with the machine's label shown or hidden, drawn at random for each worker and item. So the
difference of the two shares of answers that agree with the machine was caused by showing it. A worker's answers hang
together: the interval treats workers, not answers, as independent.

Where the truth is known the effect splits in two: on items the machine has right a suggestion may help, on those it
has wrong it misleads. Their sum says how far the suggestions moved people; the second part what they cost.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.metrics._codes import bool_vector
from hmc_crowd.metrics._influence import Spread, share_interval, t_quantile
from hmc_crowd.metrics._intervals import ask_for
from hmc_crowd.metrics._intervals_clusters import Way, cluster_ways, spread_of
from hmc_crowd.metrics._result import Metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["anchoring"]

_NAME = "anchoring (agreement with the machine, shown minus hidden)"


def anchoring(agrees: Any, shown: Any, workers: Any, *, machine_right: Any = None, level: float = 0.95) -> Metric:
    """Return by how much showing the machine's label raises the share of answers that agree with it.

    Parameters
    ----------
    agrees : array of bool, shape (n,)
        Whether each answer is the machine's label.
    shown : array of bool, shape (n,)
        Whether the worker saw that label before he answered.
    workers : array, shape (n,)
        Who gave the answer; answers of one worker are not independent.
    machine_right : array of bool, shape (n,), optional
        Whether the machine's label is right, where the truth of all these items is known.
    level : float, default 0.95
        Of the interval.

    Returns
    -------
    Metric
        The difference in [-1, 1]; ``details`` hold ``agree_shown, agree_hidden, n_shown, n_hidden, workers`` and, with
        the truth, ``where_right`` and ``where_wrong``, each a metric like this one. Undefined without both arms.

    Raises
    ------
    InputError
        Lengths differ, or a value is missing or no truth value.

    Notes
    -----
    The interval is linearised with one influence value an answer, summed within workers, and Student's t with one
    degree of freedom fewer than workers (Liang and Zeger, 1986). Where no answer differs from the others of its arm
    there is no spread to read; Wilson's intervals of the two shares are then joined (Newcombe, 1998).

    Examples
    --------
    Shown: 3 of 4 agree; hidden: 1 of 4.

    >>> agrees, shown = [1, 1, 1, 0, 1, 0, 0, 0], [1, 1, 1, 1, 0, 0, 0, 0]
    >>> result = anchoring(agrees, shown, ["a", "a", "b", "b", "a", "a", "b", "b"])
    >>> result.value, result.details["agree_hidden"]
    (0.5, 0.25)
    """
    ask = ask_for(level)
    said, arm = (_flags(values, name) for values, name in ((agrees, "agrees"), (shown, "shown")))
    if len(arm) != len(said):
        raise InputError(f"shown has {len(arm)} values but agrees has {len(said)}; give one per answer")
    ways = cluster_ways({"workers": np.asarray(workers, dtype=object)}, len(said))
    value = _effect(said, arm, ways[0], ask.level)
    if machine_right is None or value.value is None:
        return value
    right = _flags(machine_right, "machine_right")
    if len(right) != len(said):
        raise InputError(f"machine_right has {len(right)} values but agrees has {len(said)}; give one per answer")
    parts = {
        name: _effect(said[keep], arm[keep], ways[0].take(keep), ask.level)
        for name, keep in (("where_right", right), ("where_wrong", ~right))
    }
    return value.replace(details={**value.details, **parts})


def _flags(values: Any, name: str) -> NDArray[np.bool_]:
    return bool_vector(values, name=name)


def _effect(agrees: NDArray[np.bool_], shown: NDArray[np.bool_], way: Way, level: float) -> Metric:
    counts = int(shown.sum()), int((~shown).sum())
    if not min(counts):
        missing = "shown" if not counts[0] else "hidden"
        return Metric.undefined(
            f"no answer was given with the machine's label {missing}", name=_NAME, n=len(agrees), level=level
        )
    shares = float(agrees[shown].mean()), float(agrees[~shown].mean())
    value = shares[0] - shares[1]
    influence = np.where(shown, (agrees - shares[0]) / counts[0], -(agrees - shares[1]) / counts[1])
    spread = spread_of(influence, (way,))
    details: dict[str, Any] = {
        "agree_shown": shares[0],
        "agree_hidden": shares[1],
        "n_shown": counts[0],
        "n_hidden": counts[1],
        "workers": way.size,
    }
    common: dict[str, Any] = {"n": len(agrees), "level": level, "name": _NAME, "details": details}
    common["warnings"] = spread.warnings
    common["assumptions"] = ("which answers came with a suggestion was drawn at random", *spread.assumptions)
    if way.size < 2:
        return Metric(value, method="no interval: one worker", **common)
    if spread.variance > 0:
        half = t_quantile(level, spread.df) * math.sqrt(spread.variance)
        ends = max(-1.0, value - half), min(1.0, value + half)
        return Metric(value, *ends, method=f"analytic ({spread.how})", **common)
    return Metric(value, *_joined(shares, way.size, level), method="analytic (Wilson, joined)", **common)


def _joined(shares: tuple[float, float], clusters: int, level: float) -> tuple[float, float]:
    """Return an interval of the difference from those of the two shares, workers counted as rows."""
    (low1, high1), (low0, high0) = (
        share_interval(share, Spread(0.0, clusters - 1, clusters), clusters, level) for share in shares
    )
    value = shares[0] - shares[1]
    down = math.hypot(shares[0] - (low1 or 0.0), (1.0 if high0 is None else high0) - shares[1])
    up = math.hypot((1.0 if high1 is None else high1) - shares[0], shares[1] - (low0 or 0.0))
    return max(-1.0, value - down), min(1.0, value + up)
