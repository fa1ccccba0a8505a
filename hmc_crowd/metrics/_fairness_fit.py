"""How much of a quantity's variance does group membership explain, beyond the levels of another category?

Least squares of y on one dummy per group and, if given, one per level. The levels are taken out first (each column
minus its mean within the level), which leaves one small problem with a column per group; its singular values tell the
rank. So thousands of levels cost nothing, and neither a saturated model nor a group that is the same thing as a level
can slip through as a number.

Sources: Frisch, Waugh (1933) for taking out the levels; Steiger (2004) for intervals of explained variance from the
noncentral F distribution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["GroupFit", "explained_ends", "fit_groups"]

# Singular values below this share of the largest, and sums of squares below this share of the total, are rounding.
RANK = 1e-10
LEFT = 1e-20


@dataclass(frozen=True, eq=False)
class GroupFit:
    """Sums of squares, degrees of freedom and coefficients of the nested models.

    Parameters
    ----------
    total, without, within : float
        Sums of squares about the mean, about the level means (equal to `total` without levels), and about the fit.
    n, levels, rank : int
        Rows, levels (1 if none), and independent group columns.
    names : list of str
        Groups in the order of `coefficients`; the base group first.
    coefficients, errors : array of float, shape (groups,)
        Intercept (the base group, at level 0) and differences from it, with standard errors; NaN where they
        are not determined.
    residuals : array of float, shape (2, n)
        About the level means and about the fit.
    floor : float
        A sum of squares that rounding alone could leave.
    """

    total: float
    without: float
    within: float
    n: int
    levels: int
    rank: int
    names: list[str]
    coefficients: NDArray[np.float64]
    errors: NDArray[np.float64]
    residuals: NDArray[np.float64]
    floor: float = 0.0

    @property
    def df(self) -> int:
        """Degrees of freedom left by the full model."""
        return self.n - self.levels - self.rank

    @property
    def nothing_left(self) -> bool:
        """Whether the levels alone leave nothing to explain."""
        return self.without <= max(LEFT * self.n * self.total, self.floor)

    def r2_adj(self) -> float:
        """Return the adjusted R2 of the full model minus that of the model without groups."""
        if self.nothing_left:
            return 0.0
        per_df = self.without / (self.n - self.levels) - self.within / self.df
        return per_df / (self.total / (self.n - 1))

    def r2(self) -> float:
        """Return the plain R2 of the full model."""
        return 1.0 - self.within / self.total if self.total > 0 else math.nan

    def partial_eta2(self) -> float:
        """Return the share of what the levels leave that the groups explain."""
        return 1.0 - self.within / self.without if self.without > 0 else 0.0

    def f(self) -> float:
        """Return the F statistic of the nested models."""
        return ((self.without - self.within) / self.rank) / (self.within / self.df)


def fit_groups(
    y: NDArray[np.float64],
    group: NDArray[np.intp],
    names: list[str],
    level: NDArray[np.intp] | None = None,
    *,
    noise: float = 0.0,
) -> GroupFit:
    """Fit y by group, or by level and group.

    Parameters
    ----------
    y : array of float, shape (n,)
    group : array of int, shape (n,)
        Positions in `names`; the first name is the base.
    names : list of str
    level : array of int, shape (n,), optional
        Codes 0..L-1, each occurring.
    noise : float, default 0
        Rounding error in each y.
    """
    n, size = len(y), len(names)
    level = np.zeros(n, dtype=np.intp) if level is None else level
    levels = int(level.max()) + 1
    middle = float(y.mean())
    shifted = y - middle
    in_level = np.bincount(level, minlength=levels)
    level_mean = np.bincount(level, weights=shifted, minlength=levels) / in_level
    without = shifted - level_mean[level]
    # One row per cell (level, group) holds all that the groups' columns can see of the rows.
    cell, row = np.unique(level * size + group, return_inverse=True)
    at, of = cell // size, cell % size
    count = np.bincount(row).astype(np.float64)
    share = np.zeros((levels, size))
    share[at, of] = count / in_level[at]
    design = (np.eye(size)[of] - share[at])[:, 1:]
    target = np.bincount(row, weights=without) / count
    slope, cross, rank = _solve(design * np.sqrt(count)[:, None], target * np.sqrt(count))
    residual = without - (design @ slope)[row]
    within = float(residual @ residual)
    df = n - levels - rank
    start = middle + float(level_mean[0] - share[0, 1:] @ slope)
    sigma2 = within / df if df > 0 else math.nan
    variance = np.concatenate([[1.0 / in_level[0] + float(share[0, 1:] @ cross @ share[0, 1:])], np.diag(cross)])
    errors = np.sqrt(sigma2 * variance) if rank == size - 1 else np.full(size, np.nan)
    coefficients = np.concatenate([[start], slope]) if rank == size - 1 else np.full(size, np.nan)
    squares = float(without @ without)
    return GroupFit(
        float(shifted @ shifted),
        squares,
        min(within, squares),
        n,
        levels,
        rank,
        names,
        coefficients,
        errors,
        np.stack([without, residual]),
        n * noise**2,
    )


def _solve(
    design: NDArray[np.float64], target: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """Least squares by singular values: coefficients, inverse of the normal matrix, rank."""
    width = design.shape[1]
    if width == 0:
        return np.zeros(0), np.zeros((0, 0)), 0
    left, values, right = np.linalg.svd(design, full_matrices=False)
    # The columns are counts minus shares, so the root of the rows is their natural size, even if all vanish.
    keep = values > RANK * max(float(values[0]), math.sqrt(len(design)))
    inverse = np.where(keep, 1.0 / np.where(keep, values, 1.0), 0.0)
    slope = right.T @ (inverse * (left.T @ target))
    return slope, (right.T * inverse**2) @ right, int(keep.sum())


def explained_ends(f: float, rank: int, df: int, n: int, level: float) -> tuple[float, float]:
    """Return the interval of the population's partial eta^2 from the noncentral F distribution.

    Examples
    --------
    >>> low, high = explained_ends(4.0, 2, 97, 100, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.0009, 0.18)
    """
    from scipy.optimize import brentq
    from scipy.special import ncfdtr

    def noncentral(tail: float) -> float:
        def miss(nc: float) -> float:
            return float(ncfdtr(rank, df, nc, f)) - tail

        if miss(0.0) <= 0.0:
            return 0.0
        top = max(4.0 * f * rank, 16.0)
        while miss(top) > 0.0 and top < 1e12:
            top *= 2.0
        return float(brentq(miss, 0.0, top, xtol=1e-10, rtol=1e-10))

    ends = [noncentral((1 + level) / 2), noncentral((1 - level) / 2)]
    return ends[0] / (ends[0] + n), ends[1] / (ends[1] + n)
