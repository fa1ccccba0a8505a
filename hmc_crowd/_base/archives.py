"""ZIP archives of strangers: what an archive says of itself is judged before any of it is inflated.

A few kilobytes can declare gigabytes, and a list of members can be larger than all members. So first the end of the
archive is read, then its list, then what each member declares; Python's own reader never inflates more than that.
"""

from __future__ import annotations

import struct
import zipfile
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ArchiveError", "Limits", "open_archive", "too_dense"]

_END, _END_SIZE = b"PK\x05\x06", 22
_LOCATOR, _LOCATOR_SIZE = b"PK\x06\x07", 20
_END_64, _END_64_SIZE = b"PK\x06\x06", 56
# Figures too large for the plain end say so by these, and stand in the larger one before it.
_ELSEWHERE_COUNT, _ELSEWHERE_LENGTH = 0xFFFF, 0xFFFFFFFF
# What one entry of the list takes at most: its fixed part, a name and what systems add to it.
_ENTRY = 46 + 1024
_KINDS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}


class ArchiveError(ValueError):
    """What an archive declares is beyond its limits, or contradicts itself."""


@dataclass(frozen=True)
class Limits:
    """How much an archive may declare.

    Parameters
    ----------
    members : int
        Most members.
    total : int
        Most bytes of all members, inflated.
    ratio : int
        A member above ``free`` bytes may be at most so many times as large as what it takes in the archive.
    free : int
        Members up to this size may shrink as they like.
    """

    members: int
    total: int
    ratio: int
    free: int


def open_archive(stream: IO[bytes], limits: Limits) -> zipfile.ZipFile:
    """Open an archive to read, once all that it declares is within limits.

    Raises
    ------
    ArchiveError
        It declares more, members that lie over each other, or a form that we never write.
    zipfile.BadZipFile
        It is no archive.

    Examples
    --------
    >>> from io import BytesIO
    >>> file = BytesIO()
    >>> with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
    ...     archive.writestr("zeros", bytes(1_000_000))
    >>> open_archive(file, Limits(members=10, total=10_000, ratio=100, free=1_000))
    Traceback (most recent call last):
        ...
    hmc_crowd._base.archives.ArchiveError: it declares 1,000,000 bytes, and at most 10,000 are read
    """
    size = stream.seek(0, 2)
    _require_short_list(stream, size, limits)
    stream.seek(0)
    archive = zipfile.ZipFile(stream)
    try:
        _require_within(archive.infolist(), size, limits)
    except ArchiveError:
        archive.close()
        raise
    return archive


def too_dense(member: zipfile.ZipInfo, limits: Limits) -> bool:
    """Whether a member shrank more than is let in; whoever writes stores it plainly then."""
    return member.file_size > limits.free and member.file_size > limits.ratio * max(1, member.compress_size)


def _require_within(members: Iterable[zipfile.ZipInfo], size: int, limits: Limits) -> None:
    known = list(members)
    if len(known) > limits.members:
        raise ArchiveError(f"it has {len(known):,} members, and at most {limits.members:,} are read")
    total = sum(each.file_size for each in known)
    if total > limits.total:
        raise ArchiveError(f"it declares {total:,} bytes, and at most {limits.total:,} are read")
    if sum(each.compress_size for each in known) > size:
        raise ArchiveError("its members lie over each other")
    for each in known:
        if each.compress_type not in _KINDS or each.flag_bits & 0x1:
            raise ArchiveError(f"its member {each.filename[:80]!r} is packed in a way that is not read here")
        if each.compress_type == zipfile.ZIP_STORED and each.compress_size != each.file_size:
            raise ArchiveError(f"its member {each.filename[:80]!r} contradicts itself")
        if too_dense(each, limits):
            raise ArchiveError(
                f"its member {each.filename[:80]!r} would grow from {each.compress_size:,} to {each.file_size:,} bytes"
            )


def _require_short_list(stream: IO[bytes], size: int, limits: Limits) -> None:
    """Look at the end of the archive, which says how long its list is; whether it is an archive, `zipfile` says."""
    begin = max(0, size - _END_SIZE - 0xFFFF - _LOCATOR_SIZE)
    stream.seek(begin)
    end = stream.read(size - begin)
    at = len(end) - _END_SIZE
    if at < 0 or end[at : at + 4] != _END or end[-2:] != b"\0\0":  # a comment follows it
        at = end.rfind(_END)
    if at < 0 or len(end) < at + _END_SIZE:
        return
    ends = _larger_ends(stream, end, at, begin=begin, size=size)
    count, length = struct.unpack_from("<HL", end, at + 10)
    if ends:
        count, length = 0 if count == _ELSEWHERE_COUNT else count, 0 if length == _ELSEWHERE_LENGTH else length
    # Which of several ends is believed differs between versions of the reader: each must be within limits.
    count, length = (max(figures) for figures in zip((count, length), *ends, strict=True))
    if count > limits.members or length > limits.members * _ENTRY:
        raise ArchiveError(f"it lists {count:,} members in {length:,} bytes, and at most {limits.members:,} are read")


def _larger_ends(stream: IO[bytes], end: bytes, at: int, *, begin: int, size: int) -> list[tuple[int, int]]:
    """Return what the ends of the larger form say: the one that is pointed at, and the one that stands before."""
    locator = end[max(0, at - _LOCATOR_SIZE) : at]
    if len(locator) < _LOCATOR_SIZE or not locator.startswith(_LOCATOR):
        return []
    (place,) = struct.unpack_from("<Q", locator, 8)
    found = []
    for each in {min(place, size), max(0, begin + at - _LOCATOR_SIZE - _END_64_SIZE)}:
        stream.seek(each)
        record = stream.read(_END_64_SIZE)
        if record[:4] == _END_64 and len(record) == _END_64_SIZE:
            count, length = struct.unpack_from("<QQ", record, 32)
            found.append((int(count), int(length)))
    return found
