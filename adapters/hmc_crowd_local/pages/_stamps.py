"""Was this form on a page of ours, for this link, and when was that page made? A signed mark in every form.

A form without its mark, or with that of another page or link, is refused. The time in it is the server's, so it also
says when the question came into view without any script.
"""

from __future__ import annotations

import hmac
from datetime import UTC, datetime

from hmc_crowd.errors import InputError

__all__ = ["make_stamp", "read_stamp"]

_MOST_MS = 2**48


def make_stamp(secret: bytes, token: str, purpose: str, *, at: datetime) -> str:
    """Return the mark of a form.

    >>> now = datetime(2026, 1, 1, tzinfo=UTC)
    >>> read_stamp(b"secret", "token", "q/1", make_stamp(b"secret", "token", "q/1", at=now)) == now
    True
    """
    shown = f"{int(at.timestamp() * 1000):x}"
    return f"{shown}.{_mac(secret, token, purpose, shown)}"


def read_stamp(secret: bytes, token: str, purpose: str, stamp: str) -> datetime:
    """Return when the page of this form was made.

    Raises
    ------
    InputError
        The mark is missing, made for another page or link, or not ours.
    """
    shown, _, mark = stamp.partition(".")
    if not stamp.isascii() or not hmac.compare_digest(_mac(secret, token, purpose, shown), mark):
        raise InputError("this form is not one of ours; open the page again")
    return datetime.fromtimestamp(min(int(shown, 16), _MOST_MS) / 1000, tz=UTC)


def _mac(secret: bytes, token: str, purpose: str, shown: str) -> str:
    parts = "\n".join(("hmc-crowd form", token, purpose, shown))
    return hmac.digest(secret, parts.encode("utf-8", errors="replace"), "sha256").hex()[:40]
