"""The pages of the work itself: one item after the other, a look over everything, handing in.

An answer is kept the moment it is given (by script), or when the page is left (by form); nothing here asks a script.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmc_crowd._base.ids import digest
from hmc_crowd.errors import PlatformError
from hmc_crowd.platform import SubmissionState
from hmc_crowd_local._arms import mode_of
from hmc_crowd_local.pages._gate import exam, next_step
from hmc_crowd_local.pages._replies import Data, Goto, Page
from hmc_crowd_local.pages._sheets import read_answers, sheets_of
from hmc_crowd_local.pages._visit import RefusedError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hmc_crowd_local._records import AnswerRecord
    from hmc_crowd_local.pages._replies import Reply
    from hmc_crowd_local.pages._sheets import Ask, Sheet
    from hmc_crowd_local.pages._visit import Visit
    from hmc_crowd_local.pages._work_store import Work

__all__ = ["enter", "mark", "open_question", "review", "save_question", "sheets", "submit"]

REASONS = ("cannot_decide", "broken", "language", "upsetting", "other")


def sheets(visit: Visit) -> list[Sheet]:
    """Return the pages of the visit's HIT, with what is answered so far."""
    work = visit.open_work()
    labels = {key: each.label for key, each in work.answers.items()}
    return sheets_of(
        work.hit.items,
        labels,
        seed=work.submission.submission_id,
        mode_of=lambda item: mode_of(visit.house.arms, work.hit, visit.worker, item),
    )


def mark(values: Sequence[str]) -> str:
    """Return what tells whether a field still says what it said when the page was made."""
    return digest(*values)[:12]


def enter(visit: Visit) -> Reply:
    """Go where this worker has to go on: on any device the same place."""
    if visit.open_work().submission.state is SubmissionState.RETURNED:
        # Says why it was given back, where he did not pass or left; the test may be tried again all the same.
        step = next_step(visit)
        if step == "test" and exam(visit, visit.study).number > 1:
            return Goto("test")
    if visit.is_over():
        return Goto("done")
    step = next_step(visit)
    if step is not None:
        return Goto(step)
    missing = visit.open_work().missing()
    if not missing:
        return Goto("review")
    numbers = {each.item: number for number, each in enumerate(sheets(visit), start=1)}
    return Goto(f"q/{numbers[missing[0]]}")


def open_question(visit: Visit, number: int) -> Reply:
    """Show one item with its questions."""
    if visit.is_over() or next_step(visit) is not None:
        return Goto("")
    every = sheets(visit)
    sheet = _numbered(every, number)
    work, house = visit.open_work(), visit.house
    if work.submission.rendered_at is None:
        house.local.open_page(work.submission.submission_id, visit.worker)
        work.submission.rendered_at = house.now()
    is_hidden, why = _is_kept_away(visit, sheet)
    if sheet.sensitive and not is_hidden:
        house.people.expose(visit.worker, sheet.item, at=house.now())
    skips = [each for each in work.skips.values() if each.item == sheet.item]
    return Page(
        "question.html",
        {
            "sheet": sheet,
            "number": number,
            "total": len(every),
            "answered": sum(each.is_answered for each in every),
            "hit": work.hit,
            "guideline": work.hit.guideline or visit.study.guideline,
            "marks": {each.field: mark(_values(each)) for each in sheet.asks},
            "path": f"q/{number}",
            "reasons": REASONS,
            "skips": skips,
            "is_hidden": is_hidden,
            "why_hidden": why,
            "thread": house.threads.of(work.submission.submission_id, sheet.item),
        },
        is_framed=True,
    )


def _is_kept_away(visit: Visit, sheet: Sheet) -> tuple[bool, str]:
    """Say whether a disturbing text is not to be shown to this worker now, and why."""
    if not sheet.sensitive:
        return False, ""
    people = visit.house.people
    if sheet.category and sheet.category in people.opted_out(visit.worker):
        return True, "opted_out_note"
    seen = people.exposed(visit.worker, at=visit.house.now())
    is_enough = sheet.item not in seen and len(seen) >= visit.house.settings.exposure_per_day
    return is_enough, "exposure_note" if is_enough else ""


def save_question(visit: Visit, number: int) -> Reply:
    """Keep what the form says, then go where its button points."""
    if visit.is_over():
        return Data({"next": visit.url("done")}) if visit.wants_json else Goto("done")
    if next_step(visit) is not None:
        return Goto("")
    every = sheets(visit)
    sheet, action = _numbered(every, number), visit.value("do") or "next"
    if action in {"skip", "flag"}:
        _skip(visit, sheet, action)
    elif not _is_kept_away(visit, sheet)[0]:
        _save(visit, sheet)
    following = {"back": max(1, number - 1), "save": number}.get(action, number + 1)
    path = "review" if action == "review" or following > len(every) else f"q/{following}"
    if not visit.wants_json:
        return Goto(path)
    return Data({"next": visit.url(path), "marks": {each.field: _sent_mark(visit, each.field) for each in sheet.asks}})


def _save(visit: Visit, sheet: Sheet) -> None:
    """Keep the answers that this form changed: what another tab did meanwhile to the others stays."""
    work, house = visit.open_work(), visit.house
    found = read_answers(sheet, visit.form)
    for ask in sheet.asks:
        if ask.aspect not in found or _sent_mark(visit, ask.field) == visit.value(f"was_{ask.field}"):
            continue
        label, held = found[ask.aspect], work.answers.get((sheet.item, ask.aspect))
        name = work.submission.submission_id
        if label is None:
            if held is not None:
                house.works.take_back(name, sheet.item, ask.aspect)
            continue
        if held is not None and held.label == label:
            continue
        shown, answered = _times(work, sheet, held, visit.stamped_at or house.now(), house.now())
        house.local.save_answer(
            name,
            visit.worker,
            item=sheet.item,
            aspect=ask.aspect,
            label=label,
            shown_at=shown,
            answered_at=answered,
            swapped=sheet.swapped if ask.kind == "pair" else None,
            # Who saw what the machine says of one question has not judged the others of the page blind.
            mode=sheet.mode,
        )


def _times(
    work: Work, sheet: Sheet, held: AnswerRecord | None, opened: datetime, now: datetime
) -> tuple[datetime, datetime]:
    """Return when a question came into view and when it was answered.

    Of several questions about an item, the next begins where the one before ended. An answer changed on a later visit
    keeps the times of its first: the way there and back is no work on it.
    """
    if held is not None and held.shown_at is not None and held.answered_at is not None:
        return held.shown_at, now if held.shown_at >= opened else held.answered_at
    others = (each.answered_at for (item, _), each in work.answers.items() if item == sheet.item)
    begun = max([opened, *(each for each in others if each is not None and each <= now)])
    return min(begun, now), now


def _skip(visit: Visit, sheet: Sheet, kind: str) -> None:
    work = visit.open_work()
    reason = visit.value("reason") if visit.value("reason") in REASONS else "other"
    text = visit.value("reason_text").replace("\x00", "").strip()[:1000]
    is_hidden, _ = _is_kept_away(visit, sheet)
    questions = [(sheet.item, each.aspect) for each in sheet.asks if (sheet.item, each.aspect) not in work.answers]
    visit.house.works.skip(
        work,
        questions,
        kind="exposure" if is_hidden else kind,
        reason=f"{reason}: {text}" if text else reason,
        at=visit.house.now(),
    )


def review(visit: Visit, *, problem: bool = False) -> Reply:
    """Show what is answered, skipped and missing, and the button that hands it in."""
    if visit.is_over() or next_step(visit) is not None:
        return Goto("")
    work = visit.open_work()
    missing = set(work.missing())
    skipped = {item for item, _ in work.skips}
    rows = [
        (number, each, "missing" if each.item in missing else "skipped" if each.item in skipped else "answered")
        for number, each in enumerate(sheets(visit), start=1)
    ]
    is_late = work.submission.state is SubmissionState.EXPIRED or visit.house.now() > work.submission.deadline_at
    values = {"rows": rows, "missing": len(missing), "hit": work.hit, "problem": problem, "is_late": is_late}
    return Page("review.html", {**values, "path": "review"}, 422 if problem else 200, is_framed=True)


def submit(visit: Visit) -> Reply:
    """Hand the work in; whatever the page's clocks say, it is taken."""
    if visit.is_over():
        return Goto("done")
    work = visit.open_work()
    if work.missing():
        return review(visit, problem=True)
    try:
        visit.house.local.submit(work.submission.submission_id, visit.worker, expects_events=True)
    except PlatformError:
        # Another tab took an answer back, or handed it in, in the same moment.
        raise RefusedError("changed_meanwhile", 409) from None
    return Goto("done")


def _numbered(every: Sequence[Sheet], number: int) -> Sheet:
    if not 1 <= number <= len(every):
        raise RefusedError("no_such_page", 404)
    return every[number - 1]


def _sent_mark(visit: Visit, field: str) -> str:
    return mark([each.replace("\r\n", "\n") for each in visit.form.get(field, ())])


def _values(ask: Ask) -> list[str]:
    """Return what a browser sends of an untouched field."""
    if ask.control in {"text", "number"}:
        return [ask.text]
    return [choice.value for choice in ask.choices if choice.is_chosen]
