"""What `hmc-crowd serve` serves of the board: pages under ``/board``, the machine door under ``/api``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmc_crowd._base.serving import Mount
from hmc_crowd.board._deliver import Deliverer, HookSettings
from hmc_crowd.board._proxy import proxy_from
from hmc_crowd.store import open_store

if TYPE_CHECKING:
    from hmc_crowd._base.serving import ServeSettings
    from hmc_crowd.board._house import BoardHouse

__all__ = ["mount_board", "mount_door"]


def mount_board(settings: ServeSettings) -> Mount | None:
    """Serve the board; None where no campaigns' database was named.

    Raises
    ------
    StoreError
        The database cannot be used.
    InputError
        A setting of the board cannot be read.
    """
    from hmc_crowd.board import make_board_app
    from hmc_crowd.board._pulse import Pulse

    house = _house(settings)
    if house is None:
        return None
    pulse = Pulse(house.store).start()

    def close() -> None:
        pulse.stop()
        house.store.close()

    return Mount("/board", make_board_app(house), shown=(("the board", "/board/"),), close=close)


def mount_door(settings: ServeSettings) -> Mount | None:
    """Serve the machine door, and tell webhooks; None where no campaigns' database was named.

    Raises
    ------
    StoreError
        The database cannot be used.
    InputError
        A setting of the board cannot be read.
    """
    from hmc_crowd.board import make_door_app
    from hmc_crowd.board._metrics import Timings
    from hmc_crowd.board._pulse import Pulse

    house = _house(settings)
    if house is None:
        return None
    deliverer, timings = Deliverer(house), Timings()
    deliverer.start()
    pulse = Pulse(house.store, timings=timings).start()

    def close() -> None:
        pulse.stop()
        deliverer.close()
        house.group.close()
        house.store.close()

    return Mount(
        "/api",
        make_door_app(house, timings=timings),
        shown=(("the machine door", "/api/openapi.json"),),
        close=close,
        also=("/healthz", "/metrics"),
    )


def _house(settings: ServeSettings) -> BoardHouse | None:
    from hmc_crowd.board import BoardHouse, BoardSettings

    if settings.database is None:
        return None
    inner = settings.environment.get("HMC_CROWD_BOARD_WEBHOOK_HOSTS", "").split(",")
    limits = BoardSettings(
        is_secure=not settings.is_local,
        public_url=settings.public_url,
        proxy=proxy_from(settings.environment),
        hooks=HookSettings(inner_hosts=frozenset(each.strip() for each in inner if each.strip())),
    )
    return BoardHouse(
        open_store(settings.database, clock=settings.clock),
        secret=settings.workplace.secret("board"),
        clock=settings.clock,
        settings=limits,
        workplace=settings.workplace,
    )
