"""Can everything be kept in one file, while people go on working?

The campaigns' database is copied first and the workplace second, each as of one moment. So in a backup the campaign
never knows of work that the workplace lacks; the other way round is what a campaign meets after any crash, and
collecting, approving and paying again is safe by its keys.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hmc_crowd.backup._archive import ARTEFACTS, Manifest, sha256_of, working_folder, write_archive
from hmc_crowd.errors import InputError, StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from hmc_crowd._base.copies import Copy, Keeper

__all__ = ["Backup", "back_up"]


@dataclass(frozen=True)
class Backup:
    """What was written: the file, its SHA-256, and how many rows by database and how many artefacts it holds."""

    file: str
    sha256: str
    n_bytes: int
    made_at: str
    rows: Mapping[str, int]
    artefacts: int

    def __str__(self) -> str:
        held = ", ".join(f"{name} {rows:,} rows" for name, rows in self.rows.items())
        return f"{self.file}: {held}, {self.artefacts:,} artefacts, {self.n_bytes:,} bytes, SHA-256 {self.sha256}"


def back_up(
    keepers: Sequence[Keeper], target: Path, *, artefacts: Path | None, now: datetime, overwrite: bool = False
) -> Backup:
    """Write databases and artefacts into one file, which its owner alone may read.

    Parameters
    ----------
    keepers : sequence of Keeper
        What to copy, in this order: the campaigns' store first.
    target : Path
        The file; it appears when it is whole.
    artefacts : Path, optional
        The store's folder of Parquet files.
    now : datetime
        When it is made.
    overwrite : bool, default False
        Replace a file that is there.

    Raises
    ------
    InputError
        The file is there already, or cannot be written.
    StoreError
        A database cannot be copied.
    """
    from hmc_crowd import __version__

    if target.exists() and not overwrite:
        raise InputError(f"--to is {str(target)!r}, which exists; add --yes to replace it, or choose another name")
    with working_folder(target) as folder:
        copies = {each.name: each.save(folder) for each in keepers}
        files = {name: folder / name for key, copy in copies.items() for name in copy.files(key)}
        kept = _keep_artefacts(artefacts, folder)
        files |= kept
        members = {name: (path.stat().st_size, sha256_of(path)) for name, path in files.items()}
        manifest = Manifest(now.isoformat(), __version__, copies, members)
        sha = write_archive(target, files, manifest, folder=folder)
    rows = {name: rows_of(copy) for name, copy in copies.items()}
    return Backup(str(target), sha, target.stat().st_size, manifest.made_at, rows, len(kept))


def rows_of(copy: Copy) -> int:
    """Return how many rows a copy holds."""
    return sum(copy.rows.values())


def _keep_artefacts(artefacts: Path | None, folder: Path) -> dict[str, Path]:
    """Give the artefacts a second name here, or copy them: their content never changes, but they may be replaced."""
    if artefacts is None or not artefacts.is_dir():
        return {}
    into = folder / ARTEFACTS
    into.mkdir()
    found = {}
    for path in sorted(artefacts.glob("*.parquet")):
        mine = into / path.name
        try:
            os.link(path, mine)
        except FileNotFoundError:
            raise StoreError(f"{path} was erased while it was copied; make the backup again") from None
        except OSError:
            shutil.copyfile(path, mine)
        found[ARTEFACTS + path.name] = mine
    return found
