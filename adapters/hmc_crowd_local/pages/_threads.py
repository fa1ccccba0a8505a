"""What workers and the people in charge say to each other: a thread per item and worker, and a word after the HIT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from hmc_crowd.errors import InputError
from hmc_crowd_local._records import check_text
from hmc_crowd_local._tables_pages import FEEDBACK, MESSAGE

if TYPE_CHECKING:
    from datetime import datetime

    from hmc_crowd._base.ids import IdSource
    from hmc_crowd_local._database import Database

__all__ = ["Feedback", "Message", "Threads"]

_MOST_CHARS = 4_000
_MOST_MESSAGES = 50
# Asked with every question: built once, it costs a third.
_THREAD = (
    sa.select(MESSAGE)
    .where(MESSAGE.c.submission_id == sa.bindparam("of_submission"), MESSAGE.c.item == sa.bindparam("of_item"))
    .order_by(MESSAGE.c.message_id)
)


@dataclass(frozen=True)
class Message:
    """One message of a thread; ``author`` is ``worker`` or ``owner``."""

    submission_id: str
    item: str
    author: str
    text: str
    at: datetime


@dataclass(frozen=True)
class Feedback:
    """What a worker says of a HIT: was the task clear, was the pay fair (1 to 5, or not said), and in words."""

    submission_id: str
    clear: int | None
    fair: int | None
    text: str
    at: datetime


class Threads:
    """Messages and feedback.

    Parameters
    ----------
    database : Database
        The workplace's.
    ids : IdSource
        Names messages; their order is that of their ids.
    """

    def __init__(self, database: Database, ids: IdSource) -> None:
        self._database = database
        self._ids = ids

    def of(self, submission_id: str, item: str) -> list[Message]:
        """Return the thread of one worker about one item, oldest first."""
        return self._read(_THREAD, {"of_submission": submission_id, "of_item": item})

    def unanswered(self) -> list[Message]:
        """Return the last message of every thread in which a worker waits for an answer, oldest first."""
        newer = MESSAGE.alias()
        later = (
            newer.c.submission_id == MESSAGE.c.submission_id,
            newer.c.item == MESSAGE.c.item,
            newer.c.message_id > MESSAGE.c.message_id,
        )
        last = ~sa.exists().where(*later)
        return self._read(sa.select(MESSAGE).where(last, MESSAGE.c.author == "worker").order_by(MESSAGE.c.message_id))

    def ask(self, submission_id: str, item: str, text: str, *, at: datetime) -> None:
        """Keep a worker's question about an item.

        Raises
        ------
        InputError
            The text is empty or too long, or the thread is full.
        """
        if len(self.of(submission_id, item)) >= _MOST_MESSAGES:
            raise InputError(f"this thread has {_MOST_MESSAGES} messages; write to the contact instead")
        self._put(submission_id, item, "worker", text, at)

    def reply(self, submission_id: str, item: str, text: str, *, at: datetime) -> None:
        """Keep what a person in charge answers; the worker sees it beside the item."""
        self._put(submission_id, item, "owner", text, at)

    def put_feedback(self, given: Feedback) -> None:
        """Keep what a worker says of a HIT; said again, it replaces the earlier."""
        _check(given.text, least=0)
        for name in ("clear", "fair"):
            if getattr(given, name) not in {None, 1, 2, 3, 4, 5}:
                raise InputError(f"{name} is {getattr(given, name)}; give 1 to 5 or nothing")
        row = {
            "submission_id": given.submission_id,
            "clear": given.clear,
            "fair": given.fair,
            "text": given.text,
            "at": given.at,
        }
        with self._database.write() as connection:
            connection.execute(sa.delete(FEEDBACK).where(FEEDBACK.c.submission_id == given.submission_id))
            connection.execute(sa.insert(FEEDBACK), [row])

    def feedback(self, submission_id: str) -> Feedback | None:
        """Return what the worker said of the HIT, if anything."""
        with self._database.read() as connection:
            query = sa.select(FEEDBACK).where(FEEDBACK.c.submission_id == submission_id)
            row = connection.execute(query).one_or_none()
        return None if row is None else Feedback(row.submission_id, row.clear, row.fair, row.text, row.at)

    def _put(self, submission_id: str, item: str, author: str, text: str, at: datetime) -> None:
        _check(text, least=1)
        row = {"submission_id": submission_id, "item": item, "author": author, "text": text, "at": at}
        with self._database.write() as connection:
            connection.execute(sa.insert(MESSAGE), [{"message_id": self._ids.new(), **row}])

    def _read(self, query: sa.Select[tuple[object, ...]], values: dict[str, str] | None = None) -> list[Message]:
        with self._database.read() as connection:
            rows = connection.execute(query, values).all()
        return [Message(row.submission_id, row.item, row.author, row.text, row.at) for row in rows]


def _check(text: str, *, least: int) -> None:
    check_text(text, name="text")
    if not least <= len(text.strip()) or len(text) > _MOST_CHARS:
        raise InputError(f"text has {len(text):,} characters; write {least} to {_MOST_CHARS:,}")
