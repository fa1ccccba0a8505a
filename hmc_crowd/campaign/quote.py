"""What does a sum of money buy? Answered before anything is published, from effort, pay, fees and redundancy alone.

An answer costs its seconds at the hourly pay plus the platform's fee. From that follow the items people can judge, the
hours and submissions it takes, how coverage falls as redundancy rises, and the certificate to expect if the rest stays
with the machine. Every figure is an expectation under the stated assumptions, not a promise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd._base.checks import float_vector, require_same_length
from hmc_crowd._base.money import Money
from hmc_crowd.errors import InputError
from hmc_crowd.platform import FeeSchedule
from hmc_crowd.routing import certify_batch, route

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["FEES", "Coverage", "Quote", "quote"]

FEES: dict[str, FeeSchedule] = {
    "local": FeeSchedule(),
    # prolific.com/pricing as transcribed 2026-09-20: share of the reward; VAT on the fee where due.
    "prolific": FeeSchedule(rate=Decimal("0.428")),
    "prolific-academic": FeeSchedule(rate=Decimal("0.333")),
    # mturk.com/pricing as transcribed 2026-10-07, kept by services that speak the same API.
    "mturk": FeeSchedule(rate=Decimal("0.20"), rate_at_10=Decimal("0.20"), minimum_minor=1),
}
"""Fees by platform, for a quote without an account; a connected platform's own schedule or cost call goes before."""


@dataclass(frozen=True)
class Coverage:
    """How far the money reaches at one redundancy."""

    redundancy: int
    items_affordable: int
    share: float


@dataclass(frozen=True)
class Quote:
    """What the money buys; see `quote`."""

    platform: str
    money: Money
    items: int
    redundancy: int
    pay_per_hour: Money
    items_affordable: int
    people_items: int
    audit_items: int
    hours: float
    submissions: int
    people_at_least: int
    reward_minor: int
    fee_minor: int
    total_minor: int
    left_minor: int
    coverage: tuple[Coverage, ...]
    agreement_expected: float | None
    level: float
    assumptions: tuple[str, ...]

    def __str__(self) -> str:
        currency = self.money.currency
        promise = (
            f"; expect a certificate of at least {self.agreement_expected:.1%} agreement"
            if self.agreement_expected is not None
            else ""
        )
        return (
            f"{self.money} on {self.platform}: {self.people_items:,} of {self.items:,} items judged by "
            f"{self.redundancy} people each and {self.audit_items:,} audited, {self.hours:.1f} hours in "
            f"{self.submissions:,} submissions, {Money(self.total_minor, currency)} with fees of "
            f"{Money(self.fee_minor, currency)}{promise}"
        )


def quote(
    seconds: ArrayLike,
    money: Money,
    *,
    pay_per_hour: Money,
    platform: str = "local",
    fees: FeeSchedule | None = None,
    redundancy: int = 3,
    confidence: ArrayLike | None = None,
    machine_accuracy: float | None = None,
    audit: int | float | None = None,
    target_minutes: float = 12.0,
    level: float = 0.95,
    tax_rate: float = 0.0,
) -> Quote:
    """Say what a sum of money buys before anything is published.

    Parameters
    ----------
    seconds : array of float, shape (n_items,)
        Expected time of one person for each item.
    money : Money
        All there is to spend, fees included.
    pay_per_hour : Money
        What an hour of work earns, in the same currency.
    platform : str
        Whose fees to use, a key of `FEES`, unless ``fees`` is given.
    redundancy : int, default 3
        How many people answer an item; the audit gets the same.
    confidence : array of float, shape (n_items,), optional
        Calibrated probability that the machine is right: decides who is judged first and how many kept items are wrong.
    machine_accuracy : float, optional
        Used in place of ``confidence`` when there are no predictions yet.
    audit : int or float, optional
        Items (int) or share of the machine-kept items (float) to audit; default 5 %, at least 50.
    target_minutes : float, default 12
        Length of a HIT.
    tax_rate : float, default 0
        Value added tax on the platform's fee, a share, where it is due; goes with ``platform``.

    Raises
    ------
    InputError
        Lengths differ, currencies differ, or a value is out of range.

    Examples
    --------
    >>> offer = quote([60.0] * 1000, Money(60_000, "USD"), pay_per_hour=Money(1200, "USD"), machine_accuracy=0.9)
    >>> offer.items_affordable, round(offer.hours, 1), offer.coverage[0].redundancy
    (1000, 50.0, 1)
    """
    times = float_vector(seconds, name="seconds", low=0.0)
    _check(times, money, pay_per_hour, redundancy, machine_accuracy, confidence, level, target_minutes)
    schedule = fees or known_fees(platform, tax_rate)
    per_second = pay_per_hour.minor / 3600
    share = fee_share(schedule, pay_per_hour.minor, redundancy=redundancy, target_minutes=target_minutes)
    cost = times * per_second * (1 + share)
    order = _order(confidence, times)
    coverage = tuple(_coverage(cost[order], money.minor, each) for each in _redundancies(redundancy))
    people, audited = _split(cost[order], money.minor / redundancy, audit, len(times))
    kept = times[order[people:]]
    # Which kept items the audit draws is not known yet: their mean stands for them.
    audit_s = audited * float(kept.mean()) if audited else 0.0
    answers_s = (float(times[order[:people]].sum()) + audit_s) * redundancy
    reward = _whole_minor(answers_s * per_second)
    fee = _whole_minor(answers_s * per_second * (1 + share)) - reward
    # Each HIT is done by as many different people as an item needs answers.
    submissions = redundancy * math.ceil(answers_s / redundancy / (target_minutes * 60))
    expected = _expected(confidence, machine_accuracy, order, people, audited, level)
    return Quote(
        platform=platform,
        money=money,
        items=len(times),
        redundancy=redundancy,
        pay_per_hour=pay_per_hour,
        items_affordable=next(each.items_affordable for each in coverage if each.redundancy == redundancy),
        people_items=people,
        audit_items=audited,
        hours=answers_s / 3600,
        submissions=submissions,
        people_at_least=redundancy if submissions else 0,
        reward_minor=reward,
        fee_minor=fee,
        total_minor=reward + fee,
        left_minor=money.minor - reward - fee,
        coverage=coverage,
        agreement_expected=expected,
        level=level,
        assumptions=(
            *_assumptions(confidence, machine_accuracy, share, target_minutes),
            *audit_note(audit, audited, len(times) - people),
        ),
    )


def _check(
    times: NDArray[np.float64],
    money: Money,
    pay: Money,
    redundancy: int,
    accuracy: float | None,
    confidence: ArrayLike | None,
    level: float,
    target_minutes: float,
) -> None:
    if money.currency != pay.currency:
        raise InputError(f"money is in {money.currency} but pay_per_hour in {pay.currency}; use one currency")
    if pay.minor <= 0:
        raise InputError(f"pay_per_hour is {pay}; people are paid, give more than 0")
    if isinstance(redundancy, bool) or redundancy < 1:
        raise InputError(f"redundancy is {redundancy}; at least one person must answer an item")
    if accuracy is not None and not 0 <= accuracy <= 1:
        raise InputError(f"machine_accuracy is {accuracy}; a share lies in [0, 1]")
    if not 0 < level < 1:
        raise InputError(f"level is {level}; give a confidence strictly between 0 and 1, such as 0.95")
    if not 0 < target_minutes < math.inf:
        raise InputError(f"target_minutes is {target_minutes}; give the length of a HIT, above 0")
    if confidence is not None:
        require_same_length([("seconds", times), ("confidence", np.asarray(confidence))])


def known_fees(platform: str, tax_rate: float = 0.0) -> FeeSchedule:
    """Return the fees of a platform by its name, with the tax on them where it is due."""
    if platform not in FEES:
        raise InputError(f"platform is {platform!r}; fees are known for {', '.join(sorted(FEES))}")
    if not 0 <= tax_rate <= 1:
        raise InputError(f"tax_rate is {tax_rate}; give the tax on the platform's fee as a share, such as 0.2 for 20 %")
    return replace(FEES[platform], tax_rate=Decimal(str(tax_rate)))


def fee_share(fees: FeeSchedule, pay_per_hour_minor: float, *, redundancy: int, target_minutes: float = 12.0) -> float:
    """Return fee and tax as a share of the reward; a fee is charged on a whole submission, so one of a usual HIT.

    Examples
    --------
    >>> fee_share(FEES["mturk"], 1200, redundancy=3), fee_share(FEES["mturk"], 1200, redundancy=10)
    (0.2, 0.4)
    """
    reward = max(1, round(pay_per_hour_minor * target_minutes / 60))
    return fees.fee_minor(reward, redundancy=redundancy) / reward


def audit_note(asked: int | float | None, audited: int, kept: int) -> list[str]:
    """Say so where an audit of a given number of items came out smaller, and why.

    Examples
    --------
    >>> audit_note(60, 21, 21)
    ['the audit is cut from 60 to 21 items: the machine keeps no more than 21']
    >>> audit_note(20, 20, 90), audit_note(0.2, 18, 90)
    ([], [])
    """
    if isinstance(asked, float) or asked is None or audited >= asked:
        return []
    why = f"the machine keeps no more than {kept:,}" if audited >= kept else "the money buys no more"
    return [f"the audit is cut from {asked:,} to {audited:,} items: {why}"]


def _order(confidence: ArrayLike | None, times: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the items in the order in which people get them: least sure first, else as they come."""
    if confidence is None:
        return np.arange(len(times))
    sure = float_vector(confidence, name="confidence", low=0.0, high=1.0)
    plan = route(sure, np.zeros(len(sure)))
    return np.argsort(-plan.gain, kind="stable")


def _redundancies(redundancy: int) -> Sequence[int]:
    return sorted({1, 2, 3, 5, 7, redundancy})


def _whole_minor(amount: float) -> int:
    """Round up to whole minor units, but not for a rounding error of the sum."""
    return math.ceil(amount - 1e-6)


def _coverage(cost: NDArray[np.float64], money_minor: int, redundancy: int) -> Coverage:
    items = int(np.searchsorted(np.cumsum(cost) * redundancy, money_minor + 1e-9, side="right"))
    return Coverage(redundancy, items, items / len(cost))


def _split(cost: NDArray[np.float64], money: float, audit: int | float | None, items: int) -> tuple[int, int]:
    """Return how many items people judge and how many of the rest are audited, both paid from the money."""
    total = np.concatenate([[0.0], np.cumsum(cost)])
    people = np.arange(int(np.searchsorted(total, money + 1e-9, side="right")))
    kept = items - people
    # The audit is drawn from what the machine keeps, so one audited item costs the mean of those.
    mean = (total[-1] - total[people]) / np.maximum(kept, 1)
    if audit is None:
        audited = np.minimum(kept, np.maximum(50, np.round(0.05 * kept)))
    else:
        audit_size(audit, items)
        audited = np.minimum(kept, np.round(audit * kept) if isinstance(audit, float) else audit)
    fits = np.flatnonzero(total[people] + audited * mean <= money + 1e-9)
    if fits.size:
        return int(fits[-1]), int(audited[fits[-1]])
    return 0, min(items, int(money / mean[0])) if mean[0] > 0 else items


def audit_size(audit: int | float | None, kept: int) -> int:
    """Return how many machine-kept items to audit: as asked, else 5 % and at least 50; never more than there are.

    Examples
    --------
    >>> audit_size(None, 10_000), audit_size(None, 60), audit_size(0.5, 10), audit_size(20, 10)
    (500, 50, 5, 10)
    """
    if audit is None:
        return min(kept, max(50, round(0.05 * kept)))
    is_count, is_number = isinstance(audit, Integral), isinstance(audit, Real) and not isinstance(audit, bool)
    if not is_number or not audit >= 0 or (not is_count and audit > 1):
        raise InputError(f"audit is {audit!r}; give a count of items (int) or a share of the machine-kept ones (float)")
    return min(kept, int(audit) if is_count else round(float(audit) * kept))


def _expected(
    confidence: ArrayLike | None,
    accuracy: float | None,
    order: NDArray[np.intp],
    people: int,
    audited: int,
    level: float,
) -> float | None:
    """Return the bound to expect if the audit finds the share of wrong items that the confidences foretell."""
    if audited == 0 and people < len(order):
        return None
    if confidence is not None:
        kept = 1 - np.asarray(confidence, dtype=np.float64)[order[people:]]
        share = float(kept.mean()) if kept.size else 0.0
    elif accuracy is not None:
        share = 1 - accuracy
    else:
        return None
    wrong = min(audited, round(share * audited))
    return certify_batch(len(order), people, audited, wrong, level=level).agreement_at_least


def _assumptions(
    confidence: ArrayLike | None, accuracy: float | None, share: float, target_minutes: float
) -> tuple[str, ...]:
    known = (
        "the confidences are calibrated"
        if confidence is not None
        else f"the machine is right on {accuracy:.0%}"
        if accuracy is not None
        else "nothing is known of the machine, so no certificate is foretold"
    )
    return (
        "the seconds are what one person needs for one item",
        f"the platform takes {share:.1%} of the reward on HITs of {target_minutes:g} minutes",
        known,
        "gold questions and rejected work are not counted",
    )
