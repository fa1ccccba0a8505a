"""How does something happen outside exactly once, whatever breaks? Written down first, done, and then written down.

An intent is committed before its call (by the step that wants it, together with the money it needs). Here it is carried
out: claimed under a lease, committed as `sent`, called, and its outcome and local effects committed together. What was
tried before is asked about first, by its operation's `settle`, and sent again only where the platform shows that it did
not happen. Three ends need no guess: `done`; put off, where the platform said "later"; and `needs_human`, with the
question that a person must answer.

One lane for each account lets one process at a time call; others are told who is at work. After PLATFORMS.md, P1, P2,
P4, P20 and 6.6.
"""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from hmc_crowd.campaign._effect import Effect, Outcome, Ran
from hmc_crowd.campaign._hold import OFFERING, stopped_since, stopped_words
from hmc_crowd.campaign._owner import is_gone, new_owner
from hmc_crowd.errors import (
    BudgetError,
    InputError,
    NeedsHumanError,
    PlatformError,
    PlatformUnavailableError,
    StateError,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    import numpy as np

    from hmc_crowd.campaign._context import Context, Progress
    from hmc_crowd.platform import Platform
    from hmc_crowd.store import IntentRecord, Transaction

__all__ = ["Outbox"]

_LEASE = timedelta(minutes=15)
_AT_ONCE = 20
_GIVE_UP_AFTER = 3  # silences in a row: the platform is down, and asking on would only wait
_FIRST_WAIT_S = 1.0
_LONGEST_WAIT_S = 900.0
_GO_ON = frozenset({"approve", "reject", "pay", "expire"})
_TAKEN_OVER = "it took longer than its lease, and another process goes on with it"


class Outbox:
    """Carries out the intents of a campaign on one platform.

    Parameters
    ----------
    context : Context
        The campaign.
    platform : Platform
        Where it happens; intents of other platforms are left alone.
    effects : mapping of str to Effect
        By operation; intents of other operations are left alone.
    rng : numpy.random.Generator
        Draws the jitter of the waiting times.
    patience_s : float, default 10
        How long to wait for another process to leave the account's lane.
    """

    def __init__(
        self,
        context: Context,
        platform: Platform,
        effects: Mapping[str, Effect],
        *,
        rng: np.random.Generator,
        patience_s: float = 10.0,
    ) -> None:
        self._context = context
        self._platform = platform
        self._effects = dict(effects)
        self._rng = rng
        self._patience_s = patience_s
        self._owner = new_owner()
        self._lane_until: datetime | None = None

    def run(
        self, keys: Iterable[str] | None = None, *, tried_only: bool = False, progress: Progress | None = None
    ) -> Ran:
        """Carry out what is due.

        Parameters
        ----------
        keys : iterable of str, optional
            Only these intents.
        tried_only : bool, default False
            Only what was tried before and has no outcome: reconciling.

        Raises
        ------
        InputError, BudgetError, PlatformError
            The platform refused what the caller wants; that intent is planned still.
        """
        wanted = self._waiting(keys, tried_only=tried_only)
        if not wanted:
            return Ran()
        lane = self._lane_name()
        holder = self._enter(lane)
        if holder is not None:
            return Ran(busy=f"another process ({holder}) is at work on {lane}; it goes on with what waits here")
        try:
            return self._carry_out(lane, wanted, progress, raises=not tried_only)
        finally:
            with self._context.store.begin() as tx:
                tx.work.release_intents(self._owner)
                tx.work.free_lane(lane, self._owner)

    def _waiting(self, keys: Iterable[str] | None, *, tried_only: bool) -> list[str]:
        """Return the keys of what is to be done; free what dead processes held."""
        chosen = None if keys is None else set(keys)
        with self._context.store.read() as tx:
            known = [
                each for state in ("sent", "planned") for each in tx.work.intents(self._context.campaign_id, state)
            ]
        mine = [
            each
            for each in known
            if each.operation in self._effects
            and each.lane == self._platform.name
            and (chosen is None or each.key in chosen)
            and (not tried_only or (_was_tried(each) and not self._is_under_way(each)))
        ]
        gone = {each.lease_owner for each in mine if each.lease_owner and is_gone(each.lease_owner)}
        if gone:
            with self._context.store.begin() as tx:
                for owner in gone:
                    tx.work.release_intents(owner)
        return [each.key for each in mine]

    def _is_under_way(self, intent: IntentRecord) -> bool:
        """Say whether a living process works on it at this moment."""
        if intent.lease_owner is None or intent.lease_until is None or is_gone(intent.lease_owner):
            return False
        return intent.lease_until > self._context.clock.now()

    # The lane.

    def _lane_name(self) -> str:
        account = self._platform.account()
        return f"{account.platform}|{account.endpoint}|{account.account}"

    def _enter(self, lane: str) -> str | None:
        """Take the account's lane, waiting a while for who is in it; return who it is if that was in vain."""
        deadline = time.monotonic() + self._patience_s
        while True:
            with self._context.store.begin() as tx:
                holder = tx.work.lane_owner(lane)
                if holder is not None and is_gone(holder):
                    tx.work.free_lane(lane, holder)
                if self._keep(tx, lane):
                    return None
            if time.monotonic() >= deadline:
                return holder or "unknown"
            time.sleep(0.05)

    def _keep(self, tx: Transaction, lane: str) -> bool:
        until = self._context.clock.now() + _LEASE
        taken = tx.work.take_lane(lane, owner=self._owner, until=until)
        if taken:
            self._lane_until = until
        return taken

    # The work.

    def _carry_out(self, lane: str, wanted: list[str], progress: Progress | None, *, raises: bool) -> Ran:
        ran, silences, seen = Ran(), 0, 0
        while silences < _GIVE_UP_AFTER:
            batch = self._claim(lane, wanted)
            if not batch:
                break
            for intent in batch:
                outcome, why, was_silent = self._one(intent, raises=raises)
                ran = ran.with_one(intent.key, outcome, why)
                silences = silences + 1 if was_silent else 0
                seen += 1
                if progress is not None:
                    progress(self._effects[intent.operation].verb, seen, len(wanted))
                if silences >= _GIVE_UP_AFTER:
                    break
        done_with = {*ran.done, *ran.later, *ran.waiting, *ran.asked}
        return replace(ran, later=(*ran.later, *self._left(wanted, done_with)))

    def _left(self, wanted: list[str], done_with: set[str]) -> list[str]:
        """Return what nobody has come to: put off earlier, or not reached because the platform is silent."""
        with self._context.store.read() as tx:
            found = [tx.work.intent(key) for key in wanted if key not in done_with]
        return [each.key for each in found if each is not None and each.state in {"planned", "sent"}]

    def _claim(self, lane: str, wanted: list[str]) -> list[IntentRecord]:
        with self._context.store.begin() as tx:
            if not self._keep(tx, lane):
                return []  # it took longer than the lease, and somebody else is at work now
            return tx.work.claim_intents(
                self._context.campaign_id,
                owner=self._owner,
                until=self._context.clock.now() + _LEASE,
                keys=wanted,
                limit=_AT_ONCE,
            )

    def _one(self, intent: IntentRecord, *, raises: bool) -> tuple[str, str, bool]:
        """Carry out one claimed intent; return its state, why, and whether the platform was silent."""
        effect = self._effects[intent.operation]
        was_sent = False
        try:
            outcome = effect.settle(intent) if intent.attempts else None
            since = stopped_since(self._context.settings()) if intent.operation in OFFERING else None
            if outcome is None and since is not None:
                return self._put_off(intent, stopped_words(since)), stopped_words(since), False
            if outcome is None:
                now = self._mark_sent(effect, intent)
                if now is None:
                    return "planned", _TAKEN_OVER, False
                was_sent = True
                # What the call knows of earlier tries is what stood there before it.
                outcome = effect.call(replace(now, sent_at=intent.sent_at, attempts=intent.attempts))
                self._context.at("after_remote", intent.key)
        except PlatformUnavailableError as error:
            return self._put_off(intent, str(error)), str(error), True
        except NeedsHumanError as error:
            return self._ask(effect, intent, str(error)), str(error), False
        except (PlatformError, InputError, BudgetError, StateError) as error:
            if not (raises and effect.raises_refusals):
                return self._ask(effect, intent, f"It was refused: {error}"), str(error), False
            with self._context.store.begin() as tx:
                tx.work.set_intent(intent.key, "planned" if was_sent else intent.state, owner=self._owner)
            raise
        return self._commit(effect, intent, outcome)

    def _mark_sent(self, effect: Effect, intent: IntentRecord) -> IntentRecord | None:
        """Commit that the call is about to be made; None where somebody else works on it by now."""
        prepared = effect.prepare(intent)
        result = intent.result if prepared is None else {**(intent.result or {}), "prepared": prepared}
        try:
            with self._context.store.begin() as tx:
                tx.work.set_intent(intent.key, "sent", result, owner=self._owner)
                now = tx.work.intent(intent.key)
        except StateError:
            return None
        self._context.at("sent", intent.key)
        return now

    def _commit(self, effect: Effect, intent: IntentRecord, outcome: Outcome) -> tuple[str, str, bool]:
        wait = None if outcome.wait_s is None else self._context.clock.now() + timedelta(seconds=outcome.wait_s)
        why = str(outcome.result.get("question", outcome.result.get("why", "")))
        with self._context.store.begin() as tx:
            stored = tx.work.intent(intent.key) or intent
            if stored.lease_owner != self._owner:
                return "planned", _TAKEN_OVER, False  # who took over asks the platform what we did
            kept = {**(stored.result or {}), **outcome.result}
            tx.work.set_intent(intent.key, outcome.state, kept, owner=self._owner, not_before=wait)
            if outcome.state == "needs_human":
                effect.ask(tx, stored, why)
            if outcome.apply is not None:
                outcome.apply(tx)
        self._context.at("after_local", intent.key)
        return outcome.state, why, False

    def _put_off(self, intent: IntentRecord, why: str) -> str:
        """Look again later, each time after twice as long; a call that was lost is asked about then."""
        doubled = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2 ** min(intent.attempts, 12))
        wait = doubled * float(self._rng.uniform(0.5, 1.0))
        with self._context.store.begin() as tx:
            stored = tx.work.intent(intent.key) or intent
            kept = {**(stored.result or {}), "why": why}
            when = self._context.clock.now() + timedelta(seconds=wait)
            tx.work.set_intent(intent.key, stored.state, kept, owner=self._owner, not_before=when)
        return "planned"

    def _ask(self, effect: Effect, intent: IntentRecord, question: str) -> str:
        with self._context.store.begin() as tx:
            stored = tx.work.intent(intent.key) or intent
            kept = {**(stored.result or {}), "question": question}
            tx.work.set_intent(intent.key, "needs_human", kept, owner=self._owner)
            effect.ask(tx, stored, question)
            self._context.log(tx, "a person is asked", key=intent.key, operation=intent.operation, question=question)
        return "needs_human"


def _was_tried(intent: IntentRecord) -> bool:
    """Say whether a call has no outcome yet, or a person wants it tried again.

    What was refused waits for whoever asked for it; reviews and payments go on.
    """
    is_wanted = "note" in (intent.result or {})
    return intent.state == "sent" or is_wanted or (intent.attempts > 0 and intent.operation in _GO_ON)
