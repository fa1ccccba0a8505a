"""Routes of submissions and bonuses: whatever moves money."""

# ruff: noqa: TC001 because FastAPI reads the annotations at run time

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from fastapi import APIRouter, Request

from hmc_crowd_prolific.standin._errors import Refusal
from hmc_crowd_prolific.standin._paging import page_of
from hmc_crowd_prolific.standin._schemas import BonusSetup, BulkApproval, ReturnRequest, SubmissionTransition
from hmc_crowd_prolific.standin._submissions import bulk_approve, decide, detail_row, list_row, request_return
from hmc_crowd_prolific.standin._wallet import Wallet
from hmc_crowd_prolific.standin._world import Bonus, World

__all__ = ["money_routes"]


def money_routes(world: World) -> APIRouter:
    """Return the routes over a world."""
    router = APIRouter()
    _submissions(router, world)
    _bonuses(router, world)
    return router


def _submissions(router: APIRouter, world: World) -> None:
    @router.get("/submissions/")
    def listed(request: Request) -> dict[str, Any]:
        study = request.query_params.get("study")
        if not study:
            raise Refusal(400, {"study": ["This field is required."]})
        with world.lock:
            world.study(study)
            wanted = (request.query_params.get("status") or "").replace("_", " ").upper()
            found = [each for each in world.of_study(study) if not wanted or each.status == wanted]
            return page_of(world, found, lambda each: list_row(world, each), request.query_params, request.url.path)

    @router.post("/submissions/bulk-approve/")
    def bulk(body: BulkApproval) -> str:
        with Wallet(world), world.lock:
            if body.submission_ids is not None:
                ids = body.submission_ids
            elif body.study_id and body.participant_ids is not None:
                ids = [each.id for each in world.of_study(body.study_id) if each.participant in body.participant_ids]
            else:
                raise Refusal(400, "Give submission_ids, or study_id and participant_ids.")
            bulk_approve(world, ids)
        return "The request to bulk approve has been made successfully."

    @router.get("/submissions/{identity}/")
    def read(identity: str) -> dict[str, Any]:
        with world.lock:
            return detail_row(world, world.submission(identity))

    @router.post("/submissions/{identity}/transition/")
    def transition(identity: str, body: SubmissionTransition) -> dict[str, Any]:
        with Wallet(world), world.lock:
            return detail_row(world, decide(world, identity, body))

    @router.post("/submissions/{identity}/request-return/")
    def ask(identity: str, body: ReturnRequest) -> dict[str, Any]:
        with world.lock:
            row = detail_row(world, request_return(world, identity, body.request_return_reasons))
        return {key: row[key] for key in ("id", "status", "participant", "return_requested")}


def _bonuses(router: APIRouter, world: World) -> None:
    @router.post("/submissions/bonus-payments/", status_code=201)
    def setup(body: BonusSetup) -> dict[str, Any]:
        with world.lock:
            world.study(body.study_id)
            rows = [_bonus_row(world, body.study_id, line) for line in body.csv_bonuses.splitlines() if line.strip()]
            if not rows:
                raise Refusal(400, {"csv_bonuses": ["It is empty."]})
            bonus = Bonus(world.new_id("bonus"), body.study_id, rows)
            world.bonuses[bonus.id] = bonus
            amount, fees, vat = world.cost_minor(sum(minor for _, minor in rows), 1)
        return {
            "id": bonus.id,
            "study": body.study_id,
            "amount": amount,
            "fees": fees,
            "vat": vat,
            "total_amount": amount + fees + vat,
        }

    @router.post("/bulk-bonus-payments/{identity}/pay/", status_code=202)
    def pay(identity: str) -> dict[str, Any]:
        with Wallet(world), world.lock:
            bonus = world.bonuses.get(identity)
            if bonus is None:
                raise Refusal(404, "No such bonus payment.", title="Not found")
            # On purpose without a guard: asking again pays again (rule S11).
            bonus.pays.append(world.now() + timedelta(seconds=world.options.pay_s))
        return {}


def _bonus_row(world: World, study: str, line: str) -> tuple[str, int]:
    who, _, amount = line.partition(",")
    found = [each for each in world.of_study(study) if who.strip() in {each.id, each.participant}]
    if not found:
        raise Refusal(400, {"csv_bonuses": [f"{who.strip()} did not take part in the study."]})
    try:
        minor = Decimal(amount.strip()).scaleb(2)
    except InvalidOperation:
        raise Refusal(400, {"csv_bonuses": [f"{amount.strip()!r} is no amount."]}) from None
    if minor <= 0 or minor != minor.to_integral_value():
        raise Refusal(400, {"csv_bonuses": [f"{amount.strip()!r} is no amount in cents."]})
    return found[-1].id, int(minor)
