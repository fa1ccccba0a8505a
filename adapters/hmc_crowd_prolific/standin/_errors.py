"""How the stand-in says no: Prolific's error envelope, from one exception."""

from __future__ import annotations

from typing import Any

__all__ = ["Refusal", "envelope"]


class Refusal(Exception):  # noqa: N818 because it is an answer of the server, not a failure of the program
    """The server refuses a request, with a status and a reason."""

    def __init__(self, status: int, detail: Any, *, code: int = 140_001, title: str = "Bad request") -> None:
        super().__init__(f"{status}: {detail}")
        self.status = status
        self.detail = detail
        self.code = code
        self.title = title


def envelope(refusal: Refusal) -> dict[str, Any]:
    """Return the body of the answer."""
    return {
        "error": {
            "status": refusal.status,
            "error_code": refusal.code,
            "title": refusal.title,
            "detail": refusal.detail,
            "additional_information": "",
            "traceback": None,
        }
    }
