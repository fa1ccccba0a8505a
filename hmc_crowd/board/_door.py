"""Where shall the next item go, and what did people answer? The door for programs: JSON in, JSON out.

Every request carries a key as a bearer token. What changes something carries a client key too: the same request again
gets the same reply and changes nothing, another request under that key is refused.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import OrderedDict
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.ids import digest
from hmc_crowd._base.limits import BodyError, RateLimit, read_body
from hmc_crowd._base.senders import Guesses, sender_of
from hmc_crowd.board._metrics import Timings, render_metrics
from hmc_crowd.board._once import as_text
from hmc_crowd.board._openapi import openapi_document
from hmc_crowd.board._refused import RefusedError
from hmc_crowd.board._render import HEADERS
from hmc_crowd.board._roles import may
from hmc_crowd.errors import DatabaseBusyError, DuplicateError, HmcCrowdError, InputError, StateError
from hmc_crowd.store._keys import key_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from anyio import CapacityLimiter
    from starlette.requests import Request
    from starlette.responses import Response

    from hmc_crowd.board._house import BoardHouse
    from hmc_crowd.board._once import Reply
    from hmc_crowd.store import KeyRecord, Transaction

    Call = Callable[[BoardHouse, KeyRecord, dict[str, Any]], Any]

__all__ = ["Door"]

_LOG = logging.getLogger("hmc_crowd.board")
_AT_ONCE = 8
_KNOWN_KEYS = 10_000
_BODY = {
    400: "the sender went away",
    408: "the body took too long; send it again",
    413: "the body is too large; send fewer items at once",
}


class Door:
    """Answers programs over one house."""

    def __init__(self, house: BoardHouse, timings: Timings | None = None) -> None:
        self.house, self.settings = house, house.settings
        self.calls = RateLimit(self.settings.door_per_minute)
        self.guesses = Guesses(self.settings.sign_ins_per_minute)
        self.timings = timings or Timings()
        self._threads: CapacityLimiter | None = None
        self._known: OrderedDict[str, KeyRecord] = OrderedDict()

    def changing(self, call: Call, right: str, name: str) -> Callable[..., Any]:
        """Return the endpoint of a call that changes something: ``call(house, key, body)`` gives the job to do."""

        async def reply(request: Request) -> Any:
            body = await read_body(request, most=self.settings.most_body_bytes, within_s=self.settings.body_s)

            def prepare() -> Reply:
                key = self._holder(request, right)
                return self._still_valid(key, call(self.house, key, _object(body)))

            return await asyncio.wrap_future(self.house.group.submit(prepare))

        return self._endpoint(reply, name)

    def reading(self, call: Call, right: str, name: str) -> Callable[..., Any]:
        """Return the endpoint of a call that only reads: ``call(house, key, query)`` gives the reply."""

        def read(request: Request) -> Any:
            with self.house.store.read() as tx:
                key = self._permitted(request, self._found(request, tx), right)
            return call(self.house, key, dict(request.query_params))

        async def reply(request: Request) -> Any:
            return await self._in_thread(read, request)

        return self._endpoint(reply, name)

    def metrics(self, _house: BoardHouse, _key: KeyRecord, _given: dict[str, Any]) -> bytes:
        """Return the figures of all campaigns in Prometheus's text format."""
        return render_metrics(self.house, self.timings)

    async def openapi(self, _request: Request) -> Response:
        """Describe the door."""
        return _json(as_text(openapi_document()))

    async def healthz(self, _request: Request) -> Response:
        """Say whether the database answers; nothing else, to anybody."""
        try:
            await self._in_thread(self.house.names)
        except HmcCrowdError:
            return _json('{"status":"the database does not answer"}', 503)
        return _json('{"status":"ok"}')

    async def not_found(self, _request: Request, error: Exception) -> Response:
        """Answer what is no address of the door."""
        status = int(getattr(error, "status_code", 404))
        text = "there is no such address; see openapi.json" if status == 404 else "this address takes another method"
        return _problem(text, status, dict(getattr(error, "headers", None) or {}))

    def _endpoint(self, reply: Callable[..., Any], name: str) -> Callable[..., Any]:
        async def handle(request: Request) -> Response:
            from starlette.responses import Response

            started = perf_counter()
            try:
                found = await reply(request)
            except Exception as error:  # noqa: BLE001  # because `_refusal` raises again what is not for the sender
                answer = _refusal(error)
            else:
                if isinstance(found, bytes):
                    kind = "text/plain; version=0.0.4; charset=utf-8"
                    answer = Response(found, media_type=kind, headers=HEADERS)
                else:
                    answer = _json(found)
            self.timings.observe(name, answer.status_code, perf_counter() - started)
            return answer

        return handle

    async def _in_thread(self, work: Callable[..., Any], *arguments: Any) -> Any:
        from anyio import CapacityLimiter
        from anyio.to_thread import run_sync

        if self._threads is None:
            self._threads = CapacityLimiter(_AT_ONCE)
        return await run_sync(work, *arguments, limiter=self._threads)

    # Who asks.

    def _holder(self, request: Request, right: str) -> KeyRecord:
        """Return the key of a request; one that was seen before is looked up again with the job itself."""
        mark = digest(request.headers.get("authorization", ""))
        key = self._known.get(mark)
        if key is None:
            with self.house.store.read() as tx:
                key = self._found(request, tx)
            if key is not None:
                self._known[mark] = key
                if len(self._known) > _KNOWN_KEYS:
                    self._known.popitem(last=False)
        return self._permitted(request, key, right)

    def _still_valid(self, key: KeyRecord, work: Reply) -> Reply:
        """Return a job that asks first, once a transaction, whether the key has been revoked."""

        def job(tx: Transaction, shared: dict[Any, Any]) -> str:
            name, lasting = ("key", key.id), shared["lasting"]
            if name not in lasting:
                lasting[name] = tx.keys.get(key.id)
            held = lasting[name]
            if held is None or held.revoked_at is not None:
                raise RefusedError(401, _NO_KEY)
            return work(tx, shared)

        return job

    def _found(self, request: Request, tx: Transaction) -> KeyRecord | None:
        key = tx.keys.find(_bearer(request))
        return None if key is None else replace(key, revoked_at=None)

    def _permitted(self, request: Request, key: KeyRecord | None, right: str) -> KeyRecord:
        if key is None:
            if self.guesses.is_too_many(sender_of(request), key_name(_bearer(request))):
                raise RefusedError(429, "too many requests without a key, or with a wrong one; wait a minute")
            raise RefusedError(401, _NO_KEY)
        if not self.calls.allows(key.id):
            raise RefusedError(429, "too many requests; wait a minute")
        if not may(key.role, right):
            raise RefusedError(403, f"a key of the role {key.role} may not do this")
        return key


_NO_KEY = "give a key: Authorization: Bearer hmck_...; the owner issues them"


def _bearer(request: Request) -> str:
    """Return the key of a request; empty without one."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _object(body: bytes) -> dict[str, Any]:
    try:
        given = json.loads(body, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise InputError("the body is no JSON; send an object, see openapi.json") from None
    if not isinstance(given, dict):
        raise InputError(f"the body is a {type(given).__name__}; send an object, see openapi.json")
    return given


def _refuse(name: str) -> Any:
    raise ValueError(name)


def _refusal(error: Exception) -> Response:
    """Say in JSON why a request is not answered; what a sender must not see is logged."""
    if isinstance(error, BodyError):
        return _problem(_BODY[error.status], error.status)
    if isinstance(error, RefusedError):
        return _problem(error.text, error.status, {"WWW-Authenticate": "Bearer"} if error.status == 401 else {})
    if isinstance(error, (StateError, DuplicateError)):
        return _problem(str(error), 409)
    if isinstance(error, InputError):
        return _problem(str(error), 400)
    if isinstance(error, DatabaseBusyError):
        return _problem("the database is busy; send it again", 503, {"Retry-After": "1"})
    if isinstance(error, HmcCrowdError):
        _LOG.error("a call of the machine door could not be answered", exc_info=error)
        return _problem("this did not work; the owner finds why in the server's log", 503)
    raise error


def _problem(text: str, status: int, extra: dict[str, str] | None = None) -> Response:
    return _json(as_text({"problem": text}), status, extra)


def _json(text: str, status: int = 200, extra: dict[str, str] | None = None) -> Response:
    from starlette.responses import Response

    return Response(text, status, media_type="application/json", headers=HEADERS | (extra or {}))
