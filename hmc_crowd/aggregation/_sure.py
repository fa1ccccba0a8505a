"""Which labels are sure enough that nobody need be asked again, and what did stopping early cost?

A label is sure when the calibrated probability that it is wrong is at most ``error``. Posteriors of Dawid-Skene, fitted
without the gold, are calibrated on the looks that are taken at gold items: after each answer from the first at which
asking may stop. With too little gold nothing is sure, and it is said why.

Guarantee: of a single item, none; the share of wrong labels among sure ones stays near or below ``error`` where gold
is like the other items (simulated in the tests). What it came to is replayed: on gold, with folds kept apart
(`SureLabels.replay_gold`), and on items that got all their answers whatever the first ones were (`SureLabels.replay`);
`EarlyStops.wrong_at_most` bounds it exactly. `certify_stopping` sets a bound beforehand, for far more gold.

Source: vector scaling (see `_calibrate`); exact binomial bounds (Clopper and Pearson 1934).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.aggregation._calibrate import LEAST_GOLD, Calibration, calibration_of
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

__all__ = ["EarlyStops", "SureLabels", "sure_labels"]

_FOLDS = 5


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
    error : float
        A label is sure at a confidence of 1 - ``error``.
    min_answers, max_answers : int
        The looks at which asking may stop.
    n_gold : int
        Gold items with enough answers.
    why_none : str
        Why nothing can be sure; empty where something can.
    """

    frame: pd.DataFrame
    error: float
    min_answers: int
    max_answers: int
    n_gold: int
    why_none: str
    calibration: Calibration | None
    _coded: CodedAnswers = field(repr=False)
    _posterior: NDArray[np.float64] = field(repr=False)

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
        return self._stops(at, full, [(self.calibration, np.ones(len(at), dtype=bool))])

    def replay_gold(self) -> EarlyStops:
        """Say how often gold would have stopped at a wrong label, each fifth under a calibration of the others."""
        at = np.flatnonzero((self._coded.gold >= 0) & (self._coded.n_answers >= self.min_answers))
        fold = np.arange(len(at)) % _FOLDS
        parts: list[tuple[Calibration | None, NDArray[np.bool_]]] = []
        for one in range(_FOLDS):
            rest = at[fold != one]
            enough = self.calibration is not None and len(rest) > 0
            found = _calibration(self._coded, self._posterior, rest, self._range, n_gold=len(at)) if enough else None
            parts.append((found, fold == one))
        return self._stops(at, self._coded.gold[at], parts)

    @property
    def _range(self) -> tuple[int, int]:
        return self.min_answers, self.max_answers

    def _stops(
        self,
        at: NDArray[np.intp],
        right: NDArray[Any],
        parts: list[tuple[Calibration | None, NDArray[np.bool_]]],
    ) -> EarlyStops:
        """Replay the looks at these tasks, each part under its own calibration."""
        stopped = wrong = asked = 0
        for calibration, chosen in parts:
            if calibration is None:
                asked += int(np.minimum(self._coded.n_answers[at[chosen]], self.max_answers).sum())
                continue
            sure = _calibrated(self._coded, self._posterior, calibration)
            for task, truth in zip(at[chosen].tolist(), right[chosen].tolist(), strict=True):
                begin = int(self._coded.starts[task])
                end = min(int(self._coded.starts[task + 1]), begin + self.max_answers)
                looks = sure[begin + self.min_answers - 1 : end]
                passed = np.flatnonzero(looks.max(axis=1) >= 1 - self.error)
                asked += self.min_answers + int(passed[0]) if len(passed) else end - begin
                if len(passed):
                    stopped += 1
                    wrong += int(looks[passed[0]].argmax() != truth)
        return EarlyStops(len(at), stopped, wrong, asked / max(len(at), 1))


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
        of n leave a doubt of about 1 / (n + 2), so that .01 of two labels takes 49.
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
    why = _why_none(coded, known, error)
    calibration = None if why else _calibration(coded, posterior, known, (low, high), n_gold=len(known))
    last = posterior[np.asarray(coded.starts[1:], dtype=np.int64) - 1]
    confidence = _calibrated(coded, last, calibration)
    best = confidence.argmax(axis=1)
    top = confidence.max(axis=1) if calibration is not None else np.full(len(confidence), np.nan)
    frame = pd.DataFrame(
        {
            "label": coded.labels.take(best),
            "confidence": top,
            "n_answers": coded.n_answers,
            "is_sure": (coded.n_answers >= low) & (top >= 1 - error),
        },
        index=coded.tasks.rename("task"),
    )
    return SureLabels(frame, error, low, high, len(known), why, calibration, coded, posterior)


def _why_none(coded: CodedAnswers, known: NDArray[np.intp], error: float) -> str:
    """Say why no label can be sure, if none can."""
    if len(coded.labels) < 2:
        return "there is one label only, so answers cannot tell right from wrong"
    # Shrinking moves the doubt over all labels, the best one included.
    doubt = (1 - 1 / len(coded.labels)) / (len(known) + 2)
    if len(known) >= LEAST_GOLD and doubt < error:
        return ""
    needed = max(LEAST_GOLD, int(np.floor((1 - 1 / len(coded.labels)) / error)) - 1)
    return (
        f"{len(known):,} gold items have enough answers, and {needed:,} are needed before a label can be called "
        f"sure at an error of {error:g}"
    )


def _calibration(
    coded: CodedAnswers,
    posterior: NDArray[np.float64],
    known: NDArray[np.intp],
    looks: tuple[int, int],
    *,
    n_gold: int,
) -> Calibration:
    """Calibrate the looks at which asking may stop; those at one item weigh as much as one item together."""
    turn = np.arange(len(coded.task)) - np.asarray(coded.starts, dtype=np.int64)[coded.task] + 1
    chosen = np.isin(coded.task, known) & (turn >= looks[0]) & (turn <= looks[1])
    task = coded.task[chosen]
    taken = np.minimum(coded.n_answers[task], looks[1]) - looks[0] + 1
    frame = pd.DataFrame(posterior[chosen], columns=coded.labels)
    return calibration_of(frame, coded.gold[task], 1.0 / taken, n_gold=n_gold)


def _calibrated(
    coded: CodedAnswers, posterior: NDArray[np.float64], calibration: Calibration | None
) -> NDArray[np.float64]:
    if calibration is None:
        return posterior
    values: NDArray[np.float64] = calibration.apply(
        pd.DataFrame(posterior, columns=coded.labels)
    ).probabilities.to_numpy()
    return values
