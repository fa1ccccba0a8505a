"""Vectors on disk, by content hash, written by several processes."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from hmc_crowd.confidence.text import EmbeddingCache
from hmc_crowd.errors import InputError, ModelError

if TYPE_CHECKING:
    from pathlib import Path


def keys(*numbers: int) -> list[bytes]:
    return [number.to_bytes(32, "big") for number in numbers]


def test_what_was_put_is_there_and_nothing_else(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path / "c")
    assert cache.get(keys(1)) == {}
    cache.put(keys(1, 2), np.array([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32))
    found = cache.get(keys(2, 3))
    assert list(found) == keys(2)
    assert found[keys(2)[0]].tolist() == [3.0, 4.0]


def test_another_object_sees_what_was_put_later(tmp_path: Path) -> None:
    one, two = EmbeddingCache(tmp_path), EmbeddingCache(tmp_path)
    assert two.get(keys(1)) == {}
    one.put(keys(1), np.ones((1, 3), dtype=np.float32))
    assert two.get(keys(1))[keys(1)[0]].tolist() == [1, 1, 1]


def test_two_processes_write_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    code = (
        "import sys, numpy as np; from hmc_crowd.confidence.text import EmbeddingCache\n"
        "cache, base = EmbeddingCache(sys.argv[1]), int(sys.argv[2])\n"
        "for k in range(40):\n"
        "    cache.put([(base + k).to_bytes(32, 'big'), k.to_bytes(32, 'big')], np.full((2, 4), k, dtype=np.float32))\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), base]) for base in ("1000", "2000")]
    assert [each.wait() for each in running] == [0, 0]
    found = EmbeddingCache(tmp_path).get(keys(*range(40), *range(1000, 1040), *range(2000, 2040)))
    assert len(found) == 120
    assert all(found[key][0] == k % 1000 for k, key in zip([*range(40), *range(1000, 1040)], found, strict=False))
    assert not list(tmp_path.glob(".*"))


def test_a_killed_writers_draft_is_no_file_of_the_cache(tmp_path: Path) -> None:
    (tmp_path / ".abc.npy.77").write_bytes(b"half")
    assert EmbeddingCache(tmp_path).get(keys(1)) == {}


def test_a_broken_file_is_named_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "x.npy").write_bytes(b"no array")
    with pytest.raises(ModelError, match=r"x\.npy cannot be read .*delete it"):
        EmbeddingCache(tmp_path).get(keys(1))


def test_a_pickle_is_never_read(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([object()]), allow_pickle=True)
    with pytest.raises(ModelError, match="cannot be read"):
        EmbeddingCache(tmp_path).get(keys(1))


def test_wrong_shapes_and_places_are_refused(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path)
    with pytest.raises(InputError, match="2 keys and vectors of shape"):
        cache.put(keys(1, 2), np.ones((1, 3), dtype=np.float32))
    with pytest.raises(InputError, match="give 32 bytes"):
        cache.put([b"short"], np.ones((1, 3), dtype=np.float32))
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="is a file"):
        EmbeddingCache(tmp_path / "file")
