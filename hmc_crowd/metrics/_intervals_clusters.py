"""How much does a number vary when answers come in clusters, such as several answers per item or per worker?

Every estimate here is used through its influence values: what each row moves the estimate by, summing to 0. Then one
rule serves all metrics. Rows that share a cluster are summed before squaring, so a cluster counts as one
observation; with two crossed ways (items and workers) the two one-way variances are added and the variance of the
cells, which both contain, is taken off once.

Sources: Liang, Zeger (1986); Cameron, Gelbach, Miller (2011), eq. 2.12; degrees of freedom after Satterthwaite (1946).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FEW_CLUSTERS", "Spread", "Way", "cluster_ways", "factorize", "spread_of"]

# Below so many clusters the variance between them is itself shaky, and the t interval leans on near-normal means.
FEW_CLUSTERS = 20


@dataclass(frozen=True, eq=False)
class Way:
    """One way of clustering: a code in 0..size-1 for every row."""

    name: str
    code: NDArray[np.intp]
    size: int

    def take(self, keep: NDArray[np.bool_]) -> Way:
        """Return the way over the kept rows, codes renumbered."""
        code, size = factorize(self.code[keep], name=self.name)
        return Way(self.name, code, size)

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add up values per cluster: shape (n,) -> (size,), (p, n) -> (p, size)."""
        if values.ndim == 1:
            return np.bincount(self.code, weights=values, minlength=self.size).astype(np.float64, copy=False)
        return np.stack([self.sums(row) for row in values])


@dataclass(frozen=True)
class Spread:
    """Variance of an estimate, its degrees of freedom, and what to say about them."""

    variance: float
    df: float
    how: str
    warnings: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()


def factorize(values: Any, *, name: str) -> tuple[NDArray[np.intp], int]:
    """Give each distinct value a code; a missing one is an error, since it belongs to no cluster."""
    import pandas as pd

    code, found = pd.factorize(np.asarray(values))
    missing = code < 0
    if missing.any():
        from hmc_crowd._base.checks import first_rows

        raise InputError(
            f"{name} has missing values: {first_rows(missing)}; give every row its cluster or drop the row"
        )
    return code.astype(np.intp, copy=False), len(found)


def cluster_ways(clusters: Any, n: int) -> tuple[Way, ...]:
    """Read the argument `clusters`: nothing, one array, or two crossed ones.

    Parameters
    ----------
    clusters : None, array (n,), tuple of two arrays, or mapping of name -> array with one or two entries
        Which rows hang together.
    n : int
        Rows.

    Raises
    ------
    InputError
        More than two ways, a wrong length, or missing values.

    Examples
    --------
    >>> [way.size for way in cluster_ways((["a", "a", "b"], ["x", "y", "x"]), 3)]
    [2, 2]
    """
    if clusters is None:
        return ()
    if isinstance(clusters, Mapping):
        named = {str(name): values for name, values in clusters.items()}
    elif isinstance(clusters, tuple) and len(clusters) <= 2 and all(np.ndim(each) == 1 for each in clusters):
        named = {f"clusters[{place}]": values for place, values in enumerate(clusters)}
    else:
        named = {"clusters": clusters}
    if len(named) not in {1, 2}:
        raise InputError(f"clusters names {len(named)} ways; give one array, or two (items and workers)")
    ways = []
    for name, values in named.items():
        array = np.asarray(values)
        if array.shape != (n,):
            raise InputError(f"{name} has shape {array.shape}; give one cluster per row, shape ({n},)")
        ways.append(Way(name, *factorize(array, name=name)))
    return tuple(ways)


def spread_of(influence: NDArray[np.float64], ways: tuple[Way, ...]) -> Spread:
    """Return the variance of an estimate from its influence values.

    Parameters
    ----------
    influence : array of float, shape (n,)
        The estimate minus its target is about their sum; they sum to 0.
    ways : tuple of Way
        None: rows are independent. One: clusters are. Two: crossed, such as items and workers.
    """
    n = len(influence)
    if not ways:
        # Not a dot product: for one vector its threads cost more than they save, and stall on a busy machine.
        squares = float(np.einsum("i,i->", influence, influence))
        return Spread(n / max(n - 1, 1) * squares, max(n - 1, 1), "", (), ("rows are independent",))
    parts = [_between(influence, way) for way in ways]
    few = tuple(
        f"only {way.size} clusters in {way.name}: below {FEW_CLUSTERS} the interval is rough"
        for way in ways
        if way.size < FEW_CLUSTERS
    )
    if len(ways) == 1:
        way = ways[0]
        told = (f"rows of different {way.name} are independent",)
        return Spread(parts[0], max(way.size - 1, 1), f"{way.size:,} clusters, t", few, told)
    cell, size = factorize(ways[0].code * ways[1].size + ways[1].code, name="cells")
    both = _between(influence, Way("cells", cell, size))
    variance = parts[0] + parts[1] - both
    # In small samples the difference may fall below either way alone, even below 0; then the larger way is used.
    variance = max(variance, *parts)
    df = (
        variance**2 / sum(part**2 / max(way.size - 1, 1) for part, way in zip(parts, ways, strict=True))
        if variance
        else 1.0
    )
    how = f"two-way clusters {ways[0].size:,} x {ways[1].size:,}, t with {df:.1f} df"
    told = (f"rows that share neither {ways[0].name} nor {ways[1].name} are independent",)
    return Spread(variance, max(df, 1.0), how, few, told)


def _between(influence: NDArray[np.float64], way: Way) -> float:
    totals = way.sums(influence)
    return way.size / max(way.size - 1, 1) * float(totals @ totals)
