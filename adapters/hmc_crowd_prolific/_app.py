"""Two addresses that Prolific's people and machines reach: the router, and the webhooks' target.

Whoever serves the workers' pages mounts this beside them. The router asks Prolific and the pages, the receiver stores
before it answers. Both wait for others, so they have a few threads of their own: however many arrive, and however slow
Prolific is, whoever is at work on the pages is answered. Who finds all threads taken is asked to come again.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections import Counter
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.extras import require
from hmc_crowd._base.limits import BodyError, read_body
from hmc_crowd._base.senders import sender_of
from hmc_crowd.errors import PlatformUnavailableError
from hmc_crowd_prolific._arrivals import ArrivalOutcome

if TYPE_CHECKING:
    from starlette.requests import Request

    from hmc_crowd_prolific._arrivals import ProlificRouter
    from hmc_crowd_prolific._webhooks import WebhookReceiver

__all__ = ["make_app"]

_LARGEST = 1_000_000
_BODY_S = 10.0
# Threads that wait for Prolific; arrivals under way at most, in all and from one address (an office's, or a proxy's).
_AT_ONCE, _UNDER_WAY, _OF_ONE_ADDRESS = 8, 40, 20
_STYLE = (
    "body{font:1.1rem/1.5 system-ui,sans-serif;max-inline-size:36rem;margin:10vh auto;padding-inline:1rem}"
    "h1{font-size:1.4rem;line-height:1.3}"
)
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_HEADINGS = {
    ArrivalOutcome.REFUSED: "This link does not open any work",
    ArrivalOutcome.NOTHING_LEFT: "No work is left",
    ArrivalOutcome.OVER: "This submission is over",
}
_LATER = "Please try again in a minute"
_PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{heading}</title>'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    '<meta name="color-scheme" content="light dark"><style>{style}</style></head>'
    "<body><main><h1>{heading}</h1><p>{message}</p></main></body></html>"
)


def make_app(router: ProlificRouter, receiver: WebhookReceiver | None = None) -> Any:
    """Make an ASGI application with ``GET /arrive`` and, with a receiver, ``POST /hook``.

    Parameters
    ----------
    router : ProlificRouter
        Decides about arrivals; its ``/arrive`` is the ``study_url`` of `StudySettings`.
    receiver : WebhookReceiver, optional
        Takes deliveries.

    Returns
    -------
    starlette.applications.Starlette
        Its pages may be framed by nobody and are stored nowhere; addresses with people's ids are passed to no other
        site.

    Raises
    ------
    MissingExtraError
        The extra ``web`` is not installed.
    """
    applications = require("starlette.applications", extra="web", purpose="serving Prolific's participants")
    responses = require("starlette.responses", extra="web", purpose="serving Prolific's participants")
    routing = require("starlette.routing", extra="web", purpose="serving Prolific's participants")
    anyio = require("anyio", extra="web", purpose="serving Prolific's participants")
    asking, storing = anyio.CapacityLimiter(_AT_ONCE), anyio.CapacityLimiter(1)
    from_address: Counter[str] = Counter()

    def page(heading: str, message: str, status: int) -> Any:
        text = _PAGE.format(heading=html.escape(heading), message=html.escape(message), style=_STYLE)
        return responses.HTMLResponse(text, status_code=status, headers=_HEADERS)

    async def arrive(request: Request) -> Any:
        address = sender_of(request)
        if from_address.total() >= _UNDER_WAY or from_address[address] >= _OF_ONE_ADDRESS:
            return page(_LATER, "Many people arrive at the moment. Please reload this page in a minute.", 503)
        from_address[address] += 1
        try:
            found = await anyio.to_thread.run_sync(router.arrive, request.query_params, limiter=asking)
        except PlatformUnavailableError:
            return page(_LATER, "Prolific does not answer at the moment. Please reload this page in a minute.", 503)
        finally:
            from_address[address] -= 1
            if not from_address[address]:
                del from_address[address]
        if found.address is not None:
            return responses.RedirectResponse(found.address, status_code=303, headers=_HEADERS)
        refused = found.outcome is ArrivalOutcome.REFUSED
        return page(_HEADINGS[found.outcome], found.message, 403 if refused else 200)

    async def hook(request: Request) -> Any:
        try:
            body = await read_body(request, most=_LARGEST, within_s=_BODY_S)
        except BodyError as error:
            return responses.Response(status_code=error.status)
        if receiver is None:
            return responses.Response(status_code=404)
        status = await anyio.to_thread.run_sync(receiver.receive, dict(request.headers), body, limiter=storing)
        return responses.Response(status_code=status)

    routes = [routing.Route("/arrive", arrive, methods=["GET"])]
    if receiver is not None:
        routes.append(routing.Route("/hook", hook, methods=["POST"]))
    return applications.Starlette(routes=routes)
