"""What is the machine's error rate, if one looks again and again? Intervals that hold at every look at once.

An interval made for one look and consulted after every answer misses far more often than it says: sooner or later
chance carries it away. A confidence sequence is made for that: with a probability of at least `level` ALL its
intervals hold, so one may look, alarm or stop at any time.

`ErrorSequence` takes the rate as constant and bets on it (`_bets`): the narrowest. `DriftingErrorSequence` lets the
rate drift and covers the average of the rates so far, with an empirical Bernstein bound. Both keep a few hundred
numbers, whatever the traffic, and the parts of several processes can be merged.

Sources: Waudby-Smith, Ramdas (2024), "Estimating means of bounded random variables by betting"; Howard, Ramdas,
McAuliffe, Sekhon (2021), "Time-uniform, nonparametric, nonasymptotic confidence sequences", theorem 4.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from hmc_crowd._base.checks import float_vector
from hmc_crowd.errors import InputError
from hmc_crowd.routing._bets import THETA, largest_surviving, log_mix, log_stakes, log_wealth
from hmc_crowd.routing._checks import level_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

__all__ = ["DriftingErrorSequence", "ErrorSequence"]

# Losses are counted in so many steps, rounded up for the upper and down for the lower end; 0 and 1 stay exact.
_STEPS = 200
_PRECISION = 1e-6


class ErrorSequence:
    """Interval for a constant mean loss in [0, 1], valid at every look.

    Parameters
    ----------
    level : float, default 0.95
        Probability with which all intervals hold.

    Notes
    -----
    Values must be independent draws of the same law: one per audited item or, where items of a dialogue hang
    together, one per dialogue. Half of the error is spent on each end; a bound used alone has more than `level`.

    Examples
    --------
    >>> errors = ErrorSequence()
    >>> errors.add([0] * 194 + [1] * 6)
    >>> low, high = errors.interval
    >>> round(low, 3), round(high, 3)
    (0.004, 0.083)
    """

    kind = "betting"

    def __init__(self, *, level: float = 0.95) -> None:
        self.level = level_of(level)
        self._up = np.zeros(_STEPS + 1, dtype=np.int64)
        self._down = np.zeros(_STEPS + 1, dtype=np.int64)
        self._sum = 0.0

    def __len__(self) -> int:
        return int(self._up.sum())

    def __str__(self) -> str:
        low, high = self.interval
        return f"error rate {self.mean:.4f} in [{low:.4f}, {high:.4f}] ({100 * self.level:g}%, {len(self):,} values)"

    @property
    def mean(self) -> float:
        """Mean of the values so far; NaN before the first."""
        return self._sum / len(self) if len(self) else math.nan

    def add(self, losses: ArrayLike) -> None:
        """Take in further losses, each in [0, 1]."""
        values = float_vector(losses, name="losses", low=0.0, high=1.0, allow_empty=True)
        self._up += _histogram(np.ceil(values * _STEPS - 1e-9))
        self._down += _histogram(np.floor(values * _STEPS + 1e-9))
        self._sum += float(values.sum())

    def merge(self, other: Self) -> None:
        """Take in what another sequence saw, such as that of another process."""
        _same(self, other)
        self._up += other._up
        self._down += other._down
        self._sum += other._sum

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends; (0, 1) before the first value."""
        return self.lower, self.upper

    @property
    def upper(self) -> float:
        """The mean is at most this."""
        return _upper_end(self._up, 1.0 - self.level)

    @property
    def lower(self) -> float:
        """The mean is at least this."""
        return 1.0 - _upper_end(self._down[::-1], 1.0 - self.level)

    def to_dict(self) -> dict[str, Any]:
        """Return the state as plain values."""
        return {
            "kind": self.kind,
            "level": self.level,
            "sum": self._sum,
            "up": self._up.tolist(),
            "down": self._down.tolist(),
        }

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> Self:
        """Return the sequence that `to_dict` described."""
        new = cls(level=state["level"])
        new._up, new._down = np.array(state["up"], dtype=np.int64), np.array(state["down"], dtype=np.int64)
        new._sum = float(state["sum"])
        if new._up.shape != (_STEPS + 1,) or new._down.shape != (_STEPS + 1,):
            raise InputError(f"state holds {len(new._up)} counts where {_STEPS + 1} belong; give what to_dict returned")
        return new


class DriftingErrorSequence:
    """Interval for the average of all mean losses so far, which may drift; valid at every look.

    Parameters
    ----------
    level : float, default 0.95
        Probability with which all intervals hold.

    Notes
    -----
    Each value may have a mean of its own that depends on the past. Wider than `ErrorSequence`.

    Examples
    --------
    >>> errors = DriftingErrorSequence()
    >>> errors.add([0, 0, 0, 1] * 100)
    >>> round(errors.mean, 2), errors.lower < 0.25 < errors.upper
    (0.25, True)
    """

    kind = "empirical Bernstein"

    def __init__(self, *, level: float = 0.95) -> None:
        self.level = level_of(level)
        self._n, self._sum, self._spread = 0, 0.0, 0.0

    def __len__(self) -> int:
        return self._n

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"average error rate {self.mean:.4f} in [{low:.4f}, {high:.4f}] ({100 * self.level:g}%, {self._n:,} values)"
        )

    @property
    def mean(self) -> float:
        """Mean of the values so far; NaN before the first."""
        return self._sum / self._n if self._n else math.nan

    def add(self, losses: ArrayLike) -> None:
        """Take in further losses in their order, each in [0, 1]."""
        values = float_vector(losses, name="losses", low=0.0, high=1.0, allow_empty=True)
        if len(values) == 0:
            return
        # Each value is compared with what could be expected before it: half a value of 1 stands for no knowledge.
        before = self._sum + np.concatenate(([0.0], np.cumsum(values)[:-1]))
        expected = (before + 0.5) / (self._n + np.arange(len(values)) + 1.0)
        self._spread += float(((values - np.minimum(expected, 1.0)) ** 2).sum())
        self._sum += float(values.sum())
        self._n += len(values)

    def merge(self, other: Self) -> None:
        """Take in what another sequence saw, such as that of another process."""
        _same(self, other)
        self._n, self._sum, self._spread = (
            self._n + other._n,
            self._sum + other._sum,
            self._spread + other._spread,
        )

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends; (0, 1) before the first value."""
        half = self._half()
        return (max(0.0, self.mean - half), min(1.0, self.mean + half)) if self._n else (0.0, 1.0)

    @property
    def upper(self) -> float:
        """The average is at most this."""
        return self.interval[1]

    @property
    def lower(self) -> float:
        """The average is at least this."""
        return self.interval[0]

    def to_dict(self) -> dict[str, Any]:
        """Return the state as plain values."""
        return {"kind": self.kind, "level": self.level, "n": self._n, "sum": self._sum, "spread": self._spread}

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> Self:
        """Return the sequence that `to_dict` described."""
        new = cls(level=state["level"])
        new._n, new._sum, new._spread = int(state["n"]), float(state["sum"]), float(state["spread"])
        return new

    def _half(self) -> float:
        """Return how far the average may lie from the mean: where the mixed exponential process reaches its limit."""
        if self._n == 0:
            return 1.0
        cost = (-np.log1p(-THETA) - THETA) * self._spread

        def wealth(distance: float) -> float:
            return float(log_mix(THETA * distance * self._n - cost))

        return largest_surviving(wealth, 0.0, 1.0, (1.0 - self.level) / 2.0, _PRECISION)


def _histogram(steps: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.bincount(steps.astype(np.int64), minlength=_STEPS + 1).astype(np.int64)


def _upper_end(counts: NDArray[np.int64], alpha: float) -> float:
    seen = np.flatnonzero(counts)
    if len(seen) == 0:
        return 1.0
    values, times = seen / _STEPS, counts[seen].astype(np.float64)

    def wealth(mean: float) -> float:
        return log_wealth(log_stakes(mean, values, times))

    mean, most = float(values @ times) / float(times.sum()), 1.0 - 1e-12
    found = largest_surviving(wealth, mean, most, alpha / 2.0, _PRECISION)
    # Bets need a mean below 1; where even the last one survives, 1 itself does.
    return 1.0 if found >= most else found


def _same(one: Any, other: Any) -> None:
    if type(one) is not type(other) or one.level != other.level:
        raise InputError(f"other is {other!r}; merge sequences of one kind and level")
