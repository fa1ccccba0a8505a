"""How fast is routing? Ratios against what numpy needs at least, and against branch-and-cut solvers, in one run.

Run from the repository's root: ``python -m tests.benchmarks.bench_routing``. The paper's instance is used where its
data are present (``HMC_CROWD_DATA``), a random one of the same size elsewhere. Times are processor seconds, so that a
busy machine does not blur them; all that is ours runs in one thread.
"""

from __future__ import annotations

import os
import time
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmc_crowd.routing import certify_batch, evaluate_plan, route, route_within, sweep

if TYPE_CHECKING:
    from collections.abc import Callable

Row = tuple[str, str, str, str]


def best_of(run: Callable[[], object], times: int = 3) -> float:
    """Processor seconds of the fastest of several runs."""
    seconds = []
    for _ in range(times):
        start = time.process_time()
        run()
        seconds.append(time.process_time() - start)
    return min(seconds)


def instance() -> tuple[str, pd.DataFrame]:
    default = Path(__file__).parents[2].parent / "shared" / "data"
    file = Path(os.environ.get("HMC_CROWD_DATA", default)) / "hmceval" / "sae_trust_score.tsv"
    if file.exists():
        return "the paper's", pd.read_csv(file, sep="\t")
    rng = np.random.default_rng(0)
    target = rng.integers(0, 2, 5673)
    frame = {
        "machine_confidence": rng.random(5673),
        "human_effort_predicted_avg": rng.gamma(1.0, 0.024, 5673),
        "human_effort_groundtruth": rng.gamma(1.0, 0.025, 5673),
        "target": target,
        "machine_predict": np.where(rng.random(5673) < 0.86, target, 1 - target),
    }
    return "a random", pd.DataFrame(frame)


def route_against_partition() -> list[Row]:
    rng = np.random.default_rng(1)
    rows, previous = [], 0.0
    for n in (10**4, 10**5, 10**6, 10**7):
        confidence, effort = rng.random(n), rng.random(n)

        def bare(confidence: np.ndarray = confidence, effort: np.ndarray = effort, n: int = n) -> None:
            gain = (1.0 - confidence) - 0.1 * effort
            np.partition(gain, n // 2)

        def ours(confidence: np.ndarray = confidence, effort: np.ndarray = effort) -> None:
            route(confidence, effort, max_human=0.5, trade_off=0.1)

        floor, seconds = best_of(bare), best_of(ours)
        rows.append(
            (f"route, {n:,} items", f"{seconds:.4f} s", f"{seconds / floor:.2f} x bare partition", "<= 3 at 10^7")
        )
        if previous:
            rows.append((f"growth to {n:,}", "", f"{seconds / previous:.1f} x for 10 x the items", "about 10"))
        previous = seconds
    return rows


def route_memory() -> list[Row]:
    rng = np.random.default_rng(1)
    confidence, effort = rng.random(10**7), rng.random(10**7)
    tracemalloc.start()
    route(confidence, effort, max_human=0.5, trade_off=0.1)
    added = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    times = 1 + added / (confidence.nbytes + effort.nbytes)
    return [
        ("route, 10^7 items, peak memory", f"{added / 1e6:.0f} MB added", f"{times:.2f} x the input, with it", "<= 4")
    ]


def policy_speed() -> list[Row]:
    rng = np.random.default_rng(2)
    n = 10**6
    confidence, effort = rng.random(n), rng.random(n)
    items = [f"item-{row:09d}" for row in range(n)]
    plan = route(confidence, effort, max_human=0.5, trade_off=0.1)
    plain, audited = plan.policy(), plan.policy(audit_probability=0.05, key=b"benchmark")
    rows = []
    for name, run in (
        ("decide_batch, no ids", lambda: plain.decide_batch(None, confidence, effort)),
        ("decide_batch, ids and audit draw", lambda: audited.decide_batch(items, confidence, effort)),
    ):
        rate = n / best_of(run)
        rows.append((name, f"{rate:,.0f} items/s", f"{rate / 1e6:.1f} x 10^6 a second", ">= 1"))
    single = best_of(lambda: [audited.decide(items[row], 0.95, 0.2) for row in range(5000)]) / 5000
    rows.append(("decide, one item with audit draw", f"{single * 1e6:.1f} us", f"{1 / single:,.0f} items/s", ""))
    return rows


def grid_speed(frame: pd.DataFrame) -> list[Row]:
    effort = frame["human_effort_predicted_avg"]
    grid = {"trade_offs": np.arange(451) / 10, "max_humans": [step / 20 for step in range(21)]}
    labels = {"target": frame["target"], "predicted": frame["machine_predict"]}
    rng = np.random.default_rng(3)
    many = rng.integers(0, 20, len(frame))
    several = {
        "target": many,
        "predicted": np.where(rng.random(len(frame)) < 0.8, many, rng.integers(0, 20, len(frame))),
    }
    spent = frame["human_effort_groundtruth"]
    plan = route(frame["machine_confidence"], effort, trade_off=4.6, max_human=0.5)
    point = best_of(lambda: evaluate_plan(plan.to_human, **labels, true_effort=spent))
    point += best_of(lambda: route(frame["machine_confidence"], effort, trade_off=4.6, max_human=0.5))
    rows = []
    for name, given in (("2 classes", labels), ("20 classes", several)):
        seconds = best_of(
            lambda given=given: sweep(frame["machine_confidence"], effort, **grid, **given, true_effort=spent)
        )
        ratio = f"{9471 * point / seconds:.0f} x faster than 9,471 single plans"
        rows.append((f"grid 451 x 21, all metrics, {name}", f"{seconds:.3f} s", ratio, "<= 0.5 s"))
    return rows


def highs(confidence: np.ndarray, effort: np.ndarray, cap: int, presolve: bool) -> tuple[float, float]:
    from scipy.optimize import Bounds, LinearConstraint, milp

    n = len(confidence)
    people = 1.0 - 4.6 * effort
    rule = LinearConstraint(np.ones((1, n)), n - cap, n)
    start, start_cpu = time.perf_counter(), time.process_time()
    options = {"presolve": presolve, "mip_rel_gap": 0.0}
    solved = milp(people - confidence, constraints=rule, integrality=np.ones(n), bounds=Bounds(0, 1), options=options)
    # Several threads add up their processor seconds, and a busy machine its waiting: the solver gets the smaller.
    seconds = min(time.perf_counter() - start, time.process_time() - start_cpu)
    return seconds, float(np.where(np.round(solved.x) > 0.5, confidence, people).sum())


def cbc(confidence: np.ndarray, effort: np.ndarray, cap: int) -> tuple[float, float]:
    import mip

    n = len(confidence)
    people = 1.0 - 4.6 * effort
    start, start_cpu = time.perf_counter(), time.process_time()
    model = mip.Model(sense=mip.MAXIMIZE, solver_name=mip.CBC)
    model.verbose = 0
    z = [model.add_var(var_type=mip.BINARY) for _ in range(n)]
    model.objective = mip.xsum(z[i] * (confidence[i] - people[i]) for i in range(n))
    model += mip.xsum(z) >= n - cap
    model.optimize()
    # Several threads add up their processor seconds, and a busy machine its waiting: the solver gets the smaller.
    seconds = min(time.perf_counter() - start, time.process_time() - start_cpu)
    chosen = np.array([each.x > 0.5 for each in z])
    return seconds, float(np.where(chosen, confidence, people).sum())


def against_solvers(name: str, frame: pd.DataFrame) -> list[Row]:
    confidence, effort = frame["machine_confidence"].to_numpy(), frame["human_effort_predicted_avg"].to_numpy()
    cap = len(frame) // 2
    plan = route(confidence, effort, trade_off=4.6, max_human=cap)
    # Model building is the solvers' to do, argument checks are ours.
    ours = best_of(lambda: route(confidence, effort, trade_off=4.6, max_human=cap), times=200)
    rows = [(f"route, {name} instance", f"{ours * 1e6:.0f} us", f"objective {plan.objective:.9f}", "")]
    solvers: list[tuple[str, Callable[[], tuple[float, float]]]] = [
        ("HiGHS, presolve off", lambda: highs(confidence, effort, cap, presolve=False)),
        ("HiGHS, as it comes", lambda: highs(confidence, effort, cap, presolve=True)),
        ("python-mip / CBC", lambda: cbc(confidence, effort, cap)),
    ]
    for solver, run in solvers:
        try:
            seconds, objective = run()
        except ImportError:
            rows.append((solver, "", "not installed (extra bench); HiGHS alone", ""))
            continue
        same = "same objective" if abs(objective / plan.objective - 1) < 5e-10 else f"OBJECTIVE {objective:.9f}"
        rows.append((solver, f"{seconds:.3f} s", f"{seconds / ours:,.0f} x slower than route, {same}", ">= 1,000"))
    return rows


def budgets_and_certificates() -> list[Row]:
    rng = np.random.default_rng(4)
    rows = []
    for n in (10**5, 10**6):
        confidence, effort = rng.random(n), rng.random(n)
        seconds = rng.lognormal(3.0, 1.0, n)
        limit = 0.2 * float(seconds.sum())
        plan = route_within(confidence, effort, seconds=seconds, max_human_s=limit, max_human=0.4)
        taken = best_of(lambda: route_within(confidence, effort, seconds=seconds, max_human_s=limit, max_human=0.4), 1)  # noqa: B023
        rows.append(
            (f"route_within minutes, {n:,} items", f"{taken:.2f} s", f"gap {plan.gap / plan.objective:.1e}", "")
        )
    taken = best_of(lambda: certify_batch(2 * 10**8, 10**8, 10**4, 300))
    rows.append(("certify_batch, 10^8 kept", f"{taken * 1e3:.2f} ms", "", ""))
    return rows


def main() -> None:
    """Print the table."""
    name, frame = instance()
    rows: list[Row] = [("what", "measured", "ratio", "wanted")]
    rows += route_against_partition() + route_memory() + policy_speed() + grid_speed(frame)
    rows += against_solvers(name, frame) + budgets_and_certificates()
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


if __name__ == "__main__":
    main()
