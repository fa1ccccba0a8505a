"""Times of work from three clocks: queues, tabs and idle gaps do not count, and nothing raw is overwritten."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmc_crowd.effort import clean_work_times, clocks_agree, effective_seconds, reading_allowance, united_seconds
from hmc_crowd.errors import FrameError, InputError

START = datetime(2026, 1, 5, 9, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def answers(*rows: tuple[str, str, str, float, float]) -> pd.DataFrame:
    """Rows of (submission, worker, item, shown, answered)."""
    return pd.DataFrame(
        [(s, w, item, "x", at(a), at(b)) for s, w, item, a, b in rows],
        columns=["submission_id", "worker", "task", "aspect", "started", "submitted"],
    )


def clocks(*rows: tuple[Any, ...]) -> pd.DataFrame:
    """Rows of (submission, accepted, handed in, page, active[, quality]); the platform's clock follows."""
    return pd.DataFrame(
        [
            (s, at(a), at(b), float(b - a), page, active, rest[0] if rest else "ok")
            for s, a, b, page, active, *rest in rows
        ],
        columns=[
            "submission_id", "accepted_at", "submitted_at", "platform_elapsed_s", "page_elapsed_s", "active_s",
            "time_quality",
        ],
    )  # fmt: skip


def words(n: int, *names: str) -> dict[str, int]:
    return dict.fromkeys(names, n)


def clean(work: Any, clock: Any, n_words: int = 20) -> Any:
    return clean_work_times(work, clock, words(n_words, *work["task"]))


def test_c04_three_queued_hits_take_sixty_seconds_each() -> None:
    # Accepted together at 0, handed in at 60, 120 and 180; the platform's clock says 60, 120, 180.
    work = answers(("s1", "w", "a", 0, 60), ("s2", "w", "b", 0, 120), ("s3", "w", "c", 0, 180))
    clock = clocks(*((f"s{n}", 0, 60 * n, np.nan, np.nan) for n in (1, 2, 3)))
    times = clean(work, clock)
    assert times.frame["seconds_clean"].tolist() == [60.0, 60.0, 60.0]
    assert times.frame["seconds_raw"].tolist() == [60.0, 120.0, 180.0]
    assert times.frame["time_quality"].tolist() == ["ok", "overlap_adjusted", "overlap_adjusted"]
    assert times.n_overlapping == 2


def test_c05_an_idle_tab_overnight_counts_as_reading_at_most_and_stays_stored() -> None:
    night = 12 * 3600.0
    work = answers(("s", "w", "a", 0, 20), ("s", "w", "b", 20, 20 + night))
    clock = clocks(("s", 0, 20 + night, 20 + night, np.nan, "no_heartbeat"))
    times = clean(work, clock)
    # 20 words are read in 60 s at most: max(60, 60 * 20 / 100 + 30) = 60
    assert times.frame["seconds_clean"].tolist() == [20.0, 60.0]
    assert times.frame["seconds_raw"].tolist() == [20.0, night]
    assert times.frame["time_quality"].tolist() == ["no_heartbeat", "no_heartbeat"]
    assert times.n_capped == 1


def test_c05_idle_time_that_the_page_saw_is_cut_where_it_lies() -> None:
    work = answers(("s", "w", "a", 0, 20), ("s", "w", "b", 20, 320), ("s", "w", "c", 320, 330))
    clock = clocks(("s", 0, 330, 330, 55.0, "capped"))
    times = clean(work, clock)
    # 330 - 55 = 275 s too much, taken from the answer that is longest for its length: 300 - 275 = 25.
    assert times.frame["seconds_clean"].tolist() == [20.0, 25.0, 10.0]


def test_c06_long_silent_reading_counts_in_full() -> None:
    # 8 minutes for 1,200 words: the allowance is min(600, 60 * 12 + 30) = 600 s.
    times = clean(answers(("s", "w", "a", 0, 480)), clocks(("s", 0, 480, 480, 480.0)), 1200)
    assert times.frame["seconds_clean"].tolist() == [480.0]


def test_c07_no_second_of_two_tabs_counts_twice() -> None:
    work = answers(("s1", "w", "a", 0, 50), ("s2", "w", "b", 30, 60), ("s3", "v", "c", 0, 50))
    clock = clocks(("s1", 0, 50, 50, 50.0), ("s2", 30, 60, 30, 30.0), ("s3", 0, 50, 50, 50.0))
    times = clean(work, clock)
    # w's union is 60 s long, shared as 50 : 30; v works alone.
    assert times.frame["seconds_clean"].tolist() == pytest.approx([60 * 50 / 80, 60 * 30 / 80, 50.0])
    assert times.frame["time_quality"].tolist() == ["overlap_adjusted", "overlap_adjusted", "ok"]


def test_questions_on_one_page_are_worked_on_one_after_the_other() -> None:
    work = answers(("s", "w", "a", 0, 10), ("s", "w", "b", 0, 30), ("s", "w", "c", 0, 60))
    times = clean(work, clocks(("s", 0, 60, 60, 60.0)))
    assert times.frame["seconds_clean"].tolist() == [10.0, 20.0, 30.0]
    assert times.n_overlapping == 0


def test_clocks_that_disagree_are_named_and_the_servers_counts() -> None:
    work = answers(("s", "w", "a", 0, 40))
    times = clean(work, clocks(("s", 0, 40, 40, 300.0)))
    assert times.frame["time_quality"].tolist() == ["clock_suspect"]
    assert (times.n_suspect, times.frame["seconds_clean"].tolist()) == (1, [40.0])


@pytest.mark.parametrize(
    ("active", "page", "platform", "agree"),
    [
        (62, 60, 60, True),  # active <= page + 2
        (62.1, 60, 60, False),
        (60, 63, 60, True),  # page + 2 <= platform + 5
        (60, 63.1, 60, False),
        (65, np.nan, 60, True),
        (65.1, np.nan, 60, False),
        (np.nan, np.nan, np.nan, True),
    ],
)
def test_the_clock_check(active: float, page: float, platform: float, agree: bool) -> None:
    assert clocks_agree([active], [page], [platform]).tolist() == [agree]


def test_the_reading_allowance_grows_from_one_to_ten_minutes() -> None:
    assert reading_allowance([0, 50, 200, 1200]).tolist() == [60.0, 60.0, 150.0, 600.0]


def test_extremes_are_pulled_in_within_their_kind_and_first_answers_apart() -> None:
    # 21 workers judge two items: the first takes 50 s each, the second 10 s, for one worker 40 s.
    rows, clock = [], []
    for n in range(21):
        second = 40 if n == 20 else 10 + n * 0.01
        rows += [(f"s{n}", f"w{n}", "a", 0, 50), (f"s{n}", f"w{n}", "b", 50, 50 + second)]
        clock.append((f"s{n}", 0, 50 + second, 50 + second, 50 + second))
    times = clean(answers(*rows), clocks(*clock))
    frame = times.frame
    assert times.n_first == 21
    assert frame.loc[frame["first_of_session"], "winsorised"].sum() == 0
    assert frame["seconds_clean"].iloc[-1] < 12
    assert frame["seconds_raw"].iloc[-1] == 40
    assert times.first_extra_s == pytest.approx(50 - 10.1)


def test_a_session_begins_anew_after_half_an_hour() -> None:
    work = answers(("s", "w", "a", 0, 10), ("s2", "w", "b", 100, 110), ("s3", "w", "c", 110 + 1801, 1930))
    clock = clocks(("s", 0, 10, 10, 10.0), ("s2", 100, 110, 10, 10.0), ("s3", 1911, 1930, 19, 19.0))
    assert clean(work, clock).frame["first_of_session"].tolist() == [True, False, True]


def test_the_platforms_clock_is_compared() -> None:
    # 60 s by the platform, 30 s of work: twice as long.
    times = clean(answers(("s", "w", "a", 20, 50)), clocks(("s", 0, 60, 40, 30.0)))
    assert times.platform_ratio == pytest.approx(2.0)
    assert "2.00 times as long" in str(times)


def test_missing_times_and_columns_are_named() -> None:
    work = answers(("s", "w", "a", 0, 10))
    with pytest.raises(FrameError, match="answers column started is empty in row 0"):
        clean(work.assign(started=pd.NaT), clocks(("s", 0, 10, 10, 10.0)))
    with pytest.raises(FrameError, match="submissions lacks the column active_s"):
        clean(work, clocks(("s", 0, 10, 10, 10.0)).drop(columns="active_s"))


@pytest.mark.parametrize("rule", [effective_seconds, united_seconds])
def test_a_span_that_is_none_is_named(rule: Any) -> None:
    with pytest.raises(InputError, match=r"ended_s is before started_s in row 1 \(-5.0\); correct or drop"):
        rule(["a", "a"], [0, 10], [5, 5])
    with pytest.raises(InputError, match=r"ended_s must be finite: row 0 \(nan\)"):
        rule(["a"], [10], [float("nan")])
    with pytest.raises(InputError, match="worker has 1 rows but started_s has 2"):
        rule(["a"], [0, 1], [1, 2])
    seconds, marked = rule([], [], [])
    assert (len(seconds), len(marked)) == (0, 0)
    assert rule(["a"], [10], [10])[0].tolist() == [0.0]


def test_times_that_run_backwards_are_clocks_that_cannot_be_trusted() -> None:
    # The answer of s ended 5 s before it was shown; s2 was handed in before it was accepted.
    work = answers(("s", "w", "a", 10, 5), ("s2", "w", "b", 100, 110), ("s3", "w", "c", 200, 230))
    clock = clocks(("s", 0, 20, 20, 10.0), ("s2", 120, 110, np.nan, np.nan), ("s3", 200, 230, 30, 30.0))
    times = clean(work, clock)
    assert times.frame["seconds_raw"].tolist() == [-5.0, 10.0, 30.0]
    assert times.frame["time_quality"].tolist() == ["clock_suspect", "clock_suspect", "ok"]
    assert times.n_suspect == 2
    assert times.frame["seconds_clean"].min() >= 0.0


SPANS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 300), st.integers(0, 100)), min_size=1, max_size=25)


@given(SPANS)
def test_united_time_is_never_more_than_the_seconds_that_passed(spans: list[tuple[int, int, int]]) -> None:
    worker = [w for w, _, _ in spans]
    start = [a for _, a, _ in spans]
    end = [a + length for _, a, length in spans]
    seconds, _ = united_seconds(worker, start, end)
    for each in set(worker):
        mine = [n for n, w in enumerate(worker) if w == each]
        passed = {second for n in mine for second in range(start[n], end[n])}
        assert sum(seconds[mine]) == pytest.approx(len(passed))


@given(SPANS, st.randoms())
def test_the_order_of_rows_does_not_matter(spans: list[tuple[int, int, int]], random: Any) -> None:
    order = list(range(len(spans)))
    random.shuffle(order)
    for rule in (united_seconds, effective_seconds):
        columns = [np.array(each) for each in ([w for w, _, _ in spans], [a for _, a, _ in spans])]
        end = columns[1] + np.array([length for *_, length in spans])
        straight, shuffled = rule(*columns, end)[0], rule(columns[0][order], columns[1][order], end[order])[0]
        if rule is united_seconds:
            assert shuffled == pytest.approx(straight[order])
        assert sum(shuffled) == pytest.approx(sum(straight))


def crowd(rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, int], np.ndarray]:
    """People who queue HITs, look away and leave tabs open, with what a page sees of it, and the true times."""
    from hmc_crowd_local._timing import PageEvent, active_seconds, reading_allowance_s

    length = {f"i{n}": int(rng.integers(5, 150)) for n in range(200)}
    rows, seen, truth = [], [], []
    for number in range(40):
        now = float(rng.uniform(0, 1000))
        accepted = now
        for turn in range(5):
            if rng.random() < 0.4:  # else the HIT was accepted with the one before: a queue
                now += float(rng.exponential(120))
                accepted = now
            begun, name, events = now, f"s{number}-{turn}", []
            for item in rng.choice(list(length), 8, replace=False):
                work = float(np.exp(rng.normal(np.log(4 + 0.25 * length[item]), 0.4)))
                shown = now
                events += [PageEvent("shown", at(now), str(item))]
                idle = rng.random()
                if idle < 0.03:  # looks away, the page stays open
                    now += float(rng.exponential(400))
                elif idle < 0.12:  # changes the tab
                    events += [PageEvent("hidden", at(now + work / 2), str(item))]
                    now += float(rng.exponential(400))
                    events += [PageEvent("visible", at(now + work / 2), str(item))]
                now += work
                events += [PageEvent("answer", at(now), str(item))]
                rows.append((name, f"w{number}", str(item), shown, now))
                truth.append(work)
            allowance = {item: reading_allowance_s(count) for item, count in length.items()}
            active, was_cut = active_seconds(events, allowance)
            seen.append((name, accepted, now, now - begun, active, "capped" if was_cut else "ok"))
    return answers(*rows), clocks(*seen), length, np.array(truth)


def test_c09_the_median_time_of_a_simulated_crowd_is_found_within_five_per_cent() -> None:
    biases = []
    for seed in range(5):
        work, clock, length, truth = crowd(np.random.default_rng(seed))
        times = clean_work_times(work, clock, length)
        clean_s = times.frame["seconds_clean"].to_numpy()
        biases.append(np.median(clean_s) / np.median(truth) - 1)
        # What the raw clocks say instead: item times with idle gaps in them, and the platform's with queues on top.
        assert times.frame["seconds_raw"].mean() > 1.5 * truth.mean()
        assert times.platform_ratio is not None
        assert abs(clean_s.mean() / truth.mean() - 1) < 0.15
    # 1,600 times a seed: the Monte Carlo error of a median is about 1.5 %.
    assert max(np.abs(biases)) <= 0.05, biases


def test_no_allowance_for_less_than_no_words() -> None:
    with pytest.raises(InputError, match=r"n_words must be at least 0: row 1 \(-1.0\)"):
        reading_allowance([10, -1])
