"""What came in, and what is decided about it: read page by page, approved and rejected once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import InputError, NeedsHumanError, PlatformError, PlatformUnavailableError
from hmc_crowd.platform import SubmissionState
from hmc_crowd_mturk._answers import AnswerReading, read_answer
from hmc_crowd_mturk._failures import RefusedError
from hmc_crowd_mturk._mapping import handed_in, require_id, submission_of

if TYPE_CHECKING:
    from collections import OrderedDict
    from collections.abc import Iterable, Iterator, Mapping

    from hmc_crowd.platform import RemoteAnswer
    from hmc_crowd_mturk._api import Api
    from hmc_crowd_mturk._mapping import MTurkSubmission

__all__ = ["Reviewing"]

_MOST_FEEDBACK = 1_024
_REMEMBERED = 20_000
# From so many HITs on, one listing of all tells their counts at less cost than a call for each.
_LISTED_FROM = 5


class Reviewing:
    """Submissions, answers, approvals and rejections over an `Api`."""

    _api: Api
    _answers: OrderedDict[str, str | None]

    def submissions(self, hit_ids: Iterable[str]) -> Iterator[MTurkSubmission]:
        """Yield every submission of these HITs, none twice; work under way is invisible here.

        A list that is shorter than the HIT's own count is read once more: rows move between pages while workers work.

        Raises
        ------
        PlatformError
            An id is unknown.
        """
        wanted = [require_id(each, "HIT") for each in dict.fromkeys(hit_ids)]
        counted = self._counted(wanted)
        for hit_id in wanted:
            hit = counted.get(hit_id) or self._api.read("GetHIT", "HIT", HITId=hit_id)
            if not handed_in(hit):
                continue
            rows: dict[str, dict[str, Any]] = {}
            for _ in range(2):
                listed = self._api.rows("ListAssignmentsForHIT", "Assignments", known=handed_in(hit), HITId=hit_id)
                for row in listed:
                    rows[row["AssignmentId"]] = row
                if len(rows) >= handed_in(hit):
                    break
            for row in rows.values():
                self._remember(row)
                yield submission_of(row)

    def _counted(self, wanted: list[str]) -> dict[str, dict[str, Any]]:
        """Return the HITs as a list shows them, 100 a call, as long as that costs less than asking for each."""
        found: dict[str, dict[str, Any]] = {}
        missing, most_rows = set(wanted), 30 * len(wanted)
        if len(wanted) < _LISTED_FROM:
            return found
        for number, row in enumerate(self._api.rows("ListHITs", "HITs")):
            if row["HITId"] in missing:
                found[row["HITId"]] = row
                missing.remove(row["HITId"])
            if not missing or number > most_rows:
                break
        return found

    def readings(self, submission_ids: Iterable[str]) -> dict[str, AnswerReading]:
        """Return what could be read of each submission that is handed in, with its problems and the raw text.

        Raises
        ------
        PlatformError
            An id is unknown.
        """
        found: dict[str, AnswerReading] = {}
        for each in dict.fromkeys(submission_ids):
            if each not in self._answers:
                try:
                    self._remember(self._get(each))
                except PlatformUnavailableError:
                    continue  # not handed in, or not readable yet
            found[each] = read_answer(self._answers[each])
        return found

    def answers(self, submission_ids: Iterable[str]) -> Mapping[str, tuple[RemoteAnswer, ...]]:
        """Return the answers of each submission that is handed in; see `readings` for those that cannot be read."""
        return {each: reading.answers for each, reading in self.readings(submission_ids).items()}

    def _remember(self, row: dict[str, Any]) -> None:
        """Keep the newest answers: listing brings them, and asking for each again would be a call each."""
        self._answers[row["AssignmentId"]] = row.get("Answer")
        while len(self._answers) > _REMEMBERED:
            self._answers.popitem(last=False)

    def approve(
        self, submission_id: str, *, override: bool = False, worker: str | None = None, feedback: str | None = None
    ) -> MTurkSubmission:
        """Approve submitted work and pay it; approving approved work changes nothing.

        Parameters
        ----------
        submission_id : str
            The assignment.
        override : bool, default False
            Approve although it was rejected (within 30 days).
        worker : str, optional
            Who is meant to be paid; another worker under this id is refused before anything is sent.
        feedback : str, optional
            What the worker reads.

        Raises
        ------
        PlatformUnavailableError
            It cannot be read yet, or there was no answer: try again later.
        NeedsHumanError
            It is rejected and ``override`` is not set, or another worker holds it.
        """
        if worker is not None:
            self._require_worker(self._get(submission_id), worker)
        parameters: dict[str, Any] = {"AssignmentId": require_id(submission_id, "submission")}
        if override:
            parameters["OverrideRejection"] = True
        if feedback is not None:
            parameters["RequesterFeedback"] = _feedback(feedback)
        try:
            self._api.write("ApproveAssignment", is_repeatable=True, **parameters)
        except RefusedError as refused:
            if refused.code != "invalidassignmentstate":
                raise
            shown = submission_of(self._get(submission_id))
            if shown.state is SubmissionState.APPROVED:
                return shown
            if shown.state is SubmissionState.REJECTED:
                raise NeedsHumanError(
                    f"submission {submission_id} is rejected; a person must decide whether to override that"
                ) from refused
            raise
        return submission_of(self._get(submission_id))

    def reject(self, submission_id: str, reason: str) -> MTurkSubmission:
        """Refuse submitted work with a reason; its place stays taken. Rejecting rejected work changes nothing."""
        if not reason.strip():
            raise InputError("reason is empty; the worker reads it, so say what was wrong")
        try:
            self._api.write(
                "RejectAssignment",
                is_repeatable=True,
                AssignmentId=require_id(submission_id, "submission"),
                RequesterFeedback=_feedback(reason),
            )
        except RefusedError as refused:
            if refused.code != "invalidassignmentstate":
                raise
            shown = submission_of(self._get(submission_id))
            if shown.state is SubmissionState.REJECTED:
                return shown
            raise PlatformError(
                f"submission {submission_id} is {shown.state.value}; it cannot be rejected any more"
            ) from refused
        return submission_of(self._get(submission_id))

    def _get(self, submission_id: str) -> dict[str, Any]:
        """Return an assignment as the platform shows it; one that it does not show yet is for later."""
        try:
            row: dict[str, Any] = self._api.read(
                "GetAssignment", "Assignment", AssignmentId=require_id(submission_id, "submission")
            )
        except RefusedError as refused:
            if refused.code == "invalidassignmentstate":
                raise PlatformUnavailableError(
                    f"submission {submission_id} cannot be read yet (not handed in, or a moment ago); try again later"
                ) from refused
            raise
        return row

    @staticmethod
    def _require_worker(row: dict[str, Any], worker: str) -> None:
        if row["WorkerId"] != worker:
            raise NeedsHumanError(
                f"submission {row['AssignmentId']} belongs to another worker than the one meant; nothing was sent"
            )


def _feedback(text: str) -> str:
    if len(text) > _MOST_FEEDBACK:
        raise InputError(f"the reason has {len(text)} characters, at most {_MOST_FEEDBACK} are allowed")
    return text
