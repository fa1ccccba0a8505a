"""What stands on the board? The live figures of one campaign, read in one snapshot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from hmc_crowd._base.ids import digest
from hmc_crowd._base.money import Money
from hmc_crowd.board._gate import Figures
from hmc_crowd.campaign._load import PoolLoad, pool_loads
from hmc_crowd.campaign._status import Status, status
from hmc_crowd.campaign._stream import Stream, peek
from hmc_crowd.campaign._wages import PayCheck, fair_pay
from hmc_crowd.campaign._work import items_answered

if TYPE_CHECKING:
    from datetime import datetime

    from hmc_crowd.campaign._context import Context

__all__ = ["Live", "gold_over_time", "read_live"]

_LAST_OF_ALL, _LAST_OF_WORKER = 50, 20


@dataclass(frozen=True)
class Live:
    """The figures of a campaign at one moment.

    Parameters
    ----------
    status : Status
        Counts of everything.
    made_from : dict
        What the newest plan was asked to do; empty without one.
    planned_s, item_share : float, optional
        Time of one person that the plan foresees; share of planned items that have their answers, in [0, 1].
    figures : Figures
        What gates read.
    gold : pandas.DataFrame
        Gold answers in the order of time: ``worker, submitted, right`` (0 or 1).
    submissions : pandas.DataFrame
        As the store holds them.
    door : dict
        Items of the machine door by destination and whether they are open.
    pools : list of PoolLoad
        What waits for each pool.
    missing : dict
        Questions left without an answer, by kind and reason.
    pay : PayCheck
        What people earn, beside the floor.
    cost_minor : float, optional
        What an answer cost, by the rewards of what was handed in.
    answer_s, at_work, last_hour : float, int, int
        Median time of an answer; people with work under way; answers of the last hour.
    uptime : float, optional
        Share of the minutes of the last day in which a server was up.
    stream : Stream, optional
        How a watched stream stood when the door or somebody else looked last.
    """

    status: Status
    made_from: dict[str, Any]
    planned_s: float | None
    item_share: float | None
    figures: Figures
    gold: pd.DataFrame
    submissions: pd.DataFrame
    door: dict[tuple[str, bool], int]
    at: datetime
    pools: list[PoolLoad]
    missing: dict[tuple[str, str], int]
    pay: PayCheck
    cost_minor: float | None
    answer_s: float | None
    at_work: int
    last_hour: int
    uptime: float | None
    stream: Stream | None = None

    @property
    def mark(self) -> str:
        """Changes whenever a count does; age alone changes nothing."""
        pools = [(each.pool, each.open_places, each.members) for each in self.pools]
        return digest(
            repr(self.status), len(self.gold), sorted(self.door.items()), _states(self.submissions), pools, self.stream
        )

    @property
    def committed(self) -> str:
        """Money reserved and spent, as text."""
        return str(Money(self.status.reserved_minor + self.status.settled_minor, self.status.currency))


def read_live(context: Context) -> Live:
    """Read the figures of a campaign."""
    told, cid = status(context), context.campaign_id
    now = context.clock.now()
    with context.store.read() as tx:
        plan = tx.plans.latest(cid)
        answers = tx.work.answers(cid)
        submissions = tx.work.submissions(cid)
        known = tx.frames.read(cid, "gold", columns=["item", "aspect", "label"])
        door, first = tx.door.totals(cid), tx.door.queue(cid, limit=10_000)
        pools, missing, uptime = pool_loads(context, tx), tx.work.missing_counts(cid), tx.uptime.share()
        stream = peek(context, tx)
        redundancy = int(context.settings_in(tx).get("redundancy", 1))
        done, planned = (0, 0) if plan is None else items_answered(context, tx, plan.id, redundancy)
    gold = _gold_answers(answers, known)
    pay = fair_pay(context)
    made = {} if plan is None else dict(plan.header["made_from"])
    return Live(
        status=told,
        made_from=made,
        planned_s=None if plan is None else float(plan.header["figures"]["human_s"]),
        item_share=done / planned if planned else None,
        figures=Figures(
            gold_accuracy=float(gold["right"].tail(_LAST_OF_ALL).mean()) if len(gold) else None,
            gold_n=min(len(gold), _LAST_OF_ALL),
            workers=_last_of_workers(gold),
            budget_share=_share(told.reserved_minor + told.settled_minor, made.get("max_money_minor")),
            oldest_review_s=_oldest_review(submissions, now),
            oldest_queue_s=max(((now - row["at"]).total_seconds() for row in first), default=None),
            overdue=sum(row["due_at"] is not None and row["due_at"] < now for row in first),
            hourly_minor=pay.hourly_minor,
            questions=len(told.questions),
            floor_minor=pay.floor_minor,
            pay_text=str(pay),
            pool_load={each.pool: each.share for each in pools if each.share is not None},
        ),
        gold=gold,
        submissions=submissions,
        door=door,
        at=now,
        pools=pools,
        missing=missing,
        pay=pay,
        cost_minor=pay.earned_minor / len(answers) if pay.submissions and len(answers) else None,
        answer_s=float(answers["seconds"].median()) if answers["seconds"].notna().any() else None,
        at_work=int(submissions[submissions["state"] == "accepted"]["worker"].nunique()),
        last_hour=int((answers["submitted"] > pd.Timestamp(now) - pd.Timedelta(hours=1)).sum()),
        uptime=uptime,
        stream=stream,
    )


def gold_over_time(gold: pd.DataFrame) -> pd.DataFrame:
    """Return ``hours, rolling, so_far``: the share of right gold answers, of the last 50 and of all until then.

    Examples
    --------
    >>> at = pd.to_datetime(["2026-01-01T00:00Z", "2026-01-01T03:00Z"])
    >>> gold_over_time(pd.DataFrame({"submitted": at, "right": [1, 0]}))[["hours", "so_far"]].values.tolist()
    [[0.0, 1.0], [3.0, 0.5]]
    """
    right = gold["right"].astype(float)
    hours = (gold["submitted"] - gold["submitted"].iloc[0]).dt.total_seconds() / 3600
    rolling = right.rolling(_LAST_OF_ALL, min_periods=1).mean()
    return pd.DataFrame({"hours": hours, "rolling": rolling, "so_far": right.expanding().mean()})


def _gold_answers(answers: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    if answers.empty or known.empty:
        return pd.DataFrame({"worker": [], "submitted": pd.to_datetime([], utc=True), "right": []})
    # Who was shown the machine's label proves nothing on gold.
    some = answers[answers["is_gold"].astype(bool) & (answers["mode"] == "blind")]
    some = some.assign(aspect=some["aspect"].astype(str))
    truth = known.assign(aspect=known["aspect"].astype(str)).rename(columns={"label": "truth", "item": "task"})
    both = some.merge(truth, on=["task", "aspect"]).sort_values("submitted", kind="stable", ignore_index=True)
    right = (both["label"].astype(str) == both["truth"].astype(str)).astype(int)
    return both[["worker", "submitted"]].assign(worker=both["worker"].astype(str), right=right)


def _last_of_workers(gold: pd.DataFrame) -> dict[str, tuple[int, int]]:
    last = gold.groupby("worker").tail(_LAST_OF_WORKER)
    counted = last.groupby("worker")["right"].agg(["sum", "size"])
    return {str(name): (int(right), int(n)) for name, right, n in counted.itertuples(name=None)}


def _share(spent: int, limit: Any) -> float | None:
    return spent / int(limit) if limit else None


def _oldest_review(submissions: pd.DataFrame, now: datetime) -> float | None:
    waiting = submissions[submissions["state"] == "submitted"]["submitted_at"].dropna()
    return float((pd.Timestamp(now) - waiting.min()).total_seconds()) if len(waiting) else None


def _states(submissions: pd.DataFrame) -> list[tuple[str, int]]:
    return sorted((str(state), int(n)) for state, n in submissions["state"].value_counts().items())
