"""What the repositories of appeals and of auditors' samples hand out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["AppealRecord", "SecretAuditRecord"]


@dataclass(frozen=True)
class AppealRecord:
    """An objection to a label.

    Parameters
    ----------
    aspect, item : str
    number : int
        1 for the first appeal against the item's label.
    guideline_version : str
        Under which it was opened; under another one it is of no account.
    role : {"author", "worker", "owner"}
        Whose it is.
    worker, appellant : str or None
        The worker's pseudonym, or the other's name.
    reason : str
    judges : tuple of str
        Experts who had judged before.
    tier : int
        The lowest that may judge it now.
    first_label : str
        What is appealed against.
    opened_at : datetime
    outcome : {"upheld", "overturned", "decided"} or None
        None: it is open.
    label : str or None
        What holds.
    closed_at : datetime or None
    closed_by : str or None
        The person who decided, where experts could not.
    """

    aspect: str
    item: str
    number: int
    guideline_version: str
    role: str
    worker: str | None
    appellant: str | None
    reason: str
    judges: tuple[str, ...]
    tier: int
    first_label: str
    opened_at: datetime
    outcome: str | None = None
    label: str | None = None
    closed_at: datetime | None = None
    closed_by: str | None = None


@dataclass(frozen=True)
class SecretAuditRecord:
    """A sample that nobody but the auditors knows.

    Parameters
    ----------
    aspect : str
    number : int
        1 for the first draw.
    auditor : str
        Who drew it.
    commitment : str
        Hash of the key.
    drawn, items : int
        Labels in the sample, and labels there were.
    labels_hash : str
        Of all labels when it was drawn.
    drawn_at : datetime
    audit_key : str or None
        In hex, once it was opened.
    result : dict or None
    opened_at : datetime or None
    """

    aspect: str
    number: int
    auditor: str
    commitment: str
    drawn: int
    items: int
    labels_hash: str
    drawn_at: datetime
    audit_key: str | None = None
    result: dict[str, Any] | None = None
    opened_at: datetime | None = None
