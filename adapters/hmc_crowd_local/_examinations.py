"""Who tried the qualification test, with what success? The workplace's side of tests that campaigns keep.

A campaign hears of those alone who came to its HITs, and of nobody who left the study.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from hmc_crowd._base.qualifying import RemoteAttempt
from hmc_crowd_local._steps import Steps
from hmc_crowd_local._tables import HIT, SUBMISSION
from hmc_crowd_local._tables_pages import ATTEMPT, CONSENT

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from hmc_crowd._base.qualifying import RemoteTest

__all__ = ["Examinations"]

_OWN = "local"


class Examinations(Steps):
    """The part of the workplace that implements `hmc_crowd.platform.KeepsTests`."""

    def read_test(self, study: str | Path) -> RemoteTest:
        """Return the test of a study's file, as `hmc-crowd serve --study` asks it.

        Raises
        ------
        InputError
            The file is no study, or has no test that anybody could fail.
        """
        from hmc_crowd_local.pages import read_study

        return read_study(study).asked_test

    def test_attempts(self, scope: str, name: str) -> list[RemoteAttempt]:
        """Return all attempts at a test of people who came to a campaign's HITs, oldest first.

        Whoever was sent by a platform is named as there. Who left the study is not among them.
        """
        left = sa.exists().where(
            CONSENT.c.worker == ATTEMPT.c.worker,
            CONSENT.c.study == ATTEMPT.c.study,
            CONSENT.c.withdrawn_at.is_not(None),
        )
        query = sa.select(ATTEMPT).where(ATTEMPT.c.test == name, ATTEMPT.c.worker.in_(_came(scope)), ~left)
        with self._database.read() as connection:
            rows = connection.execute(query.order_by(ATTEMPT.c.at, ATTEMPT.c.worker, ATTEMPT.c.number)).all()
        return [
            RemoteAttempt(
                worker=row.worker,
                platform=row.recruited_by or _OWN,
                test=row.test,
                version=row.test_version,
                content=row.content,
                right=row.right,
                n=row.n,
                passed=row.passed,
                at=row.at,
            )
            for row in rows
        ]

    def test_funnel(self, scope: str, name: str, contents: Collection[str]) -> dict[str, int]:
        """Count who came to a campaign's HITs, and how many of them went on to each stage.

        Returns
        -------
        dict
            ``arrived, consented, tried, passed, worked``, each a part of those before; without ``consented`` where the
            study asks for no consent.
        """
        mine = (ATTEMPT.c.test == name, ATTEMPT.c.content.in_(sorted(contents)))
        stands = sa.or_(CONSENT.c.withdrawn_at.is_(None), CONSENT.c.given_at < CONSENT.c.withdrawn_at)
        studies = sa.select(ATTEMPT.c.study).where(ATTEMPT.c.test == name)
        asked = sa.or_(CONSENT.c.study == name, CONSENT.c.study.in_(studies))
        came = _came(scope)
        stages = {
            "arrived": came,
            "consented": sa.select(CONSENT.c.worker).where(asked, stands),
            "tried": sa.select(ATTEMPT.c.worker).where(*mine),
            "passed": sa.select(ATTEMPT.c.worker).where(*mine, ATTEMPT.c.passed),
            "worked": came.where(SUBMISSION.c.submitted_at.is_not(None)),
        }
        counts: dict[str, int] = {}
        with self._database.read() as connection:
            there: set[str] | None = None
            for stage, query in stages.items():
                found = set(connection.execute(query.distinct()).scalars())
                kept = found if there is None else found & there
                if stage == "consented" and not kept:
                    continue
                there, counts[stage] = kept, len(kept)
        return counts


def _came(scope: str) -> sa.Select[tuple[str]]:
    # A changed guideline adds to the campaign's scope.
    of_campaign = sa.or_(HIT.c.scope == scope, HIT.c.scope.startswith(f"{scope}:", autoescape=True))
    return sa.select(SUBMISSION.c.worker).select_from(sa.join(SUBMISSION, HIT)).where(of_campaign)
