"""The gate commands: train, compare, simulate; and what cannot be learnt from is said, with nothing written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.cli._gate_file import posterior_gate, read_gate_files, sides_of
from hmc_crowd.quality import GateCosts, disagreement, split_answers

if TYPE_CHECKING:
    from pathlib import Path

Hmc = Callable[..., Any]
TRAIN = ("gate", "train", "said.csv", "--gold", "experts.csv")
COMPARE = ("gate", "compare", "said.csv", "--gold", "experts.csv")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    n, skill = 160, (0.95, 0.75, 0.65, 0.55)
    truth = rng.integers(0, 2, n)
    rows = [
        (f"i{item:03d}", f"w{worker}", int(truth[item] if rng.random() < skill[worker] else 1 - truth[item]))
        for item in range(n)
        for worker in range(4)
    ]
    answers = pd.DataFrame(rows, columns=["task", "worker", "label"])
    times = pd.date_range("2026-01-05", periods=len(answers), freq="min", tz="UTC").map(lambda at: at.isoformat())
    answers.assign(submitted=times).to_csv(tmp_path / "said.csv", index=False)
    pd.DataFrame({"item": [f"i{k:03d}" for k in range(n)], "label": truth}).to_csv(
        tmp_path / "experts.csv", index=False
    )
    items = pd.DataFrame({"item": [f"i{k:03d}" for k in range(n)], "risk": rng.choice(["low", "high"], n)})
    items.assign(complexity=rng.random(n).round(2), text="some words").to_csv(tmp_path / "items.csv", index=False)
    pd.DataFrame({"worker": [f"w{k}" for k in range(4)], "quality": skill}).to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


def test_a_gate_is_trained_and_compared(hmc: Hmc, files: Path) -> None:
    said = hmc(*TRAIN, "--out", "gate.skops", "--workers", "people.csv", "--json")
    assert said.code == 0, said.err
    assert said.json["features"][0] == "worker_quality"
    assert (files / "gate.skops").exists()
    found = hmc(*COMPARE, "--model", "gate.skops", "--workers", "people.csv", "--json").json
    assert [row["gate"] for row in found["gates"]] == ["rules", "consensus", "weighted majority", "ML gate"]


def test_without_a_model_gates_learn_on_one_side_and_are_judged_on_the_other(hmc: Hmc, files: Path) -> None:
    said = hmc(*COMPARE, "--by", "time", "--share", "0.3")
    assert said.code == 0, said.err
    assert "split by time: 112 items to train on, 48 to judge on" in " ".join(said.out.split())
    assert "ML gate" in said.out
    assert "no column risk" in said.out
    # The source's words and what was measured here stand side by side.
    assert "of the items decided right here; the source claims 90-95%, without data" in " ".join(said.out.split())


def test_known_risk_and_text_bring_their_rules(hmc: Hmc, files: Path) -> None:
    found = hmc(*COMPARE, "--items", "items.csv", "--json").json
    assert "rules with text" in [row["gate"] for row in found["gates"]]
    rules = found["gates"][0]
    assert rules["sent"] >= 0.3 * rules["n"]  # half of the items are of high risk
    assert all("no column" not in note for note in found["notes"])


def test_one_class_is_said_and_nothing_is_written(hmc: Hmc, files: Path) -> None:
    gold = pd.read_csv(files / "experts.csv").head(10)
    gold.to_csv(files / "few.csv", index=False)
    said = hmc("gate", "train", "said.csv", "--gold", "few.csv", "--out", "gate.skops")
    assert said.code == 2
    assert "everything goes to an expert" in said.err
    assert not (files / "gate.skops").exists()


def test_a_quality_that_is_no_number_is_not_taken_for_unknown(hmc: Hmc, files: Path) -> None:
    (files / "words.csv").write_text("worker,quality\nw0,0.9\nw1,good\nw2,\n")
    said = hmc(*COMPARE, "--workers", "words.csv")
    assert said.code == 2
    assert "'good' for worker 'w1'" in said.err


def test_disagreement_on_each_side_is_that_of_its_own_answers(files: Path) -> None:
    read = read_gate_files(files / "said.csv", files / "experts.csv", None, None)
    for by in ("time", "worker"):
        split = split_answers(read.answers, by=by, share=0.3, rng=np.random.default_rng(0))  # type: ignore[arg-type]
        for side, answers in zip(sides_of(read, split), (split.train, split.test), strict=True):
            own = disagreement(answers).set_index("item")["share"].fillna(1.0)
            assert side.items.set_index("item")["complexity"].to_dict() == own.to_dict()


def test_labels_that_only_experts_give_lower_what_the_posterior_promises(files: Path) -> None:
    read = read_gate_files(files / "said.csv", files / "experts.csv", None, None)
    other = read.gold.assign(label=read.gold["label"].where(np.arange(len(read.gold)) % 4 > 0, "other"))
    gate = posterior_gate(replace(read, gold=other), read.answers, GateCosts())
    found = gate.decide(None, read.answers).frame
    # A quarter of the items has a label that the crowd never gives.
    assert found["score"].mean() == pytest.approx(0.25 + 0.75 * 0.1, abs=0.1)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((*TRAIN, "--out", "gate.pkl"), "ends in .skops"),
        ((*TRAIN, "--out", "gate.skops", "--kind", "svm"), "kind is 'svm'"),
        ((*TRAIN, "--out", "gate.skops", "--expert-error", "1"), "--expert-error is 1"),
        ((*COMPARE, "--by", "luck"), "by is 'luck'"),
        ((*COMPARE, "--share", "1"), "share is 1"),
        ((*COMPARE, "--model", "said.csv"), "no gate that can be read"),
        ((*COMPARE, "--items", "people.csv"), "lacks the column item"),
        ((*COMPARE, "--workers", "items.csv"), "lacks the column worker"),
    ],
)
def test_wrong_options_are_one_sentence(hmc: Hmc, files: Path, arguments: tuple[str, ...], says: str) -> None:
    said = hmc(*arguments)
    assert said.code == 2
    assert says in said.err


def test_the_simulation_says_which_claims_hold(hmc: Hmc) -> None:
    arguments = ("gate", "simulate", "--repeats", "1", "--items", "200", "--workers", "100")
    said = hmc(*arguments)
    assert said.code == 0, said.err
    words = " ".join(said.out.split())
    assert "claimed -95%: does not hold" in words
    assert "taught it, on 100 items" in words
    found = hmc(*arguments, "--json").json
    assert [row["arm"] for row in found["arms"]] == ["machine only", "experts only", "crowd only", "rules", "ML gate"]
    assert found["claims"]["expert_use"] == 0.37
