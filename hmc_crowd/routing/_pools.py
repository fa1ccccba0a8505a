"""Who can be asked, and what must a plan keep to? Pools of people, quotas and limits, checked where they are stated.

Sources: requirements F2, F3, F14; the source's experts, crowd and gate (D34) are pools here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Limits", "Pool", "Quota", "quotas_by"]


@dataclass(frozen=True, kw_only=True)
class Pool:
    """People who can be asked: what they cost, how fast and how good they are, and how much of them there is.

    Parameters
    ----------
    name : str
        What the plan calls them.
    skill : float, default 1
        Probability that the label this pool gives (all its answers together) is right; 1 means that their label is
        what agreement is measured against.
    redundancy : int, default 1
        Answers per item.
    speed : float, default 1
        Seconds are divided by it: 2 needs half of the stated time.
    pay_per_hour_minor : int, default 0
        What an hour of work earns, in minor units.
    price_minor : int, optional
        What one answer earns, whatever its time; goes before `pay_per_hour_minor`.
    fee_rate : float, default 0
        What the platform takes on top, as a share of the pay.
    capacity : int, optional
        Most items the pool can take.
    people : float, optional
        How many of them work at a time: with a deadline they give ``people * deadline_s`` seconds.

    Raises
    ------
    InputError
        A value is out of its range.

    Examples
    --------
    >>> round(Pool(name="crowd", skill=0.93, redundancy=3, pay_per_hour_minor=1200, fee_rate=0.2).minor_per_s, 3)
    0.4
    """

    name: str
    skill: float = 1.0
    redundancy: int = 1
    speed: float = 1.0
    pay_per_hour_minor: int = 0
    price_minor: int | None = None
    fee_rate: float = 0.0
    capacity: int | None = None
    people: float | None = None

    def __post_init__(self) -> None:
        where = f"of pool {self.name!r}"
        _require(self.skill, f"skill {where}", 0.0, 1.0)
        _require(self.speed, f"speed {where}", 1e-9)
        _require(self.fee_rate, f"fee_rate {where}")
        for value, name, low in (
            (self.redundancy, "redundancy", 1),
            (self.pay_per_hour_minor, "pay_per_hour_minor", 0),
            (self.price_minor, "price_minor", 0),
            (self.capacity, "capacity", 0),
        ):
            if value is not None and (isinstance(value, bool) or not isinstance(value, Integral) or int(value) < low):
                raise InputError(f"{name} {where} is {value!r}; give a whole number, at least {low}")
        if self.people is not None:
            _require(self.people, f"people {where}")

    @property
    def minor_per_s(self) -> float:
        """Money for one second of one person, fee included, where pay goes by time."""
        return 0.0 if self.price_minor is not None else self.pay_per_hour_minor / 3600 * (1.0 + self.fee_rate)

    @property
    def minor_per_answer(self) -> float:
        """Money for one answer, fee included, where pay goes by answer."""
        return 0.0 if self.price_minor is None else self.price_minor * (1.0 + self.fee_rate)


@dataclass(frozen=True, eq=False, kw_only=True)
class Quota:
    """What a part of the items must get: a category, a subgroup, or whatever is of high risk.

    Parameters
    ----------
    name : str
        What messages call it.
    rows : array of bool, shape (n_items,)
        The items it speaks of.
    at_least, at_most : int or float, optional
        Items of them that people judge: a count, or a share (at least: rounded up, at most: rounded down).
    error_at_most : float, optional
        Expected share of wrong labels among them in the finished batch: what the machine keeps counts with
        ``1 - confidence``, what people judge with ``1 - skill``.

    Raises
    ------
    InputError
        No condition is given, or one is out of range, or the quota names no item.

    Examples
    --------
    >>> risk = np.array([0.9, 0.1, 0.95])
    >>> Quota(name="high risk", rows=risk > 0.8, at_least=0.5).counts
    (1, None)
    """

    name: str
    rows: NDArray[np.bool_]
    at_least: int | float | None = None
    at_most: int | float | None = None
    error_at_most: float | None = None

    def __post_init__(self) -> None:
        rows = np.asarray(self.rows)
        if rows.dtype != np.bool_ or rows.ndim != 1:
            raise InputError(f"rows of quota {self.name!r} must be one True or False per item; compare a column first")
        if not rows.any():
            raise InputError(f"quota {self.name!r} names no item; drop it, or correct its rows")
        if self.at_least is None and self.at_most is None and self.error_at_most is None:
            raise InputError(f"quota {self.name!r} asks for nothing; give at_least, at_most or error_at_most")
        low, high = self.counts
        if low is not None and high is not None and low > high:
            raise InputError(f"quota {self.name!r} asks for at least {low:,} and at most {high:,} items; correct one")
        if self.error_at_most is not None:
            _require(self.error_at_most, f"error_at_most of quota {self.name!r}", 0.0, 1.0)
        object.__setattr__(self, "rows", rows)

    @property
    def size(self) -> int:
        """How many items it speaks of."""
        return int(np.count_nonzero(self.rows))

    @property
    def counts(self) -> tuple[int | None, int | None]:
        """The two bounds as numbers of items."""
        return self._count(self.at_least, "at_least"), self._count(self.at_most, "at_most")

    def _count(self, value: Any, side: str) -> int | None:
        if value is None:
            return None
        name = f"{side} of quota {self.name!r}"
        if isinstance(value, Integral) and not isinstance(value, bool):
            if not 0 <= int(value) <= self.size:
                raise InputError(f"{name} is {value}; it names {self.size:,} items, so give 0 to {self.size}")
            return int(value)
        exact = _require(value, name, 0.0, 1.0) * self.size
        # Binary fractions must not cost or give an item: .1 of 30 is 3.
        return math.ceil(exact - 1e-9) if side == "at_least" else math.floor(exact + 1e-9)


def quotas_by(
    column: ArrayLike,
    *,
    at_least: int | float | None = None,
    at_most: int | float | None = None,
    error_at_most: float | None = None,
) -> tuple[Quota, ...]:
    """Return the same quota for every value of a column (category, subgroup, language).

    Parameters
    ----------
    column : array, shape (n_items,)
        The value of each item.
    at_least, at_most, error_at_most
        As in `Quota`.

    Returns
    -------
    tuple of Quota
        One per value, named after it, sorted.

    Examples
    --------
    >>> [(quota.name, quota.counts) for quota in quotas_by(["en", "de", "en"], at_least=0.5)]
    [('de', (1, None)), ('en', (1, None))]
    """
    values = np.asarray(column).astype(str)
    return tuple(
        Quota(name=str(value), rows=values == value, at_least=at_least, at_most=at_most, error_at_most=error_at_most)
        for value in np.unique(values)
    )


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a plan may use at most, over all pools and all answers.

    Parameters
    ----------
    max_human : int or float, optional
        Most items for people: a count or a share.
    max_human_s : float, optional
        Most seconds of people, in expectation.
    max_human_s_p90 : float, optional
        Most seconds if every item took its P90, as on a day on which all run slow together: a budget that holds in
        nine cases of ten however the times depend on one another.
    max_money_minor : int, optional
        Most money, fees and redundancy included, in minor units.
    deadline_s : float, optional
        Seconds until all must be done; binds pools whose number of people is known.

    Raises
    ------
    InputError
        A limit is negative or not a number.

    Examples
    --------
    >>> Limits(max_human_s=40 * 3600.0, max_money_minor=60_000)
    Limits(max_human=None, max_human_s=144000.0, max_human_s_p90=None, max_money_minor=60000, deadline_s=None)
    """

    max_human: int | float | None = None
    max_human_s: float | None = None
    max_human_s_p90: float | None = None
    max_money_minor: int | None = None
    deadline_s: float | None = None

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if value is not None:
                _require(value, each.name)


def _require(value: Any, name: str, low: float = 0.0, high: float = math.inf) -> float:
    is_number = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
    if not is_number or not math.isfinite(float(value)) or not low <= float(value) <= high:
        allowed = f"in [{low:g}, {high:g}]" if math.isfinite(high) else f"of at least {low:g}"
        raise InputError(f"{name} is {value!r}; give a number {allowed}")
    return float(value)
