"""A database of the first step is brought up with its rows, and down again without losing them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa

from hmc_crowd.store import PaymentRecord, _migrate, open_store
from hmc_crowd.store._engine import make_engine, parse_url

if TYPE_CHECKING:
    from hmc_crowd._base.clock import VirtualClock

pytestmark = pytest.mark.migrations
AT = "2026-01-05 09:00:00.000000"
ROWS = {
    "campaign": {"id": 1, "name": "demo", "settings": "{}", "round": 1, "items": 1, "created_at": AT},
    "item": {"campaign_id": 1, "item": "a", "seq": 0, "group": "g", "position": 0, "text": "t", "audience": "any"},
    "hit": {"key": "h", "campaign_id": 1, "round": 1, "seq": 0, "title": "Judge", "redundancy": 1, "pay_minor": 1}
    | {"currency": "USD", "expected_s": 1.5, "state": "open"},
    "submission": {"campaign_id": 1, "round": 1, "platform": "local", "submission_id": "s", "hit_key": "h"}
    | {"worker": "w", "state": "submitted", "time_quality": "ok"},
    "intent": {"key": "k", "campaign_id": 1, "operation": "publish", "payload_hash": "x", "state": "sent"}
    | {"amount_minor": 1, "currency": "USD", "created_at": AT, "updated_at": AT},
    "worker_identity": {"platform": "local", "raw_id": "ann", "worker": "w"},
}


def test_rows_of_the_first_step_live_through_up_and_down(database_url: str, clock: VirtualClock) -> None:
    engine = make_engine(parse_url(database_url), busy_s=5.0).execution_options(writes=True)
    with engine.begin() as connection:
        _migrate.migrate(connection, where="db", to="0001")
        for name, row in ROWS.items():
            table = sa.table(name, *(sa.column(each) for each in row))
            # PostgreSQL takes the text of a time only when it is told that it is one.
            values = (
                {
                    each: sa.cast(value, sa.DateTime(timezone=True)) if value == AT else value
                    for each, value in row.items()
                }
                if connection.dialect.name == "postgresql"
                else row
            )
            connection.execute(sa.insert(table).values(values))
    with open_store(database_url, create=True, clock=clock) as store, store.begin() as tx:
        item = tx.frames.read(1, "items").iloc[0]
        assert (item["text"], item["sensitive"], item["erased_at"] is not None) == ("t", False, True)
        intent = tx.work.intent("k")
        assert intent is not None
        assert (intent.state, intent.lane, intent.attempts, intent.sent_at) == ("sent", "", 0, None)
        assert tx.work.submissions(1)[["state", "review"]].fillna("").values.tolist() == [["submitted", ""]]
        assert tx.workers.known("local") == {"ann": "w"}
        moment = datetime(2026, 1, 5, tzinfo=UTC)
        tx.payments.add(1, [PaymentRecord("local", "s", "x", 1, 0, "USD", None, "planned", moment, "ada")])
        tx.budget.lease_block(1, "p", 5, "USD", 5, clock.now().replace(year=2027))
        tx.work.take_lane("money", owner="p", until=clock.now())
    with engine.begin() as connection:
        _migrate.migrate(connection, where="db", to="0001")
    with engine.connect() as connection:
        names = set(sa.inspect(connection).get_table_names())
        assert not names & {"lane", "payment", "budget_block", "item_batch"}
        for name, row in ROWS.items():
            columns = [sa.column(each) for each, value in row.items() if value != AT]
            found = connection.execute(sa.select(*columns).select_from(sa.table(name))).one()
            assert dict(found._mapping) == {each: value for each, value in row.items() if value != AT}
            assert {each["name"] for each in sa.inspect(connection).get_columns(name)} >= set(row)
    with engine.begin() as connection:
        _migrate.migrate(connection, where="db")
    engine.dispose()
