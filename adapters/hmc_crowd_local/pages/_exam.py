"""Where does a worker stand with the qualification test: may he begin, must he wait, has he passed? And the history.

How it stands now is a `Step`, whose tries are finished attempts; every finished attempt is a row of its own besides,
which campaigns read (`hmc_crowd.platform.KeepsTests`). A worker is told whether he passed, never what was right.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd_local._steps import twice
from hmc_crowd_local._tables_pages import ATTEMPT, STEP
from hmc_crowd_local.pages._people import Step, upsert

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from hmc_crowd_local._database import Database
    from hmc_crowd_local.pages._study import Study

__all__ = ["Exam", "ExamState", "Exams", "exam_of"]


class ExamState(StrEnum):
    """How the test stands for a worker."""

    OPEN = "open"
    WAITS = "waits"
    PASSED = "passed"
    FAILED = "failed"


@dataclass(frozen=True)
class Exam:
    """How the test stands for a worker.

    ``number`` is the attempt that is under way or comes next, ``given`` what was answered in it so far, and
    ``not_before`` from when on it may begin, where one was made before.
    """

    state: ExamState
    number: int = 1
    given: tuple[Any, ...] = ()
    not_before: datetime | None = None


def exam_of(study: Study, step: Step, *, last_at: datetime | None, at: datetime) -> Exam:
    """Return how the test stands by what is stored of it.

    Parameters
    ----------
    study : Study
        Its terms are those of now: more attempts than before let those try again who had none left.
    step : Step
        Of the test, in its present version.
    last_at : datetime, optional
        When the last attempt ended.
    at : datetime
        Now.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from hmc_crowd_local.pages import Study
    >>> noon = datetime(2026, 1, 5, 12, tzinfo=UTC)
    >>> twice = Study(test_attempts=2, test_delay_s=3600)
    >>> exam_of(twice, Step(1), last_at=noon, at=noon).state.value
    'waits'
    >>> exam_of(Study(), Step(1, False), last_at=noon, at=noon).state.value
    'failed'
    """
    if step.passed:
        return Exam(ExamState.PASSED, step.tries)
    if step.passed is None and step.detail:
        return Exam(ExamState.OPEN, step.tries + 1, step.detail)
    if step.tries >= study.test_attempts:
        return Exam(ExamState.FAILED, step.tries)
    if last_at is None:
        return Exam(ExamState.OPEN, step.tries + 1)
    ready = last_at + timedelta(seconds=study.test_delay_s)
    return Exam(ExamState.WAITS if at < ready else ExamState.OPEN, step.tries + 1, (), ready)


class Exams:
    """The attempts at qualification tests.

    Parameters
    ----------
    database : Database
        The workplace's.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def standing(self, worker: str, study: Study, step: Step, *, at: datetime) -> Exam:
        """Return how the test stands for a worker; who passed an older version that still counts has passed."""
        if not study.test or step.passed:
            return Exam(ExamState.PASSED, step.tries)
        with self._database.read() as connection:
            mine = (ATTEMPT.c.worker == worker, ATTEMPT.c.study == study.key)
            if study.test_also:
                older = sa.select(sa.func.count()).where(*mine, ATTEMPT.c.passed, ATTEMPT.c.test == _name(study))
                if connection.execute(older.where(ATTEMPT.c.test_version.in_(study.test_also))).scalar():
                    return Exam(ExamState.PASSED)
            last = None
            if step.tries:
                version = ATTEMPT.c.version == study.version_of("test")
                last = connection.execute(sa.select(sa.func.max(ATTEMPT.c.at)).where(*mine, version)).scalar()
        return exam_of(study, step, last_at=last, at=at)

    def finish(
        self, worker: str, study: Study, exam: Exam, given: tuple[str, ...], *, sent_by: str | None, at: datetime
    ) -> bool:
        """Mark an attempt whose last question is answered, and keep it; say whether it passed.

        The history and how it stands change together; an attempt that another window finished first stays as it is.
        """
        right = sum(label == known.right for label, known in zip(given, study.test, strict=True))
        passed = right >= study.passing
        row = {
            "worker": worker,
            "study": study.key,
            "version": study.version_of("test"),
            "number": exam.number,
            "test": _name(study),
            "test_version": study.test_version,
            "content": study.asked_test.content if study.passing else "",
            "recruited_by": sent_by,
            "right": right,
            "n": len(given),
            "passed": passed,
            "at": at,
        }
        # What was answered is kept with the end alone: between attempts the next one begins with nothing.
        is_over = passed or exam.number >= study.test_attempts
        step = {
            "tries": exam.number,
            "passed": passed if is_over else None,
            "score": right / len(given),
            "detail": json.dumps(given if is_over else (), ensure_ascii=True),
            "at": at,
        }
        return twice(lambda: self._keep(row, step))

    def _keep(self, row: Mapping[str, Any], step: Mapping[str, Any]) -> bool:
        key = {name: row[name] for name in ("worker", "study", "version")}
        held = sa.select(ATTEMPT.c.passed).where(*(ATTEMPT.c[name] == value for name, value in key.items()))
        with self._database.write() as connection:
            done: bool | None = connection.execute(held.where(ATTEMPT.c.number == row["number"])).scalar()
            if done is not None:
                return done
            connection.execute(sa.insert(ATTEMPT), [dict(row)])
            upsert(connection, STEP, {**key, "kind": "test", **step}, moving=tuple(step))
        return bool(row["passed"])


def _name(study: Study) -> str:
    return study.test_name or study.key
