"""How a front door is opened."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, cast

from hmc_crowd._base.clock import SystemClock
from hmc_crowd._base.ids import RandomIds
from hmc_crowd_local._database import Database, resolve_address
from hmc_crowd_local._migrate import upgrade
from hmc_crowd_local._vault import seal_what_is_open
from hmc_crowd_local.mturk_api._front import FrontDoor
from hmc_crowd_local.mturk_api._settings import Settings

if TYPE_CHECKING:
    import numpy as np

    from hmc_crowd._base.clock import Clock
    from hmc_crowd._base.ids import IdSource

__all__ = ["open_front_door"]


class _SecretBytes:
    """Randomness that nobody can foresee: who knows an assignment's id may hand it in."""

    def bytes(self, length: int) -> bytes:
        return secrets.token_bytes(length)


def open_front_door(
    address: str | None = None,
    *,
    settings: Settings | None = None,
    clock: Clock | None = None,
    signing_clock: Clock | None = None,
    ids: IdSource | None = None,
    database: Database | None = None,
) -> FrontDoor:
    """Open the MTurk-API front door of a workplace; its database is made, or brought up to date, on the way.

    Parameters
    ----------
    address : str, optional
        As for `hmc_crowd_local.connect`: URL or file path, by default ``HMC_CROWD_WORKPLACE_URL``, else
        ``workplace.db``.
    settings : Settings, optional
        What the contract leaves open.
    clock : Clock, optional
        Judges deadlines, expiry and auto-approval; the machine's clock by default.
    signing_clock : Clock, optional
        Judges the age of signatures; the machine's clock by default, also where ``clock`` is another one.
    ids : IdSource, optional
        Names everything that the API shows; ids must consist of capital letters and digits.
    database : Database, optional
        An open workplace's, in place of an address.

    Raises
    ------
    InputError, StoreError
        As for `hmc_crowd_local.connect`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     door = open_front_door(f"{folder}/workplace.db")
    ...     key = door.issue_key("lab")
    ...     balance = door.call("lab", "GetAccountBalance", {})
    ...     door.close()
    >>> balance
    {'AvailableBalance': '10000.00', 'OnHoldBalance': '0.00'}
    """
    used = clock if clock is not None else SystemClock()
    opened = database
    if opened is None:
        opened = Database(resolve_address(address))
        upgrade(opened)
        seal_what_is_open(opened)
    return FrontDoor(
        opened,
        clock=used,
        signing_clock=signing_clock if signing_clock is not None else SystemClock(),
        ids=ids if ids is not None else RandomIds(used, cast("np.random.Generator", _SecretBytes())),
        settings=settings if settings is not None else Settings(),
    )
