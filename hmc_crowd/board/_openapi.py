"""What can be asked of the machine door? Its OpenAPI 3.1 document."""

from __future__ import annotations

from typing import Any

from hmc_crowd import __version__

__all__ = ["openapi_document"]

_TEXT = {"type": "string", "minLength": 1}
_MOMENT = {"type": ["string", "null"], "format": "date-time", "maxLength": 60}
_CLIENT_KEY = _TEXT | {"maxLength": 200, "description": "The same request with the same key is answered once."}
_CAMPAIGN = {"type": ["string", "null"], "minLength": 1, "description": "Needed where the database holds several."}


def openapi_document() -> dict[str, Any]:
    """Return the document.

    Examples
    --------
    >>> sorted(openapi_document()["paths"])
    ['/allocate', '/answers', '/healthz', '/metrics', '/queue']
    """
    return {
        "openapi": "3.1.0",
        "info": {"title": "hmc-crowd machine door", "version": __version__},
        "servers": [{"url": "/api"}],
        "security": [{"key": []}],
        "components": {"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}, "schemas": _schemas()},
        "paths": {
            "/allocate": {"post": _call("Say where items go, by the newest plan's rule.", "Allocate", "Allocated")},
            "/answers": {"post": _call("Keep people's answers to items of the queue.", "Answers", "Kept")},
            "/queue": {"get": _queue()},
            "/metrics": {"get": _read("Figures in Prometheus's text format.", {"text/plain": {"schema": _TEXT}})},
            "/healthz": {"get": {**_read("Whether the database answers.", _content("Health")), "security": []}},
        },
    }


def _schemas() -> dict[str, Any]:
    share = {"type": "number", "minimum": 0, "maximum": 1}
    item = {
        "item": _TEXT | {"maxLength": 500},
        "confidence": share | {"description": "The machine's, as it came."},
        "effort": {"type": "number", "minimum": 0, "description": "In the plan's unit; the reply names it."},
        "text": {"type": ["string", "null"], "maxLength": 1_000_000, "description": "What people are to read."},
        "due_at": _MOMENT,
    }
    decision = {
        "item": _TEXT,
        "destination": {"enum": ["people", "machine", "audit"]},
        "reason": _TEXT,
        "gain": {"type": "number"},
        "inclusion_probability": share,
        "due_at": _MOMENT,
    }
    answer = {
        "item": _TEXT | {"maxLength": 500},
        "label": _TEXT | {"maxLength": 500},
        "worker": {
            "type": ["string", "null"],
            "minLength": 1,
            "maxLength": 200,
            "description": "The owner's key only.",
        },
    }
    count = {"type": "integer", "minimum": 0}
    waiting = {"item": _TEXT, "text": {"type": "string"}, "due_at": _MOMENT}
    return {
        "Allocate": _object(
            {"key": _CLIENT_KEY, "campaign": _CAMPAIGN, "items": _list(item, {"item", "confidence", "effort"})},
            {"key", "items"},
        ),
        "Allocated": _object(
            {
                "campaign": _TEXT,
                "policy": _TEXT,
                "effort_unit": {"enum": ["share", "seconds"]},
                "decisions": _list(decision, set(decision)),
            }
        ),
        "Answers": _object(
            {"key": _CLIENT_KEY, "campaign": _CAMPAIGN, "answers": _list(answer, {"item", "label"})}, {"key", "answers"}
        ),
        "Kept": _object({"campaign": _TEXT, "received": count, "new": count}),
        "Queue": _object({"campaign": _TEXT, "items": {"type": "array", "items": _object(waiting)}}),
        "Health": _object({"status": _TEXT}),
        "Problem": _object({"problem": _TEXT}),
    }


def _object(properties: dict[str, Any], required: set[str] | None = None) -> dict[str, Any]:
    needed = sorted(properties if required is None else required)
    return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}


def _list(properties: dict[str, Any], required: set[str]) -> dict[str, Any]:
    return {"type": "array", "items": _object(properties, required), "minItems": 1, "maxItems": 10_000}


def _content(name: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}


def _problems(*codes: int) -> dict[str, Any]:
    return {str(code): {"description": _SAID[code], "content": _content("Problem")} for code in codes}


_SAID = {
    400: "The request is wrong; the problem says where.",
    401: "No key, or a wrong or revoked one.",
    403: "The key's role may not do this.",
    408: "The body took too long.",
    409: "Not possible now, or the client key was used for another request.",
    413: "The body is too large.",
    429: "Too many requests.",
    503: "The database is busy; send it again.",
}


def _call(summary: str, body: str, reply: str) -> dict[str, Any]:
    return {
        "summary": summary,
        "requestBody": {"required": True, "content": _content(body)},
        "responses": {"200": {"description": "Done.", "content": _content(reply)}, **_problems(*_SAID)},
    }


def _read(summary: str, content: dict[str, Any]) -> dict[str, Any]:
    return {"summary": summary, "responses": {"200": {"description": "Now.", "content": content}, **_problems(*_SAID)}}


def _queue() -> dict[str, Any]:
    limit = {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}
    return {
        **_read("Open items, the one due first first.", _content("Queue")),
        "parameters": [
            {"name": "campaign", "in": "query", "schema": {"type": "string", "minLength": 1}},
            {"name": "limit", "in": "query", "schema": limit},
        ],
    }
