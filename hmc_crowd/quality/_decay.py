"""What is left of a worker's quality when nobody has seen him for a while?

The source multiplies the quality itself: after a night's sleep everybody is worth half. `literal_decay` computes that,
for comparison; its sum is clipped into [0, 1], which the source forgets. By default what fades is not the worker but
our knowledge of him (`kept_share`, used by `worker_quality`): the estimate goes back to the pool's, and its interval
widens.

Source: requirements D6 and D8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd._base.checks import float_vector, require_same_length
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["kept_share", "literal_decay", "priority_score", "right_in_a_row", "streak_bonus"]

_DAY_S = 86_400.0


def kept_share(idle_s: ArrayLike, *, half_life_s: float) -> NDArray[np.float64]:
    """Return the share of past counts that is left after idle times: .5 ** (idle / half-life).

    Examples
    --------
    >>> kept_share([0, 86400, 3 * 86400], half_life_s=86400).tolist()
    [1.0, 0.5, 0.125]
    """
    idle = float_vector(idle_s, name="idle_s", low=0.0, allow_empty=True)
    if not 0 < half_life_s < np.inf:
        raise InputError(f"half_life_s is {half_life_s!r}; give a positive number of seconds")
    return np.asarray(0.5 ** (idle / half_life_s), dtype=np.float64)


def right_in_a_row(right: Sequence[bool]) -> int:
    """Return the length of the streak at the end of a worker's checks, oldest first.

    Examples
    --------
    >>> right_in_a_row([True, False, True, True])
    2
    """
    return next((length for length, hit in enumerate(reversed(list(right))) if not hit), len(right))


def streak_bonus(streak: ArrayLike, *, step: float = 0.01, cap: float = 0.05) -> NDArray[np.float64]:
    """Return min(cap, step * streak): the source names a streak bonus and does not define it.

    Examples
    --------
    >>> streak_bonus([0, 3, 50]).tolist()
    [0.0, 0.03, 0.05]
    """
    length = float_vector(streak, name="streak", low=0.0, allow_empty=True)
    if not (0 <= step <= 1 and 0 <= cap <= 1):
        raise InputError(f"step is {step!r} and cap is {cap!r}; give numbers between 0 and 1")
    return np.minimum(cap, step * length)


def literal_decay(
    base: ArrayLike,
    idle_s: ArrayLike,
    recent_accuracy: ArrayLike,
    *,
    streak: ArrayLike | None = None,
    half_life_s: float = _DAY_S,
    penalty: float = 0.1,
    step: float = 0.01,
    cap: float = 0.05,
) -> NDArray[np.float64]:
    """Return the source's decayed quality, clipped into [0, 1]; a score, not a probability.

    Parameters
    ----------
    base, idle_s, recent_accuracy : arrays of float, shape (n_workers,)
        Quality in [0, 1], seconds since the last submission, recent share right in [0, 1].
    streak : array of int, optional
        Right answers in a row; none by default.
    half_life_s : float, default 24 hours
    penalty : float, default 0.1
        Weight of the performance term.
    step, cap
        See `streak_bonus`.

    Examples
    --------
    A day idle, .8 right of late, three right in a row: .9 * .5 * (1 - .1 * .2) + .03

    >>> literal_decay([0.9], [86400], [0.8], streak=[3]).round(3).tolist()
    [0.471]
    """
    quality = float_vector(base, name="base", low=0.0, high=1.0)
    recent = float_vector(recent_accuracy, name="recent_accuracy", low=0.0, high=1.0)
    kept = kept_share(idle_s, half_life_s=half_life_s)
    rows = np.zeros(len(quality)) if streak is None else np.asarray(streak)
    require_same_length([("base", quality), ("idle_s", kept), ("recent_accuracy", recent), ("streak", rows)])
    if not 0 <= penalty <= 1:
        raise InputError(f"penalty is {penalty!r}; give a number between 0 and 1")
    value = quality * kept * (1 - penalty * (1 - recent)) + streak_bonus(rows, step=step, cap=cap)
    return np.clip(value, 0.0, 1.0)


def priority_score(quality: ArrayLike, consistent: ArrayLike, *, bonus: float = 1.1) -> NDArray[np.float64]:
    """Return the source's score for ranking workers: quality, times the bonus where consistent, at most 1.

    A probability times 1.1 is no probability: this score never enters an aggregation.

    Examples
    --------
    >>> priority_score([0.8, 0.8, 0.95], [True, False, True]).round(2).tolist()
    [0.88, 0.8, 1.0]
    """
    value = float_vector(quality, name="quality", low=0.0, high=1.0, allow_empty=True)
    steady = np.asarray(consistent, dtype=bool)
    require_same_length([("quality", value), ("consistent", steady)])
    if not 1 <= bonus < np.inf:
        raise InputError(f"bonus is {bonus!r}; give a factor of at least 1, such as 1.1")
    return np.minimum(1.0, np.where(steady, bonus * value, value))
