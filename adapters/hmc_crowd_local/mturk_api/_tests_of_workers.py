"""A worker asks for a qualification: at once, by a test that is scored, or by a request that a person decides."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd_local._tables_mturk import QUALIFICATION_REQUEST
from hmc_crowd_local.mturk_api._answer_key import form_fields, score
from hmc_crowd_local.mturk_api._problems import TurkError, wrong_state
from hmc_crowd_local.mturk_api._qualification_types import any_type
from hmc_crowd_local.mturk_api._qualifications import grant
from hmc_crowd_local.mturk_api._questions import read_question
from hmc_crowd_local.mturk_api._xml import answers_xml

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hmc_crowd_local.mturk_api._call import Call

__all__ = ["ask", "hand_in_test"]

# Time on the wire, on top of what the test allows.
_GRACE_S = 30


def ask(call: Call, type_id: str, worker: str) -> Any:
    """Ask for a qualification; with a test this starts its clock. Return the row of the request."""
    kind = any_type(call, type_id)
    if kind.status != "Active":
        raise wrong_state("QualificationType", "Active", kind.status)
    past = call.connection.execute(
        sa.select(QUALIFICATION_REQUEST)
        .where(QUALIFICATION_REQUEST.c.qualification_type_id == type_id, QUALIFICATION_REQUEST.c.worker == worker)
        .order_by(QUALIFICATION_REQUEST.c.started_at.desc(), QUALIFICATION_REQUEST.c.request_id.desc())
    ).first()
    if past is not None and past.state in {"started", "pending"} and not _has_lapsed(call, kind, past):
        return past
    if past is not None:
        _check_retry(call, kind, past)
    request_id = call.new_id()
    state = "granted" if kind.auto_granted else ("started" if kind.test is not None else "pending")
    row: dict[str, Any] = {"request_id": request_id, "qualification_type_id": type_id, "worker": worker, "state": state}
    row.update(started_at=call.now, submitted_at=None if state == "started" else call.now)
    call.connection.execute(sa.insert(QUALIFICATION_REQUEST).values(row))
    if kind.auto_granted:
        grant(call, type_id, worker, kind.auto_granted_value)
    return _row(call, request_id)


def _row(call: Call, request_id: str) -> Any:
    return call.connection.execute(
        sa.select(QUALIFICATION_REQUEST).where(QUALIFICATION_REQUEST.c.request_id == request_id)
    ).one()


def _has_lapsed(call: Call, kind: Any, row: Any) -> bool:
    if row.state != "started":
        return False
    return bool(row.started_at + timedelta(seconds=(kind.test_duration_s or 0) + _GRACE_S) < call.now)


def _check_retry(call: Call, kind: Any, past: Any) -> None:
    if kind.retry_delay_s is None:
        raise TurkError("QualificationTypeDoesNotAllowRetake", "You have asked for this qualification already.")
    again = (past.submitted_at or past.started_at) + timedelta(seconds=kind.retry_delay_s)
    if again > call.now:
        raise TurkError(
            "QualificationTypeRetryDelayNotElapsed", f"You can ask again from {again:%Y-%m-%d %H:%M} UTC on."
        )


def hand_in_test(call: Call, request_id: str, worker: str, fields: Sequence[tuple[str, str]]) -> Any:
    """Hand in a test: scored where there is a key, else left for a person to decide."""
    row = call.connection.execute(
        sa.select(QUALIFICATION_REQUEST).where(
            QUALIFICATION_REQUEST.c.request_id == request_id, QUALIFICATION_REQUEST.c.worker == worker
        )
    ).one_or_none()
    if row is None or row.state != "started":
        raise TurkError("QualificationRequestDoesNotExist", f"There is no open test {request_id[:80]} of yours.")
    kind = any_type(call, row.qualification_type_id)
    mine = QUALIFICATION_REQUEST.c.request_id == request_id
    form = read_question(kind.test, call.settings, name="Test").form
    answers = [] if form is None else form_fields(form, fields)
    values = {"answer": answers_xml(answers), "submitted_at": call.now}
    if _has_lapsed(call, kind, row):
        values["state"] = "lapsed"
    elif kind.answer_key is None:
        values["state"] = "pending"
    else:
        given: dict[str, set[str]] = {}
        for name, _kind, value in answers:
            given.setdefault(name, set()).add(value)
        grant(call, row.qualification_type_id, worker, score(kind.answer_key, given))
        values["state"] = "granted"
    call.connection.execute(sa.update(QUALIFICATION_REQUEST).where(mine).values(values))
    return _row(call, request_id)
