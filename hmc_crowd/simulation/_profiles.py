"""Who is a simulated worker? His errors, his speed, and his habits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["WorkerProfile"]

_POSITIVE = ("speed",)
_NOT_NEGATIVE = (
    "setup_s",
    "seconds_per_item",
    "seconds_per_word",
    "noise",
    "idle_mean_s",
    "pause_mean_s",
    "activity",
)
_PROBABILITIES = ("return_probability", "expire_probability", "drop_out", "idle_probability")
_FINITE = ("accuracy_drift", "speed_drift")


@dataclass(frozen=True)
class WorkerProfile:
    """One worker's errors, speed and habits.

    Parameters
    ----------
    worker : str
        Identifier.
    confusion : mapping of str to mapping of str to float
        True label -> probability of each answer; every row sums to 1.
    speed : float, default 1
        Times are divided by it: 2 works twice as fast.
    setup_s : float, default 15
        Seconds to get into a group (read its dialogue), once per group and HIT.
    seconds_per_item, seconds_per_word : float, default 4 and 0.25
        Marginal seconds of a question where the crowd knows no time of its own for the item; 0.25 s a word is 240
        words a minute, the reading speed of most adults.
    noise : float, default 0.35
        Standard deviation of the logarithm of a time around its expectation; the noise has mean 1.
    accuracy_drift : float, default 0
        Change of the probability of a right answer per 100 answers given; negative tires.
    speed_drift : float, default 0
        Change of the logarithm of the speed per 100 answers given; positive learns.
    return_probability, expire_probability : float, default 0
        Per HIT: he gives it back, or walks away, part of the way through.
    drop_out : float, default 0
        Probability after each HIT that he never comes back.
    idle_probability, idle_mean_s : float, default 0 and 300
        Per question: he leaves the page, for an exponential time of this mean.
    pause_mean_s : float, default 60
        Mean of the exponential pause before he accepts a HIT.
    activity : float, default 1
        How often he comes, relative to the others; 0 never.

    Raises
    ------
    InputError
        A value is out of its range or a row of the confusion does not sum to 1.

    Examples
    --------
    >>> careful = WorkerProfile("ann", {"yes": {"yes": 0.9, "no": 0.1}, "no": {"no": 1.0}})
    >>> careful.probability_right("yes")
    0.9
    """

    worker: str
    confusion: Mapping[str, Mapping[str, float]]
    speed: float = 1.0
    setup_s: float = 15.0
    seconds_per_item: float = 4.0
    seconds_per_word: float = 0.25
    noise: float = 0.35
    accuracy_drift: float = 0.0
    speed_drift: float = 0.0
    return_probability: float = 0.0
    expire_probability: float = 0.0
    drop_out: float = 0.0
    idle_probability: float = 0.0
    idle_mean_s: float = 300.0
    pause_mean_s: float = 60.0
    activity: float = 1.0

    def __post_init__(self) -> None:
        for names, is_right, allowed in (
            (_POSITIVE, lambda value: value > 0, "above 0"),
            (_NOT_NEGATIVE, lambda value: value >= 0, "0 or more"),
            (_PROBABILITIES, lambda value: 0 <= value <= 1, "between 0 and 1"),
            (_FINITE, lambda _: True, "finite"),
        ):
            for name in names:
                value = getattr(self, name)
                if not (math.isfinite(value) and is_right(value)):
                    raise InputError(f"{name} of worker {self.worker!r} is {value}; it must be {allowed}")
        if self.return_probability + self.expire_probability > 1:
            raise InputError(f"return_probability and expire_probability of worker {self.worker!r} exceed 1 together")
        if not self.confusion:
            raise InputError(f"confusion of worker {self.worker!r} is empty; give one row for each true label")
        for truth, row in self.confusion.items():
            total = math.fsum(row.values())
            if min(row.values(), default=-1.0) < 0 or not math.isclose(total, 1.0, abs_tol=1e-6):
                raise InputError(
                    f"confusion of worker {self.worker!r} for true label {truth!r} is {dict(row)}; "
                    "give probabilities that sum to 1"
                )

    def probability_right(self, truth: str, *, answered: int = 0) -> float:
        """Return the probability of a right answer after ``answered`` answers, drift included, inside [0, 1]."""
        start = self.confusion[truth].get(truth, 0.0)
        return min(1.0, max(0.0, start + self.accuracy_drift * answered / 100))

    def speed_after(self, answered: int) -> float:
        """Return the speed after ``answered`` answers, drift included."""
        return self.speed * math.exp(self.speed_drift * answered / 100)
