"""Has this worker become worse, if nobody knows how good he was?

A worker's level is drawn from the pool's beta prior, a fall may begin at any answer and be of any size in a range. For
every possible beginning the likelihood of "fell there" is divided by that of "never fell", both averaged over the
levels; the sum over the beginnings is the statistic (Shiryaev and Roberts'). While nobody falls, the statistic minus
the number of answers is a martingale, hence the

Guarantee: with threshold ``A``, workers drawn from the prior give at least ``A`` answers on average before a false
alarm. It is an average over workers, not a promise for each.

Source: Shiryaev (1963) and Roberts (1966) for the statistic; Pollak (1987), "Average Run Lengths of an Optimal Method
of Detecting a Change in Distribution", for the mixture and the bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["UnknownChange"]

_LEVELS = 40
# Far beyond any threshold, and its exponential still a number.
_LARGEST = 600.0


class UnknownChange:
    """Watches workers of unknown levels, each by a small table; all of them in one array operation.

    Parameters
    ----------
    prior : (float, float)
        The pool's beta prior: pseudo-counts of right and wrong answers, as `pool_prior` finds them.
    falls : (float, float), default (0.15, 0.5)
        Smallest and largest fall looked for, all between them alike. Looking for everything costs time: with falls down
        to nothing the delay is about 15% above that of a CUSUM which knows both levels, with these below 10%.
    between_alarms : float
        Least mean number of answers to a false alarm, see above.
    design_effect : float, default 1
        How many answers are worth one that stands for itself, as `design_effect` finds it; above 1 the guarantee is
        approximate.

    Attributes
    ----------
    threshold : float
        Of the statistic; equal to ``between_alarms``.

    Examples
    --------
    Sixty right answers, then eight wrong ones of ten:

    >>> import numpy as np
    >>> watch = UnknownChange((9.0, 1.0), between_alarms=2000)
    >>> state = watch.start(1)
    >>> for right in [True] * 60 + [False, False, True, False, False, False, False, True, False, False]:
    ...     state = watch.step(state, np.array([right]))
    >>> bool(watch.statistic(state)[0] > watch.threshold)
    True
    """

    def __init__(
        self,
        prior: tuple[float, float],
        *,
        between_alarms: float,
        falls: tuple[float, float] = (0.15, 0.5),
        design_effect: float = 1.0,
    ) -> None:
        from scipy.stats import beta

        if len(prior) != 2 or not all(0 < part < np.inf for part in prior):
            raise InputError(f"prior is {prior!r}; give two positive numbers, such as (9, 1)")
        if len(falls) != 2 or not 0 < falls[0] < falls[1] <= 1:
            raise InputError(f"falls is {falls!r}; give the smallest and the largest, such as (0.15, 0.5)")
        if not 1 < between_alarms < np.inf:
            raise InputError(f"between_alarms is {between_alarms!r}; give a number of answers above 1, such as 2000")
        if not 1 <= design_effect < np.inf:
            raise InputError(f"design_effect is {design_effect!r}; give a number of at least 1")
        self.threshold, self.design_effect = float(between_alarms), float(design_effect)
        self.prior = (float(prior[0]), float(prior[1]))
        edges = np.linspace(0.0, 1.0, _LEVELS + 1)
        levels = (edges[:-1] + edges[1:]) / 2
        self._prior = np.diff(beta.cdf(edges, *prior))
        # A level with nothing that far below it cannot fall.
        size = levels[:, None] - levels[None, :]
        possible = (size >= falls[0] - 1e-12) & (size <= falls[1] + 1e-12)
        self._before, self._after = np.nonzero(possible)
        self._share = 1.0 / possible.sum(axis=1)[self._before]
        # Logarithms throughout: a level that the answers rule out has next to no weight and an enormous sum, and it is
        # their product that counts.
        self._seen = np.log(np.stack([1 - levels, levels])) / self.design_effect
        self._odds = np.log(levels / (1 - levels))
        self._ratio = self._seen[:, self._after] - self._seen[:, self._before]

    def start(self, n_workers: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the tables of workers of whom nothing was seen."""
        return np.zeros((n_workers, _LEVELS)), np.full((n_workers, len(self._before)), -np.inf)

    def step(
        self,
        state: tuple[NDArray[np.float64], NDArray[np.float64]],
        right: NDArray[np.bool_],
        ease: NDArray[np.float64] | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the tables after one more answer of each worker.

        ``right`` has shape (n_workers,), and so has ``ease``: by how much the log-odds of being right are raised for
        everybody, where questions differ in difficulty.
        """
        likelihood, sums = state
        if ease is None:
            one = right.astype(np.intp)
            return likelihood + self._seen[one], np.logaddexp(0.0, sums) + self._ratio[one]
        odds = self._odds + ease[:, None]
        seen = -np.logaddexp(0.0, np.where(right[:, None], -odds, odds)) / self.design_effect
        return likelihood + seen, np.logaddexp(0.0, sums) + seen[:, self._after] - seen[:, self._before]

    def statistic(self, state: tuple[NDArray[np.float64], NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return the statistic of each worker, shape (n_workers,)."""
        likelihood, sums = state
        weight = self._prior * np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
        with np.errstate(divide="ignore"):
            weight = np.log(weight / weight.sum(axis=1, keepdims=True))
        found: NDArray[np.float64] = np.exp(np.minimum(weight[:, self._before] + sums, _LARGEST)) @ self._share
        return found
