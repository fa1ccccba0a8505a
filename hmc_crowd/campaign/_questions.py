"""Reading the questions to be bundled from columns, each checked."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import first_rows, float_vector, require_same_length
from hmc_crowd.campaign._gold_rotation import cells_by_aspect
from hmc_crowd.campaign._packing import BundleItem, reading_order
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

__all__ = ["gold_of", "needed_of", "questions_of"]

_TEXT = ("item", "aspect", "group")


def questions_of(table: Any, *, name: str, is_gold: bool = False) -> list[BundleItem]:
    """Read the columns of work or gold."""
    columns: dict[str, Any] = {}
    for column in (*_TEXT, "position", "effort_s", "setup_s"):
        if column not in table:
            raise FrameError(
                f"{name} lacks the column {column}; give {', '.join(_TEXT)}, position, effort_s and setup_s"
            )
        columns[column] = np.asarray(table[column])
    count = require_same_length([(f"{name} {column}", values) for column, values in columns.items()])
    for column in _TEXT:
        bad = np.fromiter((not isinstance(each, str) for each in columns[column]), dtype=bool, count=count)
        if bad.any():
            raise FrameError(
                f"{name} {column} must be text: {first_rows(bad, columns[column])}; read it with read_frame"
            )
    position = _whole(columns["position"], f"{name} position")
    effort, setup = (
        float_vector(columns[column], name=f"{name} {column}", low=0, allow_empty=True)
        for column in ("effort_s", "setup_s")
    )
    pairs = list(zip(columns["item"].tolist(), columns["aspect"].tolist(), strict=True))
    twice = [pair for pair, times in Counter(pairs).items() if times > 1]
    if twice:
        item, aspect = twice[0]
        raise FrameError(f"{name} has the item {item!r} with the aspect {aspect!r} twice; keep one row of each")
    before = [bool(each) for each in table["has_context"]] if "has_context" in table else [False] * count
    require_same_length([(f"{name} item", pairs), (f"{name} has_context", before)])
    rest = zip(columns["group"].tolist(), position.tolist(), effort.tolist(), setup.tolist(), before, strict=True)
    return [
        BundleItem(*pair, group, where, is_gold, seconds, reading, has_context)
        for pair, (group, where, seconds, reading, has_context) in zip(pairs, rest, strict=True)
    ]


def gold_of(table: Any, *, besides: Collection[str]) -> tuple[list[BundleItem], list[tuple[Any, int]]]:
    """Read the columns of gold, without the items of the work, and between which cells drawing is balanced."""
    every = questions_of(table, name="gold", is_gold=True)
    # In reading order, so that the order of the rows decides nothing.
    rows = sorted(range(len(every)), key=lambda row: reading_order(every[row]))
    rows = [row for row in rows if every[row].item not in besides]
    more: dict[str, list[Any] | None] = {"label": None, "difficulty": None}
    for column in more:
        if column in table:
            values = list(table[column])
            require_same_length([("gold item", every), (f"gold {column}", values)])
            more[column] = [values[row] for row in rows]
    known = [every[row] for row in rows]
    return known, cells_by_aspect(known, more["label"], more["difficulty"])


def needed_of(work: Any, redundancy: int | None, count: int) -> NDArray[np.int64]:
    """Return the answers each question needs."""
    if "needed" in work:
        needed = np.asarray(work["needed"])
        require_same_length([("work item", range(count)), ("work needed", needed)])
        return _whole(needed, "work needed")
    if redundancy is None:
        raise InputError("redundancy is missing and work has no column needed; give one of them")
    if isinstance(redundancy, bool) or not isinstance(redundancy, int | np.integer) or redundancy < 1:
        raise InputError(f"redundancy is {redundancy!r}; give a whole number of at least 1")
    return np.full(count, redundancy, dtype=np.int64)


def _whole(values: Any, name: str) -> NDArray[np.int64]:
    numbers = float_vector(values, name=name, low=0, allow_empty=True)
    bad = numbers != np.floor(numbers)
    if bad.any():
        raise FrameError(f"{name} must be whole numbers: {first_rows(bad, numbers)}; correct these rows")
    return numbers.astype(np.int64)
