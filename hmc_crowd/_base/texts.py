"""Texts that people write into files: settings, guidelines, pages. None of them is as large as a disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    import os

__all__ = ["read_text"]

_MOST = 8 << 20


def read_text(path: str | os.PathLike[str], *, most: int = _MOST) -> str:
    """Return a file's text, UTF-8, line ends made plain; no more than ``most`` bytes of it are ever read.

    Raises
    ------
    InputError
        It is larger.
    OSError, UnicodeDecodeError
        It cannot be read, or is no UTF-8.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "guideline.txt")
    ...     _ = file.write_text("Be kind.", encoding="utf-8")
    ...     read_text(file)
    'Be kind.'
    """
    with Path(path).open("rb") as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise InputError(f"{path} has more than {most:,} bytes, and at most so many are read; give a shorter file")
    return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
