"""Quantiles of log seconds by gradient boosting, kept as plain arrays.

scikit-learn's histogram boosting grows the trees; what is kept of them are the nodes' numbers, so that a saved model
holds nothing but arrays and can be checked before it is used. A leaf points to itself, so every row arrives after as
many steps as the deepest tree has levels.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__: list[str] = []

# On the published times, workers kept apart, 200 rounds of .05 win .1 to .3 % of pinball loss for twice the time; trees
# of depth 2 or 4, or fewer rounds, lose about half a percent.
ROUNDS, RATE, DEPTH = 100, 0.1, 3
_CELLS = 500_000  # rows x trees walked at once


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """The nodes of all trees in one table; ``roots`` says where each tree begins."""

    base: float
    roots: NDArray[np.int64]
    feature: NDArray[np.int64]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    value: NDArray[np.float64]

    @classmethod
    def fit(
        cls,
        X: NDArray[np.float64],
        target: NDArray[np.float64],
        weight: NDArray[np.float64],
        *,
        quantile: float,
        min_samples_leaf: int,
        seed: int,
    ) -> BoostedTrees:
        """Boost the quantile of ``target``."""
        from sklearn.ensemble import HistGradientBoostingRegressor
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        model = HistGradientBoostingRegressor(
            loss="quantile",
            quantile=quantile,
            max_iter=ROUNDS,
            learning_rate=RATE,
            max_depth=DEPTH,
            min_samples_leaf=min_samples_leaf,
            early_stopping=False,
            random_state=seed,
        )
        # Some thousand rows are nothing to share out: threads that wait for one another made it forty times slower on
        # a busy machine, and a second one wins little on an idle one.
        with threadpool_limits(1, user_api="openmp"):
            model.fit(X, target, sample_weight=weight)
        return cls._from_trees(
            float(np.ravel(model._baseline_prediction)[0]), [tree.nodes for (tree,) in model._predictors]
        )

    @classmethod
    def _from_trees(cls, base: float, trees: list[Any]) -> BoostedTrees:
        """Put scikit-learn's node tables one below the other."""
        sizes = [len(tree) for tree in trees]
        roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        nodes, shift = np.concatenate(trees), np.repeat(roots, sizes)
        own, leaf = np.arange(len(nodes)), nodes["is_leaf"].astype(bool)
        return cls(
            base=base,
            roots=roots,
            feature=np.where(leaf, 0, nodes["feature_idx"]).astype(np.int64),
            threshold=np.where(leaf, 0.0, nodes["num_threshold"]).astype(np.float64),
            missing_left=nodes["missing_go_to_left"].astype(bool),
            left=np.where(leaf, own, nodes["left"] + shift).astype(np.int64),
            right=np.where(leaf, own, nodes["right"] + shift).astype(np.int64),
            value=np.asarray(nodes["value"], dtype=np.float64),
        )

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the quantile of each row, shape (n,)."""
        out, step = np.empty(len(X)), max(1, _CELLS // max(len(self.roots), 1))
        for start in range(0, len(X), step):
            part = X[start : start + step]
            rows, node = np.arange(len(part))[:, None], np.broadcast_to(self.roots, (len(part), len(self.roots)))
            for _ in range(DEPTH):
                x = part[rows, self.feature[node]]
                goes_left = np.where(np.isnan(x), self.missing_left[node], x <= self.threshold[node])
                node = np.where(goes_left, self.left[node], self.right[node])
            out[start : start + step] = self.base + self.value[node].sum(axis=1)
        return out

    def problems(self, n_features: int) -> str | None:
        """Say what would make these numbers unsafe to follow."""
        arrays = [getattr(self, each.name) for each in fields(self) if each.name != "base"]
        if not all(isinstance(each, np.ndarray) and each.ndim == 1 for each in arrays):
            return "a boosted tree is no array"
        if len({len(each) for each in arrays[1:]}) > 1 or not np.isfinite(self.base):
            return "the boosted trees do not fit together"
        for name, top in (
            ("roots", len(self.value)),
            ("left", len(self.value)),
            ("right", len(self.value)),
            ("feature", n_features),
        ):
            each = getattr(self, name)
            if each.dtype.kind not in "iu" or (each < 0).any() or (each >= top).any():
                return f"a boosted tree's {name} is out of range"
        return None if np.isfinite(self.value).all() else "a boosted tree's value is not finite"

    def state(self) -> dict[str, Any]:
        """Return what must be saved: numbers and arrays."""
        return {each.name: getattr(self, each.name) for each in fields(self)}
