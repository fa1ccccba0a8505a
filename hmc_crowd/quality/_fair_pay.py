"""Does the work pay what was promised, for the one in the middle?

Pay of an hour is the pay of a HIT over the median *active* time: half of the people earn at least that. Below the floor
the guard warns, well below it asks to pause, and proposes a top-up for everybody that lifts the median to the floor.
Before publishing the times come from the effort model, during the study from the logs.

Source: requirement F15; PLATFORMS.md, P27; Lyu et al. (2024), "HREF", for the check 180 s at 16 USD an hour.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from hmc_crowd._base.checks import float_vector
from hmc_crowd._base.money import Money
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["FairPay", "fair_pay"]

_LEAST_TIMES = 5


@dataclass(frozen=True)
class FairPay:
    """The verdict of the fair-pay guard.

    Parameters
    ----------
    verdict : {"fair", "too_early", "warn", "pause"}
    hourly_minor, low_minor, high_minor : int
        Pay of an hour by the median time, rounded down, with the interval of the median.
    floor_minor : int
        What an hour must pay.
    currency : str
    median_s : float
        Active seconds.
    n : int
        Submissions.
    top_up_minor : int
        Proposed for each submission; 0 where the pay is fair.
    top_up_total_minor : int
        For all ``n``.
    """

    verdict: Literal["fair", "too_early", "warn", "pause"]
    hourly_minor: int
    low_minor: int
    high_minor: int
    floor_minor: int
    currency: str
    median_s: float
    n: int
    top_up_minor: int
    top_up_total_minor: int

    def __str__(self) -> str:
        pay, floor = Money(self.hourly_minor, self.currency), Money(self.floor_minor, self.currency)
        text = f"{pay} an hour by the median of {self.n:,} times ({self.median_s:.0f} s), floor {floor}: {self.verdict}"
        if self.top_up_minor:
            each, whole = Money(self.top_up_minor, self.currency), Money(self.top_up_total_minor, self.currency)
            text += f"; a top-up of {each} each, {whole} altogether, makes it fair"
        return text


def fair_pay(
    active_s: ArrayLike,
    *,
    pay_minor: int,
    floor_minor: int,
    currency: str,
    pause_below: float = 0.8,
    level: float = 0.95,
) -> FairPay:
    """Hold the pay of one submission against a floor per hour.

    Parameters
    ----------
    active_s : array of float, shape (n,)
        Active seconds of each submission, or predicted ones before publishing; all above 0.
    pay_minor : int
        Pay of one submission without fees, in minor units; what a bonus adds belongs to it.
    floor_minor : int
        Least pay of an hour, in minor units.
    currency : str
        Of both.
    pause_below : float, default 0.8
        Below this share of the floor nobody more should be let in.
    level : float, default 0.95
        Of the median's interval (by order statistics). With the pay below the floor but fewer than five times the
        verdict is ``too_early``.

    Returns
    -------
    FairPay

    Examples
    --------
    80 cents for three minutes are 16.00 an hour; for four minutes 12.00, and 27 cents are missing:

    >>> fair_pay([170, 175, 180, 185, 190], pay_minor=80, floor_minor=1600, currency="USD").verdict
    'fair'
    >>> slow = fair_pay([230, 235, 240, 245, 250], pay_minor=80, floor_minor=1600, currency="USD")
    >>> slow.verdict, slow.hourly_minor, slow.top_up_minor, slow.top_up_total_minor
    ('pause', 1200, 27, 135)
    """
    times = np.sort(float_vector(active_s, name="active_s", low=0.0))
    if times[0] <= 0:
        raise InputError("active_s holds 0 seconds; times are positive, drop submissions without a measured time")
    Money(floor_minor, currency)
    Money(pay_minor, currency)
    if pay_minor < 0 or floor_minor <= 0 or not 0 <= pause_below <= 1 or not 0 < level < 1:
        raise InputError(
            f"pay_minor is {pay_minor}, floor_minor {floor_minor}, pause_below {pause_below}, level {level}; give pay "
            "of 0 or more, a positive floor, and shares"
        )
    middle = float(np.median(times))
    quick, slow = _median_interval(times, level)
    hourly, low, high = (math.floor(pay_minor * 3600 / seconds + 1e-9) for seconds in (middle, slow, quick))
    # Up to the floor and not a minor unit less, for the one in the middle.
    top_up = max(0, math.ceil(floor_minor * middle / 3600 - pay_minor - 1e-9))
    verdict: Literal["fair", "too_early", "warn", "pause"] = "fair"
    if top_up:
        verdict = "pause" if hourly < pause_below * floor_minor else "warn"
        if len(times) < _LEAST_TIMES:
            verdict = "too_early"
    return FairPay(verdict, hourly, low, high, floor_minor, currency, middle, len(times), top_up, top_up * len(times))


def _median_interval(times: NDArray[np.float64], level: float) -> tuple[float, float]:
    """Return the order statistics between which the median lies with at least the level; all of the range if few."""
    from scipy.stats import binom

    n = len(times)
    rank = max(int(binom.ppf((1 - level) / 2, n, 0.5)), 1)
    return float(times[rank - 1]), float(times[n - rank])
