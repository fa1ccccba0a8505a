"""Uses of labels, draws for experts, and the stream's state, and the step of the history that makes their tables."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pandas as pd
import pytest
import sqlalchemy as sa

from hmc_crowd.errors import InputError, StateError
from hmc_crowd.store import ExpertAuditRecord, _migrate, open_store
from hmc_crowd.store._engine import make_engine, parse_url

if TYPE_CHECKING:
    from hmc_crowd._base.clock import VirtualClock
    from hmc_crowd.store import Store

NEW = {"data_role", "expert_audit", "expert_audit_item", "stream_state", "stream_window"}


@pytest.fixture
def made(store: Store, clock: VirtualClock) -> int:
    with store.begin() as tx:
        return tx.campaigns.create("demo", {}, created_at=clock.now()).id


def test_what_certified_neither_fits_nor_chooses_and_the_other_way_round(store: Store, made: int) -> None:
    with store.begin() as tx:
        assert tx.roles.enter(made, "a", "fit", ["x", "y"], purpose="calibration 1") == 2
        assert tx.roles.enter(made, "a", "choose", ["y"], purpose="a choice") == 1
        assert tx.roles.enter(made, "a", "fit", ["x"], purpose="calibration 2") == 0
        with pytest.raises(StateError, match=r"labels of 'y' were used to (fit|choose) already"):
            tx.roles.enter(made, "a", "certify", ["y", "z"], purpose="certificate")
        # Nothing was noted, and another question's labels are other labels.
        assert tx.roles.enter(made, "a", "certify", ["z"], purpose="certificate") == 1
        assert tx.roles.enter(made, "b", "certify", ["y"], purpose="certificate") == 1
        with pytest.raises(StateError, match="used to certify already"):
            tx.roles.enter(made, "a", "choose", ["z"], purpose="a choice")
        with pytest.raises(InputError, match="role is 'look'"):
            tx.roles.enter(made, "a", "look", ["z"], purpose="a choice")
    with store.read() as tx:
        assert sorted(tx.roles.read(made, "a")["item"]) == ["x", "y", "y", "z"]


def test_the_newest_draw_counts(store: Store, made: int, clock: VirtualClock) -> None:
    items = pd.DataFrame({"item": ["x", "y"], "stratum": ["people", "machine"], "label": ["good", "bad"]})
    first = ExpertAuditRecord(1, 10, 20, 0, 0.5, "abc", clock.now())
    second = ExpertAuditRecord(2, 11, 19, 1, 0.4, "def", clock.now())
    with store.begin() as tx:
        assert tx.expert_audits.newest(made, "a") is None
        tx.expert_audits.add(made, "a", first, items)
        tx.expert_audits.add(made, "a", second, items.head(1))
    with store.read() as tx:
        assert tx.expert_audits.newest(made, "a") == second
        assert tx.expert_audits.items(made, "a", 1).to_dict("list") == items.to_dict("list")
        assert tx.expert_audits.items(made, "a", 2)["item"].tolist() == ["x"]


def test_a_stream_is_counted_in_spans_of_time(store: Store, made: int, clock: VirtualClock) -> None:
    began = clock.now()
    row = {"text": "", "reason": "", "policy": "p", "gain": 0.0, "due_at": None, "label": "good", "confidence": 0.9}
    with store.begin() as tx:
        for number, destination in enumerate(["machine", "audit", "people"]):
            chance = 1.0 if destination == "people" else 0.25
            one = {**row, "item": f"i{number}", "destination": destination, "inclusion_probability": chance}
            tx.door.put(made, [one])
        end = clock.now() + timedelta(seconds=60)
        assert tx.streams.counts(made, began, end) == {"audit": 1, "machine": 1, "people": 1}
        assert tx.streams.kept(made, began, end) == {0.25: 2}
        assert tx.streams.scores(made, began, end, most=2) == [0.9, 0.9]
        (audited,) = tx.streams.audit(made, "a", began, end).to_dict("records")
        assert (audited["item"], audited["machine"], audited["is_open"]) == ("i1", "good", True)
        assert tx.streams.counts(made, end, end + timedelta(seconds=60)) == {}
        assert tx.streams.next_at(made, end) is None
        tx.streams.save(made, {"n": 1})
        tx.streams.save(made, {"n": 2})
        for number in (1, 2, 3):
            tx.streams.close(made, number, {"window": number})
    with store.read() as tx:
        assert tx.streams.state(made) == {"n": 2}
        assert [each["window"] for each in tx.streams.windows(made, last=2)] == [2, 3]


def test_the_step_goes_down_and_up_with_data(database_url: str, clock: VirtualClock) -> None:
    row = {"item": "i", "text": "", "destination": "machine", "reason": "", "policy": "p", "gain": 0.0, "due_at": None}
    with open_store(database_url, create=True, clock=clock) as store, store.begin() as tx:
        made = tx.campaigns.create("demo", {}, created_at=clock.now()).id
        tx.roles.enter(made, "a", "fit", ["x"], purpose="calibration 1")
        tx.door.put(made, [{**row, "inclusion_probability": 0.1, "label": "good", "confidence": 0.9}])
    engine = make_engine(parse_url(database_url), busy_s=5.0).execution_options(writes=True)
    with engine.begin() as connection:
        _migrate.migrate(connection, where="db", to="0008")
        assert not NEW & set(sa.inspect(connection).get_table_names())
        assert connection.execute(sa.text("SELECT item FROM allocation")).scalar() == "i"
    with engine.begin() as connection:
        _migrate.migrate(connection, where="db")
    engine.dispose()
    with open_store(database_url, clock=clock) as store, store.begin() as tx:
        assert tx.roles.enter(made, "a", "certify", ["x"], purpose="certificate") == 1
        assert tx.streams.kept(made, clock.now() - timedelta(1), clock.now() + timedelta(1)) == {0.1: 1}
