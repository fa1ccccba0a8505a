"""Hand-worked scores, forms of input, and what bad input gets."""

from __future__ import annotations

import json
import math
import pickle

import numpy as np
import pandas as pd
import pytest

from hmc_crowd import metrics as m
from hmc_crowd.errors import FrameError, InputError

PAIRED = [
    m.exact_agreement,
    m.adjacent_agreement,
    m.cohen_kappa,
    m.quadratic_weighted_kappa,
    m.pearson,
    m.standardized_mean_difference,
    m.mean_squared_error,
    m.root_mean_squared_error,
    m.r2,
]
NAMES = [each.__name__ for each in PAIRED]
every = pytest.mark.parametrize("metric", PAIRED, ids=NAMES)


def test_kappa_by_hand() -> None:
    # Pairs 11 12 22 22: agreement 3/4; margins (1/2, 1/2) and (1/4, 3/4); chance 1/8 + 3/8 = 1/2.
    # kappa = (3/4 - 1/2) / (1 - 1/2) = 1/2.
    found = m.cohen_kappa([1, 1, 2, 2], [1, 2, 2, 2])
    assert found.value == pytest.approx(0.5)
    assert found.details["observed_disagreement"] == pytest.approx(0.25)
    assert found.details["chance_disagreement"] == pytest.approx(0.5)


def test_kappa_of_one_different_pair_is_0() -> None:
    # Observed and chance disagreement are both 1.
    assert m.cohen_kappa([2], [3]).value == 0.0


def test_linear_kappa_by_hand() -> None:
    # Pairs 11 13 22 33: costs 0 2 0 0, observed 1/2. Margins (2,1,1)/4 and (1,1,2)/4:
    # chance (2*1*1 + 2*2*2 + 1*1*1 + 1*2*1 + 1*1*2 + 1*1*1) / 16 = 16/16. kappa 1/2.
    assert m.cohen_kappa([1, 1, 2, 3], [1, 3, 2, 3], weights="linear").value == pytest.approx(0.5)


def test_the_variance_of_kappa_is_that_of_fleiss_cohen_everitt() -> None:
    # Two raters, table [[22, 2, 2], [5, 7, 14], [0, 2, 10]] / 64; their formula (13) written out below.
    table = np.array([[22, 2, 2], [5, 7, 14], [0, 2, 10]], dtype=float)
    h, s = (np.repeat(axis.ravel(), table.astype(int).ravel()) for axis in np.indices((3, 3)))
    n = table.sum()
    p = table / n
    row, col = p.sum(1), p.sum(0)
    po, pe = np.trace(p), row @ col
    k = (po - pe) / (1 - pe)
    cross = sum(p[i, j] * (col[i] + row[j]) ** 2 for i in range(3) for j in range(3))
    same = sum(p[i, i] * (1 - (row[i] + col[i]) * (1 - k)) ** 2 for i in range(3))
    off = (1 - k) ** 2 * (cross - sum(p[i, i] * (row[i] + col[i]) ** 2 for i in range(3)))
    variance = (same + off - (k - pe * (1 - k)) ** 2) / ((1 - pe) ** 2 * n)
    found = m.cohen_kappa(h, s, level=0.6826894921370859)
    # One standard error on Fisher's z is se / (1 - kappa^2); theirs divides by n, ours by n - 1.
    from scipy.special import stdtrit

    half = (math.atanh(found.high) - math.atanh(found.low)) / 2 / float(stdtrit(n - 1, 0.8413447460685429))
    assert half * (1 - k * k) == pytest.approx(math.sqrt(variance * n / (n - 1)), rel=1e-9)


def test_complete_agreement_keeps_a_lower_end_below_1() -> None:
    found = m.cohen_kappa([1, 2, 3] * 10, [1, 2, 3] * 10)
    assert found.value == found.high == 1.0
    # Wilson: disagreement at most z^2 / (n + z^2) = 3.841459 / 33.841459 = .1135134; chance disagreement 2/3.
    assert found.low == pytest.approx(1 - 0.1135134 / (2 / 3), abs=1e-6)


def test_kappa_of_text_labels() -> None:
    left, right = ["good", "bad", "bad", "so-so"], ["good", "bad", "good", "so-so"]
    assert m.cohen_kappa(left, right).value == m.cohen_kappa([1, 2, 2, 3], [1, 2, 1, 3]).value
    assert m.exact_agreement(left, right).value == 0.75
    order = ["bad", "so-so", "good"]
    ours = m.cohen_kappa(left, right, weights="quadratic", labels=order)
    assert ours.value == pytest.approx(m.cohen_kappa([3, 1, 1, 2], [3, 1, 3, 2], weights="quadratic").value)
    with pytest.raises(InputError, match="give labels="):
        m.cohen_kappa(left, right, weights="linear")
    with pytest.raises(InputError, match="does not list 'so-so'"):
        m.cohen_kappa(left, right, weights="linear", labels=["bad", "good"])


def test_kappa_with_thousands_of_labels_equals_the_formula() -> None:
    rng = np.random.default_rng(3)
    h = rng.integers(0, 3000, 900).astype(float)
    s = np.clip(h + rng.integers(-2, 3, 900), 0, 3000)
    assert m.cohen_kappa(h, s, weights="quadratic").value == pytest.approx(
        m.quadratic_weighted_kappa(h, s).value, rel=1e-12
    )
    linear = 1 - np.abs(h - s).mean() / np.abs(h[:, None] - s[None, :]).mean()
    assert m.cohen_kappa(h, s, weights="linear").value == pytest.approx(linear, rel=1e-12)


def test_williamson_and_johnson_by_hand() -> None:
    h, s = [1, 2, 3], [2, 3, 4]
    johnson = m.standardized_mean_difference(h, s, method="johnson", population_human_sd=2.0)
    assert johnson.value == pytest.approx(0.5)
    # sqrt((3^2 + 4^2) / 2) = 3.5355
    found = m.standardized_mean_difference(h, s, method="williamson", population_human_sd=3.0, population_system_sd=4.0)
    assert found.value == pytest.approx(1 / math.sqrt(12.5))


@every
def test_nothing_complete_has_a_reason(metric) -> None:
    found = metric([None, 2.0, None], [1.0, None, None])
    assert found.value is None
    assert math.isnan(float(found))
    assert "no complete pair" in found.reason
    assert dict(found.dropped) == {"human score is missing": 2, "system score is missing": 1}


@every
def test_words_among_scores_are_left_out_and_counted(metric) -> None:
    found = metric(["1", "2", "n/k", "4", "5"], [1, 2, 3, 5, 4])
    assert (found.n, dict(found.dropped)) == (4, {"human score is not a number": 1})
    assert found.value == metric([1, 2, 4, 5], [1, 2, 5, 4]).value


@every
def test_infinite_scores_are_left_out_and_counted(metric) -> None:
    found = metric([1, 2, 3, 4], [1, math.inf, 3, 5])
    assert (found.n, dict(found.dropped)) == (3, {"system score is infinite": 1})


@every
def test_unequal_lengths_are_an_error(metric) -> None:
    with pytest.raises(InputError, match="system has 2 scores but human has 3"):
        metric([1, 2, 3], [1, 2])


@every
def test_two_dimensions_are_an_error(metric) -> None:
    with pytest.raises(InputError, match=r"human has shape \(2, 2\)"):
        metric([[1, 2], [3, 4]], [[1, 2], [3, 4]])


@every
def test_all_forms_of_input_agree(metric) -> None:
    h, s = [1, 2, None, 4, 5, 2], [1, 3, 3, 4, 4, 2]
    wanted = metric(h, s)
    wide = pd.DataFrame({"human": pd.array(h, dtype="Int64"), "system": s})
    rows = [(i, w, v) for w, values in (("p", h), ("m", s)) for i, v in enumerate(values)]
    long = pd.DataFrame(rows, columns=["task", "worker", "score"])
    for found in (
        metric(wide),
        metric({"human": h, "system": s}),
        metric(long, "m"),
        metric(wide["human"], wide["system"]),
    ):
        assert (found.value, found.low, found.n) == (wanted.value, wanted.low, wanted.n)
        assert sum(found.dropped.values()) == 1


def test_a_polars_frame_is_read() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"human": [1, 2, None], "system": [1.0, 2.0, 3.0]})
    assert m.exact_agreement(frame).value == 1.0
    texts = polars.DataFrame({"human": ["a", "b"], "system": ["a", "c"]})
    assert m.exact_agreement(texts).value == 0.5
    assert m.prmse(polars.DataFrame({"a": [1, 2, 5], "b": [2, 2, 4]}), [1, 2, 5]).n == 3
    long = polars.DataFrame({"task": [1, 1, 2, 2], "worker": ["x", "y"] * 2, "score": [1, 2, 4, 4]})
    assert m.prmse(long, {1: 1, 2: 4}).n == 2


def test_columns_may_be_named_beside_a_frame() -> None:
    frame = pd.DataFrame({"human": [1, 2, 3, 4], "system": [1, 2, 3, 5], "g": list("aabb"), "w": list("xyxy")})
    by_name = m.difference_of_standardized_means(frame, groups="g", clusters="w")["a"]
    assert by_name.low == m.difference_of_standardized_means(frame, groups=frame["g"], clusters=frame["w"])["a"].low
    two = m.quadratic_weighted_kappa(frame, clusters=("g", "w"))
    assert "two-way clusters 2 x 2" in two.method
    with pytest.raises(FrameError, match="no column 'h'"):
        m.fairness_analysis(frame, groups="h")


def test_a_long_table_with_three_workers_needs_a_choice() -> None:
    long = pd.DataFrame({"task": [1, 1, 1], "worker": ["a", "b", "m"], "score": [1, 2, 3]})
    with pytest.raises(InputError, match="2 workers besides 'm'"):
        m.pearson(long, "m")
    with pytest.raises(InputError, match="one of"):
        m.pearson(long, "x")
    with pytest.raises(FrameError, match="repeat a task and worker"):
        m.pearson(pd.concat([long, long]), "m")


def test_a_frame_without_the_columns_says_what_it_needs() -> None:
    with pytest.raises(FrameError, match="human and system, or task, worker and score"):
        m.pearson(pd.DataFrame({"a": [1]}))


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"level": 1.0}, "level is 1.0"),
        ({"level": 95}, "level is 95"),
        ({"interval": "bca"}, "interval is 'bca'"),
        ({"n_boot": 5}, "n_boot is 5"),
        ({"rng": 7}, "rng is int"),
        ({"clusters": [1, 2]}, r"clusters has shape \(2,\)"),
        ({"clusters": [1, 2, None]}, "clusters has missing values: row 2"),
        ({"clusters": {"a": [1, 2, 3], "b": [1, 2, 3], "c": [1, 2, 3]}}, "names 3 ways"),
    ],
)
def test_bad_options_are_named(given, match: str) -> None:
    with pytest.raises(InputError, match=match):
        m.pearson([1, 2, 3], [1, 2, 4], **given)


def test_other_bad_arguments_are_named() -> None:
    with pytest.raises(InputError, match="tolerance is -1"):
        m.adjacent_agreement([1], [1], tolerance=-1)
    with pytest.raises(InputError, match="weights is 'cubic'"):
        m.cohen_kappa([1], [1], weights="cubic")
    with pytest.raises(InputError, match="ddof is 2"):
        m.quadratic_weighted_kappa([1], [1], ddof=2)
    with pytest.raises(InputError, match="system is missing"):
        m.r2([1, 2])


def test_constant_human_scores() -> None:
    h, s = [3, 3, 3], [1, 2, 3]
    assert m.pearson(h, s).reason == "the human scores have no spread"
    assert m.standardized_mean_difference(h, s).reason == "the human scores have no spread"
    assert m.quadratic_weighted_kappa(h, s).value == 0.0
    assert m.cohen_kappa(h, s).value == 0.0
    # The tool's code (scikit-learn) has a convention for R2; it is followed, and said.
    assert m.r2(h, s).value == 0.0
    assert "no spread" in m.r2(h, s).warnings[0]
    assert m.r2(h, h).value == 1.0


def test_one_pair() -> None:
    assert m.pearson([1], [2]).reason == "one pair has no variance"
    assert m.r2([1], [2]).value is None
    assert m.standardized_mean_difference([1], [2]).value is None
    found = m.mean_squared_error([1], [3])
    assert (found.value, found.low) == (4.0, None)
    assert "one row" in found.method


def test_a_tiny_human_spread_gives_no_standardised_difference() -> None:
    # RSMTool's SMD explodes to 1e9 here; its DSM has no value. One rule for both: sd within 1e-7 of 0 is none.
    h, s = [1.0, 1.0 + 1e-9, 1.0 - 1e-9], [2.0, 2.0, 2.5]
    assert m.standardized_mean_difference(h, s).value is None
    assert m.difference_of_standardized_means(h, s, ["a", "a", "b"])["a"].value is None


def test_input_is_not_written_to() -> None:
    h, s = np.array([1.0, 2.0, np.nan]), np.array([1.0, 3.0, 2.0])
    frame = pd.DataFrame({"human": h, "system": s, "g": ["a", "b", "a"]})
    before = frame.copy()
    for metric in PAIRED:
        metric(frame)
    m.fairness_analysis(frame, groups=frame["g"])
    m.score_report(frame, groups="g")
    pd.testing.assert_frame_equal(frame, before)


def test_results_print_pickle_and_become_json() -> None:
    found = m.pearson([1, 2, 3, None], [1, 2, 4, 4])
    again = pickle.loads(pickle.dumps(found))
    assert (again.value, dict(again.dropped)) == (found.value, dict(found.dropped))
    assert json.loads(json.dumps(found.to_dict()))["value"] == found.value
    assert json.loads(json.dumps(m.pearson([1], [1]).to_dict()))["value"] is None
    assert "dropped 1" in str(found)
    assert found.to_frame()["n"].tolist() == [3]
    html = m.Metric(0.5, name="<b>", dropped={"<i>": 1})._repr_html_()
    assert "<b>" not in html
    assert "<i>" not in html
    with pytest.raises(TypeError, match="no truth value"):
        bool(found)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_metric_never_holds_a_number_that_is_none(value: float) -> None:
    found = m.Metric(value, 0.0, 1.0)
    assert (found.value, found.low, found.high) == (None, None, None)
    assert found.reason


def test_score_types_by_hand() -> None:
    # Scaling: (raw - 2) / 1 * 2 + 4: 0 -> 0, 2 -> 4, 3.25 -> 6.5; trimmed to [.5, 6.5] with tolerance .5.
    forms = m.score_types([0.0, 2.0, 3.25], score_range=(1, 6), tolerance=0.5, scaling=m.Scaling(2, 1, 4, 2))
    assert list(forms) == ["raw", "raw_trim", "raw_trim_round", "scale", "scale_trim", "scale_trim_round"]
    assert forms["raw_trim"].tolist() == [0.5, 2.0, 3.25]
    assert forms["raw_trim_round"].tolist() == [0.0, 2.0, 3.0]  # .5 rounds to even
    assert forms["scale"].tolist() == [0.0, 4.0, 6.5]
    assert forms["scale_trim_round"].tolist() == [0.0, 4.0, 6.0]


def test_bad_score_types_are_named() -> None:
    with pytest.raises(InputError, match="score_range is"):
        m.score_types([1], score_range=(6, 1))
    with pytest.raises(InputError, match="tolerance is"):
        m.score_types([1], score_range=(1, 6), tolerance=-1)
    with pytest.raises(InputError, match="positive prediction_sd"):
        m.Scaling(1, 0, 1, 1)
    with pytest.raises(InputError, match="human has 1 scores"):
        m.Scaling.fit(predictions=[1, 2], human=[1])


MIXED = ["1", "2", "unsure", "1", "unsure", "2", "unsure", "1"]
OTHER = ["1", "unsure", "unsure", "1", "unsure", "2", "2", "1"]


def test_a_word_that_both_columns_use_makes_their_numbers_labels() -> None:
    # 6 of 8 agree. Margins (3, 2, 3) / 8 each: chance (9 + 4 + 9) / 64 = 22/64; kappa (48 - 22) / (64 - 22) = 26/42.
    kappa, exact = m.cohen_kappa(MIXED, OTHER), m.exact_agreement(MIXED, OTHER)
    assert kappa.value == pytest.approx(26 / 42)
    assert exact.value == 0.75
    assert kappa.n == exact.n == 8
    assert "taken as labels" in kappa.warnings[0]
    assert "taken as labels" in exact.warnings[0]


def test_a_word_in_the_list_of_labels_makes_numbers_labels_without_a_warning() -> None:
    # 2 of 3 agree; margins (1, 1, 1) / 3 and (2, 0, 1) / 3: chance 3/9; kappa (6 - 3) / (9 - 3) = 1/2.
    kappa = m.cohen_kappa(["1", "unsure", "2"], ["1", "1", "2"], labels=["1", "2", "unsure"])
    assert (kappa.value, kappa.n, kappa.warnings) == (pytest.approx(0.5), 3, ())


def test_a_stray_word_in_one_column_is_a_bad_score() -> None:
    assert m.exact_agreement(["1", "2", "oops"], ["1", "2", "3"]).dropped == {"human score is not a number": 1}
    assert m.cohen_kappa(MIXED, OTHER, weights="quadratic").n == 4


def test_numbers_that_begin_with_a_zero_are_names() -> None:
    assert m.exact_agreement(["01", "1", "01", "1"], ["1", "1", "01", "01"]).value == 0.5
    assert m.cohen_kappa(["01", "1", "01", "1"], ["1", "1", "01", "01"]).value == 0.0


def test_one_number_in_several_spellings_is_one_label() -> None:
    assert m.exact_agreement(["3", 3, "none", "x"], ["3.0", "3", "x", "x"]).value == 1.0


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ([1, 2, 3], "does not list '7'"),
        ([1, 2, 2, 7], "names '2' more than once"),
        ("127", "is the text '127'"),
    ],
)
def test_labels_that_cannot_be_meant_are_refused(labels: object, told: str) -> None:
    with pytest.raises(InputError, match=told):
        m.cohen_kappa([1, 2, 2], [1, 2, 7], labels=labels)  # type: ignore[arg-type]


def test_a_score_report_without_scores_says_why_and_what_to_name() -> None:
    table = pd.DataFrame({"human": ["x", "y"], "system": [1.0, 2.0]})
    with pytest.raises(InputError, match=r"human score is not a number \(2\); name the columns of numbers"):
        m.score_report(table)
    with pytest.raises(InputError, match="the table has no rows"):
        m.score_report(table.iloc[:0])
