"""What does a confidence of .8 mean? After calibration on held-out labels: that about 80 of 100 such labels are right.

Raw confidences of different methods are not comparable, so the same price of effort means something else for each:
on the published data a trade-off of 4.6 without a cap sends 17 % of the items to people by maximum class probability
and 82 % by trust score. Calibrated ones are comparable, and a trade-off of 0.01 / x says that one point of accuracy is
worth x seconds.

Guarantee: the order of the items never changes, so that AUC and risk-coverage stay as they were; what comes out lies
strictly inside (0, 1). How right it is depends on how many labels there are and on their being drawn like the items.

Sources: Platt (1999); Zadrozny, Elkan (2002); Guo, Pleiss, Sun, Weinberger (2017).
"""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from hmc_crowd._base.checks import float_vector, require_same_length
from hmc_crowd.confidence._estimator import Parameters
from hmc_crowd.confidence._inputs import bool_vector, expit, log_odds, require_fitted
from hmc_crowd.errors import InputError, ModelError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Calibrator"]

METHODS = ("isotonic", "platt", "temperature")
_LEAST_ITEMS = 20
# Share of the logistic curve in an isotonic one: keeps steps from becoming ties, moves no value by more.
_BLEND = 1e-3


class Calibrator(Parameters):
    """Monotone map from a raw confidence to the probability that the label is right.

    Parameters
    ----------
    method : {"auto", "isotonic", "platt", "temperature"}
        "temperature" divides the log-odds by a constant, "platt" also shifts them, "isotonic" is any rising step
        function: scikit-learn's with a thousandth of "platt" mixed in, see Notes. "auto" takes the one with the
        smallest cross-validated mean squared error (Brier); where two agree to a thousandth of it, the simpler.
    folds : int, default 5
        Folds of the cross-validation.
    seed : int, default 0
        Of the folds.

    Attributes
    ----------
    method_ : str
        The map in use.
    brier_ : dict
        Cross-validated mean squared error of each map tried, and of the raw confidence ("none").

    Notes
    -----
    Isotonic regression alone gives whole stretches one value, so that a plan could no longer tell their items apart,
    and ends at exactly 0 or 1. So it is ``0.999 * IsotonicRegression + 0.001 * platt``, which rises everywhere and
    differs from scikit-learn's by at most 0.001.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(0.5, 1, 2000)
    >>> calibrator = Calibrator().fit(p**0.25, rng.random(2000) < p)  # much too sure
    >>> calibrator.transform([0.6**0.25, 0.9**0.25]).round(1).tolist()
    [0.6, 0.9]
    """

    def __init__(self, method: str = "auto", *, folds: int = 5, seed: int = 0) -> None:
        self.method = method
        self.folds = folds
        self.seed = seed

    def fit(self, confidence: ArrayLike, correct: ArrayLike) -> Self:
        """Learn the map from items whose true label is known and which the classifier has not learnt from.

        Parameters
        ----------
        confidence : array of float, shape (n_items,)
            Raw, in [0, 1].
        correct : array of bool, shape (n_items,)
            Whether the machine's label was right.

        Raises
        ------
        InputError
            Out of range, of different lengths, or the parameters cannot be used.
        ModelError
            Fewer than 20 items, or all of them right or all wrong.
        """
        self._check()
        raw, right = _inputs(confidence, correct)
        if len(raw) < _LEAST_ITEMS or right.all() or not right.any():
            raise ModelError(
                f"{int(right.sum())} of {len(right)} calibration labels are right; give at least {_LEAST_ITEMS} "
                "items, some right and some wrong"
            )
        names = METHODS if self.method == "auto" else (self.method,)
        self.brier_ = {"none": float(((raw - right) ** 2).mean())}
        self.brier_ |= {name: self._cross_validated(name, raw, right) for name in names}
        least = min(self.brier_[name] for name in names)
        self.method_ = next(name for name in reversed(names) if self.brier_[name] <= least * 1.001 or name == names[0])
        self.map_ = _FIT[self.method_](raw, right)
        self.n_items_ = len(raw)
        return self

    def transform(self, confidence: ArrayLike) -> NDArray[np.float64]:
        """Return the probability that each label is right, shape (n_items,), in (0, 1).

        Raises
        ------
        InputError
            Outside [0, 1].
        StateError
            `fit` was not called.
        """
        require_fitted(self, "map_")
        raw = float_vector(confidence, name="confidence", low=0.0, high=1.0, allow_empty=True)
        return _apply(self.method_, self.map_, raw)

    def __str__(self) -> str:
        if not hasattr(self, "map_"):
            return repr(self)
        return (
            f"calibrated by {self.method_} on {self.n_items_:,} labels: cross-validated Brier score "
            f"{self.brier_[self.method_]:.4f} (raw {self.brier_['none']:.4f})"
        )

    def to_bytes(self) -> bytes:
        """Return the fitted map as a skops file; see `load_confidence`."""
        from hmc_crowd.confidence._persist import dump

        return dump(self)

    def _cross_validated(self, name: str, raw: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
        from hmc_crowd.confidence._cross_fit import stratified_folds

        error = np.empty(len(raw))
        for test in stratified_folds(right.astype(np.intp), self.folds, self.seed):
            train = np.ones(len(raw), dtype=bool)
            train[test] = False
            fitted = _FIT[name](raw[train], right[train])
            error[test] = (_apply(name, fitted, raw[test]) - right[test]) ** 2
        return float(error.mean())

    def _check(self) -> None:
        if self.method not in ("auto", *METHODS):
            raise InputError(f"method is {self.method!r}; give 'auto', {', '.join(map(repr, METHODS))}")
        if not isinstance(self.folds, Integral) or isinstance(self.folds, bool) or self.folds < 2:
            raise InputError(f"folds is {self.folds!r}; give an integer of at least 2")

    def _state(self) -> dict[str, Any]:
        require_fitted(self, "map_")
        fitted = {"method": self.method_, "map": self.map_, "brier": self.brier_, "n_items": self.n_items_}
        return {"params": self.get_params(), "fitted": fitted}

    @classmethod
    def _from_state(cls, state: dict[str, Any]) -> Self:
        model, fitted = cls(**state["params"]), state["fitted"]
        model._check()
        if fitted["method"] not in METHODS:
            raise ValueError(f"method {fitted['method']!r}")
        arrays = {str(name): np.asarray(value, dtype=np.float64) for name, value in fitted["map"].items()}
        if not all(np.isfinite(each).all() for each in arrays.values()):
            raise ValueError("the map is not finite")
        model.method_, model.map_, model.n_items_ = fitted["method"], arrays, int(fitted["n_items"])
        model.brier_ = {str(name): float(value) for name, value in fitted["brier"].items()}
        if np.any(np.diff(model.transform(np.linspace(0, 1, 101))) < 0):
            raise ValueError("the map does not rise")
        return model


def _inputs(confidence: ArrayLike, correct: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    raw = float_vector(confidence, name="confidence", low=0.0, high=1.0)
    right = bool_vector(correct, name="correct")
    require_same_length([("confidence", raw), ("correct", right)])
    return raw, right


def fit_logistic(x: NDArray[np.float64], right: NDArray[np.bool_], *, shift: bool) -> NDArray[np.float64]:
    """Return the weights of the likeliest logistic curve, the intercept last; Newton's method, halved where it errs.

    Targets are Platt's: a little inside 0 and 1, so that separable data has a solution.
    """
    n_right, n = int(right.sum()), len(right)
    target = np.where(right, (n_right + 1) / (n_right + 2), 1 / (n - n_right + 2))
    columns = x.reshape(n, -1)
    design = np.concatenate([columns, np.ones((n, 1))], axis=1) if shift else columns
    weight = np.zeros(design.shape[1])
    loss = _log_loss(design @ weight, target)
    for _ in range(100):
        p = expit(design @ weight)
        hessian = (design * (p * (1 - p))[:, None]).T @ design + 1e-6 * np.eye(len(weight))
        step = np.linalg.solve(hessian, design.T @ (p - target))
        while (better := _log_loss(design @ (weight - step), target)) > loss and np.abs(step).max() > 1e-12:
            step /= 2
        weight, before, loss = weight - step, loss, better
        if before - loss <= 1e-12 * n:
            break
    return weight if shift else np.append(weight, 0.0)


def _log_loss(z: NDArray[np.float64], target: NDArray[np.float64]) -> float:
    return float((np.logaddexp(0, z) - target * z).sum())


def _rising(raw: NDArray[np.float64], right: NDArray[np.bool_], *, shift: bool) -> dict[str, NDArray[np.float64]]:
    """Return slope and shift on the log-odds; a confidence that runs against the truth tells nothing: slope 0."""
    slope, move = fit_logistic(log_odds(raw), right, shift=shift)
    if slope <= 0:
        rate = (right.sum() + 1) / (len(right) + 2)
        slope, move = 0.0, float(np.log(rate / (1 - rate))) if shift else 0.0
    return {"slope": np.asarray(slope), "shift": np.asarray(move)}


def _fit_platt(raw: NDArray[np.float64], right: NDArray[np.bool_]) -> dict[str, NDArray[np.float64]]:
    return _rising(raw, right, shift=True)


def _fit_temperature(raw: NDArray[np.float64], right: NDArray[np.bool_]) -> dict[str, NDArray[np.float64]]:
    return _rising(raw, right, shift=False)


def _fit_isotonic(raw: NDArray[np.float64], right: NDArray[np.bool_]) -> dict[str, NDArray[np.float64]]:
    from sklearn.isotonic import IsotonicRegression

    fitted = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(raw, right.astype(np.float64))
    return {"x": fitted.X_thresholds_, "y": fitted.y_thresholds_} | _fit_platt(raw, right)


_FIT = {"isotonic": _fit_isotonic, "platt": _fit_platt, "temperature": _fit_temperature}


def _apply(name: str, fitted: dict[str, NDArray[np.float64]], raw: NDArray[np.float64]) -> NDArray[np.float64]:
    smooth = expit(fitted["slope"] * log_odds(raw) + fitted["shift"])
    if name != "isotonic":
        return smooth
    return np.asarray((1 - _BLEND) * np.interp(raw, fitted["x"], fitted["y"]) + _BLEND * smooth)
