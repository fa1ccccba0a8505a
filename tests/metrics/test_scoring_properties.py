"""What must hold for any scores: invariances, bounds, special cases of general formulas, and digits kept."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hmc_crowd import metrics as m

NONE = {"interval": "none"}
quick = settings(max_examples=60, deadline=None)

whole = st.integers(0, 6)
pairs = st.lists(st.tuples(whole, whole), min_size=2, max_size=40).map(lambda rows: np.array(rows, dtype=float).T)
ratings = st.lists(st.tuples(whole, whole, whole, whole), min_size=3, max_size=30).map(
    lambda r: np.array(r, dtype=float)
)


def close(left: m.Metric, right: m.Metric, *, rel: float = 1e-9, tol: float = 1e-9) -> bool:
    if left.value is None or right.value is None:
        return left.value is right.value
    return math.isclose(left.value, right.value, rel_tol=rel, abs_tol=tol)


@quick
@given(pairs)
def test_qwk_equals_the_quadratic_kappa_on_whole_scores(pair) -> None:
    assert close(m.quadratic_weighted_kappa(*pair, **NONE), m.cohen_kappa(*pair, weights="quadratic", **NONE))


@quick
@given(pairs, st.sampled_from([None, "linear", "quadratic"]))
def test_kappa_is_symmetric_and_shift_invariant(pair, weights) -> None:
    h, s = pair
    wanted = m.cohen_kappa(h, s, weights=weights, **NONE)
    assert close(wanted, m.cohen_kappa(s, h, weights=weights, **NONE))
    assert close(wanted, m.cohen_kappa(h - 7, s - 7, weights=weights, **NONE))
    assert close(wanted, m.cohen_kappa(3 * h, 3 * s, weights=weights, **NONE))


@quick
@given(pairs)
def test_two_labels_make_all_kappas_one(pair) -> None:
    h, s = pair % 2
    found = [m.cohen_kappa(h, s, weights=weights, **NONE) for weights in (None, "linear", "quadratic")]
    assert close(found[0], found[1])
    assert close(found[0], found[2])


@quick
@given(pairs, st.permutations(range(7)))
def test_plain_kappa_and_agreement_do_not_see_names_of_labels(pair, names) -> None:
    renamed = np.array(names, dtype=float)[pair.astype(int)]
    assert close(m.cohen_kappa(*pair, **NONE), m.cohen_kappa(*renamed, **NONE))
    assert m.exact_agreement(*pair, **NONE).value == m.exact_agreement(*renamed, **NONE).value


@quick
@given(pairs)
def test_bounds(pair) -> None:
    for metric in (m.cohen_kappa, m.quadratic_weighted_kappa, m.pearson):
        value = metric(*pair, **NONE).value
        assert value is None or -1 - 1e-12 <= value <= 1 + 1e-12
    r, q = m.pearson(*pair, **NONE).value, m.quadratic_weighted_kappa(*pair, **NONE).value
    assert r is None or q is None or abs(q) <= abs(r) + 1e-12
    exact = m.exact_agreement(*pair, **NONE).value
    assert 0 <= exact <= m.adjacent_agreement(*pair, **NONE).value <= 1
    assert m.adjacent_agreement(*pair, tolerance=0, **NONE).value == exact


@quick
@given(pairs)
def test_the_value_lies_inside_its_interval(pair) -> None:
    for metric in (m.exact_agreement, m.cohen_kappa, m.quadratic_weighted_kappa, m.pearson, m.r2, m.mean_squared_error):
        found = metric(*pair)
        if found.low is not None:
            assert found.low - 1e-12 <= found.value <= found.high + 1e-12


@quick
@given(pairs, st.floats(0.1, 50), st.floats(-100, 100))
def test_pearson_is_affine_invariant(pair, slope, shift) -> None:
    h, s = pair
    wanted = m.pearson(h, s, **NONE)
    assert close(wanted, m.pearson(h, slope * s + shift, **NONE), rel=1e-7, tol=1e-7)


@quick
@given(pairs, st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter(pair, random) -> None:
    order = list(range(pair.shape[1]))
    random.shuffle(order)
    for metric in (m.cohen_kappa, m.quadratic_weighted_kappa, m.pearson, m.r2, m.standardized_mean_difference):
        assert close(metric(*pair), metric(*pair[:, order]), tol=1e-12)


@quick
@given(pairs)
def test_squared_error_splits_into_its_parts(pair) -> None:
    h, s = pair
    mse = m.mean_squared_error(h, s, **NONE).value
    assert mse == pytest.approx(np.var(h) + np.var(s) - 2 * np.cov(h, s, ddof=0)[0, 1] + (h.mean() - s.mean()) ** 2)
    assert m.root_mean_squared_error(h, s, **NONE).value ** 2 == pytest.approx(mse)
    if np.var(h) > 0:
        assert m.r2(h, s, **NONE).value == pytest.approx(1 - mse / np.var(h))


@quick
@given(ratings)
def test_prmse_of_two_raters_is_the_simple_formula(table) -> None:
    h1, h2, s = table[:, 0], table[:, 1], table[:, 2]
    n, mean = len(h1), (h1 + h2) / 2
    error = ((h1 - h2) ** 2).sum() / (2 * n)
    variance = mean.var(ddof=1) - error / 2
    assume(variance > 0.05)
    found = m.prmse(table[:, :2], s, **NONE)
    assert found.details["error_variance"] == pytest.approx(error)
    assert found.details["true_score_variance"] == pytest.approx(variance)
    assert found.details["mse_true"] == pytest.approx(((mean - s) ** 2).mean() - error / 2, abs=1e-12)
    assert found.value == pytest.approx(1 - (((mean - s) ** 2).mean() - error / 2) / variance, abs=1e-9)


@quick
@given(ratings, st.permutations(range(3)))
def test_prmse_does_not_see_the_order_of_raters_or_where_cells_are_missing(table, order) -> None:
    raters = table[:, :3].copy()
    raters[::2, 0] = np.nan
    wanted = m.prmse(raters, table[:, 3], **NONE)
    assert close(wanted, m.prmse(raters[:, order], table[:, 3], **NONE))
    pushed = np.sort(raters, axis=1)  # NaN to the right
    assert close(wanted, m.prmse(pushed, table[:, 3], **NONE))


@quick
@given(ratings)
def test_prmse_without_rater_error_is_1_minus_mse_over_variance(table) -> None:
    h, s = table[:, 0], table[:, 3]
    assume(h.var() > 0)
    wanted = 1 - ((h - s) ** 2).mean() / h.var(ddof=1)
    assert m.prmse(h, s, 0.0, **NONE).value == pytest.approx(wanted)
    assert m.prmse(np.column_stack([h, h, h]), s, **NONE).value == pytest.approx(
        1 - ((h - s) ** 2).mean() / h.var(ddof=1)
    )


@quick
@given(pairs, st.lists(st.sampled_from("abc"), min_size=40, max_size=40))
def test_group_differences_weighted_by_size_add_up_to_0(pair, names) -> None:
    h, s = pair
    assume(h.std() > 0 and s.std() > 0)
    found = m.difference_of_standardized_means(h, s, names[: len(h)], **NONE)
    assert sum(each.n * each.value for each in found.values()) == pytest.approx(0, abs=1e-9)


@quick
@given(pairs, st.lists(st.sampled_from("abc"), min_size=40, max_size=40))
def test_the_base_group_changes_no_share_of_variance(pair, names) -> None:
    h, s = pair
    groups = names[: len(h)]
    first = m.fairness_analysis(h, s, groups, **NONE)
    for base in set(groups):
        other = m.fairness_analysis(h, s, groups, base=base, **NONE)
        for key in ("osa", "osd", "csd"):
            assert close(first[key], other[key], tol=1e-9)
            assert first[key].details.get("p_value") == pytest.approx(other[key].details.get("p_value"), abs=1e-9)


# Large offsets and tiny spreads: 6 digits at least must survive.
RNG = np.random.default_rng(11)
H = RNG.integers(1, 7, 400).astype(float)
S = H + RNG.integers(-1, 2, 400) + 0.25
R = np.column_stack([H, H + RNG.integers(-1, 2, 400), np.where(RNG.random(400) < 0.5, H, np.nan)])
G = RNG.choice(["a", "b", "c"], 400)
SHIFTS = {
    "pearson": lambda h, s, r: m.pearson(h, s),
    "qwk": lambda h, s, r: m.quadratic_weighted_kappa(h, s),
    "r2": lambda h, s, r: m.r2(h, s),
    "smd": lambda h, s, r: m.standardized_mean_difference(h, s),
    "smd pooled": lambda h, s, r: m.standardized_mean_difference(h, s, method="pooled"),
    "prmse": lambda h, s, r: m.prmse(r, s),
    "dsm": lambda h, s, r: m.difference_of_standardized_means(h, s, G)["a"],
    "osa": lambda h, s, r: m.fairness_analysis(h, s, G).osa,
    "csd": lambda h, s, r: m.fairness_analysis(h, s, G).csd,
}
every = pytest.mark.parametrize("metric", SHIFTS.values(), ids=SHIFTS)


@every
def test_an_offset_of_1e8_costs_no_digit(metric) -> None:
    # Quarters are exact at 1e8, so nothing but our arithmetic can lose digits.
    plain, moved = metric(H, S, R), metric(H + 1e8, S + 1e8, R + 1e8)
    assert moved.value == pytest.approx(plain.value, rel=1e-9)
    assert moved.low == pytest.approx(plain.low, rel=1e-6)
    assert moved.high == pytest.approx(plain.high, rel=1e-6)


SCALE_FREE = {name: metric for name, metric in SHIFTS.items() if not name.startswith(("smd", "dsm"))}


@pytest.mark.parametrize("factor", [1e-12, 1e-6, 1e6])
@pytest.mark.parametrize("metric", SCALE_FREE.values(), ids=SCALE_FREE)
def test_tiny_and_huge_scales_cost_no_digit(metric, factor: float) -> None:
    plain, moved = metric(H, S, R), metric(factor * H, factor * S, factor * R)
    assert moved.value == pytest.approx(plain.value, rel=1e-9)
    assert moved.low == pytest.approx(plain.low, rel=1e-6)


def test_a_small_spread_on_a_large_offset_keeps_6_digits() -> None:
    # 1e6 + steps of 2^-10: exact in floating point, a spread of 1e-9 of the offset and a bit more.
    h, s = 1e6 + H / 1024, 1e6 + S / 1024
    for metric in (m.pearson, m.quadratic_weighted_kappa, m.r2):
        assert metric(h, s).value == pytest.approx(metric(H, S).value, rel=1e-6)
    assert m.prmse(1e6 + R / 1024, s).value == pytest.approx(m.prmse(R, S).value, rel=1e-6)


@pytest.mark.parametrize("metric", [m.mean_squared_error, m.variance_of_errors], ids=["mse", "error variance"])
def test_variances_scale_with_the_square(metric) -> None:
    wide = metric(H, S) if metric is m.mean_squared_error else metric(R)
    tiny = metric(1e-8 * H, 1e-8 * S) if metric is m.mean_squared_error else metric(1e-8 * R)
    assert tiny.value == pytest.approx(1e-16 * wide.value, rel=1e-9)
    assert tiny.low == pytest.approx(1e-16 * wide.low, rel=1e-6)


def test_a_first_row_far_from_all_others_costs_no_digit() -> None:
    # The pivot of the sums is taken from the data; one far outlier in front must not spoil it.
    h, s = np.concatenate([[1e9], H]), np.concatenate([[1e9], S])
    wanted = np.corrcoef(h, s)[0, 1]
    assert m.pearson(h, s).value == pytest.approx(wanted, rel=1e-9)
    sorted_h = np.concatenate([np.zeros(2000), np.full(20, 1e6), 1e6 + H])
    sorted_s = np.concatenate([np.zeros(2000), np.full(20, 1e6), 1e6 + S])
    exact = 1 - ((sorted_h - sorted_s) ** 2).sum() / ((sorted_h - sorted_h.mean()) ** 2).sum()
    assert m.r2(sorted_h, sorted_s).value == pytest.approx(exact, rel=1e-12)
