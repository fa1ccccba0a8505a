"""Fitted models as files that need no trust: one skops container, never a pickle.

A container is a zip of plain values and arrays. Reading one builds nothing but the types that the reader names;
anything else in the file is refused by its name, before it is built. How much memory it would take is told by what it
declares: the sizes of its members, the shapes and number formats of its arrays, and that none of them is used twice.
All of that is judged before anything is inflated.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from io import BytesIO
from typing import IO, TYPE_CHECKING, Any

from hmc_crowd._base.archives import Limits, open_archive, too_dense
from hmc_crowd.errors import HmcCrowdError, ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["from_container", "read_model_file", "to_container"]

# A forest of 1,000 trees has 6,000 members and describes itself in 35 MB; repeated values shrink to a fifth at most of
# what is refused here, and what shrinks more is stored as it is.
_LIMITS = Limits(members=50_000, total=1 << 30, ratio=100, free=1 << 20)
_LARGEST_FILE = 1 << 30
_SCHEMA, _LARGEST_SCHEMA = "schema.json", 64 << 20
_LONGEST_HEADER = 10_000

# What skops is known to raise on bytes that are no file of its own.
_UNREADABLE = (
    zipfile.BadZipFile,
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    ImportError,
    OSError,
    EOFError,
    RecursionError,
    MemoryError,
    OverflowError,
    IndexError,
    zlib.error,
)


def to_container(state: Any) -> bytes:
    """Return plain values, arrays and trusted types as bytes."""
    import skops.io

    # Level 1: arrays hardly shrink, and a higher level takes several times as long.
    packed = bytes(skops.io.dumps(state, compression=zipfile.ZIP_DEFLATED, compresslevel=1))
    with zipfile.ZipFile(BytesIO(packed)) as archive:
        is_dense = any(too_dense(each, _LIMITS) for each in archive.infolist())
    return bytes(skops.io.dumps(state)) if is_dense else packed


def read_model_file(path: Path, *, wanted: str) -> bytes:
    """Return the bytes of a model's file, unless it is larger than any that we write.

    Raises
    ------
    ModelError
        It cannot be read, or is too large.
    """
    try:
        size = path.stat().st_size
        if size > _LARGEST_FILE:
            raise ModelError(f"{path} has {size:,} bytes, and a model's file at most {_LARGEST_FILE:,}; {wanted}")
        return path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path} cannot be read ({error.strerror or error}); {wanted}") from None


def from_container(data: bytes, *, what: str, wanted: str, trusted: Sequence[str] = ()) -> Any:
    """Return what a container holds.

    Parameters
    ----------
    data : bytes
    what : str
        What it should hold, for the message: "effort model".
    wanted : str
        What to do instead, for the message: "give what EffortModel.to_bytes wrote".
    trusted : sequence of str
        Types, by their dotted names, that may be built besides plain values and arrays.

    Raises
    ------
    ModelError
        It is no container, or holds other types.

    Examples
    --------
    >>> from_container(to_container({"a": [1, 2]}), what="list", wanted="give a list")
    {'a': [1, 2]}
    >>> from_container(b"x", what="list", wanted="give a list")
    Traceback (most recent call last):
        ...
    hmc_crowd.errors.ModelError: these bytes are no list that can be read here (BadZipFile: ...); give a list
    """
    import skops.io

    try:
        _require_modest(data)
        unknown = sorted(set(skops.io.get_untrusted_types(data=data)) - set(trusted))
        if not unknown:
            return skops.io.loads(data, trusted=list(trusted))
    except _UNREADABLE as error:
        if isinstance(error, HmcCrowdError):
            raise
        why = f"{type(error).__name__}: {error}"
        raise ModelError(f"these bytes are no {what} that can be read here ({why}); {wanted}") from None
    raise ModelError(f"the {what}'s file holds types that we never write: {', '.join(unknown)}; do not use this file")


def _require_modest(data: bytes) -> None:
    """Refuse a container that would take more memory than it declares, or declares too much; raises ValueError."""
    if len(data) > _LARGEST_FILE:
        raise ValueError(f"it has {len(data):,} bytes")
    with open_archive(BytesIO(data), _LIMITS) as archive:
        for each in archive.infolist():
            if each.filename == _SCHEMA and each.file_size > _LARGEST_SCHEMA:
                raise ValueError(f"it describes itself in {each.file_size:,} bytes")
            if each.filename.endswith(".npy"):
                with archive.open(each) as stream:
                    _require_shape(stream, each)
        _require_used_once(json.loads(archive.read(_SCHEMA)))


def _require_shape(stream: IO[bytes], member: zipfile.ZipInfo) -> None:
    """Refuse an array whose shape and number format ask for other than the bytes that are there."""
    from math import prod

    from numpy.lib import format as layout

    version = layout.read_magic(stream)
    read = {(1, 0): layout.read_array_header_1_0, (2, 0): layout.read_array_header_2_0}.get(version)
    if read is None:
        raise ValueError(f"its array {member.filename[:80]!r} is of a form that we never write")
    shape, _, kind = read(stream, max_header_size=_LONGEST_HEADER)
    if kind.hasobject:
        raise ValueError(f"its array {member.filename[:80]!r} holds objects")
    wanted = prod(map(int, shape)) * kind.itemsize
    if min(shape, default=0) < 0 or kind.itemsize < 1 or wanted != member.file_size - stream.tell():
        raise ValueError(f"its array {member.filename[:80]!r} is not as large as its shape says")


def _require_used_once(schema: Any) -> None:
    """Refuse one array under several names: each would be built anew."""
    users: dict[str, set[Any]] = {}
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if isinstance(node.get("file"), str):
                users.setdefault(node["file"], set()).add(repr(node.get("__id__")))
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)
    twice = next((file for file, ids in users.items() if len(ids) > 1), None)
    if twice is not None:
        raise ValueError(f"its array {twice[:80]!r} stands for several")
