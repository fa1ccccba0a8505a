"""How many pairs must people still see, if a machine judges those it is sure of?

    python examples/judge_and_people.py [--target .9]

117 pairs of responses with four people's preferences each (written for this example) are judged by length, by overlap
with a reference, by meaning (where the extra `text` is installed), and by the best of them for each kind of task. Each
judge's confidence is calibrated on one half of the instructions and used on the other, and the other way round. Then
the doubtful pairs go to people: at equal agreement with people, who leaves them the least to do? At the end the models'
win rates, from few labels of people and many of the machine.
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec

import numpy as np
import pandas as pd

from hmc_crowd.aggregation import aggregate
from hmc_crowd.judges import (
    EmbeddingJudge,
    JudgeCalibration,
    LengthJudge,
    RougeJudge,
    compare_judges,
    example_pairs,
    outcomes_of,
    people_needed,
)
from hmc_crowd.metrics import outcome_scores, ppi_mean

LABELLED = 48  # pairs whose answers of people the win rates may use


def halves(instructions: pd.Series, rng: np.random.Generator) -> np.ndarray:
    """Deal whole instructions into two halves; return the half of each pair."""
    names = instructions.unique()
    dealt = dict(zip(rng.permutation(names), np.arange(len(names)) % 2, strict=True))
    return instructions.map(dealt).to_numpy()


def calibrated(judged: pd.DataFrame, truth: dict[str, str], half: np.ndarray) -> pd.DataFrame:
    """Calibrate each half's confidence on the other half."""
    parts = []
    for each in (0, 1):
        learnt = JudgeCalibration().fit(judged[half != each], truth)
        parts.append(learnt.transform(judged[half == each]))
    return pd.concat(parts).sort_index()


def main() -> None:
    """Judge, calibrate, and tell what is left for people."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", type=float, default=0.9, help="agreement with people that the mix must reach")
    given = parser.parse_args()
    rng = np.random.default_rng(2026)

    pairs, answers = example_pairs()
    labels = aggregate(answers, method="majority").frame
    truth = dict(zip(labels["item"], labels["label"], strict=True))
    judges = {"longer": LengthJudge("longer"), "rouge": RougeJudge(), "rougeL": RougeJudge("rougeL")}
    if find_spec("torch") and find_spec("transformers"):
        judges["embedding"] = EmbeddingJudge()
    judged = {name: judge.judge(pairs) for name, judge in judges.items()}

    study = compare_judges(pairs, answers, judged)
    print("Leave-one-out agreement with people, percent")
    print(study.table().round(1).to_string(index=False))

    half = halves(pairs["instruction"], rng)
    sure = {name: calibrated(each, truth, half) for name, each in judged.items()}
    print(f"\nWith {given.target:.0%} of the final labels as people's majority:")
    needed = {
        name: people_needed(each, truth, target=given.target, clusters=pairs["instruction"], rng=rng)
        for name, each in sure.items()
    }
    for name, found in sorted(needed.items(), key=lambda pair: pair[1].share):
        print(f"  {name:10} {found}")

    best = min(needed, key=lambda name: needed[name].share)
    print(f"\nWin rates against the baseline, {LABELLED} pairs judged by people, all by {best}:")
    chosen = rng.permutation(len(pairs)) < LABELLED
    machine = outcome_scores(outcomes_of(judged[best]))
    words = {"a": "win", "b": "loss", "tie": "tie"}
    people = outcome_scores([words[truth[item]] for item in pairs["item"]])
    for model in sorted(pairs["model"].unique()):
        here = (pairs["model"] == model).to_numpy()
        asked, rest = here & chosen, here & ~chosen
        rate = ppi_mean(people[asked], machine[asked], machine[rest], small_sample=True)
        everybody = people[here].mean()
        print(f"  {model:10} {rate.value:.2f} [{rate.low:.2f}, {rate.high:.2f}]  (all asked: {everybody:.2f})")


if __name__ == "__main__":
    main()
