"""Machine and people together: Bayes' rule where they are independent, learnt weights where suggestions anchor."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmc_crowd.aggregation import CombinedConfidence, answer_evidence
from hmc_crowd.errors import FrameError, InputError


def test_evidence_of_answers_by_hand() -> None:
    # t: ann (.8) and bob (.6) say yes: .8 * .6 = .48 against .2 * .4 = .08; cid is unknown (.7) and says no:
    # .48 * .3 = .144 against .08 * .7 = .056.
    rows = [("t", "ann", "yes", "yes"), ("t", "bob", "yes", None), ("t", "cid", "no", "yes"), ("u", "ann", "no", None)]
    answers = pd.DataFrame(rows, columns=["task", "worker", "label", "shown"])
    people, echoes = answer_evidence(answers, {"ann": 0.8, "bob": 0.6}, ["yes", "no"], suggestion="shown")
    assert people.loc["t", "yes"] == pytest.approx(0.144 / 0.2)
    assert people.loc["u", "no"] == pytest.approx(0.8)
    assert echoes.loc["t"].tolist() == [1.0, 0.0]
    assert echoes.loc["u"].tolist() == [0.0, 0.0]


def test_unfitted_it_is_bayes_rule_and_no_average() -> None:
    # Odds 4 and 4 make 16: surer than either; the average would stay at .8.
    both = CombinedConfidence().predict([[0.8, 0.2]], [[0.8, 0.2]])
    assert both[0, 0] == pytest.approx(16 / 17)
    against = CombinedConfidence().predict([[0.8, 0.2]], [[0.2, 0.8]])
    assert against[0, 0] == pytest.approx(0.5)


def world(n: int, anchored: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """One person (right in 75 %) a known item, who repeats a shown suggestion with some chance whatever he thinks."""
    truth = rng.integers(0, 2, n)
    sure = rng.uniform(0.5, 0.95, n)
    machine = np.where(rng.random(n) < sure, truth, 1 - truth)
    own = np.where(rng.random(n) < 0.75, truth, 1 - truth)
    said = np.where(rng.random(n) < anchored, machine, own)
    table = np.column_stack([1 - sure, 1 - sure])
    table[np.arange(n), machine] = sure
    answers = pd.DataFrame({"task": np.arange(n), "worker": "ann", "label": said.astype(str)})
    answers["shown"] = machine.astype(str)
    people, echoes = answer_evidence(answers, {"ann": 0.75}, ["0", "1"], suggestion="shown")
    return table, people.to_numpy(), truth, echoes.to_numpy()


def calibration_gap(chance: np.ndarray, truth: np.ndarray) -> float:
    """How far the mean confidence lies from the share that is right."""
    chosen = chance.argmax(axis=1)
    return float(chance.max(axis=1).mean() - (chosen == truth).mean())


def test_learnt_weights_undo_the_echo() -> None:
    rng = np.random.default_rng(4)
    machine, people, truth, echoes = world(4000, anchored=0.6, rng=rng)
    model = CombinedConfidence().fit(machine[:2000], people[:2000], truth[:2000], echoes=echoes[:2000])
    plain = CombinedConfidence().predict(machine[2000:], people[2000:])
    learnt = model.predict(machine[2000:], people[2000:], echoes=echoes[2000:])
    # Without learning agreement counts twice; learnt, an echo is worth less.
    assert model.weights_[2] < -0.3
    assert calibration_gap(plain, truth[2000:]) > 0.04
    assert abs(calibration_gap(learnt, truth[2000:])) < 0.03
    average = (machine[2000:] + people[2000:]) / 2
    loss = [-np.log(each[np.arange(2000), truth[2000:]]).mean() for each in (learnt, plain, average)]
    assert loss[0] < min(loss[1:])


def test_independent_witnesses_keep_bayes_weights() -> None:
    machine, people, truth, echoes = world(4000, anchored=0.0, rng=np.random.default_rng(5))
    model = CombinedConfidence().fit(machine, people, truth, echoes=echoes)
    assert model.weights_ == pytest.approx([1, 1, 0], abs=0.25)


def test_few_known_labels_move_little() -> None:
    machine, people, truth, _ = world(4, anchored=0.6, rng=np.random.default_rng(6))
    assert CombinedConfidence().fit(machine, people, truth).weights_ == pytest.approx([1, 1, 0], abs=0.5)
    assert CombinedConfidence().fit(machine[:0], people[:0], truth[:0]).weights_.tolist() == [1, 1, 0]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 5))
def test_rows_are_probabilities_and_the_fit_is_a_maximum(seed: int, labels: int) -> None:
    rng = np.random.default_rng(seed)
    machine, people = rng.dirichlet(np.ones(labels), 30), rng.dirichlet(np.ones(labels), 30)
    truth, echoes = rng.integers(0, labels, 30), rng.integers(0, 3, (30, labels)).astype(float)
    model = CombinedConfidence().fit(machine, people, truth, echoes=echoes)
    chance = model.predict(machine, people, echoes=echoes)
    assert np.allclose(chance.sum(axis=1), 1)
    assert (chance >= 0).all()

    def value(weights: np.ndarray) -> float:
        other = CombinedConfidence()
        other.weights_ = weights
        rows = np.log(other.predict(machine, people, echoes=echoes)[np.arange(30), truth])
        return float(rows.sum() - 2 * ((weights - [1, 1, 0]) ** 2).sum())

    best = value(model.weights_)
    for _ in range(5):
        assert value(model.weights_ + rng.normal(0, 0.05, 3)) <= best + 1e-9


@pytest.mark.parametrize(
    "given", [([[0.5, 0.4]], [[0.5, 0.5]], [0]), ([[0.5, 0.5]], [[1.0]], [0]), ([[0.5, 0.5]], [[0.5, 0.5]], [2])]
)
def test_bad_tables_are_refused(given: tuple[list[list[float]], list[list[float]], list[int]]) -> None:
    with pytest.raises(InputError):
        CombinedConfidence().fit(*given)


def test_bad_answers_are_refused() -> None:
    answers = pd.DataFrame({"task": ["t"], "worker": ["ann"], "label": ["maybe"]})
    with pytest.raises(FrameError, match="maybe"):
        answer_evidence(answers, {}, ["yes", "no"])
    with pytest.raises(InputError, match="share"):
        answer_evidence(answers.assign(label="yes"), {"ann": 2.0}, ["yes", "no"])
