"""Tests and attempts, approval rates, drift, alerts, decisions and assignments; on both databases, up and down."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
import sqlalchemy as sa

from hmc_crowd.errors import DuplicateError, InputError, StoreError
from hmc_crowd.store import AttemptRecord, HitItemRecord, NoticeRecord, TestRecord, _migrate, open_store
from hmc_crowd.store._engine import make_engine, parse_url
from hmc_crowd.store._privacy import Person

if TYPE_CHECKING:
    from hmc_crowd._base.clock import VirtualClock

TONE = TestRecord("tone", 1, {"q": "yes"}, {"warm": "no"}, 0.9, 2, 60.0)


def attempt(clock: VirtualClock, worker: str = "w1", number: int = 1) -> AttemptRecord:
    return AttemptRecord(worker, "tone", 1, number, 1, 1, True, clock.now())


def rates(clock: VirtualClock, *rows: tuple[str, float | None]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["worker", "rate"])
    return frame.assign(source="prolific", at=pd.Timestamp(clock.now()), reviewed=pd.array([20] * len(rows), "Int64"))


def alarm(clock: VirtualClock, worker: str = "w1") -> pd.DataFrame:
    row = {"worker": worker, "at": pd.Timestamp(clock.now()), "answers": 30}
    return pd.DataFrame([row | {"statistic": 9.5, "threshold": 8.0, "reason": "a fall"}])


def decision(clock: VirtualClock, item: str = "a", to: str = "expert", label: str | None = "yes") -> pd.DataFrame:
    row = {"aspect": "malevolent", "item": item, "decided_at": pd.Timestamp(clock.now()), "decided_by": "rules 1"}
    row |= {"decider": "gate", "policy": "rules", "policy_version": "1", "decision": to}
    return pd.DataFrame([row | {"reason_code": "tie", "evidence": "2 answers", "label": label, "score": 0.5}])


def given(clock: VirtualClock, item: str, expert: str, place: int = 1) -> pd.DataFrame:
    row = {"aspect": "malevolent", "item": item, "expert": expert, "tier": 2, "place": place, "score": 0.9}
    return pd.DataFrame([row | {"assigned_at": pd.Timestamp(clock.now())}])


def test_a_version_of_a_test_never_changes(store: Any, campaign: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        tx.qualifications.add(campaign, TONE)
        tx.qualifications.add(campaign, TONE)
        tx.qualifications.add(campaign, replace(TONE, version=2, training=None))
        assert tx.qualifications.tests(campaign) == [TONE, replace(TONE, version=2, training=None)]
        with pytest.raises(DuplicateError, match="never changes"):
            tx.qualifications.add(campaign, replace(TONE, pass_share=0.5))
        tx.qualifications.add_attempt(campaign, attempt(clock))
        tx.qualifications.add_attempt(campaign, attempt(clock, "w2"))
        assert tx.qualifications.attempts(campaign, "tone", worker="w2") == [attempt(clock, "w2")]
    with pytest.raises(StoreError), store.begin() as tx:
        tx.qualifications.add_attempt(campaign, attempt(clock))


def test_rates_are_readings_that_stay(store: Any, campaign: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        assert tx.standing.add_rates(campaign, rates(clock, ("w1", 0.95), ("w2", None))) == 2
        assert tx.standing.add_rates(campaign, rates(clock, ("w1", 0.5))) == 0
        clock.advance(60)
        assert tx.standing.add_rates(campaign, rates(clock, ("w1", 0.9))) == 1
        held = tx.standing.rates(campaign)
    assert held["worker"].tolist() == ["w1", "w2", "w1"]
    assert held["rate"].fillna(-1).tolist() == [0.95, -1, 0.9]
    with pytest.raises(InputError, match=r"rate is 1\.2"), store.begin() as tx:
        tx.standing.add_rates(campaign, rates(clock, ("w1", 1.2)))


def test_who_took_a_hit_has_met_its_gold(store: Any, campaign: int, build: Any, clock: VirtualClock) -> None:
    asked = (HitItemRecord("a", "malevolent", 0), HitItemRecord("b", "malevolent", 1, is_gold=True))
    with store.begin() as tx:
        tx.work.add_hits(
            campaign, 1, [replace(build.hit("h1", "a"), items=asked), replace(build.hit("h2", "a"), items=asked)]
        )
        tx.work.put_submissions(campaign, 1, [build.submission("s1"), build.submission("s2", hit_key="h2")])
        met = tx.standing.exposures(campaign)
    assert met[["item", "aspect", "times"]].values.tolist() == [["b", "malevolent", 2]]


def test_an_alarm_is_kept_once(store: Any, campaign: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        assert tx.standing.add_alarms(campaign, alarm(clock)) == 1
        assert tx.standing.add_alarms(campaign, alarm(clock)) == 0
        found = tx.standing.alarms(campaign)
    assert found[["worker", "answers", "reason"]].values.tolist() == [["w1", 30, "a fall"]]
    assert found["found_at"].tolist() == [pd.Timestamp(clock.now())]


def notice(clock: VirtualClock, subject: str = "w1") -> NoticeRecord:
    now = clock.now()
    return NoticeRecord("alert", "quality", subject, 0.2, "high", f"quality of {subject} is 0.2", now, now)


def test_alerts_keep_their_state_and_their_log(store: Any, campaign: int, clock: VirtualClock) -> None:
    state = {("quality", "w1"): (2, clock.now(), clock.now()), ("pay", ""): (1, None, None)}
    with store.begin() as tx:
        tx.alerts.keep(campaign, state)
        tx.alerts.say(campaign, [notice(clock), notice(clock, "w2")])
        assert tx.alerts.state(campaign) == state
        tx.alerts.keep(campaign, {})
        assert tx.alerts.state(campaign) == {}
        assert [each.subject for each in tx.alerts.notices(campaign)] == ["w2", "w1"]
        assert tx.alerts.notices(campaign, limit=1) == [notice(clock, "w2")]


def test_the_newest_decision_counts_and_all_stay(store: Any, campaign: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        tx.gates.add(campaign, pd.concat([decision(clock, "a"), decision(clock, "b", label=None)]))
        tx.gates.add(campaign, decision(clock, "a", "accept"))
        assert tx.gates.decisions(campaign)["item"].tolist() == ["a", "b", "a"]
        last = tx.gates.decisions(campaign, aspect="malevolent", newest=True).set_index("item")
    assert last["decision"].to_dict() == {"b": "expert", "a": "accept"}
    assert last["label"].isna().to_dict() == {"b": True, "a": False}


def test_an_item_is_with_one_expert(store: Any, campaign: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        tx.gates.assign(campaign, pd.concat([given(clock, "a", "eva"), given(clock, "b", "eva", 2)]))
        tx.gates.assign(campaign, given(clock, "a", "max"))
        held = tx.gates.assigned(campaign)
        assert held[["item", "expert"]].values.tolist() == [["b", "eva"], ["a", "max"]]
        assert tx.gates.release(campaign, "malevolent", ["a", "c"]) == 1
        assert tx.gates.assigned(campaign)["item"].tolist() == ["b"]


def test_a_forgotten_worker_leaves_none_of_it_under_his_name(store: Any, worked: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        tx.qualifications.add(worked, TONE)
        tx.qualifications.add_attempt(worked, attempt(clock))
        tx.standing.add_rates(worked, rates(clock, ("w1", 0.95)))
        tx.standing.add_alarms(worked, alarm(clock))
        tx.alerts.keep(worked, {("quality", "w1"): (1, clock.now(), clock.now())})
        tx.alerts.say(worked, [notice(clock)])
        person = Person("local", "w1", None)
        told = set(tx.privacy.export(person)["campaigns"]["demo"])
        assert told >= {"qualification_attempt", "approval_rate", "drift_alarm", "alert_notice"}
        tx.privacy.forget(person, fresh="w9")
        assert [each.worker for each in tx.qualifications.attempts(worked)] == ["w9"]
        assert tx.standing.rates(worked)["worker"].tolist() == ["w9"]
        assert tx.standing.alarms(worked)["worker"].tolist() == ["w9"]
        assert tx.alerts.notices(worked) == [notice(clock, "w9")]
        assert set(tx.alerts.state(worked)) == {("quality", "w9")}


def test_down_and_up_again_with_rows_in_the_tables(database_url: str, clock: VirtualClock, build: Any) -> None:
    with open_store(database_url, create=True, clock=clock) as opened, opened.begin() as tx:
        made = tx.campaigns.create("demo", {}, created_at=clock.now()).id
        tx.frames.add_items(made, build.items("a"))
        tx.qualifications.add(made, TONE)
        tx.qualifications.add_attempt(made, attempt(clock))
        tx.standing.add_rates(made, rates(clock, ("w1", 0.95)))
        tx.standing.add_alarms(made, alarm(clock))
        tx.alerts.keep(made, {("quality", "w1"): (1, clock.now(), None)})
        tx.alerts.say(made, [notice(clock)])
        tx.gates.add(made, decision(clock))
        tx.gates.assign(made, given(clock, "a", "eva"))
    engine = make_engine(parse_url(database_url), busy_s=5.0).execution_options(writes=True)
    for to in ("0007", None):
        with engine.begin() as connection:
            _migrate.migrate(connection, where="db", **({"to": to} if to else {}))
        with engine.connect() as connection:
            names = set(sa.inspect(connection).get_table_names())
        assert ("gate_decision" in names) == (to is None)
    engine.dispose()
    clock.advance(timedelta(hours=1).total_seconds())
    with open_store(database_url, clock=clock) as again, again.begin() as tx:
        assert tx.frames.count(made, "items") == 1
        assert tx.qualifications.tests(made) == []
        assert tx.gates.decisions(made).empty
        tx.gates.add(made, decision(clock))
        assert len(tx.gates.decisions(made)) == 1
