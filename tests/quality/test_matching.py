"""Labels are the same whatever file they went through; names of different kinds are refused, not taken for unknown."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.errors import FrameError
from hmc_crowd.quality import (
    LearnedGate,
    QualificationTest,
    WeightedGate,
    answer_weights,
    approval_ranking,
    compare_gates,
    exact_marks,
    gold_checks,
    group_labels,
    quality_features,
    tier_errors,
    worker_quality,
)
from hmc_crowd.quality._matching import same_label

if TYPE_CHECKING:
    from collections.abc import Callable

TIMES = pd.date_range("2026-01-05", periods=3, tz="UTC")
ANSWERS = pd.DataFrame({"task": ["g1", "g2", "g3"], "worker": "ann", "label": [1, 0, 1], "submitted": TIMES})


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (1, 1, True),
        (1, "1", True),
        (1.0, 1, True),
        (np.float64(1.0), "1", True),
        (True, "True", True),
        ("yes", "Yes", False),
        (1.5, "1", False),
        (None, None, False),
        (float("nan"), "nan", False),
        (pd.NA, "x", False),
        ("é", "é", True),
    ],
)
def test_what_is_the_same_label(first: Any, second: Any, same: bool) -> None:
    assert same_label(first, second) is same
    assert same_label(second, first) is same


def test_a_missing_label_makes_no_wrong_ones_of_the_others() -> None:
    # One missing label turns the column into floats: 1.0 and 1 are the same label. A third of the gold is 1.
    answers = pd.DataFrame(
        {"task": np.repeat(np.arange(60), 3), "worker": np.tile([1, 2, 3], 60), "label": [0.0] * 179 + [np.nan]}
    )
    gold = {item: int(item % 3 == 0) for item in range(60)}
    assert LearnedGate().fit(None, answers, gold=gold).n_wrong_ == 20
    assert compare_gates({"weighted": WeightedGate()}, None, answers, gold=gold).table["wrong"].tolist() == [20]


def test_gold_read_as_text_marks_answers_that_are_numbers() -> None:
    assert gold_checks(ANSWERS, {"g1": "1", "g2": "0", "g3": "0"})["right"].tolist() == [True, True, False]
    assert exact_marks([1, 0], ["1", "1"]).tolist() == [1.0, 0.0]


def test_a_form_gives_text_and_passes_a_test_with_numbers_as_key() -> None:
    test = QualificationTest("t", 1, {"q1": 1, "q2": 0})
    assert test.mark("ann", {"q1": "1", "q2": "0"}, at=datetime(2026, 1, 5, tzinfo=UTC), earlier=[]).passed


def people() -> pd.DataFrame:
    return pd.DataFrame({"worker": [1, 2], "quality": [0.9, 0.5], "region": "north", "approved": True, "at": TIMES[0]})


@pytest.mark.parametrize(
    "ask",
    [
        lambda: gold_checks(ANSWERS, {1: 1}),
        lambda: worker_quality(ANSWERS, {"g1": 1}, idle_s={7: 3600.0}),
        lambda: answer_weights(ANSWERS, people()),
        lambda: answer_weights(ANSWERS.assign(worker=1), people(), excluded={"1"}),
        lambda: group_labels(ANSWERS, people(), "region"),
        lambda: approval_ranking(["1"], datetime(2026, 1, 6, tzinfo=UTC), reviews=people()),
        lambda: quality_features([1], [TIMES[2]], gold=gold_checks(ANSWERS, {"g1": 1})),
        lambda: tier_errors(pd.DataFrame({"item": ["a"], "tier": 1, "expert": "u", "label": [1]}), {"a": "1"}),
    ],
)
def test_names_that_could_never_meet_are_refused(ask: Callable[[], Any]) -> None:
    with pytest.raises(FrameError, match=r"different kinds, (text and numbers|numbers and text)"):
        ask()
