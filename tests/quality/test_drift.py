"""Drift of all workers together: false alarms as agreed, levels known or not, and the trend."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality import (
    Cusum,
    Levels,
    UnknownChange,
    agreement_checks,
    answers_between,
    find_drift,
    gold_checks,
    rolling_quality,
)

FALL = Levels(0.9, 0.6)


def checks_of(right: np.ndarray, start: str = "2026-01-05") -> pd.DataFrame:
    """One row per worker and answer from an array (workers, answers); all n-th answers at one time."""
    workers, answers = right.shape
    times = pd.date_range(start, periods=answers, freq="12h", tz="UTC")
    return pd.DataFrame(
        {
            "worker": np.repeat([f"w{number:04d}" for number in range(workers)], answers),
            "right": right.ravel(),
            "at": np.tile(times, workers),
        }
    )


def test_answers_between_by_hand() -> None:
    # 1,000 workers with 2 golds a day are 2,000 checks a day; one false alarm a day, or one in four days.
    assert answers_between(workers=1000, per_worker_day=2) == 2000
    assert answers_between(workers=1000, per_worker_day=2, false_alarms_per_day=0.25) == 8000


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"workers": 0, "per_worker_day": 2}, "workers is 0"),
        ({"workers": 10, "per_worker_day": 2, "false_alarms_per_day": 30}, "allow fewer"),
    ],
)
def test_rates_that_make_no_sense(given: dict[str, float], words: str) -> None:
    with pytest.raises(InputError, match=words):
        answers_between(**given)


def steady_and_fallen(workers: int, steady: int, after: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.hstack([rng.random((workers, steady)) < 0.9, rng.random((workers, after)) < 0.6])


def check_false_alarms(workers: int, answers: int, detector: Cusum | UnknownChange) -> None:
    right = np.random.default_rng(8).random((workers, answers)) < 0.9
    alarms = len(find_drift(checks_of(right), detector))
    allowed = workers * answers / 2000
    # A Poisson count: the promise is a rate of at most one in 2,000 answers, three standard errors allowed.
    assert alarms <= allowed + 3 * np.sqrt(allowed)


def test_false_alarms_over_all_workers() -> None:
    check_false_alarms(300, 100, Cusum(FALL, between_alarms=2000))


@pytest.mark.slow
def test_false_alarms_over_a_thousand_workers_and_a_hundred_days() -> None:
    check_false_alarms(1000, 200, Cusum(FALL, between_alarms=2000))
    check_false_alarms(1000, 200, UnknownChange((9.0, 1.0), between_alarms=2000))


def test_a_fall_is_found_soon_after_it_and_dated() -> None:
    found = find_drift(checks_of(steady_and_fallen(100, 60, 60, 2)), Cusum(FALL, between_alarms=2000))
    first = found[found["answer"] > 60].groupby("worker")["answer"].min() - 60
    assert len(first) >= 95
    assert 10 <= first.median() <= 19
    # Of the first alarm: a worker who stays bad is found again and again.
    since = found[found["answer"] > 60].groupby("worker")["since"].first()
    begun = (since - pd.Timestamp("2026-01-05", tz="UTC")) / pd.Timedelta("12h")
    assert abs(begun.median() - 60) <= 6


def test_unknown_levels_cost_little() -> None:
    # Known levels need about 16 answers on average (test_cusum); not knowing them at most a tenth more, and the
    # guarantee's slack a little: 18 with the error of 300 delays (.6).
    watch = UnknownChange((9.0, 1.0), between_alarms=1000)
    found = find_drift(checks_of(steady_and_fallen(300, 100, 80, 4)), watch)
    first = found[found["answer"] > 100].groupby("worker")["answer"].min() - 100
    assert first.mean() <= 18


def mean_run(prior: tuple[float, float], between: float, workers: int, answers: int, seed: int) -> float:
    """Mean answers to the first false alarm of workers drawn from the prior, those without one counted as they are."""
    rng = np.random.default_rng(seed)
    right = rng.random((workers, answers)) < rng.beta(*prior, workers)[:, None]
    watch = UnknownChange(prior, between_alarms=between)
    first = find_drift(checks_of(right), watch).groupby("worker")["answer"].min()
    # Cut off at `answers`: the mean of min(run, answers), which is below the mean run.
    return float((first.sum() + answers * (workers - len(first))) / workers)


def test_unknown_levels_keep_their_promise_over_the_pool() -> None:
    assert mean_run((4.0, 1.0), 60, 300, 400, 1) >= 60


@pytest.mark.slow
@pytest.mark.parametrize("prior", [(9.0, 1.0), (4.0, 2.0), (2.0, 2.0)])
def test_unknown_levels_keep_their_promise_over_several_pools(prior: tuple[float, float]) -> None:
    assert mean_run(prior, 200, 1000, 1200, 2) >= 200


def test_the_statistic_is_a_martingale_less_the_answers() -> None:
    # Its mean over workers drawn from the prior is at most the number of answers (levels that cannot fall give less).
    rng = np.random.default_rng(3)
    workers = 8_000
    rate = rng.beta(4.0, 2.0, workers)
    watch = UnknownChange((4.0, 2.0), between_alarms=1e9)
    state = watch.start(workers)
    for _ in range(6):
        state = watch.step(state, rng.random(workers) < rate)
    value = watch.statistic(state)
    assert value.mean() <= 6 + 4 * value.std() / np.sqrt(workers)
    assert value.mean() >= 5


def test_the_unknown_level_by_hand() -> None:
    # Two levels would do by hand; here the first answer: sum over levels of prior * likelihood ratio. A right answer
    # makes a fall less likely than none (statistic below 1), a wrong one more (above 1).
    watch = UnknownChange((9.0, 1.0), between_alarms=100)
    value = watch.statistic(watch.step(watch.start(2), np.array([True, False])))
    assert value[0] < 1 < value[1]


def test_thousands_of_answers_stay_numbers() -> None:
    right = np.random.default_rng(6).random((2, 4000)) < 0.6
    watch = UnknownChange((4.0, 2.0), between_alarms=1e9)
    state = watch.start(2)
    for column in right.T:
        state = watch.step(state, column)
    assert np.isfinite(watch.statistic(state)).all()
    assert (watch.statistic(state) > 0).all()


def test_after_an_alarm_a_worker_is_watched_anew() -> None:
    right = np.zeros((1, 40), dtype=bool)
    found = find_drift(checks_of(right), Cusum(FALL, between_alarms=2000))
    # 275 units at 69 a wrong answer: every 4 answers
    assert found["answer"].tolist() == list(range(4, 41, 4))


def test_order_of_rows_decides_nothing() -> None:
    checks = checks_of(steady_and_fallen(20, 30, 30, 9))
    mixed = checks.sample(frac=1, random_state=1)
    for detector in (Cusum(FALL, between_alarms=500), UnknownChange((9.0, 1.0), between_alarms=500)):
        pd.testing.assert_frame_equal(find_drift(checks, detector), find_drift(mixed, detector))


def test_nobody_alarms_gives_an_empty_table() -> None:
    found = find_drift(checks_of(np.ones((3, 20), dtype=bool)), Cusum(FALL, between_alarms=2000))
    assert found.empty
    assert "reason" in found.columns


def test_two_streams_are_told_apart() -> None:
    cusum = Cusum(FALL, Levels(0.8, 0.55, 5.0), between_alarms=2000)
    checks = checks_of(np.zeros((1, 12), dtype=bool))
    # A wrong gold answer weighs 69, a disagreement 50 ln(.45 / .2) = 41: fewer gold answers are needed.
    of_gold = find_drift(checks.assign(stream=0), cusum)["answer"].iloc[0]
    of_agreement = find_drift(checks.assign(stream=1), cusum)["answer"].iloc[0]
    assert of_gold < of_agreement


def test_wrong_checks_are_named() -> None:
    checks = checks_of(np.ones((1, 3), dtype=bool))
    cusum = Cusum(FALL, between_alarms=100)
    with pytest.raises(FrameError, match="lacks the column right"):
        find_drift(checks.drop(columns="right"), cusum)
    with pytest.raises(FrameError, match="no time zone"):
        find_drift(checks.assign(at=checks["at"].dt.tz_localize(None)), cusum)
    with pytest.raises(FrameError, match="stream 1"):
        find_drift(checks.assign(stream=1), cusum)
    with pytest.raises(FrameError, match="true or false"):
        find_drift(checks.assign(right=[1, 2, 0]), cusum)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"prior": (0, 1)}, "prior is"),
        ({"falls": (0.5, 0.2)}, "falls is"),
        ({"between_alarms": 1}, "between_alarms is 1"),
    ],
)
def test_wrong_settings_of_the_unknown_change(given: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        UnknownChange(**{"prior": (9.0, 1.0), "between_alarms": 100.0, **given})  # type: ignore[arg-type]


def test_rolling_quality_and_slope_by_hand() -> None:
    # 12 checks: 6 right, then 6 wrong. Share .5; slope of least squares: sum (i - 5.5) y = -18 over 143 = -.1259 each.
    right = np.array([[True] * 6 + [False] * 6])
    row = rolling_quality(checks_of(right)).iloc[0]
    assert row["quality"] == 0.5
    assert row["slope"] == pytest.approx(-12.59, abs=0.01)
    assert row["slope_high"] < 0
    assert not row["alert"]


def test_d9_the_alert_is_on_the_rolling_level_with_high_severity() -> None:
    right = np.array([[True] * 50 + [False] * 40])
    # Of the last 50, ten are right: .2 < .3
    row = rolling_quality(checks_of(right)).iloc[0]
    assert (row["quality"], row["alert"], row["severity"]) == (0.2, True, "high")


def test_one_failure_never_alerts() -> None:
    assert not rolling_quality(checks_of(np.zeros((1, 1), dtype=bool)))["alert"].any()
    with pytest.raises(InputError, match="at least 2"):
        rolling_quality(checks_of(np.zeros((1, 1), dtype=bool)), at_least=1)


ANSWERS = pd.DataFrame(
    [
        ("a", "ann", 1, 1),
        ("a", "bob", 1, 2),
        ("a", "cy", 0, 3),
        ("a", "dee", 1, 9),
        ("g", "ann", 0, 4),
        ("g", "bob", None, 5),
    ],
    columns=["task", "worker", "label", "day"],
)
ANSWERS["submitted"] = pd.to_datetime("2026-01-01", utc=True) + pd.to_timedelta(ANSWERS["day"], unit="D")


def test_gold_checks_are_dated_by_their_submission() -> None:
    found = gold_checks(ANSWERS, {"g": 1})
    assert found[["worker", "right"]].to_dict("records") == [{"worker": "ann", "right": False}]
    assert found["at"].dt.day.tolist() == [5]


def test_agreement_is_known_only_when_the_others_have_answered() -> None:
    found = agreement_checks(ANSWERS).set_index("worker")
    # ann: the others say 1, 0, 1; cy: 1, 1, 1.
    assert found["right"].to_dict() == {"ann": True, "bob": True, "cy": False, "dee": True}
    assert (found["at"].dt.day == 10).all()


def test_naive_times_are_named_as_the_answers_have_them() -> None:
    naive = ANSWERS.assign(submitted=ANSWERS["submitted"].dt.tz_localize(None))
    for call in (lambda: gold_checks(naive, {"g": 1}), lambda: agreement_checks(naive)):
        with pytest.raises(FrameError, match=r"answers\.submitted has no time zone"):
            call()


def test_without_gold_it_is_said() -> None:
    with pytest.raises(InputError, match="gold is empty"):
        gold_checks(ANSWERS, {})


def test_one_worker_agrees_with_nobody() -> None:
    assert agreement_checks(ANSWERS[ANSWERS["worker"] == "ann"]).empty


def test_a_tie_in_everything_says_nothing_about_anybody() -> None:
    rows = [(task, worker, place % 2) for task in "abc" for place, worker in enumerate(["u", "v", "w", "x", "y"])]
    tied = pd.DataFrame([row for row in rows if row[1] != "y"], columns=["task", "worker", "label"])
    # Of u, v, w, x with 0, 1, 0, 1, the three others of each are 2 to 1 against him: everybody disagrees alike.
    assert not agreement_checks(tied)["right"].any()
    assert agreement_checks(tied[tied["worker"].isin(["u", "v"])]).empty
