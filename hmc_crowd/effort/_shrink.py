"""How much slower or quicker is this person than the model says for anyone?

Log residuals of one worker share a worker effect: ``r = u + e``, ``u ~ N(0, between)``, ``e ~ N(0, within)``. The two
variances come from the analysis of variance for groups of unequal size (Henderson's method 1), the effect is the best
linear unbiased prediction ``n * between / (n * between + within) * mean(r)``: one quick submission moves it little,
twenty move it much. A worker never seen has effect 0 and the whole spread.

Source: Searle, Casella, McCulloch (1992), "Variance Components", chapters 3 and 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__: list[str] = []


@dataclass(frozen=True, eq=False)
class WorkerEffects:
    """Worker -> effect on log seconds and how sure it is.

    Attributes
    ----------
    names : tuple of str
        Sorted.
    effect, variance : array of float, shape (n_workers,)
        Prediction of ``u``, and what is still unknown of it.
    between, within : float
        Variances of ``u`` and ``e``.
    scale : float
        Mean seconds are multiplied by this, so that those of the training rows keep their sum.
    """

    names: tuple[str, ...]
    effect: NDArray[np.float64]
    variance: NDArray[np.float64]
    between: float
    within: float
    scale: float = 1.0

    @classmethod
    def fit(cls, workers: Sequence[Any], residual: NDArray[np.float64], mean_s: NDArray[np.float64]) -> WorkerEffects:
        """Shrink each worker's mean log residual; ``mean_s`` are the mean seconds that anyone would get."""
        names, code = np.unique(np.array([str(each) for each in workers], dtype=object), return_inverse=True)
        n = np.bincount(code).astype(np.float64)
        mean = np.bincount(code, weights=residual) / n
        within, between = variance_components(residual, code)
        weight = n * between / (n * between + within) if between > 0 else np.zeros_like(n)
        effect = weight * mean
        raised = float((mean_s * np.exp(effect[code])).sum())
        scale = float(mean_s.sum()) / raised if raised > 0 else 1.0
        return cls(tuple(map(str, names)), effect, (1 - weight) * between, between, within, scale)

    def _rows(self, workers: Sequence[Any]) -> NDArray[np.int64]:
        place = {name: row for row, name in enumerate(self.names)}
        return np.array([place.get(str(each), -1) for each in workers], dtype=np.int64)

    def seen(self, workers: Sequence[Any]) -> NDArray[np.bool_]:
        """Tell who was timed at fit time."""
        return self._rows(workers) >= 0

    def of(self, workers: Sequence[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return, per row, effect on log seconds, factor on mean seconds, factor on the log spread."""
        at = self._rows(workers)
        seen = at >= 0
        total = self.between + self.within
        effect = np.where(seen, self.effect[at], 0.0)
        left = np.where(seen, self.variance[at] + self.within, total)
        factor = np.where(seen, self.scale * np.exp(effect), 1.0)
        return effect, factor, np.sqrt(left / total) if total > 0 else np.ones(len(at))

    def problems(self) -> str | None:
        """Say what does not fit together."""
        arrays = (self.effect, self.variance)
        if not all(isinstance(each, np.ndarray) and each.shape == (len(self.names),) for each in arrays):
            return "worker effects and workers do not belong together"
        numbers = (*self.effect, *self.variance, self.between, self.within, self.scale)
        return None if np.isfinite(numbers).all() and self.scale > 0 else "a worker effect is not finite"

    def state(self) -> dict[str, Any]:
        """Return what must be saved."""
        return vars(self) | {"names": list(self.names)}


def variance_components(residual: NDArray[np.float64], code: NDArray[np.intp]) -> tuple[float, float]:
    """Return the variances within and between groups, the latter not below 0.

    Two groups of two, residuals (1, 3) and (5, 7): the squares within are 2 + 2 over 2 degrees of freedom, 2; between
    the means 2 and 6 they are 16 over 1, and ``n0`` is 2, so (16 - 2) / 2 = 7.

    >>> variance_components(np.array([1.0, 3.0, 5.0, 7.0]), np.array([0, 0, 1, 1]))
    (2.0, 7.0)
    """
    n = np.bincount(code).astype(np.float64)
    rows, groups = len(residual), len(n)
    mean = np.bincount(code, weights=residual) / n
    if groups < 2 or rows == groups:
        return float(np.var(residual)), 0.0
    within = float(((residual - mean[code]) ** 2).sum()) / (rows - groups)
    squares = float((n * (mean - residual.mean()) ** 2).sum()) / (groups - 1)
    size = (rows - float((n**2).sum()) / rows) / (groups - 1)
    return within, max(0.0, (squares - within) / size)
