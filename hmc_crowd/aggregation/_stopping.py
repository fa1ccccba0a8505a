"""How many answers does this item need?

As many as it takes until a calibrated probability passes a threshold, and no more. `certify_stopping` replays gold
items answer by answer: one half of the gold calibrates the posteriors of the early looks, the other half measures how
often a stopped item is wrong, for each of a few thresholds; the cheapest threshold whose error is bounded is taken.

Guarantee: with probability ``level`` over the gold, at most ``max_error`` of the items that the rule stops have a wrong
label. It holds however wrong the model is, for items, workers and an order of answers like those of the gold. Items
that never pass the threshold go to an expert and are not in the bound. Looking after each answer costs nothing: the
looks are replayed as they will happen. A posterior that is not calibrated is refused.

Source: exact binomial bounds (Clopper and Pearson 1934), shared out over the thresholds (Bonferroni), as in
Angelopoulos et al. (2021), "Learn then Test".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.aggregation._calibrate import CalibratedPosterior, Calibration, calibration_of
from hmc_crowd.aggregation._codes import encode
from hmc_crowd.aggregation._dawid_skene import DawidSkene
from hmc_crowd.aggregation._names import coded as place_in
from hmc_crowd.aggregation._vote_base import require_whole
from hmc_crowd.errors import InputError, ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hmc_crowd.aggregation._codes import CodedAnswers, Repeats

__all__ = ["StoppingRule", "certify_stopping"]

THRESHOLDS = (0.8, 0.85, 0.9, 0.925, 0.95, 0.97, 0.98, 0.99)


@dataclass(frozen=True)
class StoppingRule:
    """When to stop asking about an item.

    Parameters
    ----------
    threshold : float
        Stop when the calibrated probability of the best label is at least this.
    max_answers : int
        Give an item that has so many answers, and no sure label, to an expert.
    min_answers : int
        Never stop before.
    calibration : Calibration
        What makes probabilities of posteriors; fitted on early looks.
    max_error, level : float
        With probability ``level``, at most ``max_error`` of the stopped items are wrong.
    bound, error : float
        The bound reached, and the error seen, on the certifying gold.
    n_stopped, n_certified : int
        Certifying gold items that stopped, and all of them.
    mean_answers : float
        Answers per item under the rule.
    """

    threshold: float
    max_answers: int
    min_answers: int
    calibration: Calibration
    max_error: float
    level: float
    bound: float
    error: float
    n_stopped: int
    n_certified: int
    mean_answers: float
    assumptions: tuple[str, ...] = (
        "Items, workers and the order of answers are like those of the gold; gold labels are right.",
        "Items that never pass the threshold go to an expert: the bound is about stopped items.",
    )

    def decide(self, posterior: CalibratedPosterior, n_answers: pd.Series[Any]) -> pd.Series[Any]:
        """Return "stop", "ask" or "expert" for each task.

        Raises
        ------
        InputError
            ``posterior`` is not calibrated, or calibrated otherwise than the rule, or ``n_answers`` misses a task.
        """
        if not isinstance(posterior, CalibratedPosterior):
            raise InputError(
                f"posterior is a {type(posterior).__name__}, which is not calibrated: stopping on it would stop too "
                "early; pass rule.calibration.apply(model)"
            )
        if posterior.calibration != self.calibration:
            raise InputError("posterior went through another calibration; pass rule.calibration.apply(model)")
        if not isinstance(n_answers, pd.Series):
            raise InputError(f"n_answers is a {type(n_answers).__name__}; give a Series by task, such as n_answers_")
        confidence = posterior.confidence
        place = place_in(pd.Index(n_answers.index), pd.Index(confidence.index))
        if (place < 0).any():
            first = confidence.index[place < 0][0]
            raise InputError(f"n_answers has no row for task {first!r}; give the answers of every task")
        count = n_answers.to_numpy()[place]
        action = np.full(len(count), "ask", dtype=object)
        action[count >= self.max_answers] = "expert"
        action[(confidence.to_numpy() >= self.threshold) & (count >= self.min_answers)] = "stop"
        return pd.Series(action, index=confidence.index, name="action")

    def __str__(self) -> str:
        return (
            f"stop at {self.threshold:g}, at most {self.max_answers} answers: error of stopped items at most "
            f"{self.bound:.3f} (level {self.level:g}), {self.mean_answers:.2f} answers an item, "
            f"{self.n_stopped} of {self.n_certified} gold items stopped"
        )


def certify_stopping(
    answers: pd.DataFrame,
    gold: Any,
    *,
    max_error: float,
    rng: np.random.Generator,
    level: float = 0.95,
    max_answers: int | None = None,
    min_answers: int = 1,
    thresholds: Sequence[float] = THRESHOLDS,
    model: DawidSkene | None = None,
    labels: Any = None,
    repeats: Repeats = "latest",
) -> StoppingRule:
    """Find the cheapest threshold whose error is bounded.

    Parameters
    ----------
    answers : pandas.DataFrame
        Columns ``task, worker, label`` and optionally ``submitted``, which then orders the answers of an item; without
        it the order is drawn.
    gold : pandas.DataFrame, pandas.Series or mapping
        Known labels, blind to any model; a random half calibrates, the other certifies.
    max_error : float
        Share of stopped items that may be wrong, in (0, 1).
    rng : numpy.random.Generator
        Splits the gold and orders answers without times.
    level : float, default 0.95
    max_answers : int, optional
        Most answers to an item; default the most that a gold item has.
    min_answers : int, default 1
    thresholds : sequence of float
        Tried together; fewer make a sharper bound.
    model : DawidSkene, optional
        Fitted on these workers without the gold; default fitted here on ``answers``.

    Raises
    ------
    ModelError
        No threshold can be certified; the message says what was reached.
    InputError
        Values out of range.
    """
    if not 0 < max_error < 1 or not 0 < level < 1:
        raise InputError(f"max_error is {max_error!r} and level {level!r}; both lie between 0 and 1")
    if len(thresholds) == 0 or not all(0 < one < 1 for one in thresholds):
        raise InputError(f"thresholds is {thresholds!r}; give numbers between 0 and 1")
    if not isinstance(rng, np.random.Generator):
        raise InputError(f"rng is a {type(rng).__name__}; give a numpy.random.Generator, such as default_rng(0)")
    coded = encode(answers, gold, labels=labels, repeats=repeats)
    fitted = DawidSkene(repeats=repeats).fit(answers, labels=coded.labels) if model is None else model
    looks = _looks(coded, fitted, _order(coded, answers, rng))
    known = np.flatnonzero(coded.gold >= 0)
    half = rng.permutation(known)
    early, late = half[: len(half) // 2], half[len(half) // 2 :]
    if len(early) == 0:
        raise ModelError(f"gold has {len(known)} answered items; at least 40 are needed to calibrate and certify")
    calibration = _calibration(looks, coded, early)
    most = int(coded.n_answers[known].max()) if max_answers is None else require_whole(max_answers, name="max_answers")
    confidence, right = _confidence(looks, coded, calibration)
    grid = sorted(thresholds)
    found = [
        _replayed(confidence, right, coded.starts, late, threshold=one, low=min_answers, high=most) for one in grid
    ]
    bounds = [_upper(wrong, stopped, 1 - (1 - level) / len(grid)) for stopped, wrong, _ in found]
    good = [place for place, bound in enumerate(bounds) if bound <= max_error]
    if not good:
        place = int(np.argmin(bounds))
        raise ModelError(
            f"no threshold bounds the error of stopped items by {max_error:g} at level {level:g}: the best, "
            f"{grid[place]:g}, reaches {bounds[place]:.3f} with {found[place][0]} stopped items of {len(late)}; "
            "collect more gold, or allow a larger max_error"
        )
    place = min(good, key=lambda one: (found[one][2], one))
    stopped, wrong, mean = found[place]
    return StoppingRule(
        threshold=float(grid[place]),
        max_answers=most,
        min_answers=require_whole(min_answers, name="min_answers"),
        calibration=calibration,
        max_error=max_error,
        level=level,
        bound=bounds[place],
        error=wrong / stopped,
        n_stopped=stopped,
        n_certified=len(late),
        mean_answers=mean,
    )


def _order(coded: CodedAnswers, answers: pd.DataFrame, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the coded answers, task by task, in the order they came, or in a drawn one."""
    rank = rng.random(len(coded.cell))
    if "submitted" in answers.columns:
        times = pd.to_datetime(
            answers["submitted"], utc=True, format="ISO8601" if answers["submitted"].dtype == object else None
        )
        key = [place_in(coded.tasks, pd.Index(answers["task"])), place_in(coded.workers, pd.Index(answers["worker"]))]
        pair = key[0] * len(coded.workers) + key[1]
        moments = times.dt.tz_convert(None).to_numpy().astype("datetime64[ns]").astype(np.int64)
        latest = pd.Series(moments).groupby(pair).max()
        asked = latest.reindex(coded.task * len(coded.workers) + coded.worker).to_numpy(dtype=float)
        return np.lexsort((rank, asked, coded.task))
    return np.lexsort((rank, coded.task))


def _looks(coded: CodedAnswers, model: DawidSkene, order: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the posterior after each answer of each task, shape (n_answers, K), in ``order``."""
    k = len(coded.labels)
    place = place_in(model.skills_.index, coded.workers)
    columns = place_in(model.priors_.index, coded.labels)
    if (columns < 0).any() or len(columns) != len(model.priors_):
        raise InputError("model was fitted on other labels than the answers have; pass the same labels to both")
    errors = model.errors_.to_numpy().reshape(-1, k, k)[:, columns][:, :, columns]
    errors = np.where((place >= 0)[:, None, None], errors[place], errors.mean(axis=0))
    share = model.priors_.to_numpy()[columns]
    worker, label, task = coded.worker[order], coded.label[order], coded.task[order]
    step = np.log(np.maximum(errors[worker, label], 1e-300))
    total = np.cumsum(step, axis=0)
    first = np.asarray(coded.starts[:-1], dtype=np.int64)
    before = np.where((first > 0)[:, None], total[first - 1], 0.0)
    joint = total - before[task] + np.log(np.maximum(share, 1e-300))
    joint = np.exp(joint - joint.max(axis=1, keepdims=True))
    result: NDArray[np.float64] = joint / joint.sum(axis=1, keepdims=True)
    return result


def _calibration(looks: NDArray[np.float64], coded: CodedAnswers, early: NDArray[np.intp]) -> Calibration:
    """Calibrate all looks at some gold items; the looks at one item weigh as much as one item."""
    chosen = np.isin(coded.task, early)
    task = coded.task[chosen]
    frame = pd.DataFrame(looks[chosen], columns=coded.labels)
    return calibration_of(frame, coded.gold[task], 1.0 / coded.n_answers[task], n_gold=len(early))


def _confidence(
    looks: NDArray[np.float64], coded: CodedAnswers, calibration: Calibration
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    values = calibration.apply(pd.DataFrame(looks, columns=coded.labels)).probabilities.to_numpy()
    return values.max(axis=1), values.argmax(axis=1) == coded.gold[coded.task]


def _replayed(
    confidence: NDArray[np.float64],
    right: NDArray[np.bool_],
    starts: NDArray[Any],
    items: NDArray[np.intp],
    *,
    threshold: float,
    low: int,
    high: int,
) -> tuple[int, int, float]:
    """Return how many items stop, how many of these are wrong, and the mean number of answers."""
    stopped = wrong = asked = 0
    for item in items.tolist():
        begin, end = int(starts[item]), min(int(starts[item + 1]), int(starts[item]) + high)
        sure = np.flatnonzero(confidence[begin + low - 1 : end] >= threshold)
        if len(sure):
            look = begin + low - 1 + int(sure[0])
            stopped += 1
            wrong += not right[look]
            asked += look - begin + 1
        else:
            asked += end - begin
    return stopped, int(wrong), asked / max(len(items), 1)


def _upper(wrong: int, n: int, level: float) -> float:
    """Return the exact upper bound of a share."""
    from scipy.stats import beta

    return 1.0 if wrong >= n else float(beta.ppf(level, wrong + 1, n - wrong))
