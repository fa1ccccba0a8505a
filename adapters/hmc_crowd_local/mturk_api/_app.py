"""The front door over HTTP: the API at ``/``, the workers' pages under ``/mturk/``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd._base.extras import require
from hmc_crowd._base.limits import BodyError, read_body
from hmc_crowd._base.senders import Guesses, sender_of
from hmc_crowd_local.mturk_api._sigv4 import SignedRequest, access_key
from hmc_crowd_local.mturk_api._wire import CONTENT_TYPE, answer

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    from hmc_crowd_local.mturk_api._front import FrontDoor

__all__ = ["build_app"]

_WRONG_KEY = 403
_TOO_MANY = b'{"__type":"ThrottlingException","Message":"Rate exceeded","TurkErrorCode":"AWS.ServiceUnavailable"}'


def build_app(door: FrontDoor) -> Starlette:
    """Return the ASGI application of a front door, to be served or mounted at the root of a host.

    Parameters
    ----------
    door : FrontDoor
        As `open_front_door` returns it; the caller closes it.

    Returns
    -------
    starlette.applications.Starlette
        ``POST /`` is the API; ``/mturk/hits``, ``/mturk/preview``, ``/mturk/accept``, ``/mturk/externalSubmit`` and
        the rest are for workers.

    Raises
    ------
    MissingExtraError
        The extra ``web`` is not installed.
    """
    require("fastapi", extra="web", purpose="the MTurk-API front door")
    require("python_multipart", extra="web", purpose="the MTurk-API front door")
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import Response
    from starlette.routing import Route

    from hmc_crowd_local.mturk_api._worker_routes import worker_routes

    guesses = Guesses(door.settings.wrong_keys_per_minute)

    async def api(request: Request) -> Response:
        try:
            settings = door.settings
            body = await read_body(request, most=settings.most_request_bytes, within_s=settings.body_s)
        except BodyError as error:
            kind = "RequestEntityTooLargeException" if error.status == 413 else "RequestTimeoutException"
            return Response(f'{{"__type":"{kind}"}}'.encode(), error.status, media_type=CONTENT_TYPE)
        signed = _signed(request, body)
        status, content = await run_in_threadpool(answer, door, signed)
        if status == _WRONG_KEY and guesses.is_too_many(sender_of(request), access_key(signed)):
            return Response(_TOO_MANY, 429, media_type=CONTENT_TYPE)
        return Response(content, status, media_type=CONTENT_TYPE)

    return Starlette(routes=[Route("/", api, methods=["POST"]), *worker_routes(door)])


def _signed(request: Request, body: bytes) -> SignedRequest:
    """Return the request as it was signed; a header that came twice is joined as the signature joins it."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in request.headers.raw:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]},{value}" if name in headers else value
    scope: Any = request.scope
    path = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1").partition("?")[0]
    return SignedRequest(request.method, path, scope["query_string"].decode("latin-1"), headers, body)
