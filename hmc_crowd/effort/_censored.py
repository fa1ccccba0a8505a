"""What a time-out tells: it took longer than that.

A submission that ran into its time limit, or was given back, has no time but a lower bound. Dropping it makes every
estimate too short, taking the bound for the time does so too. Here the missing part is drawn from what is known: the
logarithm of the time is normal around the fit (an accelerated failure time model), the bound cuts it off below, and
one value beyond the bound is drawn (imputation after Tanner, Wong 1987). Drawn values keep quantiles right, where
expected values would make the tail too thin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__: list[str] = []

_STEPS = 8


def completed(
    log_time: NDArray[np.float64],
    finished: NDArray[np.bool_],
    weight: NDArray[np.float64],
    fitted: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    *,
    steps: int = _STEPS,
    seed: int,
) -> NDArray[np.float64]:
    """Return log times in which those that were cut off are drawn from beyond where they were cut.

    Parameters
    ----------
    log_time : array of float, shape (n,)
        Of a row that is not finished: the logarithm of its bound.
    finished : array of bool, shape (n,)
    weight : array of float, shape (n,)
    fitted : callable
        Log times -> their expectation for every row, by a model that has not seen the row (out of fold).
    steps : int, default 8
        Rounds of fitting and filling; each starts from the fill of the one before.
    seed : int
        The same position of every row's draw is used in each round, so that the rounds settle.

    Returns
    -------
    array of float, shape (n,)
        Finished rows as they came, the others at or above their bound.
    """
    from scipy.special import ndtr, ndtri

    if finished.all():
        return log_time
    place = np.random.default_rng(seed).uniform(size=len(log_time))
    filled, cut = log_time.copy(), ~finished
    for _ in range(steps):
        around = fitted(filled)
        spread = float(np.sqrt(np.average((filled - around) ** 2, weights=weight)))
        if spread <= 0:
            return filled
        # Upper tails are taken from below by symmetry: 1 - Phi(z) loses all digits where z is large.
        beyond = ndtr((around[cut] - log_time[cut]) / spread)
        drawn = around[cut] - spread * ndtri(np.maximum(beyond * place[cut], 1e-300))
        filled[cut] = np.maximum(drawn, log_time[cut])
    return filled
