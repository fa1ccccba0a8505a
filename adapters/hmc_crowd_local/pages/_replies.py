"""What a route answers: a page to be drawn, a place to go, or a small document."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["Data", "Goto", "Page", "Reply"]


@dataclass(frozen=True)
class Page:
    """A template with its values; ``form_to`` is an origin besides ours that a form of it is sent to."""

    template: str
    values: dict[str, Any] = field(default_factory=dict)
    status: int = 200
    is_framed: bool = False
    form_to: str = ""


@dataclass(frozen=True)
class Goto:
    """Another page of the same link, or an address of ours."""

    path: str = ""
    address: str = ""


@dataclass(frozen=True)
class Data:
    """A JSON document; nothing where there is nothing to say."""

    content: dict[str, Any] | None = None
    status: int = 200


Reply = Page | Goto | Data
