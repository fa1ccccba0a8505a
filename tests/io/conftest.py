from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FORMS = ("csv", "tsv", "jsonl", "parquet", "pandas", "polars", "polars_lazy", "arrow", "dataset", "records")


def columns_of(records: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [record.get(name) for record in records] for name in records[0]}


def write_text_table(path: Path, records: list[dict[str, Any]], delimiter: str) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(records[0])
        writer.writerows([["" if value is None else value for value in record.values()] for record in records])
    return path


@pytest.fixture
def make_source(tmp_path: Path) -> Callable[..., Any]:
    """Make the same records a source of any form."""

    def make(form: str, records: list[dict[str, Any]], stem: str = "source") -> Any:
        path = tmp_path / f"{stem}.{form}"
        if form in {"csv", "tsv"}:
            return write_text_table(path, records, "," if form == "csv" else "\t")
        if form == "jsonl":
            path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
            return path
        columns = columns_of(records)
        if form == "parquet":
            parquet.write_table(pa.table(columns), path)
            return str(path)
        if form == "pandas":
            return pd.DataFrame(columns)
        if form.startswith("polars"):
            import polars

            frame = polars.DataFrame(columns)
            return frame.lazy() if form == "polars_lazy" else frame
        if form == "arrow":
            return pa.table(columns)
        if form == "dataset":
            import datasets

            return datasets.Dataset(pa.table(columns))
        return records

    return make


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)
