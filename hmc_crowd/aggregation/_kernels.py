"""The iteration's inner loops as plain Python, for numba to compile (`_jit`); never run as they stand, except in tests.

One pass over a block does the E-step of a task and adds its counts while its answers are still in the cache. Label 0 is
the reference: per answer a kernel reads K - 1 log ratios, not K logarithms. Posteriors are rounded to 33 bits as in
`_em`, and the logarithm of the normaliser is taken once for many tasks, of their product.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["make_start", "make_step", "moments", "step_two"]

_SPLIT = float(2**20 + 1)
_LARGE = 1e250


def step_two(
    starts: NDArray[np.int32],
    cell: NDArray[np.uint16],
    gold: NDArray[np.intp],
    ratio: NDArray[np.float64],
    class_ratio: NDArray[np.float64],
    posterior: NDArray[np.float64],
    answered: NDArray[np.float64],
    classes: NDArray[np.float64],
) -> float:
    """Do one step over a block with two labels.

    ``ratio`` (n_cells, 1) is log P(answer | label 1) - log P(answer | label 0), ``class_ratio`` (1,) the same of the
    classes. Writes ``posterior`` (n_tasks, 2), adds to ``answered`` (n_cells, 2) and ``classes`` (2,), and returns the
    log-likelihood in excess of that of label 0 for every task.
    """
    likelihood, product = 0.0, 1.0
    class_0, class_1 = 0.0, 0.0
    odds_0 = class_ratio[0]
    for t in range(len(gold)):
        low, high = starts[t], starts[t + 1]
        odds = odds_0
        for i in range(low, high):
            odds += ratio[cell[i], 0]
        small = math.exp(-abs(odds))
        total = 1.0 + small
        larger = 1.0 / total
        smaller = small * larger
        shifted = larger * _SPLIT
        larger = shifted - (shifted - larger)
        shifted = smaller * _SPLIT
        smaller = shifted - (shifted - smaller)
        gain = max(odds, 0.0)
        if gold[t] >= 0:
            larger, smaller, total = 1.0, 0.0, 1.0
            gain = odds if gold[t] == 1 else 0.0
            odds = 1.0 if gold[t] == 1 else -1.0
        p_1 = larger if odds > 0 else smaller
        p_0 = smaller if odds > 0 else larger
        product *= total
        if product > _LARGE:
            likelihood += math.log(product)
            product = 1.0
        likelihood += gain
        posterior[t, 0] = p_0
        posterior[t, 1] = p_1
        class_0 += p_0
        class_1 += p_1
        for i in range(low, high):
            c = cell[i]
            answered[c, 0] += p_0
            answered[c, 1] += p_1
    classes[0] += class_0
    classes[1] += class_1
    return likelihood + math.log(product)


def make_step(n_labels: int) -> Callable[..., float]:
    """Return the step for K labels, with K a constant of the machine code; 0 leaves K open.

    Arguments as in `step_two`, with ``ratio`` (n_cells, K - 1) and ``class_ratio`` (K - 1,).
    """

    def step(
        starts: Any, cell: Any, gold: Any, ratio: Any, class_ratio: Any, posterior: Any, answered: Any, classes: Any
    ) -> float:
        k = n_labels if n_labels > 0 else posterior.shape[1]
        likelihood, product = 0.0, 1.0
        share = np.empty(k)
        for t in range(len(gold)):
            low, high = starts[t], starts[t + 1]
            share[0] = 0.0
            top = 0.0
            # Label by label: the running sum stays in a register, and the answers of a task in the nearest cache.
            for j in range(k - 1):
                log_odds = class_ratio[j]
                for i in range(low, high):
                    log_odds += ratio[cell[i], j]
                share[j + 1] = log_odds
                top = max(top, log_odds)
            if gold[t] >= 0:
                likelihood += share[gold[t]]
                for j in range(k):
                    share[j] = 0.0
                share[gold[t]] = 1.0
            else:
                total = 0.0
                for j in range(k):
                    share[j] = math.exp(share[j] - top)
                    total += share[j]
                likelihood += top
                product *= total
                if product > _LARGE:
                    likelihood += math.log(product)
                    product = 1.0
                inverse = 1.0 / total
                for j in range(k):
                    p = share[j] * inverse
                    shifted = p * _SPLIT
                    share[j] = shifted - (shifted - p)
            for j in range(k):
                posterior[t, j] = share[j]
                classes[j] += share[j]
            for i in range(low, high):
                c = cell[i]
                for j in range(k):
                    answered[c, j] += share[j]
        return likelihood + math.log(product)

    return step


def make_start(n_labels: int) -> Callable[..., None]:
    """Return the count under the shares of the votes, for K labels; 0 leaves K open.

    Adds to ``answered`` (n_cells, K), to ``classes`` (K,), and, for tasks with gold, to ``known`` (n_cells, K).
    """

    def start(starts: Any, cell: Any, gold: Any, answered: Any, classes: Any, known: Any) -> None:
        k = n_labels if n_labels > 0 else classes.shape[0]
        share = np.empty(k)
        for t in range(len(gold)):
            low, high = starts[t], starts[t + 1]
            for j in range(k):
                share[j] = 0.0
            if gold[t] >= 0:
                share[gold[t]] = 1.0
            else:
                for i in range(low, high):
                    share[cell[i] % k] += 1.0
                for j in range(k):
                    share[j] /= high - low
            for j in range(k):
                classes[j] += share[j]
            for i in range(low, high):
                for j in range(k):
                    answered[cell[i], j] += share[j]
            if gold[t] >= 0:
                for i in range(low, high):
                    known[cell[i], gold[t]] += 1.0

    return start


def moments(starts: Any, cell: Any, posterior: Any, right: NDArray[np.float64], squares: NDArray[np.float64]) -> None:
    """Add each answer's probability of being right, and its square, to its worker's place in ``right``, ``squares``."""
    k = posterior.shape[1]
    for t in range(len(posterior)):
        for i in range(starts[t], starts[t + 1]):
            q = posterior[t, cell[i] % k]
            right[cell[i] // k] += q
            squares[cell[i] // k] += q * q
