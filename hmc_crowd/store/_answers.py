"""What did people send back? Submissions with their clocks, and answers in bulk, each stored once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.store._arrow import Column, bad_rows, read_frame, to_pandas
from hmc_crowd.store._bulk import bulk_insert, fetch
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import Answer, Gold, Hit, Submission
from hmc_crowd.store._types import check_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from hmc_crowd.store.records import SubmissionRecord

__all__ = ["AnswerRepository"]

_ANSWERS = [
    Column("submission_id", "key", required=True),
    Column("platform", "key", required=True),
    Column("item", "key", required=True),
    Column("aspect", "key", required=True),
    Column("worker", "key", required=True),
    Column("label", "text", required=True),
    Column("started", "time"),
    Column("submitted", "time"),
    Column("mode", "text", default="blind"),
    Column("retest", "integer", default=0),
]
_MODES = ("blind", "suggest")
# A clock is what was measured: the first value stays, whatever a platform says later.
_MEASURED = ("accepted_at", "submitted_at", "platform_elapsed_s", "page_elapsed_s", "active_s")
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
}


class AnswerRepository(Repository):
    """Submissions and answers; the first half of ``tx.work``."""

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
        names = [name for name in _SUBMISSION_TYPES if name not in {"round", "excluded"}]
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
            page_elapsed_s, active_s, time_quality, round, excluded`` (the reason, or missing).
        """
        table = Submission.table()
        query = sa.select(*(table.c[name] for name in _SUBMISSION_TYPES)).where(Submission.campaign_id == campaign)
        if round is not None:
            query = query.where(Submission.round == round)
        return to_pandas(fetch(self._session, query.order_by(Submission.id), _SUBMISSION_TYPES), ())

    def add_answers(self, campaign: int, round: int, frame: Any) -> int:
        """Insert answers in bulk; return how many were new.

        Left out, so that collecting again does nothing twice: an answer that its submission has given already for the
        item and aspect, and a worker's second answer in a round to the same item, aspect and ``retest`` number.

        Parameters
        ----------
        campaign, round : int
            Which pass of which campaign.
        frame : pandas.DataFrame or pyarrow.Table
            ``submission_id, platform, item, aspect, worker, label`` and optional ``started, submitted`` (aware times),
            ``mode`` ("blind", the default, or "suggest") and ``retest`` (default 0).

        Raises
        ------
        FrameError
            A column is missing or wrong, or a submission is not stored.
        """
        table = read_frame(frame, _ANSWERS, name="answers")
        if not len(table):
            return 0
        odd = pc.invert(pc.is_in(table["mode"], pa.array(_MODES, pa.large_string())))
        if pc.any(odd).as_py():
            raise FrameError(f"answers: column mode must be blind or suggest: {bad_rows(odd, table['mode'])}")
        submission = self._submission_numbers(campaign, table)
        rows = pa.table(
            {
                "submission": submission,
                "item": table["item"],
                "aspect": table["aspect"],
                "campaign_id": pa.repeat(pa.scalar(campaign, pa.int64()), len(table)),
                "round": pa.repeat(pa.scalar(round, pa.int64()), len(table)),
                **{name: table[name] for name in ("worker", "label", "started", "submitted", "mode", "retest")},
            }
        )
        return bulk_insert(self._session, Answer, rows, conflict="skip")

    def _submission_numbers(self, campaign: int, table: Any) -> Any:
        """Return our number of each row's submission, refusing unknown ones."""
        key = pc.binary_join_element_wise(
            table["platform"], table["submission_id"], pa.scalar("\x00", pa.large_string())
        )
        query = sa.select(Submission.platform, Submission.submission_id, Submission.id).where(
            Submission.campaign_id == campaign,
            self._session.among(Submission.submission_id, pc.unique(table["submission_id"]).to_pylist()),
        )
        types = {"platform": pa.large_string(), "submission_id": pa.large_string(), "id": pa.int64()}
        known = fetch(self._session, query, types)
        names = pc.binary_join_element_wise(
            known["platform"], known["submission_id"], pa.scalar("\x00", pa.large_string())
        ).combine_chunks()
        at = pc.index_in(key, names)
        if at.null_count:
            raise FrameError(
                "answers belong to submissions that are not stored: "
                f"{bad_rows(pc.is_null(at), table['submission_id'])}; put_submissions comes first"
            )
        return pc.take(known["id"], at)

    def answers(
        self,
        campaign: int,
        *,
        round: int | None = None,
        aspect: str | None = None,
        include_excluded: bool = True,
        include_gold: bool = True,
    ) -> pd.DataFrame:
        """Return answers as one long table.

        Parameters
        ----------
        campaign : int
            Its id.
        round : int, optional
            Only this round's; all rounds' when absent.
        aspect : str, optional
            Only this aspect's.
        include_excluded : bool, default True
            Whether answers of excluded submissions are in.
        include_gold : bool, default True
            Whether answers to items whose label is known are in.

        Returns
        -------
        pandas.DataFrame
            ``task, worker, label, aspect, started, submitted, submission_id, round, seconds`` (submitted - started),
            ``is_gold, excluded`` (the reason, or missing), ``mode, retest, platform``.
        """
        gold = sa.and_(Gold.campaign_id == Answer.campaign_id, Gold.aspect == Answer.aspect, Gold.item == Answer.item)
        text, moment = pa.large_string(), pa.timestamp("us", "UTC")
        columns: list[tuple[str, Any, Any]] = [
            ("task", Answer.item, text),
            ("worker", Answer.worker, text),
            ("label", Answer.label, text),
            ("aspect", Answer.aspect, text),
            ("started", Answer.started, moment),
            ("submitted", Answer.submitted, moment),
            ("submission_id", Submission.submission_id, text),
            ("round", Answer.round, pa.int64()),
            ("is_gold", Gold.item.is_not(None), pa.bool_()),
            ("excluded", Submission.excluded, text),
            ("mode", Answer.mode, text),
            ("retest", Answer.retest, pa.int64()),
            ("platform", Submission.platform, text),
        ]
        query = (
            sa.select(*(column for _, column, _ in columns))
            .select_from(Answer.table().join(Submission.table(), Answer.submission == Submission.id))
            .outerjoin(Gold.table(), gold)
            .where(Answer.campaign_id == campaign)
            .order_by(Answer.submission, Answer.started, Answer.item, Answer.aspect)
        )
        if round is not None:
            query = query.where(Answer.round == round)
        if aspect is not None:
            query = query.where(Answer.aspect == aspect)
        if not include_excluded:
            query = query.where(Submission.excluded.is_(None))
        if not include_gold:
            query = query.where(Gold.item.is_(None))
        table = fetch(self._session, query, {name: kind for name, _, kind in columns})
        micros = pc.subtract(table["submitted"], table["started"]).cast(pa.int64())
        return to_pandas(table.add_column(8, "seconds", pc.divide(micros.cast(pa.float64()), 1e6)), ())

    def exclude(self, campaign: int, submission_ids: Iterable[str], reason: str) -> int:
        """Leave submissions out of what counts, with a reason; return how many. Their answers stay stored."""
        if not check_text(reason, name="reason").strip():
            raise InputError("reason is empty; say why the submissions are left out")
        return self._set_excluded(campaign, submission_ids, reason)

    def include(self, campaign: int, submission_ids: Iterable[str]) -> int:
        """Let excluded submissions count again; return how many."""
        return self._set_excluded(campaign, submission_ids, None)

    def _set_excluded(self, campaign: int, submission_ids: Iterable[str], reason: str | None) -> int:
        table = Submission.table()
        which = (Submission.campaign_id == campaign, self._session.among(Submission.submission_id, submission_ids))
        return self._session.run(sa.update(table).where(*which).values(excluded=reason))
