"""Ids are looked for in files as they are, whatever state the files are in."""

from __future__ import annotations

import io
import sqlite3
import zipfile
from contextlib import closing
from typing import TYPE_CHECKING

from hmc_crowd._base.erasing import files_holding

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_damaged_archive_hides_no_other_file(tmp_path: Path) -> None:
    whole, damaged = tmp_path / "whole.zip", tmp_path / "damaged.zip"
    for file in (whole, damaged):
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("workers.csv", "A1ANN," * 1_000)
    held = bytearray(damaged.read_bytes())
    held[41:60] = b"\xff" * 19  # the packed bytes of its member, behind the name
    damaged.write_bytes(held)
    assert files_holding(["A1ANN"], [damaged, whole]) == {str(whole): 1_000}


def test_a_database_that_ends_in_an_archive_is_looked_through_all_the_same(tmp_path: Path) -> None:
    # Models lie in databases as the archives that they are; one in the last page makes the file look like an archive.
    file, model = tmp_path / "w.db", io.BytesIO()
    with zipfile.ZipFile(model, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", "{}")
    with closing(sqlite3.connect(file)) as database:
        database.execute("CREATE TABLE worker (id TEXT)")
        database.execute("CREATE TABLE model (blob BLOB)")
        database.execute("INSERT INTO worker VALUES ('A1ANN')")
        database.execute("INSERT INTO model VALUES (?)", (model.getvalue(),))
        database.commit()
    assert zipfile.is_zipfile(file)
    assert files_holding(["A1ANN"], [file]) == {str(file): 1}


def test_no_code_of_the_folder_of_work_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('this is not for you')")
    (tmp_path / "ids.txt").write_text("A1ANN")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert files_holding(["A1ANN"], [tmp_path / "ids.txt"]) == {str(tmp_path / "ids.txt"): 1}
