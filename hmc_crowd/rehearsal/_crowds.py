"""Who answers in a rehearsal? Whole tables of answers at once, assumed or replayed.

`hmc_crowd.simulation` plays single HITs with every habit of a worker; a rehearsal needs a hundred thousand answers two
hundred times over, so it keeps what moves the figures: how often each worker is right, how fast he is, and how much
one answer differs from the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["AnswerSource", "Answers", "AssumedCrowd", "RecordedAnswers", "fit_assumed_crowd"]

NO_ANSWER = -1


class Answers(NamedTuple):
    """A table of answers, shape (n_items, redundancy): label code (-1: none), seconds, and worker."""

    label: NDArray[np.intp]
    seconds: NDArray[np.float64]
    worker: NDArray[np.intp]


class AnswerSource(Protocol):
    """Anything that can answer all items."""

    def answers(
        self, truth: NDArray[np.intp], seconds: NDArray[np.float64], redundancy: int, n_labels: int,
        rng: np.random.Generator,
    ) -> Answers:  # fmt: skip
        """Return `redundancy` answers to every item, by different workers."""
        ...


@dataclass(frozen=True, kw_only=True)
class AssumedCrowd:
    """People as one assumes them to be, or as a pilot showed them.

    Parameters
    ----------
    accuracy, spread : float, default 0.85 and 0.07
        Mean and standard deviation over workers of the chance of a right answer (beta distributed); errors fall on
        the other labels equally.
    workers : int, default 100
        How many take part.
    speed_spread, noise : float, default 0.3 and 0.35
        Standard deviations of the logarithm of a time: between workers, and between one worker's answers. The mean
        time is the item's expectation times `slowness`.
    slowness : float, default 1
        Mean time over expected time.

    Raises
    ------
    InputError
        A value is out of its range.

    Examples
    --------
    >>> crowd = AssumedCrowd(accuracy=1.0, spread=0.0)
    >>> truth = np.array([0, 1])
    >>> crowd.answers(truth, np.array([10.0, 10.0]), 3, 2, np.random.default_rng(0)).label.tolist()
    [[0, 0, 0], [1, 1, 1]]
    """

    accuracy: float = 0.85
    spread: float = 0.07
    workers: int = 100
    speed_spread: float = 0.3
    noise: float = 0.35
    slowness: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.accuracy <= 1:
            raise InputError(f"accuracy is {self.accuracy}; give a probability in [0, 1]")
        most = (self.accuracy * (1 - self.accuracy)) ** 0.5
        if not 0 <= self.spread < max(most, 1e-12):
            raise InputError(f"spread is {self.spread}; for accuracy {self.accuracy} give 0 or more, below {most:.3f}")
        if isinstance(self.workers, bool) or self.workers < 1:
            raise InputError(f"workers is {self.workers}; give at least one")
        if not (self.speed_spread >= 0 and self.noise >= 0 and self.slowness > 0):
            raise InputError("speed_spread and noise must be 0 or more, and slowness above 0; correct them")

    def answers(
        self, truth: NDArray[np.intp], seconds: NDArray[np.float64], redundancy: int, n_labels: int,
        rng: np.random.Generator,
    ) -> Answers:  # fmt: skip
        """Draw workers, their labels and times; no worker answers an item twice."""
        if redundancy > self.workers:
            raise InputError(f"redundancy is {redundancy} with {self.workers} workers; nobody answers an item twice")
        right = self._accuracies(rng)
        speed = rng.normal(0.0, self.speed_spread, self.workers) if self.speed_spread else np.zeros(self.workers)
        n = len(truth)
        worker = (rng.integers(0, self.workers, n)[:, None] + np.arange(redundancy)) % self.workers
        worker = rng.permutation(self.workers)[worker]
        label = np.broadcast_to(truth[:, None], worker.shape).copy()
        wrong = rng.random(worker.shape) >= right[worker]
        label[wrong] = (label[wrong] + rng.integers(1, n_labels, int(wrong.sum()))) % n_labels
        # The lognormal factors have mean 1: what is expected stays what is expected.
        log = speed[worker] + rng.normal(0.0, 1.0, worker.shape) * self.noise
        factor = np.exp(log - (self.speed_spread**2 + self.noise**2) / 2)
        return Answers(label, seconds[:, None] * self.slowness * factor, worker)

    def _accuracies(self, rng: np.random.Generator) -> NDArray[np.float64]:
        if self.spread == 0:
            return np.full(self.workers, self.accuracy)
        size = self.accuracy * (1 - self.accuracy) / self.spread**2 - 1
        return rng.beta(self.accuracy * size, (1 - self.accuracy) * size, self.workers)


class RecordedAnswers:
    """Answers on record, replayed: each time other ones of each item's are taken, never one twice.

    Parameters
    ----------
    item : array of int, shape (n_answers,)
        Row of the item that each answer is about.
    label : array of int, shape (n_answers,)
        Label code.
    seconds : array of float, shape (n_answers,)
        Time taken.
    worker : array of int, shape (n_answers,), optional
        Worker code.
    n_items : int
        How many items there are; those without a record get no answer.

    Examples
    --------
    >>> log = RecordedAnswers([0, 0, 1], [1, 1, 0], [9.0, 8.0, 7.0], n_items=2)
    >>> log.answers(np.array([1, 0]), np.ones(2), 2, 2, np.random.default_rng(0)).label.tolist()
    [[1, 1], [0, -1]]
    """

    def __init__(self, item: Any, label: Any, seconds: Any, worker: Any = None, *, n_items: int) -> None:
        self._item = np.asarray(item, dtype=np.intp)
        self._label = np.asarray(label, dtype=np.intp)
        self._seconds = np.asarray(seconds, dtype=np.float64)
        self._worker = np.zeros(len(self._item), dtype=np.intp) if worker is None else np.asarray(worker, np.intp)
        self._n = n_items
        if not len(self._item) == len(self._label) == len(self._seconds) == len(self._worker):
            raise FrameError("item, label, seconds and worker of the recorded answers differ in length; give one each")
        if len(self._item) and not 0 <= self._item.min() <= self._item.max() < n_items:
            raise FrameError(f"item names rows outside 0 to {n_items - 1}; give the row of the item of each answer")

    @property
    def fewest(self) -> int:
        """Answers of the item that has the fewest."""
        return int(np.bincount(self._item, minlength=self._n).min())

    def answers(
        self, truth: NDArray[np.intp], seconds: NDArray[np.float64], redundancy: int, n_labels: int,
        rng: np.random.Generator,
    ) -> Answers:  # fmt: skip
        """Take recorded answers at random; an item with too few has empty places (-1)."""
        del truth, seconds, n_labels
        order = np.lexsort((rng.random(len(self._item)), self._item))
        item = self._item[order]
        starts = np.searchsorted(item, item)
        place = np.arange(len(item)) - starts
        taken = place < redundancy
        shape = (self._n, redundancy)
        out = Answers(np.full(shape, NO_ANSWER, dtype=np.intp), np.zeros(shape), np.zeros(shape, dtype=np.intp))
        where = item[taken], place[taken]
        out.label[where] = self._label[order][taken]
        out.seconds[where] = self._seconds[order][taken]
        out.worker[where] = self._worker[order][taken]
        return out


def fit_assumed_crowd(answers: Any, *, workers: int | None = None, labels: Any = None) -> AssumedCrowd:
    """Fit people to a pilot's or an earlier campaign's answers.

    Parameters
    ----------
    answers : frame
        ``worker``, and what `hmc_crowd.simulation.fit_crowd` can use: ``label`` and ``truth``, or ``correct``; and, if
        known, ``seconds`` and ``expected_s``.
    workers : int, optional
        How many will take part; as many as answered when absent.
    labels : sequence of str, optional
        Needed with ``correct``.

    Returns
    -------
    AssumedCrowd
        Moments over the fitted workers.

    Raises
    ------
    FrameError, InputError
        As `hmc_crowd.simulation.fit_crowd`.

    Examples
    --------
    >>> import pandas as pd
    >>> log = pd.DataFrame({"worker": list("aabb"), "label": list("xyxx"), "truth": list("xyxy")})
    >>> round(fit_assumed_crowd(log).accuracy, 2)
    0.68
    """
    from hmc_crowd.simulation import fit_crowd

    profiles = fit_crowd(answers, labels=labels)
    weight = np.array([profile.activity for profile in profiles])
    right = np.array(
        [np.mean([profile.probability_right(truth) for truth in profile.confusion]) for profile in profiles]
    )
    speed = np.log([profile.speed for profile in profiles])
    accuracy = float(np.average(right, weights=weight))
    most = (accuracy * (1 - accuracy)) ** 0.5
    return AssumedCrowd(
        accuracy=accuracy,
        spread=min(float(np.sqrt(np.average((right - accuracy) ** 2, weights=weight))), 0.9 * most),
        workers=workers or len(profiles),
        speed_spread=float(speed.std()) if len(speed) > 1 else 0.0,
        noise=float(np.average([profile.noise for profile in profiles], weights=weight)),
        slowness=float(np.average(np.exp(-speed), weights=weight)),
    )
