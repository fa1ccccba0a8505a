"""The stand-in on a real port of this machine, for clients that speak HTTP."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx
import uvicorn

from hmc_crowd.errors import PlatformUnavailableError
from hmc_crowd_prolific.standin._app import make_app
from hmc_crowd_prolific.standin._hooks import deliver_due
from hmc_crowd_prolific.standin._world import Options, World

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hmc_crowd._base.clock import Clock

__all__ = ["StandIn", "running_standin"]


class StandIn:
    """A stand-in that runs: where it is, and its state.

    Attributes
    ----------
    url : str
        Its address, without ``/api/v1``.
    world : World
        Its state; hold ``world.lock`` while changing it.
    """

    def __init__(self, url: str, world: World) -> None:
        self.url = url
        self.world = world

    @property
    def api(self) -> str:
        """Where the API begins."""
        return f"{self.url}/api/v1/"

    def calls(self, method: str, path: str) -> int:
        """Return how many calls of a method had this path; one ``*`` in it stands for anything."""
        head, star, tail = path.partition("*")
        with self.world.lock:
            return sum(
                call["method"] == method
                and call["path"].startswith(head)
                and call["path"].endswith(tail)
                and len(call["path"]) >= len(head) + len(tail)
                and (bool(star) or call["path"] == path)
                for call in self.world.calls
            )

    def deliver(self) -> int:
        """Send the webhooks that are due and return how many attempts that were."""
        with httpx.Client(timeout=5) as client:

            def post(url: str, body: bytes, headers: Mapping[str, str]) -> int:
                try:
                    return client.post(url, content=body, headers=dict(headers)).status_code
                except httpx.HTTPError:
                    return 0

            return deliver_due(self.world, post)


@contextmanager
def running_standin(*, clock: Clock | None = None, options: Options | None = None, port: int = 0) -> Iterator[StandIn]:
    """Serve a new stand-in on 127.0.0.1 while the block runs.

    Parameters
    ----------
    clock : Clock, optional
        A `VirtualClock` by default, moved by ``POST /_ctl/clock/advance`` or by its owner.
    options : Options, optional
        Wallet, fees and delays.
    port : int, default 0
        0 takes any free port.

    Examples
    --------
    >>> with running_standin() as standin:
    ...     httpx.get(f"{standin.url}/_ctl/state", trust_env=False).json()["spent_minor"]
    0
    """
    world = World(clock, options)
    config = uvicorn.Config(
        make_app(world), host="127.0.0.1", port=port, log_config=None, lifespan="off", ws="none", access_log=False
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, name="prolific-standin", daemon=True)
    thread.start()
    pause = threading.Event()
    while not server.started:
        if not thread.is_alive():
            raise PlatformUnavailableError(f"the stand-in cannot listen on port {port}; take another one")
        pause.wait(0.01)
    try:
        yield StandIn(f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}", world)
    finally:
        server.should_exit = True
        thread.join(10)
