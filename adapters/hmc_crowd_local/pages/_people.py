"""What do we know of a worker as a person? Consent, steps passed, opt-outs, how much disturbing text he saw today."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from hmc_crowd.errors import InputError
from hmc_crowd_local._records import check_text
from hmc_crowd_local._tables_pages import CONSENT, EXPOSURE, OPT_OUT, STEP

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from hmc_crowd_local._database import Database
    from hmc_crowd_local.pages._study import Study

__all__ = ["STEPS", "People", "Step", "upsert"]

STEPS = ("checks", "training", "test", "survey")
_MOST_DETAIL = 50_000
# Asked with every page: built once, it costs a third.
_STANDING = sa.select(CONSENT.c.text_hash, CONSENT.c.withdrawn_at).where(
    CONSENT.c.worker == sa.bindparam("of_worker"), CONSENT.c.study == sa.bindparam("of_study")
)


@dataclass(frozen=True)
class Step:
    """How far a worker is with a check, training, test or survey; ``passed`` is None while it is under way."""

    tries: int = 0
    passed: bool | None = None
    score: float | None = None
    detail: tuple[Any, ...] = ()


class People:
    """Consent, steps, opt-outs and exposure, kept by worker.

    Parameters
    ----------
    database : Database
        The workplace's.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    # Consent.

    def standing(self, worker: str, study: Study) -> str:
        """Return ``"withdrawn"``, ``"consents"`` (to what the study says now) or ``"unasked"``."""
        with self._database.read() as connection:
            rows = connection.execute(_STANDING, {"of_worker": worker, "of_study": study.key}).all()
        if any(row.withdrawn_at is not None for row in rows):
            return "withdrawn"
        return "consents" if any(row.text_hash == study.consent_hash for row in rows) else "unasked"

    def give_consent(self, worker: str, study: Study, *, language: str, at: datetime) -> None:
        """Keep that the worker consents, with the hash of what was read; said twice, the first time counts."""
        self._upsert(
            CONSENT,
            {
                "worker": worker,
                "study": study.key,
                "text_hash": study.consent_hash,
                "version": study.version,
                "language": language,
                "given_at": at,
                "wants_erasure": False,
            },
            moving=(),
        )

    def withdraw(self, worker: str, study: Study, *, wants_erasure: bool, language: str, at: datetime) -> None:
        """Keep that the worker withdraws, and whether he wants his answers erased: a person then sees to that."""
        self.give_consent(worker, study, language=language, at=at)
        mine = (CONSENT.c.worker == worker, CONSENT.c.study == study.key)
        values = {"withdrawn_at": at, "wants_erasure": wants_erasure}
        with self._database.write() as connection:
            connection.execute(sa.update(CONSENT).where(*mine).values(values))

    def withdrawals(self) -> list[tuple[str, str, datetime, bool]]:
        """Return who withdrew from which study, when, and whether the answers are to be erased."""
        query = sa.select(CONSENT).where(CONSENT.c.withdrawn_at.is_not(None)).order_by(CONSENT.c.withdrawn_at)
        with self._database.read() as connection:
            rows = connection.execute(query).all()
        return [(row.worker, row.study, row.withdrawn_at, row.wants_erasure) for row in rows]

    # Comprehension check, training, test, survey.

    def steps(self, worker: str, study: Study) -> dict[str, Step]:
        """Return how far the worker is with each step of the study, in its present version."""
        versions = {kind: study.version_of(kind) for kind in STEPS}
        mine = (STEP.c.worker == worker, STEP.c.study == study.key)
        with self._database.read() as connection:
            rows = connection.execute(sa.select(STEP).where(*mine)).all()
        found = {
            row.kind: Step(row.tries, row.passed, row.score, tuple(json.loads(row.detail)))
            for row in rows
            if row.version == versions.get(row.kind)
        }
        return {kind: found.get(kind, Step()) for kind in STEPS}

    def step(self, worker: str, study: Study, kind: str) -> Step:
        """Return how far the worker is with one step of the study, in its present version."""
        return self.steps(worker, study)[kind]

    def put_step(self, worker: str, study: Study, kind: str, step: Step, *, at: datetime) -> None:
        """Keep how far the worker is."""
        detail = json.dumps(step.detail, ensure_ascii=True)
        if len(detail) > _MOST_DETAIL:
            raise InputError("these answers are too long to be kept; shorten them")
        values = {"tries": step.tries, "passed": step.passed, "score": step.score, "detail": detail, "at": at}
        key = {"worker": worker, "study": study.key, "kind": kind, "version": study.version_of(kind)}
        self._upsert(STEP, {**key, **values}, moving=tuple(values))

    def funnel(self, study: Study) -> dict[str, int]:
        """Count who consented, and who began, passed and failed each step of the study in its present version."""
        counts = {}
        given = sa.select(sa.func.count(sa.distinct(CONSENT.c.worker))).where(CONSENT.c.study == study.key)
        with self._database.read() as connection:
            counts["consented"] = connection.execute(given).scalar() or 0
            for kind in STEPS:
                mine = (STEP.c.study == study.key, STEP.c.kind == kind, STEP.c.version == study.version_of(kind))
                rows = connection.execute(
                    sa.select(STEP.c.passed, sa.func.count()).where(*mine).group_by(STEP.c.passed)
                )
                by_state: dict[bool | None, int] = {row[0]: row[1] for row in rows}
                counts[f"{kind}_begun"] = sum(by_state.values())
                counts[f"{kind}_passed"] = by_state.get(True, 0)
                counts[f"{kind}_failed"] = by_state.get(False, 0)
        return counts

    # Disturbing text.

    def opted_out(self, worker: str) -> frozenset[str]:
        """Return the categories that the worker does not want to see."""
        with self._database.read() as connection:
            return frozenset(
                connection.execute(sa.select(OPT_OUT.c.category).where(OPT_OUT.c.worker == worker)).scalars()
            )

    def set_opt_outs(self, worker: str, categories: Iterable[str], *, at: datetime) -> None:
        """Replace the categories that the worker does not want to see."""
        wanted = sorted(set(categories))
        for each in wanted:
            check_text(each, name="category")
        with self._database.write() as connection:
            connection.execute(sa.delete(OPT_OUT).where(OPT_OUT.c.worker == worker))
            if wanted:
                rows = [{"worker": worker, "category": each, "at": at} for each in wanted]
                connection.execute(sa.insert(OPT_OUT), rows)

    def opt_outs(self) -> Mapping[str, int]:
        """Count the workers who opted out of each category: capacity that a planner must not count on."""
        query = sa.select(OPT_OUT.c.category, sa.func.count()).group_by(OPT_OUT.c.category)
        with self._database.read() as connection:
            return {row[0]: row[1] for row in connection.execute(query.order_by(OPT_OUT.c.category))}

    def exposed(self, worker: str, *, at: datetime) -> frozenset[str]:
        """Return the disturbing items that the worker was shown on this day (UTC)."""
        mine = (EXPOSURE.c.worker == worker, EXPOSURE.c.day == at.date().isoformat())
        with self._database.read() as connection:
            return frozenset(connection.execute(sa.select(EXPOSURE.c.item).where(*mine)).scalars())

    def expose(self, worker: str, item: str, *, at: datetime) -> None:
        """Count that the worker is shown a disturbing item; the same one on the same day counts once."""
        row = {"worker": worker, "day": at.date().isoformat(), "item": item, "at": at}
        self._upsert(EXPOSURE, row, moving=())

    def _upsert(self, table: sa.Table, row: Mapping[str, Any], *, moving: tuple[str, ...]) -> None:
        with self._database.write() as connection:
            upsert(connection, table, row, moving=moving)


def upsert(connection: sa.Connection, table: sa.Table, row: Mapping[str, Any], *, moving: tuple[str, ...]) -> None:
    """Insert a row; where its key is there, replace these columns of it, or nothing."""
    insert: Any = (sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert)(table)
    statement = insert.on_conflict_do_nothing()
    if moving:
        new = {name: insert.excluded[name] for name in moving}
        statement = insert.on_conflict_do_update(index_elements=list(table.primary_key), set_=new)
    connection.execute(statement, [dict(row)])
