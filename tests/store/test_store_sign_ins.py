"""Sign-ins at the board: a row for each, over when it is ended, wherever its cookie was copied."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa

from hmc_crowd.errors import InputError, StateError
from hmc_crowd.store import KeyRecord, Store, Transaction, _migrate, open_store
from hmc_crowd.store._engine import make_engine, parse_url
from hmc_crowd.store._sign_ins import SignInRepository

if TYPE_CHECKING:
    from hmc_crowd._base.clock import VirtualClock


def signed_in(tx: Transaction, role: str = "owner", lasts_s: float = 3600) -> tuple[KeyRecord, str, str]:
    key, _ = tx.keys.issue(role)
    made, token = tx.sign_ins.start(key, lasts_s=lasts_s)
    return key, made.id, token


def test_a_token_is_found_until_it_is_over(store: Store, clock: VirtualClock) -> None:
    with store.begin() as tx:
        key, name, token = signed_in(tx)
        found = tx.sign_ins.find(token)
        assert found is not None
        assert (found[0].id, found[1].id, found[1].role) == (name, key.id, "owner")
    clock.advance(3600)
    with store.read() as tx:
        assert (tx.sign_ins.find(token), tx.sign_ins.all()) == (None, [])


def test_who_signs_out_is_out_and_nobody_else(store: Store) -> None:
    with store.begin() as tx:
        _, name, token = signed_in(tx)
        _, _, other = signed_in(tx)
        tx.sign_ins.end(name)
        assert (tx.sign_ins.find(token), tx.sign_ins.find(other) is None) == (None, False)
        with pytest.raises(StateError, match="unknown, or over"):
            tx.sign_ins.end(name)


def test_a_revoked_key_ends_its_sign_ins(store: Store) -> None:
    with store.begin() as tx:
        key, _, token = signed_in(tx)
        _, other, _ = signed_in(tx)
        tx.keys.revoke(key.id)
        assert tx.sign_ins.find(token) is None
        assert [each.id for each in tx.sign_ins.all()] == [other]


def test_a_key_of_another_role_ends_its_sign_ins(store: Store) -> None:
    with store.begin() as tx:
        key, _, token = signed_in(tx)
        tx._session.run(sa.text(f"UPDATE api_key SET role = 'auditor' WHERE id = '{key.id}'"))
        assert tx.sign_ins.find(token) is None


@pytest.mark.parametrize("token", ["", "x", "ä" * 40, "\0" * 40, "x" * 1000, "' OR 1=1 --"])
def test_what_is_no_token_finds_nothing(store: Store, token: str) -> None:
    with store.begin() as tx:
        signed_in(tx)
        assert tx.sign_ins.find(token) is None


def test_the_database_holds_no_token(store: Store) -> None:
    with store.begin() as tx:
        _, _, token = signed_in(tx)
        held = [str(row) for row in tx._session.rows(sa.text("SELECT * FROM board_sign_in"))]
        assert len(held) == 1
        assert token not in held[0]
        hashed = tx._session.rows(sa.text("SELECT hash FROM board_sign_in"))[0][0]
        assert tx.sign_ins.find(hashed) is None


def test_a_key_has_at_most_twenty_and_what_is_long_over_goes(store: Store, clock: VirtualClock) -> None:
    with store.begin() as tx:
        key, _, first = signed_in(tx)
        for _ in range(20):
            clock.advance(1)
            tx.sign_ins.start(key, lasts_s=3600)
        assert (len(tx.sign_ins.all()), tx.sign_ins.find(first)) == (20, None)
    clock.advance(timedelta(days=40).total_seconds())
    with store.begin() as tx:
        tx.sign_ins.start(key, lasts_s=3600)
        assert tx._session.rows(sa.text("SELECT count(*) FROM board_sign_in"))[0][0] == 1
        with pytest.raises(InputError, match="above 0"):
            tx.sign_ins.start(key, lasts_s=0)


def test_one_that_another_process_ended_meanwhile_keeps_nobody_out(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store.begin() as tx:
        key, _, _ = signed_in(tx)
        for _ in range(19):
            tx.sign_ins.start(key, lasts_s=3600)
        seen = tx.sign_ins.all()
        tx.sign_ins.end(seen[0].id)
        monkeypatch.setattr(SignInRepository, "all", lambda _: seen)
        _, token = tx.sign_ins.start(key, lasts_s=3600)
        tx.sign_ins.end_token(token)
        tx.sign_ins.end_token(token)
        assert tx.sign_ins.find(token) is None


def test_all_can_be_ended_at_once(store: Store) -> None:
    with store.begin() as tx:
        key, _, _ = signed_in(tx)
        signed_in(tx)
        assert (tx.sign_ins.end_all(key_id=key.id), tx.sign_ins.end_all(), tx.sign_ins.end_all()) == (1, 1, 0)


@pytest.mark.migrations
def test_keys_live_through_the_migration_and_back(database_url: str, clock: VirtualClock) -> None:
    engine = make_engine(parse_url(database_url), busy_s=5.0).execution_options(writes=True)
    with open_store(database_url, create=True, clock=clock) as store, store.begin() as tx:
        key, _, token = signed_in(tx)
    with engine.begin() as connection:
        _migrate.migrate(connection, where="db", to="0013")
        assert "board_sign_in" not in sa.inspect(connection).get_table_names()
        _migrate.migrate(connection, where="db")
    engine.dispose()
    with open_store(database_url, clock=clock) as store, store.begin() as tx:
        assert ([each.id for each in tx.keys.all()], tx.sign_ins.find(token)) == ([key.id], None)
        made, token = tx.sign_ins.start(key, lasts_s=60)
        found = tx.sign_ins.find(token)
        assert found is not None
        assert found[0] == made
