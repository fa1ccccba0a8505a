"""Numeric and ordinal answers.

What is the value, if each worker has a bias and a precision of his own?

Guarantee: the objective never falls; shifting or stretching all answers shifts or stretches the result; order and names
decide nothing. Reliability is PRMSE: by how much the mean squared error of predicting true values falls, against giving
everybody the mean.

Source: model and arithmetic in `_numeric_core`; PRMSE after Loukina et al. (2020), "Using PRMSE to evaluate automated
scoring systems in the presence of label noise".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from hmc_crowd._base.checks import first_rows, float_vector
from hmc_crowd._base.parameters import Parameters
from hmc_crowd.aggregation._gold import gold_table, require_gold_kind
from hmc_crowd.aggregation._names import coded as place_in
from hmc_crowd.aggregation._names import label_index, require_columns, require_one_aspect, sorted_codes
from hmc_crowd.aggregation._numeric_core import Numbers, NumericFit, numeric
from hmc_crowd.aggregation._repeats import REPEAT_RULES, Repeats, drop_repeats
from hmc_crowd.aggregation._vote_base import require_positive, require_whole
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

__all__ = ["NumericAggregator", "NumericCounts"]


@dataclass(frozen=True)
class NumericCounts:
    """What became of the rows: ``rows == used + missing_label + repeated``; gold items given, and used."""

    rows: int
    used: int
    missing_label: int
    repeated: int
    tasks: int
    workers: int
    tasks_without_label: int
    gold: int
    gold_used: int


class NumericAggregator(Parameters):
    """Learn values, and each worker's bias and variance.

    Parameters
    ----------
    levels : iterable, optional
        For ordinal answers: the labels from lowest to highest; they count as 0, 1, 2, ... Default: answers are numbers.
    strength : float, default 4.0
        How many answers the prior of a worker's variance is worth: it pulls towards the crowd's.
    n_iter, tol
        Most steps, and the gain per task at which to stop.
    repeats : {"latest", "all", "refuse"}, default "latest"

    Attributes
    ----------
    values_ : pandas.DataFrame
        Index task: ``value``, ``se``, ``low``, ``high`` (95%), ``n_answers``; ``labels_`` is the value alone, or with
        ``levels`` the nearest level, and ``probabilities_`` then the probability of each level.
    workers_ : pandas.DataFrame
        ``worker, n_answers, bias, bias_se, sd, reliability``: ``reliability`` is the PRMSE of one answer of his, bias
        taken off.
    prmse_, prmse_single_ : float
        Of the aggregated values, and of a typical single answer.
    loss_history_, n_iter_, converged_, counts_, tasks_without_label_
        As in the estimators of categories.

    Examples
    --------
    >>> answers = pd.DataFrame(
    ...     [(t, w, 10.0 * t + b) for t in range(6) for w, b in (("ann", -1), ("bob", 0), ("cid", 1))],
    ...     columns=["task", "worker", "label"],
    ... )
    >>> model = NumericAggregator().fit(answers)
    >>> [round(bias) for bias in model.workers_["bias"]]
    [-1, 0, 1]
    """

    method = "numeric answers with worker bias and variance"
    values_: pd.DataFrame
    labels_: pd.Series[Any]
    probabilities_: pd.DataFrame
    workers_: pd.DataFrame
    prmse_: float
    prmse_single_: float
    loss_history_: list[float]
    n_iter_: int
    converged_: bool
    counts_: NumericCounts
    tasks_without_label_: pd.Index[Any]

    def __init__(
        self,
        levels: Iterable[Any] | None = None,
        *,
        strength: float = 4.0,
        n_iter: int = 500,
        tol: float = 1e-9,
        repeats: Repeats = "latest",
    ) -> None:
        if repeats not in REPEAT_RULES:
            raise InputError(f"repeats is {repeats!r}; choose one of {', '.join(map(repr, REPEAT_RULES))}")
        # An index is kept as it is: a clone must hold the very levels that it was given.
        self.levels = levels if levels is None or isinstance(levels, pd.Index) else label_index(levels)
        if self.levels is not None:
            label_index(self.levels)
        self.strength = require_positive(strength, name="strength", above=True)
        self.n_iter = require_whole(n_iter, name="n_iter")
        self.tol = require_positive(tol, name="tol")
        self.repeats: Repeats = repeats

    def fit(self, answers: pd.DataFrame, gold: Any = None, *, weights: ArrayLike | None = None) -> Self:
        """Learn values and workers.

        Parameters
        ----------
        answers : pandas.DataFrame
            Columns ``task, worker, label`` and optionally ``submitted``; labels are numbers, or ``levels``.
        gold : pandas.DataFrame, pandas.Series or mapping, optional
            Known values; they stay fixed and teach about the workers.
        weights : array of float, optional
            One per row, at least 0.

        Raises
        ------
        FrameError
            The table is not as described, or a label is no number or level.
        """
        require_columns(answers, ("task", "worker", "label"), name="answers")
        require_one_aspect(answers)
        for column in ("task", "worker"):
            missing = answers[column].isna().to_numpy()
            if missing.any():
                raise FrameError(
                    f"answers has no {column} in {first_rows(missing)}; fill the column or drop these rows"
                )
        present = answers["label"].notna().to_numpy()
        if not present.any():
            raise FrameError(f"answers has {len(answers)} rows and none with a label; collect answers first")
        used = answers.loc[present]
        value = self._numbers(used["label"], name="answers.label")
        task, tasks = sorted_codes(used["task"], name="answers.task")
        worker, workers = sorted_codes(used["worker"], name="answers.worker")
        rank = np.unique(value, return_inverse=True)[1].astype(np.intp)
        order = np.lexsort((rank, worker, task))
        times = used["submitted"] if "submitted" in used.columns else None
        keep = drop_repeats(task, worker, rank, order=order, times=times, rule=self.repeats, names=(tasks, workers))
        weight = np.ones(len(answers)) if weights is None else float_vector(weights, name="weights", low=0.0)
        if len(weight) != len(answers):
            raise InputError(f"weights has {len(weight)} values but answers has {len(answers)} rows; give one per row")
        known, n_gold = self._known(gold, tasks)
        numbers = Numbers(task[keep], worker[keep], value[keep], weight[present][keep], known, len(workers))
        fit = numeric(numbers, strength=self.strength, n_iter=self.n_iter, tol=self.tol)
        bare = pd.Index(answers.loc[~present, "task"].unique())
        self.tasks_without_label_ = bare[~bare.isin(tasks)]
        self.counts_ = NumericCounts(
            rows=len(answers),
            used=len(keep),
            missing_label=int((~present).sum()),
            repeated=len(used) - len(keep),
            tasks=len(tasks),
            workers=len(workers),
            tasks_without_label=len(self.tasks_without_label_),
            gold=n_gold,
            gold_used=int((~np.isnan(known)).sum()),
        )
        self._publish(fit, numbers, tasks.rename("task"), workers)
        return self

    def fit_predict(self, answers: pd.DataFrame, gold: Any = None, **more: Any) -> pd.Series[Any]:
        """Fit and return ``labels_``."""
        return self.fit(answers, gold, **more).labels_

    def _numbers(self, column: pd.Series[Any], *, name: str) -> NDArray[np.float64]:
        if self.levels is None:
            if column.dtype == bool:
                raise FrameError(f"{name} holds truth values; use an estimator of categories, or name levels")
            try:
                return float_vector(column, name=name)
            except InputError as error:
                raise FrameError(f"{error}, or name the levels of an ordinal scale") from None
        place = place_in(self.levels, pd.Index(column))
        if (place < 0).any():
            raise FrameError(
                f"{name} is outside levels={self.levels.tolist()} in {first_rows(place < 0, column.to_numpy())}; "
                "correct these rows or extend levels"
            )
        return place.astype(float)

    def _known(self, gold: Any, tasks: pd.Index[Any]) -> tuple[NDArray[np.float64], int]:
        known = np.full(len(tasks), np.nan)
        if gold is None:
            return known, 0
        table = gold_table(gold)
        require_gold_kind(table, tasks)
        place = place_in(tasks, pd.Index(table.index))
        known[place[place >= 0]] = self._numbers(table[place >= 0], name="gold.label") if (place >= 0).any() else []
        return known, len(table)

    def _publish(self, fit: NumericFit, numbers: Numbers, tasks: pd.Index[Any], workers: pd.Index[Any]) -> None:
        se = np.sqrt(fit.variance)
        count = np.bincount(numbers.task, minlength=len(tasks))
        reach = 1.959964 * se
        columns = {"value": fit.mean, "se": se, "low": fit.mean - reach, "high": fit.mean + reach, "n_answers": count}
        self.values_ = pd.DataFrame(columns, index=tasks)
        self.workers_ = pd.DataFrame(
            {
                "worker": workers,
                "n_answers": np.bincount(numbers.worker, minlength=len(workers)),
                "bias": fit.bias,
                "bias_se": np.sqrt(fit.bias_variance),
                "sd": np.sqrt(fit.noise),
                "reliability": fit.spread / (fit.spread + fit.noise),
            }
        )
        unknown = np.isnan(numbers.gold)
        self.prmse_ = float(1 - fit.variance[unknown].mean() / fit.spread) if unknown.any() else 1.0
        self.prmse_single_ = float((fit.spread / (fit.spread + fit.noise[numbers.worker])).mean())
        self.loss_history_, self.n_iter_, self.converged_ = list(fit.history), len(fit.history), fit.converged
        if self.levels is None:
            self.labels_ = self.values_["value"].rename("label")
            return
        self.probabilities_ = pd.DataFrame(_levels(fit.mean, se, len(self.levels)), index=tasks, columns=self.levels)
        nearest = np.clip(np.floor(fit.mean + 0.5), 0, len(self.levels) - 1).astype(np.intp)
        chosen = self.levels.take(nearest)
        self.labels_ = pd.Series(chosen.to_numpy(), index=tasks, name="label", dtype=chosen.dtype)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the result rests on, one sentence each."""
        scale = () if self.levels is None else ("Neighbouring levels are equally far apart.",)
        return (
            "An answer is the value plus the worker's bias plus normal noise of the worker's variance, independently.",
            "Biases are 0 on average over the workers: a bias that all share cannot be seen without gold.",
            *scale,
        )


def _levels(mean: NDArray[np.float64], se: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Return the normal probability between the midpoints of levels 0 to n - 1."""
    from scipy.stats import norm

    cuts = np.arange(n - 1) + 0.5
    scale = np.maximum(se, 1e-9)[:, None]
    below = np.concatenate(
        (np.zeros((len(mean), 1)), norm.cdf((cuts - mean[:, None]) / scale), np.ones((len(mean), 1))), axis=1
    )
    result: NDArray[np.float64] = np.diff(below, axis=1)
    return result
