from __future__ import annotations

import math

import pytest

from hmc_crowd.errors import InputError
from hmc_crowd.routing import evaluate_plan, touched_groups


def test_final_labels_are_peoples_where_they_judged() -> None:
    # final a b a against a b b: two of three right; class a: precision 1/2, recall 1; class b: precision 1, recall 1/2
    measured = evaluate_plan([True, False, False], ["a", "b", "b"], ["b", "b", "a"], [3.0, 2.0, 1.0])
    assert (measured.precision, measured.recall, measured.f1) == pytest.approx((0.75, 0.75, 2 / 3))
    assert measured.accuracy == pytest.approx(2 / 3)
    assert (measured.effort_share, measured.effort_spent, measured.kept_wrong) == (0.5, 3.0, 1)


def test_effort_is_nan_if_not_given() -> None:
    measured = evaluate_plan([True], ["a"], ["b"])
    assert math.isnan(measured.effort_share)
    assert math.isnan(measured.effort_spent)


def test_touched_groups_by_hand() -> None:
    # dialogue x has 2 + 1 s and is touched by its first item; y has 3 s and is not
    counted = touched_groups([True, False, False], ["x", "x", "y"], [2.0, 1.0, 3.0])
    assert (counted.touched, counted.groups) == (1, 2)
    assert (counted.time_share_items, counted.time_share_whole) == (2 / 6, 3 / 6)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (([True], ["a", "b"], ["a", "b"]), "target has 2 rows but to_human has 1"),
        (([2], ["a"], ["a"]), "to_human must be"),
        (([0.5], ["a"], ["a"]), "to_human must hold only True and False"),
        (([True], ["a"], ["a"], [-1.0]), "true_effort must be"),
        (([True], ["a"], ["a"], [1.0, 1.0]), "true_effort has 2 rows"),
    ],
)
def test_bad_outcome_is_one_sentence(arguments: tuple[object, ...], says: str) -> None:
    with pytest.raises(InputError, match=says):
        evaluate_plan(*arguments)  # type: ignore[arg-type]


def test_touched_groups_needs_one_group_per_item() -> None:
    with pytest.raises(InputError, match="groups has 1 rows but to_human has 2"):
        touched_groups([True, False], ["x"], [1.0, 2.0])
