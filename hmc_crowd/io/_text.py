"""What is wrong with the bytes of a text file, said before anybody parses it."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hmc_crowd.errors import FrameError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Scan", "scan_text"]

_BLOCK = 1 << 22
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class Scan:
    """What one pass over the bytes counted."""

    size: int
    quotes: int
    newlines: int


def scan_text(path: Path) -> Scan:
    """Check that a file is UTF-8 text, in one pass of constant memory.

    Raises
    ------
    FrameError
        The file is empty, in UTF-16, not UTF-8 (names byte, offset and line), or holds NUL bytes.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    size = quotes = newlines = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            if size == 0 and block.startswith(_UTF16):
                raise FrameError(f"{path} is written in UTF-16; save it as UTF-8 and read it again")
            if b"\0" in block:
                raise FrameError(
                    f"{path} holds a NUL byte at offset {size + block.index(0)}, so it is binary or UTF-16; "
                    "save it as UTF-8 text and read it again"
                )
            pending = decoder.getstate()[0]
            try:
                decoder.decode(block)
            except UnicodeDecodeError as error:
                raise _not_utf8(path, size - len(pending) + error.start) from None
            size += len(block)
            quotes += block.count(b'"')
            newlines += block.count(b"\n")
    pending = decoder.getstate()[0]
    if pending:
        raise _not_utf8(path, size - len(pending))
    if size == 0:
        raise FrameError(f"{path} is empty; give a file with a header and at least one row")
    return Scan(size, quotes, newlines)


def _not_utf8(path: Path, offset: int) -> FrameError:
    """Name the byte at ``offset`` and its line."""
    with path.open("rb") as file:
        before = file.read(offset)
        byte = file.read(1)
    line = before.count(b"\n") + 1
    return FrameError(
        f"{path} is not UTF-8: byte 0x{byte.hex()} at offset {offset} (line {line}); save it as UTF-8 and read it again"
    )
