"""The pages beside and after the work: guide, thread, giving back, the end with its thanks, feedback."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmc_crowd.errors import PlatformError
from hmc_crowd.platform import SubmissionState
from hmc_crowd_local.pages._frame_routes import PLATFORM, fields_of, origin_of
from hmc_crowd_local.pages._gate import give_back_quietly
from hmc_crowd_local.pages._replies import Goto, Page
from hmc_crowd_local.pages._threads import Feedback
from hmc_crowd_local.pages._visit import RefusedError
from hmc_crowd_local.pages._work_routes import sheets

if TYPE_CHECKING:
    from hmc_crowd_local.pages._replies import Reply
    from hmc_crowd_local.pages._visit import Visit

__all__ = ["ask", "done", "give_back", "give_feedback", "guide", "thread", "want_to_give_back"]


def guide(visit: Visit) -> Reply:
    """Show guideline and examples."""
    work = visit.open_work()
    guideline = work.hit.guideline or visit.study.guideline
    return Page("guide.html", {"guideline": guideline, "hit": work.hit}, is_framed=True)


def thread(visit: Visit, number: int) -> Reply:
    """Show what this worker asked about an item, and what was answered."""
    work, every = visit.open_work(), sheets(visit)
    if not 1 <= number <= len(every):
        raise RefusedError("no_such_page", 404)
    messages = visit.house.threads.of(work.submission.submission_id, every[number - 1].item)
    return Page("thread.html", {"messages": messages, "number": number, "path": f"ask/{number}"}, is_framed=True)


def ask(visit: Visit, number: int) -> Reply:
    """Keep a question about an item."""
    work, every = visit.open_work(), sheets(visit)
    if not 1 <= number <= len(every):
        raise RefusedError("no_such_page", 404)
    if not visit.value("text").strip():
        return thread(visit, number)
    name, item = work.submission.submission_id, every[number - 1].item
    visit.house.threads.ask(name, item, visit.value("text").strip(), at=visit.house.now())
    return Goto(f"ask/{number}")


def want_to_give_back(visit: Visit) -> Reply:
    """Ask once more before the work is given back."""
    if visit.is_over():
        return Goto("done")
    return Page("give_back.html", {"path": "return"}, is_framed=True)


def give_back(visit: Visit) -> Reply:
    """Give the work back."""
    if not visit.is_over():
        give_back_quietly(visit)
    return Goto("done")


def done(visit: Visit) -> Reply:
    """Show how the work ended; the link that ends it on another platform only once the answers are committed."""
    work, house = visit.open_work(), visit.house
    record = work.submission
    if work.is_open:
        return Goto("")
    is_handed_in = record.submitted_at is not None
    recruiter = None if record.recruited_by is None else (record.recruited_by, record.external_id or "")
    link = None
    if is_handed_in and recruiter is not None and house.settings.completion is not None:
        link = house.settings.completion(*recruiter)
    submit_to, fields = "", list[tuple[str, str]]()
    if is_handed_in and recruiter is not None and recruiter[0] == PLATFORM:
        submit_to, fields = origin_of(house.settings.submit_origin), fields_of(work)
    home = None
    if recruiter is None:
        live = [each for each in house.invites.of(visit.worker) if each.is_live(house.now())]
        home = visit.home_url(live[-1].token) if live else None
    said = house.threads.feedback(record.submission_id)
    note = house.settings.note(record.submission_id) if is_handed_in and house.settings.note is not None else None
    survey = bool(visit.study.survey) and house.people.step(visit.worker, visit.study, "survey").passed is None
    values = {
        "state": _state(record.state, is_late=record.is_late),
        "answers": len(work.answers),
        "skips": len(work.skips),
        "link": _safe(link),
        "submit_to": submit_to,
        "fields": fields,
        "is_recruited": recruiter is not None,
        "home": home,
        "said": said,
        "note": note,
        "survey": survey and is_handed_in,
        "asks_feedback": is_handed_in,
        "path": "feedback",
    }
    return Page("done.html", values, is_framed=True, form_to=submit_to)


def _state(state: SubmissionState, *, is_late: bool) -> str:
    if is_late:
        return "late"
    if state is SubmissionState.RETURNED:
        return "returned"
    return "handed_in"


def _safe(link: str | None) -> str | None:
    """Return a link that somebody configured; a script is none."""
    return link if link is not None and link.startswith(("https://", "http://")) else None


def give_feedback(visit: Visit) -> Reply:
    """Keep what the worker says of the HIT."""
    work = visit.open_work()
    if work.submission.submitted_at is None:
        raise RefusedError("not_possible", 409)
    given = Feedback(
        work.submission.submission_id,
        _scale(visit.value("clear")),
        _scale(visit.value("fair")),
        visit.value("text").replace("\x00", "").strip()[:4000],
        visit.house.now(),
    )
    try:
        visit.house.threads.put_feedback(given)
    except PlatformError:
        raise RefusedError("not_possible", 409) from None
    return Goto("done")


def _scale(value: str) -> int | None:
    return int(value) if value in {"1", "2", "3", "4", "5"} else None
