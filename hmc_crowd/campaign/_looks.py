"""Whose word holds after several experts have spoken, and who must look next?

Nothing of it is stored: it follows from the judgements, the tiers of who gave them, the appeals and the settings, so
that it cannot disagree with them. An expert's word is what he decided, until then his blind label; where anybody has
decided, labels that were only begun wait. While experts differ the earliest word of the highest tier holds; while an
appeal is open, what is appealed against.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.campaign._gate_data import known_of
from hmc_crowd.campaign._guideline import Versions
from hmc_crowd.campaign._tiers import policy_of, tiers_in
from hmc_crowd.quality import escalate, settle_appeal

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.campaign._tiers import ReviewPolicy
    from hmc_crowd.store import AppealRecord, Transaction

__all__ = ["OPEN", "current_judgements", "labels_before", "looks", "own_words", "text_or_none"]

OPEN = ("second_look", "escalate", "second_opinion", "appeal", "appeal_third")
"""States in which another expert must look."""
_COLUMNS = [
    "item",
    "state",
    "label",
    "blind_label",
    "to_tier",
    "evidence",
    "n",
    "by_expert",
    "judges",
    "since",
    "appeal",
]


def current_judgements(context: Context, tx: Transaction, aspect: str) -> pd.DataFrame:
    """Return the judgements that were made under the guideline in force."""
    versions = Versions(context, tx)
    said = tx.adjudications.read(context.campaign_id, aspect=aspect)
    holds = [versions.holds(aspect, each) for each in said["guideline_version"]]
    return said[np.array(holds, dtype=bool)].reset_index(drop=True)


def own_words(
    context: Context,
    tx: Transaction,
    aspect: str,
    *,
    before: datetime | None = None,
    items: Iterable[str] | None = None,
) -> pd.DataFrame:
    """Return each expert's word on each item: ``item, expert, tier, label, blind_label, is_final, at``, in time.

    With ``before`` as it stood at that moment.
    """
    said = current_judgements(context, tx, aspect)
    if items is not None:
        said = said[said["item"].isin(set(items))]
    if before is not None:
        said = said[said["blind_at"] < before]
        said = said.assign(final_label=said["final_label"].where(said["final_at"] < before))
    tier = tiers_in(context, tx, said["expert"].unique().tolist())
    return pd.DataFrame(
        {
            "item": said["item"],
            "expert": said["expert"],
            "tier": said["tier"].fillna(said["expert"].map(tier)).astype(np.int64),
            "label": said["final_label"].fillna(said["blind_label"]),
            "blind_label": said["blind_label"],
            "is_final": said["final_label"].notna(),
            "at": said["blind_at"],
        }
    ).reset_index(drop=True)


def looks(
    context: Context,
    tx: Transaction,
    aspect: str,
    *,
    before: datetime | None = None,
    items: Iterable[str] | None = None,
) -> pd.DataFrame:
    """Return how each item stands that an expert has judged, or that somebody has appealed about.

    Returns
    -------
    pandas.DataFrame
        ``item, state, label, blind_label, to_tier, evidence, n, by_expert, judges, since, appeal``. ``state`` is one of
        `OPEN`, ``begun``, ``decided`` (one expert), ``agreed``, ``settled``, ``upheld``, ``overturned``, ``person``
        (a person settled an appeal) or ``review`` (a person must). ``label`` holds now, ``blind_label`` would if blind
        labels alone counted; ``by_expert`` is False where it is still the crowd's or the machine's. ``judges`` may not
        look again.
    """
    chosen = None if items is None else list(items)
    policy = policy_of(context.settings_in(tx))
    words = own_words(context, tx, aspect, before=before, items=chosen)
    rows = {row["item"]: row for row in _of_words(context, tx, aspect, words, policy)}
    by_item = {str(item): mine for item, mine in words.groupby("item")}
    versions = Versions(context, tx)
    for appeal in _appeals(context, tx, aspect, before):
        if chosen is None or appeal.item in chosen:
            row = _with_appeal(rows.get(appeal.item), appeal, by_item.get(appeal.item), before)
            # What experts said under another guideline holds no longer, though the appeal against it goes on.
            row["by_expert"] &= bool(appeal.outcome) or versions.holds(aspect, appeal.guideline_version)
            rows[appeal.item] = row
    return pd.DataFrame(list(rows.values()), columns=_COLUMNS).astype({"label": object, "blind_label": object})


def labels_before(context: Context, tx: Transaction, aspect: str, since: datetime) -> dict[str, str | None]:
    """Return the labels of before, by item, where experts' words or appeals have changed them since a moment."""
    said = current_judgements(context, tx, aspect)
    # What an expert was shown is what stood before anybody had judged.
    shown = said.sort_values("blind_at", kind="stable").drop_duplicates("item").set_index("item")
    late = (said["blind_at"] >= since) | (said["final_at"] >= since)
    closed = [each.item for each in _appeals(context, tx, aspect, None) if each.closed_at and each.closed_at >= since]
    touched = sorted({*said.loc[late, "item"], *closed})
    was = shown["crowd_label"].fillna(shown["machine_label"]).reindex(touched)
    stood = looks(context, tx, aspect, before=since, items=touched)
    held = stood[stood["by_expert"].astype(bool)].set_index("item")["label"].to_dict()
    return {item: text_or_none(held.get(item, label)) for item, label in zip(touched, was, strict=True)}


def _of_words(
    context: Context, tx: Transaction, aspect: str, words: pd.DataFrame, policy: ReviewPolicy
) -> list[dict[str, Any]]:
    """Return how items stand by experts' words alone."""
    if words.empty:
        return []
    is_done = words.groupby("item")["is_final"].transform("any")
    counted = words[words["is_final"] | ~is_done]
    found = _in_force(counted, "label", policy.top)
    is_blind = (counted["label"] == counted["blind_label"]).all()
    found["blind_label"] = found["label"] if is_blind else _in_force(counted, "blind_label", policy.top)["label"]
    groups = counted.groupby("item", sort=True)
    found["n"], found["tier"] = groups.size().to_numpy(), groups["tier"].max().to_numpy()
    found["since"] = groups["at"].max().to_numpy(dtype=object)
    # Who has begun may go on: his label was blind.
    final = words[words["is_final"]]
    done = {str(item): tuple(rows["expert"]) for item, rows in final.groupby("item")}
    found["judges"] = [done.get(item, ()) for item in found["item"]]
    again = _second_looks(context, tx, aspect, found[(found["n"] == 1) & found["item"].isin(list(done))], policy)
    rows = found.assign(by_expert=True, appeal=0).to_dict("records")
    return [_named({str(name): value for name, value in row.items()}, again) for row in rows]


def _named(row: dict[str, Any], again: set[str]) -> dict[str, Any]:
    """Return a row with the state that one word alone has."""
    if not row["judges"]:
        row |= {"state": "begun", "to_tier": 0}
    elif row["item"] in again:
        row |= {"state": "second_look", "to_tier": row["tier"]}
    elif row["n"] == 1:
        row |= {"state": "decided", "to_tier": 0}
    return {name: row[name] for name in _COLUMNS}


def _in_force(counted: pd.DataFrame, column: str, top: int) -> pd.DataFrame:
    """Return `escalate`'s table, by item, with the label that holds meanwhile in the place of none."""
    said = counted[["item", "tier", "expert"]].assign(label=counted[column])
    is_single = ~said["item"].duplicated(keep=False)
    one, several = said[is_single], said[~is_single]
    words = [f"1 of tier {tier} said {label}" for tier, label in zip(one["tier"], one["label"], strict=True)]
    single = pd.DataFrame({"item": one["item"], "state": "agreed", "label": one["label"], "to_tier": 0})
    parts = [single.assign(evidence=words)]
    if len(several):
        found = escalate(several, top=top)
        order = counted[~is_single].sort_values(["item", "tier", "at"], ascending=[True, False, True], kind="stable")
        first = pd.Series(order.drop_duplicates("item")[column].to_numpy(), index=found.index)
        parts.append(found.assign(label=found["label"].where(found["label"].notna(), first)))
    filled = [each for each in parts if len(each)]
    return pd.concat(filled, ignore_index=True).sort_values("item", ignore_index=True)


def _second_looks(
    context: Context, tx: Transaction, aspect: str, single: pd.DataFrame, policy: ReviewPolicy
) -> set[str]:
    """Return which items chance has drawn for a second look; by a secret key, so that nobody can foresee it."""
    if not policy.second_look or single.empty:
        return set()
    risk: dict[str, Any] = {}
    if policy.by_risk:
        known = known_of(context, tx, single["item"].tolist(), None)
        # A risk that nobody knows counts as high, as at every gate.
        told = known["risk"].where(known["risk"].notna(), "high") if "risk" in known else ["high"] * len(known)
        risk = dict(zip(known["item"], told, strict=True))
    drawn = set()
    for item, tier in zip(single["item"], single["tier"], strict=True):
        mark = hmac.new(context.worker_key, f"second look|{aspect}|{item}".encode(), hashlib.sha256).digest()
        if int.from_bytes(mark[:7], "big") / 2**56 < policy.share(int(tier), risk.get(item)):
            drawn.add(str(item))
    return drawn


def _appeals(context: Context, tx: Transaction, aspect: str, before: datetime | None) -> list[AppealRecord]:
    """Return the newest appeal of each item, as it was known at a moment.

    Under the guideline in force; one that is still open outlives its guideline, since nobody has answered it yet.
    """
    versions = Versions(context, tx)
    every = [
        each
        for each in tx.reviews.appeals(context.campaign_id, aspect=aspect)
        if versions.holds(aspect, each.guideline_version) or each.outcome is None
    ]
    return list({each.item: each for each in every if before is None or each.opened_at < before}.values())


def _with_appeal(
    row: dict[str, Any] | None, appeal: AppealRecord, words: pd.DataFrame | None, before: datetime | None
) -> dict[str, Any]:
    """Return how an item stands with its newest appeal."""
    said: list[dict[Any, Any]] = []
    since = appeal.opened_at
    if words is not None:
        said = words[words["is_final"] & (words["at"] >= appeal.opened_at)].to_dict("records")
        since = max(since, words["at"].max())
    blind = [each["blind_label"] for each in said if each["expert"] not in appeal.judges][:2]
    state, label = settle_appeal(appeal.first_label, *(blind or [None]))
    state = {"open": "appeal", "third_needed": "appeal_third"}.get(state, state)
    if appeal.outcome == "decided" and (before is None or (appeal.closed_at and appeal.closed_at < before)):
        state, label = "person", appeal.label
    is_over = state in {"upheld", "overturned", "person"}
    by_expert = bool(appeal.judges) or is_over
    held = label if is_over else appeal.first_label
    was_blind = appeal.first_label if row is None else row["blind_label"]
    done = () if row is None else row["judges"]
    who = {appeal.appellant or "", *appeal.judges, *done} - {""}
    words_said = "nobody has judged it again" if not blind else "judged again: " + ", ".join(map(str, blind))
    return {
        "item": appeal.item,
        "state": state,
        "label": held,
        "blind_label": held if state in {"upheld", "overturned"} else was_blind,
        "to_tier": appeal.tier if state in OPEN else 0,
        "evidence": f"appeal {appeal.number} against {appeal.first_label}; {words_said}",
        "n": 0 if row is None else row["n"],
        "by_expert": by_expert,
        "judges": tuple(sorted(who)),
        "since": since,
        "appeal": appeal.number,
    }


def text_or_none(value: object) -> str | None:
    """Return a cell of a table of labels, None where it is missing."""
    return value if isinstance(value, str) else None
