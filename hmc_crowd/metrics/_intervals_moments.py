"""How are sums over a million rows taken quickly and without losing digits?

Most metrics of scores are smooth functions of a few sums: counts, sums, squares and products. The sums are taken in
blocks that stay in the processor's cache, of scores shifted by a pivot close to their mean, so that an offset of 1e8
costs no digits. The same pass can take the products of the rows' features, from which the delta method has the
variance of any smooth function of the sums; its gradient is exact (complex step), so no derivative is written by hand.

Sources: Chan, Golub, LeVeque (1983) for shifted sums; Squire, Trapp (1998) for the complex step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Function = Callable[[NDArray[Any]], NDArray[Any]]
    Fill = Callable[[slice, NDArray[np.float64]], None]

__all__ = ["Rows", "Totals", "gradient", "pivot_of", "take_totals"]

# Below the length at which BLAS starts threads for a dot product: they cost more than they give, far more on a busy
# machine.
BLOCK = 9984


@dataclass(frozen=True, eq=False)
class Rows:
    """Features of rows, made block by block.

    Parameters
    ----------
    n : int
        Rows.
    width : int
        Features per row; feature 0 is always the constant 1, so that sum 0 is the number of rows.
    fill : callable
        ``fill(rows, out)`` writes features 1, 2, ... of a slice of rows into ``out``, shape (width, len(rows)).
    """

    n: int
    width: int
    fill: Fill

    def matrix(self) -> NDArray[np.float64]:
        """Return all features, shape (width, n)."""
        out = np.ones((self.width, self.n))
        self.fill(slice(0, self.n), out)
        return out

    @classmethod
    def of(cls, *features: NDArray[np.float64]) -> Rows:
        """Make rows from ready columns, shape (n,) each; the constant is put in front."""

        def fill(rows: slice, out: NDArray[np.float64]) -> None:
            for place, feature in enumerate(features, start=1):
                out[place] = feature[rows]

        return cls(len(features[0]), len(features) + 1, fill)


@dataclass(frozen=True, eq=False)
class Totals:
    """Sums of the features, shape (width,), and of their products, shape (width, width) or None."""

    sums: NDArray[np.float64]
    products: NDArray[np.float64] | None

    def variance_along(self, slope: NDArray[np.float64]) -> float:
        """Return the variance of ``slope @ sums`` over new samples of as many independent rows."""
        n = self.sums[0]
        if self.products is None or n < 2:
            return 0.0
        centred = self.products - np.outer(self.sums, self.sums) / n
        return max(float(slope @ centred @ slope), 0.0) * float(n / (n - 1))


def take_totals(rows: Rows, *, products: bool) -> Totals:
    """Add up features, and their products if asked, in one pass."""
    width = rows.width
    first = [0.0] * width
    upper = [[0.0] * width for _ in range(width)]
    buffer = np.ones((width, min(BLOCK, max(rows.n, 1))))
    add = np.add.reduce
    for start in range(0, rows.n, BLOCK):
        size = min(BLOCK, rows.n - start)
        out = buffer if size == buffer.shape[1] else buffer[:, :size]
        rows.fill(slice(start, start + size), out)
        columns = list(out)
        for left in range(1, width):
            first[left] += float(add(columns[left]))
            if products:
                # Single dot products: twice as quick as one matrix product of so few, so long rows.
                for right in range(left, width):
                    upper[left][right] += float(columns[left] @ columns[right])
    sums = np.array(first)
    sums[0] = rows.n
    if not products:
        return Totals(sums, None)
    gram = np.array(upper)
    gram += np.triu(gram, 1).T
    gram[0] = gram[:, 0] = sums
    return Totals(sums, gram)


def pivot_of(values: NDArray[np.float64]) -> float:
    """Return a number close to the mean, from a part of the rows."""
    step = max(len(values) // 512, 1)
    first = float(values[0])
    return first + float((values[::step] - first).mean())


def gradient(function: Function, sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the derivatives of a smooth function of sums, exact to rounding.

    `function` maps (..., width) to (...) and must be written with operations that take complex numbers.
    """
    size = np.maximum(np.abs(sums), 1.0)
    step = 1e-30
    moved = np.tile(sums.astype(complex), (len(sums), 1))
    moved[np.arange(len(sums)), np.arange(len(sums))] += 1j * step * size
    with np.errstate(all="ignore"):
        slope: NDArray[np.float64] = np.imag(function(moved)) / (step * size)
    return slope
