"""Bonuses: set up first, which pays nothing, then paid by a call that must never be repeated."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hmc_crowd.errors import InputError, NeedsHumanError, PlatformUnavailableError
from hmc_crowd_prolific._models import BonusSetup
from hmc_crowd_prolific._parse import one
from hmc_crowd_prolific._studies import segment
from hmc_crowd_prolific._units import bonus_csv, major_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hmc_crowd_prolific._http import Http

__all__ = ["BATCH_LIMIT", "Bonus", "Bonuses", "plan_batches"]

#: Most rows of one set-up.
BATCH_LIMIT = 200


@dataclass(frozen=True)
class Bonus:
    """What one submission is to get on top, in minor units."""

    submission_id: str
    amount_minor: int

    def __post_init__(self) -> None:
        major_text(self.amount_minor)
        if not self.submission_id or any(each in self.submission_id for each in ',"\n\r'):
            raise InputError(f"the submission of a bonus is {self.submission_id!r}; give the id that Prolific uses")


def plan_batches(bonuses: Iterable[Bonus], *, limit: int = BATCH_LIMIT) -> list[tuple[Bonus, ...]]:
    """Cut bonuses of one study into batches, in order; a wrong id then spoils its own batch alone.

    Raises
    ------
    InputError
        A submission has two bonuses: add them up, so that what was paid can be told from the payments.

    Examples
    --------
    >>> [len(batch) for batch in plan_batches([Bonus(f"s{i}", 10) for i in range(450)])]
    [200, 200, 50]
    """
    wanted = list(bonuses)
    twice = [name for name, count in Counter(each.submission_id for each in wanted).items() if count > 1]
    if twice:
        raise InputError(f"submission {twice[0]!r} has more than one bonus; give their sum")
    return [tuple(wanted[start : start + limit]) for start in range(0, len(wanted), limit)]


class Bonuses:
    """The two calls. `BonusPayer` puts them into the order that survives a crash."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def set_up(self, study_id: str, bonuses: Iterable[Bonus]) -> BonusSetup:
        """Set bonuses up and return what they would cost; nothing is paid.

        Raises
        ------
        PlatformUnavailableError
            The answer was lost. Setting up again is harmless: what is not paid costs nothing.
        PlatformError
            Refused, for example because somebody of the batch did not take part.
        """
        csv = bonus_csv([(each.submission_id, each.amount_minor) for each in bonuses])
        try:
            made = self._http.once(
                "POST", "submissions/bonus-payments/", {"study_id": study_id, "csv_bonuses": csv}, money=True
            )
        except NeedsHumanError as error:
            raise PlatformUnavailableError(f"{error}. Nothing is paid by it, so it may be repeated") from None
        return BonusSetup.read(one(made.data))

    def pay(self, setup_id: str) -> None:
        """Pay a set-up. Sent one time; **calling it again pays again**.

        Raises
        ------
        PlatformUnavailableError
            It never left this machine: nothing is paid.
        NeedsHumanError
            It may have been paid: read the submissions' bonuses, and do not call it again.
        """
        self._http.once("POST", f"bulk-bonus-payments/{segment(setup_id)}/pay/", money=True, text_ok=True, strict=True)
