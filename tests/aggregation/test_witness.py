"""The model as a witness, beside cleanlab's CROWDLAB."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.aggregation import MajorityVote, with_witness

COLUMNS = ["task", "worker", "label"]


def crowd_and_model(seed: int, *, k: int = 3, tasks: int = 400) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, tasks)
    rows = []
    for task in range(tasks):
        for worker in rng.choice(15, rng.integers(1, 5), replace=False):
            right = rng.random() < (0.4 if worker < 4 else 0.75)
            rows.append((task, int(worker), int(truth[task] if right else (truth[task] + rng.integers(1, k)) % k)))
    logits = rng.normal(0, 1, (tasks, k)) + 1.5 * np.eye(k)[truth]
    model = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return pd.DataFrame(rows, columns=COLUMNS), pd.DataFrame(model, columns=range(k)), truth


def accuracy(labels: pd.Series, truth: np.ndarray) -> float:
    return float((labels.to_numpy() == truth[labels.index]).mean())


def test_the_model_helps_where_answers_are_few() -> None:
    answers, model, truth = crowd_and_model(1)
    found = with_witness(answers, model)
    crowd_alone = accuracy(MajorityVote().fit_predict(answers), truth)
    model_alone = (model.to_numpy().argmax(axis=1) == truth).mean()
    assert accuracy(found.labels_, truth) > max(crowd_alone, model_alone) + 0.02
    assert found.evidence == "with_model"


def test_a_useless_model_does_little_harm() -> None:
    answers, model, truth = crowd_and_model(2)
    noise = pd.DataFrame(np.random.default_rng(0).dirichlet(np.ones(3), len(model)), columns=range(3))
    found = with_witness(answers, noise)
    assert found.model_weight < with_witness(answers, model).model_weight / 3
    assert accuracy(found.labels_, truth) > accuracy(MajorityVote().fit_predict(answers), truth) - 0.05


def test_beside_cleanlab() -> None:
    # The same formula in its parts; cleanlab differs in how it fits the model's temperature and adjusts single answers.
    multiannotator = pytest.importorskip("cleanlab.multiannotator")
    for seed in (3, 4):
        answers, model, truth = crowd_and_model(seed)
        wide = answers.pivot(index="task", columns="worker", values="label").astype("Int64")
        theirs = multiannotator.get_label_quality_multiannotator(wide, model.to_numpy(), verbose=False)["label_quality"]
        ours = with_witness(answers, model)
        assert (ours.labels_.to_numpy() == theirs["consensus_label"].to_numpy()).mean() > 0.95
        quality = ours.probabilities_.max(axis=1).to_numpy()
        assert np.corrcoef(quality, theirs["consensus_quality_score"])[0, 1] > 0.85
        assert accuracy(ours.labels_, truth) >= (theirs["consensus_label"].to_numpy() == truth).mean() - 0.005


def test_names_and_order_do_not_matter() -> None:
    answers, model, _ = crowd_and_model(5, tasks=100)
    names = {0: "b", 1: "c", 2: "a"}
    other = answers.assign(label=answers["label"].map(names), worker=100 - answers["worker"])
    one = with_witness(answers, model)
    two = with_witness(other.sample(frac=1, random_state=0), model.rename(columns=names).sample(frac=1, random_state=1))
    np.testing.assert_allclose(
        one.probabilities_.to_numpy(), two.probabilities_[list(names.values())].to_numpy(), atol=1e-9
    )


def test_predictions_in_the_house_form_and_in_the_wide_form_agree() -> None:
    answers, model, _ = crowd_and_model(6, tasks=50)
    house = model.add_prefix("p_").rename_axis("item").reset_index().assign(label=0, confidence=1.0)
    pd.testing.assert_frame_equal(
        with_witness(answers, house).probabilities_, with_witness(answers, model).probabilities_
    )


def test_bad_predictions_are_refused_in_a_sentence() -> None:
    answers, model, _ = crowd_and_model(7, tasks=20)
    with pytest.raises(ValueError, match="no row for 1 answered items"):
        with_witness(answers, model.drop(index=answers["task"][0]))
    with pytest.raises(ValueError, match="no probability for the label 2"):
        with_witness(answers, model.drop(columns=2))
    with pytest.raises(ValueError, match=r"in \[0, 1\]"):
        with_witness(answers, model - 1)
    with pytest.raises(ValueError, match="twice"):
        with_witness(answers, pd.concat([model, model[:1]]))
