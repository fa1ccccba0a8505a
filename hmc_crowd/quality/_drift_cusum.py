"""How soon is a fall noticed, at which rate of false alarms?

A CUSUM adds up, answer by answer, how much better a fall explains what is seen (the logarithm of the likelihood ratio),
never below zero, and rings at a threshold. Among all rules with the same mean time between false alarms none notices
the worst-placed fall sooner, if the two levels are known. The scores are rounded to whole units, so its run length is
a finite Markov chain: thresholds, false alarms and delays are computed exactly, not simulated.

Source: Page (1954), "Continuous Inspection Schemes"; Moustakides (1986), "Optimal Stopping Times for Detecting Changes
in Distributions"; Brook and Evans (1972) for the chain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Cusum", "Levels", "RunLength", "agreement_levels"]

# Units in one nat: a score is off by at most a hundredth, and a threshold of 8 nats is a chain of 400 states.
UNITS = 50


@dataclass(frozen=True)
class Levels:
    """How often answers of one kind are right before and after the change that is looked for.

    Parameters
    ----------
    before, after : float
        In (0, 1), ``after`` below ``before``.
    share : float, default 1
        How much of a worker's watched answers is of this kind, relative to the other kinds.
    """

    before: float
    after: float
    share: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.after < self.before < 1:
            raise InputError(
                f"levels are {self.before!r} before and {self.after!r} after; give 0 < after < before < 1: a fall"
            )
        if not 0 < self.share < math.inf:
            raise InputError(f"share is {self.share!r}; give a positive number")

    @property
    def scores(self) -> tuple[int, int]:
        """Whole units that a right and a wrong answer add."""
        right = round(UNITS * math.log(self.after / self.before))
        wrong = round(UNITS * math.log((1 - self.after) / (1 - self.before)))
        return min(right, -1), max(wrong, 1)


def agreement_levels(levels: Levels, *, others: float, n_labels: int, share: float) -> Levels:
    """Return how often a worker agrees with the others' consensus where he is right as often as ``levels`` say.

    Parameters
    ----------
    levels : Levels
        Of his accuracy.
    others : float
        How often the consensus of the other workers is right, in (1 / n_labels, 1].
    n_labels : int
        Labels that may be given; wrong answers are taken to spread evenly.
    share : float
        Such answers for each answer to gold.

    Examples
    --------
    Of two labels, he agrees when both are right or both are wrong, .9 * .9 + .1 * .1 = .82:

    >>> agreement_levels(Levels(0.9, 0.6), others=0.9, n_labels=2, share=10)
    Levels(before=0.82, after=0.58, share=10)
    """
    if n_labels < 2 or not 1 / n_labels < others <= 1:
        raise InputError(f"others is {others!r} for {n_labels} labels; give a consensus that is better than guessing")
    both_wrong = (1 - others) / (n_labels - 1)
    before, after = (round(others * p + both_wrong * (1 - p), 12) for p in (levels.before, levels.after))
    return Levels(before, after, share)


@dataclass(frozen=True)
class RunLength:
    """Answers to the alarm: ``mean``, ``median``, and ``p90``."""

    mean: float
    median: int
    p90: int

    def __str__(self) -> str:
        return f"mean {self.mean:.1f}, median {self.median}, 9 of 10 within {self.p90} answers"


class Cusum:
    """A CUSUM of known levels, for one or several kinds of answers together.

    Parameters
    ----------
    *levels : Levels
        One for each kind (stream) of answers: gold, agreement with the others.
    between_alarms : float
        Mean number of a steady worker's answers from one false alarm to the next, above 1; see `answers_between`.

    Attributes
    ----------
    threshold : int
        The smallest that keeps this, in units of 1/50 nat.

    Examples
    --------
    >>> cusum = Cusum(Levels(0.9, 0.6), between_alarms=2000)
    >>> bool(cusum.false_alarms().mean >= 2000), cusum.threshold
    (True, 275)
    >>> print(cusum.delay())
    mean 16.0, median 14, 9 of 10 within 29 answers
    """

    def __init__(self, *levels: Levels, between_alarms: float) -> None:
        if not levels:
            raise InputError("levels is empty; give one Levels for each kind of answers, for example Levels(0.9, 0.6)")
        if not 1 < between_alarms < 1e9:
            raise InputError(f"between_alarms is {between_alarms!r}; give a number of answers above 1, such as 2000")
        self.levels = levels
        self.between_alarms = between_alarms
        scores, _, after = self._steps
        if float(scores @ after) <= 0:
            raise InputError(
                f"levels {levels} are too alike to be told apart in steps of 1/50 nat; look for a larger fall"
            )
        # The likelihood ratio's own bound, e ** threshold answers, nearly always suffices at once.
        low, high = 0, math.ceil(UNITS * math.log(between_alarms))
        while self._mean(high) < between_alarms:
            low, high = high, high + UNITS
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._mean(middle) < between_alarms else (low, middle)
        self.threshold = high

    def step(self, statistic: int, *, right: bool, stream: int = 0) -> int:
        """Return the statistic after one more answer; the alarm is at or above `threshold`."""
        return max(0, statistic + self.levels[stream].scores[0 if right else 1])

    @cached_property
    def _steps(self) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
        """Return every possible score with its probability before and after the change."""
        shares = np.array([each.share for each in self.levels]) / sum(each.share for each in self.levels)
        scores: list[int] = []
        before: list[float] = []
        after: list[float] = []
        for each, share in zip(self.levels, shares, strict=True):
            scores += each.scores
            before += [share * each.before, share * (1 - each.before)]
            after += [share * each.after, share * (1 - each.after)]
        return np.array(scores), np.array(before), np.array(after)

    def _chain(self, threshold: int, *, changed: bool) -> Any:
        """Return the chain's transitions among the states below the threshold, sparse."""
        from scipy.sparse import csc_array

        scores, before, after = self._steps
        state = np.arange(threshold)
        goal = np.maximum(state[:, None] + scores, 0)
        chance = np.broadcast_to(after if changed else before, goal.shape)
        stays = goal < threshold
        source = np.broadcast_to(state[:, None], goal.shape)[stays]
        return csc_array((chance[stays], (source, goal[stays])), shape=(threshold, threshold))

    def _mean(self, threshold: int) -> float:
        return float(_means(self._chain(threshold, changed=False))[0])

    def false_alarms(self) -> RunLength:
        """Return the run length of a worker who does not change."""
        return self._run(self._chain(self.threshold, changed=False), self._start(0))

    def delay(self, *, settled: int = 200) -> RunLength:
        """Return the answers from the change to the alarm.

        Parameters
        ----------
        settled : int, default 200
            Steady answers before the change without an alarm; 0 is the worst case, a statistic at zero.
        """
        return self._run(self._chain(self.threshold, changed=True), self._start(settled))

    def _start(self, settled: int) -> NDArray[np.float64]:
        place = np.zeros(self.threshold)
        place[0] = 1.0
        chain = self._chain(self.threshold, changed=False)
        for _ in range(settled):
            place = place @ chain
            place /= place.sum()
        return place

    def _run(self, chain: Any, start: NDArray[np.float64]) -> RunLength:
        mean = float(start @ _means(chain))
        # Long runs are geometric: the chain is followed while that is quick, and its decay carried on from there.
        place, left, quantiles = start, 1.0, {0.5: 0, 0.1: 0}
        for answer in range(1, 2001):
            before, place = left, place @ chain
            left = float(place.sum())
            for tail in quantiles:
                if not quantiles[tail] and left <= tail:
                    quantiles[tail] = answer
            if all(quantiles.values()):
                break
        for tail in quantiles:
            if not quantiles[tail]:
                quantiles[tail] = 2000 + math.ceil(math.log(tail / left) / math.log(left / before))
        return RunLength(mean, quantiles[0.5], quantiles[0.1])


def _means(chain: Any) -> NDArray[np.float64]:
    """Return the mean number of answers to the alarm from each state."""
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import spsolve

    size = chain.shape[0]
    return np.asarray(spsolve((eye_array(size, format="csc") - chain).tocsc(), np.ones(size)), dtype=np.float64)
