"""How JSON lines are read: one object a line, every value as JSON has it, every complaint with its line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import FrameError
from hmc_crowd.io._columns import known_strings
from hmc_crowd.io._text import scan_text
from hmc_crowd.io._where import Raw, Where

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["jsonl_chunks"]

_BOM = b"\xef\xbb\xbf"


class _TwiceError(Exception):
    """A JSON object has a name twice; its text is the name."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse what Python's parser would drop without a word: all but the last value of a name."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise _TwiceError(next(name for name in names if names.count(name) > 1))
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_once)


def jsonl_chunks(path: Path, *, rows: int | None) -> Iterator[Raw]:
    """Yield the objects of a file of JSON lines, all at once (``rows=None``) or in chunks; blank lines do not count."""
    scan_text(path)
    records: list[dict[str, Any]] = []
    lines: list[int] = []
    start = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            text = line.removeprefix(_BOM).strip() if number == 1 else line.strip()
            if not text:
                continue
            records.append(_object(path, number, text))
            lines.append(number)
            if len(records) == rows:
                yield _raw(path, records, lines, start)
                start += len(records)
                records, lines = [], []
    if records:
        yield _raw(path, records, lines, start)


def _object(path: Path, number: int, text: bytes) -> dict[str, Any]:
    """Parse one line, which must be an object."""
    try:
        found = _DECODER.decode(text.decode())
    except json.JSONDecodeError as error:
        reason = f"{error.msg} at column {error.colno}"
    except _TwiceError as error:
        raise FrameError(f"{path} has {str(error)!r} more than once on line {number}; keep one of them") from None
    except (ValueError, RecursionError) as error:
        reason = str(error).partition(";")[0]
    else:
        if isinstance(found, dict):
            return found
        reason = f"it holds a JSON {type(found).__name__}"
    raise FrameError(f"{path} has no JSON object on line {number} ({reason}); write one object {{...}} per line")


def _raw(path: Path, records: list[dict[str, Any]], lines: list[int], start: int) -> Raw:
    import pandas as pd

    def lines_of(rows: Sequence[int]) -> list[int]:
        return [lines[row - start] for row in rows]

    # dtype=object keeps integers exact: a column with a missing value would turn to floats and lose digits above 2^53.
    return Raw(known_strings(pd.DataFrame(records, dtype=object)), Where(str(path), lines=lines_of, start=start))
