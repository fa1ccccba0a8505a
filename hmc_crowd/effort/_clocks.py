"""Which clocks can be true, and how much of two spans of work is one and the same time? Pure rules on seconds.

Source: PLATFORMS.md sections 5.3 and 5.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd._base.checks import first_rows, float_vector, require_same_length
from hmc_crowd.effort._frames import number_column
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["HAIR_S", "clocks_agree", "effective_seconds", "queued_seconds", "reading_allowance", "united_seconds"]

# Below this, a difference is rounding.
HAIR_S = 1e-6
# A clock on our side and one on the worker's are read at slightly different moments.
_PAGE_SLACK_S, _PLATFORM_SLACK_S = 2.0, 3.0


def clocks_agree(active_s: ArrayLike, page_s: ArrayLike, platform_s: ArrayLike) -> NDArray[np.bool_]:
    """Return which submissions have clocks that can all be true: active <= page + 2 s <= platform + 5 s.

    A clock that is missing (NaN) contradicts nothing.

    Examples
    --------
    >>> clocks_agree([50, 90, float("nan")], [60, 60, 60], [61, 61, 50]).tolist()
    [True, False, False]
    """
    active, page, platform = (number_column(each, name="a clock") for each in (active_s, page_s, platform_s))
    wrong = (active > page + _PAGE_SLACK_S) | (page > platform + _PLATFORM_SLACK_S)
    wrong |= active > platform + _PAGE_SLACK_S + _PLATFORM_SLACK_S
    return ~wrong


def reading_allowance(n_words: ArrayLike) -> NDArray[np.float64]:
    """Return the longest time without a sign of life that still counts as reading so many words.

    Examples
    --------
    >>> reading_allowance([10, 100, 5000]).tolist()
    [60.0, 90.0, 600.0]
    """
    words = number_column(n_words, name="n_words")
    if (words < 0).any():
        raise InputError(f"n_words must be at least 0: {first_rows(words < 0, words)}; correct these")
    return np.clip(60.0 * words / 100.0 + 30.0, 60.0, 600.0)


def effective_seconds(
    worker: ArrayLike, started_s: ArrayLike, ended_s: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the time of queued work, and which of it had been waiting: ``end - max(start, end of the one before)``.

    Who accepts three tasks at once does one after the other: each counts from when the one before was handed in.

    Parameters
    ----------
    worker : array, shape (n,)
        Whose work.
    started_s, ended_s : array of float, shape (n,)
        Moments in seconds, from any origin; nothing ends before it starts.

    Raises
    ------
    InputError
        Lengths differ, a moment is missing, or work ends before it starts.

    Examples
    --------
    >>> seconds, waited = effective_seconds(["w", "w", "w"], [0, 0, 0], [60, 120, 180])
    >>> seconds.tolist(), waited.tolist()
    ([60.0, 60.0, 60.0], [False, True, True])
    """
    return queued_seconds(*_spans(worker, started_s, ended_s))


def _spans(
    worker: ArrayLike, started_s: ArrayLike, ended_s: ArrayLike
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
    """Return workers as codes and both moments, or say which span is none."""
    import pandas as pd

    start = float_vector(started_s, name="started_s", allow_empty=True)
    end = float_vector(ended_s, name="ended_s", allow_empty=True)
    codes = np.asarray(pd.factorize(np.asarray(worker))[0], dtype=np.intp)
    require_same_length([("started_s", start), ("ended_s", end), ("worker", codes)])
    backwards = end < start
    if backwards.any():
        raise InputError(f"ended_s is before started_s in {first_rows(backwards, end - start)}; correct or drop these")
    return codes, start, end


def queued_seconds(
    worker: NDArray[np.intp], start: NDArray[np.float64], end: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Do what `effective_seconds` does on codes and moments as they came; a span that runs backwards took no time."""
    import pandas as pd

    frame = pd.DataFrame({"worker": worker, "start": start, "end": end})
    order = np.lexsort((frame["start"], frame["end"], frame["worker"]))
    ordered = frame.iloc[order]
    before = ordered.groupby("worker", sort=False)["end"].shift()
    begin = np.fmax(ordered["start"].to_numpy(dtype=np.float64), before.to_numpy(dtype=np.float64))
    seconds, waited = np.empty(len(frame)), np.empty(len(frame), dtype=bool)
    seconds[order] = np.maximum(ordered["end"].to_numpy(dtype=np.float64) - begin, 0.0)
    waited[order] = begin > ordered["start"].to_numpy(dtype=np.float64) + HAIR_S
    return seconds, waited


def united_seconds(
    worker: ArrayLike, started_s: ArrayLike, ended_s: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the time of work that may overlap (several tabs), and which did: no second of a worker counts twice.

    Spans that overlap are united; the length of the union is shared among them in proportion to theirs.

    Parameters
    ----------
    worker, started_s, ended_s
        As for `effective_seconds`.

    Raises
    ------
    InputError
        As there.

    Examples
    --------
    >>> seconds, overlapping = united_seconds(["w", "w", "w"], [0, 50, 200], [100, 150, 230])
    >>> seconds.tolist(), overlapping.tolist()
    ([75.0, 75.0, 30.0], [True, True, False])
    """
    import pandas as pd

    codes, start, end = _spans(worker, started_s, ended_s)
    order = np.lexsort((end, start, codes))
    frame = pd.DataFrame({"worker": codes[order], "start": start[order], "end": end[order]})
    reached = frame.groupby("worker", sort=False)["end"].cummax()
    before = reached.groupby(frame["worker"], sort=False).shift()
    opens = before.isna() | (frame["start"] >= before - HAIR_S)
    frame["cluster"] = opens.cumsum()
    length = frame["end"] - frame["start"]
    clusters = frame.groupby("cluster")
    union = clusters["end"].transform("max") - clusters["start"].transform("min")
    total = length.groupby(frame["cluster"]).transform("sum")
    share = np.divide(union, total, out=np.ones(len(frame)), where=total.to_numpy() > 0)
    seconds, overlapping = np.empty(len(frame)), np.empty(len(frame), dtype=bool)
    seconds[order] = (length * share).to_numpy()
    overlapping[order] = (clusters["start"].transform("size") > 1).to_numpy()
    return seconds, overlapping
