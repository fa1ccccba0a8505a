"""What follows from an expert's word? The label that holds, the decisions that say why, an appeal that is over.

Every word is a decision of its own; where it did not settle the item, or several words did, a second row says what they
came to, by which rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from hmc_crowd.campaign._looks import OPEN, looks
from hmc_crowd.campaign._tiers import policy_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import AspectRecord, Transaction

__all__ = [
    "adjudicated",
    "ask_again",
    "ask_no_more",
    "close_settled",
    "expert_evidence",
    "keep_outcome",
    "save_in_force",
]

_LABEL = ["item", "aspect", "label", "source", "confidence", "n_answers", "tied", "evidence", "posterior"]
_REASONS = {
    "escalate": "experts_differ",
    "agreed": "experts_agree",
    "settled": "tier_settles",
    "upheld": "appeal_upheld",
    "overturned": "appeal_overturned",
    "person": "appeal_decided",
    "review": "appeal_review",
}


def adjudicated(context: Context, tx: Transaction, aspect: str) -> pd.DataFrame:
    """Return what holds by experts' words: ``item, label, evidence, blind_label``."""
    stand = looks(context, tx, aspect)
    stand = stand[stand["by_expert"].astype(bool)]
    evidence = [expert_evidence(*each) for each in zip(stand["label"], stand["blind_label"], strict=True)]
    found = stand[["item", "label", "blind_label"]].assign(
        evidence=pd.Series(evidence, index=stand.index, dtype=object)
    )
    return found[["item", "label", "evidence", "blind_label"]].reset_index(drop=True)


def save_in_force(context: Context, tx: Transaction, aspect: str, item: str) -> pd.Series[Any]:
    """Make what holds by experts' words the item's label; return how it stands."""
    stand = looks(context, tx, aspect, items=[item]).iloc[0]
    if not stand["by_expert"]:
        return stand
    before = tx.labels.read(context.campaign_id, aspect=aspect, items=[item])
    answers = int(before["n_answers"].iloc[0]) if len(before) else 0
    evidence = expert_evidence(stand["label"], stand["blind_label"])
    row = (item, aspect, stand["label"], "expert", 1.0, answers, False, evidence, None)
    tx.labels.save(context.campaign_id, tx.campaigns.get(context.name).round, pd.DataFrame([row], columns=_LABEL))
    return stand


def keep_outcome(
    context: Context, tx: Transaction, record: AspectRecord, stand: Any, *, expert: str, label: str, evidence: str
) -> None:
    """Keep an expert's word among the decisions, and what it leads to; nobody has the item any more."""
    item = str(stand["item"])
    word = {
        "decided_by": expert,
        "decider": "person",
        "policy": "guideline",
        "policy_version": record.guideline_version,
        "decision": "decided",
        "reason_code": evidence,
        "evidence": "",
        "label": label,
    }
    tx.gates.release(context.campaign_id, record.name, [item])
    _add(context, tx, record.name, {item: word})
    if stand["state"] != "decided":
        _add(context, tx, record.name, {item: _outcome(context, tx, stand)})
    close_settled(context, tx, record.name, stand)


def ask_again(context: Context, tx: Transaction, aspect: str, stand: pd.DataFrame) -> None:
    """Keep among the decisions that items wait for another look, where the newest one does not say so."""
    if stand.empty:
        return
    last = _newest(context, tx, aspect)
    outcomes = {str(row["item"]): _outcome(context, tx, row) for row in stand.to_dict("records")}
    new = {
        item: each
        for item, each in outcomes.items()
        if last.get(item, ())[:2] != (each["decision"], each["reason_code"])
    }
    _add(context, tx, aspect, new)


def ask_no_more(context: Context, tx: Transaction, aspect: str, settled: pd.DataFrame) -> None:
    """Keep among the decisions that items are settled of which the newest one says that another look is asked for."""
    if settled.empty:
        return
    last = _newest(context, tx, aspect)
    asked = [item for item in settled["item"] if (last.get(item, ())[::2]) == ("expert", "tiers")]
    rows = settled[settled["item"].isin(asked)].to_dict("records")
    _add(context, tx, aspect, {str(row["item"]): _outcome(context, tx, row) for row in rows})
    tx.gates.release(context.campaign_id, aspect, asked)


def close_settled(context: Context, tx: Transaction, aspect: str, stand: Any) -> None:
    """Close the appeal that an item's words have settled."""
    if stand["state"] not in {"upheld", "overturned"}:
        return
    for appeal in tx.reviews.appeals(context.campaign_id, aspect=aspect):
        if (appeal.item, appeal.number, appeal.outcome) == (stand["item"], stand["appeal"], None):
            now = context.clock.now()
            tx.reviews.close_appeal(
                context.campaign_id, appeal, outcome=stand["state"], label=stand["label"], at=now, by=None
            )
            context.log(tx, "appeal settled", item=appeal.item, aspect=aspect, outcome=stand["state"])


def _outcome(context: Context, tx: Transaction, stand: Any) -> dict[str, Any]:
    """Return the decision that follows from how an item stands."""
    policy = policy_of(context.settings_in(tx))
    waits = stand["state"] in (*OPEN, "review")
    return {
        "decided_by": f"tiers {policy.version}",
        "decider": "gate",
        "policy": "tiers",
        "policy_version": policy.version,
        "decision": "expert" if waits else "decided",
        "reason_code": _REASONS.get(stand["state"], stand["state"]),
        "evidence": stand["evidence"],
        "label": None if waits else stand["label"],
    }


def _newest(context: Context, tx: Transaction, aspect: str) -> dict[str, tuple[str, str, str]]:
    """Return the decision in force of each item, its reason and its policy."""
    last = tx.gates.decisions(context.campaign_id, aspect=aspect, newest=True)
    told = zip(last["decision"], last["reason_code"], last["policy"], strict=True)
    return dict(zip(last["item"], told, strict=True))


def _add(context: Context, tx: Transaction, aspect: str, values: Mapping[str, dict[str, Any]]) -> None:
    """Keep decisions, by item."""
    now = context.clock.now()
    rows = [{"aspect": aspect, "item": item, "decided_at": now, **each} for item, each in values.items()]
    if rows:
        tx.gates.add(context.campaign_id, pd.DataFrame(rows).astype({"label": object}))


def expert_evidence(label: object, blind: object) -> str:
    """Return the evidence of an expert's label: led by nothing only where it is the blind one."""
    return "expert_blind" if label == blind else "expert_informed"
