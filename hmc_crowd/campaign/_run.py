"""Rounds until the plan is satisfied: every step in its order, each of them safe to repeat."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.money import Money
from hmc_crowd.campaign._aggregate import require_method
from hmc_crowd.campaign._aspects import CHOICES, canonical
from hmc_crowd.campaign._data import known_labels
from hmc_crowd.campaign._hold import require_not_stopped
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.platform import Rehearsal
from hmc_crowd.simulation import Question, SimulatedCrowd

if TYPE_CHECKING:
    from hmc_crowd.campaign._campaign import Campaign
    from hmc_crowd.campaign._context import Progress
    from hmc_crowd.platform import Platform, TaskPages
    from hmc_crowd.simulation import Crowd

__all__ = ["RunResult", "run"]


@dataclass(frozen=True)
class RunResult:
    """How a run ended: ``satisfied``, ``waiting`` for people, or ``out_of_rounds``."""

    state: str
    rounds: int
    agreement_at_least: float | None
    human_share: float
    spent_minor: int
    currency: str

    def __str__(self) -> str:
        at_least = self.agreement_at_least
        promise = "" if at_least is None else f"; at least {at_least:.2%} of the labels agree with our people"
        return (
            f"{self.state.replace('_', ' ')} after {self.rounds} round{'s' if self.rounds != 1 else ''}{promise}; "
            f"people saw {self.human_share:.1%}; {Money(self.spent_minor, self.currency)} committed"
        )


def run(
    campaign: Campaign,
    platform: Platform,
    *,
    crowd: Crowd | None,
    max_rounds: int,
    method: str,
    plan: dict[str, Any],
    publish: dict[str, Any],
    pages: TaskPages | None,
    progress: Progress | None,
) -> RunResult:
    """Play rounds; see `Campaign.run`."""
    if crowd is not None and not isinstance(platform, Rehearsal):
        raise InputError(f"platform {platform.name!r} takes no simulated workers; use 'local', or leave crowd out")
    # Nothing is done that leads up to what is refused: planning would begin another round.
    require_not_stopped(campaign._context, "running on")
    require_method(campaign._context, method)
    say = progress or (lambda *_: None)
    # A run that was killed after collecting left answers that no label knows of yet.
    _evaluate(campaign, method)
    for number in range(max_rounds):
        status = campaign.status()
        asks_more = number == 0 and status.satisfied and campaign.plan_differs(plan)
        if status.satisfied and not asks_more:
            return _result(campaign, "satisfied")
        if asks_more or status.next_step in {"items", "predictions", "effort", "plan"}:
            if not status.effort_given:
                campaign.estimate_effort()
            say("planning", number + 1, max_rounds)
            campaign.plan(**plan)
        if crowd is not None:
            _require_truth(campaign, crowd)
        campaign.publish(platform, pages=pages, dry_run=False, progress=progress, **publish)
        worked = 0
        if crowd is not None and isinstance(platform, Rehearsal):
            say("simulated people at work", number + 1, max_rounds)
            worked = platform.rehearse(crowd)
        collected = campaign.collect(platform, pages=pages, progress=progress)
        _evaluate(campaign, method)
        if collected.open_places and not worked:
            return _result(campaign, "waiting")
        campaign.learn()
    return _result(campaign, "satisfied" if campaign.status().satisfied else "out_of_rounds")


def _evaluate(campaign: Campaign, method: str) -> None:
    """Check, aggregate and certify what has come in so far."""
    status = campaign.status()
    if status.answers == 0:
        return
    if status.gold:
        with suppress(StateError):  # nobody has answered blind, or under the guideline in force
            campaign.check_gold()
    try:
        campaign.aggregate(method=method)
        if status.may_certify and status.audited and status.plan_current and not status.arms:
            campaign.certify()
    except StateError:
        # So far only gold was answered, or every answer is left out: the next round asks again.
        return


def _require_truth(campaign: Campaign, crowd: Crowd) -> None:
    """Refuse, before anything is published, simulated people who know no answer to a question that they will meet."""
    if not isinstance(crowd, SimulatedCrowd):
        return
    context = campaign._context
    with context.store.read() as tx:
        plan = tx.plans.latest(context.campaign_id)
        planned = [] if plan is None else tx.plans.read(plan.id, people_only=True, columns=["item"])["item"].tolist()
        gold = tx.frames.read(context.campaign_id, "gold", columns=["item"])["item"].tolist()
        for each in tx.campaigns.aspects(context.campaign_id):
            known = known_labels(context, tx, each)
            labels = tuple(known) if each.kind in CHOICES else ()
            for item in dict.fromkeys([*planned, *gold]):
                said = crowd.truth_of(Question(str(item), each.name, "", 0, labels))
                if canonical(each, known, said) is None:
                    raise InputError(
                        f"the crowd's answer to {each.name!r} about item {item!r} is {said!r}, which this {each.kind} "
                        "question does not allow; give the truth of each question (columns item, aspect, label)"
                    )


def _result(campaign: Campaign, state: str) -> RunResult:
    status = campaign.status()
    return RunResult(
        state=state,
        rounds=status.round,
        agreement_at_least=status.agreement_at_least,
        human_share=status.human_share,
        spent_minor=status.reserved_minor + status.settled_minor,
        currency=status.currency,
    )
