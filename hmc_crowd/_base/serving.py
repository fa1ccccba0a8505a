"""What does `hmc-crowd serve` serve? Whatever the installed packages mount, in one application.

A package names a function in the entry-point group ``hmc_crowd.apps``: ``mount(settings) -> Mount | None``, None where
what it needs is not configured. So pages, doors and webhooks of many packages share a host, and nobody imports another.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.extras import require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from hmc_crowd._base.clock import Clock

__all__ = ["PEER", "Mount", "ServeSettings", "keep_peer", "load_mounts", "make_app"]

GROUP = "hmc_crowd.apps"
#: Answers 200 to anybody while the server works.
HEALTH = "/healthz"
PEER = "hmc_crowd.peer"
"""Under this name a request's scope holds the address that connected, whatever forwarding headers say of it."""


@dataclass(frozen=True)
class ServeSettings:
    """What a package may need to know to serve its part.

    Parameters
    ----------
    workplace : LocalPlatform
        The open workplace; known here by its behaviour alone.
    public_url : str
        Where people's browsers reach the server, without a slash at the end.
    clock : Clock
        Judges deadlines.
    database : str, optional
        Address of the campaigns' database.
    environment : mapping of str to str
        Tokens and secrets are read from here.
    completions : dict
        By recruiting platform: ``completion(order_key) -> address``, where its people go when their work is
        committed. Packages that recruit put theirs in when they are mounted.
    study : str, optional
        A file that says what workers read and pass before the work.
    bound : str, default ""
        ``host:port`` that the server listens on, where that is one address.
    """

    workplace: Any
    public_url: str
    clock: Clock
    database: str | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    completions: dict[str, Callable[[str], str]] = field(default_factory=dict)
    study: str | None = None
    bound: str = ""

    def completion(self, platform: str, external_id: str) -> str | None:
        """Return where somebody goes whom a platform recruited and whose work is committed; None where unknown."""
        find, key = self.completions.get(platform), self.workplace.order_of(platform, external_id)
        return None if find is None or key is None else find(key)

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches the server."""
        return self.public_url.startswith("http://")


@dataclass(frozen=True)
class Mount:
    """An application and where it is served.

    Parameters
    ----------
    path : str
        For example ``"/work"``; empty for what serves the root.
    app : ASGI application
        Sees paths without ``path``.
    shown : sequence of (str, str)
        What is there, and its path, for the list that is printed at the start.
    close : callable, optional
        Called when the server stops.
    also : sequence of str
        Single addresses outside ``path`` that the application answers too, for example ``"/healthz"``.
    """

    path: str
    app: Any
    shown: Sequence[tuple[str, str]] = ()
    close: Callable[[], None] | None = None
    also: Sequence[str] = ()


def keep_peer(app: Any) -> Any:
    """Note in each request who really connected, before anything reads forwarding headers."""

    async def noted(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            scope = {**scope, PEER: scope.get("client")}
        await app(scope, receive, send)

    return noted


def load_mounts(settings: ServeSettings) -> list[Mount]:
    """Return what the installed packages serve with these settings, the root last."""
    points = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    found = [point.load()(settings) for point in points]
    return sorted((each for each in found if each is not None), key=lambda each: (-len(each.path), each.path))


def make_app(mounts: Iterable[Mount]) -> Any:
    """Put the mounts behind one another in one ASGI application.

    Raises
    ------
    MissingExtraError
        The extra ``web`` is not installed.
    """
    applications = require("starlette.applications", extra="web", purpose="hmc-crowd serve")
    routing = require("starlette.routing", extra="web", purpose="hmc-crowd serve")
    responses = require("starlette.responses", extra="web", purpose="hmc-crowd serve")
    known = list(mounts)
    single = [routing.Route(path, endpoint=each.app) for each in known for path in each.also]
    if not any(HEALTH in each.also for each in known):
        # Before there is a campaign, a proxy must still learn that requests are answered.
        single.append(routing.Route(HEALTH, lambda _request: responses.JSONResponse({"status": "ok"})))
    return applications.Starlette(routes=single + [routing.Mount(each.path, app=each.app) for each in known])
