"""The paper's claim: at equal human share, how accurate is the routing by each confidence?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.confidence import compare_at_equal_share
from hmc_crowd.errors import InputError
from hmc_crowd.routing import evaluate_plan, route

if TYPE_CHECKING:
    from pathlib import Path


def test_equals_route_with_an_exact_cap(rng: np.random.Generator) -> None:
    sure, target = rng.random(501).round(2), rng.integers(0, 2, 501)
    predicted = np.where(rng.random(501) < sure, target, 1 - target)
    table = compare_at_equal_share({"a": sure}, target == predicted, human_shares=[0, 0.25, 0.5, 1], draws=5, rng=rng)
    for share, accuracy in zip(table["human_share"], table["accuracy"], strict=True):
        plan = route(sure, np.zeros(501), max_human=float(share), cap="exactly")
        assert accuracy == pytest.approx(evaluate_plan(plan.to_human, target, predicted).accuracy, abs=1e-12)


def test_people_may_err_by_hand(rng: np.random.Generator) -> None:
    # People get items 0 and 1 of 4 and are right about item 1 alone; the machine is right about 0 and 2.
    table = compare_at_equal_share(
        {"a": [0.1, 0.2, 0.3, 0.4]},
        [True, False, True, False],
        human_shares=[0.5],
        human_correct=[False, True, True, True],
        draws=5,
        rng=rng,
    )
    assert table["accuracy"].tolist() == [0.5]


def test_the_paired_difference_is_narrower_than_the_accuracies(rng: np.random.Generator) -> None:
    p = rng.uniform(0.5, 1, 2000)
    right = rng.random(2000) < p
    both = {"a": p, "b": p + rng.normal(0, 0.02, 2000)}
    row = compare_at_equal_share(both, right, human_shares=[0.3], draws=200, rng=rng).iloc[1]
    assert row["difference_high"] - row["difference_low"] < 0.7 * (row["high"] - row["low"])
    assert row["difference_low"] <= row["difference"] <= row["difference_high"]


def test_intervals_cover(rng: np.random.Generator) -> None:
    """The accuracy of a great many items lies in 95 % of the intervals: 200 of them have a standard error of 1.5 %."""

    def world(n: int) -> tuple[Any, Any]:
        p = rng.uniform(0.5, 1, n)
        return p, rng.random(n) < p

    p, right = world(400_000)
    truth = compare_at_equal_share({"a": p}, right, human_shares=[0.3], draws=1, rng=rng)["accuracy"][0]
    hits = 0
    for _ in range(200):
        p, right = world(600)
        row = compare_at_equal_share({"a": p}, right, human_shares=[0.3], draws=150, rng=rng).iloc[0]
        hits += row["low"] <= truth <= row["high"]
    assert hits / 200 >= 0.89


def test_on_the_published_data_no_method_is_surely_better(data_dir: Path, rng: np.random.Generator) -> None:
    frames = {name: pd.read_csv(data_dir / "hmceval" / f"sae_{name}.tsv", sep="\t") for name in ("mcp", "trust_score")}
    right = (frames["mcp"]["target"] == frames["mcp"]["machine_predict"]).to_numpy()
    dialogue = (frames["trust_score"]["turn"] == 1).cumsum().to_numpy()
    sure = {name: each["machine_confidence"].to_numpy() for name, each in frames.items()}
    table = compare_at_equal_share(sure, right, human_shares=[0.5], clusters=dialogue, draws=300, rng=rng)
    # Half of the items: everybody of the top half keeps its accuracy, people are right about the rest.
    assert table["accuracy"].round(4).tolist() == pytest.approx([0.9887, 0.9892], abs=2e-4)
    assert table["difference_low"][1] < 0 < table["difference_high"][1]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"human_shares": [1.5]}, "human_shares"),
        ({"reference": "c"}, "the confidences are a"),
        ({"confidences": {}}, "confidences is empty"),
        ({"confidences": {"a": [0.5]}}, "1 rows"),
        ({"draws": 0}, "draws is 0"),
    ],
)
def test_wrong_arguments_are_named(changed: dict[str, Any], said: str, rng: np.random.Generator) -> None:
    with pytest.raises(InputError, match=said):
        compare_at_equal_share(**{"confidences": {"a": [0.5, 0.6]}, "correct": [True, False], "rng": rng, **changed})
