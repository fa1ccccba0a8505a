"""The front door itself: how a call becomes a transaction.

Every change of an account happens in one transaction that holds the account's row first, then writes down what time
has made due, then does what was asked. Guarantees, also with several processes on one database: a token makes one
thing, no money is promised twice, no place is given out twice, a worker has a HIT once.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa

from hmc_crowd._base.clock import as_utc
from hmc_crowd.errors import InputError
from hmc_crowd_local._secrets import erased_name, secret_of
from hmc_crowd_local._steps import twice
from hmc_crowd_local._tables_mturk import ACCOUNT, HIT_TYPE, WORKER
from hmc_crowd_local.mturk_api._assignments import ASSIGNMENT_OPERATIONS
from hmc_crowd_local.mturk_api._call import Call
from hmc_crowd_local.mturk_api._content import prepare
from hmc_crowd_local.mturk_api._hit_types import create_hit_type
from hmc_crowd_local.mturk_api._hits import HIT_OPERATIONS
from hmc_crowd_local.mturk_api._keeper import Keeper
from hmc_crowd_local.mturk_api._lazy import is_due, settle
from hmc_crowd_local.mturk_api._links import WorkerLinks, check_worker
from hmc_crowd_local.mturk_api._money import MONEY_OPERATIONS
from hmc_crowd_local.mturk_api._problems import TurkError, invalid
from hmc_crowd_local.mturk_api._qualification_types import QUALIFICATION_TYPE_OPERATIONS
from hmc_crowd_local.mturk_api._qualifications import QUALIFICATION_OPERATIONS
from hmc_crowd_local.mturk_api._questions import read_question
from hmc_crowd_local.mturk_api._review_results import REVIEW_OPERATIONS
from hmc_crowd_local.mturk_api._shapes import operation_names, problems_of, read_times, service_model
from hmc_crowd_local.mturk_api._workers import WORKER_OPERATIONS, event_message

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime

    from hmc_crowd._base.clock import Clock
    from hmc_crowd._base.ids import IdSource
    from hmc_crowd_local._database import Database
    from hmc_crowd_local.mturk_api._content import Prepared
    from hmc_crowd_local.mturk_api._questions import Question
    from hmc_crowd_local.mturk_api._settings import Settings

__all__ = ["FrontDoor", "Shown"]

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
_READ_QUESTIONS = 128
_PLACE = re.compile(r"[A-Z]{2}")


@dataclass(frozen=True)
class Shown:
    """A question that was read for its pages; ``page`` is that of an HTMLQuestion."""

    question: Question
    page: Prepared | None


class FrontDoor(Keeper, WorkerLinks):
    """The MTurk-API front door of a workplace; made by `open_front_door`.

    The requester's side is `call` (and over HTTP `build_app`); the worker's side is `WorkersDoor`, the owner's is
    inherited (`issue_key`, `add_layout`, ...).
    """

    def __init__(self, database: Database, *, clock: Clock, signing_clock: Clock, ids: IdSource, settings: Settings):
        self.database = database
        self.settings = settings
        self.signing_clock = signing_clock
        self._clock = clock
        self._ids = ids
        self._secret = secret_of(database, "door")
        # A HIT's question never changes, and reading a large one takes a while: whoever looks again finds it read.
        self.shown = lru_cache(maxsize=_READ_QUESTIONS)(self._read)

    def close(self) -> None:
        """Give the database's connections back; a later call opens new ones."""
        self.database.close()

    def _read(self, question: str) -> Shown:
        found = read_question(question, self.settings)
        page = None if found.html is None else prepare(found.html, page_name=self.settings.page_name)
        return Shown(found, page)

    # The workplace's owner, besides what he inherits.

    def set_worker(
        self, worker: str, *, country: str | None = None, subdivision: str | None = None, is_adult: bool | None = None
    ) -> None:
        """Note what system qualifications ask about a worker: where they live, and whether they are of age.

        Parameters
        ----------
        worker : str
            Their id.
        country, subdivision : str, optional
            Two capital letters each, as ISO 3166 has them (``"US"``, ``"CA"``); a new country forgets the subdivision
            of the old one.
        is_adult : bool, optional
            Whether they are of age. What is left out stays as it is.

        Raises
        ------
        InputError
            No worker id, no such letters, or a subdivision without its country.
        """
        check_worker(worker)
        for name, value in (("country", country), ("subdivision", subdivision)):
            if value is not None and not _PLACE.fullmatch(value):
                raise InputError(f"{name} is {value[:40]!r}; give its two capital letters, as ISO 3166 has them")
        if subdivision is not None and country is None:
            raise InputError(f"subdivision is {subdivision!r}, of no country; give the country too")
        values: dict[str, Any] = {} if country is None else {"country": country, "subdivision": subdivision}
        if is_adult is not None:
            values["is_adult"] = is_adult
        if not values:
            return

        def attempt() -> None:
            with self.database.write() as connection:
                changed = connection.execute(sa.update(WORKER).where(WORKER.c.worker == worker).values(values))
                if not changed.rowcount:
                    connection.execute(sa.insert(WORKER).values(worker=worker, created_at=self.now(), **values))

        twice(attempt)

    def sign(self, text: str) -> str:
        """Return the mark that nobody else can put to a text; what it is for stands at the text's beginning."""
        return hmac.new(self._secret, text.encode("utf-8", "replace"), hashlib.sha256).hexdigest()[:32]

    def erased_name(self, worker: str) -> str:
        """Return what stands for a worker's id once the worker was erased."""
        return erased_name(self._secret, worker)

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
        return self.look(account, lambda call: act(call, checked))

    def write_batch_file(
        self,
        path: str | os.PathLike[str],
        *,
        account: str = "main",
        hit_type_id: str | None = None,
        safe: bool = True,
        overwrite: bool = False,
    ) -> int:
        """Write an account's submissions as a batch file; see `hmc_crowd_local.mturk_api.write_batch_file`."""
        from hmc_crowd_local.mturk_api._batch_file import write_batch_file

        return write_batch_file(self, path, account=account, hit_type_id=hit_type_id, safe=safe, overwrite=overwrite)

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

        result, call = twice(attempt)
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

    def look(self, account: str, step: Callable[[Call], T]) -> T:
        """Run a step that only reads; what has become due is written down before."""
        with self.database.read() as connection:
            due = is_due(connection, account, self.now(), self.settings)
        if due:
            self.change(account, lambda _call: None)
        with self.database.read() as connection:
            return step(self._call(connection, account))

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
