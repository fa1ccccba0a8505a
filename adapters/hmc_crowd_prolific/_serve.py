"""What `hmc-crowd serve` serves for Prolific: the page its participants arrive at, and the webhooks' target.

Nothing is served without ``HMC_CROWD_PROLIFIC_TOKEN``. A place is free again when Prolific says that its submission
ended: the webhooks' events say so, and where a participant finds no work, those that hold a place are asked about.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.serving import Mount
from hmc_crowd.errors import HmcCrowdError, PlatformError
from hmc_crowd_prolific._app import make_app
from hmc_crowd_prolific._arrivals import ProlificRouter, completion_url
from hmc_crowd_prolific._connect import connect
from hmc_crowd_prolific._keys import completion_code
from hmc_crowd_prolific._models import Submission
from hmc_crowd_prolific._pace import Pace
from hmc_crowd_prolific._statuses import SubmissionStatus
from hmc_crowd_prolific._webhooks import WebhookReceiver, process_events

if TYPE_CHECKING:
    from collections.abc import Callable

    from hmc_crowd._base.serving import ServeSettings
    from hmc_crowd_prolific._client import ProlificClient
    from hmc_crowd_prolific._models import Study
    from hmc_crowd_prolific._webhooks import Inbox, WebhookEvent

__all__ = ["ReleasingDoor", "mount"]

_LOG = logging.getLogger(__name__)
_PREFIX = "HMC_CROWD_PROLIFIC_"
_NAME = "prolific"
#: Submissions whose place Prolific offers to somebody else.
ENDED = frozenset({SubmissionStatus.RETURNED, SubmissionStatus.TIMED_OUT, SubmissionStatus.REJECTED})
_EVERY_S = 20.0


def mount(settings: ServeSettings) -> Mount | None:
    """Serve ``/prolific/arrive`` and, with ``HMC_CROWD_PROLIFIC_WEBHOOK_SECRET``, ``/prolific/hook``.

    Parameters
    ----------
    settings : ServeSettings
        Its environment holds the token (``HMC_CROWD_PROLIFIC_TOKEN``), for a stand-in the API's address
        (``HMC_CROWD_PROLIFIC_URL``), and the webhooks' secrets, separated by commas while they are rotated.
    """
    given = settings.environment
    if not given.get(f"{_PREFIX}TOKEN", "").strip():
        return None
    # Somebody waits before the page: they are told to come again rather than kept.
    soon = Pace(longest_s=2.0, give_up_after_s=5.0, exchange_s=5.0, silence_s=5.0)
    platform = connect(given.get(f"{_PREFIX}URL") or None, clock=settings.clock, environment=given, pace=soon)
    workplace = settings.workplace
    settings.completions[_NAME] = lambda key: completion_url(completion_code(key))
    router = ProlificRouter(platform.client, ReleasingDoor(workplace, platform.client))
    secrets = [each.strip() for each in given.get(f"{_PREFIX}WEBHOOK_SECRET", "").split(",") if each.strip()]
    shown = [("Prolific's participants (study URL)", "/prolific/arrive")]
    if not secrets:
        return Mount("/prolific", make_app(router), shown=shown, close=platform.close)
    inbox = workplace.inbox(_NAME)
    reader = _Reader(inbox, platform.client, workplace)
    shown.append(("Prolific's webhooks", "/prolific/hook"))
    app = make_app(router, WebhookReceiver(secrets, inbox, clock=settings.clock))

    def close() -> None:
        reader.close()
        platform.close()

    return Mount("/prolific", app, shown=shown, close=close)


class ReleasingDoor:
    """The workplace's door; where no place is left, it first looks whether Prolific ended work that holds one.

    Parameters
    ----------
    workplace : RoutedPages
        With `order_door`, `places_held` and `release`, as `hmc_crowd_local.LocalPlatform` has them.
    client : ProlificClient
        Says how submissions stand.
    """

    def __init__(self, workplace: Any, client: ProlificClient) -> None:
        self._workplace = workplace
        self._door = workplace.order_door(_NAME)
        self._client = client

    def claim(self, key: str, *, worker: str, submission_id: str) -> str | None:
        """Give the worker a HIT of the order; see `WorkDoor`."""
        address: str | None = self._door.claim(key, worker=worker, submission_id=submission_id)
        if address is not None:
            return address
        ended = self._ended(submission_id) & set(self._workplace.places_held(_NAME, key))
        if not ended or not self._workplace.release(_NAME, sorted(ended)):
            return None
        again: str | None = self._door.claim(key, worker=worker, submission_id=submission_id)
        return again

    def _ended(self, submission_id: str) -> set[str]:
        """Return the submissions of the same study that ended without a result."""
        try:
            study = self._client.submissions.get(submission_id).study_id
            lists = [self._client.submissions.of_study(study, status=status) for status in sorted(ENDED)]
        except PlatformError:
            return set()  # they keep their places until their time is over
        return {each.id for some in lists for each in some}


class _Reader:
    """Reads anew, in the background, what webhooks named, and frees the places of what ended."""

    def __init__(self, inbox: Inbox, client: ProlificClient, workplace: Any) -> None:
        self._stop = threading.Event()
        self._work: Callable[[], int] = lambda: process_events(inbox, client, self._handle)
        self._workplace = workplace
        self._thread = threading.Thread(target=self._run, name="prolific-webhooks", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._thread.join(timeout=10)

    def _run(self) -> None:
        while not self._stop.wait(_EVERY_S):
            try:
                self._work()
            except HmcCrowdError as error:
                # What was not read stays in the inbox; the next round tries again.
                _LOG.warning("webhook events wait: %s", type(error).__name__)

    def _handle(self, _event: WebhookEvent, resource: Submission | Study | None) -> None:
        if isinstance(resource, Submission) and resource.status in ENDED:
            self._workplace.release(_NAME, [resource.id])
