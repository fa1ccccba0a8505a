"""Answers in a file, made anywhere: read, aggregated and written, without a campaign."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import pandas as pd

    from hmc_crowd.aggregation import AggregateResult

__all__ = ["FileRequest", "aggregate_file", "report_file"]

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
    repeats: str | None = None
    engine: str | None = None
    scheduler: str | None = None
    aspect: str | None = None


def aggregate_file(request: FileRequest, progress: Callable[[str, int, int], None] | None = None) -> AggregateResult:
    """Read the files of a request and aggregate."""
    from hmc_crowd.aggregation import aggregate, method_name
    from hmc_crowd.io import read_frame

    name = method_name(request.method)
    numbers = name == "numeric" and not request.labels
    gold = None if request.gold is None else read_frame(request.gold, kind="gold").frame
    history = None if request.history is None else read_frame(request.history, kind=None).frame
    if request.engine == "dask" and request.scheduler is None:
        raise InputError("--engine dask needs --scheduler ADDRESS, such as tcp://10.0.0.7:8786")
    return aggregate(
        _answers(request, name, numbers=numbers),
        method=name,
        gold=_as_numbers(gold, request.gold) if numbers and gold is not None else gold,
        labels=request.labels or None,
        history=history if history is None else history.assign(count=_counts(history, request.history)),
        strata=request.strata,
        repeats=request.repeats,  # type: ignore[arg-type]  # because aggregate checks it and names the rules
        engine=request.engine,  # type: ignore[arg-type]  # because LocalEngine checks it and names the engines
        client=request.scheduler,
        progress=progress,
    )


def _answers(request: FileRequest, name: str, *, numbers: bool) -> Any:
    """Return a table of answers, or on a Dask cluster the path: nobody here needs to hold them."""
    from hmc_crowd.io import read_frame, read_mturk_batch

    path = request.answers
    if request.engine == "dask" and (path.is_dir() or path.suffix in {".parquet", ".pq"}):
        return str(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file in it, or add --engine dask for one of Parquet files")
    if _is_batch(path):
        frame = read_mturk_batch(path).answers
    elif name.startswith("crowdkit:"):  # comparisons have other columns, sets and masks are no text
        return read_frame(path, kind=None).frame
    else:
        _require_one_kind(path)
        frame = read_frame(path, kind="answers", allow_repeats=True, allow_empty_labels=True).frame
    frame = _of_aspect(frame, request)
    return _as_numbers(frame, path) if numbers else frame


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
    if labels is not None and pd.api.types.infer_dtype(labels, skipna=True).startswith("mixed"):
        kinds = ", ".join(sorted({type(each).__name__ for each in labels.dropna()}))
        raise FrameError(f"{path}: label mixes values of the kinds {kinds}; write all of them alike")


def _of_aspect(frame: pd.DataFrame, request: FileRequest) -> pd.DataFrame:
    if request.aspect is None:
        return frame
    there = sorted(map(str, frame["aspect"].dropna().unique())) if "aspect" in frame else []
    if request.aspect not in there:
        raise InputError(f"--aspect is {request.aspect!r}; {request.answers} has {', '.join(there) or 'no aspects'}")
    return frame[frame["aspect"] == request.aspect]


def _as_numbers(frame: pd.DataFrame, path: Path | None) -> pd.DataFrame:
    """Read the labels as numbers; a missing one stays missing."""
    import pandas as pd

    from hmc_crowd._base.checks import first_rows

    found = pd.to_numeric(frame["label"], errors="coerce")
    bad = (found.isna() & frame["label"].notna()).to_numpy()
    if bad.any():
        shown = {row: repr(value) for row, value in enumerate(frame["label"]) if bad[row]}
        raise FrameError(
            f"{path}: label must be a number in {first_rows(bad, shown)}; correct these rows, or name the steps of the "
            "scale from lowest to highest with --labels"
        )
    return frame.assign(label=found.astype(float))


def _counts(history: pd.DataFrame, path: Path | None) -> Any:
    import pandas as pd

    if "count" not in history:
        raise FrameError(f"{path} lacks the column count; past counts are a table worker, label, truth, count")
    return pd.to_numeric(history["count"], errors="coerce")


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
    from dataclasses import replace

    return replace(request, gold=None, method="dawid_skene" if request.method == "choose" else request.method)


def _on_gold(frame: pd.DataFrame | None, request: FileRequest) -> tuple[Any, Any]:
    """Return confidence and rightness on gold items that the fit did not know as such."""
    from hmc_crowd.io import read_frame

    if frame is None or request.gold is None or frame["confidence"].isna().any():
        return None, None
    both = frame.merge(
        read_frame(request.gold, kind="gold").frame[["item", "label"]], on="item", suffixes=("", "_gold")
    )
    if both.empty:
        return None, None
    return both["confidence"].to_numpy(), (both["label"] == both["label_gold"]).to_numpy(dtype=float)


def _tells_accuracy(workers: pd.DataFrame) -> bool:
    return {"accuracy", "low", "high"} <= set(workers.columns) and bool(workers["accuracy"].notna().any())
