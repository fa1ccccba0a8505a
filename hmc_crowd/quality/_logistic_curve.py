"""A logistic curve fitted to shares, kept as plain numbers: what is learnt can be read, stored as JSON, and trusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["LogisticCurve"]


@dataclass(frozen=True, eq=False)
class LogisticCurve:
    """Log-odds linear in features that are filled in by their means and standardised."""

    fill: NDArray[np.float64]
    scale: NDArray[np.float64]
    slope: NDArray[np.float64]
    shift: float

    @classmethod
    def fit(
        cls,
        X: NDArray[np.float64],
        share: NDArray[np.float64],
        weight: NDArray[np.float64] | None = None,
        *,
        rising: bool = False,
        pull: float = 0.1,
    ) -> LogisticCurve:
        """Fit to shares: each row counts once as 1 and once as 0, by its share.

        Parameters
        ----------
        X : array, shape (n, n_features)
        share : array, shape (n,)
            In [0, 1], or truth values.
        weight : array, shape (n,), optional
        rising : bool, default False
            For calibrating: a curve that would turn a ranking round, as the scores of folds do where there is nothing
            to learn, is flat in place of that.
        pull : float, default 0.1
            Towards slopes of 0, as in scikit-learn's ``1 / C``.
        """
        from sklearn.linear_model import LogisticRegression

        known = ~np.isnan(X)
        fill = np.where(known, X, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        filled = np.where(known, X, fill) - fill
        scale = np.sqrt((filled**2).sum(axis=0) / np.maximum(known.sum(axis=0), 1))
        scale[scale == 0] = 1.0
        Z, y = filled / scale, np.repeat([1, 0], len(X))
        weight = np.ones(len(X)) if weight is None else weight
        both = np.concatenate([weight * share, weight * (1 - share)])
        model = LogisticRegression(C=1 / pull, max_iter=1000).fit(np.vstack([Z, Z]), y, sample_weight=both)
        slope, shift = model.coef_[0].astype(np.float64), float(model.intercept_[0])
        if rising and (slope < 0).any():
            mean = float(np.clip(np.average(share, weights=weight), 1e-6, 1 - 1e-6))
            slope, shift = np.zeros_like(slope), float(np.log(mean / (1 - mean)))
        return cls(fill, scale, slope, shift)

    def logit(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log-odds of rows, shape (n,)."""
        found: NDArray[np.float64] = (np.where(np.isnan(X), self.fill, X) - self.fill) / self.scale @ self.slope
        return found + self.shift

    def chance(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return probabilities of rows, shape (n,)."""
        from scipy.special import expit

        return np.asarray(expit(self.logit(X)), dtype=np.float64)

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        arrays = {"fill": self.fill.tolist(), "scale": self.scale.tolist(), "slope": self.slope.tolist()}
        return {**arrays, "shift": self.shift}

    @classmethod
    def from_dict(cls, state: Mapping[str, Any], n_features: int) -> LogisticCurve:
        """Read it back; anything else than finite numbers of the right shape is refused."""
        fill, scale, slope = (np.array(state[name], dtype=np.float64) for name in ("fill", "scale", "slope"))
        shift = float(state["shift"])
        shapes = all(each.shape == (n_features,) and np.isfinite(each).all() for each in (fill, scale, slope))
        if not shapes or not np.isfinite(shift) or (scale <= 0).any():
            raise ValueError("numbers are missing or not finite")
        return cls(fill, scale, slope, shift)
