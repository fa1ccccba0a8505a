"""What the repositories of experts' audits hand out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["ExpertAuditRecord"]


@dataclass(frozen=True)
class ExpertAuditRecord:
    """One draw of labels for experts.

    Parameters
    ----------
    number : int
        1 for the first draw.
    people, machine, experts : int
        Labels of the batch when it was drawn: given by people, kept from the machine, given by experts (not drawn).
    people_share : float
        Part of the allowed error that people's labels get.
    labels_hash : str
        Of all labels of the batch.
    drawn_at : datetime
    """

    number: int
    people: int
    machine: int
    experts: int
    people_share: float
    labels_hash: str
    drawn_at: datetime
