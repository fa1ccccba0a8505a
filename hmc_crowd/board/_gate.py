"""What should somebody look at now? A gate reads the figures and says so in words; the one here has fixed thresholds.

A gate that learns its thresholds, or knows drift, takes the place of `FixedGate` through the same protocol.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Alert", "Figures", "FixedGate", "Gate"]


@dataclass(frozen=True)
class Alert:
    """One thing to look at.

    Parameters
    ----------
    state : {"watch", "act"}
        Whether it can wait.
    what : str
        The rule that found it, a short name for programs.
    text : str
        What it saw, with the figures.
    about : str
        Of whom it speaks, where the rule may find several.
    """

    state: Literal["watch", "act"]
    what: str
    text: str
    about: str = ""


@dataclass(frozen=True)
class Figures:
    """What a gate reads; None where a figure is not known.

    Parameters
    ----------
    gold_accuracy, gold_n : float, int
        Share of right answers among the last gold answers, and how many those are.
    workers : mapping of str to (int, int)
        Right and all of each worker's last gold answers.
    budget_share : float, optional
        Reserved and spent, of the limit.
    oldest_review_s, oldest_queue_s : float, optional
        Age of what waits longest for a review, and for people.
    overdue : int
        Items of the machine door whose deadline has passed.
    hourly_minor : float, optional
        What people earn in an hour by the median time of their submissions, in minor units.
    questions : int
        What a person must decide.
    floor_minor, pay_text : float, str
        The campaign's own floor of an hour's pay, and how pay stands to it in a sentence.
    pool_load : mapping of str to float
        Expected time of what is open to each pool, of its capacity in the next day.
    """

    gold_accuracy: float | None
    gold_n: int
    workers: Mapping[str, tuple[int, int]]
    budget_share: float | None
    oldest_review_s: float | None
    oldest_queue_s: float | None
    overdue: int
    hourly_minor: float | None
    questions: int
    floor_minor: float | None = None
    pay_text: str = ""
    pool_load: Mapping[str, float] = field(default_factory=dict)


class Gate(Protocol):
    """Anything that reads the figures and names what to look at."""

    def judge(self, figures: Figures) -> Sequence[Alert]:
        """Return alerts, the gravest first."""
        ...


@dataclass(frozen=True)
class FixedGate:
    """A gate with thresholds that somebody chose.

    Parameters
    ----------
    gold_accuracy : float, default 0.7
        Least share of right answers on gold, over the last ones, of all people and of each.
    at_least : int, default 5
        Nothing is said of fewer gold answers.
    budget_share : float, default 0.9
        From this share of the budget on somebody should look.
    review_s : float, default 48 hours
        Longest that handed-in work may wait for its review.
    hourly_minor : float, optional
        Least that people shall earn in an hour, in minor units; where absent, the floor that the campaign sets.

    Examples
    --------
    >>> figures = Figures(0.5, 20, {}, None, None, None, 0, None, 0)
    >>> [alert.what for alert in FixedGate().judge(figures)]
    ['gold_accuracy']
    """

    gold_accuracy: float = 0.7
    at_least: int = 5
    budget_share: float = 0.9
    review_s: float = 48 * 3600.0
    hourly_minor: float | None = None

    def __post_init__(self) -> None:
        for name in ("gold_accuracy", "budget_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name} is {getattr(self, name)}; give a share in [0, 1]")

    def judge(self, figures: Figures) -> list[Alert]:
        """Return alerts, the gravest first."""
        found = [*self._of_quality(figures), *self._of_money(figures), *self._of_waiting(figures)]
        return sorted(found, key=lambda alert: alert.state != "act")

    def _of_quality(self, figures: Figures) -> list[Alert]:
        found = []
        accuracy = figures.gold_accuracy
        if accuracy is not None and figures.gold_n >= self.at_least and accuracy < self.gold_accuracy:
            text = f"{accuracy:.0%} of the last {figures.gold_n:,} gold answers are right; {self.gold_accuracy:.0%} is"
            found.append(Alert("act", "gold_accuracy", f"{text} the least that was set."))
        for worker, (right, n) in sorted(figures.workers.items()):
            if n >= self.at_least and right / n < self.gold_accuracy:
                text = f"Worker {worker} has {right} of the last {n} gold answers right."
                found.append(Alert("watch", "worker_accuracy", text, worker))
        return found

    def _of_money(self, figures: Figures) -> list[Alert]:
        found = []
        if figures.budget_share is not None and figures.budget_share >= self.budget_share:
            found.append(Alert("watch", "budget", f"{figures.budget_share:.0%} of the budget is reserved or spent."))
        earned, floor = figures.hourly_minor, self.hourly_minor
        own = figures.floor_minor
        if floor is None and earned is not None and own is not None and earned < own:
            found.append(Alert("act", "fair_pay", f"{figures.pay_text[:1].upper()}{figures.pay_text[1:]}."))
        if earned is not None and floor is not None and earned < floor:
            text = f"People earn {earned:,.0f} minor units an hour by the median, less than the floor of {floor:,.0f}"
            found.append(Alert("act", "fair_pay", f"{text}: raise the pay, or top up by a bonus."))
        return found

    def _of_waiting(self, figures: Figures) -> list[Alert]:
        found = []
        if figures.questions:
            found.append(Alert("act", "questions", f"{figures.questions:,} questions wait for a person's decision."))
        if figures.overdue:
            found.append(Alert("act", "overdue", f"{figures.overdue:,} items of the queue are past their deadline."))
        for pool, share in sorted(figures.pool_load.items()):
            if share > 1:
                text = f"Pool {pool} has {share:.0%} of the work that its shifts of the next 24 hours can take."
                found.append(Alert("watch", "pool_load", text, pool))
        if figures.oldest_review_s is not None and figures.oldest_review_s > self.review_s:
            hours = figures.oldest_review_s / 3600
            found.append(Alert("act", "review", f"Work has been waiting for its review for {hours:,.0f} hours."))
        return found
