"""What was planned so that a certificate comes out, what it costs, and what a little more of the promise would cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hmc_crowd.routing._render import html_table

if TYPE_CHECKING:
    from hmc_crowd.routing._plan import Plan

__all__ = ["CertifiedPlan"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CertifiedPlan:
    """A plan with the audit that is to certify it. Frozen; made by `plan_certified`.

    Parameters
    ----------
    plan : Plan
        Who judges what: ``plan.to_human``.
    trade_off : float
        Price of a second in units of confidence, for `route` with the seconds as effort.
    human, audited : int
        Items for people, and items of the others to be drawn for the audit.
    allowed_wrong : int
        The certificate comes out if the audit finds at most so many wrong.
    expected_wrong : int
        Wrong labels among the kept items that the plan reckons with.
    chance : float
        Probability that the first audit certifies the target, if that is right.
    target, level, assurance : float
        The promise, its confidence, and how often it is to come out.
    look_level : float
        Confidence at which the first audit must be judged: above `level` where a top-up may follow.
    top_up : int
        Further items to audit if the first audit fails, fixed now; 0 for none.
    human_s, human_s_read_whole : float
        Expected seconds of people over all answers, audit included: items at their share, and with every touched
        group read as a whole (NaN without groups).
    money_minor : float
        Expected cost.
    binding : tuple of str
        What shapes the plan.
    prices : tuple of (str, float)
        Seconds that a little more would cost: a step of the target, of the assurance, of the level.
    notes, assumptions : tuple of str
        What a reader would wonder about; and what must hold.
    """

    plan: Plan
    trade_off: float
    human: int
    audited: int
    allowed_wrong: int
    expected_wrong: int
    chance: float
    target: float
    level: float
    assurance: float
    look_level: float
    top_up: int
    human_s: float
    human_s_read_whole: float
    money_minor: float
    binding: tuple[str, ...]
    prices: tuple[tuple[str, float], ...]
    notes: tuple[str, ...]
    assumptions: tuple[str, ...]

    def __str__(self) -> str:
        again = f", {self.top_up:,} more if that fails" if self.top_up else ""
        return (
            f"agreement >= {self.target:g} at {100 * self.level:g}%: {self.human:,} of {len(self.plan):,} items to "
            f"people, audit {self.audited:,} of the others{again}; {self.human_s / 3600:,.1f} hours expected; "
            f"comes out with a chance of {self.chance:.3f} (at most {self.allowed_wrong:,} wrong in the audit)"
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        hidden = {"plan"}
        return html_table(
            "Certified plan", ((k, getattr(self, k)) for k in self.__dataclass_fields__ if k not in hidden)
        )
