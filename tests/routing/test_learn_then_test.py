from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmc_crowd.errors import InputError, StateError
from hmc_crowd.routing import (
    Bounded,
    ChooseData,
    certify_batch,
    choose,
    choose_setting,
    choose_threshold,
    evaluate_plan,
    learn_then_test,
    route,
    sweep,
)

if TYPE_CHECKING:
    import pandas as pd


def labels(n: int, wrong: int, **more: Any) -> ChooseData:
    return ChooseData(range(n), ["a"] * n, ["b"] * wrong + ["a"] * (n - wrong), "people_blind", **more)


def test_methods_share_the_error_by_their_rules() -> None:
    # alpha .05: the sequence stops at .06; Bonferroni needs .0125; Holm .0125, .0167, .025
    p = [0.02, 0.06, 0.001, 0.015]
    assert learn_then_test(p).tolist() == [True, False, False, False]
    assert learn_then_test(p, method="bonferroni").tolist() == [False, False, True, False]
    assert learn_then_test(p, method="holm").tolist() == [True, False, True, True]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_accepts_all_that_bonferroni_does(p: list[float]) -> None:
    plain, stepwise = (learn_then_test(p, method=method) for method in ("bonferroni", "holm"))
    assert not (plain & ~stepwise).any()


def test_p_value_of_items_to_come_by_hand() -> None:
    # 10 labels, 1 wrong, agreement .5: P(Bin(10, .5) <= 1) = 11 / 1024
    found = choose_setting(labels(10, 1), [[True] * 10], target=0.5)
    assert found.p_values[0] == pytest.approx(11 / 1024)


def test_p_value_of_a_batch_by_hand() -> None:
    # Batch of 20, 10 labelled, none wrong, .9 allows 2: P(0 of 3 bad ones in 10 of 20) = C(17,10)/C(20,10)
    found = choose_setting(labels(10, 0), [[True] * 10], target=0.9, batch_items=20)
    assert found.p_values[0] == pytest.approx(comb(17, 10) / comb(20, 10))


def test_items_that_people_judge_are_right() -> None:
    found = choose_setting(labels(100, 60), [[False] * 60 + [True] * 40], target=0.97)
    assert found.agreement[0] == 1.0
    assert found.setting is None or found.p_values[0] <= 0.05


def test_the_boldest_accepted_setting_is_taken() -> None:
    n = 500
    kept = [np.arange(n) >= cut for cut in (480, 400, 200, 0)]
    found = choose_setting(labels(n, 50), np.array(kept), target=0.97)
    assert (found.setting, found.passed.tolist()) == (2, [True, True, True, False])
    assert found.agreement_at_least == 0.97


def test_thresholds_are_tried_from_the_highest() -> None:
    score = np.linspace(0, 1, 500)
    found = choose_threshold(labels(500, 50), score, [0.0, 0.5, 0.2, 0.9], target=0.97)
    assert found.threshold == 0.2
    assert (np.diff(found.kept_share) > 0).all()


def test_a_sequence_that_starts_badly_ends_there() -> None:
    data = labels(500, 50)
    assert choose_setting(data, [[True] * 500, [False] * 500], target=0.97).setting is None


def test_no_setting_says_why() -> None:
    few = choose_setting(labels(20, 0), [[True] * 20], target=0.97)
    assert "20 labels cannot show it even without an error" in few.reason
    bad = choose_setting(labels(500, 100), [[True] * 500], target=0.97)
    assert "add a more cautious setting" in bad.reason


def test_labels_are_spent_once() -> None:
    data = labels(100, 0)
    choose_setting(data, [[True] * 100])
    with pytest.raises(StateError, match="spent on choosing a setting"):
        choose_setting(data, [[True] * 100])


def test_clusters_are_worth_less_than_items() -> None:
    n = 600
    alone = choose_setting(labels(n, 6), [[True] * n], target=0.97)
    groups = np.arange(n) // 5
    together = choose_setting(labels(n, 6, groups=groups), [[True] * n], target=0.97, largest_group=5)
    assert together.p_values[0] > alone.p_values[0]


def test_mean_errors_of_scores_are_tested_by_bets() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(1, 6, 800).astype(float)
    machine = np.clip(truth + rng.choice([-1, 0, 0, 0, 1], 800), 1, 5)
    data = ChooseData(range(800), truth, machine, "people_blind")
    found = choose_setting(data, [[True] * 800], target=0.85, loss=Bounded(4))
    assert found.setting == 0


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"kept": [[True] * 9]}, "kept has shape"),
        ({"kept": [[1] * 10]}, "kept holds int"),
        ({"target": 2}, "target is 2"),
        ({"batch_items": 5}, "batch_items is 5, but 10"),
        ({"method": "bayes"}, "method is 'bayes'"),
        ({"data": labels(10, 1, groups=["g"] * 10)}, "largest_group is missing"),
        ({"data": labels(10, 1, groups=["g"] * 10), "largest_group": 3}, "a group has 10 items"),
    ],
)
def test_bad_input_is_refused(change: dict[str, Any], why: str) -> None:
    good: dict[str, Any] = {"data": labels(10, 1), "kept": [[True] * 10]}
    with pytest.raises(InputError, match=why):
        choose_setting(**{**good, **change})


# --- the paper's data, chosen on one half --------------------------------------------------------------------------


def halves(responses: pd.DataFrame, runs: int) -> dict[str, float]:
    """Choose N and trade-off on one half of the dialogues, use them on the other, beside the paper's 4.6 and .5."""
    rng = np.random.default_rng(0)
    last = int(responses["dialogue"].max())
    rows, broken = [], 0
    for _ in range(runs):
        mine = np.isin(responses["dialogue"], rng.permutation(last)[: last // 2] + 1)
        one, other = responses[mine], responses[~mine]
        points = sweep(
            one["machine_confidence"],
            one["human_effort_predicted_avg"],
            trade_offs=np.arange(0, 15.1, 0.5).tolist(),
            max_humans=[0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6],
            target=one["target"],
            predicted=one["machine_predict"],
            true_effort=one["human_effort_groundtruth"],
        )
        chosen = choose(points, rule="best_within_effort", max_effort_share=0.5056)
        found = []
        for price, share in ((chosen.trade_off, chosen.max_human), (4.6, 0.5)):
            plan = route(
                other["machine_confidence"], other["human_effort_predicted_avg"], trade_off=price, max_human=share
            )
            measured = evaluate_plan(
                plan.to_human, other["target"], other["machine_predict"], other["human_effort_groundtruth"]
            )
            found += [measured.accuracy, measured.effort_share]
            if len(found) == 2:
                wrong = (other["target"] != other["machine_predict"]).to_numpy()[~plan.to_human]
                seen = int(wrong[rng.choice(len(wrong), 200, replace=False)].sum())
                bound = certify_batch(len(other), int(plan.to_human.sum()), 200, seen)
                broken += int(wrong.sum()) - seen > bound.wrong_at_most
        rows.append(found)
    mine_is, mine_costs, papers, papers_cost = np.mean(rows, axis=0).tolist()
    return {
        "agreement": mine_is,
        "cost": mine_costs,
        "papers": papers,
        "papers_cost": papers_cost,
        "broken": broken / runs,
    }


def check_halves(found: dict[str, float]) -> None:
    assert found["agreement"] >= found["papers"] - 0.003
    assert found["cost"] <= found["papers_cost"] + 0.003


def test_chosen_on_one_half_it_is_as_good_on_the_other(responses: pd.DataFrame) -> None:
    check_halves(halves(responses, 20))


@pytest.mark.slow
def test_chosen_on_one_half_the_guarantee_holds_on_the_other(responses: pd.DataFrame) -> None:
    found = halves(responses, 2000)
    check_halves(found)
    assert found["broken"] <= 0.05 + 0.0146
