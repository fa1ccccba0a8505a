"""What a learned gate learns with: the source's two kinds of trees, a logistic curve, and how each is kept in a file.

Forest: 100 trees of depth 10, seed 42. Boosted: 200 trees of depth 8, learning rate .1, seed 42 (requirement D21).
The curve has one weight per feature, which a few hundred items can teach; on open data it spares more than the trees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from hmc_crowd._base.extras import require
from hmc_crowd.errors import ModelError
from hmc_crowd.quality._logistic_curve import LogisticCurve

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["KINDS", "SEED", "Trees"]

SEED = 42
# Trees of a forest do not split on what is missing the same way in every version: a value of its own does.
_MISSING = -1.0


class Trees(Protocol):
    """Fitted trees, or a curve."""

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the raw probability of the label 1."""

    def state(self) -> Any:
        """Return what a skops file can hold."""


@dataclass(frozen=True, eq=False)
class ForestTrees:
    """A random forest of scikit-learn."""

    model: Any

    @classmethod
    def fit(cls, X: NDArray[np.float64], y: NDArray[np.bool_]) -> ForestTrees:
        """Grow 100 trees of depth 10."""
        from sklearn.ensemble import RandomForestClassifier

        return cls(RandomForestClassifier(n_estimators=100, max_depth=10, random_state=SEED).fit(_filled(X), y))

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean of the trees' shares."""
        return np.asarray(self.model.predict_proba(_filled(X))[:, 1], dtype=np.float64)

    def state(self) -> Any:
        """Return the forest: skops knows it."""
        return self.model

    @classmethod
    def from_state(cls, state: Any, n_features: int) -> ForestTrees:
        """Take a forest from a file if its numbers fit together; scikit-learn itself follows them unchecked."""
        from sklearn.ensemble import RandomForestClassifier

        trees: list[Any] = [getattr(tree, "tree_", None) for tree in getattr(state, "estimators_", [])]
        whole = isinstance(state, RandomForestClassifier) and list(getattr(state, "classes_", [])) == [False, True]
        if not whole or not trees or any(tree is None for tree in trees):
            raise ModelError("the gate's file holds no fitted forest; train it again")
        for tree in trees:
            number, inner = np.arange(tree.node_count), tree.children_left != -1
            children = np.stack([tree.children_left[inner], tree.children_right[inner]])
            # Trees are numbered from the root down: a child comes after its parent, so nothing goes in circles.
            if (children <= number[inner]).any() or (children >= tree.node_count).any():
                raise ModelError("a tree of the gate's file points outside itself; do not use this file")
            feature = tree.feature[inner]
            if (feature < 0).any() or (feature >= n_features).any() or tree.n_features != n_features:
                raise ModelError("a tree of the gate's file splits on a feature that does not exist; do not use it")
            if tree.value.shape != (tree.node_count, 1, 2):
                raise ModelError("a tree of the gate's file has the wrong shape; do not use this file")
        return cls(state)


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """Boosted trees of xgboost, kept as its own JSON."""

    model: Any

    @classmethod
    def fit(cls, X: NDArray[np.float64], y: NDArray[np.bool_]) -> BoostedTrees:
        """Boost 200 trees of depth 8."""
        xgboost = _xgboost()
        asked = {"objective": "binary:logistic", "max_depth": 8, "learning_rate": 0.1, "seed": SEED, "nthread": 1}
        return cls(xgboost.train({**asked, "verbosity": 0}, xgboost.DMatrix(X, y.astype(float)), 200))

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the model's probability."""
        return np.asarray(self.model.predict(_xgboost().DMatrix(X)), dtype=np.float64)

    def state(self) -> Any:
        """Return xgboost's JSON."""
        return bytes(self.model.save_raw("json")).decode()

    @classmethod
    def from_state(cls, state: Any, n_features: int) -> BoostedTrees:
        """Read xgboost's JSON."""
        xgboost = _xgboost()
        booster = xgboost.Booster()
        try:
            booster.load_model(bytearray(str(state).encode()))
        except xgboost.core.XGBoostError as error:
            why = str(error).splitlines()[0]
            raise ModelError(f"the gate's file holds no trees of xgboost ({why}); train it again") from None
        if booster.num_features() != n_features:
            raise ModelError("the gate's file names other features than its trees have; train it again")
        return cls(booster)


@dataclass(frozen=True, eq=False)
class Curve:
    """A logistic regression on standardised features; what is missing counts as the mean."""

    curve: LogisticCurve

    @classmethod
    def fit(cls, X: NDArray[np.float64], y: NDArray[np.bool_]) -> Curve:
        """Fit by penalised likelihood, with scikit-learn's usual penalty."""
        return cls(LogisticCurve.fit(X, y.astype(np.float64), pull=1.0))

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the curve's probability."""
        return self.curve.chance(X)

    def state(self) -> Any:
        """Return plain numbers."""
        return self.curve.to_dict()

    @classmethod
    def from_state(cls, state: Any, n_features: int) -> Curve:
        """Take a curve from a file if its numbers fit together."""
        try:
            return cls(LogisticCurve.from_dict(state, n_features))
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"the numbers of the gate's curve do not fit together ({error}); train it again") from None


KINDS: dict[str, type[ForestTrees] | type[BoostedTrees] | type[Curve]] = {
    "logistic": Curve,
    "random_forest": ForestTrees,
    "xgboost": BoostedTrees,
}


def _filled(X: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isnan(X), _MISSING, X)


def _xgboost() -> Any:
    return require("xgboost", extra="boost", purpose="LearnedGate(kind='xgboost')")
