"""How Parquet is read: with its types, and with a sentence where the file is cut off."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import FrameError
from hmc_crowd.io._where import Raw, Where

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pandas as pd

__all__ = ["arrow_to_pandas", "parquet_chunks"]

_INDEX_COLUMN = re.compile(r"__index_level_\d+__")


def parquet_chunks(path: Path, *, rows: int | None) -> Iterator[Raw]:
    """Yield the rows of a Parquet file, all at once (``rows=None``) or in chunks of ``rows``."""
    import pyarrow as pa
    from pyarrow import parquet

    if path.stat().st_size == 0:
        raise FrameError(f"{path} is empty; give a Parquet file with at least one row")
    where = Where(str(path), counted_from=1)
    try:
        with parquet.ParquetFile(path) as file:
            if rows is None:
                table = file.read()
                if table.num_rows:
                    yield Raw(arrow_to_pandas(table), where)
                return
            for batch in file.iter_batches(batch_size=rows):
                yield Raw(arrow_to_pandas(pa.Table.from_batches([batch])), where)
                where = where.later(batch.num_rows)
    except PermissionError:
        raise
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0][:100]
        raise FrameError(
            f"{path} is not a whole Parquet file: it is cut off or of another kind ({reason}); write or copy it again"
        ) from None


def arrow_to_pandas(table: Any) -> pd.DataFrame:
    """Turn an Arrow table into a pandas frame in which integers stay exact and no column became an index."""
    frame: pd.DataFrame = table.to_pandas(integer_object_nulls=True, ignore_metadata=True)
    # What pandas writes for an unnamed index is no column of the user's.
    return frame[[name for name in frame.columns if not _INDEX_COLUMN.fullmatch(str(name))]]
