"""The AWS JSON 1.1 protocol: from bytes to an operation and back, refusals included.

Every answer has the wire form of the service: errors carry ``__type``, ``Message`` and ``TurkErrorCode``, times are
epoch seconds, and what went wrong inside is a ``ServiceFault`` without details.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.limits import read_document
from hmc_crowd.errors import DatabaseBusyError, HmcCrowdError
from hmc_crowd_local.mturk_api._problems import TurkError
from hmc_crowd_local.mturk_api._shapes import TARGET_PREFIX, write_times
from hmc_crowd_local.mturk_api._sigv4 import verify

if TYPE_CHECKING:
    from hmc_crowd_local.mturk_api._front import FrontDoor
    from hmc_crowd_local.mturk_api._sigv4 import SignedRequest

__all__ = ["CONTENT_TYPE", "answer"]

CONTENT_TYPE = "application/x-amz-json-1.1"
_LOG = logging.getLogger("hmc_crowd_local.mturk_api")


def answer(door: FrontDoor, request: SignedRequest) -> tuple[int, bytes]:
    """Return HTTP status and body for a request as it arrived."""
    try:
        return 200, _encode(write_times(_act(door, request)))
    except TurkError as error:
        return error.status, _refusal(door, error)
    except DatabaseBusyError:
        busy = TurkError("AWS.ServiceUnavailable", "Rate exceeded", kind="ThrottlingException")
        return busy.status, _refusal(door, busy)
    except HmcCrowdError as error:
        _LOG.error("front door: %s: %s", request.headers.get("x-amz-target", "?"), type(error).__name__)
        fault = TurkError("AWS.ServiceUnavailable", "The service failed; see its log.", kind="ServiceFault")
        return door.settings.fault_status, _refusal(door, fault)


def _act(door: FrontDoor, request: SignedRequest) -> dict[str, Any]:
    prefix, _, operation = request.headers.get("x-amz-target", "").rpartition(".")
    if prefix != TARGET_PREFIX:
        raise TurkError(
            "UnknownOperation", f"X-Amz-Target must begin with {TARGET_PREFIX}", kind="UnknownOperationException"
        )
    if request.headers.get("content-type", "").partition(";")[0].strip() != CONTENT_TYPE:
        raise TurkError("InvalidRequest", f"Content-Type must be {CONTENT_TYPE}", kind="SerializationException")
    account = verify(
        request,
        holder_of=door.holder_of,
        now=door.signing_clock.now(),
        clock_skew_s=door.settings.clock_skew_s,
        hosts=door.settings.accepted_hosts,
    )
    body = _decode(request.body)
    if door.settings.on_call is not None:
        door.settings.on_call(operation, body)
    return door.call(account, operation, body)


def _decode(body: bytes) -> dict[str, Any]:
    try:
        document = read_document(body or b"{}")
    except ValueError:
        raise TurkError("InvalidRequest", "The body is no JSON", kind="SerializationException") from None
    if not isinstance(document, dict):
        raise TurkError("InvalidRequest", "The body is no JSON object", kind="SerializationException")
    return document


def _encode(document: dict[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", errors="replace")


def _refusal(door: FrontDoor, error: TurkError) -> bytes:
    stamp = int(door.now().timestamp() * 1000)
    return _encode({"__type": error.kind, "Message": f"{error.message} ({stamp} s)", "TurkErrorCode": error.code})
