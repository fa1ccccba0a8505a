"""How far are the labels from sure, and what may asking on cost?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd._base.money import Money
from hmc_crowd.campaign._until_sure import until_sure
from hmc_crowd.campaign._work import asked_units

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.campaign._cost_sheet import CostSheet
    from hmc_crowd.campaign._publish import PublishRequest
    from hmc_crowd.campaign._until_sure import UntilSure
    from hmc_crowd.store import Transaction

__all__ = ["SureSheet", "sure_sheet", "with_sure"]


@dataclass(frozen=True)
class SureSheet:
    """Where the questions stand that are asked until they are sure.

    Parameters
    ----------
    questions : int
        Questions about items that the plan gives to people, one for each item and aspect with labels.
    sure, exhausted : int
        Those that are sure, and those that had all their answers and are not: they are for experts.
    asked : int
        Those that are asked, or are to be asked, in this round.
    most, error : int and float
        Most answers, and most chance of a wrong label of a sure one.
    answers_at_most, answers_likely : int or None
        Answers that rounds after this one may take: if no further label becomes sure, and if labels become sure as
        often as so far; None before anything is known of that.
    cost_at_most_minor, cost_likely_minor : int or None
        The campaign's total then, at this round's price of an answer; None where nothing says what one costs.
    why_none : tuple of str
        Why nothing can be sure.
    """

    questions: int
    sure: int
    exhausted: int
    asked: int
    most: int
    error: float
    answers_at_most: int
    answers_likely: int | None
    cost_at_most_minor: int | None = None
    cost_likely_minor: int | None = None
    why_none: tuple[str, ...] = ()

    def __str__(self) -> str:
        left = f", {self.exhausted:,} had all {self.most} answers and are not: they are for experts"
        return (
            f"{self.sure:,} of {self.questions:,} questions are sure (chance of a wrong label at most "
            f"{self.error:.1%}), {self.asked:,} are asked on{left if self.exhausted else ''}"
        )

    def cost_text(self, currency: str) -> str:
        """Say what later rounds may bring the campaign's total to."""
        if self.cost_at_most_minor is None:
            return ""
        likely = ""
        if self.cost_likely_minor is not None:
            likely = f"likely {Money(self.cost_likely_minor, currency)} in all, "
        at_most = f"{Money(self.cost_at_most_minor, currency)} if nothing more becomes sure"
        return f"{likely}{at_most} ({self.answers_at_most:,} answers more)"


def sure_sheet(
    context: Context,
    tx: Transaction,
    plan_id: int,
    redundancy: int,
    until: UntilSure,
    *,
    per_answer_minor: float | None = None,
    committed_minor: int = 0,
) -> SureSheet:
    """Count what is sure, and what the others may still take.

    Parameters
    ----------
    per_answer_minor : float, optional
        What an answer costs in this round, gold and fees with it.
    committed_minor : int
        What is spent when this round is over.
    """
    units = asked_units(context, tx, plan_id, redundancy, until)
    units = units[until.may_stop(units)]
    given, needed = units["given"].to_numpy(), units["needed"].to_numpy()
    after = given + units["coming"].to_numpy() + needed
    asked = after > given
    sure = until.is_sure(units) & ~asked
    rest = np.where(sure, 0, np.maximum(0, until.most - after))
    chance = _chance_of_sure(given, sure, redundancy)
    likely = None
    if chance is not None:
        # A question that is asked on is asked a j-th time more if none of j looks found it sure.
        likely = round(float(sum(((rest >= j) * (1 - chance) ** j).sum() for j in range(1, until.most))))
    cost = None if per_answer_minor is None else (lambda more: round(committed_minor + more * per_answer_minor))
    return SureSheet(
        questions=len(units),
        sure=int(sure.sum()),
        exhausted=int((~sure & ~asked & (given >= until.most)).sum()),
        asked=int(asked.sum()),
        most=until.most,
        error=until.error,
        answers_at_most=int(rest.sum()),
        answers_likely=likely,
        cost_at_most_minor=None if cost is None else cost(int(rest.sum())),
        cost_likely_minor=None if cost is None or likely is None else cost(likely),
        why_none=until.why_none,
    )


def with_sure(
    context: Context, plan_id: int, request: PublishRequest, sheet: CostSheet, until: UntilSure | None
) -> CostSheet:
    """Add to a cost sheet how many labels are sure, and what later rounds may cost, where that is asked for.

    ``until`` is what was found out for bundling; of a round that was bundled before it is found out now.
    """
    with context.store.read() as tx:
        until = until or until_sure(context, tx, request.until, request.redundancy)
        if until is None:
            return sheet
        found = sure_sheet(
            context,
            tx,
            plan_id,
            request.redundancy,
            until,
            per_answer_minor=sheet.total_minor / sheet.answers if sheet.answers else None,
            committed_minor=sheet.total_minor + sheet.committed_minor,
        )
    return replace(sheet, sure=found, notes=(*sheet.notes, *found.why_none))


def _chance_of_sure(given: np.ndarray, sure: np.ndarray, redundancy: int) -> float | None:
    """Return how often a look found a question sure: looks are taken from the first ``redundancy`` answers on."""
    looks = np.maximum(0, given - redundancy + 1).sum()
    return float(sure.sum() / looks) if looks else None
