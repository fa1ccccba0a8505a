"""Equal to krippendorff 0.9.0, irrCAC 0.4.4, statsmodels 0.15.0 and pingouin 0.6.1 on recorded cases, or a reason."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hmc_crowd.metrics import (
    ICC_FORMS,
    brennan_prediger,
    cohen_kappa,
    conger_kappa,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    icc,
    krippendorff_alpha,
)

FILE = (
    Path(os.environ.get("HMC_CROWD_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
    / "metrics"
    / "agreement_cases.json"
)
CASES = {case["id"]: case for case in json.loads(FILE.read_text())["cases"]} if FILE.exists() else {}
pytestmark = pytest.mark.skipif(not CASES, reason=f"no {FILE}; set HMC_CROWD_DATA")

LEVELS = {"identity": "nominal", "ordinal": "ordinal", "linear": "linear", "quadratic": "quadratic"}
# test_one_label_has_no_coefficient states the difference.
ONE_LABEL = {"agr_all_one_label"}
COEFFICIENTS = {"gwet": gwet_ac2, "fleiss": fleiss_kappa, "bp": brennan_prediger, "conger": conger_kappa}


def near(value: float) -> Any:
    return pytest.approx(value, rel=1e-9, abs=1e-12)


def ratings(case: str) -> np.ndarray:
    # The file holds (raters, units).
    return np.array([[math.nan if x is None else x for x in row] for row in CASES[case]["input"]["ratings"]]).T


def number(value: Any) -> bool:
    return isinstance(value, (int, float))


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
@pytest.mark.parametrize("case", CASES)
def test_alpha(case: str, level: Any) -> None:
    expected = CASES[case]["expected"]["krippendorff"][level]
    found = krippendorff_alpha(ratings(case), level)
    if number(expected):
        assert found.value == near(expected)
    else:
        # The package raises ValueError for a single label; here the result says why there is no value.
        assert found.value is None
        assert "all pairable ratings are equal" in (found.reason or "")


@pytest.mark.parametrize("weights", LEVELS)
@pytest.mark.parametrize("name", COEFFICIENTS)
@pytest.mark.parametrize("case", [case for case in CASES if case not in ONE_LABEL])
def test_chance_corrected_coefficients_and_their_errors(case: str, name: str, weights: str) -> None:
    expected = CASES[case]["expected"]["irrCAC"][weights][name]
    found = COEFFICIENTS[name](ratings(case), level=LEVELS[weights])
    # irrCAC rounds to 12 places.
    assert found.value == pytest.approx(expected["value"], rel=1e-9, abs=1e-12)
    assert found.details["agreement"] == pytest.approx(expected["pa"], rel=1e-9, abs=1e-12)
    assert found.details["chance"] == pytest.approx(expected["pe"], rel=1e-9, abs=1e-12)
    assert found.details["se_published"] == pytest.approx(expected["se"], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", ["fleiss", "bp", "conger"])
def test_one_label_has_no_coefficient(name: str) -> None:
    # irrCAC divides by zero (Fleiss), answers 1 (Brennan-Prediger, which then takes q = 1) or nan (Conger):
    # without knowing what else could have been said there is no chance to correct for.
    found = COEFFICIENTS[name](ratings("agr_all_one_label"))
    assert found.value is None
    assert "only one label" in (found.reason or "")


def test_one_label_gives_ac1_of_one_with_a_warning() -> None:
    expected = CASES["agr_all_one_label"]["expected"]["irrCAC"]["identity"]["gwet"]
    found = gwet_ac1(ratings("agr_all_one_label"))
    assert found.value == expected["value"] == 1.0
    assert found.low is None
    assert found.warnings


def test_one_label_gives_no_ac2() -> None:
    # irrCAC answers nan or divides by zero, depending on the weights.
    assert gwet_ac2(ratings("agr_all_one_label"), level="ordinal").value is None


@pytest.mark.parametrize("case", [case for case in CASES if "statsmodels_fleiss_kappa" in CASES[case]["expected"]])
def test_statsmodels_fleiss_and_randolph(case: str) -> None:
    expected = CASES[case]["expected"]
    for key, function in (("statsmodels_fleiss_kappa", fleiss_kappa), ("statsmodels_randolph_kappa", brennan_prediger)):
        found = function(ratings(case))
        if number(expected[key]):
            assert found.value == near(expected[key])
        else:
            assert found.value is None


@pytest.mark.parametrize("case", [case for case in CASES if "sklearn_cohen_kappa" in CASES[case]["expected"]])
def test_scikit_learn_kappa_of_the_labels_that_occur(case: str) -> None:
    expected = CASES[case]["expected"]["sklearn_cohen_kappa"]
    both = ratings(case)
    if number(expected["None"]):
        assert cohen_kappa(both[:, 0], both[:, 1]).value == near(expected["None"])
        assert conger_kappa(both).value == near(expected["None"])
    if not number(expected["linear"]):
        assert cohen_kappa(both[:, 0], both[:, 1], weights="linear").value is None
    elif case == "agr_value_domain_not_given":
        # Scores 1, 2, 4: scikit-learn squeezes them to 0, 1, 2; ours is of the expanded labels 1..4 (B8).
        squeezed = np.searchsorted([1, 2, 4], both)
        assert cohen_kappa(squeezed[:, 0], squeezed[:, 1], weights="quadratic").value == near(expected["quadratic"])
        assert cohen_kappa(both[:, 0], both[:, 1], weights="quadratic").value != near(expected["quadratic"])
    else:
        for weights in ("linear", "quadratic"):
            assert cohen_kappa(both[:, 0], both[:, 1], weights=weights).value == near(expected[weights])


@pytest.mark.parametrize("form", ICC_FORMS)
@pytest.mark.parametrize("case", CASES)
def test_icc_of_complete_units(case: str, form: str) -> None:
    expected = CASES[case]["expected"]["pingouin_icc_complete_units_only"][form]
    found = icc(ratings(case), form, missing="drop")
    if not number(expected["ICC"]):
        assert found.value is None
        assert found.reason
        return
    assert found.value == near(expected["ICC"])
    assert found.details["F"] == near(expected["F"])
    assert found.details["p_value"] == near(expected["pval"])
    # pingouin rounds the ends to two places.
    assert [found.low, found.high] == pytest.approx(expected["ci95"], abs=0.00501)


@pytest.mark.parametrize("form", ICC_FORMS)
@pytest.mark.parametrize("case", CASES)
def test_icc_by_default_is_that_of_complete_units_where_half_are(case: str, form: str) -> None:
    expected = CASES[case]["expected"]["pingouin_icc_complete_units_only"][form]["ICC"]
    found = icc(ratings(case), form)
    if number(expected):
        assert found.value == near(expected)


def test_icc_of_a_design_with_holes_has_a_value_where_pingouin_has_nan() -> None:
    for form in ICC_FORMS:
        assert 0.7 < icc(ratings("agr_5raters_60units_45pct_missing"), form).value < 0.95
