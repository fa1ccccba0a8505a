"""Workspaces, projects and studies."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from hmc_crowd.errors import InputError, NeedsHumanError, PlatformError, PlatformUnavailableError, StateError
from hmc_crowd_prolific._models import Balance, Cost, Project, Study, Workspace
from hmc_crowd_prolific._paging import all_rows
from hmc_crowd_prolific._parse import one, whole
from hmc_crowd_prolific._statuses import StudyStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hmc_crowd_prolific._drafts import StudyDraft
    from hmc_crowd_prolific._http import Http

__all__ = ["Studies", "Workspaces", "segment"]

_S = StudyStatus
#: Where each action leads, and which states show that it has happened.
_DONE = {
    "PUBLISH": {_S.PUBLISHING, _S.ACTIVE, _S.PAUSED, _S.AWAITING_REVIEW, _S.COMPLETED, _S.SCHEDULED},
    "PAUSE": {_S.PAUSED, _S.COMPLETED},
    "START": {_S.ACTIVE},
    "STOP": {_S.COMPLETED},
    "CANCEL_PUBLISH": {_S.UNPUBLISHED},
}
_FULL = {_S.AWAITING_REVIEW, _S.COMPLETED}


def segment(identity: str) -> str:
    """Return an id as one safe part of a path."""
    if not identity or identity in {".", ".."}:
        raise InputError(f"the id is {identity!r}; give one that Prolific handed out")
    return quote(identity, safe="")


class Workspaces:
    """Workspaces hold the money, and projects the studies."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def all(self) -> list[Workspace]:
        """Return the workspaces of the token."""
        return [Workspace.read(each) for each in all_rows(self._http, "workspaces/", {}, paged=False)]

    def balance(self, workspace: str) -> Balance:
        """Return what a workspace holds."""
        return Balance.read(one(self._http.get(f"workspaces/{segment(workspace)}/balance/")))

    def projects(self, workspace: str) -> list[Project]:
        """Return the projects of a workspace."""
        return [
            Project.read(each)
            for each in all_rows(self._http, f"workspaces/{segment(workspace)}/projects/", {}, paged=False)
        ]

    def ensure_project(self, workspace: str, title: str) -> Project:
        """Return the project with that title; make it where there is none."""
        for _ in range(2):
            for each in self.projects(workspace):
                if each.title == title:
                    return each
            try:
                made = self._http.once("POST", f"workspaces/{segment(workspace)}/projects/", {"title": title})
            except NeedsHumanError:
                continue  # the list tells whether it was made
            return Project.read(one(made.data))
        raise PlatformUnavailableError(f"the project {title!r} could not be made; nothing is lost, try again later")


class Studies:
    """Studies: create, publish, pause, stop, more places."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def of_project(self, project: str) -> list[Study]:
        """Return the studies of a project, newest first."""
        path = f"projects/{segment(project)}/studies/"
        return [Study.read(each) for each in all_rows(self._http, path, {"ordering": "-date_created"})]

    def get(self, study_id: str) -> Study:
        """Return one study, with its metadata and codes."""
        return Study.read(one(self._http.get(f"studies/{segment(study_id)}/")))

    def create(self, draft: StudyDraft) -> Study:
        """Make a draft, which costs nothing; one attempt, because Prolific has no key that would tell a repetition.

        Raises
        ------
        NeedsHumanError
            The answer was lost: the draft may exist. Look for its key before asking again.
        """
        return Study.read(one(self._http.once("POST", "studies/", draft.payload()).data))

    def delete_draft(self, study_id: str) -> None:
        """Delete a study that was never published; Prolific refuses it for any other."""
        try:
            self._http.once("DELETE", f"studies/{segment(study_id)}/")
        except NeedsHumanError as error:
            raise PlatformUnavailableError(f"{error}") from None  # deleting again is harmless

    def move(self, study_id: str, action: str) -> Study:
        """Carry out PUBLISH, PAUSE, START, STOP or CANCEL_PUBLISH, unless the study shows that it has happened.

        The study is read first, and again where the answer was lost, so that no action is ever sent twice.

        Raises
        ------
        PlatformUnavailableError
            It has not happened, and trying again is safe.
        """
        done = _DONE.get(action)
        if done is None:
            raise InputError(f"action is {action!r}; a study knows {', '.join(_DONE)}")
        study = self.get(study_id)
        if study.status in done:
            return study
        if study.status is StudyStatus.UNKNOWN:
            raise NeedsHumanError(f"study {study_id} is in a state that nobody knows; look at it before {action}")
        try:
            return Study.read(
                one(self._http.once("POST", f"studies/{segment(study_id)}/transition/", {"action": action}).data)
            )
        except NeedsHumanError as error:
            study = self.get(study_id)
            if study.status in done:
                return study
            raise PlatformUnavailableError(f"{error}. The study is still {study.status}: try again") from None

    def set_places(self, study_id: str, places: int, *, reopen: bool = False) -> Study:
        """Raise the places to an absolute number; repeating it, or doing it from two processes, changes nothing more.

        Parameters
        ----------
        reopen : bool, default False
            Allow it for a study that is full or completed, which makes it recruit, and cost, again.

        Raises
        ------
        StateError
            The study is full or completed and ``reopen`` was not given.
        PlatformError
            It has more places already: they cannot be taken back.
        """
        study = self.get(study_id)
        if study.places == places:
            return study
        if study.places > places:
            raise PlatformError(f"study {study_id} has {study.places} places; Prolific cannot lower them to {places}")
        if study.status in _FULL and not reopen:
            raise StateError(
                f"study {study_id} is {study.status}; more places make it recruit again, which costs money: pass "
                "reopen=True to allow it"
            )
        changed = self._http.again("PATCH", f"studies/{segment(study_id)}/", {"total_available_places": places})
        return Study.read(one(changed))

    def cost(self, study_id: str) -> Cost:
        """Return what a draft would cost, or a study costs, with fees and tax."""
        return Cost.read(one(self._http.get(f"studies/{segment(study_id)}/cost/", {"is_projected": "true"})))

    def estimate_minor(self, reward_minor: int, places: int) -> int:
        """Return what so many places would cost in all, before any study exists; changes nothing at Prolific."""
        body = {"reward": reward_minor, "total_available_places": places}
        return whole(one(self._http.ask("study-cost-calculator/", body)), "total_cost")

    def counts(self, study_id: str) -> Mapping[str, int]:
        """Return how many submissions a study has by status, and in all under ``TOTAL``."""
        answer = one(self._http.get(f"studies/{segment(study_id)}/submissions/counts/"))
        return {name: whole(answer, name) for name, value in answer.items() if isinstance(value, int | float)}
