"""How a table is written so that nobody ever sees half of it.

The bytes go to a file beside the target, reach the disk, and take the target's name in one step. What stood there stays
unless overwriting was asked for. Tables hold people's work, so the file is for its owner alone, whatever the umask.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hmc_crowd._base.private import private_draft
from hmc_crowd._base.spreadsheets import inert
from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.io._forms import Form, form_of_path, unique_names

if TYPE_CHECKING:
    import os

    import pandas as pd

__all__ = ["to_arrow", "to_records", "write_frame"]


def write_frame(
    frame: pd.DataFrame,
    target: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    safe_for_spreadsheets: bool | Literal["auto"] = False,
) -> Path:
    """Write a frame to a file, whole or not at all, that its owner alone may read.

    Parameters
    ----------
    frame : pandas.DataFrame
        The index is not written. Times are written in ISO 8601, in UTC where they are aware.
    target : path
        Its ending says the kind: ``.csv``, ``.tsv``, ``.jsonl`` (``.ndjson``), ``.parquet`` (``.pq``).
    overwrite : bool, default False
        Replace a file that exists. Off, so that nobody loses labels to a repeated command.
    safe_for_spreadsheets : bool or "auto", default False
        CSV and TSV only: put an apostrophe before text that a spreadsheet would run as a formula (it begins with
        ``=``, ``+``, ``-``, ``@``, tab or carriage return, and is no number). Off, because such a file does not read
        back as it was. "auto" is on for these kinds and has no effect on the others, which no spreadsheet runs.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    InputError
        The ending is unknown, the file exists and ``overwrite`` is off, or the folder is missing or not writable.
    FrameError
        A column cannot be written in that kind of file.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_frame(pd.DataFrame({"item": ["007"], "label": ["yes"]}), Path(folder) / "labels.csv")
    ...     print(path.read_text())
    item,label
    007,yes
    """
    path = Path(target)
    form = form_of_path(path)
    spread = form in {Form.CSV, Form.TSV}
    if safe_for_spreadsheets is True and not spread:
        raise InputError(f"safe_for_spreadsheets is for CSV and TSV but the file is {path.name}; leave it out")
    unique_names(list(frame.columns), "the frame to be written")
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file in it, for example {path / 'labels.csv'}")
    if path.exists() and not overwrite:
        raise InputError(f"{path} exists; pass overwrite=True to replace it, or choose another name")
    try:
        with private_draft(path, overwrite=overwrite) as draft:
            if spread:
                _write_csv(frame, draft, delimiter="," if form is Form.CSV else "\t", safe=bool(safe_for_spreadsheets))
            elif form is Form.JSONL:
                _write_jsonl(frame, draft, name=path.name)
            else:
                _write_parquet(frame, draft, name=str(path))
    except FileExistsError:
        raise InputError(f"{path} was written by somebody else meanwhile; choose another name") from None
    except UnicodeEncodeError as error:
        raise FrameError(
            f"{path} cannot be written: text holds {error.object[error.start]!r}, half a character"
        ) from None
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror or error}; check the folder and its rights"
        ) from None
    return path


def _write_csv(frame: pd.DataFrame, draft: Path, *, delimiter: str, safe: bool) -> None:
    text = _plain_times(frame)
    if safe:
        text = text.rename(columns=inert)
    returns = False
    for column in text.columns:
        if _is_text(text[column]):
            if safe:
                text[column] = text[column].map(inert)
            # Python's csv leaves a lone carriage return unquoted, which reads back as the end of a row.
            cells = text[column].to_numpy(dtype=object).tolist()
            returns = returns or any("\r" in cell for cell in cells if isinstance(cell, str))
    quoting: Literal[0, 2] = 2 if returns else 0  # csv.QUOTE_NONNUMERIC, csv.QUOTE_MINIMAL
    text.to_csv(draft, index=False, sep=delimiter, lineterminator="\n", encoding="utf-8", quoting=quoting)


def _write_jsonl(frame: pd.DataFrame, draft: Path, *, name: str) -> None:
    encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=_plain)
    with draft.open("w", encoding="utf-8", newline="\n") as file:
        for record in to_records(_plain_times(frame)):
            try:
                line = encoder.encode(record)
            except (TypeError, ValueError) as error:
                raise FrameError(f"{name} cannot hold a row ({error}): {record!r:.100}; drop that column") from None
            file.write(f"{line}\n")


def _plain(value: Any) -> Any:
    """Turn what JSON does not know into what it knows: arrays in cells (from Parquet) and numpy's scalars, times."""
    for method in ("tolist", "isoformat"):
        if hasattr(value, method):
            return getattr(value, method)()
    raise TypeError(f"it holds a {type(value).__name__}")


def _write_parquet(frame: pd.DataFrame, draft: Path, *, name: str) -> None:
    from pyarrow import parquet

    parquet.write_table(to_arrow(frame, name=name), draft)


def to_arrow(frame: pd.DataFrame, *, name: str) -> Any:
    """Turn a frame into an Arrow table without pandas' own metadata.

    Raises
    ------
    FrameError
        A column mixes types.
    """
    import pyarrow as pa

    try:
        return pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
    except (pa.ArrowException, UnicodeEncodeError) as error:
        raise FrameError(f"{name} has a column that mixes types: {' '.join(map(str, error.args))[:200]}") from None


def to_records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Turn a frame into dicts of Python values, None where a value is missing."""
    columns = {str(name): _python_values(frame[name]) for name in frame.columns}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _python_values(column: pd.Series[Any]) -> list[Any]:
    import pandas as pd

    values = column.astype(object).tolist()
    if isinstance(column.dtype, pd.DatetimeTZDtype) or column.dtype.kind == "M":
        return [None if value is pd.NaT else value.to_pydatetime() for value in values]
    missing = column.isna().to_numpy()
    return [None if gone else value for value, gone in zip(values, missing, strict=True)] if missing.any() else values


def _plain_times(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a copy whose times are ISO 8601 text, no finer than they need."""
    import numpy as np
    import pandas as pd

    copy = frame.copy(deep=False)
    for name in copy.columns:
        aware = isinstance(copy[name].dtype, pd.DatetimeTZDtype)
        if aware or copy[name].dtype.kind == "M":
            times = (copy[name].dt.tz_convert(None) if aware else copy[name]).to_numpy().astype("datetime64[us]")
            whole = not np.any(times.astype("int64")[~np.isnat(times)] % 1_000_000)
            written = np.datetime_as_string(times, unit="s" if whole else "us", timezone="UTC" if aware else "naive")
            copy[name] = pd.Series(written, index=copy.index, dtype=object).mask(np.isnat(times), None)
    return copy


def _is_text(column: pd.Series[Any]) -> bool:
    import pandas as pd

    return bool(pd.api.types.is_object_dtype(column) or pd.api.types.is_string_dtype(column))
