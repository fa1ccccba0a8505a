"""What did people leave without an answer, and what may they know of their own? Skips in, standing on gold out."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import pandas as pd

from hmc_crowd.campaign._gold_rows import gold_rows
from hmc_crowd.platform import KeepsPools

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hmc_crowd.campaign._arrivals import Matched
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.platform import Platform, RemoteSkip
    from hmc_crowd.store import Transaction

__all__ = ["put_missing", "tell_standing"]

_COLUMNS = ["submission_id", "platform", "item", "aspect", "worker", "kind", "reason", "note"]


def put_missing(
    context: Context,
    tx: Transaction,
    platform: str,
    rows: Sequence[Matched],
    skips: Mapping[str, tuple[RemoteSkip, ...]],
) -> int:
    """Store what was left open in submissions that are stored; return how many questions are new."""
    stored = tx.work.submission_workers(platform, [each.remote.submission_id for each in rows])
    by_round: dict[int, list[tuple[str, ...]]] = defaultdict(list)
    for each in rows:
        asked = {(item.item, item.aspect) for item in each.hit.items}
        name = each.remote.submission_id
        for skip in skips.get(each.answers_id, ()):
            if (skip.item, skip.aspect) in asked:
                row = (name, platform, skip.item, skip.aspect, stored[name], skip.kind, skip.reason, skip.note)
                by_round[int(each.hit.round or 0)].append(row)
    return sum(
        tx.work.add_missing(context.campaign_id, number, pd.DataFrame(some, columns=_COLUMNS))
        for number, some in by_round.items()
    )


def tell_standing(context: Context, platform: Platform) -> None:
    """Tell the workplace how many answers to known questions each of its workers had right; its studies may show it."""
    if not isinstance(platform, KeepsPools):
        return
    cid = context.campaign_id
    with context.store.read() as tx:
        answers = tx.work.answers(cid)
        # Answers under another guideline, or by who was shown the machine's label, prove nothing on gold.
        mine, keys = gold_rows(context, tx, answers[answers["is_gold"].astype(bool)])
        raw = {name: each for each, name in tx.workers.known(platform.name).items()}
        scope = str(tx.campaigns.get(context.name).settings.get("uid", ""))
    mine = mine[mine["platform"] == platform.name]
    if mine.empty:
        return
    met = mine.merge(keys.rename(columns={"item": "task", "label": "known"}), on="task")
    counts: dict[str, tuple[int, int]] = {}
    for worker, rows in (met["label"] == met["known"]).groupby(met["worker"].astype(str)):
        if worker in raw:
            counts[raw[str(worker)]] = (int(rows.sum()), len(rows))
    platform.tell_standing(scope, counts)
