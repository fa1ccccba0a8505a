"""Which of several confidences should one trust? A logistic regression on all, learnt where none had seen the item.

Maximum class probability asks the classifier, trust score asks the neighbours, true class probability asks a network
that watched the classifier fail; they err in different places. Each fold is scored by estimators that were fitted on
the other folds, so that the weights are those for items that nobody has seen; then all are fitted on everything.

Condition: the probabilities given to `fit` are held-out or out-of-fold ones; those of items that the classifier has
learnt from are surer than any it will meet later.

Source: Wolpert (1992), "Stacked generalization".
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from hmc_crowd.confidence._calibrate import fit_logistic
from hmc_crowd.confidence._cross_fit import stratified_folds
from hmc_crowd.confidence._estimator import Parameters, confidence_estimator
from hmc_crowd.confidence._inputs import (
    classes_of,
    codes_of,
    expit,
    label_vector,
    log_odds,
    matrix,
    probability_matrix,
    require_fitted,
    same_items,
)
from hmc_crowd.errors import InputError, ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["StackedConfidence"]

# Signals beyond what this share of the training items shows are cut: a duplicate has a trust score without bound.
_TAIL = 0.001


@dataclass(frozen=True, eq=False)
class _Labelled:
    """Items whose true label is known."""

    features: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    truth: NDArray[Any]
    predicted: NDArray[Any]
    classes: NDArray[Any]

    def rows(self, rows: NDArray[np.intp]) -> _Labelled:
        return _Labelled(
            self.features[rows], self.probabilities[rows], self.truth[rows], self.predicted[rows], self.classes
        )


class StackedConfidence(Parameters):
    """Calibrated probability that the label is right, from several estimators together.

    Parameters
    ----------
    estimators : sequence of str, or mapping of str to estimator
        Registered names, or estimators of your own with the parameters that you want.
    folds : int, default 5
        Folds in which the weights are learnt.
    seed : int, default 0
        Of the folds.

    Attributes
    ----------
    raw_ : dict of str to array, shape (n_items,)
        Each estimator's confidence in the items of `fit`, by a fit that had not seen them: what a `Calibrator` learns
        from.
    weights_ : dict of str to float
        Weight of each signal, in standard units.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    >>> p = 1 / (1 + np.exp(-X[:, 0]))
    >>> P = np.stack([1 - p, p], axis=1)
    >>> stack = StackedConfidence(["mcp", "trust_score"]).fit(X, y, probabilities=P)
    >>> sure, unsure = stack.confidence([[3.0, 0.0], [0.1, 0.0]], [[0.05, 0.95], [0.48, 0.52]])
    >>> bool(sure > unsure)
    True
    """

    def __init__(
        self,
        estimators: Sequence[str] | Mapping[str, Any] = ("mcp", "trust_score", "tcp"),
        *,
        folds: int = 5,
        seed: int = 0,
    ) -> None:
        self.estimators = estimators
        self.folds = folds
        self.seed = seed

    def fit(self, X: ArrayLike, y: Any, *, probabilities: ArrayLike, classes: Any = None) -> Self:
        """Fit every estimator, and the weights between them.

        Parameters
        ----------
        X : array of float, shape (n_items, n_features)
            Features of labelled items.
        y : array of labels, shape (n_items,)
            Their true labels.
        probabilities : array of float, shape (n_items, n_classes)
            What the classifier said of them without having learnt from them. The most probable class is taken as its
            label.
        classes : sequence of labels, optional
            The classes in the order of the columns; those of ``y``, sorted, by default.

        Raises
        ------
        InputError
            Something cannot be used.
        ModelError
            The classifier is right everywhere, or wrong everywhere.
        """
        data = self._labelled(X, y, probabilities, classes)
        right = data.predicted == data.truth
        if right.all() or not right.any():
            raise ModelError(
                f"{int(right.sum())} of {len(right)} labels are right; give items of which the classifier gets some "
                "right and some wrong"
            )
        signal = self._out_of_fold(data, right)
        self.low_, self.high_ = np.quantile(signal, [_TAIL, 1 - _TAIL], axis=0)
        signal = np.clip(signal, self.low_, self.high_)
        self.mean_ = signal.mean(axis=0)
        spread = signal.std(axis=0)
        self.spread_ = np.where(spread > 0, spread, 1.0)
        self.weight_ = fit_logistic((signal - self.mean_) / self.spread_, right, shift=True)
        self.fitted_ = self._fitted(data)
        for name, model in self.fitted_.items():
            if hasattr(model, "set_bounds"):
                model.set_bounds(self.raw_[name])
                self.raw_[name] = model.normalised(self.raw_[name])
        self.classes_, self.n_features_in_ = data.classes, data.features.shape[1]
        return self

    @property
    def weights_(self) -> dict[str, float]:
        """Weight of each signal, in standard units."""
        require_fitted(self, "weight_")
        return dict(zip(self.fitted_, self.weight_[:-1].tolist(), strict=True))

    def confidence(self, X: ArrayLike, probabilities: ArrayLike, predicted: Any = None) -> NDArray[np.float64]:
        """Return the probability that each label is right, shape (n_items,).

        Parameters
        ----------
        X, probabilities
            As in `fit`, of new items.
        predicted : array of labels, optional
            The classifier's labels; the most probable classes by default.
        """
        features, given, labels = self._new(X, probabilities, predicted)
        signal = np.stack(
            [_signal(_raw(each, features, given, labels), each) for each in self.fitted_.values()], axis=1
        )
        scaled = (np.clip(signal, self.low_, self.high_) - self.mean_) / self.spread_
        return expit(scaled @ self.weight_[:-1] + self.weight_[-1])

    def confidences(
        self, X: ArrayLike, probabilities: ArrayLike, predicted: Any = None
    ) -> dict[str, NDArray[np.float64]]:
        """Return what each estimator says on its own, in [0, 1] and not calibrated, by name."""
        features, given, labels = self._new(X, probabilities, predicted)
        return {
            name: each.confidence(given if each.reads == "probabilities" else features, labels)
            for name, each in self.fitted_.items()
        }

    def to_bytes(self) -> bytes:
        """Return the fitted stack as a skops file; see `load_confidence`."""
        from hmc_crowd.confidence._persist import dump

        return dump(self)

    def _state(self) -> dict[str, Any]:
        require_fitted(self, "fitted_")
        learnt = {name: getattr(self, f"{name}_") for name in ("low", "high", "mean", "spread", "weight")}
        return {
            "names": list(self.fitted_),
            "folds": self.folds,
            "seed": self.seed,
            "classes": self.classes_.tolist(),
            "n_features": self.n_features_in_,
            "learnt": learnt,
            "parts": self.fitted_,
        }

    @classmethod
    def _from_state(cls, state: dict[str, Any]) -> Self:
        names, parts = [str(name) for name in state["names"]], state["parts"]
        # The estimators carry their parameters, so that the stack can be fitted again as it was.
        model = cls({name: parts[name] for name in names}, folds=int(state["folds"]), seed=int(state["seed"]))
        for name, value in state["learnt"].items():
            learnt = np.asarray(value, dtype=np.float64)
            if learnt.shape != (len(names) + (name == "weight"),) or not np.isfinite(learnt).all():
                raise ValueError(f"{name} does not fit the estimators")
            setattr(model, f"{name}_", learnt)
        model.fitted_ = {name: parts[name] for name in names}
        model.classes_, model.n_features_in_ = np.asarray(state["classes"]), int(state["n_features"])
        return model

    def _new(
        self, X: ArrayLike, probabilities: ArrayLike, predicted: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[Any]]:
        require_fitted(self, "fitted_")
        features = matrix(X, name="X", columns=self.n_features_in_)
        given = probability_matrix(probabilities, n_classes=len(self.classes_))
        labels = self.classes_[given.argmax(axis=1)] if predicted is None else label_vector(predicted, name="predicted")
        same_items(("X", features), ("probabilities", given), ("predicted", labels))
        return features, given, labels

    def _labelled(self, X: ArrayLike, y: Any, probabilities: ArrayLike, classes: Any) -> _Labelled:
        if not isinstance(self.folds, Integral) or isinstance(self.folds, bool) or self.folds < 2:
            raise InputError(f"folds is {self.folds!r}; give an integer of at least 2")
        if not len(self.estimators):
            raise InputError("estimators is empty; name at least one, such as 'mcp'")
        features, truth = matrix(X, name="X"), label_vector(y, name="y")
        given = probability_matrix(probabilities)
        same_items(("X", features), ("y", truth), ("probabilities", given))
        found = classes_of(truth, classes)
        if len(found) != given.shape[1]:
            raise InputError(
                f"probabilities has {given.shape[1]} columns for the classes {found.tolist()}; give classes= in the "
                "order of the columns"
            )
        codes_of(truth, found, name="y")
        return _Labelled(features, given, truth, found[given.argmax(axis=1)], found)

    def _fitted(self, data: _Labelled) -> dict[str, Any]:
        """Return new estimators, fitted on these items."""
        if hasattr(self.estimators, "items"):
            fresh = {name: type(each)(**each.get_params()) for name, each in self.estimators.items()}
        else:
            fresh = {name: confidence_estimator(name) for name in self.estimators}
        for each in fresh.values():
            X = data.probabilities if each.reads == "probabilities" else data.features
            each.fit(X, data.truth, probabilities=data.probabilities, classes=data.classes)
        return fresh

    def _out_of_fold(self, data: _Labelled, right: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the signals of every item by fits that have not seen it, shape (n_items, n_estimators)."""
        # Classes and successes spread evenly over the folds.
        strata = codes_of(data.truth, data.classes, name="y") * 2 + right
        parts: dict[str, NDArray[np.float64]] = {}
        signals: dict[str, NDArray[np.float64]] = {}
        for test in stratified_folds(strata, self.folds, self.seed):
            train = np.ones(len(right), dtype=bool)
            train[test] = False
            held = data.rows(test)
            for name, each in self._fitted(data.rows(np.flatnonzero(train))).items():
                raw = _raw(each, held.features, held.probabilities, held.predicted)
                parts.setdefault(name, np.empty(len(right)))[test] = raw
                signals.setdefault(name, np.empty(len(right)))[test] = _signal(raw, each)
        self.raw_ = parts
        return np.stack(list(signals.values()), axis=1)


def _raw(
    estimator: Any, features: NDArray[np.float64], probabilities: NDArray[np.float64], predicted: NDArray[Any]
) -> NDArray[np.float64]:
    """Return what the estimator says before any normalisation: a ratio of a trust score, else its confidence."""
    X = probabilities if estimator.reads == "probabilities" else features
    return np.asarray(getattr(estimator, "score", estimator.confidence)(X, predicted))


def _signal(raw: NDArray[np.float64], estimator: Any) -> NDArray[np.float64]:
    """Return a number without bounds in which a logistic regression is at home."""
    return log_odds(raw / (1 + raw) if hasattr(estimator, "score") else raw)
