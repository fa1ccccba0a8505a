"""Balance and bonuses (rules R2, R6, R14)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd_local._tables_mturk import ASSIGNMENT, BONUS
from hmc_crowd_local.mturk_api._assignments import find_assignment
from hmc_crowd_local.mturk_api._call import amount, funds, minor, require_funds, spend
from hmc_crowd_local.mturk_api._paging import page
from hmc_crowd_local.mturk_api._problems import TurkError, invalid, wrong_state

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hmc_crowd_local.mturk_api._call import Call

__all__ = ["MONEY_OPERATIONS"]


def get_account_balance(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001 because all operations look alike
    """Answer GetAccountBalance."""
    balance, held = funds(call)
    return {"AvailableBalance": amount(max(0, balance - held)), "OnHoldBalance": amount(held)}


def send_bonus(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer SendBonus: the worker must be the one who handed the assignment in."""
    token = request.get("UniqueRequestToken")
    made = call.token("SendBonus", token)
    if made is not None:
        raise TurkError("DuplicateRequest", f"The request token {token} has been used already; its request was {made}.")
    row = find_assignment(call, request["AssignmentId"])
    if row.worker != request["WorkerId"]:
        raise invalid(f"Assignment {row.assignment_id} is not that of worker {request['WorkerId']}")
    if row.state not in {"submitted", "approved", "rejected"}:
        raise wrong_state("Assignment", "Submitted, Approved, Rejected", None)
    cents = minor(request["BonusAmount"], name="BonusAmount")
    if cents < 1:
        raise invalid(f"BonusAmount is {request['BonusAmount']}; give at least 0.01")
    if not request["Reason"].strip():
        raise invalid("Reason is empty; the worker reads it")
    fee = call.settings.fees.fee_minor(cents)
    require_funds(call, cents + fee)
    spend(call, cents + fee)
    bonus_id = call.new_id()
    call.connection.execute(
        sa.insert(BONUS).values(
            bonus_id=bonus_id,
            account_id=call.account_id,
            hit_id=row.hit_id,
            assignment_id=row.assignment_id,
            worker=row.worker,
            amount_minor=cents,
            fee_minor=fee,
            reason=request["Reason"],
            granted_at=call.now,
        )
    )
    call.keep_token("SendBonus", token, bonus_id)
    return {}


def list_bonus_payments(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer ListBonusPayments: of a HIT or of an assignment."""
    hit_id, assignment_id = request.get("HITId"), request.get("AssignmentId")
    if (hit_id is None) == (assignment_id is None):
        raise invalid("Give exactly one of HITId and AssignmentId")
    query = sa.select(BONUS).where(BONUS.c.account_id == call.account_id)
    if hit_id is not None:
        query = query.where(BONUS.c.hit_id == call.hit(hit_id).hit_id)
    else:
        query = query.where(BONUS.c.assignment_id == find_assignment(call, str(assignment_id)).assignment_id)
    rows, token = page(call, "ListBonusPayments", request, query, [BONUS.c.bonus_id])
    payments = [
        {
            "WorkerId": row.worker,
            "BonusAmount": amount(row.amount_minor),
            "AssignmentId": row.assignment_id,
            "Reason": row.reason,
            "GrantTime": row.granted_at,
        }
        for row in rows
    ]
    return {"BonusPayments": payments, "NumResults": len(payments), "NextToken": token}


def has_worked(call: Call, worker: str) -> bool:
    """Whether a worker handed in anything for this account."""
    query = sa.select(sa.literal(1)).where(
        ASSIGNMENT.c.account_id == call.account_id,
        ASSIGNMENT.c.worker == worker,
        ASSIGNMENT.c.submitted_at.is_not(None),
    )
    return call.connection.execute(query.limit(1)).first() is not None


MONEY_OPERATIONS = {
    "GetAccountBalance": get_account_balance,
    "ListBonusPayments": list_bonus_payments,
    "SendBonus": send_bonus,
}
