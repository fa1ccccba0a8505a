"""Can so many people judge so much? Asked before a share is promised.

The source's load does not fit its staff: 15% of 10,000 requests a second leave 1,000 people .22 s for a case. State the
feasible share first.

Source: requirements D1 and D2.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from hmc_crowd.errors import InputError

__all__ = ["Staffing", "staffing"]


@dataclass(frozen=True)
class Staffing:
    """What people can do of what comes.

    Parameters
    ----------
    feasible : bool
    seconds_per_case : float
        What there is for a case, all its answers together.
    people_needed : int
    backlog_per_day : float
        Cases that stay undone each day.
    feasible_share : float
        The largest share of all requests that these people can review.
    """

    feasible: bool
    seconds_per_case: float
    people_needed: int
    backlog_per_day: float
    feasible_share: float

    def __str__(self) -> str:
        if self.feasible:
            return f"feasible, up to a share of {self.feasible_share:.3%}"
        return (
            f"not feasible: {self.seconds_per_case:.2f} s for a case, {self.people_needed:,} people needed; these "
            f"people can review {self.feasible_share:.3%}, {self.backlog_per_day:,.0f} cases a day stay undone"
        )


def staffing(
    requests_per_s: float, share: float, *, people: int, answer_s: float, answers: int = 1, hours: float = 8.0
) -> Staffing:
    """Say whether people can review a share of a stream of requests.

    Parameters
    ----------
    requests_per_s : float
        Around the clock.
    share : float
        To be reviewed, in [0, 1].
    people : int
    answer_s : float
        Time of an answer.
    answers : int, default 1
        Answers per case.
    hours : float, default 8
        A person's hours a day.

    Examples
    --------
    The source's figures, with 10 s for an answer:

    >>> print(staffing(10_000, 0.15, people=1000, answer_s=10))  # doctest: +NORMALIZE_WHITESPACE
    not feasible: 0.22 s for a case, 45,000 people needed; these people can review 0.333%, 126,720,000 cases a day
    stay undone
    """
    numbers = {"requests_per_s": requests_per_s, "people": people, "answer_s": answer_s, "hours": hours}
    bad = [name for name, value in numbers.items() if not 0 <= value < float("inf")]
    if bad or not answer_s > 0 or answers < 1 or not 0 <= share <= 1 or not 0 < hours <= 24:
        named = bad[0] if bad else "answer_s, answers, share or hours"
        raise InputError(
            f"{named} is out of range; give numbers of 0 or more, a share in [0, 1], and hours above 0, up to 24"
        )
    coming = requests_per_s * 86_400
    cases, work_s = coming * share, people * hours * 3600
    needed = cases * answer_s * answers
    done = work_s / (answer_s * answers)
    return Staffing(
        feasible=needed <= work_s,
        seconds_per_case=work_s / cases if cases else float("inf"),
        people_needed=ceil(needed / (hours * 3600) - 1e-9),
        backlog_per_day=max(0.0, cases - done),
        feasible_share=min(1.0, done / coming) if coming else 1.0,
    )
