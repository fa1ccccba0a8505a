"""What must not matter, and what must: order and names, copies, the course of the likelihood."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmc_crowd.aggregation import DawidSkene, MajorityVote

QUICK = settings(max_examples=40, deadline=None)


@st.composite
def answer_tables(draw: st.DrawFn) -> pd.DataFrame:
    tasks, workers, labels = draw(st.integers(1, 8)), draw(st.integers(1, 6)), draw(st.integers(1, 4))
    cells = draw(st.sets(st.tuples(st.integers(0, tasks - 1), st.integers(0, workers - 1)), min_size=1))
    rows = [(task, worker, draw(st.integers(0, labels - 1))) for task, worker in sorted(cells)]
    return pd.DataFrame(rows, columns=["task", "worker", "label"])


def renamed(answers: pd.DataFrame, seed: int) -> tuple[pd.DataFrame, dict[str, dict[int, int]]]:
    """The same answers with other numbers for names, rows shuffled; and the new name of each old one."""
    rng = np.random.default_rng(seed)
    names = {c: dict(zip(range(9), rng.permutation(9).tolist(), strict=True)) for c in answers.columns}
    changed = pd.DataFrame({c: answers[c].map(names[c]) for c in answers.columns})
    return changed.sample(frac=1, random_state=seed), names


@QUICK
@given(answers=answer_tables(), seed=st.integers(0, 999), prior=st.sampled_from([0.0, 6.0]))
def test_names_and_order_do_not_matter(answers: pd.DataFrame, seed: int, prior: float) -> None:
    other, names = renamed(answers, seed)
    one, two = (DawidSkene(prior=prior).fit(a) for a in (answers, other))
    there = two.probabilities_.reindex(
        index=one.probabilities_.index.map(names["task"]), columns=one.probabilities_.columns.map(names["label"])
    )
    np.testing.assert_allclose(one.probabilities_.to_numpy(), there.to_numpy(), atol=1e-9)
    skills = two.skills_.reindex(one.skills_.index.map(names["worker"]))
    np.testing.assert_allclose(one.skills_.to_numpy(), skills.to_numpy(), atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_rounding_does_not_decide_on_a_saddle(seed: int) -> None:
    # u and v differ about tasks 0 and 1 in the same way, and only v answers task 2: the iteration passes a saddle on
    # which both tasks are even; the last bits of a sum, multiplied in every step, once turned them over.
    answers = pd.DataFrame([(0, 0, 2), (0, 1, 1), (1, 0, 2), (1, 1, 1), (2, 1, 0)], columns=["task", "worker", "label"])
    rng = np.random.default_rng(seed)
    tasks, workers, labels = rng.permutation(3), rng.permutation(2), rng.permutation(3)
    other = pd.DataFrame({"task": tasks[answers["task"]], "worker": workers[answers["worker"]]})
    other["label"] = labels[answers["label"]]
    one, two = (DawidSkene().fit_predict_proba(a) for a in (answers, other))
    there = two.reindex(index=tasks[one.index], columns=labels[one.columns])
    np.testing.assert_allclose(one.to_numpy(), there.to_numpy(), atol=1e-9)


@QUICK
@given(answers=answer_tables(), seed=st.integers(0, 999))
def test_majority_does_not_depend_on_names_where_nothing_is_tied(answers: pd.DataFrame, seed: int) -> None:
    other, names = renamed(answers, seed)
    one, two = MajorityVote().fit(answers), MajorityVote().fit(other)
    for task, tied in one.tied_.items():
        there = names["task"][task]
        assert two.tied_[there] == tied
        if not tied:
            assert two.labels_[there] == names["label"][one.labels_[task]]


def test_renaming_labels_flips_a_tie_as_the_rule_says() -> None:
    answers = pd.DataFrame({"task": ["a", "a"], "worker": ["u", "v"], "label": ["x", "y"]})
    swapped = answers.assign(label=["y", "x"])
    assert MajorityVote().fit_predict(answers).tolist() == ["x"]  # given by u
    assert MajorityVote().fit_predict(swapped).tolist() == ["x"]  # given by v


@QUICK
@given(answers=answer_tables(), seed=st.integers(0, 999))
def test_permuted_rows_give_the_same_bits(answers: pd.DataFrame, seed: int) -> None:
    one = DawidSkene().fit(answers)
    two = DawidSkene().fit(answers.sample(frac=1, random_state=seed))
    pd.testing.assert_frame_equal(one.probabilities_, two.probabilities_, check_exact=True)


@QUICK
@given(answers=answer_tables(), prior=st.sampled_from([0.0, 0.5, 6.0, 50.0]), with_gold=st.booleans())
def test_the_objective_never_falls(answers: pd.DataFrame, prior: float, with_gold: bool) -> None:
    gold = {answers["task"][0]: answers["label"].iloc[-1]} if with_gold else None
    history = np.array(DawidSkene(60, prior=prior, tol=0.0).fit(answers, gold).loss_history_)
    assert np.isfinite(history).all()
    assert (np.diff(history) >= -1e-9 * (1 + np.abs(history[:-1]))).all()


@QUICK
@given(answers=answer_tables())
def test_posteriors_are_probabilities_and_labels_have_the_largest(answers: pd.DataFrame) -> None:
    model = DawidSkene().fit(answers)
    values = model.probabilities_.to_numpy()
    assert ((values >= 0) & (values <= 1)).all()
    np.testing.assert_allclose(values.sum(axis=1), 1.0, atol=1e-9)
    best = [model.probabilities_.loc[task, label] for task, label in model.labels_.items()]
    np.testing.assert_allclose(best, values.max(axis=1), atol=1e-9)


@QUICK
@given(answers=answer_tables())
def test_a_copy_of_every_task_changes_nothing_without_a_prior(answers: pd.DataFrame) -> None:
    # twice the counts, the same rates
    twice = pd.concat([answers, answers.assign(task=answers["task"] + 100)])
    one, two = (DawidSkene(prior=0).fit_predict_proba(a) for a in (answers, twice))
    np.testing.assert_allclose(one.to_numpy(), two.loc[one.index].to_numpy(), atol=1e-9)


def test_a_second_crowd_of_equal_workers_sharpens_every_posterior() -> None:
    # at the same error matrices each answer counts twice: odds are squared (two labels, equal class shares)
    answers = pd.DataFrame(
        [(t, w, (t + (w == t % 5)) % 2) for t in range(10) for w in range(5)], columns=["task", "worker", "label"]
    )
    start = DawidSkene().fit(answers)
    one = DawidSkene(1).fit(answers, start=start).probabilities_.max(axis=1)
    clones = pd.concat([answers, answers.assign(worker=answers["worker"] + 100)])
    clones_start = DawidSkene().fit(clones)
    clones_start.errors_.loc[:] = np.concatenate([start.errors_.to_numpy()] * 2)
    clones_start.priors_.loc[:] = start.priors_.to_numpy()
    two = DawidSkene(1).fit(clones, start=clones_start).probabilities_.max(axis=1)
    assert start.priors_.tolist() == pytest.approx([0.5, 0.5])
    odds = (one / (1 - one)) ** 2
    np.testing.assert_allclose(two, odds / (1 + odds), rtol=1e-6)
    assert (two > one).all()
