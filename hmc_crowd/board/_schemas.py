"""Which fields do the bodies of the machine door have? The schemas of its OpenAPI document."""

from __future__ import annotations

from typing import Any

from hmc_crowd.store import EVENTS

__all__ = ["schemas"]

# Databases hold no NUL.
_PATTERN = {"pattern": r"^[^\u0000]*$"}
_TEXT = {"type": "string", "minLength": 1}
_MOMENT = {"type": ["string", "null"], "format": "date-time", "maxLength": 60}
_COUNT = {"type": "integer", "minimum": 0}
_SHARE = {"type": "number", "minimum": 0, "maximum": 1}


def schemas() -> dict[str, Any]:
    """Return the schemas of requests and replies, by name."""
    return {**_allocation(), **_line(), **_webhooks(), "Health": _object({"status": _TEXT}), "Problem": _PROBLEM}


def _name(most: int, said: str = "") -> dict[str, Any]:
    return _TEXT | _PATTERN | {"maxLength": most} | ({"description": said} if said else {})


def _object(properties: dict[str, Any], required: set[str] | None = None) -> dict[str, Any]:
    needed = sorted(properties if required is None else required)
    return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}


def _list(properties: dict[str, Any], required: set[str]) -> dict[str, Any]:
    return {"type": "array", "items": _object(properties, required), "minItems": 1, "maxItems": 10_000}


def _maybe(schema: dict[str, Any]) -> dict[str, Any]:
    found = schema | {"type": [schema["type"], "null"]}
    return found | {"enum": [*schema["enum"], None]} if "enum" in schema else found


_PROBLEM = _object({"problem": _TEXT})
_KEY = _name(200, "The same request with the same key is answered once.")
_COMMON = {"key": _KEY, "campaign": _maybe(_name(500, "Needed where the database holds several."))}


def _allocation() -> dict[str, Any]:
    risk = {"type": "string", "enum": ["low", "medium", "high"]}
    urgency = {"type": "integer", "minimum": 1, "maximum": 5}
    item = {
        "item": _name(500),
        "confidence": _SHARE | {"description": "The machine's, as it came."},
        "label": _name(500, "The machine's; needed where the stream is watched, for its certificates."),
        "effort": {
            "type": "number",
            "minimum": 0,
            "maximum": 1e12,
            "description": "In the plan's unit; the reply names it.",
        },
        "seconds": {
            "type": ["number", "null"],
            "minimum": 0,
            "maximum": 1e9,
            "description": "Of one person; needed where the plan keeps within a budget and its unit is the share.",
        },
        "text": {"type": ["string", "null"], "maxLength": 1_000_000, "description": "What people are to read."}
        | _PATTERN,
        "due_at": _MOMENT,
        "risk": _maybe(risk) | {"description": "High goes to an expert, as does what says nothing."},
        "complexity": {"type": ["number", "null"], "minimum": 0, "maximum": 1, "description": "Else the text's own."},
        "urgency": _maybe(urgency),
        "skills": {"type": ["array", "null"], "maxItems": 20, "items": _name(500)},
    }
    unknown = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
    features = {
        "text_length": _COUNT,
        "complexity": unknown,
        "risk": _maybe(risk),
        "urgency": urgency,
        "worker_quality": {"type": ["number", "null"]},
    }
    decision = {
        "item": _TEXT,
        "destination": {"enum": ["people", "machine", "audit"]},
        "allocated_to": {"enum": ["machine", "crowd", "expert"]},
        "needs_expert": {"type": "boolean"},
        "gate": _TEXT | {"description": "Why an expert; none where the crowd may judge, or nobody does."},
        "expert": {"type": ["string", "null"], "description": "Id of the key of the expert who has it."},
        "status": {
            "enum": ["kept_by_machine", "queued", "assigned", "no_worker", "no_capacity"],
            "description": "With no_worker and no_capacity it waits in the line until somebody takes it.",
        },
        "deadline": {"enum": ["none", "can_be_met", "cannot_be_met", "not_known"]},
        "reason": _TEXT,
        "gain": {"type": "number"},
        "inclusion_probability": _SHARE,
        "due_at": _MOMENT,
        "features": _object(features),
    }
    return {
        "Allocate": _object(
            {**_COMMON, "items": _list(item, {"item", "confidence", "effort"})},
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
    }


def _line() -> dict[str, Any]:
    answer = {
        "item": _name(500),
        "label": _name(500),
        "aspect": _maybe(_name(200, "Which question; the campaign's first where absent.")),
        "worker": _maybe(_name(200, "The owner's key only.")),
    }
    waiting = _object({"item": _TEXT, "text": {"type": "string"}, "due_at": _MOMENT})
    items = {"type": "array", "items": waiting}
    asked = _object({"aspect": _TEXT, "labels": {"type": "array", "items": _TEXT}})
    limit = {"type": ["integer", "null"], "minimum": 1, "maximum": 100, "description": "1 where absent."}
    lease = {"type": ["integer", "null"], "minimum": 30, "maximum": 86_400, "description": "900 where absent."}
    names = {"type": "array", "items": _name(500), "minItems": 1, "maxItems": 100}
    return {
        "Queue": _object({"campaign": _TEXT, "items": items}),
        "Claim": _object({**_COMMON, "limit": limit, "lease_s": lease}, {"key"}),
        "Claimed": _object(
            {"campaign": _TEXT, "until": _MOMENT, "aspects": {"type": "array", "items": asked}, "items": items}
        ),
        "GiveBack": _object({**_COMMON, "items": names}, {"key", "items"}),
        "GivenBack": _object({"campaign": _TEXT, "given_back": _COUNT}),
        "Answers": _object({**_COMMON, "answers": _list(answer, {"item", "label"})}, {"key", "answers"}),
        "Kept": _object({"campaign": _TEXT, "received": _COUNT, "new": _COUNT}),
    }


def _webhooks() -> dict[str, Any]:
    events = {"type": "array", "items": {"enum": list(EVENTS)}, "minItems": 1, "maxItems": 10}
    hook = {"webhook": _TEXT, "url": _TEXT, "events": events, "by": _TEXT}
    dead = {"id": _TEXT, "webhook": _TEXT, "event": {"enum": list(EVENTS)}, "problem": {"type": "string"}}
    return {
        "Subscribe": _object({**_COMMON, "url": _name(2000), "events": events}, {"key", "url", "events"}),
        "Subscribed": _object({**hook, "campaign": _TEXT, "secret": _TEXT}),
        "Webhooks": _object(
            {
                "campaign": _TEXT,
                "webhooks": {"type": "array", "items": _object(hook)},
                "messages": _object({"waiting": _COUNT, "sent": _COUNT, "dead": _COUNT}),
                "dead": {"type": "array", "items": _object(dead)},
            }
        ),
        "End": _object({**_COMMON, "webhook": _name(200)}, {"key", "webhook"}),
        "Ended": _object({"campaign": _TEXT, "ended": _TEXT}),
    }
