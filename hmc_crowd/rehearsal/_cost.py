"""What does it cost, line by line? Crowd, experts and machine, with fees, reserves and what a gate saves.

Source: requirement D34 (crowd: tasks x answers x price; experts: people x hours x rate, or items x price).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.money import Money
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CostLine", "CostTable", "cost"]


@dataclass(frozen=True)
class CostLine:
    """One line: what it is, how it is reckoned, and what it comes to (below 0: a saving)."""

    what: str
    how: str
    minor: int


@dataclass(frozen=True)
class CostTable:
    """All lines of a cost. Made by `cost`.

    Parameters
    ----------
    lines : tuple of CostLine
        In the order in which they add up.
    total_minor, baseline_minor : int
        The sum; and what the crowd and the experts would cost without the gate.
    currency : str
        Of all amounts.
    """

    lines: tuple[CostLine, ...]
    total_minor: int
    baseline_minor: int
    currency: str

    @property
    def saved_share(self) -> float:
        """What the gate saves, as a share of the cost without it."""
        return 1 - self.total_minor / self.baseline_minor if self.baseline_minor else 0.0

    def __str__(self) -> str:
        rows = [f"{line.what}: {Money(line.minor, self.currency)} ({line.how})" for line in self.lines]
        return "\n".join([*rows, f"total: {Money(self.total_minor, self.currency)}"])

    def to_frame(self) -> pd.DataFrame:
        """Return one row per line: ``what, how, minor``."""
        import pandas as pd

        return pd.DataFrame([line.__dict__ for line in self.lines])


def cost(
    *,
    currency: str,
    tasks: int = 0,
    redundancy: int = 3,
    price_minor: int | None = None,
    seconds: float | None = None,
    pay_per_hour_minor: int | None = None,
    fee_rate: float = 0.0,
    bonus_rate: float = 0.0,
    rejected_rate: float = 0.0,
    gold_rate: float = 0.0,
    experts: int = 0,
    expert_hours: float = 0.0,
    expert_rate_minor: int = 0,
    expert_items: int = 0,
    expert_price_minor: int = 0,
    gate_share: float = 0.0,
    gate_items_minor: float = 0.0,
) -> CostTable:
    """Reckon what a piece of work costs, every line shown.

    Parameters
    ----------
    currency : str
        Of all amounts.
    tasks : int
        Items for the crowd, before the gate.
    redundancy : int, default 3
        Answers per item.
    price_minor : int, optional
        What an answer earns; or `seconds` of an answer and `pay_per_hour_minor`.
    fee_rate, bonus_rate, rejected_rate, gold_rate : float, default 0
        Platform's share on top of pay; reserve for bonuses; share of answers that are paid for and thrown away; share
        of gold questions on top.
    experts, expert_hours, expert_rate_minor
        People times hours times hourly rate.
    expert_items, expert_price_minor
        Items times price; both ways may be used together.
    gate_share : float, default 0
        Share of the tasks that the machine keeps, so that people do not see them.
    gate_items_minor : float, default 0
        What the machine costs per task.

    Returns
    -------
    CostTable

    Raises
    ------
    InputError
        A value is out of range, or the pay is missing.

    Examples
    --------
    >>> print(cost(currency="USD", tasks=10_000, redundancy=3, price_minor=10, fee_rate=0.2, gate_share=0.5))
    crowd: 3,000.00 USD (10,000 tasks x 3 answers x 0.10 USD)
    kept by the machine: -1,500.00 USD (50% of the tasks)
    fees: 300.00 USD (20% of the pay)
    total: 1,800.00 USD
    """
    _check(
        counts={"tasks": tasks, "redundancy": redundancy, "experts": experts, "expert_items": expert_items},
        amounts={"expert_hours": expert_hours, "expert_rate_minor": expert_rate_minor, "fee_rate": fee_rate,
                 "bonus_rate": bonus_rate, "gold_rate": gold_rate, "expert_price_minor": expert_price_minor,
                 "gate_items_minor": gate_items_minor},
        shares={"rejected_rate": rejected_rate, "gate_share": gate_share},
    )  # fmt: skip
    answer, how = _answer(tasks, price_minor, seconds, pay_per_hour_minor, currency)
    pay = tasks * redundancy * answer
    lines = [("crowd", f"{tasks:,} tasks x {redundancy} answers x {how}", pay)] if tasks else []
    saved = pay * gate_share
    lines += [("kept by the machine", f"{100 * gate_share:g}% of the tasks", -saved)] if saved else []
    left = pay - saved
    gold = left * gold_rate
    again = (left + gold) * rejected_rate
    lines += [("gold questions", f"{100 * gold_rate:g}% on top", gold)] if gold else []
    lines += [("rejected work", f"{100 * rejected_rate:g}% paid for and thrown away", again)] if again else []
    bonus = (left + gold + again) * bonus_rate
    lines += [("bonus reserve", f"{100 * bonus_rate:g}% of the pay", bonus)] if bonus else []
    paid = left + gold + again + bonus
    lines += [("fees", f"{100 * fee_rate:g}% of the pay", paid * fee_rate)] if paid * fee_rate else []
    machine = tasks * gate_items_minor
    lines += [("machine", f"{tasks:,} tasks x {gate_items_minor:g} minor units", machine)] if machine else []
    by_hour = experts * expert_hours * expert_rate_minor
    rate = Money(int(expert_rate_minor), currency)
    lines += [("experts by the hour", f"{experts:,} x {expert_hours:g} h x {rate}", by_hour)] if by_hour else []
    by_item = expert_items * expert_price_minor
    each = Money(int(expert_price_minor), currency)
    lines += [("experts by the item", f"{expert_items:,} x {each}", by_item)] if by_item else []
    rows = tuple(CostLine(what, said, _whole(amount)) for what, said, amount in lines)
    ungated = pay * (1 + gold_rate) * (1 + rejected_rate) * (1 + bonus_rate) * (1 + fee_rate)
    return CostTable(rows, sum(row.minor for row in rows), _whole(ungated + by_hour + by_item), currency)


def _whole(amount: float) -> int:
    """Round against the payer, but not for a rounding error."""
    return math.ceil(amount - 1e-6)


def _answer(
    tasks: int, price_minor: int | None, seconds: float | None, per_hour: int | None, currency: str
) -> tuple[float, str]:
    if price_minor is not None:
        if seconds is not None or per_hour is not None:
            raise InputError("price_minor goes alone; leave out seconds and pay_per_hour_minor")
        _check(counts={"price_minor": price_minor}, amounts={}, shares={})
        return float(price_minor), str(Money(price_minor, currency))
    if seconds is None or per_hour is None:
        if tasks:
            raise InputError("tasks need a price: give price_minor, or seconds and pay_per_hour_minor")
        return 0.0, ""
    _check(counts={"pay_per_hour_minor": per_hour}, amounts={"seconds": seconds}, shares={})
    return seconds * per_hour / 3600, f"{seconds:g} s at {Money(per_hour, currency)} an hour"


def _check(*, counts: dict[str, Any], amounts: dict[str, Any], shares: dict[str, Any]) -> None:
    for name, value in counts.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise InputError(f"{name} is {value!r}; give a whole number, at least 0")
    for name, value in (amounts | shares).items():
        high = 1.0 if name in shares else math.inf
        if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= high:
            raise InputError(f"{name} is {value!r}; give a number {'in [0, 1]' if name in shares else 'of at least 0'}")
