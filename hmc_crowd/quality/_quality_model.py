"""What do the source's features say about the next answer of a worker?

A random forest (or boosted trees) learns from outcomes, answers to gold that came *after* the features were known, on
some workers before a moment. Other workers after it calibrate the probability (a logistic curve on its log-odds) and
tell how far workers of one prediction differ: that is the interval.

Guarantee: none by theory; cover and calibration are shown by simulation (tests), for workers like the checking ones.
`worker_quality` needs no training and is the default; a model earns its place where it beats that on held-out data
(``report_``).

Source: requirements D5 and D6; calibration after Platt (1999).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from hmc_crowd._base.checks import first_rows
from hmc_crowd._base.extras import require
from hmc_crowd._base.parameters import Parameters
from hmc_crowd.errors import FrameError, InputError, ModelError, StateError
from hmc_crowd.quality._gate_trees import BoostedTrees, ForestTrees, Trees
from hmc_crowd.quality._logistic_curve import LogisticCurve
from hmc_crowd.quality._quality_features import FEATURES
from hmc_crowd.quality._quality_split import WorkerTimeSplit, split_by_worker_and_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["QualityModelReport", "WorkerQualityModel"]

_EDGE = 1e-3
_LEAST_STRENGTH, _MOST_STRENGTH = 2.0, 500.0


@dataclass(frozen=True)
class QualityModelReport:
    """How the model did on workers and times that it had not seen.

    Parameters
    ----------
    rows, workers : int
        Outcomes of the check, and of how many workers.
    brier, brier_pool : float
        Mean squared error of the calibrated probability, each half of the checking workers calibrated by the other,
        and of the pool's mean rate for everybody: the model must be below it.
    left_out : int
        Outcomes that neither taught nor checked.
    """

    rows: int
    workers: int
    brier: float
    brier_pool: float
    left_out: int

    @property
    def better_than_pool(self) -> bool:
        """Whether the features told anything."""
        return self.brier < self.brier_pool

    def __str__(self) -> str:
        verdict = "better than" if self.better_than_pool else "NO better than"
        return (
            f"Brier score {self.brier:.4f} on {self.rows:,} outcomes of {self.workers:,} unseen workers, {verdict} the "
            f"pool's mean ({self.brier_pool:.4f})"
        )


class WorkerQualityModel(Parameters):
    """Learn the probability of a right answer from `quality_features`.

    Parameters
    ----------
    kind : {"random_forest", "xgboost"}, default "random_forest"
        The source's; the second needs the extra ``boost``.
    n_estimators, max_depth, seed : int, default 100, 10, 42
        The source's settings.
    min_samples_leaf : int, default 10
        The source's 1 makes leaves of single answers, whose probabilities are all 0 or 1.
    level : float, default 0.95
        Of the interval.

    Attributes
    ----------
    report_ : QualityModelReport
    split_ : WorkerTimeSplit
    trees_, curve_
        The fitted trees, and slope and shift of the calibrating curve.
    strength_ : float
        Workers with one prediction ``q`` differ as Beta(q * strength, (1 - q) * strength).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> true = rng.choice([0.6, 0.95], 60)
    >>> rows = np.repeat(np.arange(60), 20)
    >>> features = pd.DataFrame(np.nan, index=range(1200), columns=list(FEATURES))
    >>> features["accuracy"] = (rng.binomial(20, true) / 20)[rows]
    >>> times = np.tile(pd.date_range("2026-01-05", periods=20, tz="UTC"), 60)
    >>> model = WorkerQualityModel(n_estimators=20).fit(features, rng.random(1200) < true[rows], rows, times)
    >>> found = model.predict(features.iloc[[0]].assign(accuracy=0.95))
    >>> model.report_.better_than_pool, bool(found["low"].iloc[0] < found["quality"].iloc[0] < found["high"].iloc[0])
    (True, True)
    """

    trees_: Trees
    curve_: tuple[float, float]
    report_: QualityModelReport
    split_: WorkerTimeSplit
    strength_: float

    def __init__(
        self,
        kind: Literal["random_forest", "xgboost"] = "random_forest",
        *,
        n_estimators: int = 100,
        max_depth: int = 10,
        seed: int = 42,
        min_samples_leaf: int = 10,
        level: float = 0.95,
    ) -> None:
        if kind not in ("random_forest", "xgboost"):
            raise InputError(f"kind is {kind!r}; use 'random_forest' or 'xgboost'")
        if not 0 < level < 1:
            raise InputError(f"level is {level!r}; give a probability between 0 and 1, such as 0.95")
        for name, value in (
            ("n_estimators", n_estimators),
            ("max_depth", max_depth),
            ("min_samples_leaf", min_samples_leaf),
        ):
            if isinstance(value, bool) or value < 1:
                raise InputError(f"{name} is {value!r}; give a whole number of at least 1")
        self.kind, self.n_estimators, self.max_depth = kind, n_estimators, max_depth
        self.seed, self.min_samples_leaf, self.level = seed, min_samples_leaf, level

    def fit(self, features: pd.DataFrame, right: ArrayLike, workers: Sequence[Any], at: Any) -> WorkerQualityModel:
        """Learn from outcomes.

        Parameters
        ----------
        features : pandas.DataFrame
            `quality_features` at the time of each outcome, shape (n, ...).
        right : array of bool, shape (n,)
            Whether the answer was right.
        workers, at : sequences, length n
            Whose answer, and when.

        Raises
        ------
        ModelError
            All outcomes of the teaching or checking rows are alike.
        """
        X = _matrix(features)
        y = np.asarray(right)
        odd = ~np.isin(y, (True, False)) if len(y) == len(X) else np.ones(1, dtype=bool)
        if odd.any():
            detail = f"{len(y)} rows for {len(X)} of features" if len(y) != len(X) else first_rows(odd, y)
            raise InputError(f"right must hold one true or false per row of features, not so: {detail}")
        y = y.astype(bool)
        split = split_by_worker_and_time(workers, at, rng=np.random.default_rng(self.seed))
        for name, rows in (("teach", split.fit), ("check", split.check)):
            if y[rows].min() == y[rows].max():
                raise ModelError(
                    f"all {rows.sum()} answers that {name} are {'right' if y[rows][0] else 'wrong'}: there is nothing "
                    "to learn; use worker_quality, which needs no training, and let a person look at the gold"
                )
        self.trees_ = self._grow(X[split.fit], y[split.fit])
        raw = self._raw(X[split.check])
        self.curve_ = _logistic(raw, y[split.check])
        who = pd.factorize(pd.Series(list(workers), dtype="object")[split.check])[0]
        self.strength_ = _strength(_calibrated(raw, self.curve_), y[split.check], who)
        pool = float(y[split.fit].mean())
        self.report_ = QualityModelReport(
            rows=int(split.check.sum()),
            workers=len(np.unique(who)),
            brier=_held_out_brier(raw, y[split.check], who),
            brier_pool=float(((pool - y[split.check]) ** 2).mean()),
            left_out=split.left_out,
        )
        self.split_ = split
        return self

    def predict(self, features: pd.DataFrame) -> pd.DataFrame:
        """Return ``quality, low, high`` per row, and ``worker`` where the features name it."""
        if not hasattr(self, "report_"):
            raise StateError("this WorkerQualityModel is not fitted; first call fit with outcomes")
        from scipy.special import betaincinv

        quality = _calibrated(self._raw(_matrix(features)), self.curve_)
        up, down, tail = quality * self.strength_, (1 - quality) * self.strength_, (1 - self.level) / 2
        found = pd.DataFrame(
            {"quality": quality, "low": betaincinv(up, down, tail), "high": betaincinv(up, down, 1 - tail)}
        )
        if "worker" in features.columns:
            found.insert(0, "worker", features["worker"].to_numpy())
        return found

    def _grow(self, X: NDArray[np.float64], y: NDArray[np.bool_]) -> Trees:
        if self.kind == "xgboost":
            xgboost = require("xgboost", extra="boost", purpose="WorkerQualityModel('xgboost')")
            asked = {
                "objective": "binary:logistic",
                "max_depth": self.max_depth,
                "learning_rate": 0.1,
                "seed": self.seed,
                # In units of p (1 - p): about as many answers as the forest's leaves hold.
                "min_child_weight": self.min_samples_leaf / 4,
                "nthread": 1,
                "verbosity": 0,
            }
            return BoostedTrees(xgboost.train(asked, xgboost.DMatrix(X, y.astype(float)), self.n_estimators))
        from sklearn.ensemble import RandomForestClassifier

        forest = RandomForestClassifier(
            n_estimators=self.n_estimators,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            random_state=self.seed,
        )
        return ForestTrees(forest.fit(X, y))

    def _raw(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.trees_.predict(X)


def _calibrated(raw: NDArray[np.float64], curve: tuple[float, float]) -> NDArray[np.float64]:
    slope, shift = curve
    found: NDArray[np.float64] = 1 / (1 + np.exp(-(shift + slope * _log_odds(raw))))
    return np.clip(found, _EDGE, 1 - _EDGE)


def _matrix(features: Any) -> NDArray[np.float64]:
    lacking = [name for name in FEATURES if name not in features.columns]
    if lacking:
        raise FrameError(f"features lacks the column {', '.join(lacking)}; pass what quality_features returns")
    values: NDArray[np.float64] = features[list(FEATURES)].to_numpy(dtype=np.float64)
    # Unknown is a value of its own, below all known ones, and the same for both kinds of trees.
    return np.where(np.isnan(values), -1.0, values)


def _log_odds(p: NDArray[np.float64]) -> NDArray[np.float64]:
    held = np.clip(p, _EDGE, 1 - _EDGE)
    odds: NDArray[np.float64] = np.log(held / (1 - held))
    return odds


def _logistic(raw: NDArray[np.float64], y: NDArray[np.bool_]) -> tuple[float, float]:
    """Return slope and shift of the calibrating curve; a slope below 0, which turns the ranking round, is held at 0."""
    # Its weak pull towards slope 0 keeps a handful of checking rows from making the curve a step.
    curve = LogisticCurve.fit(_log_odds(raw)[:, None], y.astype(np.float64), rising=True)
    slope = float(curve.slope[0] / curve.scale[0])
    return slope, curve.shift - slope * float(curve.fill[0])


def _held_out_brier(raw: NDArray[np.float64], y: NDArray[np.bool_], who: NDArray[np.intp]) -> float:
    """Return the mean squared error with each half of the workers calibrated by the other."""
    told = np.full(len(raw), float(y.mean()))
    for half in (0, 1):
        inside = who % 2 == half
        if inside.any() and not inside.all() and y[~inside].min() < y[~inside].max():
            told[inside] = _calibrated(raw[inside], _logistic(raw[~inside], y[~inside]))
    return float(((told - y) ** 2).mean())


def _strength(p: NDArray[np.float64], y: NDArray[np.bool_], who: NDArray[np.intp]) -> float:
    """Return how alike workers of one prediction are, by the moments of their residuals."""
    n = np.bincount(who)
    rest = np.bincount(who, weights=y - p)
    chance = np.bincount(who, weights=p * (1 - p))
    pairs = float((n * (n - 1)).sum())
    if pairs == 0:
        return _LEAST_STRENGTH
    share = float((rest**2 - chance).sum()) / pairs / float((p * (1 - p)).mean())
    return float(1 / np.clip(share, 1 / (_MOST_STRENGTH + 1), 1 / (_LEAST_STRENGTH + 1)) - 1)
