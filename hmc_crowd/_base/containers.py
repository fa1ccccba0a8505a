"""Fitted models as files that need no trust: one skops container, never a pickle.

A container is a zip of plain values and arrays. Reading one builds nothing but the types that the reader names;
anything else in the file is refused by its name, before it is built.
"""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import HmcCrowdError, ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["from_container", "to_container"]

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
)


def to_container(state: Any) -> bytes:
    """Return plain values, arrays and trusted types as bytes."""
    import skops.io

    # Level 1: arrays hardly shrink, and a higher level takes several times as long.
    return bytes(skops.io.dumps(state, compression=zipfile.ZIP_DEFLATED, compresslevel=1))


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
        unknown = sorted(set(skops.io.get_untrusted_types(data=data)) - set(trusted))
        if not unknown:
            return skops.io.loads(data, trusted=list(trusted))
    except _UNREADABLE as error:
        if isinstance(error, HmcCrowdError):
            raise
        why = f"{type(error).__name__}: {error}"
        raise ModelError(f"these bytes are no {what} that can be read here ({why}); {wanted}") from None
    raise ModelError(f"the {what}'s file holds types that we never write: {', '.join(unknown)}; do not use this file")
