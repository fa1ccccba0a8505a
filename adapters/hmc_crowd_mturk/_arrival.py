"""Somebody opens our page from an MTurk frame: who, for what, and where may it be handed in?

The parameters of the address are chosen by whoever made the link. So the host that takes the answers must be on a
list of ours, and a preview claims nothing and cannot be handed in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Arrival", "read_arrival"]

_PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"


@dataclass(frozen=True)
class Arrival:
    """What the address of a page says, checked.

    Parameters
    ----------
    hit_id : str
        The HIT.
    assignment_id, worker : str or None
        None in a preview: nothing may be claimed then.
    submit_to : str or None
        Where the form must go; None in a preview, which cannot be handed in.
    """

    hit_id: str
    assignment_id: str | None
    worker: str | None
    submit_to: str | None

    @property
    def is_preview(self) -> bool:
        """Whether the worker only looks."""
        return self.assignment_id is None


def read_arrival(parameters: Mapping[str, str], *, submit_origins: Iterable[str]) -> Arrival:
    """Check the parameters that an MTurk frame adds to an ExternalURL.

    Parameters
    ----------
    parameters : mapping
        Of the query: ``assignmentId``, ``hitId``, ``workerId``, ``turkSubmitTo``.
    submit_origins : iterable of str
        Origins that may take answers, for example ``https://work.example.org``.

    Raises
    ------
    InputError
        ``turkSubmitTo`` is not on the list, or an id is missing.

    Examples
    --------
    >>> read_arrival({"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "H1"}, submit_origins=[]).is_preview
    True
    """
    origin = parameters.get("turkSubmitTo")
    allowed = {_origin(each) for each in submit_origins}
    if origin is not None and _origin(origin) not in allowed:
        raise InputError(f"turkSubmitTo is {origin[:200]!r}, which is not on the list of origins; open the HIT again")
    assignment_id, hit_id = parameters.get("assignmentId"), parameters.get("hitId") or ""
    if assignment_id is None or assignment_id == _PREVIEW:
        return Arrival(hit_id, None, None, None)
    worker = parameters.get("workerId")
    if not assignment_id or not hit_id or not worker or origin is None:
        raise InputError("the address lacks assignmentId, hitId, workerId or turkSubmitTo; open the HIT again")
    return Arrival(hit_id, assignment_id, worker, f"{_origin(origin)}/mturk/externalSubmit")


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()
