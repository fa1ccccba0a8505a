"""Paying a bonus at most once, whatever breaks: five states, each saved before the step that follows from it.

``planned -> created -> pay_sent -> confirmed`` or ``needs_human``. ``pay_sent`` is saved before the call is made, and
from ``pay_sent`` the call is never made again: what Prolific shows on the submissions decides. That makes a lost bonus
possible (a crash between saving and sending), which a person is asked about, and a double payment impossible.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from hmc_crowd._base.ids import natural_key
from hmc_crowd.errors import InputError, NeedsHumanError, PlatformError, PlatformUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from hmc_crowd._base.clock import Clock
    from hmc_crowd_prolific._bonuses import Bonus
    from hmc_crowd_prolific._client import ProlificClient

__all__ = ["BonusPayer", "BonusRecord", "BonusState"]


class BonusState(StrEnum):
    """How far a batch of bonuses is."""

    PLANNED = "planned"
    CREATED = "created"
    PAY_SENT = "pay_sent"
    CONFIRMED = "confirmed"
    NEEDS_HUMAN = "needs_human"

    @property
    def is_final(self) -> bool:
        """Whether nothing more happens by itself."""
        return self in {BonusState.CONFIRMED, BonusState.NEEDS_HUMAN}


@dataclass(frozen=True)
class BonusRecord:
    """A batch of bonuses of one study, as it is stored.

    Parameters
    ----------
    reason_code : str
        Why: a submission is paid once for each reason.
    paid_before : tuple of tuple of int
        The bonuses that each submission had when the payment was sent, in the order of ``bonuses``.
    question : str
        For ``needs_human``: what a person must find out.
    """

    study_id: str
    bonuses: tuple[Bonus, ...]
    reason_code: str = ""
    state: BonusState = BonusState.PLANNED
    setup_id: str | None = None
    total_minor: int | None = None
    paid_before: tuple[tuple[int, ...], ...] = ()
    sent_at: datetime | None = None
    question: str = ""

    def __post_init__(self) -> None:
        if not self.bonuses:
            raise InputError("bonuses is empty; give at least one")

    @property
    def key(self) -> str:
        """Natural key of the payment, the same for the same study, submissions and reason."""
        rows = sorted(each.submission_id for each in self.bonuses)
        return natural_key("prolific bonus", self.study_id, self.reason_code, rows)


class BonusPayer:
    """Moves a record forward, saving it before every step.

    Parameters
    ----------
    client : ProlificClient
        Who is paid through.
    save : callable
        Commits a record; called before the step that it announces, so it must have committed when it returns.
    clock : Clock
        Tells how long a payment is waited for.
    give_up_after : timedelta, default 24 hours
        When a payment that does not show becomes a question for a person.

    Notes
    -----
    One batch at a time for a submission: two payments of the same amount under way cannot be told apart.
    """

    def __init__(
        self,
        client: ProlificClient,
        save: Callable[[BonusRecord], None],
        *,
        clock: Clock,
        give_up_after: timedelta = timedelta(hours=24),
    ) -> None:
        self._client = client
        self._save = save
        self._clock = clock
        self._give_up_after = give_up_after

    def advance(self, record: BonusRecord) -> BonusRecord:
        """Take one step and return the record as it was saved; final records stay as they are.

        Raises
        ------
        PlatformUnavailableError
            Nothing was paid by this call; call it again with the record that was last saved.
        PlatformError
            The set-up was refused: this batch needs a correction, others do not.
        """
        if record.state is BonusState.PLANNED:
            setup = self._client.bonuses.set_up(record.study_id, record.bonuses)
            return self._saved(
                replace(record, state=BonusState.CREATED, setup_id=setup.id, total_minor=setup.total_minor)
            )
        if record.state is BonusState.CREATED:
            return self._pay(record)
        if record.state is BonusState.PAY_SENT:
            return self._confirm(record)
        return record

    def _pay(self, record: BonusRecord) -> BonusRecord:
        sent = self._saved(
            replace(record, state=BonusState.PAY_SENT, paid_before=self._paid(record), sent_at=self._clock.now())
        )
        try:
            self._client.bonuses.pay(record.setup_id or "")
        except PlatformUnavailableError:
            # Certainly not done, so the step may be taken again from where it began.
            self._saved(record)
            raise
        except NeedsHumanError:
            return sent  # what the submissions show decides; it is not sent again
        except PlatformError as error:
            return self._saved(
                replace(sent, state=BonusState.NEEDS_HUMAN, question=f"The payment was refused: {error}")
            )
        return sent

    def _confirm(self, record: BonusRecord) -> BonusRecord:
        now_paid = self._paid(record)
        missing = [
            bonus.submission_id
            for bonus, before, after in zip(record.bonuses, record.paid_before, now_paid, strict=True)
            if not (Counter(after) - Counter(before))[bonus.amount_minor]
        ]
        if not missing:
            return self._saved(replace(record, state=BonusState.CONFIRMED))
        if record.sent_at is not None and self._clock.now() - record.sent_at >= self._give_up_after:
            question = (
                f"Was the bonus payment {record.setup_id} made? {len(missing)} of {len(record.bonuses)} submissions do "
                f"not show it, the first is {missing[0]}. Look at it on Prolific's page; it is never sent again."
            )
            return self._saved(replace(record, state=BonusState.NEEDS_HUMAN, question=question))
        return record

    def _paid(self, record: BonusRecord) -> tuple[tuple[int, ...], ...]:
        return tuple(self._client.submissions.get(each.submission_id).bonuses_minor for each in record.bonuses)

    def _saved(self, record: BonusRecord) -> BonusRecord:
        self._save(record)
        return record
