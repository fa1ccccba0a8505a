"""Experts: who gets an item, who waits, and that the batch is assigned as well as any solver could."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, linear_sum_assignment, milp

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality import (
    SOURCE_TIERS,
    Expert,
    Tier,
    allocate_experts,
    best_transport,
    choose_expert,
    place_in_tiers,
    tier_of,
)


def test_expertise_decides_where_the_source_takes_the_least_loaded() -> None:
    # ann: .7 x .9 + .3 x .6 = .81; bob, who is free: .7 x .2 + .3 = .44
    ann, bob = Expert("ann", {"law": 0.9}, load=4), Expert("bob", {"law": 0.2})
    found = choose_expert("a", [bob, ann], area="law", urgency=4)
    assert (found.expert, found.match, found.urgency) == ("ann", 0.9, 4)
    assert found.score == pytest.approx(0.81)


def test_the_load_term_stays_within_its_bounds() -> None:
    # A load of 15 would give .3 x -.5 unclipped.
    found = choose_expert("a", [Expert("ann", {"law": 1.0}, load=15)], area="law")
    assert found.score == pytest.approx(0.7)


def test_equal_scores_go_by_load_then_name() -> None:
    # .7 x 1 + .3 x .3 = .79; .7 x .7 + .3 = .79
    loaded, free = Expert("a", {"law": 1.0}, load=7), Expert("b", {"law": 0.7})
    assert choose_expert("i", [loaded, free], area="law").expert == "b"
    assert choose_expert("i", [Expert("d"), Expert("c")]).expert == "c"


def test_who_can_meet_the_deadline_goes_first() -> None:
    # ann is done after 5 x 180 = 900 s, bob after 180 s
    ann, bob = Expert("ann", {"law": 0.9}, load=4), Expert("bob", {"law": 0.2})
    found = choose_expert("a", [ann, bob], area="law", deadline_s=600)
    assert (found.expert, found.reason, found.late_s) == ("bob", "best_score", 0.0)


def test_a_deadline_that_nobody_meets_is_reported() -> None:
    ann, bob = Expert("ann", {"law": 0.9}, load=4), Expert("bob", {"law": 0.2})
    found = choose_expert("a", [ann, bob], area="law", deadline_s=100)
    assert (found.expert, found.reason, found.late_s) == ("bob", "late", pytest.approx(80.0))


@pytest.mark.parametrize(
    ("experts", "reason"),
    [
        ([], "no_experts"),
        ([Expert("ann", load=20)], "no_capacity"),
        ([Expert("ann", tier=1)], "no_tier"),
    ],
)
def test_nobody_is_an_answer(experts: list[Expert], reason: str) -> None:
    found = choose_expert("a", experts, tier=2 if reason == "no_tier" else 1)
    assert (found.expert, found.reason) == (None, reason)
    assert "queued for a person's review" in str(found)


def slots(score: np.ndarray, bonus: list[np.ndarray]) -> np.ndarray:
    """One column per place of each taker: the problem as an assignment."""
    return np.concatenate([score[:, [j]] + each[None, :] for j, each in enumerate(bonus)], axis=1)


def best_by_assignment(score: np.ndarray, bonus: list[np.ndarray]) -> float:
    table = slots(score, bonus)
    rows, columns = linear_sum_assignment(table, maximize=True)
    return float(table[rows, columns].sum())


def best_by_highs(score: np.ndarray, bonus: list[np.ndarray]) -> float:
    n, m = score.shape
    places = sum(map(len, bonus))
    each_item = np.kron(np.eye(n), np.ones(m))
    used = np.concatenate([np.full(len(one), j) for j, one in enumerate(bonus)])
    balance = np.hstack([np.tile(np.eye(m), n), -(used[None, :] == np.arange(m)[:, None]).astype(float)])
    rules = [
        LinearConstraint(np.hstack([each_item, np.zeros((n, places))]), 1, 1),
        LinearConstraint(balance, 0, 0),
    ]
    cost = -np.concatenate([score.ravel(), *bonus])
    solved = milp(cost, constraints=rules, bounds=Bounds(0, 1), integrality=np.ones(len(cost)))
    return float(-solved.fun)


def problem(seed: int, n: int, m: int, kind: str) -> tuple[np.ndarray, list[np.ndarray]]:
    rng = np.random.default_rng(seed)
    if kind == "areas":
        score = 0.7 * rng.random((4, m))[rng.integers(0, 4, n)]
    elif kind == "few values":
        score = rng.choice([0.0, 0.35, 0.7], (n, m))
    elif kind == "same order":
        score = 0.5 * np.sort(rng.random((1, m))) + 0.05 * rng.random((n, m))
    else:
        score = 0.7 * rng.random((n, m))
    room = rng.integers(1, max(2, 3 * n // m), m)
    while room.sum() < n:
        room[rng.integers(m)] += 1
    return score, [0.3 * np.clip(1 - (rng.integers(0, 9) + np.arange(k)) / 10, 0, 1) for k in room]


@pytest.mark.parametrize("kind", ["any", "areas", "few values", "same order"])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (7, 3), (60, 6), (300, 12)])
def test_the_optimum_is_that_of_the_assignment_problem(n: int, m: int, kind: str) -> None:
    for seed in range(5):
        score, bonus = problem(seed, n, m, kind)
        found = best_transport(score, bonus)
        assert found.total == pytest.approx(best_by_assignment(score, bonus), abs=1e-9)
        assert found.gap == pytest.approx(0, abs=1e-9)
        count = np.bincount(found.taker, minlength=m)
        assert (count <= [len(each) for each in bonus]).all()
        spent = score[np.arange(n), found.taker].sum() + sum(
            each[:k].sum() for each, k in zip(bonus, count, strict=True)
        )
        assert spent == pytest.approx(found.total)


def test_the_optimum_is_that_of_highs() -> None:
    for seed in range(3):
        score, bonus = problem(seed, 25, 4, "any")
        assert best_transport(score, bonus).total == pytest.approx(best_by_highs(score, bonus), abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 12), m=st.integers(1, 4))
def test_no_other_assignment_is_better(seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    score = rng.integers(0, 4, (n, m)).astype(float)
    bonus = [np.sort(rng.integers(0, 3, n).astype(float))[::-1] for _ in range(m)]
    found = best_transport(score, bonus)
    assert found.total == pytest.approx(best_by_assignment(score, bonus))
    assert found.gap == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["any", "areas", "few values", "same order"])
def test_ten_thousand_items_are_assigned_optimally(kind: str) -> None:
    score, bonus = problem(0, 10_000, 50, kind)
    # The bound that the final prices prove: no solver is needed to know that nothing is better.
    assert best_transport(score, bonus).gap == pytest.approx(0, abs=1e-6)


def test_too_few_places_and_rising_bonuses_are_refused() -> None:
    with pytest.raises(InputError, match="1 places for 2 items"):
        best_transport(np.zeros((2, 1)), [np.zeros(1)])
    with pytest.raises(InputError, match="a bonus rises"):
        best_transport(np.zeros((1, 1)), [np.array([0.0, 1.0])])
    with pytest.raises(InputError, match="no taker"):
        best_transport(np.full((1, 2), -np.inf), [np.zeros(1), np.zeros(1)])
    # Both items may only go to the first, who has one place.
    with pytest.raises(InputError, match="do not suffice"):
        best_transport(np.array([[0.0, -np.inf]] * 2), [np.zeros(1), np.zeros(3)])


def staff(m: int, rng: np.random.Generator, **more: Any) -> list[Expert]:
    areas = ("law", "tax", "art")
    return [
        Expert(f"e{j}", {area: float(rng.random()) for area in areas}, load=int(rng.integers(0, 8)), **more)
        for j in range(m)
    ]


def batch(n: int, rng: np.random.Generator) -> pd.DataFrame:
    areas = rng.choice(["law", "tax", "art"], n)
    return pd.DataFrame({"item": [f"i{k:04d}" for k in range(n)], "area": areas, "urgency": rng.integers(1, 6, n)})


def test_the_optimum_beats_greedy_which_beats_the_sources_rule(rng: np.random.Generator) -> None:
    items, experts = batch(120, rng), staff(8, rng)
    total = {rule: allocate_experts(items, experts, rule=rule).total for rule in ("optimal", "greedy", "least_loaded")}
    assert total["optimal"] > total["greedy"] > total["least_loaded"]


def test_scores_of_the_table_add_up_to_the_total(rng: np.random.Generator) -> None:
    items, experts = batch(60, rng), staff(6, rng)
    found = allocate_experts(items, experts)
    assert found.frame["score"].sum() == pytest.approx(found.total)
    assert found.gap == pytest.approx(0, abs=1e-9)
    by_hand = found.frame.merge(items[["item", "area"]], on="item").iloc[0]
    expert = next(one for one in experts if one.expert == by_hand["expert"])
    load = expert.load + by_hand["place"] - 1
    assert by_hand["score"] == pytest.approx(0.7 * expert.skills[by_hand["area"]] + 0.3 * max(0, 1 - load / 10))


def test_the_urgent_are_served_first_and_nobody_gets_too_many(rng: np.random.Generator) -> None:
    items, experts = batch(200, rng), staff(5, rng)
    room = {one.expert: one.room(hours=1) for one in experts}
    found = allocate_experts(items, experts).frame
    counts = found["expert"].value_counts()
    assert all(counts[name] <= room[name] for name in counts.index)
    assert (found["expert"].notna()).sum() == sum(room.values())
    assert found.loc[found["state"] == "queued", "urgency"].max() <= found.loc[found["place"] > 0, "urgency"].min()
    # Within an expert's queue the urgent come first.
    for _, queue in found[found["place"] > 0].groupby("expert"):
        assert queue.sort_values("place")["urgency"].is_monotonic_decreasing


def test_nothing_starves_however_badly_it_matches() -> None:
    # Room for one item an hour; every hour two new ones come that match better and are more urgent.
    expert = Expert("ann", {"law": 1.0}, per_hour=1)
    waiting = [("old", None, "tax", 1)]
    for hour in range(1, 60):
        waiting += [(f"n{hour}a", hour, "law", 5), (f"n{hour}b", hour, "law", 5)]
        items = pd.DataFrame(waiting, columns=["item", "since", "area", "urgency"])
        waited = (hour - items["since"].fillna(0)) * 3600.0
        found = allocate_experts(items.assign(waited_s=waited), [expert]).frame
        served = found.loc[found["expert"].notna(), "item"].iloc[0]
        if served == "old":
            break
        waiting = [row for row in waiting if row[0] != served]
    # Four steps of urgency are four hours of waiting, of which the newer ones have some too.
    assert served == "old"


def test_no_item_goes_below_its_tier_and_low_items_leave_room_above() -> None:
    experts = [Expert("low", per_hour=2, tier=1), Expert("high", per_hour=2, tier=3)]
    items = pd.DataFrame({"item": list("abcd"), "tier": [1, 3, 1, 3], "urgency": [5, 1, 5, 1]})
    found = allocate_experts(items, experts).frame
    assert found["expert"].tolist() == ["low", "high", "low", "high"]


def test_a_tier_that_is_full_leaves_its_items_in_the_queue() -> None:
    experts = [Expert("low", per_hour=5, tier=1), Expert("high", per_hour=1, tier=3)]
    items = pd.DataFrame({"item": list("abc"), "tier": [3, 3, 1], "urgency": [1, 2, 1]})
    found = allocate_experts(items, experts)
    assert found.frame["state"].tolist() == ["queued", "given", "given"]
    assert "1 item waits" in found.note


def test_a_price_keeps_dear_experts_for_what_only_they_can_judge() -> None:
    # .7 x 1 + .3 = 1 against .7 x .9 + .3 = .93; at .001 the price of 30.00 takes 3 from the first.
    dear = Expert("dear", {"law": 1.0}, tier=3, cost_minor=3000)
    cheap = Expert("cheap", {"law": 0.9}, tier=1, cost_minor=60)
    items = pd.DataFrame({"item": ["easy", "hard"], "area": "law", "tier": [1, 3]})
    assert allocate_experts(items, [dear, cheap]).frame["expert"].tolist() == ["dear", "dear"]
    found = allocate_experts(items, [dear, cheap], cost_weight=0.001)
    assert found.frame["expert"].tolist() == ["cheap", "dear"]
    assert found.frame["score"].tolist() == pytest.approx([0.93 - 0.06, 1 - 3])
    assert found.total == pytest.approx(-1.13)
    assert choose_expert("a", [dear, cheap], area="law", cost_weight=0.001).expert == "cheap"


def test_late_items_are_named() -> None:
    items = pd.DataFrame({"item": ["a", "b"], "deadline_s": [100.0, 4000.0]})
    found = allocate_experts(items, [Expert("ann", per_hour=20)]).frame
    # 180 s each: a is first by its deadline and still 80 s late.
    assert found["state"].tolist() == ["late", "given"]
    assert found["late_s"].tolist() == pytest.approx([80.0, 0.0])


def test_no_experts_leave_everything_to_a_persons_review() -> None:
    found = allocate_experts(pd.DataFrame({"item": ["a", "b"]}), [])
    assert found.frame["state"].tolist() == ["queued", "queued"]
    assert found.frame["expert"].tolist() == [None, None]
    assert "there is no expert" in found.note


def test_wrong_batches_are_one_sentence() -> None:
    with pytest.raises(FrameError, match="lacks the column item"):
        allocate_experts(pd.DataFrame({"name": ["a"]}), [])
    with pytest.raises(FrameError, match="an item twice"):
        allocate_experts(pd.DataFrame({"item": ["a", "a"]}), [])
    with pytest.raises(InputError, match="'ann' twice"):
        allocate_experts(pd.DataFrame({"item": ["a"]}), [Expert("ann"), Expert("ann")])
    with pytest.raises(InputError, match="hours is 0"):
        allocate_experts(pd.DataFrame({"item": ["a"]}), [], hours=0)
    with pytest.raises(InputError, match="skill outside"):
        Expert("ann", {"law": 1.5})


def test_the_sources_tiers_judge_1325_items_an_hour() -> None:
    # 20 x 50 + 15 x 20 + 5 x 5; 30/50, 60/20 and 150/5 USD an item
    assert sum(tier.capacity_per_hour for tier in SOURCE_TIERS) == 1325
    assert [tier.item_cost_minor for tier in SOURCE_TIERS] == [60, 300, 3000]
    assert sum(tier.people for tier in SOURCE_TIERS) == 40  # elsewhere the source has 50 experts


@pytest.mark.parametrize(
    ("risk", "complexity", "ours", "literal"),
    [
        ("low", 0.29, 1, 1),
        ("low", 0.3, 2, 2),
        ("low", 0.7, 3, 3),
        ("medium", 0.1, 2, 2),
        ("medium", 0.9, 3, 2),
        ("high", 0.1, 3, 2),  # the source's rule sends a dangerous item to the second tier
        ("high", 0.9, 3, 3),
        (None, 0.1, 3, 2),
        ("low", None, 3, 3),
    ],
)
def test_tiers_by_risk_and_complexity(risk: Any, complexity: Any, ours: int, literal: int) -> None:
    assert tier_of([risk], [complexity]).tolist() == [ours]
    assert tier_of([risk], [complexity], rule="literal").tolist() == [literal]


def test_a_full_tier_moves_items_up_at_the_higher_price_or_queues_them() -> None:
    tiers = [Tier(1, 1, 2, 3000), Tier(2, 1, 1, 6000)]
    items = pd.DataFrame({"item": list("abcd"), "tier": [1, 1, 1, 1]})
    up = place_in_tiers(items, tiers)
    assert up["state"].tolist() == ["placed", "placed", "moved_up", "queued"]
    assert up["cost_minor"].tolist() == [1500, 1500, 6000, 0]
    assert place_in_tiers(items, tiers, full="queue")["state"].tolist() == ["placed", "placed", "queued", "queued"]


def test_what_moves_up_keeps_nobody_waiting_who_can_go_nowhere_else() -> None:
    tiers = [Tier(1, 1, 1, 3000), Tier(2, 1, 1, 6000)]
    items = pd.DataFrame({"item": list("abc"), "tier": [1, 1, 2], "urgency": [5, 5, 1]})
    found = place_in_tiers(items, tiers).set_index("item")
    assert found.loc["c", "state"] == "placed"
    assert found.loc["b", "state"] == "queued"


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("tier", "high", "tier must be a number"),
        ("tier", None, "tier is missing in row 0"),
        ("deadline_s", "soon", "deadline_s must be a number"),
        ("waited_s", -1, "waited_s must be a number of 0 or more"),
    ],
)
def test_what_is_no_number_is_not_taken_for_the_least(column: str, value: Any, says: str) -> None:
    items = pd.DataFrame({"item": ["a", "b"], "tier": [3, 1]}).assign(**{column: [value, 1]})
    with pytest.raises(FrameError, match=says):
        allocate_experts(items, [Expert("low"), Expert("high", tier=3)])


def test_a_load_that_is_no_number_is_refused() -> None:
    with pytest.raises(InputError, match="load nan"):
        Expert("ann", load=float("nan"))  # type: ignore[arg-type]


def test_the_bound_is_tight_though_nobody_may_go_to_a_taker() -> None:
    # The second taker has room, and not one item that it may have.
    found = best_transport(np.array([[0.4, -np.inf], [0.2, -np.inf]]), [np.array([0.3, 0.3]), np.array([0.3])])
    assert found.total == pytest.approx(1.2)
    assert found.gap == pytest.approx(0, abs=1e-12)


def test_no_hours_are_no_full_experts() -> None:
    with pytest.raises(InputError, match="hours is 0"):
        choose_expert("a", [Expert("ann")], hours=0)
