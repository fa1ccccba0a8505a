"""How large, how spread and how good are the pools? The figures that targets of the pools are about.

People are counted as they are known here: who has answered, whom a pool's workplace says it has, who holds a key.

Source: requirement D3 (5,000 workers of 20 countries, a response within 2 s, 50 experts at 15 s and 95 %).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from hmc_crowd.campaign._aspects import CHOICES
from hmc_crowd.campaign._looks import own_words
from hmc_crowd.campaign._tier_figures import known_labels_of
from hmc_crowd.store import DOOR

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import PoolRecord, Transaction

__all__ = ["POOL_FIGURES", "pool_figures"]

POOL_FIGURES = ("workers", "countries", "response_s", "experts", "expert_s", "expert_accuracy")
_COUNTRIES = ("country_of_residence", "country")
_LEAST_JUDGED = 5


def pool_figures(context: Context, tx: Transaction, wanted: Iterable[str]) -> dict[str, float | None]:
    """Return those of `POOL_FIGURES` that are asked for; None where nobody knows."""
    cid = context.campaign_id
    found: dict[str, float | None] = {}
    asked = set(wanted) & set(POOL_FIGURES)
    pools = tx.pools.all(cid) if asked & {"workers", "experts", "expert_s"} else []
    answers = tx.work.answers(cid) if asked & {"workers", "expert_s"} else None
    if answers is not None:
        by_expert = answers["submission_id"].isin(_of_experts(tx, cid, pools))
        found["workers"] = float(max(answers.loc[~by_expert, "worker"].nunique(), _members(pools, experts=False)))
        seconds = answers.loc[by_expert, "seconds"].dropna()
        found["expert_s"] = float(seconds.mean()) if len(seconds) >= _LEAST_JUDGED else None
    if "countries" in asked:
        found["countries"] = _countries(tx, cid)
    if "response_s" in asked:
        found["response_s"] = tx.uptime.response_s()
    if "experts" in asked:
        keys = sum(each.role == "expert" and each.revoked_at is None for each in tx.keys.all())
        found["experts"] = float(max(keys, _members(pools, experts=True)))
    if "expert_accuracy" in asked:
        found["expert_accuracy"] = _accuracy(context, tx)
    return {name: found[name] for name in asked}


def _of_experts(tx: Transaction, campaign: int, pools: Iterable[PoolRecord]) -> set[str]:
    """Return the submissions of experts: by the door, or of a HIT that was for one of their pools."""
    theirs = {each.name for each in pools if each.kind.startswith("tier")}
    hits = {
        each.key
        for each in tx.work.hits(campaign, with_items=False)
        if (each.terms or {}).get("pool") in theirs
    }  # fmt: skip
    work = tx.work.submissions(campaign)
    return set(work.loc[work["hit_key"].isin(hits | {f"{DOOR}-{campaign}-expert"}), "submission_id"])


def _members(pools: Iterable[PoolRecord], *, experts: bool) -> int:
    return sum(each.members for each in pools if each.kind != "auditor" and each.kind.startswith("tier") is experts)


def _countries(tx: Transaction, campaign: int) -> float | None:
    held = tx.traits.attributes(campaign)
    name = next((each for each in _COUNTRIES if each in held), None)
    return None if name is None else float(tx.traits.read(campaign, name)["value"].str.casefold().nunique())


def _accuracy(context: Context, tx: Transaction) -> float | None:
    """Return how often experts' blind labels are the known ones, over all questions; None of few judgements."""
    right = []
    for aspect in tx.campaigns.aspects(context.campaign_id):
        if aspect.kind in CHOICES:
            said = own_words(context, tx, aspect.name)
            met = said.merge(known_labels_of(context, tx, aspect.name), on="item", suffixes=("", "_known"))
            right.append(met["blind_label"].astype(str) == met["label_known"])
    every = pd.concat(right) if right else pd.Series(dtype=bool)
    return float(every.mean()) if len(every) >= _LEAST_JUDGED else None
