"""Which answer counts when one worker answered one task several times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from hmc_crowd.errors import FrameError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["REPEAT_RULES", "Repeats", "drop_repeats"]

Repeats = Literal["latest", "all", "refuse"]

REPEAT_RULES = {
    "latest": "the answer with the latest 'submitted' counts; without times only repeats that agree are accepted",
    "all": "each counts as an answer of its own",
    "refuse": "any repeated answer is an error",
}

_SHOWN = 3


def drop_repeats(
    task: NDArray[np.intp],
    worker: NDArray[np.intp],
    label: NDArray[np.intp],
    *,
    order: NDArray[np.intp],
    times: pd.Series[Any] | None,
    rule: Repeats,
    names: tuple[pd.Index[Any], pd.Index[Any]],
) -> NDArray[np.intp]:
    """Return the rows that count, in ``order`` (by task, worker, label).

    The row order of the table never decides: where times are missing or equal, answers that differ are refused. A
    missing time counts as earlier than any other.

    Raises
    ------
    FrameError
        Repeats under "refuse", or repeats that differ and cannot be put in order.
    """
    if rule == "all":
        return order
    same = (task[order][1:] == task[order][:-1]) & (worker[order][1:] == worker[order][:-1])
    if not same.any():
        return order
    group = np.cumsum(np.concatenate(([True], ~same))) - 1
    size = np.bincount(group)
    inside = size[group] > 1
    rows, groups = order[inside], group[inside]
    if rule == "refuse":
        raise FrameError(
            f"answers repeats {_pairs(rows, task, worker, names)}; keep one answer per worker and task, or choose "
            "repeats='latest' or 'all'"
        )
    moment = _moments(times, rows)
    latest = np.full(len(size), np.iinfo(np.int64).min)
    np.maximum.at(latest, groups, moment)
    last = moment == latest[groups]
    rows_last, groups_last = rows[last], groups[last]
    differs = (groups_last[1:] == groups_last[:-1]) & (label[rows_last][1:] != label[rows_last][:-1])
    if differs.any():
        first = rows_last[1:][differs]
        reason = "no column 'submitted' says" if times is None else "equal or missing 'submitted' times do not say"
        raise FrameError(
            f"answers holds different labels by one worker for one task ({_pairs(first, task, worker, names)}) and "
            f"{reason} which is the latest; add the times, keep one answer, or choose repeats='all'"
        )
    winner = rows_last[np.concatenate(([True], groups_last[1:] != groups_last[:-1]))]
    keep = np.zeros(len(task), dtype=bool)
    keep[order[~inside]] = True
    keep[winner] = True
    return order[keep[order]]


def _moments(times: pd.Series[Any] | None, rows: NDArray[np.intp]) -> NDArray[np.int64]:
    if times is None:
        return np.zeros(len(rows), dtype=np.int64)
    chosen = times.iloc[rows]
    text = chosen.dtype == object or pd.api.types.is_string_dtype(chosen.dtype)
    try:
        parsed = pd.to_datetime(chosen, utc=True, format="ISO8601" if text else None)
    except (ValueError, TypeError) as error:
        raise FrameError(f"answers.submitted cannot be read as times: {error}; write them as ISO 8601") from None
    # A missing time becomes the smallest integer: earlier than any other.
    return parsed.dt.tz_localize(None).to_numpy().astype("datetime64[ns]").astype(np.int64)


def _pairs(
    rows: NDArray[np.intp],
    task: NDArray[np.intp],
    worker: NDArray[np.intp],
    names: tuple[pd.Index[Any], pd.Index[Any]],
) -> str:
    pairs = list(dict.fromkeys((names[0][task[row]], names[1][worker[row]]) for row in rows))
    shown = ", ".join(f"task {one!r} by {other!r}" for one, other in pairs[:_SHOWN])
    return f"{shown} and {len(pairs) - _SHOWN} more" if len(pairs) > _SHOWN else shown
