"""Links of workers: each carries a key, which can be taken back and made anew; of a worker's keys one at most works."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from hmc_crowd.errors import InputError
from hmc_crowd_local._steps import twice
from hmc_crowd_local._tables_mturk import ASSIGNMENT, LINK

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from hmc_crowd_local._database import Database

__all__ = ["LinkRecord", "WorkerLinks", "check_worker"]

_WORKER = re.compile(r"A[A-Z0-9]{1,63}")


@dataclass(frozen=True)
class LinkRecord:
    """A worker's link as the list shows it: without its key; ``made_at`` is None for one from before the list."""

    worker: str
    made_at: datetime | None
    revoked_at: datetime | None


class WorkerLinks:
    """The part of a `FrontDoor` that gives workers their links and takes them back."""

    database: Database

    def now(self) -> datetime:
        """Return the present by the workplace's clock."""
        raise NotImplementedError

    def sign(self, text: str) -> str:
        """Return the mark that nobody else can put to a text."""
        raise NotImplementedError

    def erased_name(self, worker: str) -> str:
        """Return what stands for a worker's id once the worker was erased."""
        raise NotImplementedError

    def worker_key(self, worker: str) -> str:
        """Return the key of a worker's present link, so that nobody works under another's id.

        Raises
        ------
        InputError
            The link was taken back.
        """
        check_worker(worker)
        with self.database.read() as connection:
            row = self._row(connection, worker)
        return self._key(worker, 0 if row is None else _number(row))

    def issue_worker_key(self, worker: str, *, is_new: bool = False) -> str:
        """Return the key of a worker's link and note that it was given out.

        Parameters
        ----------
        worker : str
            An A, then capital letters and digits.
        is_new : bool, default False
            Make another one; that of before is refused from now on.

        Raises
        ------
        InputError
            The link was taken back, and no new one is asked for.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from hmc_crowd_local.mturk_api import open_front_door
        >>> with TemporaryDirectory() as folder:
        ...     door = open_front_door(f"{folder}/workplace.db")
        ...     leaked, good = door.issue_worker_key("A1ANN"), door.issue_worker_key("A1ANN", is_new=True)
        ...     found = door.is_worker_key("A1ANN", leaked), door.is_worker_key("A1ANN", good)
        ...     door.close()
        >>> found
        (False, True)
        """
        check_worker(worker)

        def attempt() -> int:
            with self.database.write() as connection:
                row = self._row(connection, worker, lock=True)
                if row is None:
                    values = {"worker": worker, "number": int(is_new), "made_at": self.now()}
                    connection.execute(sa.insert(LINK).values(values))
                    return int(is_new)
                if not is_new:
                    return _number(row)
                fresh = {"worker": worker, "number": row.number + 1, "made_at": self.now(), "revoked_at": None}
                connection.execute(sa.update(LINK).where(LINK.c.worker == row.worker).values(fresh))
                return int(row.number) + 1

        return self._key(worker, twice(attempt))

    def revoke_worker_key(self, worker: str) -> None:
        """Take a worker's link back: it is refused from now on. Again it changes nothing."""
        check_worker(worker)

        def attempt() -> None:
            with self.database.write() as connection:
                row = self._row(connection, worker, lock=True)
                if row is None:
                    connection.execute(sa.insert(LINK).values(worker=worker, number=0, revoked_at=self.now()))
                elif row.revoked_at is None:
                    gone = sa.update(LINK).where(LINK.c.worker == worker)
                    connection.execute(gone.values(revoked_at=self.now()))

        twice(attempt)

    def is_worker_key(self, worker: str, key: str) -> bool:
        """Whether a key is that of the worker's present link."""
        with self.database.read() as connection:
            row = self._row(connection, worker)
        if row is not None and row.revoked_at is not None:
            return False
        wanted = self._key(worker, 0 if row is None else row.number)
        return hmac.compare_digest(wanted.encode(), key.encode("utf-8", "replace"))

    def worker_links(self) -> list[LinkRecord]:
        """Return the links of all who were given one or have worked here, by worker."""
        with self.database.read() as connection:
            links = {row.worker: row for row in connection.execute(sa.select(LINK))}
            worked = set(connection.execute(sa.select(ASSIGNMENT.c.worker).distinct()).scalars())
        return [
            LinkRecord(each, links[each].made_at, links[each].revoked_at)
            if each in links
            else LinkRecord(each, None, None)
            # Whoever was erased has no link to make or take back.
            for each in sorted(filter(_WORKER.fullmatch, links.keys() | worked))
        ]

    def _row(self, connection: sa.Connection, worker: str, *, lock: bool = False) -> Any:
        """Return the row of a worker's link, of one who was erased and is back as well."""
        query = sa.select(LINK).where(LINK.c.worker.in_([worker, self.erased_name(worker)]))
        return connection.execute(query.with_for_update() if lock else query).one_or_none()

    def _key(self, worker: str, number: int) -> str:
        # The first key of each is that of older versions, whose links go on working until they are taken back.
        return self.sign(f"worker:{worker}:{number}" if number else f"worker:{worker}")


def check_worker(worker: str) -> None:
    """Refuse a worker id that the API could not show."""
    if not _WORKER.fullmatch(worker):
        raise InputError(f"worker is {worker[:80]!r}; MTurk's form is an A, then capital letters and digits")


def _number(row: Any) -> int:
    """Return which of a worker's keys works, or refuse where none does."""
    if row.revoked_at is not None:
        at = f"{row.revoked_at:%Y-%m-%d %H:%M}"
        raise InputError(f"the link of worker {row.worker} was taken back on {at} UTC; make a new one (--new)")
    return int(row.number)
