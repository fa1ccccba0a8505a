"""A person has one clock: over all HITs that are open at once, active time never exceeds it."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hmc_crowd_local import AnswerRecord, Desk, PageEvent, connect
from hmc_crowd_local._timing import EVENT_KINDS
from hypothesis import given, settings
from hypothesis import strategies as st

from hmc_crowd.platform import Hit, HitItem, RemoteAnswer, Terms

START = datetime(2026, 1, 5, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def a_hit(number: int, **options: Any) -> Hit:
    item = HitItem(f"i{number}", "label", f"g{number}", 1, "Hello.", labels=("fine", "rude"))
    return Hit(f"k{number}", "Judge", "", (item,), **{"redundancy": 3, "pay_minor": 5, "currency": "USD", **options})


class Names:
    def __init__(self) -> None:
        self.last = 0

    def new(self) -> str:
        self.last += 1
        return f"s{self.last:05d}"


EVENTS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(EVENT_KINDS), st.floats(0, 2_000), st.sampled_from("ab")), max_size=60
)


@settings(max_examples=150, deadline=None)
@given(events=EVENTS, ends=st.permutations(range(4)), times=st.lists(st.floats(0, 2_000), min_size=4, max_size=4))
def test_whatever_is_interleaved_active_time_is_within_the_clock(events: Any, ends: Any, times: Any) -> None:
    desk = Desk(Names())
    works = []
    for number in range(4):
        hit = desk.publish(a_hit(number), at=START)
        works.append(desk.accept(hit.hit_id, "ann", at=START).submission_id)
    for number, kind, when, page in events:
        desk.record_events(works[number], "ann", [PageEvent(kind, at(when), f"i{number}", page)])
    for number, when in zip(ends, sorted(times), strict=True):
        desk.save(works[number], "ann", AnswerRecord(f"i{number}", "label", "fine"), at=START)
        desk.submit(works[number], "ann", at=at(when), expects_events=True)
    seen = [when for _, _, when, _ in events]
    clock = max(seen, default=0.0) - min(seen, default=0.0)
    active = [desk.submissions[name].active_s or 0.0 for name in works]
    assert sum(active) <= clock + 1e-3
    for name, seconds in zip(works, active, strict=True):
        record = desk.submissions[name]
        assert 0 <= seconds <= (record.submitted_at - record.accepted_at).total_seconds() + 1e-3
    spans = sorted(span for own in desk.counted["ann"].values() for span in own)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))


@pytest.fixture
def place(tmp_path: Any, clock: Any) -> Any:
    opened = connect(str(tmp_path / "w.db"), clock=clock)
    yield opened
    opened.close()


def take(place: Any, number: int, worker: str = "ann", **options: Any) -> str:
    remote = place.publish(a_hit(number, **options))
    name = str(place.accept(remote.hit_id, worker).submission_id)
    place.open_page(name, worker)
    return name


def done(place: Any, name: str, number: int, worker: str = "ann", **events: Any) -> Any:
    place.save_answer(name, worker, item=f"i{number}", aspect="label", label="fine")
    return place.submit(name, worker, **events)


def test_four_hits_side_by_side_are_paid_as_one_clock(place: Any, clock: Any) -> None:
    begun = clock.now()
    hourly = {"pay_minor": 0, "terms": Terms(pay_form="per_hour", rate_minor=6000, pool="p")}
    works = [take(place, number, **hourly) for number in range(4)]
    for _ in range(5):
        clock.advance(15)
        for number, name in enumerate(works):
            place.record_events(name, "ann", [PageEvent("input", clock.now(), f"i{number}", f"p{number}")])
    for number, name in enumerate(works):
        place.record_events(name, "ann", [PageEvent("shown", begun, None, f"p{number}")])
    found = [done(place, name, number, expects_events=True) for number, name in enumerate(works)]
    assert sum(each.active_s for each in found) == 75.0
    assert [each.time_quality for each in found] == ["ok", *["overlap_adjusted"] * 3]
    for name in works:
        place.approve(name)
    # 75 s of 60.00 an hour, not 300.
    assert sum(each.amount_minor for each in place.owed()) == 125
    assert place.earnings("ann").totals["USD"]["approved"] == 125


def test_work_one_after_the_other_loses_nothing(place: Any, clock: Any) -> None:
    for number in range(3):
        name = take(place, number)
        place.record_events(name, "ann", [PageEvent("shown", clock.now(), f"i{number}", "p")])
        clock.advance(40)
        place.record_events(name, "ann", [PageEvent("answer", clock.now(), f"i{number}", "p")])
        assert (done(place, name, number).active_s, place.submission(name).time_quality) == (40.0, "ok")
        clock.advance(5)


def test_two_people_have_two_clocks(place: Any, clock: Any) -> None:
    names = [take(place, 0, worker) for worker in ("ann", "bob")]
    for name, worker in zip(names, ("ann", "bob"), strict=True):
        place.record_events(name, worker, [PageEvent("shown", clock.now(), "i0", "p")])
    clock.advance(30)
    for name, worker in zip(names, ("ann", "bob"), strict=True):
        place.record_events(name, worker, [PageEvent("answer", clock.now(), "i0", "p")])
        assert done(place, name, 0, worker).active_s == 30.0


def test_events_from_outside_the_work_count_for_nothing(place: Any, clock: Any) -> None:
    name = take(place, 0)
    seen = [PageEvent("input", clock.now() - timedelta(seconds=30 * n), "i0", "p") for n in range(120)]
    clock.advance(2)
    seen += [PageEvent("input", clock.now() + timedelta(seconds=30 * n), "i0", "p") for n in range(120)]
    place.record_events(name, "ann", seen)
    found = done(place, name, 0, expects_events=True)
    assert (found.active_s, found.time_quality) == (2.0, "clock_suspect")


def test_hours_that_no_page_measured_are_counted_once_over_hits_open_at_once(place: Any, clock: Any) -> None:
    hourly = {"pay_minor": 0, "terms": Terms(pay_form="per_hour", rate_minor=3600, pool="p")}
    works = [take(place, number, **hourly) for number in range(5)]
    clock.advance(100)
    for number, name in enumerate(works):
        done(place, name, number, expects_events=True)
        place.approve(name)
    # Nobody saw events: 100 s at one minor unit a second, once and not five times.
    assert sum(each.amount_minor for each in place.owed()) == 100
    later = take(place, 9, **hourly)
    clock.advance(50)
    done(place, later, 9, expects_events=True)
    assert place.earnings("ann").totals["USD"]["pending"] == 50


def test_a_program_that_hands_in_claims_is_held_to_the_clock(place: Any, clock: Any) -> None:
    name = take(place, 0)
    clock.advance(2)
    claim = RemoteAnswer("i0", "label", "fine", clock.now() - timedelta(hours=25), clock.now())
    assert place.hand_in(name, "ann", [claim]).active_s <= 2.0
