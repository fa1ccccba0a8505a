"""What a failed call means: may it be sent again, did it happen, or must a person look?

Nothing is guessed from messages, which are not stable; codes are compared without regard to case, because the
service's own documents write them in two ways.
"""

from __future__ import annotations

import re
from typing import Any

from hmc_crowd.errors import HmcCrowdError, InputError, NeedsHumanError, PlatformError, PlatformUnavailableError

__all__ = ["RefusedError", "translate"]

_SERVER_FAULT = 500
_LATER = {"throttlingexception", "throttling", "requestlimitexceeded", "toomanyrequestsexception", "slowdown"}
_KEYS = {
    "unrecognizedclientexception",
    "invalidsignatureexception",
    "missingauthenticationtokenexception",
    "incompletesignatureexception",
    "invalidclienttokenid",
    "signaturedoesnotmatch",
    "accessdeniedexception",
}
_WORKER_ID = re.compile(r"\bA[A-Z0-9]{9,63}\b")
_SHOWN = 300


class RefusedError(PlatformError):
    """The platform said no; ``code`` is its own word for it, in lower case and without prefixes."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


def translate(operation: str, error: Exception, *, is_repeatable: bool) -> HmcCrowdError:
    """Return our error for what boto3 raised.

    Parameters
    ----------
    operation : str
        What was called.
    error : Exception
        As botocore raised it.
    is_repeatable : bool
        Whether sending the same call again can do no harm (reads, calls with a token, calls that set a state).
    """
    from botocore import exceptions as boto  # type: ignore[import-untyped]

    if isinstance(error, boto.ClientError):
        return _from_answer(operation, error.response, is_repeatable=is_repeatable)
    if isinstance(error, (boto.NoCredentialsError, boto.PartialCredentialsError)):
        return InputError("no keys found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to keys of this endpoint")
    if isinstance(error, boto.ParamValidationError):
        return InputError(f"{operation} was given something it cannot send: {_clean(str(error))}")
    if isinstance(error, (boto.EndpointConnectionError, boto.ConnectTimeoutError, boto.ProxyConnectionError)):
        return PlatformUnavailableError(
            f"{operation}: the endpoint cannot be reached; nothing was sent, try again later"
        )
    kind = type(error).__name__
    return _unknown(operation, f"the answer was lost or cannot be read ({kind})", is_repeatable=is_repeatable)


def _from_answer(operation: str, answer: Any, *, is_repeatable: bool) -> HmcCrowdError:
    details = answer.get("Error", {})
    status = int(answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    kind = str(details.get("Code", "")).rpartition("#")[2].lower()
    message = _clean(str(details.get("Message", "")))
    code = str(answer.get("TurkErrorCode") or details.get("Code", "")).rpartition(".")[2].lower()
    if kind in _LATER:
        return PlatformUnavailableError(
            f"{operation}: the platform asks to slow down; nothing was done, try again later"
        )
    if kind in _KEYS:
        return PlatformError(f"{operation} was refused: {message}; check the keys and this machine's clock")
    if status >= _SERVER_FAULT or kind == "servicefault":
        return _unknown(operation, f"the platform failed (HTTP {status})", is_repeatable=is_repeatable)
    return RefusedError(f"{operation} was refused ({code or status}): {message}", code)


def _unknown(operation: str, what: str, *, is_repeatable: bool) -> HmcCrowdError:
    if is_repeatable:
        return PlatformUnavailableError(f"{operation}: {what}; sending the same call again is safe")
    return NeedsHumanError(f"{operation}: {what}, so it may have happened or not; look before sending it again")


def _clean(text: str) -> str:
    """Shorten a message to one line and take worker ids out of it: it may end in a log."""
    line = " ".join(_WORKER_ID.sub("A...", text).split())
    return line if len(line) <= _SHOWN else line[:_SHOWN] + "..."
