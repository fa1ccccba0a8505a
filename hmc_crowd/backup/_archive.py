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
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.archives import ArchiveError, Limits, open_archive, too_dense
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
# A hundred thousand artefacts make a manifest of 12 MB. What shrinks more than this is stored as it is.
_MOST_MEMBERS, _LARGEST_MANIFEST = 100_000, 16 << 20
_RATIO, _FREE = 200, 64 << 20
_TABLE = re.compile(r"[a-z][a-z0-9_]{0,62}")
_VERSION = re.compile(r"[0-9A-Za-z.+!_-]{1,60}")
_REVISION = re.compile(r"[0-9A-Za-z_]{1,60}")
_SHA = re.compile(r"[0-9a-f]{64}")


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
        copies = {str(name): _copy(name, each) for name, each in held["copies"].items()}
        members = {str(name): (_whole(size), _like(_SHA, sha)) for name, (size, sha) in held["members"].items()}
        datetime.fromisoformat(held["made_at"])
        return cls(held["made_at"], _like(_VERSION, held["version"]), copies, members)


def _copy(name: str, given: dict[str, Any]) -> Copy:
    """Read what a copy is; every word of it is used in a statement or a file's name later."""
    if name not in {"store", "workplace"} or set(given) != {"kind", "revision", "rows", "columns"}:
        raise ValueError(f"{name!r} is no copy of ours")
    if given["kind"] not in {"sqlite", "postgresql"}:
        raise ValueError(f"{name!r} is no copy of ours")
    rows = {_like(_TABLE, table): _whole(count) for table, count in given["rows"].items()}
    columns = {
        _like(_TABLE, table): [_like(_TABLE, each) for each in names] for table, names in given["columns"].items()
    }
    if given["kind"] == "postgresql" and set(columns) != set(rows):
        raise ValueError(f"{name!r} lacks columns")
    return Copy(given["kind"], _like(_REVISION, given["revision"]), rows, columns)


def _like(form: re.Pattern[str], value: Any) -> str:
    if not isinstance(value, str) or not form.fullmatch(value):
        raise ValueError(f"{str(value)[:80]!r} is no word of ours")
    return value


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{str(value)[:80]!r} is no count")
    return value


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
    # Parquet is compressed already.
    plain = {name for name in files if name.startswith(ARTEFACTS)}
    dense = _write(draft, files, manifest, plain=plain)
    if dense:
        draft.unlink()
        _write(draft, files, manifest, plain=plain | dense)
    sha = sha256_of(draft)
    draft.replace(target)
    _keep_name(target.parent)
    return sha


def _write(draft: Path, files: Mapping[str, Path], manifest: Manifest, *, plain: set[str]) -> set[str]:
    """Write the archive; return the members that shrank more than the reader lets in."""
    text = manifest.to_json()
    if len(files) >= _MOST_MEMBERS or len(text) > _LARGEST_MANIFEST:
        raise StoreError(f"a backup holds at most {_MOST_MEMBERS:,} files, and these are {len(files):,}")
    with os.fdopen(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as stream:
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(_MANIFEST, text)
            for name, path in files.items():
                archive.write(path, name, zipfile.ZIP_STORED if name in plain else zipfile.ZIP_DEFLATED)
            dense = {each.filename for each in archive.infolist() if too_dense(each, _limits(0))}
        stream.flush()
        os.fsync(stream.fileno())
    return dense


def _limits(room: int) -> Limits:
    return Limits(members=_MOST_MEMBERS, total=room, ratio=_RATIO, free=_FREE)


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
        # What it unpacks to lies here, and then once more in its place.
        room = shutil.disk_usage(folder).free // 2
        with source.open("rb") as stream, open_archive(stream, _limits(room)) as archive:
            manifest = _manifest(archive, source)
            names = [each for each in archive.namelist() if each != _MANIFEST]
            _require_names(names, manifest, source)
            for name in names:
                _unpack(archive, name, manifest.members[name], folder, source)
    except OSError as error:
        raise StoreError(f"{source} cannot be unpacked: {error.strerror or error}; nothing was changed") from None
    except (zipfile.BadZipFile, ArchiveError, NotImplementedError, EOFError, zlib.error) as error:
        raise StoreError(f"{source} is no backup or is damaged ({error}); use another copy") from None
    return manifest


def _manifest(archive: zipfile.ZipFile, source: Path) -> Manifest:
    try:
        if archive.getinfo(_MANIFEST).file_size > _LARGEST_MANIFEST:
            raise ValueError("it is larger than any of ours")
        return Manifest.from_json(archive.read(_MANIFEST).decode("utf-8"))
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError):
        raise StoreError(f"{source} is no backup of hmc-crowd: it has no manifest of ours; give another file") from None


def _require_names(names: Sequence[str], manifest: Manifest, source: Path) -> None:
    strange = sorted(set(names) ^ set(manifest.members)) or [each for each in names if not _NAME.fullmatch(each)]
    if strange or len(names) != len(set(names)):
        shown = ", ".join(repr(each) for each in strange[:3]) or "a name twice"
        raise StoreError(f"{source} is damaged: archive and manifest differ in {shown}; use another copy")
    wanted = {file for name, copy in manifest.copies.items() for file in copy.files(name)}
    odd = sorted((wanted - set(names)) | {each for each in set(names) - wanted if not each.startswith(ARTEFACTS)})
    if odd:
        raise StoreError(f"{source} is damaged: {odd[0]!r} is missing, or no copy names it; use another copy")


def _unpack(archive: zipfile.ZipFile, name: str, known: tuple[int, str], folder: Path, source: Path) -> None:
    size, sha = known
    if archive.getinfo(name).file_size != size:
        raise StoreError(f"{source} is damaged: {name} is not what its manifest says; use another copy")
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
