"""What the front door answers when it refuses: the wire form of MTurk's errors, with their codes.

``RequestError`` (HTTP 400) and ``ServiceFault`` are the two shapes of the service model; ``ThrottlingException``,
``ParameterValidationError`` and the signature errors come unmodelled, as they did from the service.
"""

from __future__ import annotations

from hmc_crowd.errors import PlatformError

__all__ = ["TurkError", "WrongLinkError", "does_not_exist", "invalid", "wrong_state"]


class TurkError(PlatformError):
    """A request that the front door refuses; nothing was changed."""

    def __init__(self, code: str, message: str, *, kind: str = "RequestError", status: int = 400) -> None:
        super().__init__(message)
        self.code = code if "." in code else f"AWS.MechanicalTurk.{code}"
        self.message = message
        self.kind = kind
        self.status = status


class WrongLinkError(TurkError):
    """A worker's id without the key that belongs to it."""

    def __init__(self, worker: str) -> None:
        super().__init__("AWS.NotAuthorized", "This link is not yours; open the one that you were sent.", status=403)
        self.worker = worker


def invalid(message: str, *, code: str = "InvalidParameterValue") -> TurkError:
    """Return the error of a value that is not allowed."""
    return TurkError(code, message, kind="ParameterValidationError")


def does_not_exist(what: str, name: str) -> TurkError:
    """Return the error of an unknown id: ``what`` is HIT, Assignment, QualificationType, ..."""
    return TurkError(f"{what}DoesNotExist", f"{what} {name} does not exist.")


def wrong_state(what: str, allowed: str, met: str | None) -> TurkError:
    """Return the error of a call that comes in the wrong state; an assignment under way has the status null."""
    return TurkError(
        f"Invalid{what}State",
        f"This {what} is currently in the state '{met or 'null'}'. "
        f"This operation can be called with a status of: {allowed}; it has a status of: {met or 'null'}",
    )
