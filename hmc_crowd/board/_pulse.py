"""Since when, and how reliably, does the server run, and when did the last alert come up?

A thread notes each minute in which the server is up. Alerts are judged anew at every look, so when one first came up is
remembered here, by the process that saw it.
"""

from __future__ import annotations

import logging
from threading import Event, Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING

from hmc_crowd.errors import HmcCrowdError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hmc_crowd.board._gate import Alert
    from hmc_crowd.board._metrics import Timings
    from hmc_crowd.store import Store

__all__ = ["AlertLog", "Pulse"]

_LOG = logging.getLogger("hmc_crowd.board")
# The figures of rules take more than a page should wait for; a lasting alert loses nothing in half a minute.
_LOOK_S = 30.0


class Pulse:
    """Notes the minutes in which a server over a database is up, from `start` until `stop`, and how it answers."""

    def __init__(self, store: Store, *, timings: Timings | None = None, every_s: float = 30.0) -> None:
        self._store, self._timings, self._every_s = store, timings, every_s
        self._over = Event()
        self._thread = Thread(target=self._run, name="hmc-crowd pulse", daemon=True)

    def start(self) -> Pulse:
        """Begin."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """End, and wait for the last note."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join(5.0)

    def beat(self) -> None:
        """Note the present minute; a database that is busy is asked again the next time."""
        calls, seconds = (0, 0.0) if self._timings is None else self._timings.take()
        try:
            with self._store.begin() as tx:
                tx.uptime.beat(calls=calls, seconds=seconds)
        except HmcCrowdError as error:
            _LOG.info("a minute of the server was not noted: %s", error)

    def _run(self) -> None:
        while True:
            self.beat()
            if self._over.wait(self._every_s):
                return


class AlertLog:
    """Remembers when each alert of each campaign came up; one that went away and comes back is new."""

    def __init__(self) -> None:
        self._since: dict[str, dict[tuple[str, str], datetime]] = {}
        self._last: dict[str, datetime] = {}
        self._looked: dict[str, float] = {}
        self._lock = Lock()

    def is_due(self, campaign: str) -> bool:
        """Say whether a campaign's rules are to be looked at again, and note that they are."""
        with self._lock:
            now = monotonic()
            due = now - self._looked.get(campaign, float("-inf")) >= _LOOK_S
            if due:
                self._looked[campaign] = now
            return due

    def note(self, campaign: str, alerts: Sequence[Alert], at: datetime) -> datetime | None:
        """Take what a look found; return when the newest alert came up, None where there never was one."""
        with self._lock:
            before = self._since.get(campaign, {})
            # What an alert says changes with every figure; which rule speaks of whom does not.
            now = {(alert.what, alert.about): before.get((alert.what, alert.about), at) for alert in alerts}
            self._since[campaign] = now
            newest = max(now.values(), default=None)
            last = self._last.get(campaign)
            if newest is not None and (last is None or newest > last):
                self._last[campaign] = newest
            return self._last.get(campaign)
