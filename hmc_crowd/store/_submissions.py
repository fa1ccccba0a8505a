"""What did people hand in, how long did it take, what was decided about it? Submissions, clocks and reviews."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import sqlalchemy as sa

from hmc_crowd._base.clock import as_utc
from hmc_crowd.errors import InputError
from hmc_crowd.store._arrow import to_pandas
from hmc_crowd.store._bulk import fetch
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import Hit, Submission
from hmc_crowd.store._types import check_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    import pandas as pd

    from hmc_crowd.store.records import SubmissionRecord

__all__ = ["SubmissionRepository"]

# A clock is what was measured: the first value stays, whatever a platform says later.
_MEASURED = ("accepted_at", "submitted_at", "platform_elapsed_s", "page_elapsed_s", "active_s", "timing_version")
_SUBMISSION_TYPES = {
    "submission_id": pa.large_string(),
    "platform": pa.large_string(),
    "hit_key": pa.large_string(),
    "worker": pa.large_string(),
    "state": pa.large_string(),
    "accepted_at": pa.timestamp("us", "UTC"),
    "submitted_at": pa.timestamp("us", "UTC"),
    "platform_elapsed_s": pa.float64(),
    "page_elapsed_s": pa.float64(),
    "active_s": pa.float64(),
    "time_quality": pa.large_string(),
    "round": pa.int64(),
    "excluded": pa.large_string(),
    "timing_version": pa.large_string(),
    "reviewed_by": pa.large_string(),
    "reviewed_at": pa.timestamp("us", "UTC"),
    "review": pa.large_string(),
}
# What is decided here, never by what a platform sends.
_OURS = ("round", "excluded", "reviewed_by", "reviewed_at", "review")
_REVIEWS = ("approved", "auto_approved", "rejected", "conflict", "unpaid_late")


class SubmissionRepository(Repository):
    """Submissions of a campaign; a part of ``tx.work``."""

    def put_submissions(self, campaign: int, round: int, submissions: Sequence[SubmissionRecord]) -> int:
        """Insert submissions or bring their state up to date; return how many rows changed.

        Times and clocks that are stored already are never overwritten; clocks that were missing are filled in.

        Raises
        ------
        InputError
            A submission belongs to a HIT that the campaign does not have.
        """
        if not submissions:
            return 0
        keys = sorted({each.hit_key for each in submissions})
        query = sa.select(Hit.key).where(Hit.campaign_id == campaign, self._session.among(Hit.key, keys))
        unknown = sorted(set(keys) - {row.key for row in self._session.rows(query)})
        if unknown:
            raise InputError(
                f"submissions belong to HITs that the campaign does not have: {', '.join(unknown[:5])}; "
                "add the HITs first"
            )
        names = [name for name in _SUBMISSION_TYPES if name not in _OURS]
        rows = [
            {name: getattr(each, name) for name in names} | {"campaign_id": campaign, "round": round}
            for each in submissions
        ]
        for row in rows:
            for name in ("submission_id", "platform", "worker"):
                check_text(row[name], name=name)
        return self._session.run(self._submission_upsert(), rows)

    def _submission_upsert(self) -> Any:
        table = Submission.table()
        statement = self._session.insert(Submission)
        new = statement.excluded
        values: dict[str, Any] = {"state": new.state, "time_quality": new.time_quality}
        values |= {name: sa.func.coalesce(table.c[name], new[name]) for name in _MEASURED}
        changes = [table.c[name].is_distinct_from(value) for name, value in values.items()]
        return statement.on_conflict_do_update(
            index_elements=["platform", "submission_id"], set_=values, where=sa.or_(*changes)
        )

    def submissions(self, campaign: int, round: int | None = None) -> pd.DataFrame:
        """Return submissions in the order in which they became known.

        Returns
        -------
        pandas.DataFrame
            ``submission_id, platform, hit_key, worker, state, accepted_at, submitted_at, platform_elapsed_s,
            page_elapsed_s, active_s, time_quality, round, excluded`` (the reason, or missing), ``timing_version,
            reviewed_by, reviewed_at, review``.
        """
        table = Submission.table()
        query = sa.select(*(table.c[name] for name in _SUBMISSION_TYPES)).where(Submission.campaign_id == campaign)
        if round is not None:
            query = query.where(Submission.round == round)
        return to_pandas(fetch(self._session, query.order_by(Submission.id), _SUBMISSION_TYPES), ())

    def submission_workers(self, platform: str, submission_ids: Iterable[str]) -> dict[str, str]:
        """Return under which pseudonym each of these submissions is stored; unknown ones are absent."""
        which = (Submission.platform == platform, self._session.among(Submission.submission_id, submission_ids))
        query = sa.select(Submission.submission_id, Submission.worker).where(*which)
        return {row.submission_id: row.worker for row in self._session.rows(query)}

    def review_submissions(
        self, campaign: int, platform: str, submission_ids: Iterable[str], review: str, *, by: str, at: datetime
    ) -> int:
        """Keep what was decided about submissions, by whom and when; return how many changed.

        Parameters
        ----------
        campaign, platform, submission_ids
            Which submissions.
        review : {"approved", "auto_approved", "rejected", "conflict", "unpaid_late"}
            What was decided; the same decision again keeps who made it first.
        by : str
            Who decided.
        at : datetime
            When, aware.
        """
        if review not in _REVIEWS:
            raise InputError(f"review is {review!r}; choose {', '.join(_REVIEWS)}")
        which = (
            Submission.campaign_id == campaign,
            Submission.platform == platform,
            self._session.among(Submission.submission_id, submission_ids),
            Submission.review.is_distinct_from(review),
        )
        values = {
            "review": review,
            "reviewed_by": check_text(by, name="by"),
            "reviewed_at": as_utc(at, name="at"),
        }
        return self._session.run(sa.update(Submission.table()).where(*which).values(values))

    def move_submissions(self, campaign: int, platform: str, submission_ids: Iterable[str], state: str) -> int:
        """Bring the state of submissions up to date and nothing else of them; return how many changed."""
        which = (
            Submission.campaign_id == campaign,
            Submission.platform == platform,
            self._session.among(Submission.submission_id, submission_ids),
            Submission.state != state,
        )
        return self._session.run(sa.update(Submission.table()).where(*which).values(state=state))
