"""Which labels are sure enough that nobody need be asked again, and what did stopping early cost?

A label is sure when its calibrated probability passes a threshold. Posteriors of Dawid-Skene, fitted without the gold,
are calibrated on the looks that are taken at gold items: after each answer from the first at which asking may stop.
Then stopping is replayed on gold, each fifth under a calibration of the others; the lowest threshold from 1 - ``error``
up is taken at which no more than ``error`` of the stopped labels were wrong, by the rule of succession. Is there none,
or too little gold, nothing is sure, and it is said why.

Guarantee: of a single item, none; the share of wrong labels among sure ones stays near or below ``error`` where gold
is like the other items (simulated in the tests). `EarlyStops.wrong_at_most` bounds what was replayed: on gold, and on
items that got all their answers whatever the first ones were (`SureLabels.replay`), where it is exact.
`certify_stopping` sets such a bound beforehand, for far more gold.

Source: vector scaling (see `_calibrate`); exact binomial bounds (Clopper and Pearson 1934).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.aggregation._calibrate import LEAST_GOLD, Calibration, calibration_of
from hmc_crowd.aggregation._calibrate_core import fit_map
from hmc_crowd.aggregation._codes import encode
from hmc_crowd.aggregation._dawid_skene import DawidSkene
from hmc_crowd.aggregation._names import coded as place_in
from hmc_crowd.aggregation._stopping import _looks, _order, _upper
from hmc_crowd.aggregation._vote_base import require_whole
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from hmc_crowd.aggregation._codes import CodedAnswers

__all__ = ["EarlyStops", "SureLabels", "gold_needed", "sure_labels"]

_FOLDS = 5
# Thresholds that are tried, from the lowest: doubts of all, half and a quarter of the error.
_STRICTER = (1.0, 0.5, 0.25)


@dataclass(frozen=True)
class EarlyStops:
    """What the rule did to items whose right labels are known: how many stopped, and how many of these wrongly."""

    items: int
    stopped: int
    wrong: int
    mean_answers: float

    def wrong_at_most(self, level: float = 0.95) -> float:
        """Bound the share of stopped items that are wrong, exactly; 1 where none stopped.

        Examples
        --------
        >>> round(EarlyStops(items=80, stopped=59, wrong=0, mean_answers=2.4).wrong_at_most(), 4)
        0.0495
        """
        return _upper(self.wrong, self.stopped, level)


@dataclass(frozen=True)
class SureLabels:
    """Which labels are sure.

    Parameters
    ----------
    frame : pandas.DataFrame
        By task: ``label, confidence, n_answers, is_sure``; confidences are calibrated, NaN where they could not be.
    threshold : float or None
        A label is sure at this confidence; None where none can be.
    error : float
        What was asked for.
    min_answers, max_answers : int
        The looks at which asking may stop.
    n_gold : int
        Gold items with enough answers.
    on_gold : EarlyStops
        The rule replayed on these, each fifth under a calibration of the others.
    why_none : str
        Why nothing can be sure; empty where something can.
    """

    frame: pd.DataFrame
    threshold: float | None
    error: float
    min_answers: int
    max_answers: int
    n_gold: int
    on_gold: EarlyStops
    why_none: str
    calibration: Calibration | None
    _coded: CodedAnswers = field(repr=False)
    _posterior: NDArray[np.float64] = field(repr=False)

    def gold_wrong_at_most(self, level: float = 0.95) -> float:
        """Bound the share of stopped gold items that are wrong; the threshold was chosen among three, which is paid."""
        return self.on_gold.wrong_at_most(1 - (1 - level) / len(_STRICTER))

    def replay(self, tasks: Iterable[Any]) -> EarlyStops:
        """Say how often the label at which asking would have stopped is another than that of all answers.

        Parameters
        ----------
        tasks : iterable
            Items that got ``max_answers`` whatever the first of these were; others would be those that were hard.

        Raises
        ------
        InputError
            A task is unknown, or has too few answers.
        """
        at = place_in(self._coded.tasks, pd.Index(list(tasks)))
        if (at < 0).any() or (self._coded.n_answers[at] < self.max_answers).any():
            raise InputError(f"tasks names some with fewer than {self.max_answers} answers; give those that have all")
        full = self._posterior[self._coded.starts[at] + self.max_answers - 1].argmax(axis=1)
        sure = _calibrated(self._coded, self._posterior, self.calibration)
        looks = (self.min_answers, self.max_answers)
        return _replayed(self._coded, sure, at, full, looks, 2.0 if self.threshold is None else self.threshold)


def sure_labels(
    answers: pd.DataFrame,
    gold: Any,
    *,
    error: float,
    rng: np.random.Generator,
    min_answers: int = 2,
    max_answers: int = 5,
    labels: Any = None,
) -> SureLabels:
    """Say of each task whether its label is sure.

    Parameters
    ----------
    answers : pandas.DataFrame
        Columns ``task, worker, label`` and optionally ``submitted``, by which the looks at gold are ordered.
    gold : pandas.DataFrame, pandas.Series, mapping or None
        Known labels, blind to any model; their answers are among ``answers``.
    error : float
        Most chance of a wrong label, in (0, .5). It takes 20 gold items, and more where ``error`` is small: n right
        of n leave a doubt of 1 / (n + 2), so that .01 takes 98.
    rng : numpy.random.Generator
        Orders answers that have the same time, or none.
    min_answers, max_answers : int, default 2 and 5
        No label is sure before, and looks at gold stop there.
    labels : iterable, optional
        The whole label set, in label order.

    Raises
    ------
    InputError
        Values out of range.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 300)
    >>> who = np.stack([rng.choice(20, 3, replace=False) for _ in truth])
    >>> said = np.where(rng.random(who.shape) < 0.9, truth[:, None], 1 - truth[:, None])
    >>> answers = pd.DataFrame({"task": np.repeat(np.arange(300), 3), "worker": who.ravel(), "label": said.ravel()})
    >>> found = sure_labels(answers, pd.Series(truth[:80]), error=0.05, rng=rng)
    >>> found.why_none, bool(0.7 < found.frame["is_sure"].mean() < 1)
    ('', True)
    """
    if isinstance(error, bool) or not 0 < error < 0.5:
        raise InputError(
            f"error is {error!r}; give the chance of a wrong label at which asking may stop, above 0, below .5"
        )
    low = require_whole(min_answers, name="min_answers")
    high = require_whole(max_answers, name="max_answers")
    if not 1 <= low <= high:
        raise InputError(f"min_answers is {low} and max_answers {high}; give 1 or more, and at least as many at most")
    coded = encode(answers, gold, labels=labels)
    known = np.flatnonzero((coded.gold >= 0) & (coded.n_answers >= low))
    posterior = _looks(coded, DawidSkene().fit(answers, labels=coded.labels), _order(coded, answers, rng))
    looks = (low, high)
    stops, threshold = EarlyStops(len(known), 0, 0, 0.0), None
    why = _too_little(len(coded.labels), len(known), error)
    if not why:
        threshold, stops = _threshold(coded, posterior, known, looks, error)
        why = "" if threshold is not None else _too_wrong(stops, error)
    calibration = None if threshold is None else _calibration(coded, posterior, known, looks)
    last = posterior[np.asarray(coded.starts[1:], dtype=np.int64) - 1]
    confidence = _calibrated(coded, last, calibration)
    top = confidence.max(axis=1) if calibration is not None else np.full(len(confidence), np.nan)
    enough = coded.n_answers >= low
    frame = pd.DataFrame(
        {
            "label": coded.labels.take(confidence.argmax(axis=1)),
            "confidence": top,
            "n_answers": coded.n_answers,
            "is_sure": np.zeros(len(top), dtype=bool) if threshold is None else enough & (top >= threshold),
        },
        index=coded.tasks.rename("task"),
    )
    return SureLabels(frame, threshold, error, low, high, len(known), stops, why, calibration, coded, posterior)


def _too_little(labels: int, gold: int, error: float) -> str:
    """Say why no label can be sure, if there is no telling."""
    if labels < 2:
        return "there is one label only, so answers cannot tell right from wrong"
    needed = gold_needed(error)
    if gold >= needed:
        return ""
    return (
        f"{gold:,} gold items have enough answers, and {needed:,} are needed before a label can be called sure at an "
        f"error of {error:g}"
    )


def _too_wrong(stops: EarlyStops, error: float) -> str:
    return (
        f"of {stops.items:,} gold items {stops.stopped:,} could have stopped early, {stops.wrong:,} of them at a wrong "
        f"label: too few or too wrong for an error of {error:g}, so asking goes on"
    )


def gold_needed(error: float) -> int:
    """Return how many gold items it takes to call anything sure: n right of n leave a doubt of 1 / (n + 2)."""
    return max(LEAST_GOLD, math.ceil(round(1 / error, 9)) - 2)


def _threshold(
    coded: CodedAnswers, posterior: NDArray[np.float64], known: NDArray[np.intp], looks: tuple[int, int], error: float
) -> tuple[float | None, EarlyStops]:
    """Return the lowest threshold that kept the error on gold, or None; and what it did there."""
    sure = np.zeros_like(posterior)
    fold = np.zeros(len(coded.tasks), dtype=np.intp)
    fold[known] = np.arange(len(known)) % _FOLDS
    for one in range(_FOLDS):
        rows, weight = _rows(coded, known[fold[known] != one], looks)
        found = fit_map(posterior[rows], coded.gold[coded.task[rows]], weight)
        mine = np.isin(coded.task, known[fold[known] == one])
        sure[mine] = found(posterior[mine], n_gold=len(known))
    tried = []
    for stricter in _STRICTER:
        threshold = 1 - stricter * error
        tried.append(_replayed(coded, sure, known, coded.gold[known], looks, threshold))
        # A hair's breadth, so that 1 / 20 is no more than .05 in floating point.
        if (tried[-1].wrong + 1) / (tried[-1].stopped + 2) <= error * (1 + 1e-9):
            return threshold, tried[-1]
    return None, tried[0]


def _replayed(
    coded: CodedAnswers,
    sure: NDArray[np.float64],
    at: NDArray[np.intp],
    right: NDArray[Any],
    looks: tuple[int, int],
    threshold: float,
) -> EarlyStops:
    """Replay the looks at these tasks: the first that passes stops."""
    stopped = wrong = asked = 0
    for task, truth in zip(at.tolist(), right.tolist(), strict=True):
        begin = int(coded.starts[task])
        end = min(int(coded.starts[task + 1]), begin + looks[1])
        seen = sure[begin + looks[0] - 1 : end]
        passed = np.flatnonzero(seen.max(axis=1) >= threshold)
        asked += looks[0] + int(passed[0]) if len(passed) else end - begin
        if len(passed):
            stopped += 1
            wrong += int(seen[passed[0]].argmax() != truth)
    return EarlyStops(len(at), stopped, wrong, asked / max(len(at), 1))


def _rows(
    coded: CodedAnswers, known: NDArray[np.intp], looks: tuple[int, int]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the looks at which asking may stop at these tasks; those at one item weigh as much as one item."""
    turn = np.arange(len(coded.task)) - np.asarray(coded.starts, dtype=np.int64)[coded.task] + 1
    rows = np.flatnonzero(np.isin(coded.task, known) & (turn >= looks[0]) & (turn <= looks[1]))
    taken = np.minimum(coded.n_answers[coded.task[rows]], looks[1]) - looks[0] + 1
    return rows, 1.0 / taken


def _calibration(
    coded: CodedAnswers, posterior: NDArray[np.float64], known: NDArray[np.intp], looks: tuple[int, int]
) -> Calibration:
    rows, weight = _rows(coded, known, looks)
    frame = pd.DataFrame(posterior[rows], columns=coded.labels)
    return calibration_of(frame, coded.gold[coded.task[rows]], weight, n_gold=len(known))


def _calibrated(
    coded: CodedAnswers, posterior: NDArray[np.float64], calibration: Calibration | None
) -> NDArray[np.float64]:
    if calibration is None:
        return posterior
    found = calibration.apply(pd.DataFrame(posterior, columns=coded.labels))
    return np.asarray(found.probabilities, dtype=np.float64)
