"""Gold in turns: balance over labels and steps, the least shown first, caps and limits."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmc_crowd.errors import InputError
from hmc_crowd.quality import GoldTurns, gold_cells


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def drawn(turns: GoldTurns, n: int, *, times: int = 1) -> list[int]:
    """Draw n items one at a time, each given back at once."""
    rows = []
    for _ in range(n):
        row = turns.draw(times=times)
        if row is None:
            break
        turns.give_back([row], times=times)
        rows.append(row)
    return rows


def test_labels_take_turns_whatever_their_numbers() -> None:
    cells = gold_cells(["a"] * 7 + ["b"] * 2 + ["c"])
    for seed in range(5):
        rows = drawn(GoldTurns(cells, [0] * 10, rng=rng(seed)), 9)
        names = [cells[row][0] for row in rows]
        assert all(set(names[start : start + 3]) == {"a", "b", "c"} for start in (0, 3, 6))


def test_within_a_label_the_steps_take_turns() -> None:
    # Thirds of 1..9: three easy, three middling, three hard, all of one label.
    cells = gold_cells(["a"] * 9, np.arange(1.0, 10.0))
    rows = drawn(GoldTurns(cells, [0] * 9, rng=rng()), 6)
    assert sorted(cells[row][1] for row in rows[:3]) == [0, 1, 2]
    assert sorted(cells[row][1] for row in rows[3:]) == [0, 1, 2]


def test_unknown_difficulty_is_a_step_of_its_own() -> None:
    assert gold_cells(["a", "a"], [0.5, math.nan]) == [("a", 0), ("a", -1)]


def test_the_least_shown_of_a_cell_comes_first() -> None:
    turns = GoldTurns(gold_cells(["a"] * 4), [5, 2, 0, 1], rng=rng())
    # 2 is at 0, then at 1 like 3, which has waited longer; then 2 stands at 1 and 1 and 3 at 2.
    assert drawn(turns, 3) == [2, 3, 2]


@pytest.mark.parametrize("seed", range(3))
def test_equally_shown_gold_comes_in_the_order_of_its_last_turn(seed: int) -> None:
    rows = drawn(GoldTurns(gold_cells(["a"] * 6), [0] * 6, rng=rng(seed)), 18)
    assert sorted(rows[:6]) == list(range(6))
    assert rows[6:12] == rows[:6]
    assert rows[12:] == rows[:6]


def test_what_was_drawn_does_not_come_again_until_given_back() -> None:
    turns = GoldTurns(gold_cells(["a"] * 3), [0] * 3, rng=rng())
    first = [turns.draw(), turns.draw(), turns.draw()]
    assert sorted(row for row in first if row is not None) == [0, 1, 2]
    assert turns.draw() is None
    turns.give_back([1])
    assert turns.draw() == 1


def test_a_rare_label_is_not_worn_out() -> None:
    # 18 of a, 2 of b: in turns b would be half of all, each b shown 5 times as often as if all took turns (.5 / .1).
    # At most three times: b is 3 x 2/20 = .3 of 200 draws, 60.
    cells = gold_cells(["a"] * 18 + ["b"] * 2)
    rows = drawn(GoldTurns(cells, [0] * 20, most=3.0, rng=rng()), 200)
    assert Counter(cells[row][0] for row in rows) == {"a": 140, "b": 60}


def test_what_a_cap_leaves_is_shared_equally() -> None:
    # Shares of c at most 2 x 1/10 = .2; a and b share .8 equally, and 2 x 4/10, 2 x 5/10 do not bind.
    cells = gold_cells(["a"] * 4 + ["b"] * 5 + ["c"])
    rows = drawn(GoldTurns(cells, [0] * 10, most=2.0, rng=rng()), 100)
    assert Counter(cells[row][0] for row in rows) == {"a": 40, "b": 40, "c": 20}


@given(
    labels=st.lists(st.sampled_from("abc"), min_size=1, max_size=12),
    hard=st.lists(st.floats(0, 1), min_size=12, max_size=12),
    limit=st.integers(1, 5),
    times=st.integers(1, 3),
    seed=st.integers(0, 9),
)
def test_no_item_passes_its_limit_and_all_room_is_used(
    labels: list[str], hard: list[float], limit: int, times: int, seed: int
) -> None:
    shown = [row % 3 for row in range(len(labels))]
    turns = GoldTurns(gold_cells(labels, hard[: len(labels)]), shown, limit=limit, most=3.0, rng=rng(seed))
    count = Counter(drawn(turns, 200, times=times))
    for row, before in enumerate(shown):
        # So many draws of `times` people fit between what was shown and the limit.
        assert count[row] == max(0, (limit - before) // times)


@given(n=st.integers(1, 15), most=st.sampled_from([1.0, 1.5, 3.0, math.inf]), seed=st.integers(0, 9))
def test_no_cell_is_drawn_more_than_its_cap(n: int, most: float, seed: int) -> None:
    labels = list(rng(seed).choice(["a", "b", "c"], n, p=[0.7, 0.2, 0.1]))
    cells = gold_cells(labels, rng(seed).random(n))
    count = Counter(cells[row] for row in drawn(GoldTurns(cells, [0] * n, most=most, rng=rng(seed)), 600))
    for cell, size in Counter(cells).items():
        assert count[cell] <= min(600, most * 600 * size / n) + 3


def test_what_does_not_fit_keeps_its_turn() -> None:
    turns = GoldTurns(gold_cells(["a", "b"]), [0, 0], rng=rng())
    assert turns.draw(fits=lambda row: row == 0) == 0
    turns.give_back([0])
    # b is behind: it comes twice as soon as it may.
    assert drawn(turns, 1) == [1]
    assert turns.draw(fits=lambda row: False) is None


def test_near_items_come_first_within_a_label_and_one_showing_early() -> None:
    def first(shown: list[int], *, near: list[int], times: int = 1) -> int | None:
        # A third of the gold is of each step of difficulty.
        return GoldTurns(gold_cells(["a"] * 6, range(6)), shown, rng=rng()).draw(near=near, times=times)

    assert first([0, 0, 0, 0, 0, 0], near=[5]) == 5
    assert first([0, 0, 0, 1, 0, 0], near=[3]) == 3
    assert first([0, 0, 0, 2, 0, 0], near=[3]) != 3
    assert first([0, 0, 0, 2, 0, 0], near=[3], times=2) == 3


def test_a_near_item_of_another_label_waits_for_its_turn() -> None:
    turns = GoldTurns(gold_cells(["a", "a", "b"]), [0, 0, 0], rng=rng())
    turns.give_back([turns.draw(fits=lambda row: row == 2) or 0])
    assert turns.draw(near=[2]) in {0, 1}


def test_numbers_are_put_into_steps_and_few_values_are_labels() -> None:
    assert gold_cells([1, 2, 3, 4, 5]) == [(each, 0) for each in (1, 2, 3, 4, 5)]
    # Six values from 0 to 10: steps of two; the top value belongs to the last.
    names = [name for name, _ in gold_cells([0.0, 1.9, 2.0, 5.0, 8.0, 10.0, None, math.nan])]
    assert names == ["0 to 2", "0 to 2", "2 to 4", "4 to 6", "8 to 10", "8 to 10", None, None]


def test_true_and_false_are_labels() -> None:
    assert [name for name, _ in gold_cells([True, False])] == [True, False]


def test_a_senseless_limit_is_said() -> None:
    with pytest.raises(InputError, match="limit is 0"):
        GoldTurns([], [], limit=0, rng=rng())


def test_no_gold_is_no_draw() -> None:
    assert GoldTurns([], [], rng=rng()).draw() is None
