"""What must a worker still read or pass before he works? Consent, comprehension, training, test, in this order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from hmc_crowd.errors import PlatformError
from hmc_crowd.platform import SubmissionState
from hmc_crowd_local._tables import HIT, SUBMISSION
from hmc_crowd_local.pages._exam import ExamState
from hmc_crowd_local.pages._visit import RefusedError

if TYPE_CHECKING:
    from datetime import datetime

    from hmc_crowd_local.pages._exam import Exam
    from hmc_crowd_local.pages._people import Step
    from hmc_crowd_local.pages._study import Study
    from hmc_crowd_local.pages._visit import Visit

__all__ = ["exam", "give_all_back", "give_back_quietly", "next_step"]

_STEPS = (("checks", "check", "check_failed"), ("training", "training", ""))


def next_step(visit: Visit) -> str | None:
    """Return the page that comes before the work, None where the worker may begin; a test to wait for is one, too.

    Raises
    ------
    RefusedError
        He withdrew, or did not pass.
    """
    people, study, worker = visit.house.people, visit.study, visit.worker
    standing = people.standing(worker, study)
    if standing == "withdrawn":
        raise RefusedError("withdrawn", 403)
    if study.information and standing != "consents":
        return "consent"
    asked = [each for each in _STEPS if getattr(study, each[0])]
    steps = people.steps(worker, study) if asked or study.test else {}
    for kind, path, refused in asked:
        if steps[kind].passed is False:
            raise RefusedError(refused, 403)
        if steps[kind].passed is None:
            return path
    return _test(visit, steps["test"]) if study.test else None


def _test(visit: Visit, step: Step) -> str | None:
    state = exam(visit, visit.study, step).state
    if state is ExamState.FAILED:
        raise RefusedError("test_failed", 403)
    return None if state is ExamState.PASSED else "test"


def exam(visit: Visit, study: Study, step: Step | None = None) -> Exam:
    """Return how the test of a study stands for the visitor."""
    found = visit.house.people.step(visit.worker, study, "test") if step is None else step
    return visit.house.exams.standing(visit.worker, study, found, at=visit.house.now())


def give_back_quietly(visit: Visit) -> None:
    """Free the place of somebody who will not work; work that is handed in or late stays as it is."""
    if visit.work is not None:
        _give_back(visit, visit.work.submission.submission_id)


def give_all_back(visit: Visit, *, due_by: datetime | None = None) -> None:
    """Free every place that somebody holds in this study and cannot end: he left it, may not work in it, or not yet.

    ``due_by`` frees only what is due by then: whoever may go on before that keeps his place.
    """
    house = visit.house
    query = sa.select(SUBMISSION.c.submission_id, HIT.c.scope).join(HIT, HIT.c.hit_id == SUBMISSION.c.hit_id)
    mine = [SUBMISSION.c.worker == visit.worker, SUBMISSION.c.state == SubmissionState.ACCEPTED.value]
    if due_by is not None:
        mine.append(SUBMISSION.c.deadline_at <= due_by)
    with house.local._database.read() as connection:
        held = connection.execute(query.where(*mine)).all()
    for row in held:
        if house.settings.study_of(row.scope).key == visit.study.key:
            _give_back(visit, row.submission_id)


def _give_back(visit: Visit, submission_id: str) -> None:
    try:
        visit.house.local.return_(submission_id, visit.worker)
    except PlatformError:
        return
