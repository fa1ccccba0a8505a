"""Agreement of people on record in random order: nobody can have changed, so what rings is false and keeps its rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.quality import (
    UnknownChange,
    agreement_checks,
    answers_between,
    check_ease,
    design_effect,
    find_drift,
    pool_prior,
)

if TYPE_CHECKING:
    from pathlib import Path

SETS = ("cf_amt", "sp", "s4_dog", "zencrowd_in")
RATE = 0.0005
PER_DAY = 20


def false_alarms(folder: Path, seed: int) -> tuple[int, float]:
    """Alarms about a crowd whose answers come in random order, 20 a day from each, and how many were allowed."""
    rng = np.random.default_rng(seed)
    answers = pd.read_csv(folder / "answers.csv")[["task", "worker", "label"]]
    answers = answers.iloc[rng.permutation(len(answers))].drop_duplicates(["task", "worker"])
    answers["day"] = answers.groupby("worker").cumcount() // PER_DAY
    seconds = answers["day"] * 86_400 + np.arange(len(answers)) % 80_000
    answers["submitted"] = pd.Timestamp("2026-01-05", tz="UTC") + pd.to_timedelta(seconds, "s")
    checks = agreement_checks(answers, as_it_came=True).merge(answers[["task", "worker", "day"]], on=["task", "worker"])
    checks = check_ease(checks, ["others"])
    days = int(checks.assign(on=checks["at"].dt.floor("D")).groupby("worker")["on"].nunique().sum())
    people = checks["worker"].nunique()
    between = answers_between(workers=people, per_worker_day=len(checks) / days, false_alarms_per_day=RATE * people)
    prior = pool_prior(*(checks.groupby("worker")["right"].agg(each) for each in ("sum", "size")))
    watch = UnknownChange(prior, between_alarms=between, design_effect=design_effect(checks, ["day"]))
    return len(find_drift(checks, watch)), RATE * days


def check(data_dir: Path, names: tuple[str, ...], orders: int) -> None:
    each = [false_alarms(data_dir / "crowd" / name, seed) for name in names for seed in range(orders)]
    alarms, allowed = (sum(part) for part in zip(*each, strict=True))
    # A Poisson count, two standard errors allowed.
    assert alarms <= allowed + 2 * np.sqrt(allowed)


def test_one_order_of_two_sets(data_dir: Path) -> None:
    check(data_dir, ("s4_dog", "zencrowd_in"), 1)


@pytest.mark.slow
def test_three_orders_of_four_sets(data_dir: Path) -> None:
    check(data_dir, SETS, 3)
