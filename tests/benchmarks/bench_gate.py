"""How many items does a learned gate spare, how good is the assignment of experts, and how fast are both?

Run from the repository's root: ``python -m tests.benchmarks gate``; ``HMC_CROWD_BENCH_ORDERS`` sets how many drawings
of the gold the open data get (20 in the figures of the documents). Times are processor seconds of one thread.
"""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np
import pandas as pd

from hmc_crowd.quality import (
    ConsensusGate,
    Expert,
    LearnedGate,
    MixSetting,
    RuleGate,
    WeightedGate,
    allocate_experts,
    best_transport,
    claims_over_grid,
    mix_table,
    simulate_mix,
)

ORDERS = int(os.environ.get("HMC_CROWD_BENCH_ORDERS", "3"))
Row = tuple[str, str]


def open_data(orders: int) -> list[Row]:
    from tests.quality.test_gate_open_data import LEARNERS, SETS, fewer_items

    rows: list[Row] = []
    means: dict[tuple[float, str], list[float]] = {}
    for train in (0.5, 0.2):
        for name in SETS:
            table = fewer_items(name, orders, train=train, learners=LEARNERS)
            if table is None:
                rows.append((f"{name}", "data absent: skipped"))
                continue
            for gate, part in table.groupby("gate", sort=False):
                low, high = part["fewer"].quantile([0.05, 0.95])
                text = f"sent {part['sent'].mean():6.1f} of {part['n'].mean():.0f}, recall {part['recall'].mean():.2f}"
                text += f", accuracy {part['accuracy_before'].mean():.3f} to {part['accuracy'].mean():.3f}"
                text += f", at the rules' accuracy {part['fewer'].mean():+.0%} fewer ({low:+.0%} to {high:+.0%})"
                rows.append((f"{name}, learnt from {train:.0%}: {gate}", text))
                saved = (
                    1 - part["sent_at_equal"].astype(float).mean() / table.loc[table["gate"] == "rules", "sent"].mean()
                )
                means.setdefault((train, str(gate)), []).append(float(saved))
    rows += [
        (f"mean of the sets, learnt from {train:.0%}: {gate}", f"{np.mean(values):+.1%} fewer")
        for (train, gate), values in means.items()
    ]
    return rows


def staff(n: int, rng: np.random.Generator) -> list[Expert]:
    areas = [f"area {k}" for k in range(12)]
    return [
        Expert(f"e{j:02d}", {area: float(rng.random()) for area in areas}, load=int(rng.integers(0, 8)), per_hour=260)
        for j in range(n)
    ]


def allocation() -> list[Row]:
    rng = np.random.default_rng(0)
    experts = staff(50, rng)
    items = pd.DataFrame(
        {
            "item": np.arange(10_000),
            "area": [f"area {k}" for k in rng.integers(0, 12, 10_000)],
            "urgency": rng.integers(1, 6, 10_000),
        }
    )
    rows, best = [], 0.0
    for rule in ("optimal", "greedy", "least_loaded"):
        start = time.process_time()
        found = allocate_experts(items, experts, rule=rule)
        seconds = time.process_time() - start
        best = best or found.total
        rows.append(
            (f"10,000 items to 50 experts, {rule}", f"{seconds:.2f} s, total {found.total / best:.4f} of the best")
        )
    for kind, score in (
        ("each pair its own score", 0.7 * rng.random((10_000, 50))),
        ("three values", rng.choice([0, 0.35, 0.7], (10_000, 50))),
        ("experts ranked alike", 0.5 * np.sort(rng.random((1, 50))) + 0.05 * rng.random((10_000, 50))),
    ):
        bonus = [0.3 * np.clip(1 - (load + np.arange(260)) / 10, 0, 1) for load in rng.integers(0, 8, 50)]
        start = time.process_time()
        solved = best_transport(score, bonus)
        rows.append((f"transport, {kind}", f"{time.process_time() - start:.2f} s, gap {solved.gap:.1e}"))
    return rows + against_solvers(rng)


def against_solvers(rng: np.random.Generator) -> list[Row]:
    """The same optimum by scipy's assignment and by HiGHS, and how long they take."""
    from scipy.optimize import Bounds, LinearConstraint, linear_sum_assignment, milp
    from scipy.sparse import block_array, csr_array, eye_array, kron

    n, m, room = 2000, 50, 60
    score = 0.7 * rng.random((n, m))
    bonus = [0.3 * np.clip(1 - (load + np.arange(room)) / 10, 0, 1) for load in rng.integers(0, 8, m)]
    start = time.process_time()
    ours = best_transport(score, bonus)
    seconds = time.process_time() - start
    start = time.process_time()
    table = np.concatenate([score[:, [j]] + each[None, :] for j, each in enumerate(bonus)], axis=1)
    picked = linear_sum_assignment(table, maximize=True)
    scipys, theirs = time.process_time() - start, float(table[picked].sum())
    each_item = kron(eye_array(n), np.ones((1, m)))
    takers = kron(np.ones((1, n)), eye_array(m))
    places = kron(eye_array(m), np.ones((1, room)))
    start = time.process_time()
    solved = milp(
        -np.concatenate([score.ravel(), *bonus]),
        constraints=[
            LinearConstraint(csr_array(block_array([[each_item, csr_array((n, m * room))]])), 1, 1),
            LinearConstraint(csr_array(block_array([[takers, -places]])), 0, 0),
        ],
        bounds=Bounds(0, 1),
    )
    highs = time.process_time() - start
    return [
        (
            "2,000 items to 50 experts",
            f"ours {seconds:.2f} s, scipy's assignment {scipys:.2f} s (differs by {abs(theirs - ours.total):.1e}), "
            f"HiGHS {highs:.2f} s (differs by {abs(-solved.fun - ours.total):.1e})",
        )
    ]


def speed() -> list[Row]:
    rng = np.random.default_rng(0)
    n = 100_000
    answers = pd.DataFrame(
        {
            "task": np.repeat(np.arange(n), 3),
            "worker": rng.integers(0, 5000, 3 * n),
            "label": rng.integers(0, 3, 3 * n),
            "confidence": rng.random(3 * n),
        }
    ).drop_duplicates(["task", "worker"])
    items = pd.DataFrame({"item": np.arange(n), "risk": "low", "complexity": rng.random(n)})
    quality = pd.Series(rng.random(5000))
    truth = pd.Series(rng.integers(0, 3, 2000))
    gates: dict[str, Any] = {"rules": RuleGate(), "consensus": ConsensusGate(), "weighted majority": WeightedGate()}
    few = items.head(2000)
    for kind in ("random_forest", "xgboost"):
        gates[kind] = LearnedGate(kind, features="answers").fit(few, answers, quality, gold=truth)  # type: ignore[arg-type]
    rows = []
    for name, gate in gates.items():
        start = time.process_time()
        gate.decide(items, answers, quality)
        rows.append((f"decisions, {name}", f"{n / (time.process_time() - start):,.0f} a second (wanted 10,000)"))
    return rows


def simulation() -> list[Row]:
    rng = np.random.default_rng(0)
    table = mix_table(simulate_mix(MixSetting(), rng=rng, repeats=ORDERS))
    rows = [
        (
            f"10,000 items, {row['arm']}",
            f"cost {row['cost_minor'] / 100:,.0f}, {row['hours']:.1f} h, accuracy {row['accuracy']:.3f} "
            f"({row['accuracy_low']:.3f} to {row['accuracy_high']:.3f}), expert use {row['expert_use']:.3f} "
            f"({row['expert_use_low']:.3f} to {row['expert_use_high']:.3f}), cost -{row['cost_saved']:.0%}, "
            f"time -{row['time_saved']:.0%}",
        )
        for _, row in table.iterrows()
    ]
    grid = claims_over_grid(rng=rng, repeats=ORDERS, setting=MixSetting(items=4000, train_items=1500))
    names = ["cost_saved", "time_saved", "accuracy", "expert_use"]
    for arm, part in grid.groupby("arm", sort=False):
        held = ", ".join(f"{name} {part[f'{name}_holds'].mean():.0%}" for name in names)
        rows.append(
            (f"claims that hold over {len(part)} points, {arm}", f"{held}; all four {part['all_hold'].mean():.0%}")
        )
        for column in ("worker_accuracy", "noise", "expert_error"):
            by = part.groupby(column)[["accuracy", "expert_use"]].mean().round(3)
            rows.append((f"... by {column}", "; ".join(f"{at}: {a}, use {u}" for at, (a, u) in by.iterrows())))
    return rows


def main() -> list[Row]:
    """Return what was measured."""
    return speed() + allocation() + simulation() + open_data(ORDERS)
