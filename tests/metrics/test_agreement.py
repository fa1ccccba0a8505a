"""Agreement of raters: what it must not depend on, special against general formulas, missing ratings, bad input."""

from __future__ import annotations

import math
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.metrics import (
    agreement_weights,
    brennan_prediger,
    cohen_kappa,
    conger_kappa,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    icc,
    krippendorff_alpha,
    leave_one_out_agreement,
    pairwise_agreement,
    percent_agreement,
)
from hmc_crowd.metrics._krippendorff import bootstrap_statistic
from hmc_crowd.metrics._ratings import read_ratings

if TYPE_CHECKING:
    from collections.abc import Callable

ALPHA_LEVELS = ["nominal", "ordinal", "interval", "ratio"]
WEIGHTS = ["nominal", "ordinal", "linear", "quadratic", "ratio"]
COEFFICIENTS = [fleiss_kappa, gwet_ac2, brennan_prediger, conger_kappa]
HOLE = st.one_of(st.none(), st.integers(0, 3).map(float))
TABLES = st.integers(2, 4).flatmap(
    lambda raters: st.lists(st.lists(HOLE, min_size=raters, max_size=raters), min_size=2, max_size=12)
)


def array(rows: Any) -> np.ndarray:
    return np.array([[math.nan if x is None else x for x in row] for row in rows], dtype=float)


def crowd(units: int = 120, raters: int = 4, holes: float = 0.3, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    table = np.clip(rng.integers(1, 6, units)[:, None] + rng.integers(-1, 2, (units, raters)), 1, 5).astype(float)
    table[rng.random(table.shape) < holes] = math.nan
    return table


def same(first: Any, second: Any, **more: Any) -> bool:
    if first.value is None or second.value is None:
        return first.value is second.value
    return bool(first.value == pytest.approx(second.value, **({"rel": 1e-9, "abs": 1e-9} | more)))


# Krippendorff's alpha


def test_alpha_of_a_hand_worked_table() -> None:
    # Units 11, 12, 22, 2-: coincidences 11: 2, 12: 1 + 1, 22: 2; n = 6, n_1 = n_2 = 3.
    # D_o = 2/6, D_e = 2 * 3 * 3 / (6 * 5) = 18/30; alpha = 1 - (1/3) / (3/5) = 4/9.
    found = krippendorff_alpha([[1, 1], [1, 2], [2, 2], [2, None]])
    assert found.value == pytest.approx(4 / 9)
    assert found.details["observed"] == pytest.approx(1 / 3)
    assert found.details["expected"] == pytest.approx(3 / 5)
    assert found.dropped == {"missing rating": 1, "the only rating of its unit": 1}


def coincidence_alpha(table: np.ndarray, level: str) -> float | None:
    """The textbook's way: build the coincidence matrix."""
    read = read_ratings(table)
    usable = read.per_unit[read.unit] >= 2
    if not usable.any():
        return None
    level_: Any = level
    if level == "interval":
        # The general matrix with squared differences instead of the shortcut under test.
        values = np.unique(table[~np.isnan(table)])
        met = np.zeros((len(values), len(values)))
        for row in table:
            inside = row[~np.isnan(row)]
            for i in range(len(inside)):
                for j in range(len(inside)):
                    if i != j:
                        met[values == inside[i], values == inside[j]] += 1 / (len(inside) - 1)
        pooled, distance = met.sum(axis=1), (values[:, None] - values[None, :]) ** 2
        expected = pooled @ distance @ pooled / (pooled.sum() - 1)
        return None if expected == 0 else float(1 - (met * distance).sum() / expected)
    with np.errstate(all="ignore"):
        value = bootstrap_statistic(read, usable, level_)(np.ones((1, int((read.per_unit >= 2).sum()))))[0]
    return None if math.isnan(value) else float(value)


@given(TABLES, st.sampled_from(ALPHA_LEVELS))
def test_alpha_without_the_matrix_equals_alpha_from_it(rows: list[list[float | None]], level: Any) -> None:
    table = array(rows)
    found, wanted = krippendorff_alpha(table, level, interval="none").value, coincidence_alpha(table, level)
    assert found is wanted is None or found == pytest.approx(wanted, abs=1e-9)


@given(TABLES, st.sampled_from(ALPHA_LEVELS), st.randoms(use_true_random=False))
def test_alpha_depends_on_no_order_of_units_and_raters(rows: list[list[float | None]], level: Any, random: Any) -> None:
    table = array(rows)
    units, raters = list(range(table.shape[0])), list(range(table.shape[1]))
    random.shuffle(units)
    random.shuffle(raters)
    first = krippendorff_alpha(table, level, interval="none")
    assert same(first, krippendorff_alpha(table[units][:, raters], level, interval="none"))
    # Alpha pools the raters, so the ratings of one unit may change places, too.
    mixed = np.array([random.sample(row.tolist(), len(row)) for row in table])
    assert same(first, krippendorff_alpha(mixed, level, interval="none"))


@given(TABLES)
def test_alpha_invariances(rows: list[list[float | None]]) -> None:
    table = array(rows)
    nominal = krippendorff_alpha(table, interval="none")
    assert same(nominal, krippendorff_alpha((table * 7) % 4 + 100, interval="none"))
    interval = krippendorff_alpha(table, "interval", interval="none")
    assert same(interval, krippendorff_alpha(3.0 - 2.5 * table, "interval", interval="none"))
    ordinal = krippendorff_alpha(table, "ordinal", interval="none")
    assert same(ordinal, krippendorff_alpha(np.exp(table), "ordinal", interval="none"))
    ratio = krippendorff_alpha(table, "ratio", interval="none")
    assert same(ratio, krippendorff_alpha(table * 8.0, "ratio", interval="none"))


@given(TABLES, st.sampled_from(ALPHA_LEVELS))
def test_alpha_is_at_most_one(rows: list[list[float | None]], level: Any) -> None:
    found = krippendorff_alpha(array(rows), level)
    assert found.value is None or found.value <= 1.0
    assert (found.value is None) == bool(found.reason)


def test_alpha_of_two_raters_is_fleiss_with_a_small_sample_correction() -> None:
    # Complete data of two raters: 1 - alpha = (1 - kappa) * (n - 1) / n, n = 2 * units.
    table = crowd(60, 2, 0.0)
    kappa = fleiss_kappa(table).value
    assert 1 - krippendorff_alpha(table).value == pytest.approx((1 - kappa) * 119 / 120)


@pytest.mark.parametrize("level", ALPHA_LEVELS)
def test_alpha_error_equals_the_jackknife(level: Any) -> None:
    table = crowd(150)
    left_out = [krippendorff_alpha(np.delete(table, u, 0), level, interval="none").value for u in range(150)]
    jackknife = math.sqrt(149 / 150 * np.sum((np.array(left_out) - np.mean(left_out)) ** 2))
    assert krippendorff_alpha(table, level).details["se"] == pytest.approx(jackknife, rel=0.02)


@pytest.mark.parametrize("level", ALPHA_LEVELS)
def test_alpha_bootstrap_agrees_with_the_formula(level: Any) -> None:
    table = crowd(200)
    formula = krippendorff_alpha(table, level)
    drawn = krippendorff_alpha(table, level, interval="bootstrap", n_boot=1000)
    assert "BCa" in drawn.method
    assert [drawn.low, drawn.high] == pytest.approx([formula.low, formula.high], abs=0.02)
    again = krippendorff_alpha(table, level, interval="bootstrap", n_boot=1000)
    assert (again.low, again.high) == (drawn.low, drawn.high)


def test_alpha_keeps_its_digits_at_large_offsets_and_tiny_spreads() -> None:
    rng = np.random.default_rng(3)
    # Multiples of 2^-20, so that adding 1e8 loses nothing of the input itself.
    table = np.round((rng.normal(size=(300, 1)) + rng.normal(size=(300, 3))) * 1e-2 * 2**20) / 2**20
    assert krippendorff_alpha(table + 1e8, "interval").value == pytest.approx(
        krippendorff_alpha(table, "interval").value, rel=1e-9
    )
    assert icc(table + 1e8, "ICC(A,1)").value == pytest.approx(icc(table, "ICC(A,1)").value, rel=1e-9)


def test_alpha_of_text_needs_an_order_for_ordinal() -> None:
    table = [["low", "mid"], ["high", "high"], ["low", "low"]]
    assert krippendorff_alpha(table).value is not None
    with pytest.raises(InputError, match="needs numbers"):
        krippendorff_alpha(table, "ordinal")
    numbers = [[0, 1], [2, 2], [0, 0]]
    ordered = krippendorff_alpha(table, "ordinal", categories=["low", "mid", "high"])
    assert same(ordered, krippendorff_alpha(numbers, "ordinal"))


def test_labels_that_nobody_used_change_no_alpha() -> None:
    table = crowd(40)
    for level in ALPHA_LEVELS:
        wide: Any = krippendorff_alpha(table, level, categories=[1.0, 2.0, 3.0, 4.0, 5.0, 9.0])
        assert same(krippendorff_alpha(table, level), wide)


def test_clusters_of_one_unit_each_change_nothing_and_copies_widen() -> None:
    table = crowd(80)
    plain, alone = krippendorff_alpha(table), krippendorff_alpha(table, clusters=np.arange(80))
    assert [alone.low, alone.high] == pytest.approx([plain.low, plain.high])
    # Every unit four times, told apart as one cluster: the interval of the 80 units.
    four = krippendorff_alpha(np.repeat(table, 4, axis=0), clusters=np.repeat(np.arange(80), 4))
    assert four.high - four.low == pytest.approx(plain.high - plain.low, rel=0.05)


def test_few_clusters_are_told() -> None:
    found = krippendorff_alpha(crowd(30), clusters=np.arange(30) % 6)
    assert any("6 clusters" in warning for warning in found.warnings)


# Fleiss, Gwet, Brennan-Prediger, Conger


@given(TABLES, st.sampled_from(COEFFICIENTS), st.sampled_from(WEIGHTS))
def test_coefficients_depend_on_no_order(rows: Any, function: Callable[..., Any], level: Any) -> None:
    table = array(rows)
    first = function(table, level=level, interval="none")
    assert same(first, function(table[::-1, ::-1], level=level, interval="none"))
    assert first.value is None or first.value <= 1.0 + 1e-12


@given(TABLES, st.sampled_from(COEFFICIENTS))
def test_nominal_coefficients_depend_on_no_names(rows: Any, function: Callable[..., Any]) -> None:
    table = array(rows)
    names = {0.0: "d", 1.0: "a", 2.0: "c", 3.0: "b"}
    text = [[None if math.isnan(x) else names[x] for x in row] for row in table.tolist()]
    first = function(table, level="nominal", interval="none")
    assert same(first, function(text, level="nominal", interval="none"))


@pytest.mark.parametrize("level", ["nominal", "linear", "quadratic"])
def test_conger_of_two_raters_is_cohen(level: Any) -> None:
    table = crowd(80, 2, 0.0)
    weights = None if level == "nominal" else level
    assert conger_kappa(table, level=level).value == pytest.approx(
        cohen_kappa(table[:, 0], table[:, 1], weights=weights).value
    )


def test_ac2_without_weights_is_ac1_and_declared_labels_matter_to_ac1_alone() -> None:
    table = crowd(50)
    more = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert same(gwet_ac1(table), gwet_ac2(table, level="nominal"))
    assert gwet_ac1(table, categories=more).value > gwet_ac1(table).value
    assert same(fleiss_kappa(table), fleiss_kappa(table, categories=more))


def test_skewed_labels_leave_ac1_high_where_kappa_is_below_zero() -> None:
    # 18 of 20 units "no" twice, two units split: 90% agreement.
    table = [["no", "no"]] * 18 + [["no", "yes"], ["yes", "no"]]
    assert fleiss_kappa(table).value < 0
    assert gwet_ac1(table).value > 0.85


@pytest.mark.parametrize("function", COEFFICIENTS)
def test_coefficient_bootstrap_agrees_with_the_formula(function: Callable[..., Any]) -> None:
    table = crowd(200)
    formula, drawn = function(table), function(table, interval="bootstrap", n_boot=1000)
    assert [drawn.low, drawn.high] == pytest.approx([formula.low, formula.high], abs=0.02)


@pytest.mark.parametrize("function", [fleiss_kappa, gwet_ac1, conger_kappa])
def test_coefficient_error_equals_the_jackknife_also_with_single_ratings(function: Callable[..., Any]) -> None:
    # Gwet's formula, which irrCAC has, is too large here, since many units have one rating.
    table = crowd(150, 3, 0.5)
    rated = table[(~np.isnan(table)).any(axis=1)]
    left_out = [function(np.delete(rated, u, 0), interval="none").value for u in range(len(rated))]
    jackknife = math.sqrt((len(rated) - 1) / len(rated) * np.sum((np.array(left_out) - np.mean(left_out)) ** 2))
    found = function(table).details
    assert found["se"] == pytest.approx(jackknife, rel=0.03)
    assert found["se_published"] > 1.005 * found["se"]


@pytest.mark.parametrize("function", COEFFICIENTS)
def test_with_two_ratings_everywhere_the_published_error_is_ours(function: Callable[..., Any]) -> None:
    found = function(crowd(100, 3, 0.0)).details
    assert found["se"] == pytest.approx(found["se_published"])


def test_weights_by_their_formulas() -> None:
    # Ordinal, 4 labels: 1 - C(2,2)/6, 1 - C(3,2)/6, 1 - C(4,2)/6.
    assert agreement_weights([1, 2, 3, 4], "ordinal")[0].tolist() == pytest.approx([1, 5 / 6, 1 / 2, 0])
    # Numbers count: 1, 2, 4 are 1 and 2 apart.
    assert agreement_weights([1, 2, 4], "linear")[1].tolist() == pytest.approx([2 / 3, 1, 1 / 3])
    with pytest.raises(InputError, match="level is 'cubic'"):
        agreement_weights([1, 2], "cubic")  # type: ignore[arg-type]


# Intraclass correlation


def test_icc_by_hand() -> None:
    # Ratings 1 2, 3 4, 5 6: MS units 8, MS raters 1.5, MS residual 0, MS within .5.
    table = [[1, 2], [3, 4], [5, 6]]
    assert icc(table, "ICC(1,1)").value == pytest.approx((8 - 0.5) / (8 + 0.5))
    assert icc(table, "ICC(A,1)").value == pytest.approx(8 / (8 + 2 * 1.5 / 3))
    assert icc(table, "ICC(1,k)").value == pytest.approx((8 - 0.5) / 8)


@pytest.mark.parametrize("form", ["ICC(1,1)", "ICC(A,1)", "ICC(C,1)", "ICC(A,k)"])
def test_icc_ignores_shift_and_scale(form: str) -> None:
    table = crowd(60, holes=0.4)
    assert same(icc(table, form), icc(5 - 3 * table, form))


def test_icc_consistency_ignores_a_raters_offset_and_agreement_does_not() -> None:
    table = crowd(80, holes=0.4)
    moved = table + np.array([0.0, 2.0, -1.0, 4.0])
    assert same(icc(table, "ICC(C,1)"), icc(moved, "ICC(C,1)"))
    assert icc(moved, "ICC(A,1)").value < icc(table, "ICC(A,1)").value - 0.1


@pytest.mark.parametrize("form", ["ICC(1,1)", "ICC(A,1)", "ICC(C,1)"])
def test_icc_with_holes_finds_the_variances(form: str) -> None:
    # Variances of unit, rater, error: 1, .25, .5 with 400 raters, half of the cells missing.
    rng = np.random.default_rng(5)
    table = rng.normal(size=(400, 1)) + 0.5 * rng.normal(size=(1, 200)) + math.sqrt(0.5) * rng.normal(size=(400, 200))
    table[rng.random(table.shape) < 0.5] = math.nan
    found = icc(table, form, interval="none")
    truth = {"ICC(1,1)": 1 / 1.75, "ICC(A,1)": 1 / 1.75, "ICC(C,1)": 1 / 1.5}[form]
    assert found.value == pytest.approx(truth, abs=0.04)
    assert any("every rating is used" in warning for warning in found.warnings)


def test_icc_of_all_ratings_is_unbiased_where_dropping_leaves_too_little() -> None:
    rng = np.random.default_rng(11)
    table = rng.normal(size=(300, 1)) + rng.normal(size=(300, 5))
    table[rng.random(table.shape) < 0.3] = math.nan
    assert icc(table, "ICC(C,1)", missing="use").value == pytest.approx(0.5, abs=0.07)
    assert icc(table, missing="drop").n < icc(table, missing="use").n


def test_icc_old_names_and_bad_arguments() -> None:
    table = crowd(30, holes=0.0)
    assert same(icc(table, "ICC2"), icc(table, "ICC(A,1)"))
    assert same(icc(table, "ICC3k"), icc(table, "ICC(C,k)"))
    for wrong in ({"form": "ICC(B,1)"}, {"missing": "guess"}, {"k": 0.5}, {"level": 2.0}, {"interval": "bootstrap"}):
        with pytest.raises(InputError):
            icc(table, **wrong)


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ([[3, 3], [3, 3]], "no spread"),
        ([[1, 2]], "one unit"),
        ([[1, None], [None, 2]], "no unit has two ratings"),
        ([[None, None]], "no"),
    ],
)
def test_icc_without_a_value_says_why(table: Any, why: str) -> None:
    found = icc(table)
    assert found.value is None
    assert math.isnan(float(found))
    assert why in (found.reason or "")


# Leave one out and percent agreement


def enumerate_modes(row: list[Any], guess: Any = None) -> float:
    """Algorithm 1 with every equally frequent label as likely."""
    total = 0.0
    for left in range(len(row)):
        rest = row[:left] + row[left + 1 :]
        most = max(map(rest.count, rest))
        modes = {label for label in rest if rest.count(label) == most}
        total += ((row[left] if guess is None else guess) in modes) / len(modes)
    return total / len(row)


@given(st.lists(st.lists(st.integers(0, 4), min_size=2, max_size=7), min_size=1, max_size=8), st.data())
def test_leave_one_out_equals_enumeration(rows: list[list[int]], data: st.DataObject) -> None:
    width = max(map(len, rows))
    table = [[*row, *[None] * (width - len(row))] for row in rows]
    guess = [data.draw(st.integers(0, 5)) for _ in rows]
    inner, outer = leave_one_out_agreement(table), leave_one_out_agreement(table, guess)
    assert inner.value == pytest.approx(np.mean([enumerate_modes(row) for row in rows]))
    assert outer.value == pytest.approx(np.mean([enumerate_modes(r, g) for r, g in zip(rows, guess, strict=True)]))
    for found in (inner, outer):
        assert found.minimum <= found.value + 1e-12 <= found.maximum + 2e-12
        assert float(found.fraction) == found.value


def test_draws_lie_between_the_bounds_and_average_to_the_expectation() -> None:
    rng = np.random.default_rng(1)
    table, guess = rng.integers(0, 3, (200, 4)), rng.integers(0, 3, 200)
    for prediction in (None, guess):
        found = leave_one_out_agreement(table, prediction, draws=400, rng=np.random.default_rng(2))
        assert found.draws.min() >= found.minimum
        assert found.draws.max() <= found.maximum
        assert found.draws.mean() == pytest.approx(found.value, abs=5 * found.draws.std() / 20)
        again = leave_one_out_agreement(table, prediction, draws=400, rng=np.random.default_rng(2))
        assert (again.draws == found.draws).all()


def test_leave_one_out_per_item_and_per_worker() -> None:
    found = leave_one_out_agreement(
        pd.DataFrame(
            [("q", "x", "a"), ("q", "y", "a"), ("q", "z", "b"), ("r", "x", "a"), ("s", "x", "a"), ("s", "y", "a")],
            columns=["task", "worker", "label"],
        )
    )
    # q: without x the rest is a, b: 1/2; the same without y; without z it is a, a: 0. s: both hit. r leaves.
    assert found.items_frame()[["item", "agreement"]].values.tolist() == [["q", pytest.approx(1 / 3)], ["s", 1.0]]
    assert found.workers_frame().set_index("worker")["agreement"].to_dict() == {"x": 0.75, "y": 0.75, "z": 0.0}
    assert found.dropped == {"item with fewer than two annotations": 1}


def test_leave_one_out_depends_on_no_row_order_and_survives_pickling() -> None:
    rng = np.random.default_rng(4)
    table = rng.integers(0, 3, (50, 4))
    found = leave_one_out_agreement(table)
    assert found.fraction == leave_one_out_agreement(table[::-1]).fraction
    assert pickle.loads(pickle.dumps(found)).fraction == found.fraction
    assert found.to_dict()["fraction"] == str(found.fraction)


def test_predictions_may_be_a_mapping_by_task() -> None:
    rows = [("q", "x", 1), ("q", "y", 1), ("r", "x", 2), ("r", "y", 2)]
    frame = pd.DataFrame(rows, columns=["task", "worker", "label"])
    assert leave_one_out_agreement(frame, {"r": 2, "q": 3}).value == 0.5
    with pytest.raises(InputError, match="prediction lacks 'r'"):
        leave_one_out_agreement(frame, {"q": 1})


@pytest.mark.parametrize("tasks", [[7, 3, 5], ["z", "a", "m"]])
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_units_of_a_long_frame_come_in_the_order_of_their_first_row(tasks: list[Any], kind: Any) -> None:
    rows = {"task": [t for t in tasks for _ in "xy"], "worker": list("xyxyxy"), "label": [1, 1, 2, 2, 3, 3]}
    assert leave_one_out_agreement(kind(rows), [1, 2, 9]).items["agreement"].tolist() == [1.0, 1.0, 0.0]
    assert leave_one_out_agreement(kind(rows)).items["item"].tolist() == tasks


def test_unparsed_judgements_leave_or_are_wrong() -> None:
    table = [[1, 1, 1], [1, 1, 1]]
    assert leave_one_out_agreement(table, [1, None]).value == 1.0
    assert leave_one_out_agreement(table, [1, None], unparsed="wrong").value == 0.5
    nothing = leave_one_out_agreement(table, [None, None])
    assert nothing.value is None
    assert "parsed judgement" in (nothing.reason or "")
    with pytest.raises(InputError, match="unparsed is 'zero'"):
        leave_one_out_agreement(table, [1, 1], unparsed="zero")  # type: ignore[arg-type]


def test_percent_agreement_over_units_and_over_pairs() -> None:
    # Unit 1: 3 of 3 pairs; unit 2: 0 of 1. Mean of units 1/2, of pairs 3/4.
    table = [[1, 1, 1], [1, 2, None]]
    assert percent_agreement(table).value == 0.5
    assert percent_agreement(table, average="pairs").value == 0.75
    assert pairwise_agreement(table)[["first", "second", "units", "agreed"]].values.tolist() == [
        [0, 1, 2, 1],
        [0, 2, 1, 1],
        [1, 2, 1, 1],
    ]


# Input in every form, and bad input

FUNCTIONS = [
    krippendorff_alpha,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    conger_kappa,
    brennan_prediger,
    icc,
    percent_agreement,
    leave_one_out_agreement,
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_array_wide_and_long_frames_are_the_same(function: Callable[..., Any]) -> None:
    table = crowd(30)
    unit, rater = np.nonzero(~np.isnan(table))
    long = pd.DataFrame({"worker": rater, "task": unit, "label": table[unit, rater]}).sample(frac=1, random_state=1)
    wide = pd.DataFrame(table, columns=list("abcd"))
    first = function(table)
    columns = {name: wide[name].tolist() for name in wide}
    for other in (long, wide, table.tolist(), pl.from_pandas(long), pl.from_pandas(wide), columns):
        assert same(first, function(other))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    "table",
    [np.full((3, 2), np.nan), [[1.0, 2.0]], [[1.0, None], [None, 2.0]], [[4, 4], [4, 4]], np.zeros((0, 3))],
    ids=["all missing", "one unit", "no pair", "one label", "no unit"],
)
def test_odd_tables_give_a_value_or_a_reason(function: Callable[..., Any], table: Any) -> None:
    found = function(table)
    assert (found.value is None) == bool(found.reason)
    assert math.isnan(float(found)) == (found.value is None)
    assert str(found)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_wrong_tables_are_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(InputError, match="infinite"):
        function([[1.0, math.inf], [1.0, 2.0]])
    with pytest.raises(InputError, match="shape"):
        function(np.zeros((2, 2, 2)))
    with pytest.raises(InputError, match="different lengths"):
        function([[1, 2], [1]])
    twice = pd.DataFrame({"task": ["q", "q"], "worker": ["x", "x"], "label": [1, 2]})
    with pytest.raises(InputError, match="worker 'x' answered task 'q' more than once"):
        function(twice)
    with pytest.raises(FrameError, match="no label"):
        function(twice.drop(columns="label"))
    with pytest.raises(InputError, match="clusters"):
        function([[1, 2], [2, 2]], clusters=[1, 2, 3])


def test_unknown_levels_and_labels_are_refused() -> None:
    with pytest.raises(InputError, match="level is 'cardinal'"):
        krippendorff_alpha([[1, 2]], "cardinal")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="level is 95"):
        krippendorff_alpha([[1, 2], [2, 2]], interval_level=95)
    with pytest.raises(InputError, match="needs numbers of at least 0"):
        krippendorff_alpha([[-1, 2], [2, 2]], "ratio")
    with pytest.raises(InputError, match="declare categories in order"):
        gwet_ac2([["low", "mid"], ["high", "high"]])
    with pytest.raises(InputError, match="'c', which categories"):
        gwet_ac1([["a", "c"]], categories=["a", "b"])


def test_inputs_stay_as_they_are() -> None:
    frame = pd.DataFrame(crowd(20), columns=list("abcd"))
    before = frame.copy()
    for function in FUNCTIONS:
        function(frame)
    pd.testing.assert_frame_equal(frame, before)


def test_a_single_value_is_no_table_of_ratings() -> None:
    with pytest.raises(InputError, match="ratings is a str; give rows of ratings"):
        krippendorff_alpha("abc")
