"""A key outside the database, and what is sealed under it: who gets the database alone can neither read nor forge.

The key comes from an environment variable, else from a file of mode 600 that is made on first use. What is sealed is
short (secrets, not data): it is masked by SHAKE-256 of key and nonce, and authenticated by HMAC-SHA-256 together with
the name of its place, so that no sealed value can be put in another's place.
"""

from __future__ import annotations

import binascii
import hashlib
import hmac
import os
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from pathlib import Path

from hmc_crowd._base.private import make_private_folder, write_private
from hmc_crowd.errors import InputError, StateError

__all__ = ["config_folder", "is_sealed", "load_key", "new_key", "seal", "unseal"]

_LEAST = 16
_MARK = "sealed:"
_NONCE, _TAG = 16, 32


def config_folder() -> Path:
    """Return the user's folder for keys of databases that are no files."""
    folder = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(folder) / "hmc-crowd"


def load_key(variable: str, path: Path, *, create: bool = True) -> bytes | None:
    """Return a key: from the environment, else from its file, which is made where there is none.

    Parameters
    ----------
    variable : str
        The environment variable that takes the file's place.
    path : Path
        The file.
    create : bool, default True
        Whether to make a key where there is none; False returns None then.

    Raises
    ------
    InputError
        The variable's value or the file is too short to be a key, or the file can be neither read nor made.
    """
    given = os.environ.get(variable)
    if given:
        if len(given) < _LEAST:
            raise InputError(f"{variable} has {len(given)} characters; give at least {_LEAST}")
        return given.encode()
    try:
        key = path.read_bytes()
    except FileNotFoundError:
        return new_key(variable, path) if create else None
    except OSError as error:
        raise InputError(
            f"{path} holds a key and cannot be read ({error.strerror}); give this user the right, or set {variable}"
        ) from None
    if len(key) < _LEAST:  # a full disk, or a copy that was cut off: anybody could guess it
        raise InputError(f"{path} holds {len(key)} bytes, too few for a key; put its copy back, or set {variable}")
    return key


def new_key(variable: str, path: Path, *, overwrite: bool = False) -> bytes:
    """Make a key and return it; of two processes that make it at once, the first one's counts."""
    key = secrets.token_hex(32).encode()
    try:
        make_private_folder(path.parent)
        # The whole key gets its name in one step: whoever is killed, or reads at the same time, never sees half of it.
        write_private(path, key, overwrite=overwrite)
    except FileExistsError:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{path} is to hold a key and cannot be written ({error.strerror}); give this user the right to its "
            f"folder, or set {variable}"
        ) from None
    return key


def is_sealed(text: str) -> bool:
    """Whether a stored text is a sealed one."""
    return text.startswith(_MARK)


def seal(key: bytes, place: str, value: str) -> str:
    """Return a value so that only who has the key can read it, or make another for this place.

    Examples
    --------
    >>> held = seal(b"key", "secret/board", "abc")
    >>> "abc" in held, unseal(b"key", "secret/board", held)
    (False, 'abc')
    """
    nonce, content = secrets.token_bytes(_NONCE), value.encode()
    masked = _masked(key, place, nonce, content)
    whole = nonce + _tag(key, place, nonce, masked) + masked
    return _MARK + urlsafe_b64encode(whole).decode("ascii")


def unseal(key: bytes, place: str, text: str) -> str:
    """Return what was sealed for a place.

    Raises
    ------
    StateError
        It was sealed under another key or for another place, or changed since.
    """
    try:
        whole = urlsafe_b64decode(text.removeprefix(_MARK).encode("ascii", errors="replace"))
    except (ValueError, binascii.Error):
        whole = b""
    nonce, tag, masked = whole[:_NONCE], whole[_NONCE : _NONCE + _TAG], whole[_NONCE + _TAG :]
    if not is_sealed(text) or not hmac.compare_digest(_tag(key, place, nonce, masked), tag):
        raise StateError(f"{place} was sealed under another key, or changed since; put that key back")
    return _masked(key, place, nonce, masked).decode()


def _masked(key: bytes, place: str, nonce: bytes, content: bytes) -> bytes:
    inner = hmac.digest(key, _part("mask", place, nonce), "sha256")
    mask = hashlib.shake_256(inner).digest(len(content))
    return bytes(one ^ other for one, other in zip(content, mask, strict=True))


def _tag(key: bytes, place: str, nonce: bytes, masked: bytes) -> bytes:
    return hmac.digest(key, _part("tag", place, nonce) + masked, "sha256")


def _part(purpose: str, place: str, nonce: bytes) -> bytes:
    named = f"hmc-crowd seal {purpose}\n{place}".encode()
    return len(named).to_bytes(4, "big") + named + nonce
