"""Which kinds of table there are, which file ending means which, and which column names will do."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["ENDINGS", "Form", "form_of_path", "unique_names"]


class Form(StrEnum):
    """The kinds of source that are read and given back."""

    CSV = "csv"
    TSV = "tsv"
    JSONL = "jsonl"
    PARQUET = "parquet"
    PANDAS = "pandas"
    POLARS = "polars"
    POLARS_LAZY = "polars_lazy"
    ARROW = "arrow"
    DATASET = "dataset"
    RECORDS = "records"

    @property
    def is_file(self) -> bool:
        """Whether it lies on a disk."""
        return self in {Form.CSV, Form.TSV, Form.JSONL, Form.PARQUET}


ENDINGS = {
    ".csv": Form.CSV,
    ".tsv": Form.TSV,
    ".jsonl": Form.JSONL,
    ".ndjson": Form.JSONL,
    ".parquet": Form.PARQUET,
    ".pq": Form.PARQUET,
}


def form_of_path(path: Path) -> Form:
    """Return the kind of file that an ending names, whatever its case.

    Raises
    ------
    InputError
        The ending is none that is read or written here.
    """
    form = ENDINGS.get(path.suffix.lower())
    if form is None:
        raise InputError(
            f"{path} ends in {path.suffix or 'nothing'!r}; save it as one of {', '.join(ENDINGS)} "
            "(JSON as one object a line)"
        )
    return form


def unique_names(names: list[Any], where: str) -> None:
    """Refuse column names that are missing, no text, or there twice.

    Raises
    ------
    FrameError
        Names the first of them.
    """
    for number, name in enumerate(names, start=1):
        if not isinstance(name, str):
            raise FrameError(f"{where} has the column name {name!r}, which is no text; rename it to text")
        if not name.strip():
            raise FrameError(f"{where} has no name for column {number}; name it, or write the file without its index")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise FrameError(f"{where} has the column {twice[0]!r} more than once; rename or drop one of them")
