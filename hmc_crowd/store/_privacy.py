"""What is known of one person, and how is it erased so that every count stays? Found, exported, forgotten.

Forgetting takes the raw id away, puts a fresh random pseudonym in the place of the old one wherever it stands, and
erases the payloads of events that tell of the person: rows, groups and the hash chain stay as they are, and no link is
left. The platform's submission ids stay: they keep a submission from being collected or paid a second time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa

from hmc_crowd.store._events import EventRepository
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import (
    AlertNotice,
    AlertState,
    Appeal,
    Base,
    Campaign,
    Event,
    Intent,
    MissingAnswer,
    Payment,
    Submission,
    WorkerIdentity,
    WorkerTrait,
)
from hmc_crowd.store._types import from_json

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["OPEN_PAYMENTS", "Person", "PrivacyRepository"]

OPEN_PAYMENTS = ("planned", "needs_human")
_OPEN_INTENTS = ("planned", "sent", "needs_human")
_ERASED = "[erased]"
# What a raw id is made of: it is looked for as a whole word, so that "ann" is not found in "annotator".
_WORD = "0-9A-Za-z_-"


class Person(NamedTuple):
    """One worker of one platform; ``raw_id`` is None once it was erased."""

    platform: str
    worker: str
    raw_id: str | None


class PrivacyRepository(Repository):
    """Personal data of workers in the whole database: all its campaigns."""

    def find(self, worker: str, *, derived: Mapping[str, str], platform: str | None = None) -> list[Person]:
        """Return who a raw id or pseudonym stands for, one person for each platform that knows them.

        Parameters
        ----------
        worker : str
            A platform's raw id, or a pseudonym.
        derived : mapping of str to str
            Platform to the pseudonym that the raw id would have there: finds work whose raw id was erased.
        platform : str, optional
            Only this one's.
        """
        found: dict[tuple[str, str], Person] = {}
        table = WorkerIdentity.table()
        known = sa.select(table.c.platform, table.c.worker, table.c.raw_id)
        known = known.where(sa.or_(WorkerIdentity.raw_id == worker, WorkerIdentity.worker == worker))
        for row in self._session.rows(known.order_by(WorkerIdentity.platform)):
            found[row.platform, row.worker] = Person(row.platform, row.worker, row.raw_id)
        names = sorted({worker, *derived.values()})
        worked = sa.select(Submission.platform, Submission.worker).where(self._session.among(Submission.worker, names))
        told = sa.select(WorkerTrait.source, WorkerTrait.worker).where(self._session.among(WorkerTrait.worker, names))
        for row in self._session.rows(sa.union(worked, told).order_by(sa.literal_column("1"))):
            if row.worker in {worker, derived.get(row.platform)}:
                found.setdefault((row.platform, row.worker), Person(row.platform, row.worker, None))
        return [each for each in found.values() if platform in {None, each.platform}]

    def platforms(self) -> list[str]:
        """Return the platforms that anybody worked on, or said anything of themselves to."""
        worked, known = sa.select(Submission.platform), sa.select(WorkerIdentity.platform)
        told = sa.select(WorkerTrait.source)
        return sorted(row.platform for row in self._session.rows(sa.union(worked, known, told)))

    def open_business(self, person: Person) -> tuple[int, int]:
        """Return how many payments of a person are not made yet, and how many effects in progress name them."""
        mine = sa.select(Submission.submission_id).where(
            Submission.platform == person.platform, Submission.worker == person.worker
        )
        unpaid = sa.select(sa.func.count()).where(
            Payment.platform == person.platform, Payment.submission_id.in_(mine), Payment.state.in_(OPEN_PAYMENTS)
        )
        effects = [row for row in self._intents_naming(person) if row.state in _OPEN_INTENTS]
        return int(self._session.connection.execute(unpaid).scalar_one()), len(effects)

    def forget(self, person: Person, *, fresh: str) -> dict[str, int]:
        """Take a person out of the database; return how many rows and events were touched.

        Parameters
        ----------
        person : Person
            As `find` returned it.
        fresh : str
            The random pseudonym that takes the old one's place.
        """
        self._session.erase_for_good()
        events = self._events_naming(person)
        counts = {"events": EventRepository(self._session).erase(events), "intents": self._scrub(person, fresh)}
        excluded = sa.func.replace(Submission.excluded, person.worker, fresh)
        # A reason may name the worker that it left out.
        named = Submission.excluded.contains(person.worker, autoescape=True)
        self._session.run(sa.update(Submission.table()).where(named).values(excluded=excluded))
        # What somebody wrote in words may say who he is.
        words = sa.update(MissingAnswer.table()).where(MissingAnswer.worker == person.worker)
        self._session.run(words.values(note=""))
        reasons = sa.update(Appeal.table()).where(Appeal.worker == person.worker)
        self._session.run(reasons.values(reason=_ERASED))
        # Age, origin and the like may lead back to a person without any name: they go, they are not renamed.
        traits = sa.delete(WorkerTrait.table()).where(WorkerTrait.worker == person.worker)
        counts[WorkerTrait.__tablename__] = self._session.run(traits)
        for name, table in sorted(Base.metadata.tables.items()):
            if "worker" in table.c and name not in (WorkerIdentity.__tablename__, WorkerTrait.__tablename__):
                change = sa.update(table).where(table.c.worker == person.worker).values(worker=fresh)
                counts[name] = self._session.run(change)
        counts |= self._rename_alerts(person, fresh)
        gone = (WorkerIdentity.platform == person.platform, WorkerIdentity.worker == person.worker)
        counts["identities"] = self._session.run(sa.delete(WorkerIdentity.table()).where(*gone))
        return counts

    def _rename_alerts(self, person: Person, fresh: str) -> dict[str, int]:
        """Take the person out of alerts, whose subject and words may name him."""
        words = sa.func.replace(AlertNotice.message, person.worker, fresh)
        said = sa.update(AlertNotice.table()).where(AlertNotice.subject == person.worker)
        lasts = sa.update(AlertState.table()).where(AlertState.subject == person.worker)
        return {
            "alert_notice": self._session.run(said.values(subject=fresh, message=words)),
            "alert_state": self._session.run(lasts.values(subject=fresh)),
        }

    def export(self, person: Person) -> dict[str, Any]:
        """Return everything stored of a person, by campaign and table: plain values, times in UTC as text."""
        identity = sa.select(*WorkerIdentity.table().c).where(
            WorkerIdentity.platform == person.platform, WorkerIdentity.worker == person.worker
        )
        names = {row.id: row.name for row in self._session.rows(sa.select(Campaign.id, Campaign.name))}
        campaigns: dict[str, dict[str, list[dict[str, Any]]]] = {}
        for name, table in sorted(Base.metadata.tables.items()):
            if "worker" not in table.c or name == WorkerIdentity.__tablename__:
                continue
            query = sa.select(*table.c).where(table.c.worker == person.worker).order_by(*table.primary_key)
            self._collect(campaigns, names, name, query)
        said = sa.select(*AlertNotice.table().c).where(AlertNotice.subject == person.worker).order_by(AlertNotice.id)
        self._collect(campaigns, names, "alert_notice", said)
        mine = sa.select(Submission.submission_id).where(
            Submission.platform == person.platform, Submission.worker == person.worker
        )
        paid = sa.select(*Payment.table().c).where(Payment.platform == person.platform, Payment.submission_id.in_(mine))
        self._collect(campaigns, names, "payment", paid.order_by(Payment.at, Payment.submission_id))
        told = self._session.among(sa.cast(Event.id, sa.Text), [str(each) for each in self._events_naming(person)])
        # What an event says may name others as well: only that it tells of the person is theirs to see.
        events = sa.select(Event.campaign_id, Event.kind, Event.at).where(told).order_by(Event.id)
        self._collect(campaigns, names, "event", events)
        rows = self._session.rows(identity)
        return {
            "platform": person.platform,
            "pseudonym": person.worker,
            "identity": [_plain(row._mapping) for row in rows],
            "campaigns": campaigns,
        }

    def _collect(self, campaigns: dict[str, Any], names: dict[int, str], table: str, query: Any) -> None:
        for row in self._session.rows(query):
            values = _plain(row._mapping)
            campaign = names[values.pop("campaign_id")]
            campaigns.setdefault(campaign, {}).setdefault(table, []).append(values)

    def _events_naming(self, person: Person) -> list[int]:
        """Return the ids of the events whose payload names the person, or a submission of theirs."""
        mine = sa.select(Submission.submission_id).where(
            Submission.platform == person.platform, Submission.worker == person.worker
        )
        ids = {row.submission_id for row in self._session.rows(mine)}
        query = sa.select(Event.id, Event.payload).where(Event.payload.is_not(None)).order_by(Event.id)
        pattern = _pattern(person)
        with self._session.connection.execute(query.execution_options(yield_per=10_000)) as rows:
            return [row.id for row in rows if _names(from_json(row.payload), pattern, ids)]

    def _intents_naming(self, person: Person) -> list[Any]:
        texts = (sa.type_coerce(column, sa.Text) for column in (Intent.payload, Intent.result))
        words = [each for each in (person.worker, person.raw_id) if each]
        near = [text.contains(word, autoescape=True) for text in texts for word in words]
        columns = (Intent.key, Intent.state, Intent.payload, Intent.result)
        pattern = _pattern(person)
        rows = self._session.rows(sa.select(*columns).where(sa.or_(*near)))
        return [row for row in rows if _names([row.payload, row.result], pattern, set())]

    def _scrub(self, person: Person, fresh: str) -> int:
        """Take the person out of what was written down about effects; their keys and hashes stay."""
        found = self._intents_naming(person)
        for row in found:
            values = {name: _scrubbed(getattr(row, name), person, fresh) for name in ("payload", "result")}
            self._session.run(sa.update(Intent.table()).where(Intent.key == row.key).values(values))
        return len(found)


def _pattern(person: Person) -> re.Pattern[str]:
    words = "|".join(re.escape(each) for each in (person.worker, person.raw_id) if each)
    return re.compile(f"(?<![{_WORD}])(?:{words})(?![{_WORD}])")


def _names(value: Any, pattern: re.Pattern[str], ids: set[str]) -> bool:
    if isinstance(value, str):
        return value in ids or pattern.search(value) is not None
    if isinstance(value, dict):
        return any(_names(each, pattern, ids) for pair in value.items() for each in pair)
    return isinstance(value, list) and any(_names(each, pattern, ids) for each in value)


def _scrubbed(value: Any, person: Person, fresh: str) -> Any:
    if isinstance(value, str):
        return _pattern(person).sub(lambda found: fresh if found[0] == person.worker else _ERASED, value)
    if isinstance(value, dict):
        return {_scrubbed(key, person, fresh): _scrubbed(each, person, fresh) for key, each in value.items()}
    if isinstance(value, list):
        return [_scrubbed(each, person, fresh) for each in value]
    return value


def _plain(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(key): each.isoformat() if hasattr(each, "isoformat") else each for key, each in row.items()}
