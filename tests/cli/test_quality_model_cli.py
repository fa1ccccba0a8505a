"""quality model: what it says with much and with little gold, what it writes, and what it refuses."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.quality import WorkerQualityModel, load_quality_model

if TYPE_CHECKING:
    from collections.abc import Callable

# Answers on record are made beside the tests of campaigns.
sys.path.insert(0, str(Path(__file__).parents[1] / "campaign"))


@pytest.fixture
def much_gold(tmp_path: Path, clock: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A campaign whose 12 people, four of them bad, met 20 known items each."""
    from recorded import campaign_of, crowd_days, record

    monkeypatch.setitem(WorkerQualityModel.__init__.__kwdefaults__, "n_estimators", 20)
    monkeypatch.chdir(tmp_path)
    rates = np.full((10, 12), 0.95)
    rates[:, 8:] = 0.5
    answers, truth, gold = crowd_days(rates, rng=np.random.default_rng(3), others=3)
    with campaign_of(tmp_path, truth, gold, clock=clock) as made:
        record(made, answers)
    return tmp_path


def test_the_model_is_told_shown_written_and_saved(hmc: Callable[..., Any], much_gold: Path) -> None:
    here = ("quality", "model", "--db", "recorded.db")
    shown = hmc(*here)
    assert shown.code == 0
    words = " ".join(shown.out.split())
    assert "the pool's mean" in words
    assert "the priority rests on" in words
    told = hmc(*here, "--json", "--out", "table.csv", "--save", "quality.skops").json
    assert {"said", "base", "report", "brier_bayes", "outcomes", "workers", "notes"} == set(told)
    assert told["outcomes"] == 240
    table = pd.read_csv(much_gold / "table.csv")
    assert table["worker"].tolist() == [row["worker"] for row in told["workers"]]
    assert load_quality_model(much_gold / "quality.skops").report_.rows == told["report"]["rows"]
    for option, file in (("--out", "table.csv"), ("--save", "quality.skops")):
        again = hmc(*here, option, file)
        assert again.code == 2
        assert "exists; add --overwrite" in " ".join(again.err.split())


def test_too_little_gold_is_one_sentence(hmc: Callable[..., Any], at: Callable[[str], Path]) -> None:
    folder = at("collected")
    told = hmc("quality", "model", "--json").json
    assert told["said"].endswith("there is no model, and the quality is the Bayesian one alone")
    assert (told["report"], told["base"]) == (None, "bayes")
    assert all(row["priority"] is not None for row in told["workers"])
    refused = hmc("quality", "model", "--save", "quality.skops", "--out", "table.csv")
    assert refused.code == 2
    assert "there is no model to save" in " ".join(refused.err.split())
    assert not (folder / "quality.skops").exists()
    assert not (folder / "table.csv").exists()


@pytest.mark.parametrize(
    ("option", "says"),
    [
        (("--kind", "svm"), "kind is 'svm'; use 'random_forest' or 'xgboost'"),
        (("--save", "quality.pkl"), "--save is 'quality.pkl'; give a file that ends in .skops"),
    ],
)
def test_what_makes_no_sense_is_refused(
    hmc: Callable[..., Any], at: Callable[[str], Path], option: tuple[str, ...], says: str
) -> None:
    at("collected")
    refused = hmc("quality", "model", *option)
    assert refused.code == 2
    assert says in " ".join(refused.err.split())
