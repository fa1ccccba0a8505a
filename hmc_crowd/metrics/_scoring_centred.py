"""What is no spread, and about which point are sums of squares safe?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.metrics._intervals_moments import Rows, Totals, take_totals

if TYPE_CHECKING:
    from collections.abc import Callable

    from hmc_crowd.metrics._intervals import Ask
    from hmc_crowd.metrics._validate import Pairs

__all__ = ["RELATIVE", "centred", "flat"]

# A standard deviation below this share of the mean is rounding: fewer than about 6 of its digits are real.
RELATIVE = 1e-9


def flat(variance: float, mean: float) -> bool:
    """Tell whether scores have no spread beyond rounding."""
    return not variance > (RELATIVE * mean) ** 2


def centred(
    rows_at: Callable[..., Rows], pivots: Any, ask: Ask, pairs: Pairs, places: tuple[tuple[int, int], ...]
) -> tuple[Rows, Totals]:
    """Take the sums; once more with a better pivot if the first was far from the mean."""
    products = ask.interval != "none"
    given = np.atleast_1d(np.asarray(pivots, dtype=np.float64))
    rows = rows_at(*given)
    totals = take_totals(rows, products=products)
    n = pairs.n
    means = np.array([totals.sums[first] / n for first, _ in places])
    squares = np.array([totals.sums[second] / n for _, second in places])
    # Squares about a pivot 4 standard deviations off lose 1 digit of 16; beyond that it is worth a second pass.
    if (means**2 > 16.0 / 17.0 * squares).any() and (squares > 0).any():
        rows = rows_at(*(given + means))
        totals = take_totals(rows, products=products)
    return rows, totals
