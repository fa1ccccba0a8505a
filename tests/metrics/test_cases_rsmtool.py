"""Numbers of the installed RSMTool 12.0.0, case by case; where we differ on purpose, a test says how and why."""

from __future__ import annotations

import csv
import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hmc_crowd.errors import InputError
from hmc_crowd.metrics import (
    adjacent_agreement,
    cohen_kappa,
    difference_of_standardized_means,
    exact_agreement,
    fairness_analysis,
    mean_squared_error,
    mse_true,
    pearson,
    prmse,
    quadratic_weighted_kappa,
    r2,
    score_report,
    standardized_mean_difference,
    true_score_variance,
    variance_of_errors,
)

FOLDER = Path(os.environ.get("HMC_CROWD_DATA", Path(__file__).parents[2].parent / "shared" / "data")) / "metrics"
FILE = FOLDER / "rsmtool_cases.json"
CASES = json.loads(FILE.read_text(encoding="utf-8"))["cases"] if FILE.exists() else []
pytestmark = pytest.mark.skipif(not CASES, reason=f"no {FILE}; set HMC_CROWD_DATA")
NONE = {"interval": "none"}


# Cases where METRICS.md departs from the tool as a whole; the named test states the difference and the reason.
ELSEWHERE = {
    "pair_nan_in_human": "test_incomplete_pairs_leave_the_count_where_the_tool_counts_them_as_disagreements",
    "pair_length_mismatch": "test_unequal_lengths_are_an_error",
    "prmse_row_without_any_rating": "test_a_response_that_nobody_rated_is_dropped_where_the_tool_counts_it_in_n",
}


def of_group(name: str) -> Any:
    cases = [case for case in CASES if case["group"] == name and case["id"] not in ELSEWHERE]
    return pytest.mark.parametrize("case", cases, ids=[case["id"] for case in cases])


def columns_of(case: dict[str, Any]) -> dict[str, list[Any]]:
    """The input's columns; numbers as float, None where missing."""
    given = case["input"]
    if "table" in given:
        return dict(given["table"])
    if "csv" not in given:
        return {key: value for key, value in given.items() if isinstance(value, list)}
    with (FOLDER / given["csv"]).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [number(row[name]) for row in rows] for name in given["columns"]}


def number(text: str) -> Any:
    try:
        return float(text) if text else None
    except ValueError:
        return text


def same(got: Any, wanted: Any, case: dict[str, Any], *, abs_tol: float = 1e-12) -> bool:
    """Equal to the case's tolerance; None, NaN and infinite numbers of the tool are all 'no value' here."""
    tol = case.get("tol", {})
    rel = tol.get("rel", 1e-9) if isinstance(tol, dict) else float(tol)
    got = float(got) if got is not None else math.nan
    if wanted is None or isinstance(wanted, (dict, str)):
        return math.isnan(got)
    return math.isclose(got, wanted, rel_tol=rel, abs_tol=abs_tol)


def wrong(pairs: dict[str, tuple[Any, Any]], case: dict[str, Any], **more: Any) -> dict[str, tuple[Any, Any]]:
    return {key: pair for key, pair in pairs.items() if not same(*pair, case, **more)}


# Departures on purpose: (case, what the case file calls it). Each has a test of its own below.
DEPARTS = {
    # One label or one constant only: the tool's kappa (skll) says 1.0.
    ("pair_both_constant_equal", "kappa_skll"),
    ("pair_both_constant_equal", "qwk_skll_rounded"),
    ("pair_both_constant_equal", "linear_kappa_skll_rounded"),
    ("pair_single_equal", "kappa_skll"),
    ("pair_single_equal", "qwk_skll_rounded"),
    ("pair_single_equal", "linear_kappa_skll_rounded"),
    ("cons_one_double", "kappa"),
    ("cons_both_humans_constant", "kappa"),
    # 4.4 - 3.4 exceeds 1 by rounding.
    ("pair_float_adjacent", "adjacent_agreement_pct"),
    # A spread of 1e-9 about 3 is rounding.
    ("pair_near_constant_system", "pearson_scipy"),
}


@of_group("pair")
def test_pair(case: dict[str, Any]) -> None:
    table = columns_of(case)
    human, system, wanted = table["human"], table["system"], case["expected"]
    h, m = np.rint(np.array(human)), np.rint(np.array(system))
    got = {
        "exact_agreement_pct": 100 * float(exact_agreement(human, system, **NONE)),
        "adjacent_agreement_pct": 100 * float(adjacent_agreement(human, system, **NONE)),
        "kappa_skll": cohen_kappa(human, system, **NONE),
        "qwk_ddof0": quadratic_weighted_kappa(human, system, **NONE),
        "qwk_ddof1": quadratic_weighted_kappa(human, system, ddof=1, **NONE),
        "qwk_skll_rounded": cohen_kappa(human, system, weights="quadratic", **NONE),
        "linear_kappa_skll_rounded": cohen_kappa(h, m, weights="linear", **NONE),
        "pearson_scipy": pearson(human, system, **NONE),
        "smd_unpooled": standardized_mean_difference(human, system, **NONE),
        "smd_pooled": standardized_mean_difference(human, system, method="pooled", **NONE),
        "mse": mean_squared_error(human, system, **NONE),
        "r2_sklearn": r2(human, system, **NONE),
    }
    pairs = {key: (value, wanted[key]) for key, value in got.items() if (case["id"], key) not in DEPARTS}
    assert wrong(pairs, case) == {}


@of_group("pair")
def test_pair_block_of_the_report(case: dict[str, Any]) -> None:
    wanted = case["expected"]["report_block_metrics_helper"]
    table = score_report(columns_of(case), exclude_zero_scores=False, score_range=(-100, 100), **NONE)["eval"]
    departs = {"kappa": "kappa_skll", "adj_agr": "adjacent_agreement_pct", "corr": "pearson_scipy"}
    pairs = {
        key: (table.loc["raw", key], value)
        for key, value in wanted.items()
        if (case["id"], departs.get(key, "")) not in DEPARTS
    }
    assert wrong(pairs, case) == {}


def test_unequal_lengths_are_an_error() -> None:
    """The tool asserts for most metrics, and its SMD compares 3 scores with 2 as if nothing were wrong (-.5)."""
    case = next(case for case in CASES if case["id"] == "pair_length_mismatch")
    table = columns_of(case)
    assert case["expected"]["smd_unpooled"] == -0.5
    metrics = (exact_agreement, cohen_kappa, quadratic_weighted_kappa, pearson, r2, mean_squared_error)
    for metric in (*metrics, standardized_mean_difference):
        with pytest.raises(InputError, match="2 scores but human has 3"):
            metric(table["human"], table["system"])


def test_every_open_case_is_tested() -> None:
    """Each case is a parameter of a test above or below, or has a named test of its own."""
    known = {"pair", "smd_dsm", "prmse", "fairness", "consistency"}
    assert {case["group"] for case in CASES} <= known
    assert {case["id"] for case in CASES if case["group"] == "smd_dsm"} == {"smd_methods"}
    assert all(name in globals() for name in ELSEWHERE.values())


SQUEEZED = "quadratic_kappa_sklearn_rounded_no_labels"


def test_missing_middle_label_keeps_its_place_where_sklearn_squeezes() -> None:
    """Labels 1, 2, 4: scikit-learn without `labels` takes them for neighbours, which changes its quadratic kappa."""
    case = next(case for case in CASES if case["id"] == "pair_missing_middle_label")
    ours = cohen_kappa(columns_of(case), weights="quadratic").value
    assert ours == pytest.approx(case["expected"]["qwk_skll_rounded"], rel=1e-9)
    assert case["expected"][SQUEEZED] == 0.5
    assert ours != pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize("pair", [([3, 3, 3], [3, 3, 3]), ([2], [2])], ids=["constant", "one response"])
@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_one_label_has_no_kappa_where_skll_says_1(pair: tuple[list[int], list[int]], weights: str | None) -> None:
    """Chance alone gives complete agreement: 0 / 0. skll says 1.0, scikit-learn NaN; one rule for kappa and QWK."""
    found = cohen_kappa(*pair, weights=weights)
    assert found.value is None
    assert "one label only" in (found.reason or "")
    assert quadratic_weighted_kappa(*pair).value is None


def test_incomplete_pairs_leave_the_count_where_the_tool_counts_them_as_disagreements() -> None:
    """[1, 2, -, 4, 5] against [1, 2, 3, 4, 4]: the tool's agreement is 3 of 5; three of four pairs agree."""
    case = next(case for case in CASES if case["id"] == "pair_nan_in_human")
    table = columns_of(case)
    found = exact_agreement(table["human"], table["system"])
    assert case["expected"]["ndarray_input"]["exact_agreement_pct"] == 60.0
    assert (found.value, found.n, dict(found.dropped)) == (0.75, 4, {"human score is missing": 1})
    assert adjacent_agreement(table["human"], table["system"]).value == 1.0
    # And kappa, QWK, r, MSE, R2, for which the tool raises or gives NaN, are those of the four pairs.
    h, m = [1, 2, 4, 5], [1, 2, 4, 4]
    for metric in (cohen_kappa, quadratic_weighted_kappa, pearson, mean_squared_error, r2):
        assert metric(table["human"], table["system"], **NONE).value == metric(h, m, **NONE).value


def test_a_difference_of_1_up_to_rounding_is_adjacent_where_the_tool_says_no() -> None:
    """4.4 - 3.4 = 1.0000000000000004; the tool has no slack and reports 75%."""
    case = next(case for case in CASES if case["id"] == "pair_float_adjacent")
    assert case["expected"]["adjacent_agreement_pct"] == 75.0
    assert adjacent_agreement(columns_of(case)).value == 1.0


def test_a_spread_of_rounding_has_no_correlation_where_the_tool_gives_noise() -> None:
    """Scores 3 +- 1e-9 keep about 6 digits of their differences; the tool reports -6e-17 from its noise."""
    case = next(case for case in CASES if case["id"] == "pair_near_constant_system")
    found = pearson(columns_of(case))
    assert found.value is None
    assert "system scores have no spread" in (found.reason or "")


def test_smd_methods() -> None:
    case = next(case for case in CASES if case["id"] == "smd_methods")
    table, wanted = columns_of(case), case["expected"]
    sds = {"population_human_sd": 1.8, "population_system_sd": 0.5}
    for key, value in wanted.items():
        given: dict[str, Any] = dict(sds) if key.endswith("population_1.8_0.5") else {}
        name = key.removeprefix("smd_").split("_")[0]
        if key == "smd_unpooled_ddof0":
            given, name = {"ddof": 0}, "unpooled"
        if isinstance(value, dict):
            with pytest.raises(ValueError, match=r"method|population"):
                standardized_mean_difference(table["human"], table["system"], method=name, **given)
        else:
            got = standardized_mean_difference(table["human"], table["system"], method=name, **given)
            assert same(got, value, case), key


@of_group("prmse")
@pytest.mark.parametrize("form", ["array", "frame", "mapping", "long"])
def test_prmse(case: dict[str, Any], form: str) -> None:
    table = columns_of(case)
    error, wanted = case["input"]["variance_errors_human"], case["expected"]["ndarray"]
    human, system = ratings_in(form, table)
    got = {
        "variance_of_errors": variance_of_errors(human, **NONE),
        "true_score_variance": true_score_variance(human, error, **NONE),
        "mse_true": mse_true(human, system, error, **NONE),
        "prmse_true": prmse(human, system, error, **NONE),
    }
    assert wrong({key: (value, wanted[key]) for key, value in got.items()}, case) == {}


def ratings_in(form: str, table: dict[str, list[Any]]) -> tuple[Any, Any]:
    import pandas as pd

    raters = {name: values for name, values in table.items() if name != "system"}
    system: Any = table["system"]
    if form == "mapping":
        return raters, system
    if form == "frame":
        return pd.DataFrame(raters, dtype=float), pd.Series(system)
    if form == "long":
        rows = [
            (f"r{place}", name, value)
            for name, values in raters.items()
            for place, value in enumerate(values)
            if value is not None
        ]
        return pd.DataFrame(rows, columns=["task", "worker", "score"]), {f"r{i}": m for i, m in enumerate(system)}
    matrix = np.array(
        [[np.nan if each is None else each for each in column] for column in raters.values()], dtype=float
    )
    return matrix.T, np.array(system, dtype=float)


@of_group("prmse")
def test_prmse_block_of_the_report(case: dict[str, Any]) -> None:
    table = columns_of(case)
    wanted = case["expected"]["report_block_true_score_evaluations"]
    names = [name for name in table if name != "system"]
    ratings = np.array([[np.nan if v is None else v for v in table[name]] for name in names], dtype=float).T
    found = prmse(ratings, table["system"], case["input"]["variance_errors_human"], **NONE)
    part = found.details
    got = {
        "N": found.n,
        "N raters": part["n_raters"],
        "N single": part["n_single"],
        "N multiple": part["n_multiple"],
        "Variance of errors": part["error_variance"],
        "True score var": part.get("true_score_variance"),
        "MSE true": part.get("mse_true"),
        "PRMSE true": found,
    }
    # For one response we stop before the parts; the tool goes on with 0 / 0.
    skip = {"MSE true"} if case["id"] == "prmse_single_response_two_ratings" else set()
    assert wrong({key: (value, wanted[key]) for key, value in got.items() if key not in skip}, case) == {}


def test_a_response_that_nobody_rated_is_dropped_where_the_tool_counts_it_in_n() -> None:
    """The tool's table path skips it in the sums but not in N: 1.0096 looks plausible and is wrong."""
    case = next(case for case in CASES if case["id"] == "prmse_row_without_any_rating")
    ratings, system = ratings_in("array", columns_of(case))
    rated = np.isfinite(ratings).any(axis=1)
    found = prmse(ratings, system)
    assert dict(found.dropped) == {"nobody rated the response": 1}
    assert (found.n, found.value) == (4, prmse(ratings[rated], system[rated]).value)
    assert found.value != pytest.approx(case["expected"]["dataframe"]["prmse_true"], abs=1e-3)
    # By hand: means 1, 2.5, 4.5, 5 about 3.25: 2 * (5.0625 + .5625 + 1.5625 + 3.0625) = 20.5; error .25.
    # Variance (20.5 - 3 * .25) / (8 - 16 / 8) = 19.75 / 6; MSE (2 * (0 + .25 + .25 + 0) - 4 * .25) / 8 = 0; PRMSE 1.
    assert found.details["true_score_variance"] == pytest.approx(19.75 / 6, rel=1e-12)
    assert found.value == pytest.approx(1.0, abs=1e-12)


def test_no_true_score_variance_has_no_value_where_the_tool_says_minus_infinity() -> None:
    case = next(case for case in CASES if case["id"] == "prmse_zero_true_variance_given_ve")
    ratings, system = ratings_in("array", columns_of(case))
    found = prmse(ratings, system, 0.0)
    assert found.value is None
    assert "true-score variance is not positive" in (found.reason or "")
    assert found.details["error_variance"] == 0.0


def test_a_prmse_above_one_carries_a_warning() -> None:
    case = next(case for case in CASES if case["id"] == "prmse_above_one")
    found = prmse(*ratings_in("array", columns_of(case)))
    assert found.value == pytest.approx(2.0)
    assert any("above 1" in each for each in found.warnings)


@of_group("fairness")
def test_fairness(case: dict[str, Any]) -> None:
    table, wanted = columns_of(case), case["expected"]["fairness"]
    found = fairness_analysis(table["human"], table["system"], table["group"], base=case["input"]["base_group"])
    assert found.base == wanted["base_category"]
    pairs = {}
    for key in ("osa", "osd", "csd"):
        metric, block = found[key], wanted[key]
        if case["id"] != "fair_one_group_only":
            pairs[f"{key}.R2"] = (metric, block["R2"])
        pairs[f"{key}.sig"] = (metric.details.get("p_value"), block["sig"])
        if block["R2"] != "nan":
            pairs[f"{key}.r2_of_fit"] = (metric.details["r2_of_fit"], block["r2_unadjusted_of_fit"])
            pairs[f"{key}.df"] = (metric.details["df_resid"], block["df_resid"])
            # Where the human score explains the whole error, standard errors and p-values are rounding on both sides.
            exact = case["id"] == "fair_rsm_constant_system" and key == "csd"
            for row in found.estimates[key]:
                each = block["estimates"][row["group"]]
                pairs[f"{key}.{row['group']}"] = (row["estimate"], each["estimate"])
                if not exact:
                    pairs[f"{key}.{row['group']}.p"] = (row["p"], each["P>[t]"])
                    pairs[f"{key}.{row['group']}.low"] = (row["low"], each["[0.025"])
                    pairs[f"{key}.{row['group']}.high"] = (row["high"], each["0.975]"])
    assert wrong(pairs, case) == {}


@of_group("fairness")
def test_dsm(case: dict[str, Any]) -> None:
    table, wanted = columns_of(case), case["expected"]["dsm"]
    found = difference_of_standardized_means(table["human"], table["system"], table["group"])
    assert wrong({group: (found[group], value) for group, value in wanted.items()}, case) == {}


@of_group("fairness")
def test_table_by_group(case: dict[str, Any]) -> None:
    wanted = case["expected"]["report_block_eval_by_group"]
    table = score_report(columns_of(case), groups="group", exclude_zero_scores=False, score_range=(-100, 100), **NONE)[
        "eval_by_group"
    ]
    pairs = {}
    for group, row in wanted.items():
        alone = row["N"] == 1
        for key, value in row.items():
            if alone and key == "kappa.raw_trim_round":
                continue  # one label only: test_one_label_has_no_kappa_where_skll_says_1
            pairs[f"{group}.{key}"] = (table.loc[group, key], value)
    assert wrong(pairs, case) == {}


def test_one_group_alone_has_no_value_where_the_tool_says_0() -> None:
    """With one group there is nothing to compare: no number, though the plain R2 of the fit stays 0 in the details."""
    case = next(case for case in CASES if case["id"] == "fair_one_group_only")
    table = columns_of(case)
    found = fairness_analysis(table["human"], table["system"], table["group"])
    assert case["expected"]["fairness"]["osd"]["R2"] == 0.0
    assert found.osd.value is None
    assert found.osd.reason == "one group only: there is nothing to compare"
    assert found.osd.details["r2_of_fit"] == 0.0


@of_group("consistency")
def test_consistency(case: dict[str, Any]) -> None:
    table, wanted = columns_of(case), case["expected"]
    first, second = table["sc1"], table["sc2"]
    names = {"human": "sc1", "system": "raw_trim", "second_human": "sc2"}
    report = score_report(table, **names, score_range=(-100, 100), **NONE)
    block = wanted["report"]
    pairs = {f"consistency.{k}": (report["consistency"].iloc[0][k], v) for k, v in block["consistency"].items()}
    for form, row in block["eval"].items():
        pairs |= {f"eval.{form}.{k}": (report["eval"].loc[form, k], v) for k, v in row.items()}
    pairs |= {f"short.{k}": (report["eval_short"].iloc[0][k], v) for k, v in block["eval_short"].items()}
    pairs |= {
        "exact": (100 * float(exact_agreement(first, second)), wanted["exact_agreement_pct"]),
        "adjacent": (100 * float(adjacent_agreement(first, second)), wanted["adjacent_agreement_pct"]),
        "kappa": (cohen_kappa(first, second), wanted["kappa_skll"]),
        "qwk": (quadratic_weighted_kappa(first, second), wanted["qwk_ddof0"]),
        "smd": (standardized_mean_difference(first, second, method="pooled"), wanted["smd_pooled"]),
        "errors": (variance_of_errors(np.array([first, second], dtype=float).T), wanted["variance_of_errors"]),
    }
    if (case["id"], "kappa") in DEPARTS:
        # One label among the double-scored responses: the tool's 1.0 is 0 / 0 (test_one_label_has_no_kappa...).
        assert pairs.pop("consistency.kappa")[1] == pairs.pop("kappa")[1] == 1.0
    assert wrong(pairs, case) == {}
