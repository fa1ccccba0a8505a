"""Review policies: what the requester asked to happen without him, for scripts that rely on it.

``ScoreMyKnownAnswers/2011-09-01`` looks at one assignment when it is handed in; ``SimplePlurality/2011-09-01`` looks at
a HIT when it becomes reviewable. Both leave a report of results and actions. Gold checks of a campaign do not use them.
"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd_local._tables_mturk import ASSIGNMENT, REVIEW
from hmc_crowd_local.mturk_api._assignments import decide
from hmc_crowd_local.mturk_api._call import counts_of
from hmc_crowd_local.mturk_api._extend import extend
from hmc_crowd_local.mturk_api._hit_views import status_of
from hmc_crowd_local.mturk_api._policy_rules import Policy, known_answer_score, plurality
from hmc_crowd_local.mturk_api._problems import TurkError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hmc_crowd_local.mturk_api._call import Call

__all__ = ["check_policies", "review_assignment", "review_hit"]


def check_policies(request: Mapping[str, Any]) -> None:
    """Refuse policies and parameters that are not known."""
    for member, level in (("AssignmentReviewPolicy", "Assignment"), ("HITReviewPolicy", "HIT")):
        if member in request:
            Policy.read(request[member], level=level, name=member)


class _Report:
    """Collects the rows of one run of a policy."""

    def __init__(self, call: Call, hit_id: str, level: str) -> None:
        self._call, self._hit_id, self._level = call, hit_id, level
        count = sa.select(sa.func.count()).where(REVIEW.c.hit_id == hit_id, REVIEW.c.level == level)
        self._seq: int = call.connection.execute(count).scalar_one()

    def result(self, key: str, value: str, *, subject: str, kind: str, question: str | None = None) -> None:
        """Note a score."""
        row = {"SubjectId": subject, "SubjectType": kind, "QuestionId": question, "Key": key, "Value": value}
        self._add("result", row)

    def action(self, name: str, *, target: str, kind: str, error: TurkError | None = None) -> None:
        """Note what was done, or why it was not."""
        row = {"ActionName": name, "TargetId": target, "TargetType": kind}
        row["Status"] = "Succeeded" if error is None else "Failed"
        if error is not None:
            row["ErrorCode"] = error.code
        self._add("action", {**row, "CompleteTime": self._call.now.timestamp()})

    def _add(self, kind: str, row: Mapping[str, Any]) -> None:
        body = {"ActionId": self._call.new_id(), **{name: each for name, each in row.items() if each is not None}}
        self._call.connection.execute(
            sa.insert(REVIEW).values(
                hit_id=self._hit_id, level=self._level, seq=self._seq, kind=kind, body=json.dumps(body)
            )
        )
        self._seq += 1


def _given(row: Any) -> dict[str, set[str]]:
    """Return the answers of an assignment by question."""
    answers: dict[str, set[str]] = {}
    for name, _kind, value in json.loads(row.fields or "[]"):
        answers.setdefault(name, set()).update(part for part in value.split("|"))
    return answers


def review_assignment(call: Call, hit: Any, row: Any) -> None:
    """Apply ScoreMyKnownAnswers to an assignment that was just handed in."""
    if hit.assignment_policy is None:
        return
    policy = Policy.read(json.loads(hit.assignment_policy), level="Assignment", name="AssignmentReviewPolicy")
    report = _Report(call, hit.hit_id, "Assignment")
    score, right = known_answer_score(policy.answer_key, _given(row))
    for question, is_right in right.items():
        value = "1" if is_right else "0"
        report.result("KnownAnswerCorrect", value, subject=row.assignment_id, kind="Assignment", question=question)
    report.result("KnownAnswerScore", str(score), subject=row.assignment_id, kind="Assignment")
    _decide(call, report, policy, row, score, "KnownAnswerScore")
    _extend(call, report, policy, hit.hit_id, score, "ExtendIfKnownAnswerScoreIsLessThan")


def review_hit(call: Call, hit_id: str) -> None:
    """Apply SimplePlurality to a HIT that has become reviewable, once until it is extended."""
    hit = call.hit(hit_id)
    if hit.hit_policy is None or hit.is_policy_done:
        return
    if status_of(hit, counts_of(call.connection, [hit_id])[hit_id], call.now) != "Reviewable":
        return
    call.update_hit(hit_id, is_policy_done=True)
    policy = Policy.read(json.loads(hit.hit_policy), level="HIT", name="HITReviewPolicy")
    rows = _regarded(call, hit, policy)
    report = _Report(call, hit_id, "HIT")
    given = {row.assignment_id: _given(row) for row in rows}
    outcome = plurality(given, policy.question_ids, policy.number("QuestionAgreementThreshold"))
    for question, (share, answer) in outcome.questions.items():
        report.result("QuestionAgreement", str(share), subject=hit_id, kind="HIT", question=question)
        if answer is not None:
            report.result("AgreedAnswer", "|".join(sorted(answer)), subject=hit_id, kind="HIT", question=question)
    report.result("HITAgreementScore", str(outcome.hit_score), subject=hit_id, kind="HIT")
    for row in rows:
        score = outcome.worker_scores[row.assignment_id]
        report.result("WorkerAgreementScore", str(score), subject=row.assignment_id, kind="Assignment")
        _decide(call, report, policy, row, score, "WorkerAgreementScore")
    _extend(call, report, policy, hit_id, outcome.hit_score, "ExtendIfHITAgreementScoreIsLessThan")


def _regarded(call: Call, hit: Any, policy: Policy) -> list[Any]:
    query = sa.select(ASSIGNMENT).where(
        ASSIGNMENT.c.hit_id == hit.hit_id, ASSIGNMENT.c.state.in_(["submitted", "approved", "rejected"])
    )
    rows = list(call.connection.execute(query.order_by(ASSIGNMENT.c.submitted_at, ASSIGNMENT.c.assignment_id)))
    if policy.flag("DisregardAssignmentIfRejected"):
        rows = [row for row in rows if row.state != "rejected"]
    least = policy.number("DisregardAssignmentIfKnownAnswerScoreIsLessThan")
    if least is not None and hit.assignment_policy is not None:
        known = Policy.read(json.loads(hit.assignment_policy), level="Assignment", name="AssignmentReviewPolicy")
        rows = [row for row in rows if known_answer_score(known.answer_key, _given(row))[0] >= least]
    return rows


def _decide(call: Call, report: _Report, policy: Policy, row: Any, score: int, what: str) -> None:
    if row.state != "submitted":
        return
    approve, reject = policy.number(f"ApproveIf{what}IsAtLeast"), policy.number(f"RejectIf{what}IsLessThan")
    if approve is not None and score >= approve:
        decide(call, row, is_good=True, feedback=policy.text("ApproveReason"))
        report.action("approve", target=row.assignment_id, kind="Assignment")
    elif reject is not None and score < reject:
        decide(call, row, is_good=False, feedback=policy.text("RejectReason") or "The known answers were not met.")
        report.action("reject", target=row.assignment_id, kind="Assignment")


def _extend(call: Call, report: _Report, policy: Policy, hit_id: str, score: int, parameter: str) -> None:
    least, most = policy.number(parameter), policy.number("ExtendMaximumAssignments")
    hit = call.hit(hit_id)
    if least is None or score >= least or most is None or hit.max_assignments >= most:
        return
    try:
        extend(call, hit, 1)
    except TurkError as error:  # too little money, or the rule of ten: the report says so
        report.action("extend", target=hit_id, kind="HIT", error=error)
        return
    until = call.now + timedelta(seconds=policy.number("ExtendMinimumTimeInSeconds") or 0)
    if until > hit.expires_at:
        call.update_hit(hit_id, expires_at=until, is_expiry_settled=False)
    report.action("extend", target=hit_id, kind="HIT")
