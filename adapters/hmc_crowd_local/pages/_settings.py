"""What the person in charge may decide about the workers' pages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from hmc_crowd.errors import InputError
from hmc_crowd_local._fold import MOST_EVENTS, MOST_EVENTS_A_DAY
from hmc_crowd_local.pages._study import Study
from hmc_crowd_local.pages._texts import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["PagesSettings"]


_COUNTS = ("exposure_per_day", "most_body_bytes", "per_minute", "strangers_per_minute")


@dataclass(frozen=True)
class PagesSettings:
    """Settings of the task pages.

    Parameters
    ----------
    public_url : str, default ""
        Where browsers reach the workplace, for example ``https://work.example.org``; the pages lie under ``/work`` of
        it. Invitation links begin with it.
    study, studies : Study, mapping of str to Study
        What is read and passed before the work: of a HIT's ``scope``, or else ``study``.
    completion : callable, optional
        ``completion(platform, external_id)`` returns the link by which a participant whom another platform sent tells
        it that he is done. Asked only once the answers are committed.
    note : callable, optional
        ``note(submission_id)`` returns a text for the worker after a HIT, for example how many known answers he got
        right where the study allows telling.
    language : str, default "en"
        Of the pages, where the browser asks for none that we have.
    exposure_per_day : int, default 40
        Disturbing texts that a worker may be shown in a day; more are neither offered nor shown.
    frame_ancestors : tuple of str, default ()
        Origins that may put the work into a frame (``https://*.mturk.com``); other pages may never be framed.
    submit_origin : str, default ""
        Of the MTurk-API platform whose frames may open our pages under ``/work/mturk``, for example
        ``https://work.example.org``: the only ``turkSubmitTo`` that is taken. Empty: none.
    most_body_bytes, body_s : int, float
        Largest body, and how long it may take to arrive.
    per_minute, strangers_per_minute : int
        Requests of one link, and requests with links that are not ours from one address.
    most_events : int, default 20,000
        Page events kept of one submission; from a tenth of them on, signs of life within ten seconds of each other are
        folded, and later ones are dropped.
    most_events_a_day : int, default 50,000
        Page events kept of the work that one person accepted within a day; later ones are dropped.
    """

    public_url: str = ""
    study: Study = field(default_factory=Study)
    studies: Mapping[str, Study] = field(default_factory=dict)
    completion: Callable[[str, str], str | None] | None = None
    note: Callable[[str], str | None] | None = None
    language: str = "en"
    exposure_per_day: int = 40
    frame_ancestors: tuple[str, ...] = ()
    submit_origin: str = ""
    most_body_bytes: int = 200_000
    body_s: float = 10.0
    per_minute: int = 240
    strangers_per_minute: int = 60
    most_events: int = MOST_EVENTS
    most_events_a_day: int = MOST_EVENTS_A_DAY

    def __post_init__(self) -> None:
        if self.language not in LANGUAGES:
            raise InputError(f"language is {self.language!r}; there are {', '.join(sorted(LANGUAGES))}")
        for name in (*_COUNTS, "most_events", "most_events_a_day"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; give 1 or more")
        for each in (*self.frame_ancestors, *filter(None, [self.submit_origin])):
            if urlsplit(each).scheme not in {"https", "http"} or any(sign in each for sign in ";,' \n"):
                raise InputError(f"frame_ancestors holds {each!r}; write origins, for example https://*.mturk.com")

    @property
    def framers(self) -> tuple[str, ...]:
        """Who may put the work into a frame."""
        return tuple(dict.fromkeys((*self.frame_ancestors, *filter(None, [self.submit_origin]))))

    def study_of(self, scope: str) -> Study:
        """Return what the workers of this scope read and pass."""
        # A changed guideline adds to a campaign's scope; its people read and pass the same.
        return self.studies.get(scope, self.studies.get(scope.partition(":")[0], self.study))
