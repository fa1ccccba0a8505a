"""The task pages as an ASGI application: which pages there are, and what answers on each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmc_crowd._base.extras import require
from hmc_crowd.errors import InputError
from hmc_crowd_local.pages import _after_routes as after
from hmc_crowd_local.pages import _exam_routes as exams
from hmc_crowd_local.pages import _home_routes as homes
from hmc_crowd_local.pages import _own_routes as owns
from hmc_crowd_local.pages import _people_routes as people
from hmc_crowd_local.pages import _work_routes as works
from hmc_crowd_local.pages._endpoints import Endpoints
from hmc_crowd_local.pages._visit import House

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.applications import Starlette

    from hmc_crowd_local._platform import LocalPlatform
    from hmc_crowd_local.pages._replies import Reply
    from hmc_crowd_local.pages._settings import PagesSettings

    Handler = Callable[..., Reply]

__all__ = ["make_pages_app"]

#: path below a link's door -> (on GET, on POST). ``{number}`` and ``{hit_id}`` are handed on.
WORK_ROUTES: Mapping[str, tuple[Handler | None, Handler | None]] = {
    "": (works.enter, None),
    "q/{number:int}": (works.open_question, works.save_question),
    "review": (works.review, works.submit),
    "done": (after.done, None),
    "feedback": (None, after.give_feedback),
    "guide": (after.guide, None),
    "ask/{number:int}": (after.thread, after.ask),
    "return": (after.want_to_give_back, after.give_back),
    "consent": (people.consent, people.give_consent),
    "check": (people.check, people.answer_check),
    "training": (people.practice, people.answer_practice),
    "test": (exams.show_test, exams.answer_test),
    "survey": (people.survey, people.answer_survey),
    "withdraw": (people.want_to_withdraw, people.withdraw),
    "preferences": (people.preferences, people.save_preferences),
}
INVITE_ROUTES: Mapping[str, tuple[Handler | None, Handler | None]] = {
    "": (homes.home, None),
    "hit/{hit_id}": (homes.open_hit, homes.take_hit),
    "me": (owns.own, None),
    "me/shifts": (owns.own, owns.add_turn),
    "me/shifts/drop": (None, owns.drop_turn),
    "preferences": (people.preferences, people.save_preferences),
    "test": (exams.show_test, exams.answer_test),  # for those whose work went to somebody else meanwhile
}


def make_pages_app(local: LocalPlatform, *, secret: bytes, settings: PagesSettings) -> Starlette:
    """Return the task pages of a workplace, to be served or mounted (at ``/work``, where its links point).

    Parameters
    ----------
    local : LocalPlatform
        The workplace; the caller closes it.
    secret : bytes
        Signs links and forms, ``local.secret("pages")``; whoever knows it can make links.
    settings : PagesSettings
        Studies, limits, languages.

    Returns
    -------
    starlette.applications.Starlette
        ``/mturk`` is the address of an ExternalQuestion, ``/s/{token}/...`` is one submission's work,
        ``/i/{token}/...`` an invitation's home, ``/hit/{hit_id}`` where the addresses of `LocalPlatform.show` lead.

    Raises
    ------
    MissingExtraError
        The extra ``web`` is not installed.
    InputError
        The secret is shorter than 16 bytes.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from hmc_crowd_local import connect
    >>> from hmc_crowd_local.pages import PagesSettings
    >>> with TemporaryDirectory() as folder, connect(f"{folder}/w.db") as local:
    ...     app = make_pages_app(local, secret=b"sixteen bytes at least", settings=PagesSettings())
    ...     sorted({route.path.split("/")[1] for route in app.routes})
    ['', 'hit', 'i', 'mturk', 's', 'static']
    """
    require("fastapi", extra="web", purpose="the workers' pages")
    from starlette.applications import Starlette
    from starlette.routing import Route

    if len(secret) < 16:
        raise InputError(f"secret has {len(secret)} bytes; give 16 or more that nobody can guess")
    pages = Endpoints(House(local, secret=secret, settings=settings))
    routes = [
        Route(f"/s/{{token}}{_below(path)}", pages.endpoint("s", path, *pair), methods=_methods(*pair))
        for path, pair in WORK_ROUTES.items()
    ]
    routes += [
        Route(f"/i/{{token}}{_below(path)}", pages.endpoint("i", path, *pair), methods=_methods(*pair))
        for path, pair in INVITE_ROUTES.items()
    ]
    routes += [
        Route("/s/{token}/events", pages.events, methods=["POST"]),
        Route("/", pages.without_link, methods=["GET"]),
        Route("/mturk", pages.arrive, methods=["GET"]),
        Route("/hit/{hit_id}", pages.without_link, methods=["GET"]),
        Route("/static/{name}", pages.static, methods=["GET"]),
    ]
    return Starlette(routes=routes, exception_handlers={404: pages.not_found, 405: pages.not_found})


def _below(path: str) -> str:
    # Numbers are read by `Endpoints`: the router's own reading fails on 5,000 digits.
    return f"/{path.replace(':int', '')}" if path else ""


def _methods(get: Handler | None, post: Handler | None) -> list[str]:
    return [name for name, handler in (("GET", get), ("POST", post)) if handler is not None]
