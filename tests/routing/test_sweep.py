from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, precision_recall_fscore_support

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.routing import choose, evaluate_plan, pareto_front, route, sweep

SCORES = ["precision", "recall", "f1", "accuracy"]


def sklearn_scores(target: np.ndarray, final: np.ndarray) -> list[float]:
    macro = precision_recall_fscore_support(target, final, average="macro", zero_division=0)
    return [*macro[:3], accuracy_score(target, final)]


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 40),
    st.integers(1, 5),
    st.sampled_from([1, 8]),
    st.sampled_from(["at_most", "exactly"]),
)
def test_every_point_equals_route_and_scikit_learn(seed: int, n: int, classes: int, digits: int, mode: str) -> None:
    rng = np.random.default_rng(seed)
    confidence, effort = rng.random(n).round(digits), rng.random(n).round(digits)
    true_effort = rng.random(n) + 0.01
    target = np.array(list("abcde"))[rng.integers(0, classes, n)]
    # The machine may use a class that never occurs; it leaves the mean once people have put its items right.
    predicted = np.where(rng.random(n) < 0.6, target, np.array(list("bcdez"))[rng.integers(0, 5, n)])
    caps: list[int | float] = [0.0, 0.3, n // 2, 1.0]
    table = sweep(
        confidence,
        effort,
        trade_offs=[0.0, 0.7, 3.0],
        max_humans=caps,
        target=target,
        predicted=predicted,
        true_effort=true_effort,
        cap=mode,  # type: ignore[arg-type]
    )
    assert len(table) == 12
    for row, (price, cap) in zip(
        table.itertuples(), ((price, cap) for price in (0.0, 0.7, 3.0) for cap in caps), strict=True
    ):
        plan = route(confidence, effort, trade_off=price, max_human=cap, cap=mode)  # type: ignore[arg-type]
        final = np.where(plan.to_human, target, predicted)
        wanted = sklearn_scores(target, final)
        measured = [row.precision, row.recall, row.f1, row.accuracy]
        assert measured == pytest.approx(wanted, abs=1e-12)
        report = evaluate_plan(plan.to_human, target, predicted, true_effort)
        assert [getattr(report, name) for name in SCORES] == pytest.approx(wanted, abs=1e-12)
        assert row.human_share == plan.human_share
        assert row.effort_share == pytest.approx(report.effort_share, abs=1e-12)
        assert (row.trade_off, row.max_human) == (price, cap)


def test_without_labels_reliability_is_nan_and_effort_is_the_plans_own() -> None:
    table = sweep([0.5, 0.25], [1.0, 3.0], trade_offs=[0.0], max_humans=[1])
    assert table[SCORES].isna().all(axis=None)
    assert table["effort_share"].tolist() == [0.75]


def test_cheapest_first_may_be_swept() -> None:
    table = sweep([0.5, 0.25, 0.5], [1.0, 3.0, 4.0], trade_offs=[math.inf], max_humans=[1, 2], cap="exactly")
    assert table["effort_share"].tolist() == [0.125, 0.5]


def test_a_count_a_share_and_no_cap_stay_apart() -> None:
    table = sweep([0.5, 0.25], [1.0, 1.0], trade_offs=[0.0], max_humans=[1, 1.0, None])
    assert table["human_share"].tolist() == [0.5, 1.0, 1.0]
    assert [type(each) for each in table["max_human"][:2]] == [int, float]
    assert pd.isna(table["max_human"][2])
    assert sweep([0.5], [1.0], trade_offs=[0.0], max_humans=[0, 1])["max_human"].dtype == np.int64


def test_free_items_have_no_effort_share() -> None:
    assert sweep([0.5], [0.0], trade_offs=[0.0], max_humans=[1])["effort_share"].isna().all()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"trade_offs": []}, "trade_offs is empty"),
        ({"trade_offs": 1.0}, "trade_offs is 1.0; give a list"),
        ({"max_humans": 0.5}, "max_humans is 0.5; give a list"),
        ({"max_humans": [5]}, "max_humans is 5 items"),
        ({"max_humans": [1, None], "cap": "exactly"}, "max_humans holds None"),
        ({"trade_offs": [-1.0]}, "trade_off is -1.0"),
        ({"target": ["a", "b"]}, "predicted is missing"),
        ({"target": ["a"], "predicted": ["a"]}, "target has 1 rows but confidence has 2"),
        ({"target": ["a", "b"], "predicted": ["a"]}, "target has 2, predicted has 1 rows"),
        ({"target": ["a", None], "predicted": ["a", "b"]}, "target has missing labels: row 1"),
        ({"true_effort": [1.0]}, "true_effort has 1 rows"),
        ({"true_effort": [1.0, -1.0]}, "true_effort must be"),
    ],
)
def test_bad_grid_is_one_sentence(change: dict[str, object], says: str) -> None:
    arguments = {"trade_offs": [0.0], "max_humans": [1], **change}
    with pytest.raises(InputError, match=says):
        sweep([0.5, 0.6], [0.1, 0.2], **arguments)  # type: ignore[arg-type]


def points(rows: list[tuple[float, float]]) -> pd.DataFrame:
    """A sweep with these (effort share, accuracy) pairs."""
    effort, accuracy = zip(*rows, strict=True)
    base = {"trade_off": 1.0, "max_human": range(len(rows)), "human_share": 0.5}
    return pd.DataFrame({**base, "effort_share": effort, "accuracy": accuracy}, index=range(10, 10 + len(rows)))


def test_best_within_effort_takes_the_best_score_that_can_be_paid() -> None:
    chosen = choose(points([(0.2, 0.8), (0.4, 0.9), (0.6, 0.95)]), rule="best_within_effort", max_effort_share=0.5)
    assert (chosen.row, chosen.score, chosen.max_human, chosen.n_allowed) == (11, 0.9, 1, 2)


def test_least_effort_takes_the_cheapest_point_above_the_floor() -> None:
    chosen = choose(points([(0.6, 0.95), (0.2, 0.8), (0.4, 0.95)]), rule="least_effort", min_score=0.9)
    assert (chosen.row, chosen.effort_share) == (12, 0.4)


def test_equal_scores_go_to_less_effort() -> None:
    chosen = choose(points([(0.4, 0.9), (0.3, 0.9)]), rule="best_within_effort", max_effort_share=0.5)
    assert chosen.row == 11


def test_front_holds_the_points_that_no_other_beats() -> None:
    # (.5, .8) costs more than (.4, .9) and brings less; (.4, .85) costs the same and brings less
    front = pareto_front(points([(0.5, 0.8), (0.4, 0.9), (0.4, 0.85), (0.0, 0.5), (1.0, 1.0)]))
    assert front.index.tolist() == [13, 11, 14]


def test_knee_is_farthest_above_the_line_between_the_ends() -> None:
    # heights above the line, stretched: (.2 -> .8: .6), (.5 -> .9: .4)
    chosen = choose(points([(0.0, 0.0), (0.2, 0.8), (0.5, 0.9), (1.0, 1.0)]), rule="knee")
    assert chosen.row == 11


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30))
def test_nothing_beats_the_front(rows: list[tuple[float, float]]) -> None:
    front = pareto_front(points(rows))
    pairs = list(zip(front["effort_share"], front["accuracy"], strict=True))
    assert pairs == sorted(set(pairs))
    for effort, accuracy in rows:
        assert any(e <= effort and a >= accuracy for e, a in pairs)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"rule": "best"}, "rule is 'best'"),
        ({"rule": "best_within_effort"}, "needs max_effort_share"),
        ({"rule": "least_effort"}, "needs min_score"),
        ({"rule": "least_effort", "min_score": 1.5}, "min_score is 1.5"),
        ({"rule": "least_effort", "min_score": 0.99}, "no point reaches accuracy 0.99; the best is 0.8"),
        ({"rule": "best_within_effort", "max_effort_share": 0.1}, "at most 0.1; the least is 0.2"),
        ({"rule": "knee", "metric": "auc"}, "metric is 'auc'"),
        ({"rule": "knee", "metric": "f1"}, "frame lacks f1"),
    ],
)
def test_bad_choice_is_one_sentence(arguments: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        choose(points([(0.2, 0.8)]), **arguments)  # type: ignore[arg-type]


def test_sweep_without_labels_cannot_be_chosen_from() -> None:
    with pytest.raises(FrameError, match="no accuracy in some rows"):
        choose(sweep([0.5], [1.0], trade_offs=[0.0], max_humans=[1]), rule="knee")
