"""How likely is it to see so few wrong items in a sample? The lower tail of the hypergeometric distribution.

Sums of log-gamma values lose seven digits at 10^8 items, which is enough to move an exact bound by an item. So the
largest term is computed from three binomial probabilities in Loader's saddle-point form (relative error near 1e-14
at any size), and the others follow from it by exact ratios of neighbours.

Source: Loader (2000), "Fast and accurate computation of binomial probabilities".
"""

from __future__ import annotations

import math

import numpy as np

__all__ = ["largest_plausible", "log_probability", "lower_tail", "plausible"]

# ln(n!) minus Stirling's formula, for small n where its series is not exact enough.
_SMALL = tuple(
    [0.0] + [math.lgamma(n + 1.0) - (n + 0.5) * math.log(n) + n - 0.5 * math.log(2 * math.pi) for n in range(1, 16)]
)


def lower_tail(seen: int, population: int, wrong: int, drawn: int) -> float:
    """Return P(X <= seen) for the number X of wrong ones among `drawn` of a population that holds `wrong` of them.

    Examples
    --------
    >>> round(lower_tail(0, 10, 2, 5), 12)  # C(8,5) / C(10,5) = 56/252
    0.222222222222
    """
    lowest, highest = max(0, drawn - (population - wrong)), min(drawn, wrong)
    if seen >= highest:
        return 1.0
    if seen < lowest:
        return 0.0
    mode = (drawn + 1) * (wrong + 1) // (population + 2)
    anchor = min(seen, max(lowest, min(mode, highest)))
    # Down from the anchor and, where the mode lies below `seen`, up from it: all ratios are at most 1.
    down = np.arange(anchor, lowest, -1, dtype=np.float64)
    up = np.arange(anchor, seen, dtype=np.float64)
    right = population - wrong - drawn
    ratios_down = down * (right + down) / ((wrong - down + 1) * (drawn - down + 1))
    ratios_up = (wrong - up) * (drawn - up) / ((up + 1) * (right + up + 1))
    total = 1.0 + float(np.cumprod(ratios_down).sum()) + float(np.cumprod(ratios_up).sum())
    return min(1.0, math.exp(log_probability(anchor, population, wrong, drawn)) * total)


def plausible(seen: int, population: int, wrong: int, drawn: int, alpha: float) -> bool:
    """Say whether seeing so few has a probability above `alpha`; a tie within rounding counts as plausible."""
    return lower_tail(seen, population, wrong, drawn) > alpha * (1.0 - 1e-11)


def largest_plausible(seen: int, population: int, drawn: int, alpha: float) -> int:
    """Return the largest number of wrong ones under which seeing so few still has a probability above `alpha`."""
    low, high = seen, population - drawn + seen
    # The tail falls as the number of wrong ones grows; at `low` it is 1.
    while low < high:
        middle = (low + high + 1) // 2
        if plausible(seen, population, middle, drawn, alpha):
            low = middle
        else:
            high = middle - 1
    return low


def log_probability(x: int, population: int, wrong: int, drawn: int) -> float:
    """Return log P(X = x): a quotient of binomial probabilities at p = drawn / population, where all three are large.

    -inf where x is impossible.
    """
    if not max(0, drawn - (population - wrong)) <= x <= min(drawn, wrong):
        return -math.inf
    if drawn in (0, population):
        return 0.0
    p = drawn / population
    q = (population - drawn) / population
    log_p = _log_binomial(x, wrong, p, q) + _log_binomial(drawn - x, population - wrong, p, q)
    return log_p - _log_binomial(drawn, population, p, q)


def _log_binomial(x: int, n: int, p: float, q: float) -> float:
    """Return the logarithm of the binomial probability of x in n, by Loader's saddle-point expansion."""
    if x == 0:
        return n * math.log1p(-p) if p < 0.5 else n * math.log(q) if n else 0.0
    if x == n:
        return n * math.log(p) if p < 0.5 else n * math.log1p(-q)
    correction = _stirling_error(n) - _stirling_error(x) - _stirling_error(n - x)
    deviance = _deviance(x, n * p) + _deviance(n - x, n * q)
    return correction - deviance + 0.5 * (math.log(n / (n - x)) - math.log(2 * math.pi * x))


def _stirling_error(n: int) -> float:
    """Return ln(n!) minus Stirling's formula."""
    if n < len(_SMALL):
        return _SMALL[n]
    square = 1.0 / (n * n)
    series = 1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))
    return series / n


def _deviance(x: float, expected: float) -> float:
    """Return ``x ln(x / expected) + expected - x`` without cancellation near x = expected."""
    gap = x - expected
    if abs(gap) >= 0.1 * (x + expected):
        return x * math.log(x / expected) + expected - x
    v = gap / (x + expected)
    total, term, square = gap * v, 2.0 * x * v, v * v
    for k in range(1, 1000):
        term *= square
        previous, total = total, total + term / (2 * k + 1)
        if total == previous:
            break
    return total
