"""The front door itself: accounts and keys, and how a call becomes a transaction.

Every change of an account happens in one transaction that holds the account's row first, then writes down what time
has made due, then does what was asked. Guarantees, also with several processes on one database: a token makes one
thing, no money is promised twice, no place is given out twice, a worker has a HIT once.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from base64 import b32encode
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa

from hmc_crowd._base.clock import as_utc
from hmc_crowd.errors import DuplicateError, InputError
from hmc_crowd_local._platform import _twice
from hmc_crowd_local._tables_mturk import ACCOUNT, HIT_TYPE, KEY, LAYOUT, SECRET, WORKER
from hmc_crowd_local.mturk_api._assignments import ASSIGNMENT_OPERATIONS
from hmc_crowd_local.mturk_api._call import Call
from hmc_crowd_local.mturk_api._hit_types import create_hit_type
from hmc_crowd_local.mturk_api._hits import HIT_OPERATIONS
from hmc_crowd_local.mturk_api._lazy import is_due, settle
from hmc_crowd_local.mturk_api._money import MONEY_OPERATIONS
from hmc_crowd_local.mturk_api._problems import TurkError, invalid
from hmc_crowd_local.mturk_api._qualification_types import QUALIFICATION_TYPE_OPERATIONS
from hmc_crowd_local.mturk_api._qualifications import QUALIFICATION_OPERATIONS
from hmc_crowd_local.mturk_api._review_results import REVIEW_OPERATIONS
from hmc_crowd_local.mturk_api._shapes import operation_names, problems_of, read_times, service_model
from hmc_crowd_local.mturk_api._workers import WORKER_OPERATIONS, event_message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime

    from hmc_crowd._base.clock import Clock
    from hmc_crowd._base.ids import IdSource
    from hmc_crowd_local._database import Database
    from hmc_crowd_local.mturk_api._settings import Settings

__all__ = ["FrontDoor", "Key"]

T = TypeVar("T")

OPERATIONS: Mapping[str, Callable[[Call, Mapping[str, Any]], dict[str, Any]]] = {
    "CreateHITType": create_hit_type,
    **HIT_OPERATIONS,
    **ASSIGNMENT_OPERATIONS,
    **MONEY_OPERATIONS,
    **QUALIFICATION_TYPE_OPERATIONS,
    **QUALIFICATION_OPERATIONS,
    **REVIEW_OPERATIONS,
    **WORKER_OPERATIONS,
}
_READING = ("Get", "List")
_WORKER = re.compile(r"A[A-Z0-9]{1,63}")


@dataclass(frozen=True)
class Key:
    """What a requester's script signs with; the secret is shown once and never printed by itself."""

    access_key_id: str
    secret_access_key: str

    def __repr__(self) -> str:
        return f"Key(access_key_id={self.access_key_id!r}, secret_access_key=...)"


class FrontDoor:
    """The MTurk-API front door of a workplace; made by `open_front_door`.

    The requester's side is `call` (and over HTTP `build_app`); the worker's side is `WorkersDoor`.
    """

    def __init__(self, database: Database, *, clock: Clock, signing_clock: Clock, ids: IdSource, settings: Settings):
        self.database = database
        self.settings = settings
        self.signing_clock = signing_clock
        self._clock = clock
        self._ids = ids
        self._secret = self._load_secret()

    def close(self) -> None:
        """Give the database's connections back; a later call opens new ones."""
        self.database.close()

    # The workplace's owner.

    def issue_key(self, account: str = "main") -> Key:
        """Make a key for an account, and the account if it is new.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from hmc_crowd_local.mturk_api import open_front_door
        >>> with TemporaryDirectory() as folder:
        ...     door = open_front_door(f"{folder}/workplace.db")
        ...     key = door.issue_key()
        ...     door.close()
        >>> key.access_key_id.startswith("HMC"), "secret_access_key=..." in repr(key)
        (True, True)
        """
        if not account.strip():
            raise InputError("account is empty; give it a name")
        name = "HMC" + b32encode(secrets.token_bytes(11)).decode("ascii").rstrip("=")[:17]
        key = Key(name, secrets.token_urlsafe(30))

        def attempt() -> None:
            with self.database.write() as connection:
                known = sa.select(ACCOUNT.c.account_id).where(ACCOUNT.c.account_id == account)
                if connection.execute(known).first() is None:
                    balance = self.settings.start_balance_minor
                    row = {"account_id": account, "balance_minor": balance, "created_at": self.now()}
                    connection.execute(sa.insert(ACCOUNT).values(row))
                row = {"access_key": key.access_key_id, "account_id": account, "secret": key.secret_access_key}
                connection.execute(sa.insert(KEY).values({**row, "created_at": self.now()}))

        _twice(attempt)
        return key

    def revoke_key(self, access_key_id: str) -> None:
        """Take a key back; what it signs from now on is refused."""
        with self.database.write() as connection:
            mine = sa.and_(KEY.c.access_key == access_key_id, KEY.c.revoked_at.is_(None))
            if not connection.execute(sa.update(KEY).where(mine).values(revoked_at=self.now())).rowcount:
                raise InputError(f"access_key_id {access_key_id!r} is no key in use; list the keys that were issued")

    def add_funds(self, cents: int, *, account: str = "main") -> None:
        """Add money to an account."""
        if cents < 1:
            raise InputError(f"cents is {cents}; give 1 or more")
        with self.database.write() as connection:
            update = sa.update(ACCOUNT).where(ACCOUNT.c.account_id == account)
            if not connection.execute(update.values(balance_minor=ACCOUNT.c.balance_minor + cents)).rowcount:
                raise InputError(f"account {account!r} is unknown; issue a key for it first")

    def add_layout(self, html: str, *, name: str = "layout") -> str:
        """Keep a page with ``${parameters}`` and return the HITLayoutId under which scripts use it."""
        if not html.strip() or "\x00" in html:
            raise InputError("html is empty or holds a NUL character; give the whole page")
        layout_id = self._ids.new()
        with self.database.write() as connection:
            row = {"layout_id": layout_id, "name": name, "html": html, "created_at": self.now()}
            connection.execute(sa.insert(LAYOUT).values(row))
        return layout_id

    def set_worker(
        self, worker: str, *, country: str | None = None, subdivision: str | None = None, is_adult: bool | None = None
    ) -> None:
        """Note what system qualifications ask about a worker: where he lives, and whether he is of age."""
        check_worker(worker)
        values = {"country": country, "subdivision": subdivision, "is_adult": is_adult}

        def attempt() -> None:
            with self.database.write() as connection:
                changed = connection.execute(sa.update(WORKER).where(WORKER.c.worker == worker).values(values))
                if not changed.rowcount:
                    connection.execute(sa.insert(WORKER).values(worker=worker, created_at=self.now(), **values))

        _twice(attempt)

    def worker_key(self, worker: str) -> str:
        """Return the key that goes with a worker's link, so that nobody works under another's id."""
        check_worker(worker)
        return hmac.new(self._secret, f"worker:{worker}".encode(), hashlib.sha256).hexdigest()[:32]

    # The requester.

    def call(self, account: str, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """Do one operation of the API for an account, checked against the service model.

        Parameters
        ----------
        account : str
            As it was given to `issue_key`.
        operation : str
            For example ``"CreateHIT"``.
        request : mapping
            As the wire has it: times are epoch seconds.

        Returns
        -------
        dict
            The response; times are aware, members without a value are None.

        Raises
        ------
        TurkError
            The request does not fit the model or the rules; nothing was changed.
        """
        if operation not in operation_names():
            message = f"{operation[:80]} is no operation of this API"
            raise TurkError("UnknownOperation", message, kind="UnknownOperationException")
        shape = service_model().operation_model(operation).input_shape
        problems = list(problems_of(shape, request))
        if problems:
            more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
            raise invalid(f"{operation}: {problems[0]}{more}")
        act, checked = OPERATIONS[operation], read_times(shape, dict(request))
        if not operation.startswith(_READING):
            return self.change(account, lambda call: act(call, checked))
        self._settle_if_due(account)
        with self.database.read() as connection:
            return act(self._call(connection, account), checked)

    def secret_of(self, access_key_id: str) -> str | None:
        """Return the secret of a key in use, to check a signature with."""
        with self.database.read() as connection:
            query = sa.select(KEY.c.secret).where(KEY.c.access_key == access_key_id, KEY.c.revoked_at.is_(None))
            found: str | None = connection.execute(query).scalar()
        return found

    def account_of(self, access_key_id: str) -> str:
        """Return the account of a key."""
        with self.database.read() as connection:
            query = sa.select(KEY.c.account_id).where(KEY.c.access_key == access_key_id)
            account: str = connection.execute(query).scalar_one()
        return account

    # Transactions.

    def now(self) -> datetime:
        """Return the present by the workplace's clock."""
        return as_utc(self._clock.now(), name="clock")

    def _call(self, connection: sa.Connection, account: str) -> Call:
        return Call(connection, self.now(), account, self.settings, self._ids, self._secret)

    def change(self, account: str, step: Callable[[Call], T]) -> T:
        """Run a step that changes something in a transaction of its account; tell subscribers afterwards."""

        def attempt() -> tuple[T, Call]:
            with self._locked(account) as call:
                return step(call), call

        result, call = _twice(attempt)
        self._deliver(call)
        return result

    @contextmanager
    def _locked(self, account: str) -> Iterator[Call]:
        with self.database.write() as connection:
            query = sa.select(ACCOUNT.c.account_id).where(ACCOUNT.c.account_id == account).with_for_update()
            if connection.execute(query).first() is None:
                raise InputError(f"account {account!r} is unknown; issue a key for it first")
            call = self._call(connection, account)
            settle(call)
            yield call

    def _settle_if_due(self, account: str) -> None:
        with self.database.read() as connection:
            due = is_due(connection, account, self.now(), self.settings)
        if due:
            self.change(account, lambda _call: None)

    def _deliver(self, call: Call) -> None:
        deliver = self.settings.deliver
        if deliver is None or not (call.events or call.outbox):
            return
        for notification, message in [*self._messages(call), *call.outbox]:
            deliver(notification, message)

    def _messages(self, call: Call) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
        wanted = {hit_type_id for _, hit_type_id, _, _ in call.events}
        with self.database.read() as connection:
            query = sa.select(HIT_TYPE).where(HIT_TYPE.c.hit_type_id.in_(wanted), HIT_TYPE.c.is_notifying)
            subscribed = {row.hit_type_id: json.loads(row.notification) for row in connection.execute(query)}
        found: list[tuple[Mapping[str, Any], Mapping[str, Any]]] = []
        for kind, hit_type_id, hit_id, assignment_id in call.events:
            notification = subscribed.get(hit_type_id)
            if notification is not None and kind in notification["EventTypes"]:
                message = event_message(
                    self._ids.new(),
                    call.account_id,
                    kind,
                    call.now,
                    hit_type_id=hit_type_id,
                    hit_id=hit_id,
                    assignment_id=assignment_id,
                )
                found.append((notification, message))
        return found

    def _load_secret(self) -> bytes:
        query = sa.select(SECRET.c.value).where(SECRET.c.name == "door")
        with self.database.read() as connection:
            held = connection.execute(query).scalar()
        if held is None:
            try:
                with self.database.write() as connection:
                    connection.execute(sa.insert(SECRET).values(name="door", value=secrets.token_hex(32)))
            except DuplicateError:
                pass  # another process was quicker; its secret counts
            with self.database.read() as connection:
                held = connection.execute(query).scalar_one()
        return bytes.fromhex(held)


def check_worker(worker: str) -> None:
    """Refuse a worker id that the API could not show."""
    if not _WORKER.fullmatch(worker):
        raise InputError(f"worker is {worker[:80]!r}; MTurk's form is an A, then capital letters and digits")
