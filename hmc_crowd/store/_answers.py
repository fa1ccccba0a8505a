"""What did people answer? Answers in bulk, each stored once; submissions come from `_submissions.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.store._arrow import Column, bad_rows, read_frame, to_pandas
from hmc_crowd.store._bulk import bulk_insert, fetch
from hmc_crowd.store._submissions import SubmissionRepository
from hmc_crowd.store._tables import Answer, Gold, HitItem, MissingAnswer, Submission
from hmc_crowd.store._types import check_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd


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
    Column("swapped", "flag"),
    Column("suggestion", "text"),
]
_LATER = ("worker", "label", "started", "submitted", "mode", "retest", "swapped", "suggestion")
_MODES = ("blind", "suggest")
_MISSING = [
    *(
        Column(name, "key", required=True)
        for name in ("submission_id", "platform", "item", "aspect", "worker", "kind", "reason")
    ),
    Column("note", "text", default=""),
]


class AnswerRepository(SubmissionRepository):
    """Submissions and answers; a part of ``tx.work``."""

    def answer_counts(self, campaign: int, platform: str) -> dict[str, int]:
        """Return how many answers each submission of a platform has; those without any are absent."""
        query = (
            sa.select(Submission.submission_id, sa.func.count().label("answers"))
            .select_from(Answer.table().join(Submission.table(), Answer.submission == Submission.id))
            .where(Submission.campaign_id == campaign, Submission.platform == platform)
            .group_by(Submission.submission_id)
        )
        return {row.submission_id: int(row.answers) for row in self._session.rows(query)}

    def answered_before(self, campaign: int, workers: Iterable[str], round: int) -> set[tuple[str, str, str]]:
        """Return which (worker, item, aspect) these workers answered in rounds before this one."""
        query = sa.select(Answer.worker, Answer.item, Answer.aspect).where(
            Answer.campaign_id == campaign, Answer.round < round, self._session.among(Answer.worker, workers)
        )
        return {(row.worker, row.item, row.aspect) for row in self._session.rows(query)}

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
            ``mode`` ("blind", the default, or "suggest"), ``retest`` (default 0), ``swapped`` (of a pair) and
            ``suggestion`` (the machine's label, shown or not).

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
                **{name: table[name] for name in _LATER},
            }
        )
        return bulk_insert(self._session, Answer, rows, conflict="skip")

    def add_missing(self, campaign: int, round: int, frame: Any) -> int:
        """Insert questions that were left without an answer, with the reason; return how many were new.

        Parameters
        ----------
        campaign, round : int
            Which pass of which campaign.
        frame : pandas.DataFrame or pyarrow.Table
            ``submission_id, platform, item, aspect, worker, kind`` ("skip", "flag" or "exposure"), ``reason`` (a short
            code) and ``note`` (in the worker's words, or empty).
        """
        table = read_frame(frame, _MISSING, name="missing")
        if not len(table):
            return 0
        rows = {
            "submission": self._submission_numbers(campaign, table),
            **{name: table[name] for name in ("item", "aspect")},
            "campaign_id": pa.repeat(pa.scalar(campaign, pa.int64()), len(table)),
            "round": pa.repeat(pa.scalar(round, pa.int64()), len(table)),
            **{name: table[name] for name in ("worker", "kind", "reason", "note")},
        }
        return bulk_insert(self._session, MissingAnswer, pa.table(rows), conflict="skip")

    def missing_counts(self, campaign: int) -> dict[tuple[str, str], int]:
        """Return how many questions were left without an answer, by kind and reason."""
        columns = (MissingAnswer.kind, MissingAnswer.reason)
        query = sa.select(*columns, sa.func.count()).where(MissingAnswer.campaign_id == campaign).group_by(*columns)
        return {(row[0], row[1]): int(row[2]) for row in self._session.rows(query)}

    def missing(self, campaign: int) -> pd.DataFrame:
        """Return what was left open: ``task, aspect, worker, kind, reason, note, submission_id, platform``."""
        text = pa.large_string()
        columns = [
            ("task", MissingAnswer.item),
            *((name, getattr(MissingAnswer, name)) for name in ("aspect", "worker", "kind", "reason", "note")),
            ("submission_id", Submission.submission_id),
            ("platform", Submission.platform),
        ]
        query = (
            sa.select(*(column for _, column in columns))
            .select_from(MissingAnswer.table().join(Submission.table(), MissingAnswer.submission == Submission.id))
            .where(MissingAnswer.campaign_id == campaign)
            .order_by(MissingAnswer.submission, MissingAnswer.item, MissingAnswer.aspect)
        )
        return to_pandas(fetch(self._session, query, {name: text for name, _ in columns}), ())

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
        items: Iterable[str] | None = None,
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
        items : iterable of str, optional
            Only answers to these.

        Returns
        -------
        pandas.DataFrame
            ``task, worker, label, aspect, started, submitted, submission_id, round, seconds`` (submitted - started),
            ``is_gold, excluded`` (the reason, or missing), ``mode, retest, platform, swapped, suggestion`` and
            ``guideline_version`` (of the page; "" where it was the first).
        """
        gold = sa.and_(Gold.campaign_id == Answer.campaign_id, Gold.aspect == Answer.aspect, Gold.item == Answer.item)
        asked = sa.and_(
            HitItem.hit_key == Submission.hit_key, HitItem.item == Answer.item, HitItem.aspect == Answer.aspect
        )
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
            ("swapped", Answer.swapped, pa.bool_()),
            ("suggestion", Answer.suggestion, text),
            ("guideline_version", sa.func.coalesce(HitItem.guideline_version, ""), text),
        ]
        query = (
            sa.select(*(column for _, column, _ in columns))
            .select_from(Answer.table().join(Submission.table(), Answer.submission == Submission.id))
            .outerjoin(Gold.table(), gold)
            .outerjoin(HitItem.table(), asked)
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
        if items is not None:
            query = query.where(self._session.among(Answer.item, items))
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
