"""The CUSUM's exact run lengths, against arithmetic, simulation and the textbook's optimum."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hmc_crowd.errors import InputError
from hmc_crowd.quality import Cusum, Levels, agreement_levels
from hmc_crowd.quality._drift_cusum import UNITS

FALL = Levels(0.9, 0.6)


def unrounded(levels: Levels, *, threshold: float, rate: float, runs: int, most: int, seed: int) -> np.ndarray:
    """Run lengths of the textbook's CUSUM, in real numbers; ``most`` where none rang."""
    rng = np.random.default_rng(seed)
    right, wrong = math.log(levels.after / levels.before), math.log((1 - levels.after) / (1 - levels.before))
    value, found = np.zeros(runs), np.full(runs, most)
    for answer in range(1, most + 1):
        value = np.maximum(0.0, value + np.where(rng.random(runs) < rate, right, wrong))
        found[(value >= threshold) & (found == most)] = answer
        if (found < most).all():
            break
    return found


def matched(between: float, *, seed: int) -> float:
    """Mean delay from zero of the unrounded CUSUM that has this mean time between false alarms (by simulation)."""
    # Run lengths are all but geometric: the rate of alarms in many runs that are cut off gives the mean.
    low, high = 1.0, 12.0
    for _ in range(12):
        middle = (low + high) / 2
        runs = unrounded(FALL, threshold=middle, rate=0.9, runs=3000, most=1500, seed=seed)
        mean = runs.sum() / max((runs < 1500).sum(), 1)
        low, high = (middle, high) if mean < between else (low, middle)
    return float(unrounded(FALL, threshold=high, rate=0.6, runs=20_000, most=1000, seed=seed + 1).mean())


def test_scores_by_hand() -> None:
    # 50 ln(.6 / .9) = -20.27, 50 ln(.4 / .1) = 69.31
    assert FALL.scores == (-20, 69)


def test_a_threshold_of_one_wrong_answer_rings_after_one_in_ten() -> None:
    # With the threshold at most one wrong answer's score, the first wrong answer rings: mean 1 / .1 = 10 answers.
    cusum = Cusum(FALL, between_alarms=9.5)
    assert cusum.threshold <= 69
    assert cusum.false_alarms().mean == pytest.approx(10)
    assert cusum.delay(settled=0).mean == pytest.approx(1 / 0.4)


def test_the_agreed_figure() -> None:
    # 2 golds a worker and day, one false alarm per 1,000 workers and day: about 15 golds.
    cusum = Cusum(FALL, between_alarms=2000)
    assert cusum.false_alarms().mean >= 2000
    assert 13 <= cusum.delay().median <= 16


def test_the_smallest_threshold_that_keeps_the_promise() -> None:
    cusum = Cusum(FALL, between_alarms=700)
    assert cusum._mean(cusum.threshold - 1) < 700 <= cusum._mean(cusum.threshold)


def test_run_lengths_are_those_of_a_simulation() -> None:
    # 4,000 runs: the error of a mean near 16 with standard deviation near 10 is .16, four of them allowed.
    cusum = Cusum(FALL, between_alarms=2000)
    rng, found = np.random.default_rng(5), []
    for _ in range(4000):
        statistic, answers = 0, 0
        while statistic < cusum.threshold:
            statistic, answers = cusum.step(statistic, right=bool(rng.random() < 0.6)), answers + 1
        found.append(answers)
    exact = cusum.delay(settled=0)
    assert np.mean(found) == pytest.approx(exact.mean, abs=4 * np.std(found) / math.sqrt(4000))
    assert abs(np.median(found) - exact.median) <= 1
    assert np.mean(np.array(found) <= exact.p90) >= 0.88


@pytest.mark.parametrize("between", [200, pytest.param(1000, marks=pytest.mark.slow)])
def test_within_a_tenth_of_the_optimal_cusum(between: float) -> None:
    # At the same rate of false alarms; rounding to whole units and to a whole threshold is all that differs.
    ours = Cusum(FALL, between_alarms=between)
    assert ours.delay(settled=0).mean <= 1.1 * matched(ours.false_alarms().mean, seed=3)


def test_fewer_false_alarms_cost_a_longer_delay() -> None:
    delays = [Cusum(FALL, between_alarms=between).delay().mean for between in (100, 1000, 10_000)]
    assert delays == sorted(delays)
    # The delay grows by ln(10) / KL a decade: KL(.6 || .9) = .6 ln(.6/.9) + .4 ln(.4/.1) = .3112, so by 7.4.
    assert delays[2] - delays[1] == pytest.approx(math.log(10) / 0.3112, rel=0.2)


def test_agreement_as_a_second_stream_finds_the_fall_in_less_time() -> None:
    # 10 ordinary answers for each gold answer; the same false alarms a day, so 11 times as many answers between.
    agreement = agreement_levels(FALL, others=0.88, n_labels=2, share=10)
    alone = Cusum(FALL, between_alarms=2000).delay().median / 1
    both = Cusum(FALL, agreement, between_alarms=22_000).delay().median / 11
    assert both < 0.5 * alone


def test_agreement_levels_by_hand() -> None:
    # three labels, others right with .8: .8 * .9 + .2 / 2 * .1 = .73; .8 * .6 + .1 * .4 = .52
    assert agreement_levels(FALL, others=0.8, n_labels=3, share=1) == Levels(0.73, 0.52, 1)


def test_equal_streams_are_one_stream() -> None:
    one, two = Cusum(FALL, between_alarms=500), Cusum(FALL, Levels(0.9, 0.6, 3.0), between_alarms=500)
    assert one.threshold == two.threshold
    assert one.delay().mean == pytest.approx(two.delay().mean)


def test_long_runs_are_carried_on() -> None:
    # Nearly geometric: the median is ln 2 of the mean.
    runs = Cusum(FALL, between_alarms=20_000).false_alarms()
    assert runs.median == pytest.approx(math.log(2) * runs.mean, rel=0.02)


@pytest.mark.parametrize(("before", "after"), [(0.6, 0.9), (0.9, 0.9), (1.0, 0.5), (0.9, 0.0)])
def test_levels_are_a_fall(before: float, after: float) -> None:
    with pytest.raises(InputError, match="0 < after < before < 1"):
        Levels(before, after)


@pytest.mark.parametrize(
    ("levels", "between", "words"),
    [((), 100, "levels is empty"), ((FALL,), 1, "between_alarms is 1"), ((Levels(0.9, 0.8999),), 1e8, "too alike")],
)
def test_bad_detectors_are_one_sentence(levels: tuple[Levels, ...], between: float, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Cusum(*levels, between_alarms=between)


def test_a_consensus_no_better_than_guessing_is_refused() -> None:
    with pytest.raises(InputError, match="better than guessing"):
        agreement_levels(FALL, others=0.5, n_labels=2, share=1)


def test_units_leave_a_hundredth() -> None:
    exact = math.log(0.6 / 0.9)
    assert abs(FALL.scores[0] / UNITS - exact) <= 0.5 / UNITS
