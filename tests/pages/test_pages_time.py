"""The clocks at the pages' door: events dated by the server and kept once; acceptance cases C05 to C09."""

from __future__ import annotations

import numpy as np
import pytest
from pages_house import Tab, dialogue, question

from hmc_crowd.platform import Hit


def submission(house, name):
    return house.local.submission(name)


def events(house, name):
    import sqlalchemy as sa
    from hmc_crowd_local._tables import EVENT

    with house.local._database.read() as connection:
        return connection.execute(sa.select(EVENT).where(EVENT.c.submission_id == name).order_by(EVENT.c.seq)).all()


def test_c05_an_idle_tab_over_night_counts_to_the_cap_and_the_raw_record_is_kept(house, clock) -> None:
    name, link = house.work(dialogue(time_limit_s=100_000))
    tab = Tab(house, link)
    tab.wait(10)
    tab.note("input")
    tab.flush()
    tab.wait(9 * 3600)  # the tab stays open and visible; its heart beats
    for _ in range(3):
        tab.note("heartbeat")
        tab.wait(15)
    tab.note("input")
    tab.hand_in()
    found = submission(house, name)
    # 10 s at work, then a gap of nine hours cut to the least allowance of a minute.
    assert found.active_s == 70.0
    assert found.time_quality == "capped"
    assert found.page_elapsed_s > 9 * 3600
    assert len(events(house, name)) == 6


def test_c06_eight_minutes_of_silent_reading_count(house) -> None:
    words = " ".join(["word"] * 1200)
    hit = Hit("long", "Read", "", (question("i1", text=words), question("i2")), 1, 5, "USD")
    name, link = house.work(hit)
    tab = Tab(house, link)
    tab.wait(480)
    tab.note("answer")
    tab.hand_in()
    # The allowance is 60 s per 100 words and 30 s more, at most 600: all of 480 s lie in it.
    assert submission(house, name).active_s >= 0.9 * 480


def test_c07_two_tabs_of_one_worker_count_no_second_twice(house) -> None:
    name, link = house.work(dialogue())
    one, two = Tab(house, link, "tab1"), Tab(house, link, "tab2", number=2)
    for _ in range(10):
        one.wait(6)
        one.note("input")
        two.note("input")
    two.flush()
    one.hand_in()
    assert submission(house, name).active_s == 60.0  # not 120


def test_c07_a_hidden_tab_does_not_stop_the_visible_one(house) -> None:
    name, link = house.work(dialogue())
    one, two = Tab(house, link, "tab1"), Tab(house, link, "tab2", number=2)
    one.note("hidden")
    for _ in range(5):
        two.wait(10)
        two.note("input")
    one.flush()
    two.hand_in()
    assert submission(house, name).active_s == 50.0


def test_c08_without_script_the_label_is_taken_and_the_clock_says_so(house, plain, clock) -> None:
    name, link = house.work(dialogue())
    plain.get(link)
    clock.advance(30)
    plain.answer(a0="0", do="next")
    clock.advance(30)
    plain.answer(a0="1", do="next")
    plain.send("Hand in")
    found = submission(house, name)
    assert (found.time_quality, found.active_s) == ("no_heartbeat", None)
    assert found.page_elapsed_s == 60.0
    assert len(house.local.answers([name])[name]) == 2


def test_time_in_another_tab_does_not_count(house) -> None:
    name, link = house.work(dialogue())
    tab = Tab(house, link)
    tab.wait(20)
    tab.note("hidden")
    tab.wait(600)
    tab.note("visible")
    tab.wait(10)
    tab.note("answer")
    tab.hand_in()
    assert submission(house, name).active_s == 30.0
    assert submission(house, name).time_quality == "ok"


def test_a_batch_sent_twice_is_kept_once_and_a_lost_one_is_counted(house) -> None:
    from hmc_crowd_local.pages import WorkStore

    name, link = house.work(dialogue())
    tab = Tab(house, link)
    first = list(tab.waiting)
    tab.flush()
    tab.waiting = first
    tab.flush()
    for _ in range(3):
        tab.wait(1)
        tab.note("input")
    tab.waiting = tab.waiting[2:]  # two never arrive
    tab.flush()
    assert [each.page_seq for each in events(house, name)] == [0, 3]
    assert WorkStore(house.local._database).gaps(name) == 2


def test_events_that_come_late_are_dated_when_they_happened(house, clock) -> None:
    name, link = house.work(dialogue())
    tab = Tab(house, link)
    tab.wait(5)
    tab.note("input")
    happened = clock.now()
    tab.wait(10)  # offline
    tab.flush()
    kept = events(house, name)[1]
    assert kept.at == happened
    assert kept.received_at == clock.now()


def test_nobody_can_date_an_event_before_the_page_or_after_now(house, clock) -> None:
    name, link = house.work(dialogue())
    start = clock.now()
    tab = Tab(house, link)
    tab.wait(10)
    for t in (-1e14, 1e14):
        tab.waiting.append({"seq": tab.seq, "kind": "input", "t": t, "epoch": 0, "n": 1})
        tab.seq += 1
    assert tab.flush().status_code == 204
    assert {start, clock.now()} == {each.at for each in events(house, name)}


def test_a_clock_that_was_set_makes_the_time_suspect(house) -> None:
    name, link = house.work(dialogue())
    tab = Tab(house, link)
    tab.wait(10)
    tab.note("input")
    tab.skew_ms = 3_600_000.0
    tab.note("input")
    tab.hand_in()
    assert submission(house, name).time_quality == "clock_suspect"


@pytest.mark.parametrize(
    "change",
    [
        {"events": "no list"}, {"events": [{"seq": -1, "kind": "input", "t": 0}]}, {"events": [7]}, {"page": ""},
        {"events": [{"seq": 0, "kind": "keylog", "t": 0}]}, {"events": [{"seq": 0, "kind": "input", "t": "x"}]},
        {"page": "a b"}, {"now": None}, {"events": [{"seq": True, "kind": "input", "t": 0}]}, {"form": "forged"},
        {"events": [{"seq": 2**40, "kind": "input", "t": 0}]},
        {"events": [{"seq": 0, "kind": "input", "t": float("inf")}]},
    ],
)  # fmt: skip
def test_a_batch_that_is_not_ours_is_refused_and_the_work_can_still_be_handed_in(house, change) -> None:
    import json

    name, link = house.work(dialogue())
    tab = Tab(house, link)
    body = {"form": tab.stamp, "page": "tab1", "now": 5.0, "events": tab.waiting, **change}
    sent = tab.plain.client.post(link + "/events", content=json.dumps(body))
    assert sent.status_code in {400, 403}
    assert events(house, name) == []
    tab.waiting = []
    tab.hand_in()
    assert submission(house, name).state.value == "submitted"


def test_events_beyond_the_limit_are_dropped_not_refused(new_house) -> None:
    house = new_house(most_events=5)
    name, link = house.work(dialogue())
    tab = Tab(house, link)
    for kind in ("hidden", "visible") * 5:
        tab.note(kind)
    assert tab.flush().status_code == 204
    assert len(events(house, name)) == 5


def test_the_page_tells_what_kind_of_thing_happened_and_nothing_that_was_typed() -> None:
    from hmc_crowd_local.pages._render import static_file

    script = static_file("page.js").decode()
    assert "event.key" not in script.split("What the page saw")[1]


@pytest.mark.parametrize("seed", range(3))
def test_c09_the_median_of_known_times_is_found_within_five_percent(new_house, seed) -> None:
    # Workers of known true time: queueing before the start, reading with signs of life, tab switches; one in six leaves
    # the page open and visible for a long while once, which counts a minute at most. HITs take about 12 minutes.
    rng = np.random.default_rng(seed)
    house = new_house()
    known, found = [], []
    for i in range(30):
        name, link = house.work(dialogue(redundancy=40, time_limit_s=50_000), f"w{i}")
        house.clock.advance(float(rng.exponential(600)))  # accepted, and left lying
        tab = Tab(house, link)
        true_s = 0.0
        for _ in range(int(rng.integers(40, 80))):
            burst = float(rng.gamma(3.0, 4.0))
            tab.wait(burst)
            tab.note("input")
            true_s += burst
            if rng.random() < 0.05:
                tab.note("hidden")
                tab.wait(float(rng.exponential(300)))
                tab.note("visible")
            if rng.random() < 0.2:
                tab.note("heartbeat")
        if rng.random() < 1 / 6:
            tab.wait(float(rng.uniform(300, 3000)))
            tab.note("input")
        tab.hand_in()
        known.append(true_s)
        found.append(submission(house, name).active_s)
    assert abs(np.median(found) / np.median(known) - 1) <= 0.05
