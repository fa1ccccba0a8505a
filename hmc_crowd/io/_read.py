"""How a table of any kind becomes one pandas frame that keeps the rules."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.io._csv import csv_chunks
from hmc_crowd.io._forms import Form, form_of_path, unique_names
from hmc_crowd.io._jsonl import jsonl_chunks
from hmc_crowd.io._memory import form_of_object, memory_chunks
from hmc_crowd.io._parquet import parquet_chunks
from hmc_crowd.io._rules import Checked, Options, Seen, TableKind, check
from hmc_crowd.io._source import SourceKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from hmc_crowd.io._where import Raw, Where

__all__ = ["Loaded", "iter_frames", "read_frame"]

_LONGEST_PATH = 4096


@dataclass(frozen=True)
class Loaded:
    """A table that keeps the rules of its kind.

    Parameters
    ----------
    frame : pandas.DataFrame
        The columns of the rules first, then all others in their order; index 0, 1, ...
    kind_of_source : SourceKind
        Gives a result back as what came in.
    kind : TableKind or None
        What the table is about; None if no rule was applied.
    features : tuple of str
        Extra numeric columns of items.
    classes : tuple of str
        The labels that have a ``p_<label>`` column, in the order of the columns.
    where : Where
        Names rows in messages as this source counts them: ``loaded.where.rows(mask, values)``.
    """

    frame: pd.DataFrame
    kind_of_source: SourceKind
    kind: TableKind | None
    features: tuple[str, ...]
    classes: tuple[str, ...]
    where: Where

    def rows(self, bad: NDArray[Any], values: Any = None) -> str:
        """Name the first rows where ``bad``, with their values, as the source counts them (lines for text files)."""
        return self.where.rows(bad, values)


def read_frame(
    source: Any,
    *,
    kind: TableKind | str | None,
    name: str | None = None,
    labels: Sequence[str] | None = None,
    assume_utc: bool = False,
    require_argmax: bool = True,
    allow_repeats: bool = False,
    allow_empty_labels: bool = False,
) -> Loaded:
    """Read a table from a file or a frame and check it.

    Parameters
    ----------
    source : path or frame
        A path to CSV, TSV, JSON lines or Parquet (the ending says which), a pandas or polars frame, a pyarrow Table, a
        Hugging Face ``Dataset``, or a list of dicts. It is never changed.
    kind : {"items", "predictions", "gold", "answers"} or None
        Which rules apply, see `TableKind`. None applies none beyond names that are there once.
    name : str, optional
        What messages call a frame in memory; default is the kind. Files are called by their path.
    labels : sequence of str, optional
        The labels that exist; any other is refused. Default: all are taken.
    assume_utc : bool, default False
        Take times without a zone as UTC. Off, because a wrong zone moves every time by hours without a word.
    require_argmax : bool, default True
        Refuse predictions whose label is not their most probable class.
    allow_repeats : bool, default False
        Take several answers of one worker to one item and aspect (a retest).
    allow_empty_labels : bool, default False
        Take answers without a label (abstentions): they come as missing values.

    Returns
    -------
    Loaded
        With the frame and the kind of its source.

    Raises
    ------
    FrameError
        The content is wrong: empty, not UTF-8, cut off, malformed, columns or cells missing, values out of range,
        duplicates. The message names file or argument, the first lines (files: from 1) or rows, and the next step.
    InputError
        The source is of no kind that is read here, or the file is not there or not readable.

    Examples
    --------
    >>> loaded = read_frame([{"item": 7, "length": 12}, {"item": "007", "length": 3}], kind="items")
    >>> loaded.frame["item"].tolist(), loaded.features
    (['7', '007'], ('length',))
    >>> read_frame([{"item": "a", "label": "yes", "confidence": 1.5}], kind="predictions")
    Traceback (most recent call last):
    ...
    hmc_crowd.errors.FrameError: predictions: confidence must be a number in [0, 1]: row 0 (1.5) (counted from 0);
    correct or drop these rows
    """
    options = _options(labels, assume_utc, require_argmax, allow_repeats, allow_empty_labels)
    return next(_load(source, _kind(kind), name, options, rows=None))


def iter_frames(
    source: Any,
    *,
    kind: TableKind | str | None,
    rows: int = 200_000,
    name: str | None = None,
    labels: Sequence[str] | None = None,
    assume_utc: bool = False,
    require_argmax: bool = True,
    allow_repeats: bool = False,
    allow_empty_labels: bool = False,
) -> Iterator[Loaded]:
    """Read a table in chunks, for files larger than memory; the same rules hold across chunks.

    Parameters
    ----------
    source, kind, name, labels, assume_utc, require_argmax, allow_repeats
        As in `read_frame`.
    rows : int, default 200,000
        Rows per chunk; the last may be shorter. The default keeps a chunk of usual texts below about 100 MB.

    Yields
    ------
    Loaded
        Its index begins at 0 in each chunk; messages go on counting. A wrong row is met only when its chunk is read, so
        write what you make of the chunks in one transaction.

    Raises
    ------
    FrameError, InputError
        As in `read_frame`; ``rows`` below 1.

    Notes
    -----
    Duplicates are found across chunks, so the ids are kept: about 100 bytes a row. Whether an extra column is a feature
    is decided chunk by chunk.

    Examples
    --------
    >>> [len(part.frame) for part in iter_frames([{"item": i} for i in range(5)], kind="items", rows=2)]
    [2, 2, 1]
    """
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        raise InputError(f"rows is {rows!r}; give the rows of a chunk, at least 1")
    options = _options(labels, assume_utc, require_argmax, allow_repeats, allow_empty_labels)
    return _load(source, _kind(kind), name, options, rows=rows)


def _options(
    labels: Sequence[str] | None,
    assume_utc: bool,
    require_argmax: bool,
    allow_repeats: bool,
    allow_empty_labels: bool,
) -> Options:
    if isinstance(labels, str):
        raise InputError(f"labels is the text {labels!r}; give a list of labels")
    known = None if labels is None else tuple(labels)
    return Options(known, assume_utc, require_argmax, allow_repeats, allow_empty_labels)


def _kind(kind: TableKind | str | None) -> TableKind | None:
    if kind is None or isinstance(kind, TableKind):
        return kind
    try:
        return TableKind(kind)
    except ValueError:
        raise InputError(f"kind is {kind!r}; give one of {', '.join(TableKind)}, or None for no rules") from None


def _load(
    source: Any, kind: TableKind | None, name: str | None, options: Options, *, rows: int | None
) -> Iterator[Loaded]:
    source_kind, chunks, called = _open(source, name or kind or "the table", rows)
    seen = Seen(chunked=rows is not None)
    empty = True
    for raw in chunks:
        empty = False
        unique_names(list(raw.frame.columns), raw.where.name)
        checked = Checked(raw.frame) if kind is None else check(raw, kind, options, seen)
        yield Loaded(checked.frame, source_kind, kind, checked.features, checked.classes, raw.where)
    if empty:
        raise FrameError(f"{called} has no rows; give at least one")


def _open(source: Any, name: str, rows: int | None) -> tuple[SourceKind, Iterator[Raw], str]:
    """Tell the kind of a source, and how its rows are had."""
    if not isinstance(source, str | os.PathLike):
        form = form_of_object(source, name=name)
        return SourceKind(form), memory_chunks(source, form, name=name, rows=rows), name
    if isinstance(source, str) and (len(source) > _LONGEST_PATH or not source.isprintable()):
        raise InputError(f"{name} is {source[:40]!r}..., which is no path; give the path of a file, not its text")
    path = Path(source)
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file in it")
    form = form_of_path(path)
    if not path.exists():
        raise InputError(f"{path} does not exist; check the path (the current folder is {Path.cwd()})")
    return SourceKind(form, path), _readable(path, _file_chunks(path, form, rows)), str(path)


def _file_chunks(path: Path, form: Form, rows: int | None) -> Iterator[Raw]:
    if form is Form.PARQUET:
        return parquet_chunks(path, rows=rows)
    if form is Form.JSONL:
        return jsonl_chunks(path, rows=rows)
    return csv_chunks(path, delimiter="," if form is Form.CSV else "\t", rows=rows)


def _readable(path: Path, chunks: Iterator[Raw]) -> Iterator[Raw]:
    """Turn what the system says while reading into one sentence."""
    try:
        yield from chunks
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}; check its rights") from None
