"""How good is everybody, since when is somebody worse, which gold is wrong, and what asks for a person's look?

Nothing here decides about anybody's pay or answers: `check_gold` leaves answers out, `reject` refuses pay, each with
rules of its own. An alarm of drift is kept once, with the moment at which it was found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from hmc_crowd.campaign._approval import ranking
from hmc_crowd.campaign._drift_watch import keep_alarms, new_alarms
from hmc_crowd.campaign._gold_check import suspects, text_note
from hmc_crowd.campaign._gold_marking import gold_rules
from hmc_crowd.campaign._gold_rows import gold_rows
from hmc_crowd.campaign._wages import PayCheck, fair_pay
from hmc_crowd.quality import flag_pasted, worker_quality

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.campaign._gold_marking import Meaning
    from hmc_crowd.store import Transaction

__all__ = ["QualityCheck", "check_quality", "exposures", "quality_table"]

_SHOWN = ["worker", "right", "n", "quality", "low", "high", "source"]
_NO_GOLD = "the campaign has no gold, so nothing is known of how good anybody is; drift is watched by agreement alone"


@dataclass(frozen=True)
class QualityCheck:
    """What is known of the people and of the gold they are measured with.

    Parameters
    ----------
    workers : pandas.DataFrame
        ``worker, right, n, quality, low, high, source, last_seen, approval, approval_source, drift_at, flags,
        left_out``: the probability that the next answer is right with its interval, ``source`` gold or pool; the
        approval rate as of now; the last alarm of drift; flags on texts; why the answers do not count, or missing.
    drift : pandas.DataFrame
        All alarms: ``worker, at, answers, since, statistic, threshold, reason, found_at``; the reason begins with the
        stream, ``gold`` or ``agreement`` with the others.
    new_alarms : int
        How many of them this look found.
    suspects : pandas.DataFrame
        Gold that good workers miss: ``item, aspect, label, n, right, good_n, good_right, top_label, reason``.
    pasted : pandas.DataFrame
        ``worker, task, flag, evidence``: texts that look pasted or written by a machine; for a person's review.
    pay : PayCheck
        What people earn, with the top-up that would make it fair.
    repeated_gold : int
        Pairs of a worker and a known question that met more than once; only the first answer counts.
    notes : tuple of str
    """

    workers: pd.DataFrame
    drift: pd.DataFrame
    new_alarms: int
    suspects: pd.DataFrame
    pasted: pd.DataFrame
    pay: PayCheck
    repeated_gold: int
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        known = int((self.workers["n"] > 0).sum())
        said = [
            f"{len(self.workers):,} workers, {known:,} of them met gold",
            f"{self.drift['worker'].nunique():,} with an alarm of drift ({self.new_alarms:,} new)",
            f"{len(self.suspects):,} gold items to look at",
        ]
        if len(self.pasted):
            said.append(f"{len(self.pasted):,} flags on texts")
        return "; ".join(said)


def check_quality(
    context: Context, *, level: float, false_alarms: float, meaning: Meaning | None = None
) -> QualityCheck:
    """Look at everybody's standing, and keep new alarms of drift.

    Parameters
    ----------
    level : float
        Of the intervals.
    false_alarms : float
        Alarms about steady workers that are put up with, for each worker and day, on gold and agreement together.
    meaning : Meaning, optional
        How gold in words is compared; without it such gold does not count.
    """
    with context.store.begin() as tx:
        answers = tx.work.answers(context.campaign_id)
        rows, keys = gold_rows(context, tx, answers, first_only=True, meaning=meaning)
        lacking = text_note(gold_rules(context, tx), tx.frames.read(context.campaign_id, "gold"), meaning)
        new = keep_alarms(context, tx, new_alarms(context, tx, rows, keys, false_alarms=false_alarms))
        drift = tx.standing.alarms(context.campaign_id)
        texts = _texts(context, tx, answers)
        met = exposures(context, tx)
        table = _with_standing(context, tx, _quality(context, rows, keys, level), answers, drift, texts)
    return QualityCheck(
        workers=table,
        drift=drift,
        new_alarms=new,
        suspects=suspects(rows, keys),
        pasted=texts,
        pay=fair_pay(context),
        repeated_gold=int((met["times"] > 1).sum()),
        notes=(*lacking, *(() if len(keys) else (_NO_GOLD,))),
    )


def quality_table(
    context: Context, tx: Transaction, *, level: float = 0.95, answers: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return everybody's quality with its interval: ``worker, right, n, quality, low, high, source``.

    ``answers`` are all of the campaign, where somebody has read them already.
    """
    said = tx.work.answers(context.campaign_id) if answers is None else answers
    rows, keys = gold_rows(context, tx, said, first_only=True)
    return _quality(context, rows, keys, level)


def exposures(context: Context, tx: Transaction) -> pd.DataFrame:
    """Return which gold each worker has met: ``item, aspect, worker, times, first_at``."""
    return tx.standing.exposures(context.campaign_id)


def _quality(context: Context, rows: pd.DataFrame, keys: pd.DataFrame, level: float) -> pd.DataFrame:
    on_gold = rows["task"].isin(keys["item"]) if len(keys) else pd.Series(False, index=rows.index)
    if rows.empty or not on_gold.any():
        # Nobody has answered gold: unknown, which is not bad.
        names = sorted(rows["worker"].astype(str).unique())
        return pd.DataFrame({"worker": names, "right": 0, "n": 0}).reindex(columns=_SHOWN).assign(source="unknown")
    now = pd.Timestamp(context.clock.now())
    idle = (now - rows.groupby("worker")["submitted"].max()).dt.total_seconds().clip(lower=0)
    return worker_quality(rows[["task", "worker", "label"]], keys, idle_s=idle.fillna(0.0), level=level)[_SHOWN]


def _texts(context: Context, tx: Transaction, answers: pd.DataFrame) -> pd.DataFrame:
    """Return flags on answers in words."""
    asked = [each.name for each in tx.campaigns.aspects(context.campaign_id) if each.kind == "text"]
    said = answers[answers["aspect"].isin(asked)].rename(columns={"label": "text", "seconds": "active_s"})
    return flag_pasted(said[["worker", "task", "text", "active_s"]]).drop(columns="review")


def _with_standing(
    context: Context,
    tx: Transaction,
    table: pd.DataFrame,
    answers: pd.DataFrame,
    drift: pd.DataFrame,
    texts: pd.DataFrame,
) -> pd.DataFrame:
    """Add what else is known of each worker."""
    now = context.clock.now()
    by_worker, names = answers.groupby("worker"), table["worker"]
    approval = ranking(context, tx, table["worker"].tolist(), now)
    return table.assign(
        last_seen=by_worker["submitted"].max().reindex(names).array,
        approval=approval["rate"].to_numpy(),
        approval_source=approval["source"].to_numpy(),
        drift_at=drift.groupby("worker")["at"].max().reindex(names).array,
        flags=texts.groupby("worker").size().reindex(names, fill_value=0).to_numpy(),
        left_out=by_worker["excluded"].last().reindex(names).array,
    )
