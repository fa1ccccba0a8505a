"""The HREF paper's measures on the recorded cases (a reading of the paper, alpaca_eval 0.6.6, scipy), to the digit."""

from __future__ import annotations

import json
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.metrics import (
    agreement_table,
    composite_choice,
    expected_win_rate,
    leave_one_out_agreement,
    length_bias_rate,
    p_values_by_size,
    paired_p_values,
    pairwise_agreement,
    percent_agreement,
    win_rate_table,
)

FOLDER = Path(os.environ.get("HMC_CROWD_DATA", Path(__file__).parents[2].parent / "shared" / "data")) / "metrics"
FILE = FOLDER / "href_cases.json"
CASES = {case["id"]: case for case in json.loads(FILE.read_text())["cases"]} if FILE.exists() else {}
pytestmark = pytest.mark.skipif(not CASES, reason=f"no {FILE}; set HMC_CROWD_DATA")


def of(group: str, *, without: tuple[str, ...] = ()) -> list[str]:
    return [case for case in CASES if CASES[case]["group"] == group and case not in without]


def given(case: str) -> Any:
    return CASES[case]["input"]


def expected(case: str) -> Any:
    return CASES[case]["expected"]


def near(value: float) -> Any:
    return pytest.approx(value, rel=1e-9, abs=1e-12)


def words(preferences: list[Any], first: Any = 1, second: Any = 2) -> list[str | None]:
    names = {first: "win", second: "loss", 0: "tie", 1.5: "tie"}
    return [None if each is None else names[each] for each in preferences]


@pytest.mark.parametrize("case", of("loo"))
def test_leave_one_out_of_one_item(case: str) -> None:
    annotations, wanted = given(case)["annotations"], expected(case)
    questions = {None: wanted["inner"]} | {
        int(label) if label.isdigit() else label: found for label, found in wanted["outer"].items()
    }
    for prediction, found in questions.items():
        ours = leave_one_out_agreement([annotations], None if prediction is None else [prediction])
        assert ours.fraction == Fraction(found["expectation"]["fraction"])
        assert ours.value == near(found["expectation"]["value"])
        assert ours.minimum == near(found["min_possible"]["value"])
        assert ours.maximum == near(found["max_possible"]["value"])


@pytest.mark.parametrize("case", of("loo_set"))
def test_leave_one_out_of_a_set(case: str) -> None:
    table, wanted = pd.read_csv(FOLDER / given(case)["csv"]), expected(case)
    people = table[[name for name in table if str(name).startswith("a")]]
    prediction = table["prediction"].astype(object).copy()
    prediction[wanted.get("failed_rows", [])] = None
    inner = leave_one_out_agreement(people)
    # The recorded outer mean counts unparsed judgements as wrong, as the published agreement code does.
    outer = leave_one_out_agreement(people, prediction, unparsed="wrong")
    assert inner.fraction == Fraction(wanted["inner_exact_fraction"])
    assert outer.fraction == Fraction(wanted["outer_exact_fraction"])
    assert inner.value == near(wanted["inner_mean_expectation"])
    assert outer.value == near(wanted["outer_mean_expectation"])
    assert inner.n == wanted["n_items"]
    by_inner = agreement_table(people, table["category"])
    by_outer = agreement_table(people, table["category"], prediction, unparsed="wrong")
    assert {name: each.value for name, each in by_inner.categories.items()} == near(wanted["inner_by_category"])
    assert {name: each.value for name, each in by_outer.categories.items()} == near(wanted["outer_by_category"])
    assert by_inner.macro.value == near(wanted["inner_macro_over_categories"])
    assert by_inner.micro.value == near(wanted["inner_mean_expectation"])
    if "outer_when_failed_parses_are_dropped" in wanted:
        kept = leave_one_out_agreement(people, prediction)
        assert kept.value == near(wanted["outer_when_failed_parses_are_dropped"])
        assert kept.dropped["unparsed judgement"] == len(wanted["failed_rows"])


@pytest.mark.parametrize("case", of("winrate", without=("win_by_category",)))
def test_win_rate(case: str) -> None:
    outcomes, wanted = given(case)["preferences"], expected(case)
    half = expected_win_rate(outcomes)
    assert half.value == near(wanted["expected_win_rate_tie_half"])
    assert expected_win_rate(outcomes, tie=1.0).value == near(wanted["win_rate_tie_as_win"])
    assert expected_win_rate(outcomes, tie=0.0).value == near(wanted["win_rate_strict"])
    # The published evaluate.py divides by all rows; available as an option, no default.
    as_loss = expected_win_rate(outcomes, unparsed="as_loss")
    assert as_loss.value == near(wanted["tie_half_if_unparsable_counted_as_loss"])
    assert (half.n, sum(half.dropped.values())) == (wanted["n_used"], wanted["n_dropped"])
    assert [half.details[each] for each in ("wins", "ties", "losses")] == [
        wanted[each] for each in ("wins", "ties", "losses")
    ]


def test_win_rate_by_category() -> None:
    wanted = expected("win_by_category")
    categories, outcomes = zip(*given("win_by_category")["rows"], strict=True)
    half, whole = win_rate_table(outcomes, categories), win_rate_table(outcomes, categories, tie=1.0)
    assert {name: each.value for name, each in half.categories.items()} == near(wanted["by_category_tie_half"])
    assert {name: each.value for name, each in whole.categories.items()} == near(wanted["by_category_tie_as_win"])
    assert half.micro.value == near(wanted["overall_micro"])
    assert half.macro.value == near(wanted["overall_macro"])


@pytest.mark.parametrize("case", of("length_bias"))
def test_length_bias(case: str) -> None:
    first, second, preferences = zip(*given(case)["pairs"], strict=True)
    wanted, outcomes = expected(case), words(list(preferences))
    ours = length_bias_rate(first, second, outcomes)
    assert ours.value == near(wanted["length_bias_rate_over_all_parsed"])
    decided = length_bias_rate(first, second, outcomes, denominator="decided")
    assert decided.value == near(wanted["length_bias_rate_over_decided_unequal"])
    names = {
        "longer": "prefers_longer",
        "shorter": "prefers_shorter",
        "ties": "ties",
        "equal_length_decided": "equal_length_decided",
        "unparsed": "unparsable",
    }
    assert {ours_name: ours.details[ours_name] for ours_name in names} == {
        ours_name: wanted[theirs] for ours_name, theirs in names.items()
    }


def test_composite_of_table_2() -> None:
    agreement, wanted = given("composite_table2_llama70b")["agreement_pct"], expected("composite_table2_llama70b")
    chosen = composite_choice(agreement)
    assert chosen == wanted["chosen"]
    assert {category: agreement[category][method] for category, method in chosen.items()} == wanted["rate"]


def test_equal_agreement_goes_to_the_first_candidate() -> None:
    agreement, wanted = given("composite_exact_ties")["agreement_pct"], expected("composite_exact_ties")["candidates"]
    for order in (["llm_judge", "llm_judge_with_reference", "embedding"], ["embedding", "llm_judge_with_reference"]):
        chosen = composite_choice(agreement, candidates=order)
        for category, allowed in wanted.items():
            best = [name for name in order if name in allowed]
            assert chosen[category] == best[0]


@pytest.mark.parametrize("case", of("ttest", without=("ttest_scores_not_codes",)))
def test_p_values(case: str) -> None:
    scores, wanted = pd.read_csv(FOLDER / given(case)["csv"]), expected(case)
    pairs = paired_p_values(scores)
    assert len(pairs) == wanted["n_pairs"]
    for first, second, p in zip(pairs["first"], pairs["second"], pairs["p"], strict=True):
        recorded = wanted["pairwise_p_full"][f"{first}|{second}"]
        assert np.isnan(p) if recorded == "nan" else p == near(recorded)
    sizes = [int(size) for size in wanted["by_size_first_n_rows"]]
    by_size = p_values_by_size(scores, sizes=sizes, shuffles=0).set_index("size")
    names = {
        "mean_p": "mean_p",
        "q90": "q90",
        "q80": "q80",
        "n_undefined": "n_nan_pairs",
        "share_below": "share_below_0.05",
    }
    for size, recorded in wanted["by_size_first_n_rows"].items():
        for ours, theirs in names.items():
            assert by_size.loc[int(size), ours] == near(recorded[theirs])


def test_p_values_are_of_scores_and_not_of_category_codes() -> None:
    # The published build_leaderboard.py tests the codes 0 tie < 1 loss < 2 win, where a tie is worse than a loss.
    wanted = expected("ttest_scores_not_codes")
    scores = pd.read_csv(FOLDER / given("ttest_scores_not_codes")["csv"])
    assert paired_p_values(scores)["p"][0] == near(wanted["p_on_scores_0_half_1"])
    codes = scores.replace({0.0: 1, 0.5: 0, 1.0: 2})
    assert paired_p_values(codes)["p"][0] == near(wanted["p_on_raw_codes_tie0_loss1_win2"])
    assert (scores["m0"] == 0.5).mean() == near(wanted["share_tie"]) or scores.eq(0.5).mean().mean() == near(
        wanted["share_tie"]
    )


@pytest.mark.parametrize("case", ["alpaca_inner_doc", "alpaca_inner_mixed"] if CASES else [])
def test_inner_agreement_of_alpaca_eval(case: str) -> None:
    rows, wanted = list(given(case)["annotations"].values()), expected(case)
    inner, pairs = leave_one_out_agreement(rows), percent_agreement(rows)
    for ours, recorded in ((inner, wanted["one_vs_three"]), (pairs, wanted["one_vs_one"])):
        assert ours.value == near(recorded["score"])
        assert 1 - ours.value == near(recorded["error"])
        assert ours.n == recorded["counts"]
        # Its sem_samples is the mean over annotators of each one's own error, as if only one of them had been asked;
        # ours is the error of the items' means, which is never larger.
        of_items = np.std(inner.items["agreement"], ddof=1) / np.sqrt(len(rows))
        assert of_items <= wanted["one_vs_three"]["sem_samples"] + 1e-12
    workers = inner.workers_frame()["agreement"]
    assert workers.std() / np.sqrt(len(workers)) == near(wanted["one_vs_three"]["sem_annotators"])
    # alpaca_eval counts each pair of annotators twice, once in each direction, as if they were independent.
    both = np.repeat(pairwise_agreement(rows)["rate"], 2)
    assert both.std(ddof=1) / np.sqrt(len(both)) == near(wanted["one_vs_one"]["sem_annotators"])


@pytest.mark.parametrize("rule", ["zero_one", "absolute"])
@pytest.mark.parametrize("case", [case for case in of("alpaca_eval") if "head2head" in case])
def test_win_rate_of_alpaca_eval(case: str, rule: str) -> None:
    # 2: the evaluated model wins; 0 and 1.5 are draws; percent.
    wanted = expected(case)[rule]
    ours = expected_win_rate(words(given(case)["preferences"], first=2, second=1))
    assert 100 * ours.value == near(wanted["win_rate"])
    assert 100 * ours.details["se"] == near(wanted["standard_error"])
    assert [ours.details[each] for each in ("wins", "losses", "ties")] + [ours.n] == [
        wanted[each] for each in ("n_wins", "n_wins_base", "n_draws", "n_total")
    ]
