"""A judge's predictions into a campaign of pairs, simulated people, and the win rates: by commands alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.judges import example_pairs

if TYPE_CHECKING:
    from pathlib import Path

Hmc = Callable[..., Any]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pairs, answers = example_pairs()
    pairs.iloc[:60].to_csv("pairs.csv", index=False)
    answers[answers["task"].isin(pairs["item"][:20])].to_csv("answers.csv", index=False)
    return tmp_path


def test_from_a_judge_to_win_rates(hmc: Hmc, files: Path) -> None:
    from hmc_crowd.campaign import Campaign
    from hmc_crowd.platform import find_platform
    from hmc_crowd.simulation import SimulatedCrowd, draw_workers

    done = hmc(
        "judges", "run", "pairs.csv", "--judge", "rouge", "--predictions", "said.csv", "--answers", "answers.csv"
    )
    assert done.code == 0
    assert list(pd.read_csv("said.csv")) == ["item", "label", "confidence", "p_a", "p_b", "p_tie"]
    assert hmc("init", "--pairs").code == 0
    assert hmc("items", "--pairs", "pairs.csv", "--predictions", "said.csv").out == "stored 60 pairs, 60 predictions\n"
    assert hmc("effort", "estimate").code == 0
    assert hmc("plan", "--trade-off", "0", "--max-human", "15", "--audit", "20").code == 0
    publish = ("publish", "--pay", "12/h", "--yes", "--budget", "300", "--redundancy", "1", "--workplace", "work.db")
    assert hmc(*publish).code == 0
    truth = dict.fromkeys(pd.read_csv("pairs.csv")["item"], "b")
    workers = draw_workers(4, ["a", "b", "tie"], rng=np.random.default_rng(1), accuracy=0.9)
    with find_platform("local", "work.db") as place:
        place.rehearse(SimulatedCrowd(workers, truth, rng=np.random.default_rng(2)))
    assert hmc("collect", "--workplace", "work.db").code == 0
    assert hmc("aggregate", "--method", "majority").code == 0
    found = hmc("judges", "winrate", "pairs.csv", "--json").json
    assert {row["model"] for row in found["models"]} == {"brief", "wordy", "off"}
    assert sum(row["people"] for row in found["models"]) == 35
    assert all(row["win_rate"] < 0.5 for row in found["models"])
    shown = hmc("judges", "winrate", "pairs.csv", "--out", "rates.csv")
    assert "models of one rank cannot be told apart" in shown.out
    with Campaign.open("hmc-crowd.db") as campaign:
        assert campaign.aspects[0].kind == "pair"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("items", "pairs.csv", "--pairs", "pairs.csv"), "FILE and --pairs both bring items"),
        (("init", "--name", "b", "--pairs", "--labels", "x,y"), "--pairs asks one question of its own"),
        (("judges", "run", "pairs.csv", "--judge", "rouge", "--answers", "answers.csv"), "so give both"),
        (("judges", "run", "pairs.csv", "--judge", "rouge", "--predictions", "pairs.csv"), "pairs.csv is there"),
        (("judges", "winrate", "pairs.csv"), "has no plan yet"),
        (("judges", "winrate", "pairs.csv", "--model-column", "author"), "has no column 'author'"),
    ],
)
def test_wrong_words_are_refused_in_a_sentence(hmc: Hmc, files: Path, words: tuple[str, ...], told: str) -> None:
    assert hmc("init", "--pairs").code == 0
    done = hmc(*words)
    assert done.code == 2
    assert told in " ".join(done.err.split())
