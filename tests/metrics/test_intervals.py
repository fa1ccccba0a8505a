"""Intervals: by hand, their rules, and how often they hold the truth."""

from __future__ import annotations

import numpy as np
import pytest

from hmc_crowd import metrics as m
from hmc_crowd.errors import InputError
from hmc_crowd.metrics._intervals_clusters import cluster_ways, spread_of
from hmc_crowd.metrics._intervals_moments import Rows, gradient, take_totals


def test_wilson_by_hand() -> None:
    # 8 of 10 at 95%: z^2 = 3.8415; centre (.8 + .19207) / 1.38415 = .71674; half 1.95996 / 1.38415 *
    # sqrt(.016 + .0096036) = .22658.
    found = m.exact_agreement([1] * 10, [1] * 8 + [2] * 2)
    assert (found.low, found.high) == (pytest.approx(0.49016, abs=1e-5), pytest.approx(0.94332, abs=1e-5))


def test_mean_interval_is_students() -> None:
    # 1 2 3 4: mean 2.5, sd 1.29099, se .645497, t(3) 3.182446.
    found = m.mean_value([1.0, 2.0, 3.0, 4.0])
    assert found.low == pytest.approx(2.5 - 3.182446 * 0.6454972, rel=1e-6)


def test_mean_value_leaves_out_missing_values_and_refuses_words() -> None:
    found = m.mean_value([1, 0, None, 1])
    assert (found.value, dict(found.dropped)) == (2 / 3, {"value is missing": 1})
    assert m.mean_value([None, None]).reason == "no complete pair of scores"
    with pytest.raises(InputError, match=r"values must hold numbers: row 1 \(x\)"):
        m.mean_value([1, "x"])


def test_clusters_of_one_row_change_nothing() -> None:
    rng = np.random.default_rng(0)
    h = rng.integers(1, 6, 50)
    s = np.clip(h + rng.integers(-1, 2, 50), 1, 5)
    for metric in (m.cohen_kappa, m.quadratic_weighted_kappa, m.mean_squared_error):
        assert metric(h, s, clusters=np.arange(50)).low == pytest.approx(metric(h, s).low, rel=1e-9)


def test_repeated_rows_in_clusters_are_no_new_evidence() -> None:
    rng = np.random.default_rng(0)
    h = rng.integers(1, 6, 60)
    s = np.clip(h + rng.integers(-1, 2, 60), 1, 5)
    for metric in (m.cohen_kappa, m.quadratic_weighted_kappa, m.mean_squared_error, m.exact_agreement):
        once = metric(h, s, clusters=np.arange(60))
        thrice = metric(np.repeat(h, 3), np.repeat(s, 3), clusters=np.repeat(np.arange(60), 3))
        assert (thrice.low, thrice.high) == (pytest.approx(once.low, rel=1e-9), pytest.approx(once.high, rel=1e-9))


def test_one_way_spread_by_hand() -> None:
    # Influence .1 -.1 .2 -.2 in clusters aabb: sums 0 and 0. In abab: .3 and -.3, 2 / 1 * .18 = .36.
    values = np.array([0.1, -0.1, 0.2, -0.2])
    assert spread_of(values, cluster_ways(["a", "a", "b", "b"], 4)).variance == 0.0
    assert spread_of(values, cluster_ways(["a", "b", "a", "b"], 4)).variance == pytest.approx(0.36)


def test_two_way_spread_by_hand() -> None:
    # 2 items x 2 workers, influence [[.3, .1], [-.1, -.3]]: items .4 -.4 -> 2 * .32 = .64; workers .2 -.2 -> .16;
    # cells 4/3 * .2 = .26667; together .53333, below .64 of the items alone, which is then used.
    values = np.array([0.3, 0.1, -0.1, -0.3])
    found = spread_of(values, cluster_ways((["i", "i", "j", "j"], ["v", "w", "v", "w"]), 4))
    assert found.variance == pytest.approx(0.64)
    assert len(found.warnings) == 2


def test_few_clusters_carry_a_warning() -> None:
    found = m.exact_agreement([1] * 30, [1, 2, 1] * 10, clusters=np.repeat(np.arange(10), 3))
    assert "only 10 clusters" in found.warnings[0]
    many = m.exact_agreement([1] * 60, [1, 2, 1] * 20, clusters=np.repeat(np.arange(20), 3))
    assert many.warnings == ()


def test_the_gradient_is_exact() -> None:
    # d/dx (x y + sqrt y) = y, d/dy = x + 1 / (2 sqrt y), at (3, 4).
    slope = gradient(lambda s: s[..., 0] * s[..., 1] + np.sqrt(s[..., 1]), np.array([3.0, 4.0]))
    assert slope.tolist() == [4.0, pytest.approx(3.25, rel=1e-14)]


def test_blocks_add_up_to_the_whole() -> None:
    rng = np.random.default_rng(0)
    columns = rng.random((5, 20_001))
    found = take_totals(Rows.of(*columns), products=True)
    whole = np.vstack([np.ones(20_001), columns])
    np.testing.assert_allclose(found.products, whole @ whole.T, rtol=1e-12)
    np.testing.assert_allclose(take_totals(Rows.of(*columns), products=False).sums, whole.sum(1), rtol=1e-12)


@pytest.mark.parametrize("clusters", [None, "one", "two"])
@pytest.mark.parametrize(
    "metric",
    [m.cohen_kappa, m.quadratic_weighted_kappa, m.pearson, m.exact_agreement, m.r2, m.standardized_mean_difference],
)
def test_bootstrap_and_analytic_intervals_are_near_and_repeat(metric, clusters) -> None:
    rng = np.random.default_rng(5)
    item, worker = (each.ravel() for each in np.meshgrid(np.arange(40), np.arange(25)))
    h = rng.integers(1, 6, 40)[item].astype(float)
    s = np.clip(
        np.rint(h + rng.normal(0, 0.5, 40)[item] + rng.normal(0, 0.3, 25)[worker] + rng.normal(0, 0.7, 1000)), 1, 5
    )
    given = {None: None, "one": item, "two": {"item": item, "worker": worker}}[clusters]
    drawn = metric(h, s, clusters=given, interval="bootstrap", n_boot=400)
    formula = metric(h, s, clusters=given)
    width = formula.high - formula.low
    # Kappa of equal human scores per item: two ways differ by the pigeonhole bootstrap's extra noise.
    assert abs(drawn.low - formula.low) < (0.25 if clusters else 0.2) * width
    assert abs(drawn.high - formula.high) < (0.25 if clusters else 0.2) * width
    again = metric(h, s, clusters=given, interval="bootstrap", n_boot=400)
    assert (again.low, again.high) == (drawn.low, drawn.high)
    other = metric(h, s, clusters=given, interval="bootstrap", n_boot=400, rng=np.random.default_rng(9))
    assert other.low != drawn.low


def test_a_narrower_level_gives_a_narrower_interval() -> None:
    rng = np.random.default_rng(1)
    h, s = rng.random(50), rng.random(50)
    wide, narrow = m.pearson(h, s, level=0.99), m.pearson(h, s, level=0.8)
    assert wide.low < narrow.low < narrow.high < wide.high


def test_no_interval_is_made_where_none_is_wanted_or_possible() -> None:
    assert m.pearson([1, 2, 3], [1, 2, 4], interval="none").method == "no interval: not asked for"
    perfect = m.pearson([1, 2, 3], [1, 2, 3])
    assert perfect.value == pytest.approx(1.0)
    assert (perfect.low, perfect.high) == (None, None)
    assert m.mean_squared_error([1, 2, 3], [1, 2, 3]).low is None
    equal = m.mean_squared_error([1, 2, 3], [2, 3, 4])
    assert (equal.low, equal.method) == (None, "no interval: the rows show no spread")
