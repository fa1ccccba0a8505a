"""The routes of the workers' pages. Refusals become pages that say what to do; nothing here decides a rule."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from hmc_crowd._base.limits import BodyError, read_body
from hmc_crowd._base.senders import Guesses, sender_of
from hmc_crowd.errors import HmcCrowdError, InputError
from hmc_crowd_local._timing import PageEvent
from hmc_crowd_local.mturk_api import _pages
from hmc_crowd_local.mturk_api._problems import TurkError, WrongLinkError
from hmc_crowd_local.mturk_api._work import PREVIEW_ID
from hmc_crowd_local.mturk_api._workers_door import WorkersDoor
from hmc_crowd_local.mturk_api._xml import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from hmc_crowd_local.mturk_api._front import FrontDoor

__all__ = ["worker_routes"]

# Fields that frames and pages add; they are no answers.
_OWN = {"assignmentId"}
_MOST_EVENTS = 1_000
_MOST_FIELDS = 10_000
_BAD_REQUEST = 400
_INSIDE = ("/mturk/content", "/mturk/externalSubmit")


class _Routes:
    def __init__(self, door: FrontDoor) -> None:
        self.door, self.workers, self.settings = door, WorkersDoor(door), door.settings

    def origin(self, request: Request) -> str:
        if self.settings.public_origin:
            parts = urlsplit(self.settings.public_origin)
            return f"{parts.scheme}://{parts.netloc}"
        return f"{request.url.scheme}://{request.url.netloc}"

    def worker(self, values: Any) -> tuple[str, str]:
        worker, key = str(values.get("workerId") or ""), str(values.get("key") or "")
        if not worker:
            raise InputError("this address names no worker; open the link that you were sent")
        self.workers.check(worker, key)
        return worker, key

    def hit(self, request: Request) -> str:
        query = request.query_params
        if query.get("hitId"):
            return query["hitId"]
        if not query.get("groupId"):
            raise InputError("the address names no HIT; give hitId, or groupId with the id of a group or a HIT type")
        return self.workers.find_hit(query["groupId"])

    # Pages.

    def hits(self, request: Request) -> Response:
        worker, key = self.worker(request.query_params)
        page = _pages.hits_page(
            self.workers.offers(worker),
            self.workers.under_way(worker),
            self.workers.messages(worker),
            worker=worker,
            key=key,
            settings=self.settings,
        )
        return HTMLResponse(page, headers=_pages.own_headers())

    def preview(self, request: Request) -> Response:
        worker, key = (None, "")
        if request.query_params.get("workerId"):
            worker, key = self.worker(request.query_params)
        offer = self.workers.preview(self.hit(request), worker)
        page = _pages.frame_page(
            offer,
            None,
            worker=worker,
            key=key,
            origin=self.origin(request),
            settings=self.settings,
            preview_pass=None if worker is None else self.workers.preview_pass(offer.hit_id),
        )
        return HTMLResponse(page, headers=_pages.own_headers())

    def accept(self, request: Request) -> Response:
        worker, key = self.worker(request.query_params)
        work = self.workers.accept(self.hit(request), worker)
        work = self.workers.open_page(work.assignment_id, worker)
        page = _pages.frame_page(
            self.workers.offer(work.hit_id),
            work,
            worker=worker,
            key=key,
            origin=self.origin(request),
            settings=self.settings,
        )
        return HTMLResponse(page, headers={**_pages.own_headers(), "X-Assignment-Id": work.assignment_id})

    def content(self, request: Request) -> Response:
        query = request.query_params
        origin = self.origin(request)
        if query.get("turkSubmitTo", origin) != origin:
            raise InputError("turkSubmitTo names another host than this workplace; open the HIT from the list again")
        assignment_id = query.get("assignmentId", PREVIEW_ID)
        offer = self.workers.inside(
            query.get("hitId", ""), assignment_id, worker=query.get("workerId"), pass_=query.get("pass", "")
        )
        page = _pages.inside_page(offer, assignment_id)
        return HTMLResponse(page, headers=_pages.frame_headers(origin, sandboxed=True))

    def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _pages.STATIC:
            return Response(status_code=404)
        # Sandboxed pages have an origin of their own, so their scripts come from another one.
        headers = {"Access-Control-Allow-Origin": "*", "X-Content-Type-Options": "nosniff"}
        return Response(_pages.static_file(name), media_type=_pages.STATIC[name], headers=headers)

    # What workers send.

    def submit(self, request: Request, fields: list[tuple[str, str]]) -> Response:
        values = dict(fields)
        assignment_id, worker = values.get("assignmentId", ""), values.get("workerId") or None
        answers = [(name, value) for name, value in fields if name not in _OWN]
        work = self.workers.submit(assignment_id, answers, worker)
        if work.status == "late":
            page = _pages.message_page(
                "Your time was over",
                "Your work is saved. It came after the deadline, so it is not counted and not paid by itself; "
                "the people of this workplace see it in a list of their own and can make up for it.",
            )
        else:
            page = _pages.message_page("Thank you", "Your work is handed in.")
        return HTMLResponse(page, headers=_pages.frame_headers(self.origin(request), sandboxed=False))

    def give_back(self, _request: Request, fields: list[tuple[str, str]]) -> Response:
        worker, _ = self.worker(dict(fields))
        self.workers.return_(dict(fields).get("assignmentId", ""), worker)
        page = _pages.message_page("Given back", "The HIT is given back; somebody else can do it.")
        return HTMLResponse(page, headers=_pages.own_headers())

    def events(self, _request: Request, document: dict[str, Any]) -> Response:
        worker, _ = self.worker(document)
        events = document.get("events")
        if not isinstance(events, list) or len(events) > _MOST_EVENTS:
            raise InputError(f"events must be a list of at most {_MOST_EVENTS} entries")
        now = self.door.now()
        kept = [
            (
                _whole(each.get("seq")),
                PageEvent(str(each.get("kind")), now, _text(each.get("item"))),
                _number(each.get("t")),
            )
            for each in events
            if isinstance(each, dict)
        ]
        self.workers.record_events(str(document.get("assignmentId")), worker, _spread(kept))
        return Response(status_code=204)

    def draft(self, request: Request, document: dict[str, Any] | None) -> Response:
        values = request.query_params if document is None else document
        worker, _ = self.worker(values)
        assignment_id = str(values.get("assignmentId"))
        if document is None:
            work = self.workers.open_page(assignment_id, worker)
            return JSONResponse({"fields": work.draft}, headers={"Cache-Control": "no-store"})
        self.workers.save_draft(assignment_id, worker, _pairs(document.get("fields", [])))
        return Response(status_code=204)

    def ask(self, request: Request) -> Response:
        worker, key = self.worker(request.query_params)
        type_id = request.query_params.get("qualificationTypeId", "")
        request_id, state, test = self.workers.ask_qualification(type_id, worker)
        if test is None:
            page = _pages.message_page("Qualification", f"Your request is {state}.")
        else:
            hidden = [("qualificationTypeId", type_id), ("requestId", request_id), ("workerId", worker), ("key", key)]
            page = _pages.form_page(test, "Qualification test", action="/mturk/test", hidden=hidden)
        return HTMLResponse(page, headers={**_pages.own_headers(), "X-Request-Id": request_id})

    def test(self, _request: Request, fields: list[tuple[str, str]]) -> Response:
        values = dict(fields)
        worker, _ = self.worker(values)
        state = self.workers.submit_test(
            values.get("qualificationTypeId", ""), values.get("requestId", ""), worker, fields
        )
        texts = {
            "granted": "Your test is scored.",
            "pending": "A person will look at your test.",
            "lapsed": "The time of this test was over; ask for it again.",
        }
        return HTMLResponse(_pages.message_page("Qualification test", texts[state]), headers=_pages.own_headers())


def _spread(events: list[tuple[int, PageEvent, float | None]]) -> list[tuple[int, PageEvent, float | None]]:
    """Date the events of one batch backwards from its arrival by the page's own clock, whose differences are good."""
    clocks = [page_ms for _, _, page_ms in events if page_ms is not None]
    if not clocks:
        return events
    last = max(clocks)
    return [
        (seq, PageEvent(event.kind, event.at - timedelta(milliseconds=min(last - page_ms, 3.6e6)), event.item), page_ms)
        if page_ms is not None
        else (seq, event, page_ms)
        for seq, event, page_ms in events
    ]


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise InputError(f"seq of an event is {str(value)[:40]!r}; give a whole number")
    return value


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and abs(value) < 1e12 else None


def _text(value: Any) -> str | None:
    return None if value is None else plain(str(value)[:200])


def _pairs(fields: Any) -> list[tuple[str, str]]:
    """Return the fields of a draft: names and values, as many as a form may have."""
    if not isinstance(fields, list) or len(fields) > _MOST_FIELDS:
        raise InputError(f"fields must be a list of at most {_MOST_FIELDS:,} pairs")
    for each in fields:
        if not (isinstance(each, list) and len(each) == 2 and all(isinstance(part, str) for part in each)):
            raise InputError(f"fields holds {str(each)[:40]!r}; each entry is a list of a name and a value")
    return [(plain(name), plain(value)) for name, value in fields]


def worker_routes(door: FrontDoor) -> list[Route]:
    """Return the routes of the workers' pages."""
    routes = _Routes(door)
    most, within_s = door.settings.most_answer_bytes, door.settings.body_s
    unread = {413: f"What you sent is larger than {most:,} bytes.", 408: "What you sent took too long; send it again."}

    def framed_by(request: Request) -> str | None:
        return routes.origin(request) if request.url.path in _INSIDE else None

    guesses = Guesses(door.settings.wrong_keys_per_minute)

    def guarded(request: Request, handle: Callable[[], Response]) -> Response:
        try:
            return _guarded(handle, framed_by(request))
        except WrongLinkError as error:
            # Right links are never counted, so nobody is locked out by another's guesses.
            if guesses.is_too_many(sender_of(request), error.worker):
                return _refusal(429, "Too many wrong links; wait a minute. The right one works.", framed_by(request))
            return _refusal(error.status, error.message, framed_by(request))

    def page(path: str, handle: Callable[[Request], Response]) -> Route:
        async def endpoint(request: Request) -> Response:
            return await run_in_threadpool(guarded, request, lambda: handle(request))

        return Route(path, endpoint, methods=["GET"])

    def form(path: str, handle: Callable[[Request, list[tuple[str, str]]], Response]) -> Route:
        async def endpoint(request: Request) -> Response:
            try:
                body = await read_body(request, most=most, within_s=within_s)
            except BodyError as error:
                return _refusal(error.status, unread.get(error.status, "It did not come whole."), framed_by(request))
            # Reading a large form takes a while, and nobody else is to wait for it.
            return await run_in_threadpool(guarded, request, lambda: handle(request, _fields(request, body, most)))

        return Route(path, endpoint, methods=["POST"])

    def document(path: str, handle: Callable[[Request, dict[str, Any]], Response]) -> Route:
        async def endpoint(request: Request) -> Response:
            try:
                body = await read_body(request, most=most, within_s=within_s)
            except BodyError as error:
                return Response(status_code=error.status)
            return await run_in_threadpool(guarded, request, lambda: handle(request, _object(body)))

        return Route(path, endpoint, methods=["POST"])

    return [
        page("/mturk/hits", routes.hits),
        page("/mturk/preview", routes.preview),
        page("/mturk/accept", routes.accept),
        page("/mturk/content", routes.content),
        page("/mturk/static/{name}", routes.static),
        page("/mturk/qualification", routes.ask),
        page("/mturk/draft", lambda request: routes.draft(request, None)),
        form("/mturk/externalSubmit", routes.submit),
        form("/mturk/return", routes.give_back),
        form("/mturk/test", routes.test),
        document("/mturk/draft", routes.draft),
        document("/mturk/events", routes.events),
    ]


def _object(body: bytes) -> dict[str, Any]:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise InputError("what was sent is no JSON object")
    return content


def _fields(request: Request, body: bytes, most: int) -> list[tuple[str, str]]:
    """Return the fields of a form, urlencoded or multipart, in their order; files are left out.

    Raises
    ------
    InputError
        It is no form, or has too many fields.
    """
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        text = body.decode("utf-8", errors="replace")
        try:
            return parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
        except ValueError:
            raise InputError(f"what was sent has more than {_MOST_FIELDS:,} fields") from None

    async def replay() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def parsed() -> list[tuple[str, str]]:
        # Without an application in the scope what cannot be read is an exception, not an answer of the framework's.
        scope = {name: value for name, value in request.scope.items() if name != "app"}
        async with Request(scope, receive=replay).form(max_fields=_MOST_FIELDS, max_part_size=most) as sent:
            return [(name, value) for name, value in sent.multi_items() if isinstance(value, str)]

    try:
        return asyncio.run(parsed())
    except (MultiPartException, ValueError, LookupError):
        raise InputError("what was sent is no form that can be read") from None


def _guarded(handle: Callable[[], Response], framed_by: str | None = None) -> Response:
    """Turn a refusal into a page; what the worker typed is never echoed as HTML."""
    try:
        return handle()
    except WrongLinkError:
        raise
    except TurkError as error:
        return _refusal(error.status if error.status != _BAD_REQUEST else 409, error.message, framed_by)
    except InputError as error:
        return _refusal(_BAD_REQUEST, str(error), framed_by)
    except HmcCrowdError:
        text = "The workplace cannot answer now. Your work is not lost: try again in a minute."
        return _refusal(503, text, framed_by)


def _refusal(status: int, text: str, framed_by: str | None = None) -> Response:
    """Return a page that says why not; inside a frame where what it answers was sent from one."""
    headers = _pages.own_headers() if framed_by is None else _pages.frame_headers(framed_by, sandboxed=False)
    return HTMLResponse(_pages.message_page("This is not possible", text), status, headers=headers)
