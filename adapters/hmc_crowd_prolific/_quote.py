"""What an order would cost, as Prolific itself says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hmc_crowd._base.money import Money

if TYPE_CHECKING:
    from hmc_crowd_prolific._drafts import StudyDraft

__all__ = ["Quote"]


@dataclass(frozen=True)
class Quote:
    """The cost of a study before it exists.

    ``fees_minor`` holds fees and tax; ``per_worker`` is the most submissions of one participant.
    """

    places: int
    per_worker: int
    minutes: int
    rewards_minor: int
    fees_minor: int
    total_minor: int
    available: Money

    @classmethod
    def of(cls, draft: StudyDraft, total_minor: int, available: Money) -> Quote:
        """Work a quote out from a draft and Prolific's total."""
        rewards = draft.reward_minor * draft.places
        return cls(
            draft.places, draft.per_worker, draft.minutes, rewards, total_minor - rewards, total_minor, available
        )

    @property
    def is_covered(self) -> bool:
        """Whether the workspace has enough."""
        return self.total_minor <= self.available.minor

    def __str__(self) -> str:
        currency = self.available.currency
        total, fees = Money(self.total_minor, currency), Money(self.fees_minor, currency)
        return (
            f"{self.places:,} places of about {self.minutes} minutes, at most {self.per_worker} for one participant: "
            f"{total}, of which fees and tax {fees}; available are {self.available}"
        )
