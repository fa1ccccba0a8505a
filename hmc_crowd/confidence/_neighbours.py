"""How far is the k-th nearest of many points? Matrix products find the few that may be it; differences decide.

Guarantee: the distances are those of plain differences in float64, whatever the block size. A product in float32
gives every squared distance up to a rounding error whose bound is known (Higham 2002, section 3.1); only points that
the bound cannot rule out are measured, so none that matters is missed. Trees do worse than this from about twenty
dimensions on, where they visit nearly every leaf.

Memory beyond the points and their copy in float32: a small multiple of ``chunk_bytes``, whatever the number of points.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__: list[str] = []

CHUNK_BYTES = 32 * 2**20
# Columns of a product: wide enough for a fast one, and narrow enough that a chunk still has many rows.
_COLUMNS = 8192
_STRIPS = 256


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Points that distances are measured to.

    Parameters
    ----------
    points : float array, shape (n_points, n_features)
        Finite.
    chunk_bytes : int
        Size of one block of approximate distances.
    """

    points: NDArray[np.float64]
    centre: NDArray[np.float64]
    scale: float
    table: NDArray[np.float32]
    chunk_bytes: int

    @classmethod
    def of(cls, points: NDArray[np.float64], *, chunk_bytes: int = CHUNK_BYTES) -> Neighbours:
        """Prepare points: centred and scaled, so that float32 loses little and never overflows."""
        centre = points.mean(axis=0)
        scale = float(np.abs(points - centre).max()) or 1.0
        return cls(points, centre, scale, _table((points - centre) / scale, np.float32), chunk_bytes)

    def kth_distance(self, X: NDArray[np.float64], k: int) -> NDArray[np.float64]:
        """Return the distance of each row of X to its k-th nearest point (1 is the nearest), shape (n_rows,)."""
        columns = min(_COLUMNS, len(self.points))
        rows = max(1, self.chunk_bytes // (4 * columns))
        out = np.empty(len(X))
        for start in range(0, len(X), rows):
            block = X[start : start + rows]
            nearest = np.full((len(block), k), np.inf)
            for left in range(0, len(self.points), columns):
                nearest = self._nearer(block, nearest, left, left + columns)
            out[start : start + rows] = np.sqrt(nearest[:, -1])
        return out

    def _nearer(
        self, block: NDArray[np.float64], nearest: NDArray[np.float64], left: int, right: int
    ) -> NDArray[np.float64]:
        """Return the k smallest squared distances, those so far and those to some more points taken together."""
        k = nearest.shape[1]
        row, column = self._candidates(block, nearest[:, -1], k, left, right, np.float32)
        if len(row) > len(block) * (4 * k + 32):
            # Points so close to one another that float32 cannot tell them apart.
            row, column = self._candidates(block, nearest[:, -1], k, left, right, np.float64)
        squared = self._measured(block, row, column + left)
        order = np.lexsort((squared, row))
        row, squared = row[order], squared[order]
        rank = np.arange(len(row)) - np.searchsorted(row, row)
        few = rank < k
        found = np.full_like(nearest, np.inf)
        found[row[few], rank[few]] = squared[few]
        return np.sort(np.concatenate([nearest, found], axis=1), axis=1)[:, :k]

    def _candidates(
        self, block: NDArray[np.float64], reached: NDArray[np.float64], k: int, left: int, right: int, kind: type
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return (row, column) pairs that hold every one of the k nearest points of each row."""
        x = (block - self.centre) / self.scale
        table = self.table[left:right] if kind is np.float32 else self._exact_table(left, right)
        with_one: NDArray[Any] = np.concatenate([x, np.ones((len(x), 1))], axis=1).astype(kind)
        # |y|^2 - 2xy: the squared distance less |x|^2, which is the same along the row.
        product = with_one @ table.T
        length = np.sqrt(np.einsum("ij,ij->i", x, x))
        longest = float(np.sqrt(max(table[:, -1].max(), 0.0))) * (1 + 1e-6)
        error = (x.shape[1] + 8) * np.finfo(kind).eps * (2 * length + longest) * longest
        bound = np.minimum(_kth_at_most(product, k) + 2 * error, reached / self.scale**2 - length**2 + 2 * error)
        row, column = np.nonzero(product <= np.nextafter(bound.astype(kind), kind(np.inf))[:, None])
        return row, column

    def _exact_table(self, left: int, right: int) -> NDArray[Any]:
        return _table((self.points[left:right] - self.centre) / self.scale, np.float64)

    def _measured(
        self, block: NDArray[np.float64], row: NDArray[np.intp], column: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Return the squared distances of pairs, from their differences."""
        out = np.empty(len(row))
        pairs = max(1, self.chunk_bytes // (16 * max(1, block.shape[1])))
        for start in range(0, len(row), pairs):
            part = slice(start, start + pairs)
            difference = block[row[part]] - self.points[column[part]]
            out[part] = np.einsum("ij,ij->i", difference, difference)
        return out


def _table(points: NDArray[np.float64], kind: type) -> NDArray[Any]:
    """Return rows (-2y, |y|^2), so that one product gives what decides about a distance."""
    squared = np.einsum("ij,ij->i", points, points)
    return np.concatenate([-2 * points, squared[:, None]], axis=1).astype(kind)


def _kth_at_most(product: NDArray[Any], k: int) -> NDArray[np.float64]:
    """Return, per row, a value that at least k entries do not exceed: the k-th smallest of the minima of strips.

    Minima run at the speed of memory; a partition of whole rows takes longer than the product did.
    """
    n, columns = product.shape
    if columns <= k:
        return np.full(n, np.inf)
    strips = max(_STRIPS, 8 * k)
    deep = columns // strips
    if deep < 2:
        return np.partition(product, k - 1, axis=1)[:, k - 1].astype(np.float64)
    least = product[:, : deep * strips].reshape(n, deep, strips).min(axis=1)
    rest = columns - deep * strips
    if rest:
        least[:, :rest] = np.minimum(least[:, :rest], product[:, deep * strips :])
    return np.partition(least, k - 1, axis=1)[:, k - 1].astype(np.float64)
