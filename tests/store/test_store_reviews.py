"""Tiers, appeals and sealed samples on both databases; up, down and up again with rows in the tables."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa

from hmc_crowd.errors import StateError, StoreError
from hmc_crowd.store import AppealRecord, SecretAuditRecord, _migrate, open_store
from hmc_crowd.store._engine import make_engine, parse_url
from hmc_crowd.store._privacy import Person

if TYPE_CHECKING:
    from hmc_crowd._base.clock import VirtualClock

NEW = {"expert_seat", "appeal", "secret_audit", "secret_audit_label"}


def objection(clock: VirtualClock, **more: Any) -> AppealRecord:
    values = {"aspect": "tone", "item": "a", "number": 1, "guideline_version": "1", "role": "worker", "worker": "w1"}
    values |= {"appellant": None, "reason": "I am Ann", "judges": ("eva",), "tier": 2, "first_label": "x"}
    return AppealRecord(**{**values, "opened_at": clock.now(), **more})


def sealed(clock: VirtualClock, number: int = 1) -> SecretAuditRecord:
    return SecretAuditRecord("tone", number, "aud", f"c{number}", 2, 3, "h", clock.now())


def test_the_last_tier_counts(store: Any, campaign: int) -> None:
    with store.begin() as tx:
        tx.reviews.one_at_a_time(campaign)
        tx.reviews.seat(campaign, {"eva": 1, "max": 2})
        tx.reviews.seat(campaign, {"eva": 3})
        assert tx.reviews.seats(campaign) == {"eva": 3, "max": 2}


def test_an_appeal_is_closed_once(store: Any, campaign: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        tx.reviews.open_appeal(campaign, objection(clock))
        tx.reviews.open_appeal(campaign, objection(clock, item="b", aspect="other"))
        assert tx.reviews.appeals(campaign, aspect="tone") == [objection(clock)]
        tx.reviews.close_appeal(campaign, objection(clock), outcome="upheld", label="x", at=clock.now(), by=None)
        (held,) = tx.reviews.appeals(campaign, aspect="tone")
        assert held == replace(objection(clock), outcome="upheld", label="x", closed_at=clock.now())
        with pytest.raises(StateError, match="is closed"):
            tx.reviews.close_appeal(campaign, held, outcome="upheld", label="x", at=clock.now(), by=None)
    with pytest.raises(StoreError), store.begin() as tx:
        tx.reviews.open_appeal(campaign, objection(clock))


def test_a_forgotten_worker_leaves_the_appeal_without_name_and_words(
    store: Any, campaign: int, clock: VirtualClock
) -> None:
    with store.begin() as tx:
        tx.reviews.open_appeal(campaign, objection(clock))
        assert "I am Ann" in str(tx.privacy.export(Person("local", "w1", None)))
        tx.privacy.forget(Person("local", "w1", None), fresh="w9")
        (held,) = tx.reviews.appeals(campaign)
    assert (held.worker, "Ann" in held.reason) == ("w9", False)


def test_sealed_labels_are_kept_once_and_opened_once(store: Any, campaign: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        tx.secret_audits.add(campaign, sealed(clock), b"packed")
        tx.secret_audits.add(campaign, sealed(clock, 2), b"others")
        assert tx.secret_audits.all(campaign, aspect="tone") == [sealed(clock), sealed(clock, 2)]
        assert tx.secret_audits.labels(campaign, "tone", 1) == b"packed"
        assert tx.secret_audits.judge(campaign, "tone", 1, tag="t", label="x", at=clock.now())
        assert not tx.secret_audits.judge(campaign, "tone", 1, tag="t", label="y", at=clock.now())
        assert tx.secret_audits.judged(campaign, "tone", 1) == {"t": "x"}
        tx.secret_audits.open(campaign, "tone", 1, audit_key="ab", result={"wrong": 1}, at=clock.now())
        held = tx.secret_audits.all(campaign)[0]
        assert (held.audit_key, held.result, held.opened_at) == ("ab", {"wrong": 1}, clock.now())
        with pytest.raises(StateError, match="opened already"):
            tx.secret_audits.open(campaign, "tone", 1, audit_key="ab", result={}, at=clock.now())
        with pytest.raises(StateError, match="no secret audit 3"):
            tx.secret_audits.labels(campaign, "tone", 3)


def test_down_and_up_again_with_rows_in_the_tables(database_url: str, clock: VirtualClock, build: Any) -> None:
    said = {"aspect": "tone", "item": "a", "expert": "e", "guideline_version": "1", "label": "x"}
    with open_store(database_url, create=True, clock=clock) as opened, opened.begin() as tx:
        made = tx.campaigns.create("demo", {}, created_at=clock.now()).id
        tx.frames.add_items(made, build.items("a"))
        tx.adjudications.judge(made, **said, at=clock.now(), tier=2)
        assert tx.adjudications.read(made)["tier"].tolist() == [2]
        tx.reviews.seat(made, {"eva": 1})
        tx.reviews.open_appeal(made, objection(clock))
        tx.secret_audits.add(made, sealed(clock), b"packed")
        tx.secret_audits.judge(made, "tone", 1, tag="t", label="x", at=clock.now())
    engine = make_engine(parse_url(database_url), busy_s=5.0).execution_options(writes=True)
    for to in ("0010", None):
        with engine.begin() as connection:
            _migrate.migrate(connection, where="db", **({"to": to} if to else {}))
        with engine.connect() as connection:
            names = set(sa.inspect(connection).get_table_names())
        assert (names >= NEW) == (to is None)
        assert to is None or not NEW & names
    engine.dispose()
    clock.advance(timedelta(hours=1).total_seconds())
    with open_store(database_url, clock=clock) as again, again.begin() as tx:
        # What an expert said stays; of which tier he was is not known any more.
        held = tx.adjudications.read(made)
        assert (held["blind_label"].tolist(), held["tier"].isna().tolist()) == (["x"], [True])
        assert tx.reviews.appeals(made) == []
