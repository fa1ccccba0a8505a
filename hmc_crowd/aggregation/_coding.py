"""Columns of names as ranks among their sorted distinct values, quickly.

Text is coded by Arrow's dictionary, whole numbers in a narrow range by counting, categories by the codes that they
have, all else by pandas' hash table. Every way gives the same codes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.aggregation._names import sorted_codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["counted", "has_missing", "ranked", "smallest"]

_CHUNK = 1 << 20
# A table of all numbers between the smallest and the largest is worth it up to so many entries per row.
_DENSE = 4


def smallest(size: int) -> type[np.uint16] | type[np.int32] | type[np.int64]:
    """Return the smallest type that holds codes below ``size``: a code is read in every iteration."""
    if size <= 1 << 16:
        return np.uint16
    return np.int32 if size < 1 << 31 else np.int64


def counted(codes: NDArray[Any], size: int) -> NDArray[np.intp]:
    """Return how often each code below ``size`` occurs, without a wide copy of the codes."""
    total = np.zeros(size, dtype=np.intp)
    # Numpy widens what it counts: in pieces the copy stays small. A piece narrower than the table would cost a table.
    step = max(_CHUNK, size)
    for low in range(0, len(codes), step):
        total += np.bincount(codes[low : low + step], minlength=size)
    return total


def has_missing(column: pd.Series[Any]) -> bool:
    """Whether a value is missing, without a pass where the column knows."""
    arrow = _arrow(column)
    if arrow is not None:
        return bool(arrow.null_count)
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iub":
        return False
    return bool(column.isna().to_numpy().any())


def ranked(column: pd.Series[Any], *, name: str) -> tuple[NDArray[np.int32], pd.Index[Any]]:
    """Return the rank of each value among the sorted distinct values, and those values; nothing may be missing.

    Raises
    ------
    FrameError
        The column mixes kinds that have no order, such as text and numbers.
    """
    arrow = _arrow(column)
    if arrow is not None:
        return _ranked_text(arrow, column.dtype)
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _ranked_categories(column, name=name)
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iu" and len(column):
        values = column.to_numpy()
        low, high = int(values.min()), int(values.max())
        if high - low < _DENSE * len(values) + 256 and high < 1 << 62:
            return _ranked_range(values, low, high)
    codes, names = sorted_codes(column, name=name)
    return codes.astype(np.int32), names


def _arrow(column: pd.Series[Any]) -> Any:
    """Return the Arrow array of a column of text, in the chunks that it has, or None."""
    if not isinstance(column.dtype, pd.StringDtype) or column.dtype.storage != "pyarrow":
        return None
    import pyarrow as pa

    found = pa.array(column.array)
    return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])


def _ranked_text(arrow: Any, dtype: Any) -> tuple[NDArray[np.int32], pd.Index[Any]]:
    import pyarrow as pa
    import pyarrow.compute as pc

    encoded = arrow.dictionary_encode()
    dictionary = encoded.chunk(0).dictionary
    if any(not chunk.dictionary.equals(dictionary) for chunk in encoded.chunks[1:]):
        return _ranked_text(pa.chunked_array([arrow.combine_chunks()]), dtype)
    order = pc.sort_indices(dictionary)
    names: pd.Index[Any] = pd.Index(pd.array(dictionary.take(order), dtype=dtype))
    rank = _rank_of(order.to_numpy())
    codes = np.empty(len(encoded), dtype=np.int32)
    low = 0
    for chunk in encoded.chunks:
        # "clip" where nothing can be out of range: the default mode would write to a buffer first.
        np.take(rank, chunk.indices.to_numpy(), out=codes[low : low + len(chunk)], mode="clip")
        low += len(chunk)
    return codes, names


def _rank_of(order: NDArray[Any]) -> NDArray[np.int32]:
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return rank


def _ranked_range(values: NDArray[Any], low: int, high: int) -> tuple[NDArray[np.int32], pd.Index[Any]]:
    place = values if low == 0 else values - low
    there = np.zeros(high - low + 1, dtype=bool)
    there[place] = True
    rank = np.cumsum(there, dtype=np.int32)
    rank -= 1
    names: pd.Index[Any] = pd.Index((np.flatnonzero(there) + low).astype(values.dtype))
    return rank[place], names


def _ranked_categories(column: pd.Series[Any], *, name: str) -> tuple[NDArray[np.int32], pd.Index[Any]]:
    codes = column.cat.codes.to_numpy()
    used = np.flatnonzero(counted(codes, len(column.cat.categories)))
    # The names alone are few; which of them come first is decided as for any other column.
    rank, names = ranked(pd.Series(column.cat.categories[used]), name=name)
    table = np.zeros(len(column.cat.categories), dtype=np.int32)
    table[used] = rank
    return table[codes], names
