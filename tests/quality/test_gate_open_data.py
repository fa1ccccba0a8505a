"""What a learned gate spares on open data: fewer items to experts than the rules at the same final accuracy."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.aggregation import DawidSkene
from hmc_crowd.quality import ConsensusGate, LearnedGate, RuleGate, WeightedGate, compare_gates, gate_evidence

SETS = ("cf_amt", "sp", "s4_dog", "zencrowd_in")
ROOT = Path(__file__).parents[2]


def data_of(name: str) -> tuple[pd.DataFrame, pd.DataFrame] | None:
    """Answers, one per worker and task, and the truth; None where the data are absent."""
    folder = Path(os.environ.get("HMC_CROWD_DATA", ROOT.parent / "shared" / "data")) / "crowd" / name
    if not folder.is_dir():
        return None
    truth = pd.read_csv(folder / "truth.csv")
    truth.columns = pd.Index(["item", "label"])
    answers = pd.read_csv(folder / "answers.csv").drop_duplicates(["task", "worker"], keep="last")
    return answers[answers["task"].isin(truth["item"])], truth


Learner = tuple[str, str, bool]
LEARNERS: tuple[Learner, ...] = (
    ("logistic", "answers", False),
    ("logistic", "answers", True),
    ("random_forest", "answers", False),
    ("xgboost", "answers", False),
    ("xgboost", "source", False),
)


def fewer_items(name: str, orders: int, *, train: float, learners: tuple[Learner, ...]) -> pd.DataFrame | None:
    """Compare gates on what was not learnt from, over drawings of the gold: one row per drawing and gate.

    Quality is the skill that Dawid-Skene finds in the answers alone; complexity the share of pairs of answers that
    differ; the sets know no risk, urgency or text. ``fewer`` is the share of the rules' items that a gate saves at the
    rules' final accuracy; part of it comes from better labels where these are weighted.
    """
    found = data_of(name)
    if found is None:
        return None
    answers, truth = found
    quality = DawidSkene().fit(answers).skills_
    evidence = gate_evidence(None, answers, quality)
    items = pd.DataFrame({"item": evidence.item, "complexity": np.nan_to_num(evidence.disagreement, nan=1.0)})
    tables = []
    for order in range(orders):
        place = np.random.default_rng(order).permutation(len(items))
        known, held = np.split(place, [round(train * len(items))])
        gates: dict[str, Any] = {"rules": RuleGate(risk=None)}
        for kind, features, weighted in learners:
            gate = LearnedGate(kind, features=features, threshold=0.5, weighted=weighted)  # type: ignore[arg-type]
            label = f"{kind}, {features}{', weighted labels' if weighted else ''}"
            gates[label] = gate.fit(items.iloc[known], answers, quality, gold=truth)
        gates["consensus"], gates["weighted majority"] = ConsensusGate(by="quality"), WeightedGate()
        compared = compare_gates(gates, items.iloc[held], answers, quality, gold=truth).table
        fewer = 1 - compared["sent_at_equal"].astype(float) / compared["sent"].iloc[0]
        tables.append(compared.assign(order=order, fewer=fewer))
    return pd.concat(tables)


def spared(name: str, orders: int, train: float) -> float:
    """Share of the rules' items that a logistic gate saves, on the same labels at equal final accuracy."""
    table = fewer_items(name, orders, train=train, learners=LEARNERS[:1])
    if table is None:
        pytest.skip(f"no crowd data set {name}; set HMC_CROWD_DATA")
    sent = table.groupby("gate")[["sent", "sent_at_equal"]].agg(lambda one: one.astype(float).mean())
    return float(1 - sent.loc["logistic, answers", "sent_at_equal"] / sent.loc["rules", "sent"])


def test_a_learned_gate_spares_experts_on_one_set() -> None:
    assert spared("s4_dog", 1, 0.5) >= 0.2


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_a_learned_gate_sends_a_fifth_less_than_the_rules(name: str) -> None:
    assert spared(name, 20, 0.5) >= 0.2
