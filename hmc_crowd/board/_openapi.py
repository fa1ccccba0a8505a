"""What can be asked of the machine door? Its OpenAPI 3.1 document."""

from __future__ import annotations

from typing import Any

from hmc_crowd import __version__
from hmc_crowd.board._schemas import schemas

__all__ = ["openapi_document"]

_SAID = {
    400: "The request is wrong; the problem says where.",
    401: "No key, or a wrong or revoked one.",
    403: "The key's role may not do this.",
    408: "The body took too long.",
    409: "Not possible: the campaign's state or content does not allow it, or the client key had another request.",
    413: "The body is too large.",
    429: "Too many requests.",
    503: "The database is busy; send it again.",
}


def openapi_document() -> dict[str, Any]:
    """Return the document.

    Examples
    --------
    >>> for path in openapi_document()["paths"]:
    ...     print(path)
    /allocate
    /queue
    /claim
    /give-back
    /answers
    /webhooks
    /webhooks/end
    /metrics
    /healthz
    """
    text = {"text/plain": {"schema": {"type": "string", "minLength": 1}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "hmc-crowd machine door", "version": __version__},
        "servers": [{"url": "/api"}],
        "security": [{"key": []}],
        "components": {"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}, "schemas": schemas()},
        "paths": {
            "/allocate": {"post": _call("Say where items go, by the newest plan's rule.", "Allocate", "Allocated")},
            "/queue": {"get": _queue()},
            "/claim": {"post": _call("Take the next items in hand, until a moment.", "Claim", "Claimed")},
            "/give-back": {"post": _call("Let others have what was taken in hand.", "GiveBack", "GivenBack")},
            "/answers": {"post": _call("Keep people's answers to items of the queue.", "Answers", "Kept")},
            "/webhooks": {
                "get": _read("Who is told, and which messages are dead.", _content("Webhooks"), [_CAMPAIGN]),
                "post": _call("Tell an address of what happens.", "Subscribe", "Subscribed"),
            },
            "/webhooks/end": {"post": _call("Tell an address no more.", "End", "Ended")},
            "/metrics": {"get": _read("Figures in Prometheus's text format.", text)},
            "/healthz": {"get": {**_read("Whether the database answers.", _content("Health")), "security": []}},
        },
    }


_NAME = {"type": "string", "minLength": 1, "maxLength": 500, "pattern": r"^[^\u0000]*$"}
_CAMPAIGN = {"name": "campaign", "in": "query", "schema": _NAME}


def _content(name: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}


def _problems() -> dict[str, Any]:
    return {str(code): {"description": said, "content": _content("Problem")} for code, said in _SAID.items()}


def _call(summary: str, body: str, reply: str) -> dict[str, Any]:
    return {
        "summary": summary,
        "requestBody": {"required": True, "content": _content(body)},
        "responses": {"200": {"description": "Done.", "content": _content(reply)}, **_problems()},
    }


def _read(summary: str, content: dict[str, Any], parameters: list[Any] | None = None) -> dict[str, Any]:
    found = {"summary": summary, "responses": {"200": {"description": "Now.", "content": content}, **_problems()}}
    return found | ({"parameters": parameters} if parameters else {})


def _queue() -> dict[str, Any]:
    limit = {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}
    parameters = [_CAMPAIGN, {"name": "limit", "in": "query", "schema": limit}]
    return _read("Open items, the one due first first.", _content("Queue"), parameters)
