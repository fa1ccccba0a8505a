"""What the page saw, sent in batches: dated by our server's clock, kept once, never a reason to refuse work.

A batch says how long before its sending each event was, by the page's own clock, whose differences are good. Nothing
can be dated before the page was made (the form's mark says when) nor after it came.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.limits import read_document
from hmc_crowd_local._timing import EVENT_KINDS
from hmc_crowd_local.pages._replies import Data
from hmc_crowd_local.pages._visit import RefusedError
from hmc_crowd_local.pages._work_store import SentEvent

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hmc_crowd_local.pages._replies import Reply
    from hmc_crowd_local.pages._visit import Visit

__all__ = ["keep_events", "read_batch"]

_MOST_IN_BATCH = 500
_MOST_SEQ = 2**31 - 1
_MOST_MS = 1e10


def keep_events(visit: Visit, body: bytes) -> Reply:
    """Keep a batch; what cannot be read is refused, what comes twice is kept once."""
    content = read_batch(body)
    stamped = visit.check_stamp("events", str(content.get("form", "")))
    work, now = visit.open_work(), visit.house.now()
    events = _dated(content, work.items, earliest=min(stamped, now), now=now)
    visit.house.works.keep_events(
        work.submission.submission_id,
        str(content["page"]),
        events,
        received_at=now,
        most=visit.house.settings.most_events,
        most_a_day=visit.house.settings.most_events_a_day,
    )
    return Data(status=204)


def read_batch(body: bytes) -> dict[str, Any]:
    """Return a batch whose outer form is right, or refuse it."""
    try:
        content = read_document(body)
    except ValueError:
        raise RefusedError("bad_form", 400) from None
    if not isinstance(content, dict) or not isinstance(content.get("events"), list):
        raise RefusedError("bad_form", 400)
    page, events = content.get("page"), content["events"]
    if not isinstance(page, str) or not 1 <= len(page) <= 40 or not page.isalnum() or len(events) > _MOST_IN_BATCH:
        raise RefusedError("bad_form", 400)
    return content


def _dated(content: dict[str, Any], names: Sequence[str], *, earliest: datetime, now: datetime) -> list[SentEvent]:
    sent = _number(content.get("now"))
    if sent is None:
        raise RefusedError("bad_form", 400)
    return [_event(each, names, sent=sent, earliest=earliest, now=now) for each in content["events"]]


def _event(each: Any, names: Sequence[str], *, sent: float, earliest: datetime, now: datetime) -> SentEvent:
    if not isinstance(each, dict):
        raise RefusedError("bad_form", 400)
    seq, page_ms, number = _whole(each.get("seq")), _number(each.get("t")), _whole(each.get("n"))
    if seq is None or page_ms is None or each.get("kind") not in EVENT_KINDS:
        raise RefusedError("bad_form", 400)
    before = timedelta(milliseconds=min(max(0.0, sent - page_ms), _MOST_MS))
    item = names[number - 1] if number is not None and 1 <= number <= len(names) else None
    return SentEvent(
        seq, each["kind"], min(now, max(earliest, now - before)), item, page_ms, _number(each.get("epoch"))
    )


def _whole(value: Any) -> int | None:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole and 0 <= value <= _MOST_SEQ else None


def _number(value: Any) -> float | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < 1e15 else None
