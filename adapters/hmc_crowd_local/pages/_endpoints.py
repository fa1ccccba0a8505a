"""From a request to a reply and back: bodies, links, limits, and how a refusal looks.

Nothing a visitor sends raises past here: a refusal is a page in his language that says what to do.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qs, quote

from hmc_crowd._base.limits import BodyError, RateLimit, read_body
from hmc_crowd._base.numbers import whole_number
from hmc_crowd._base.senders import Guesses, sender_of
from hmc_crowd.errors import DatabaseBusyError, HmcCrowdError, InputError, PlatformError
from hmc_crowd_local.pages._event_routes import keep_events
from hmc_crowd_local.pages._frame_routes import arrive
from hmc_crowd_local.pages._render import STATIC, draw, headers, static_file
from hmc_crowd_local.pages._replies import Data, Goto
from hmc_crowd_local.pages._texts import Texts, asked_language, choose_language
from hmc_crowd_local.pages._visit import RefusedError, Visit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from anyio import CapacityLimiter
    from starlette.requests import Request
    from starlette.responses import Response

    from hmc_crowd_local.pages._replies import Reply
    from hmc_crowd_local.pages._visit import House

    Handler = Callable[..., Reply]

__all__ = ["Endpoints"]

_LOG = logging.getLogger("hmc_crowd_local.pages")
# Requests answered at the same time: more threads only wait for each other, and for the database's connections.
_AT_ONCE = 12
_LAST_PAGE = 99_999


class Endpoints:
    """The endpoints of the pages over one workplace."""

    def __init__(self, house: House) -> None:
        self.house, self.settings = house, house.settings
        self.links = RateLimit(self.settings.per_minute)
        self.arrivals = RateLimit(self.settings.strangers_per_minute)
        self.guesses = Guesses(self.settings.strangers_per_minute)
        self._threads: CapacityLimiter | None = None

    def endpoint(self, door: str, path: str, get: Handler | None, post: Handler | None) -> Callable[..., Any]:
        """Return the endpoint of a path below a link."""

        async def handle(request: Request) -> Response:
            form: dict[str, list[str]] = {}
            if request.method == "POST":
                try:
                    body = await self._body(request)
                    form = parse_qs(body.decode("utf-8", errors="replace"), keep_blank_values=True, max_num_fields=500)
                except BodyError as error:
                    return self._refusal(request, RefusedError(f"body_{error.status}", error.status))
                except ValueError:
                    return self._refusal(request, RefusedError("bad_form", 400))
            handler = post if request.method == "POST" else get
            return await self._in_thread(
                request, lambda: self._answer(request, door, path, cast("Handler", handler), form)
            )

        return handle

    async def events(self, request: Request) -> Response:
        """Take a batch of page events."""
        try:
            body = await self._body(request)
        except BodyError as error:
            return self._plain(error.status)

        def answer() -> Response:
            try:
                visit = self._visit(request, "s", {}, drafts=False)
                return self._drawn(visit, keep_events(visit, body))
            except RefusedError as error:
                return self._plain(error.status)

        return await self._in_thread(request, answer)

    async def without_link(self, request: Request) -> Response:
        """Send an invited worker on to the HIT; without an invitation say how to come in."""

        def answer() -> Response:
            token = request.query_params.get("invite", "")
            if not token or "hit_id" not in request.path_params:
                return self._refusal(request, RefusedError("needs_link", 403))
            visit = self._visit(request, "i", {}, token=token)
            hit_id = quote(request.path_params["hit_id"], safe="")
            return self._drawn(visit, Goto(address=visit.url(f"hit/{hit_id}")))

        return await self._in_thread(request, answer)

    async def arrive(self, request: Request) -> Response:
        """Take in somebody who comes in the frame of an MTurk-API platform."""

        def answer() -> Response:
            if not self.arrivals.allows(sender_of(request)):
                raise RefusedError("too_often", 429)
            root = request.scope.get("root_path", "").rstrip("/")
            try:
                found = arrive(self.house, request.query_params, root=root)
            except RefusedError as error:
                return self._refusal(request, error, framed_by=self.settings.framers)
            return RedirectResponse(found.address, 303, headers=headers(framed_by=self.settings.framers))

        from starlette.responses import RedirectResponse

        return await self._in_thread(request, answer)

    async def static(self, request: Request) -> Response:
        """Send one of our files."""
        from starlette.responses import Response

        name = request.path_params["name"]
        if name not in STATIC:
            return self._plain(404)
        kept = {"Cache-Control": "public, max-age=300", "X-Content-Type-Options": "nosniff"}
        return Response(static_file(name), media_type=STATIC[name], headers=kept)

    async def not_found(self, request: Request, _error: Exception) -> Response:
        """Answer what is no page of ours."""
        return self._refusal(request, RefusedError("no_such_page", 404))

    # How an answer is made.

    async def _body(self, request: Request) -> bytes:
        return await read_body(request, most=self.settings.most_body_bytes, within_s=self.settings.body_s)

    async def _in_thread(self, request: Request, answer: Callable[[], Response]) -> Response:
        from anyio import CapacityLimiter
        from anyio.to_thread import run_sync

        if self._threads is None:
            self._threads = CapacityLimiter(_AT_ONCE)
        return await run_sync(self._guarded, request, answer, limiter=self._threads)

    def _guarded(self, request: Request, answer: Callable[[], Response]) -> Response:
        """Turn a refusal into a page; what was sent is never part of it."""
        try:
            return answer()
        except RefusedError as error:
            return self._refusal(request, error)
        except InputError:
            return self._refusal(request, RefusedError("bad_form", 400))
        except PlatformError:
            return self._refusal(request, RefusedError("not_possible", 409))
        except DatabaseBusyError:
            return self._refusal(request, RefusedError("try_again", 503))
        except HmcCrowdError:
            _LOG.exception("a page could not be answered")
            return self._refusal(request, RefusedError("try_again", 503))

    def _answer(
        self, request: Request, door: str, path: str, handler: Handler, form: Mapping[str, list[str]]
    ) -> Response:
        visit = self._visit(request, door, form)
        given = {name: str(value) for name, value in request.path_params.items() if name != "token"}
        if request.method == "POST":
            filled = path.replace(":int", "").format(**given)
            visit.stamped_at = visit.check_stamp(filled, visit.value("form"))
        values = {name: _number(text) if f"{name}:int" in path else text for name, text in given.items()}
        return self._drawn(visit, handler(visit, **values))

    def _visit(
        self, request: Request, door: str, form: Mapping[str, list[str]], *, token: str = "", drafts: bool = True
    ) -> Visit:
        """Return who asks, or refuse a link that is not ours and a sender who asks too often."""
        token = token or request.path_params["token"]
        work = invite = None
        try:
            if door == "s":
                work = self.house.work_of(token, drafts=drafts)
            else:
                invite = self.house.invite_of(token)
        except RefusedError:
            if self.guesses.is_too_many(sender_of(request)):
                raise RefusedError("too_often", 429) from None
            raise
        if not self.links.allows(token):
            raise RefusedError("too_often", 429)
        scope = "" if work is None else work.hit.scope
        return Visit(
            house=self.house,
            texts=self._texts(request),
            token=token,
            root=request.scope.get("root_path", "").rstrip("/"),
            worker=work.submission.worker if work is not None else invite.worker if invite is not None else "",
            study=self.settings.study_of(scope),
            asked_language=_asked_language(request),
            work=work,
            invite=invite,
            wants_json="application/json" in request.headers.get("accept", ""),
            form=form,
        )

    def _texts(self, request: Request) -> Texts:
        accepted = request.headers.get("accept-language", "")
        return Texts(choose_language(_asked_language(request) or None, accepted, self.settings.language))

    def _drawn(self, visit: Visit, reply: Reply) -> Response:
        from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

        if isinstance(reply, Goto):
            address = reply.address or visit.url(reply.path)
            if visit.wants_json:
                return JSONResponse({"next": address}, headers=headers())
            return RedirectResponse(address, 303, headers=headers())
        if isinstance(reply, Data):
            if reply.content is None:
                return Response(status_code=reply.status, headers=headers())
            return JSONResponse(reply.content, reply.status, headers=headers())
        page = draw(reply.template, reply.values, texts=visit.texts, visit=visit, static=f"{visit.root}/static")
        framed_by = self.settings.framers if reply.is_framed else ()
        return HTMLResponse(page, reply.status, headers=headers(framed_by=framed_by, form_to=reply.form_to))

    def _refusal(self, request: Request, error: RefusedError, *, framed_by: tuple[str, ...] = ()) -> Response:
        from starlette.responses import HTMLResponse, JSONResponse

        texts = self._texts(request)
        told = texts(error.key, **error.values)
        if "application/json" in request.headers.get("accept", ""):
            return JSONResponse({"problem": told}, error.status, headers=headers())
        static = f"{request.scope.get('root_path', '').rstrip('/')}/static"
        page = draw("message.html", {"text": told, "key": error.key}, texts=texts, visit=None, static=static)
        return HTMLResponse(page, error.status, headers=headers(framed_by=framed_by))

    @staticmethod
    def _plain(status: int) -> Response:
        from starlette.responses import Response

        return Response(status_code=status, headers=headers())


def _number(text: str) -> int:
    """Return the number of a page, or refuse what no page has: thousands of digits, or none."""
    found = whole_number(text, most=_LAST_PAGE)
    if found is None:
        raise RefusedError("no_such_page", 404)
    return found


def _asked_language(request: Request) -> str:
    return asked_language(request.query_params)
