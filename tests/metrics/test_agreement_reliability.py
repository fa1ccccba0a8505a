"""Reliability with intervals, by group, and the fairness of the routing."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hmc_crowd.errors import InputError
from hmc_crowd.metrics import (
    confidence_auc,
    macro_scores,
    per_position,
    reliability,
    risk_coverage,
    routing_fairness,
    top_k_accuracy,
)
from hmc_crowd.metrics._reliability_influence import area_influence, auc_influence, macro_influence, top_influence

LABELS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abcd")), min_size=1, max_size=40)


def sample(n: int = 400, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    truth = rng.choice(list("abc"), n, p=[0.6, 0.3, 0.1])
    confidence = rng.beta(4, 1.5, n)
    machine = np.where(rng.random(n) < confidence, truth, rng.choice(list("abc"), n))
    to_human = confidence < 0.6
    return {
        "target": truth,
        "final": np.where(to_human, truth, machine),
        "machine": machine,
        "to_human": to_human,
        "true_effort": rng.gamma(2, 10, n),
        "confidence": confidence,
    }


@given(LABELS)
def test_values_are_those_of_macro_scores(pairs: list[tuple[str, str]]) -> None:
    target, final = zip(*pairs, strict=True)
    found, plain = reliability(target, final).metrics, macro_scores(target, final)
    assert [found[name].value for name in ("precision", "recall", "f1", "accuracy")] == pytest.approx(
        [plain.precision, plain.recall, plain.f1, plain.accuracy]
    )
    for metric in found.values():
        assert (metric.low is None) == (len(pairs) < 2)
        assert metric.low is None or 0.0 <= metric.low <= metric.value <= metric.high <= 1.0


def test_human_ratio_and_time_cost() -> None:
    found = reliability(list("aabb"), list("abbb"), to_human=[True, False, False, False], true_effort=[6, 2, 1, 1])
    assert found.metrics["human_ratio"].value == 0.25
    assert found.metrics["time_cost"].value == 0.6
    nothing = reliability(list("ab"), list("ab"), to_human=[True, False], true_effort=[0, 0])
    assert nothing.metrics["time_cost"].reason == "the items take no effort"


def test_by_turn_equals_the_table_by_position() -> None:
    data, turn = sample(), np.arange(400) % 7 + 1
    found = reliability(
        data["target"], data["final"], by=turn, to_human=data["to_human"], true_effort=data["true_effort"]
    )
    table = per_position(
        turn, data["target"], data["final"], to_human=data["to_human"], true_effort=data["true_effort"]
    ).set_index("position")
    names = {"f1": "f1", "accuracy": "accuracy", "human_ratio": "human_share", "time_cost": "effort_share"}
    for group, metrics in found.groups.items():
        for ours, theirs in names.items():
            assert metrics[ours].value == pytest.approx(table.loc[group, theirs])
            assert metrics[ours].n == table.loc[group, "n"]
    frame = found.to_frame()
    assert list(frame["group"].unique()) == ["all", *range(1, 8)]
    json.dumps(found.to_dict(), allow_nan=False)


def test_any_group_and_clusters() -> None:
    data = sample()
    found = reliability(**data, by=np.arange(400) % 3 == 0, clusters=np.arange(400) // 5)
    assert set(found.groups) == {False, True}
    assert set(found.metrics) == {
        *("precision", "recall", "f1", "accuracy", "human_ratio", "time_cost"),
        *("auc", "top_k", "risk_area"),
    }
    five = reliability(
        *(np.repeat(data[name], 5) for name in ("target", "final")), clusters=np.repeat(np.arange(400), 5)
    )
    once = reliability(data["target"], data["final"])
    for name, metric in once.metrics.items():
        assert [five.metrics[name].low, five.metrics[name].high] == pytest.approx([metric.low, metric.high], abs=1e-9)


@pytest.mark.parametrize("name", ["precision", "recall", "f1", "accuracy"])
def test_macro_influences_predict_what_leaving_an_item_out_does(name: str) -> None:
    rng = np.random.default_rng(0)
    truth, guess = rng.integers(0, 3, 300), rng.integers(0, 3, 300)
    value, influence = macro_influence(truth, guess, 3)[name]
    assert influence.sum() == pytest.approx(0.0, abs=1e-12)
    for item in range(0, 300, 30):
        rest = np.arange(300) != item
        moved = macro_influence(truth[rest], guess[rest], 3)[name][0] - value
        assert moved == pytest.approx(-influence[item], rel=0.05, abs=1e-5)


def jackknife(function: Any, *columns: np.ndarray) -> float:
    n = len(columns[0])
    values = np.array([function(*(np.delete(column, item) for column in columns)) for item in range(n)])
    return float(np.sqrt((n - 1) / n * np.sum((values - values.mean()) ** 2)))


def test_confidence_errors_equal_the_jackknife() -> None:
    data = sample(250)
    score, right = data["confidence"], data["machine"] == data["target"]

    def area(a: Any, b: Any) -> float:
        return risk_coverage(a, b, interval="none").area

    auc = float(np.sqrt(np.sum(auc_influence(score, right) ** 2)))
    assert auc == pytest.approx(
        jackknife(lambda a, b: float(confidence_auc(a, b, interval="none")), score, right), rel=0.02
    )
    order = np.argsort(-score)
    curve = risk_coverage(score, right)
    spread = float(np.sqrt(np.sum(area_influence(curve.risk, ~right[order] * 1.0) ** 2)))
    assert spread == pytest.approx(jackknife(area, score, right), rel=0.05)


def test_top_half_error_equals_the_bootstrap() -> None:
    rng = np.random.default_rng(4)
    score = rng.random(400)
    right = rng.random(400) < 0.3 + 0.6 * score
    value = top_k_accuracy(score, right).value
    error = float(np.sqrt(np.sum(top_influence(score, right, 200, value) ** 2)))
    drawn = [
        top_k_accuracy(score[rows], right[rows], interval="none").value for rows in rng.integers(0, 400, (400, 400))
    ]
    assert error == pytest.approx(np.std(drawn), rel=0.15)


def test_confidence_measures_carry_intervals() -> None:
    data = sample()
    right = data["machine"] == data["target"]
    for found in (confidence_auc(data["confidence"], right), top_k_accuracy(data["confidence"], right)):
        assert found.low < found.value < found.high
        assert f"[{found.low:.4f}, {found.high:.4f}]" in str(found)
    curve = risk_coverage(data["confidence"], right)
    assert curve.low < curve.area < curve.high
    wide = confidence_auc(data["confidence"], right, level=0.99)
    assert wide.high - wide.low > found.high - found.low or wide.low < wide.value
    assert confidence_auc(data["confidence"], right, interval="none").low is None


def test_macro_scores_carry_intervals() -> None:
    data = sample()
    found = macro_scores(data["target"], data["final"])
    assert set(found.intervals) == {"precision", "recall", "f1", "accuracy"}
    assert found.intervals["accuracy"][0] < found.accuracy < found.intervals["accuracy"][1]
    assert {"f1_low", "f1_high"} <= set(found.to_frame().columns)
    assert macro_scores(["a"], ["a"]).intervals == {}


@pytest.mark.parametrize("function", [confidence_auc, risk_coverage, top_k_accuracy, macro_scores, reliability])
def test_a_bootstrap_is_refused_where_there_is_none(function: Any) -> None:
    with pytest.raises(InputError, match="analytic"):
        function([0.1, 0.9, 0.4], [0, 1, 1], interval="bootstrap")


# Fairness of the routing


def routed(n: int = 600) -> dict[str, Any]:
    """Group b: the machine is worse and people see less of it."""
    rng = np.random.default_rng(3)
    group = rng.choice(["a", "b"], n)
    truth = rng.integers(1, 5, n)
    right = rng.random(n) < np.where(group == "a", 0.95, 0.7)
    to_human = rng.random(n) < np.where(group == "a", 0.5, 0.2)
    final = np.where(right | to_human, truth, np.maximum(truth - 1, 1))
    return {"target": truth, "final": final, "to_human": to_human, "groups": group}


def test_routing_fairness_finds_the_group_that_is_worse_off() -> None:
    found = routing_fairness(**routed())
    assert found.accuracy["a"].value > found.accuracy["b"].value
    assert found.gaps["accuracy", "b"].value < 0
    assert found.gaps["accuracy", "b"].details["p_value"] < 1e-6
    assert found.gaps["sent", "a"].details["p_value"] < 1e-6
    assert found.kept_error["b"].low > found.kept_error["a"].high
    assert found.dsm["b"].value < 0 < found.dsm["a"].value
    assert found.osa.details["p_value"] < 0.01
    assert "lowest accuracy" in str(found)
    json.dumps(found.to_dict(), allow_nan=False)


def test_routing_fairness_values_by_hand() -> None:
    data = routed()
    frame = pd.DataFrame(data).assign(right=lambda f: f["target"] == f["final"])
    table = routing_fairness(**data).to_frame().set_index("group")
    for group, rows in frame.groupby("groups"):
        assert table.loc[group, "sent"] == pytest.approx(rows["to_human"].mean())
        assert table.loc[group, "accuracy"] == pytest.approx(rows["right"].mean())
        assert table.loc[group, "kept_error"] == pytest.approx(1 - rows.loc[~rows["to_human"], "right"].mean())
        others = frame[frame["groups"] != group]
        assert table.loc[group, "accuracy_gap"] == pytest.approx(rows["right"].mean() - others["right"].mean())
    # Two groups: Welch's test, but for its degrees of freedom and n against n - 1.
    a, b = (frame.loc[frame["groups"] == name, "right"].astype(float) for name in "ab")
    welch = stats.ttest_ind(a, b, equal_var=False)
    t = stats.t.isf(table.loc["a", "accuracy_p"] / 2, 599)
    assert t == pytest.approx(abs(welch.statistic), rel=0.005)


def test_equal_groups_raise_no_alarm_too_often() -> None:
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(200):
        truth = rng.integers(0, 2, 200)
        final = np.where(rng.random(200) < 0.85, truth, 1 - truth)
        found = routing_fairness(truth, final, rng.random(200) < 0.4, rng.choice(["x", "y"], 200))
        alarms += found.gaps["accuracy", "x"].details["p_value"] < 0.05
    # 5 % of 200 is 10; three standard errors are 9.
    assert alarms <= 19


def test_routing_fairness_of_text_labels_has_no_dsm_and_says_so_by_its_absence() -> None:
    found = routing_fairness(["x", "y", "x", "y"], ["x", "x", "x", "y"], [True, False, True, False], list("aabb"))
    assert found.dsm == {}
    assert found.to_frame()["dsm"].isna().all()


def test_a_group_of_which_the_machine_kept_nothing() -> None:
    found = routing_fairness([1, 1, 0, 0], [1, 1, 0, 1], [True, True, False, False], list("aabb"))
    assert found.kept_error["a"].value is None
    assert found.kept_error["a"].reason == "the machine kept no item of the group"
    assert any("group 'a' has 2 items" in warning for warning in found.warnings)


def test_routing_fairness_bad_input() -> None:
    good = {"target": [1, 0], "final": [1, 0], "to_human": [True, False], "groups": ["a", "b"]}
    for name, wrong in (("groups", ["a"]), ("groups", ["a", None]), ("to_human", [1, 2]), ("final", [1, np.nan])):
        with pytest.raises(InputError):
            routing_fairness(**{**good, name: wrong})
