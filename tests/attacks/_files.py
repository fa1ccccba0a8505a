"""A scene of files: a campaign with its workplace, an honest backup of both, and an honest model."""

from __future__ import annotations

import io
import json
import sqlite3
import tracemalloc
import zipfile
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.containers import from_container, to_container
from hmc_crowd.backup import back_up, unpacked
from hmc_crowd.errors import HmcCrowdError
from hmc_crowd.platform import find_platform
from hmc_crowd.store import open_store
from tests.attacks._table import Scene

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)
# What reading a hostile file may take at most, beside the file itself.
MOST = 100_000_000


@dataclass
class FileScene(Scene):
    """What hostile archives are made of, and what they would replace."""

    folder: Path
    store: Any
    place: Any
    model: bytes

    def __post_init__(self) -> None:
        super().__init__()

    def stored(self) -> Any:
        with self.store.read() as tx:
            names = list(tx.campaigns.names())
        return names, self.place.account().endpoint, sorted(str(each) for each in self.folder.parent.rglob("*"))

    def goes_on(self) -> None:
        with self.store.begin() as tx:
            assert "one" in tx.campaigns.names()
        assert from_container(self.model, what="model", wanted="-")["a"].sum() == 4950.0

    def ends(self) -> None:
        with unpacked(self.folder / "kept.zip") as found:
            found.restore(self.keepers(), artefacts=self.store.artefacts, overwrite=True)

    def keepers(self) -> list[Any]:
        return [self.store.keeper(), self.place.keeper()]

    def members(self) -> dict[str, bytes]:
        with zipfile.ZipFile(self.folder / "kept.zip") as archive:
            return {name: archive.read(name) for name in archive.namelist()}

    def restore(self, data: bytes, *, is_bomb: bool = False) -> None:
        """Assert that an archive is refused in words; a bomb with little memory, too."""
        file = self.folder / "hostile.zip"
        file.write_bytes(data)
        if is_bomb:
            tracemalloc.start()
        try:
            said = refusal(lambda: self._restore(file))
            assert not is_bomb or tracemalloc.get_traced_memory()[1] < MOST, "it took much memory"
        finally:
            tracemalloc.stop()
            file.unlink()
        assert "\x1b" not in said

    def _restore(self, file: Path) -> None:
        with unpacked(file) as found:
            found.restore(self.keepers(), artefacts=self.store.artefacts, overwrite=True)

    def changed(self, change: Callable[[dict[str, Any], dict[str, bytes]], None]) -> bytes:
        """Return the honest backup after a change of its manifest and members."""
        members = self.members()
        manifest = json.loads(members.pop("manifest.json"))
        change(manifest, members)
        return packed({"manifest.json": json.dumps(manifest).encode(), **members})

    def database(self, name: str, *statements: str, behind: bytes = b"", rows: bool = True) -> bytes:
        """Return the honest backup with statements run in one of its databases, its manifest made to fit."""

        def change(manifest: dict[str, Any], members: dict[str, bytes]) -> None:
            file = self.folder / "hostile.sqlite"
            file.write_bytes(members[f"{name}.sqlite"])
            with closing(sqlite3.connect(file, isolation_level=None)) as connection:
                for each in statements:
                    connection.execute(each)
            put(manifest, members, f"{name}.sqlite", file.read_bytes() + behind)
            file.unlink()

        return self.changed(change)

    def load(self, change: Callable[[dict[str, bytes]], None]) -> None:
        """Assert that a changed model is refused in words, and with little memory."""
        with zipfile.ZipFile(io.BytesIO(self.model)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        change(members)
        self.load_bytes(packed(members))

    def load_bytes(self, data: bytes) -> None:
        tracemalloc.start()
        try:
            refusal(lambda: from_container(data, what="model", wanted="-"))
            assert tracemalloc.get_traced_memory()[1] < MOST, "it took much memory"
        finally:
            tracemalloc.stop()


def refusal(act: Callable[[], Any]) -> str:
    """Return the words in which something is refused."""
    try:
        act()
    except HmcCrowdError as error:
        return str(error)
    raise AssertionError("it was taken")


def packed(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def put(manifest: dict[str, Any], members: dict[str, bytes], name: str, content: bytes) -> None:
    """Put a member in, and into the manifest with its size and hash."""
    members[name] = content
    manifest["members"][name] = [len(content), sha256(content).hexdigest()]


@contextmanager
def files() -> Iterator[FileScene]:
    with TemporaryDirectory() as name:
        folder = Path(name) / "house"
        folder.mkdir()
        place: Any = find_platform("local", str(folder / "workplace.db"))
        with open_store(folder / "campaign.db", create=True) as store, place:
            with store.begin() as tx:
                tx.campaigns.create("one", {}, created_at=NOW)
            keepers = [store.keeper(), place.keeper()]
            back_up(keepers, folder / "kept.zip", artefacts=None, now=NOW)
            yield FileScene(folder, store, place, to_container({"a": np.arange(100.0)}))
