"""With which probability should people see each item? More often where the machine is doubtful, never with 0.

An estimate that weighs by the inverse of these probabilities is right however they are set, as long as none is 0; it
is narrowest where they follow the size of the machine's error. A floor `least` keeps every item within reach, so that
an error where nobody expects one is still found, and limits the weight of a single answer to ``1 / least``.

Source: Zrnic, Candes (2024), "Active statistical inference".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd._base.checks import float_vector
from hmc_crowd.errors import InputError
from hmc_crowd.routing._checks import share

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["audit_probabilities"]


def audit_probabilities(uncertainty: ArrayLike, *, answers: float, least: float = 0.01) -> NDArray[np.float64]:
    """Return the probability with which people see each item, in proportion to its uncertainty within [least, 1].

    Parameters
    ----------
    uncertainty : array of float, shape (n_items,)
        Expected size of the machine's error, such as ``sqrt(p * (1 - p))`` of a calibrated confidence p, or the
        predicted standard deviation of a score. Made without the labels that are to be asked for.
    answers : float
        How many items people see on average: the sum of the probabilities.
    least : float, default 0.01
        The smallest probability, above 0.

    Returns
    -------
    array of float, shape (n_items,)

    Raises
    ------
    InputError
        `least` is 0, or `answers` is below ``least * n_items`` or above the number of items.

    Examples
    --------
    >>> audit_probabilities([0.0, 0.1, 0.3, 0.6], answers=1.0, least=0.05).round(3).tolist()
    [0.05, 0.095, 0.285, 0.57]
    """
    spread = float_vector(uncertainty, name="uncertainty", low=0.0)
    floor = share("least", least, open_low=True)
    n = len(spread)
    if not floor * n <= answers <= n:
        raise InputError(
            f"answers is {answers!r}; with at least {floor:g} for each of {n:,} items it lies between {floor * n:,.4g} "
            f"and {n:,}: lower least or raise answers"
        )
    if not spread.any() or answers == n:
        return np.full(n, answers / n)
    low, high = 0.0, 1.0
    while np.clip(high * spread, floor, 1.0).sum() < answers and high < 1e18:
        high *= 2.0
    for _ in range(100):
        middle = (low + high) / 2.0
        low, high = (middle, high) if np.clip(middle * spread, floor, 1.0).sum() < answers else (low, middle)
    chances: NDArray[np.float64] = np.clip(high * spread, floor, 1.0)
    # Items without any uncertainty share what the others cannot take.
    spare = answers - float(chances.sum())
    rest = spread == 0.0
    if spare > 1e-9 and rest.any():
        chances[rest] = np.minimum(1.0, chances[rest] + spare / rest.sum())
    return chances
