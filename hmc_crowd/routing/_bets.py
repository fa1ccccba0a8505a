"""The one tool behind bounds for means of values in [0, 1]: bets against a mean that is too high.

Whoever believes that the mean is at least m and sees y should not mind a fair bet on y being lower: each value
multiplies the stake by ``1 + theta * (m - y) / (1 - m)``. If the mean truly is m or more, the stake of a player cannot
be expected to grow, and with a probability of at most alpha it ever reaches 1 / alpha (Ville). Playing all theta of a
grid at once, with the stake split among them, does nearly as well as the best of them, and needs no tuning. The stake
rises with m, so the means that survive form an interval, found by bisection.

Sources: Waudby-Smith, Ramdas (2024), "Estimating means of bounded random variables by betting"; Ville (1939).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["THETA", "largest_surviving", "log_mix", "log_stakes", "log_wealth", "log_wealth_path"]

# Fractions of the stake that are put at risk. The largest is just short of all, so that one value never ends the play;
# the few small ones are for long plays, in which a fine difference is bet on.
THETA = np.concatenate((np.geomspace(2e-4, 1 / 64, 8, endpoint=False), (np.arange(32, dtype=np.float64) + 0.5) / 32))
_LOG_SHARE = np.log(np.concatenate((np.full(8, 0.1 / 8), np.full(32, 0.9 / 32))))


def log_stakes(
    mean: NDArray[np.float64] | float,
    values: NDArray[np.float64],
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the growth of the log stake, shape (n_theta, n_values); means of 1 or more are won by any value below 1.

    `weights` says how often each value came.
    """
    m = np.broadcast_to(np.asarray(mean, dtype=np.float64), values.shape)
    inside = m < 1.0
    safe = np.where(inside, m, 0.5)
    growth: NDArray[np.float64] = np.log1p(THETA[:, None] * ((safe - values) / (1.0 - safe))[None, :])
    sure = np.where(values < 1.0, math.inf, 0.0)
    growth = np.where(inside[None, :], growth, sure[None, :])
    return growth if weights is None else growth * weights[None, :]


def log_mix(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log of the whole stake, shape (...), from those of its parts, shape (n_theta, ...)."""
    parts = logs + _LOG_SHARE.reshape(-1, *[1] * (logs.ndim - 1))
    top = parts.max(axis=0)
    safe = np.where(np.isinf(top), 0.0, top)
    with np.errstate(divide="ignore", over="ignore"):
        whole: NDArray[np.float64] = np.where(np.isinf(top), top, safe + np.log(np.exp(parts - safe).sum(axis=0)))
    return whole


def log_wealth(growth: NDArray[np.float64]) -> float:
    """Return the log of the whole stake after the last value."""
    return float(log_mix(growth.sum(axis=1)))


def log_wealth_path(growth: NDArray[np.float64]) -> float:
    """Return the largest log of the whole stake after any value."""
    return float(log_mix(np.cumsum(growth, axis=1)).max()) if growth.shape[1] else 0.0


def largest_surviving(wealth: Callable[[float], float], low: float, high: float, alpha: float, step: float) -> float:
    """Return a number just above the largest one in [low, high] whose log wealth stays below log(1 / alpha).

    `wealth` must rise. With ``step`` 1 whole numbers are searched, and the largest surviving one is returned.
    """
    limit = -math.log(alpha)
    if wealth(high) < limit:
        return high
    if step >= 1.0:
        while high - low > 1.0:
            middle = float((int(low) + int(high)) // 2)
            low, high = (middle, high) if wealth(middle) < limit else (low, middle)
        return low
    while high - low > step:
        middle = (low + high) / 2.0
        low, high = (middle, high) if wealth(middle) < limit else (low, middle)
    return high
