"""Screening: out only on evidence, never for one failure, never about money."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality import screen_workers
from hmc_crowd.quality._gold_scores import beta_interval


def scores_of(*right_n: tuple[int, int]) -> pd.DataFrame:
    right, n = (np.array(part) for part in zip(*right_n, strict=True))
    low, high = beta_interval(right, n, level=0.95, prior=(1.0, 1.0))
    with np.errstate(invalid="ignore"):
        score = right / n
    return pd.DataFrame(
        {"worker": [f"w{i}" for i in range(len(n))], "right": right, "n": n, "score": score, "low": low, "high": high}
    )


@pytest.mark.parametrize(
    ("right", "n", "decision"),
    [
        (0, 0, "unproven"),
        (0, 2, "unproven"),
        (2, 2, "unproven"),
        (9, 10, "keep"),
        (6, 10, "keep"),  # exactly the minimum
        (3, 5, "keep"),
        (5, 10, "doubtful"),  # Beta(6, 6): upper end .766
        (0, 3, "doubtful"),  # upper end 1 - .025 ** (1/4) = .602, just above the minimum
        (0, 4, "exclude"),  # upper end 1 - .025 ** (1/5) = .522
        (2, 12, "exclude"),  # Beta(3, 11): upper end .454
    ],
)
def test_decisions(right: int, n: int, decision: str) -> None:
    row = screen_workers(scores_of((right, n))).iloc[0]
    assert row["decision"] == decision
    assert row["excluded"] == (decision == "exclude")


def test_reason_and_evidence_are_sentences_with_numbers() -> None:
    row = screen_workers(scores_of((2, 12))).iloc[0]
    assert row["reason"] == "even the upper end 0.454 is below the minimum 0.6"
    assert row["evidence"] == "right on 2 of 12 gold items; interval 0.050 to 0.454"


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 200), minimum=st.floats(0, 1), at_least=st.integers(2, 10))
def test_one_failed_gold_item_never_excludes(n: int, minimum: float, at_least: int) -> None:
    decided = screen_workers(scores_of((n - 1, n)), minimum=minimum, at_least=at_least)
    assert not decided["excluded"].any()


@settings(max_examples=60, deadline=None)
@given(n=st.integers(0, 60), wrong=st.integers(0, 60), minimum=st.floats(0, 1))
def test_whoever_is_excluded_is_below_the_minimum_beyond_doubt(n: int, wrong: int, minimum: float) -> None:
    scores = scores_of((n - min(wrong, n), n))
    if screen_workers(scores, minimum=minimum)["excluded"].any():
        assert scores.loc[0, "high"] < minimum
        assert n >= 3


def test_good_workers_are_rarely_excluded() -> None:
    # 20,000 workers who are right with .75 on 10 gold items: P(at most 3 of 10 right) = .0035 is excluded at .6 ...
    # Beta(4, 8) upper end .610 keeps 3 of 10, so only 0 to 2 of 10: P = .0004
    rng = np.random.default_rng(0)
    right = rng.binomial(10, 0.75, 20_000)
    decided = screen_workers(scores_of(*((int(r), 10) for r in right)))
    assert decided["excluded"].mean() < 0.002


def test_order_of_the_scores_is_kept() -> None:
    scores = scores_of((9, 10), (0, 10)).iloc[::-1]
    assert screen_workers(scores)["worker"].tolist() == ["w1", "w0"]


def test_nothing_here_speaks_of_pay() -> None:
    columns = screen_workers(scores_of((0, 10))).columns
    assert columns.tolist() == ["worker", "decision", "excluded", "reason", "evidence"]
    assert not {"pay", "reject", "approve"} & set(inspect.signature(screen_workers).parameters)


def test_no_workers_no_decisions() -> None:
    assert screen_workers(scores_of((1, 1)).iloc[:0]).empty


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"minimum": 60}, "minimum is 60"),
        ({"minimum": float("nan")}, "minimum is nan"),
        ({"at_least": 1}, "at_least is 1"),
        ({"at_least": 2.5}, "at_least is 2.5"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, float], words: str) -> None:
    with pytest.raises(InputError, match=words):
        screen_workers(scores_of((1, 2)), **arguments)  # type: ignore[arg-type]


def test_wrong_tables_are_refused() -> None:
    with pytest.raises(FrameError, match="lacks the column low, high"):
        screen_workers(scores_of((1, 2)).drop(columns=["low", "high"]))
    with pytest.raises(FrameError, match="not so in row 0"):
        screen_workers(scores_of((1, 2)).assign(right=3))
