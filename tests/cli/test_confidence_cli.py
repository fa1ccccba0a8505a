"""`hmc-crowd confidence`: what it prints and writes, and what it refuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd import Campaign
from hmc_crowd.cli import main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def table(tmp_path: Path, rng: np.random.Generator) -> Path:
    p = rng.uniform(0.5, 1, 500)
    right = rng.random(500) < p
    frame = pd.DataFrame({"item": range(500), "label": "good", "truth": np.where(right, "good", "bad")})
    frame = frame.assign(confidence=p, sure=p**0.2, correct=right.astype(int))
    frame.to_csv(tmp_path / "labelled.csv", index=False)
    return tmp_path / "labelled.csv"


@pytest.fixture
def campaign(tmp_path: Path, rng: np.random.Generator) -> Path:
    """300 items, 100 of them gold, by a machine that is much too sure."""
    names, p = [f"i{row:03}" for row in range(300)], rng.uniform(0.5, 1, 300)
    right = rng.random(100) < p[:100]
    with Campaign.create(tmp_path / "c.db", labels=["good", "bad"], seed=1) as opened:
        opened.add_items(pd.DataFrame({"item": names, "text": ["some words"] * 300}))
        opened.add_predictions(pd.DataFrame({"item": names, "label": "good", "confidence": p**0.1}))
        opened.add_gold(pd.DataFrame({"item": names[:100], "label": np.where(right, "good", "bad")}))
        opened.estimate_effort()
    return tmp_path / "c.db"


def call(capsys: Any, *words: Any) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as done:
        main([str(word) for word in words])
    said = capsys.readouterr()
    return int(done.value.code or 0), said.out, said.err


def test_evaluate_compares_columns(table: Path, capsys: Any) -> None:
    code, out, _ = call(capsys, "confidence", "evaluate", table, "--confidence", "confidence,sure", "--json")
    first, second = json.loads(out)
    assert code == 0
    assert first["auc"]["value"] == second["auc"]["value"]  # the same order
    assert second["calibration"]["value"] > 0.1 > first["calibration"]["value"]


def test_labels_and_truth_say_the_same_as_correct(table: Path, capsys: Any) -> None:
    by_labels = call(capsys, "confidence", "evaluate", table, "--json")
    by_correct = call(capsys, "confidence", "evaluate", table, "--correct", "correct", "--json")
    assert by_labels == by_correct


def test_evaluate_prints_a_table_and_writes_a_page(table: Path, tmp_path: Path, capsys: Any) -> None:
    page = tmp_path / "quality.html"
    code, out, _ = call(capsys, "confidence", "evaluate", table, "--top", "0.25,0.5", "--html", page)
    assert code == 0
    assert "accuracy of the top 25%" in out
    assert "<svg" in page.read_text(encoding="utf-8")
    code, _, err = call(capsys, "confidence", "evaluate", table, "--html", page)
    assert (code, "exists already" in err) == (2, True)
    assert call(capsys, "confidence", "evaluate", table, "--html", page, "--overwrite")[0] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--confidence", "absent"], "no column 'absent'"),
        (["--confidence", "item"], "item must be in [0, 1]: rows 2 (2)"),
        (["--confidence", ""], "--confidence is empty"),
        (["--correct", "item"], "item must be 1 or 0: rows 2 (2)"),
        (["--top", "2"], "--top is '2'"),
        (["--top", "half"], "--top is 'half'"),
        (["--truth", "absent"], "no column 'absent'"),
    ],
)
def test_bad_input_is_one_sentence(words: list[str], said: str, table: Path, capsys: Any) -> None:
    code, out, err = call(capsys, "confidence", "evaluate", table, *words)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_calibrate_learns_from_gold_and_the_plan_uses_it(campaign: Path, capsys: Any) -> None:
    def people(*extra: str) -> int:
        words = ("plan", "--db", campaign, "--trade-off", "3", "--max-human", "none", "--audit", "0", *extra)
        return int(json.loads(call(capsys, *words, "--json")[1])["people"])

    before = people()
    code, out, _ = call(capsys, "confidence", "calibrate", "--db", campaign)
    assert code == 0
    assert "on 100 labels" in out
    assert people() > before + 50
    assert people("--confidence", "raw") == before
    assert "raw, as asked" in call(capsys, "plan", "--db", campaign, "--confidence", "raw")[1]


def test_calibrate_reads_a_file(campaign: Path, table: Path, capsys: Any) -> None:
    words = ("confidence", "calibrate", table, "--confidence", "sure", "--method", "platt", "--db", campaign, "--json")
    code, out, _ = call(capsys, *words)
    found = json.loads(out)
    assert (code, found["method"], found["items"], found["version"]) == (0, "platt", 500, 1)
    assert found["brier"] < found["raw_brier"]


def test_calibrate_says_what_is_missing(campaign: Path, table: Path, tmp_path: Path, capsys: Any) -> None:
    assert "'magic'" in call(capsys, "confidence", "calibrate", "--db", campaign, "--method", "magic")[2]
    assert "confidence is 'rough'" in call(capsys, "plan", "--db", campaign, "--confidence", "rough")[2]
    with Campaign.create(tmp_path / "empty.db", labels=["good", "bad"]):
        pass
    code, _, err = call(capsys, "confidence", "calibrate", "--db", tmp_path / "empty.db")
    assert (code, "no gold item" in err) == (2, True)
