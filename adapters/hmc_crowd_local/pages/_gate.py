"""What must a worker still read or pass before he works? Consent, comprehension, training, test, in this order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from hmc_crowd.errors import PlatformError
from hmc_crowd.platform import SubmissionState
from hmc_crowd_local._tables import HIT, SUBMISSION
from hmc_crowd_local.pages._visit import RefusedError

if TYPE_CHECKING:
    from hmc_crowd_local.pages._visit import Visit

__all__ = ["give_all_back", "give_back_quietly", "next_step"]

_STEPS = (("checks", "check", "check_failed"), ("training", "training", ""), ("test", "test", "test_failed"))


def next_step(visit: Visit) -> str | None:
    """Return the page that comes before the work, None where the worker may begin.

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
    steps = people.steps(worker, study) if asked else {}
    for kind, path, refused in asked:
        if steps[kind].passed is False:
            raise RefusedError(refused, 403)
        if steps[kind].passed is None:
            return path
    return None


def give_back_quietly(visit: Visit) -> None:
    """Free the place of somebody who will not work; work that is handed in or late stays as it is."""
    if visit.work is not None:
        _give_back(visit, visit.work.submission.submission_id)


def give_all_back(visit: Visit) -> None:
    """Free every place that somebody holds in this study, which he left or may not work in: he can end none of it."""
    house = visit.house
    query = sa.select(SUBMISSION.c.submission_id, HIT.c.scope).join(HIT, HIT.c.hit_id == SUBMISSION.c.hit_id)
    mine = (SUBMISSION.c.worker == visit.worker, SUBMISSION.c.state == SubmissionState.ACCEPTED.value)
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
