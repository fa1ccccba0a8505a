"""What is out, and what came back? Two tables that name what a person may approve, reject, pay or extend."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pandas as pd

from hmc_crowd.campaign._effects_review import REWARD

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context

__all__ = ["hits", "submissions"]

_CLOCKS = ["platform_elapsed_s", "page_elapsed_s", "active_s", "time_quality", "submitted_at"]
_COLUMNS = ["submission", "platform", "hit", "worker", "state", "review", "answers", "items", "bonuses_minor"]


def hits(context: Context) -> pd.DataFrame:
    """Return one row for each HIT."""
    with context.store.read() as tx:
        records = tx.work.hits(context.campaign_id)
    rows = [
        {
            "hit": each.key,
            "round": each.round,
            "state": each.state,
            "platform": each.platform,
            "platform_hit": each.platform_hit_id,
            "items": len(each.items),
            "places": each.redundancy,
            "pay_minor": each.pay_minor,
            "currency": each.currency,
            "expected_s": each.expected_s,
            "goes_on": each.salvaged_from,
        }
        for each in records
    ]
    columns = ["hit", "round", "state", "platform", "platform_hit", "items", "places", "pay_minor", "currency"]
    return pd.DataFrame(rows, columns=[*columns, "expected_s", "goes_on"])


def submissions(context: Context) -> pd.DataFrame:
    """Return one row for each submission; workers by their pseudonyms."""
    cid = context.campaign_id
    with context.store.read() as tx:
        found = tx.work.submissions(cid)
        sizes = {each.key: len(each.items) for each in tx.work.hits(cid)}
        answers = {name: tx.work.answer_counts(cid, name) for name in found["platform"].unique().tolist()}
        paid: Counter[tuple[str, str]] = Counter()
        for each in tx.payments.read(cid):
            if each.reason_code != REWARD and each.state == "paid":
                paid[each.platform, each.submission_id] += each.amount_minor
    names = list(zip(found["platform"].tolist(), found["submission_id"].tolist(), strict=True))
    return found.assign(
        answers=[int(answers[platform].get(name, 0)) for platform, name in names],
        items=found["hit_key"].map(sizes),
        bonuses_minor=[paid[each] for each in names],
    ).rename(columns={"submission_id": "submission", "hit_key": "hit", "excluded": "left_out"})[
        [*_COLUMNS, *_CLOCKS, "left_out"]
    ]
