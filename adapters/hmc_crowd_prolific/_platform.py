"""Prolific behind the port: one study with many places for a round, our router behind its address."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from hmc_crowd._base.addresses import shown_address
from hmc_crowd.errors import InputError, NeedsHumanError, PlatformError, PlatformUnavailableError
from hmc_crowd.platform import Account, Capabilities, Recruitment, RemoteHit, RemoteSubmission, SubmissionState
from hmc_crowd_prolific._bonuses import BATCH_LIMIT
from hmc_crowd_prolific._eligibility import Eligibility
from hmc_crowd_prolific._keys import content_of, key_of
from hmc_crowd_prolific._publishing import draft_for, publish_once, studies_under
from hmc_crowd_prolific._quote import Quote
from hmc_crowd_prolific._review import checked_rejections
from hmc_crowd_prolific._statuses import StudyStatus, SubmissionStatus
from hmc_crowd_prolific._submissions import BULK_LIMIT
from hmc_crowd_prolific._two_steps import TwoStepBonuses

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from types import TracebackType

    from hmc_crowd._base.clock import Clock
    from hmc_crowd._base.findings import Finding
    from hmc_crowd._base.reach import Surroundings
    from hmc_crowd.platform import FeeSchedule, Hit
    from hmc_crowd_prolific._client import ProlificClient
    from hmc_crowd_prolific._models import Study, Submission
    from hmc_crowd_prolific._review import RejectionProposal
    from hmc_crowd_prolific._settings import StudySettings

__all__ = ["ProlificPlatform"]

_LOG = logging.getLogger(__name__)


class ProlificPlatform(TwoStepBonuses, Eligibility):
    """`hmc_crowd.platform.Platform`, `Recruiter`, `PaysBonuses` and more over a `ProlificClient`; made by `connect`.

    A study is what the port calls a HIT here: ``hit_id`` is the study's id, ``redundancy`` its places. Publish a whole
    round with `recruit`; Prolific limits many small studies, and `publish` makes one for a single HIT.

    Parameters
    ----------
    client : ProlificClient
        Its mode decides whether anything may be written.
    settings : StudySettings
        What is the same for all studies.
    clock : Clock
        Stamps what Prolific did not.
    """

    name = "prolific"
    capabilities = Capabilities(
        rejection_frees_slot=True, qualifications=True, bonuses=True, bonus_batch=BATCH_LIMIT, places_are_shared=True
    )

    def __init__(self, client: ProlificClient, settings: StudySettings, *, clock: Clock) -> None:
        self.client = client
        self.settings = settings
        self._clock = clock
        self._workspace: str | None = settings.workspace

    def __enter__(self) -> ProlificPlatform:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self.client.close()

    @property
    def fees(self) -> FeeSchedule:
        """What Prolific takes, for cost sheets; before publishing, Prolific's own calculator decides."""
        return self.settings.fees

    @property
    def workspace(self) -> str:
        """The workspace whose money is spent."""
        if self._workspace is None:
            found = self.client.workspaces.all()
            if len(found) != 1:
                titles = ", ".join(f"{each.title} ({each.id})" for each in found) or "none"
                raise InputError(f"the token has the workspaces {titles}; say which in HMC_CROWD_PROLIFIC_WORKSPACE")
            self._workspace = found[0].id
        return self._workspace

    def account(self) -> Account:
        """Say which workspace would pay, and what it has available."""
        balance = self.client.workspaces.balance(self.workspace)
        http = self.client.http
        return Account(
            self.name, shown_address(http.base_url), f"workspace {self.workspace}", http.mode, balance.available
        )

    def examine(self, around: Surroundings, *, public_url: str | None = None) -> Iterator[Finding]:
        """Look whether participants would reach us and be paid; changes nothing. See `hmc-crowd doctor`."""
        from hmc_crowd_prolific._examine import examine

        return examine(self, around, public_url=public_url)

    def sync_qualification(self, name: str, description: str, scores: Mapping[str, int]) -> tuple[str, int]:  # noqa: ARG002 because of the port
        """Make exactly these participants members of the group of this name; return its id and how many changed.

        A group knows no scores: who is not among them has not passed.
        """
        group = self.client.groups.ensure(self.workspace, name)
        added, removed = self.client.groups.sync(group.id, scores)
        return group.id, len(added) + len(removed)

    # Publishing.

    def publish(self, hit: Hit, *, first_sent_at: datetime | None = None) -> RemoteHit:  # noqa: ARG002 because of the port
        """Recruit for one HIT: a study with as many places as the HIT has redundancy. Its key is looked for first."""
        if not hit.items:
            raise InputError(f"hit {hit.key!r} has no items; give it at least one")
        order = Recruitment.for_hits(hit.key, [hit], expected_s=60 * self.settings.expected_minutes)
        return self._recruit(order, content_of(order, repr(hit.items)))

    def recruit(self, order: Recruitment) -> RemoteHit:
        """Publish one study for many HITs, once: repeating it with the same key returns the study that exists.

        Raises
        ------
        InputError
            The order or the settings are not complete, or pay less than allowed; nothing was sent.
        BudgetError
            The workspace has too little for it; nothing was published.
        PlatformUnavailableError
            No answer; asking again is safe.
        PlatformError
            The key is that of a study with other content.
        NeedsHumanError
            More than one study recruits under the key.
        """
        return self._recruit(order, content_of(order))

    def _recruit(self, order: Recruitment, content: str) -> RemoteHit:
        draft = draft_for(order, self.settings, content)
        balance = self.client.workspaces.balance(self.workspace)
        if balance.available.currency != order.currency:
            raise InputError(
                f"the pay is in {order.currency}, but the workspace keeps its money in {balance.available.currency}"
            )
        return self._remote(publish_once(self.client, draft, order.key, content, balance), order.key)

    def quote(self, order: Recruitment) -> Quote:
        """Ask Prolific what an order would cost; changes nothing."""
        draft = draft_for(order, self.settings, content_of(order))
        total = self.client.studies.estimate_minor(draft.reward_minor, draft.places)
        available = self.client.workspaces.balance(self.workspace).available
        return Quote.of(draft, total, available)

    def find(self, key: str) -> RemoteHit | None:
        """Return the study published under this key, or None; a draft is not published."""
        if self.settings.project is None:
            raise InputError("looking for a study needs its project; set HMC_CROWD_PROLIFIC_PROJECT or pass it")
        found = [
            each
            for each in studies_under(self.client, self.settings.project, key)
            if each.status is not StudyStatus.UNPUBLISHED
        ]
        if len(found) > 1:
            raise NeedsHumanError(f"{len(found)} studies are published under the key {key!r}; stop all but one")
        return self._remote(found[0], key) if found else None

    def find_all(self) -> dict[str, RemoteHit]:
        """Return every published study of ours by its key, from one look through the project.

        Raises
        ------
        NeedsHumanError
            Two studies are published under one key.
        """
        if self.settings.project is None:
            raise InputError("looking for studies needs their project; set HMC_CROWD_PROLIFIC_PROJECT or pass it")
        found: dict[str, RemoteHit] = {}
        for each in self.client.studies.of_project(self.settings.project):
            key = key_of(each.internal_name)
            if key is None or each.status is StudyStatus.UNPUBLISHED:
                continue
            if key in found:
                raise NeedsHumanError(
                    f"the studies {found[key].hit_id} and {each.id} are published under the key {key!r}; stop one"
                )
            found[key] = self._remote(each, key)
        return found

    def set_places(self, hit_id: str, places: int, *, reopen: bool = False) -> RemoteHit:
        """Raise a study's places to an absolute number; see `Studies.set_places`."""
        return self._remote(self.client.studies.set_places(hit_id, places, reopen=reopen))

    def expire(self, hit_id: str) -> RemoteHit:
        """Offer the study to nobody more.

        It is paused first, which lets those inside finish, and stopped once nobody is inside: calling it again later
        does that. A study that is full is closed already, but a rejected or returned place opens it again.
        """
        study = self.client.studies.get(hit_id)
        if study.status is StudyStatus.PUBLISHING:
            raise PlatformUnavailableError(f"study {hit_id} is being published; expire it in a moment")
        if study.status is StudyStatus.SCHEDULED:
            study = self.client.studies.move(hit_id, "CANCEL_PUBLISH")
        if study.status is StudyStatus.ACTIVE:
            study = self.client.studies.move(hit_id, "PAUSE")
        if study.status is StudyStatus.PAUSED:
            counts = self.client.studies.counts(hit_id)
            if not counts.get("ACTIVE", 0) and not counts.get("RESERVED", 0):
                study = self.client.studies.move(hit_id, "STOP")
        return self._remote(study)

    def _remote(self, study: Study, key: str | None = None) -> RemoteHit:
        return RemoteHit(
            hit_id=study.id,
            key=key if key is not None else key_of(study.internal_name) or "",
            redundancy=study.places,
            is_open=study.is_open,
            created_at=study.created_at if study.created_at is not None else self._clock.now(),
        )

    # Reviewing.

    def submissions(self, hit_ids: Iterable[str]) -> Iterator[RemoteSubmission]:
        """Yield every submission of these studies once, whatever its state."""
        for hit_id in dict.fromkeys(hit_ids):
            for each in self.client.submissions.of_study(hit_id):
                yield each.remote()

    def approve(self, submission_id: str) -> RemoteSubmission:
        """Approve and pay; what is approved already, also by time, stays as it is.

        Work that timed out is approved too where a person asks for it by its id.

        Raises
        ------
        PlatformError
            It is under way, returned or rejected.
        NeedsHumanError
            Its state is one that nobody knows: no money moves.
        """
        held = self.client.submissions.get(submission_id)
        if held.state is SubmissionState.APPROVED:
            return held.remote()
        if held.status not in {SubmissionStatus.AWAITING_REVIEW, SubmissionStatus.TIMED_OUT}:
            raise _not_now(held, "approved")
        return self.client.submissions.approve(submission_id).remote()

    def approve_many(self, submission_ids: Sequence[str], *, hit_ids: Iterable[str]) -> list[RemoteSubmission]:
        """Approve in bulk, up to 1,000 in a call, and wait until Prolific has done it.

        Parameters
        ----------
        submission_ids : sequence of str
            Those that are not awaiting review are left alone.
        hit_ids : iterable of str
            The studies they belong to; their lists tell how far it is.

        Returns
        -------
        list of RemoteSubmission
            The submissions as they stand, in the order asked for.

        Raises
        ------
        PlatformUnavailableError
            It was not done in time; calling it again goes on where it stopped.
        """
        studies = list(dict.fromkeys(hit_ids))
        wanted = list(dict.fromkeys(submission_ids))
        held = self._held(studies, wanted)
        waiting = [each for each in wanted if held[each].state is SubmissionState.SUBMITTED]
        for start in range(0, len(waiting), BULK_LIMIT):
            self.client.submissions.bulk_approve(waiting[start : start + BULK_LIMIT])
        if waiting:
            self._await_approvals(studies, set(waiting))
            held = self._held(studies, wanted)
        return [held[each].remote() for each in wanted]

    def _await_approvals(self, studies: Sequence[str], waiting: set[str]) -> None:
        """Ask for what awaits review, a list that gets shorter, until none of ours is on it."""
        for _ in self.client.http.pace.attempts():
            unreviewed = {
                each.id
                for study in studies
                for each in self.client.submissions.of_study(study, status=SubmissionStatus.AWAITING_REVIEW)
            }
            if not waiting & unreviewed:
                return
        raise PlatformUnavailableError(
            f"Prolific has not approved all of {len(waiting):,} submissions yet; ask again later"
        )

    def _held(self, studies: Iterable[str], wanted: Iterable[str]) -> dict[str, Submission]:
        held = {each.id: each for study in studies for each in self.client.submissions.of_study(study)}
        missing = [each for each in wanted if each not in held]
        if missing:
            raise PlatformError(f"submission {missing[0]!r} and {len(missing) - 1} more are not in these studies")
        return held

    def reject(self, submission_id: str, reason: str) -> RemoteSubmission:
        """Refuse to pay submitted work; Prolific frees its place by itself.

        The settings' note is added to the reason, and both together must have 100 characters.
        """
        if not reason.strip():
            raise InputError("reason is empty; the participant reads it, so say what was wrong")
        held = self.client.submissions.get(submission_id)
        if held.state is SubmissionState.REJECTED:
            return held.remote()
        if held.status is not SubmissionStatus.AWAITING_REVIEW:
            raise _not_now(held, "rejected")
        message = f"{reason.strip()} {self.settings.rejection_note}".strip()
        category = self.settings.rejection_category
        return self.client.submissions.reject(submission_id, message=message, category=category).remote()

    def reject_many(
        self, proposals: Sequence[RejectionProposal], *, reviewed: int, signed_off_by: str, cap: float = 0.02
    ) -> list[RemoteSubmission]:
        """Reject what a person signed off, or nothing: see `checked_rejections` for the rules."""
        checked = checked_rejections(proposals, reviewed=reviewed, signed_off_by=signed_off_by, cap=cap)
        _LOG.info("%d rejections, signed off", len(checked))
        return [
            self.client.submissions.reject(each.submission_id, message=each.message, category=each.category).remote()
            for each in checked
        ]


def _not_now(held: Submission, what: str) -> PlatformError:
    if held.state is SubmissionState.UNKNOWN:
        return NeedsHumanError(
            f"submission {held.id} is in a state that nobody knows, so it was not {what}; look at it"
        )
    return PlatformError(f"submission {held.id} is {held.status}; only work that awaits review can be {what}")
