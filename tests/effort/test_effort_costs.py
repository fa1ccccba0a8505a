"""Set-up and marginal time; what responses and plans cost."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmc_crowd.effort import (
    EffortModel,
    count_time,
    fit_setup_marginal,
    fit_setup_marginal_items,
    plan_effort,
    predict_over_pool,
    response_effort,
)
from hmc_crowd.effort._huber import nonnegative_line
from hmc_crowd.errors import FrameError, InputError, ModelError


def simulate(draw, n=400, setup=30.0, marginal=6.0, noise=8.0, pauses=0.0):
    items = draw.integers(1, 11, n)
    seconds = np.maximum(setup + marginal * items + draw.normal(0, noise, n), 0)
    seconds[draw.random(n) < pauses] += 1000.0
    return seconds, items


# -- the line ----------------------------------------------------------------------------------------------------------


def test_an_exact_line_is_found_exactly():
    split = fit_setup_marginal([15.0, 20.0, 30.0], [1, 2, 4])
    assert (split.setup_s, split.marginal_s) == pytest.approx((10, 5))
    assert np.isnan(split.setup_interval[0])


def test_least_squares_by_hand():
    # (1, 12), (2, 14), (3, 22): means 2 and 16; slope ((-1)(-4) + 0 + 1 * 6) / 2 = 5; intercept 6.
    split = fit_setup_marginal([12.0, 14.0, 22.0], [1, 2, 3], robust=False)
    assert (split.setup_s, split.marginal_s) == pytest.approx((6, 5))


def test_a_negative_setup_becomes_zero_and_the_rest_is_fitted_again():
    # (1, 1), (2, 8): the free line has set-up -6. Through 0: (1 * 1 + 2 * 8) / (1 + 4) = 3.4.
    split = fit_setup_marginal([1.0, 8.0], [1, 2], robust=False)
    assert (split.setup_s, split.marginal_s) == pytest.approx((0, 3.4))


def test_a_falling_line_costs_the_mean_and_nothing_per_item():
    split = fit_setup_marginal([30.0, 20.0, 10.0], [1, 2, 3], robust=False)
    assert (split.setup_s, split.marginal_s) == pytest.approx((20, 0))


@given(st.integers(0, 10_000))
def test_the_line_agrees_with_scipys_nonnegative_least_squares(seed):
    from scipy.optimize import nnls

    draw = np.random.default_rng(seed)
    n = int(draw.integers(3, 20))
    a, x, y, w = (
        draw.integers(0, 2, n).astype(float),
        draw.uniform(0, 5, n),
        draw.uniform(0, 50, n),
        draw.uniform(0.1, 2, n),
    )
    a[0] = 1.0
    found = nonnegative_line(a, x, y, w[None])[0]
    design, target = np.column_stack([a, x]) * np.sqrt(w)[:, None], y * np.sqrt(w)
    best = nnls(design, target)[0]
    assert ((design @ found - target) ** 2).sum() == pytest.approx(
        ((design @ best - target) ** 2).sum(), rel=1e-8, abs=1e-8
    )


def test_times_per_item_by_hand():
    # Later items took 5 s each; first ones 25: 20 of set-up.
    split = fit_setup_marginal_items([25.0, 5, 5, 25, 5], [True, False, False, True, False])
    assert (split.setup_s, split.marginal_s) == pytest.approx((20, 5))


def test_known_costs_are_recovered(rng):
    seconds, items = simulate(rng, n=2000)
    split = fit_setup_marginal(seconds, items, rng=rng)
    # Standard errors about .4 and .065: allow four.
    assert split.setup_s == pytest.approx(30, abs=1.6)
    assert split.marginal_s == pytest.approx(6, abs=0.26)
    assert split.setup_interval[0] < 30 < split.setup_interval[1]
    assert split.marginal_interval[0] < 6 < split.marginal_interval[1]


def test_long_pauses_do_not_bend_the_line(rng):
    seconds, items = simulate(rng, n=2000, pauses=0.05)
    robust, plain = (fit_setup_marginal(seconds, items, robust=way) for way in (True, False))
    assert robust.setup_s == pytest.approx(30, abs=3)
    assert robust.marginal_s == pytest.approx(6, abs=0.5)
    assert (
        plain.setup_s + 5.5 * plain.marginal_s > 63 + 30
    )  # the mean time of 5.5 items is 63 s; 5 % of 1000 s come on top


def test_times_per_item_recover_known_costs(rng):
    first = np.tile([True, False, False, False], 500)
    seconds = np.maximum(np.where(first, 26.0, 6.0) + rng.normal(0, 2, 2000), 0)
    split = fit_setup_marginal_items(seconds, first, rng=rng)
    assert split.setup_s == pytest.approx(20, abs=0.5)
    assert split.marginal_s == pytest.approx(6, abs=0.25)


def coverage(runs: int) -> float:
    hits = 0
    for seed in range(runs):
        draw = np.random.default_rng(seed)
        split = fit_setup_marginal(*simulate(draw, n=120), rng=draw, n_boot=200)
        hits += (split.setup_interval[0] <= 30 <= split.setup_interval[1]) + (
            split.marginal_interval[0] <= 6 <= split.marginal_interval[1]
        )
    return hits / (2 * runs)


def test_intervals_cover_the_truth_most_of_the_time():
    # 95 % nominal; 80 intervals, standard error .024 at most: .95 - 4 * .024 = .85.
    assert coverage(40) > 0.85


@pytest.mark.slow
def test_intervals_cover_the_truth_as_often_as_they_say():
    # 1,000 intervals (two per run, correlated): standard error below .01.
    assert coverage(500) == pytest.approx(0.95, abs=0.03)


def test_workers_alike_among_themselves_need_wider_intervals(rng):
    # 20 workers whose speed differs by far more than their own noise.
    worker = np.repeat(np.arange(20), 30)
    items = rng.integers(1, 11, 600)
    seconds = (30 + 6 * items) * rng.uniform(0.5, 1.5, 20)[worker]
    loose, tight = (
        fit_setup_marginal(seconds, items, clusters=c, rng=np.random.default_rng(1)) for c in (worker, None)
    )
    assert np.ptp(loose.setup_interval) > 1.3 * np.ptp(tight.setup_interval)
    assert (loose.n_clusters, tight.n_clusters) == (20, 600)


def test_the_same_generator_gives_the_same_intervals():
    seconds, items = simulate(np.random.default_rng(2), n=50)
    one, two = (fit_setup_marginal(seconds, items, rng=np.random.default_rng(5)) for _ in range(2))
    assert one == two


def test_expected_seconds_and_setup_share_by_hand():
    split = fit_setup_marginal([15.0, 20.0, 30.0], [1, 2, 4])
    # 3 groups and 8 items: 3 * 10 + 8 * 5 = 70; of a group of 4 (30 s) set-up is a third.
    assert split.expected_seconds([3], [8]) == pytest.approx([70])
    assert split.setup_share([4]) == pytest.approx([1 / 3])
    with pytest.raises(InputError, match="counts"):
        split.expected_seconds(-1, 2)


def test_a_split_prints_and_becomes_a_table():
    split = fit_setup_marginal([15.0, 20.0, 30.0], [1, 2, 4], rng=np.random.default_rng(1))
    assert "set-up 10.0 s per group" in str(split)
    assert list(split.to_frame().columns) == ["value", "low", "high", "level", "n"]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: fit_setup_marginal([1.0, 2.0], [3, 3]), ModelError, "every group has 3 items"),
        (lambda: fit_setup_marginal([1.0, np.nan], [1, 2]), InputError, r"seconds .* row 1 \(nan\)"),
        (lambda: fit_setup_marginal([1.0, -4.0], [1, 2]), InputError, r"row 1 \(-4.0\)"),
        (lambda: fit_setup_marginal([1.0], [1, 2]), InputError, "must describe the same items"),
        (lambda: fit_setup_marginal([1.0, 2.0], [0, 2]), InputError, r"items .* row 0 \(0.0\)"),
        (lambda: fit_setup_marginal([1.0, 2.0], [1, 2], level=95), InputError, "level is 95"),
        (lambda: fit_setup_marginal([1.0, 2.0], [1, 2], clusters=["a", None]), InputError, "clusters has missing"),
        (lambda: fit_setup_marginal_items([1.0, 2.0], [True, True]), ModelError, "no times of later items"),
        (lambda: fit_setup_marginal_items([1.0, 2.0], [False, False]), ModelError, "no times of first items"),
        (lambda: fit_setup_marginal_items([1.0, 2.0], [0.5, 1]), InputError, "first must be true or false"),
    ],
)
def test_bad_input_of_the_split(call, error, words):
    with pytest.raises(error, match=words):
        call()


# -- responses and plans -----------------------------------------------------------------------------------------------


def test_response_effort_by_hand():
    assert response_effort([60.0, 90.0, 0.0], [3, 9, 2]).tolist() == [20, 10, 0]


@pytest.mark.parametrize(
    ("value", "turns", "words"),
    [([1.0], [0], r"turns .* row 0 \(0.0\)"), ([-1.0], [1], "dialogue_value"), ([1.0, 2.0], [1], "same items")],
)
def test_response_effort_bad_input(value, turns, words):
    with pytest.raises(InputError, match=words):
        response_effort(value, turns)


def test_time_both_ways_by_hand():
    # Group a: 3 items of 10 s, one judged; b: 2 of 5 s, both; c: 1 of 20 s, none. Total 60.
    # By parts 10 + 10 = 20: 1/3. Read whole 30 + 10 = 40: 2/3. Groups touched 2 of 3.
    # Split set-up 6, marginal 3: a is 6 / 15 set-up = 12 s, and (30 - 12) / 3 = 6 per item: 18; b all of its 10.
    split = fit_setup_marginal([9.0, 12.0, 18.0], [1, 2, 4])
    count = count_time([1, 0, 0, 1, 1, 0], list("aaabbc"), [10, 10, 10, 5, 5, 20], split=split)
    assert count.per_item_share == pytest.approx(1 / 3)
    assert count.read_whole_share == pytest.approx(2 / 3)
    assert count.split_share == pytest.approx(28 / 60)
    assert (count.n_touched, count.n_groups, count.n_judged, count.n_items) == (2, 3, 3, 6)
    assert "0.333 if every item costs its part, 0.667 if touched groups are read whole, 0.467 by" in str(count)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from("abc"), st.floats(0.1, 100)), min_size=1, max_size=30))
def test_reading_whole_never_costs_less_and_the_split_lies_between(rows):
    chosen, group, seconds = (list(column) for column in zip(*rows, strict=True))
    # Within a group every item has the same part, as response_effort makes it.
    per_group = dict(zip(group, seconds, strict=True))
    split = fit_setup_marginal([9.0, 12.0, 18.0], [1, 2, 4])
    count = count_time(chosen, group, [per_group[g] for g in group], split=split)
    assert count.per_item_share <= count.split_share + 1e-9 <= count.read_whole_share + 2e-9 <= 1 + 3e-9


@pytest.mark.parametrize(
    ("chosen", "group", "seconds", "words"),
    [
        ([0.5], ["a"], [1], "to_human must be true or false"),
        ([1], [None], [1], "group is missing in row 0"),
        ([1], ["a"], [0], "seconds is 0 for every item"),
        ([1, 0], ["a"], [1, 2], "same items"),
    ],
)
def test_count_time_bad_input(chosen, group, seconds, words):
    with pytest.raises(InputError, match=words):
        count_time(chosen, group, seconds)


@pytest.fixture
def model(timed):
    X, seconds = timed
    return EffortModel(n_estimators=10).fit(X[["turns", "approval_ranking"]], seconds)


X_GROUPS = pd.DataFrame({"turns": [2, 5], "approval_ranking": [1, 6]}, index=pd.Index(["g", "h"], name="group"))
ITEMS = pd.DataFrame({"item": ["a", "b", "c"], "group": ["h", "g", "h"]})


def test_an_item_gets_its_groups_prediction_by_turns(model):
    plan = plan_effort(model, X_GROUPS, ITEMS)
    seconds, share = model.predict(X_GROUPS), model.predict_share(X_GROUPS)
    assert plan["item"].tolist() == ["a", "b", "c"]
    assert plan["effort_s"].to_numpy() == pytest.approx([seconds[1] / 2, seconds[0], seconds[1] / 2])
    assert plan["effort_share"].to_numpy() == pytest.approx([share[1] / 2, share[0], share[1] / 2])


def test_turns_may_be_given(model):
    plan = plan_effort(model, X_GROUPS, ITEMS, turns=[5, 2, 5])
    assert plan["effort_s"].iloc[0] == pytest.approx(model.predict(X_GROUPS)[1] / 5)


def test_quantiles_and_split_come_on_request(model):
    split = fit_setup_marginal([9.0, 12.0, 18.0], [1, 2, 4])
    plan = plan_effort(model, X_GROUPS.reset_index(), ITEMS, quantiles=(0.5, 0.9), split=split)
    assert (plan["p90_s"] >= plan["p50_s"]).all()
    # Group h of two items: set-up 6 of 12.
    h = model.predict(X_GROUPS)[1]
    assert plan["setup_s"].iloc[0] == pytest.approx(h / 2)
    assert plan["marginal_s"].iloc[0] == pytest.approx(h / 4)


def test_the_pool_gives_the_mean_over_its_workers(model):
    pool = pd.DataFrame({"approval_ranking": [0, 0, 7]})
    alone = [model.predict(X_GROUPS.assign(approval_ranking=rank)) for rank in (0, 7)]
    expected = (2 * alone[0] + alone[1]) / 3
    assert predict_over_pool(model, X_GROUPS[["turns"]], pool) == pytest.approx(expected)
    assert predict_over_pool(model, X_GROUPS, pool, weights=[0, 0, 5]) == pytest.approx(alone[1])
    plan = plan_effort(model, X_GROUPS[["turns"]], ITEMS, pool=pool)
    assert plan["effort_s"].iloc[1] == pytest.approx(expected[0])


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"X": X_GROUPS.iloc[:1]}, FrameError, r"X has no features for the group of rows 0 \(h\), 2 \(h\)"),
        ({"X": pd.concat([X_GROUPS, X_GROUPS])}, FrameError, "X group repeats"),
        ({"items": ITEMS.drop(columns="item")}, FrameError, "items lacks the column item"),
        ({"X": X_GROUPS[["turns"]]}, FrameError, "X lacks the column approval_ranking"),
        ({"turns": [1]}, InputError, "turns has 1"),
        ({"pool": {"approval_ranking": [1]}, "quantiles": (0.5,)}, InputError, "quantiles are of one worker"),
        ({"pool": {"age": [1]}}, FrameError, "pool has no worker or none"),
        ({"items": ITEMS.assign(group=[None, "g", "h"])}, FrameError, "items column group is empty"),
    ],
)
def test_bad_input_of_the_plan(model, change, error, words):
    call = {"X": X_GROUPS, "items": ITEMS} | change
    with pytest.raises(error, match=words):
        plan_effort(model, call.pop("X"), call.pop("items"), **call)
