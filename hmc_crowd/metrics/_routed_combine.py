"""How the parts of a routed batch become one mean with one variance."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from hmc_crowd.metrics._influence import t_quantile
from hmc_crowd.metrics._intervals_clusters import Spread, cluster_ways, spread_of
from hmc_crowd.metrics._routed_parts import Part, PartFit, fit_fixed, fit_independent, fit_sure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.metrics._intervals_clusters import Way

__all__ = ["FEW", "Alternative", "Estimate", "combine", "effective_labels", "ends_of"]

Alternative: TypeAlias = Literal["two-sided", "larger", "smaller"]
# A part with fewer random labels than this takes no lambda of its own.
FEW = 20


@dataclass(frozen=True)
class Estimate:
    """Value and variance of the mean, and what they rest on."""

    value: float
    variance: float
    df: float
    factor: float
    random: int
    label_variance: float
    how: str
    warnings: tuple[str, ...]
    assumptions: tuple[str, ...]


def combine(
    parts: list[Part],
    factor: float | None,
    given: tuple[NDArray[np.float64], NDArray[np.float64]],
    target: str,
    clusters: Any,
    small: bool,
) -> Estimate:
    """Put the parts together: each counts with its share of the items."""
    n = len(given[0])
    known = given[0][~np.isnan(given[0])]
    binary = bool(np.isin(known, (0.0, 1.0)).all())
    fits = [_fit(part, factor, small, binary) for part in parts]
    share = np.array([len(part.rows) / n for part in parts])
    value = float(share @ [fit.value for fit in fits])
    within = float(share @ [fit.label_variance for fit in fits])
    between = float(share @ [(fit.value - value) ** 2 for fit in fits])
    random = sum(fit.random for fit in fits)
    df = float(max(random - sum(1 for fit in fits if fit.random), 1))
    told = ("people's items were drawn with the stated probabilities",)
    if target == "batch":
        # What people saw for sure is known.
        variance = float(share**2 @ [fit.batch_variance + fit.extra * (fit.random > 0) for fit in fits])
        spread = Spread(variance, df, "", (), told)
    else:
        influence = np.empty(n)
        for part, fit, weight in zip(parts, fits, share.tolist(), strict=True):
            influence[part.rows] = math.sqrt(fit.correction) * weight * fit.influence + (fit.value - value) / n
        found = _between_items(influence, cluster_ways(clusters, n), df if random else float(n - 1))
        extra = float(share**2 @ [fit.extra for fit in fits])
        spread = replace(found, variance=found.variance + extra, assumptions=(*told, *found.assumptions))
    return Estimate(
        value,
        spread.variance,
        spread.df,
        float(share @ [fit.factor for fit in fits]),
        random,
        within + between,
        spread.how,
        spread.warnings,
        spread.assumptions,
    )


def _between_items(influence: NDArray[np.float64], ways: tuple[Way, ...], df: float) -> Spread:
    """Return the variance over items, or over their clusters, with no more than `df` degrees of freedom."""
    if not ways:
        squares = float(np.einsum("i,i->", influence, influence))
        return Spread(squares, df, "", (), ("items are drawn from one population, independently",))
    spread = spread_of(influence - influence.mean(), ways)
    return replace(spread, df=min(df, spread.df), how=f", {spread.how}")


def _fit(part: Part, factor: float | None, small: bool, binary: bool) -> PartFit:
    seen = int(part.seen.sum())
    fixed = bool((part.chance == 1.0).all())
    if seen == len(part.rows) and fixed:
        return fit_sure(part, small=small, binary=binary)
    # So few labels cannot tell how good the machine is.
    use = 0.0 if factor is None and seen < FEW and small else factor
    fit = fit_fixed if fixed else fit_independent
    return fit(part, use, small=small, binary=binary)


def effective_labels(found: Estimate, n: int, target: str) -> float:
    """Return how many randomly drawn labels, without the machine, would have this variance."""
    if found.label_variance == 0.0:
        return math.nan
    needed = found.variance / found.label_variance
    return 1.0 / (needed + (1.0 / n if target == "batch" else 0.0)) if needed > 0.0 or target == "batch" else math.inf


def ends_of(
    found: Estimate, known: NDArray[np.float64], target: str, level: float, alternative: Alternative, small: bool
) -> tuple[float | None, float | None]:
    """Return the ends of the interval; None at an open end, or where nothing varies."""
    if not found.variance > 0.0:
        # Where people saw every item, the batch's figure is known.
        sure = target == "batch" and found.random == 0
        return (found.value, found.value) if sure else (None, None)
    two = alternative == "two-sided"
    df = found.df if small else 1e7
    half = t_quantile(level if two else abs(2 * level - 1), df) * math.sqrt(found.variance)
    half = half if two or level >= 0.5 else -half
    low, high = found.value - half, found.value + half
    if small and bool(np.isin(known, (0.0, 1.0)).all()):
        low, high = max(low, 0.0), min(high, 1.0)
    return (None if alternative == "smaller" else low), (None if alternative == "larger" else high)
