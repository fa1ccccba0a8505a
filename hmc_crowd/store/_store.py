"""How does the rest of the package use the database? One `Store`, transactions from it, and repositories on these.

``store.begin()`` commits at its end or leaves nothing behind; ``store.read()`` is one snapshot that cannot write. What
a driver raises comes out as one of the package's errors (`_translate.py`); no SQLAlchemy type leaves this package.
"""

from __future__ import annotations

import os
import shlex
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hmc_crowd._base.addresses import shown_address
from hmc_crowd._base.clock import Clock, SystemClock
from hmc_crowd._base.copies import MARK, unfinished
from hmc_crowd._base.private import make_private_file
from hmc_crowd._base.sqlite import holds_anything, keep_write_ahead_log
from hmc_crowd.errors import ReadOnlyDatabaseError, StoreError
from hmc_crowd.store._adjudications import AdjudicationRepository
from hmc_crowd.store._aggregations import AggregationRepository
from hmc_crowd.store._alerts import AlertRepository
from hmc_crowd.store._artefacts import Artefacts
from hmc_crowd.store._blocks import BlockRepository
from hmc_crowd.store._campaigns import CampaignRepository
from hmc_crowd.store._door import DoorRepository
from hmc_crowd.store._engine import Address, Shared, open_engine, parse_url
from hmc_crowd.store._events import EventRepository
from hmc_crowd.store._expert_audits import ExpertAuditRepository
from hmc_crowd.store._frames import FrameRepository
from hmc_crowd.store._gates import GateRepository
from hmc_crowd.store._guidelines import GuidelineRepository
from hmc_crowd.store._hooks import HookRepository
from hmc_crowd.store._keys import KeyRepository
from hmc_crowd.store._labels import LabelRepository
from hmc_crowd.store._migrate import migrate, require_current
from hmc_crowd.store._models import ModelRepository
from hmc_crowd.store._payments import PaymentRepository
from hmc_crowd.store._people import PoolRepository, UptimeRepository
from hmc_crowd.store._plans import PlanRepository
from hmc_crowd.store._privacy import PrivacyRepository
from hmc_crowd.store._qualifications import QualificationRepository
from hmc_crowd.store._queue import QueueRepository
from hmc_crowd.store._retention import RetentionRepository
from hmc_crowd.store._reviews import ReviewRepository
from hmc_crowd.store._roles import RoleRepository
from hmc_crowd.store._secret_audits import SecretAuditRepository
from hmc_crowd.store._session import Session
from hmc_crowd.store._sign_ins import SignInRepository
from hmc_crowd.store._standing import StandingRepository
from hmc_crowd.store._streams import StreamRepository
from hmc_crowd.store._traits import TraitRepository
from hmc_crowd.store._translate import translated
from hmc_crowd.store._work import WorkRepository
from hmc_crowd.store._workers import WorkerRepository

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

    import sqlalchemy as sa

    from hmc_crowd._base.copies import Keeper

__all__ = ["Store", "Transaction", "open_store"]

_ARTEFACTS = "HMC_CROWD_ARTEFACTS"


class Transaction:
    """One transaction's repositories; valid inside the ``with`` block that made it.

    Attributes
    ----------
    campaigns : CampaignRepository
    frames : FrameRepository
    plans : PlanRepository
    work : WorkRepository
    budget : BlockRepository
    payments : PaymentRepository
    workers : WorkerRepository
    privacy : PrivacyRepository
    retention : RetentionRepository
    labels : LabelRepository
    aggregations : AggregationRepository
    models : ModelRepository
    events : EventRepository
    keys : KeyRepository
    sign_ins : SignInRepository
    door : DoorRepository
    queue : QueueRepository
    hooks : HookRepository
    pools : PoolRepository
    uptime : UptimeRepository
    guidelines : GuidelineRepository
    adjudications : AdjudicationRepository
    qualifications : QualificationRepository
    standing : StandingRepository
    alerts : AlertRepository
    gates : GateRepository
    roles : RoleRepository
    expert_audits : ExpertAuditRepository
    streams : StreamRepository
    traits : TraitRepository
    reviews : ReviewRepository
    secret_audits : SecretAuditRepository
    """

    def __init__(self, session: Session, *, number: int = 0) -> None:
        self._session, self._number = session, number
        self.campaigns = CampaignRepository(session)
        self.frames = FrameRepository(session)
        self.plans = PlanRepository(session)
        self.work = WorkRepository(session)
        self.budget = BlockRepository(session)
        self.payments = PaymentRepository(session)
        self.workers = WorkerRepository(session)
        self.privacy = PrivacyRepository(session)
        self.retention = RetentionRepository(session)
        self.labels = LabelRepository(session)
        self.aggregations = AggregationRepository(session)
        self.models = ModelRepository(session)
        self.events = EventRepository(session)
        self.keys = KeyRepository(session)
        self.sign_ins = SignInRepository(session)
        self.door = DoorRepository(session)
        self.queue = QueueRepository(session)
        self.hooks = HookRepository(session)
        self.pools = PoolRepository(session)
        self.uptime = UptimeRepository(session)
        self.guidelines = GuidelineRepository(session)
        self.adjudications = AdjudicationRepository(session)
        self.qualifications = QualificationRepository(session)
        self.standing = StandingRepository(session)
        self.alerts = AlertRepository(session)
        self.gates = GateRepository(session)
        self.roles = RoleRepository(session)
        self.expert_audits = ExpertAuditRepository(session)
        self.streams = StreamRepository(session)
        self.traits = TraitRepository(session)
        self.reviews = ReviewRepository(session)
        self.secret_audits = SecretAuditRepository(session)

    def goes_on_from(self, version: tuple[int, ...] | None) -> bool:
        """Say whether nobody but the transaction of that `version` has written since then; False where unknown.

        What it read before may then be used again, as far as it has not changed it itself.
        """
        mine = self.version()
        return mine is not None and version is not None and mine[0] == version[0] + 1 and mine[1:] == version[1:]

    def version(self) -> tuple[int, ...] | None:
        """Return what `goes_on_from` compares: our own writing transactions, the connection, others' changes."""
        found = self._session.version()
        return None if found is None else (self._number, *found)


class Store:
    """An open database; made by `open_store`."""

    def __init__(self, address: Address, shared: Shared, *, clock: Clock, artefacts: Path, large: int) -> None:
        self._address = address
        self._shared = shared.__enter__()
        self._engine = shared.engine
        self._is_closed = False
        self._clock = clock
        self._artefacts = artefacts
        self._large = large

    @property
    def url(self) -> str:
        """The database's URL, its password masked."""
        return shown_address(self._address.url.render_as_string(hide_password=True))

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a SQLite file (one writer at a time)."""
        return self._address.is_sqlite

    @property
    def artefacts(self) -> Path:
        """The folder of the Parquet artefacts; made on the first write to it."""
        return self._artefacts

    @contextmanager
    def begin(self) -> Iterator[Transaction]:
        """Open a writing transaction: all of it is saved at the end of the block, or nothing if the block raises.

        Raises
        ------
        DatabaseBusyError, ReadOnlyDatabaseError, DuplicateError, StoreError
            The database refused; the message says why and what to do.
        """
        files = Artefacts(self._artefacts)
        number = next(self._shared.numbers)
        try:
            with self._connected(writes=True) as connection:
                session = Session(connection, clock=self._clock, artefacts=files, large=self._large)
                yield Transaction(session, number=number)
        except BaseException:
            files.undo()
            raise
        files.done()

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """Open one read-only snapshot: whatever others write meanwhile is not seen.

        Raises
        ------
        DatabaseBusyError, ReadOnlyDatabaseError, StoreError
            The database refused, or the block tried to write.
        """
        with self._connected(writes=False) as connection:
            files = Artefacts(self._artefacts)
            yield Transaction(Session(connection, clock=self._clock, artefacts=files, large=self._large))

    @contextmanager
    def _connected(self, *, writes: bool) -> Iterator[sa.Connection]:
        with translated(self._address.shown), self._engine.connect() as connection:
            if self.is_sqlite:
                connection.execution_options(writes=writes)
            elif not writes:
                connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            with connection.begin():
                yield connection

    def flush_log(self) -> None:
        """Empty SQLite's write-ahead log, in which what was erased may still stand.

        It waits for nobody: while another process reads, the log is emptied by the next one that can. PostgreSQL frees
        erased rows at its own next VACUUM.
        """
        if self.is_sqlite:
            with translated(self._address.shown), self._engine.connect() as connection:
                raw = connection.connection.driver_connection
                if raw is not None:
                    raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def wipe(self, words: Sequence[str]) -> tuple[str, ...]:
        """Make sure that erased words stand nowhere in the database's file; return where they still do, in words."""
        from hmc_crowd._base.erasing import wipe
        from hmc_crowd.store._tables import Base

        with translated(self._address.shown):
            return wipe(self._engine, words, Base.metadata)

    def keeper(self) -> Keeper:
        """Return who makes copies of this database and puts them back."""
        from hmc_crowd.store._keeper import keeper_of

        return keeper_of(self._address, self._engine)

    def close(self) -> None:
        """Close every connection that no other open store of this file uses; the store cannot be used afterwards."""
        if not self._is_closed:
            self._is_closed = True
            self._shared.__exit__()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({self.url!r})"


def open_store(
    url: str | Path,
    *,
    create: bool = False,
    clock: Clock | None = None,
    artefacts: str | Path | None = None,
    large: int = 1_000_000,
    busy_s: float = 5.0,
    half_restored: bool = False,
) -> Store:
    """Open the campaign database.

    Parameters
    ----------
    url : str or Path
        ``sqlite:///file.db``, ``postgresql://user:password@host/name``, or the path of a SQLite file.
    create : bool, default False
        Make a database that is not there (or empty) and bring an older one of ours up to date.
    clock : Clock, optional
        Tells when rows are written; the system's clock when absent.
    artefacts : str or Path, optional
        Folder of the Parquet files of large campaigns. Default: beside a SQLite file as ``<name>.artefacts``; for
        PostgreSQL the environment's ``HMC_CROWD_ARTEFACTS``, else ``hmc-crowd-artefacts`` in the working directory.
    large : int, default 1,000,000
        Frames of more rows than this are Parquet artefacts instead of SQL rows. A campaign's rows follow people, and
        beyond a million untouched items rows cost more than they tell.
    busy_s : float, default 5
        How long to wait for another process's lock, in seconds.
    half_restored : bool, default False
        Open also a database whose restoring was cut off before its workplace followed, to finish that.

    Raises
    ------
    StoreError
        Missing, empty, truncated, half restored, no database, or a server that cannot be reached.
    NotOurDatabaseError
        A database of another program.
    SchemaVersionError
        Newer than this code, or older and ``create`` is False.
    DatabaseBusyError, ReadOnlyDatabaseError
        Locked, or not to be written.

    Examples
    --------
    >>> import tempfile
    >>> from datetime import UTC, datetime
    >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/demo.db", create=True) as store:
    ...     with store.begin() as tx:
    ...         campaign = tx.campaigns.create("demo", {}, created_at=datetime(2026, 1, 1, tzinfo=UTC))
    ...     with store.read() as tx:
    ...         print(tx.campaigns.names(), campaign.id)
    ['demo'] 1
    """
    address = parse_url(url)
    _require_place(address, create=create)
    store = Store(
        address,
        open_engine(address, busy_s=busy_s),
        clock=clock or SystemClock(),
        artefacts=_artefact_folder(address, artefacts),
        large=large,
    )
    try:
        if not half_restored:
            _require_restored(store, address)
        _ready(store, address, create=create)
    except BaseException:
        store.close()
        raise
    return store


def _artefact_folder(address: Address, given: str | Path | None) -> Path:
    if given is not None:
        return Path(given)
    if address.file is not None:
        # Not with_name(), which has no answer for a folder such as "."; that is refused later, in words.
        return address.file.parent / f"{address.file.name}.artefacts"
    return Path(os.environ.get(_ARTEFACTS) or "hmc-crowd-artefacts")


def _require_place(address: Address, *, create: bool) -> None:
    """Refuse a file that is missing, empty or a folder; make an empty one for its owner's eyes if asked."""
    file = address.file
    if file is None:
        return
    if not holds_anything(file) and not create:
        state = "is empty" if file.exists() else "does not exist"
        raise StoreError(f"{file} {state}; make it with hmc-crowd init --db {file}, or check --db")
    if not file.parent.is_dir():
        raise StoreError(f"the folder of {file} does not exist; make it first, or check --db")
    if create:
        # It stays when what follows fails: by then it may be another process's database.
        try:
            make_private_file(file)
        except OSError as error:
            raise ReadOnlyDatabaseError(
                f"{file} cannot be made: {error.strerror or error}; check the permissions of its folder"
            ) from None


def _require_restored(store: Store, address: Address) -> None:
    """Refuse campaigns of a backup beside a workplace that is not of it yet."""
    import sqlalchemy as sa

    with store._connected(writes=False) as connection:
        left = unfinished(connection, [MARK] if sa.inspect(connection).has_table(MARK) else [])
    if left is not None:
        raise StoreError(
            f"{address.shown} is half restored: it is as of the backup of {left.made_at}, its workplace is not yet; "
            f"finish it with: hmc-crowd restore --from {shlex.quote(left.source)} --yes"
        )


def _ready(store: Store, address: Address, *, create: bool) -> None:
    """Check that the database is ours and of this version; make or upgrade it if asked."""
    if not create:
        with store._connected(writes=False) as connection:
            require_current(connection, where=address.shown)
        return
    with store._connected(writes=True) as connection:
        migrate(connection, where=address.shown)
    if address.is_sqlite:
        # A property of the file, kept outside a transaction; never before we know that the file is ours.
        with translated(address.shown), store._engine.connect() as connection:
            raw = connection.connection.driver_connection
            if raw is not None:
                keep_write_ahead_log(raw)
