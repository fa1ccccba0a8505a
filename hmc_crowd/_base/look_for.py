"""``python look_for.py``: how often do words stand in files? Words and paths as JSON on the input.

A process of its own, because a process that has an SQLite file open must not open it a second time by itself. It needs
the standard library alone, so that nothing else has to be found.
"""

from __future__ import annotations

import json
import lzma
import sys
import zipfile
import zlib
from pathlib import Path
from typing import IO

__all__ = ["main"]

_CHUNK = 1 << 20


def _spellings(word: str) -> list[bytes]:
    """Return a word as text holds it, and as ASCII JSON does."""
    return sorted({word.encode("utf-8", errors="surrogatepass"), json.dumps(word)[1:-1].encode()})


def _count(stream: IO[bytes], needles: list[bytes]) -> int:
    longest = max(len(each) for each in needles)
    found, rest = 0, b""
    while part := stream.read(_CHUNK):
        window = rest + part
        rest = window[-(longest - 1) :] if longest > 1 else b""
        # What lies whole in the rest is counted with the next part.
        found += sum(window.count(each) - rest.count(each) for each in needles)
    return found + sum(rest.count(each) for each in needles)


def _in_file(path: Path, needles: list[bytes]) -> int:
    """Count in a file as it lies, and in what it unpacks to: a database that holds a model ends as an archive does."""
    try:
        with path.open("rb") as stream:
            found = _count(stream, needles)
    except OSError:
        return 0
    return max(found, _in_members(path, needles))


def _in_members(path: Path, needles: list[bytes]) -> int:
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                found = 0
                for name in archive.namelist():
                    with archive.open(name) as member:
                        found += _count(member, needles)
                return found
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, EOFError, zlib.error, lzma.LZMAError):
        pass  # damaged, or packed as we cannot read it: its bytes were looked at as they are
    return 0


def main() -> None:
    """Answer one question."""
    asked = json.load(sys.stdin)
    needles = [each for word in asked["words"] if word for each in _spellings(word)]
    counts = {path: _in_file(Path(path), needles) for path in asked["paths"]} if needles else {}
    json.dump({path: count for path, count in counts.items() if count}, sys.stdout)


if __name__ == "__main__":
    main()
