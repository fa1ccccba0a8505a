"""The stand-in as an application: envelope, token, wallet, and the routes of every part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from hmc_crowd_prolific.standin._control import control_routes
from hmc_crowd_prolific.standin._errors import Refusal, envelope
from hmc_crowd_prolific.standin._routes_money import money_routes
from hmc_crowd_prolific.standin._routes_people import people_routes
from hmc_crowd_prolific.standin._routes_studies import study_routes
from hmc_crowd_prolific.standin._submissions import pass_time
from hmc_crowd_prolific.standin._world import World

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.responses import Response

__all__ = ["make_app"]

_API = "/api/v1"


def make_app(world: World | None = None, *, control: bool = True) -> FastAPI:
    """Make the application.

    Parameters
    ----------
    world : World, optional
        Its state; a new one by default. Read it as ``app.state.world``.
    control : bool, default True
        Mount the control plane under ``/_ctl/``: clock, participants, faults, state. Leave it out where the port is
        reachable from outside.

    Returns
    -------
    FastAPI
        Answers under ``/api/v1/`` as Prolific's documents say, by the rules S1 to S16.
    """
    held = world if world is not None else World()
    app = FastAPI(title="Prolific stand-in", redirect_slashes=False, openapi_url=None)
    app.state.world = held
    _errors(app)
    _gate(app, held)
    app.include_router(study_routes(held), prefix=_API)
    app.include_router(money_routes(held), prefix=_API)
    app.include_router(people_routes(held), prefix=_API)
    if control:
        app.include_router(control_routes(held))
    return app


def _errors(app: FastAPI) -> None:
    @app.exception_handler(Refusal)
    def _refusal(_: Request, refusal: Refusal) -> JSONResponse:
        return JSONResponse(envelope(refusal), status_code=refusal.status)

    @app.exception_handler(HTTPException)
    def _no_route(_: Request, error: HTTPException) -> JSONResponse:
        detail = "Not found." if error.status_code == 404 else str(error.detail)
        refusal = Refusal(error.status_code, detail, code=140_004, title=str(error.detail))
        return JSONResponse(envelope(refusal), status_code=error.status_code, headers=error.headers)

    @app.exception_handler(RequestValidationError)
    def _invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        return _fields([dict(each) for each in error.errors()])

    @app.exception_handler(ValidationError)
    def _invalid_body(_: Request, error: ValidationError) -> JSONResponse:
        return _fields([dict(each) for each in error.errors()])


def _fields(errors: list[dict[str, Any]]) -> JSONResponse:
    detail: dict[str, list[str]] = {}
    for each in errors:
        place = ".".join(str(part) for part in each["loc"] if part != "body") or "body"
        detail.setdefault(place, []).append(str(each["msg"]))
    return JSONResponse(envelope(Refusal(400, detail)), status_code=400)


def _gate(app: FastAPI, world: World) -> None:
    """Log every call of the API, ask for the token, let time pass first."""

    @app.middleware("http")
    async def _log(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
        path = request.url.path
        if not path.startswith(_API):
            return await call_next(request)
        if request.headers.get("authorization") != f"Token {world.token}":
            refusal = Refusal(401, "Authentication credentials were not provided or are wrong.", title="Unauthorised")
            return JSONResponse(envelope(refusal), status_code=401)
        call: dict[str, Any] = {"method": request.method, "path": path.removeprefix(_API + "/"), "status": None}
        with world.lock:
            world.calls.append(call)
            pass_time(world)
        response = await call_next(request)
        call["status"] = response.status_code
        return response
