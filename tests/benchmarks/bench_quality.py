"""What is worker quality worth, and how soon is a fall noticed?

Accuracy on four recorded sets (20 seeded orders, a fifth of the truth as gold and out of the evaluation) with and
without quality; the delay of the drift detectors beside the optimal CUSUM's at the same rate of false alarms; the gain
of leave-one-out agreement as a second stream, from simulated workers; how the trained model does beside the pool.

Run ``python -m tests.benchmarks quality`` (a minute; ``HMC_CROWD_ORDERS=3`` for a look).
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmc_crowd.quality import (
    Cusum,
    Levels,
    UnknownChange,
    WorkerQualityModel,
    agreement_checks,
    agreement_levels,
    find_drift,
    gold_checks,
    pool_prior,
    quality_features,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

FALL = Levels(0.9, 0.6)


def of_recorded_sets(orders: int) -> list[tuple[str, str]]:
    from tests.quality.test_quality_figures import table

    found = table(orders)
    by_set, by_order = found.groupby(level=0).mean(), found.groupby(level=1).mean()
    rows = []
    for method in found.columns:
        low, high = by_order[method].quantile([0.025, 0.975])
        sets = "  ".join(f"{name} {value:.4f}" for name, value in by_set[method].items())
        rows.append((method, f"{by_set[method].mean():.4f} [{low:.4f}, {high:.4f}]  {sets}"))
    gain = by_order["Dawid-Skene, weights"] - by_order["Dawid-Skene"]
    rows.append(("gain of the weights over Dawid-Skene", f"{gain.mean():+.4f}, all orders {gain.min():+.4f} or more"))
    return rows


def runs(watch: UnknownChange, rate: float, *, workers: int, most: int, steady: int, seed: int) -> NDArray[np.int64]:
    """Answers to the alarm after ``steady`` answers at .9 without one; ``most`` where none rang."""
    rng = np.random.default_rng(seed)
    state = watch.start(workers)
    for _ in range(steady):
        state = watch.step(state, rng.random(workers) < FALL.before)
    # Whoever has rung is followed no further.
    left = np.flatnonzero(watch.statistic(state) < watch.threshold)
    found, quiet, state = np.full(workers, most), left, (state[0][left], state[1][left])
    for answer in range(1, most + 1):
        state = watch.step(state, rng.random(workers)[left] < rate)
        rings = watch.statistic(state) >= watch.threshold
        found[left[rings]] = answer
        left, state = left[~rings], (state[0][~rings], state[1][~rings])
        if not len(left):
            break
    return found[quiet]


def of_drift() -> list[tuple[str, str]]:
    rows = []
    for between in (250, 500, 1000, 2000, 5000):
        cusum = Cusum(FALL, between_alarms=between)
        rows.append((f"CUSUM, {between:,} answers between false alarms", f"{cusum.delay()}"))
    for bound in (100, 250, 500, 1000):
        watch = UnknownChange((9.0, 1.0), between_alarms=bound)
        steady = runs(watch, 0.9, workers=200, most=3000, steady=100, seed=1)
        between = steady.sum() / max((steady < 3000).sum(), 1)
        delay = runs(watch, 0.6, workers=2000, most=300, steady=200, seed=2)
        best = Cusum(FALL, between_alarms=between).delay().mean
        text = f"mean {delay.mean():.1f}, median {np.median(delay):.0f}; the optimum, told both levels, {best:.1f}"
        rows.append((f"unknown levels, bound {bound:,}, really {between:,.0f}", f"{text}: {delay.mean() / best:.2f}"))
    return rows


def fallen_crowd(workers: int, days: int, falls_on: int, seed: int) -> tuple[pd.DataFrame, dict[str, int]]:
    """Two golds and 20 other answers a worker and day, three people an item; the first tenth of the workers falls."""
    rng = np.random.default_rng(seed)
    rows, gold = [], {}
    for day in range(days):
        rate = np.full(workers, 0.9)
        if day >= falls_on:
            rate[: workers // 10] = 0.6
        for half in range(2):
            gold[f"g{day}-{half}"] = 1
            rows += [(f"g{day}-{half}", w, int(rng.random() < rate[w]), day, 9 + half) for w in range(workers)]
        seats = rng.permutation(np.repeat(np.arange(workers), 20))
        for item, three in enumerate(seats[: len(seats) // 3 * 3].reshape(-1, 3)):
            if len(set(three.tolist())) == 3:
                rows += [(f"d{day}-{item}", int(w), int(rng.random() < rate[w]), day, 15) for w in three]
    table = pd.DataFrame(rows, columns=["task", "worker", "label", "day", "hour"])
    table["submitted"] = pd.Timestamp("2026-01-05", tz="UTC") + pd.to_timedelta(table["day"] * 24 + table["hour"], "h")
    return table, gold


def of_second_stream() -> list[tuple[str, str]]:
    workers, falls_on, days = 300, 40, 70
    answers, gold = fallen_crowd(workers, days, falls_on, 3)
    start = answers["submitted"].min().normalize() + pd.Timedelta(days=falls_on)
    agreement = agreement_checks(answers[~answers["task"].isin(list(gold))], as_it_came=True)
    one = gold_checks(answers, gold).assign(stream=0)
    both = pd.concat([one, agreement.assign(stream=1)])
    # The two others of an item are said to agree, or they say nothing: both right, or both wrong.
    others = 0.9**2 / (0.9**2 + 0.1**2)
    per_gold = len(agreement) / len(one)
    second = agreement_levels(FALL, others=others, n_labels=2, share=per_gold)
    of_gold, of_agreement = (learnt_watch(each, 2 * len(each) / len(one)) for each in (one, agreement))
    rows = []
    for name, checks, detector in (
        ("gold alone", one, Cusum(FALL, between_alarms=2000)),
        ("gold and agreement, levels told", both, Cusum(FALL, second, between_alarms=2000 * (1 + per_gold))),
        ("gold and agreement, nobody tells the levels", both, [of_gold, of_agreement]),
    ):
        alarms = find_drift(checks, detector)
        first = alarms[(alarms["at"] >= start) & (alarms["worker"] < workers // 10)].groupby("worker")["at"].min()
        days_to = (first - start) / pd.Timedelta(days=1)
        false = alarms[(alarms["worker"] >= workers // 10) | (alarms["at"] < start)]
        rate = 1000 * len(false) / (workers * days)
        text = f"median {days_to.median():.1f} days, {len(first)} of {workers // 10} found"
        rows.append((f"{name}: fall to alarm", f"{text}; {rate:.2f} false alarms per 1,000 workers and day"))
    return rows


def learnt_watch(checks: pd.DataFrame, per_day: float) -> UnknownChange:
    """As a campaign watches a stream: the levels are the pool's, and half of the false alarms are its own."""
    counts = checks.groupby("worker")["right"].agg(["sum", "size"])
    return UnknownChange(pool_prior(counts["sum"], counts["size"]), between_alarms=per_day / 0.0005)


def of_the_model(seed: int = 0) -> list[tuple[str, str]]:
    from tests.quality.test_quality_figures import SETS, crowd_folder

    rows = []
    for name in SETS:
        answers = pd.read_csv(crowd_folder() / name / "answers.csv").drop_duplicates(["task", "worker"])
        truth = pd.read_csv(crowd_folder() / name / "truth.csv")
        order = np.random.default_rng(seed).permutation(len(answers))
        answers["submitted"] = pd.Timestamp("2026-01-05", tz="UTC") + pd.to_timedelta(order, "min")
        gold = gold_checks(answers, truth.rename(columns={"task": "item"}))
        features = quality_features(gold["worker"].tolist(), gold["at"], gold=gold, agreement=agreement_checks(answers))
        for kind in ("random_forest", "xgboost"):
            model = WorkerQualityModel(kind).fit(features, gold["right"], gold["worker"].tolist(), gold["at"])
            rows.append((f"{name}, {kind}", str(model.report_)))
    return rows


def of_speed() -> list[tuple[str, str]]:
    rng = np.random.default_rng(0)
    checks = pd.DataFrame({"worker": rng.integers(0, 1000, 200_000), "right": rng.random(200_000) < 0.9})
    checks["at"] = pd.Timestamp("2026-01-05", tz="UTC") + pd.to_timedelta(np.arange(200_000), "s")
    rows = []
    for name, detector in (
        ("CUSUM", Cusum(FALL, between_alarms=2000)),
        ("unknown levels", UnknownChange((9.0, 1.0), between_alarms=2000)),
    ):
        start = time.perf_counter()
        find_drift(checks, detector)
        rows.append((f"checks a second, {name}", f"{200_000 / (time.perf_counter() - start):,.0f}"))
    return rows


def main() -> list[tuple[str, str]]:
    orders = int(os.environ.get("HMC_CROWD_ORDERS", "20"))
    return of_recorded_sets(orders) + of_drift() + of_second_stream() + of_the_model() + of_speed()
