from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, precision_recall_fscore_support, roc_auc_score

from hmc_crowd.errors import InputError
from hmc_crowd.metrics import (
    bool_vector,
    confidence_auc,
    label_codes,
    macro_scores,
    per_position,
    risk_coverage,
    top_k_accuracy,
)

if TYPE_CHECKING:
    from pathlib import Path

PAIRS = st.lists(st.tuples(st.integers(0, 6).map(lambda i: i / 6), st.booleans()), min_size=1, max_size=40)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("bcd")), min_size=1, max_size=40))
def test_macro_scores_equal_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    target, predicted = zip(*pairs, strict=True)
    ours = macro_scores(target, predicted)
    macro = precision_recall_fscore_support(target, predicted, average="macro", zero_division=0)
    assert [ours.precision, ours.recall, ours.f1] == pytest.approx(list(macro[:3]), abs=1e-12)
    assert ours.accuracy == accuracy_score(target, predicted)


@given(PAIRS)
def test_auc_equals_scikit_learn(pairs: list[tuple[float, bool]]) -> None:
    score, right = zip(*pairs, strict=True)
    ours = confidence_auc(score, right)
    if len(set(right)) == 1:
        assert ours.value is None
        assert math.isnan(float(ours))
        assert "every label is" in str(ours)
    else:
        assert ours.value == pytest.approx(roc_auc_score(right, score), abs=1e-12)


@given(PAIRS, st.randoms(use_true_random=False))
def test_order_of_the_rows_does_not_matter(pairs: list[tuple[float, bool]], random: object) -> None:
    shuffled = list(pairs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    before, after = (list(zip(*each, strict=True)) for each in (pairs, shuffled))
    assert top_k_accuracy(*before, share=1.0).value == pytest.approx(top_k_accuracy(*after, share=1.0).value)
    if len(pairs) > 1:
        assert top_k_accuracy(*before).value == pytest.approx(top_k_accuracy(*after).value)
    assert risk_coverage(*before).risk == pytest.approx(risk_coverage(*after).risk)


@given(PAIRS)
def test_risk_at_a_coverage_is_the_error_of_the_top_part(pairs: list[tuple[float, bool]]) -> None:
    score, right = zip(*pairs, strict=True)
    curve = risk_coverage(score, right)
    for share in (0.5, 1.0):
        top = top_k_accuracy(score, right, share=share)
        if top.value is not None:
            assert curve.risk[top.n - 1] == pytest.approx(1 - top.value, abs=1e-12)


def test_risk_coverage_by_hand() -> None:
    # most confident first: right, wrong, right: risks 0/1, 1/2, 1/3; mean 5/18
    curve = risk_coverage([0.9, 0.5, 0.7], [True, True, False])
    assert curve.risk.tolist() == [0.0, 0.5, pytest.approx(1 / 3)]
    assert curve.area == pytest.approx(5 / 18)


def test_ties_across_the_border_count_by_their_share() -> None:
    # two of four: .9 (right), and one place among .5 (right), .5 (wrong), .5 (wrong): (1 + 1/3) / 2
    assert top_k_accuracy([0.9, 0.5, 0.5, 0.5], [1, 1, 0, 0]).value == pytest.approx(2 / 3)


def test_top_part_without_items_is_undefined() -> None:
    assert top_k_accuracy([0.5], [True]).value is None


@pytest.mark.parametrize(
    ("file", "auc", "top_half"), [("sae_trust_score.tsv", 0.8246, 0.9785), ("sae_mcp.tsv", 0.8276, 0.9774)]
)
def test_the_papers_confidences(hmceval: Path, file: str, auc: float, top_half: float) -> None:
    frame = pd.read_csv(hmceval / file, sep="\t")
    right = frame["target"] == frame["machine_predict"]
    assert float(confidence_auc(frame["machine_confidence"], right)) == pytest.approx(auc, abs=5e-5)
    assert float(top_k_accuracy(frame["machine_confidence"], right)) == pytest.approx(top_half, abs=5e-5)


def test_per_position_by_hand() -> None:
    # turn 1: one of two right, one of two by people, 3 of 4 s; turn 2: right, by the machine
    table = per_position(
        [1, 2, 1], ["a", "a", "b"], ["a", "a", "a"], to_human=[True, False, False], true_effort=[3.0, 2.0, 1.0]
    )
    assert table["position"].tolist() == [1, 2]
    assert table["n"].tolist() == [2, 1]
    assert table["accuracy"].tolist() == [0.5, 1.0]
    assert table["human_share"].tolist() == [0.5, 0.0]
    assert table["effort_share"].tolist() == [0.75, 0.0]


def test_per_turn_table_of_the_papers_plan_adds_up(hmceval: Path) -> None:
    frame = pd.read_csv(hmceval / "sae_trust_score.tsv", sep="\t")
    table = per_position(frame["turn"], frame["target"], frame["machine_predict"])
    assert table["n"].sum() == 5673
    assert (table["accuracy"] * table["n"]).sum() / 5673 == pytest.approx(0.8623, abs=5e-5)
    first = frame[frame["turn"] == 1]
    assert table["f1"][0] == pytest.approx(macro_scores(first["target"], first["machine_predict"]).f1)
    assert table["human_share"].isna().all()


@pytest.mark.parametrize(
    "column",
    [[1, 0], [True, False], [1.0, 0.0], np.array(["y", "n"]), pd.Series(["y", "n"]), pd.Categorical(["y", "n"])],
)
def test_labels_may_be_of_any_kind(column: object) -> None:
    assert macro_scores(column, column).accuracy == 1.0  # type: ignore[arg-type]


def test_text_and_number_are_different_labels() -> None:
    labels, codes = label_codes(target=["1", "2"], predicted=[1, 2])
    assert len(labels) == 4
    assert not (codes["target"] == codes["predicted"]).any()


@pytest.mark.parametrize(
    ("target", "says"),
    [
        (["a", None], "target has missing labels: row 1"),
        ([1.0, math.nan], "target has missing labels: row 1"),
        (pd.Series(["a", pd.NA], dtype="string"), "target has missing labels: row 1"),
        ([], "target is empty"),
        (["a"], "target has 1, predicted has 2 rows"),
        ([["a", "b"]], "target has shape"),
        (np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]"), "labels are text, numbers or booleans"),
    ],
)
def test_bad_labels_are_one_sentence(target: object, says: str) -> None:
    with pytest.raises(InputError, match=says):
        macro_scores(target, ["a", "b"])  # type: ignore[arg-type]


@pytest.mark.parametrize("share", [1.5, -0.1, True, math.nan, "half"])
def test_bad_share_is_refused(share: object) -> None:
    with pytest.raises(InputError, match="share is"):
        top_k_accuracy([0.5, 0.6], [True, False], share=share)  # type: ignore[arg-type]


def test_anything_but_yes_and_no_is_refused() -> None:
    with pytest.raises(InputError, match=r"correct must hold only True and False \(or 1 and 0\): row 1 \(0.5\)"):
        confidence_auc([0.5, 0.6], [1, 0.5])
    with pytest.raises(InputError, match="flags has shape"):
        bool_vector(np.zeros((1, 2), dtype=bool), name="flags")


def test_a_position_that_is_no_whole_number_is_refused() -> None:
    with pytest.raises(InputError, match="position must hold whole numbers"):
        per_position([1.5], ["a"], ["a"])
