"""Messages to participants, and those they sent."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from hmc_crowd._base.clock import as_utc
from hmc_crowd.errors import InputError
from hmc_crowd_prolific._models import Message
from hmc_crowd_prolific._parse import rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hmc_crowd._base.clock import Clock
    from hmc_crowd_prolific._http import Http

__all__ = ["Messages"]

_OLDEST = timedelta(days=30)


class Messages:
    """Messages. Sending is never repeated: nobody should read the same thing twice."""

    def __init__(self, http: Http, clock: Clock) -> None:
        self._http = http
        self._clock = clock

    def send(self, participants: Sequence[str], body: str, *, study_id: str) -> None:
        """Write to participants of a study.

        Raises
        ------
        NeedsHumanError
            The answer was lost; whether it was sent is not known.
        """
        if not participants or not body.strip():
            raise InputError(f"a message to {len(participants)} participants with {len(body)} characters; give both")
        if len(participants) == 1:
            one = {"recipient_id": participants[0], "body": body, "study_id": study_id}
            self._http.once("POST", "messages/", one, text_ok=True)
        else:
            many = {"ids": list(participants), "body": body, "study_id": study_id}
            self._http.once("POST", "messages/bulk/", many, text_ok=True)

    def since(self, moment: datetime) -> list[Message]:
        """Return the messages after a moment, which may lie 30 days back at most."""
        start = as_utc(moment, name="moment")
        if self._clock.now() - start > _OLDEST:
            raise InputError(f"moment is {start.isoformat()}; Prolific hands out messages of the last 30 days")
        answer = self._http.get("messages/", {"created_after": start.isoformat().replace("+00:00", "Z")})
        return [Message.read(each) for each in rows(answer)]
