"""Random forest: the mean of the time to come, and its whole distribution.

Quantile regression forest (Meinshausen 2006): a new row shares a leaf with some training rows in every tree; each
training row gets the mean over the trees of 1 / (rows in that leaf) if it shares it, and the quantile is the smallest
training value whose cumulative weight reaches q. The weights sum to 1, so every quantile is a value that was really
observed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__: list[str] = []

_CHUNK = 512
# Leaves of the mean's forest may hold one row, and a handful of rows knows no tail. On the published data P90 of such
# trees has a pinball loss 3 to 10 % above that of leaves of twenty and covers as little as .857 of the times of new
# workers (.877 with twenty); on a single feature, where all trees are alike, it covers .71 (.88).
_SPREAD_LEAF = 20


def weighted_quantiles(
    leaves: NDArray[np.int32],
    values: NDArray[np.float64],
    weight: NDArray[np.float64],
    new_leaves: NDArray[np.int32],
    quantiles: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return quantiles by shared leaves.

    Parameters
    ----------
    leaves : int array, shape (n_train, n_trees)
        Leaf of every training row in every tree.
    values, weight : float arrays, shape (n_train,)
        Training target and weight of the rows.
    new_leaves : int array, shape (n_new, n_trees)
    quantiles : float array, shape (n_quantiles,)

    Returns
    -------
    float array, shape (n_new, n_quantiles)
    """
    from scipy.sparse import csr_matrix

    n_train, n_trees = leaves.shape
    order = np.argsort(values, kind="stable")  # columns in ascending order of the target: a cumulative sum is the CDF
    widths = np.maximum(leaves.max(axis=0), new_leaves.max(axis=0, initial=0)).astype(np.int64) + 1
    shift = np.concatenate([[0], np.cumsum(widths)[:-1]])
    total = int(widths.sum())
    cell = (leaves[order] + shift).ravel()
    column = np.repeat(np.arange(n_train), n_trees)
    row_weight = np.repeat(weight[order], n_trees)
    in_leaf = np.bincount(cell, weights=row_weight, minlength=total)
    # A leaf that a bootstrap sample made has at least that sample in it, but its rows may all have weight 0.
    share = np.divide(row_weight, in_leaf[cell], out=np.zeros_like(row_weight), where=in_leaf[cell] > 0) / n_trees
    members = csr_matrix((share, (cell, column)), shape=(total, n_train))
    ascending, found = values[order], np.empty((len(new_leaves), len(quantiles)))
    for start in range(0, len(new_leaves), _CHUNK):
        block = new_leaves[start : start + _CHUNK]
        pick = (block + shift).ravel()
        hits = csr_matrix(
            (np.ones(pick.size), pick, np.arange(0, pick.size + 1, n_trees)), shape=(len(block), total)
        ).dot(members)
        hits.sort_indices()
        found[start : start + _CHUNK] = _row_quantiles(hits, ascending, quantiles)
    return found


def _row_quantiles(hits: Any, ascending: NDArray[np.float64], quantiles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, per sparse row of weights over ascending values, the first value whose cumulative weight reaches q."""
    out = np.empty((hits.shape[0], len(quantiles)))
    for row in range(hits.shape[0]):
        part = slice(hits.indptr[row], hits.indptr[row + 1])
        cumulative = np.cumsum(hits.data[part])
        # Relative to the row's own sum, less a hair, so that rounding never skips the value that reaches q exactly.
        place = np.searchsorted(cumulative, quantiles * cumulative[-1] * (1 - 1e-12), side="left")
        out[row] = ascending[hits.indices[part][np.minimum(place, len(cumulative) - 1)]]
    return out


@dataclass(frozen=True, eq=False)
class Forest:
    """A random forest for the mean and one with larger leaves for the quantiles."""

    model: Any
    spread: Any
    leaves: NDArray[np.int32]
    seconds: NDArray[np.float64]
    weight: NDArray[np.float64]

    @classmethod
    def fit(
        cls, X: NDArray[np.float64], seconds: NDArray[np.float64], weight: NDArray[np.float64] | None, params: Any
    ) -> Forest:
        """Grow both: one bootstrap sample per tree, ``max_features`` of the features tried per split."""
        from sklearn.ensemble import RandomForestRegressor

        def grow(leaf: int) -> Any:
            return RandomForestRegressor(
                n_estimators=params.n_estimators,
                max_features=min(params.max_features, X.shape[1]),
                min_samples_leaf=leaf,
                random_state=params.seed,
                n_jobs=params.n_jobs,
            ).fit(X, seconds, sample_weight=weight)

        model, spread, leaves = grow(params.min_samples_leaf), None, np.empty((len(seconds), 0), dtype=np.int32)
        if len(params.quantiles):
            spread = grow(max(params.min_samples_leaf, _SPREAD_LEAF))
            leaves = spread.apply(X).astype(np.int32)
        return cls(model, spread, leaves, seconds.copy(), np.ones(len(seconds)) if weight is None else weight.copy())

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return mean seconds."""
        return np.asarray(self.model.predict(X), dtype=np.float64)

    def quantiles(self, X: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return quantiles of seconds, shape (n, len(q)); any q in (0, 1)."""
        if self.spread is None:
            raise InputError("this model was fitted with quantiles=(), without a spread; name some and fit again")
        return weighted_quantiles(self.leaves, self.seconds, self.weight, self.spread.apply(X).astype(np.int32), q)

    @property
    def importances(self) -> NDArray[np.float64]:
        """Share of the variance reduction by feature; sums to 1."""
        return np.asarray(self.model.feature_importances_, dtype=np.float64)

    def problems(self, n_features: int) -> str | None:
        """Say what would make these trees unsafe to use; scikit-learn itself follows node numbers unchecked."""
        for forest in (self.model, self.spread):
            wrong = None if forest is None else forest_problems(forest, n_features)
            if wrong is not None:
                return wrong
        if not all(isinstance(each, np.ndarray) for each in (self.leaves, self.seconds, self.weight)):
            return "its training times are no arrays"
        counts = np.array([tree.tree_.node_count for tree in self.spread.estimators_] if self.spread else [], dtype=int)
        if self.leaves.shape != (len(self.seconds), len(counts)) or self.weight.shape != self.seconds.shape:
            return "leaves and training times do not belong together"
        # Leaves are signed: a negative one would index from the end.
        return "a leaf number is out of range" if (self.leaves < 0).any() or (self.leaves >= counts).any() else None

    def state(self) -> dict[str, Any]:
        """Return what must be saved."""
        return {name: getattr(self, name) for name in ("model", "spread", "leaves", "seconds", "weight")}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Forest:
        """Rebuild from `state`; call `problems` before use."""
        return cls(state["model"], state["spread"], state["leaves"], state["seconds"], state["weight"])


def forest_problems(forest: Any, n_features: int) -> str | None:
    """Say what is wrong with the trees of one forest, or None."""
    trees: list[Any] = [getattr(tree, "tree_", None) for tree in getattr(forest, "estimators_", [])]
    if not trees or any(tree is None for tree in trees):
        return "the forest has no fitted trees"
    for tree in trees:
        number, inner = np.arange(tree.node_count), tree.children_left != -1
        for child in (tree.children_left, tree.children_right):
            # Trees are numbered from the root down: a child comes after its parent, so nothing goes in circles.
            if (child[inner] <= number[inner]).any() or (child[inner] >= tree.node_count).any():
                return "a tree points outside itself"
        if (tree.feature[inner] < 0).any() or (tree.feature[inner] >= n_features).any():
            return "a tree splits on a feature that does not exist"
        if tree.n_features != n_features or tree.value.shape != (tree.node_count, 1, 1):
            return "a tree has the wrong shape"
    return None
