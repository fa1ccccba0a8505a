"""A text file larger than any text is not read."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hmc_crowd._base.texts import read_text
from hmc_crowd.campaign._aspects import read_aspects
from hmc_crowd.errors import InputError
from hmc_crowd.judges._template import load_template

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("read", [read_text, read_aspects, load_template])
def test_no_more_than_8_mb_of_it_is_read(tmp_path: Path, read: Callable[[Path], object]) -> None:
    file = tmp_path / "large.toml"
    with file.open("wb") as stream:
        stream.truncate(5 << 30)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="has more than 8,388,608 bytes"):
            read(file)
        assert tracemalloc.get_traced_memory()[1] < 40_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="a device without an end")
def test_a_device_without_an_end_is_not_read_to_its_end() -> None:
    with pytest.raises(InputError, match="has more than"):
        read_text("/dev/zero")


def test_line_ends_are_plain(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("ä\r\nb\rc".encode())
    assert read_text(tmp_path / "a.txt") == "ä\nb\nc"
