from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmc_crowd.campaign.bundles import Bundle, BundleItem, build_hits, gold_seen, salvage
from hmc_crowd.errors import FrameError, InputError

COLUMNS = ["item", "aspect", "group", "position", "effort_s", "setup_s", "needed"]


def table(*rows: tuple[Any, ...]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=COLUMNS)


def dialogues(sizes: list[int], *, effort: float = 10.0, setup: float = 20.0, needed: int = 3) -> pd.DataFrame:
    return table(
        *[
            (f"d{group}t{turn}", "q", f"d{group}", turn, effort, setup, needed)
            for group, size in enumerate(sizes)
            for turn in range(1, size + 1)
        ]
    )


def build(work: Any, seed: int = 0, **options: Any) -> tuple[Bundle, ...]:
    return build_hits(work, **{"campaign": "c", "round": 1, "rng": np.random.default_rng(seed), **options})


def asked(bundles: tuple[Bundle, ...]) -> Counter[tuple[str, str]]:
    """How many answers the places of all bundles bring, without gold."""
    count: Counter[tuple[str, str]] = Counter()
    for bundle in bundles:
        for each in bundle.items:
            if not each.is_gold:
                count[each.item, each.aspect] += bundle.redundancy
    return count


GOLD = dialogues([1] * 30).assign(item=[f"g{n}" for n in range(30)], group=[f"gold{n}" for n in range(30)])


# --- by hand


def test_groups_stay_whole_and_bundles_are_filled() -> None:
    # Three dialogues of 20 + 2 x 10 = 40 s each; two fit into 90 s, the third gets a bundle of its own.
    bundles = build(dialogues([2, 2, 2]), target_minutes=1.5)
    assert sorted(len(bundle.items) for bundle in bundles) == [2, 4]
    assert sorted(bundle.expected_s for bundle in bundles) == [40.0, 80.0]


def test_a_group_over_the_target_gets_its_own_bundle() -> None:
    # 20 + 6 x 10 = 80 s is over 60 s but not over 120 s.
    bundles = build(dialogues([6, 1]), target_minutes=1)
    assert sorted(len(bundle.items) for bundle in bundles) == [1, 6]


def test_a_group_over_twice_the_target_is_split_into_runs() -> None:
    # 20 + 11 x 10 = 130 s is over 120 s: runs of 20 + 4 x 10 = 60 s, so 4 + 4 + 3 turns.
    bundles = build(dialogues([11]), target_minutes=1)
    assert sorted(len(bundle.items) for bundle in bundles) == [3, 4, 4]
    assert [turn for run in sorted([each.position for each in bundle.items] for bundle in bundles) for turn in run] == [
        *range(1, 12)
    ]


def test_a_group_that_costs_most_to_read_into_is_not_split() -> None:
    # Reading takes 50 of 60 s: pieces would read it again and again to ask one question each.
    bundles = build(dialogues([11], setup=50.0), target_minutes=1)
    assert [len(bundle.items) for bundle in bundles] == [11]


def test_needs_that_differ_never_share_a_bundle() -> None:
    work = table(("a", "q", "d", 1, 5.0, 5.0, 3), ("b", "q", "d", 2, 5.0, 5.0, 1), ("c", "q", "d", 3, 5.0, 5.0, 0))
    bundles = build(work)
    assert [([each.item for each in bundle.items], bundle.redundancy) for bundle in bundles] == [(["b"], 1), (["a"], 3)]


def test_redundancy_stands_in_for_needed() -> None:
    assert asked(build(dialogues([2]).drop(columns="needed"), redundancy=5)) == {("d0t1", "q"): 5, ("d0t2", "q"): 5}


def test_aspects_of_an_item_stay_together() -> None:
    work = table(
        ("b", "y", "d", 2, 5.0, 5.0, 1),
        ("a", "y", "d", 1, 5.0, 5.0, 1),
        ("b", "x", "d", 2, 5.0, 5.0, 1),
        ("a", "x", "d", 1, 5.0, 5.0, 1),
    )
    (bundle,) = build(work)
    assert [(each.item, each.aspect) for each in bundle.items] == [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]


def test_the_largest_setup_of_a_group_counts() -> None:
    (bundle,) = build(table(("a", "q", "d", 1, 5.0, 0.0, 1), ("b", "q", "d", 2, 5.0, 30.0, 1)))
    assert bundle.expected_s == 40.0


def test_questions_that_take_no_time_do_not_pile_up() -> None:
    # Half a second each at least: 60 s hold 120 of them.
    bundles = build(dialogues([1] * 300, effort=0.0, setup=0.0), target_minutes=1)
    assert max(len(bundle.items) for bundle in bundles) == 120


def test_no_work_is_no_bundle() -> None:
    assert build(dialogues([2], needed=0)) == ()
    assert build(dialogues([])) == ()


def test_short_and_long_groups_are_mixed() -> None:
    # 60 groups of 15 s and 60 of 45 s; every bundle of 600 s gets some of both, which in order of size none would.
    short, long = dialogues([1] * 60, effort=10.0, setup=5.0), dialogues([1] * 60, effort=40.0, setup=5.0)
    long = long.assign(item="long-" + long["item"], group="long-" + long["group"])
    for bundle in build(pd.concat([short, long]), target_minutes=10):
        assert {each.effort_s for each in bundle.items} == {10.0, 40.0}


# --- gold


def test_every_bundle_has_its_share_of_gold() -> None:
    # Groups of one question: 30 s each, gold 30 s; 720 s less a tenth for gold leaves 648 s = 21 questions;
    # gold is 21 x 0.1 / 0.9 = 2.33, so 2 of 23.
    bundles = build(dialogues([1] * 42), gold=GOLD, gold_share=0.1)
    assert [sum(each.is_gold for each in bundle.items) for bundle in bundles] == [2, 2]
    assert [len(bundle.items) for bundle in bundles] == [23, 23]


def test_a_small_bundle_has_one_gold_question_at_least() -> None:
    (bundle,) = build(dialogues([1]), gold=GOLD)
    assert sum(each.is_gold for each in bundle.items) == 1


def test_gold_does_not_come_again_before_all_came() -> None:
    bundles = build(dialogues([1] * 21 * 15), gold=GOLD, gold_share=0.1)
    assert len(bundles) == 15  # two gold questions each: all 30 once
    assert set(gold_seen(bundles).values()) == {3}
    assert len(gold_seen(bundles)) == 30


def test_every_turn_of_a_gold_dialogue_gets_its_turn() -> None:
    gold = dialogues([5]).replace({"group": {"d0": "gold"}})
    gold["item"] = [f"g{n}" for n in range(5)]
    bundles = build(dialogues([1] * 5, effort=400.0), gold=gold, gold_share=0.1)
    assert len(bundles) == 5
    assert gold_seen(bundles) == {(f"g{n}", "q"): 3 for n in range(5)}


def test_gold_seen_in_earlier_rounds_comes_last() -> None:
    seen = {(f"g{n}", "q"): 1 for n in range(29)}
    (bundle,) = build(dialogues([1]), gold=GOLD, seen=seen)
    assert [each.item for each in bundle.items if each.is_gold] == ["g29"]


def test_gold_that_is_work_is_asked_as_work_only() -> None:
    work = dialogues([1, 1])
    (bundle,) = build(work, gold=pd.concat([work, GOLD]))
    assert asked((bundle,)) == {("d0t1", "q"): 3, ("d1t1", "q"): 3}
    assert {each.item for each in bundle.items if each.is_gold} <= set(GOLD["item"])


def test_gold_of_a_group_takes_its_place_in_it() -> None:
    gold = table(("g", "q", "d0", 2, 10.0, 20.0, 0))
    (bundle,) = build(dialogues([3]).query("position != 2"), gold=gold)
    assert [(each.position, each.is_gold) for each in bundle.items] == [(1, False), (2, True), (3, False)]
    assert bundle.expected_s == 50.0  # read into once, three questions


def test_gold_stands_anywhere_in_a_bundle() -> None:
    places = Counter(
        index
        for seed in range(60)
        for bundle in build(dialogues([1] * 4), seed, gold=GOLD)
        for index, each in enumerate(bundle.items)
        if each.is_gold
    )
    # One gold question among five places, 60 times: 12 each expected, standard deviation sqrt(60 x .2 x .8) = 3.1.
    assert set(places) == {0, 1, 2, 3, 4}
    assert min(places.values()) >= 2


def test_no_gold_if_the_share_is_zero() -> None:
    (bundle,) = build(dialogues([1]), gold=GOLD, gold_share=0)
    assert not any(each.is_gold for each in bundle.items)


def test_keys_do_not_hang_on_gold_but_on_round_and_campaign() -> None:
    work = dialogues([2])
    key = build(work)[0].key
    assert build(work, seed=5, gold=GOLD)[0].key == key
    assert len({key, build(work, round=2)[0].key, build(work, campaign="e")[0].key}) == 3


# --- for any work


@st.composite
def works(draw: st.DrawFn) -> pd.DataFrame:
    rows = []
    for group in range(draw(st.integers(1, 12))):
        setup = draw(st.sampled_from([0.0, 5.0, 30.0]))
        for turn in range(draw(st.integers(1, 9))):
            effort, needed = draw(st.floats(0, 80)), draw(st.integers(0, 3))
            rows += [
                (f"{group}-{turn}", aspect, f"g{group}", turn, effort, setup, needed) for aspect in "xy"[: turn % 2 + 1]
            ]
    return table(*rows)


@given(work=works(), seed=st.integers(0, 99), minutes=st.sampled_from([1.5, 3.0, 12.0]), with_gold=st.booleans())
@settings(max_examples=150, deadline=None)
def test_every_need_is_met_exactly(work: pd.DataFrame, seed: int, minutes: float, with_gold: bool) -> None:
    gold = GOLD if with_gold else None
    bundles = build(work, seed, target_minutes=minutes, gold=gold)
    need = {(row.item, row.aspect): row.needed for row in work.itertuples() if row.needed}
    assert asked(bundles) == need
    assert len({bundle.key for bundle in bundles}) == len(bundles)
    held = defaultdict(list)
    for bundle in bundles:
        pairs = [(each.item, each.aspect) for each in bundle.items]
        assert len(set(pairs)) == len(pairs)
        for pair, each in zip(pairs, bundle.items, strict=True):
            held[pair] += [bundle.key] * (not each.is_gold)
        runs = [
            each.group
            for index, each in enumerate(bundle.items)
            if not index or bundle.items[index - 1].group != each.group
        ]
        assert len(set(runs)) == len(runs), "the items of a group follow one another"
        for group in runs:
            order = [each.position for each in bundle.items if each.group == group]
            assert order == sorted(order)
        assert not with_gold or any(each.is_gold for each in bundle.items)
        work_groups = {each.group for each in bundle.items if not each.is_gold}
        assert len(work_groups) == 1 or bundle.expected_s <= minutes * 60 + 1e-6
    assert all(len(keys) <= 1 for keys in held.values()), "nobody meets a question in two bundles"


@given(work=works(), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_the_seed_decides_and_the_order_of_rows_does_not(work: pd.DataFrame, seed: int) -> None:
    again = work.sample(frac=1, random_state=seed)
    gold = GOLD.sample(frac=1, random_state=seed)
    assert build(work, seed, gold=GOLD) == build(again, seed, gold=gold)


@given(work=works(), seed=st.integers(0, 99), data=st.data())
@settings(max_examples=100, deadline=None)
def test_salvage_asks_exactly_what_is_missing(work: pd.DataFrame, seed: int, data: st.DataObject) -> None:
    bundles = build(work, seed, target_minutes=1.5, gold=GOLD)
    answers: Counter[tuple[str, str]] = Counter()
    still_open = {}
    for bundle in bundles:
        still_open[bundle.key] = data.draw(st.integers(0, bundle.redundancy))
        for each in bundle.items:  # a submission may have answered a part of the questions
            answers[each.item, each.aspect] += data.draw(st.integers(0, bundle.redundancy - still_open[bundle.key]))
    missing = salvage(bundles, answers, still_open=still_open)
    again = build(missing, seed, round=2, gold=GOLD)
    coming: Counter[tuple[str, str]] = Counter()
    for bundle in bundles:
        for each in bundle.items:
            if not each.is_gold:
                coming[each.item, each.aspect] += still_open[bundle.key]
    for pair, needed in asked(bundles).items():
        assert answers[pair] + coming[pair] + asked(again)[pair] == needed
    everything = [*bundles, *again]
    opened = still_open | {bundle.key: bundle.redundancy for bundle in again}
    assert salvage(everything, answers, still_open=opened).empty, "nothing is asked twice"


def test_salvage_keeps_what_packing_needs() -> None:
    question = BundleItem("a", "q", "d", 4, effort_s=9.0, setup_s=3.0)
    missing = salvage([Bundle("k", (question,), 3, 12.0)], {("a", "q"): 2})
    assert list(missing.columns) == [*COLUMNS, "hit"]
    assert missing.to_numpy().tolist() == [["a", "q", "d", 4, 9.0, 3.0, 1, "k"]]


def test_salvage_takes_a_new_need() -> None:
    question = BundleItem("a", "q", "d", 1)
    missing = salvage([Bundle("k", (question,), 3, 9.0)], {("a", "q"): 3}, needed={("a", "q"): 5})
    assert missing["needed"].tolist() == [2]


def test_salvage_asks_nothing_when_more_came_than_needed() -> None:
    assert salvage([Bundle("k", (BundleItem("a", "q", "d", 1),), 2, 9.0)], {("a", "q"): 4}).empty


# --- what is refused


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"effort_s": [-1.0, 10.0]}, {}, r"work effort_s must be .* row 0 \(-1.0\)"),
        ({"effort_s": [10.0, float("nan")]}, {}, r"work effort_s must be .* row 1 \(nan\)"),
        ({"position": [0.5, 1]}, {}, r"work position must be whole numbers: row 0 \(0.5\)"),
        ({"needed": [1, -2]}, {}, r"work needed must be .* row 1 \(-2"),
        ({"item": ["a", "a"]}, {}, "work has the item 'a' with the aspect 'q' twice; keep one row"),
        ({"item": [1, 2]}, {}, r"work item must be text: rows 0 \(1\), 1 \(2\)"),
        ({}, {"target_minutes": 0}, "target_minutes is 0"),
        ({}, {"gold_share": 1.0}, "gold_share is 1.0"),
        ({}, {"gold": GOLD.assign(effort_s=400.0)}, "takes 420 s, over half of a HIT of 720 s; drop it"),
        ({}, {"gold": GOLD.drop(columns="group")}, "gold lacks the column group"),
    ],
)
def test_bad_arguments_are_named(change: dict[str, Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build(dialogues([2]).assign(**change), **options)


def test_answers_needed_must_come_from_somewhere() -> None:
    with pytest.raises(InputError, match="redundancy is missing"):
        build(dialogues([2]).drop(columns="needed"))


def test_salvage_refuses_bundles_that_it_does_not_know() -> None:
    with pytest.raises(InputError, match="still_open names the bundle 'x'"):
        salvage([], {}, still_open={"x": 1})


def test_salvage_refuses_more_open_places_than_there_are() -> None:
    with pytest.raises(InputError, match="still_open is 4 for 'k', which has 3 places"):
        salvage([Bundle("k", (BundleItem("a", "q", "d", 1),), 3, 9.0)], {}, still_open={"k": 4})


def test_a_hundred_thousand_questions_are_bundled() -> None:
    rng = np.random.default_rng(3)
    count = 100_000
    groups = np.arange(count) // 6
    work = {
        "item": [f"i{n}" for n in range(count)],
        "aspect": ["q"] * count,
        "group": [f"d{n}" for n in groups],
        "position": np.arange(count) % 6,
        "effort_s": rng.gamma(2.0, 5.0, count),
        "setup_s": np.full(count, 12.0),
        "needed": np.full(count, 3),
    }
    bundles = build(work, gold=GOLD)
    assert sum(asked(bundles).values()) == 3 * count
    full = np.array([bundle.expected_s for bundle in bundles])
    # All but the last few are filled to nine tenths of 12 minutes and none is longer.
    assert full.max() <= 720 + 1e-6
    assert np.mean(full > 0.9 * 720) > 0.99


def test_a_missing_column_is_a_frame_error() -> None:
    with pytest.raises(FrameError, match="work lacks the column setup_s; give"):
        build(dialogues([2]).drop(columns="setup_s"))
