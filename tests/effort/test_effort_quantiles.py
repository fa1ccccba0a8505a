"""The arithmetic of quantile forests, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmc_crowd.effort._forest import weighted_quantiles


def quantiles(leaves, values, new, q, weight=None):
    values = np.asarray(values, dtype=float)
    return weighted_quantiles(
        np.asarray(leaves, dtype=np.int32),
        values,
        np.ones(len(values)) if weight is None else np.asarray(weight, dtype=float),
        np.asarray(new, dtype=np.int32),
        np.asarray(q, dtype=float),
    )


# Two trees, four training rows with times 40, 10, 30, 20.
LEAVES = [[1, 1], [1, 2], [2, 2], [2, 2]]
TIMES = [40.0, 10.0, 30.0, 20.0]


def test_weights_of_shared_leaves_by_hand():
    # New row in leaf 1 of tree 1 (rows 40, 10: a half each) and leaf 2 of tree 2 (rows 10, 30, 20: a third each).
    # Mean over two trees: 40 -> 1/4, 10 -> 1/4 + 1/6 = 5/12, 30 -> 1/6, 20 -> 1/6.
    # Cumulated from below: 10: .4167, 20: .5833, 30: .75, 40: 1.
    got = quantiles(LEAVES, TIMES, [[1, 2]], [0.4, 0.42, 0.58, 0.59, 0.75, 0.76, 0.99])
    assert got.tolist() == [[10, 20, 20, 30, 30, 40, 40]]


def test_row_weights_by_hand():
    # Leaf 2 of both trees; in tree 1 rows 30 (weight 3) and 20 (1): 3/4, 1/4; in tree 2 also 10 (1): .2, .6, .2.
    # Mean: 10 -> .1, 20 -> .225, 30 -> .675; cumulated .1, .325, 1.
    got = quantiles(LEAVES, TIMES, [[2, 2]], [0.1, 0.11, 0.32, 0.33], weight=[1, 1, 3, 1])
    assert got.tolist() == [[10, 20, 20, 30]]


def test_many_new_rows_equal_one_at_a_time(rng):
    leaves, times = rng.integers(0, 7, (50, 5)), rng.uniform(1, 99, 50)
    new = leaves[rng.integers(0, 50, 1300)]
    together = quantiles(leaves, times, new, [0.5, 0.9])
    assert np.array_equal(
        together[[0, 511, 512, 1299]],
        np.vstack([quantiles(leaves, times, new[[k]], [0.5, 0.9]) for k in (0, 511, 512, 1299)]),
    )


@given(st.integers(0, 10_000))
def test_agrees_with_a_plain_loop(seed):
    draw = np.random.default_rng(seed)
    n, trees = int(draw.integers(2, 12)), int(draw.integers(1, 4))
    leaves, times = draw.integers(0, 3, (n, trees)), draw.integers(0, 20, n).astype(float)
    row, q = leaves[int(draw.integers(n))], float(draw.uniform(0.05, 0.95))
    weight = np.zeros(n)
    for tree in range(trees):
        same = leaves[:, tree] == row[tree]
        weight[same] += 1 / same.sum() / trees
    order = np.argsort(times, kind="stable")
    expected = times[order][np.flatnonzero(np.cumsum(weight[order]) >= q - 1e-9)[0]]
    assert quantiles(leaves, times, [row], [q])[0, 0] == expected


def test_the_median_of_one_leaf_is_the_lower_middle_value():
    assert quantiles([[0]] * 4, [4.0, 1.0, 3.0, 2.0], [[0]], [0.5, 0.25, 0.75])[0].tolist() == [2, 1, 3]


def test_no_new_rows():
    assert quantiles(LEAVES, TIMES, np.empty((0, 2)), [0.5]).shape == (0, 1)


def test_order_of_training_rows_does_not_matter(rng):
    order = rng.permutation(4)
    moved = quantiles(np.array(LEAVES)[order], np.array(TIMES)[order], [[1, 2]], [0.3, 0.5, 0.8])
    assert moved == pytest.approx(quantiles(LEAVES, TIMES, [[1, 2]], [0.3, 0.5, 0.8]))
