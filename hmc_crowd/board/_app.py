"""The board and the machine door as ASGI applications: which addresses there are, and what answers on each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmc_crowd._base.extras import require
from hmc_crowd.board import _experts as experts
from hmc_crowd.board import _pages as pages
from hmc_crowd.board import _sample as sample
from hmc_crowd.board import _worker_links as worker_links
from hmc_crowd.board._allocate import allocate_items
from hmc_crowd.board._desk import Desk
from hmc_crowd.board._door import Door
from hmc_crowd.board._expert_work import expert_work
from hmc_crowd.board._hooks import end_webhook, list_webhooks, make_webhook
from hmc_crowd.board._line import claim_items, give_items_back, keep_answers, show_queue
from hmc_crowd.board._watch import Watch

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from hmc_crowd.board._house import BoardHouse
    from hmc_crowd.board._metrics import Timings

__all__ = ["make_board_app", "make_door_app"]

_CAMPAIGN = "c/{campaign}"
# path -> (handler, right, method)
_PAGES = (
    ("", pages.campaigns, "enter", "GET"),
    ("sign-out", pages.sign_out, "enter", "POST"),
    ("links", worker_links.links, "links", "GET"),
    ("links/new", worker_links.new_link, "links", "POST"),
    ("links/end", worker_links.end_link, "links", "POST"),
    (_CAMPAIGN, pages.campaign, "see", "GET"),
    (f"{_CAMPAIGN}/webhooks", pages.webhooks, "hooks", "GET"),
    (f"{_CAMPAIGN}/webhooks/again", pages.send_again, "hooks", "POST"),
    (f"{_CAMPAIGN}/webhooks/end", pages.end_hook, "hooks", "POST"),
    (f"{_CAMPAIGN}/part", pages.part, "see", "GET"),
    (f"{_CAMPAIGN}/item", pages.item, "labels", "GET"),
    (f"{_CAMPAIGN}/worker", pages.worker, "see", "GET"),
    (f"{_CAMPAIGN}/submission", pages.submission, "labels", "GET"),
    (f"{_CAMPAIGN}/submission/approve", pages.approve, "review", "POST"),
    (f"{_CAMPAIGN}/submission/reject", pages.reject, "review", "POST"),
    (f"{_CAMPAIGN}/submission/bonus", pages.bonus, "pay", "POST"),
    (f"{_CAMPAIGN}/experts", experts.experts, "adjudicate", "GET"),
    (f"{_CAMPAIGN}/experts/case", experts.case, "adjudicate", "GET"),
    (f"{_CAMPAIGN}/experts/judge", experts.judge_case, "adjudicate", "POST"),
    (f"{_CAMPAIGN}/experts/decide", experts.decide_case, "adjudicate", "POST"),
    (f"{_CAMPAIGN}/confusion", experts.matrix, "see", "GET"),
    (f"{_CAMPAIGN}/expert-work", expert_work, "see", "GET"),
    (f"{_CAMPAIGN}/sample", sample.start, "audit", "GET"),
    (f"{_CAMPAIGN}/sample/draw", sample.draw_sample, "audit", "POST"),
    (f"{_CAMPAIGN}/sample/next", sample.next_case, "audit", "POST"),
    (f"{_CAMPAIGN}/sample/judge", sample.judge_sample, "audit", "POST"),
    (f"{_CAMPAIGN}/sample/open", sample.open_sample, "audit", "POST"),
)


def make_board_app(house: BoardHouse) -> Starlette:
    """Return the pages for the people in charge, to be served or mounted (at ``/board``).

    Parameters
    ----------
    house : BoardHouse
        The open database, the secret and the limits.

    Raises
    ------
    MissingExtraError
        The extra ``web`` is not installed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from hmc_crowd._base.clock import SystemClock
    >>> from hmc_crowd.board import BoardHouse
    >>> from hmc_crowd.store import open_store
    >>> with TemporaryDirectory() as folder, open_store(f"{folder}/c.db", create=True) as store:
    ...     app = make_board_app(BoardHouse(store, secret=b"sixteen bytes at least", clock=SystemClock()))
    ...     sorted({route.path.split("/")[1] for route in app.routes})
    ['', 'c', 'links', 'sign-in', 'sign-out', 'static']
    """
    require("fastapi", extra="web", purpose="the board")
    from starlette.applications import Starlette
    from starlette.routing import Route

    desk = Desk(house)
    routes = [
        Route(f"/{path}", desk.endpoint(path, handler, right=right), methods=[method])
        for path, handler, right, method in _PAGES
    ]
    routes += [
        Route(f"/{_CAMPAIGN}/live", Watch(desk).endpoint, methods=["GET"]),
        Route("/sign-in", desk.sign_in, methods=["GET", "POST"]),
        Route("/static/{name}", desk.static, methods=["GET"]),
    ]
    return Starlette(routes=routes, exception_handlers={404: desk.not_found, 405: desk.not_found})


def make_door_app(house: BoardHouse, *, timings: Timings | None = None) -> Starlette:
    """Return the machine door, to be served or mounted (at ``/api``); its OpenAPI document is ``/openapi.json``.

    Parameters
    ----------
    house : BoardHouse
        The open database and the limits.
    timings : Timings, optional
        Where calls and their times are counted; its own by default.

    Raises
    ------
    MissingExtraError
        The extra ``web`` is not installed.
    """
    require("fastapi", extra="web", purpose="the machine door")
    from starlette.applications import Starlette
    from starlette.routing import Route

    door = Door(house, timings)
    calls = [
        ("POST", "allocate", allocate_items, "allocate"),
        ("POST", "claim", claim_items, "claim"),
        ("POST", "give-back", give_items_back, "claim"),
        ("POST", "answers", keep_answers, "answer"),
        ("POST", "webhooks", make_webhook, "hooks"),
        ("POST", "webhooks/end", end_webhook, "hooks"),
        ("GET", "webhooks", list_webhooks, "hooks"),
        ("GET", "queue", show_queue, "queue"),
        ("GET", "metrics", door.metrics, "metrics"),
    ]
    routes = []
    for method, path, call, right in calls:
        kind = door.changing if method == "POST" else door.reading
        routes.append(Route(f"/{path}", kind(call, right, path), methods=[method]))
    routes += [
        Route("/openapi.json", door.openapi, methods=["GET"]),
        Route("/healthz", door.healthz, methods=["GET"]),
    ]
    return Starlette(routes=routes, exception_handlers={404: door.not_found, 405: door.not_found})
