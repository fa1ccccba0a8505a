"""A participant arrives at our router: is it really the one that Prolific sent, and which HIT does he get?

The parameters of the address can be forged by anybody. The submission itself, read from the API, says whose it is and
of which study; only what agrees with it gets work. Coming back with the same submission gives the same work. Unknown
ids get a polite page and never a HIT.
"""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote

from hmc_crowd.errors import PlatformError, PlatformUnavailableError, StateError
from hmc_crowd_prolific._keys import read_metadata
from hmc_crowd_prolific._statuses import SubmissionStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hmc_crowd_prolific._client import ProlificClient
    from hmc_crowd_prolific._models import Submission

# What Prolific does not know now it may know in a moment.
_UNKNOWN_S = 20.0
_MOST_KEPT = 10_000
_LOCKS = 64

__all__ = ["Arrival", "ArrivalOutcome", "ProlificRouter", "WorkDoor", "completion_url"]


class ArrivalOutcome(StrEnum):
    """What became of an arrival."""

    WORK = "work"
    NOTHING_LEFT = "nothing_left"
    OVER = "over"
    REFUSED = "refused"


@dataclass(frozen=True)
class Arrival:
    """What the router decided.

    Parameters
    ----------
    outcome : ArrivalOutcome
        Only ``WORK`` comes with an address.
    message : str
        What the participant may read; polite, and says nothing about other people's work.
    address : str or None
        The page of the HIT.
    submission_id, study_id, worker : str or None
        Confirmed by Prolific; None where refused.
    """

    outcome: ArrivalOutcome
    message: str
    address: str | None = None
    submission_id: str | None = None
    study_id: str | None = None
    worker: str | None = None


class WorkDoor(Protocol):
    """Our pages, as the router needs them."""

    def claim(self, key: str, *, worker: str, submission_id: str) -> str | None:
        """Give the worker a HIT of the order under ``key`` and return its page; None where none is left for him.

        The same submission gets the same HIT, with what was saved in it, however often it asks.
        """
        ...


class ProlificRouter:
    """What stands behind ``external_study_url``; any number of threads may ask it.

    Prolific is asked once about a submission for all who wait at a moment, however often the address is opened; that it
    knows nothing of a submission is believed for twenty seconds.

    Parameters
    ----------
    client : ProlificClient
        Reads submissions and studies; writes nothing.
    door : WorkDoor
        Hands out the work.
    monotonic : callable
        Seconds that only grow; the machine's by default.
    """

    def __init__(
        self, client: ProlificClient, door: WorkDoor, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = client
        self._door = door
        self._monotonic = monotonic
        self._keys: dict[str, str] = {}
        self._said: OrderedDict[str, tuple[float, Submission | None]] = OrderedDict()
        self._saying = threading.Lock()
        self._asking = [threading.Lock() for _ in range(_LOCKS)]

    def arrive(self, params: Mapping[str, str]) -> Arrival:
        """Decide about an arrival by its ``PROLIFIC_PID``, ``STUDY_ID`` and ``SESSION_ID``.

        Raises
        ------
        PlatformUnavailableError
            Prolific does not answer: show a page that tries again.
        """
        who, study, session = (params.get(name, "") for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"))
        held = self._confirmed(who, study, session)
        if held is None:
            return Arrival(
                ArrivalOutcome.REFUSED,
                "We could not match this address with a submission on Prolific. Please open the study from Prolific "
                "again.",
            )
        known = {"submission_id": held.id, "study_id": held.study_id, "worker": held.participant}
        if held.status not in {SubmissionStatus.ACTIVE, SubmissionStatus.RESERVED}:
            return Arrival(ArrivalOutcome.OVER, "This submission has ended on Prolific. Thank you.", **known)
        try:
            address = self._door.claim(self._key(held.study_id), worker=held.participant, submission_id=held.id)
        except StateError:
            address = None
        if address is None:
            return Arrival(
                ArrivalOutcome.NOTHING_LEFT,
                "All work of this study has been done. Please return your submission on Prolific.",
                **known,
            )
        return Arrival(ArrivalOutcome.WORK, "", address, **known)

    def _confirmed(self, who: str, study: str, session: str) -> Submission | None:
        if not all(each.isalnum() and each.isascii() and len(each) <= 64 for each in (who, study, session)):
            return None
        since = self._monotonic()
        with self._asking[hash(session) % _LOCKS]:
            held = self._told(session, since)
        return held if held is not None and held.participant == who and held.study_id == study else None

    def _told(self, session: str, since: float) -> Submission | None:
        """Return a submission of one of our studies as Prolific has shown it since that moment.

        A submission may end at any moment, so what was asked before somebody came says nothing to them.
        """
        with self._saying:
            good_for, held = self._said.get(session, (-math.inf, None))
        if since <= good_for:
            return held
        begun = self._monotonic()
        try:
            held = self._client.submissions.get(session)
            held = held if self._key(held.study_id) else None
        except PlatformUnavailableError:
            raise
        except PlatformError:
            held = None
        with self._saying:
            self._said[session] = (begun if held is not None else self._monotonic() + _UNKNOWN_S, held)
            self._said.move_to_end(session)
            while len(self._said) > _MOST_KEPT:
                self._said.popitem(last=False)
        return held

    def _key(self, study_id: str) -> str:
        """Return the key of one of our studies, empty for another's; a study's key never changes."""
        if study_id not in self._keys:
            self._keys[study_id] = read_metadata(self._client.studies.get(study_id).metadata)[0]
        return self._keys[study_id]


def completion_url(code: str) -> str:
    """Return where a participant goes when his labels are committed, and not before.

    Examples
    --------
    >>> completion_url("ABC123")
    'https://app.prolific.com/submissions/complete?cc=ABC123'
    """
    return f"https://app.prolific.com/submissions/complete?cc={quote(code, safe='')}"
