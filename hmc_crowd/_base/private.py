"""Files that hold people's work, keys or money: for their owner's eyes from the first byte, whatever the umask.

A file gets its name when it is whole and on the disk, and then is of mode 600; a folder that is made for such files is
of mode 700. Whoever wants to share one gives others the right on purpose. Folders that are there already keep theirs.
"""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["make_private_file", "make_private_folder", "private_draft", "wider_than_owner", "write_private"]

FILE_MODE = 0o600
FOLDER_MODE = 0o700


def make_private_folder(folder: Path) -> Path:
    """Make a folder, and those above it that are missing, for its owner alone; one that is there stays as it is.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as place:
    ...     oct(make_private_folder(Path(place) / "a" / "b").stat().st_mode & 0o777)
    '0o700'
    """
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        with suppress(FileExistsError):  # somebody else made it meanwhile
            each.mkdir(mode=FOLDER_MODE)
    if not folder.is_dir():
        raise NotADirectoryError(20, "it is no folder", str(folder))
    return folder


def make_private_file(path: Path) -> bool:
    """Make an empty file for its owner alone; return False where something has the name already.

    What is there is not opened. The file appears under its name when this process has no descriptor of it any more: it
    may be a database a moment later, and closing one would drop the locks of whoever opened it meanwhile (`sqlite`).
    """
    real = path.resolve()
    if real.exists():
        return False
    draft = real.with_name(f".{real.name}.{secrets.token_hex(4)}.part")
    os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE))
    try:
        draft.chmod(FILE_MODE)  # an umask may have taken the owner's rights, too
        os.link(draft, real)
    except FileExistsError:
        return False
    except OSError:  # a file system without links
        try:
            os.close(os.open(real, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE))
        except FileExistsError:
            return False
    finally:
        draft.unlink(missing_ok=True)
    return True


@contextmanager
def private_draft(path: Path, *, overwrite: bool = True) -> Iterator[Path]:
    """Give a draft to write to; at the end of the block it takes the name, whole, or nothing is left of it.

    Parameters
    ----------
    path : Path
        The name that the file gets.
    overwrite : bool, default True
        Whether it replaces what has the name by then.

    Raises
    ------
    FileExistsError
        Something has the name, and ``overwrite`` is False.
    OSError
        It cannot be written; what had the name before has it still.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as place:
    ...     file = Path(place) / "payroll.csv"
    ...     with private_draft(file) as draft:
    ...         _ = draft.write_text("worker,amount")
    ...     file.read_text(), oct(file.stat().st_mode & 0o777)
    ('worker,amount', '0o600')
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE))
    try:
        yield draft
        # A writer may have put another file in the draft's place.
        draft.chmod(FILE_MODE)
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        if overwrite:
            draft.replace(path)
        else:
            _publish(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def write_private(path: Path, content: bytes | str, *, overwrite: bool = True) -> None:
    """Write a file whole or not at all; text as UTF-8 with plain line ends. See `private_draft`.

    What is no file but a pipe or a device, such as ``/dev/stdout``, is written to and stays what it is.
    """
    if overwrite and path.exists() and not path.is_file() and not path.is_dir():
        with path.open("wb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
        return
    if overwrite and path.is_symlink():
        path = path.resolve()  # the link stays, such as /dev/stdout where it leads to a file
    with private_draft(path, overwrite=overwrite) as draft:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)


def wider_than_owner(path: Path) -> bool:
    """Whether others than the owner may do anything with a file or folder; False where it is not there, or on Windows.

    Examples
    --------
    >>> from pathlib import Path
    >>> wider_than_owner(Path("no such file"))
    False
    """
    if os.name == "nt":
        return False
    try:
        return bool(path.stat().st_mode & 0o077)
    except OSError:
        return False


def _publish(draft: Path, path: Path) -> None:
    """Give the draft its name in one step, only if nobody has it: of two that try at once, one succeeds."""
    try:
        os.link(draft, path)
    except FileExistsError:
        raise
    except OSError:
        if path.exists():
            raise FileExistsError(17, "it is there already", str(path)) from None
        draft.replace(path)  # a file system without links
