"""Gold scores: right over n, and a beta interval that keeps its promise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality import gold_scores
from hmc_crowd.quality._gold_scores import beta_interval

COLUMNS = ["task", "worker", "label"]
GOLD = {"g1": "yes", "g2": "no", "g3": "yes"}


def answers_of(worker: str, *labels: str | None) -> list[tuple[str, str, str | None]]:
    return [(f"g{i}", worker, label) for i, label in enumerate(labels, start=1)]


def table(*rows: tuple[object, ...]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=COLUMNS)


def test_right_over_n_by_hand() -> None:
    # ann: yes, no, no against yes, no, yes: 2 of 3
    scores = gold_scores(table(*answers_of("ann", "yes", "no", "no")), GOLD)
    assert scores.loc[0, ["worker", "right", "n"]].tolist() == ["ann", 2, 3]
    assert scores.loc[0, "score"] == pytest.approx(2 / 3)


def test_interval_of_all_right_by_hand() -> None:
    # Beta(1 + 3, 1): distribution function x**4, so low = .025 ** (1/4) = .3976; high is opened to 1
    scores = gold_scores(table(*answers_of("ann", "yes", "no", "yes")), GOLD)
    assert scores.loc[0, "low"] == pytest.approx(0.025**0.25)
    assert scores.loc[0, "high"] == 1.0


def test_interval_of_all_wrong_by_hand() -> None:
    # Beta(1, 1 + 3): 1 - (1 - x)**4 = .975, so high = 1 - .025 ** (1/4) = .6024; low is opened to 0
    scores = gold_scores(table(*answers_of("ann", "no", "yes", "no")), GOLD)
    assert scores.loc[0, "low"] == 0.0
    assert scores.loc[0, "high"] == pytest.approx(1 - 0.025**0.25)


def test_a_worker_without_gold_is_unknown_not_bad() -> None:
    scores = gold_scores(table(("g1", "ann", "yes"), ("other", "bob", "yes")), GOLD).set_index("worker")
    assert scores.loc["bob", "n"] == 0
    assert np.isnan(scores.loc["bob", "score"])
    assert scores.loc["bob", ["low", "high"]].tolist() == pytest.approx([0.025, 0.975])


def test_missing_labels_do_not_count_against_a_worker() -> None:
    assert gold_scores(table(*answers_of("ann", "yes", None, "yes")), GOLD).loc[0, "n"] == 2


def test_a_gold_label_that_nobody_gave_is_a_miss() -> None:
    scores = gold_scores(table(("g1", "ann", "no"), ("g1", "bob", "no")), GOLD)
    assert scores["right"].tolist() == [0, 0]


def test_a_repeated_gold_answer_counts_once() -> None:
    scores = gold_scores(table(("g1", "ann", "yes"), ("g1", "ann", "yes")), GOLD)
    assert scores["n"].tolist() == [1]


def test_the_prior_is_used() -> None:
    # Jeffreys' interval is narrower than the uniform one at the ends: all of 3 wrong
    one = table(*answers_of("ann", "no", "yes", "no"))
    uniform, jeffreys = gold_scores(one, GOLD), gold_scores(one, GOLD, prior=(0.5, 0.5))
    assert jeffreys.loc[0, "high"] < uniform.loc[0, "high"]


def test_a_higher_level_is_wider() -> None:
    one = table(*answers_of("ann", "yes", "no", "no"))
    narrow, wide = gold_scores(one, GOLD, level=0.8), gold_scores(one, GOLD, level=0.99)
    assert wide.loc[0, "low"] < narrow.loc[0, "low"]
    assert wide.loc[0, "high"] > narrow.loc[0, "high"]


@settings(max_examples=50, deadline=None)
@given(n=st.integers(1, 400), share=st.floats(0, 1), level=st.floats(0.5, 0.999))
def test_the_score_lies_in_its_interval(n: int, share: float, level: float) -> None:
    right = round(n * share)
    low, high = beta_interval(np.array([right]), np.array([n]), level=level, prior=(1.0, 1.0))
    assert low[0] <= right / n <= high[0]


@pytest.mark.parametrize("n", [1, 5, 20])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_coverage_over_workers_spread_as_the_prior_says(n: int, level: float) -> None:
    # 20,000 workers: Monte Carlo error of a share near .95 is .0015 (.0028 near .8), four of them allowed.
    # Opening the ends can only add coverage, at most (1 - level) / 2 * 2 / (n + 1) under a uniform prior.
    rng = np.random.default_rng(11)
    rate = rng.uniform(size=20_000)
    low, high = beta_interval(rng.binomial(n, rate), np.full(20_000, n), level=level, prior=(1.0, 1.0))
    covered = ((low <= rate) & (rate <= high)).mean()
    error = 4 * np.sqrt(level * (1 - level) / 20_000)
    assert level - error <= covered <= level + (1 - level) / (n + 1) + error


@pytest.mark.parametrize("rate", [0.5, 0.7, 0.9, 0.97])
def test_coverage_for_one_fixed_rate_is_near_the_level(rate: float) -> None:
    # exact, from the binomial distribution, averaged over 20 to 60 gold items (discreteness makes one n jump)
    shares = []
    for n in range(20, 61):
        right = np.arange(n + 1)
        low, high = beta_interval(right, np.full(n + 1, n), level=0.95, prior=(1.0, 1.0))
        shares.append(binom.pmf(right, n, rate)[(low <= rate) & (rate <= high)].sum())
    assert 0.93 <= np.mean(shares) <= 0.98


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"level": 1.0}, "level is 1.0"),
        ({"level": 95}, "level is 95"),
        ({"prior": (0, 1)}, r"prior is \(0, 1\)"),
        ({"prior": (1, 1, 1)}, r"prior is \(1, 1, 1\)"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        gold_scores(table(("g1", "ann", "yes")), GOLD, **arguments)  # type: ignore[arg-type]


def test_without_gold_there_is_nothing_to_score() -> None:
    for gold in (None, {}, pd.DataFrame({"item": [], "label": []})):
        with pytest.raises(InputError, match="gold is empty"):
            gold_scores(table(("g1", "ann", "yes")), gold)


def test_gold_of_another_kind_is_refused() -> None:
    with pytest.raises(FrameError, match="gold has labels outside"):
        gold_scores(table(("g1", "ann", "yes")), {"g1": 1})
