"""What do pools cost, and do people earn enough? Lines of a cost sheet by pool, and pay held against a floor.

An hourly pool's HITs carry no reward: hours are paid beside the platform, and the sheet foretells them from the effort
model. Salaried people cost the campaign nothing more. The floor speaks of the active time of submissions, as the median
person had it; before publishing, of the time that the effort model expects. `hmc_crowd.quality.fair_pay` judges one
pay of one kind of HIT; here HITs of several pays, hours and bonuses come together, so a top-up is worked out for each
submission.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from hmc_crowd._base.money import Money
from hmc_crowd.campaign._capacity import time_text
from hmc_crowd.campaign._worked import worked_seconds
from hmc_crowd.errors import InputError
from hmc_crowd.platform import SubmissionState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import HitRecord

__all__ = ["PayCheck", "PoolLine", "fair_pay", "floor_notes", "pool_lines", "set_fair_pay", "wages_minor"]

_FLOORS = "fair_pay"
_PAID = (SubmissionState.SUBMITTED, SubmissionState.APPROVED)
# As in `hmc_crowd.quality.fair_pay`: so far below the floor, and by so many times, it is no accident.
_PAUSE_BELOW, _LEAST_TIMES = 0.8, 5


@dataclass(frozen=True)
class PoolLine:
    """What one pool's part of a publication costs; ``amount_minor`` is None for salaried people."""

    pool: str
    pay_form: str
    submissions: int
    answers: int
    expected_s: float
    amount_minor: int | None
    currency: str

    @property
    def is_beside(self) -> bool:
        """Whether the money is paid beside the platform's rewards."""
        return self.pay_form == "per_hour"

    def __str__(self) -> str:
        hours = time_text(self.expected_s)
        if self.amount_minor is None:
            return f"pool {self.pool}: {hours} of salaried people"
        money = Money(self.amount_minor, self.currency)
        if self.is_beside:
            return f"pool {self.pool}: {hours} paid by the hour, about {money} beside the rewards"
        return f"pool {self.pool}: {self.answers:,} answers for {money}"


def pool_lines(records: Iterable[HitRecord]) -> tuple[PoolLine, ...]:
    """Return a line for each pool among HITs; HITs for anybody have none."""
    by_pool: dict[tuple[str, str], list[HitRecord]] = {}
    for record in records:
        if record.terms and record.terms["pool"]:
            by_pool.setdefault((record.terms["pool"], record.terms["pay_form"]), []).append(record)
    return tuple(_line(pool, form, some) for (pool, form), some in sorted(by_pool.items()))


def _line(pool: str, form: str, records: Sequence[HitRecord]) -> PoolLine:
    amount: int | None = sum(each.redundancy * each.pay_minor for each in records)
    if form == "salaried":
        amount = None
    elif form == "per_hour":
        amount = wages_minor(records)
    return PoolLine(
        pool=pool,
        pay_form=form,
        submissions=sum(each.redundancy for each in records),
        answers=sum(each.redundancy * len(each.items) for each in records),
        expected_s=float(sum(each.redundancy * each.expected_s for each in records)),
        amount_minor=amount,
        currency=records[0].currency,
    )


def wages_minor(records: Iterable[HitRecord]) -> int:
    """Return what the hours of hourly pools are expected to cost, in minor units, rounded up."""
    cost: float = sum(
        each.redundancy * each.expected_s * each.terms["rate_minor"] / 3600
        for each in records
        if each.terms and each.terms["pay_form"] == "per_hour" and each.state != "cancelled"
    )
    return math.ceil(cost - 1e-6)


def set_fair_pay(context: Context, floor_minor: int | None, currency: str) -> None:
    """Set the least that an hour of active work shall earn in a currency; None takes the floor away."""
    if floor_minor is not None and (isinstance(floor_minor, bool) or not 1 <= floor_minor < 10**12):
        raise InputError(f"floor_minor is {floor_minor!r}; give minor units (cents) of an hour, at least 1")
    name = Money(0, currency).currency
    with context.store.begin() as tx:
        settings = tx.campaigns.settings_to_change(context.campaign_id)
        floors = {key: value for key, value in settings.get(_FLOORS, {}).items() if key != name}
        if floor_minor is not None:
            floors[name] = int(floor_minor)
        tx.campaigns.save_settings(context.campaign_id, {**settings, _FLOORS: floors})
        context.log(tx, "fair pay", currency=name, floor_minor=floor_minor)


@dataclass(frozen=True)
class PayCheck:
    """What people earn in an hour of active time, beside the floor that was set.

    Parameters
    ----------
    floor_minor : int or None
        The floor; None where none was set for the currency.
    hourly_minor : float or None
        Median over the submissions of what an hour earns, bonuses included; None before anybody worked for money.
    submissions, below : int
        How many that is, and how many of them earned less than the floor.
    top_up_minor : int
        What would bring each of these up to the floor.
    top_ups : mapping of (str, str) to int
        The same by platform and submission.
    earned_minor : float
        What all these submissions earned, bonuses included.
    """

    currency: str
    floor_minor: int | None
    hourly_minor: float | None
    submissions: int
    below: int
    top_up_minor: int
    top_ups: Mapping[tuple[str, str], int]
    earned_minor: float = 0.0

    @property
    def is_below(self) -> bool:
        """Whether the median is below the floor."""
        return self.floor_minor is not None and self.hourly_minor is not None and self.hourly_minor < self.floor_minor

    def __str__(self) -> str:
        if self.hourly_minor is None:
            return "nobody has worked for money yet"
        earned = Money(round(self.hourly_minor), self.currency)
        if self.floor_minor is None:
            return f"people earn {earned} an hour of active time by the median; no floor is set"
        floor = Money(self.floor_minor, self.currency)
        if not self.is_below:
            return f"people earn {earned} an hour of active time by the median, at least the floor of {floor}"
        act = "raise the pay"
        if self.hourly_minor < _PAUSE_BELOW * self.floor_minor and self.submissions >= _LEAST_TIMES:
            act = "let nobody more in before you raise the pay"
        return (
            f"people earn {earned} an hour of active time by the median, less than the floor of {floor}: {act}; "
            f"{Money(self.top_up_minor, self.currency)} as a bonus would bring {self.below:,} of "
            f"{self.submissions:,} submissions up to it"
        )


def fair_pay(context: Context) -> PayCheck:
    """Hold what people earned in the campaign's currency against the floor."""
    with context.store.read() as tx:
        settings = context.settings_in(tx)
        hits = tx.work.hits(context.campaign_id, with_items=False)
        submissions = tx.work.submissions(context.campaign_id)
        payments = tx.payments.read(context.campaign_id)
    extra: dict[tuple[str, str], int] = {}
    for each in payments:
        if each.reason_code != "reward" and each.state != "cancelled":
            key = (each.platform, each.submission_id)
            extra[key] = extra.get(key, 0) + each.amount_minor
    currency = str(settings["currency"])
    return reckoned(submissions, hits, extra, currency, settings.get(_FLOORS, {}).get(currency))


def reckoned(
    submissions: pd.DataFrame,
    hits: Iterable[HitRecord],
    extra: Mapping[tuple[str, str], int],
    currency: str,
    floor: int | None,
) -> PayCheck:
    """Reckon hourly pay from what is stored; ``extra`` are bonuses by platform and submission."""
    by_key = {each.key: each for each in hits if each.currency == currency}
    rates: list[float] = []
    total = 0.0
    top_ups: dict[tuple[str, str], int] = {}
    # Refused work earned nothing, and nobody tops it up: it is no evidence of what the task pays.
    paid = submissions[submissions["state"].isin([each.value for each in _PAID])]
    columns = (paid["platform"], paid["submission_id"], paid["hit_key"], worked_seconds(paid))
    for platform, name, key, seconds in zip(*columns, strict=True):
        hit = by_key.get(key)
        if hit is None or not seconds > 0:
            continue
        earned = _earned(hit, seconds)
        if earned is None:
            continue
        earned += extra.get((platform, name), 0)
        total += earned
        rates.append(earned / seconds * 3600)
        missing = 0 if floor is None else math.ceil(floor * seconds / 3600 - earned - 1e-9)
        if missing > 0:
            top_ups[platform, name] = missing
    return PayCheck(
        currency=currency,
        floor_minor=floor,
        hourly_minor=median(rates) if rates else None,
        submissions=len(rates),
        below=len(top_ups),
        top_up_minor=sum(top_ups.values()),
        top_ups=top_ups,
        earned_minor=total,
    )


def _earned(hit: HitRecord, seconds: float) -> float | None:
    """Return what the time earned; None for salaried work."""
    form = (hit.terms or {}).get("pay_form", "per_submission")
    if form == "salaried":
        return None
    return (hit.terms or {})["rate_minor"] * seconds / 3600 if form == "per_hour" else float(hit.pay_minor)


def floor_notes(context: Context, records: Sequence[HitRecord]) -> list[str]:
    """Say where HITs that are to be published earn less than the floor by the expected time."""
    floors = context.settings().get(_FLOORS, {})
    notes = []
    for currency, floor in sorted(floors.items()):
        rates = [
            earned / each.expected_s * 3600
            for each in records
            if each.currency == currency
            and each.expected_s > 0
            and (earned := _earned(each, each.expected_s)) is not None
        ]
        if rates and median(rates) < floor:
            earned_text, floor_text = Money(round(median(rates)), currency), Money(floor, currency)
            notes.append(
                f"by the effort model the median HIT earns {earned_text} an hour, less than the floor of {floor_text}; "
                "raise the pay"
            )
    return notes
