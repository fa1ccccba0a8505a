"""Answers that lay beside a campaign become answers of it, open items get their places; and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa

from hmc_crowd.store import _migrate, open_store
from hmc_crowd.store._engine import make_engine, parse_url

if TYPE_CHECKING:
    from hmc_crowd._base.clock import VirtualClock

pytestmark = pytest.mark.migrations
AT = "2026-01-05 09:00:00.000000"
COMMON = {"text": "t", "reason": "r", "policy": "p", "gain": 0.5, "inclusion_probability": 1.0, "at": AT}
ROWS: list[tuple[str, dict[str, Any]]] = [
    ("campaign", {"id": 1, "name": "demo", "settings": '{"redundancy":2}', "round": 1, "items": 0, "created_at": AT}),
    ("aspect", {"campaign_id": 1, "name": "kind", "position": 0, "kind": "nominal", "labels": '["a","b"]'}
     | {"guideline_version": "1", "language": "en"}),
    ("api_key", {"id": "k", "role": "expert", "label": "ann", "hash": "h", "created_at": AT}),
    ("allocation", {"campaign_id": 1, "item": "x", "destination": "people", "is_open": True, "due_at": AT} | COMMON),
    ("allocation", {"campaign_id": 1, "item": "y", "destination": "people", "is_open": False, "due_at": None} | COMMON),
    ("door_answer", {"campaign_id": 1, "item": "x", "worker": "w1", "label": "a", "at": AT}),
    ("door_answer", {"campaign_id": 1, "item": "y", "worker": "w1", "label": "b", "at": AT}),
]  # fmt: skip


def insert(connection: sa.Connection, name: str, row: dict[str, Any]) -> None:
    values: dict[str, Any] = dict(row)
    if connection.dialect.name == "postgresql":
        moment = sa.DateTime(timezone=True)
        values = {each: sa.cast(value, moment) if value == AT else value for each, value in row.items()}
    table = sa.table(name, *(sa.column(each) for each in row))
    connection.execute(sa.insert(table).values(values))


def test_the_door_s_rows_live_through_up_and_down(database_url: str, clock: VirtualClock) -> None:
    engine = make_engine(parse_url(database_url), busy_s=5.0).execution_options(writes=True)
    with engine.begin() as connection:
        _migrate.migrate(connection, where="db", to="0006")
        for name, row in ROWS:
            insert(connection, name, row)
    with open_store(database_url, create=True, clock=clock) as store, store.begin() as tx:
        found = tx.work.answers(1)
        assert found[["task", "worker", "label", "aspect", "platform", "round"]].values.tolist() == [
            ["x", "w1", "a", "kind", "door", 0],
            ["y", "w1", "b", "kind", "door", 0],
        ]
        assert tx.queue.ages(1).waiting == 2
        assert tx.queue.waiting(1, "w9") == ["x"]
        assert (tx.keys.all()[0].skills, tx.keys.all()[0].per_hour) == ((), None)
        tx.hooks.subscribe(1, "https://example.org", ["answer"], by="k")
        tx.hooks.tell(1, "answer", {})
    with engine.begin() as connection:
        _migrate.migrate(connection, where="db", to="0006")
    with engine.connect() as connection:
        kept = connection.execute(sa.text("SELECT item, worker, label FROM door_answer ORDER BY item")).all()
        assert [tuple(row) for row in kept] == [("x", "w1", "a"), ("y", "w1", "b")]
        for name in ("answer", "submission", "hit"):
            assert connection.execute(sa.text(f"SELECT COUNT(*) FROM {name}")).scalar_one() == 0
    with engine.begin() as connection:
        _migrate.migrate(connection, where="db")
    engine.dispose()
