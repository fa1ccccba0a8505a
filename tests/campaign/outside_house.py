"""A campaign, the stand-in for Prolific that recruits for it, and the workplace whose pages its people come to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np
from hmc_crowd_prolific import Pace, StudySettings, connect

from hmc_crowd.errors import PlatformError

if TYPE_CHECKING:
    from contextlib import ExitStack

    from hmc_crowd_prolific import ProlificPlatform
    from hmc_crowd_prolific.standin import StandIn

    from hmc_crowd._base.clock import VirtualClock
    from hmc_crowd.campaign import Campaign
    from hmc_crowd.testing import ChaosProxy

PLAN = {"trade_off": 0.5, "max_human": 8, "audit": 4}
SPEND = {"redundancy": 2, "pay_per_hour_minor": 1200, "budget_minor": 20_000, "target_minutes": 1.0}


class Recruiting:
    """A stand-in on a real port, a line to it that can be cut, and the pages of the workplace."""

    def __init__(self, standin: StandIn, chaos: ChaosProxy, pages: Any, clock: VirtualClock, stack: ExitStack) -> None:
        self.standin, self.world, self.chaos = standin, standin.world, chaos
        self.pages, self.clock, self._stack = pages, clock, stack
        self._http = stack.enter_context(httpx.Client(base_url=f"{standin.url}/_ctl/", trust_env=False, verify=False))
        self.platform = self.connect()

    def connect(self, *, broken: bool = False, **settings: Any) -> ProlificPlatform:
        """A platform as a new process would have it, straight or over the line that can be cut."""
        base = StudySettings(
            workspace=self.world.workspace,
            project=next(iter(self.world.projects)),
            study_url="https://crowd.example.org/arrive",
        )
        pace = Pace(
            sleep=self.clock.advance,
            monotonic=lambda: self.clock.now().timestamp(),
            rng=np.random.default_rng(1),
            silence_s=1.0 if broken else 30.0,  # a busy machine may be slow; only a cut line stays silent
        )
        opened = connect(
            f"{self.chaos.url if broken else self.standin.url}/api/v1/",
            settings=replace(base, **settings),
            clock=self.clock,
            pace=pace,
            environment={"HMC_CROWD_PROLIFIC_TOKEN": self.world.token},
        )
        return self._stack.enter_context(opened)

    # Participants.

    def take(self, study: str, who: str) -> str:
        return str(self._control(f"participants/{who}/take?study={study}")["id"])

    def answer(self, order: str, submission: str, who: str, truth: dict[str, str]) -> bool:
        """Come to our pages and do what is there; whether there was anything."""
        door = self.pages.order_door("prolific")
        if door.claim(order, worker=who, submission_id=submission) is None:
            return False
        work = self.pages.arrivals("prolific", [submission])[submission]
        self.clock.advance(20)
        self.pages.open_page(work.submission_id, who)
        remote = next(each for each in self.pages.find_all().values() if each.key == work.hit_key)
        for each in self.pages.hit(remote.hit_id).items:
            label = truth[each.item]
            self.pages.save_answer(work.submission_id, who, item=each.item, aspect=each.aspect, label=label)
        self.clock.advance(100)
        self.pages.submit(work.submission_id, who)
        return True

    def complete(self, submission: str) -> None:
        self._control(f"submissions/{submission}/complete")

    def give_back(self, submission: str) -> None:
        self._control(f"submissions/{submission}/return")

    def work(self, order: str, study: str, who: str, truth: dict[str, str]) -> str:
        """Do one HIT from beginning to end."""
        submission = self.take(study, who)
        assert self.answer(order, submission, who, truth)
        self.complete(submission)
        return submission

    def fill(self, campaign: Campaign, truth: dict[str, str], *, prefix: str = "part") -> list[str]:
        """Let people do everything that the campaign asks for."""
        done = []
        for order, study in orders_of(campaign):
            for number in range(1_000):
                try:
                    submission = self.take(study, f"{prefix}{number:03d}")
                except PlatformError:
                    break
                if self.answer(order, submission, f"{prefix}{number:03d}", truth):
                    self.complete(submission)
                    done.append(submission)
                else:
                    self.give_back(submission)
        return done

    def studies(self) -> list[Any]:
        """What is published there."""
        return [each for each in self.world.studies.values() if each.status != "UNPUBLISHED"]

    def _control(self, path: str) -> dict[str, Any]:
        answer = self._http.post(path)
        if answer.status_code >= 400:
            raise PlatformError(answer.text)
        found: dict[str, Any] = answer.json()
        return found


def orders_of(campaign: Campaign) -> list[tuple[str, str]]:
    """Orders and the studies they became."""
    context = campaign._context
    with context.store.read() as tx:
        intents = tx.work.intents(context.campaign_id)
    return [(each.key, each.result["hit_id"]) for each in intents if each.operation == "recruit" and each.result]


def hits_of(campaign: Campaign) -> list[Any]:
    context = campaign._context
    with context.store.read() as tx:
        return list(tx.work.hits(context.campaign_id))


def intents_of(campaign: Campaign) -> list[Any]:
    context = campaign._context
    with context.store.read() as tx:
        return list(tx.work.intents(context.campaign_id))


def submissions_of(campaign: Campaign) -> Any:
    context = campaign._context
    with context.store.read() as tx:
        return tx.work.submissions(context.campaign_id)


def money_of(campaign: Campaign) -> tuple[int, int, int]:
    """Reserved, settled, and by how much the ledger is off."""
    context = campaign._context
    with context.store.read() as tx:
        totals = tx.budget.totals(context.campaign_id)
        return totals.reserved_minor, totals.settled_minor, tx.budget.gap(context.campaign_id)


def payments_of(campaign: Campaign) -> list[Any]:
    context = campaign._context
    with context.store.read() as tx:
        return list(tx.payments.read(context.campaign_id))


class Turk:
    """The workplace's MTurk front door, served, and the adapter connected to it."""

    def __init__(
        self, url: str, door: Any, workers: Any, clock: VirtualClock, calls: list[str], connect_to: Any
    ) -> None:
        self.url, self.door, self.workers, self.clock, self.calls = url, door, workers, clock, calls
        self.connect = connect_to
        self.platform = connect_to(url)

    def hits(self) -> list[Any]:
        return list(self.platform.find_all().values())

    def creates(self) -> int:
        return sum(each.startswith("CreateHITWith") for each in self.calls)

    def work(self, record: Any, who: str, truth: dict[str, str]) -> str:
        """Do one HIT; return the assignment's id."""
        from hmc_crowd_mturk._questions import answer_name

        work = self.workers.accept(record.platform_hit_id, who)
        fields = [(answer_name(place), truth[each.item]) for place, each in enumerate(record.items, start=1)]
        self.clock.advance(60)
        self.workers.submit(work.assignment_id, fields)
        return str(work.assignment_id)

    def fill(self, campaign: Campaign, truth: dict[str, str]) -> list[str]:
        return [
            self.work(hit, f"A{number}WORKER", truth) for hit in hits_of(campaign) for number in range(hit.redundancy)
        ]
