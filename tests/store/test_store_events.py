"""The audit chain notices every change, survives erasure, and refuses to be edited."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa

from hmc_crowd.errors import StoreError
from hmc_crowd.store import open_store
from hmc_crowd.store._engine import make_engine, parse_url

if TYPE_CHECKING:
    from hmc_crowd._base.clock import VirtualClock
    from hmc_crowd.store import Store


@pytest.fixture
def chain(store: Store, campaign: int, clock: VirtualClock) -> int:
    with store.begin() as tx:
        for at in range(4):
            clock.advance(1.5)
            tx.events.append(campaign, "planned", {"at": at, "who": "wörker"}, item=f"i{at % 2}", at=clock.now())
    return campaign


def tamper(url: str, statement: str) -> None:
    """Change a row behind the guard's back."""
    engine = make_engine(parse_url(url), busy_s=5).execution_options(writes=True)
    with engine.begin() as connection:
        if engine.dialect.name == "sqlite":
            for name in ("event_no_update", "event_no_delete"):
                connection.execute(sa.text(f"DROP TRIGGER {name}"))
        else:
            connection.execute(sa.text("SET LOCAL session_replication_role = replica"))
        connection.execute(sa.text(statement))
    engine.dispose()


def test_events_come_back_in_order_and_the_chain_holds(store: Store, chain: int) -> None:
    with store.read() as tx:
        assert [each.payload for each in tx.events.read(chain)] == [{"at": at, "who": "wörker"} for at in range(4)]
        assert [each.seq for each in tx.events.read(chain, item="i1")] == [2, 4]
        assert tx.events.read(chain, kind="published") == []
        tx.events.verify(chain)


def test_append_returns_the_hash_it_stored(store: Store, chain: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        made = tx.events.append(chain, "done", {}, at=clock.now())
        assert tx.events.read(chain)[-1].hash == made


def test_equal_payloads_have_different_commitments(store: Store, campaign: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        for _ in range(2):
            tx.events.append(campaign, "seen", {"worker": "w1"}, at=clock.now())
        one, two = tx.events.read(campaign)
    assert one.commitment != two.commitment


def test_erasing_a_payload_keeps_the_chain(store: Store, chain: int) -> None:
    with store.begin() as tx:
        second = tx.events.read(chain)[1].id
        assert tx.events.erase([second]) == 1
        assert tx.events.erase([second]) == 0
        assert [each.payload is None for each in tx.events.read(chain)] == [False, True, False, False]
        tx.events.verify(chain)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE event SET kind = 'x'",
        "UPDATE event SET payload = '{}'",
        "UPDATE event SET salt = NULL",
        "DELETE FROM event",
    ],
)
def test_the_database_refuses_changes(store: Store, chain: int, made_url: str, statement: str) -> None:
    engine = make_engine(parse_url(made_url), busy_s=5).execution_options(writes=True)
    with pytest.raises(sa.exc.DBAPIError, match="append-only"), engine.begin() as connection:
        connection.execute(sa.text(statement))
    engine.dispose()


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE event SET payload = '{}' WHERE seq = 2", "place 2.: its payload was changed"),
        ("UPDATE event SET kind = 'x' WHERE seq = 3", "place 3.: its time, kind, item or commitment was changed"),
        ("UPDATE event SET item = 'x' WHERE seq = 3", "place 3.: its time, kind, item or commitment was changed"),
        ("DELETE FROM event WHERE seq = 2", "place 3.: place 2 is missing"),
        ("DELETE FROM event WHERE seq = 4", "ends at place 3 but 4 were written"),
    ],
)
def test_verify_names_the_first_broken_event(
    store: Store, chain: int, made_url: str, statement: str, message: str
) -> None:
    tamper(made_url, statement)
    if made_url.startswith("sqlite"):
        store.close()
    with pytest.raises(StoreError, match=message), store.read() as tx:
        tx.events.verify(chain)


def test_two_writers_make_one_chain(store: Store, campaign: int, made_url: str, clock: VirtualClock) -> None:
    def append(at: int) -> None:
        with open_store(made_url, busy_s=60) as own, own.begin() as tx:
            tx.events.append(campaign, "planned", {"at": at}, at=clock.now())

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(append, range(10)))
    with store.read() as tx:
        tx.events.verify(campaign)
        assert [each.seq for each in tx.events.read(campaign)] == list(range(1, 11))
