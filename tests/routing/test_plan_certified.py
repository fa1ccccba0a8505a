"""Plans made backwards from a certificate: it comes out as often as was promised, and what cannot be is said."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from hmc_crowd.errors import InfeasibleError, InputError
from hmc_crowd.routing import agreement_at_most, certify_batch, plan_certified


def batch(n: int = 2000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.beta(8, 1, n), rng.gamma(2.0, 15.0, n)


@cache
def planned(target: float) -> Any:
    """The plan of the batch that several tests look at; each takes a second to make."""
    return plan_certified(*batch(), target_agreement=target)


def outcomes(plan: Any, confidence: np.ndarray, repetitions: int, seed: int) -> float:
    """Draw truth from the confidences and an audit from the kept items; return how often the certificate comes out."""
    rng = np.random.default_rng(seed)
    kept = np.flatnonzero(~plan.plan.to_human)
    n, out = len(confidence), 0
    for _ in range(repetitions):
        wrong = rng.random(len(kept)) > confidence[kept]
        drawn = rng.choice(len(kept), plan.audited, replace=False)
        found = certify_batch(n, plan.human, plan.audited, int(wrong[drawn].sum()), level=plan.look_level)
        out += found.agreement_at_least >= plan.target
    return out / repetitions


@pytest.mark.parametrize("repetitions", [200, pytest.param(2000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("target", [0.95, 0.98])
def test_the_certificate_comes_out_as_often_as_promised(target: float, repetitions: int) -> None:
    confidence, _ = batch()
    held = outcomes(planned(target), confidence, repetitions, seed=3)
    assert held >= 0.9 - 3 * np.sqrt(0.9 * 0.1 / repetitions)


def test_the_promise_is_in_the_plan() -> None:
    confidence, seconds = batch()
    plan = planned(0.96)
    bound = certify_batch(len(confidence), plan.human, plan.audited, plan.allowed_wrong)
    worse = certify_batch(len(confidence), plan.human, plan.audited, plan.allowed_wrong + 1)
    assert bound.agreement_at_least >= 0.96 > worse.agreement_at_least
    assert plan.human == plan.plan.human_count
    kept = ~plan.plan.to_human
    expected = seconds[plan.plan.to_human].sum() + plan.audited * seconds[kept].mean()
    assert plan.human_s == pytest.approx(expected)


def test_no_neighbouring_cap_is_cheaper() -> None:
    """Half or double of either part must not do the same for less."""
    confidence, seconds = batch(seed=1)
    plan = plan_certified(confidence, seconds, target_agreement=0.97)
    from hmc_crowd.routing._certified_search import Costed, Wish, _Order

    order = _Order(Costed(confidence, seconds, np.zeros(len(seconds)), 0.0, 1.0), plan.trade_off)
    wish = Wish(0.97, 0.95, 0.9, None, None)
    others = [order.candidate(human, wish) for human in range(0, order.most, 100)]
    assert min(each.human_s for each in others) >= plan.human_s * 0.99


def test_more_is_dearer() -> None:
    hours = [planned(target).human_s for target in (0.93, 0.96, 0.985)]
    assert hours == sorted(hours)
    prices = dict(planned(0.96).prices)
    assert prices["target +0.001"] > 0


def test_a_top_up_costs_a_stricter_first_look() -> None:
    confidence, seconds = batch()
    one = planned(0.96)
    two = plan_certified(confidence, seconds, target_agreement=0.96, top_up=True)
    assert (one.top_up, one.look_level) == (0, 0.95)
    assert two.top_up > 0
    assert two.look_level == pytest.approx(0.96)
    assert two.human_s >= one.human_s


def test_labelled_items_correct_confidences_that_promise_too_much() -> None:
    rng = np.random.default_rng(5)
    confidence, seconds = batch()
    # The machine is wrong twice as often as it says.
    right = rng.random(len(confidence)) < 1 - 2 * (1 - confidence)
    naive = planned(0.95)
    told = plan_certified(confidence, seconds, target_agreement=0.95, labelled=(confidence, seconds, right))
    assert told.expected_wrong > 1.2 * naive.expected_wrong or told.human > naive.human
    assert told.human_s > naive.human_s


def test_a_budget_too_small_names_what_could_be_promised() -> None:
    confidence, seconds = batch()
    need = planned(0.97).human_s
    with pytest.raises(
        InfeasibleError, match=r"target_agreement 0\.97 .* and max_human_s clash; it needs about"
    ) as met:
        plan_certified(confidence, seconds, target_agreement=0.97, max_human_s=need / 2)
    nearest: Any = met.value.nearest
    assert nearest.target < 0.97
    assert nearest.human_s <= need / 2
    assert met.value.clashing == ("target_agreement", "max_human_s")


def test_money_binds_like_time() -> None:
    confidence, seconds = batch()
    free = plan_certified(confidence, seconds, target_agreement=0.96, money_minor=seconds * 0.4)
    kept = plan_certified(
        confidence, seconds, target_agreement=0.96, money_minor=seconds * 0.4, max_money_minor=int(free.money_minor) + 9
    )
    assert kept.money_minor <= free.money_minor + 9
    with pytest.raises(InfeasibleError, match="max_money_minor"):
        plan_certified(confidence, seconds, target_agreement=0.96, money_minor=seconds, max_money_minor=100)


def test_time_is_counted_both_ways() -> None:
    confidence, seconds = batch()
    plan = plan_certified(confidence, seconds, target_agreement=0.96, groups=np.arange(2000) // 5)
    assert plan.human_s < plan.human_s_read_whole <= seconds.sum()


def test_easy_and_hopeless_promises_say_so() -> None:
    easy = plan_certified(np.full(100, 0.99), np.ones(100), target_agreement=0.01)
    assert (easy.human, easy.audited) == (0, 1)
    everything = plan_certified(np.full(50, 0.5), np.ones(50), target_agreement=1.0)
    assert everything.human + everything.audited == 50


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"money_minor": [1.0, 2.0, 3.0]}, "money_minor has 3 rows"),
        ({"caution": float("nan")}, "caution is nan"),
        ({"caution": -1.0}, "caution is -1.0"),
        ({"groups": [1, 2, 3]}, "groups has 3 rows"),
        ({"target_agreement": 0}, "target_agreement is 0"),
        ({"target_agreement": 1.2}, "target_agreement is 1.2"),
        ({"assurance": 1.0}, "assurance is 1.0"),
        ({"level": 1.0}, "level is 1.0"),
        ({"redundancy": 0}, "redundancy is 0"),
        ({"max_money_minor": 10}, "money_minor is missing"),
        ({"max_human_s": -1.0}, "max_human_s is -1.0"),
        ({"labelled": ([0.5], [1.0], [1])}, "True where the machine was right"),
    ],
)
def test_bad_input_is_one_sentence(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        plan_certified([0.9, 0.8], [1.0, 1.0], **{"target_agreement": 0.9, **change})


def test_the_upper_bound_holds_exactly() -> None:
    # 4 kept, 2 audited, both wrong: with 2 of 4 wrong the chance of that is 1/6, with 3 of 4 it is 3/6.
    assert agreement_at_most(4, 0, 2, 2, level=0.8) == 0.75
    assert agreement_at_most(4, 0, 2, 2, level=0.9) == 1.0 - 0 / 4


def test_a_plan_within_both_budgets_is_found_though_the_quickest_and_the_cheapest_are_not() -> None:
    rng = np.random.default_rng(0)
    seconds, confidence = rng.gamma(2, 20, 800), rng.beta(6, 1, 800)
    money = np.where(rng.random(800) < 0.5, 5.0, 50.0)
    call: dict[str, Any] = {"target_agreement": 0.97, "money_minor": money}
    quick = plan_certified(confidence, seconds, **call)
    most_s, most_money = 1.05 * quick.human_s, int(0.98 * quick.money_minor)
    both = plan_certified(confidence, seconds, max_human_s=most_s, max_money_minor=most_money, **call)
    assert both.human_s <= most_s
    assert both.money_minor <= most_money


def test_steps_of_the_promise_stay_below_certainty() -> None:
    confidence, seconds = batch(500)
    prices = dict(plan_certified(confidence, seconds, target_agreement=1.0, level=0.995).prices)
    # Nothing is above a target of 1, and only half of what is left to certainty can be asked of the level.
    assert set(prices) == {"assurance +0.02", "level +0.0025"}


@pytest.mark.parametrize("labels", [100, 300])
def test_few_labelled_items_do_not_flatter_the_plan(labels: int) -> None:
    """The search must not pick whatever plan the few labels happen to show without an error."""
    confidence, seconds = batch(1000, seed=5)
    held = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        sure, time = rng.beta(8, 1, labels), rng.gamma(2.0, 15.0, labels)
        known = (sure, time, rng.random(labels) < sure)
        plan = plan_certified(confidence, seconds, target_agreement=0.97, labelled=known)
        held.append(outcomes(plan, confidence, 40, seed=seed))
    assert np.mean(held) >= 0.9 - 3 * np.sqrt(0.9 * 0.1 / 320)
