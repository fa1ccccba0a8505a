"""The iteration: equal to a slow one written from the formulas, in one block or many."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.aggregation._codes import CodedAnswers, encode
from hmc_crowd.aggregation._em import (
    Session,
    Sums,
    Tables,
    count_answers,
    expectation_maximisation,
    make_blocks,
    next_tables,
    share_posteriors,
)
from hmc_crowd.aggregation._engine import LocalEngine
from hmc_crowd.aggregation._prior import prior_counts


def random_answers(seed: int, *, tasks: int = 80, workers: int = 6, labels: int = 3) -> CodedAnswers:
    rng = np.random.default_rng(seed)
    task, worker = np.nonzero(rng.random((tasks, workers)) < 0.7)
    truth = rng.integers(0, labels, tasks)
    label = np.where(rng.random(len(task)) < 0.6, truth[task], rng.integers(0, labels, len(task)))
    gold = {t: int(truth[t]) for t in range(0, 10) if t in set(task.tolist())}
    return encode(pd.DataFrame({"task": task, "worker": worker, "label": label}), gold)


def opened(coded: CodedAnswers, *, block_answers: int = 1 << 20) -> Session:
    return LocalEngine("numpy").open(make_blocks(coded, block_answers=block_answers))


def slow(coded: CodedAnswers, pseudo: np.ndarray, steps: int) -> tuple[np.ndarray, list[float]]:
    """Dawid and Skene's two formulas as loops over a dense cube."""
    n_tasks, n_workers, k = len(coded.tasks), len(coded.workers), len(coded.labels)
    cube = np.zeros((n_tasks, n_workers, k))
    cube[coded.task, coded.worker, coded.label] = 1
    post = cube.sum(axis=1) / cube.sum(axis=(1, 2))[:, None]
    history = []
    for _ in range(steps):
        for t in np.flatnonzero(coded.gold >= 0):
            post[t] = np.eye(k)[coded.gold[t]]
        share = post.sum(axis=0) / n_tasks
        errors = np.einsum("tk,twl->wlk", post, cube) + pseudo
        errors /= errors.sum(axis=1, keepdims=True)
        joint = np.empty((n_tasks, k))
        for t in range(n_tasks):
            for true in range(k):
                factors = [errors[w, a, true] ** cube[t, w, a] for w in range(n_workers) for a in range(k)]
                joint[t, true] = share[true] * np.prod(factors)
            if coded.gold[t] >= 0:
                joint[t] *= np.eye(k)[coded.gold[t]]
        post = joint / joint.sum(axis=1, keepdims=True)
        prior = np.sum(pseudo * np.log(errors)) if pseudo.any() else 0.0
        history.append(float(np.log(joint.sum(axis=1)).sum() + prior))
    return post, history


@pytest.mark.parametrize("strength", [0.0, 6.0])
def test_equal_to_the_formulas_written_as_loops(strength: float) -> None:
    coded = random_answers(0)
    pseudo = prior_counts(3, strength=strength)
    blocks = make_blocks(coded)
    start = next_tables(count_answers(blocks[0], share_posteriors(blocks[0])), pseudo)
    fit = expectation_maximisation(opened(coded), start, pseudo=pseudo, n_iter=5, tol=0.0)
    posterior, history = slow(coded, pseudo, 5)
    np.testing.assert_allclose(fit.posterior, posterior, atol=1e-9)
    np.testing.assert_allclose(fit.history, history, rtol=1e-9)


def test_many_blocks_give_what_one_gives() -> None:
    coded = random_answers(1, tasks=400, workers=3, labels=2)
    pseudo = prior_counts(2, strength=6.0)
    one, many = make_blocks(coded), make_blocks(coded, block_answers=1)
    assert (len(one), len(many) > 20) == (1, True)
    tables = next_tables(count_answers(one[0], share_posteriors(one[0])), pseudo)
    sessions = opened(coded), opened(coded, block_answers=1)
    fits = [expectation_maximisation(s, tables, pseudo=pseudo, n_iter=50, tol=1e-9) for s in sessions]
    np.testing.assert_allclose(fits[0].posterior, fits[1].posterior, atol=1e-9)
    assert fits[0].history == pytest.approx(fits[1].history, rel=1e-12)


def test_blocks_hold_every_answer_once() -> None:
    coded = random_answers(2, tasks=300, workers=3, labels=2)
    blocks = make_blocks(coded, block_answers=1)
    assert sum(block.votes.sum() for block in blocks) == len(coded.task)
    assert sum(len(block.gold) for block in blocks) == len(coded.tasks)


def test_sums_of_shards_add_up_to_the_whole() -> None:
    coded = random_answers(3, tasks=300, workers=3, labels=2)
    pseudo = prior_counts(2, strength=0.0)
    tables = next_tables(opened(coded).start()[0], pseudo)
    sums = opened(coded).step(tables)
    parts = [LocalEngine("numpy").open([block]).step(tables) for block in make_blocks(coded, block_answers=1)]
    np.testing.assert_allclose(sum(part.answered for part in parts), sums.answered, rtol=1e-9)
    assert sum(part.log_likelihood for part in parts) == pytest.approx(sums.log_likelihood, rel=1e-12)


def test_another_engine_can_hold_the_blocks() -> None:
    coded = random_answers(4)
    pseudo = prior_counts(3, strength=6.0)
    inner, calls = opened(coded), []

    class Counting:
        n_tasks = inner.n_tasks

        def start(self) -> tuple[Sums, np.ndarray | None]:
            return inner.start()

        def step(self, tables: Tables) -> Sums:
            calls.append("step")
            return inner.step(tables)

        def posterior(self) -> np.ndarray:
            calls.append("posterior")
            return inner.posterior()

    tables = next_tables(Counting().start()[0], pseudo)
    fit = expectation_maximisation(Counting(), tables, pseudo=pseudo, n_iter=3, tol=0.0)
    # posteriors travel once, at the end
    assert calls == ["step"] * len(fit.history) + ["posterior"]


def test_progress_is_told_after_each_iteration() -> None:
    session, told = opened(random_answers(4)), []
    tables = next_tables(session.start()[0], prior_counts(3, strength=6.0))
    expectation_maximisation(
        session,
        tables,
        pseudo=prior_counts(3, strength=6.0),
        n_iter=3,
        tol=0.0,
        progress=lambda *step: told.append(step),
    )
    assert told == [("iterations", done, 3) for done in (1, 2, 3)]


def test_who_only_ever_gives_one_label_says_nothing_by_it() -> None:
    # w1 always says x; no vote for y on those tasks: of P(x | y) nothing is known, so it is 1, not 1/2
    coded = encode(pd.DataFrame({"task": [0, 1, 1, 2], "worker": ["w1", "w1", "w2", "w2"], "label": list("xxxy")}))
    errors = next_tables(opened(coded).start()[0], np.zeros((2, 2))).errors
    np.testing.assert_allclose(errors[0], [[1.0, 1.0], [0.0, 0.0]])


def test_pseudo_counts_may_differ_by_worker() -> None:
    # the hook for a worker's past: a worker with (90 right, 10 wrong) keeps that, others have nothing
    coded = random_answers(5, labels=2)
    past = np.zeros((len(coded.workers), 2, 2))
    past[0] = [[9e6, 1e6], [1e6, 9e6]]
    block = make_blocks(coded)[0]
    errors = next_tables(count_answers(block, share_posteriors(block)), past).errors
    np.testing.assert_allclose(errors[0], [[0.9, 0.1], [0.1, 0.9]], atol=1e-4)
    assert abs(errors[1, 0, 0] - 0.9) > 0.01


@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_prior_is_worth_its_answers_two_thirds_of_them_right(k: int) -> None:
    counts = prior_counts(k, strength=6.0)
    assert counts.sum() == pytest.approx(6.0)
    assert np.trace(counts) == pytest.approx(4.0)
    assert counts.sum(axis=0) == pytest.approx(np.full(k, 6.0 / k))
