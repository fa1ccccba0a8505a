"""The pages of the qualification test: its questions, and what is said to whom has to try again.

Whoever did not pass is told so, when he may try again, and that his place is free for others if it is due before then;
never which answers were right, nor how many.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hmc_crowd_local.pages._exam import ExamState
from hmc_crowd_local.pages._gate import exam, give_all_back, next_step
from hmc_crowd_local.pages._people import Step
from hmc_crowd_local.pages._people_routes import practice_page, practice_sheet
from hmc_crowd_local.pages._replies import Goto, Page
from hmc_crowd_local.pages._sheets import read_answers

if TYPE_CHECKING:
    from hmc_crowd_local.pages._exam import Exam
    from hmc_crowd_local.pages._replies import Reply
    from hmc_crowd_local.pages._visit import Visit

__all__ = ["answer_test", "show_test"]


def show_test(visit: Visit) -> Reply:
    """Show the next question of the test, or from when on it may be taken again."""
    if next_step(visit) != "test":
        return Goto("")
    found = exam(visit, visit.study)
    return _wait_page(visit, found) if found.state is ExamState.WAITS else _question(visit, found)


def answer_test(visit: Visit) -> Reply:
    """Keep an answer; the last one ends the attempt."""
    if next_step(visit) != "test":
        return Goto("")
    found = exam(visit, visit.study)
    if found.state is ExamState.WAITS or visit.value("place") != _token(visit, found):
        return Goto("test")  # sent twice, from another tab, an attempt that is over, or a test that changed
    each = visit.study.test[len(found.given)]
    label = read_answers(practice_sheet(visit, each, "test"), visit.form).get(each.item.aspect)
    if label is None:
        return _question(visit, found, problem=True)
    given = (*found.given, label)
    if len(given) < len(visit.study.test):
        step = Step(found.number - 1, None, None, given)
        visit.house.people.put_step(visit.worker, visit.study, "test", step, at=visit.house.now())
        return Goto("test")
    return _finish(visit, found, given)


def _finish(visit: Visit, found: Exam, given: tuple[str, ...]) -> Reply:
    house, at = visit.house, visit.house.now()
    sent_by = None if visit.work is None else visit.work.submission.recruited_by
    if house.exams.finish(visit.worker, visit.study, found, given, sent_by=sent_by, at=at):
        return Goto("")
    now = exam(visit, visit.study)
    if now.state is not ExamState.PASSED:
        # Whoever must wait longer than his work may take, or may not come back, keeps nobody else from it.
        give_all_back(visit, due_by=now.not_before)
    return Goto("")


def _question(visit: Visit, found: Exam, *, problem: bool = False) -> Page:
    place = len(found.given)
    return practice_page(visit, "test", place, problem=problem, token=_token(visit, found), exam=found)


def _token(visit: Visit, found: Exam) -> str:
    """Return what tells which question of which attempt, and of which test: it may change while people take it."""
    return f"{visit.study.version_of('test')[:8]}-{found.number}-{len(found.given)}"


def _wait_page(visit: Visit, found: Exam) -> Page:
    work = visit.work
    values = {
        "exam": found,
        "minutes": _minutes(visit, found),
        "place": "" if work is None else "test_freed" if visit.is_over() else "test_kept",
        "guides": work is not None and bool(work.hit.guideline or visit.study.guideline or visit.study.examples),
    }
    return Page("test_wait.html", values)


def _minutes(visit: Visit, found: Exam) -> int:
    """Return for how many minutes to wait, rounded up; nobody is sent away to come back too early."""
    if found.not_before is None:
        return 0
    return math.ceil((found.not_before - visit.house.now()).total_seconds() / 60)
