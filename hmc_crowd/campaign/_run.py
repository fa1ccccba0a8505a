"""Rounds until the plan is satisfied: every step in its order, each of them safe to repeat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import InputError
from hmc_crowd.platform import Rehearsal

if TYPE_CHECKING:
    from hmc_crowd.campaign._campaign import Campaign
    from hmc_crowd.campaign._context import Progress
    from hmc_crowd.campaign._labels import CampaignCertificate
    from hmc_crowd.platform import Platform
    from hmc_crowd.simulation import Crowd

__all__ = ["RunResult", "run"]


@dataclass(frozen=True)
class RunResult:
    """How a run ended: ``satisfied``, ``waiting`` for people, or ``out_of_rounds``."""

    state: str
    rounds: int
    certificate: CampaignCertificate | None
    spent_minor: int
    currency: str

    def __str__(self) -> str:
        promise = f"; {self.certificate}" if self.certificate else ""
        return f"{self.state.replace('_', ' ')} after {self.rounds} rounds{promise}"


def run(
    campaign: Campaign,
    platform: Platform,
    *,
    crowd: Crowd | None,
    max_rounds: int,
    method: str,
    plan: dict[str, Any],
    publish: dict[str, Any],
    progress: Progress | None,
) -> RunResult:
    """Play rounds; see `Campaign.run`."""
    if crowd is not None and not isinstance(platform, Rehearsal):
        raise InputError(f"platform {platform.name!r} takes no simulated workers; use 'local', or leave crowd out")
    say = progress or (lambda *_: None)
    certificate = None
    for number in range(max_rounds):
        status = campaign.status()
        if status.open_places == 0 and status.next_step != "publish":
            if status.satisfied:
                break
            if not status.has_effort or status.round:
                campaign.estimate_effort()
            say("planning", number + 1, max_rounds)
            campaign.plan(**plan)
        campaign.publish(platform, dry_run=False, progress=progress, **publish)
        if crowd is not None and isinstance(platform, Rehearsal):
            say("simulated people at work", number + 1, max_rounds)
            platform.rehearse(crowd)
        collected = campaign.collect(platform, progress=progress)
        certificate = _evaluate(campaign, method)
        if collected.open_places and crowd is None:
            return _result(campaign, "waiting", certificate)
        campaign.learn()
    state = "satisfied" if campaign.status().satisfied else "out_of_rounds"
    return _result(campaign, state, certificate)


def _evaluate(campaign: Campaign, method: str) -> CampaignCertificate | None:
    status = campaign.status()
    if status.answers == 0:
        return None
    if status.gold:
        campaign.check_gold()
    campaign.aggregate(method=method)
    return campaign.certify() if campaign.status().audited else None


def _result(campaign: Campaign, state: str, certificate: CampaignCertificate | None) -> RunResult:
    status = campaign.status()
    return RunResult(state, status.round, certificate, status.reserved_minor + status.settled_minor, status.currency)
