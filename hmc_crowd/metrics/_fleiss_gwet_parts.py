"""The arithmetic of the chance-corrected coefficients: weights, chance, influences, and the same under re-weighting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hmc_crowd.metrics._ratings import Ratings
    from hmc_crowd.metrics._unit_intervals import Statistic

__all__ = ["Chance", "Found", "WeightLevel", "agreement_weights", "by_unit", "reweighted"]

WeightLevel = Literal["nominal", "ordinal", "linear", "interval", "quadratic", "ratio"]
Chance = Literal["fleiss", "gwet", "brennan-prediger", "conger"]


def agreement_weights(labels: Sequence[Any], level: WeightLevel) -> NDArray[np.float64]:
    """Return the weight of every pair of labels, shape (q, q), by the formulas of `_fleiss_gwet`.

    Examples
    --------
    >>> agreement_weights([1, 2, 4], "quadratic").round(4).tolist()
    [[1.0, 0.8889, 0.0], [0.8889, 1.0, 0.5556], [0.0, 0.5556, 1.0]]
    """
    if level not in get_args(WeightLevel):
        raise InputError(f"level is {level!r}; choose one of {', '.join(get_args(WeightLevel))}")
    q = len(labels)
    if level == "nominal":
        return np.eye(q)
    if level == "ordinal":
        apart = np.abs(np.subtract.outer(np.arange(q), np.arange(q)))
        return np.asarray(1.0 - apart * (apart + 1) / (q * (q - 1)))
    if any(isinstance(each, bool) or not isinstance(each, (int, float, np.number)) for each in labels):
        raise InputError(f"level={level!r} needs labels that are numbers, not {labels[0]!r}; or use 'ordinal'")
    x = np.asarray(labels, dtype=np.float64)
    apart = np.abs(np.subtract.outer(x, x))
    if level == "linear":
        return np.asarray(1.0 - apart / apart.max())
    if level == "ratio":
        if (x < 0).any():
            raise InputError(f"labels hold {x.min():g}; level='ratio' needs numbers of at least 0")
        both = np.add.outer(x, x)
        apart = apart / np.where(both > 0, both, 1.0)
    return np.asarray(1.0 - (apart / apart.max()) ** 2)


@dataclass(frozen=True)
class Found:
    """A coefficient, its parts, and each rated unit's influence; `published` is the influence by Gwet's formula."""

    value: float
    agreement: float
    chance: float
    influence: NDArray[np.float64]  # of each rated unit, shape (rated units,)
    published: NDArray[np.float64]  # the same by Gwet's formula


def by_unit(read: Ratings, weights: NDArray[np.float64], kind: Chance) -> Found | None:
    """Return the coefficient, None if agreement by chance is complete."""
    rated = read.per_unit >= 1
    counts, m = read.counts[rated], read.per_unit[rated].astype(np.float64)
    units, q = counts.shape
    paired = m >= 2
    near = counts @ weights - 1.0 if not np.array_equal(weights, np.eye(q)) else counts - 1.0
    agreeing = np.einsum("uk,uk->u", counts, near) / np.where(paired, m * (m - 1.0), 1.0)
    agreement = float(agreeing[paired].sum() / paired.sum())
    inside = counts / m[:, None]
    share = inside.mean(axis=0)
    total = float(weights.sum())
    if kind == "fleiss":
        chance, lean = float(share @ weights @ share), inside @ (weights @ share)
    elif kind == "gwet":
        scale = total / (q * (q - 1.0))
        chance, lean = scale * float(share @ (1.0 - share)), scale * (inside @ (1.0 - share))
    elif kind == "conger":
        if read.n_raters < 2:
            return None
        chance, lean = _conger(read, rated, weights)
    else:
        chance, lean = total / q**2, np.full(units, total / q**2)
    if 1.0 - chance <= 1e-15:
        return None
    value = (agreement - chance) / (1.0 - chance)
    weight = units / paired.sum() * paired
    # How the unit moves chance, twice over: chance is quadratic in the shares.
    moved = 2.0 * (1.0 - value) * (lean - chance) / (1.0 - chance)
    scores = weight * (agreeing - chance) / (1.0 - chance)
    # p_a is a mean over paired units only, so their number varies, too; the published formula takes `value` off every
    # unit, which is the same when all are paired and too wide when many are not.
    influence = (scores - weight * value - moved) / units
    return Found(value, agreement, chance, influence, (scores - value - moved) / units)


def _conger(read: Ratings, rated: NDArray[np.bool_], weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Return chance, and per rated unit what it says about chance (mean = chance)."""
    q, r = len(read.labels), read.n_raters
    table = np.bincount(read.rater * q + read.code, minlength=r * q).reshape(r, q)
    active = table.sum(axis=1) > 0
    r = int(active.sum())
    n_by = np.maximum(table.sum(axis=1), 1)
    own = table / n_by[:, None]
    mean = own[active].mean(axis=0)
    # Ordered pairs of different raters: all pairs less each rater with himself.
    alone = float(np.einsum("gk,kl,gl->", own, weights, own))
    chance = (r * r * float(mean @ weights @ mean) - alone) / (r * (r - 1.0))
    others = (r * mean[None, :] - own) @ weights
    place = (np.cumsum(rated) - 1)[read.unit]
    units = int(rated.sum())
    pull = others[read.rater, read.code] - np.einsum("gk,gk->g", others, own)[read.rater]
    moved = np.bincount(place, weights=pull * units / n_by[read.rater], minlength=units) / (r * (r - 1.0))
    return chance, chance + moved


def reweighted(read: Ratings, weights: NDArray[np.float64], kind: Chance) -> Statistic:
    """Return the coefficient as a function of how often each rated unit counts."""
    rated = read.per_unit >= 1
    counts, m = read.counts[rated], read.per_unit[rated].astype(np.float64)
    q, paired = counts.shape[1], (m >= 2).astype(np.float64)
    agreeing = np.einsum("uk,uk->u", counts, counts @ weights - 1.0) / np.maximum(m * (m - 1.0), 1.0)
    inside = counts / m[:, None]
    total = float(weights.sum())
    place, raters = (np.cumsum(rated) - 1)[read.unit], read.n_raters
    habits = np.zeros((len(m), raters * q)) if kind == "conger" else np.zeros((len(m), 0))
    if kind == "conger":
        habits[place, read.rater * q + read.code] = 1.0

    def again(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
        agreement = (drawn @ (agreeing * paired)) / (drawn @ paired)
        share = (drawn @ inside) / drawn.sum(axis=1, keepdims=True)
        if kind == "fleiss":
            chance = np.einsum("dk,kl,dl->d", share, weights, share)
        elif kind == "gwet":
            chance = total / (q * (q - 1.0)) * (share * (1.0 - share)).sum(axis=1)
        elif kind == "conger":
            table = (drawn @ habits).reshape(-1, raters, q)
            own = table / table.sum(axis=2, keepdims=True)
            both = own.sum(axis=1)
            alone = np.einsum("dgk,kl,dgl->d", own, weights, own)
            chance = (np.einsum("dk,kl,dl->d", both, weights, both) - alone) / (raters * (raters - 1.0))
        else:
            chance = np.full(len(drawn), total / q**2)
        return np.asarray((agreement - chance) / (1.0 - chance))

    return again
