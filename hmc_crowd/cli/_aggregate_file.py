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
    from hmc_crowd.io import read_frame

    name = method_name(request.method)
    numbers = name == "numeric" and not request.labels
    gold = _gold(request)
    history = None if request.history is None else read_frame(request.history, kind=None).frame
    if request.engine == "dask" and request.scheduler is None:
        raise InputError("--engine dask needs --scheduler ADDRESS, such as tcp://10.0.0.7:8786")
    found = aggregate(
        _answers(request, name, numbers=numbers),
        method=name,
        gold=_as_numbers(gold, request.gold) if numbers and gold is not None else gold,
        labels=request.labels or None,
        history=history if history is None else history.assign(count=_counts(history, request.history)),
        strata=request.strata,
        weights=request.weights,
        repeats=request.repeats,  # type: ignore[arg-type]  # because aggregate checks it and names the rules
        engine=request.engine,  # type: ignore[arg-type]  # because LocalEngine checks it and names the engines
        client=request.scheduler,
        progress=progress,
    )
    return found if request.labels else _with_caution(found)


def _gold(request: FileRequest) -> pd.DataFrame | None:
    """Read the gold; a column task is as good as item, as in the tables of crowd-kit's users."""
    import pandas as pd

    from hmc_crowd._base.evidence import refuse_seeing
    from hmc_crowd.io import read_frame

    if request.gold is None:
        return None
    bare = read_frame(request.gold, kind=None).frame
    refuse_seeing(bare.get("evidence", pd.Series(dtype=str)), what="be gold, which must not rest on a model")
    named = bare.rename(columns={"task": "item"}) if "item" not in bare else None
    found = read_frame(request.gold if named is None else named, kind="gold", name=str(request.gold)).frame
    aspects = sorted(map(str, found["aspect"].dropna().unique())) if "aspect" in found else []
    if request.aspect is not None and aspects:
        return found[found["aspect"] == request.aspect]
    if len(aspects) > 1:
        raise FrameError(f"{request.gold} mixes the aspects {', '.join(aspects)}; name one with --aspect")
    return found


def _with_caution(result: AggregateResult) -> AggregateResult:
    """Say where a label looks like a missing value that some program wrote out as text."""
    from dataclasses import replace

    odd = [name for name in _LOOK_MISSING if f"p_{name}" in result.frame]
    if not odd:
        return result
    caution = (
        f"The text {', '.join(map(repr, odd))} counts as a label; if it means that there is no answer, leave these "
        "cells empty."
    )
    return replace(result, cautions=(caution, *result.cautions))


def _answers(request: FileRequest, name: str, *, numbers: bool) -> Any:
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
        frame = read_mturk_batch(path).answers
    elif name.startswith("crowdkit:"):  # comparisons have other columns, sets and masks are no text
        return _of_aspect(read_frame(path, kind=None).frame, request)
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
    if labels is None:
        return
    if any(isinstance(each, list | dict) for each in labels):
        raise FrameError(f"{path}: label holds lists; aggregate sets of labels with --method crowdkit:binary_relevance")
    if pd.api.types.infer_dtype(labels, skipna=True).startswith("mixed"):
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
    if frame is None or request.gold is None or frame["confidence"].isna().any():
        return None, None
    gold = _gold(request)
    if gold is None:
        return None, None
    both = frame.merge(gold[["item", "label"]], on="item", suffixes=("", "_gold"))
    if both.empty:
        return None, None
    return both["confidence"].to_numpy(), (both["label"] == both["label_gold"]).to_numpy(dtype=float)


def _tells_accuracy(workers: pd.DataFrame) -> bool:
    return {"accuracy", "low", "high"} <= set(workers.columns) and bool(workers["accuracy"].notna().any())
