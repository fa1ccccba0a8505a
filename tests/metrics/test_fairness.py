"""Fairness by hand, against plain least squares, and where a model says nothing."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hmc_crowd import metrics as m
from hmc_crowd.errors import InputError

H = [1, 2, 3, 4, 1, 2, 3, 4]
S = [1.2, 2.1, 3.3, 3.9, 0.7, 1.6, 2.9, 3.5]
G = ["b"] * 4 + ["a"] * 4


def test_osd_by_hand() -> None:
    # Errors: b .2 .1 .3 -.1 (mean .125), a -.3 -.4 -.1 -.5 (mean -.325), all -.1.
    # Total: .09 + .04 + .16 + 0 + .04 + .09 + 0 + .16 = .58; groups explain 8 * .225^2 = .405.
    # R2 .405 / .58; adjusted 1 - (.175 / 6) / (.58 / 7); F .405 / (.175 / 6) = 13.886.
    osd = m.fairness_analysis(H, S, G).osd
    assert osd.details["r2"] == pytest.approx(0.405 / 0.58)
    assert osd.value == pytest.approx(1 - (0.175 / 6) / (0.58 / 7))
    assert osd.details["f"] == pytest.approx(0.405 / (0.175 / 6))
    assert (osd.details["df_groups"], osd.details["df_resid"]) == (1, 6)


def test_the_error_is_signed() -> None:
    # The page speaks of the absolute error; then these two groups would not differ.
    found = m.fairness_analysis([2, 2, 3, 3], [3, 3.1, 2, 1.9], ["a", "a", "b", "b"], interval="none")
    assert found.osd.value > 0.9
    assert found.osa.value < 0


def least_squares(y, *categories):
    """R2 (plain, adjusted) of dummies by numpy's least squares."""
    columns = [np.ones(len(y))]
    for values in categories:
        columns += [np.asarray(values) == each for each in sorted(set(values))[1:]]
    x = np.column_stack(columns).astype(float)
    residual = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
    rank = np.linalg.matrix_rank(x)
    total = ((y - y.mean()) ** 2).sum()
    left = (residual**2).sum()
    return 1 - left / total, 1 - (left / (len(y) - rank)) / (total / (len(y) - 1)), left, len(y) - rank


@pytest.mark.parametrize("seed", range(5))
def test_all_three_equal_plain_least_squares(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 120
    h = rng.integers(1, 6, n).astype(float)
    g = rng.choice(["x", "y", "z", "w"], n, p=[0.5, 0.3, 0.15, 0.05])
    s = h + 0.3 * (g == "y") + rng.normal(0, 0.6, n)
    found = m.fairness_analysis(h, s, g)
    error = s - h
    assert found.osa.value == pytest.approx(least_squares(error**2, g)[1], rel=1e-10)
    assert found.osd.details["r2"] == pytest.approx(least_squares(error, g)[0], rel=1e-10)
    full, null = least_squares(error, h, g), least_squares(error, h)
    assert found.csd.value == pytest.approx(full[1] - null[1], rel=1e-10)
    assert found.csd.details["partial_eta2"] == pytest.approx(1 - full[2] / null[2], rel=1e-10)
    f = ((null[2] - full[2]) / (null[3] - full[3])) / (full[2] / full[3])
    assert found.csd.details["f"] == pytest.approx(f, rel=1e-9)


def test_groups_that_are_score_levels_have_no_csd() -> None:
    # The tool: R2 0 and a p-value of NaN.
    h = [1, 1, 2, 2, 3, 3]
    found = m.fairness_analysis(h, [1.1, 1.4, 2.2, 1.7, 3.3, 2.6], [f"g{each}" for each in h])
    assert found.csd.value is None
    assert "cannot be told apart from the human score" in found.csd.reason
    assert found.osd.value is not None


def test_continuous_human_scores_have_no_csd() -> None:
    found = m.fairness_analysis([1.1, 2.2, 3.3, 4.4, 5.5, 2.7], [1, 2.4, 3, 4.8, 5.1, 3], list("aaabbb"))
    assert found.csd.value is None
    assert "saturated" in found.csd.reason


def test_a_group_for_every_response_is_saturated() -> None:
    found = m.fairness_analysis([1, 2, 3], [1, 2, 4], ["a", "b", "c"])
    assert found.osd.value is None
    assert "saturated" in found.osd.reason
    assert found.warnings[0] == "group 'a' has 1 response"


def test_an_error_that_the_human_score_explains_leaves_nothing_to_groups() -> None:
    # A constant system: M - H is a function of H. Also at an offset of 1e8, where the differences are rounded.
    rng = np.random.default_rng(1)
    h, g = rng.integers(1, 5, 60).astype(float), rng.choice(["a", "b"], 60)
    for shift in (0.0, 1e8):
        found = m.fairness_analysis(h + shift, np.full(60, 3.3 + shift), g)
        assert found.csd.value == 0.0
        assert found.csd.details["p_value"] == 1.0
        assert "explains the whole error" in found.csd.warnings[0]


def test_equal_errors_everywhere_have_a_reason() -> None:
    found = m.fairness_analysis([1, 2, 3, 4], [2, 3, 4, 5], ["a", "a", "b", "b"])
    assert found.osd.value is None
    assert found.osd.reason == "the error is the same for all responses"


def test_the_base_is_the_largest_group_and_of_equal_ones_the_first_by_name() -> None:
    assert m.fairness_analysis(H, S, G).base == "a"
    assert m.fairness_analysis([*H, 5], [*S, 5.5], [*G, "b"]).base == "b"
    assert m.fairness_analysis(H, S, G, base="b").estimates["osd"][0]["group"] == "Intercept (b)"


def test_an_unknown_base_or_no_group_is_an_error() -> None:
    with pytest.raises(InputError, match="base is 'c', which is no group; the groups are a, b"):
        m.fairness_analysis(H, S, G, base="c")
    with pytest.raises(InputError, match="names no group"):
        m.fairness_analysis(H, S, [None] * 8)
    with pytest.raises(InputError, match=r"groups has shape \(2,\)"):
        m.fairness_analysis(H, S, ["a", "b"])
    with pytest.raises(InputError, match="groups is missing"):
        m.difference_of_standardized_means(H, S)


def test_responses_without_a_group_are_left_out_and_counted() -> None:
    found = m.fairness_analysis([*H, 3], [*S, 5], [*G, None])
    assert dict(found.dropped) == {"group is missing": 1}
    assert found.osd.value == pytest.approx(m.fairness_analysis(H, S, G).osd.value)
    # In the standardised means such a response still counts for means and spreads of all.
    assert found.dsm["a"].value != pytest.approx(m.fairness_analysis(H, S, G).dsm["a"].value, rel=1e-3)


def test_a_group_whose_scores_are_all_missing_is_shown_without_value() -> None:
    found = m.difference_of_standardized_means([1, 2, 3, None], [1, 2, 4, 4], ["a", "a", "b", "c"])
    assert found["c"].value is None
    assert found["c"].n == 0


def test_dsm_by_hand() -> None:
    # H 1 2 3 4: mean 2.5, sd 1.29099; M 2 3 3 4: mean 3, sd .81650. Group a: M z (-1.2247 + 0) / 2, H z -.77460.
    found = m.difference_of_standardized_means([1, 2, 3, 4], [2, 3, 3, 4], ["a", "a", "b", "b"])
    assert found["a"].value == pytest.approx((-1 / 0.816496580927726) / 2 + 1 / 1.2909944487358056)
    assert found["All data"].value == pytest.approx(0, abs=1e-15)
    assert set(found) == {"a", "b"}
    assert "only 2 responses" in found["a"].warnings[0]


def test_results_become_frames_json_and_html() -> None:
    found = m.fairness_analysis(H, S, ["<b>"] * 4 + G[4:])
    table = found.to_frame()
    assert next(iter(table.columns)) == "Overall score accuracy"
    assert table.loc["r2_adj", "Overall score difference"] == found["osd"].value
    assert found.estimates_frame("osd").index[0] == "Intercept (<b>)"
    assert json.loads(json.dumps(found.to_dict()))["base"] == "<b>"
    assert "<b>" not in found._repr_html_()
    assert "p = 0.00978" in str(found)
    with pytest.raises(KeyError):
        found["xyz"]


def test_clusters_change_the_interval_and_not_the_value() -> None:
    rng = np.random.default_rng(2)
    person = np.repeat(np.arange(30), 5)
    h = rng.integers(1, 6, 150).astype(float)
    s = h + rng.normal(0, 0.5, 30)[person] + rng.normal(0, 0.3, 150)
    g = np.where(person % 2, "a", "b")
    plain, clustered = m.fairness_analysis(h, s, g), m.fairness_analysis(h, s, g, clusters=person)
    assert plain.osd.r2_adj == clustered.osd.r2_adj
    assert "independent" in clustered.osd.warnings[-1]
    assert "30 clusters" in clustered.osd.method
    drawn = m.fairness_analysis(h, s, g, clusters=person, interval="bootstrap", n_boot=200)
    assert "BCa" in drawn.osd.method
    assert drawn.osd.low < drawn.osd.value < drawn.osd.high


def test_a_value_below_zero_says_why_it_stands_beside_its_interval() -> None:
    rng = np.random.default_rng(7)
    h = rng.integers(1, 6, 400).astype(float)
    s, g = h + rng.normal(0, 0.5, 400), rng.permutation(np.repeat(["a", "b"], 200))
    found = m.fairness_analysis(h, s, g)
    assert found.osd.value < 0.0 == found.osd.low < found.osd.high
    assert "below 0, which no share can be" in found.osd.warnings[0]
    # Told where it is read, and once for all three.
    assert str(found).count("which no share can be") == 1
    related = m.fairness_analysis(h, s + (g == "a"), g)
    assert related.osd.low < related.osd.value < related.osd.high
    assert related.osd.warnings == ()
