"""A campaign on Prolific's stand-in as it goes: people come, lines break, processes die, and the books must be right.

`Life` holds the steps and the checks; who calls them in which order (Hypothesis, a long random walk) stands in
`test_life_of_a_campaign`.
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack, nullcontext, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hmc_crowd_prolific.standin import Options
from outside_house import PLAN, Recruiting, hits_of, intents_of, money_of, payments_of, submissions_of

from hmc_crowd.campaign import Bonus, Campaign
from hmc_crowd.errors import InputError, NeedsHumanError, PlatformError, PlatformUnavailableError, StateError
from hmc_crowd.platform import find_platform
from hmc_crowd.quality import RejectionProposal, RejectionSignal

if TYPE_CHECKING:
    from collections.abc import Callable

    from hmc_crowd._base.clock import VirtualClock

BUDGET = 50_000
BONUSES = {"kind": 150, "quick": 75}
TWO = (RejectionSignal("gold", "4 of 4 known items wrong", 4), RejectionSignal("same_label", "all answers are bad"))
LINES = ("reset_before", "reset_after", "status_before", "status_after", "truncate_after", "html_before", "html_after")
STEPS = ("before_intent", "after_intent", "sent", "after_remote", "after_pay", "after_local")
FAULTS = (
    *(f"line {each}" for each in LINES),
    *(f"die {each}" for each in STEPS),
    *(f"list {each}" for each in ("skip", "repeat", "shuffle", "empty")),
    "wallet is busy",
)
PEOPLE = ("works", "works", "works", "gives back", "leaves", "never comes to us")
HAS_WORK = {"AWAITING REVIEW": "submitted", "APPROVED": "approved", "REJECTED": "rejected"}


class DiedError(BaseException):
    """What a test does in place of kill -9."""


class Life:
    """One campaign from its plan on; each step may be broken and is taken again later."""

    def __init__(self, standin: Any, chaos: Any, clock: VirtualClock, batch: Any) -> None:
        self.stack = ExitStack()
        folder = Path(self.stack.enter_context(TemporaryDirectory()))
        self.clock, self.world = clock, standin.world
        self.world.reset(clock, Options())
        chaos.reset()
        pages = find_platform("local", str(folder / "workplace.db"), clock=clock)
        self.stack.callback(pages.close)
        self.house = Recruiting(standin, chaos, pages, clock, self.stack)
        self.broken = self.house.connect(broken=True)
        self.url = f"sqlite:///{folder / 'life.db'}"
        self.batch = batch
        self.campaign = self._begin()
        self.people = self.extended = 0

    def _begin(self) -> Campaign:
        campaign = Campaign.create(self.url, labels=["good", "bad"], seed=7, clock=self.clock)
        campaign.add_items(self.batch.items)
        campaign.add_predictions(self.batch.predictions)
        campaign.add_gold(self.batch.gold)
        campaign.estimate_effort()
        campaign.plan(**PLAN)
        return campaign

    def close(self) -> None:
        self.campaign.close()
        self.stack.close()

    # What we do, each time over a line and in a process that may break.

    def publish(self, fault: str | None = None) -> None:
        spend = {"redundancy": 2, "pay_per_hour_minor": 1200, "budget_minor": BUDGET, "target_minutes": 1.0}
        self._try(fault, lambda place, kept: self.campaign.publish(place, **spend, **kept))

    def collect(self, fault: str | None = None) -> None:
        self._try(fault, lambda place, kept: self.campaign.collect(place, pages=kept["pages"]), needs_hits=True)

    def reconcile(self, fault: str | None = None) -> None:
        self._try(fault, lambda place, kept: self.campaign.reconcile(place, pages=kept["pages"]))

    def approve(self, fault: str | None = None) -> None:
        self._try(fault, lambda place, kept: self.campaign.approve(place, budget_minor=BUDGET, **kept))

    def reject(self, which: int, fault: str | None = None) -> None:
        names = self._known("submitted")
        if not names:
            return
        proposals = [RejectionProposal(names[which % len(names)], TWO, "x" * 100)]
        signed = {"signed_off_by": "kim", "cap": 1.0}
        try:
            self._try(fault, lambda place, kept: self.campaign.reject(place, proposals, **signed, **kept))
        except InputError as error:
            # An approval whose process had died is carried out first, and what is paid is not rejected.
            if "approved" not in str(error):
                raise

    def pay(self, which: int, code: str, fault: str | None = None) -> None:
        names = self._known("submitted", "approved")
        if not names:
            return
        wanted = [Bonus(names[which % len(names)], BONUSES[code], code)]
        self._try(fault, lambda place, kept: self.campaign.pay(place, wanted, budget_minor=BUDGET, **kept))

    def extend(self, fault: str | None = None, *, reopen: bool = True) -> None:
        hits = [hit for hit in hits_of(self.campaign) if hit.platform_hit_id and not hit.salvaged_from]
        if not hits or self.extended >= 5:
            return
        self.extended += 1
        hit = hits[self.extended % len(hits)]
        more = {"target": 3 + self.extended // len(hits), "reopen": reopen, "budget_minor": BUDGET}
        # A full study is opened again on demand only.
        with nullcontext() if reopen else suppress(StateError):
            self._try(fault, lambda place, kept: self.campaign.extend(place, hit.key, **more, **kept))

    def answer_questions(self) -> None:
        """A person looks at the platform and answers by what he sees there."""
        intents = {each.key: each for each in intents_of(self.campaign)}
        for question in self.campaign.questions():
            decision = "retry"
            if question.operation == "pay":
                rows = (intents[question.key].payload or {})["rows"]
                paid = self.bonuses()
                decision = "done" if all(paid[row["submission_id"], row["amount_minor"]] for row in rows) else "retry"
            elif question.operation in {"approve", "reject"}:
                decision = "cancel"
            self.campaign.answer_question(question.key, decision, "looked there; kim")

    def start_again(self) -> None:
        """A new process."""
        self.campaign.close()
        self.campaign = Campaign.open(self.url, clock=self.clock)

    def wait(self, hours: int) -> None:
        self.clock.advance(3600 * hours)

    def _try(self, fault: str | None, action: Callable[[Any, dict[str, Any]], Any], needs_hits: bool = False) -> None:
        if needs_hits and not any(hit.platform_hit_id for hit in hits_of(self.campaign)):
            return
        kind, _, what = (fault or "").partition(" ")
        if kind == "line":
            self.house.chaos.inject(what, nth=1 + self.people % 3)
        elif kind == "wallet":
            self.house.chaos.inject("status_before", match=r"POST .*(transition|bulk-approve|/pay/)", status=429)
        elif kind == "list":
            self.world.page_faults = [what]
        elif kind == "die":
            self.campaign._context.hook = lambda here, _key: _die() if here == what else None
        try:
            action(self.broken, {"pages": self.house.pages, "dry_run": False})
        except DiedError:
            self.start_again()
        except (PlatformUnavailableError, NeedsHumanError):
            pass
        finally:
            self.house.chaos.reset()
            self.world.page_faults = []
            self.campaign._context.hook = None

    # What people do.

    def somebody(self, does: str, which: int) -> None:
        orders = self.orders()
        if not orders:
            return
        order, study = orders[which % len(orders)]
        self.people += 1
        who = f"person{self.people:04d}"
        try:
            name = self.house.take(study, who)
        except PlatformError:
            return  # the study is full or closed
        if does == "leaves":
            self.house.pages.order_door("prolific").claim(order, worker=who, submission_id=name)
            return
        is_done = does == "never comes to us"
        if does == "works":
            is_done = self.house.answer(order, name, who, self.batch.truth)
        (self.house.complete if is_done else self.house.give_back)(name)

    # What must be true, at every moment.

    def check(self) -> None:
        wanted: Counter[str] = Counter()
        for hit in hits_of(self.campaign):
            wanted[str(hit.order_key)] += hit.redundancy
        with self.world.lock:
            names = [each.body.internal_name for each in self.world.studies.values()]
            places = {each.id: each.body.total_available_places for each in self.world.studies.values()}
            rewards = [each.paid_minor for each in self.world.submissions.values()]
            reward = max((each.body.reward for each in self.world.studies.values()), default=0)
            spent = self.world.spent_minor
        assert len(set(names)) == len(names), "two objects under one key"
        for order, study in self.orders():
            assert places[study] <= wanted[order], "more places than were wanted"
        assert max(self.bonuses().values(), default=0) <= 1, "a bonus was paid twice"
        assert max(rewards, default=0) <= reward, "a reward was paid twice"
        reserved, settled, gap = money_of(self.campaign)
        assert gap == 0
        assert reserved + settled <= BUDGET
        # Shares of a cent are rounded for each payment there and for each order here.
        assert spent <= reserved + settled + len(rewards), "spent more than was written down before"

    def check_the_end(self) -> None:
        """Let everything come to rest, and compare our books with the platform's."""
        for _ in range(12):
            self.wait(3)
            for step in (self.publish, self.answer_questions, self.collect, self.approve, self.reconcile):
                step()
            if self.campaign.reconcile(self.house.platform, pages=self.house.pages).is_settled:
                break
        else:
            raise AssertionError(f"it never came to rest: {self.campaign.questions()}, {intents_of(self.campaign)}")
        self.campaign.stop(self.house.platform, pages=self.house.pages)
        self.wait(48)
        self.collect()
        self.check()
        self._check_nobody_is_lost()
        self._check_the_money()

    def _check_nobody_is_lost(self) -> None:
        there = {each.id: each for each in self.world.submissions.values()}
        came = self.house.pages.arrivals("prolific", list(there))
        here = submissions_of(self.campaign).set_index("submission_id")["state"].to_dict()
        worked = {name: HAS_WORK[each.status] for name, each in there.items() if each.status in HAS_WORK}
        assert {name: here.get(name) for name in worked if name in came} == {
            name: state for name, state in worked.items() if name in came
        }, "a submission was lost, or is not what the platform shows"
        # Those who took a place and never came to our pages, also if they gave it back.
        assert len(set(worked) - set(came)) <= self.campaign.status().unmatched <= len(set(there) - set(came))
        with self.campaign._context.store.read() as tx:
            answered = tx.work.answer_counts(self.campaign._context.campaign_id, "prolific")
        items = {hit.key: len(hit.items) for hit in hits_of(self.campaign)}
        assert {name: answered.get(name) for name in worked if name in came} == {
            name: items[came[name].hit_key] for name in worked if name in came
        }, "answers were lost"

    def _check_the_money(self) -> None:
        states = {each.id: each.status for each in self.world.submissions.values()}
        came = self.house.pages.arrivals("prolific", list(states))
        paid = [each for each in payments_of(self.campaign) if each.state == "paid"]
        rewards = {each.submission_id for each in paid if each.reason_code == "reward"}
        assert rewards == {name for name, state in states.items() if state == "APPROVED" and name in came}
        bonuses = {(each.submission_id, each.amount_minor) for each in paid if each.reason_code != "reward"}
        assert bonuses == set(self.bonuses()), "a bonus is not what we believe"
        reserved, settled, _ = money_of(self.campaign)
        owed = [each for each in self.world.submissions.values() if each.status == "AWAITING REVIEW"]
        due = sum(sum(self.world.cost_minor(self.world.study(each.study).body.reward, 1)) for each in owed)
        assert reserved == 0
        assert abs(settled - self.world.spent_minor - due) <= len(paid) + len(owed) + len(self.orders())

    # Looking things up.

    def orders(self) -> list[tuple[str, str]]:
        recruited = [each for each in intents_of(self.campaign) if each.operation == "recruit"]
        return [(each.key, each.result["hit_id"]) for each in recruited if each.result and "hit_id" in each.result]

    def bonuses(self) -> Counter[tuple[str, int]]:
        """How often each bonus was paid there, or will be when its time has come."""
        with self.world.lock:
            found: Counter[tuple[str, int]] = Counter()
            for each in self.world.bonuses.values():
                for row in each.rows:
                    found[row] += each.times_paid + len(each.pays)
        return +found

    def _known(self, *states: str) -> list[str]:
        known = submissions_of(self.campaign)
        return sorted(known.loc[known["state"].isin(states), "submission_id"])


def _die() -> None:
    raise DiedError
