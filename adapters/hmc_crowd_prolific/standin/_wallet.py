"""The workspace's wallet: one call about money at a time (rule S16)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from hmc_crowd_prolific.standin._errors import Refusal

if TYPE_CHECKING:
    from hmc_crowd_prolific.standin._world import World

__all__ = ["Wallet"]


class Wallet:
    """One call about money at a time; another one meanwhile gets 429 (rule S16)."""

    def __init__(self, world: World) -> None:
        self._world = world

    def __enter__(self) -> None:
        if not self._world.wallet_lock.acquire(blocking=False):
            raise Refusal(429, "The workspace's wallet is busy.", title="Too many requests")
        if self._world.options.wallet_hold_s:
            time.sleep(self._world.options.wallet_hold_s)

    def __exit__(self, *_: object) -> None:
        self._world.wallet_lock.release()
