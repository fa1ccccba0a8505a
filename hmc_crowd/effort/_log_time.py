"""The effort model grown up: log seconds, time-outs, quantiles that cover, and people of different speed.

A random forest grown on log seconds gives the mean and the quantiles, boosted trees give the quantiles again, and the
geometric mean of both is taken: on the published times each alone is up to a tenth worse where the other is weak.
Workers with many submissions count less than in proportion (rows to the power -1/4), because the next worker is
somebody else. Times that were cut off are drawn from beyond their bound, quantiles are calibrated on workers the trees
have not seen, and the speed of people who were timed before is a shrunken factor.

Source: our own; the parts are Meinshausen (2006), Koenker, Bassett (1978), and the sources named in `_censored`,
`_conformal` and `_shrink`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.effort._boosted_trees import BoostedTrees
from hmc_crowd.effort._censored import completed
from hmc_crowd.effort._conformal import cluster_codes, clustered_mean, conformal_offset, worker_folds
from hmc_crowd.effort._forest import forest_problems, weighted_quantiles
from hmc_crowd.effort._shrink import WorkerEffects
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__: list[str] = []

FLOOR_S = 0.5  # half the step of a clock that counts whole seconds: what a logged 0 stands for on the log scale
_BUSY = 0.25
_FILLING = 25  # trees that say where a bound's missing part lies: its draw varies far more than their mean
_FOLDS = 4
_LEAST_TO_CALIBRATE = 40


@dataclass(frozen=True, eq=False)
class Trees:
    """A forest on log seconds with its training rows, and one set of boosted trees per quantile."""

    forest: Any
    leaves: NDArray[np.int32]
    seconds: NDArray[np.float64]
    weight: NDArray[np.float64]
    balanced: NDArray[np.float64]
    boosted: dict[float, BoostedTrees]

    @classmethod
    def fit(
        cls,
        X: NDArray[np.float64],
        log_time: NDArray[np.float64],
        weight: NDArray[np.float64],
        balanced: NDArray[np.float64],
        at: Sequence[float],
        params: Any,
    ) -> Trees:
        """Grow the forest and boost each quantile in ``at``."""
        forest = grow_forest(X, log_time, balanced, params)
        boosted = {
            q: BoostedTrees.fit(
                X, log_time, balanced, quantile=q, min_samples_leaf=leaf_size(len(X), 20), seed=params.seed
            )
            for q in at
        }
        return cls(forest, forest.apply(X).astype(np.int32), np.exp(log_time), weight, balanced, boosted)

    def mean(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return mean seconds over the trees' leaves. Busy workers count in full here, as they cost in full."""
        new, total = self.forest.apply(X), np.zeros(len(X))
        everywhere = float(np.average(self.seconds, weights=self.weight))
        for tree in range(self.leaves.shape[1]):
            leaf, size = self.leaves[:, tree], int(self.forest.estimators_[tree].tree_.node_count)
            weight = np.bincount(leaf, self.weight, minlength=size)
            summed = np.bincount(leaf, self.weight * self.seconds, minlength=size)
            total += np.divide(summed, weight, out=np.full(size, everywhere), where=weight > 0)[new[:, tree]]
        return np.asarray(total / self.leaves.shape[1])

    def log_quantiles(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log seconds of the boosted quantiles in ascending order, shape (n, n_quantiles)."""
        at = np.array(sorted(self.boosted))
        new = self.forest.apply(X).astype(np.int32)
        by_forest = np.log(weighted_quantiles(self.leaves, self.seconds, self.balanced, new, at))
        by_boosting = np.column_stack([self.boosted[q].predict(X) for q in at.tolist()])
        # Boosted quantiles can cross; putting them in order never makes them worse (Chernozhukov et al. 2010).
        both: NDArray[np.float64] = np.sort((by_forest + by_boosting) / 2, axis=1)
        return both


@dataclass(frozen=True, eq=False)
class LogTime:
    """The fitted core: trees, offsets of the calibrated quantiles, and the workers' effects."""

    trees: Trees
    at: tuple[float, ...]
    offsets: NDArray[np.float64]
    effects: WorkerEffects | None
    n_censored: int

    @classmethod
    def fit(
        cls,
        X: NDArray[np.float64],
        seconds: NDArray[np.float64],
        weight: NDArray[np.float64] | None,
        params: Any,
        *,
        workers: Sequence[Any] | None = None,
        finished: NDArray[np.bool_] | None = None,
    ) -> LogTime:
        """Fill in what was cut off, grow, calibrate on unseen workers, and shrink the workers' effects."""
        log_time = np.log(np.maximum(seconds, FLOOR_S))
        own = np.ones(len(X)) if weight is None else weight
        code = cluster_codes(workers, len(X))
        balanced = own * np.bincount(code)[code] ** -_BUSY
        balanced = balanced / balanced.mean()
        done = np.ones(len(X), dtype=bool) if finished is None else finished
        if not done.all():
            log_time = completed(
                log_time, done, balanced, lambda t: out_of_fold(X, t, balanced, params, most=_FILLING), seed=params.seed
            )
        at = tuple(sorted({*map(float, params.quantiles), 0.5})) if len(params.quantiles) else ()
        trees = Trees.fit(X, log_time, own, balanced, at, params)
        offsets = _calibrate(X, log_time, own, balanced, code, at, params)
        effects = None
        if workers is not None:
            residual = log_time - out_of_fold(X, log_time, balanced, params)
            effects = WorkerEffects.fit(workers, residual, trees.mean(X))
        return cls(trees, at, offsets, effects, int((~done).sum()))

    def predict(self, X: NDArray[np.float64], workers: Sequence[Any] | None = None) -> NDArray[np.float64]:
        """Return mean seconds: of whoever comes, or of these workers."""
        mean = self.trees.mean(X)
        return mean if workers is None else mean * self._effects().of(workers)[1]

    def quantiles(
        self, X: NDArray[np.float64], q: NDArray[np.float64], workers: Sequence[Any] | None = None
    ) -> NDArray[np.float64]:
        """Return quantiles of seconds, shape (n, len(q)), for the ones that were fitted."""
        unknown = [each for each in q.tolist() if each not in self.at]
        if unknown:
            fitted = ", ".join(map(str, self.at)) or "none"
            raise InputError(
                f"q is {unknown[0]}, but this model knows only the quantiles it was fitted for ({fitted}); "
                "name it in quantiles= and fit again"
            )
        raw = self.trees.log_quantiles(X)
        logs = np.sort(raw + self.offsets, axis=1)
        if workers is not None:
            effect, _, spread = self._effects().of(workers)
            middle = raw[:, [self.at.index(0.5)]]
            # The offsets are about workers not seen; those who were bring their own, from the same uncalibrated trees.
            own = middle + effect[:, None] + (raw - middle) * spread[:, None]
            logs = np.where(self._effects().seen(workers)[:, None], own, logs)
        return np.asarray(np.exp(logs)[:, [self.at.index(each) for each in q.tolist()]])

    def _effects(self) -> WorkerEffects:
        if self.effects is None:
            raise InputError("workers were not named when this model was fitted; fit with workers=, or leave them out")
        return self.effects

    @property
    def importances(self) -> NDArray[np.float64]:
        """Share of the forest's variance reduction by feature; sums to 1."""
        return np.asarray(self.trees.forest.feature_importances_, dtype=np.float64)

    @property
    def n_features(self) -> int:
        """How many features the forest was grown on."""
        return int(self.trees.forest.n_features_in_)

    def problems(self, n_features: int) -> str | None:
        """Say what would make this model unsafe to use."""
        trees = self.trees
        rows = (trees.seconds, trees.weight, trees.balanced)
        if not all(isinstance(each, np.ndarray) and each.shape == (len(trees.leaves),) for each in rows):
            return "leaves and training times do not belong together"
        wrong = forest_problems(trees.forest, n_features)
        counts = np.array([tree.tree_.node_count for tree in trees.forest.estimators_] if wrong is None else [])
        if wrong is None and (trees.leaves.shape[1] != len(counts) or (trees.leaves < 0).any()):
            wrong = "a leaf number is out of range"
        if wrong is None and (trees.leaves >= counts).any():
            wrong = "a leaf number is out of range"
        for each in trees.boosted.values():
            wrong = wrong or each.problems(n_features)
        if wrong is None and (tuple(sorted(trees.boosted)) != self.at or self.offsets.shape != (len(self.at),)):
            wrong = "quantiles and their trees do not belong together"
        return wrong or (None if self.effects is None else self.effects.problems())

    def state(self) -> dict[str, Any]:
        """Return what must be saved."""
        kept = {name: getattr(self.trees, name) for name in ("forest", "leaves", "seconds", "weight", "balanced")}
        return {
            **kept,
            "boosted": [self.trees.boosted[q].state() for q in self.at],
            "at": list(self.at),
            "offsets": self.offsets,
            "effects": None if self.effects is None else self.effects.state(),
            "n_censored": self.n_censored,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> LogTime:
        """Rebuild from `state`; call `problems` before use."""
        at, effects = tuple(map(float, state["at"])), state["effects"]
        boosted = {q: BoostedTrees(**each) for q, each in zip(at, state["boosted"], strict=True)}
        kept = {name: state[name] for name in ("forest", "leaves", "seconds", "weight", "balanced")}
        made = None if effects is None else WorkerEffects(**{**effects, "names": tuple(effects["names"])})
        return cls(Trees(**kept, boosted=boosted), at, state["offsets"], made, int(state["n_censored"]))


def leaf_size(n: int, most: int) -> int:
    """Return rows per leaf: ``most``, but with few rows a twenty-fifth of them."""
    return max(1, min(most, n // 25))


def grow_forest(
    X: NDArray[np.float64],
    log_time: NDArray[np.float64],
    weight: NDArray[np.float64],
    params: Any,
    *,
    most: int | None = None,
) -> Any:
    """Grow a forest on log seconds, of at most so many trees; leaves of ten, as a few rows know no tail."""
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(
        n_estimators=params.n_estimators if most is None else min(most, params.n_estimators),
        max_features=min(params.max_features, X.shape[1]),
        min_samples_leaf=max(params.min_samples_leaf, leaf_size(len(X), 10)),
        random_state=params.seed,
        n_jobs=params.n_jobs,
    ).fit(X, log_time, sample_weight=weight)


def out_of_fold(
    X: NDArray[np.float64],
    log_time: NDArray[np.float64],
    weight: NDArray[np.float64],
    params: Any,
    *,
    most: int | None = None,
) -> NDArray[np.float64]:
    """Return expected log seconds of each row by trees that have not seen it."""
    folds = worker_folds(np.arange(len(X)), 3, params.seed)
    out = np.empty(len(X))
    for fold in range(3):
        test = folds == fold
        out[test] = grow_forest(X[~test], log_time[~test], weight[~test], params, most=most).predict(X[test])
    return out


def _calibrate(
    X: NDArray[np.float64],
    log_time: NDArray[np.float64],
    weight: NDArray[np.float64],
    balanced: NDArray[np.float64],
    code: NDArray[np.intp],
    at: tuple[float, ...],
    params: Any,
) -> NDArray[np.float64]:
    """Return the offset of each log quantile, from workers (or rows) that the trees have not seen."""
    workers = int(code.max()) + 1
    if not at or len(X) < _LEAST_TO_CALIBRATE or workers < 2 * _FOLDS:
        return np.zeros(len(at))
    folds, score = worker_folds(code, _FOLDS, params.seed), np.empty((len(X), len(at)))
    for fold in range(_FOLDS):
        test = folds == fold
        trees = Trees.fit(X[~test], log_time[~test], weight[~test], balanced[~test], at, params)
        score[test] = log_time[test][:, None] - trees.log_quantiles(X[test])
    return np.array([_offset(score[:, column], weight, code, q) for column, q in enumerate(at)])


def _offset(score: NDArray[np.float64], weight: NDArray[np.float64], code: NDArray[np.intp], q: float) -> float:
    """Return the calibrating offset; a quantile that nobody's time limit hangs on moves only if it is surely wrong.

    An offset that follows the luck of a few busy workers costs more than it brings: on the published times the median
    of unseen workers loses half a percent by it.
    """
    if q <= 0.5:
        _, (low, high), _ = clustered_mean(score <= 0, code)
        if low <= q <= high:
            return 0.0
    return conformal_offset(score, weight, q)
