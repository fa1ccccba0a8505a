"""Choosing by held-out gold: the default is left for good reasons only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.aggregation import DawidSkene, MajorityVote, choose, regret_curve
from hmc_crowd.aggregation._choose_core import paired

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = ["task", "worker", "label"]
TWO = ("dawid_skene", "majority")


def biased_crowd(seed: int, tasks: int = 300) -> tuple[pd.DataFrame, pd.Series]:
    """Three in five workers nearly always say 0: Dawid-Skene sees it, a majority cannot."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, tasks)
    rows = []
    for worker in range(5):
        wrong = np.where(truth == 1, 0.75 if worker < 3 else 0.1, 0.03 if worker < 3 else 0.1)
        rows += [(t, worker, int(truth[t] ^ (rng.random() < wrong[t]))) for t in range(tasks)]
    return pd.DataFrame(rows, columns=COLUMNS), pd.Series(truth)


def test_the_default_stays_where_nothing_is_better() -> None:
    answers, truth = biased_crowd(1)
    choice = choose(answers, truth[:60], methods=TWO)
    assert choice.method == "dawid_skene"
    assert choice.table.loc["majority", "high"] < 0.2
    assert "beyond chance" in str(choice)


def test_a_clearly_better_method_is_taken() -> None:
    rng = np.random.default_rng(0)

    class Noise(MajorityVote):
        """Labels by lot."""

        def fit(self, answers, gold=None, *, labels=None, weights=None):
            super().fit(answers, gold, labels=labels)
            values = rng.dirichlet(np.ones(self.probabilities_.shape[1]), len(self.probabilities_))
            self.probabilities_ = pd.DataFrame(values, self.probabilities_.index, self.probabilities_.columns)
            return self

    answers, truth = biased_crowd(2)
    choice = choose(answers, truth[:100], methods={"noise": Noise(), "dawid_skene": DawidSkene()}, default="noise")
    assert choice.method == "dawid_skene"
    assert choice.table.loc["dawid_skene", "low"] > 0
    rest = truth[100:]
    assert (choice.labels[rest.index] == rest).mean() > 0.85


def test_gold_items_keep_their_label_and_are_named_in_the_assumptions() -> None:
    answers, truth = biased_crowd(3)
    gold = (1 - truth[:20]).rename("label")
    choice = choose(answers, pd.concat([gold, pd.Series([0], index=[9999])]), methods=TWO)
    assert choice.labels[:20].tolist() == gold.tolist()
    assert (choice.n_gold, choice.n_gold_unused) == (20, 1)
    assert any("left out of any later evaluation" in one for one in choice.assumptions)


def test_with_little_gold_the_default_comes_uncorrected() -> None:
    answers, truth = biased_crowd(4)
    choice = choose(answers, truth[:5], methods=TWO)
    plain = DawidSkene().fit(answers).probabilities_
    assert choice.method == "dawid_skene"
    np.testing.assert_allclose(choice.probabilities[5:].to_numpy(), plain[5:].to_numpy())


def test_paired_interval_by_hand() -> None:
    # 10 items, 3 better, 1 worse: mean 2 / 12; spread (4 + 1) / 12 - (1 / 6)^2; 1.959964 standard errors
    low, high = paired(np.array([1, 1, 1, -1, 0, 0, 0, 0, 0, 0.0]), level=0.95, comparisons=1)
    reach = 1.959964 * np.sqrt((5 / 12 - 1 / 36) / 12)
    assert (low, high) == (pytest.approx(1 / 6 - reach), pytest.approx(1 / 6 + reach))


def test_a_good_default_is_seldom_left() -> None:
    answers, truth = biased_crowd(5, tasks=400)
    curve = regret_curve(answers, truth, rng=np.random.default_rng(0), sizes=(20, 50), draws=40, methods=TWO)
    assert (curve["left"] <= 0.1).all()
    assert (curve["shortfall"] <= 0.02).all()


def test_bad_arguments_are_refused() -> None:
    answers, truth = biased_crowd(6, tasks=30)
    with pytest.raises(ValueError, match="choose from"):
        choose(answers, truth, methods=["nothing"])
    with pytest.raises(ValueError, match="not among the methods"):
        choose(answers, truth, methods=["majority"])
    with pytest.raises(ValueError, match="between 0 and 1"):
        choose(answers, truth, level=95)
    with pytest.raises(ValueError, match="outside"):
        choose(answers, {0: 7}, methods=TWO)


def curve_of(folder: Path, draws: int, sizes: tuple[int, ...]) -> pd.DataFrame:
    answers = pd.read_csv(folder / "answers.csv")
    truth = pd.read_csv(folder / "truth.csv").set_index("task")["label"]
    return regret_curve(answers, truth, rng=np.random.default_rng(0), draws=draws, sizes=sizes, repeats="all")


@pytest.mark.parametrize("name", ["zencrowd_in", "cf_amt"])
def test_the_choice_costs_little_on_open_data(crowd_dir: Path, name: str) -> None:
    assert curve_of(crowd_dir / name, 6, (20, 50))["shortfall"].mean() <= 0.02


@pytest.mark.slow
def test_the_choice_costs_little_on_all_open_data(crowd_dir: Path) -> None:
    folders = [folder for folder in sorted(crowd_dir.iterdir()) if folder.is_dir()]
    found = pd.Series(
        {folder.name: curve_of(folder, 200, (10, 20, 50, 100, 200))["shortfall"].mean() for folder in folders}
    )
    assert (found <= 0.02).all(), found.round(4).to_dict()
