"""Gates on a stream: batch after batch, one at a time, deciding what they would decide about all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.quality import ConsensusGate, LearnedGate, RuleGate, WeightedGate, compare_gates, cross_decide

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hmc_crowd.quality import GateBase

WORKERS = {f"w{n}": 0.55 + 0.08 * n for n in range(5)}


def crowd(n: int, seed: int) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(seed)
    truth = pd.Series(rng.integers(0, 4, n), index=[f"i{k:04d}" for k in range(n)])
    rows = [
        (item, worker, label if rng.random() < skill else (label + rng.integers(1, 4)) % 4)
        for item, label in truth.items()
        for worker, skill in WORKERS.items()
    ]
    return pd.DataFrame(rows, columns=["task", "worker", "label"]), truth


ANSWERS, TRUTH = crowd(240, 1)


@pytest.mark.parametrize(
    "gate",
    [
        RuleGate(risk=None, complexity=None),
        ConsensusGate(by="quality"),
        WeightedGate(),
        LearnedGate().fit(None, ANSWERS, WORKERS, gold=TRUTH),
    ],
    ids=lambda gate: gate.name,
)
def test_batches_are_decided_like_all_at_once(gate: GateBase) -> None:
    whole = gate.decide(None, ANSWERS, WORKERS).frame
    names = TRUTH.index.tolist()
    # Batches of one show one label or two of four.
    batches = ((None, ANSWERS[ANSWERS["task"].isin(names[at : at + size])]) for at, size in ((0, 1), (1, 3), (4, 236)))
    parts = pd.concat([each.frame for each in gate.stream(batches, WORKERS)], ignore_index=True)
    pd.testing.assert_frame_equal(parts, whole)


def test_one_batch_is_read_at_a_time() -> None:
    read = []

    def batches() -> Iterator[tuple[None, pd.DataFrame]]:
        for number in range(3):
            read.append(number)
            yield None, ANSWERS.head(5)

    stream = WeightedGate().stream(batches(), WORKERS)
    assert read == []
    next(stream)
    assert read == [0]


def test_nobody_is_judged_by_a_gate_that_has_seen_him_or_his_group() -> None:
    # Each item twice under two names: a gate that had seen the twin would know; labels of gold are pure chance.
    rng = np.random.default_rng(5)
    some = ANSWERS[ANSWERS["task"].isin(TRUTH.index[:120])]
    twins = pd.concat([some.assign(task=some["task"] + end) for end in ("-a", "-b")])
    luck = pd.Series(rng.integers(0, 4, 120), index=TRUTH.index[:120])
    gold = {item + end: label for item, label in luck.items() for end in ("-a", "-b")}
    groups = {item: item[:-2] for item in gold}
    held = cross_decide(LearnedGate("random_forest"), twins, WORKERS, gold=gold, groups=groups)
    found = compare_gates({"held": held}, None, twins, WORKERS, gold=gold).table.iloc[0]
    assert found["n"] == 240
    # Chance is wrong on three of four: a gate that has learnt that alone sends nearly everything.
    assert found["share_sent"] > 0.9


def test_several_sets_of_answers_to_one_item_count_once() -> None:
    few = ANSWERS[ANSWERS["task"].isin(TRUTH.index[:10])]
    many = pd.concat([few.assign(task=few["task"] + f"#{n}") for n in range(6)])
    gold = {task: TRUTH[task.partition("#")[0]] for task in many["task"].unique()}
    groups = {task: task.partition("#")[0] for task in gold}
    gate = LearnedGate().fit(None, many, WORKERS, gold=gold, groups=groups)
    # One of the ten is tied.
    assert "of 9 items to learn from" in gate.note_
