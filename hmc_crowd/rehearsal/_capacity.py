"""How much of a stream can people look at? The share that is feasible comes first; wishes come after.

At the source's load of 10,000 requests a second, 15% of them for people would be 1,500 a second: no crowd does that.
So the answer begins with what the people there are can do, then says what is missing for what was wished.

Source: requirement D2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

from hmc_crowd.errors import InputError
from hmc_crowd.quality import staffing

__all__ = ["Capacity", "capacity"]

_DAY_S = 86_400.0


@dataclass(frozen=True)
class Capacity:
    """What people can do of a stream. Made by `capacity`.

    Parameters
    ----------
    feasible_share : float
        Share of the arrivals that the people there are can judge, at most 1.
    cases_per_day, arrivals_per_day, wanted_per_day : float
        Cases that they finish; arrivals; those that were to be judged.
    people_needed : int or None
        For the wanted share, None where none was stated.
    backlog_per_day : float
        Cases that pile up each day at the wanted share; 0 where they keep up.
    days_to_first_full_day_behind : float
        Days until the backlog is a full day's work; inf where they keep up.
    utilisation : float
        Share of their time that the wanted share takes; above 1 it cannot be done.
    assumptions : tuple of str
        What was reckoned with.
    """

    feasible_share: float
    cases_per_day: float
    arrivals_per_day: float
    wanted_per_day: float
    people_needed: int | None
    backlog_per_day: float
    days_to_first_full_day_behind: float
    utilisation: float
    assumptions: tuple[str, ...]

    def __str__(self) -> str:
        said = (
            f"people can look at {_share(self.feasible_share)} of the arrivals: {self.cases_per_day:,.0f} of "
            f"{self.arrivals_per_day:,.0f} a day"
        )
        if self.people_needed is None:
            return said
        if self.backlog_per_day <= 0:
            return f"{said}; the {self.wanted_per_day:,.0f} wanted take {self.utilisation:.0%} of their time"
        return (
            f"{said}; the {self.wanted_per_day:,.0f} wanted need {self.people_needed:,} people; as it "
            f"is, {self.backlog_per_day:,.0f} cases pile up every day"
        )


def capacity(
    *,
    arrivals_per_s: float,
    people: float,
    seconds_per_case: float,
    review_share: float | None = None,
    redundancy: int = 1,
    hours_per_day: float = 8.0,
    busy: float = 0.85,
) -> Capacity:
    """Say what share of a stream people can judge, and what a wished share would need.

    Parameters
    ----------
    arrivals_per_s : float
        Items per second, around the clock.
    people : float
        How many people work on a day.
    seconds_per_case : float
        Time of one person for one answer.
    review_share : float, optional
        Share of the arrivals that people were to judge.
    redundancy : int, default 1
        Answers per item.
    hours_per_day : float, default 8
        How long each works.
    busy : float, default 0.85
        Share of that time that is spent on cases: breaks, waiting and chance take the rest, and queues grow without
        end as it comes near 1.

    Returns
    -------
    Capacity

    Raises
    ------
    InputError
        A value is out of range.

    Examples
    --------
    >>> print(capacity(arrivals_per_s=10_000, people=100, seconds_per_case=30, review_share=0.15))
    people can look at 0.0094% of the arrivals: 81,600 of 864,000,000 a day; the 129,600,000 wanted need 158,824 people;
    as it is, 129,518,400 cases pile up every day
    """
    _positive(arrivals_per_s=arrivals_per_s, seconds_per_case=seconds_per_case, redundancy=redundancy)
    _within(people=(people, math.inf), hours_per_day=(hours_per_day, 24.0), busy=(busy, 1.0))
    if review_share is not None:
        _within(review_share=(review_share, 1.0))
    staff = staffing(
        float(arrivals_per_s),
        float(review_share or 0.0),
        people=people,  # type: ignore[arg-type]
        answer_s=float(seconds_per_case),
        answers=redundancy,
        hours=hours_per_day * busy,
    )
    done = people * hours_per_day * busy * 3600.0 / (seconds_per_case * redundancy)
    arrivals = arrivals_per_s * _DAY_S
    wanted, behind = arrivals * (review_share or 0.0), staff.backlog_per_day
    if wanted and not hours_per_day * busy:
        raise InputError("hours_per_day and busy leave no time for cases; give more than 0 of both")
    return Capacity(
        feasible_share=staff.feasible_share,
        cases_per_day=done,
        arrivals_per_day=arrivals,
        wanted_per_day=wanted,
        people_needed=None if review_share is None else staff.people_needed,
        backlog_per_day=behind,
        days_to_first_full_day_behind=done / behind if behind > 0 else math.inf,
        utilisation=wanted / done if done > 0 else (math.inf if wanted else 0.0),
        assumptions=(
            f"each person works {hours_per_day:g} hours a day, {busy:.0%} of it on cases",
            f"{redundancy} answer{'s' if redundancy > 1 else ''} per item of {seconds_per_case:g} s",
            "arrivals are even around the clock: peaks wait for the next quiet hour",
        ),
    )


def _share(value: float) -> str:
    """Write a share so that a tiny one does not look like nothing."""
    return f"{value:.1%}" if value >= 0.01 or value == 0 else f"{100 * value:.2g}%"


def _positive(**values: Any) -> None:
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < math.inf:
            raise InputError(f"{name} is {value!r}; give a number above 0")


def _within(**values: tuple[Any, float]) -> None:
    for name, (value, high) in values.items():
        if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= high:
            allowed = "of at least 0" if math.isinf(high) else f"in [0, {high:g}]"
            raise InputError(f"{name} is {value!r}; give a number {allowed}")
