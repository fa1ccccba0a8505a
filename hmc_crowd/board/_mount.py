"""What `hmc-crowd serve` serves of the board: pages under ``/board``, the machine door under ``/api``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmc_crowd._base.serving import Mount
from hmc_crowd.errors import StoreError
from hmc_crowd.store import open_store

if TYPE_CHECKING:
    from hmc_crowd._base.serving import ServeSettings
    from hmc_crowd.board._house import BoardHouse

__all__ = ["mount_board", "mount_door"]


def mount_board(settings: ServeSettings) -> Mount | None:
    """Serve the board; None where there is no campaigns' database yet."""
    from hmc_crowd.board import make_board_app

    house = _house(settings)
    if house is None:
        return None
    return Mount("/board", make_board_app(house), shown=(("the board", "/board/"),), close=house.store.close)


def mount_door(settings: ServeSettings) -> Mount | None:
    """Serve the machine door; None where there is no campaigns' database yet."""
    from hmc_crowd.board import make_door_app

    house = _house(settings)
    if house is None:
        return None
    return Mount(
        "/api",
        make_door_app(house),
        shown=(("the machine door", "/api/openapi.json"),),
        close=house.store.close,
        also=("/healthz", "/metrics"),
    )


def _house(settings: ServeSettings) -> BoardHouse | None:
    from hmc_crowd.board import BoardHouse, BoardSettings

    if settings.database is None:
        return None
    try:
        store = open_store(settings.database, clock=settings.clock)
    except StoreError:
        return None
    return BoardHouse(
        store,
        secret=settings.workplace.secret("board"),
        clock=settings.clock,
        settings=BoardSettings(is_secure=not settings.is_local),
        workplace=settings.workplace,
    )
