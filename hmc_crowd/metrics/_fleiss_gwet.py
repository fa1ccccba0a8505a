"""Do several raters agree beyond chance? Fleiss, Gwet, Brennan-Prediger and Conger, by one formula.

All are (p_a - p_e) / (1 - p_e): p_a is the mean, over units with two ratings or more, of the (weighted) share of
pairs of ratings that agree; they differ in what they call chance:

===================  ==============================================================================
Fleiss               two ratings drawn from the shares of the labels
Gwet (AC1, AC2)      T / (q (q - 1)) * sum p_k (1 - p_k), T the sum of the weights, q labels
Brennan-Prediger     T / q^2: every label alike (also called Randolph's kappa)
Conger               two different raters, each with own shares of the labels (Cohen's kappa for many)
===================  ==============================================================================

The share p_k of a label is the mean over units of its share inside the unit. Missing ratings are no problem: a unit
with one rating tells about chance and not about agreement.

The weight of a pair, for labels in order 1..q with numbers x: nominal 1 or 0; ordinal 1 - C(|k-l|+1, 2) / C(q, 2);
linear 1 - |x_k - x_l| / range; interval (quadratic) 1 - ((x_k - x_l) / range)^2; ratio the same of
(x_k - x_l) / (x_k + x_l) over its maximum. A name is no definition: Krippendorff's "ordinal" is another distance.

Sources: Fleiss (1971); Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., chapters 2-5 (also the variances);
conformance: irrCAC 0.4.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.metrics._intervals import ask_for
from hmc_crowd.metrics._intervals_clusters import cluster_ways, spread_of
from hmc_crowd.metrics._ratings import Ratings, read_ratings
from hmc_crowd.metrics._result import Metric
from hmc_crowd.metrics._unit_intervals import unit_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hmc_crowd.metrics._intervals import Ask, Scale
    from hmc_crowd.metrics._unit_intervals import Statistic

__all__ = [
    "WeightLevel",
    "agreement_weights",
    "brennan_prediger",
    "conger_kappa",
    "fleiss_kappa",
    "gwet_ac1",
    "gwet_ac2",
]

WeightLevel = Literal["nominal", "ordinal", "linear", "interval", "quadratic", "ratio"]
Chance = Literal["fleiss", "gwet", "brennan-prediger", "conger"]


def fleiss_kappa(
    ratings: Any,
    *,
    level: WeightLevel = "nominal",
    categories: Sequence[Any] | None = None,
    clusters: Any = None,
    interval_level: float = 0.95,
    interval: str = "auto",
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> Metric:
    """Return Fleiss' kappa, for any number of ratings per unit, with an interval.

    Parameters
    ----------
    ratings : array of shape (units, raters), wide frame, or long frame ``task, worker, label``
        NaN, None: not rated.
    level : {"nominal", "ordinal", "linear", "interval", "quadratic", "ratio"}, default "nominal"
        Weights of near agreement (module text); "interval" and "quadratic" are the same.
    categories : sequence, optional
        All labels in order; without it those that occur. Only weights depend on it.
    clusters : array, shape (units,), optional
        Units that belong together stay together in the interval.
    interval_level : float, default 0.95
        Coverage of the interval.
    interval : {"auto", "analytic", "bootstrap", "none"}, default "auto"
        "auto" is analytic; the bootstrap draws units (clusters) again.
    rng : numpy.random.Generator, optional
        For the bootstrap; default ``numpy.random.default_rng(0)``.
    n_boot : int, default 2000
        Draws of the bootstrap.

    Returns
    -------
    Metric
        ``n`` counts ratings; ``details`` hold ``agreement, chance, units, se, se_published``. Undefined with a reason
        if no unit has two ratings, or only one label occurs.

    Notes
    -----
    statsmodels needs equal numbers of ratings and answers NaN for one label; irrCAC divides by 0 there. Its standard
    error (``se_published``) is too large where many units have one rating; ``se`` and the interval are not.

    Examples
    --------
    Units aa, aa, bb, ba: p_a = 3/4, shares 5/8 and 3/8, p_e = 34/64.

    >>> round(fleiss_kappa([["a", "a"], ["a", "a"], ["b", "b"], ["b", "a"]]).value, 4)
    0.4667
    """
    ask = ask_for(interval_level, interval, rng, n_boot)
    return _coefficient("fleiss", "Fleiss' kappa", ratings, level, categories, clusters, ask)


def gwet_ac1(
    ratings: Any,
    *,
    categories: Sequence[Any] | None = None,
    clusters: Any = None,
    interval_level: float = 0.95,
    interval: str = "auto",
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> Metric:
    """Return Gwet's AC1, which stays sensible when nearly all units get one label.

    Parameters
    ----------
    ratings, categories, clusters, interval_level, interval, rng, n_boot
        As in `fleiss_kappa`; AC1 depends on how many labels are declared, alpha and kappa do not.

    Returns
    -------
    Metric
        As `fleiss_kappa`. With one label only and none declared it is 1 with a warning: p_e is 0 for every number of
        labels from two on.

    Examples
    --------
    Units aa, aa, bb, ba: p_a = 3/4, p_e = 2 * (5/8 * 3/8) = 30/64.

    >>> round(gwet_ac1([["a", "a"], ["a", "a"], ["b", "b"], ["b", "a"]]).value, 4)
    0.5294
    """
    ask = ask_for(interval_level, interval, rng, n_boot)
    return _coefficient("gwet", "Gwet's AC1", ratings, "nominal", categories, clusters, ask)


def gwet_ac2(
    ratings: Any,
    *,
    level: WeightLevel = "ordinal",
    categories: Sequence[Any] | None = None,
    clusters: Any = None,
    interval_level: float = 0.95,
    interval: str = "auto",
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> Metric:
    """Return Gwet's AC2: AC1 with weights for near agreement.

    Parameters
    ----------
    ratings, level, categories, clusters, interval_level, interval, rng, n_boot
        As in `fleiss_kappa`; ``level='nominal'`` gives AC1.

    Returns
    -------
    Metric
        As `fleiss_kappa`.

    Examples
    --------
    Weights of neighbours 2/3: p_a = (1 + 2/3 + 1 + 2/3) / 4 = 5/6; shares 3/8, 2/8, 3/8, p_e = (17/3) / 6 * 21/32.

    >>> round(gwet_ac2([[1, 1], [2, 3], [3, 3], [1, 2]]).value, 4)
    0.5616
    """
    name = f"Gwet's AC2 ({level})"
    ask = ask_for(interval_level, interval, rng, n_boot)
    return _coefficient("gwet", name, ratings, level, categories, clusters, ask)


def brennan_prediger(
    ratings: Any,
    *,
    level: WeightLevel = "nominal",
    categories: Sequence[Any] | None = None,
    clusters: Any = None,
    interval_level: float = 0.95,
    interval: str = "auto",
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> Metric:
    """Return the Brennan-Prediger coefficient (Randolph's kappa): chance treats every label alike.

    Parameters
    ----------
    ratings, level, categories, clusters, interval_level, interval, rng, n_boot
        As in `fleiss_kappa`; it depends on how many labels are declared.

    Returns
    -------
    Metric
        As `fleiss_kappa`.

    Examples
    --------
    >>> brennan_prediger([["a", "a"], ["a", "a"], ["b", "b"], ["b", "a"]]).value  # (3/4 - 1/2) / (1/2)
    0.5
    """
    name = "Brennan-Prediger"
    ask = ask_for(interval_level, interval, rng, n_boot)
    return _coefficient("brennan-prediger", name, ratings, level, categories, clusters, ask)


def conger_kappa(
    ratings: Any,
    *,
    level: WeightLevel = "nominal",
    categories: Sequence[Any] | None = None,
    clusters: Any = None,
    interval_level: float = 0.95,
    interval: str = "auto",
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> Metric:
    """Return Conger's kappa: Cohen's for any number of raters, each with own habits.

    Parameters
    ----------
    ratings, level, categories, clusters, interval_level, interval, rng, n_boot
        As in `fleiss_kappa`. For panels: it needs the same few raters throughout.

    Returns
    -------
    Metric
        As `fleiss_kappa`; also undefined for one rater.

    Examples
    --------
    Margins of rater 1: 2/4, 2/4; of rater 2: 3/4, 1/4; p_e = 1/2.

    >>> conger_kappa([["a", "a"], ["a", "a"], ["b", "b"], ["b", "a"]]).value  # Cohen's kappa
    0.5
    """
    name = "Conger's kappa"
    ask = ask_for(interval_level, interval, rng, n_boot)
    return _coefficient("conger", name, ratings, level, categories, clusters, ask)


def agreement_weights(labels: Sequence[Any], level: WeightLevel) -> NDArray[np.float64]:
    """Return the weight of every pair of labels, shape (q, q), by the formulas in the module's text.

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


def _coefficient(
    chance: Chance,
    name: str,
    ratings: Any,
    level: WeightLevel,
    categories: Sequence[Any] | None,
    clusters: Any,
    ask: Ask,
) -> Metric:
    if level not in get_args(WeightLevel):
        raise InputError(f"level is {level!r}; choose one of {', '.join(get_args(WeightLevel))}")
    read = read_ratings(ratings, categories=categories)
    if level == "ordinal" and read.numbers is None and not read.declared:
        raise InputError(f"level is 'ordinal' but labels are text; declare categories in order, not {read.labels[:4]}")
    rated = read.per_unit >= 1
    ways = tuple(way.take(rated) for way in cluster_ways(clusters, read.n_units))
    common: dict[str, Any] = {"name": name, "n": read.n, "dropped": read.dropped, "level": ask.level}
    if not (read.per_unit >= 2).any():
        return Metric.undefined("no unit has two ratings", **common)
    if len(read.labels) < 2:
        if chance == "gwet" and level == "nominal":
            told = ("only one label occurs: AC1 is 1 for every number of declared labels",)
            return Metric(1.0, warnings=told, method="no interval: no disagreement was seen", **common)
        return Metric.undefined("only one label occurs; declare categories to say what else was possible", **common)
    weights = agreement_weights(read.labels, level)
    found = _by_unit(read, weights, chance)
    if found is None:
        return Metric.undefined("agreement by chance is complete, as when only one label occurs", **common)
    again = _statistic(read, weights, chance) if ask.interval == "bootstrap" else None
    scale: Scale = "plain" if found.agreement >= 1.0 else "log1m"
    made = unit_interval(found.value, found.influence, ask, ways, scale=scale, statistic=again)
    assumes = (*made.assumptions, "the raters are taken as given")
    details = {
        "agreement": found.agreement,
        "chance": found.chance,
        "units": int(rated.sum()),
        "categories": tuple(read.labels),
        "se": spread_of(found.influence, ways).variance ** 0.5,
        "se_published": spread_of(found.published, ways).variance ** 0.5,
    }
    return Metric(found.value, **{**made.fields(), "assumptions": assumes}, details=details, **common)


@dataclass(frozen=True)
class _Found:
    value: float
    agreement: float
    chance: float
    influence: NDArray[np.float64]  # of each rated unit, shape (rated units,)
    published: NDArray[np.float64]  # the same by Gwet's formula


def _by_unit(read: Ratings, weights: NDArray[np.float64], kind: Chance) -> _Found | None:
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
    return _Found(value, agreement, chance, influence, (scores - value - moved) / units)


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


def _statistic(read: Ratings, weights: NDArray[np.float64], kind: Chance) -> Statistic:
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
