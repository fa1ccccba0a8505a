"""Majority vote: counts, shares, ties by a stated rule."""

from __future__ import annotations

import pandas as pd
import pytest

from hmc_crowd.aggregation import MajorityVote
from hmc_crowd.errors import InputError, ModelError

COLUMNS = ["task", "worker", "label"]


def test_shares_are_votes_over_answers(small: pd.DataFrame) -> None:
    # task a: x has 2 of 3 votes; task b: y has 3 of 3
    probabilities = MajorityVote().fit_predict_proba(small)
    assert probabilities.loc["a"].tolist() == pytest.approx([2 / 3, 1 / 3])
    assert probabilities.loc["b"].tolist() == [0.0, 1.0]


def test_labels_are_indexed_by_sorted_task(small: pd.DataFrame) -> None:
    labels = MajorityVote().fit_predict(small.iloc[::-1])
    assert labels.to_dict() == {"a": "x", "b": "y"}
    assert labels.index.name == "task"
    assert labels.index.tolist() == ["a", "b"]


def test_skill_is_the_share_of_answers_that_equal_the_label(small: pd.DataFrame) -> None:
    # w1 and w2 chose x, y as the majority did; w3 chose y, y: one of two
    assert MajorityVote().fit(small).skills_.to_dict() == {"w1": 1.0, "w2": 1.0, "w3": 0.5}


def test_ties_go_to_the_first_label_and_are_flagged() -> None:
    vote = MajorityVote().fit(pd.DataFrame([("a", "u", "z"), ("a", "v", "k"), ("b", "u", "z")], columns=COLUMNS))
    assert vote.labels_.to_dict() == {"a": "k", "b": "z"}
    assert vote.tied_.to_dict() == {"a": True, "b": False}
    assert vote.ties_ == 1


def test_ties_can_follow_the_order_of_named_labels() -> None:
    answers = pd.DataFrame([("a", "u", "z"), ("a", "v", "k")], columns=COLUMNS)
    assert MajorityVote().fit_predict(answers, labels=["z", "k"]).tolist() == ["z"]


def test_ties_can_go_to_the_most_common_label() -> None:
    # totals of shares: z = .5 + 1, k = .5
    answers = pd.DataFrame([("a", "u", "z"), ("a", "v", "k"), ("b", "u", "z")], columns=COLUMNS)
    vote = MajorityVote(tie="most_common").fit(answers)
    assert vote.labels_.to_dict() == {"a": "z", "b": "z"}
    assert vote.tied_["a"]


def test_thirds_that_differ_by_rounding_are_ties() -> None:
    answers = pd.DataFrame([("a", f"w{i}", label) for i, label in enumerate("xyzxyz")], columns=COLUMNS)
    assert MajorityVote().fit(answers).tied_.tolist() == [True]


def test_gold_items_get_their_gold_label(small: pd.DataFrame) -> None:
    vote = MajorityVote().fit(small, {"a": "y"})
    assert vote.labels_["a"] == "y"
    assert vote.probabilities_.loc["a"].tolist() == [0.0, 1.0]


@pytest.mark.parametrize("labels", [[0, 1, 1], [True, False, False], ["no", "yes", "yes"]])
def test_labels_keep_their_type(labels: list[object]) -> None:
    answers = pd.DataFrame({"task": [1, 1, 1], "worker": ["a", "b", "c"], "label": labels})
    assert MajorityVote().fit_predict(answers).tolist() == [labels[1]]


def test_a_hundred_thousand_labels_are_refused_before_memory_is_taken() -> None:
    count = 100_000
    answers = pd.DataFrame({"task": range(count), "worker": "w", "label": range(count)})
    with pytest.raises(ModelError, match="100,000 tasks x 100,000 labels"):
        MajorityVote().fit(answers)


def test_a_wrong_tie_rule_is_refused() -> None:
    with pytest.raises(InputError, match="tie is 'random'"):
        MajorityVote(tie="random")  # type: ignore[arg-type]
