"""Capacity, power, cost and pilot, by hand and against drawn data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.rehearsal import capacity, cost, pilot, power


def test_capacity_says_the_feasible_share_first_at_the_sources_load() -> None:
    # 100 people x 8 h x 3600 s x .85 / 30 s = 81,600 cases a day, of 10,000 x 86,400 = 864 M.
    found = capacity(arrivals_per_s=10_000, people=100, seconds_per_case=30, review_share=0.15)
    assert found.cases_per_day == pytest.approx(81_600)
    assert found.arrivals_per_day == 864e6
    assert found.feasible_share == pytest.approx(81_600 / 864e6)
    assert found.wanted_per_day == pytest.approx(129.6e6)
    assert found.people_needed == 158_824
    assert str(found).startswith("people can look at 0.0094% of the arrivals")


def test_capacity_without_a_backlog() -> None:
    found = capacity(arrivals_per_s=0.01, people=10, seconds_per_case=60, review_share=0.5, redundancy=3)
    # 864 arrivals, 432 wanted; 10 x 8 x 3600 x .85 / 180 = 1,360 cases.
    assert (found.backlog_per_day, found.feasible_share) == (0.0, 1.0)
    assert found.utilisation == pytest.approx(432 / 1360)
    assert found.people_needed == 4


def test_power_of_a_rate_by_hand() -> None:
    # (1.959964 / .03)^2 * .25 = 1067.07
    assert power(half_width=0.03).items == 1068
    # Of a batch of 2,000: 1067.07 / (1 + 1066.07 / 2000) = 696.04
    assert power(half_width=0.03, population=2000).items == 697
    # Dialogues of 5 with icc .25 double it.
    assert power(half_width=0.03, cluster_size=5, icc=0.25).items == 2135


def test_power_finds_the_difference_as_often_as_it_says() -> None:
    plan = power(difference=0.08, rate=0.4, sensitivity=0.9, specificity=0.85, redundancy=3)
    rng = np.random.default_rng(0)

    def seen(rate: float, n: int) -> float:
        truth = rng.random(n) < rate
        votes = rng.random((n, 3)) < np.where(truth, 0.9, 0.15)[:, None]
        return float((votes.sum(axis=1) >= 2).mean())

    found = 0
    for _ in range(400):
        a, b = seen(0.4, plan.items), seen(0.48, plan.items)
        z = (b - a) / np.sqrt((a * (1 - a) + b * (1 - b)) / plan.items)
        found += abs(z) > 1.96
    assert found / 400 == pytest.approx(0.8, abs=0.07)


def test_cost_shows_every_line() -> None:
    # 1,000 x 2 x 10 = 20,000; a quarter kept: -5,000; gold 10% of 15,000: 1,500; rejected 10% of 16,500: 1,650;
    # bonus 10% of 18,150: 1,815; fees 20% of 19,965: 3,993; experts 2 x 3 h x 5,000 = 30,000.
    found = cost(
        currency="USD", tasks=1000, redundancy=2, price_minor=10, gate_share=0.25, gold_rate=0.1, rejected_rate=0.1,
        bonus_rate=0.1, fee_rate=0.2, experts=2, expert_hours=3, expert_rate_minor=5000,
    )  # fmt: skip
    assert [line.minor for line in found.lines] == [20_000, -5_000, 1_500, 1_650, 1_815, 3_993, 30_000]
    assert found.total_minor == sum(line.minor for line in found.lines) == 53_958
    assert found.baseline_minor == 61_944 - 0
    assert found.saved_share == pytest.approx(1 - 53_958 / 61_944)


def log(items: int = 30, workers: int = 15, each: int = 5, accuracy: float = 0.85, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for item in range(items):
        truth = ("yes", "no")[int(rng.integers(2))]
        for worker in rng.choice(workers, each, replace=False):
            right = rng.random() < accuracy
            label = truth if right else ("no" if truth == "yes" else "yes")
            rows.append((f"i{item}", f"w{worker}", label, float(rng.lognormal(np.log(30), 0.4))))
    return pd.DataFrame(rows, columns=["task", "worker", "label", "seconds"])


def read(frame: pd.DataFrame, **changes: Any) -> Any:
    settings: dict[str, Any] = {"batch_items": 1000, "pay_per_hour_minor": 1200, "draws": 200}
    return pilot(frame, rng=np.random.default_rng(0), **{**settings, **changes})


def test_a_pilot_finds_how_good_people_are_and_how_many_to_ask() -> None:
    found = read(log())
    assert found.worker_accuracy.low <= 0.85 <= found.worker_accuracy.high
    # Of 3 at .85: .939, of 5: .973, of 7: .988: each pair of answers is worth a point up to 7.
    assert found.redundancy in {5, 7}
    assert (found.items, found.answers) == (30, 150)


@pytest.mark.parametrize("pilots", [30, pytest.param(400, marks=pytest.mark.slow)])
def test_bands_of_a_pilot_hold(pilots: int) -> None:
    """The true mean time is 30 exp(.08); bands that draw workers too err on the wide side."""
    mean = 30 * np.exp(0.4**2 / 2)
    held = 0
    for seed in range(pilots):
        band = read(log(seed=seed), draws=100).seconds
        held += band.low <= mean <= band.high
    assert held / pilots >= 0.9 - 3 * np.sqrt(0.09 / pilots)


def test_cost_of_the_whole_follows_from_the_mean() -> None:
    found = read(log(), fee_rate=0.2)
    hours = 1000 * found.redundancy * found.seconds.value / 3600
    assert found.hours.value == pytest.approx(hours)
    assert found.money_minor.value == pytest.approx(hours * 1200 * 1.2)
    assert found.money_minor.low < found.money_minor.value < found.money_minor.high


def test_pay_is_checked_against_the_floor() -> None:
    # 30 s at the median: 20 cents are 24.00 an hour, 5 cents 6.00.
    good, bad = read(log(), paid_minor=20), read(log(), paid_minor=5)
    assert (good.pay_is_fair, bad.pay_is_fair) == (True, False)
    assert any("raise the pay" in note for note in bad.notes)
    assert read(log()).pay_is_fair is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: capacity(arrivals_per_s=0, people=1, seconds_per_case=1), "arrivals_per_s is 0"),
        (lambda: capacity(arrivals_per_s=1, people=1, seconds_per_case=1, review_share=2), "review_share is 2"),
        (lambda: capacity(arrivals_per_s=1, people=1, seconds_per_case=1, hours_per_day=25), "hours_per_day is 25"),
        (lambda: power(), "either half_width"),
        (lambda: power(half_width=0.1, difference=0.1), "either half_width"),
        (lambda: power(half_width=0.1, sensitivity=0.5, specificity=0.5), "these judges are a coin"),
        (lambda: power(difference=0.6, rate=0.5), "the other rate must lie in"),
        (lambda: cost(currency="USD", tasks=3), "tasks need a price"),
        (lambda: cost(currency="USD", tasks=3, price_minor=1, seconds=3.0), "price_minor goes alone"),
        (lambda: cost(currency="USD", tasks=3, price_minor=1, gate_share=1.5), "gate_share is 1.5"),
        (lambda: read(log(each=1)), "no item of answers has two answers"),
        (lambda: read(log().drop(columns="label")), "lacks the column label"),
        (lambda: read(log().drop(columns="seconds")), "neither seconds nor started"),
        (lambda: read(log().assign(seconds=0.0)), "took 0.0 seconds"),
        (lambda: read(log(), batch_items=0), "batch_items is 0"),
    ],
)
def test_bad_input_is_one_sentence(call: Any, message: str) -> None:
    with pytest.raises((InputError, FrameError), match=message):
        call()
