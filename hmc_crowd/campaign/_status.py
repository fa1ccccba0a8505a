"""Where does the campaign stand, and what comes next?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.money import Money
from hmc_crowd.campaign._appeals import to_settle
from hmc_crowd.campaign._arms import Arms, arms_of
from hmc_crowd.campaign._asked import Question, question_of
from hmc_crowd.campaign._aspects import CERTIFIED
from hmc_crowd.campaign._guideline import Versions
from hmc_crowd.campaign._hold import stopped_since, stopped_words
from hmc_crowd.campaign._quota_check import progress_lines
from hmc_crowd.campaign._set_aside import without_work
from hmc_crowd.campaign._sure_sheet import SureSheet, sure_sheet
from hmc_crowd.campaign._units import machine_version
from hmc_crowd.campaign._until_sure import setting_of, until_sure
from hmc_crowd.campaign._work import open_places, work_left

if TYPE_CHECKING:
    from datetime import datetime

    import pandas as pd

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import PlanRecord, Transaction

__all__ = ["Status", "status"]

_PUBLISHING = frozenset({"publish", "recruit", "extend"})


@dataclass(frozen=True)
class Status:
    """Counts of everything, and the next step.

    Parameters
    ----------
    questions : tuple of Question
        What a person must decide, with the answers that each takes; ``needs_human`` says the same in words.
    unpaid_late : tuple of (str, str)
        Platform and id of complete work that came too late: nobody pays it unless it is approved by name.
    unmatched : int
        Submissions of recruited people whose work our pages do not hold.
    not_reviewed : int
        Submissions that wait for `Campaign.approve`.
    stale : int
        Answers under another guideline: kept, not counted, and asked again by the next plan.
    arms : tuple of Arms
        Of each aspect with suggestions: answers blind and in view of them, and how much that moved people.
    skipped, flagged : int
        Questions that somebody left without an answer, and questions that somebody reported.
    quotas : tuple of str
        Which quotas lack people, in words (`Campaign.quota_progress`).
    appeals : tuple of str
        Items whose appeal only a person can settle (`Campaign.settle_appeal`).
    set_aside : int
        Submissions that cannot be read, or were handed in without anything that can: every collection tries again.
    planned : int
        Items that the newest plan decides about: all but gold of the first question.
    may_certify : bool
        Whether labels of the first question are right or wrong: numbers are nearer or farther, and never certified.
    stopped : datetime or None
        Since when a stop holds (`Campaign.stop`), until `Campaign.lift_stop`.
    sure : SureSheet or None
        How many labels are sure, where they are asked for until they are (`Campaign.publish` with ``most``).
    """

    campaign: str
    database: str
    round: int
    items: int
    predictions: int
    gold: int
    has_effort: bool
    effort_given: bool
    people: int
    audited: int
    hits: int
    open_places: int
    submissions: int
    answers: int
    human_s: float
    labels: int
    tied: int
    work_left: int
    reserved_minor: int
    settled_minor: int
    currency: str
    agreement_at_least: float | None
    needs_human: tuple[str, ...]
    plan_current: bool
    next_step: str
    questions: tuple[Question, ...] = ()
    unpaid_late: tuple[tuple[str, str], ...] = ()
    unmatched: int = 0
    not_reviewed: int = 0
    stale: int = 0
    arms: tuple[Arms, ...] = ()
    skipped: int = 0
    flagged: int = 0
    quotas: tuple[str, ...] = ()
    appeals: tuple[str, ...] = ()
    sure: SureSheet | None = None
    set_aside: int = 0
    stopped: datetime | None = None
    planned: int = 0
    may_certify: bool = True

    @property
    def human_share(self) -> float:
        """The share of the plan's items that people see, audit included; gold is known and no part of it."""
        return (self.people + self.audited) / max(1, self.planned)

    @property
    def satisfied(self) -> bool:
        """Whether every item that people were to judge has its answers and a label that is not tied.

        A plan made before the last predictions came in satisfies nobody.
        """
        answered = self.round > 0 and self.work_left == 0 and self.open_places == 0 and self.labels > 0
        return answered and self.plan_current

    def __str__(self) -> str:
        promise = f", agreement at least {self.agreement_at_least:.2%}" if self.agreement_at_least is not None else ""
        spent = Money(self.reserved_minor + self.settled_minor, self.currency)
        held = "" if self.stopped is None else f"; {stopped_words(self.stopped)}"
        return (
            f"{self.campaign}: round {self.round}, {self.items:,} items, {self.people:,} to people and "
            f"{self.audited:,} audited, {self.answers:,} answers in {self.submissions:,} submissions, "
            f"{self.open_places:,} places open, {spent} committed{promise}{held}; next: {self.next_step}"
        )


def status(context: Context) -> Status:
    """Count what is there."""
    cid = context.campaign_id
    with context.store.read() as tx:
        record = tx.campaigns.get(context.name)
        plan = tx.plans.latest(cid)
        hits = tx.work.hits(cid)
        this_round = tx.work.hits(cid, round=plan.round) if plan else []
        submissions = tx.work.submissions(cid)
        intents = tx.work.intents(cid)
        labels = tx.labels.read(cid)
        certificates = tx.labels.certificates(cid)
        budget = tx.budget.totals(cid)
        items = tx.frames.count(cid, "items")
        redundancy = int(record.settings.get("redundancy", 1))
        until = until_sure(context, tx, setting_of(record.settings), redundancy) if plan else None
        left = len(work_left(context, tx, plan.id, redundancy, until)) if plan else 0
        sure = sure_sheet(context, tx, plan.id, redundancy, until) if plan and until else None
        counted = {kind: tx.frames.count(cid, kind) for kind in ("predictions", "gold", "efforts")}
        answers = tx.work.answers(cid)
        missing = tx.work.missing_counts(cid)
        unread = _set_aside(submissions, answers, tx.work.missing(cid))
        places = sum(places for _, places in open_places(context, tx))
        first, kind = tx.campaigns.aspects(cid)[0].name, tx.campaigns.aspects(cid)[0].kind
        current = plan is None or _is_current(context, tx, plan, tx.frames.count(cid, "predictions", aspect=first))
        stale = int(Versions(context, tx).stale(answers).sum())
        quotas = progress_lines(context, tx)
        appeals = to_settle(context, tx)
    unsent = sum(intent.state in {"planned", "sent"} and intent.operation in _PUBLISHING for intent in intents)
    asked = [question_of(intent) for intent in intents if intent.state == "needs_human"]
    draft = Status(
        campaign=context.name,
        database=context.store.url,
        round=plan.round if plan else 0,
        items=items,
        predictions=counted["predictions"],
        gold=counted["gold"],
        has_effort=bool(items) and counted["efforts"] == items,
        effort_given=bool(record.settings.get("effort_given", False)),
        people=plan.header["counts"]["people"] if plan else 0,
        audited=plan.header["counts"]["audit"] if plan else 0,
        hits=len(hits),
        open_places=places,
        submissions=len(submissions),
        answers=len(answers),
        human_s=float(answers["seconds"].sum()),
        labels=len(labels),
        tied=int(labels["tied"].astype(bool).sum()),
        work_left=left,
        reserved_minor=budget.reserved_minor,
        settled_minor=budget.settled_minor,
        currency=str(record.settings["currency"]),
        agreement_at_least=_certified(certificates, plan.round if plan else 0),
        needs_human=tuple(f"{each.operation} {each.key}: {each.text}" for each in asked),
        questions=tuple(asked),
        unpaid_late=_late(submissions),
        unmatched=sum(len((intent.result or {}).get("unmatched") or ()) for intent in intents),
        not_reviewed=int((submissions["state"] == "submitted").sum()),
        skipped=sum(n for (kind, _), n in missing.items() if kind != "flag"),
        flagged=sum(n for (kind, _), n in missing.items() if kind == "flag"),
        stale=stale,
        arms=arms_of(answers),
        quotas=quotas,
        appeals=appeals,
        sure=sure,
        stopped=stopped_since(record.settings),
        planned=plan.header["counts"]["items"] if plan else 0,
        may_certify=kind in CERTIFIED,
        set_aside=unread,
        plan_current=current,
        next_step="",
    )
    return replace(draft, next_step=_next_step(draft, published=bool(this_round), unsent=unsent))


def _late(submissions: pd.DataFrame) -> tuple[tuple[str, str], ...]:
    """Return the late work that nobody has decided to pay."""
    late = submissions[(submissions["review"] == "unpaid_late") & (submissions["state"] == "expired")]
    return tuple(zip(late["platform"].tolist(), late["submission_id"].tolist(), strict=True))


def _set_aside(submissions: pd.DataFrame, *here: pd.DataFrame) -> int:
    """Count the submissions of which nothing could be read; ``here`` are the answers and skips that are stored."""
    known = {key for frame in here for key in zip(frame["platform"], frame["submission_id"], strict=True)}
    rows = zip(*(submissions[name] for name in ("platform", "submission_id", "state")), strict=True)
    return sum(without_work(state, answered=(platform, name) in known) for platform, name, state in rows)


def _is_current(context: Context, tx: Transaction, plan: PlanRecord, predictions: int) -> bool:
    """Say whether the machine's labels are those that the plan was made from."""
    batch: dict[str, int] = plan.header["made_from"].get("batch", {})
    same_labels = batch.get("machine_version", 0) == machine_version(context, tx)
    return same_labels and batch.get("predictions", predictions) == predictions


def _certified(certificates: list[dict[str, Any]], round_: int) -> float | None:
    """Return this round's bound; one of an earlier round says nothing of this plan."""
    bounds = [each["agreement_at_least"] for each in certificates if each["round"] == round_]
    return float(bounds[-1]) if bounds else None


def _next_step(status: Status, *, published: bool, unsent: int) -> str:
    """Name the step that moves the campaign on."""
    for missing, step in (
        (not status.items, "items"),
        (not status.predictions, "predictions"),
        (not status.has_effort, "effort"),
        (not status.round or (not published and not unsent and not status.plan_current), "plan"),
        (status.round and (unsent or (not published and status.work_left)), "publish"),
        (status.open_places, "collect"),
        (status.answers and not status.labels, "aggregate"),
        (status.work_left or not status.plan_current, "plan"),
        (status.may_certify and status.audited and status.agreement_at_least is None, "certify"),
    ):
        if missing:
            return "lift" if status.stopped and step in {"plan", "publish"} else step
    return "report"
