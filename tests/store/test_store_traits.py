"""What workers said of themselves is kept once, replaced, withdrawn, forgotten and exported; the table's history."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pandas as pd
import pytest
import sqlalchemy as sa

from hmc_crowd.errors import FrameError
from hmc_crowd.store import Person, _migrate, open_store
from hmc_crowd.store._engine import make_engine, parse_url

if TYPE_CHECKING:
    from types import SimpleNamespace

    from hmc_crowd._base.clock import VirtualClock
    from hmc_crowd.store import Store


def traits(*rows: tuple[str, str, str], source: str = "local") -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["worker", "attribute", "value"]).assign(source=source)


SAID = traits(("w1", "region", "north"), ("w2", "region", "south"), ("w1", "sex", "female"))


def test_the_same_again_changes_nothing_and_a_newer_value_replaces(
    store: Store, campaign: int, clock: VirtualClock
) -> None:
    with store.begin() as tx:
        first = clock.now()
        assert tx.traits.put(campaign, SAID) == 3
        clock.advance(60)
        assert tx.traits.put(campaign, SAID) == 0
        assert set(tx.traits.read(campaign)["at"]) == {pd.Timestamp(first)}
        moved = traits(("w1", "region", "east"))
        assert tx.traits.put(campaign, moved, at=first - timedelta(days=1)) == 0
        assert tx.traits.put(campaign, moved) == 1
    with store.read() as tx:
        assert tx.traits.read(campaign, "region")[["worker", "value"]].to_numpy().tolist() == [
            ["w1", "east"],
            ["w2", "south"],
        ]
        assert tx.traits.attributes(campaign) == {"region": 2, "sex": 1}


def test_each_campaign_has_its_own(store: Store, campaign: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        other = tx.campaigns.create("other", {}, created_at=clock.now()).id
        tx.traits.put(campaign, SAID)
        assert tx.traits.read(other).empty
        assert list(tx.traits.read(other)) == ["worker", "attribute", "value", "source", "at"]


def test_what_is_taken_back_is_gone(store: Store, campaign: int) -> None:
    with store.begin() as tx:
        tx.traits.put(campaign, SAID)
        assert tx.traits.withdraw(campaign, "region", ["w1", "w9"]) == 1
        assert sorted(tx.traits.read(campaign)["value"]) == ["female", "south"]


def test_a_missing_value_is_refused_and_nothing_is_kept(store: Store, campaign: int) -> None:
    with pytest.raises(FrameError, match="value"), store.begin() as tx:
        tx.traits.put(campaign, SAID.assign(value=["north", None, "female"]))
    with store.read() as tx:
        assert tx.traits.read(campaign).empty


def test_who_only_said_something_is_found_and_forgotten_altogether(store: Store, campaign: int) -> None:
    with store.begin() as tx:
        tx.traits.put(campaign, SAID)
        assert tx.privacy.platforms() == ["local"]
        ann = Person("local", "w1", None)
        assert tx.privacy.find("ann", derived={"local": "w1"}) == [ann]
        found = tx.privacy.export(ann)["campaigns"]["demo"]["worker_trait"]
        assert [(each["attribute"], each["value"]) for each in found] == [("region", "north"), ("sex", "female")]
        # Not renamed but gone: such things may lead back to a person.
        assert tx.privacy.forget(ann, fresh="wnew")["worker_trait"] == 2
        assert tx.traits.read(campaign)["worker"].tolist() == ["w2"]


def test_old_ones_are_those_told_and_worked_before(
    store: Store, worked: int, build: SimpleNamespace, clock: VirtualClock
) -> None:
    with store.begin() as tx:
        tx.traits.put(worked, SAID)
        later = clock.now() + timedelta(days=9)
        tx.work.put_submissions(worked, 1, [build.submission("s2", "w2", state="approved", submitted_at=later)])
        assert tx.traits.count_old(clock.now()) == 0
        assert tx.traits.count_old(clock.now() + timedelta(days=1)) == 2
        assert tx.traits.erase_old(clock.now() + timedelta(days=1)) == 2
        assert tx.traits.read(worked)["worker"].tolist() == ["w2"]


def test_the_step_goes_down_and_up_with_data(database_url: str, clock: VirtualClock) -> None:
    with open_store(database_url, create=True, clock=clock) as store, store.begin() as tx:
        made = tx.campaigns.create("demo", {}, created_at=clock.now()).id
        tx.traits.put(made, SAID)
    engine = make_engine(parse_url(database_url), busy_s=5.0).execution_options(writes=True)
    with engine.begin() as connection:
        _migrate.migrate(connection, where="db", to="0009")
        assert "worker_trait" not in sa.inspect(connection).get_table_names()
        assert connection.execute(sa.text("SELECT name FROM campaign")).scalar() == "demo"
    with engine.begin() as connection:
        _migrate.migrate(connection, where="db")
    engine.dispose()
    with open_store(database_url, clock=clock) as store, store.begin() as tx:
        assert tx.traits.read(made).empty
        assert tx.traits.put(made, SAID) == 3
