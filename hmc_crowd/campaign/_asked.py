"""What must a person decide, and what follows from the answer?

A question stands where the platform's word is not enough: a payment that does not show, work that was rejected behind
our back, a HIT that nobody here knows. Three answers exist, and each question says which of them it takes: ``retry``
(it surely did not happen: do it), ``done`` (it happened), ``cancel`` (it shall not happen). The money, the payments and
the HITs follow in the same transaction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hmc_crowd.campaign._effects_review import REWARD
from hmc_crowd.errors import InputError, StateError

if TYPE_CHECKING:
    from datetime import datetime

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import IntentRecord, PaymentRecord, Transaction

__all__ = ["Question", "answer", "question_of", "questions"]

_STATES = {"retry": "planned", "done": "done", "cancel": "cancelled"}
_CHOICES = {
    "approve": ("retry", "done", "cancel"),
    "pay": ("retry", "done", "cancel"),
}


@dataclass(frozen=True)
class Question:
    """What a person must decide.

    Parameters
    ----------
    key : str
        Names the question to `Campaign.answer_question`.
    operation, platform : str
        What was to be done, and where.
    text : str
        The question itself.
    choices : tuple of str
        The answers that it takes.
    since : datetime
        When it came up.
    """

    key: str
    operation: str
    platform: str
    text: str
    choices: tuple[str, ...]
    since: datetime

    def __str__(self) -> str:
        return f"{self.operation} {self.key}: {self.text} [{' | '.join(self.choices)}]"


def question_of(intent: IntentRecord) -> Question:
    """Return the question that an intent waits with."""
    text = str((intent.result or {}).get("question") or f"look at {intent.lane or 'the platform'}")
    choices = _CHOICES.get(intent.operation, ("retry", "cancel"))
    return Question(intent.key, intent.operation, intent.lane, text, choices, intent.updated_at)


def questions(context: Context) -> tuple[Question, ...]:
    """Return all open questions, oldest first."""
    with context.store.read() as tx:
        return tuple(question_of(each) for each in tx.work.intents(context.campaign_id, state="needs_human"))


def answer(context: Context, key: str, decision: str, note: str) -> None:
    """Take a person's answer, and bring money, payments and HITs in line with it."""
    with context.store.begin() as tx:
        intent = tx.work.intent(key)
        if intent is None or intent.campaign_id != context.campaign_id or intent.state != "needs_human":
            raise StateError(f"{key!r} is no open question; questions() lists them")
        choices = question_of(intent).choices
        if decision not in choices:
            raise InputError(f"decision is {decision!r}; this question takes {', '.join(choices)}")
        tx.work.answer_question(key, _STATES[decision], note)
        if intent.operation == "approve":
            _approval(context, tx, intent, decision)
        elif intent.operation == "pay":
            _bonus(context, tx, intent, decision)
        elif decision == "cancel":
            _dropped(context, tx, intent)
        context.log(tx, "a person decided", key=key, decision=decision, note=note)


def _dropped(context: Context, tx: Transaction, intent: IntentRecord) -> None:
    """Give the money of what shall not be published back, and take its HITs out of what is to come."""
    payload = intent.payload or {}
    keys = {
        "publish": [intent.key],
        "recruit": payload.get("hits", []),
        "extend": [payload["new_key"]] if payload.get("new_key") else [],
    }.get(intent.operation, [])
    if tx.budget.purpose(context.campaign_id, intent.key) is not None:
        tx.budget.release(context.campaign_id, intent.key)
    for key in keys:
        tx.work.set_hit(key, state="cancelled")


def _approval(context: Context, tx: Transaction, intent: IntentRecord, decision: str) -> None:
    cid, payload = context.campaign_id, intent.payload or {}
    rewards = _unpaid_rewards(context, tx, intent)
    state = {"retry": "planned", "done": "paid", "cancel": "cancelled"}[decision]
    tx.payments.set_state(cid, rewards, state)
    extra = payload.get("extra") or {}
    if decision == "done":
        tx.work.review_submissions(cid, intent.lane, payload["rows"], "approved", by="a person", at=context.clock.now())
        if extra:
            tx.budget.settle(cid, intent.key, sum(extra.values()))
    elif decision == "cancel" and extra:
        result = intent.result or {}
        paid = {*result.get("approved", ()), *result.get("auto_approved", ())}  # before the rest was refused
        tx.budget.settle(cid, intent.key, sum(cost for name, cost in extra.items() if name in paid))


def _unpaid_rewards(context: Context, tx: Transaction, intent: IntentRecord) -> list[PaymentRecord]:
    every = tx.payments.read(context.campaign_id, reason_code=REWARD)
    rows = set((intent.payload or {})["rows"])
    mine = [each for each in every if each.platform == intent.lane and each.submission_id in rows]
    return [each for each in mine if each.state != "paid"]


def _bonus(context: Context, tx: Transaction, intent: IntentRecord, decision: str) -> None:
    cid = context.campaign_id
    state = {"retry": "planned", "done": "paid", "cancel": "cancelled"}[decision]
    tx.payments.set_state(cid, intent.key, state)
    if decision == "done":
        tx.budget.settle(cid, intent.key, intent.amount_minor)
    elif decision == "cancel":
        tx.budget.release(cid, intent.key)
