"""How do frames of other libraries become a pandas frame? narwhals at the edge; the caller's frame is never changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.io._columns import known_strings
from hmc_crowd.io._forms import Form
from hmc_crowd.io._parquet import arrow_to_pandas
from hmc_crowd.io._where import Raw, Where

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

__all__ = ["form_of_object", "memory_chunks"]

_ACCEPTED = "a path, a pandas or polars frame, a pyarrow Table, a Hugging Face Dataset, or a list of dicts"


def form_of_object(source: object, *, name: str) -> Form:
    """Tell what kind of frame an object is, without importing the library it comes from.

    Raises
    ------
    InputError
        It is none that is read here.
    """
    library, kind = type(source).__module__.partition(".")[0], type(source).__name__
    if library == "datasets":
        if kind == "Dataset":
            return Form.DATASET
        if kind.endswith("DatasetDict"):
            splits = ", ".join(map(repr, source)) if isinstance(source, Mapping) else ""
            raise InputError(f"{name} is a {kind} with the splits {splits}; pass one of them")
    if isinstance(source, list | tuple):
        return Form.RECORDS
    known = {
        ("pandas", "DataFrame"): Form.PANDAS,
        ("polars", "DataFrame"): Form.POLARS,
        ("polars", "LazyFrame"): Form.POLARS_LAZY,
        ("pyarrow", "Table"): Form.ARROW,
    }
    for base in type(source).__mro__:
        form = known.get((base.__module__.partition(".")[0], base.__name__))
        if form is not None:
            return form
    raise InputError(f"{name} is a {library}.{kind}; give {_ACCEPTED}")


def memory_chunks(source: Any, form: Form, *, name: str, rows: int | None) -> Iterator[Raw]:
    """Yield the rows of a frame in memory, all at once (``rows=None``) or in chunks of ``rows``."""
    where = Where(name)
    frame = _to_pandas(source, form, name)
    for start in range(0, len(frame), rows or max(len(frame), 1)):
        part = frame.iloc[start : start + rows] if rows else frame
        yield Raw(part.reset_index(drop=True), where.later(start))


def _to_pandas(source: Any, form: Form, name: str) -> pd.DataFrame:
    """Convert without loss: integers beside missing values stay integers."""
    if form is Form.RECORDS:
        return _from_records(source, name)
    if form is Form.PANDAS:
        frame: pd.DataFrame = source
        named = [level for level in frame.index.names if level is not None and level not in frame.columns]
        # An index with a name is a column that somebody put there with set_index; one without is only a count.
        return frame.reset_index(named) if named else frame
    if form is Form.DATASET:
        return _from_dataset(source)
    import narwhals as nw

    native = nw.from_native(source)
    eager = native.collect() if isinstance(native, nw.LazyFrame) else native
    return arrow_to_pandas(eager.to_arrow())


def _from_records(records: Sequence[Any], name: str) -> pd.DataFrame:
    import pandas as pd

    for row, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise FrameError(
                f"{name} holds a {type(record).__name__} in row {row} (counted from 0); every row must be a dict with "
                "column names as keys"
            )
    frame = pd.DataFrame(list(records), dtype=object)
    return known_strings(frame) if all(isinstance(name, str) for name in frame.columns) else frame


def _from_dataset(dataset: Any) -> pd.DataFrame:
    """Read a Hugging Face Dataset; class numbers become their names, -1 (no class) a missing value."""
    frame = arrow_to_pandas(dataset.with_format("arrow")[:])
    for column, feature in dataset.features.items():
        if type(feature).__name__ == "ClassLabel":
            names = dict(enumerate(feature.names))
            frame[column] = frame[column].map(names).astype(object)
    return frame
