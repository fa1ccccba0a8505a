from datetime import UTC, datetime, timedelta

import pytest
from hmc_crowd_local import PageEvent
from hmc_crowd_local._timing import active_seconds, reading_allowance_s, time_quality

from hmc_crowd.errors import InputError

START = datetime(2026, 1, 5, tzinfo=UTC)


def events(*seen: tuple[float, str]) -> list[PageEvent]:
    return [PageEvent(kind, START + timedelta(seconds=at), "i1") for at, kind in seen]


def test_time_while_hidden_does_not_count() -> None:
    # 10 s read, 490 s away, 5 s until the answer.
    assert active_seconds(events((0, "shown"), (10, "hidden"), (500, "visible"), (505, "answer")), {}) == (15.0, False)


def test_a_long_gap_is_cut_at_the_allowance() -> None:
    # 200 s without a sign of life, of which 90 are allowed for this item.
    assert active_seconds(events((0, "shown"), (200, "answer")), {"i1": 90.0}) == (90.0, True)


def test_signs_of_life_keep_a_long_reading_whole() -> None:
    seen = events((0, "shown"), (50, "input"), (100, "input"), (150, "answer"))
    assert active_seconds(seen, {}) == (150.0, False)


def test_heartbeats_count_for_nothing() -> None:
    # An open page beats every 15 s for 5 minutes; nobody is there.
    beats = [(15.0 * i, "heartbeat") for i in range(1, 20)]
    assert active_seconds(events((0, "shown"), *beats, (300, "answer")), {}) == (60.0, True)


def test_input_after_blur_counts_as_being_there() -> None:
    # Blur at 5 s (a frame loses focus), input at 20 s: only 5..20 is away.
    assert active_seconds(events((0, "shown"), (5, "blur"), (20, "input"), (30, "answer")), {}) == (15.0, False)


def test_order_of_arrival_does_not_matter() -> None:
    seen = events((0, "shown"), (10, "hidden"), (500, "visible"), (505, "answer"))
    assert active_seconds(reversed(seen), {}) == active_seconds(seen, {})


@pytest.mark.parametrize(("words", "seconds"), [(0, 60.0), (50, 60.0), (100, 90.0), (950, 600.0), (5000, 600.0)])
def test_reading_allowance(words: int, seconds: float) -> None:
    # 60 s per 100 words and 30 s more, at least a minute, at most ten.
    assert reading_allowance_s(words) == seconds


@pytest.mark.parametrize(
    ("active", "page", "cut", "quality"),
    [
        (90.0, 95.0, False, "ok"),
        (90.0, 95.0, True, "capped"),
        (None, 95.0, False, "no_heartbeat"),
        (98.0, 95.0, False, "clock_suspect"),  # active above page + 2
        (90.0, 104.0, False, "clock_suspect"),  # page + 2 above platform + 5
        (90.0, None, False, "ok"),
    ],
)
def test_quality_of_the_clocks(active: float | None, page: float | None, cut: bool, quality: str) -> None:
    assert time_quality(platform_s=100.0, page_s=page, active_s=active, was_cut=cut) == quality


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(InputError, match="kind of a page event is 'keypress'"):
        PageEvent("keypress", START)
