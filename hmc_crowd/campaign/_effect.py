"""What an operation of the outbox is: how it is called, how a lost call is settled, what it changes here."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from hmc_crowd.store import IntentRecord, Transaction

__all__ = ["Effect", "Outcome", "Ran"]


@dataclass(frozen=True)
class Outcome:
    """What became of a call.

    Parameters
    ----------
    state : str
        ``done``; ``planned``: surely not (wholly) done, to be called again; ``sent``: nobody knows yet, to be asked
        about again; ``needs_human``: the result holds the ``question``.
    result : dict
        What is stored with the intent, as JSON.
    apply : callable, optional
        The effects on our own tables, committed together with the state.
    wait_s : float, optional
        When to look again, for planned and sent.
    """

    state: str = "done"
    result: dict[str, Any] = field(default_factory=dict)
    apply: Callable[[Transaction], None] | None = None
    wait_s: float | None = None


class Effect:
    """How one operation is done; a subclass for each."""

    operation = ""
    #: What is said while it is done.
    verb = ""
    #: Whether a refusal is the caller's to hear (it wants what it asked for) or a person's to decide later.
    raises_refusals = True

    def prepare(self, intent: IntentRecord) -> dict[str, Any] | None:  # noqa: ARG002
        """Return what must be stored before the call, if anything; has no effect outside that could hurt."""
        return None

    def settle(self, intent: IntentRecord) -> Outcome | None:
        """Say what became of an earlier call, by asking the platform; None: it did not happen, call."""
        raise NotImplementedError

    def call(self, intent: IntentRecord) -> Outcome:
        """Do it."""
        raise NotImplementedError

    def ask(self, tx: Transaction, intent: IntentRecord, question: str) -> None:
        """Note in our own tables that a person must decide."""


@dataclass(frozen=True)
class Ran:
    """What one run of the outbox did.

    ``later`` holds the keys that were put off, ``waiting`` those whose outcome is not known yet, ``asked`` those that a
    person must decide; ``why`` is the newest reason, ``busy`` says who else is at work.
    """

    done: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    why: str = ""
    busy: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left over."""
        return not (self.later or self.waiting or self.asked or self.busy)

    def with_one(self, key: str, state: str, why: str) -> Ran:
        """Count one more intent."""
        why = why or self.why
        if state == "done":
            return replace(self, done=(*self.done, key), why=why)
        if state == "planned":
            return replace(self, later=(*self.later, key), why=why)
        if state == "sent":
            return replace(self, waiting=(*self.waiting, key), why=why)
        return replace(self, asked=(*self.asked, key), why=why)
