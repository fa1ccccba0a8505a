"""Worker quality: the beta posterior, its fading, the weights; and the source's formulas beside it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality import (
    answer_weights,
    kept_share,
    literal_decay,
    pool_prior,
    priority_score,
    right_in_a_row,
    screen_workers,
    streak_bonus,
    worker_quality,
)

GOLD = {f"g{number}": 1 for number in range(10)}
DAY_S = 86_400.0


def answers_of(**right: tuple[int, int]) -> pd.DataFrame:
    """``ann=(7, 10)`` answered ten gold items, seven rightly."""
    rows = [(f"g{number}", worker, int(number < good)) for worker, (good, n) in right.items() for number in range(n)]
    return pd.DataFrame(rows, columns=["task", "worker", "label"])


def test_posterior_by_hand() -> None:
    # prior 4 + 1; ann 7 of 10: (4 + 7) / 15; bob 1 of 2: 5 / 7
    found = worker_quality(answers_of(ann=(7, 10), bob=(1, 2)), GOLD, prior=(4.0, 1.0))
    assert found["quality"].tolist() == pytest.approx([11 / 15, 5 / 7])
    assert (found["low"] < found["quality"]).all()
    assert (found["quality"] < found["high"]).all()


def test_a_worker_without_gold_is_one_of_the_pool() -> None:
    answers = pd.concat([answers_of(ann=(7, 10)), pd.DataFrame([("x", "new", 1)], columns=["task", "worker", "label"])])
    row = worker_quality(answers, GOLD, prior=(4.0, 1.0)).set_index("worker").loc["new"]
    assert (row["quality"], row["source"], row["n"]) == (0.8, "pool", 0)


def test_idleness_goes_back_to_the_pool_and_widens() -> None:
    # one half-life: half of 2 of 10 is left: (4 + 1) / (5 + 5)
    answers = answers_of(ann=(2, 10))
    fresh = worker_quality(answers, GOLD, prior=(4.0, 1.0)).iloc[0]
    idle = worker_quality(answers, GOLD, prior=(4.0, 1.0), idle_s={"ann": 30 * DAY_S}).iloc[0]
    long = worker_quality(answers, GOLD, prior=(4.0, 1.0), idle_s={"ann": 3000 * DAY_S}).iloc[0]
    assert idle["quality"] == pytest.approx(5 / 10)
    assert fresh["high"] - fresh["low"] < idle["high"] - idle["low"] < long["high"] - long["low"]
    assert long["quality"] == pytest.approx(0.8, abs=1e-6)


def test_a_night_of_sleep_costs_nobody_his_quality() -> None:
    answers = answers_of(ann=(9, 10))
    fresh, rested = (
        worker_quality(answers, GOLD, prior=(4.0, 1.0), idle_s={"ann": idle})["quality"].iloc[0]
        for idle in (0.0, 12 * 3600.0)
    )
    assert fresh - rested < 0.01


def check_cover(workers: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    true = rng.beta(8.0, 2.0, workers)
    right = rng.binomial(n, true)
    table = answers_of(**{f"w{number:05d}": (int(good), n) for number, good in enumerate(right)})
    found = worker_quality(table, {f"g{number}": 1 for number in range(n)}, level=0.9)
    covered = ((found["low"] <= true) & (true <= found["high"])).mean()
    # The prior is learnt too; four Monte Carlo errors and a hundredth for that.
    assert abs(covered - 0.9) <= 4 * np.sqrt(0.09 / workers) + 0.01


def test_the_interval_covers_with_a_learnt_prior() -> None:
    check_cover(1500, 8, 1)


@pytest.mark.slow
@pytest.mark.parametrize("n", [4, 10, 30])
def test_the_interval_covers_for_many_golds(n: int) -> None:
    check_cover(8000, n, 2)


def test_the_prior_of_a_pool_is_found_again() -> None:
    rng = np.random.default_rng(4)
    a, b = pool_prior(rng.binomial(20, rng.beta(8.0, 2.0, 4000)), np.full(4000, 20))
    assert a / (a + b) == pytest.approx(0.8, abs=0.01)
    assert a + b == pytest.approx(10, rel=0.15)


def test_a_handful_of_workers_gives_a_weak_prior() -> None:
    a, b = pool_prior([3, 4], [4, 4])
    assert (a / (a + b), a + b) == (pytest.approx(8 / 10), 2.0)


def test_a_perfect_pool_is_not_certain() -> None:
    a, b = pool_prior([5] * 20, [5] * 20)
    assert 0 < b < 1
    assert a + b <= 50


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=30))
def test_any_pool_gives_a_proper_prior(pairs: list[tuple[int, int]]) -> None:
    right, wrong = np.array(pairs).T
    if not (right + wrong).any():
        return
    a, b = pool_prior(right, right + wrong)
    assert a > 0
    assert b > 0
    assert 2 <= a + b <= 50 + 1e-9


def test_no_gold_is_one_sentence() -> None:
    with pytest.raises(InputError, match="gold is empty"):
        worker_quality(answers_of(ann=(1, 2)), {})
    with pytest.raises(InputError, match="no worker has answered gold"):
        worker_quality(answers_of(ann=(1, 2)), {"elsewhere": 1})


def test_screening_takes_the_same_table() -> None:
    found = worker_quality(answers_of(ann=(9, 10), bob=(0, 10)), GOLD, prior=(2.0, 1.0))
    screened = screen_workers(found)
    assert screened["decision"].tolist() == ["keep", "exclude"]


def test_weights_are_qualities_against_the_best_and_the_excluded_weigh_nothing() -> None:
    answers = answers_of(ann=(9, 10), bob=(0, 10), cy=(6, 10))
    found = worker_quality(answers, GOLD, prior=(2.0, 1.0))
    weights = answer_weights(answers, found, excluded=screen_workers(found))
    # Ann (2 + 9) / 13 is the best of those who count; cy is (2 + 6) / 13.
    assert weights[:10] == pytest.approx(np.ones(10))
    assert (weights[10:20] == 0).all()
    assert weights[20:] == pytest.approx(np.full(10, 8 / 11))


def test_quality_that_tells_nobody_apart_changes_nothing() -> None:
    answers = answers_of(ann=(7, 10), bob=(7, 10))
    assert (answer_weights(answers, worker_quality(answers, GOLD)) == 1).all()


def test_weights_never_leave_nobody_without_a_word() -> None:
    answers = answers_of(ann=(9, 10))
    with pytest.raises(InputError, match="nobody is left"):
        answer_weights(answers, worker_quality(answers, GOLD), excluded=["ann"])


def test_wrong_tables_of_weights() -> None:
    answers = answers_of(ann=(9, 10))
    with pytest.raises(FrameError, match="lacks the column quality"):
        answer_weights(answers, pd.DataFrame({"worker": ["ann"]}))
    with pytest.raises(FrameError, match="twice"):
        answer_weights(answers, pd.DataFrame({"worker": ["ann", "ann"], "quality": [0.5, 0.6]}))
    with pytest.raises(InputError, match=r"quality must be .* row 0 \(1.2\)"):
        answer_weights(answers, pd.DataFrame({"worker": ["ann"], "quality": [1.2]}))


def test_d8_the_literal_formula_by_hand() -> None:
    # two days: .8 * .25 * (1 - .1 * (1 - .5)) + min(.05, .01 * 9) = .2 * .95 + .05 = .24
    assert literal_decay([0.8], [2 * DAY_S], [0.5], streak=[9])[0] == pytest.approx(0.24)


def test_d8_the_sum_is_clipped() -> None:
    assert literal_decay([1.0], [0.0], [1.0], streak=[100])[0] == 1.0


def test_d6_the_bonus_is_capped_and_apart_from_quality() -> None:
    assert priority_score([0.95, 0.5], [True, True]).tolist() == pytest.approx([1.0, 0.55])
    assert "priority_score" not in worker_quality(answers_of(ann=(1, 2)), GOLD, prior=(1.0, 1.0)).columns


def test_streaks() -> None:
    assert [right_in_a_row(each) for each in ([], [True], [False], [True, False, True, True])] == [0, 1, 0, 2]
    assert streak_bonus([2, 9], step=0.1, cap=0.5).tolist() == [0.2, 0.5]


@settings(max_examples=50, deadline=None)
@given(st.floats(0, 1), st.floats(0, 1e9), st.floats(0, 1), st.integers(0, 1000))
def test_the_literal_quality_stays_in_its_range(base: float, idle: float, recent: float, streak: int) -> None:
    value = literal_decay([base], [idle], [recent], streak=[streak])[0]
    assert 0 <= value <= 1
    assert value <= min(1.0, base + 0.05) + 1e-12


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: kept_share([-1.0], half_life_s=1), "idle_s must be"),
        (lambda: kept_share([1.0], half_life_s=0), "half_life_s is 0"),
        (lambda: literal_decay([1.2], [0.0], [1.0]), "base must be"),
        (lambda: literal_decay([1.0, 1.0], [0.0], [1.0, 1.0]), "2 rows but|1 rows but"),
        (lambda: literal_decay([1.0], [0.0], [1.0], penalty=2), "penalty is 2"),
        (lambda: priority_score([0.5], [True], bonus=0.5), "bonus is 0.5"),
        (lambda: streak_bonus([1], step=-1), "step is -1"),
        (lambda: pool_prior([3], [2]), "right at most n"),
    ],
)
def test_wrong_numbers_are_refused(call: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()  # type: ignore[operator]


@pytest.mark.parametrize("shape", [(8.0, 2.0), (3.0, 1.0), (14.0, 6.0)])
def test_the_interval_covers_in_a_small_pool_with_little_gold(shape: tuple[float, float]) -> None:
    rng = np.random.default_rng(9)
    inside, pools = [], 100
    for _ in range(pools):
        true, n = rng.beta(*shape, 60), rng.integers(0, 5, 60)
        right = rng.binomial(n, true)
        given = answers_of(
            **{f"w{who:02d}": (int(good), int(of)) for who, (good, of) in enumerate(zip(right, n, strict=True))}
        )
        unseen = pd.DataFrame([("x", f"w{who:02d}", 1) for who in range(60)], columns=["task", "worker", "label"])
        found = worker_quality(pd.concat([given, unseen]), GOLD)
        inside.append(((found["low"] <= true) & (true <= found["high"])).mean())
    # Pools differ by how well their prior is learnt: four standard errors of the mean over pools.
    assert np.mean(inside) >= 0.93 - 4 * np.std(inside) / np.sqrt(pools)


def test_a_streak_may_be_any_sequence() -> None:
    assert right_in_a_row(pd.Series([True, False, True], index=[5, 6, 7])) == 1  # type: ignore[arg-type]
