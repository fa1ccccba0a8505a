"""What arrives from Prolific's webhooks: is it Prolific's, is it new, and what does it mean?

A webhook is a hint. It is verified over the bytes that came, its id is stored before it is answered, and only then the
resource it names is read from the API: what is in the payload decides nothing. Late, repeated and reordered deliveries
therefore change nothing. What is stored names no person.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import sqlite3
import threading
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from hmc_crowd._base.limits import read_document
from hmc_crowd._base.numbers import finite_number
from hmc_crowd._base.sqlite import open_sqlite
from hmc_crowd.errors import InputError, PlatformError, PlatformUnavailableError, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from hmc_crowd._base.clock import Clock
    from hmc_crowd_prolific._client import ProlificClient
    from hmc_crowd_prolific._models import Study, Submission

__all__ = ["Inbox", "SqliteInbox", "WebhookEvent", "WebhookReceiver", "is_signed", "process_events"]

_LOG = logging.getLogger(__name__)
_WINDOW = timedelta(hours=24)


@dataclass(frozen=True)
class WebhookEvent:
    """A verified event: which resource is worth reading again.

    ``mark`` is the hash of the signature it came with. The id is no part of what is signed, so that whoever has seen
    one delivery could send it again under other ids; its mark stays the same.
    """

    id: str
    kind: str
    resource_id: str
    mark: str | None = field(default=None, compare=False)


class Inbox(Protocol):
    """Where events are kept; shared by all processes that receive, and as durable as the answer 200 promises."""

    def add(self, event: WebhookEvent, *, at: datetime) -> bool:
        """Store an event, committed; return False where its id or its mark is known already."""
        ...

    def pending(self) -> Sequence[WebhookEvent]:
        """Return the events that are not done, oldest first."""
        ...

    def done(self, event_id: str) -> None:
        """Mark an event as dealt with."""
        ...


class SqliteInbox:
    """An inbox in one SQLite file.

    Parameters
    ----------
    path : str or Path
        Made where it does not exist.

    Examples
    --------
    >>> inbox = SqliteInbox(":memory:")
    >>> event = WebhookEvent("e1", "submission.status.change", "s1")
    >>> moment = datetime(2026, 1, 1, tzinfo=UTC)
    >>> inbox.add(event, at=moment), inbox.add(event, at=moment), len(inbox.pending())
    (True, False, 1)
    """

    def __init__(self, path: str | Path) -> None:
        self._lock = threading.Lock()
        try:
            self._database = open_sqlite(
                path, create=True, option="file", timeout=30, check_same_thread=False, isolation_level=None
            )
            self._database.execute(
                "CREATE TABLE IF NOT EXISTS prolific_event (id TEXT PRIMARY KEY, kind TEXT NOT NULL, "
                "resource_id TEXT NOT NULL, received_at TEXT NOT NULL, is_done INTEGER NOT NULL DEFAULT 0, mark TEXT)"
            )
            columns = {row[1] for row in self._database.execute("PRAGMA table_info(prolific_event)")}
            if "mark" not in columns:
                self._database.execute("ALTER TABLE prolific_event ADD COLUMN mark TEXT")
            self._database.execute("CREATE UNIQUE INDEX IF NOT EXISTS prolific_event_mark ON prolific_event (mark)")
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"the inbox {str(path)!r} cannot be used: {error}; give a file that can be written"
            ) from None

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def add(self, event: WebhookEvent, *, at: datetime) -> bool:
        """Store an event, committed; return False where its id or its mark is known already."""
        row = (event.id, event.kind, event.resource_id, at.isoformat(), event.mark)
        with self._lock:
            done = self._database.execute(
                "INSERT INTO prolific_event (id, kind, resource_id, received_at, mark) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT DO NOTHING",
                row,
            )
            return done.rowcount == 1

    def pending(self) -> list[WebhookEvent]:
        """Return the events that are not done, oldest first."""
        with self._lock:
            found = self._database.execute(
                "SELECT id, kind, resource_id FROM prolific_event WHERE is_done = 0 ORDER BY received_at, rowid"
            ).fetchall()
        return [WebhookEvent(*row) for row in found]

    def done(self, event_id: str) -> None:
        """Mark an event as dealt with."""
        with self._lock:
            self._database.execute("UPDATE prolific_event SET is_done = 1 WHERE id = ?", (event_id,))


def is_signed(body: bytes, timestamp: str, signature: str, secrets: Sequence[str]) -> bool:
    """Whether a signature is right under one of the secrets.

    It is made over the timestamp and the raw body; the form that Prolific's own sample makes, over the body parsed and
    written again, is taken too. Every comparison takes the same time whatever it finds.
    """
    bodies = [body]
    with suppress(ValueError, RecursionError):
        bodies.append(json.dumps(json.loads(body)).encode())
    given = signature.encode("utf-8", errors="replace")
    right = False
    for secret in secrets:
        for each in bodies:
            mac = hmac.new(secret.encode(), timestamp.encode("utf-8", errors="replace") + each, hashlib.sha256)
            right |= hmac.compare_digest(base64.b64encode(mac.digest()), given)
    return right


class WebhookReceiver:
    """Answers deliveries: 401 for what is not Prolific's, 200 for what is stored.

    Parameters
    ----------
    secrets : sequence of str
        The workspace's secret; during a rotation the old one too, as long as retries signed with it may arrive (24
        hours).
    inbox : Inbox
        Commits before the answer goes out.
    clock : Clock
        A timestamp more than 24 hours away is refused.

    Attributes
    ----------
    refused : int
        How many deliveries were not Prolific's; nothing else is kept of them.
    """

    def __init__(self, secrets: Sequence[str], inbox: Inbox, *, clock: Clock, window: timedelta = _WINDOW) -> None:
        if not secrets or not all(secrets):
            raise InputError("secrets is empty; pass the workspace's webhook secret")
        self._secrets = tuple(secrets)
        self._inbox = inbox
        self._clock = clock
        self._window = window
        self.refused = 0

    def receive(self, headers: Mapping[str, str], body: bytes) -> int:
        """Deal with one delivery and return the status to answer with.

        Parameters
        ----------
        headers : mapping of str to str
            As they came; upper and lower case are the same.
        body : bytes
            As it came, before any parsing.

        Returns
        -------
        int
            200: stored, or known already. 401: not signed by Prolific, or too old. 400: signed, but no event.
        """
        given = {name.lower(): value for name, value in headers.items()}
        timestamp = given.get("x-prolific-request-timestamp", "")
        signature = given.get("x-prolific-request-signature", "")
        if not self._is_fresh(timestamp) or not is_signed(body, timestamp, signature, self._secrets):
            self.refused += 1
            return 401
        event = _event(given.get("x-event-id", ""), body)
        if event is None:
            return 400
        mark = hashlib.sha256(signature.encode()).hexdigest()
        self._inbox.add(replace(event, mark=mark), at=self._clock.now())
        return 200

    def _is_fresh(self, timestamp: str) -> bool:
        moment = _moment(timestamp)
        return moment is not None and abs(self._clock.now() - moment) <= self._window


def process_events(
    inbox: Inbox, client: ProlificClient, handle: Callable[[WebhookEvent, Submission | Study | None], None]
) -> int:
    """Read anew what the pending events name, hand it on, and mark them done; return how many were done.

    Parameters
    ----------
    handle : callable
        ``handle(event, resource)``: the resource as the API shows it now, None for kinds that name none. When it
        raises, the event stays pending, and so do those behind it. What the API refuses to show stays pending alone.

    Raises
    ------
    PlatformUnavailableError
        The API does not answer; what is left stays pending.
    """
    count = 0
    for event in inbox.pending():
        try:
            resource = _resource(event, client)
        except PlatformUnavailableError:
            raise
        except PlatformError:
            # Another account's, or deleted: it must not hold up the others for ever.
            _LOG.warning("a webhook of the kind %.60r names what cannot be read; it waits", event.kind)
            continue
        handle(event, resource)
        inbox.done(event.id)
        count += 1
    return count


def _resource(event: WebhookEvent, client: ProlificClient) -> Submission | Study | None:
    if event.kind.startswith("submission."):
        return client.submissions.get(event.resource_id)
    if event.kind.startswith("study."):
        return client.studies.get(event.resource_id)
    _LOG.warning("a webhook of the unknown kind %.60r names nothing that can be read", event.kind)
    return None


def _moment(timestamp: str) -> datetime | None:
    try:
        if timestamp.replace(".", "", 1).isdigit():
            seconds = finite_number(timestamp)
            if seconds is None:
                return None
            # Milliseconds since 1970 have 13 digits in our century.
            return datetime.fromtimestamp(seconds / 1000 if seconds > 1e11 else seconds, tz=UTC)
        moment = datetime.fromisoformat(timestamp)
    except (ValueError, OverflowError, OSError):
        return None
    return moment if moment.tzinfo is not None else None


def _event(event_id: str, body: bytes) -> WebhookEvent | None:
    try:
        payload = read_document(body)
    except ValueError:
        return None
    if not isinstance(payload, dict):
        return None
    kind, resource = payload.get("event_type"), payload.get("resource_id")
    if not isinstance(kind, str) or not isinstance(resource, str) or not kind or not resource:
        return None
    # An event without an id is known by its content; a repetition of it says nothing new.
    identity = event_id or hashlib.sha256(body).hexdigest()
    return WebhookEvent(identity[:200], kind[:100], resource[:100])
