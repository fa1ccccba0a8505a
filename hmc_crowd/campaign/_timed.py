"""Which logged times can teach? One row for each group (or item) that one worker judged in one sitting.

Work that was given back or ran out of time has no time but a lower bound, if the page saw the worker work: that long,
and not done. A kind that knows time-outs learns from it; leaving it out makes every estimate too short, because slow
work is what is cut off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmc_crowd.campaign._approval import places, reviews
from hmc_crowd.campaign._effort import group_table, learnt_per, readable_items
from hmc_crowd.campaign._judge import inclusion_probability
from hmc_crowd.campaign._test_scores import known_checks
from hmc_crowd.effort import WORKER_FEATURES, clean_work_times, reading_allowance, worker_features
from hmc_crowd.platform import SubmissionState

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.effort import WorkTimes
    from hmc_crowd.store import Transaction

__all__ = ["TimedRows", "timed_rows"]

_CUT_OFF = (SubmissionState.RETURNED.value, SubmissionState.EXPIRED.value)
_SITTING = ["submission_id", "group", "worker", "seconds", "judged_items", "submitted", "round", "probability"]


@dataclass(frozen=True)
class TimedRows:
    """Features and cleaned seconds of every sitting, in the order of time.

    ``frame`` has ``group, worker, seconds, round, probability, finished`` and the features; where ``finished`` is
    False, ``seconds`` is a lower bound. ``worked`` is what cleaning did, ``erased`` how many groups have lost texts.
    """

    frame: pd.DataFrame
    worked: WorkTimes | None
    erased: int


def timed_rows(context: Context, tx: Transaction, *, per: str, cut_off: bool) -> TimedRows:
    """Collect the sittings of a campaign.

    Parameters
    ----------
    per : {"group", "item"}
        What is timed as one.
    cut_off : bool
        Whether work that was given back or ran out of time comes in, as lower bounds.
    """
    cid = context.campaign_id
    answers = tx.work.answers(cid)
    answers = answers[answers["seconds"].notna()]
    items, erased = readable_items(context, tx)
    if answers.empty or items.empty:
        return TimedRows(pd.DataFrame({"worker": []}), None, erased)
    items = learnt_per(items, per)
    worked = _worked(tx, cid, answers, items)
    answers = worked.frame.merge(items[["item", "group"]], left_on="task", right_on="item")
    answers["probability"] = inclusion_probability(tx, cid, answers)
    rows = _finished(answers).assign(finished=True)
    if cut_off:
        begun = _begun(tx, cid, items)
        # A frame without rows would turn the columns' types into objects.
        rows = pd.concat([rows, begun], ignore_index=True) if len(begun) else rows
    found = TimedRows(rows, worked, erased)
    return found if rows.empty else replace(found, frame=_with_features(context, tx, rows, items))


def _finished(answers: pd.DataFrame) -> pd.DataFrame:
    """Add up the answers of each sitting."""
    sittings = answers.groupby(["submission_id", "group"], sort=True)
    rows = sittings.agg(
        worker=("worker", "first"),
        seconds=("seconds_clean", "sum"),
        judged_items=("task", "size"),
        submitted=("submitted", "max"),
        round=("round", "first"),
        probability=("probability", "max"),
    )
    return rows.reset_index()[_SITTING]


def _begun(tx: Transaction, campaign: int, items: pd.DataFrame) -> pd.DataFrame:
    """Return a lower bound for each sitting of work that was cut off.

    Only the page's active time is a bound: who walked away has spent nothing of what the platform's clock went on
    counting. It is split among the groups by what reading them would need, because nobody knows how far the worker
    came, and a bound is no longer than that, as no finished time is.
    """
    work = tx.work.submissions(campaign)
    work = work[work["state"].isin(_CUT_OFF) & (work["active_s"] > 0) & (work["time_quality"] != "clock_suspect")]
    asked = pd.DataFrame(
        [
            (hit.key, each.item, each.aspect)
            for hit in (tx.work.hits(campaign) if len(work) else [])
            for each in hit.items
        ],
        columns=["hit_key", "task", "aspect"],
    )
    texts = items[["item", "group"]].assign(allowed=reading_allowance(items["text"].str.count(r"\S+")))
    asked = asked.merge(work, on="hit_key").merge(texts, left_on="task", right_on="item")
    if asked.empty:
        return pd.DataFrame(columns=_SITTING)
    asked["submission_id"] = asked["platform"] + "\x1f" + asked["submission_id"]
    asked["probability"] = inclusion_probability(tx, campaign, asked)
    asked["whole"] = asked.groupby("submission_id")["allowed"].transform("sum")
    rows = asked.groupby(["submission_id", "group"], sort=True).agg(
        worker=("worker", "first"),
        active_s=("active_s", "first"),
        allowed=("allowed", "sum"),
        whole=("whole", "first"),
        judged_items=("task", "size"),
        # What was known of the worker when the work was accepted; the order of time asks for no more.
        submitted=("accepted_at", "first"),
        round=("round", "first"),
        probability=("probability", "max"),
    )
    bound = np.minimum(rows["active_s"] / rows["whole"], 1.0) * rows["allowed"]
    return rows.assign(seconds=bound).dropna(subset="submitted").reset_index()[_SITTING].assign(finished=False)


def _with_features(context: Context, tx: Transaction, rows: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Join what is known of the texts, and of the workers as of then."""
    # In the order of time: ids and pseudonyms are random, and a forest depends on the order of its rows.
    rows = rows.sort_values(["submitted", "group"], kind="stable", ignore_index=True)
    first = rows.groupby("worker")["submitted"].transform("min") == rows["submitted"]
    who, when = rows["worker"].tolist(), rows["submitted"].tolist()
    known = worker_features(
        who,
        as_of=when,
        gold_checks=known_checks(context, tx),
        reviews=reviews(tx, context.campaign_id),
    )
    ours = known["approval_ranking"].to_numpy(dtype=np.float64)
    known = known.assign(approval_ranking=places(context, tx, who, when, ours))
    features = group_table(context, tx, items).drop(columns=["judged_items", "first_submission"], errors="ignore")
    rows = rows.merge(features, left_on="group", right_index=True).sort_index()
    rows["first_submission"] = first.astype(float)
    for name in WORKER_FEATURES:
        rows[name] = known[name].to_numpy()
    return rows.drop(columns=["submission_id", "submitted"])


def _worked(tx: Transaction, campaign: int, answers: pd.DataFrame, items: pd.DataFrame) -> WorkTimes:
    """Clean the times of all answers: whose texts are erased may still overlap with others."""
    submissions = tx.work.submissions(campaign)
    # Two platforms may give the same number.
    answers, submissions = (
        frame.assign(submission_id=frame["platform"] + "\x1f" + frame["submission_id"])
        for frame in (answers, submissions)
    )
    words = dict(zip(items["item"], items["text"].str.count(r"\S+"), strict=True))
    return clean_work_times(answers.drop(columns="seconds"), submissions, words)
