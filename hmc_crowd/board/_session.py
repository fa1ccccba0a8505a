"""Did this form come from our page, in this browser, not long ago? Signed marks that hold no secret of the key.

Whose browser it is says a row in the database (`hmc_crowd.store.SignInRecord`): its cookie holds a random token. Whom a
proxy signed in has no such row; his browser carries a random token of its own, so that a form's mark is bound to it. A
mark follows from that token, the form's address and the moment at which the page was drawn.
"""

from __future__ import annotations

import hmac
import re
import secrets
from typing import TYPE_CHECKING

from hmc_crowd._base.clock import as_utc

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["BROWSER", "COOKIE", "form_mark", "is_form_mark", "is_token", "new_token"]

#: The cookie of a browser that signed in with a key.
COOKIE = "hmc_crowd_board"
#: The cookie of a browser whose person a proxy signed in.
BROWSER = "hmc_crowd_browser"
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")
_MARK = re.compile(r"([0-9a-f]{1,12})\.([0-9a-f]{64})")


def new_token() -> str:
    """Return what nobody can guess, for a cookie."""
    return secrets.token_urlsafe(32)


def is_token(text: str) -> bool:
    """Say whether a cookie's value has the form of ours.

    Examples
    --------
    >>> is_token(new_token()), is_token("x")
    (True, False)
    """
    return _TOKEN.fullmatch(text) is not None


def form_mark(secret: bytes, session: str, path: str, *, at: datetime) -> str:
    """Return the mark of a form that is sent to a path, of a page that was drawn at a moment.

    Examples
    --------
    >>> from datetime import UTC, datetime, timedelta
    >>> now = datetime(2026, 1, 1, tzinfo=UTC)
    >>> mark = form_mark(b"secret", "token", "c/tone/approve", at=now)
    >>> [
    ...     is_form_mark(b"secret", "token", "c/tone/approve", mark, now=now + timedelta(hours=later), lasts_s=3600)
    ...     for later in (0, 2)
    ... ]
    [True, False]
    """
    drawn = f"{int(as_utc(at, name='at').timestamp()):x}"
    return f"{drawn}.{_mac(secret, session, path, drawn)}"


def is_form_mark(secret: bytes, session: str, path: str, mark: str, *, now: datetime, lasts_s: float) -> bool:
    """Say whether a form came from our page, for this session and path, and is not over."""
    found = _MARK.fullmatch(mark)
    if found is None:
        return False
    drawn, mac = found.groups()
    is_ours = hmac.compare_digest(_mac(secret, session, path, drawn), mac)
    age_s = as_utc(now, name="now").timestamp() - int(drawn, 16)
    return is_ours and -1 <= age_s < lasts_s


def _mac(secret: bytes, session: str, path: str, drawn: str) -> str:
    body = f"hmc-crowd board form\n{session}\n{drawn}\n{path}"
    return hmac.digest(secret, body.encode(errors="replace"), "sha256").hex()
