"""Answers in partitions: what a worker does with its own, and how the small results are joined.

Pure functions of frames and arrays, so that they are tested without a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.aggregation._codes import encode
from hmc_crowd.aggregation._coding import ranked, smallest
from hmc_crowd.aggregation._counts import AnswerCounts
from hmc_crowd.aggregation._em import Block
from hmc_crowd.aggregation._gold import gold_table
from hmc_crowd.aggregation._names import kind_of, label_index, require_columns
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from hmc_crowd.aggregation._codes import Repeats

__all__ = [
    "Part",
    "Survey",
    "added_counts",
    "code_partition",
    "cut",
    "files_of",
    "joined_names",
    "label_set",
    "read_partition",
    "survey",
]

_COLUMNS = ("task", "worker", "label")


@dataclass(frozen=True)
class Survey:
    """What a partition holds: its distinct tasks (with and without a label), workers, labels and aspects; its rows."""

    tasks: pd.Index[Any]
    workers: pd.Index[Any]
    labels: pd.Index[Any]
    rows: int
    aspects: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Part:
    """What this process learns of a coded partition; the block itself stays where it is."""

    tasks: pd.Index[Any]
    n_answers: NDArray[np.intp]
    worker_answers: NDArray[np.intp]
    gold: NDArray[np.intp]
    counts: AnswerCounts
    without: pd.Index[Any] = field(default_factory=lambda: pd.Index([]))


def files_of(source: str | Path) -> list[str]:
    """Return the Parquet files of a path: one file, or all below a folder, in the order of their names.

    Raises
    ------
    InputError
        There is no such path, or no Parquet file below it.
    """
    path = Path(source)
    if path.is_file():
        return [str(path)]
    files = sorted(str(file) for file in path.rglob("*.parquet") if not file.name.startswith((".", "_")))
    if not files:
        reason = "holds no .parquet file" if path.is_dir() else "does not exist"
        raise InputError(f"{path} {reason}; give a Parquet file, or a folder of them that every Dask worker can read")
    return files


def read_partition(file: str) -> pd.DataFrame:
    """Read the columns that count of one Parquet file."""
    from pyarrow import parquet

    there = parquet.read_schema(file).names
    wanted = [name for name in (*_COLUMNS, "aspect", "submitted") if name in there]
    frame: pd.DataFrame = parquet.read_table(file, columns=wanted).to_pandas()
    require_columns(frame, _COLUMNS, name=file)
    return frame


def survey(frame: pd.DataFrame) -> Survey:
    """Return what names a partition holds."""
    require_columns(frame, _COLUMNS, name="answers")
    labelled = frame.loc[frame["label"].notna().to_numpy()]
    return Survey(
        tasks=pd.Index(frame["task"].dropna().unique()),
        workers=pd.Index(labelled["worker"].dropna().unique()),
        labels=pd.Index(labelled["label"].unique()),
        rows=len(frame),
        aspects=tuple(frame["aspect"].dropna().unique()) if "aspect" in frame else (),
    )


def joined_names(found: Sequence[pd.Index[Any]], *, name: str) -> pd.Index[Any]:
    """Return all distinct names of the partitions, sorted.

    Raises
    ------
    FrameError
        Partitions name things by different kinds, such as text and numbers.
    """
    filled = [index for index in found if len(index)]
    if not filled:
        raise FrameError("answers has no row with a label; collect answers first")
    kinds = sorted({kind_of(index) for index in filled})
    if len(kinds) > 1:
        raise FrameError(f"{name} is {' in one partition and '.join(kinds)} in another; turn it into one kind")
    values = pd.Series(np.concatenate([index.to_numpy() for index in filled]))
    return ranked(values.drop_duplicates().astype(filled[0].dtype), name=name)[1]


def cut(frame: pd.DataFrame, pieces: int) -> list[pd.DataFrame]:
    """Deal rows to ``pieces`` frames by a hash of their task: a task's rows meet in the same piece everywhere."""
    if bool(frame["task"].isna().any()):
        raise FrameError("answers has rows without a task; fill the column or drop these rows")
    place = pd.util.hash_array(frame["task"].astype(object).to_numpy(), categorize=False) % np.uint64(pieces)
    return [frame.loc[place == piece] for piece in range(pieces)]


def code_partition(
    frame: pd.DataFrame,
    *,
    workers: pd.Index[Any],
    labels: pd.Index[Any],
    gold: Any,
    repeats: Repeats,
) -> tuple[Block, Part]:
    """Code a partition by the names of all partitions."""
    k = len(labels)
    if not bool(frame["label"].notna().any()):
        nobody = np.zeros(0, dtype=np.intp)
        counts = AnswerCounts(len(frame), 0, len(frame), 0, 0, 0, 0)
        empty = Block(np.zeros(1, dtype=np.int32), nobody, nobody, len(workers), k)
        return empty, Part(workers[:0], nobody, np.zeros(len(workers), np.intp), nobody, counts, _distinct(frame))
    coded = encode(frame, gold, labels=labels, repeats=repeats)
    place = workers.get_indexer(coded.workers)
    # Ranks among all workers keep the order of ranks here, so the answers of a task still ascend.
    cell = (place[coded.cell // k] * k + coded.cell % k).astype(smallest(len(workers) * k))
    total = np.zeros(len(workers), dtype=np.intp)
    total[place] = coded.worker_answers
    block = Block(coded.starts, cell, coded.gold, len(workers), k)
    part = Part(coded.tasks, coded.n_answers, total, coded.gold, coded.counts, coded.tasks_without_label)
    return block, part


def _distinct(frame: pd.DataFrame) -> pd.Index[Any]:
    names: pd.Index[Any] = pd.Index(frame["task"].unique())
    return names


def label_set(found: Sequence[Survey], labels: Iterable[Any] | None) -> pd.Index[Any]:
    """Return the labels that the user names, or all that were met."""
    return joined_names([one.labels for one in found], name="answers.label") if labels is None else label_index(labels)


def added_counts(parts: Sequence[Part], *, workers: int, labels: int, gold: Any) -> AnswerCounts:
    """Return the counts of all partitions together."""
    counts = [part.counts for part in parts]
    return AnswerCounts(
        rows=sum(one.rows for one in counts),
        used=sum(one.used for one in counts),
        missing_label=sum(one.missing_label for one in counts),
        repeated=sum(one.repeated for one in counts),
        tasks=sum(one.tasks for one in counts),
        workers=workers,
        labels=labels,
        tasks_without_label=sum(len(part.without) for part in parts),
        gold=0 if gold is None else len(gold_table(gold)),
        gold_used=sum(one.gold_used for one in counts),
    )
