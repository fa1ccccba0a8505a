"""How long did people work, and what did an hour pay them?

The figures that HREF reports of its annotators, from anybody's logs: mean, standard deviation, median and quantiles of
the active time, hours altogether, the share of ties, and pay. Times are heavy-tailed: trust the median and the
quantiles; the mean is what multiplies into hours and cost.

Source: Lyu et al. (2024), "HREF" (16 USD an hour, 180 s on average, 4.9% ties); requirement C35.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd._base.checks import float_vector, require_same_length
from hmc_crowd._base.money import Money
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["WorkTimes", "work_times"]


@dataclass(frozen=True)
class WorkTimes:
    """Times, ties and pay of a piece of work.

    Parameters
    ----------
    n : int
        Annotations.
    mean_s, sd_s, median_s : float
        ``sd_s`` with n - 1; NaN of a single one.
    p10_s, p25_s, p75_s, p90_s : float
    hours : float
        Altogether.
    tie_rate : float or None
        Share of ties; None where they were not given.
    pay_minor : int or None
        Altogether; with ``currency``.
    hourly_minor : int or None
        Pay of an hour of all work together, rounded; for the one in the middle see `fair_pay`.
    currency : str
    """

    n: int
    mean_s: float
    sd_s: float
    median_s: float
    p10_s: float
    p25_s: float
    p75_s: float
    p90_s: float
    hours: float
    tie_rate: float | None = None
    pay_minor: int | None = None
    hourly_minor: int | None = None
    currency: str = ""

    def __str__(self) -> str:
        text = (
            f"{self.n:,} annotations in {self.hours:,.1f} hours: mean {self.mean_s:.0f} s (sd {self.sd_s:.0f}), median "
            f"{self.median_s:.0f} s, 8 of 10 between {self.p10_s:.0f} and {self.p90_s:.0f} s"
        )
        if self.tie_rate is not None:
            text += f"; {self.tie_rate:.1%} ties"
        if self.pay_minor is not None and self.hourly_minor is not None:
            pay, hourly = Money(self.pay_minor, self.currency), Money(self.hourly_minor, self.currency)
            text += f"; {pay}, {hourly} an hour"
        return text


def work_times(
    active_s: ArrayLike, *, tied: ArrayLike | None = None, pay_minor: int | None = None, currency: str = ""
) -> WorkTimes:
    """Describe the times of annotations.

    Parameters
    ----------
    active_s : array of float, shape (n,)
        Active seconds of each, above 0.
    tied : array of bool, shape (n,), optional
        Whether it was answered with a tie.
    pay_minor : int, optional
        What all of them were paid together, in minor units of ``currency``.

    Examples
    --------
    HREF's sum, 7,008 annotations of 180 s at 16 USD an hour:

    >>> found = work_times([180] * 7008, pay_minor=560_640, currency="USD")
    >>> round(found.hours, 1), found.hourly_minor
    (350.4, 1600)
    """
    times = float_vector(active_s, name="active_s", low=0.0)
    if times.min() <= 0:
        raise InputError("active_s holds 0 seconds; times are positive, drop annotations without a measured time")
    ties = None
    if tied is not None:
        given = np.asarray(tied)
        require_same_length([("active_s", times), ("tied", given)])
        ties = float(given.astype(bool).mean())
    hourly = None
    if pay_minor is not None:
        if Money(pay_minor, currency).minor < 0:
            raise InputError(f"pay_minor is {pay_minor}; give 0 or more")
        hourly = round(pay_minor * 3600 / float(times.sum()))
    p10, p25, p50, p75, p90 = np.quantile(times, [0.1, 0.25, 0.5, 0.75, 0.9]).tolist()
    sd = float(times.std(ddof=1)) if len(times) > 1 else float("nan")
    hours = float(times.sum()) / 3600
    mean = float(times.mean())
    return WorkTimes(len(times), mean, sd, p50, p10, p25, p75, p90, hours, ties, pay_minor, hourly, currency)
