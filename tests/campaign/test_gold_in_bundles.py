"""Which gold stands in which bundle: balanced, within limit and time, and never twice where there is enough."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmc_crowd.campaign.bundles import Bundle, build_hits, gold_seen
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def work(n: int, *, effort: float = 30.0, needed: int = 3) -> pd.DataFrame:
    names = [f"i{row:03d}" for row in range(n)]
    return pd.DataFrame(
        {"item": names, "aspect": "q", "group": names, "position": 1, "effort_s": effort, "setup_s": 0.0}
    ).assign(needed=needed)


def gold_of(labels: Sequence[Any], *, effort: float = 10.0, groups: int | None = None, **columns: Any) -> pd.DataFrame:
    """Gold g000, g001, ... with these labels; one group each, or so many in a group."""
    names = [f"g{row:03d}" for row in range(len(labels))]
    group = names if groups is None else [f"d{row // groups}" for row in range(len(labels))]
    return pd.DataFrame(
        {"item": names, "aspect": "q", "group": group, "position": range(len(labels)), "label": labels}
    ).assign(effort_s=effort, setup_s=20.0, **columns)


def build(n_hits: int, gold: pd.DataFrame, *, per_hit: int = 1, seed: int = 0, **options: Any) -> tuple[Bundle, ...]:
    """Make bundles of nine items (270 s) and one or two gold.

    One: 9 x .1 / .9 = 1, and 300 s less a tenth are 270 s. Two: 9 x .18 / .82 = 1.98, and 330 s less .18 are 270.6 s.
    """
    usual = {"target_minutes": 5.0, "gold_share": 0.1} if per_hit == 1 else {"target_minutes": 5.5, "gold_share": 0.18}
    options = {"campaign": "c", "round": 1, **usual, **options}
    bundles = build_hits(work(9 * n_hits), gold=gold, rng=np.random.default_rng(seed), **options)
    assert len(bundles) == n_hits
    return bundles


def gold_in(bundles: Iterable[Bundle]) -> list[list[str]]:
    return [[each.item for each in bundle.items if each.is_gold] for bundle in bundles]


def label_counts(bundles: Iterable[Bundle], gold: pd.DataFrame) -> Counter[Any]:
    label = dict(zip(gold["item"], gold["label"], strict=True))
    return Counter(label[item] for some in gold_in(bundles) for item in some)


@pytest.mark.parametrize("seed", range(3))
def test_labels_are_balanced_and_none_comes_twice_while_there_is_enough(seed: int) -> None:
    # Two gold in each of 10 bundles are 20 of 40: ten of each label, though rude is a quarter.
    gold = gold_of(["fine"] * 30 + ["rude"] * 10)
    bundles = build(10, gold, per_hit=2, seed=seed)
    assert label_counts(bundles, gold) == {"fine": 10, "rude": 10}
    assert max(Counter(item for some in gold_in(bundles) for item in some).values()) == 1


def test_a_label_with_little_gold_is_not_repeated_before_the_rest_came() -> None:
    # 20 gold are wanted and there are 20: each comes once, the four rude among them.
    gold = gold_of(["fine"] * 16 + ["rude"] * 4)
    bundles = build(10, gold, per_hit=2)
    assert label_counts(bundles, gold) == {"fine": 16, "rude": 4}
    assert set(gold_seen(bundles).values()) == {3}


def test_gold_that_must_come_again_is_balanced_within_three_times() -> None:
    # 60 bundles over 10 gold: rude (one item) at most 3 x 1/10 of 60.
    gold = gold_of(["fine"] * 9 + ["rude"])
    counts = label_counts(build(60, gold), gold)
    assert counts["rude"] == pytest.approx(18, abs=1)
    # Six of ten and four of ten are near enough to be halves.
    gold = gold_of(["fine"] * 6 + ["rude"] * 4)
    counts = label_counts(build(60, gold), gold)
    assert counts["rude"] == pytest.approx(30, abs=1)


def test_steps_of_difficulty_take_turns_too() -> None:
    gold = gold_of(["fine"] * 12, difficulty=np.arange(12.0))
    step = {item: row // 4 for row, item in enumerate(gold["item"])}
    counts = Counter(step[item] for some in gold_in(build(6, gold)) for item in some)
    assert counts == {0: 2, 1: 2, 2: 2}


def test_ratings_are_balanced_in_steps() -> None:
    # 30 of the 40 ratings lie at 50 to 59; the five steps of 0 to 100 are 20 wide. Ten gold: two of each step.
    gold = gold_of(
        [*np.linspace(50, 59, 30), *np.linspace(0, 18, 3), *np.linspace(21, 39, 2), *[70.0] * 3, 90.0, 100.0]
    )
    label = dict(zip(gold["item"], gold["label"], strict=True))
    counts = Counter(min(int(label[item] // 20), 4) for some in gold_in(build(10, gold)) for item in some)
    assert counts == {0: 2, 1: 2, 2: 2, 3: 2, 4: 2}


def test_labels_of_different_questions_are_not_mixed_up() -> None:
    gold = gold_of(["yes"] * 8 + ["yes"] * 4).assign(aspect=["q"] * 8 + ["other"] * 4)
    counts = Counter(each.aspect for bundle in build(6, gold) for each in bundle.items if each.is_gold)
    assert counts == {"q": 3, "other": 3}


def test_gold_that_nobody_knows_comes_before_that_of_earlier_rounds() -> None:
    gold = gold_of(["fine"] * 10 + ["rude"] * 10)
    seen = {(f"g{row:03d}", "q"): 3 for row in range(0, 20, 2)}
    bundles = build(10, gold, seen=seen, round=2)
    assert not {(item, "q") for some in gold_in(bundles) for item in some} & set(seen)


def test_gold_rests_at_its_limit_and_what_is_left_is_spread() -> None:
    # Three people do a bundle, so 7 are two bundles for each of four gold: every second of 16 bundles has one.
    bundles = build(16, gold_of(["fine"] * 4), gold_limit=7)
    assert set(gold_seen(bundles).values()) == {6}
    assert [len(some) for some in gold_in(bundles)] == [0, 1] * 8


def test_the_limit_counts_earlier_rounds() -> None:
    seen = {("g000", "q"): 6, ("g001", "q"): 3, ("g002", "q"): 5}
    bundles = build(8, gold_of(["fine"] * 3), seen=seen, gold_limit=6)
    assert gold_seen(bundles) == {("g001", "q"): 3}


@given(
    labels=st.lists(st.sampled_from(["fine", "rude", "odd"]), min_size=1, max_size=8),
    limit=st.integers(3, 12),
    share=st.sampled_from([0.1, 0.3]),
    seed=st.integers(0, 99),
)
@settings(max_examples=40, deadline=None)
def test_no_gold_passes_its_limit_nor_stands_twice_in_a_bundle(
    labels: list[str], limit: int, share: float, seed: int
) -> None:
    gold = gold_of(labels, groups=3)
    every = work(40).assign(needed=[1 + row % 3 for row in range(40)])
    options: dict[str, Any] = {"campaign": "c", "round": 1, "target_minutes": 5, "gold_share": share}
    bundles = build_hits(every, gold=gold, gold_limit=limit, rng=np.random.default_rng(seed), **options)
    assert max(gold_seen(bundles).values(), default=0) <= limit
    assert all(len(set(some)) == len(some) for some in gold_in(bundles))
    assert all(bundle.expected_s <= 5 * 60 + 1e-9 for bundle in bundles)


def test_a_limit_below_the_places_of_a_bundle_is_refused() -> None:
    with pytest.raises(InputError, match=r"gold_limit is 2, but 3 people do a HIT .* give at least 3"):
        build(1, gold_of(["fine"]), gold_limit=2)
    with pytest.raises(InputError, match="gold_limit is 0"):
        build(1, gold_of(["fine"]), gold_limit=0)


def test_who_takes_every_bundle_meets_no_gold_twice() -> None:
    bundles = build(12, gold_of(["fine"] * 20 + ["rude"] * 4), per_hit=2)
    met = [item for some in gold_in(bundles) for item in some]
    assert len(met) == len(set(met)) == 24


def test_gold_of_a_dialogue_that_is_read_anyway_comes_first() -> None:
    # 360 s less 270 s of work leave 90 s: two gold fit only from one dialogue, 20 + 2 x 35 s and not 2 x (20 + 35) s.
    gold = gold_of(["fine"] * 8, effort=35.0, groups=4)
    for bundle in build(4, gold, per_hit=2, target_minutes=6):
        assert len({each.group for each in bundle.items if each.is_gold}) == 1
        assert sum(each.is_gold for each in bundle.items) == 2


def test_gold_columns_of_another_length_are_refused() -> None:
    columns: dict[str, Any] = gold_of(["fine"] * 3).to_dict("list")
    with pytest.raises((FrameError, InputError), match="gold label"):
        build(1, {**columns, "label": ["fine"]})  # type: ignore[arg-type]
