"""What an answer says: its error in one line of plain text, without markup, secrets or people's ids."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["error_text", "shown_path"]

_LONGEST = 300
_MOST_READ = 8_000
_TAGS = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL | re.IGNORECASE)


def error_text(body: bytes, *, secret: str = "") -> str:
    """Return the reason that an error answer gives.

    Prolific's envelope ``{"error": {...}}``, the gateway's ``{"message", "detail"}`` and HTML pages are understood;
    the text is trimmed to 300 characters, and ``secret`` is blotted out.

    Examples
    --------
    >>> error_text(b'{"error": {"title": "Bad request", "detail": {"reward": ["Too low."]}}}')
    'Bad request: reward: Too low.'
    >>> error_text(b"<html><h1>502 Bad Gateway</h1></html>")
    '502 Bad Gateway'
    """
    written = body.decode("utf-8", errors="replace")
    try:
        parsed = json.loads(written)
    except (ValueError, RecursionError):
        parsed = None
    if isinstance(parsed, dict):
        inner = parsed["error"] if isinstance(parsed.get("error"), dict) else parsed
        try:
            parts = [_plain(inner[name]) for name in ("title", "message", "detail") if inner.get(name)]
        except RecursionError:
            parts = []
        written = ": ".join(parts) or written
    else:
        # More than so much is never shown, and an expression over all of it would take as long as its sender likes.
        written = _TAGS.sub(" ", written[:_MOST_READ])
    if secret:
        written = written.replace(secret, "***")
    written = " ".join(written.split())
    return written if len(written) <= _LONGEST else written[: _LONGEST - 3] + "..."


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{name}: {_plain(each)}" for name, each in value.items())
    if isinstance(value, list):
        return ", ".join(_plain(each) for each in value)
    return str(value).rstrip(".") + "." if isinstance(value, str) and value.endswith(".") else str(value)


def shown_path(path: str) -> str:
    """Return a path as errors and logs may show it: without its query, which may name people."""
    return path.split("?", 1)[0]
