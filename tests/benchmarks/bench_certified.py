"""What do promises cost, and how fast are they planned? Pools and budgets, certified plans, rehearsals.

Run from the repository's root: ``python -m tests.benchmarks certified``. The paper's instance where its data are
present (``HMC_CROWD_DATA``), a drawn one of the same size elsewhere. Wall-clock seconds beside processor seconds: the
time limit of the branch and bound is on the clock.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.confidence import Calibrator
from hmc_crowd.rehearsal import simulate
from hmc_crowd.routing import Limits, Pool, allocate, audit_size, certify_batch, plan_certified, quotas_by, route

if TYPE_CHECKING:
    from numpy.typing import NDArray

Row = tuple[str, str]
TARGET, SPLITS, AUDITS = 0.97, 40, 50
POOLS = (
    Pool(name="experts", pay_per_hour_minor=6000, capacity=400),
    Pool(name="crowd of 3", skill=0.96, redundancy=3, pay_per_hour_minor=900, fee_rate=0.2),
    Pool(name="crowd of 1", skill=0.90, pay_per_hour_minor=900, fee_rate=0.2),
    Pool(name="staff", skill=0.97, speed=1.2, pay_per_hour_minor=2500, people=1.0),
)


def batch() -> dict[str, NDArray[Any]]:
    """Return confidence, effort, true effort, group, target and predicted of 5,673 items."""
    import pandas as pd

    default = Path(__file__).parents[2].parent / "shared" / "data"
    file = Path(os.environ.get("HMC_CROWD_DATA", default)) / "hmceval" / "sae_trust_score.tsv"
    if file.exists():
        frame = pd.read_csv(file, sep="\t")
        names = {"machine_confidence": "confidence", "human_effort_predicted_avg": "effort",
                 "human_effort_groundtruth": "true_effort", "machine_predict": "predicted"}  # fmt: skip
        frame = frame.rename(columns=names).assign(group=(frame["turn"] == 1).cumsum())
        return {name: frame[name].to_numpy() for name in (*names.values(), "target", "group")}
    rng, n = np.random.default_rng(0), 5673
    confidence, target = rng.beta(4, 1, n), rng.integers(0, 2, n)
    return {
        "confidence": confidence, "effort": rng.gamma(1.0, 0.024, n), "true_effort": rng.gamma(1.0, 0.025, n),
        "predicted": np.where(rng.random(n) < confidence, target, 1 - target), "target": target,
        "group": np.arange(n) // 5,
    }  # fmt: skip


def timed(run: Any) -> tuple[Any, str]:
    clock, processor = time.perf_counter(), time.process_time()
    result = run()
    return result, f"{time.perf_counter() - clock:.1f} s ({time.process_time() - processor:.1f} s of processor)"


def pools(data: dict[str, NDArray[Any]]) -> list[Row]:
    """5,673 items x 4 pools x 3 budgets with group charges, then 10^5 items."""
    seconds = data["effort"] * 2000
    total = float(seconds.sum())
    limits = Limits(
        max_human=0.5, max_human_s=0.7 * total, max_money_minor=int(total / 3600 * 900), deadline_s=0.25 * total
    )
    call: dict[str, Any] = {
        "pools": POOLS, "limits": limits, "seconds": seconds, "groups": data["group"], "setup_s": 10.0,
        "quotas": quotas_by(data["predicted"], at_least=0.2),
    }  # fmt: skip
    rows = []
    for name, changes in (
        ("auto", {}),
        ("whole dialogues", {"whole_groups": True}),
        ("whole problem", {"method": "milp"}),
    ):
        plan, took = timed(lambda changes=changes: allocate(data["confidence"], **{**call, **changes}))
        figures = f"within {plan.gap_share:.3%} of the bound, {took}; {plan.counts}; binds: {', '.join(plan.binding)}"
        rows.append((f"5,673 items x 4 pools, 3 budgets, quotas, {name}", figures))
    rng, n = np.random.default_rng(1), 100_000
    large = rng.gamma(1.0, 50.0, n)
    plan, took = timed(
        lambda: allocate(
            rng.beta(4, 1, n), pools=POOLS, seconds=large, groups=np.arange(n) // 5, setup_s=10.0, method="priced",
            limits=Limits(max_human=0.4, max_human_s=0.4 * large.sum(), max_money_minor=int(large.sum() / 3600 * 500)),
        )
    )  # fmt: skip
    rows.append(("100,000 items x 4 pools, 3 budgets, fast form", f"within {plan.gap_share:.4%} of the bound, {took}"))
    return rows


def promise(data: dict[str, NDArray[Any]]) -> list[Row]:
    """Calibrate on one half of the dialogues, promise 97% on the other, audit at random; beside the paper's plan."""
    rng = np.random.default_rng(0)
    right = data["target"] == data["predicted"]
    groups = np.unique(data["group"])
    ours: list[tuple[float, ...]] = []
    papers: list[tuple[float, ...]] = []
    for split in range(SPLITS):
        half = np.isin(data["group"], rng.permutation(groups)[: len(groups) // 2])
        sure = (
            Calibrator(seed=split).fit(data["confidence"][half], right[half]).transform(data["confidence"]).clip(0, 1)
        )
        known = (sure[half], data["effort"][half], right[half])
        other = ~half
        plan = plan_certified(sure[other], data["effort"][other], target_agreement=TARGET, labelled=known)
        ours.append(_outcome(data, other, plan.plan.to_human, plan.audited, right, rng))
        paper = route(data["confidence"][other], data["effort"][other], max_human=0.5, trade_off=4.6)
        wrong = int((~right[other] & ~paper.to_human).sum())
        size = audit_size(int(other.sum()), paper.human_count, target=TARGET, expected_wrong=wrong).audited
        papers.append(_outcome(data, other, paper.to_human, size, right, rng))
    rows = []
    for name, found in (
        ("plan(target_agreement=.97)", ours),
        ("the paper's plan, audit sized knowing its errors", papers),
    ):
        held, share, whole, final = np.mean(found, axis=0)
        rows.append(
            (
                f"{name}, {SPLITS * AUDITS:,} repetitions",
                f"certified {held:.1%}; time {share:.3f}, with touched dialogues read whole {whole:.3f}; "
                f"final agreement {final:.4f}",
            )
        )
    return rows


def _outcome(
    data: dict[str, NDArray[Any]], rows: NDArray[np.bool_], people: NDArray[np.bool_], audited: int,
    right: NDArray[np.bool_], rng: np.random.Generator,
) -> tuple[float, float, float, float]:  # fmt: skip
    """Return how often the certificate comes out, time both ways (audit included), and the final agreement."""
    time_, group, ok = data["true_effort"][rows], data["group"][rows], right[rows]
    kept = np.flatnonzero(~people)
    found = np.zeros((AUDITS, 4))
    for repetition in range(AUDITS):
        drawn = rng.choice(kept, audited, replace=False)
        wrong = int((~ok[drawn]).sum())
        bound = certify_batch(len(people), int(people.sum()), audited, wrong)
        asked = people.copy()
        asked[drawn] = True
        touched = np.isin(group, np.unique(group[asked]))
        share, whole = time_[asked].sum() / time_.sum(), time_[touched].sum() / time_.sum()
        found[repetition] = bound.agreement_at_least >= TARGET, share, whole, (ok | asked).mean()
    a, b, c, d = found.mean(axis=0).tolist()
    return a, b, c, d


def rehearsal(data: dict[str, NDArray[Any]]) -> list[Row]:
    """Play the HMCEval campaign 200 times under six policies."""
    right = data["target"] == data["predicted"]
    sure = Calibrator(seed=0).fit(data["confidence"], right).transform(data["confidence"]).clip(0, 1)
    played, took = timed(
        lambda: simulate(
            sure, data["effort"] * 2000, rng=np.random.default_rng(0), effort=data["effort"], trade_off=4.6,
            truth=data["target"].astype(int), predicted=data["predicted"].astype(int), pay_per_hour_minor=1200,
            repetitions=200,
        )
    )  # fmt: skip
    rows = [("simulate, 5,673 items, 200 repetitions, six policies", took)]
    for _, row in played.summary().iterrows():
        rows.append(
            (
                f"  {row['policy']}",
                f"accuracy {row['accuracy']:.3f}, {row['hours']:.0f} h, {row['money_minor'] / 100:,.0f} USD, "
                f"{row['days']:.1f} days, certified {row['chance_certified']:.0%}",
            )
        )
    return rows


def main() -> list[Row]:
    data = batch()
    return [*pools(data), *promise(data), *rehearsal(data)]
