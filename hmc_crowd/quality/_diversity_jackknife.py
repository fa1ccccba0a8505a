"""How sure is a figure of groups, when answers of one person are alike? The delete-one-person jackknife.

The figure is taken once more without each person; how much it moves is the person's influence. The influences count
within each group, so a group of few people makes a wide interval whatever the size of the other. Items are the ones
that were judged: intervals speak of people, not of other items.

Guarantee: the variance is right for what people differ in, and at most too large for chance within an answer (Efron and
Stein 1981, "The jackknife estimate of variance"): up to twice, where two answers stand alone on an item. The t
distribution has Satterthwaite's degrees of freedom. Several intervals that shall hold together are each taken at the
level that Sidak's inequality (1967) asks for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["divided", "jackknife", "together"]


def together(level: float, comparisons: int) -> float:
    """Return the level of each of several intervals that shall hold together.

    Examples
    --------
    >>> round(together(0.95, 4), 4)
    0.9873
    """
    if not isinstance(level, int | float) or not 0 < level < 1:
        raise InputError(f"level is {level!r}; give a probability between 0 and 1, such as 0.95")
    return float(level ** (1 / max(comparisons, 1)))


def jackknife(
    estimate: float,
    without: NDArray[np.float64],
    stratum: NDArray[np.intp],
    level: float,
    *,
    bounds: tuple[float, float] = (-1.0, 1.0),
) -> tuple[float, float]:
    """Return the interval of a figure from its values without each person.

    Parameters
    ----------
    estimate : float
        With everybody.
    without : array of float, shape (n_people,)
        Of those who count in the figure; NaN where it is not defined without the person.
    stratum : array of int, shape (n_people,)
        Group of each.
    level : float
        Of this interval.
    bounds : tuple of float
        Least and largest value that the figure can have; returned where nothing is known.
    """
    from scipy.stats import t

    if estimate != estimate:
        return float("nan"), float("nan")
    if np.isnan(without).any() or not len(without):
        return bounds
    people = np.bincount(stratum).astype(float)
    there = people > 0
    if people[there].min() < 2:
        return bounds
    mean = np.bincount(stratum, weights=without)[there] / people[there]
    centred = without - mean[np.searchsorted(np.flatnonzero(there), stratum)]
    people = people[there]
    parts = np.bincount(stratum, weights=centred**2)[there] * (people - 1) / people
    variance = float(parts.sum())
    if variance <= 1e-18:
        # Nobody differs from anybody: the upper bound of Wilson's interval for none of so many people.
        z = float(t.ppf((1 + level) / 2, people.min() - 1))
        half = z * z / (people.min() + z * z) * min(bounds[1] - bounds[0], 1.0)
    else:
        freedom = variance**2 / float((parts**2 / (people - 1)).sum())
        half = float(t.ppf((1 + level) / 2, freedom)) * variance**0.5
    return max(bounds[0], estimate - half), min(bounds[1], estimate + half)


def divided(top: Any, bottom: Any, *, empty: float = 0.0) -> NDArray[np.float64]:
    """Return the quotient, ``empty`` where there is nothing to divide by: leaving a person out may leave nothing."""
    top, bottom = np.broadcast_arrays(np.asarray(top, np.float64), np.asarray(bottom, np.float64))
    found = np.full(top.shape, empty)
    np.divide(top, bottom, out=found, where=np.abs(bottom) > 1e-12)
    return found
