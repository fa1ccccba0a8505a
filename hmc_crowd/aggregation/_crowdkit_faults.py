"""Parts that stand in for faulty ones of crowd-kit 1.4.2; `_crowdkit` says what is wrong with each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd._base.extras import require

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["corrected_hrrasa", "noisy_gradient", "noisy_model", "noisy_objective", "our_binary_base"]

# crowd-kit's pull of the scores to their middle, and its stop.
_PULL, _STOP = 1e-5, 1e-5


def _parts(
    x: NDArray[np.float64], data: NDArray[np.intp], workers: NDArray[np.intp], n_items: int, n_workers: int
) -> tuple[NDArray[np.float64], ...]:
    """Return, per comparison, the sign of the result and the sigmoids of skill, scores and liking for a side."""
    from scipy.special import expit

    sign = np.where(data[:, 0] == data[:, 2], 1.0, -1.0)
    liking, skill = x[1 + n_items + workers], x[1 + n_items + n_workers + workers]
    return sign, expit(skill), expit(sign * (x[data[:, 0]] - x[data[:, 1]])), expit(sign * liking)


def noisy_objective(
    x: NDArray[np.float64],
    data: NDArray[np.intp],
    workers: NDArray[np.intp],
    n_items: int,
    n_workers: int,
    ratio: float,
) -> float:
    """Return the negative log-likelihood, plus ``ratio`` times the pull of all scores to the first entry of ``x``."""
    from scipy.special import log_expit

    _, skill, follows, likes = _parts(x, data, workers, n_items, n_workers)
    away = x[1 : n_items + 1] - x[0]
    pull = log_expit(away).sum() + log_expit(-away).sum()
    return float(-np.log(skill * follows + (1 - skill) * likes).sum() - ratio * pull)


def noisy_gradient(
    x: NDArray[np.float64],
    data: NDArray[np.intp],
    workers: NDArray[np.intp],
    n_items: int,
    n_workers: int,
    ratio: float,
) -> NDArray[np.float64]:
    """Return the gradient of `noisy_objective`."""
    sign, skill, follows, likes = _parts(x, data, workers, n_items, n_workers)
    chance = skill * follows + (1 - skill) * likes
    gradient = np.zeros_like(x)
    by_score = sign * skill * follows * (1 - follows) / chance
    np.add.at(gradient, data[:, 0], -by_score)
    np.add.at(gradient, data[:, 1], by_score)
    np.add.at(gradient, 1 + n_items + workers, -sign * (1 - skill) * likes * (1 - likes) / chance)
    np.add.at(gradient, 1 + n_items + n_workers + workers, -skill * (1 - skill) * (follows - likes) / chance)
    slope = ratio * np.tanh((x[1 : n_items + 1] - x[0]) / 2)
    gradient[1 : n_items + 1] += slope
    gradient[0] -= slope.sum()
    return gradient


def corrected_hrrasa(kit: Any) -> Any:
    """Return crowd-kit's HRRASA with an average of vectors that any pandas can do."""

    class Corrected(kit.HRRASA):  # type: ignore[misc]
        @staticmethod
        def _aggregate_embeddings(data: pd.DataFrame, weights: pd.DataFrame, _known: Any = None) -> pd.Series[Any]:
            means = {}
            for task, rows in data.join(weights, on=["task", "worker"]).groupby("task"):
                weight = rows["weight"].to_numpy(dtype=float)
                means[task] = weight @ np.stack(list(rows["embedding"])) / weight.sum()
            return pd.Series(means, dtype=object)

    return Corrected


def noisy_model(rows: pd.DataFrame, *, n_iter: int) -> tuple[pd.Series[Any], pd.Series[Any]]:
    """Return scores of items and skills of workers under crowd-kit's noisy Bradley-Terry model.

    The start is made of what was compared, never of names: an item's share of wins, and a worker who rather follows
    the scores and likes neither side. Renamed items and workers therefore get the same scores and skills.
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    items = pd.Index(pd.unique(pd.concat([rows["left"], rows["right"]]))).sort_values()
    people = pd.Index(rows["worker"].unique()).sort_values()
    data = np.column_stack([items.get_indexer(rows[name]) + 1 for name in ("left", "right", "label")])
    workers = people.get_indexer(rows["worker"])
    shown = np.bincount(data[:, :2].ravel(), minlength=len(items) + 1)[1:]
    share = (np.bincount(data[:, 2], minlength=len(items) + 1)[1:] + 1) / (shown + 2)
    start = np.concatenate([[0.0], np.log(share / (1 - share)), np.zeros(len(people)), np.ones(len(people))])
    found = minimize(
        noisy_objective,
        start,
        jac=noisy_gradient,
        args=(data, workers, len(items), len(people), _PULL),
        method="L-BFGS-B",
        options={"maxiter": n_iter, "ftol": _STOP},
    ).x
    scores, skills = found[1 : len(items) + 1], found[1 + len(items) + len(people) :]
    return pd.Series(expit(scores), index=items), pd.Series(expit(skills), index=people)


def our_binary_base() -> Any:
    """Return our Dawid-Skene as one of crowd-kit's classifiers, for labels 0 and 1."""
    module = require("crowdkit.aggregation.base", extra="crowdkit", purpose="method='crowdkit:binary_relevance'")
    base: Any = module.BaseClassificationAggregator

    class Ours(base):  # type: ignore[misc]
        def fit(self, data: pd.DataFrame) -> Any:
            from hmc_crowd.aggregation._dawid_skene import DawidSkene

            self.labels_ = DawidSkene().fit_predict(data, labels=[0, 1])
            return self

        def fit_predict(self, data: pd.DataFrame) -> Any:
            return self.fit(data).labels_

    return Ours()
