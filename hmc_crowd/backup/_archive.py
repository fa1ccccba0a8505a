"""The file of a backup: a ZIP archive with a manifest that names every member with its size and SHA-256.

It gets its name when it is whole and on the disk, so whoever is killed while writing leaves no half of one under that
name. Nothing of it is used before every member was compared with the manifest.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import zipfile
import zlib
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from hmc_crowd._base.copies import Copy
from hmc_crowd.errors import InputError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = ["ARTEFACTS", "Manifest", "read_archive", "sha256_of", "working_folder", "write_archive"]

_FORM = 1
_MANIFEST = "manifest.json"
ARTEFACTS = "artefacts/"
# Exactly the names that we write: a member that would leave the folder is no name of ours.
_NAME = re.compile(r"(?:artefacts/)?[A-Za-z0-9_][A-Za-z0-9_.-]{0,200}")
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Manifest:
    """What an archive holds: the copies by name, and each member's size and SHA-256."""

    made_at: str
    version: str
    copies: Mapping[str, Copy]
    members: Mapping[str, tuple[int, str]]

    def to_json(self) -> str:
        """Return it as text; tables stay in their order, each after those that it refers to."""
        return json.dumps({"form": _FORM, **asdict(self)}, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """Read what `to_json` wrote; anything else raises ValueError, KeyError or TypeError."""
        held = json.loads(text)
        if held["form"] != _FORM:
            raise InputError(f"it has the form {held['form']}, and this hmc-crowd reads {_FORM}; upgrade hmc-crowd")
        copies = {str(name): Copy(**each) for name, each in held["copies"].items()}
        members = {str(name): (int(size), str(sha)) for name, (size, sha) in held["members"].items()}
        return cls(str(held["made_at"]), str(held["version"]), copies, members)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    sha = hashlib.sha256()
    with path.open("rb") as stream:
        while part := stream.read(_CHUNK):
            sha.update(part)
    return sha.hexdigest()


@contextmanager
def working_folder(beside: Path) -> Iterator[Path]:
    """Make a folder beside a file for what is not whole yet, for its owner's eyes; it is gone afterwards.

    Its name is always the same, so what a killed process left there goes with the next call.
    """
    folder = beside.with_name(f".{beside.name}.part")
    try:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise InputError(f"{beside.parent} cannot be written: {error.strerror}; choose another folder") from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_archive(target: Path, files: Mapping[str, Path], manifest: Manifest, *, folder: Path) -> str:
    """Write the archive whole under another name, then give it its own; return its SHA-256."""
    draft = folder / "whole.zip"
    with os.fdopen(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as stream:
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(_MANIFEST, manifest.to_json())
            for name, path in files.items():
                # Parquet is compressed already.
                kind = zipfile.ZIP_STORED if name.startswith(ARTEFACTS) else zipfile.ZIP_DEFLATED
                archive.write(path, name, kind)
        stream.flush()
        os.fsync(stream.fileno())
    sha = sha256_of(draft)
    draft.replace(target)
    _keep_name(target.parent)
    return sha


def _keep_name(folder: Path) -> None:
    """Let a new name outlive a power cut, where the system can."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_archive(source: Path, folder: Path) -> Manifest:
    """Unpack an archive into a folder, every member compared with the manifest.

    Raises
    ------
    InputError
        A newer version of this code made it.
    StoreError
        It is no backup, is damaged, or holds what its manifest does not name.
    """
    try:
        with zipfile.ZipFile(source) as archive:
            manifest = _manifest(archive, source)
            names = [each for each in archive.namelist() if each != _MANIFEST]
            _require_names(names, manifest, source)
            for name in names:
                _unpack(archive, name, manifest.members[name], folder, source)
    except (zipfile.BadZipFile, EOFError, zlib.error) as error:
        raise StoreError(f"{source} is no backup or is damaged ({error}); use another copy") from None
    return manifest


def _manifest(archive: zipfile.ZipFile, source: Path) -> Manifest:
    try:
        return Manifest.from_json(archive.read(_MANIFEST).decode("utf-8"))
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
    except (KeyError, ValueError, TypeError, AttributeError):
        raise StoreError(f"{source} is no backup of hmc-crowd: it has no manifest of ours; give another file") from None


def _require_names(names: Sequence[str], manifest: Manifest, source: Path) -> None:
    strange = sorted(set(names) ^ set(manifest.members)) or [each for each in names if not _NAME.fullmatch(each)]
    if strange or len(names) != len(set(names)):
        shown = ", ".join(repr(each) for each in strange[:3]) or "a name twice"
        raise StoreError(f"{source} is damaged: archive and manifest differ in {shown}; use another copy")


def _unpack(archive: zipfile.ZipFile, name: str, known: tuple[int, str], folder: Path, source: Path) -> None:
    size, sha = known
    target = folder / name
    target.parent.mkdir(exist_ok=True)
    found, length = hashlib.sha256(), 0
    with archive.open(name) as stream, target.open("wb") as out:
        while part := stream.read(_CHUNK):
            length += len(part)
            if length > size:
                break
            found.update(part)
            out.write(part)
    if length != size or found.hexdigest() != sha:
        raise StoreError(f"{source} is damaged: {name} is not what its manifest says; use another copy")
