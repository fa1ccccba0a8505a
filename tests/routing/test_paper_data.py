"""The paper's published responses: the routing table, the sweeps, and time counted both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from hmc_crowd.routing import baseline_plan, choose, evaluate_plan, route, sweep, touched_groups

if TYPE_CHECKING:
    import pandas as pd

# precision, recall, F1, accuracy, human share, share of the true time
TABLE = {
    "machine only": (0.0, 0.0, "exactly", (0.8181, 0.8034, 0.8103, 0.8623, 0.0, 0.0)),
    "both": (4.6, 0.5, "at_most", (0.9833, 0.9757, 0.9794, 0.9848, 0.4999, 0.5056)),
    "confidence only": (0.0, 0.5, "at_most", (0.9887, 0.9823, 0.9854, 0.9892, 0.4999, 0.6389)),
    "effort only, exactly": (500.0, 0.5, "exactly", (0.8839, 0.8610, 0.8716, 0.9075, 0.4999, 0.1341)),
    "effort only, at most": (500.0, 0.5, "at_most", (0.8181, 0.8034, 0.8103, 0.8623, 0.0004, 0.0)),
}


def inputs(responses: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    return responses["machine_confidence"], responses["human_effort_predicted_avg"]


@pytest.mark.parametrize("name", TABLE)
def test_routing_table(responses: pd.DataFrame, name: str) -> None:
    price, share, mode, wanted = TABLE[name]
    plan = route(*inputs(responses), trade_off=price, max_human=share, cap=mode)  # type: ignore[arg-type]
    measured = evaluate_plan(
        plan.to_human, responses["target"], responses["machine_predict"], responses["human_effort_groundtruth"]
    )
    scores = (measured.precision, measured.recall, measured.f1, measured.accuracy)
    assert (*scores, measured.human_share, measured.effort_share) == pytest.approx(wanted, abs=5e-5)


def test_objective_of_the_papers_plan(responses: pd.DataFrame) -> None:
    plan = route(*inputs(responses), trade_off=4.6, max_human=2836)
    assert plan.objective == pytest.approx(5047.756125053, abs=5e-10)


def test_wrong_items_among_the_kept(responses: pd.DataFrame) -> None:
    plan = route(*inputs(responses), trade_off=4.6, max_human=0.5)
    measured = evaluate_plan(plan.to_human, responses["target"], responses["machine_predict"])
    assert (measured.kept_wrong, measured.n - measured.human_count) == (86, 2837)


@pytest.mark.parametrize(
    ("price", "touched", "by_items", "whole"), [(4.6, 0.795, 0.506, 0.833), (0.0, 0.785, 0.639, 0.905)]
)
def test_time_counted_both_ways(
    responses: pd.DataFrame, price: float, touched: float, by_items: float, whole: float
) -> None:
    plan = route(*inputs(responses), trade_off=price, max_human=0.5)
    counted = touched_groups(plan.to_human, responses["dialogue"], responses["human_effort_groundtruth"])
    assert counted.groups == 1199
    shares = (counted.touched_share, counted.time_share_items, counted.time_share_whole)
    assert shares == pytest.approx((touched, by_items, whole), abs=5e-4)


def test_policy_gives_the_papers_plan_again(responses: pd.DataFrame) -> None:
    plan = route(*inputs(responses), trade_off=4.6, max_human=0.5)
    assert (plan.policy().decide_batch(None, *inputs(responses)).to_human == plan.to_human).all()


@pytest.fixture(scope="module")
def figure_2(responses: pd.DataFrame) -> pd.DataFrame:
    return grid(responses, [0.1], [step / 20 for step in range(21)])


@pytest.fixture(scope="module")
def figure_3(responses: pd.DataFrame) -> pd.DataFrame:
    return grid(responses, [step / 10 for step in range(451)], [0.5])


def grid(responses: pd.DataFrame, prices: list[float], caps: list[float]) -> pd.DataFrame:
    return sweep(
        *inputs(responses),
        trade_offs=prices,
        max_humans=caps,
        target=responses["target"],
        predicted=responses["machine_predict"],
        true_effort=responses["human_effort_groundtruth"],
    )


def test_more_people_raise_reliability_that_then_flattens(figure_2: pd.DataFrame) -> None:
    accuracy = figure_2["accuracy"].to_numpy()
    assert (np.diff(figure_2["human_share"]) > 0).all()
    assert (np.diff(figure_2["effort_share"]) > 0).all()
    assert (np.diff(accuracy) >= 0).all()
    # N of about 2,500 is a share of .44, step 9
    assert accuracy[9] - accuracy[0] > 6 * (accuracy[20] - accuracy[9])


def test_people_fall_sharply_beyond_the_pivot(figure_3: pd.DataFrame) -> None:
    share = figure_3.set_index("trade_off")["human_share"]
    assert share[share.index <= 14.0].eq(2836 / 5673).all()
    assert share[share.index >= 14.1].lt(2836 / 5673).all()
    assert share.iloc[-1] < 0.25
    assert (np.diff(figure_3["effort_share"]) <= 0.001).all()


def test_the_papers_choice_is_near_the_best_for_half_the_time(figure_3: pd.DataFrame) -> None:
    chosen = choose(figure_3, rule="best_within_effort", max_effort_share=0.5056)
    assert chosen.trade_off == pytest.approx(4.6, abs=0.5)
    assert chosen.score == pytest.approx(0.985, abs=0.001)


def test_degenerate_modes_run_through_the_same_report(responses: pd.DataFrame) -> None:
    def accuracy(kind: str, **arguments: object) -> float:
        plan = baseline_plan(kind, *inputs(responses), **arguments)  # type: ignore[arg-type]
        return evaluate_plan(plan.to_human, responses["target"], responses["machine_predict"]).accuracy

    random = accuracy("random", max_human=0.5, rng=np.random.default_rng(0))
    # half of the machine's errors are found by chance: 1 - .1377 / 2
    assert random == pytest.approx(0.931, abs=0.01)
    assert accuracy("machine_only") == pytest.approx(0.8623, abs=5e-5)
    assert accuracy("people_only") == 1.0
    assert accuracy("least_confident", max_human=0.5) == pytest.approx(0.9892, abs=5e-5)
    assert accuracy("cheapest", max_human=0.5) < random
