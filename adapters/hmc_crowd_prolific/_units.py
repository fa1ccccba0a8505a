"""Units and small rules of Prolific: minor and major money, minutes, the least pay.

Everywhere in its API money is in minor units (cents), except in the CSV of a bonus set-up, where it is in major units:
``30`` there pays 30.00. The two are converted here and nowhere else.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING

from hmc_crowd._base.money import Money, parse_money
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "MINIMUM_HOURLY",
    "bonus_csv",
    "check_hourly_pay",
    "hourly_minor",
    "major_text",
    "maximum_minutes",
    "minor_of",
    "minutes_of",
]

#: Least pay per hour by the participants' median time (help pages of Prolific; keep an eye on it).
MINIMUM_HOURLY = {"GBP": 600, "USD": 800}
_DAY_MINUTES = 24 * 60


def major_text(minor: int) -> str:
    """Return an amount as the bonus CSV wants it: major units with two decimals.

    Examples
    --------
    >>> major_text(150), major_text(30), major_text(5)
    ('1.50', '0.30', '0.05')
    """
    if isinstance(minor, bool) or not isinstance(minor, int) or minor <= 0:
        raise InputError(f"the bonus is {minor!r}; give a whole number of cents or pence above 0")
    return f"{minor // 100}.{minor % 100:02d}"


def minor_of(text: str) -> int:
    """Return the minor units of a major amount: the inverse of `major_text`."""
    return parse_money(text, currency="USD").minor


def bonus_csv(rows: Sequence[tuple[str, int]]) -> str:
    r"""Return the CSV of (submission or participant id, minor units) rows, every line ended by a newline.

    Examples
    --------
    >>> bonus_csv([("60ab", 150), ("60ac", 30)])
    '60ab,1.50\n60ac,0.30\n'
    """
    return "".join(f"{who},{major_text(minor)}\n" for who, minor in rows)


def minutes_of(seconds: float) -> int:
    """Return whole minutes, rounded up, at least 1: how Prolific wants the estimated time."""
    return max(1, math.ceil(seconds / 60))


def maximum_minutes(estimated: int, *, wanted: int = 0) -> int:
    """Return the longest time to give a participant: what is wanted, within what Prolific allows.

    Parameters
    ----------
    estimated : int
        Estimated minutes, t. The least allowed is 2 + 2 t + 2 sqrt(t), rounded up here.
    wanted : int, default 0
        Minutes that the task's own limit gives.

    Examples
    --------
    >>> maximum_minutes(9), maximum_minutes(9, wanted=60), maximum_minutes(9, wanted=5000)
    (26, 60, 1439)
    """
    least = math.ceil(2 + 2 * estimated + 2 * math.sqrt(estimated))
    if least >= _DAY_MINUTES:
        raise InputError(
            f"the estimated time is {estimated} minutes, which needs a limit of {least}; Prolific allows less than a "
            "day, so split the work"
        )
    return min(max(least, wanted), _DAY_MINUTES - 1)


def hourly_minor(reward_minor: int, minutes: float) -> Decimal:
    """Return what a reward for so many minutes is per hour, in minor units."""
    return Decimal(reward_minor) * 60 / Decimal(str(minutes))


def check_hourly_pay(reward_minor: int, minutes: float, currency: str, *, least_minor: int | None = None) -> None:
    """Refuse a reward below the least pay per hour.

    Parameters
    ----------
    least_minor : int, optional
        Least pay per hour in minor units; by default Prolific's own for the currency, and none for currencies it does
        not name. 0 lifts the rule.

    Raises
    ------
    InputError
        The reward is too small; the message names the least one that is enough.

    Examples
    --------
    >>> check_hourly_pay(160, 12, "USD")
    >>> check_hourly_pay(159, 12, "USD")
    Traceback (most recent call last):
    ...
    hmc_crowd.errors.InputError: a reward of 1.59 USD for 12 minutes is 7.95 USD an hour, below the least of 8.00 ...
    """
    least = MINIMUM_HOURLY.get(currency, 0) if least_minor is None else least_minor
    hourly = hourly_minor(reward_minor, minutes)
    if hourly < least:
        enough = math.ceil(Decimal(least) * Decimal(str(minutes)) / 60)
        raise InputError(
            f"a reward of {Money(reward_minor, currency)} for {minutes:g} minutes is {Money(int(hourly), currency)} an "
            f"hour, below the least of {Money(least, currency)}; pay at least {Money(enough, currency)}, or lift the "
            "rule with minimum_hourly_minor=0"
        )
