"""How good the effort model is on rows, or workers, that it has not seen.

Every row is predicted once by a model that was fitted without it. The result gives each fold, their mean, and the
pooled figures over all held-out rows; the pooled ones are the headline, because the mean of R2 over worker-disjoint
folds compares each fold with another baseline. R2 above .26 counts as sufficient for models of human behaviour (Cohen
1988): a note, not a gate.

Source: Zhang, Ren, de Rijke (2021), section 4.4, table 4.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import float_vector, require_same_length
from hmc_crowd.effort._frames import as_pandas
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    from hmc_crowd.effort._model import EffortModel

__all__ = ["EffortScores", "RegressionScores", "pinball_loss", "regression_scores"]

SUFFICIENT_R2 = 0.26


@dataclass(frozen=True)
class RegressionScores:
    """Errors on the share in [0, 1] and in seconds (``_s``); R2 is NaN where the truth does not vary."""

    n: int
    mse: float
    rmse: float
    mae: float
    r2: float
    mse_s2: float
    rmse_s: float
    mae_s: float
    r2_s: float


@dataclass(frozen=True)
class EffortScores:
    """Cross-validated quality of an effort model.

    Attributes
    ----------
    folds : tuple of RegressionScores
    pooled : RegressionScores
        Over all held-out rows together; R2 is that of the seconds where every fold has a scale of its own.
    mean : RegressionScores
        Unweighted mean over the folds; ``n`` is the number of rows.
    coverage : dict of float to float
        Quantile -> share of held-out times at or below its prediction; well calibrated where both agree.
    method, assumptions : str, tuple of str
    pinball : dict of float to float
        Quantile -> mean pinball loss in seconds; lower is better, and at P50 it is half the MAE of the median.
    """

    folds: tuple[RegressionScores, ...]
    pooled: RegressionScores
    mean: RegressionScores
    coverage: dict[float, float]
    method: str
    assumptions: tuple[str, ...]
    pinball: dict[float, float] = field(default_factory=dict)

    @property
    def mse(self) -> float:
        """Pooled mean squared error of the share."""
        return self.pooled.mse

    @property
    def rmse(self) -> float:
        """Pooled root mean squared error of the share."""
        return self.pooled.rmse

    @property
    def mae(self) -> float:
        """Pooled mean absolute error of the share."""
        return self.pooled.mae

    @property
    def r2(self) -> float:
        """Pooled R2 of the share."""
        return self.pooled.r2

    @property
    def note(self) -> str:
        """What R2 means here, in one sentence."""
        if np.isnan(self.r2):
            return "R2 is undefined: the held-out times do not vary"
        verdict = "above" if self.r2 > SUFFICIENT_R2 else "not above"
        return f"R2 {self.r2:.3f} is {verdict} {SUFFICIENT_R2}, which counts as sufficient for behaviour (Cohen 1988)"

    def __str__(self) -> str:
        covered = "".join(f", P{100 * q:g} covers {share:.1%}" for q, share in self.coverage.items())
        return (
            f"{self.method}: MSE {self.mse:.4f}, RMSE {self.rmse:.4f}, MAE {self.mae:.4f}, R2 {self.r2:.4f} "
            f"on the share; RMSE {self.pooled.rmse_s:.1f} s, MAE {self.pooled.mae_s:.1f} s{covered}. {self.note}."
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row per fold, then ``mean`` and ``pooled``."""
        import pandas as pd

        rows = [*self.folds, self.mean, self.pooled]
        names = [*(f"fold {number}" for number in range(1, len(self.folds) + 1)), "mean", "pooled"]
        return pd.DataFrame([vars(row) for row in rows], index=pd.Index(names, name="part"))

    def _repr_html_(self) -> str:
        return f"<p>{self}</p>{self.to_frame().to_html()}"


def pinball_loss(truth_s: ArrayLike, quantile_s: ArrayLike, q: float) -> NDArray[np.float64]:
    """Return the pinball loss of each row: what a quantile minimises, ``q`` a second too short, 1 - ``q`` too long.

    Examples
    --------
    >>> pinball_loss([10.0, 30.0], [20.0, 20.0], 0.9).round(6).tolist()
    [1.0, 9.0]
    """
    true, guess = float_vector(truth_s, name="truth_s"), float_vector(quantile_s, name="quantile_s")
    require_same_length([("truth_s", true), ("quantile_s", guess)])
    if not 0 < q < 1:
        raise InputError(f"q is {q}; a quantile lies between 0 and 1, for example 0.9")
    return np.maximum(q * (true - guess), (q - 1) * (true - guess))


def regression_scores(
    truth: ArrayLike, predicted: ArrayLike, truth_s: ArrayLike, predicted_s: ArrayLike
) -> RegressionScores:
    """Score predictions on the share and in seconds.

    Examples
    --------
    >>> scores = regression_scores([0.0, 1.0], [0.0, 0.5], [10.0, 30.0], [10.0, 20.0])
    >>> scores.mse, scores.mae_s, scores.r2
    (0.125, 5.0, 0.5)
    """
    made = []
    for name, y, p in (("share", truth, predicted), ("seconds", truth_s, predicted_s)):
        true, guess = float_vector(y, name=f"true {name}"), float_vector(p, name=f"predicted {name}")
        require_same_length([(f"true {name}", true), (f"predicted {name}", guess)])
        mse = float(np.mean((true - guess) ** 2))
        spread = float(np.var(true))
        # Relative to the size of the numbers: a spread that is mere rounding is no spread.
        flat = spread <= 1e-24 * max(1.0, float(np.abs(true).max())) ** 2
        r2 = float("nan") if flat else 1 - mse / spread
        made.append((mse, float(np.sqrt(mse)), float(np.mean(np.abs(true - guess))), r2))
    return RegressionScores(len(np.asarray(truth)), *made[0], *made[1])


def evaluate_model(
    model: EffortModel,
    X: Any,
    seconds: ArrayLike,
    *,
    folds: int,
    groups: ArrayLike | None,
    scaling: str,
    coverage: bool,
    workers: ArrayLike | None = None,
    weight: ArrayLike | None = None,
    finished: ArrayLike | None = None,
) -> EffortScores:
    """Cross-validate; the public face is `EffortModel.evaluate`."""
    if scaling not in {"train", "all"}:
        raise InputError(f"scaling is {scaling!r}; use 'train' or, to reproduce the source, 'all'")
    target = float_vector(seconds, name="seconds", low=0.0)
    rows = X if isinstance(X, np.ndarray) else np.asarray(X) if isinstance(X, (list, tuple)) else as_pandas(X, name="X")
    require_same_length([("seconds", target), ("X", rows)])
    asked = list(model.quantiles) if coverage else []
    who = None if workers is None else np.asarray(workers)
    done = np.ones(len(target), dtype=bool) if finished is None else np.asarray(finished, dtype=bool)
    require_same_length([("finished", done), ("seconds", target)])
    parts, held, within, lost = [], [], np.zeros(len(asked)), np.zeros(len(asked))
    for train, test in splits(len(target), folds, groups, model.seed):
        fitted = type(model)(**{**model.get_params(), "quantiles": tuple(asked)})
        fitted.fit(
            take_rows(rows, train), target[train], **_fold(train, workers=who, sample_weight=weight, finished=finished)
        )
        # A bound that is passed says nothing about how far off a prediction is.
        test = test[done[test]]
        if not len(test):
            continue
        known: dict[str, Any] = {} if who is None or groups is not None else {"workers": who[test]}
        low, high = (fitted.min_s_, fitted.max_s_) if scaling == "train" else (target.min(), target.max())
        predicted = fitted.predict(take_rows(rows, test), **known)
        share = (target[test] - low) / (high - low)
        guess = np.clip((predicted - low) / (high - low), 0.0, 1.0)
        parts.append(regression_scores(share, guess, target[test], predicted))
        held.append(np.column_stack([share, guess, target[test], predicted]))
        if asked:
            spread = fitted.predict_quantile(take_rows(rows, test), asked, **known)
            within += (target[test][:, None] <= spread).sum(axis=0)
            lost += [pinball_loss(target[test], spread[:, k], q).sum() for k, q in enumerate(asked)]
    pooled = regression_scores(*np.vstack(held).T)
    if scaling == "train":
        # Shares of different folds have different scales, and R2 over a mixture of scales means nothing; seconds do.
        pooled = replace(pooled, r2=pooled.r2_s)
    means = [float(np.mean([getattr(part, name) for part in parts])) for name in vars(parts[0]) if name != "n"]
    return EffortScores(
        folds=tuple(parts),
        pooled=pooled,
        mean=RegressionScores(pooled.n, *means),
        coverage={float(q): float(hit / pooled.n) for q, hit in zip(asked, within, strict=True)},
        method=f"{folds}-fold cross-validation of {model.kind}" + ("" if groups is None else ", groups kept apart"),
        assumptions=_assumptions(groups is not None, scaling),
        pinball={float(q): float(loss / pooled.n) for q, loss in zip(asked, lost, strict=True)},
    )


def _fold(train: NDArray[np.intp], **given: Any) -> dict[str, Any]:
    """Return what is known of the training rows, without what was not given."""
    return {name: np.asarray(each)[train] for name, each in given.items() if each is not None}


def _assumptions(grouped: bool, scaling: str) -> tuple[str, ...]:
    """Say what the figures rest on."""
    return (
        "future rows come from workers never seen before" if grouped else "future rows come from the same workers",
        "the share's scale is the training fold's"
        if scaling == "train"
        else "the share's scale is that of all rows, test rows included (the source's literal way)",
    )


def take_rows(rows: Any, index: NDArray[np.intp]) -> Any:
    """Return the rows at these positions, of a frame or an array."""
    return rows[index] if isinstance(rows, np.ndarray) else rows.iloc[index]


def splits(
    n: int, folds: int, groups: ArrayLike | None, seed: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield training and test positions."""
    from sklearn.model_selection import GroupKFold, KFold

    if isinstance(folds, bool) or not isinstance(folds, (int, np.integer)) or not 2 <= folds <= n:
        raise InputError(f"folds is {folds!r}; give a whole number from 2 to the number of rows, {n}")
    empty = np.empty((n, 1))
    if groups is None:
        yield from KFold(folds, shuffle=True, random_state=seed).split(empty)
        return
    import pandas as pd

    # Sorted, so that the folds depend on the groups and not on the order of the rows.
    codes, names = pd.factorize(np.asarray(groups), sort=True)
    require_same_length([("groups", codes), ("seconds", empty)])
    if (codes < 0).any():
        raise InputError("groups has missing values; every row needs its group, for example its worker")
    if len(names) < folds:
        raise InputError(
            f"groups has {len(names)} different values but folds is {folds}; use at most {len(names)} folds"
        )
    yield from GroupKFold(folds).split(empty, groups=codes)
