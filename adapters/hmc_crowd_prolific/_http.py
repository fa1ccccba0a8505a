"""One exchange with Prolific, by class of call: is it safe to send again, and what does silence mean?

Three kinds of calls, and a promise for each:

- `get`: reading; sent again after any failure, with growing pauses, within a time.
- `again`: writing that changes nothing when repeated (a decision on a submission, an absolute number of places, the
  membership of a group); sent again like reading.
- `once`: writing that repeats its effect (create, pay, message); sent one time. When nobody can know whether it took
  effect, `NeedsHumanError` says so; `PlatformUnavailableError` is raised only where it certainly did not.
"""

from __future__ import annotations

import json
import logging
import threading
from contextlib import nullcontext
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import httpx

from hmc_crowd._base.addresses import shown_address
from hmc_crowd._base.clock import SystemClock
from hmc_crowd.errors import NeedsHumanError, PlatformError, PlatformUnavailableError, StateError
from hmc_crowd_prolific._deadline import DeadlineTransport
from hmc_crowd_prolific._pace import Pace
from hmc_crowd_prolific._replies import error_text, shown_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hmc_crowd._base.clock import Clock

__all__ = ["Http", "Mode", "Reply"]

_LOG = logging.getLogger(__name__)
Mode: TypeAlias = Literal["read", "stub", "live"]

_LATER = frozenset({408, 425, 429, 500, 502, 503, 504})
# Nothing was sent: the connection never stood.
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_LARGEST = 64 * 1024 * 1024


@dataclass(frozen=True)
class Reply:
    """A good answer: its JSON (None where it is empty) and headers."""

    data: Any
    headers: Mapping[str, str]


@dataclass(frozen=True)
class _Failure:
    """An exchange without a usable answer; ``sent`` tells whether it may have had an effect."""

    reason: str
    sent: bool
    is_final: bool = False
    status: int | None = None


class Http:
    """Sends requests; knows the address, the token and how to wait.

    Parameters
    ----------
    base_url : str
        Where the API begins, for example ``"https://api.prolific.com/api/v1/"``.
    token : str
        Kept in memory alone; never shown or logged.
    mode : {"read", "stub", "live"}
        ``"read"`` refuses every write before the network.
    transport : httpx.BaseTransport, optional
        Another network, for tests (`httpx.MockTransport`).
    pace : Pace, optional
        Waiting and giving up.
    clock : Clock, optional
        Judges how far the platform's clock is from ours.
    """

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        mode: Mode,
        transport: httpx.BaseTransport | None = None,
        pace: Pace | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.base_url = base_url.rstrip("/") + "/"
        self.mode: Mode = mode
        self.pace = pace if pace is not None else Pace()
        self.skew_s: float | None = None
        self._token = token
        self._clock: Clock = clock if clock is not None else SystemClock()
        is_plain = self.base_url.startswith("http:")
        self._transport = transport or DeadlineTransport(monotonic=self.pace.monotonic, is_plain=is_plain)
        self._money = threading.Lock()
        self._client = httpx.Client(
            base_url=self.base_url,
            headers={"Authorization": f"Token {token}", "Accept": "application/json", "Accept-Encoding": "gzip"},
            timeout=httpx.Timeout(5.0, read=self.pace.silence_s),
            follow_redirects=False,
            transport=self._transport,
            trust_env=False,
        )

    def __repr__(self) -> str:
        return f"Http({shown_address(self.base_url)!r}, mode={self.mode!r})"

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def get(self, path: str, params: Mapping[str, str | int] | None = None) -> Any:
        """Read; sent again while that may help."""
        return self._repeat("GET", path, params=params).data

    def ask(self, path: str, body: Mapping[str, Any]) -> Any:
        """Ask a question by POST that changes nothing: allowed in every mode, sent again like reading."""
        return self._repeat("POST", path, body=body).data

    def again(
        self, method: str, path: str, body: Mapping[str, Any], *, money: bool = False, text_ok: bool = False
    ) -> Any:
        """Write what may be written twice; one such call about money at a time.

        ``text_ok`` takes a good answer that is no JSON: its text does not matter.
        """
        self._require_writes(method, path)
        with self._money if money else nullcontext():
            return self._repeat(method, path, body=body, text_ok=text_ok).data

    def once(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        money: bool = False,
        text_ok: bool = False,
        strict: bool = False,
    ) -> Reply:
        """Write what must not be written twice: one attempt, whatever happens.

        ``strict`` trusts no refusal that asks to come back later: only what never left this machine counts as not done.

        Raises
        ------
        PlatformUnavailableError
            It certainly had no effect: not sent, or refused for now.
        NeedsHumanError
            It may have had its effect, and the answer is lost.
        PlatformError
            It was refused.
        """
        self._require_writes(method, path)
        with self._money if money else nullcontext():
            found = self._exchange(method, path, body=body, text_ok=text_ok)
        if isinstance(found, Reply):
            return found
        if found.is_final and found.status is not None:
            raise PlatformError(found.reason)
        if not found.sent or (found.status == 429 and not strict):
            raise PlatformUnavailableError(f"{found.reason}; nothing was done, try again later")
        raise NeedsHumanError(
            f"{found.reason}; nobody can know whether {method} {shown_path(path)} took effect, so it was not sent "
            "again: look at what Prolific holds first"
        )

    def _repeat(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str | int] | None = None,
        body: Any = None,
        text_ok: bool = False,
    ) -> Reply:
        tried, reason = 0, ""
        for number in self.pace.attempts():
            tried = number
            found = self._exchange(method, path, params=params, body=body, text_ok=text_ok)
            if isinstance(found, Reply):
                return found
            if found.is_final:
                raise PlatformError(found.reason)
            reason = found.reason
        raise PlatformUnavailableError(f"{reason}; gave up after {tried} attempts, try again later")

    def _exchange(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str | int] | None = None,
        body: Any = None,
        text_ok: bool = False,
    ) -> Reply | _Failure:
        what = f"{method} {shown_path(path)}"
        limit = self._transport.limit(self.pace.exchange_s) if isinstance(self._transport, DeadlineTransport) else None
        try:
            with limit or nullcontext(), self._client.stream(method, path, params=params, json=body) as response:
                raw = _whole_body(response)
        except _NOT_SENT as error:
            return _Failure(f"Prolific cannot be reached for {what} ({type(error).__name__})", sent=False)
        except httpx.HTTPError as error:
            return _Failure(f"the line broke during {what} ({type(error).__name__})", sent=True)
        if raw is None:
            reason = f"Prolific's answer to {what} is larger than {_LARGEST:,} bytes, or packed as nobody asked for"
            return _Failure(reason, sent=True, is_final=True)
        _LOG.debug("%s: %s", what, response.status_code)
        self._note_skew(response)
        return self._judge(what, response, raw, text_ok=text_ok)

    def _judge(self, what: str, response: httpx.Response, raw: bytes, *, text_ok: bool) -> Reply | _Failure:
        status = response.status_code
        if status >= 400:
            reason = f"Prolific answered {status} to {what}: {error_text(raw, secret=self._token) or 'no text'}"
            return _Failure(reason + _hint(status), sent=True, is_final=status not in _LATER, status=status)
        if status >= 300:
            reason = f"Prolific answered {what} with a redirect ({status}), which is not followed; check the address"
            return _Failure(reason, sent=True, is_final=True, status=status)
        if text_ok or not raw.strip():
            return Reply(None, response.headers)
        try:
            return Reply(json.loads(raw), response.headers)
        except (ValueError, RecursionError):
            reason = f"Prolific answered {status} to {what} with something that is no JSON: {error_text(raw)[:80]!r}"
            return _Failure(reason, sent=True, status=status)

    def _note_skew(self, response: httpx.Response) -> None:
        """Remember how far the platform's clock is ahead of ours, to the second."""
        try:
            self.skew_s = (parsedate_to_datetime(response.headers["date"]) - self._clock.now()).total_seconds()
        except (KeyError, ValueError, TypeError):
            return

    def _require_writes(self, method: str, path: str) -> None:
        if self.mode == "read":
            raise StateError(
                f"{method} {shown_path(path)} on {shown_address(self.base_url)} was not sent: the mode is 'read'. "
                "Prolific has no sandbox and this may spend money; connect with mode='live' to allow it"
            )


def _whole_body(response: httpx.Response) -> bytes | None:
    """Read the answer, or return None where it is too large to hold.

    Only what is packed once, and by gzip, is unpacked, and counted while it is: what was packed twice can unpack a few
    bytes to more than any memory in one step.
    """
    if response.headers.get("content-encoding", "").strip().lower() not in {"", "identity", "gzip"}:
        return None
    parts, size = [], 0
    for part in response.iter_bytes():
        parts.append(part)
        size += len(part)
        if size > _LARGEST:
            return None
    return b"".join(parts)


def _hint(status: int) -> str:
    return {401: "; check HMC_CROWD_PROLIFIC_TOKEN", 403: "; check what the token's owner may do"}.get(status, "")
