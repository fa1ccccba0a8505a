from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from hmc_crowd.errors import InputError, StateError
from hmc_crowd.routing import route, route_within


def test_plan_is_routes_own_while_no_budget_binds() -> None:
    rng = np.random.default_rng(1)
    confidence, effort = rng.random(50), rng.random(50)
    free = route(confidence, effort, trade_off=0.4, max_human=20)
    plan = route_within(
        confidence,
        effort,
        seconds=effort * 60,
        max_human_s=1e6,
        money_minor=5,
        max_money_minor=100,
        trade_off=0.4,
        max_human=20,
    )
    assert plan.to_human.tolist() == free.to_human.tolist()
    assert (plan.gap, plan.binding, plan.money_minor, plan.upper_bound) == (0.0, (), 100, free.objective)
    assert plan.policy().threshold == free.policy().threshold


def test_hand_worked_knapsack() -> None:
    # gains .9, .7, .8; seconds 60, 20, 30: 60 s pay for item 0 (.9) or for items 1 and 2 (1.5).
    # At .9 / 60 = .015 a second the bound is .015 * 60 + (.7 - .3) + (.8 - .45) = 1.65.
    # The machine's own confidences add .6 to both: objective 2.1, bound 2.25.
    plan = route_within([0.1, 0.3, 0.2], [0.0] * 3, seconds=[60.0, 20.0, 30.0], max_human_s=60.0)
    assert plan.to_human.tolist() == [False, True, True]
    assert plan.objective == pytest.approx(2.1)
    assert plan.price_per_s == pytest.approx(0.015)
    assert plan.upper_bound == pytest.approx(2.25)
    assert plan.gap == pytest.approx(0.15)
    assert plan.binding == ("seconds",)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.booleans())
def test_never_exceeds_a_budget_and_the_bound_holds(
    seed: int, n: int, part_s: float, part_money: float, share: float, with_money: bool
) -> None:
    rng = np.random.default_rng(seed)
    confidence, effort = rng.random(n), rng.random(n)
    seconds, money = rng.random(n) * 100 * (rng.random(n) < 0.9), rng.integers(0, 50, n)
    max_s, max_money = part_s * seconds.sum(), int(part_money * money.sum())
    budget = {"money_minor": money, "max_money_minor": max_money} if with_money else {}
    plan = route_within(
        confidence, effort, seconds=seconds, max_human_s=max_s, max_human=share, trade_off=0.2, **budget
    )
    assert math.fsum(seconds[plan.to_human]) <= max_s
    assert not with_money or money[plan.to_human].sum() <= max_money
    assert plan.human_count <= plan.cap_count
    best = 0.0
    for size in range(plan.cap_count + 1):
        for chosen in map(list, itertools.combinations(range(n), size)):
            if math.fsum(seconds[chosen]) <= max_s and (not with_money or money[chosen].sum() <= max_money):
                best = max(best, plan.gain[chosen].sum())
    optimum = confidence.sum() + best
    assert plan.objective <= optimum + 1e-9
    assert plan.upper_bound >= optimum - 1e-9
    assert plan.gap == plan.upper_bound - plan.objective
    assert plan.gap > 0 or plan.objective == pytest.approx(optimum, abs=1e-9)


@pytest.mark.parametrize("budgets", [1, 2])
def test_bound_is_the_linear_relaxations_and_the_gap_a_few_items(budgets: int) -> None:
    rng = np.random.default_rng(7)
    n = 400
    confidence, effort = rng.random(n), rng.random(n)
    cost = np.vstack([rng.lognormal(3, 1, n), rng.integers(1, 90, n)])[:budgets]
    most = 0.2 * cost.sum(axis=1)
    arguments = {"seconds": cost[0], "max_human_s": most[0]}
    if budgets == 2:
        most[1] = int(most[1])
        arguments |= {"money_minor": cost[1], "max_money_minor": int(most[1])}
    plan = route_within(confidence, effort, max_human=150, **arguments)
    gain = 1 - confidence
    table, limits = np.vstack([cost, np.ones(n)]), np.append(most, 150)
    relaxed = linprog(-gain, A_ub=table, b_ub=limits, bounds=(0, 1))
    assert plan.upper_bound == pytest.approx(confidence.sum() - relaxed.fun, abs=1e-6)
    whole = milp(
        -gain, constraints=LinearConstraint(table, -np.inf, limits), integrality=np.ones(n), bounds=Bounds(0, 1)
    )
    assert plan.objective <= confidence.sum() - whole.fun + 1e-6 <= plan.upper_bound + 2e-6
    assert plan.gap < 0.002 * plan.objective
    assert plan.binding == ("seconds", "money")[:budgets]


def test_nothing_to_spend_sends_only_free_items() -> None:
    plan = route_within([0.1, 0.2, 0.3], [0.0] * 3, seconds=[1.0, 0.0, 2.0], max_human_s=0.0)
    assert plan.to_human.tolist() == [False, True, False]
    assert plan.gap == pytest.approx(0.0, abs=1e-9)


def test_plan_shaped_by_a_budget_has_no_policy() -> None:
    plan = route_within([0.1, 0.2], [0.0] * 2, seconds=10.0, max_human_s=15.0)
    with pytest.raises(StateError, match="no rule for new items"):
        plan.policy()


def test_prints_what_binds() -> None:
    plan = route_within([0.1, 0.2], [1.0] * 2, seconds=10.0, max_human_s=15.0)
    assert "; 10 s; seconds bind, gap 0.4" in str(plan)
    assert "price_per_s" in plan._repr_html_()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"max_human_s": 5.0}, "max_human_s is 5.0, but seconds is missing"),
        ({"max_money_minor": 5}, "max_money_minor is 5, but money_minor is missing"),
        ({"seconds": 1.0, "max_human_s": -1.0}, "max_human_s is -1.0"),
        ({"seconds": 1.0, "max_human_s": math.nan}, "max_human_s is nan"),
        ({"seconds": 1.0, "max_human_s": True}, "max_human_s is True"),
        ({"seconds": 1.0, "max_human_s": "lots"}, "max_human_s is 'lots'"),
        ({"seconds": [1.0], "max_human_s": 1.0}, "seconds has 1 rows for 2 items"),
        ({"seconds": [1.0, -1.0], "max_human_s": 1.0}, r"seconds must be .*row 1 \(-1.0\)"),
        ({"money_minor": [1, 1.5], "max_money_minor": 5}, r"whole minor units \(cents\): row 1 \(1.5\)"),
        ({"trade_off": math.inf}, "trade_off is inf"),
    ],
)
def test_bad_budget_is_one_sentence(change: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        route_within([0.5, 0.6], [0.1, 0.2], **change)  # type: ignore[arg-type]
