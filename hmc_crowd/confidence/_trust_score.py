"""Does the neighbourhood agree with the label? Distance to the nearest other class over that to the predicted class.

Defined as google/TrustScore computes it, which is what the HMCEval paper ran: the distance to a class is that to its
`neighbour`-th nearest point (the second), so that a training point does not vouch for itself; points of low density may
be left out before. Distances are exact (see `_neighbours`); only the way to them differs, which is why it is quicker.

Sources: Jiang, Kim, Guan, Gupta (2018), "To Trust Or Not To Trust A Classifier"; Zhang, Ren, de Rijke (2021).
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from hmc_crowd._base.checks import float_vector
from hmc_crowd.confidence._estimator import Parameters, register_confidence
from hmc_crowd.confidence._inputs import classes_of, codes_of, label_vector, matrix, require_fitted, same_items
from hmc_crowd.confidence._neighbours import CHUNK_BYTES, Neighbours
from hmc_crowd.errors import InputError, ModelError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["TrustScore"]


@register_confidence("trust_score")
class TrustScore(Parameters):
    """Ratio of two distances: to the nearest other class, and to the predicted class.

    Parameters
    ----------
    k : int, default 10
        Neighbours that the filters look at, the point itself included.
    alpha : float, default 0
        Share to filter out, in [0, 1). 0 is what the paper's code runs.
    filtering : None, "density" or "uncertainty"
        None keeps every point. "density" drops, within each class, the share ``alpha`` with the largest distance to
        the k-th neighbour. "uncertainty" drops points whose neighbours disagree, as the reference code does it (see
        Notes).
    neighbour : int, default 2
        Distance to a class is that to its so-many-th nearest point.
    min_distance : float, default 1e-12
        Added to the distance to the predicted class.
    chunk_bytes : int, default 32 MiB
        Memory of a block of distances. Beside the points and half as much again, fit and score use a small multiple of
        it, however many points there are.

    Notes
    -----
    The reference's filter "uncertainty" compares every class probability of every point with one percentile of them
    all, and keeps a point once for each of its probabilities that reaches it; a point kept twice is its own second
    neighbour. This is kept, so that scores are the same.

    O(n_points * n_items * n_features), in matrix products.

    Examples
    --------
    >>> X = [[0.0], [1.0], [4.0], [6.0]]
    >>> trust = TrustScore().fit(X, ["a", "a", "b", "b"])
    >>> trust.score([[2.0]], ["a"]).round(6).tolist()  # second nearest b is 4 away, second nearest a 2
    [2.0]
    >>> trust.fit_bounds(X, ["a", "a", "b", "b"]).confidence([[2.0]], ["a"]).round(3).tolist()
    [0.0]
    """

    reads: ClassVar[str] = "features"

    def __init__(
        self,
        k: int = 10,
        alpha: float = 0.0,
        filtering: str | None = None,
        *,
        neighbour: int = 2,
        min_distance: float = 1e-12,
        chunk_bytes: int = CHUNK_BYTES,
    ) -> None:
        self.k = k
        self.alpha = alpha
        self.filtering = filtering
        self.neighbour = neighbour
        self.min_distance = min_distance
        self.chunk_bytes = chunk_bytes

    def fit(self, X: ArrayLike, y: Any, *, probabilities: Any = None, classes: Any = None) -> Self:  # noqa: ARG002
        """Keep the points of each class that distances are measured to.

        Parameters
        ----------
        X : array of float, shape (n_items, n_features)
            Features of labelled items; those of the classifier's last layer in the paper.
        y : array of labels, shape (n_items,)
            Their true labels.
        probabilities
            Not used.
        classes : sequence of labels, optional
            Every class; those of ``y`` by default.

        Raises
        ------
        InputError
            A parameter or the data cannot be used; fewer than two classes.
        ModelError
            The filter leaves a class with fewer points than ``neighbour``.
        """
        self._check()
        points, labels = matrix(X, name="X"), label_vector(y, name="y")
        same_items(("X", points), ("y", labels))
        found = classes_of(labels, classes)
        if len(found) < 2:
            raise InputError(f"y has one class, {found.tolist()}; a trust score compares at least two")
        codes = codes_of(labels, found, name="y")
        if self.filtering == "uncertainty":
            kept = self._certain(points, codes, len(found))
            points, codes = points[kept], codes[kept]
        sets = []
        for code, label in enumerate(found.tolist()):
            own = points[codes == code]
            if self.filtering == "density" and len(own):
                own = self._dense(own)
            if len(own) < self.neighbour:
                raise ModelError(
                    f"class {label!r} keeps {len(own)} points but neighbour is {self.neighbour}; lower alpha, or give "
                    "more items of this class"
                )
            sets.append(Neighbours.of(own, chunk_bytes=int(self.chunk_bytes)))
        self.classes_, self.n_features_in_, self._sets = found, points.shape[1], sets
        self.n_kept_ = tuple(len(each.points) for each in sets)
        self.__dict__.pop("bounds_", None)
        return self

    def distances(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the distance of every item to every class, shape (n_items, n_classes)."""
        require_fitted(self, "_sets")
        points = matrix(X, name="X", columns=self.n_features_in_)
        return np.stack([each.kth_distance(points, self.neighbour) for each in self._sets], axis=1)

    def score(self, X: ArrayLike, predicted: Any) -> NDArray[np.float64]:
        """Return the raw ratio, at least 0; above 1 the predicted class is nearer than any other.

        Parameters
        ----------
        X : array of float, shape (n_items, n_features)
            Features as in `fit`.
        predicted : array of labels, shape (n_items,)
            The classifier's labels.
        """
        require_fitted(self, "_sets")
        labels = label_vector(predicted, name="predicted")
        codes = codes_of(labels, self.classes_, name="predicted")
        distance = self.distances(X)
        same_items(("X", distance), ("predicted", labels))
        row = np.arange(len(distance))
        own = distance[row, codes]
        distance[row, codes] = np.inf
        return np.asarray(distance.min(axis=1) / (own + self.min_distance))

    def fit_bounds(self, X: ArrayLike, predicted: Any) -> Self:
        """Learn from calibration items which scores become 0 and 1.

        Parameters
        ----------
        X, predicted
            As in `score`, of items that `fit` has not seen.

        Notes
        -----
        The bounds are kept: the confidence of an item does not depend on the batch that it comes in.
        """
        return self.set_bounds(self.score(X, predicted))

    def set_bounds(self, scores: ArrayLike) -> Self:
        """Learn the bounds from raw scores that are at hand already."""
        given = float_vector(scores, name="scores", low=0.0)
        low, high = float(given.min()), float(given.max())
        if low == high:
            raise ModelError(f"every calibration score is {low:g}; give calibration items whose scores differ")
        self.bounds_ = (low, high)
        return self

    def confidence(self, X: ArrayLike, predicted: Any) -> NDArray[np.float64]:
        """Return the score between the bounds of `fit_bounds`, in [0, 1] and clipped, shape (n_items,).

        Raises
        ------
        StateError
            `fit_bounds` was not called.
        """
        require_fitted(self, "bounds_", "fit_bounds")
        return self.normalised(self.score(X, predicted))

    def normalised(self, scores: ArrayLike) -> NDArray[np.float64]:
        """Return raw scores between the learnt bounds, clipped."""
        require_fitted(self, "bounds_", "fit_bounds")
        low, high = self.bounds_
        return np.clip((np.asarray(scores, dtype=np.float64) - low) / (high - low), 0.0, 1.0)

    def to_bytes(self) -> bytes:
        """Return the fitted estimator, its points included, as a skops file; see `load_confidence`."""
        from hmc_crowd.confidence._persist import dump

        return dump(self)

    def _state(self) -> dict[str, Any]:
        require_fitted(self, "_sets")
        return {
            "params": self.get_params(),
            "classes": self.classes_.tolist(),
            "points": [each.points for each in self._sets],
            "bounds": list(getattr(self, "bounds_", ())),
        }

    @classmethod
    def _from_state(cls, state: dict[str, Any]) -> Self:
        model = cls(**state["params"])
        model._check()
        points = [matrix(each, name="points") for each in state["points"]]
        wide = {each.shape[1] for each in points}
        if len(points) != len(state["classes"]) or len(wide) != 1 or min(map(len, points)) < model.neighbour:
            raise ValueError("the classes and their points differ")
        model.classes_, model.n_features_in_ = np.asarray(state["classes"]), wide.pop()
        model._sets = [Neighbours.of(each, chunk_bytes=int(model.chunk_bytes)) for each in points]
        model.n_kept_ = tuple(map(len, points))
        if state["bounds"]:
            low, high = map(float, state["bounds"])
            if not low < high:
                raise ValueError("the bounds do not rise")
            model.bounds_ = (low, high)
        return model

    def _dense(self, own: NDArray[np.float64]) -> NDArray[np.float64]:
        """Drop the points with the largest radius around their k nearest of the class."""
        if len(own) < self.k:
            raise ModelError(f"a class has {len(own)} points but k is {self.k}; lower k, or give more items")
        radius = Neighbours.of(own, chunk_bytes=int(self.chunk_bytes)).kth_distance(own, self.k)
        return own[radius <= np.percentile(radius, (1 - self.alpha) * 100)]

    def _certain(self, points: NDArray[np.float64], codes: NDArray[np.intp], n_classes: int) -> NDArray[np.intp]:
        """Return the rows that the filter "uncertainty" keeps, once for each class whose share reaches the border."""
        if len(points) < self.k:
            raise ModelError(f"there are {len(points)} points but k is {self.k}; lower k, or give more items")
        from sklearn.neighbors import NearestNeighbors

        near = NearestNeighbors(n_neighbors=self.k, algorithm="brute").fit(points).kneighbors(points)[1]
        share = np.stack([(codes[near] == code).mean(axis=1) for code in range(n_classes)], axis=1)
        return np.nonzero(share >= np.percentile(share, self.alpha * 100))[0]

    def _check(self) -> None:
        for name, least in (("k", 1), ("neighbour", 1), ("chunk_bytes", 1024)):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
                raise InputError(f"{name} is {value!r}; give an integer of at least {least}")
        if not isinstance(self.alpha, Real) or not 0 <= self.alpha < 1:
            raise InputError(f"alpha is {self.alpha!r}; give a share in [0, 1)")
        if self.filtering not in (None, "density", "uncertainty"):
            raise InputError(f"filtering is {self.filtering!r}; give None, 'density' or 'uncertainty'")
        if not isinstance(self.min_distance, Real) or not self.min_distance >= 0:
            raise InputError(f"min_distance is {self.min_distance!r}; give a number of at least 0")
