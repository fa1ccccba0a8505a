"""Pools, shifts, what was left without an answer, and the minutes of the server; on both databases."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa

from hmc_crowd.errors import DuplicateError, InputError
from hmc_crowd.store import PoolRecord, _migrate, open_store
from hmc_crowd.store._engine import make_engine, parse_url
from hmc_crowd.store._privacy import Person

if TYPE_CHECKING:
    from hmc_crowd._base.clock import VirtualClock

EXPERTS = PoolRecord("experts", "tier2", "per_hour", 6000, "USD", 20.0, ("law", "language:de"))


def test_a_pool_comes_back_as_it_was_added(store: Any, campaign: int) -> None:
    with store.begin() as tx:
        tx.pools.add(campaign, EXPERTS)
        tx.pools.add(campaign, EXPERTS)  # again changes nothing
        assert tx.pools.all(campaign) == [EXPERTS]
        with pytest.raises(DuplicateError, match="other terms"):
            tx.pools.add(campaign, replace(EXPERTS, price_minor=1))
        with pytest.raises(InputError, match="there are experts"):
            tx.pools.get(campaign, "nobody")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kind": "tier4"}, "kind is 'tier4'"),
        ({"pay_form": "per_day"}, "pay_form is 'per_day'"),
        ({"price_minor": 0}, "people are paid"),
        ({"price_minor": -1, "pay_form": "salaried"}, "people are paid"),
        ({"capacity_per_hour": 0.0}, "capacity_per_hour is 0.0"),
        ({"name": " "}, "name of the pool"),
        ({"skills": ("",)}, "skills of the pool"),
        ({"name": "a\x00b"}, "NUL"),
    ],
)
def test_a_pool_that_makes_no_sense_is_refused(store: Any, campaign: int, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said), store.begin() as tx:
        tx.pools.add(campaign, replace(EXPERTS, **changes))


def test_shifts_lie_between_moments(store: Any, campaign: int, clock: VirtualClock) -> None:
    now, hour = clock.now(), timedelta(hours=1)
    with store.begin() as tx:
        tx.pools.add(campaign, EXPERTS)
        early = tx.pools.add_shift(campaign, "experts", now, now + hour, people=3)
        late = tx.pools.add_shift(campaign, "experts", now + 5 * hour, now + 6 * hour)
        assert tx.pools.add_shift(campaign, "experts", now, now + hour, people=3) == early
        assert tx.pools.shifts(campaign) == [early, late]
        assert tx.pools.shifts(campaign, starts_at=now + hour) == [late]
        assert tx.pools.shifts(campaign, ends_at=now + 5 * hour) == [early]
        tx.pools.remove_shift(campaign, late.id)
        with pytest.raises(InputError, match="no planned shift"):
            tx.pools.remove_shift(campaign, late.id)
        for start, end, people in ((now, now, 1), (now, now - hour, 1), (now, now + hour, 0)):
            with pytest.raises(InputError, match="has no time"):
                tx.pools.add_shift(campaign, "experts", start, end, people=people)
        with pytest.raises(InputError, match=r"zone|aware"):
            tx.pools.add_shift(campaign, "experts", now.replace(tzinfo=None), now + hour)


def test_shifts_of_single_people_are_replaced_and_past_ones_stay(
    store: Any, campaign: int, clock: VirtualClock
) -> None:
    now, hour = clock.now(), timedelta(hours=1)
    with store.begin() as tx:
        tx.pools.add(campaign, EXPERTS)
        tx.pools.add_shift(campaign, "experts", now, now + hour)
        past = ("w1", now - 3 * hour, now - 2 * hour)
        tx.pools.set_workers_shifts(campaign, "experts", [past, ("w1", now, now + hour)])
        tx.pools.set_workers_shifts(campaign, "experts", [("w2", now, now + 2 * hour)])
        assert sorted(str(each.worker) for each in tx.pools.shifts(campaign)) == ["None", "w1", "w2"]
        tx.pools.told(campaign, "experts", members=4, opted_out={"violence": 1})
        found = tx.pools.get(campaign, "experts")
        assert (found.members, found.opted_out, found.asked_at) == (4, {"violence": 1}, now)


def test_what_was_left_open_is_stored_once_with_its_reason(store: Any, worked: int, build: Any) -> None:
    frame = build.answers(("s1", "a", "w1", "x"), ("s2", "b", "w2", "x")).drop(columns="label")
    frame = frame.assign(kind=["skip", "flag"], reason=["cannot_decide", "broken"], note=["", "Call me: Ann, 555"])
    with store.begin() as tx:
        assert tx.work.add_missing(worked, 1, frame) == 2
        assert tx.work.add_missing(worked, 1, frame) == 0
        assert tx.work.missing_counts(worked) == {("skip", "cannot_decide"): 1, ("flag", "broken"): 1}
        rows = tx.work.missing(worked)[["task", "worker", "kind", "note", "submission_id"]].values.tolist()
    assert rows == [["a", "w1", "skip", "", "s1"], ["b", "w2", "flag", "Call me: Ann, 555", "s2"]]


def test_a_forgotten_worker_takes_words_and_shifts_along(
    store: Any, worked: int, build: Any, clock: VirtualClock
) -> None:
    now, hour = clock.now(), timedelta(hours=1)
    frame = build.answers(("s1", "a", "w1", "x")).drop(columns="label").assign(kind="flag", reason="other", note="Ann")
    with store.begin() as tx:
        tx.work.add_missing(worked, 1, frame)
        tx.pools.add(worked, EXPERTS)
        tx.pools.set_workers_shifts(worked, "experts", [("w1", now, now + hour)])
        person = Person("local", "w1", None)
        assert set(tx.privacy.export(person)["campaigns"]["demo"]) >= {"shift", "missing_answer"}
        tx.privacy.forget(person, fresh="w9")
        assert tx.work.missing(worked)[["worker", "reason", "note"]].values.tolist() == [["w9", "other", ""]]
        assert [each.worker for each in tx.pools.shifts(worked)] == ["w9"]


def test_uptime_is_the_share_of_minutes_since_the_first(store: Any, clock: VirtualClock) -> None:
    with store.begin() as tx:
        assert tx.uptime.share() is None
        tx.uptime.beat()
        tx.uptime.beat()
        clock.advance(60)
        tx.uptime.beat()
        clock.advance(120)
        # Up in minutes 0 and 1 of 0, 1 and 2; nobody knows yet of minute 3, which has just begun.
        assert tx.uptime.share() == pytest.approx(2 / 3)
        clock.advance(31 * 24 * 3600)
        tx.uptime.beat()
        assert tx.uptime.share() == 1.0
        assert tx.uptime._session.one(sa.text("SELECT count(*) FROM heartbeat"))[0] == 1


def test_the_terms_of_a_hit_come_back(store: Any, campaign: int, build: Any) -> None:
    terms = {"pool": "experts", "skills": ["law"], "pay_form": "per_hour", "rate_minor": 6000}
    with store.begin() as tx:
        tx.work.add_hits(campaign, 1, [build.hit("h1", "a", terms=terms), build.hit("h2", "b")])
        assert [each.terms for each in tx.work.hits(campaign)] == [terms, None]


def test_an_older_database_keeps_its_hits(database_url: str, clock: VirtualClock, build: Any) -> None:
    """Down to 0004 and up again: the rows of before live, those of the pools go with their tables."""
    with open_store(database_url, create=True, clock=clock) as opened, opened.begin() as tx:
        made = tx.campaigns.create("demo", {}, created_at=clock.now()).id
        tx.frames.add_items(made, build.items("a"))
        tx.work.add_hits(made, 1, [build.hit("h1", "a", terms={"pool": "experts"})])
        tx.pools.add(made, EXPERTS)
        tx.uptime.beat()
    engine = make_engine(parse_url(database_url), busy_s=5.0).execution_options(writes=True)
    for to in ("0004", None):
        with engine.begin() as connection:
            _migrate.migrate(connection, where="db", **({"to": to} if to else {}))
        if to:
            with engine.connect() as connection:
                names = set(sa.inspect(connection).get_table_names())
            assert not names & {"pool", "shift", "missing_answer", "heartbeat"}
    engine.dispose()
    with open_store(database_url, clock=clock) as again, again.read() as tx:
        assert [(each.key, each.terms) for each in tx.work.hits(made)] == [("h1", None)]
        assert tx.pools.all(made) == []
