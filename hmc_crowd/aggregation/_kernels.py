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
_CHUNK = 256

# The exponential of two labels: beyond _FAR it is 0; 1.5 * 2^52; log(2) in two parts, the first exact times m; 1 / n!.
_FAR = 700.0
_LOG2_E, _MAGIC = 1.4426950408889634, 6755399441055744.0
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_C2, _C3, _C4, _C5, _C6, _C7 = 1 / 2, 1 / 6, 1 / 24, 1 / 120, 1 / 720, 1 / 5040
_C8, _C9, _C10, _C11, _C12 = 1 / 40320, 1 / 362880, 1 / 3628800, 1 / 39916800, 1 / 479001600
_C13 = 1 / 6227020800


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

    Tasks go through in chunks, one short loop after the other, so that the loop with the exponential, written out as a
    series here, is done for several tasks by one instruction. One function, because a call would end that.
    """
    likelihood, product = 0.0, 1.0
    class_0, class_1 = 0.0, 0.0
    flat = ratio[:, 0].copy()
    odds, small = np.empty(_CHUNK), np.empty(_CHUNK)
    p_0, p_1 = np.empty(_CHUNK), np.empty(_CHUNK)
    two_to = np.empty(_CHUNK)
    bits = two_to.view(np.int64)
    for first in range(0, len(gold), _CHUNK):
        n = min(_CHUNK, len(gold) - first)
        low = starts[first]
        for t in range(n):
            high = starts[first + t + 1]
            log_odds = class_ratio[0]
            for i in range(low, high):
                log_odds += flat[cell[i]]
            odds[t] = log_odds
            low = high
        for t in range(n):
            # exp(x) = 2^m exp(r) with |r| at most log(2) / 2; adding _MAGIC rounds to m, and leaves m in the last bits.
            x = -min(abs(odds[t]), _FAR)
            two_to[t] = x * _LOG2_E + _MAGIC
            m = two_to[t] - _MAGIC
            r = (x - m * _LN2_HIGH) - m * _LN2_LOW
            s = _C7 + r * (_C8 + r * (_C9 + r * (_C10 + r * (_C11 + r * (_C12 + r * _C13)))))
            small[t] = 1.0 + r * (1.0 + r * (_C2 + r * (_C3 + r * (_C4 + r * (_C5 + r * (_C6 + r * s))))))
        for t in range(n):
            bits[t] = (bits[t] + 1023) << 52  # the double 2^m
        for t in range(n):
            ratio_of_two = small[t] * two_to[t] if abs(odds[t]) < _FAR else 0.0
            small[t] = 1.0 + ratio_of_two
            larger = 1.0 / small[t]
            smaller = ratio_of_two * larger
            shifted = larger * _SPLIT
            larger = shifted - (shifted - larger)
            shifted = smaller * _SPLIT
            smaller = shifted - (shifted - smaller)
            p_1[t] = larger if odds[t] > 0 else smaller
            p_0[t] = smaller if odds[t] > 0 else larger
        for t in range(n):
            known = gold[first + t]
            gain = max(odds[t], 0.0)
            if known >= 0:
                gain = odds[t] if known == 1 else 0.0
                p_1[t] = known
                p_0[t] = 1 - known
                small[t] = 1.0
            likelihood += gain
            product *= small[t]
            if product > _LARGE:
                likelihood += math.log(product)
                product = 1.0
            class_0 += p_0[t]
            class_1 += p_1[t]
        low = starts[first]
        for t in range(n):
            high = starts[first + t + 1]
            q_0, q_1 = p_0[t], p_1[t]
            posterior[first + t, 0] = q_0
            posterior[first + t, 1] = q_1
            for i in range(low, high):
                c = cell[i]
                answered[c, 0] += q_0
                answered[c, 1] += q_1
            low = high
    classes[0] += class_0
    classes[1] += class_1
    return likelihood + math.log(product)


def make_step(n_labels: int) -> Callable[..., float]:
    """Return the step for K labels, with K a constant of the machine code; 0 leaves K open. Works as `step_two` does.

    Arguments as in `step_two`, with ``ratio`` (n_cells, K - 1) and ``class_ratio`` (K - 1,).
    """

    def step(
        starts: Any, cell: Any, gold: Any, ratio: Any, class_ratio: Any, posterior: Any, answered: Any, classes: Any
    ) -> float:
        k = n_labels if n_labels > 0 else posterior.shape[1]
        likelihood, product = 0.0, 1.0
        # Label by label and not task by task, so that loops over a chunk's tasks run along memory.
        share = np.empty((k, _CHUNK))
        top, total, two_to = np.empty(_CHUNK), np.empty(_CHUNK), np.empty(_CHUNK)
        bits = two_to.view(np.int64)
        for first in range(0, len(gold), _CHUNK):
            n = min(_CHUNK, len(gold) - first)
            low = starts[first]
            for t in range(n):
                high = starts[first + t + 1]
                share[0, t] = 0.0
                most = 0.0
                for j in range(k - 1):
                    log_odds = class_ratio[j]
                    for i in range(low, high):
                        log_odds += ratio[cell[i], j]
                    share[j + 1, t] = log_odds
                    most = max(most, log_odds)
                known = gold[first + t]
                if known >= 0:
                    likelihood += share[known, t]
                    most = 0.0
                    for j in range(k):
                        share[j, t] = 0.0 if j == known else -_FAR
                else:
                    likelihood += most
                top[t] = most
                total[t] = 0.0
                low = high
            for j in range(k):
                row = share[j]
                for t in range(n):  # the exponential as in `step_two`
                    x = max(row[t] - top[t], -_FAR)
                    two_to[t] = x * _LOG2_E + _MAGIC
                    m = two_to[t] - _MAGIC
                    r = (x - m * _LN2_HIGH) - m * _LN2_LOW
                    s = _C7 + r * (_C8 + r * (_C9 + r * (_C10 + r * (_C11 + r * (_C12 + r * _C13)))))
                    s = 1.0 + r * (1.0 + r * (_C2 + r * (_C3 + r * (_C4 + r * (_C5 + r * (_C6 + r * s))))))
                    row[t] = s if x > -_FAR else 0.0
                for t in range(n):
                    bits[t] = (bits[t] + 1023) << 52
                for t in range(n):
                    row[t] *= two_to[t]
                    total[t] += row[t]
            for t in range(n):
                product *= total[t]
                if product > _LARGE:
                    likelihood += math.log(product)
                    product = 1.0
                top[t] = 1.0 / total[t]
            for j in range(k):
                row = share[j]
                for t in range(n):
                    p = row[t] * top[t]
                    shifted = p * _SPLIT
                    row[t] = shifted - (shifted - p)
            for t in range(n):
                for j in range(k):
                    posterior[first + t, j] = share[j, t]
                    classes[j] += share[j, t]
            low = starts[first]
            for t in range(n):
                high = starts[first + t + 1]
                for i in range(low, high):
                    c = cell[i]
                    for j in range(k):
                        answered[c, j] += posterior[first + t, j]
                low = high
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
