"""What a server's reply to one question says: an answer, "later", or "never".

A server is foreign: whatever it sends, one question ends as a `Completion`, a `LaterError` or a `RefusedError`, within
the bytes, the nesting and the waits that stand here.
"""

from __future__ import annotations

import json
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hmc_crowd.judges._ask import Completion

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx

__all__ = ["ENCODING", "LaterError", "RefusedError", "Reply", "completion_of", "error_words", "retry_after", "whole"]

#: Asked for in every request. What is compressed all the same is refused: 600 kB could become 600 MB.
ENCODING = "identity"
_LARGEST = 8 * 1024 * 1024
_SHOWN = 120
_LONGEST_WAIT_S = 60.0
_MOST_TOKENS = 1_000_000_000
_ALTERNATIVES = 100


class LaterError(Exception):
    """Trying again may help; `after_s` is when, where the server said so."""

    def __init__(self, words: str, after_s: float | None = None) -> None:
        super().__init__(words)
        self.after_s = after_s


class RefusedError(Exception):
    """Trying this question again will not help."""


@dataclass(frozen=True)
class Reply:
    """A reply that was read to its end."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text; what is no UTF-8 is replaced."""
        return self.body.decode("utf-8", "replace")


def whole(response: httpx.Response, *, until: float) -> Reply:
    """Read a streamed reply.

    Parameters
    ----------
    response : httpx.Response
        Of `httpx.Client.stream`, not yet read.
    until : float
        Moment of `time.perf_counter` at which an answer that still drips is given up.

    Raises
    ------
    RefusedError
        It is larger than 8 MB, or compressed although that was not asked for.
    LaterError
        It was not whole in time.
    """
    packed = response.headers.get("content-encoding", ENCODING).strip().lower()
    if packed not in {"", ENCODING}:
        raise RefusedError(f"an answer compressed by {packed[:20]!r}, which was not asked for")
    body = bytearray()
    for part in response.iter_raw():
        body += part
        if len(body) > _LARGEST:
            raise RefusedError(f"an answer of more than {_LARGEST:,} bytes")
        if time.perf_counter() > until:
            raise LaterError("an answer that was not whole in time")
    return Reply(response.status_code, response.headers, bytes(body))


def completion_of(reply: Reply, *, seconds: float, attempts: int) -> Completion:
    """Read a reply of status 200.

    Raises
    ------
    LaterError
        It is cut off, no JSON, or not of the protocol: a proxy's page, a server that is stopping.
    """
    try:
        data = _json(reply)
        choice = data["choices"][0]
        text = choice["message"]["content"]
        usage, served = data.get("usage"), data.get("model")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        raise LaterError("an answer that is not of the chat protocol") from None
    if text is not None and not isinstance(text, str):
        raise LaterError("an answer that is not of the chat protocol")
    return Completion(
        _storable(text or ""),
        alternatives=_alternatives(choice),
        prompt_tokens=_count(usage, "prompt_tokens"),
        completion_tokens=_count(usage, "completion_tokens"),
        seconds=seconds,
        served=_storable(served)[:200] if isinstance(served, str) else "",
        attempts=attempts,
    )


def error_words(reply: Reply) -> str:
    """Return the server's own words about a failure, shortened, on one line."""
    try:
        data = _json(reply)
        words = data["error"]["message"] if isinstance(data["error"], dict) else data["error"]
        words = words if isinstance(words, str) else reply.text
    except (ValueError, KeyError, TypeError):
        words = reply.text
    line = " ".join(_storable(words[: 20 * _SHOWN]).split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds a server asks to wait, at most 60; None where it names none (a date counts as none).

    Examples
    --------
    >>> retry_after({"retry-after": "2"}), retry_after({}), retry_after({"retry-after": "soon"})
    (2.0, None, None)
    >>> retry_after({"retry-after": "946080000"}), retry_after({"retry-after": "nan"})
    (60.0, None)
    """
    try:
        asked = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return None if math.isnan(asked) else min(max(asked, 0.0), _LONGEST_WAIT_S)


def _json(reply: Reply) -> Any:
    """Read JSON; nesting beyond what the interpreter bears is a ValueError like all else that is not readable."""
    try:
        return json.loads(reply.body)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _storable(text: str) -> str:
    """Replace what no file and no database takes: halves of surrogate pairs, and the character of code 0."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "\N{REPLACEMENT CHARACTER}")


def _alternatives(choice: Mapping[str, Any]) -> dict[str, float]:
    try:
        first = choice["logprobs"]["content"][0]
        found: dict[str, float] = {}
        for each in (first.get("top_logprobs") or [first])[:_ALTERNATIVES]:
            log = float(each["logprob"])
            if isinstance(each["token"], str) and not math.isnan(log):
                found.setdefault(_storable(each["token"]), log)
        return found
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError):
        return {}


def _count(usage: Any, name: str) -> int:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and 0 <= value <= _MOST_TOKENS else 0
