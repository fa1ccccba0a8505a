"""The demo's machine: better than guessing, worse than people, and its doubts mean something."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from hmc_crowd.demo import DemoDialogues, load_dialogues
from hmc_crowd.demo._machine import MachinePredictions, machine_predictions
from hmc_crowd.errors import InputError, ModelError

SEEDS = (0, 1, 2)


@pytest.fixture(scope="module")
def dialogues() -> DemoDialogues:
    return load_dialogues()


@pytest.fixture(scope="module")
def runs(dialogues: DemoDialogues) -> list[MachinePredictions]:
    return [machine_predictions(dialogues, rng=np.random.default_rng(seed)) for seed in SEEDS]


def right(run: MachinePredictions, dialogues: DemoDialogues) -> pd.Series:
    truth = dialogues.truth.set_index("item")["label"]
    return run.predictions["label"] == truth.loc[run.predictions["item"]].to_numpy()


@pytest.mark.parametrize("seed", SEEDS)
def test_it_beats_the_majority_by_at_least_five_points(
    seed: int, runs: list[MachinePredictions], dialogues: DemoDialogues
) -> None:
    run = runs[SEEDS.index(seed)]
    truth = dialogues.truth.set_index("item")["label"].loc[run.predictions["item"]]
    assert right(run, dialogues).mean() >= truth.value_counts(normalize=True).max() + 0.05


@pytest.mark.parametrize("seed", SEEDS)
def test_it_leaves_work_for_people(seed: int, runs: list[MachinePredictions], dialogues: DemoDialogues) -> None:
    assert right(runs[SEEDS.index(seed)], dialogues).mean() <= 0.90


@pytest.mark.parametrize("seed", SEEDS)
def test_its_confidence_tells_right_from_wrong(
    seed: int, runs: list[MachinePredictions], dialogues: DemoDialogues
) -> None:
    run = runs[SEEDS.index(seed)]
    assert roc_auc_score(right(run, dialogues), run.predictions["confidence"]) >= 0.65


@pytest.mark.parametrize("seed", SEEDS)
def test_its_mean_confidence_is_near_its_accuracy(
    seed: int, runs: list[MachinePredictions], dialogues: DemoDialogues
) -> None:
    run = runs[SEEDS.index(seed)]
    assert run.predictions["confidence"].mean() == pytest.approx(right(run, dialogues).mean(), abs=0.08)


def test_the_same_seed_gives_the_same_predictions(runs: list[MachinePredictions], dialogues: DemoDialogues) -> None:
    again = machine_predictions(dialogues, rng=np.random.default_rng(SEEDS[0]))
    pd.testing.assert_frame_equal(again.predictions, runs[0].predictions, check_exact=True)
    pd.testing.assert_frame_equal(again.training, runs[0].training, check_exact=True)


def test_another_seed_draws_other_dialogues(runs: list[MachinePredictions]) -> None:
    assert set(runs[0].training["group"]) != set(runs[1].training["group"])


def test_every_turn_is_either_learned_from_or_predicted(
    runs: list[MachinePredictions], dialogues: DemoDialogues
) -> None:
    together = runs[0].predictions["item"].tolist() + runs[0].training["item"].tolist()
    assert sorted(together) == sorted(dialogues.items["item"])


def test_no_dialogue_is_cut_by_the_split(runs: list[MachinePredictions], dialogues: DemoDialogues) -> None:
    group = dialogues.items.set_index("item")["group"]
    assert set(group.loc[runs[0].predictions["item"]]).isdisjoint(runs[0].training["group"])


def test_the_training_part_is_the_share_asked_for(dialogues: DemoDialogues) -> None:
    run = machine_predictions(dialogues, rng=np.random.default_rng(0), train_share=0.5)
    assert run.training["group"].nunique() == round(0.5 * dialogues.items["group"].nunique())


def test_predictions_have_the_columns_of_the_house(runs: list[MachinePredictions]) -> None:
    assert list(runs[0].predictions.columns) == ["item", "label", "confidence", "p_kind", "p_unkind"]
    assert list(runs[0].training.columns) == ["item", "group", "position", "text", "label"]


def test_the_label_is_the_likelier_one_and_confidence_its_probability(runs: list[MachinePredictions]) -> None:
    frame = runs[0].predictions
    np.testing.assert_allclose(frame["p_kind"] + frame["p_unkind"], 1.0)
    assert (frame["confidence"] == frame[["p_kind", "p_unkind"]].max(axis=1)).all()
    assert ((frame["label"] == "unkind") == (frame["p_unkind"] > frame["p_kind"])).all()


def test_held_out_labels_are_not_looked_at(runs: list[MachinePredictions], dialogues: DemoDialogues) -> None:
    truth = dialogues.truth.copy()
    held_out = truth["item"].isin(runs[0].predictions["item"])
    truth.loc[held_out, "label"] = "kind"
    blinded = machine_predictions(
        DemoDialogues(items=dialogues.items, truth=truth), rng=np.random.default_rng(SEEDS[0])
    )
    pd.testing.assert_frame_equal(blinded.predictions, runs[0].predictions, check_exact=True)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, 1.5, 0.001, float("nan")])
def test_a_share_that_leaves_too_little_is_refused(share: float, dialogues: DemoDialogues) -> None:
    with pytest.raises(InputError, match=r"train_share is .*; of \d+ dialogues it must leave"):
        machine_predictions(dialogues, rng=np.random.default_rng(0), train_share=share)


def test_one_label_only_cannot_be_learned(dialogues: DemoDialogues) -> None:
    kind = dialogues.truth.assign(label="kind")
    with pytest.raises(ModelError, match="one label only"):
        machine_predictions(DemoDialogues(items=dialogues.items, truth=kind), rng=np.random.default_rng(0))
