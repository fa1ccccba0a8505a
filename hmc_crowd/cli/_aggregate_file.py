"""Answers in a file, made anywhere: read, aggregated and written, without a campaign."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hmc_crowd.cli._arguments import numbers
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from hmc_crowd.aggregation import AggregateResult
    from hmc_crowd.io import Loaded

__all__ = ["FileRequest", "aggregate_file", "report_file"]

# How programs write out that a value is missing; in a file of text they are labels like any other.
_LOOK_MISSING = ("NaN", "nan", "NA", "N/A", "<NA>", "None", "NULL", "null")

# What is in the file of an MTurk batch, and in no table of answers.
_BATCH = {"AssignmentId", "HITId", "WorkerId"}


@dataclass(frozen=True)
class FileRequest:
    """What `hmc-crowd aggregate ANSWERS` was asked for."""

    answers: Path
    method: str
    gold: Path | None = None
    labels: Sequence[str] = field(default=())
    history: Path | None = None
    strata: str | None = None
    weights: str | None = None
    repeats: str | None = None
    engine: str | None = None
    scheduler: str | None = None
    aspect: str | None = None


def aggregate_file(request: FileRequest, progress: Callable[[str, int, int], None] | None = None) -> AggregateResult:
    """Read the files of a request and aggregate."""
    from hmc_crowd.aggregation import aggregate, method_name

    name = method_name(request.method)
    numeric = name == "numeric" and not request.labels
    gold = _gold(request)
    if request.engine == "dask" and request.scheduler is None:
        raise InputError("--engine dask needs --scheduler ADDRESS, such as tcp://10.0.0.7:8786")
    with _files_named(request):
        found = aggregate(
            _answers(request, name, numeric=numeric),
            method=name,
            gold=None if gold is None else (gold.with_numbers() if numeric else gold.frame),
            labels=request.labels or None,
            history=None if request.history is None else _history(request.history),
            strata=request.strata,
            weights=request.weights,
            repeats=request.repeats,  # type: ignore[arg-type]  # because aggregate checks it and names the rules
            engine=request.engine,  # type: ignore[arg-type]  # because LocalEngine checks it and names the engines
            client=request.scheduler,
            progress=progress,
        )
    return found if request.labels else _with_caution(found)


@contextmanager
def _files_named(request: FileRequest) -> Iterator[None]:
    """Let errors that begin with what the library calls a table begin with the file that was named for it."""
    files = {"answers": request.answers, "gold": request.gold, "history": request.history}
    try:
        yield
    except (FrameError, InputError) as error:
        found = re.match(r"(answers|gold|history)\b(?! (?:and|goes) )(\.?)", str(error))
        if found is None or files[found[1]] is None:
            raise
        # `answers.label` is a column of the table; what goes with a method is an option.
        raise type(error)(f"{files[found[1]]}{':' if found[2] else ''} {str(error)[found.end() :].lstrip()}") from None


@dataclass(frozen=True)
class _Table:
    """Rows of a file, perhaps not all of them; told by their lines where the file has some."""

    path: Path
    frame: pd.DataFrame
    source: Loaded | None = None

    def rows(self, bad: NDArray[np.bool_]) -> str:
        import numpy as np

        from hmc_crowd._base.checks import first_rows

        if self.source is None:
            return first_rows(bad, {row: repr(value) for row, value in enumerate(self.frame["label"]) if bad[row]})
        every = np.zeros(len(self.source.frame), dtype=bool)
        every[self.frame.index[bad]] = True
        return self.source.rows(every, self.source.frame["label"].to_numpy())

    def of_aspect(self, aspect: str | None) -> _Table:
        """Return the rows of one aspect; of the only one when none is named."""
        there = sorted(map(str, self.frame["aspect"].dropna().unique())) if "aspect" in self.frame else []
        if aspect is None:
            if len(there) > 1:
                raise FrameError(f"{self.path} mixes the aspects {', '.join(there)}; name one with --aspect")
            return self
        if aspect not in there:
            raise InputError(f"--aspect is {aspect!r}; {self.path} has {', '.join(there) or 'no aspects'}")
        return replace(self, frame=self.frame[self.frame["aspect"] == aspect])

    def with_numbers(self) -> pd.DataFrame:
        """Return the rows with labels read as numbers; a missing one stays missing."""
        import pandas as pd

        found = pd.to_numeric(self.frame["label"], errors="coerce")
        bad = (found.isna() & self.frame["label"].notna()).to_numpy()
        if bad.any():
            raise FrameError(
                f"{self.path}: label must be a number in {self.rows(bad)}; correct these rows, or name the steps of "
                "the scale from lowest to highest with --labels"
            )
        return self.frame.assign(label=found.astype(float))

    def with_labels(self, labels: Sequence[str]) -> pd.DataFrame:
        """Return the rows, or name those whose label is none of ``labels``; without any, every label is one."""
        bad = (~self.frame["label"].isin(labels) & self.frame["label"].notna()).to_numpy()
        if labels and bad.any():
            raise FrameError(
                f"{self.path}: label must be one of {', '.join(labels)}: {self.rows(bad)}; correct these rows, or name "
                "the label in --labels"
            )
        return self.frame


def _gold(request: FileRequest) -> _Table | None:
    """Read the gold; a column task is as good as item, as in the tables of crowd-kit's users."""
    import pandas as pd

    from hmc_crowd._base.evidence import refuse_seeing
    from hmc_crowd.io import read_frame

    if request.gold is None:
        return None
    bare = read_frame(request.gold, kind=None)
    refuse_seeing(bare.frame.get("evidence", pd.Series(dtype=str)), what="be gold, which must not rest on a model")
    named = bare.frame.rename(columns={"task": "item"}) if "item" not in bare.frame else None
    found = read_frame(request.gold if named is None else named, kind="gold", name=str(request.gold))
    # Renamed in memory, the rows are still those of the file.
    table = _Table(request.gold, found.frame, replace(found, where=bare.where))
    has_aspects = "aspect" in found.frame and found.frame["aspect"].notna().any()
    return table.of_aspect(request.aspect if has_aspects else None)


def _with_caution(result: AggregateResult) -> AggregateResult:
    """Say where a label looks like a missing value that some program wrote out as text."""
    odd = [name for name in _LOOK_MISSING if f"p_{name}" in result.frame]
    if not odd:
        return result
    caution = (
        f"The text {', '.join(map(repr, odd))} counts as a label; if it means that there is no answer, leave these "
        "cells empty."
    )
    return replace(result, cautions=(caution, *result.cautions))


def _answers(request: FileRequest, name: str, *, numeric: bool) -> Any:
    """Return a table of answers, or on a Dask cluster the path: nobody here needs to hold them."""
    from hmc_crowd.io import read_frame, read_mturk_batch

    path = request.answers
    if request.engine == "dask" and request.aspect is not None:
        raise InputError("--aspect goes with other engines than dask; keep one aspect in each file of answers")
    if request.engine == "dask" and (path.is_dir() or path.suffix in {".parquet", ".pq"}):
        return str(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file in it, or add --engine dask for one of Parquet files")
    if _is_batch(path):
        table = _Table(path, read_mturk_batch(path).answers)
    elif name.startswith("crowdkit:"):  # comparisons have other columns, sets and masks are no text
        return _Table(path, read_frame(path, kind=None).frame).of_aspect(request.aspect).frame
    else:
        _require_one_kind(path)
        loaded = read_frame(path, kind="answers", allow_repeats=True, allow_empty_labels=True)
        _check_columns(loaded, request)
        table = _Table(path, loaded.frame, loaded)
    table = table.of_aspect(request.aspect)
    return table.with_numbers() if numeric else table.with_labels(request.labels)


def _check_columns(loaded: Loaded, request: FileRequest) -> None:
    """Refuse columns that are named and not there, and weights that are no numbers."""
    for option, column in (("--weights", request.weights), ("--strata", request.strata)):
        if column is not None and column not in loaded.frame:
            has = ", ".join(map(str, loaded.frame.columns))
            raise FrameError(f"{request.answers} lacks the column {column!r} that {option} names (it has: {has})")
    if request.weights is not None:
        numbers(loaded, request.weights, request.answers)


def _is_batch(path: Path) -> bool:
    """Tell the results file of an MTurk batch by its header."""
    if path.suffix.lower() != ".csv" or not path.is_file():
        return False
    with path.open("rb") as file:
        header = file.readline(1 << 20).decode("utf-8", errors="replace")
    return {cell.strip().strip('"\ufeff') for cell in header.split(",")} >= _BATCH


def _require_one_kind(path: Path) -> None:
    """Refuse JSON labels that mix text, numbers and truth values: as text they would pass for different labels."""
    import pandas as pd

    from hmc_crowd.io import read_frame

    if path.suffix.lower() not in {".jsonl", ".ndjson"}:
        return
    labels = read_frame(path, kind=None).frame.get("label")
    if labels is None:
        return
    if any(isinstance(each, list | dict) for each in labels):
        raise FrameError(f"{path}: label holds lists; aggregate sets of labels with --method crowdkit:binary_relevance")
    if pd.api.types.infer_dtype(labels, skipna=True).startswith("mixed"):
        kinds = ", ".join(sorted({type(each).__name__ for each in labels.dropna()}))
        raise FrameError(f"{path}: label mixes values of the kinds {kinds}; write all of them alike")


def _history(path: Path) -> pd.DataFrame:
    """Read past counts of workers; that the columns are there is checked where they are used."""
    from hmc_crowd.io import read_frame

    loaded = read_frame(path, kind=None)
    if "count" not in loaded.frame:
        raise FrameError(f"{path} lacks the column count; past counts are a table worker, label, truth, count")
    return loaded.frame.assign(count=numbers(loaded, "count", path))


def report_file(result: AggregateResult, request: FileRequest, path: Path) -> Path:
    """Write a page on the workers and, where there is gold, on confidence against truth."""
    from hmc_crowd._base.clock import SystemClock
    from hmc_crowd.report import Document, Section, aggregation_section, write_document

    doubt = None if request.gold is None else aggregate_file(_without_gold(request)).frame
    sections: list[Section] = []
    known, right = _on_gold(doubt, request)
    workers = result.workers if _tells_accuracy(result.workers) else None
    if workers is not None or known is not None:
        sections.append(aggregation_section(workers, confidence=known, right=right))
    sections.append(Section(key="notes", title="Notes", bullets=(*result.cautions, *result.assumptions)))
    document = Document(
        title=f"Labels of {request.answers.name}",
        created_at=SystemClock().now(),
        subtitle=str(result),
        figures=(),
        sections=tuple(sections),
    )
    return write_document(document, path).html


def _without_gold(request: FileRequest) -> FileRequest:
    return replace(request, gold=None, method="dawid_skene" if request.method == "choose" else request.method)


def _on_gold(frame: pd.DataFrame | None, request: FileRequest) -> tuple[Any, Any]:
    """Return confidence and rightness on gold items that the fit did not know as such."""
    if frame is None or request.gold is None or frame["confidence"].isna().any():
        return None, None
    gold = _gold(request)
    if gold is None:
        return None, None
    both = frame.merge(gold.frame[["item", "label"]], on="item", suffixes=("", "_gold"))
    if both.empty:
        return None, None
    return both["confidence"].to_numpy(), (both["label"] == both["label_gold"]).to_numpy(dtype=float)


def _tells_accuracy(workers: pd.DataFrame) -> bool:
    return {"accuracy", "low", "high"} <= set(workers.columns) and bool(workers["accuracy"].notna().any())
