"""Who has become worse since the last look? Gold and agreement with the others, watched side by side.

Each stream has half of the false alarms that are put up with, so that together they keep the rate, whatever one of
them is worth; an alarm says which it was. Three things would make agreement cry wolf. Harder items, and items that more
people had answered before: it is judged beside that of the other workers in the same round and aspect after as many
answers. Answers that belong together: whoever misreads a dialogue disagrees on all its turns, so answers of a
submission count less by their design effect. Answers that come later: a check is made once, when two others had
answered, and no history is rewritten.

Not watched by agreement: answers to gold (they have a stream of their own), suggested or under another guideline, a
person's second answer to a question, and submissions that are left out; who is checked nowhere raises no alarm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmc_crowd.campaign._gold_marking import gold_rules
from hmc_crowd.campaign._gold_rows import gold_rows
from hmc_crowd.errors import InputError
from hmc_crowd.quality import (
    UnknownChange,
    agreement_checks,
    answers_between,
    check_ease,
    design_effect,
    find_drift,
    gold_checks,
    pool_prior,
)

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import Transaction

__all__ = ["STREAMS", "keep_alarms", "new_alarms", "watch_drift"]

STREAMS = ("gold", "agreement")
_USED = ["worker", "right", "at", "ease"]


def watch_drift(context: Context, *, false_alarms: float) -> int:
    """Look at everybody once, keep what is new, and return how many alarms that is."""
    # Others may write while everybody's history is gone through; an alarm that they kept in between is kept once.
    with context.store.read() as tx:
        rows, keys = gold_rows(context, tx, tx.work.answers(context.campaign_id), first_only=True)
        found = new_alarms(context, tx, rows, keys, false_alarms=false_alarms)
    if found.empty:
        return 0
    with context.store.begin() as tx:
        return keep_alarms(context, tx, found)


def keep_alarms(context: Context, tx: Transaction, found: pd.DataFrame) -> int:
    """Store alarms, each once, and return how many are new."""
    new = tx.standing.add_alarms(context.campaign_id, found) if len(found) else 0
    if new:
        context.log(tx, "drift", alarms=new)
    return new


def new_alarms(
    context: Context, tx: Transaction, rows: pd.DataFrame, keys: pd.DataFrame, *, false_alarms: float
) -> pd.DataFrame:
    """Return the alarms since each worker's last one: after an alarm a worker is watched anew.

    Parameters
    ----------
    rows, keys : pandas.DataFrame
        As `gold_rows` gives them, first answers only.
    false_alarms : float
        Alarms about steady workers that are put up with, for each worker and day, of both streams together.

    Returns
    -------
    pandas.DataFrame
        As `find_drift`, with ``answers``, counted over the worker's whole history.
    """
    if not 0 < false_alarms < 1:
        raise InputError(f"false_alarms is {false_alarms!r}; give alarms for a worker and day, such as 0.001")
    timed = rows[rows["submitted"].notna()]
    labels = [name for name, rule in gold_rules(context, tx).items() if rule.kind not in {"numeric", "text"}]
    both = [_on_gold(timed, keys), _with_others(timed[timed["aspect"].isin(labels)], keys)]
    used = [(name, each) for name, each in zip(STREAMS, both, strict=True) if len(each)]
    if not used:
        return pd.DataFrame()
    watches = [_watch(each, false_alarms / len(used)) for _, each in used]
    checks = pd.concat([each[_USED].assign(stream=number) for number, (_, each) in enumerate(used)])
    checks = checks.sort_values("at", kind="stable", ignore_index=True)
    last = tx.standing.alarms(context.campaign_id).groupby("worker")["at"].max()
    is_old = (checks["at"] <= checks["worker"].map(last)).to_numpy() if len(last) else np.zeros(len(checks), dtype=bool)
    found = find_drift(checks[~is_old], watches)
    # Checks are counted over the worker's whole history, also where it is watched anew.
    before = checks[is_old].groupby("worker").size()
    found["answers"] = found["answer"] + found["worker"].map(before).fillna(0).astype(int)
    found["reason"] = [
        f"{used[number][0]}: {why}" for number, why in zip(found["stream"], found["reason"], strict=True)
    ]
    return found


def _on_gold(rows: pd.DataFrame, keys: pd.DataFrame) -> pd.DataFrame:
    if rows.empty or keys.empty:
        return pd.DataFrame()
    return gold_checks(rows[["task", "worker", "label", "submitted"]], keys).assign(ease=0.0)


def _with_others(rows: pd.DataFrame, keys: pd.DataFrame) -> pd.DataFrame:
    known = set(keys["item"]) if len(keys) else set()
    counted = rows[~rows["task"].isin(known) & rows["excluded"].isna()]
    if counted.empty:
        return pd.DataFrame()
    made = agreement_checks(counted[["task", "worker", "label", "submitted"]], as_it_came=True)
    setting = counted.drop_duplicates(["task", "worker"])[["task", "worker", "aspect", "round", "submission_id"]]
    return check_ease(made.merge(setting, on=["task", "worker"]), by=["aspect", "round", "others"])


def _watch(checks: pd.DataFrame, false_alarms: float) -> UnknownChange:
    """Return a watch over a stream at its rate of false alarms; the workers' levels are those of the pool."""
    counts = checks.groupby("worker")["right"].agg(["sum", "size"])
    days = checks.assign(day=checks["at"].dt.floor("D")).groupby("worker")["day"].nunique().sum()
    people = len(counts)
    between = answers_between(
        workers=people, per_worker_day=len(checks) / days, false_alarms_per_day=false_alarms * people
    )
    prior = pool_prior(counts["sum"], counts["size"])
    # Known questions come singly; other answers of a submission may belong to one dialogue.
    alike = design_effect(checks, ["submission_id"]) if "submission_id" in checks else 1.0
    return UnknownChange(prior, between_alarms=between, design_effect=alike)
