"""The commands that reckon before anything is spent, and what they say to wrong input."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def files(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    n = 120
    confidence = rng.beta(8, 2, n).round(3)
    target = rng.choice(["good", "bad"], n)
    other = np.where(target == "good", "bad", "good")
    items = pd.DataFrame(
        {
            "item": [f"i{number}" for number in range(n)],
            "confidence": confidence,
            "seconds": rng.gamma(3.0, 8.0, n).round(1) + 1,
        }
    )
    items.to_csv("items.csv", index=False)
    predicted = np.where(rng.random(n) < confidence, target, other)
    items.assign(target=target, predicted=predicted).to_csv("known.csv", index=False)
    rows = [
        (f"i{item}", f"w{worker}", target[item] if rng.random() < 0.9 else other[item], 20.0 + worker, target[item])
        for item in range(n)
        for worker in range(5)
    ]
    answers = pd.DataFrame(rows, columns=["task", "worker", "label", "seconds", "truth"])
    answers.to_csv("answers.csv", index=False)
    return tmp_path


@pytest.mark.usefixtures("files")
def test_simulate_says_bands_and_chances(hmc: Any) -> None:
    told = hmc("simulate", "items.csv", "--policies", "paper,random", "--repetitions", "20", "--max-hours", "0.01")
    assert told.code == 0
    assert "20 rehearsals, median (5% to 95%); money in USD" in told.out
    summary = json.loads(
        hmc("simulate", "items.csv", "--policies", "paper", "--repetitions", "5", "--max-hours", "0.01", "--json").out
    )["summary"]
    assert summary[0]["chance_over_time"] == 1.0


@pytest.mark.usefixtures("files")
def test_simulate_fits_people_replays_answers_and_writes_every_repetition(hmc: Any, tmp_path: Path) -> None:
    call = ("--policies", "paper", "--repetitions", "4")
    assert hmc("simulate", "items.csv", *call, "--fit", "answers.csv", "--out", "runs.csv").code == 0
    assert len(pd.read_csv("runs.csv")) == 4
    assert hmc("simulate", "known.csv", *call, "--replay", "answers.csv").code == 0
    refused = hmc("simulate", "items.csv", *call, "--replay", "answers.csv")
    assert refused.code == 2
    assert "needs the columns target and predicted" in refused.err


@pytest.mark.usefixtures("files")
def test_pilot_and_benchmark(hmc: Any) -> None:
    told = hmc("pilot", "answers.csv", "--items", "500", "--paid", "0.10USD")
    assert told.code == 0
    assert "answers an item" in told.out
    table = json.loads(hmc("benchmark", "known.csv", "--repetitions", "5", "--json").out)
    assert [row["policy"] for row in table] == ["machine", "crowd", "experts", "mix"]


def test_calculators_need_no_file(hmc: Any) -> None:
    assert hmc("capacity", "--arrivals", "10000", "--people", "100", "--seconds", "30").out.startswith(
        "people can look at 0.0094% of the arrivals"
    )
    assert "1,068 items" in hmc("power", "--within", "0.03").out
    assert hmc("cost", "--tasks", "100", "--price", "0.10").out.startswith("30.00 USD in all")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("simulate", "answers.csv"), "answers.csv"),
        (("simulate", "items.csv", "--policies", "best"), "'best'"),
        (("simulate", "items.csv", "--accuracy", "2"), "accuracy is 2"),
        (("simulate", "items.csv", "--fit", "answers.csv", "--replay", "answers.csv"), "take one"),
        (("pilot", "items.csv", "--items", "10"), "items.csv"),
        (("pilot", "answers.csv", "--items", "10", "--pay", "12"), "rate per hour"),
        (("power",), "either --within"),
        (("cost", "--tasks", "3"), "tasks need a price"),
        (("capacity", "--arrivals", "0", "--people", "1", "--seconds", "1"), "--arrivals is 0"),
        (("plan", "--target-agreement", "1.5"), "hmc-crowd"),
    ],
)
def test_wrong_input_is_a_sentence_and_2(command: tuple[str, ...], said: str, hmc: Any) -> None:
    told = hmc(*command)
    assert told.code == 2
    assert said in told.err
    assert "Traceback" not in told.err


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("command", ["simulate", "benchmark", "sweep"])
def test_a_machines_label_under_another_name_is_told_how_to_be_called(hmc: Any, command: str) -> None:
    known = pd.read_csv("known.csv").assign(effort=1.0)
    known.rename(columns={"predicted": "label"}).to_csv("label.csv", index=False)
    found = hmc(command, "label.csv")
    assert found.code == 2
    assert (
        "label.csv has target but not predicted; rename 'label' to 'predicted' if it holds the machine's" in found.err
    )
    known.rename(columns={"target": "Truth"}).to_csv("truth.csv", index=False)
    assert (
        "rename 'Truth' to 'target' if it holds what is true, or leave predicted out" in hmc(command, "truth.csv").err
    )
    known.drop(columns="predicted").to_csv("bare.csv", index=False)
    assert "add predicted, the machine's labels, or leave target out" in hmc(command, "bare.csv").err
