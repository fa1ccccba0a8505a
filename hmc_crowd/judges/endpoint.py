"""Any server that speaks the OpenAI chat protocol (vLLM, llama.cpp, hosted), asked many questions at a time.

The only part of the pure core that talks to a network. What is retried: 408, 425, 429 (after the time the server
names), 5xx, a refused or broken connection, silence, and an answer that is cut off or no JSON. What is not: other 4xx;
such a pair is reported as unanswered, with the server's words, and 401, 403, 404 end the run, for they would fail for
every pair. A server that refuses log probabilities is asked without them from then on.

An answer is handed over the moment it is read, so that whoever keeps it (`JudgeCache`) loses at most those in flight.
When the run is interrupted or ends in an error, calls under way get five seconds to come back: they are paid for. Where
a server answers none of many questions in a row, the rest is not asked, and reported so.

The key and the texts go to the address that was given and nowhere else: proxies that the environment names are not used
unless that is asked for, and never for this machine; redirects are not followed.
"""

from __future__ import annotations

import ipaddress
import os
import threading
import time
from typing import TYPE_CHECKING, Any

import httpx
import stamina

from hmc_crowd._base.addresses import shown_address
from hmc_crowd.errors import InputError, PlatformError
from hmc_crowd.judges._ask import Completion, Request
from hmc_crowd.judges._crew import Crew
from hmc_crowd.judges._endpoint_reply import (
    ENCODING,
    LaterError,
    RefusedError,
    completion_of,
    error_words,
    retry_after,
    whole,
)
from hmc_crowd.judges._judge import fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["Endpoint"]

_LATER = frozenset({408, 425, 429, 500, 502, 503, 504})
_FATAL = frozenset({401, 403, 404})
_PATIENCE_S = 5.0  # for calls under way when all else stops: their answers are paid for
_Said = tuple[Completion, bool]
KEY_VARIABLE = "HMC_CROWD_JUDGE_KEY"


class Endpoint:
    """A client of one model behind an OpenAI-compatible server.

    Parameters
    ----------
    base_url : str
        Up to and with the version, such as ``"http://127.0.0.1:8000/v1"``.
    model : str
        As the server names it. Name a dated version where there is one: an alias may change under you.
    concurrency : int, default 32
        Questions under way at a time.
    per_minute : float, optional
        At most so many calls a minute, retries included.
    attempts : int, default 6
        Calls for one question before it is reported as unanswered.
    pause_s : float, default 0.5
        Before the second attempt, growing from there, where the server names no time.
    timeout_s : float, default 120
        For each call.
    logprobs : bool, default True
        Ask for the first token's alternatives.
    leaves_machine : bool, optional
        Default: whether the host is another than this machine's loopback address.
    key_variable : str, default "HMC_CROWD_JUDGE_KEY"
        Environment variable that holds the key; none is sent where it is not set. Never shown or logged.
    trust_env : bool, default False
        Send requests through the proxy that ``HTTP_PROXY``, ``HTTPS_PROXY`` or ``ALL_PROXY`` names; it then sees every
        text, and the key where the address is no https one. An endpoint on this machine is always asked directly.
    transport : httpx.BaseTransport, optional
        Another network, for tests.

    Raises
    ------
    InputError
        An address that is no http(s) address or holds a password, or a number out of range.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        concurrency: int = 32,
        per_minute: float | None = None,
        attempts: int = 6,
        pause_s: float = 0.5,
        timeout_s: float = 120.0,
        logprobs: bool = True,
        leaves_machine: bool | None = None,
        key_variable: str = KEY_VARIABLE,
        trust_env: bool = False,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        url = _address(base_url)
        waits = (timeout_s, pause_s, 1.0 if per_minute is None else per_minute)
        if concurrency < 1 or attempts < 1 or not min(waits) > 0:
            raise InputError(
                f"concurrency {concurrency}, attempts {attempts}, timeout_s {timeout_s}, pause_s {pause_s}, "
                f"per_minute {per_minute}: "
                "each must be above 0"
            )
        self.name, self.model = model, model
        # The path names a deployment with some hosts; a port says nothing about what runs there.
        self.version = fingerprint("openai", str(url.host), url.path.rstrip("/"), model)
        self.leaves_machine = not _is_loopback(url.host) if leaves_machine is None else leaves_machine
        self._url = str(url).rstrip("/") + "/chat/completions"
        self._concurrency, self._attempts, self._pause_s, self._logprobs = concurrency, attempts, pause_s, logprobs
        self._pace = _Pace(per_minute)
        key = os.environ.get(key_variable, "").strip()
        self._headers = {"accept-encoding": ENCODING} | ({"authorization": f"Bearer {key}"} if key else {})
        self._trust_env = trust_env and not _is_loopback(url.host)
        self._timeout, self._transport = timeout_s, transport

    def complete(self, requests: Sequence[Request], done: Callable[[int, Completion], None]) -> None:
        """Ask all questions; `done` is called from this thread as answers come, in any order.

        Raises
        ------
        PlatformError
            The server refuses every question: the key, or the model's or the address's name, is wrong.
        """
        limits = httpx.Limits(max_connections=self._concurrency, max_keepalive_connections=self._concurrency)
        with httpx.Client(
            headers=self._headers,
            timeout=self._timeout,
            limits=limits,
            transport=self._transport,
            trust_env=self._trust_env,
            follow_redirects=False,
        ) as http:
            crew = Crew(self._concurrency, lambda request, crew: self._one(http, request, crew))
            left, told = iter(enumerate(requests)), ""
            try:
                told = self._ask(crew, left, done)
            finally:
                for place, (completion, _) in crew.leave(_PATIENCE_S):
                    done(place, completion)
            for place in (*sorted(crew.under_way), *(place for place, _ in left)):
                done(place, Completion(None, attempts=0, error=f"not asked: {told}"))

    def _ask(
        self, crew: Crew[_Said], left: Iterator[tuple[int, Request]], done: Callable[[int, Completion], None]
    ) -> str:
        """Ask until all is answered, or until the server seems to be down; then say why."""
        failed = 0
        while True:
            # Twice as many as threads: nobody waits while an answer is being kept.
            for place, request in left:
                crew.give(place, request)
                if len(crew.under_way) >= 2 * self._concurrency:
                    break
            if not crew.under_way:
                return ""
            place, (completion, is_down) = crew.take()
            done(place, completion)
            failed = failed + 1 if is_down else 0
            if failed >= 2 * self._concurrency:
                return f"none of the last {failed} questions was answered ({completion.error})"

    def _one(self, http: httpx.Client, request: Request, crew: Crew[_Said]) -> _Said:
        """Return the answer, and whether the server seems to be down."""
        spent, attempts = 0.0, 0
        try:
            for attempt in stamina.retry_context(
                on=_wait_for,
                attempts=self._attempts,
                timeout=None,
                wait_initial=self._pause_s,
                wait_jitter=self._pause_s,
                wait_max=30.0,
            ):
                with attempt:
                    self._pace.wait()
                    if crew.is_stopped:
                        raise RefusedError("interrupted before it was answered")
                    started = time.perf_counter()
                    attempts += 1
                    try:
                        with crew.calling():
                            return self._call(http, request, spent, attempts), False
                    finally:
                        spent += time.perf_counter() - started
        except (LaterError, RefusedError) as error:
            told, is_down = str(error), isinstance(error, LaterError)
        return Completion(None, seconds=spent, attempts=attempts, error=told), is_down

    def _call(self, http: httpx.Client, request: Request, spent: float, attempts: int) -> Completion:
        started = time.perf_counter()
        body = self._body(request)
        try:
            with http.stream("POST", self._url, json=body) as response:
                reply = whole(response, until=started + self._timeout)
        except httpx.HTTPError as error:
            raise LaterError(f"no answer ({type(error).__name__})") from None
        if reply.status in _LATER:
            raise LaterError(f"{reply.status} {error_words(reply)}", after_s=retry_after(reply.headers))
        if reply.status == 400 and "logprobs" in body and "logprob" in reply.text.lower():
            self._logprobs = False
            raise LaterError("the server gives no log probabilities", after_s=0.0)
        if reply.status in _FATAL:
            raise PlatformError(
                f"{shown_address(self._url)} answers {reply.status} {error_words(reply)}; check the address, the model "
                f"{self.model!r} and the key in the environment"
            )
        if reply.status != 200:
            raise RefusedError(f"{reply.status} {error_words(reply)}")
        return completion_of(reply, seconds=spent + time.perf_counter() - started, attempts=attempts)

    def _body(self, request: Request) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": role, "content": text} for role, text in request.messages],
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
        }
        if self._logprobs:
            body |= {"logprobs": True, "top_logprobs": 20}
        if request.temperature > 0.0:
            body["seed"] = request.sample
        return body


class _Pace:
    """At most so many calls a minute, evenly."""

    def __init__(self, per_minute: float | None) -> None:
        self._gap = 0.0 if per_minute is None else 60.0 / per_minute
        self._next, self._lock = 0.0, threading.Lock()

    def wait(self) -> None:
        if not self._gap:
            return
        with self._lock:
            turn = max(self._next, time.monotonic())
            self._next = turn + self._gap
        time.sleep(max(turn - time.monotonic(), 0.0))


def _wait_for(error: Exception) -> bool | float:
    """Tell stamina whether to try again: after the time the server named, or after a growing pause."""
    if not isinstance(error, LaterError):
        return False
    return True if error.after_s is None else error.after_s


def _address(base_url: str) -> httpx.URL:
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL:
        url = httpx.URL("")
    if url.scheme not in {"http", "https"} or not url.host:
        raise InputError(
            f"base_url is {shown_address(base_url)!r}; give an http(s) address such as http://127.0.0.1:8000/v1"
        )
    if url.userinfo:
        raise InputError(f"base_url holds a password; put the key into the environment ({KEY_VARIABLE})")
    return url


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
