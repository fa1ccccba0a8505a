"""Ids are looked for in files as they are, whatever state the files are in."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

from hmc_crowd._base.erasing import files_holding

if TYPE_CHECKING:
    from pathlib import Path


def test_a_damaged_archive_hides_no_other_file(tmp_path: Path) -> None:
    whole, damaged = tmp_path / "whole.zip", tmp_path / "damaged.zip"
    for file in (whole, damaged):
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("workers.csv", "A1ANN," * 1_000)
    held = bytearray(damaged.read_bytes())
    held[41:60] = b"\xff" * 19  # the packed bytes of its member, behind the name
    damaged.write_bytes(held)
    assert files_holding(["A1ANN"], [damaged, whole]) == {str(whole): 1_000}
