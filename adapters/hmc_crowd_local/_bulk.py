"""What a campaign asks of many HITs or submissions at once, and more places for a HIT."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd.errors import PlatformError
from hmc_crowd.platform import RemoteHit, RemoteSubmission, SubmissionState
from hmc_crowd_local._desk import Desk
from hmc_crowd_local._queries import require_hits
from hmc_crowd_local._repository import chunks, flush, load_hits
from hmc_crowd_local._states import Action
from hmc_crowd_local._steps import Steps
from hmc_crowd_local._tables import HIT, SUBMISSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from hmc_crowd.platform import Hit

__all__ = ["Bulk"]


class Bulk(Steps):
    """The part of the workplace that implements `ApprovesMany`, `ListsHits` and `TopsUp` of the port."""

    def find_all(self) -> Mapping[str, RemoteHit]:
        """Return every HIT of this workplace by its key; changes nothing."""
        now = self._now()
        overdue = sa.and_(SUBMISSION.c.state == SubmissionState.ACCEPTED.value, SUBMISSION.c.deadline_at < now)
        held = sa.func.count(sa.case((~overdue, SUBMISSION.c.place)))
        columns = [HIT.c[name] for name in ("hit_id", "key", "redundancy", "created_at", "closed_at", "lifetime_s")]
        query = sa.select(*columns, held.label("held")).outerjoin(SUBMISSION).group_by(*columns).order_by(HIT.c.hit_id)
        with self._database.read() as connection:
            return {
                row.key: RemoteHit(row.hit_id, row.key, row.redundancy, _is_open(row, now), row.created_at)
                for row in connection.execute(query)
            }

    def approve_many(self, submission_ids: Sequence[str], *, hit_ids: Iterable[str]) -> list[RemoteSubmission]:
        """Approve those of these submissions that wait for a review; the others stay as they are.

        Parameters
        ----------
        submission_ids : sequence of str
            What to approve.
        hit_ids : iterable of str
            Their HITs; some hundred are one transaction.

        Returns
        -------
        list of RemoteSubmission
            All of them as they stand now, in the order asked for.

        Raises
        ------
        PlatformError
            A HIT is unknown, or a submission is not one of theirs; nothing is approved then.
        """
        wanted, found, hits = set(submission_ids), dict[str, RemoteSubmission](), list(dict.fromkeys(hit_ids))
        require_hits(self._database, hits)
        self._require(wanted, hits)
        now = self._now()
        for ids in chunks(hits):
            with self._database.write() as connection:
                desk = Desk(self._ids)
                load_hits(connection, desk, ids, lock=True)
                for name in sorted(wanted & desk.submissions.keys()):
                    if desk.submissions[name].state is SubmissionState.SUBMITTED:
                        desk.review(name, Action.APPROVE, at=now)
                    found[name] = desk.submissions[name].remote()
                flush(connection, desk)
        return [found[each] for each in submission_ids]

    def _require(self, wanted: set[str], hits: Sequence[str]) -> None:
        known: set[str] = set()
        with self._database.read() as connection:
            for ids in chunks(hits):
                query = sa.select(SUBMISSION.c.submission_id).where(SUBMISSION.c.hit_id.in_(ids))
                known.update(connection.execute(query).scalars())
        for each in sorted(wanted - known):
            raise PlatformError(f"submission {each!r} is none of these HITs'; check the id and the database address")

    def top_up(self, hit: Hit, hit_id: str, *, target: int) -> RemoteHit:
        """Bring a HIT to ``target`` places in all; fewer than it has changes nothing.

        Raises
        ------
        PlatformError
            The HIT is unknown, or is not that of the key.
        """

        def step(desk: Desk, now: datetime) -> RemoteHit:
            record = desk.hit(hit_id)
            if record.hit.key != hit.key:
                raise PlatformError(
                    f"HIT {hit_id} has the key {record.hit.key!r}, not {hit.key!r}; nothing was changed"
                )
            desk.grow(hit_id, target)
            return desk.remote_hit(hit_id, at=now)

        return self._at_hit(hit_id, step)


def _is_open(row: Any, now: datetime) -> bool:
    age_s = (now - row.created_at).total_seconds()
    return bool(row.closed_at is None and age_s < row.lifetime_s and row.held < row.redundancy)
