"""What holds people's work, keys or money is for its owner's eyes alone, whatever the umask."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from hmc_crowd._base.private import make_private_file, make_private_folder, private_draft, write_private

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FRAME = pd.DataFrame({"worker": ["ann"], "amount_minor": [120]})


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    """A user whose files are everybody's, as on many a server."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> str:
    return oct(path.stat().st_mode & 0o777)


def test_a_private_file_is_the_owners_alone(tmp_path: Path) -> None:
    write_private(tmp_path / "a.txt", "ä\n")
    assert (mode(tmp_path / "a.txt"), (tmp_path / "a.txt").read_bytes()) == ("0o600", "ä\n".encode())


def test_the_draft_is_the_owners_alone_while_it_is_written(tmp_path: Path) -> None:
    with private_draft(tmp_path / "a.txt") as draft:
        draft.write_text("half")
        assert (mode(draft), (tmp_path / "a.txt").exists()) == ("0o600", False)


def test_a_file_with_wider_rights_is_replaced_by_a_private_one(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("before")
    assert mode(tmp_path / "a.txt") == "0o666"
    write_private(tmp_path / "a.txt", "after")
    assert (mode(tmp_path / "a.txt"), (tmp_path / "a.txt").read_text()) == ("0o600", "after")


def test_a_writer_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    write_private(tmp_path / "a.txt", "before")

    def fail(file: Path) -> None:
        file.write_text("half")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), private_draft(tmp_path / "a.txt") as draft:
        fail(draft)
    assert [each.name for each in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "before"


@pytest.mark.parametrize("has_links", [True, False])
def test_without_overwriting_the_first_one_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_links: bool
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "no links here")

    if not has_links:
        monkeypatch.setattr(os, "link", refuse)
    write_private(tmp_path / "key", "first", overwrite=False)
    with pytest.raises(FileExistsError):
        write_private(tmp_path / "key", "second", overwrite=False)
    assert [(each.name, each.read_text(), mode(each)) for each in tmp_path.iterdir()] == [("key", "first", "0o600")]


def test_folders_that_are_made_are_the_owners_alone_and_others_stay(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    make_private_folder(tmp_path / "shared" / "a" / "b")
    modes = [mode(tmp_path / each) for each in ("shared", "shared/a", "shared/a/b")]
    assert modes == ["0o777", "0o700", "0o700"]


def test_a_file_where_a_folder_should_be_is_an_error(tmp_path: Path) -> None:
    make_private_file(tmp_path / "a")
    with pytest.raises(OSError, match=r"folder|directory"):
        make_private_folder(tmp_path / "a")


def a_table(folder: Path) -> None:
    from hmc_crowd.io import write_frame

    for ending in ("csv", "tsv", "jsonl", "parquet"):
        write_frame(FRAME, folder / f"payroll.{ending}")


def a_confidence(folder: Path) -> None:
    from hmc_crowd.confidence import MaximumClassProbability, save_confidence

    save_confidence(MaximumClassProbability().fit([[0.9, 0.1], [0.3, 0.7]], ["a", "b"]), folder / "mcp.skops")


def a_gate(folder: Path) -> None:
    from hmc_crowd.quality import LearnedGate, save_gate

    answers = pd.DataFrame({"task": ["a"], "worker": ["w"], "label": ["x"]})
    save_gate(LearnedGate().fit(None, answers, gold={"a": "x"}), folder / "gate.skops")


def a_judges_cache(folder: Path) -> None:
    from hmc_crowd.judges._ask import Completion
    from hmc_crowd.judges._cache import JudgeCache

    with JudgeCache(folder / "cache" / "answers.db") as cache:
        cache.put("k", Completion("what somebody wrote"))
        assert {mode(each) for each in (folder / "cache").iterdir()} == {"0o600"}


def embeddings(folder: Path) -> None:
    import numpy as np

    from hmc_crowd.confidence.text._cache import EmbeddingCache

    EmbeddingCache(folder / "cache").put([b"k" * 32], np.ones((1, 2), dtype=np.float32))


def artefacts(folder: Path) -> None:
    import pyarrow as pa

    from hmc_crowd.store._artefacts import Artefacts, content_hash

    table = pa.table({"a": [1]})
    Artefacts(folder / "campaign.db.artefacts").write(table, prefix="items", hashed=content_hash(table))


def a_key_of_pseudonyms(folder: Path) -> None:
    from hmc_crowd.campaign._pseudonyms import load_worker_key

    load_worker_key(f"sqlite:///{folder}/deep/campaign.db")


def a_batch_file(folder: Path) -> None:
    from hmc_crowd_local.mturk_api import open_front_door

    door = open_front_door(str(folder / "workplace.db"))
    door.issue_key("main")
    door.write_batch_file(folder / "batch.csv")
    door.close()
    for each in folder.glob("workplace.db*"):
        each.unlink()


@pytest.mark.parametrize(
    "write",
    [
        a_table,
        a_confidence,
        a_gate,
        a_judges_cache,
        embeddings,
        artefacts,
        a_key_of_pseudonyms,
        a_batch_file,
    ],
)
def test_whatever_is_written_is_the_owners_alone(tmp_path: Path, write: Callable[[Path], None]) -> None:
    write(tmp_path)
    written = {str(each.relative_to(tmp_path)): (each.is_dir(), mode(each)) for each in tmp_path.rglob("*")}
    assert written
    assert {name: found for name, found in written.items() if found[1] != ("0o700" if found[0] else "0o600")} == {}


def test_what_is_no_file_is_written_to_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_private(pipe, "through")
        assert (os.read(reader, 100), pipe.is_fifo()) == (b"through", True)
    finally:
        os.close(reader)


def test_a_link_to_a_file_stays_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "a.txt")
    write_private(tmp_path / "link", "one")
    write_private(tmp_path / "link", "two")
    assert ((tmp_path / "link").is_symlink(), (tmp_path / "a.txt").read_text()) == (True, "two")
