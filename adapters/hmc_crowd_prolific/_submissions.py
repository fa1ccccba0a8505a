"""Submissions: read them all, decide about them, by the rules that Prolific sets for a rejection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import InputError, PlatformError
from hmc_crowd_prolific._models import Submission
from hmc_crowd_prolific._paging import all_rows
from hmc_crowd_prolific._parse import identity, one, text
from hmc_crowd_prolific._statuses import SubmissionStatus
from hmc_crowd_prolific._studies import segment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hmc_crowd_prolific._http import Http
    from hmc_crowd_prolific._studies import Studies

__all__ = ["BULK_LIMIT", "LEAST_REASON", "REJECTION_CATEGORIES", "Submissions"]

#: Most submissions in one bulk approval, and least characters of a rejection's message.
BULK_LIMIT = 1_000
LEAST_REASON = 100
REJECTION_CATEGORIES = (
    "TOO_QUICKLY",
    "TOO_SLOWLY",
    "FAILED_INSTRUCTIONS",
    "INCOMP_LONGITUDINAL",
    "FAILED_CHECK",
    "LOW_EFFORT",
    "MALINGERING",
    "NO_CODE",
    "BAD_CODE",
    "NO_DATA",
    "UNSUPP_DEVICE",
    "OTHER",
)


class Submissions:
    """Submissions of studies."""

    def __init__(self, http: Http, studies: Studies) -> None:
        self._http = http
        self._studies = studies

    def of_study(self, study_id: str, *, status: SubmissionStatus | None = None) -> list[Submission]:
        """Return every submission of a study once, read until the list was stable and as long as Prolific counts.

        A row that cannot be read says so in its ``problem``, and its state is UNKNOWN: one worker's row stops nobody.

        Parameters
        ----------
        status : SubmissionStatus, optional
            Only these; then Prolific's own count cannot be held against the list.
        """
        params = {"study": study_id, "ordering": "started_at"}
        if status is not None:
            # The filter writes underscores, but keeps the hyphen.
            params["status"] = status.value.replace(" ", "_")
        found = all_rows(self._http, "submissions/", params, expected=None if status else lambda: self._total(study_id))
        return [_read(each, study_id) for each in found]

    def _total(self, study_id: str) -> int:
        counts = self._studies.counts(study_id)
        return counts.get("TOTAL", sum(value for name, value in counts.items() if name != "TOTAL"))

    def get(self, submission_id: str) -> Submission:
        """Return one submission."""
        return Submission.read(one(self._http.get(f"submissions/{segment(submission_id)}/")))

    def approve(self, submission_id: str) -> Submission:
        """Approve and pay; Prolific ignores a repetition."""
        return self._move(submission_id, {"action": "APPROVE"})

    def reject(self, submission_id: str, *, message: str, category: str) -> Submission:
        """Refuse to pay; treat it as final.

        Parameters
        ----------
        message : str
            At least 100 characters; the participant reads it.
        category : str
            One of `REJECTION_CATEGORIES`.

        Raises
        ------
        InputError
            The message is too short or the category unknown; nothing was sent.
        """
        if len(message.strip()) < LEAST_REASON:
            raise InputError(
                f"the message of the rejection has {len(message.strip())} characters; Prolific wants at least "
                f"{LEAST_REASON}: say what was wrong and on which evidence"
            )
        if category not in REJECTION_CATEGORIES:
            raise InputError(f"category is {category!r}; Prolific knows {', '.join(REJECTION_CATEGORIES)}")
        return self._move(
            submission_id, {"action": "REJECT", "message": message.strip(), "rejection_category": category}
        )

    def _move(self, submission_id: str, body: dict[str, str]) -> Submission:
        path = f"submissions/{segment(submission_id)}/transition/"
        self._http.again("POST", path, body, money=True)
        # Read anew: the answer of a transition need not name the participant.
        return self.get(submission_id)

    def bulk_approve(self, submission_ids: Sequence[str]) -> None:
        """Ask for the approval of up to 1,000 submissions; it happens in the minutes after.

        Approving what is approved changes nothing, so the call may be repeated.
        """
        if not 0 < len(submission_ids) <= BULK_LIMIT:
            raise InputError(f"{len(submission_ids)} submissions in one bulk approval; give 1 to {BULK_LIMIT}")
        self._http.again(
            "POST", "submissions/bulk-approve/", {"submission_ids": list(submission_ids)}, money=True, text_ok=True
        )

    def request_return(self, submission_id: str, reasons: Sequence[str]) -> None:
        """Ask the participant to return: the kinder way before a rejection."""
        if not reasons or not all(each.strip() for each in reasons):
            raise InputError(f"reasons are {list(reasons)}; give at least one that says something")
        self._http.again(
            "POST",
            f"submissions/{segment(submission_id)}/request-return/",
            {"request_return_reasons": [each.strip() for each in reasons]},
        )


def _read(row: Mapping[str, Any], study_id: str) -> Submission:
    """Read a row of a list; of one that cannot be read only what names it."""
    try:
        return Submission.read(row, study_id=study_id)
    except PlatformError as error:
        worker = text(row, "participant_id") or text(row, "participant") or ""
        state = SubmissionStatus.UNKNOWN
        return Submission(identity(row, "id"), study_id, worker, state, None, None, None, None, (), problem=str(error))
