"""A process that is killed at a given step of an outside effect; `test_crash_matrix` runs it."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from hmc_crowd_prolific import Pace, StudySettings
from hmc_crowd_prolific import connect as connect_prolific

from hmc_crowd._base.clock import VirtualClock
from hmc_crowd.campaign import Bonus, Campaign
from hmc_crowd.platform import find_platform
from hmc_crowd.quality import RejectionProposal, RejectionSignal

if TYPE_CHECKING:
    from datetime import datetime

SPEND = {"redundancy": 2, "pay_per_hour_minor": 1200, "budget_minor": 20_000, "target_minutes": 1.0, "dry_run": False}
TWO = (RejectionSignal("gold", "4 of 4 known items wrong", 4), RejectionSignal("same_label", "all answers are bad"))


@dataclass(frozen=True)
class Job:
    """What to do, where, and at which step to die.

    Parameters
    ----------
    step : str
        A step of `Context.at`; empty: live on.
    prolific : dict or None
        Address, token, workspace and project; None: the MTurk endpoint.
    """

    database: str
    workplace: str
    now: datetime
    operation: str
    step: str
    target: str = ""
    prolific: dict[str, str] | None = None
    mturk: str = ""
    environment: dict[str, str] = field(default_factory=dict)


def run(job: Job) -> None:
    """Do the operation; SIGKILL at the step."""
    os.environ.update(job.environment)
    clock = VirtualClock(job.now)
    place, pages = _connect(job, clock)
    with Campaign.open(job.database, clock=clock) as campaign:
        if job.step:
            campaign._context.hook = lambda here, _key: _die() if here == job.step else None
        perform(campaign, place, pages, job.operation, job.target)
    place.close() if hasattr(place, "close") else None
    if pages is not None:
        pages.close()


def perform(campaign: Campaign, place: Any, pages: Any, operation: str, target: str) -> Any:
    """Do one of the six operations, the same way each time."""
    spend = {"pages": pages, "budget_minor": 20_000, "dry_run": False}
    if operation in {"create", "publish"}:
        return campaign.publish(place, pages=pages, **SPEND)
    if operation == "extend":
        return campaign.extend(place, target, target=4, **spend)  # two more: said absolutely, to be said again
    if operation == "approve":
        return campaign.approve(place, [target], **spend)
    if operation == "reject":
        proposal = RejectionProposal(target, TWO, "x" * 100)
        return campaign.reject(place, [proposal], signed_off_by="kim", cap=1.0, dry_run=False, pages=pages)
    return campaign.pay(place, [Bonus(target, 150, "quality")], **spend)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _connect(job: Job, clock: VirtualClock) -> tuple[Any, Any]:
    if job.prolific is None:
        from hmc_crowd_mturk import connect

        return connect(job.mturk, clock=clock), None
    pace = Pace(
        sleep=clock.advance, monotonic=lambda: clock.now().timestamp(), rng=np.random.default_rng(1), silence_s=5.0
    )
    settings = StudySettings(
        workspace=job.prolific["workspace"],
        project=job.prolific["project"],
        study_url="https://crowd.example.org/arrive",
    )
    place = connect_prolific(
        job.prolific["url"],
        settings=settings,
        clock=clock,
        pace=pace,
        environment={"HMC_CROWD_PROLIFIC_TOKEN": job.prolific["token"]},
    )
    return place, find_platform("local", job.workplace, clock=clock)
