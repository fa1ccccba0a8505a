"""Plans with pools, budgets and quotas: against enumeration, against `route`, and where no plan exists."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmc_crowd.errors import InfeasibleError, InputError
from hmc_crowd.routing import Limits, Pool, Quota, allocate, allocation_frontier, quotas_by, route

CROWD = Pool(name="crowd", skill=0.9, redundancy=3, pay_per_hour_minor=1200, fee_rate=0.2)
EXPERTS = Pool(name="experts", pay_per_hour_minor=6000, capacity=3)


def instance(seed: int, n: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "confidence": rng.random(n).round(3),
        "seconds": rng.gamma(2.0, 20.0, n).round(1) + 1.0,
        "groups": rng.integers(0, max(1, n // 3), n),
        "trade_off": float(rng.choice([0.0, 0.001])),
    }


def brute_force(given: dict[str, Any], pools: list[Pool], limits: Limits, quotas: Any, setup: float) -> float | None:
    """Try every choice; return the best objective, None where no choice keeps all limits."""
    n, best = len(given["confidence"]), None
    for choice in product(range(-1, len(pools)), repeat=n):
        value = seconds = money = 0.0
        for i, p in enumerate(choice):
            if p < 0:
                value += given["confidence"][i]
                continue
            value += pools[p].skill - given["trade_off"] * given["seconds"][i]
            s = given["seconds"][i] / pools[p].speed
            seconds += s * pools[p].redundancy
            money += s * pools[p].redundancy * pools[p].minor_per_s
        for _, p in {(given["groups"][i], p) for i, p in enumerate(choice) if p >= 0}:
            seconds += setup / pools[p].speed * pools[p].redundancy
            money += setup / pools[p].speed * pools[p].redundancy * pools[p].minor_per_s
        people = np.array(choice) >= 0
        ok = seconds <= (limits.max_human_s or np.inf) and money <= (limits.max_money_minor or np.inf)
        ok &= all(p.capacity is None or choice.count(k) <= p.capacity for k, p in enumerate(pools))
        ok &= all(people[q.rows].sum() >= (q.counts[0] or 0) for q in quotas)
        if ok and (best is None or value > best):
            best = value
    return best


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31), st.integers(2, 6), st.sampled_from([0.0, 15.0]), st.booleans())
def test_branch_and_bound_finds_what_enumeration_finds(seed: int, n: int, setup: float, demand: bool) -> None:
    given_ = instance(seed, n)
    pools = [CROWD, EXPERTS]
    total = float(given_["seconds"].sum())
    limits = Limits(max_human_s=1.5 * total + 40, max_money_minor=int(total * 0.9) + 30)
    quotas = (
        [Quota(name="risk", rows=given_["confidence"] <= given_["confidence"].min(), at_least=1.0)] if demand else []
    )
    expected = brute_force(given_, pools, limits, quotas, setup)
    call = {**given_, "pools": pools, "limits": limits, "quotas": quotas, "setup_s": setup}
    if expected is None:
        with pytest.raises(InfeasibleError):
            allocate(**call)
        return
    exact, quick = allocate(**call, method="milp"), allocate(**call, method="priced")
    # Limits are kept to a millisecond and a thousandth of a cent, against the plan.
    assert exact.objective == pytest.approx(expected, abs=1e-3)
    assert quick.objective <= exact.objective + 1e-6
    assert quick.upper_bound >= expected - 1e-3


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 60), st.floats(0, 1), st.sampled_from([0.0, 0.004]))
def test_with_a_cap_alone_the_plan_is_routes(seed: int, n: int, share: float, price: float) -> None:
    given_ = instance(seed, n)
    plan = allocate(given_["confidence"], seconds=given_["seconds"], trade_off=price, limits=Limits(max_human=share))
    same = route(given_["confidence"], given_["seconds"], trade_off=price, max_human=share)
    assert plan.method == "exact selection"
    assert plan.to_human.tolist() == same.to_human.tolist()
    assert plan.objective == pytest.approx(same.objective, abs=1e-9)
    assert plan.gap == 0


@pytest.mark.parametrize("method", ["priced", "milp"])
def test_the_other_methods_reach_the_selections_objective(method: Any) -> None:
    given_ = instance(5, 300)
    call: dict[str, Any] = {"seconds": given_["seconds"], "trade_off": 0.004, "limits": Limits(max_human=0.3)}
    best = allocate(given_["confidence"], **call, method="selection")
    assert allocate(given_["confidence"], **call, method=method).objective == pytest.approx(best.objective, abs=1e-6)


def test_budgets_that_do_not_bind_leave_the_exact_selection() -> None:
    given_ = instance(6, 200)
    plan = allocate(
        given_["confidence"],
        seconds=given_["seconds"],
        pools=[CROWD, EXPERTS],
        groups=given_["groups"],
        setup_s=20.0,
        limits=Limits(max_human_s=1e9, max_money_minor=10**9),
    )
    # Three experts are the only limit that people reach: so prices are needed.
    assert plan.method != "exact selection"
    without = allocate(given_["confidence"], seconds=given_["seconds"], pools=[CROWD], limits=Limits(max_human_s=1e9))
    assert without.method == "exact selection"
    assert without.binding == ()


def test_every_limit_is_kept_and_the_gap_is_stated() -> None:
    rng = np.random.default_rng(1)
    n = 3000
    seconds = rng.gamma(2.0, 20.0, n)
    limits = Limits(max_human=0.6, max_human_s=60_000.0, max_human_s_p90=100_000.0, max_money_minor=20_000)
    plan = allocate(
        rng.random(n),
        seconds=seconds,
        seconds_p90=seconds * rng.uniform(1.2, 2.5, n),
        groups=np.arange(n) // 5,
        setup_s=10.0,
        pools=[CROWD, Pool(name="staff", skill=0.97, pay_per_hour_minor=2500, people=2.0), EXPERTS],
        limits=limits,
        quotas=quotas_by(np.arange(n) % 3, at_least=0.1),
    )
    assert plan.human_count <= 0.6 * n
    assert plan.human_s <= 60_000
    assert plan.human_s_p90 <= 100_000
    assert plan.money_minor <= 20_000
    assert plan.counts["experts"] <= 3
    assert all(plan.to_human[np.arange(n) % 3 == part].mean() >= 0.1 for part in range(3))
    assert 0 <= plan.gap_share < 0.01
    assert plan.binding


def test_a_deadline_limits_a_pool_by_its_people() -> None:
    # Two people for one hour: 7,200 s, so 72 of 100 items of 100 s.
    staff = Pool(name="staff", people=2.0)
    plan = allocate(np.full(100, 0.5), seconds=100.0 * np.ones(100), pools=[staff], limits=Limits(deadline_s=3600.0))
    assert plan.human_count == 72
    assert plan.binding == ("deadline for staff",)


def test_whole_groups_stay_together() -> None:
    rng = np.random.default_rng(2)
    groups = np.arange(90) // 3
    plan = allocate(
        rng.random(90), seconds=rng.uniform(10, 60, 90), groups=groups, whole_groups=True, pools=[CROWD, EXPERTS],
        limits=Limits(max_human_s=3000.0),
    )  # fmt: skip
    assert all(len(set(plan.pool[groups == group].tolist())) == 1 for group in range(30))
    assert plan.human_count > 0


def test_reading_a_group_is_paid_once() -> None:
    # 2 items of 10 s in one group that takes 30 s to read: 50 s; in two groups: 80 s.
    together = allocate([0.1, 0.1], seconds=[10.0, 10.0], groups=["a", "a"], setup_s=30.0)
    apart = allocate([0.1, 0.1], seconds=[10.0, 10.0], groups=["a", "b"], setup_s=30.0)
    assert (together.human_s, apart.human_s) == (50.0, 80.0)
    assert (together.opened_groups, apart.opened_groups) == (1, 2)


def test_a_quota_on_the_error_left_is_kept() -> None:
    confidence = np.array([0.6, 0.7, 0.8, 0.99, 0.99, 0.99])
    group = np.array([True, True, True, False, False, False])
    # Expected error left in the group: .4 + .3 + .2 of 3 = .3; at most .1 allows .3 in all: give up .4 and more.
    quota = Quota(name="dialect", rows=group, error_at_most=0.1)
    plan = allocate(confidence, [1.0] * 6, trade_off=1.0, quotas=[quota])
    assert (1 - confidence)[group & ~plan.to_human].sum() <= 0.3 + 1e-6
    assert plan.human_count >= 2 - 1
    assert not plan.to_human[3:].any()


@pytest.mark.parametrize("shards", [2, 4, 7])
def test_shards_merged_by_price_equal_one_run(shards: int) -> None:
    rng = np.random.default_rng(3)
    n = 4000
    call: dict[str, Any] = {
        "seconds": rng.gamma(2.0, 20.0, n),
        "groups": np.arange(n) // 5,
        "setup_s": 12.0,
        "pools": [CROWD, Pool(name="staff", skill=0.97, pay_per_hour_minor=2500)],
        "limits": Limits(max_human=0.4, max_human_s=90_000.0, max_money_minor=25_000),
        "method": "priced",
    }
    confidence = rng.random(n)
    one, many = allocate(confidence, **call), allocate(confidence, **call, shards=shards)
    assert many.pool.tolist() == one.pool.tolist()
    assert many.upper_bound == one.upper_bound


def test_clashing_limits_are_named_with_the_nearest_plan() -> None:
    risk = Quota(name="high risk", rows=np.arange(10) < 5, at_least=1.0)
    # 5 items of 100 s: the quota needs 500 s, 300 are allowed.
    with pytest.raises(
        InfeasibleError, match=r"max_human_s and quota 'high risk' at_least cannot hold together"
    ) as met:
        allocate(np.full(10, 0.9), seconds=np.full(10, 100.0), limits=Limits(max_human_s=300.0), quotas=[risk])
    assert set(met.value.clashing) == {"max_human_s", "quota 'high risk' at_least"}
    nearest: Any = met.value.nearest
    assert nearest.to_human[:5].any()
    assert not nearest.to_human[5:].any()
    assert "->" in str(met.value)


def test_a_limit_that_nothing_reaches_is_named_alone() -> None:
    quota = Quota(name="all", rows=np.ones(3, dtype=bool), error_at_most=0.01)
    with pytest.raises(InfeasibleError, match="quota 'all' error_at_most cannot be reached by any plan"):
        allocate([0.5, 0.5, 0.5], pools=[Pool(name="crowd", skill=0.9)], quotas=[quota])


def test_groups_larger_than_a_budget_are_told() -> None:
    plan = allocate(
        [0.5, 0.5, 0.5], seconds=[100.0, 100.0, 10.0], groups=[1, 1, 2], whole_groups=True,
        limits=Limits(max_human_s=150.0),
    )  # fmt: skip
    assert plan.to_human.tolist() == [False, False, True]
    assert plan.notes == ("1 group alone would need more than max_human_s allows: left to the machine",)


def test_a_shadow_price_is_what_one_more_unit_buys() -> None:
    confidence, seconds = np.linspace(0.2, 0.9, 400), np.full(400, 10.0)
    at = {most: allocate(confidence, seconds=seconds, limits=Limits(max_human_s=most)) for most in (1000.0, 1010.0)}
    price = at[1000.0].limits[0].price
    assert at[1010.0].objective - at[1000.0].objective == pytest.approx(10 * price, rel=0.05)


def test_the_frontier_never_falls_and_says_where_it_ends() -> None:
    rng = np.random.default_rng(4)
    front = allocation_frontier(
        rng.random(300),
        limit="max_money_minor",
        values=[0, 500, 1000, 2000, 10**7, 10**8],
        seconds=rng.uniform(10, 60, 300),
        pools=[CROWD],
    )
    assert front["objective"].is_monotonic_increasing
    assert front["on_front"].tolist() == [True, True, True, True, True, False]
    assert front["price"].iloc[-1] == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"limits": Limits(max_human_s=5.0), "seconds": None}, "max_human_s is set, but seconds is missing"),
        ({"limits": Limits(max_money_minor=5)}, "no pool has a price"),
        ({"limits": Limits(deadline_s=5.0)}, "no pool says how many people"),
        ({"limits": Limits(max_human_s_p90=5.0)}, "seconds_p90 is missing"),
        ({"setup_s": 3.0}, "groups is missing"),
        ({"groups": ["a"]}, "groups has shape"),
        ({"pools": []}, "pools are named nothing"),
        ({"pools": [CROWD, CROWD]}, "crowd, crowd"),
        ({"method": "best"}, "method is 'best'"),
        ({"gap": 2.0}, "gap is 2.0"),
        ({"shards": 0}, "shards is 0"),
        ({"time_limit_s": 0}, "time_limit_s is 0"),
        ({"quotas": [Quota(name="q", rows=np.array([True]), at_least=1)]}, "quota 'q' has 1 rows for 2 items"),
    ],
)
def test_bad_input_is_one_sentence(change: dict[str, Any], message: str) -> None:
    call = {"seconds": [1.0, 1.0], **change}
    with pytest.raises(InputError, match=message):
        allocate([0.5, 0.5], **call)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Pool(name="p", skill=1.2), "skill of pool 'p' is 1.2"),
        (lambda: Pool(name="p", redundancy=0), "redundancy of pool 'p' is 0"),
        (lambda: Pool(name="p", speed=0.0), "speed of pool 'p' is 0.0"),
        (lambda: Limits(max_human_s=-1.0), "max_human_s is -1.0"),
        (lambda: Quota(name="q", rows=np.array([False])), "quota 'q' names no item"),
        (lambda: Quota(name="q", rows=np.array([True])), "quota 'q' asks for nothing"),
        (lambda: Quota(name="q", rows=np.array([True]), at_least=2), "at_least of quota 'q' is 2"),
        (lambda: Quota(name="q", rows=np.array([True]), at_least=1, at_most=0), "at least 1 and at most 0"),
    ],
)
def test_what_is_asked_for_is_checked_where_it_is_stated(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_clashes_side_by_side_are_all_stretched() -> None:
    """Each of two quotas clashes with each of two limits of time: stretching one pair would not be enough."""
    both = np.array([True])
    quotas = [Quota(name=name, rows=both, error_at_most=most) for name, most in (("a", 0.27), ("b", 0.28))]
    call: dict[str, Any] = {"pools": [Pool(name="crowd", skill=0.8)], "seconds": [36.0], "quotas": quotas}
    slow = Limits(max_human_s=14.0, max_human_s_p90=26.0)
    with pytest.raises(InfeasibleError, match="cannot hold together") as caught:
        allocate([0.37], limits=slow, seconds_p90=[72.0], **call)
    assert caught.value.nearest is not None
    assert len(caught.value.clashing) > 2


def test_limits_that_only_whole_items_break_are_named() -> None:
    """Half an item would keep both limits; the cap on items has no part in it."""
    quota = Quota(name="all", rows=np.array([True, True]), at_least=1)
    with pytest.raises(InfeasibleError) as caught:
        allocate([0.5, 0.5], seconds=[40.0, 40.0], limits=Limits(max_human=2, max_human_s=30.0), quotas=[quota])
    whole = ("max_human_s", "quota 'all' at_least")
    assert caught.value.clashing == whole
    assert caught.value.nearest.human_count in (0, 1)


def test_the_whole_problem_without_a_limit_is_solved() -> None:
    groups = {"groups": [0, 0], "setup_effort": 0.1, "effort": [1.0, 1.0]}
    for more in ({}, groups):
        assert allocate([0.2, 1.0], method="milp", **more).pool.tolist() == [0, -1]
