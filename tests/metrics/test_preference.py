"""Preferences: rates and their rules, tables, composite, ranking, p-values, Bradley-Terry; and bad input."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.metrics import (
    agreement_table,
    bradley_terry,
    composite_agreement,
    composite_choice,
    expected_win_rate,
    leaderboard,
    length_bias_rate,
    outcome_scores,
    p_values_by_size,
    paired_p_values,
    position_swap_consistency,
    rank_correlation,
    rank_models,
    win_rate_table,
)

OUTCOMES = st.lists(st.sampled_from(["win", "tie", "loss", None]), min_size=1, max_size=30)
TURNED = {"win": "loss", "loss": "win", "tie": "tie", None: None}


def scores_of(models: dict[str, float], items: int = 300, seed: int = 0) -> pd.DataFrame:
    """Per-item scores 0, 1/2, 1 with a shared item effect."""
    rng = np.random.default_rng(seed)
    item = rng.normal(0, 0.5, items)
    columns = {}
    for name, strength in models.items():
        shown = strength + item + rng.logistic(size=items)
        columns[name] = np.select([shown > 0.3, shown < -0.3], [1.0, 0.0], 0.5)
    return pd.DataFrame(columns)


# Win rate


@given(OUTCOMES)
def test_win_rates_of_the_two_sides_sum_to_one(outcomes: list[str | None]) -> None:
    ours, theirs = expected_win_rate(outcomes), expected_win_rate([TURNED[each] for each in outcomes])
    if ours.value is None:
        assert theirs.value is None
        assert set(outcomes) == {None}
    else:
        assert ours.value + theirs.value == pytest.approx(1.0)
        assert 0.0 <= ours.low <= ours.value <= ours.high <= 1.0
        assert ours.low + theirs.high == pytest.approx(1.0)


@given(OUTCOMES)
def test_the_rules_for_ties_are_ordered(outcomes: list[str | None]) -> None:
    strict, half, whole = (expected_win_rate(outcomes, tie=tie).value for tie in (0.0, 0.5, 1.0))
    assert strict is half is whole is None or strict <= half <= whole
    if half is not None:
        assert half == pytest.approx((strict + whole) / 2)


def test_unparsed_judgements_leave_or_are_losses_with_a_warning() -> None:
    outcomes = ["win", None, float("nan"), "unparsed"]
    kept, lost = expected_win_rate(outcomes), expected_win_rate(outcomes, unparsed="as_loss")
    assert (kept.value, kept.n, kept.dropped) == (1.0, 1, {"unparsed": 3})
    assert (lost.value, lost.n) == (0.25, 4)
    assert lost.warnings == ("3 unparsed judgements count as losses",)


def test_only_wins_give_an_interval_that_is_not_a_point() -> None:
    found = expected_win_rate(["win"] * 20)
    # Wilson with t(19): 1 / (1 + t^2 / 20).
    assert found.low == pytest.approx(1 / (1 + stats.t.ppf(0.975, 19) ** 2 / 20))
    assert found.high == 1.0


def test_yes_no_outcomes_have_nearly_wilsons_interval() -> None:
    found = expected_win_rate(["win"] * 300 + ["loss"] * 700)
    wilson = stats.binomtest(300, 1000).proportion_ci(method="wilson")
    assert [found.low, found.high] == pytest.approx([wilson.low, wilson.high], abs=2e-4)


def test_repeating_each_row_as_a_cluster_keeps_the_interval() -> None:
    rng = np.random.default_rng(0)
    outcomes = rng.choice(["win", "tie", "loss"], 100)
    once = expected_win_rate(outcomes)
    five = expected_win_rate(np.repeat(outcomes, 5), clusters=np.repeat(np.arange(100), 5))
    assert [five.low, five.high] == pytest.approx([once.low, once.high])


def test_bootstrap_and_formula_agree_and_seeds_repeat() -> None:
    outcomes = np.random.default_rng(2).choice(["win", "tie", "loss"], 300)
    formula = expected_win_rate(outcomes)
    drawn = [expected_win_rate(outcomes, interval="bootstrap", rng=np.random.default_rng(5)) for _ in range(2)]
    assert [drawn[0].low, drawn[0].high] == pytest.approx([formula.low, formula.high], abs=0.01)
    assert (drawn[0].low, drawn[0].high) == (drawn[1].low, drawn[1].high)


@pytest.mark.parametrize("wrong", [[1, 0, 2], ["Win"], ["win", 1], [["win"]], [True, False]])
def test_codes_and_other_words_are_refused(wrong: Any) -> None:
    with pytest.raises(InputError):
        expected_win_rate(wrong)


def test_wrong_rules_are_refused() -> None:
    for more in ({"tie": 2.0}, {"tie": "half"}, {"unparsed": "zero"}, {"level": 1.0}, {"interval": "exact"}):
        with pytest.raises(InputError):
            expected_win_rate(["win", "loss"], **more)


def test_no_judgement_has_no_rate() -> None:
    for nothing in ([], [None, None]):
        found = expected_win_rate(nothing)
        assert found.value is None
        assert found.reason == "no judgement was parsed"


# Length bias and position


@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5), st.sampled_from(["win", "tie", "loss", None])), min_size=1)
)
def test_length_bias_turns_with_the_outcomes(rows: list[tuple[int, int, str | None]]) -> None:
    a, b, outcomes = zip(*rows, strict=True)
    for denominator in ("parsed", "decided"):
        which: Any = {"denominator": denominator}
        ours = length_bias_rate(a, b, outcomes, **which)
        turned = length_bias_rate(a, b, [TURNED[each] for each in outcomes], **which)
        swapped = length_bias_rate(b, a, [TURNED[each] for each in outcomes], **which)
        if ours.value is None:
            assert turned.value is swapped.value is None
            continue
        assert ours.value == pytest.approx(-turned.value)
        assert ours.value == pytest.approx(swapped.value)
        assert -1.0 <= ours.low <= ours.value <= ours.high <= 1.0


def test_length_bias_without_lengths_leaves_rows() -> None:
    found = length_bias_rate([10, None, 3], [5, 4, 9], ["win", "win", None])
    assert (found.value, found.n) == (1.0, 1)
    assert found.dropped == {"unparsed": 1, "length is missing": 1}
    with pytest.raises(InputError, match="length_b has 1 rows"):
        length_bias_rate([1, 2], [1], ["win", "win"])


def test_position_swap_by_hand() -> None:
    # Shown first: target, then the other. Mapped back: same, always the first shown, same tie, tie to win.
    first, second = ["win", "win", "tie", "tie"], ["win", "loss", "tie", "win"]
    found = position_swap_consistency(first, second)
    assert found.value == 0.5
    assert found.details["prefers_first"] == 0.25
    assert found.details["position_bias"] == 0.25
    raw = [TURNED[each] for each in second]
    assert position_swap_consistency(first, raw, mapped_back=False).value == 0.5


def test_a_tie_stays_a_tie_when_mapped_back() -> None:
    # Making it binary first would turn the tie into a win and then into a loss.
    assert position_swap_consistency(["tie"] * 3, ["tie"] * 3, mapped_back=False).value == 1.0


# Tables


def test_macro_weighs_categories_alike_and_micro_weighs_pairs() -> None:
    table = win_rate_table(["win"] * 9 + ["loss"], ["big"] * 9 + ["small"])
    assert (table.micro.value, table.macro.value) == (0.9, 0.5)
    frame = table.to_frame()
    assert frame["category"].tolist() == ["big", "small", "all (micro)", "all (macro)"]
    json.dumps(table.to_dict(), allow_nan=False)


def test_macro_interval_covers_the_independent_sum() -> None:
    # Two categories of 200 and 50: var = (s1^2/200 + s2^2/50) / 4.
    rng = np.random.default_rng(0)
    outcomes = rng.choice(["win", "loss"], 250)
    categories = np.array(["a"] * 200 + ["b"] * 50)
    table = win_rate_table(outcomes, categories)
    p = [np.mean(outcomes[categories == name] == "win") for name in "ab"]
    error = np.sqrt(p[0] * (1 - p[0]) / 200 + p[1] * (1 - p[1]) / 50) / 2
    assert (table.macro.high - table.macro.low) / 2 == pytest.approx(1.97 * error, rel=0.02)
    drawn = win_rate_table(outcomes, categories, interval="bootstrap", n_boot=1000).macro
    assert [drawn.low, drawn.high] == pytest.approx([table.macro.low, table.macro.high], abs=0.02)


def test_a_category_without_a_parsed_judgement_has_no_rate_and_is_told() -> None:
    table = win_rate_table(["win", None], ["a", "b"])
    assert table.categories["b"].value is None
    assert table.macro.value == 1.0
    assert any("1 categories without" in warning for warning in table.macro.warnings)


def test_agreement_by_category_needs_a_category_for_each_item() -> None:
    with pytest.raises(InputError, match="categories"):
        agreement_table([[1, 1], [2, 2]], ["a"])
    with pytest.raises(InputError, match="missing at row 1"):
        agreement_table([[1, 1], [2, 2]], ["a", None])


# Composite


def test_composite_chooses_on_one_part_and_reports_on_the_other() -> None:
    # Judges of pure noise: the best of five in each of eight categories looks better than 1/2, held out it does not.
    rng = np.random.default_rng(3)
    categories = np.repeat(list("abcdefgh"), 40)
    optimism, held = [], []
    for seed in range(20):
        noise = {f"j{each}": rng.integers(0, 2, 320).astype(float) for each in range(5)}
        made = composite_agreement(noise, categories, rng=np.random.default_rng(seed))
        optimism.append(made.optimism)
        held.append(made.held_out.micro.value)
    assert np.mean(optimism) > 0.06
    assert np.mean(held) == pytest.approx(0.5, abs=0.02)


def test_composite_keeps_clusters_together_and_repeats() -> None:
    rng = np.random.default_rng(1)
    scores = {"a": rng.random(60), "b": rng.random(60)}
    categories, clusters = np.repeat(["x", "y"], 30), np.arange(60) // 3
    made = [composite_agreement(scores, categories, clusters=clusters, parts=5) for _ in range(2)]
    assert made[0].to_frame().equals(made[1].to_frame())
    assert len(made[0].by_part) == 5
    assert made[0].singles["a"] == pytest.approx(scores["a"].mean())


def test_composite_bad_input() -> None:
    good = {"a": [0.5, 1.0], "b": [0.0, 1.0]}
    for scores, categories, more in (
        (good, ["x", "y"], {"parts": 3}),
        (good, ["x", "y"], {"candidates": ["c"]}),
        ({"a": [0.5], "b": [0.1, 0.2]}, ["x", "y"], {}),
        ({"a": [2.0, 1.0]}, ["x", "y"], {}),
    ):
        with pytest.raises(InputError):
            composite_agreement(scores, categories, **more)
    with pytest.raises(InputError, match="no candidate"):
        composite_choice({"x": {"a": None}})


# Tests, ranking, p-values by size


def test_paired_p_equals_scipy() -> None:
    scores = scores_of({"a": 0.4, "b": 0.0, "c": 0.1})
    found = paired_p_values(scores)
    for first, second, p in zip(found["first"], found["second"], found["p"], strict=True):
        assert p == pytest.approx(stats.ttest_rel(scores[first], scores[second]).pvalue, rel=1e-9)


def test_clusters_make_the_test_more_careful() -> None:
    scores = scores_of({"a": 0.3, "b": 0.0})
    five = pd.concat([scores] * 5, ignore_index=True)
    clusters = np.tile(np.arange(300), 5)
    assert paired_p_values(five)["p"][0] < paired_p_values(scores)["p"][0] / 10
    assert paired_p_values(five, clusters=clusters)["p"][0] == pytest.approx(paired_p_values(scores)["p"][0], rel=1e-9)


def test_ranking_shares_ranks_within_a_group() -> None:
    ranking = rank_models(scores_of({"low": -3.0, "top": 2.5, "mid1": 0.0, "mid2": 0.02}, 400))
    assert ranking.table.set_index("model")["rank"].to_dict() == {"top": 1, "mid1": 2, "mid2": 2, "low": 4}
    assert "paired t-test" in ranking.test
    assert "holm over 6 pairs" in ranking.correction


def test_ranking_takes_outcomes_as_words_and_judgements_that_lack() -> None:
    ranking = rank_models({"a": ["win", "win", None, "tie"] * 20, "b": ["loss", "loss", "win", "tie"] * 20})
    assert ranking.table["model"].tolist() == ["a", "b"]
    assert ranking.table["n"].tolist() == [60, 80]


def test_identical_models_share_a_rank_without_a_p() -> None:
    same = outcome_scores(["win", "loss", "tie"] * 10)
    ranking = rank_models({"a": same, "b": same})
    assert ranking.table["rank"].tolist() == [1, 1]
    assert ranking.pairs["p"].isna().all()


def test_holm_raises_fewer_false_alarms_than_no_correction() -> None:
    rng = np.random.default_rng(8)
    alarms = {"holm": 0, "none": 0}
    for _ in range(60):
        scores = dict(zip("abcdef", rng.integers(0, 2, (6, 100)).astype(float), strict=True))
        for correction in alarms:
            kind: Any = correction
            alarms[correction] += bool(rank_models(scores, correction=kind).table["rank"].nunique() > 1)
    # 5% of 60 is 3; six equal models without correction are told apart far more often.
    assert alarms["holm"] <= 8 < alarms["none"]


def test_p_values_fall_with_size_and_reach_the_full_size() -> None:
    scores = scores_of({"a": 0.5, "b": 0.0, "c": -0.5}, 600)
    table = p_values_by_size(scores)
    assert table["size"].iloc[-1] == 600
    assert table["mean_p"].iloc[-1] < table["mean_p"].iloc[0]
    assert (table["q80"] <= table["q90"]).all()
    full = paired_p_values(scores)["p"]
    assert table["mean_p"].iloc[-1] == pytest.approx(full.mean())
    assert table["q90"].iloc[-1] == pytest.approx(np.quantile(full, 0.9))
    pd.testing.assert_frame_equal(table, p_values_by_size(scores))


def test_p_values_bad_input() -> None:
    scores = {"a": [1.0, 0.0], "b": [0.0, 1.0]}
    for more in ({"sizes": [3]}, {"sizes": [0]}, {"shuffles": -1}):
        with pytest.raises(InputError):
            p_values_by_size(scores, **more)
    with pytest.raises(InputError, match="two"):
        paired_p_values({"a": [1.0]})
    with pytest.raises(InputError, match="no item that every model has"):
        p_values_by_size({"a": [1.0, np.nan], "b": [np.nan, 1.0]})


def test_rank_correlation_equals_scipy() -> None:
    rng = np.random.default_rng(0)
    first = rng.random(29).round(1)
    second = first + rng.normal(0, 0.1, 29)
    found = rank_correlation(first, second)
    assert found["spearman"].value == pytest.approx(stats.spearmanr(first, second).statistic)
    assert found["pearson"].value == pytest.approx(stats.pearsonr(first, second).statistic)
    pearson = stats.pearsonr(first, second).confidence_interval()
    assert [found["pearson"].low, found["pearson"].high] == pytest.approx([pearson.low, pearson.high])
    assert rank_correlation([1, 1, 1], [1, 2, 3])["pearson"].value is None
    assert rank_correlation([1.0], [2.0])["spearman"].reason == "fewer than two models in common"


# Bradley-Terry


def matches(strength: dict[str, float], games: int, seed: int, ties: float = 0.0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    names = list(strength)
    pick = np.array([rng.choice(len(names), 2, replace=False) for _ in range(games)])
    gap = np.array([strength[names[i]] - strength[names[j]] for i, j in pick])
    win = rng.random(games) < 1 / (1 + np.exp(-gap))
    outcome = np.where(rng.random(games) < ties, "tie", np.where(win, "win", "loss")).astype(object)
    return {"model_a": np.array(names)[pick[:, 0]], "model_b": np.array(names)[pick[:, 1]], "outcome": outcome}


def test_bradley_terry_finds_strengths() -> None:
    truth = {"a": 0.8, "b": 0.2, "c": -0.1, "d": -0.9}
    fit = bradley_terry(matches(truth, 6000, 1))
    assert {name: metric.value for name, metric in fit.strengths.items()} == pytest.approx(truth, abs=0.12)
    assert list(fit.strengths) == ["a", "b", "c", "d"]
    assert sum(metric.value for metric in fit.strengths.values()) == pytest.approx(0.0, abs=1e-9)
    assert fit.win_probability("a", "d").value == pytest.approx(1 / (1 + np.exp(-1.7)), abs=0.03)


def test_bradley_terry_turns_with_the_outcomes() -> None:
    games = matches({"a": 0.5, "b": 0.0, "c": -0.5}, 300, 2, ties=0.2)
    turned = {
        "model_a": games["model_b"],
        "model_b": games["model_a"],
        "outcome": [TURNED[o] for o in games["outcome"]],
    }
    first, second = bradley_terry(games), bradley_terry(turned)
    for name in "abc":
        assert first.strengths[name].value == pytest.approx(second.strengths[name].value)
        assert first.strengths[name].low == pytest.approx(second.strengths[name].low)


def test_bradley_terry_without_a_maximum_says_so() -> None:
    fit = bradley_terry({"model_a": ["a", "a", "b"], "model_b": ["b", "c", "c"], "outcome": ["win", "win", "loss"]})
    assert fit.reason is not None
    assert "cannot be placed" in fit.reason
    assert all(metric.value is None for metric in fit.strengths.values())
    assert fit.win_probability("a", "b").value is None
    assert "undefined" in str(fit)


def test_bradley_terry_intervals_cover() -> None:
    truth = {"a": 0.6, "b": 0.0, "c": -0.6}
    hits = 0
    for seed in range(150):
        found = bradley_terry(matches(truth, 300, seed)).strengths["a"]
        hits += found.low <= 0.6 <= found.high
    # 95% of 150 with three standard errors.
    assert 0.89 <= hits / 150 <= 1.0


def test_bradley_terry_bad_input() -> None:
    with pytest.raises(FrameError, match="no column 'outcome'"):
        bradley_terry({"model_a": ["a"], "model_b": ["b"]})
    with pytest.raises(InputError, match="with itself"):
        bradley_terry({"model_a": ["a"], "model_b": ["a"], "outcome": ["win"]})
    with pytest.raises(InputError, match="differ in length"):
        bradley_terry({"model_a": ["a"], "model_b": ["b"], "outcome": ["win", "loss"]})


# Leaderboard


def judgements() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    rows = [
        (
            name,
            item,
            rng.choice(["win", "tie", "loss", None], p=[win, 0.1, 0.85 - win, 0.05]),
            "qa" if item % 3 else "sum",
        )
        for name, win in (("good", 0.6), ("twin", 0.6), ("bad", 0.1))
        for item in range(200)
    ]
    return pd.DataFrame(rows, columns=["model", "item", "outcome", "category"])


def test_leaderboard_has_rates_by_category_ranks_and_counts() -> None:
    rows = judgements()
    table = leaderboard(rows).set_index("model")
    assert table["rank"].to_dict() == {"good": 1, "twin": 1, "bad": 3}
    for name, of_model in rows.groupby("model"):
        assert table.loc[name, "win_rate"] == pytest.approx(expected_win_rate(of_model["outcome"]).value)
        for category, inside in of_model.groupby("category"):
            assert table.loc[name, category] == pytest.approx(expected_win_rate(inside["outcome"]).value)
        assert table.loc[name, "unparsed"] == of_model["outcome"].isna().sum()
        assert table.loc[name, "n"] + table.loc[name, "unparsed"] == 200
    shuffled = leaderboard(rows.sample(frac=1, random_state=1), clusters="item")
    assert shuffled["win_rate"].tolist() == pytest.approx(table["win_rate"].tolist())


def test_leaderboard_bad_input() -> None:
    rows = judgements()
    with pytest.raises(InputError, match="more than once"):
        leaderboard(pd.concat([rows, rows.head(1)]))
    with pytest.raises(InputError, match="two values of category"):
        leaderboard(rows.assign(category=np.arange(600)))
    with pytest.raises(FrameError, match="no column 'item'"):
        leaderboard(rows.drop(columns="item"))
