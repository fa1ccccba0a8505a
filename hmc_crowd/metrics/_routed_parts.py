"""The arithmetic of a mean under routing: one part of the items at a time.

A part is a set of items among which people's were drawn at random: all with fixed numbers, or each by itself with a
known probability. Each part gives an estimate and influence values; `_routed_mean` puts them together. Items that
people see for sure are a part of their own, estimated by their plain mean.

`small` adds what large-sample formulas leave out: n - 1 in place of n and, for labels of 0 and 1, z^2 / 2 imagined
squared errors of 1 (Agresti, Coull 1998), so that an audit without an error does not claim that there are none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Part", "PartFit", "fit_fixed", "fit_independent", "fit_sure"]

# z^2 / 2 at 95 %.
_IMAGINED = 1.92


@dataclass(frozen=True, eq=False)
class Part:
    """Items of one part: rows in the batch, machine's values, labels (NaN where unseen), probabilities."""

    rows: NDArray[np.intp]
    machine: NDArray[np.float64]
    labels: NDArray[np.float64]
    chance: NDArray[np.float64]

    @property
    def seen(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.labels)


@dataclass(frozen=True, eq=False)
class PartFit:
    """What a part gives.

    Parameters
    ----------
    value : float
        Estimated mean of the part.
    factor : float
        How much of the machine's value was used, in [0, 1].
    influence : array of float, shape (n_items,)
        What each of its items moves the value by, seen as drawn from a population.
    batch_variance : float
        Variance of the value over the draw of people's items alone.
    correction : float
        Factor on the squared influence for few labels.
    extra : float
        Imagined variance; of a part that people saw for sure it concerns the population alone.
    label_variance : float
        Estimated variance of the labels within the part.
    random : int
        Labels that were drawn at random.
    """

    value: float
    factor: float
    influence: NDArray[np.float64]
    batch_variance: float
    correction: float
    extra: float
    label_variance: float
    random: int


def fit_sure(part: Part, *, small: bool, binary: bool) -> PartFit:
    """Return the plain mean, without error for the batch, where people saw every item."""
    y = part.labels
    n, value, spread = len(y), float(y.mean()), float(y.var())
    extra = _IMAGINED / (n + 2 * _IMAGINED) ** 2 if small and binary else 0.0
    return PartFit(value, 0.0, (y - value) / n, 0.0, 1.0, extra, spread, 0)


def fit_fixed(part: Part, factor: float | None, *, small: bool, binary: bool) -> PartFit:
    """Return the prediction-powered mean of a fixed number of drawn items; lambda as in PPI++ unless given."""
    seen = part.seen
    y, f, rest = part.labels[seen], part.machine[seen], part.machine[~seen]
    n, unseen, size = len(y), len(rest), len(seen)
    free = _tuned(y, f, rest, small) if factor is None else factor
    use = min(max(free, 0.0), 1.0) if factor is None else factor
    error = y - use * f
    value = float(error.mean()) + use * float(rest.mean())
    influence = np.empty(size)
    influence[seen] = (error - error.mean()) / n
    influence[~seen] = use * (rest - rest.mean()) / unseen
    correction = n / (n - 1) if small and n > 1 else 1.0
    # Seen as a draw from the finite part, the machine counts on all items: its factor there is larger.
    against = y - use * size / unseen * f
    batch = (1.0 - n / size) * float(against.var()) / n * correction
    extra = (1.0 - n / size) * _IMAGINED / (n + 2 * _IMAGINED) ** 2 if small and binary else 0.0
    return PartFit(value, use, influence, batch, correction, extra, float(y.var()), n)


def fit_independent(part: Part, factor: float | None, *, small: bool, binary: bool) -> PartFit:
    """Return the weighted mean of items that were each drawn by itself, the machine's value taken off first."""
    seen = part.seen
    y, f, weight = part.labels[seen], part.machine[seen], 1.0 / part.chance[seen]
    total, size = float(weight.sum()), len(seen)
    centred_y, centred_f = y - float(weight @ y) / total, f - float(weight @ f) / total
    machine = part.machine - part.machine.mean()
    # Influence of the value at factor 0, and how it moves with the factor.
    base, slope = np.zeros(size), machine / size
    base[seen] = weight * centred_y / total
    slope[seen] -= weight * centred_f / total
    bottom = float(np.einsum("i,i->", slope, slope))
    # A machine that always says the same leaves rounding error, not spread.
    varies = float(np.ptp(part.machine)) > 1e-12 * max(1.0, float(np.abs(part.machine).max()))
    free = -float(np.einsum("i,i->", base, slope)) / bottom if factor is None and varies and bottom > 0.0 else 0.0
    use = min(max(free, 0.0), 1.0) if factor is None else factor
    error = y - use * f
    centred = error - float(weight @ error) / total
    value = use * float(part.machine.mean()) + float(weight @ error) / total
    n = len(y)
    correction = n / (n - 1) if small and n > 1 else 1.0
    squares = (1.0 - part.chance[seen]) * weight**2
    batch = float(squares @ centred**2) / total**2 * correction
    extra = _IMAGINED * float(squares.mean()) / total**2 * (n / (n + 2 * _IMAGINED)) ** 2 if small and binary else 0.0
    spread = float(weight @ centred_y**2) / total
    return PartFit(value, use, base + use * slope, batch, correction, extra, spread, n)


def _tuned(y: NDArray[np.float64], f: NDArray[np.float64], rest: NDArray[np.float64], small: bool) -> float:
    """Return lambda; for few labels from them alone, since theirs and the others' spread together bias the mean."""
    spread = f if small else np.concatenate([f, rest])
    flat = float(np.ptp(spread)) <= 1e-12 * max(1.0, float(np.abs(spread).max()))
    if len(spread) < 2 or flat or float(np.ptp(y)) == 0.0:
        return 0.0
    shared = float(((y - y.mean()) * (f - f.mean())).mean())
    return shared / ((1.0 + len(y) / len(rest)) * float(spread.var(ddof=0 if small else 1)))
