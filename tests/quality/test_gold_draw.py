"""Gold for a worker: never twice, within the limit, balanced, rotating; and what it costs."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality import draw_gold, gold_load

POOL = pd.DataFrame(
    {
        "item": [f"g{number:02d}" for number in range(24)],
        "label": ["yes"] * 18 + ["no"] * 6,
        "difficulty": np.tile([0.1, 0.5, 0.9], 8),
    }
)
LABEL = dict(zip(POOL["item"], POOL["label"], strict=True))
HARD = dict(zip(POOL["item"], POOL["difficulty"], strict=True))


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_labels_are_balanced_although_the_pool_is_not() -> None:
    for seed in range(10):
        drawn = draw_gold(POOL, 6, rng=rng(seed))
        assert Counter(LABEL[item] for item in drawn.items) == {"yes": 3, "no": 3}


def test_difficulties_are_balanced_within_a_label() -> None:
    for seed in range(10):
        drawn = draw_gold(POOL, 6, rng=rng(seed))
        assert sorted(HARD[item] for item in drawn.items) == [0.1, 0.1, 0.5, 0.5, 0.9, 0.9]


@settings(max_examples=60, deadline=None)
@given(st.sets(st.sampled_from(POOL["item"].tolist())), st.integers(0, 30), st.integers(0, 999))
def test_never_the_same_gold_twice_for_a_worker(seen: set[str], n: int, seed: int) -> None:
    drawn = draw_gold(POOL, n, seen=seen, rng=rng(seed))
    assert not set(drawn.items) & seen
    assert len(set(drawn.items)) == len(drawn.items) == min(n, len(POOL) - len(seen))
    assert bool(drawn.reason) == (len(drawn.items) < n)


def test_the_limit_holds_whatever_the_crowd_does() -> None:
    shown: Counter[str] = Counter()
    fewer = 0
    for worker in range(60):
        drawn = draw_gold(POOL, 5, exposures=shown, limit=10, rng=rng(worker))
        shown.update(drawn.items)
        fewer += len(drawn.items) < 5
    # 24 items of 10 exposures are 240, 60 workers want 300: twelve of them go short.
    assert max(shown.values()) == 10
    assert sum(shown.values()) == 240
    assert fewer >= 12


def test_gold_rotates() -> None:
    shown: Counter[str] = Counter()
    for worker in range(40):
        shown.update(draw_gold(POOL, 4, exposures=shown, rng=rng(worker)).items)
    # Two of each label: 80 exposures over 18 items and over 6, spread evenly within a label and difficulty.
    of = {label: [shown[item] for item in POOL["item"] if LABEL[item] == label] for label in ("yes", "no")}
    assert (sum(of["yes"]), sum(of["no"])) == (80, 80)
    assert max(of["yes"]) - min(of["yes"]) <= 4
    assert min(of["no"]) >= 10


def test_why_there_are_fewer_is_said() -> None:
    drawn = draw_gold(POOL, 3, seen=POOL["item"][:20], exposures={"g20": 9, "g21": 9}, limit=9, rng=rng())
    assert len(drawn.items) == 2
    assert drawn.reason == "of 24 items the worker has met 20, and 2 rest at their limit: make more gold"


def test_the_same_generator_draws_the_same() -> None:
    assert draw_gold(POOL, 5, rng=rng(3)) == draw_gold(POOL, 5, rng=rng(3))


def test_unknown_difficulty_is_a_step_of_its_own() -> None:
    pool = POOL.assign(difficulty=[np.nan] * 12 + [0.5] * 12)
    assert len(draw_gold(pool, 24, rng=rng()).items) == 24


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: draw_gold(POOL.iloc[:0], 1, rng=rng()), "pool is empty"),
        (lambda: draw_gold(POOL.drop(columns="label"), 1, rng=rng()), "lacks the column label"),
        (lambda: draw_gold(pd.concat([POOL, POOL]), 1, rng=rng()), "'g00' twice"),
        (lambda: draw_gold(POOL, -1, rng=rng()), "n is -1"),
        (lambda: draw_gold(POOL, 1, limit=0, rng=rng()), "limit is 0"),
        (
            lambda: gold_load(answers=1, workers=1, per_hit=3, gold_per_hit=3, answer_minor=1),
            "gold_per_hit is 3 of 3",
        ),
        (lambda: gold_load(answers=1, workers=0, per_hit=3, gold_per_hit=1, answer_minor=1), "workers 0"),
    ],
)
def test_wrong_input_is_one_sentence(call: object, words: str) -> None:
    with pytest.raises((InputError, FrameError), match=words):
        call()  # type: ignore[operator]


def test_the_load_by_hand() -> None:
    # 1,000 answers, 8 a HIT besides 2 gold: 125 HITs, 250 gold answers of 1,250; at 12.5 minor units: 3,125.
    load = gold_load(answers=1000, workers=25, per_hit=10, gold_per_hit=2, answer_minor=12.5)
    assert (load.answers, load.share, load.cost_minor) == (250, 0.2, 3125)
    # ten each: nobody may meet one twice; 1.96 * sqrt(.16 / 12) = .226
    assert (load.per_worker, load.items_needed) == (10, 10)
    assert load.half_width == pytest.approx(0.226, abs=0.001)


def test_without_gold_it_costs_nothing_and_tells_nothing() -> None:
    load = gold_load(answers=1000, workers=25, per_hit=10, gold_per_hit=0, answer_minor=5)
    assert (load.answers, load.cost_minor, load.half_width, load.items_needed) == (0, 0, 0.5, 0)
