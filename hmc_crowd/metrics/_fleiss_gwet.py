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

from typing import TYPE_CHECKING, Any, get_args

from hmc_crowd.errors import InputError
from hmc_crowd.metrics._fleiss_gwet_parts import Chance, WeightLevel, agreement_weights, by_unit, reweighted
from hmc_crowd.metrics._intervals import ask_for
from hmc_crowd.metrics._intervals_clusters import cluster_ways, spread_of
from hmc_crowd.metrics._ratings import read_ratings
from hmc_crowd.metrics._result import Metric
from hmc_crowd.metrics._unit_intervals import unit_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from hmc_crowd.metrics._intervals import Ask, Scale

__all__ = [
    "brennan_prediger",
    "conger_kappa",
    "fleiss_kappa",
    "gwet_ac1",
    "gwet_ac2",
]


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
    found = by_unit(read, weights, chance)
    if found is None:
        return Metric.undefined("agreement by chance is complete, as when only one label occurs", **common)
    again = reweighted(read, weights, chance) if ask.interval == "bootstrap" else None
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
