"""May whoever holds this address do this work? Signed tokens that expire, so that pages need no cookie.

A token names its subject (a submission, an invitation), what it is for, and until when; nobody can make or change one
without the workplace's secret. It names no person. Comparison takes the same time whatever it finds.
"""

from __future__ import annotations

import binascii
import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import TYPE_CHECKING

from hmc_crowd._base.clock import as_utc
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["read_token", "sign_token", "work_url"]

_LONGEST = 1_000


def sign_token(secret: bytes, subject: str, *, expires_at: datetime, purpose: str = "work") -> str:
    """Return a token for an address.

    Parameters
    ----------
    secret : bytes
        As `LocalPlatform.secret` returns it.
    subject : str
        What the token opens, for example the id of a submission.
    expires_at : datetime
        Aware; from then on the token is refused.
    purpose : str, default "work"
        A token for one purpose is refused for another.

    Examples
    --------
    >>> from datetime import UTC, datetime, timedelta
    >>> now = datetime(2026, 1, 1, tzinfo=UTC)
    >>> token = sign_token(b"secret", "s1", expires_at=now + timedelta(hours=1))
    >>> read_token(b"secret", token, now=now)
    's1'
    >>> read_token(b"secret", token, now=now + timedelta(hours=2))
    Traceback (most recent call last):
    ...
    hmc_crowd.errors.InputError: this link is no longer valid; ask for a new one
    """
    content = json.dumps([purpose, subject, int(as_utc(expires_at, name="expires_at").timestamp())])
    body = _text(content.encode())
    return f"{body}.{_text(_mac(secret, body))}"


def read_token(secret: bytes, token: str, *, now: datetime, purpose: str = "work") -> str:
    """Return the subject of a token.

    Raises
    ------
    InputError
        It was not made here, is for something else, or is over.
    """
    body, _, mark = token.partition(".")
    if len(token) > _LONGEST or not token.isascii() or not hmac.compare_digest(_text(_mac(secret, body)), mark):
        raise InputError("this link is not one of ours; open it again from where you got it")
    try:
        found, subject, expires = json.loads(urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    except (ValueError, binascii.Error):
        raise InputError("this link is not one of ours; open it again from where you got it") from None
    if found != purpose:
        raise InputError("this link is for something else; open it again from where you got it")
    if as_utc(now, name="now").timestamp() >= expires:
        raise InputError("this link is no longer valid; ask for a new one")
    return str(subject)


def work_url(public_url: str, token: str) -> str:
    """Return the address of the page that a token opens.

    Examples
    --------
    >>> work_url("https://work.example.org/", "abc")
    'https://work.example.org/work/s/abc'
    """
    return f"{public_url.rstrip('/')}/work/s/{token}"


def _mac(secret: bytes, body: str) -> bytes:
    return hmac.digest(secret, b"hmc-crowd link\n" + body.encode("ascii", errors="replace"), "sha256")


def _text(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode("ascii").rstrip("=")
