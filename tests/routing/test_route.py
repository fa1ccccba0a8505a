from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hmc_crowd.errors import InputError, StateError
from hmc_crowd.routing import baseline_plan, cap_count, route

SHARES = st.integers(0, 20).map(lambda i: i / 20)
PRICES = st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0, 4.6, 50.0])


@st.composite
def items(draw: st.DrawFn, most: int = 12) -> dict[str, np.ndarray]:
    """Confidences and efforts on a coarse grid, so that ties are common."""
    n = draw(st.integers(1, most))
    column = hnp.arrays(np.float64, n, elements=st.integers(0, 8).map(lambda i: i / 8))
    return {"confidence": draw(column), "effort": draw(column)}


def test_gain_is_confidence_won_minus_priced_effort() -> None:
    # (1 - .75) - .5 * .25 = .125; (.5 - .5) - .5 * (1 - .5) = -.25
    plan = route([0.75, 0.5], [0.25, 1.0], trade_off=0.5, human_confidence=[1.0, 0.5], machine_effort=[0.0, 0.5])
    assert plan.gain.tolist() == [0.125, -0.25]
    assert plan.to_human.tolist() == [True, False]


def test_objective_is_the_sum_of_its_two_parts() -> None:
    # people get item 0: confidence 1 + .5 = 1.5; effort .25 (people) + .125 (machine on item 1) = .375
    # objective 1.5 - 2 * .375 = .75; effort share .25 / (.25 + .75) = .25
    plan = route([0.125, 0.5], [0.25, 0.75], trade_off=2.0, machine_effort=[0.125, 0.125])
    assert plan.to_human.tolist() == [True, False]
    assert (plan.confidence_total, plan.effort_total, plan.objective) == (1.5, 0.375, 0.75)
    assert (plan.human_count, plan.human_share, plan.effort_share) == (1, 0.5, 0.25)


def test_item_of_gain_zero_stays_with_the_machine() -> None:
    # (1 - .5) - 1 * .5 = 0
    assert route([0.5], [0.5], trade_off=1.0).human_count == 0


def test_exactly_takes_items_that_do_not_pay() -> None:
    plan = route([0.5, 0.75], [1.0, 1.0], trade_off=10.0, max_human=1, cap="exactly")
    assert plan.to_human.tolist() == [True, False]


def test_tie_at_the_border_goes_by_item_order_and_is_flagged() -> None:
    plan = route([0.5, 0.25, 0.5, 0.5, 0.75], [0.0] * 5, max_human=3)
    assert plan.to_human.tolist() == [True, True, True, False, False]
    assert plan.ties.tolist() == [0, 2, 3]


def test_no_tie_is_flagged_where_the_border_is_clean() -> None:
    assert route([0.5, 0.5, 0.75], [0.0] * 3, max_human=2).ties.tolist() == []


def test_infinite_trade_off_takes_the_cheapest_first() -> None:
    plan = route([0.1, 0.9, 0.5], [3.0, 1.0, 2.0], max_human=2, cap="exactly", trade_off=math.inf)
    assert plan.to_human.tolist() == [False, True, True]
    assert plan.objective == -3.0


@pytest.mark.parametrize(
    ("max_human", "n", "count"),
    [
        (None, 7, 7),
        (1, 7, 1),
        (1.0, 7, 7),
        (0.5, 5673, 2836),
        (np.int64(3), 7, 3),
        (np.float32(0.5), 7, 3),
        (np.array(2), 7, 2),
        (0, 7, 0),
        (0.0, 7, 0),
    ],
)
def test_int_counts_items_and_float_is_a_share(max_human: object, n: int, count: int) -> None:
    assert cap_count(max_human, n) == count


@given(st.integers(1, 10**8), st.integers(0, 20))
def test_a_grid_of_shares_never_loses_an_item(n: int, step: int) -> None:
    assert cap_count(step * 0.05, n) == math.floor(Fraction(step, 20) * n)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"confidence": [0.5, math.nan, 2.0]}, r"confidence must be .*rows 1 \(nan\), 2 \(2.0\)"),
        ({"effort": [0.5, -1.0, 0.0]}, r"effort must be finite and at least 0: row 1 \(-1.0\)"),
        ({"effort": [0.5]}, "effort has 1 rows but confidence has 3"),
        ({"confidence": [], "effort": []}, "confidence is empty"),
        ({"confidence": ["a", "b", "c"]}, "confidence must hold numbers"),
        ({"confidence": [[0.5, 0.5, 0.5]]}, "confidence has shape"),
        ({"human_confidence": 1.5}, "human_confidence must be"),
        ({"human_confidence": [1.0, 1.0]}, "human_confidence has 2 rows for 3 items"),
        ({"machine_effort": -1.0}, "machine_effort must be"),
        ({"max_human": True}, "max_human is True"),
        ({"max_human": np.True_}, "max_human is True"),
        ({"max_human": 4}, "max_human is 4 items; it must lie between 0 and 3"),
        ({"max_human": -1}, "max_human is -1"),
        ({"max_human": 1.5}, "max_human is 1.5; a share"),
        ({"max_human": math.nan}, "max_human is nan"),
        ({"max_human": "half"}, "max_human is 'half'"),
        ({"trade_off": -0.1}, "trade_off is -0.1"),
        ({"trade_off": math.nan}, "trade_off is nan"),
        ({"trade_off": True}, "trade_off is True"),
        ({"trade_off": math.inf, "max_human": 1}, "trade_off is inf with cap='at_most'"),
        ({"cap": "exactly"}, "cap='exactly' needs max_human"),
        ({"cap": "about"}, "cap is 'about'"),
        ({"effort": [1e300, 1.0, 1.0], "trade_off": 1e300}, "overflows"),
    ],
)
def test_bad_input_is_one_sentence(change: dict[str, object], says: str) -> None:
    arguments = {"confidence": [0.5, 0.6, 0.7], "effort": [0.1, 0.2, 0.3], **change}
    with pytest.raises(InputError, match=says):
        route(**arguments)  # type: ignore[arg-type]


@given(items(most=8), PRICES, st.integers(0, 8), st.sampled_from(["at_most", "exactly"]))
def test_no_other_plan_is_better(given_items: dict[str, np.ndarray], price: float, cap: int, mode: str) -> None:
    n = len(given_items["confidence"])
    cap = min(cap, n)
    plan = route(**given_items, trade_off=price, max_human=cap, cap=mode)  # type: ignore[arg-type]
    sizes = [cap] if mode == "exactly" else range(cap + 1)
    best = max(sum(plan.gain[list(chosen)], 0.0) for size in sizes for chosen in itertools.combinations(range(n), size))
    assert plan.objective == pytest.approx(given_items["confidence"].sum() + best, abs=1e-9)
    assert plan.human_count <= cap
    assert (plan.human_count == cap) or mode == "at_most"


@given(items(), PRICES, SHARES, SHARES, st.sampled_from(["at_most", "exactly"]))
def test_larger_cap_never_lowers_objective_or_people(
    given_items: dict[str, np.ndarray], price: float, first: float, second: float, mode: str
) -> None:
    small, large = sorted((first, second))
    less = route(**given_items, trade_off=price, max_human=small, cap=mode)  # type: ignore[arg-type]
    more = route(**given_items, trade_off=price, max_human=large, cap=mode)  # type: ignore[arg-type]
    assert not (less.to_human & ~more.to_human).any()
    assert more.effort_total >= less.effort_total
    assert more.confidence_total >= less.confidence_total
    if mode == "at_most":
        assert more.objective >= less.objective - 1e-9


@given(items(), PRICES, PRICES, SHARES, st.sampled_from(["at_most", "exactly"]))
def test_larger_trade_off_never_raises_effort_or_confidence(
    given_items: dict[str, np.ndarray], first: float, second: float, share: float, mode: str
) -> None:
    low, high = sorted((first, second))
    cheap = route(**given_items, trade_off=low, max_human=share, cap=mode)  # type: ignore[arg-type]
    dear = route(**given_items, trade_off=high, max_human=share, cap=mode)  # type: ignore[arg-type]
    if low < high:
        assert dear.effort_total <= cheap.effort_total + 1e-9
        assert dear.confidence_total <= cheap.confidence_total + 1e-9


@given(items(), PRICES, SHARES, st.randoms(use_true_random=False))
def test_permuting_items_keeps_the_objective(
    given_items: dict[str, np.ndarray], price: float, share: float, random: object
) -> None:
    order = np.arange(len(given_items["effort"]))
    random.shuffle(order)  # type: ignore[attr-defined]
    plan = route(**given_items, trade_off=price, max_human=share)
    shuffled = route(**{name: each[order] for name, each in given_items.items()}, trade_off=price, max_human=share)
    assert shuffled.objective == pytest.approx(plan.objective, abs=1e-9)
    assert sorted(order[shuffled.ties]) == sorted(plan.ties)


@given(items(), PRICES, SHARES)
def test_ties_are_the_items_that_may_be_exchanged(
    given_items: dict[str, np.ndarray], price: float, share: float
) -> None:
    plan = route(**given_items, trade_off=price, max_human=share)
    people, machine = plan.gain[plan.to_human], plan.gain[~plan.to_human]
    arbitrary = len(people) and len(machine) and people.min() == machine.max()
    expected = np.flatnonzero(plan.gain == people.min()) if arbitrary else []
    assert plan.ties.tolist() == list(expected)


def test_plan_cannot_be_changed() -> None:
    plan = route([0.5], [0.1])
    with pytest.raises(ValueError, match="read-only"):
        plan.to_human[0] = False
    with pytest.raises(AttributeError):
        plan.objective = 0.0  # type: ignore[misc]


def test_input_is_not_changed() -> None:
    confidence, effort = np.array([0.5, 0.2]), np.array([0.1, 0.3])
    route(confidence, effort, max_human=1, trade_off=2.0)
    assert (confidence.tolist(), effort.tolist()) == ([0.5, 0.2], [0.1, 0.3])


def test_series_lists_and_small_floats_are_taken() -> None:
    wide = route(pd.Series([0.5, 0.25], index=[7, 3]), pd.Series([0.0, 0.0]), max_human=1)
    assert wide.to_human.tolist() == route(np.float32([0.5, 0.25]), [0, 0], max_human=1).to_human.tolist()


def test_effort_share_of_free_items_is_nan() -> None:
    assert math.isnan(route([0.5], [0.0]).effort_share)


def test_plan_prints_as_one_line() -> None:
    text = repr(route([0.5, 0.25], [1.0, 1.0], max_human=1))
    assert text.startswith("Plan: 1 of 2 items to people (50.0%), effort share 0.5000, objective 1.5")
    assert "\n" not in text


def test_plan_as_frame_has_a_row_per_item() -> None:
    frame = route([0.5, 0.5], [0.0, 0.0], max_human=1).to_frame(["a", "b"])
    assert frame.to_dict("list") == {
        "item": ["a", "b"],
        "to_human": [True, False],
        "gain": [0.5, 0.5],
        "tied": [True, True],
    }


def test_frame_of_other_items_is_refused() -> None:
    with pytest.raises(InputError, match="items has 1 rows but to_human has 2"):
        route([0.5, 0.5], [0.0, 0.0]).to_frame(["a"])


def test_notebook_view_shows_objective_and_assumptions() -> None:
    html = route([0.5], [0.1])._repr_html_()
    assert "<table>" in html
    assert "objective" in html
    assert "assumptions" in html


def test_baselines_take_the_items_they_say() -> None:
    confidence, effort = [0.9, 0.2, 0.5], [0.1, 0.9, 0.4]
    assert baseline_plan("machine_only", confidence, effort).human_count == 0
    assert baseline_plan("people_only", confidence, effort).human_count == 3
    least = baseline_plan("least_confident", confidence, effort, max_human=1)
    assert least.to_human.tolist() == [False, True, False]
    assert baseline_plan("cheapest", confidence, effort, max_human=1).to_human.tolist() == [True, False, False]


def test_random_baseline_takes_every_item_equally_often() -> None:
    rng = np.random.default_rng(5)
    plans = [baseline_plan("random", [0.5] * 10, [0.1] * 10, max_human=3, rng=rng) for _ in range(2000)]
    assert {plan.human_count for plan in plans} == {3}
    # standard error sqrt(.3 * .7 / 2000) = .0102; four of them
    assert np.abs(np.mean([plan.to_human for plan in plans], axis=0) - 0.3).max() < 0.041


def test_random_plan_has_no_policy() -> None:
    plan = baseline_plan("random", [0.5, 0.4], [0.1, 0.1], max_human=1, rng=np.random.default_rng(0))
    with pytest.raises(StateError, match="random draw has no rule"):
        plan.policy()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"kind": "best"}, "kind is 'best'"),
        ({"kind": "random", "max_human": 1}, "needs rng"),
        ({"kind": "cheapest"}, "needs max_human"),
        ({"kind": "people_only", "max_human": 1}, "leave it out"),
    ],
)
def test_baseline_refuses_what_does_not_fit(arguments: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        baseline_plan(confidence=[0.5], effort=[0.1], **arguments)  # type: ignore[arg-type]
