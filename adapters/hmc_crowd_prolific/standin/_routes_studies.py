"""Routes of workspaces, projects and studies."""

# ruff: noqa: TC001 because FastAPI reads the annotations at run time

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Request

from hmc_crowd_prolific.standin._errors import Refusal
from hmc_crowd_prolific.standin._paging import page_of
from hmc_crowd_prolific.standin._schemas import CostQuestion, NewProject, StudyTransition
from hmc_crowd_prolific.standin._studies import change_study, create_study, move_study, study_row
from hmc_crowd_prolific.standin._submissions import list_row
from hmc_crowd_prolific.standin._world import StudyRecord, World

__all__ = ["study_routes"]

_SHORT = (
    "id",
    "name",
    "internal_name",
    "status",
    "estimated_completion_time",
    "total_available_places",
    "places_taken",
    "number_of_submissions",
    "reward",
    "total_cost",
    "date_created",
    "published_at",
    "publish_at",
)
_STATES = (
    "ACTIVE",
    "APPROVED",
    "AWAITING REVIEW",
    "REJECTED",
    "RESERVED",
    "RETURNED",
    "TIMED-OUT",
    "PARTIALLY APPROVED",
    "SCREENED OUT",
)


def study_routes(world: World) -> APIRouter:
    """Return the routes over a world."""
    router = APIRouter()
    _workspaces(router, world)
    _studies(router, world)
    _reading(router, world)
    return router


def _workspaces(router: APIRouter, world: World) -> None:
    def workspace(identity: str) -> None:
        if identity != world.workspace:
            raise Refusal(404, "No such workspace.", title="Not found")

    @router.get("/workspaces/")
    def workspaces() -> dict[str, Any]:
        return {"results": [{"id": world.workspace, "title": "Stand-in"}]}

    @router.get("/workspaces/{identity}/balance/")
    def balance(identity: str) -> dict[str, Any]:
        workspace(identity)
        with world.lock:
            rest = {"rewards": 0, "fees": 0, "vat": 0}
            return {
                "currency_code": world.options.currency,
                "total_balance": world.balance_minor - world.spent_minor,
                "available_balance": world.available_minor,
                "balance_breakdown": rest,
                "available_balance_breakdown": rest,
            }

    @router.get("/workspaces/{identity}/projects/")
    def projects(identity: str) -> dict[str, Any]:
        workspace(identity)
        return {
            "results": [
                {"id": key, "title": title, "type": "non_longitudinal"} for key, title in world.projects.items()
            ]
        }

    @router.post("/workspaces/{identity}/projects/", status_code=201)
    def new_project(identity: str, body: NewProject) -> dict[str, Any]:
        workspace(identity)
        with world.lock:
            made = world.new_id("project")
            world.projects[made] = body.title
        return {"id": made, "title": body.title, "type": "non_longitudinal", "workspace": identity}


def _studies(router: APIRouter, world: World) -> None:
    @router.post("/studies/", status_code=201)
    def create(body: Annotated[dict[str, Any], Body()]) -> dict[str, Any]:
        with world.lock:
            return study_row(world, create_study(world, body))

    @router.get("/studies/{identity}/")
    def read(identity: str) -> dict[str, Any]:
        with world.lock:
            return study_row(world, world.study(identity))

    @router.patch("/studies/{identity}/")
    def change(identity: str, body: Annotated[dict[str, Any], Body()]) -> dict[str, Any]:
        with world.lock:
            return study_row(world, change_study(world, identity, body))

    @router.delete("/studies/{identity}/", status_code=204)
    def delete(identity: str) -> None:
        with world.lock:
            if world.study(identity).status != "UNPUBLISHED":
                raise Refusal(400, "Only drafts can be deleted.")
            del world.studies[identity]

    @router.post("/studies/{identity}/transition/")
    def transition(identity: str, body: StudyTransition) -> dict[str, Any]:
        with world.lock:
            return study_row(world, move_study(world, identity, body.action, body.publish_at))


def _reading(router: APIRouter, world: World) -> None:
    @router.get("/projects/{project}/studies/")
    def of_project(project: str, request: Request) -> dict[str, Any]:
        with world.lock:
            if project not in world.projects:
                raise Refusal(404, "No such project.", title="Not found")
            records = [each for each in world.studies.values() if each.project == project]
            if request.query_params.get("ordering") == "-date_created":
                records.reverse()

            def short(record: StudyRecord) -> dict[str, Any]:
                row = study_row(world, record)
                return {key: row.get(key) for key in _SHORT}

            return page_of(world, records, short, request.query_params, request.url.path)

    @router.get("/studies/{identity}/cost/")
    def cost(identity: str) -> dict[str, Any]:
        with world.lock:
            body = world.study(identity).body
            parts = world.cost_minor(body.reward, body.total_available_places)

        def breakdown(amounts: tuple[int, int, int]) -> dict[str, Any]:
            named = zip(("rewards", "fees", "tax"), amounts, strict=True)
            return {name: {"amount": amount, "currency": world.options.currency} for name, amount in named}

        return {"rewards": breakdown(parts), "bonuses": breakdown((0, 0, 0))}

    @router.post("/study-cost-calculator/")
    def calculator(body: CostQuestion) -> dict[str, Any]:
        return {"total_cost": sum(world.cost_minor(body.reward, body.total_available_places))}

    @router.get("/studies/{identity}/submissions/")
    def of_study(identity: str, request: Request) -> dict[str, Any]:
        with world.lock:
            world.study(identity)
            found = world.of_study(identity)
            return page_of(world, found, lambda each: list_row(world, each), request.query_params, request.url.path)

    @router.get("/studies/{identity}/submissions/counts/")
    def counts(identity: str) -> dict[str, int]:
        with world.lock:
            world.study(identity)
            counted = world.counts(identity)
        return {**{state: counted[state] for state in _STATES}, "TOTAL": sum(counted.values())}
