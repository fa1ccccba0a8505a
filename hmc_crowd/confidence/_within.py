"""How likely is a numeric prediction off by no more than a stated tolerance?

Labels are right or wrong; a score is off by something. With a tolerance that the user states (half a point, say) every
prediction has a probability of being close enough, and the router can treat it like any confidence. Errors of held-out
items, each divided by the spread expected of it, are taken as the distribution of the next one.

Guarantee: on average over calibration sets and items drawn alike, a share of new items within 1 / (n + 1) of the mean
confidence is within the tolerance, where the spread is the same for all or given (split conformal). Per item it is as
good as the spread.

Sources: Vovk, Gammerman, Shafer (2005), chapter 2; Harvey (1976) for the spread as a log-linear function.
"""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from hmc_crowd._base.checks import first_rows, float_vector
from hmc_crowd.confidence._cross_fit import stratified_folds
from hmc_crowd.confidence._estimator import Parameters
from hmc_crowd.confidence._inputs import matrix, require_fitted, same_items
from hmc_crowd.errors import InputError, ModelError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["ProbabilityWithin"]

_LEAST_ITEMS = 20
_FOLDS = 5


class ProbabilityWithin(Parameters):
    """Probability that a numeric prediction is within a tolerance of the truth.

    Parameters
    ----------
    tolerance : float
        Largest error that still counts as right, in the unit of the predictions, at least 0.
    spread : {"same", "given", "learnt"}
        "same": every prediction is as uncertain as any other; X is not used. "given": X holds one positive number an
        item, such as a predictive standard deviation or the width of an interval. "learnt": X holds features; the
        logarithm of the absolute error is learnt as a linear function of them and of the prediction (ridge), and the
        errors are divided by out-of-fold spreads.
    ridge : float, default 1
        Strength of the ridge, in standard units.
    seed : int, default 0
        Of the folds of "learnt".

    Examples
    --------
    >>> close = ProbabilityWithin(0.5, spread="given")
    >>> truth = [0.0] * 20
    >>> error = [0.1, 0.2, 0.3, 0.4] * 5
    >>> close = close.fit([1.0] * 20, truth, predicted=error)
    >>> close.confidence([1.0, 2.0, 4.0], [3.0, 3.0, 3.0]).round(2).tolist()  # 20, 10 and 5 of 20, over 21
    [0.95, 0.48, 0.24]
    """

    reads: ClassVar[str] = "features"

    def __init__(self, tolerance: float = 0.5, *, spread: str = "same", ridge: float = 1.0, seed: int = 0) -> None:
        self.tolerance = tolerance
        self.spread = spread
        self.ridge = ridge
        self.seed = seed

    def fit(self, X: Any, y: ArrayLike, *, predicted: ArrayLike) -> Self:
        """Learn from held-out items how far predictions are off.

        Parameters
        ----------
        X : array
            As ``spread`` says; None with "same".
        y : array of float, shape (n_items,)
            True values.
        predicted : array of float, shape (n_items,)
            Predictions for the same items, by a model that has not learnt from them.

        Raises
        ------
        InputError
            Something cannot be used.
        ModelError
            Fewer than 20 items.
        """
        self._check()
        truth, guess = float_vector(y, name="y"), float_vector(predicted, name="predicted")
        n = same_items(("y", truth), ("predicted", guess))
        if n < _LEAST_ITEMS:
            raise ModelError(f"there are {n} items; give at least {_LEAST_ITEMS} to learn how far predictions are off")
        error = np.abs(truth - guess)
        self.line_: NDArray[np.float64] | None = None
        if self.spread == "learnt":
            design = self._design(X, guess)
            wanted = np.log(error + max(1e-3 * float(error.mean()), 1e-12))
            spread = np.empty(n)
            for test in stratified_folds(np.zeros(n, dtype=np.intp), _FOLDS, self.seed):
                train = np.setdiff1d(np.arange(n), test)
                spread[test] = _at(_line(design[train], wanted[train], self.ridge), design[test])
            self.line_ = _line(design, wanted, self.ridge)
        else:
            spread = self._spread(X, guess)
        self.errors_ = np.sort(error / spread)
        return self

    def confidence(self, X: Any, predicted: ArrayLike) -> NDArray[np.float64]:
        """Return the probability that each prediction is within the tolerance, shape (n_items,).

        Parameters
        ----------
        X, predicted
            As in `fit`.
        """
        require_fitted(self, "errors_")
        guess = float_vector(predicted, name="predicted")
        allowed = self.tolerance / self._spread(X, guess)
        # A hair more, so that an error of exactly the tolerance counts whatever the rounding.
        return np.searchsorted(self.errors_, allowed * (1 + 1e-12), side="right") / (len(self.errors_) + 1)

    def to_bytes(self) -> bytes:
        """Return the fitted estimator as a skops file; see `load_confidence`."""
        from hmc_crowd.confidence._persist import dump

        return dump(self)

    def _spread(self, X: Any, guess: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.spread == "same":
            return np.ones(len(guess))
        if self.spread == "learnt":
            line: NDArray[np.float64] = self.line_  # type: ignore[assignment]  # fitted with this spread
            return _at(line, self._design(X, guess, columns=line.shape[1] - 1))
        given = float_vector(X, name="X")
        same_items(("X", given), ("predicted", guess))
        bad = given <= 0
        if bad.any():
            raise InputError(f"X must hold spreads above 0: {first_rows(bad, given)}; give standard deviations")
        return given

    def _design(self, X: Any, guess: NDArray[np.float64], columns: int | None = None) -> NDArray[np.float64]:
        if X is None:
            raise InputError("X is None; spread='learnt' needs features, shape (n_items, n_features)")
        features = matrix(X, name="X", columns=None if columns is None else columns - 1)
        same_items(("X", features), ("predicted", guess))
        return np.concatenate([features, guess[:, None]], axis=1)

    def _check(self) -> None:
        if not isinstance(self.tolerance, Real) or not 0 <= self.tolerance < np.inf:
            raise InputError(f"tolerance is {self.tolerance!r}; give a finite number of at least 0")
        if self.spread not in ("same", "given", "learnt"):
            raise InputError(f"spread is {self.spread!r}; give 'same', 'given' or 'learnt'")
        if not isinstance(self.ridge, Real) or not self.ridge > 0:
            raise InputError(f"ridge is {self.ridge!r}; give a number above 0")

    def _state(self) -> dict[str, Any]:
        require_fitted(self, "errors_")
        return {"params": self.get_params(), "errors": self.errors_, "line": self.line_}

    @classmethod
    def _from_state(cls, state: dict[str, Any]) -> Self:
        model = cls(**state["params"])
        model._check()
        errors = np.asarray(state["errors"], dtype=np.float64)
        line = None if state["line"] is None else np.asarray(state["line"], dtype=np.float64)
        if errors.ndim != 1 or not np.isfinite(errors).all() or (np.diff(errors) < 0).any():
            raise ValueError("the errors are not sorted")
        if (line is None) == (model.spread == "learnt") or (line is not None and not np.isfinite(line).all()):
            raise ValueError("the spread does not fit")
        model.errors_, model.line_ = errors, line
        return model


def _line(design: NDArray[np.float64], wanted: NDArray[np.float64], ridge: float) -> NDArray[np.float64]:
    """Return rows (mean, deviation, weight) of the columns and, last, of the target: a ridge in standard units."""
    mean, deviation = design.mean(axis=0), design.std(axis=0)
    deviation = np.where(deviation > 0, deviation, 1.0)
    scaled = (design - mean) / deviation
    weight = np.linalg.solve(scaled.T @ scaled + ridge * np.eye(scaled.shape[1]), scaled.T @ (wanted - wanted.mean()))
    return np.stack([np.append(mean, 0), np.append(deviation, 1), np.append(weight, wanted.mean())])


def _at(line: NDArray[np.float64], design: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the spread at these rows; its logarithm is kept in a range where exp is finite."""
    mean, deviation, weight = line[:, :-1]
    value = (design - mean) / deviation @ weight + line[2, -1]
    return np.asarray(np.exp(np.clip(value, -50, 50)))
