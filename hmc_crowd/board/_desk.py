"""From a browser's request to a page: sign-in, forms and their marks, limits, and how a refusal looks.

What a visitor sends never raises past here, and no refusal shows it again as anything but text.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, urlencode

from hmc_crowd._base.limits import BodyError, RateLimit, read_body
from hmc_crowd._base.senders import Guesses, is_cross_site, sender_of
from hmc_crowd.board._proxy import ForgedHeaderError
from hmc_crowd.board._refused import RefusedError
from hmc_crowd.board._render import HEADERS, STATIC, draw, name_of, static_file
from hmc_crowd.board._roles import may
from hmc_crowd.board._session import BROWSER, COOKIE, form_mark, is_form_mark, is_token, new_token
from hmc_crowd.errors import DatabaseBusyError, HmcCrowdError, InputError, StateError
from hmc_crowd.store import KeyRecord
from hmc_crowd.store._keys import key_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from anyio import CapacityLimiter
    from starlette.requests import Request
    from starlette.responses import Response

    from hmc_crowd.board._house import BoardHouse
    from hmc_crowd.board._proxy import TrustedProxy

__all__ = ["Desk", "Page", "RefusedError", "Visit"]

_LOG = logging.getLogger("hmc_crowd.board")
_MOST_FORM_BYTES = 64 << 10
_AT_ONCE = 8
_PROXY = "proxy:"


@dataclass(frozen=True)
class Page:
    """A template and what it shows."""

    template: str
    values: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200


@dataclass(frozen=True)
class Visit:
    """Who asks for what: the signed-in key, the path below the board, query and form.

    ``session`` is what the marks of forms are bound to; ``fresh`` the cookie that the browser is to get, if any.
    """

    house: BoardHouse
    who: KeyRecord
    session: str
    values: Mapping[str, str]
    query: Mapping[str, str]
    form: Mapping[str, str]
    fresh: str = ""

    def may(self, right: str) -> bool:
        """Say whether the visitor's role has a right."""
        return may(self.who.role, right)

    @property
    def by(self) -> str:
        """How what the visitor decides is signed in the database."""
        if self.who.id.startswith(_PROXY):
            return f"{self.who.label} (signed in by the proxy)"
        return f"{self.who.label or self.who.role} (key {self.who.id})"


class Desk:
    """Answers browsers over one house."""

    def __init__(self, house: BoardHouse) -> None:
        self.house, self.settings = house, house.settings
        self.guesses = Guesses(self.settings.sign_ins_per_minute)
        self.visits = RateLimit(self.settings.per_minute)
        self._threads: CapacityLimiter | None = None

    def endpoint(self, path: str, handler: Callable[[Visit], Page], *, right: str = "see") -> Callable[..., Any]:
        """Return the endpoint of a path; a POST needs the mark of its form."""

        async def handle(request: Request) -> Response:
            try:
                form = await self._form(request) if request.method == "POST" else {}
            except BodyError as error:
                return self._refusal(request, RefusedError(error.status, "The form is too large, or took too long."))
            reply: Response = await self.in_thread(self._answer, request, path, handler, right, form)
            return reply

        return handle

    async def sign_in(self, request: Request) -> Response:
        """Show the form, or exchange a key for a session."""
        if request.method == "GET":
            return self._drawn(request, Page("sign_in.html", {"problem": "", "to": _below(request.query_params)}), None)
        try:
            form = await self._form(request)
        except BodyError as error:
            return self._refusal(request, RefusedError(error.status, "The form is too large, or took too long."))
        reply: Response = await self.in_thread(self._sign_in, request, form)
        return reply

    async def static(self, request: Request) -> Response:
        """Send one of our files."""
        from starlette.responses import Response

        name = request.path_params["name"]
        if name not in STATIC:
            return Response(status_code=404, headers=HEADERS)
        kept = {"Cache-Control": "public, max-age=300", "X-Content-Type-Options": "nosniff"}
        return Response(static_file(name), media_type=STATIC[name], headers=kept)

    async def not_found(self, request: Request, _error: Exception) -> Response:
        """Answer what is no page of the board."""
        return self._refusal(request, RefusedError(404, "There is no such page."))

    def sign_out(self, request: Request) -> Response:
        """End the sign-in of this browser, wherever its cookie was copied to."""
        from starlette.responses import RedirectResponse

        with self.house.store.begin() as tx:
            tx.sign_ins.end_token(request.cookies.get(COOKIE, ""))
        reply = RedirectResponse(f"{_root(request)}/sign-in", 303, headers=HEADERS)
        reply.delete_cookie(COOKIE, path=_root(request) or "/")
        return reply

    async def in_thread(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Run what waits for the database beside the event loop."""
        from anyio import CapacityLimiter
        from anyio.to_thread import run_sync

        if self._threads is None:
            self._threads = CapacityLimiter(_AT_ONCE)
        return await run_sync(work, *arguments, limiter=self._threads)

    def visitor(self, request: Request) -> tuple[KeyRecord, str, str] | None:
        """Return the key that this browser signed in with, if it still opens the board; or whom a proxy signed in.

        With it comes what marks of forms are bound to, and the cookie that the browser is to get, if any.

        Raises
        ------
        RefusedError
            A proxy's header came from elsewhere, or names a person without a role.
        """
        proxy = self.settings.proxy
        if proxy is not None and (signed_in := self._by_proxy(proxy, request)) is not None:
            return signed_in
        session = request.cookies.get(COOKIE, "")
        if not is_token(session):
            return None
        with self.house.store.read() as tx:
            found = tx.sign_ins.find(session)
        return (found[1], session, "") if found is not None and may(found[1].role, "enter") else None

    def _by_proxy(self, proxy: TrustedProxy, request: Request) -> tuple[KeyRecord, str, str] | None:
        try:
            person = proxy.person(request)
        except ForgedHeaderError:
            raise RefusedError(403, "This request carries a sign-in that is not the proxy's.") from None
        if person is None:
            return None
        if person.role is None:
            raise RefusedError(403, f"You are signed in as {person.name}, who has no role on this board.")
        name = f"{_PROXY}{person.name}"
        held = request.cookies.get(BROWSER, "")
        token = held if is_token(held) else new_token()
        key = KeyRecord(name, person.role, person.name, self.house.clock.now())
        return key, f"{name}\n{token}", "" if token == held else token

    # How an answer is made.

    def _answer(
        self, request: Request, path: str, handler: Callable[[Visit], Page], right: str, form: Mapping[str, str]
    ) -> Response:
        try:
            if request.method == "POST" and is_cross_site(request, public_url=self.settings.public_url):
                raise RefusedError(403, "This form was sent from another site; open the page here and send it again.")
            found = self.visitor(request)
            if found is None:
                return self._to_sign_in(request)
            key, session, fresh = found
            if not self.visits.allows(key.id):
                raise RefusedError(429, "Too many requests; wait a minute.")
            if not may(key.role, right):
                raise RefusedError(403, f"A key of the role {key.role} may not do this.")
            values = {name: name_of(str(value)) for name, value in request.path_params.items()}
            target = path.format(**values)
            if request.method == "POST" and not self._is_ours(session, target, form.get("mark", "")):
                raise RefusedError(403, "This form is not one of ours, or its sign-in is over; open the page again.")
            if path == "sign-out":
                return self.sign_out(request)
            visit = Visit(self.house, key, session, values, dict(request.query_params), form, fresh)
            return self._drawn(request, handler(visit), visit)
        except RefusedError as error:
            return self._refusal(request, error)
        except InputError as error:
            return self._refusal(request, RefusedError(404, str(error)))
        except StateError as error:
            return self._refusal(request, RefusedError(409, str(error)))
        except DatabaseBusyError:
            return self._refusal(request, RefusedError(503, "The database is busy; try again in a moment."))
        except HmcCrowdError:
            _LOG.exception("a page of the board could not be answered")
            return self._refusal(request, RefusedError(503, "This did not work; look at the server's log."))

    def _is_ours(self, session: str, path: str, mark: str) -> bool:
        now, lasts_s = self.house.clock.now(), self.settings.session_s
        return is_form_mark(self.house.secret, session, path, mark, now=now, lasts_s=lasts_s)

    def _sign_in(self, request: Request, form: Mapping[str, str]) -> Response:
        from starlette.responses import RedirectResponse

        # Another site could sign a browser in with a key of its own, and read what its user then writes.
        if is_cross_site(request, public_url=self.settings.public_url):
            return self._refusal(request, RefusedError(403, "This form was sent from another site; sign in here."))
        to, given = _below(form), form.get("key", "").strip()
        token = ""
        with self.house.store.read() as tx:
            key = tx.keys.find(given)
        if key is not None and may(key.role, "enter"):
            with self.house.store.begin() as tx:
                tx.sign_ins.end_token(request.cookies.get(COOKIE, ""))
                token = tx.sign_ins.start(key, lasts_s=self.settings.session_s)[1]
        elif key is None and self.guesses.is_too_many(sender_of(request), key_name(given)):
            return self._refusal(request, RefusedError(429, "Too many wrong keys; wait a minute. The right one works."))
        if not token:
            problem = (
                "This key does not open the board. Ask the owner for one with the role expert, auditor, reviewer or "
                "owner."
            )
            return self._drawn(request, Page("sign_in.html", {"problem": problem, "to": to}, 403), None)
        reply = RedirectResponse(f"{_root(request)}/{to}", 303, headers=HEADERS)
        self._keep_cookie(request, reply, COOKIE, token)
        return reply

    def _keep_cookie(self, request: Request, reply: Response, name: str, token: str) -> None:
        reply.set_cookie(
            name,
            token,
            max_age=int(self.settings.session_s),
            path=_root(request) or "/",
            secure=self.settings.is_secure,
            httponly=True,
            samesite="strict",
        )

    def _to_sign_in(self, request: Request) -> Response:
        from starlette.responses import RedirectResponse

        # Who follows a link to a page comes to that page when he has signed in; a form is not sent again.
        path = quote(request.url.path.removeprefix(_root(request)).lstrip("/"), safe="/~")
        asked = "" if request.method == "POST" else _below({"to": f"{path}?{request.url.query}".rstrip("?")})
        to = f"?{urlencode({'to': asked})}" if asked else ""
        return RedirectResponse(f"{_root(request)}/sign-in{to}", 303, headers=HEADERS)

    async def _form(self, request: Request) -> dict[str, str]:
        body = await read_body(request, most=_MOST_FORM_BYTES, within_s=self.settings.body_s)
        try:
            read = parse_qs(body.decode("utf-8", errors="replace"), keep_blank_values=True, max_num_fields=100)
        except ValueError:
            raise BodyError(400) from None
        return {name: values[-1] for name, values in read.items()}

    def _drawn(self, request: Request, page: Page, visit: Visit | None) -> Response:
        from starlette.responses import HTMLResponse

        def mark(path: str) -> str:
            if visit is None:
                return ""
            return form_mark(self.house.secret, visit.session, path, at=self.house.clock.now())

        common: dict[str, Any] = {
            "root": _root(request),
            "who": None if visit is None else visit.who,
            "campaign": "" if visit is None else visit.values.get("campaign", ""),
            "mark": mark,
            "may": (lambda _right: False) if visit is None else visit.may,
        }
        # So that older browsers name our own origin, and not nobody's, when a form of this page is sent.
        sent = HEADERS | {"Referrer-Policy": "same-origin"}
        reply = HTMLResponse(draw(page.template, **common | dict(page.values)), page.status, headers=sent)
        if visit is not None and visit.fresh:
            self._keep_cookie(request, reply, BROWSER, visit.fresh)
        return reply

    def _refusal(self, request: Request, error: RefusedError) -> Response:
        heading = "Not possible" if error.status != 404 else "Not found"
        return self._drawn(request, Page("message.html", {"heading": heading, "text": error.text}, error.status), None)


def _root(request: Request) -> str:
    return str(request.scope.get("root_path", "")).rstrip("/")


def _below(given: Mapping[str, str]) -> str:
    """Return where to go after the sign-in: a path of ours, never an address."""
    to = given.get("to", "")
    is_ours = to.startswith("c/") and to.isascii() and to.isprintable() and not set(to) & set(' \\:"<>')
    return to if is_ours and "//" not in to and ".." not in to else ""
