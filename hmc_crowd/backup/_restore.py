"""Can everything go on from a backup? All of it is compared and made ready first, and only then put in place.

A database changes in one transaction, the campaigns' first. Whoever is killed between the two leaves a mark in the
first, in the same transaction: nobody opens it before the restoring was called again, which finishes it.
"""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hmc_crowd._base.copies import Unfinished
from hmc_crowd._base.private import make_private_folder, private_draft
from hmc_crowd.backup._archive import ARTEFACTS, Manifest, read_archive, working_folder
from hmc_crowd.backup._backup import rows_of
from hmc_crowd.errors import InputError, StateError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from hmc_crowd._base.copies import Keeper

__all__ = ["Restored", "Unpacked", "unpacked"]


@dataclass(frozen=True)
class Restored:
    """What was put back: rows by database, into which, how many artefacts, and when the backup was made."""

    file: str
    made_at: str
    rows: Mapping[str, int]
    into: Mapping[str, str]
    artefacts: int

    def __str__(self) -> str:
        held = ", ".join(f"{name} {rows:,} rows into {self.into[name]}" for name, rows in self.rows.items())
        return f"as of {self.made_at}: {held}, {self.artefacts:,} artefacts"


@dataclass(frozen=True)
class Unpacked:
    """A backup whose every member was compared with its manifest.

    Parameters
    ----------
    source : Path
        The file.
    manifest : Manifest
        What it holds.
    folder : Path
        Where the members lie for now.
    """

    source: Path
    manifest: Manifest
    folder: Path

    @property
    def has_workplace(self) -> bool:
        """Whether it holds a workplace beside the campaigns."""
        return "workplace" in self.manifest.copies

    def restore(self, keepers: Sequence[Keeper], *, artefacts: Path, overwrite: bool = False) -> Restored:
        """Put the backup in the place of what is there.

        Parameters
        ----------
        keepers : sequence of Keeper
            Where to, the campaigns' store first.
        artefacts : Path
            The store's folder of Parquet files.
        overwrite : bool, default False
            Replace databases that hold anything.

        Raises
        ------
        InputError
            A database is missing for a copy; nothing was changed.
        StateError
            A database holds something and ``overwrite`` is False; nothing was changed.
        StoreError
            A copy does not fit its database. What was put back before it stays; the call can be repeated.
        """
        copies = self.manifest.copies
        if missing := sorted(set(copies) - {each.name for each in keepers}):
            raise InputError(f"{self.source} holds a copy of the {missing[0]}, and no database is given for it")
        wanted = [each for each in keepers if each.name in copies]
        for each in wanted:
            each.check(copies[each.name])
        if full := [each for each in wanted if not overwrite and not each.is_empty()]:
            raise StateError(
                f"the {full[0].name} {full[0].where} holds something; add --yes to replace it by the backup of "
                f"{self.manifest.made_at}, or give another database"
            )
        files = [name for name in self.manifest.members if name.startswith(ARTEFACTS)]
        for each in wanted:
            each.prepare(self.folder, copies[each.name])
        _put_artefacts(files, self.folder, artefacts)
        for place, each in enumerate(wanted):
            is_last = place == len(wanted) - 1
            left = None if is_last else Unfinished(str(self.source.absolute()), self.manifest.made_at)
            each.load(self.folder, copies[each.name], unfinished=left)
        for each in wanted[:-1]:
            each.finish()
        rows = {name: rows_of(copy) for name, copy in copies.items()}
        into = {each.name: each.where for each in wanted}
        return Restored(str(self.source), self.manifest.made_at, rows, into, len(files))


@contextmanager
def unpacked(source: Path) -> Iterator[Unpacked]:
    """Unpack and check a backup, beside its file, while the block runs.

    Raises
    ------
    InputError
        There is no such file, its folder cannot be written, or a newer version made it.
    StoreError
        It is no backup, or it is damaged.
    """
    if not source.is_file():
        raise InputError(f"--from is {str(source)!r}, which is no file; give what `hmc-crowd backup` wrote")
    with working_folder(source) as folder:
        yield Unpacked(source, read_archive(source, folder), folder)


def _put_artefacts(names: Sequence[str], folder: Path, target: Path) -> None:
    """Add the files; they are named by their content, so replacing one by itself does no harm."""
    if names:
        make_private_folder(target)
    for name in names:
        final = target / name.removeprefix(ARTEFACTS)
        with private_draft(final) as draft:
            shutil.copyfile(folder / name, draft)
