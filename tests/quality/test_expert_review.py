"""Second looks: escalation, errors by tier, audits that nobody steers, appeals, and how much work there is."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality import (
    Expert,
    allocate_experts,
    audit_sample,
    escalate,
    expert_workload,
    open_appeal,
    overturn_rates,
    people_needed,
    settle_appeal,
    tier_errors,
    verify_audit,
    what_if,
)

COLUMNS = ["item", "tier", "expert", "label"]
KEY = b"0123456789abcdef"


def table(*rows: tuple[str, int, str, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=COLUMNS)


@pytest.mark.parametrize(
    ("said", "state", "label", "to_tier"),
    [
        ([(1, "x")], "agreed", "x", 0),
        ([(1, "x"), (2, "x")], "agreed", "x", 0),
        ([(1, "x"), (1, "y")], "escalate", None, 2),
        ([(1, "x"), (2, "y")], "escalate", None, 3),
        ([(1, "x"), (2, "x"), (3, "y")], "settled", "y", 0),  # the top stands over the many below
        ([(3, "x"), (3, "y")], "second_opinion", None, 3),
        ([(1, "x"), (3, "x"), (3, "y")], "second_opinion", None, 3),
        ([(3, "x"), (3, "y"), (3, "y")], "settled", "y", 0),
    ],
)
def test_who_must_look_next(said: list[tuple[int, str]], state: str, label: str | None, to_tier: int) -> None:
    rows = table(*(("a", tier, f"e{place}", name) for place, (tier, name) in enumerate(said)))
    found = escalate(rows).iloc[0]
    assert (found["state"], found["label"], found["to_tier"]) == (state, label, to_tier)


def test_the_same_person_is_no_second_look() -> None:
    with pytest.raises(FrameError, match="twice by 'u'"):
        escalate(table(("a", 1, "u", "x"), ("a", 2, "u", "y")))


def test_errors_by_tier_by_hand() -> None:
    rows = table(("a", 1, "u", "x"), ("b", 1, "u", "y"), ("c", 1, "u", "x"), ("a", 2, "v", "x"))
    found = tier_errors(rows, {"a": "x", "b": "x", "c": "x"}).set_index(["tier", "answered"])
    # Tier 1 said x twice and y once, where x is true.
    assert found.loc[(1, "x"), ["count", "n"]].tolist() == [2, 3]
    assert found.loc[(1, "y"), "share"] == pytest.approx(1 / 3)
    assert found.loc[(2, "y"), "count"] == 0
    assert (found["low"] <= found["share"]).all()
    assert (found["share"] <= found["high"]).all()


def test_overturned_are_labels_that_the_highest_judge_did_not_uphold() -> None:
    rows = table(
        ("a", 1, "u", "x"), ("a", 2, "v", "y"), ("a", 3, "w", "y"),
        ("b", 1, "u", "x"), ("b", 2, "v", "x"),
        ("c", 1, "u", "x"), ("c", 2, "v", "y"), ("c", 2, "w", "x"),  # tier 2 differs in itself: not counted
        ("d", 1, "u", "x"),  # never looked at again
    )  # fmt: skip
    found = overturn_rates(rows).set_index("tier")
    assert found.loc[1, ["overturned", "n"]].tolist() == [1, 2]
    assert found.loc[2, ["overturned", "n"]].tolist() == [0, 1]


def test_an_audit_sample_is_random_and_follows_from_the_key_alone() -> None:
    items = [f"i{n}" for n in range(2000)]
    first, second = audit_sample(items, KEY, size=200), audit_sample(items[::-1], KEY, size=200)
    assert first.items == second.items
    other = audit_sample(items, KEY[::-1], size=200)
    # Two samples of a tenth share about a tenth: 20, standard deviation 4.
    assert len(set(first.items) & set(other.items)) < 40
    assert sum(int(item[1:]) < 1000 for item in first.items) == pytest.approx(100, abs=4 * np.sqrt(200 * 0.25))


def test_a_share_decides_each_item_for_itself() -> None:
    whole = audit_sample(range(1000), KEY, size=0.1)
    part = audit_sample(range(500), KEY, size=0.1)
    assert set(part.items) == {item for item in whole.items if item < 500}


def test_the_sample_does_not_appear_where_others_read() -> None:
    sample = audit_sample(["secret-1", "secret-2"], KEY, size=1)
    assert "secret" not in f"{sample} {sample!r}"


def test_auditors_are_bound_by_what_they_published() -> None:
    sample = audit_sample(range(100), KEY, size=10)
    assert verify_audit(sample.items, range(100), KEY, sample.commitment)
    steered = (*sample.items[:-1], next(n for n in range(100) if n not in sample.items))
    assert not verify_audit(steered, range(100), KEY, sample.commitment)
    assert not verify_audit(sample.items, range(100), KEY[::-1], sample.commitment)


@pytest.mark.parametrize(
    ("items", "key", "size", "says"),
    [
        ([1], b"short", 1, "key has 5 bytes"),
        ([1, 1], KEY, 1, "an item twice"),
        ([1], KEY, 2, "size is 2"),
        ([1], KEY, 1.5, "size is 1.5"),
    ],
)
def test_wrong_audits_are_refused(items: list[int], key: bytes, size: float, says: str) -> None:
    with pytest.raises(InputError, match=says):
        audit_sample(items, key, size=size)


def test_an_appeal_goes_to_another_person_who_is_not_told() -> None:
    experts = [Expert("ann"), Expert("bob", load=5), Expert("low", tier=1), Expert("top", tier=2, load=9)]
    found = open_appeal("a", ["ann", "low"], experts, tier=1)
    assert found.choice.expert == "bob"
    assert {"label", "expert"} <= set(found.hidden)
    assert open_appeal("a", ["ann"], experts, tier=2).choice.expert == "top"
    assert open_appeal("a", ["top"], experts, tier=2).choice.expert is None


def test_being_later_does_not_make_right() -> None:
    assert settle_appeal("x", None) == ("open", None)
    assert settle_appeal("x", "y") == ("third_needed", None)
    assert settle_appeal("x", "y", "x") == ("upheld", "x")


def test_waiting_by_erlangs_formula() -> None:
    # Two experts at 1 item an hour each, 1 an hour arrives: C = 1/3, wait = C / (2 - 1) h = 1,200 s.
    from hmc_crowd.quality import Tier

    found = what_if({1: 1.0}, [Tier(1, 2, 1, 3000)]).table.iloc[0]
    assert found["wait_s"] == pytest.approx(1200)
    # One expert: the M/M/1 wait, .5 / (1 - .5) h.
    assert what_if({1: 0.5}, [Tier(1, 1, 1, 3000)]).table["wait_s"].iloc[0] == pytest.approx(3600)


def test_an_infeasible_load_is_never_shown_as_reachable() -> None:
    found = what_if({1: 2000, 2: 10, 3: 1})
    assert (found.feasible, found.bottleneck) == (False, 1)
    assert found.table.loc[0, "backlog_per_hour"] == 1000
    assert np.isinf(found.table.loc[0, "wait_s"])
    assert not what_if({3: 1}, people={3: 0}).feasible


def test_one_more_person_can_be_tried() -> None:
    now, more = what_if({3: 24}), what_if({3: 24}, people={3: 6})
    assert more.table.loc[2, "wait_s"] < now.table.loc[2, "wait_s"]
    assert more.table.loc[2, "cost_per_hour_minor"] == 6 * 15000


def test_people_needed_are_the_fewest_that_keep_the_wait() -> None:
    from hmc_crowd.quality import Tier

    need = people_needed(24, 5, wait_s=300)
    wait = {n: what_if({1: 24}, [Tier(1, n, 5, 0)]).table["wait_s"].iloc[0] for n in (need - 1, need)}
    assert wait[need] <= 300 < wait[need - 1]


def test_workload_counts_what_was_just_given() -> None:
    experts = [Expert("ann", load=2, per_hour=10), Expert("bob", per_hour=10)]
    given = allocate_experts(pd.DataFrame({"item": range(4)}), experts).frame
    found = expert_workload(experts, given).set_index("expert")
    assert found["load"].sum() == 6
    assert found.loc["bob", "clear_s"] == found.loc["bob", "load"] * 360


def test_wrong_loads_are_refused() -> None:
    with pytest.raises(InputError, match="tier 7"):
        what_if({7: 1})
    with pytest.raises(InputError, match="arrivals_per_hour holds"):
        what_if({1: -1})


def test_the_sources_load_does_not_fit_its_staff() -> None:
    from hmc_crowd.quality import staffing

    # 10,000/s x 86,400 s x .15 = 129.6 M cases; 5,000 people x 8 h leave 1.11 s for each.
    found = staffing(10_000, 0.15, people=5000, answer_s=10)
    assert found.seconds_per_case == pytest.approx(1.11, abs=0.005)
    assert (found.feasible, found.people_needed) == (False, 45_000)
    assert staffing(10_000, found.feasible_share, people=5000, answer_s=10).backlog_per_day == pytest.approx(
        0, abs=1e-3
    )
    assert staffing(10_000, 0.15, people=5000, answer_s=10, answers=3).people_needed == 135_000
    with pytest.raises(InputError, match="out of range"):
        staffing(10, 0.1, people=-1, answer_s=10)


def test_many_items_are_escalated_at_once(rng: np.random.Generator) -> None:
    rows = pd.DataFrame(
        {
            "item": np.repeat(np.arange(60), 3),
            "tier": rng.integers(1, 4, 180),
            "expert": np.tile(["u", "v", "w"], 60),
            "label": rng.choice([0, 1], 180),
        }
    )
    found = escalate(rows)
    alone = pd.concat([escalate(part) for _, part in rows.groupby("item")], ignore_index=True)
    pd.testing.assert_frame_equal(found, alone, check_dtype=False)


@pytest.mark.parametrize("kind", [int, np.int64])
def test_a_size_is_any_whole_number(kind: type) -> None:
    assert len(audit_sample(range(10), KEY, size=kind(3)).items) == 3


def test_nobody_and_no_time_are_said() -> None:
    from hmc_crowd.quality import staffing

    with pytest.raises(InputError, match="tiers is empty: there is no expert"):
        what_if({}, [])
    with pytest.raises(InputError, match="hours above 0"):
        staffing(1, 0.5, people=3, answer_s=10, hours=0)
    with pytest.raises(InputError, match="hours is 0"):
        expert_workload([Expert("ann")], hours=0)


def test_the_people_needed_for_a_large_stream() -> None:
    # 90,000 are busy all the time; the wait falls below a second with 49 more.
    assert people_needed(5_400_000, 60, wait_s=1) == 90_049
