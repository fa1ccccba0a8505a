"""Where in a source a row is.

Lines of a text file are counted from 1, as editors do; rows of frames from 0, as positions in them are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["Raw", "Where"]

_SHOWN = 5
_VALUE_LENGTH = 40


@dataclass(frozen=True)
class Where:
    """Names rows of one source in messages.

    Parameters
    ----------
    name : str
        The file or argument, as the user knows it.
    lines : callable, optional
        Maps row numbers (0-based, ascending) to line numbers of the file (1-based). Called for a message only, so it
        may read the file again. None where the source has no lines.
    counted_from : int, default 0
        How rows without lines are counted.
    start : int, default 0
        Row number of the first row at hand: chunks of a big file keep counting.
    """

    name: str
    lines: Callable[[Sequence[int]], list[int]] | None = None
    counted_from: int = 0
    start: int = 0

    def later(self, rows: int) -> Where:
        """Return the same source, ``rows`` further on."""
        return replace(self, start=self.start + rows)

    def rows(self, bad: NDArray[np.bool_], values: Any = None) -> str:
        """Name the first rows where ``bad``, with their values: ``lines 3 ('nan'), 7 ('1.2') and 4 more``."""
        found = np.flatnonzero(bad)
        local = found[:_SHOWN].tolist()
        total = [row + self.start for row in local]
        numbers = self.lines(total) if self.lines else [row + self.counted_from for row in total]
        shown = [
            str(number) if values is None else f"{number} ({_short(values[row])})"
            for number, row in zip(numbers, local, strict=True)
        ]
        unit = "line" if self.lines else "row"
        more = f" and {len(found) - len(local)} more" if len(found) > len(local) else ""
        counted = "" if self.lines else f" (counted from {self.counted_from})"
        return f"{unit}{'s' if len(found) > 1 else ''} {', '.join(shown)}{more}{counted}"


@dataclass(frozen=True)
class Raw:
    """Rows as found, before any rule; ``untyped`` when cells are text only because the format has no types."""

    frame: pd.DataFrame
    where: Where
    untyped: bool = False


def _short(value: object) -> str:
    """Show a value as Python would, cut to a length that keeps a message one sentence."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= _VALUE_LENGTH else f"{text[: _VALUE_LENGTH - 3]}..."
