"""Answers that are on record, put into a campaign's database as if people had worked there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.campaign import Campaign
from hmc_crowd.store.records import HitItemRecord, HitRecord, SubmissionRecord

if TYPE_CHECKING:
    from pathlib import Path

DAY_0 = pd.Timestamp("2026-01-05", tz="UTC")


def campaign_of(folder: Path, truth: dict[str, str], gold: dict[str, str], *, clock: Any) -> Campaign:
    """A campaign of these items, with its known labels."""
    made = Campaign.create(folder / "recorded.db", labels=sorted(set(truth.values())), seed=1, clock=clock)
    made.add_items(pd.DataFrame({"item": list(truth), "text": ["So it goes."] * len(truth)}))
    if gold:
        made.add_gold(pd.DataFrame({"item": list(gold), "label": list(gold.values())}))
    return made


def record(campaign: Campaign, answers: pd.DataFrame, *, round: int = 1, aspect: str = "label") -> None:
    """Store ``task, worker, label, submitted`` (optional ``mode, retest``): one submission a worker and day."""
    day = answers["submitted"].dt.strftime("%Y%m%d")
    names = (answers["worker"] + "-" + day + f"-{round}").rename("submission_id")
    items = tuple(HitItemRecord(item, aspect, n, False) for n, item in enumerate(sorted(set(answers["task"]))))
    key = f"hit {round} {day.min()} {len(answers)} {answers['mode'].iloc[0] if 'mode' in answers else ''}"
    hit = HitRecord(key, "recorded", 1, 10, "USD", 60.0, items, platform="local", platform_hit_id=key)
    per = (
        answers.assign(submission_id=names).groupby("submission_id").agg(at=("submitted", "max"), w=("worker", "first"))
    )
    done = [
        SubmissionRecord(str(row.Index), "local", key, row.w, "submitted", submitted_at=row.at.to_pydatetime())
        for row in per.itertuples()
    ]
    with campaign._context.store.begin() as tx:
        tx.work.add_hits(campaign._context.campaign_id, round, [hit])
        tx.work.put_submissions(campaign._context.campaign_id, round, done)
        table = answers.rename(columns={"task": "item"}).assign(
            submission_id=names, platform="local", aspect=aspect, started=answers["submitted"]
        )
        tx.work.add_answers(campaign._context.campaign_id, round, table)


def crowd_days(
    rates: np.ndarray, *, rng: np.random.Generator, golds: int = 2, others: int = 9, first_day: int = 0
) -> tuple[pd.DataFrame, dict[str, str], dict[str, str]]:
    """Answers of workers whose chance of a right label is ``rates[day, worker]``; three people an item.

    Returns the answers, the truth of all items and that of the gold items.
    """
    days, workers = rates.shape
    rows: list[tuple[str, int, bool, int, int]] = []
    truth: dict[str, str] = {}
    for day in range(days):
        for n in range(golds):
            rows += [(f"g{first_day + day}-{n}", w, True, day, 9 * 60 + 60 * n + w) for w in range(workers)]
        for turn in range(others):
            seats = rng.permutation(workers)
            for n, three in enumerate(seats[: workers // 3 * 3].reshape(-1, 3)):
                item = f"d{first_day + day}-{turn}-{n}"
                rows += [(item, int(w), False, day, 12 * 60 + turn * 50 + int(w)) for w in three]
    table = pd.DataFrame(rows, columns=["task", "who", "is_gold", "day", "minute"])
    truth = {task: ("kind", "rude")[n % 2] for n, task in enumerate(dict.fromkeys(table["task"]))}
    right = rng.random(len(table)) < rates[table["day"], table["who"]]
    true = table["task"].map(truth)
    table["label"] = np.where(right, true, np.where(true == "kind", "rude", "kind"))
    table["worker"] = [f"w{n:03d}" for n in table["who"]]
    table["submitted"] = DAY_0 + pd.to_timedelta((table["day"] + first_day) * 1440 + table["minute"], "min")
    gold = {task: truth[task] for task in table.loc[table["is_gold"], "task"].unique()}
    return table[["task", "worker", "label", "submitted"]], truth, gold
