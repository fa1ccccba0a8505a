"""What an archive or a model's file declares is judged before any of it is inflated."""

from __future__ import annotations

import io
import json
import struct
import tracemalloc
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from hmc_crowd._base.archives import ArchiveError, Limits, open_archive
from hmc_crowd._base.containers import from_container, to_container
from hmc_crowd.confidence import load_confidence
from hmc_crowd.effort import EffortModel
from hmc_crowd.errors import ModelError
from hmc_crowd.quality import load_gate, load_quality_model

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LIMITS = Limits(members=5, total=1_000_000, ratio=100, free=1_000)


def packed(members: dict[str, bytes], kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", kind) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def refused(data: bytes, why: str) -> None:
    with pytest.raises(ArchiveError, match=why):
        open_archive(io.BytesIO(data), LIMITS)


def test_what_is_within_limits_is_read() -> None:
    data = packed({"a": b"x" * 900, "b": bytes(range(256)) * 30})
    with open_archive(io.BytesIO(data), LIMITS) as archive:
        assert archive.read("a") == b"x" * 900


def test_more_members_than_are_read_are_refused_by_the_end_of_the_archive() -> None:
    data = packed({str(number): b"" for number in range(6)})
    refused(data, "it lists 6 members")
    # However many there are, the list itself is not read: here it is not even there.
    end = data[-22:]
    refused(struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 60_000, 60_000, 9, 0, 0), "it lists 60,000 members")
    assert end[:4] == b"PK\x05\x06"


def test_a_list_that_only_its_long_form_tells_is_refused_too() -> None:
    record = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 10**9, 10**9, 10**12, 0)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, 0, 1)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    refused(record + locator + end, "it lists 1,000,000,000 members")


def test_a_long_form_beside_a_plain_one_that_looks_modest_is_refused_too(monkeypatch: pytest.MonkeyPatch) -> None:
    # Readers believe the long form whenever it is there, whatever the plain one says.
    data = packed({str(number): b"" for number in range(6)})
    length, offset = struct.unpack("<2L", data[-10:-2])
    record = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 6, 6, length, offset)
    modest = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, 47, 0, 0)
    monkeypatch.setattr(zipfile, "ZipFile", None)  # its list is not read
    for place in (len(data) - 22, 0):
        locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, place, 1)
        refused(data[:-22] + record + locator + modest, "it lists 6 members")


def test_an_end_whose_figures_look_like_the_beginning_of_one_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zipfile, "ZipFile", None)
    mark = struct.unpack("<L", b"PK\x05\x06")[0]
    refused(struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, mark, 0, 0), "it lists 1 members in 101,010,256 bytes")


def test_members_that_grow_too_much_are_refused() -> None:
    refused(packed({"zeros": bytes(500_000)}), "would grow from")
    refused(packed({"zeros": bytes(2_000_000)}), "it declares 2,000,000 bytes")


def test_members_that_lie_over_each_other_are_refused() -> None:
    data = bytearray(packed({"a": bytes(range(256)) * 3, "b": bytes(range(256)) * 3}, zipfile.ZIP_STORED))
    second = data.rfind(b"PK\x01\x02")
    for offset in (20, 24):
        struct.pack_into("<L", data, second + offset, 100_000)
    refused(bytes(data), "lie over each other")


def test_forms_that_we_never_write_are_refused() -> None:
    refused(packed({"a": b"x" * 100}, zipfile.ZIP_LZMA), "not read here")


def test_arrays_of_zeros_are_kept_and_read_all_the_same() -> None:
    given = {"a": np.zeros(400_000), "b": np.ones((300, 300), dtype=bool)}
    found = from_container(to_container(given), what="array", wanted="-")
    assert all((found[name] == given[name]).all() for name in given)


def rebuilt(data: bytes, change: Callable[[dict[str, bytes]], None]) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    return packed(members)


def array_name(members: dict[str, bytes]) -> str:
    return next(name for name in members if name.endswith(".npy"))


def npy(shape: tuple[int, ...], kind: str, content: bytes) -> bytes:
    header = f"{{'descr': {kind!r}, 'fortran_order': False, 'shape': {shape!r}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + content


def zeros(members: dict[str, bytes]) -> None:
    members[array_name(members)] = npy((50_000_000 // 8,), "<f8", bytes(50_000_000))


def larger_than_it_is(members: dict[str, bytes]) -> None:
    members[array_name(members)] = npy((10**12,), "<f8", b"12345678")


def wider_than_it_is(members: dict[str, bytes]) -> None:
    members[array_name(members)] = npy((1,), "|V2000000000", b"12345678")


def a_negative_shape(members: dict[str, bytes]) -> None:
    members[array_name(members)] = npy((-1, -1), "<f8", b"12345678")


def objects(members: dict[str, bytes]) -> None:
    members[array_name(members)] = npy((1,), "|O", b"12345678")


def a_long_header(members: dict[str, bytes]) -> None:
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (" + b"1," * 30_000 + b"), }\n"
    members[array_name(members)] = b"\x93NUMPY\x02\x00" + struct.pack("<L", len(header)) + header + b"12345678"


def one_for_many(members: dict[str, bytes]) -> None:
    schema = json.loads(members["schema.json"])
    node = schema["content"]["a"]
    schema["content"] |= {f"n{number}": {**node, "__id__": number} for number in range(1000)}
    members["schema.json"] = json.dumps(schema).encode()


def a_deep_schema(members: dict[str, bytes]) -> None:
    members["schema.json"] = b"[" * 100_000 + b"]" * 100_000


def a_wide_schema(members: dict[str, bytes]) -> None:
    members["schema.json"] = b"[" + b"0," * 34_000_000 + b"0]"


def no_schema(members: dict[str, bytes]) -> None:
    del members["schema.json"]


CHANGES = (
    zeros,
    larger_than_it_is,
    wider_than_it_is,
    a_negative_shape,
    objects,
    a_long_header,
    one_for_many,
    a_deep_schema,
    a_wide_schema,
    no_schema,
)


@pytest.mark.parametrize("change", CHANGES)
def test_a_model_s_file_takes_no_more_memory_than_it_shows(change: Callable[[dict[str, bytes]], None]) -> None:
    data = rebuilt(to_container({"a": np.arange(100.0)}), change)
    assert len(data) < 1_000_000
    tracemalloc.start()
    try:
        with pytest.raises(ModelError):
            from_container(data, what="model", wanted="give another")
        assert tracemalloc.get_traced_memory()[1] < 40_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("read", [load_gate, load_quality_model, load_confidence])
def test_every_reader_of_models_on_disk_is_the_safe_one(tmp_path: Path, read: Callable[[Path], Any]) -> None:
    file = tmp_path / "model.skops"
    file.write_bytes(rebuilt(to_container({"a": np.arange(100.0)}), zeros))
    with pytest.raises(ModelError, match="would grow from"):
        read(file)
    with file.open("wb") as large:
        large.truncate(5 << 30)
    with pytest.raises(ModelError, match="5,368,709,120 bytes"):
        read(file)
    with pytest.raises(ModelError, match="would grow from"):
        EffortModel.from_bytes(rebuilt(to_container({"a": np.arange(100.0)}), zeros))
