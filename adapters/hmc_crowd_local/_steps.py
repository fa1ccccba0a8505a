"""How a step becomes a transaction: load a HIT and what the step needs besides, apply it, store what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import sqlalchemy as sa

from hmc_crowd._base.clock import as_utc
from hmc_crowd.errors import DuplicateError
from hmc_crowd_local._desk import Desk
from hmc_crowd_local._repository import Questions, chunks, flush, load_claims, load_hit_of, load_hits, load_work
from hmc_crowd_local._secrets import secret_of
from hmc_crowd_local._tables import ADDRESS, HIT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from hmc_crowd._base.clock import Clock
    from hmc_crowd._base.ids import IdSource
    from hmc_crowd.platform import Hit
    from hmc_crowd_local._database import Database

__all__ = ["Steps", "twice"]

T = TypeVar("T")


class Steps:
    """An open workplace: its database, its clock, its ids, and where its pages are."""

    def __init__(self, database: Database, *, clock: Clock, ids: IdSource, pages: str | None) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids
        self._told_pages = None if pages is None else pages.rstrip("/")
        self._questions = Questions()

    @property
    def _pages(self) -> str:
        """Where people's browsers reach the pages."""
        return self._told_pages or self.served_at() or "http://127.0.0.1:8000"

    def served_at(self) -> str | None:
        """Return where the pages were served last, as the server said; None where no server has run here."""
        query = sa.select(ADDRESS.c.url).where(ADDRESS.c.what == "pages")
        with self._database.read() as connection:
            found: str | None = connection.execute(query).scalar()
        return found

    def serve_at(self, url: str) -> None:
        """Keep where the pages are served from now on, for links that other processes make."""
        from hmc_crowd_local.pages._people import upsert  # because the pages stand on the workplace

        row = {"what": "pages", "url": url.rstrip("/")}
        with self._database.write() as connection:
            upsert(connection, ADDRESS, row, moving=("url",))

    def secret(self, name: str) -> bytes:
        """Return the workplace's secret of this name, made when it is first asked for; all processes share it."""
        return secret_of(self._database, name)

    def _now(self) -> datetime:
        return as_utc(self._clock.now(), name="clock")

    def _at_hit(
        self,
        hit_id: str,
        step: Callable[[Desk, datetime], T],
        *,
        worker: str | None = None,
        work: str | None = None,
        guard: Callable[[sa.Connection, Desk, datetime], None] | None = None,
    ) -> T:
        """Do a step at a HIT; ``worker`` brings his claims along, ``work`` the answers and events of a submission.

        ``guard`` may refuse the step for what stands elsewhere in the database, in the same transaction.
        """

        def attempt() -> T:
            with self._database.write() as connection:
                desk = Desk(self._ids)
                load_hits(connection, desk, [hit_id], lock=True)
                desk.hit(hit_id)
                if worker is not None:
                    load_claims(connection, desk, [hit_id], worker=worker)
                if guard is not None:
                    guard(connection, desk, self._now())
                return self._step(connection, desk, hit_id, step, work=work)

        return twice(attempt)

    def _change(self, submission_id: str, step: Callable[[Desk, datetime], T], *, work: bool = False) -> T:
        """Do a step at the HIT of a submission."""

        def attempt() -> T:
            with self._database.write() as connection:
                desk = Desk(self._ids)
                load_hit_of(connection, desk, submission_id, self._questions)
                hit_id = desk.submission(submission_id).hit_id
                return self._step(connection, desk, hit_id, step, work=submission_id if work else None)

        return twice(attempt)

    def _step(
        self,
        connection: sa.Connection,
        desk: Desk,
        hit_id: str,
        step: Callable[[Desk, datetime], T],
        *,
        work: str | None,
    ) -> T:
        now = self._now()
        if work is not None:
            load_work(connection, desk, work)
        desk.sweep(hit_id, at=now)
        result = step(desk, now)
        flush(connection, desk)
        return result

    def _ensure(self, hits: Iterable[Hit]) -> dict[str, str]:
        """Publish the HITs that are not here yet, some hundred per transaction; return all ids by key."""
        now, found = self._now(), dict[str, str]()

        def attempt(some: Sequence[Hit]) -> None:
            with self._database.write() as connection:
                desk = Desk(self._ids)
                held = sa.select(HIT.c.hit_id).where(HIT.c.key.in_([hit.key for hit in some]))
                load_hits(connection, desk, list(connection.execute(held).scalars()))
                found.update((hit.key, desk.publish(hit, at=now).hit_id) for hit in some)
                flush(connection, desk)

        for some in chunks(list(hits)):
            twice(lambda some=some: attempt(some))  # type: ignore[misc]
        return found


def twice(attempt: Callable[[], T]) -> T:
    """Try again once when another process wrote the same row first: the second look sees what it wrote."""
    try:
        return attempt()
    except DuplicateError:
        return attempt()
