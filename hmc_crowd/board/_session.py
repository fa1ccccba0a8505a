"""Is this browser signed in, and did this form come from our page? Signed values that hold no secret of the key.

The cookie names the key's id and when it ends; the key itself is looked up with every request, so that one that was
revoked is out at once. A form carries a mark that follows from the cookie and the form's address.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from hmc_crowd._base.clock import as_utc

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["COOKIE", "form_mark", "is_form_mark", "read_session", "sign_session"]

COOKIE = "hmc_crowd_board"


def sign_session(secret: bytes, key_id: str, *, expires_at: datetime) -> str:
    """Return the value of a cookie.

    Examples
    --------
    >>> from datetime import UTC, datetime, timedelta
    >>> now = datetime(2026, 1, 1, tzinfo=UTC)
    >>> cookie = sign_session(b"secret", "ab12", expires_at=now + timedelta(hours=1))
    >>> read_session(b"secret", cookie, now=now)
    'ab12'
    >>> read_session(b"secret", cookie, now=now + timedelta(hours=2)) is None
    True
    """
    body = f"{key_id}.{int(as_utc(expires_at, name='expires_at').timestamp())}"
    return f"{body}.{_mac(secret, 'session', body)}"


def read_session(secret: bytes, cookie: str, *, now: datetime) -> str | None:
    """Return the id of the key that signed in; None where the cookie is not ours, or over."""
    body, _, mark = cookie.rpartition(".")
    key_id, _, expires = body.partition(".")
    if len(cookie) > 500 or not cookie.isascii() or not hmac.compare_digest(_mac(secret, "session", body), mark):
        return None
    return key_id if as_utc(now, name="now").timestamp() < int(expires) else None


def form_mark(secret: bytes, session: str, path: str) -> str:
    """Return the mark of a form that is sent to a path."""
    return _mac(secret, "form", f"{session}\n{path}")


def is_form_mark(secret: bytes, session: str, path: str, mark: str) -> bool:
    """Say whether a form came from our page, for this session and path; takes as long whatever it finds."""
    return mark.isascii() and hmac.compare_digest(form_mark(secret, session, path), mark)


def _mac(secret: bytes, purpose: str, body: str) -> str:
    return hmac.digest(secret, f"hmc-crowd board {purpose}\n{body}".encode(), "sha256").hex()
