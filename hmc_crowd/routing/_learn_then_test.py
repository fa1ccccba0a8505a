"""Which settings can be shown to be good enough? Tests of all of them that share one allowed error.

The best of many settings looks better on the labels it was chosen on than it is. So each setting gets a p-value for
"it is worse than the target", and the settings are accepted by a rule that lets a bad one through with a probability
of at most ``1 - level`` in all. Whichever accepted setting one then takes, for whatever reason, the promise holds.

- ``fixed_sequence``: from the most cautious setting on, in an order fixed before the labels were seen; stops at the
  first that fails. No price for many settings.
- ``bonferroni``, ``holm``: any order; each of k settings must pass at about (1 - level) / k.

Source: Angelopoulos, Bates, Candes, Jordan, Lei (2021), "Learn then Test".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from hmc_crowd._base.checks import float_vector
from hmc_crowd.errors import InputError
from hmc_crowd.routing._bets import log_stakes, log_wealth
from hmc_crowd.routing._checks import level_of
from hmc_crowd.routing._future import ratio_log_wealth
from hmc_crowd.routing._hypergeometric import lower_tail

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Selection", "learn_then_test", "risk_p_value"]

Selection: TypeAlias = Literal["fixed_sequence", "bonferroni", "holm"]


def learn_then_test(
    p_values: ArrayLike, *, level: float = 0.95, method: Selection = "fixed_sequence"
) -> NDArray[np.bool_]:
    """Return which settings are accepted; with probability `level` none of them is worse than its target.

    Parameters
    ----------
    p_values : array of float, shape (n_settings,)
        Of "this setting is worse than the target", in the order of testing.
    level : float, default 0.95
        Probability with which no bad setting is accepted.
    method : {"fixed_sequence", "bonferroni", "holm"}
        How the error is shared.

    Returns
    -------
    array of bool, shape (n_settings,)

    Raises
    ------
    InputError
        p-values outside [0, 1], or an unknown method.

    Examples
    --------
    >>> learn_then_test([0.001, 0.04, 0.2, 0.01]).tolist()
    [True, True, False, False]
    >>> learn_then_test([0.001, 0.04, 0.2, 0.01], method="bonferroni").tolist()
    [True, False, False, True]
    """
    p = float_vector(p_values, name="p_values", low=0.0, high=1.0)
    alpha = 1.0 - level_of(level)
    if method == "fixed_sequence":
        return np.asarray(np.logical_and.accumulate(p <= alpha))
    if method == "bonferroni":
        return np.asarray(p <= alpha / len(p))
    if method == "holm":
        order = np.argsort(p, kind="stable")
        passed = np.logical_and.accumulate(p[order] <= alpha / np.arange(len(p), 0, -1))
        accepted = np.zeros(len(p), dtype=bool)
        accepted[order] = passed
        return accepted
    raise InputError(f"method is {method!r}; use 'fixed_sequence', 'bonferroni' or 'holm'")


def risk_p_value(
    losses: NDArray[np.float64],
    *,
    allowed: float,
    binary: bool,
    batch_items: int | None = None,
    groups: NDArray[np.intp] | None = None,
    largest: int | None = None,
) -> float:
    """Return a p-value for "the mean loss is above `allowed`".

    Parameters
    ----------
    losses : array of float, shape (n_items,)
        In [0, 1].
    allowed : float
        The mean loss that is still good enough.
    binary : bool
        Losses are 0 or 1 only: then the test is exact.
    batch_items : int, optional
        The items are a simple random sample of a batch of so many, and the mean is the batch's.
    groups : array of int, optional
        Codes of independent groups; the mean is that of items to come.
    largest : int, optional
        Most items in a group.

    Notes
    -----
    0-1 losses: the hypergeometric tail for a batch, the binomial tail for items to come. Others, and groups: one over
    the wealth of bets (Ville's inequality).
    """
    n = len(losses)
    if n == 0:
        return 1.0
    if groups is not None:
        sizes = np.bincount(groups).astype(np.float64)
        totals = np.bincount(groups, weights=losses).astype(np.float64)
        return _from_wealth(ratio_log_wealth(allowed, totals, sizes, largest or int(sizes.max())))
    if binary and batch_items is not None:
        least_bad = _above(allowed, batch_items)
        return 0.0 if least_bad > batch_items else lower_tail(int(losses.sum()), batch_items, least_bad, n)
    if binary:
        from scipy.special import bdtr

        return float(bdtr(int(losses.sum()), n, allowed)) if allowed < 1.0 else 0.0
    # A sample of a batch without replacement is negatively associated, so the bets win no more than independent ones.
    return _from_wealth(log_wealth(log_stakes(allowed, losses)))


def _above(allowed: float, items: int) -> int:
    """Return the least number of wrong items that is more than allowed."""
    least = int(allowed * items)
    while least > 0 and (items - least) / items < 1.0 - allowed:
        least -= 1
    while (items - least) / items >= 1.0 - allowed:
        least += 1
        if least > items:
            break
    return least


def _from_wealth(log_stake: Any) -> float:
    return float(min(1.0, np.exp(-log_stake)))
