"""What a server's reply to one question says: an answer, "later", or "never"."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hmc_crowd.judges._ask import Completion

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LaterError", "RefusedError", "completion_of", "error_words", "retry_after"]

_SHOWN = 120
_LONGEST_WAIT_S = 300.0


class LaterError(Exception):
    """Trying again may help; `after_s` is when, where the server said so."""

    def __init__(self, words: str, after_s: float | None = None) -> None:
        super().__init__(words)
        self.after_s = after_s


class RefusedError(Exception):
    """Trying this question again will not help."""


def completion_of(reply: Any, *, seconds: float, attempts: int) -> Completion:
    """Read a reply of status 200.

    Raises
    ------
    LaterError
        It is cut off, no JSON, or not of the protocol: a proxy's page, a server that is stopping.
    """
    try:
        data = reply.json()
        choice = data["choices"][0]
        text = choice["message"]["content"]
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, IndexError, TypeError):
        raise LaterError("an answer that is not of the chat protocol") from None
    if text is not None and not isinstance(text, str):
        raise LaterError("an answer that is not of the chat protocol")
    usage = data.get("usage") or {}
    return Completion(
        text or "",
        alternatives=_alternatives(choice),
        prompt_tokens=_count(usage, "prompt_tokens"),
        completion_tokens=_count(usage, "completion_tokens"),
        seconds=seconds,
        served=str(data.get("model") or ""),
        attempts=attempts,
    )


def error_words(reply: Any) -> str:
    """Return the server's own words about a failure, shortened, on one line."""
    try:
        data = reply.json()
        words = data["error"]["message"] if isinstance(data["error"], dict) else data["error"]
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError):
        words = reply.text
    line = " ".join(str(words).split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds a server asks to wait, None where it names none (a date counts as none).

    Examples
    --------
    >>> retry_after({"retry-after": "2"}), retry_after({}), retry_after({"retry-after": "soon"})
    (2.0, None, None)
    """
    try:
        return min(max(float(headers.get("retry-after", "")), 0.0), _LONGEST_WAIT_S)
    except ValueError:
        return None


def _alternatives(choice: Mapping[str, Any]) -> dict[str, float]:
    try:
        first = choice["logprobs"]["content"][0]
        found: dict[str, float] = {}
        for each in first.get("top_logprobs") or [first]:
            found.setdefault(str(each["token"]), float(each["logprob"]))
        return found
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        return {}


def _count(usage: Any, name: str) -> int:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and value >= 0 else 0
