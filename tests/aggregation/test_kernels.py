"""The loops as plain Python, without a compiler: equal to the sparse products, on a table small enough for that."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.aggregation._codes import encode
from hmc_crowd.aggregation._em import Block, Tables, count_answers, expect, make_blocks, share_posteriors
from hmc_crowd.aggregation._engine import log_ratios
from hmc_crowd.aggregation._kernels import make_start, make_step, step_two


def block_of(labels: int, *, gold: bool = True) -> Block:
    rng = np.random.default_rng(labels)
    task, worker = np.nonzero(rng.random((40, 5)) < 0.6)
    answers = pd.DataFrame({"task": task, "worker": worker, "label": rng.integers(0, labels, len(task))})
    known = {int(t): int(t) % labels for t in np.unique(task)[:4]} if gold else None
    return make_blocks(encode(answers, known, labels=range(labels)))[0]


def tables_for(block: Block, *, zeros: bool = False) -> Tables:
    rng = np.random.default_rng(1)
    k = block.n_labels
    errors = rng.dirichlet(np.ones(k), size=(block.n_workers, k)).transpose(0, 2, 1)
    if zeros:
        errors[0] = np.eye(k)
    with np.errstate(divide="ignore"):
        return Tables(np.log(rng.dirichlet(np.ones(k))), np.log(errors).reshape(-1, k))


@pytest.mark.parametrize(("labels", "make"), [(2, "two"), (2, "k"), (3, "k"), (4, "open")])
@pytest.mark.parametrize("gold", [False, True])
def test_a_step_equals_the_sparse_products(labels: int, make: str, gold: bool) -> None:
    block = block_of(labels, gold=gold)
    tables = tables_for(block)
    step = step_two if make == "two" else make_step(labels if make == "k" else 0)
    ratio, class_ratio, base = log_ratios(tables)
    posterior = np.empty((block.n_tasks, labels))
    answered, classes = np.zeros((block.n_workers * labels, labels)), np.zeros(labels)
    excess = step(block.starts, block.cell, block.gold, ratio, class_ratio, posterior, answered, classes)
    log_likelihood = excess + block.cell_counts @ base + tables.log_class[0] * block.n_tasks
    expected, expected_likelihood = expect(block, tables)
    sums = count_answers(block, expected)
    np.testing.assert_allclose(posterior, expected, atol=1e-12)
    np.testing.assert_allclose(answered, sums.answered, atol=1e-10)
    np.testing.assert_allclose(classes, sums.classes, atol=1e-10)
    assert log_likelihood == pytest.approx(expected_likelihood, rel=1e-12)


def test_what_is_impossible_gets_probability_zero() -> None:
    # worker 0 never errs, so no task that he answered can be anything else
    block = block_of(2, gold=False)
    ratio, class_ratio, _ = log_ratios(tables_for(block, zeros=True))
    posterior = np.empty((block.n_tasks, 2))
    step_two(block.starts, block.cell, block.gold, ratio, class_ratio, posterior, np.zeros((10, 2)), np.zeros(2))
    for task in range(block.n_tasks):
        for cell in block.cell[block.starts[task] : block.starts[task + 1]]:
            if cell < 2:
                assert posterior[task, cell] == 1.0
                assert posterior[task, 1 - cell] == 0.0


@pytest.mark.parametrize(("labels", "special"), [(2, 2), (3, 3), (3, 0)])
def test_the_start_counts_under_the_shares_of_the_votes(labels: int, special: int) -> None:
    block = block_of(labels)
    width = block.n_workers * labels
    answered, classes, known = np.zeros((width, labels)), np.zeros(labels), np.zeros((width, labels))
    make_start(special)(block.starts, block.cell, block.gold, answered, classes, known)
    shares = share_posteriors(block)
    sums = count_answers(block, shares)
    np.testing.assert_allclose(answered, sums.answered, atol=1e-12)
    np.testing.assert_allclose(classes, sums.classes, atol=1e-12)
    np.testing.assert_allclose(known, block.votes.T @ (shares * (block.gold >= 0)[:, None]), atol=1e-12)
