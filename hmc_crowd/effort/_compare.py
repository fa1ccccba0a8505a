"""Is the retrained model better than the one in use? Only then does it take its place.

Both predict the same rows, which neither has seen; what counts is the difference of their losses on each row, so what
makes a row hard for both falls out. Rows of one worker are alike, so the interval is over workers. The loss is the
pinball loss at P50 and at P90, added: HITs are filled by the one and limits set by the other.

Guarantee: where the challenger is no better, it wins with probability at most 1 - ``level`` (for many workers).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import float_vector, require_same_length
from hmc_crowd.effort._conformal import cluster_codes, clustered_mean
from hmc_crowd.effort._evaluate import pinball_loss, splits, take_rows
from hmc_crowd.effort._frames import as_pandas
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    from hmc_crowd.effort._model import EffortModel

__all__ = ["ModelComparison", "compare_losses", "compare_models", "held_out_quantiles"]

_AT = (0.5, 0.9)


@dataclass(frozen=True)
class ModelComparison:
    """Losses of two models on the same rows; lower is better.

    Attributes
    ----------
    champion_loss, challenger_loss : float
        Mean pinball loss at P50 plus that at P90, in seconds.
    change : float
        Challenger less champion, in seconds; below 0 the challenger is better.
    interval : tuple of float
        Two-sided interval of the change whose upper end is the one-sided bound at ``level``; (nan, nan) for one worker.
    better : bool
        Whether that bound lies below 0.
    champion_mae_s, challenger_mae_s : float
        Mean absolute error of P50.
    level : float
    n, n_workers : int
    method : str
    assumptions : tuple of str
    """

    champion_loss: float
    challenger_loss: float
    change: float
    interval: tuple[float, float]
    better: bool
    champion_mae_s: float
    challenger_mae_s: float
    level: float
    n: int
    n_workers: int
    method: str
    assumptions: tuple[str, ...]

    def __str__(self) -> str:
        verdict = "better" if self.better else "not surely better"
        return (
            f"the challenger is {verdict}: loss {self.challenger_loss:.2f} s against {self.champion_loss:.2f} s, "
            f"change {self.change:+.2f} s [{self.interval[0]:+.2f}, {self.interval[1]:+.2f}], MAE of the median "
            f"{self.challenger_mae_s:.1f} s against {self.champion_mae_s:.1f} s ({self.n:,} rows of "
            f"{self.n_workers:,} workers)"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row per model: ``loss, mae_s``."""
        import pandas as pd

        rows = {
            "champion": (self.champion_loss, self.champion_mae_s),
            "challenger": (self.challenger_loss, self.challenger_mae_s),
        }
        return pd.DataFrame.from_dict(rows, orient="index", columns=["loss", "mae_s"])

    def _repr_html_(self) -> str:
        return f"<p>{self}</p>"


def compare_losses(
    seconds: ArrayLike, champion: ArrayLike, challenger: ArrayLike, *, workers: Any = None, level: float = 0.95
) -> ModelComparison:
    """Test two models by what they predicted for the same rows.

    Parameters
    ----------
    seconds : array of float, shape (n,)
    champion, challenger : array of float, shape (n, 2)
        P50 and P90 of rows that the model has not seen.
    workers : array, shape (n,), optional
        Every row is its own worker by default.
    level : float, default 0.95
        One-sided.

    Examples
    --------
    >>> import numpy as np
    >>> seconds = np.arange(20.0, 40.0)
    >>> near, far = np.column_stack([seconds, seconds + 1]), np.column_stack([seconds + 5, seconds + 9])
    >>> compare_losses(seconds, far, near).better, compare_losses(seconds, near, near).better
    (True, False)
    """
    truth = float_vector(seconds, name="seconds", low=0.0)
    if not 0.5 <= level < 1:
        raise InputError(f"level is {level}; give a share from 0.5 to 1, for example 0.95")
    losses, errors = [], []
    for name, each in (("champion", champion), ("challenger", challenger)):
        guess = np.asarray(each, dtype=np.float64)
        if guess.shape != (len(truth), len(_AT)):
            raise InputError(f"{name} has shape {guess.shape}; give P50 and P90 of every row, shape ({len(truth)}, 2)")
        losses.append(np.sum([pinball_loss(truth, guess[:, k], q) for k, q in enumerate(_AT)], axis=0))
        errors.append(float(np.abs(truth - guess[:, 0]).mean()))
    change, interval, n_workers = clustered_mean(losses[1] - losses[0], workers, level=2 * level - 1 or 1e-9)
    return ModelComparison(
        champion_loss=float(losses[0].mean()),
        challenger_loss=float(losses[1].mean()),
        change=change,
        interval=interval,
        better=bool(interval[1] < 0),
        champion_mae_s=errors[0],
        challenger_mae_s=errors[1],
        level=level,
        n=len(truth),
        n_workers=n_workers,
        method="paired difference of pinball losses at P50 and P90, t over workers",
        assumptions=("workers are independent of one another", "neither model has seen these rows"),
    )


def held_out_quantiles(
    model: EffortModel,
    X: Any,
    seconds: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    workers: ArrayLike | None = None,
    folds: int = 5,
    rows: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    finished: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Return P50 and P90 of every row by a clone of the model that was fitted without it, shape (n, 2).

    Parameters
    ----------
    model : EffortModel
        Its parameters are used; itself it stays as it is.
    X, seconds, sample_weight, finished
        As in `EffortModel.fit`; a row that is not finished can train and have a prediction, but proves nothing.
    groups : array, shape (n,), optional
        Kept apart in the folds, for example workers.
    workers : array, shape (n,), optional
        Who worked, for kind ``log_time``.
    folds : int, default 5
    rows : array of bool, shape (n,), optional
        Only these are predicted (all others are always trained on); the result has as many rows.
    """
    target = float_vector(seconds, name="seconds", low=0.0)
    table = X if isinstance(X, np.ndarray) else as_pandas(X, name="X")
    asked = np.ones(len(target), dtype=bool) if rows is None else np.asarray(rows, dtype=bool)
    weight = None if sample_weight is None else float_vector(sample_weight, name="sample_weight", low=0.0)
    who = None if workers is None else np.asarray(workers)
    done = None if finished is None else np.asarray(finished, dtype=bool)
    require_same_length([("seconds", target), ("X", table), ("rows", asked)])
    where, out = np.flatnonzero(asked), np.empty((len(target), len(_AT)))
    kept = None if groups is None else np.asarray(groups)[where]
    for _, part in splits(len(where), folds, kept, model.seed):
        test = where[part]
        train = np.setdiff1d(np.arange(len(target)), test)
        if groups is not None:
            train = train[~np.isin(np.asarray(groups)[train], kept[part] if kept is not None else [])]
        fresh = type(model)(**{**model.get_params(), "quantiles": _AT})
        fresh.fit(
            take_rows(table, train),
            target[train],
            None if weight is None else weight[train],
            workers=None if who is None else who[train],
            finished=None if done is None else done[train],
        )
        out[test] = fresh.predict_quantile(take_rows(table, test), _AT)
    return out[where]


def compare_models(
    champion: EffortModel,
    challenger: EffortModel,
    X: Any,
    seconds: ArrayLike,
    *,
    workers: ArrayLike | None = None,
    folds: int = 5,
    level: float = 0.95,
) -> ModelComparison:
    """Cross-validate two kinds of model in the same folds, workers kept apart where they are named, and test them.

    Parameters
    ----------
    champion, challenger : EffortModel
        Their parameters are used, fitted or not.
    X, seconds
        As in `EffortModel.fit`.
    workers : array, shape (n,), optional
    folds : int, default 5
    level : float, default 0.95

    Examples
    --------
    >>> import numpy as np
    >>> from hmc_crowd.effort import EffortModel
    >>> rng = np.random.default_rng(1)
    >>> X = {"turns": rng.uniform(1, 10, 80), "noise": rng.normal(size=80)}
    >>> seconds = (20 + 8 * X["turns"]) * rng.lognormal(0, 0.1, 80)
    >>> blind, seeing = EffortModel(features=["noise"], n_estimators=10), EffortModel(n_estimators=10)
    >>> compare_models(blind, seeing, X, seconds).better
    True
    """
    code = None if workers is None else cluster_codes(workers, len(np.asarray(workers)))
    found = [
        held_out_quantiles(
            model, X, seconds, groups=code, workers=code if model.kind == "log_time" else None, folds=folds
        )
        for model in (champion, challenger)
    ]
    return compare_losses(seconds, found[0], found[1], workers=code, level=level)
