"""How our studies look on Prolific: set once, used for every study."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hmc_crowd._base.addresses import shown_address
from hmc_crowd.errors import InputError
from hmc_crowd.platform import FeeSchedule

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ACADEMIC_FEES", "CORPORATE_FEES", "StudySettings", "is_this_machine", "router_url"]

#: Shares of the reward that Prolific takes; tax on them comes on top where it is due.
CORPORATE_FEES = FeeSchedule(rate=Decimal("0.428"))
ACADEMIC_FEES = FeeSchedule(rate=Decimal("0.333"))
_NOTE = (
    "If you disagree with this decision, please write to us through Prolific's messages: a person will look at your "
    "submission again."
)


@dataclass(frozen=True)
class StudySettings:
    """What is the same for all studies of a connection.

    Parameters
    ----------
    workspace : str, optional
        Whose money is spent; may be left out where the token has one workspace.
    project : str, optional
        Where studies are made and looked for; needed for publishing.
    study_url : str, optional
        Address of our router, which participants are sent to; needed for publishing. https, or http on this machine.
    expected_minutes : float, default 12
        Time of a HIT that does not come with an estimate.
    minimum_hourly_minor : int, optional
        Least pay per hour; by default Prolific's own, and 0 lifts the rule.
    devices, labels, filters : tuple
        As Prolific knows them; no restriction, ``("annotation",)`` and no filter by default.
    content_warnings : tuple of str, content_warning_details : str
        ``("sensitive",)`` or ``("explicit",)``. Without one, items flagged as sensitive are refused.
    rejection_category : str, default "OTHER"
        For rejections through the port, which names no category.
    rejection_note : str
        Added to the reason of a rejection through the port; tells the participant where to object.
    fees : FeeSchedule
        For cost sheets; before publishing, Prolific itself is asked.
    """

    workspace: str | None = None
    project: str | None = None
    study_url: str | None = None
    expected_minutes: float = 12.0
    minimum_hourly_minor: int | None = None
    devices: tuple[str, ...] = ()
    labels: tuple[str, ...] = ("annotation",)
    filters: tuple[Mapping[str, Any], ...] = ()
    content_warnings: tuple[str, ...] = ()
    content_warning_details: str = ""
    rejection_category: str = "OTHER"
    rejection_note: str = _NOTE
    fees: FeeSchedule = CORPORATE_FEES

    def __post_init__(self) -> None:
        if not self.expected_minutes > 0:
            raise InputError(f"expected_minutes is {self.expected_minutes}; give a time above 0")
        if self.study_url is not None:
            router_url(self.study_url)


def router_url(study_url: str) -> str:
    """Return the address with Prolific's placeholders behind it.

    Examples
    --------
    >>> router_url("https://crowd.example.org/arrive?lang=en")
    'https://crowd.example.org/arrive?lang=en&PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID=...'
    """
    parts = urlsplit(study_url)
    is_local = is_this_machine(study_url)
    if not parts.hostname or parts.scheme not in ({"https", "http"} if is_local else {"https"}) or parts.fragment:
        raise InputError(
            f"study_url is {shown_address(study_url)!r}; give the https address of the page that receives participants"
        )
    given = re.findall(r"PROLIFIC_PID|STUDY_ID|SESSION_ID", study_url)
    if given:
        raise InputError(f"study_url is {shown_address(study_url)!r}; leave out {given[0]}, it is added")
    words = "&".join(f"{name}={{{{%{name}%}}}}" for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"))
    return f"{study_url}{'&' if parts.query else '?'}{words}"


def is_this_machine(address: str) -> bool:
    """Whether an address is on the loopback of this machine."""
    return urlsplit(address).hostname in {"localhost", "127.0.0.1", "::1"}
