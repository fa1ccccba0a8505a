"""How much one person may send: events are capped per submission and per person, and folding changes no active time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from hmc_crowd_local import PageEvent
from hmc_crowd_local._fold import fold
from hmc_crowd_local._tables import EVENT
from hmc_crowd_local._timing import active_seconds
from hypothesis import given, settings
from hypothesis import strategies as st
from pages_house import Tab, dialogue, question

from hmc_crowd.platform import Hit

START = datetime(2026, 1, 5, tzinfo=UTC)
KINDS = ("input", "input", "input", "heartbeat", "hidden", "visible", "answer", "blur")


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(KINDS), st.floats(0, 100)), max_size=60))
def test_folding_signs_of_life_changes_no_active_time(steps: Any) -> None:
    when, seen = START, [PageEvent("shown", START, "i")]
    for kind, gap in steps:
        when += timedelta(seconds=gap)
        seen.append(PageEvent(kind, when, "i"))
    assert active_seconds(fold(seen), {}) == active_seconds(seen, {})


def stored(house: Any) -> int:
    with house.local._database.read() as connection:
        return int(connection.execute(sa.select(sa.func.count()).select_from(EVENT)).scalar_one())


def flood(tab: Tab, n: int) -> None:
    for kind in ["hidden", "visible"] * (n // 2):
        tab.note(kind)
    assert tab.flush().status_code == 204


def test_a_person_s_events_are_capped_over_all_hits_and_the_work_is_taken(new_house: Any) -> None:
    house = new_house(most_events=60, most_events_a_day=100)
    for number in range(4):
        hit = Hit(f"k{number}", "Judge", "", (question(f"i{number}"), question(f"j{number}")), 1, 5, "USD")
        name, link = house.work(hit)
        tab = Tab(house, link)
        flood(tab, 80)
        tab.hand_in()
        assert house.local.submission(name).state.value == "submitted"
    assert stored(house) == 100
    house.clock.advance(25 * 3600)
    _, link = house.work(dialogue())
    flood(Tab(house, link), 20)
    assert stored(house) == 121


def test_one_person_s_flood_takes_no_events_from_another(new_house: Any) -> None:
    house = new_house(most_events=50, most_events_a_day=50)
    remote = house.local.publish(dialogue(redundancy=2))
    links = {}
    for worker in ("ann", "bob"):
        from hmc_crowd_local.pages import work_url

        links[worker] = work_url(house.url, house.token(house.local.accept(remote.hit_id, worker).submission_id))
    flood(Tab(house, links["ann"]), 200)
    before = stored(house)
    flood(Tab(house, links["bob"]), 10)
    assert (before, stored(house)) == (50, 61)
