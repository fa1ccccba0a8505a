"""The entry point ``hmc_crowd.platforms: local``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmc_crowd._base.clock import SystemClock
from hmc_crowd._base.ids import RandomIds
from hmc_crowd.platform import FeeSchedule
from hmc_crowd_local._database import Database, resolve_address
from hmc_crowd_local._migrate import upgrade
from hmc_crowd_local._platform import LocalPlatform
from hmc_crowd_local._vault import seal_what_is_open

if TYPE_CHECKING:
    from hmc_crowd._base.clock import Clock
    from hmc_crowd._base.ids import IdSource

__all__ = ["connect"]


def connect(
    address: str | None = None,
    *,
    clock: Clock | None = None,
    ids: IdSource | None = None,
    fees: FeeSchedule | None = None,
    pages: str | None = None,
) -> LocalPlatform:
    """Open a workplace; its database is made, or brought up to date, on the way.

    Parameters
    ----------
    address : str, optional
        Database URL (SQLite or PostgreSQL) or file path; by default the environment's ``HMC_CROWD_WORKPLACE_URL``, else
        ``workplace.db`` in the current folder.
    clock : Clock, optional
        Stamps everything and judges deadlines; the machine's clock by default.
    ids : IdSource, optional
        Names HITs and submissions; random and time-ordered by default.
    fees : FeeSchedule, optional
        What the platform takes on top of the reward, for rehearsing another platform's prices; nothing by default.
    pages : str, optional
        Where the workers' pages are served; the addresses that `LocalPlatform.show` returns begin with it. By default
        where they were served last, and before that ``http://127.0.0.1:8000``.

    Raises
    ------
    InputError
        The address is no file path and no URL of a database we can use.
    StoreError
        The database cannot be opened, is not ours, or is newer than this code.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, connect(f"{folder}/workplace.db") as platform:
    ...     platform.account().mode, Path(folder, "workplace.db").exists()
    ('local', True)
    """
    import numpy as np

    used = clock if clock is not None else SystemClock()
    database = Database(resolve_address(address))
    upgrade(database)
    seal_what_is_open(database)
    return LocalPlatform(
        database,
        clock=used,
        ids=ids if ids is not None else RandomIds(used, np.random.default_rng()),
        fees=fees if fees is not None else FeeSchedule(),
        pages=pages,
    )
