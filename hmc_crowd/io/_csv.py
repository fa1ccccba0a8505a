"""How CSV and TSV are read: quickly, and without guessing.

Every cell stays the text that it is ("007", "NA"): rules give columns their types later. pyarrow parses; Python's
csv module, which agrees with it on quoting (RFC 4180), finds the lines for messages.
"""

from __future__ import annotations

import csv
import sys
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import FrameError
from hmc_crowd.io._text import scan_text
from hmc_crowd.io._where import Raw, Where

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from hmc_crowd.io._text import Scan

__all__ = ["csv_chunks"]

# A record must fit into one block: far above any text people read, and large blocks parse as fast as small ones.
_BLOCK = 1 << 26


def csv_chunks(path: Path, *, delimiter: str, rows: int | None) -> Iterator[Raw]:
    """Yield the rows of a CSV file, all at once (``rows=None``) or in chunks of ``rows``; no chunk for no rows."""
    import pyarrow as pa

    scan = scan_text(path)
    header = _header(path, delimiter)
    where = Where(str(path), lines=lambda found: _lines_of(path, delimiter, found))
    try:
        if rows is None:
            table = _parse(path, header, delimiter)
            _refuse_open_quotes(path, delimiter, scan, records=table.num_rows)
            if table.num_rows:
                yield Raw(_pandas(table), where, untyped=True)
            return
        _refuse_open_quotes(path, delimiter, scan, records=None)
        start = 0
        for table in _rechunk(_stream(path, header, delimiter), rows):
            yield Raw(_pandas(table), where.later(start), untyped=True)
            start += table.num_rows
    except pa.ArrowInvalid as error:
        raise _diagnose(path, delimiter, header, str(error)) from None


def _options(header: list[str], delimiter: str) -> dict[str, Any]:
    """Say to pyarrow: text only, nothing is missing, quoted newlines are allowed."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    return {
        "read_options": arrow_csv.ReadOptions(block_size=_BLOCK),
        "parse_options": arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        "convert_options": arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(header, pa.string()), strings_can_be_null=False
        ),
    }


def _parse(path: Path, header: list[str], delimiter: str) -> Any:
    from pyarrow import csv as arrow_csv

    return arrow_csv.read_csv(path, **_options(header, delimiter))


def _stream(path: Path, header: list[str], delimiter: str) -> Iterator[Any]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    with arrow_csv.open_csv(path, **_options(header, delimiter)) as reader:
        for batch in reader:
            yield pa.Table.from_batches([batch])


def _rechunk(tables: Iterator[Any], rows: int) -> Iterator[Any]:
    """Cut and join tables to ``rows`` each; the last may be shorter."""
    import pyarrow as pa

    held: list[Any] = []
    count = 0
    for table in tables:
        held.append(table)
        count += table.num_rows
        if count >= rows:
            joined = pa.concat_tables(held)
            whole = count - count % rows
            for start in range(0, whole, rows):
                yield joined.slice(start, rows)
            held, count = [joined.slice(whole)], count - whole
    if count:
        yield pa.concat_tables(held)


def _pandas(table: Any) -> Any:
    return table.to_pandas()


def _header(path: Path, delimiter: str) -> list[str]:
    """Return the column names."""
    with _records(path, delimiter) as records:
        header = next((fields for _, fields in records if fields), None)
    if header is None:
        raise FrameError(f"{path} has no header; give a file with column names and at least one row")
    return header


@contextmanager
def _records(path: Path, delimiter: str, *, strict: bool = False) -> Iterator[Iterator[tuple[int, list[str]]]]:
    """Give (first line, fields) of every record, the header first; a blank line is a record without fields."""
    limit = csv.field_size_limit(sys.maxsize)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=delimiter, strict=strict)
            yield _numbered(path, reader)
    finally:
        csv.field_size_limit(limit)


def _numbered(path: Path, reader: Any) -> Iterator[tuple[int, list[str]]]:
    line = 1
    try:
        for fields in reader:
            yield line, fields
            line = reader.line_num + 1
    except csv.Error as error:
        raise FrameError(
            f"{path} has wrong quotes in the row that begins on line {line} ({error}); close the quote, or double it "
            'inside a quoted cell ("")'
        ) from None


def _lines_of(path: Path, delimiter: str, rows: Sequence[int]) -> list[int]:
    """Return the line at which each row begins (rows ascending, the header not counted)."""
    wanted = set(rows)
    last = max(wanted, default=-1)
    found: dict[int, int] = {}
    with _records(path, delimiter) as records:
        row = -2  # the header becomes -1
        for line, fields in records:
            row += bool(fields)
            if row in wanted and row not in found:
                found[row] = line
            if row > last:
                break
    return [found[row] for row in rows]


def _refuse_open_quotes(path: Path, delimiter: str, scan: Scan, *, records: int | None) -> None:
    """Refuse a quote that is never closed, which would swallow the rows below it without a word.

    A file without records over several lines and with an even number of quotes cannot have one: it is not read again.
    """
    if scan.quotes == 0 or (records is not None and scan.quotes % 2 == 0 and scan.newlines in {records, records + 1}):
        return
    with _records(path, delimiter, strict=True) as found:
        deque(found, maxlen=0)


def _diagnose(path: Path, delimiter: str, header: list[str], reason: str) -> FrameError:
    """Name the first lines whose number of cells is wrong, or hand on the parser's reason."""
    wrong: list[str] = []
    with _records(path, delimiter) as records:
        for line, fields in records:
            if fields and len(fields) != len(header):
                wrong.append(f"line {line} has {len(fields)}")
            if len(wrong) == 3:
                break
    if wrong:
        return FrameError(
            f"{path} has {len(header)} columns but {', '.join(wrong)}; put cells that hold a "
            f"{'tab' if delimiter == chr(9) else 'comma'} or a newline in double quotes"
        )
    return FrameError(f"{path} is not a readable table: {reason.splitlines()[0][:120]}; write it again")
