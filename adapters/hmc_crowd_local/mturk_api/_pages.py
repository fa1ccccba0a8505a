"""The worker's pages: HTML and the headers that go with it.

Pages of ours may not be framed; what stands inside the frame may be framed by us alone, and a requester's HTML is
sandboxed: it runs on an origin of its own, without our cookies, storage or pages.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined

from hmc_crowd_local.mturk_api._content import external_address, form_parts
from hmc_crowd_local.mturk_api._work import PREVIEW_ID

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hmc_crowd_local.mturk_api._questions import Question
    from hmc_crowd_local.mturk_api._settings import Settings
    from hmc_crowd_local.mturk_api._workers_door import Offer, Work

__all__ = [
    "STATIC",
    "form_page",
    "frame_headers",
    "frame_page",
    "hits_page",
    "inside_page",
    "message_page",
    "own_headers",
    "static_file",
]

STATIC: Mapping[str, str] = {
    "crowd.js": "text/javascript",
    "externalHIT_v1.js": "text/javascript",
    "inside.js": "text/javascript",
    "outside.js": "text/javascript",
    "page.css": "text/css",
}


@lru_cache(maxsize=1)
def _environment() -> Environment:
    loader = PackageLoader("hmc_crowd_local.mturk_api", "templates")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined)


@lru_cache(maxsize=8)
def static_file(name: str) -> bytes:
    """Return a file that pages load."""
    return files("hmc_crowd_local.mturk_api").joinpath("static", name).read_bytes()


def _render(template: str, **values: Any) -> str:
    return _environment().get_template(template).render(values)


def own_headers() -> dict[str, str]:
    """Return the headers of pages that nobody may put into a frame."""
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src *; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    )
    return {"Content-Security-Policy": policy, "X-Frame-Options": "DENY", **_COMMON}


def frame_headers(origin: str, *, sandboxed: bool) -> dict[str, str]:
    """Return the headers of what stands inside the frame: framed by ``origin`` alone, on an origin of its own."""
    policy = f"frame-ancestors {origin}"
    if sandboxed:
        policy += f"; sandbox {SANDBOX}"
    return {"Content-Security-Policy": policy, **_COMMON}


# Pages of the closed service used confirm() and alert(); none of these gives a page our origin.
SANDBOX = "allow-scripts allow-forms allow-popups allow-modals"
_COMMON = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff"}


def message_page(title: str, text: str) -> str:
    """Return a page that says one thing."""
    return _render("page.html", title=title, text=text)


def hits_page(
    offers: Sequence[Offer],
    under_way: Sequence[tuple[Offer, Work]],
    messages: Sequence[Any],
    *,
    worker: str,
    key: str,
    settings: Settings,
) -> str:
    """Return the list of what a worker has begun and may take, with his messages."""
    return _render(
        "hits.html",
        title="Work",
        offers=offers,
        under_way=under_way,
        messages=messages,
        query=urlencode({"workerId": worker, "key": key}),
        currency=settings.currency,
    )


def frame_page(
    offer: Offer,
    work: Work | None,
    *,
    worker: str | None,
    key: str,
    origin: str,
    settings: Settings,
    preview_pass: str | None = None,
) -> str:
    """Return the page around the frame: of an assignment, or of a preview when there is none."""
    assignment_id = PREVIEW_ID if work is None else work.assignment_id
    parameters = {
        "assignmentId": assignment_id,
        "hitId": offer.hit_id,
        "workerId": None if work is None else work.worker,
        "turkSubmitTo": origin,
    }
    url = offer.question.url
    if url is None:
        parameters["pass"] = preview_pass
    address = external_address(url if url is not None else "/mturk/content", **parameters)
    return _render(
        "frame.html",
        title=offer.title,
        offer=offer,
        work=work,
        worker=worker,
        key=key,
        address=address,
        sandbox=SANDBOX if url is None else f"{SANDBOX} allow-same-origin",
        height=offer.question.frame_height,
        query=urlencode({"workerId": worker or "", "key": key}),
        currency=settings.currency,
    )


def inside_page(offer: Offer, assignment_id: str) -> str:
    """Return what stands inside the frame for HTMLQuestion and QuestionForm."""
    if offer.page is not None:
        return offer.page.page(assignment_id)
    return form_page(
        offer.question,
        offer.title,
        action="/mturk/externalSubmit",
        hidden=[("assignmentId", assignment_id)],
        is_preview=assignment_id == PREVIEW_ID,
        is_inside=True,
    )


def form_page(
    question: Question,
    title: str,
    *,
    action: str,
    hidden: Sequence[tuple[str, str]],
    is_preview: bool = False,
    is_inside: bool = False,
) -> str:
    """Return a QuestionForm as a form."""
    parts = [] if question.form is None else list(form_parts(question.form))
    return _render(
        "form.html",
        title=title,
        action=action,
        hidden=hidden,
        parts=parts,
        is_preview=is_preview,
        is_inside=is_inside,
    )
