"""Who asks, with which link, in which language? One visit of one link; refusals are texts in the visitor's language."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from hmc_crowd.errors import InputError
from hmc_crowd.platform import SubmissionState
from hmc_crowd_local._tokens import read_token, sign_token
from hmc_crowd_local.pages._exam import Exams
from hmc_crowd_local.pages._invites import Invites
from hmc_crowd_local.pages._people import People
from hmc_crowd_local.pages._stamps import make_stamp, read_stamp
from hmc_crowd_local.pages._threads import Threads
from hmc_crowd_local.pages._work_store import WorkStore

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from hmc_crowd_local._platform import LocalPlatform
    from hmc_crowd_local.pages._invites import Invite
    from hmc_crowd_local.pages._settings import PagesSettings
    from hmc_crowd_local.pages._study import Study
    from hmc_crowd_local.pages._texts import Texts
    from hmc_crowd_local.pages._work_store import Work

__all__ = ["House", "RefusedError", "Visit", "in_language"]


class RefusedError(Exception):
    """The visitor gets a page that says why not: the key of a text, and the status of the answer."""

    def __init__(self, key: str, status: int = 403, **values: object) -> None:
        super().__init__(key)
        self.key, self.status, self.values = key, status, values


class House:
    """What every page needs: the workplace, its secret, and what it keeps of people and work."""

    def __init__(self, local: LocalPlatform, *, secret: bytes, settings: PagesSettings) -> None:
        self.local, self.secret, self.settings = local, secret, settings
        self.people = People(local._database)
        self.exams = Exams(local._database)
        self.works = WorkStore(local._database)
        self.threads = Threads(local._database, local._ids)
        self.invites = Invites(local, secret=secret)
        self.arms = local.secret("arms")

    def now(self) -> datetime:
        """Return the workplace's time."""
        return self.local._now()

    def work_of(self, token: str, *, drafts: bool = True) -> Work:
        """Return the work that a link opens; without ``drafts`` only what it is.

        Raises
        ------
        RefusedError
            The link is not ours or over, or its worker may not come in any more.
        """
        try:
            submission_id = read_token(self.secret, token, now=self.now())
        except InputError:
            raise RefusedError("bad_link", 404) from None
        work = self.works.read(submission_id, at=self.now(), drafts=drafts)
        if work is None:
            raise RefusedError("bad_link", 404)
        if work.is_shut:
            raise RefusedError("link_over", 403)
        return work

    def invite_of(self, token: str) -> Invite:
        """Return the invitation that a link opens, or refuse."""
        try:
            return self.invites.open(token)
        except InputError:
            raise RefusedError("bad_link", 404) from None

    def work_token(self, work: Work) -> str:
        """Return the link to a submission's pages; the same on every device."""
        from datetime import timedelta

        expires = work.submission.deadline_at + timedelta(days=30)
        return sign_token(self.secret, work.submission.submission_id, expires_at=expires)


def in_language(address: str, asked: str, **query: str) -> str:
    """Return an address with its parameters; who asked for a language keeps it on the page that follows.

    >>> in_language("/i/token", "de"), in_language("/i/token", "")
    ('/i/token?lang=de', '/i/token')
    """
    values = {**query, **({"lang": asked} if asked else {})}
    return address + (f"?{urlencode(values)}" if values else "")


@dataclass
class Visit:
    """One request with a good link: of work (``work``) or of an invitation (``invite``)."""

    house: House
    texts: Texts
    token: str
    root: str

    worker: str
    study: Study
    asked_language: str = ""
    work: Work | None = None
    invite: Invite | None = None
    wants_json: bool = False
    form: Mapping[str, Sequence[str]] = field(default_factory=dict)
    stamped_at: datetime | None = None

    @property
    def door(self) -> str:
        """Where the pages of this link begin."""
        return f"{self.root}/{'s' if self.work is not None else 'i'}/{self.token}"

    @property
    def is_timed(self) -> bool:
        """Whether time on this page is time at work: from the first question on, until it is handed in."""
        return self.work is not None and self.work.is_open and self.work.submission.rendered_at is not None

    @property
    def may_disturb(self) -> bool:
        """Whether there is disturbing text that this visitor may meet, or asked not to."""
        if self.work is not None:
            return any(each.sensitive for each in self.work.hit.items)
        return bool(self.house.works.categories())

    def url(self, path: str = "", **query: str) -> str:
        """Return the address of a page of this link, in the language of this one."""
        return in_language(f"{self.door}{'/' if path else ''}{path}", self.asked_language, **query)

    def work_url(self, work: Work, path: str = "") -> str:
        """Return the address of a worker's work, in the language of this page."""
        address = f"{self.root}/s/{self.house.work_token(work)}{'/' if path else ''}{path}"
        return in_language(address, self.asked_language)

    def home_url(self, token: str) -> str:
        """Return the address of an invitation's home, in the language of this page."""
        return in_language(f"{self.root}/i/{token}", self.asked_language)

    def static(self, name: str) -> str:
        """Return the address of a file of ours."""
        return f"{self.root}/static/{name}"

    def stamp(self, path: str) -> str:
        """Return the mark of the form on this page that is sent to ``path``."""
        return make_stamp(self.house.secret, self.token, path, at=self.house.now())

    def check_stamp(self, path: str, stamp: str) -> datetime:
        """Return when the form's page was made, or refuse a form that is not ours."""
        try:
            return read_stamp(self.house.secret, self.token, path, stamp)
        except InputError:
            raise RefusedError("bad_form", 403) from None

    def value(self, name: str) -> str:
        """Return the first value of a form's field, or nothing."""
        return next(iter(self.form.get(name, ())), "")

    def open_work(self) -> Work:
        """Return the work, or refuse where this link opens none."""
        if self.work is None:
            raise RefusedError("bad_link", 404)
        return self.work

    def is_over(self) -> bool:
        """Whether the work is handed in or given back."""
        work = self.open_work()
        return not work.is_open or work.submission.state is SubmissionState.RETURNED
