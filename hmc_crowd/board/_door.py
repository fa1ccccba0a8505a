"""Where shall the next item go, and what did people answer? The door for programs: JSON in, JSON out.

Every request carries a key as a bearer token. What changes something carries a client key too: the same request again
gets the same reply and changes nothing, another request under that key is refused.
"""

from __future__ import annotations

import json
import logging
from time import perf_counter
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.limits import BodyError, RateLimit, read_body
from hmc_crowd.board._decide import allocate_items, keep_answers, show_queue
from hmc_crowd.board._desk import RefusedError
from hmc_crowd.board._metrics import Timings, render_metrics
from hmc_crowd.board._openapi import openapi_document
from hmc_crowd.board._render import HEADERS
from hmc_crowd.board._roles import may
from hmc_crowd.errors import DatabaseBusyError, DuplicateError, HmcCrowdError, InputError, StateError

if TYPE_CHECKING:
    from collections.abc import Callable

    from anyio import CapacityLimiter
    from starlette.requests import Request
    from starlette.responses import Response

    from hmc_crowd.board._house import BoardHouse
    from hmc_crowd.store import KeyRecord

__all__ = ["Door"]

_LOG = logging.getLogger("hmc_crowd.board")
_AT_ONCE = 64
_BODY = {
    400: "the sender went away",
    408: "the body took too long; send it again",
    413: "the body is too large; send fewer items at once",
}


class Door:
    """Answers programs over one house."""

    def __init__(self, house: BoardHouse) -> None:
        self.house, self.settings = house, house.settings
        self.calls = RateLimit(self.settings.door_per_minute)
        self.strangers = RateLimit(self.settings.sign_ins_per_minute)
        self.timings = Timings()
        self._threads: CapacityLimiter | None = None

    def endpoint(self, work: Callable[..., Any], right: str) -> Callable[..., Any]:
        """Return the endpoint of a call; ``work(key, given)`` gets the body of a POST, or the query."""

        async def handle(request: Request) -> Response:
            started = perf_counter()
            reply = await self._reply(request, work, right)
            self.timings.observe(right, reply.status_code, perf_counter() - started)
            return reply

        return handle

    def allocate(self, _key: KeyRecord, given: dict[str, Any]) -> Any:
        """Say where items go, and put those for people into the queue."""
        return allocate_items(self.house, given)

    def answers(self, key: KeyRecord, given: dict[str, Any]) -> Any:
        """Take people's answers to items of the queue."""
        return keep_answers(self.house, key, given)

    def queue(self, key: KeyRecord, given: dict[str, Any]) -> Any:
        """List what waits for people, by deadline."""
        return show_queue(self.house, key, given)

    def metrics(self, _key: KeyRecord, _given: dict[str, Any]) -> bytes:
        """Return the figures of all campaigns in Prometheus's text format."""
        return render_metrics(self.house, self.timings)

    async def openapi(self, _request: Request) -> Response:
        """Describe the door."""
        return _json(openapi_document())

    async def healthz(self, _request: Request) -> Response:
        """Say whether the database answers; nothing else, to anybody."""
        try:
            await self._in_thread(self.house.names)
        except HmcCrowdError:
            return _json({"status": "the database does not answer"}, 503)
        return _json({"status": "ok"})

    async def not_found(self, _request: Request, error: Exception) -> Response:
        """Answer what is no address of the door."""
        status = int(getattr(error, "status_code", 404))
        text = "there is no such address; see openapi.json" if status == 404 else "this address takes another method"
        return _json({"problem": text}, status, dict(getattr(error, "headers", None) or {}))

    async def _reply(self, request: Request, work: Callable[..., Any], right: str) -> Response:
        try:
            body = b""
            if request.method == "POST":
                body = await read_body(request, most=self.settings.most_body_bytes, within_s=self.settings.body_s)
            reply: Response = await self._in_thread(self._answer, request, work, right, body)
        except BodyError as error:
            return _json({"problem": _BODY[error.status]}, error.status)
        return reply

    async def _in_thread(self, work: Callable[..., Any], *arguments: Any) -> Any:
        from anyio import CapacityLimiter
        from anyio.to_thread import run_sync

        if self._threads is None:
            self._threads = CapacityLimiter(_AT_ONCE)
        return await run_sync(work, *arguments, limiter=self._threads)

    def _answer(self, request: Request, work: Callable[..., Any], right: str, body: bytes) -> Response:
        from starlette.responses import Response

        try:
            key = self._key(request, right)
            given = _object(body) if request.method == "POST" else dict(request.query_params)
            found = work(key, given)
        except RefusedError as error:
            extra = {"WWW-Authenticate": "Bearer"} if error.status == 401 else {}
            return _json({"problem": error.text}, error.status, extra)
        except (StateError, DuplicateError) as error:
            return _json({"problem": str(error)}, 409)
        except InputError as error:
            return _json({"problem": str(error)}, 400)
        except DatabaseBusyError:
            return _json({"problem": "the database is busy; send it again"}, 503, {"Retry-After": "1"})
        except HmcCrowdError:
            _LOG.exception("a call of the machine door could not be answered")
            return _json({"problem": "this did not work; the owner finds why in the server's log"}, 503)
        if isinstance(found, bytes):
            return Response(found, media_type="text/plain; version=0.0.4; charset=utf-8", headers=HEADERS)
        return _json(found)

    def _key(self, request: Request, right: str) -> KeyRecord:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        with self.house.store.read() as tx:
            key = tx.keys.find(token.strip()) if scheme.lower() == "bearer" else None
        if key is None:
            if not self.strangers.allows(request.client.host if request.client else ""):
                raise RefusedError(429, "too many requests without a key; wait a minute")
            raise RefusedError(401, "give a key: Authorization: Bearer hmck_...; the owner issues them")
        if not self.calls.allows(key.id):
            raise RefusedError(429, "too many requests; wait a minute")
        if not may(key.role, right):
            raise RefusedError(403, f"a key of the role {key.role} may not do this")
        return key


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


def _json(content: Any, status: int = 200, extra: dict[str, str] | None = None) -> Response:
    from starlette.responses import Response

    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return Response(text, status, media_type="application/json", headers=HEADERS | (extra or {}))
