"""Approving and rejecting: what the outbox does about submissions.

Only what the platform shows is acted on. Work that it does not show yet is put off; work that it approved by itself is
noted as such; work that it shows as rejected, or as another person's, is a question for a person. After PLATFORMS.md,
P6, P7 and P8.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hmc_crowd.campaign._effect import Effect, Outcome
from hmc_crowd.campaign._keys import campaign_key
from hmc_crowd.campaign._pseudonyms import forgotten_workers, pseudonyms
from hmc_crowd.campaign._set_aside import Aside, read_submissions
from hmc_crowd.errors import NeedsHumanError, PlatformError, PlatformUnavailableError
from hmc_crowd.platform import ApprovesMany, SubmissionState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.platform import Platform, RemoteSubmission
    from hmc_crowd.store import IntentRecord, PaymentRecord, Transaction

__all__ = ["REWARD", "Approving", "Rejecting", "workers_of"]

REWARD = "reward"
"""Reason code of the pay for the work itself; a submission gets it once."""

_FIRST_LOOK_S = 60.0
_MOST_LOOKS = 10
_NEVER_SHOWN = "the platform has not shown it for a long time"


@dataclass
class _Verdicts:
    """What became of each submission of an approval."""

    ours: list[str] = field(default_factory=list)
    auto: list[str] = field(default_factory=list)
    later: list[str] = field(default_factory=list)
    disputed: dict[str, str] = field(default_factory=dict)

    @property
    def paid(self) -> list[str]:
        return [*self.ours, *self.auto]

    def as_json(self) -> dict[str, Any]:
        return {"approved": self.ours, "auto_approved": self.auto, "deferred": self.later, "disputed": self.disputed}


class Approving(Effect):
    """Submissions of some HITs, approved and paid."""

    operation = "approve"
    verb = "approving"
    raises_refusals = False

    def __init__(self, context: Context, platform: Platform) -> None:
        self._context = context
        self._platform = platform

    def settle(self, intent: IntentRecord) -> Outcome | None:  # noqa: ARG002
        """Say nothing: the call looks at each submission first, and approves only what still waits."""
        return None

    def call(self, intent: IntentRecord) -> Outcome:
        """Look what the platform shows, approve what waits there, and say what became of each."""
        payload = intent.payload or {}
        done = intent.result or {}
        verdicts = _Verdicts(list(done.get("approved", [])), list(done.get("auto_approved", [])))
        shown = self._shown(payload, set(payload["rows"]) - set(verdicts.paid))
        waiting = self._sorted(intent, payload, shown, verdicts)
        self._approve(payload, waiting, verdicts)
        if verdicts.later and intent.attempts >= _MOST_LOOKS:
            verdicts.disputed |= dict.fromkeys(verdicts.later, _NEVER_SHOWN)
            verdicts.later = []
        if payload.get("is_dispute") and verdicts.disputed:
            name, why = next(iter(verdicts.disputed.items()))
            return Outcome("needs_human", {**verdicts.as_json(), "question": self._question(name, why)})
        if verdicts.later:
            why = f"{len(verdicts.later)} submissions are not shown by the platform yet"
            wait = _FIRST_LOOK_S * 2 ** min(intent.attempts, 6)
            return Outcome("planned", {**verdicts.as_json(), "why": why}, self._apply(intent, verdicts), wait)
        return Outcome("done", verdicts.as_json(), self._apply(intent, verdicts))

    def _shown(self, payload: dict[str, Any], wanted: set[str]) -> dict[str, RemoteSubmission]:
        if not wanted:
            return {}
        found = read_submissions(self._platform, payload["hit_ids"], Aside(self._platform.name))
        return {each.submission_id: each for each in found if each.submission_id in wanted and not each.problem}

    def _sorted(
        self, intent: IntentRecord, payload: dict[str, Any], shown: dict[str, RemoteSubmission], verdicts: _Verdicts
    ) -> list[str]:
        """Sort by what the platform shows; return what is to be approved now."""
        waiting: list[str] = []
        names = pseudonyms(self._context.worker_key, self._platform.name, {each.worker for each in shown.values()})
        stored = workers_of(self._context, self._platform.name)
        forgotten = forgotten_workers(self._context, self._platform.name, stored)
        payable = {SubmissionState.SUBMITTED, SubmissionState.EXPIRED}
        payable |= {SubmissionState.REJECTED} if self._overrides(payload) else set()
        for name in payload["rows"]:
            if name in verdicts.paid:
                continue
            remote = shown.get(name)
            if remote is None or remote.state is SubmissionState.ACCEPTED:
                verdicts.later.append(name)
            elif names[remote.worker] != stored.get(name) and stored.get(name) not in forgotten:
                verdicts.disputed[name] = "it belongs to another worker than the one whose work we hold"
            elif remote.state is SubmissionState.APPROVED:
                by_itself = getattr(remote, "auto_approved", not intent.attempts)
                (verdicts.auto if by_itself else verdicts.ours).append(name)
            elif remote.state in payable:
                waiting.append(name)
            else:
                verdicts.disputed[name] = f"the platform shows it as {remote.state.value}"
        return waiting

    def _approve(self, payload: dict[str, Any], waiting: list[str], verdicts: _Verdicts) -> None:
        single = set(payload["singly"])
        many = [each for each in waiting if each not in single]
        if isinstance(self._platform, ApprovesMany) and many and not payload["override"]:
            for remote in self._platform.approve_many(many, hit_ids=payload["hit_ids"]):
                self._file(remote.submission_id, remote, verdicts)
            waiting = [each for each in waiting if each in single]
        override = {"override": True} if self._overrides(payload) else {}
        for name in waiting:
            try:
                remote = self._platform.approve(name, **override)
            except PlatformUnavailableError:
                verdicts.later.append(name)
            except (PlatformError, NeedsHumanError) as error:
                verdicts.disputed[name] = str(error)
            else:
                self._file(name, remote, verdicts)

    def _overrides(self, payload: dict[str, Any]) -> bool:
        """Say whether what was rejected is approved all the same; a person may want that where nobody can do it."""
        return bool(payload["override"]) and self._platform.capabilities.overrides_rejection

    @staticmethod
    def _file(name: str, remote: RemoteSubmission, verdicts: _Verdicts) -> None:
        if remote.state is SubmissionState.APPROVED:
            (verdicts.auto if getattr(remote, "auto_approved", False) else verdicts.ours).append(name)
        elif remote.state is SubmissionState.SUBMITTED:
            verdicts.later.append(name)
        else:
            verdicts.disputed[name] = f"the platform shows it as {remote.state.value}"

    def _apply(self, intent: IntentRecord, verdicts: _Verdicts) -> Callable[[Transaction], None]:
        payload = intent.payload or {}

        def apply(tx: Transaction) -> None:
            context, name = self._context, self._platform.name
            now, by = context.clock.now(), payload["by"] or "approve"
            tx.work.move_submissions(context.campaign_id, name, verdicts.paid, "approved")
            for some, review in ((verdicts.ours, "approved"), (verdicts.auto, "auto_approved")):
                tx.work.review_submissions(context.campaign_id, name, some, review, by=by, at=now)
            tx.work.review_submissions(context.campaign_id, name, verdicts.disputed, "conflict", by=by, at=now)
            rewards = tx.payments.read(context.campaign_id, reason_code=REWARD)
            if (
                verdicts.later
                or verdicts.disputed
                or not tx.payments.set_state(context.campaign_id, intent.key, "paid")
            ):
                tx.payments.set_state(context.campaign_id, _of(rewards, verdicts.paid), "paid")
                tx.payments.set_state(context.campaign_id, _of(rewards, verdicts.disputed), "needs_human")
            if not verdicts.later and payload["extra"]:
                tx.budget.settle(
                    context.campaign_id, intent.key, sum(payload["extra"].get(each, 0) for each in verdicts.paid)
                )
            for each, why in verdicts.disputed.items():
                # Its own money is free for the question when the whole is settled, above.
                if not (verdicts.later and each in payload["extra"]):
                    self._dispute(tx, intent, each, why)
            if verdicts.paid:
                context.log(tx, "approved", submissions=len(verdicts.paid), by=by, auto=len(verdicts.auto))

        return apply

    def _dispute(self, tx: Transaction, intent: IntentRecord, submission: str, why: str) -> None:
        """Write a question of its own for one submission."""
        payload = intent.payload or {}
        key = campaign_key(str(self._context.settings_in(tx)["uid"]), "dispute", self._platform.name, submission)
        if tx.work.intent(key) is not None:
            return
        cost = payload["extra"].get(submission, 0)
        now = self._context.clock.now()
        asked = replace(
            intent,
            key=key,
            payload_hash=key,
            state="needs_human",
            amount_minor=cost,
            result={"question": self._question(submission, why)},
            payload={
                **payload,
                "rows": [submission],
                "override": True,
                "extra": {submission: cost} if cost else {},
                "is_dispute": True,
            },
            created_at=now,
            updated_at=now,
            attempts=0,
            sent_at=None,
            not_before=None,
            lease_owner=None,
            lease_until=None,
        )
        tx.work.add_intent(asked)
        if cost:  # what was held for it is held on, now under its own key
            held = tx.budget.totals(self._context.campaign_id)
            limit = held.reserved_minor + held.settled_minor + cost
            tx.budget.reserve(self._context.campaign_id, key, cost, intent.currency, limit)

    def _question(self, submission: str, why: str) -> str:
        return (
            f"Submission {submission} was to be approved on {self._platform.name}, but {why}. Shall it be paid all the "
            "same (retry), was it paid by hand (done), or stays it as it is (cancel)?"
        )

    def ask(self, tx: Transaction, intent: IntentRecord, question: str) -> None:  # noqa: ARG002
        """Hold the payments back."""
        rewards = tx.payments.read(self._context.campaign_id, state="planned", reason_code=REWARD)
        held = _of(rewards, (intent.payload or {})["rows"])
        tx.payments.set_state(self._context.campaign_id, held, "needs_human")


def workers_of(context: Context, platform: str) -> dict[str, str]:
    """Return the pseudonym of each submission's worker."""
    with context.store.read() as tx:
        known = tx.work.submissions(context.campaign_id)
    known = known[known["platform"] == platform]
    return dict(zip(known["submission_id"].tolist(), known["worker"].tolist(), strict=True))


def _of(rewards: Iterable[PaymentRecord], names: Iterable[str]) -> list[PaymentRecord]:
    wanted = set(names)
    return [each for each in rewards if each.submission_id in wanted]


class Rejecting(Effect):
    """One submission, refused, with what the worker reads."""

    operation = "reject"
    verb = "rejecting"
    raises_refusals = False

    def __init__(self, context: Context, platform: Platform) -> None:
        self._context = context
        self._platform = platform

    def settle(self, intent: IntentRecord) -> Outcome | None:
        """See whether the platform shows it as rejected."""
        return self._as_shown(intent)

    def call(self, intent: IntentRecord) -> Outcome:
        """Reject what waits for a review; anything else is a question."""
        payload = intent.payload or {}
        known = self._as_shown(intent)
        if known is not None:
            return known
        remote = self._platform.reject(payload["submission_id"], payload["message"])
        if remote.state is not SubmissionState.REJECTED:
            return Outcome("sent", {"why": "the platform does not show the rejection yet"}, wait_s=_FIRST_LOOK_S)
        return self._done(intent)

    def _as_shown(self, intent: IntentRecord) -> Outcome | None:
        """Return the outcome that the platform shows; None where the work waits for a review."""
        payload = intent.payload or {}
        name = payload["submission_id"]
        found = read_submissions(self._platform, [payload["hit_id"]], Aside(self._platform.name))
        remote = next((each for each in found if each.submission_id == name and not each.problem), None)
        if remote is None:
            raise PlatformUnavailableError(f"submission {name} is not shown by {self._platform.name} yet")
        if remote.state is SubmissionState.SUBMITTED:
            return None
        if remote.state is SubmissionState.REJECTED:
            return self._done(intent)
        question = (
            f"Submission {name} was to be rejected on {self._platform.name}, but the platform shows it as "
            f"{remote.state.value}. Leave it so (cancel), or try again (retry)?"
        )
        return Outcome("needs_human", {"question": question})

    def _done(self, intent: IntentRecord) -> Outcome:
        payload = intent.payload or {}

        def apply(tx: Transaction) -> None:
            context, name = self._context, self._platform.name
            ids = [payload["submission_id"]]
            tx.work.move_submissions(context.campaign_id, name, ids, "rejected")
            tx.work.review_submissions(
                context.campaign_id, name, ids, "rejected", by=payload["by"], at=context.clock.now()
            )
            tx.work.exclude(context.campaign_id, ids, "rejected")
            _look_again(context, tx, payload["hit_key"])
            context.log(tx, "rejected", submission=ids[0], rules=payload["rules"], by=payload["by"])

        return Outcome("done", {}, apply)


def _look_again(context: Context, tx: Transaction, hit_key: str) -> None:
    """Let the next collection settle a HIT anew: less is paid, or its place is offered to somebody else."""
    hit = next(each for each in tx.work.hits(context.campaign_id) if each.key == hit_key)
    if hit.state in {"complete", "closed"}:
        tx.work.set_hit(hit_key, state="open")
