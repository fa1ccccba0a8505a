"""Who passed which version of a test, at which attempt? Versions never change, attempts are only ever added."""

from __future__ import annotations

from dataclasses import asdict

import sqlalchemy as sa

from hmc_crowd.errors import DuplicateError
from hmc_crowd.store._records_quality import AttemptRecord, TestRecord
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import QualificationAttempt, QualificationTest
from hmc_crowd.store._types import check_text

__all__ = ["QualificationRepository"]


class QualificationRepository(Repository):
    """Qualification tests of a campaign and the attempts at them."""

    def add(self, campaign: int, test: TestRecord) -> None:
        """Store a version of a test; the same again changes nothing.

        Raises
        ------
        DuplicateError
            There is a version of that number with other questions or terms.
        """
        check_text(test.name, name="name")
        for held in self.tests(campaign, test.name):
            if held.version == test.version:
                if held != test:
                    raise DuplicateError(
                        f"version {test.version} of test {test.name!r} is there with other terms; a version never "
                        "changes, so give the next number"
                    )
                return
        row = asdict(test) | {"campaign_id": campaign, "made_at": self._session.now()}
        row["answer_key"] = dict(row.pop("key"))
        self._session.run(sa.insert(QualificationTest.table()), row)

    def tests(self, campaign: int, name: str | None = None) -> list[TestRecord]:
        """Return the versions of a test, or of all, oldest first."""
        table = QualificationTest.table()
        query = sa.select(*table.c).where(table.c.campaign_id == campaign).order_by(table.c.name, table.c.version)
        if name is not None:
            query = query.where(table.c.name == name)
        return [
            TestRecord(
                row.name, row.version, row.answer_key, row.training, row.pass_share, row.attempts, row.delay_s
            )
            for row in self._session.rows(query)
        ]  # fmt: skip

    def add_attempt(self, campaign: int, attempt: AttemptRecord) -> None:
        """Store an attempt; two of the same number are refused by the database."""
        row = asdict(attempt) | {"campaign_id": campaign}
        check_text(attempt.worker, name="worker")
        self._session.run(sa.insert(QualificationAttempt.table()), row)

    def attempts(self, campaign: int, test: str | None = None, *, worker: str | None = None) -> list[AttemptRecord]:
        """Return the attempts in the order of time; of one test, of one worker, or all."""
        table = QualificationAttempt.table()
        query = sa.select(*(column for column in table.c if column.name != "campaign_id"))
        query = query.where(table.c.campaign_id == campaign)
        if test is not None:
            query = query.where(table.c.test == test)
        if worker is not None:
            query = query.where(table.c.worker == worker)
        order = (table.c.at, table.c.worker, table.c.number)
        return [AttemptRecord(**row._mapping) for row in self._session.rows(query.order_by(*order))]
