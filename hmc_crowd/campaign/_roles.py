"""What were labels used for? What fits a model or chooses a setting does not certify, and what certifies does neither.

The ledger is in the database and outlives processes and rounds. Labels that are drawn to certify are spoken for from
the draw on: a calibration made from them while answers come in would spoil the certificate that they were paid for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from hmc_crowd.errors import StateError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import Transaction

__all__ = ["gold_apart", "require_fresh_audit", "use_labels"]

_NAMED = 3


def use_labels(
    context: Context, tx: Transaction, aspect: str, role: str, items: Iterable[str], *, purpose: str
) -> None:
    """Note that labels fit, choose or certify; refused where they have the opposite use, or are drawn to certify.

    What fits is held by group: turns of one dialogue are alike, so a calibration that has learnt from one of them is no
    stranger to the others. `require_fresh_audit` sees to the other direction before anybody is asked.
    """
    names = list(items)
    if role != "certify":
        certifies = _drawn(context, tx, aspect)
        _refuse_drawn(sorted(certifies & set(names)), role, purpose)
    if role == "fit":
        used = tx.roles.read(context.campaign_id, aspect)
        certifies |= set(used.loc[used["role"] == "certify", "item"])
        groups = _groups(context, tx)
        theirs = {groups.get(each, each) for each in certifies}
        alike = sorted(each for each in names if groups.get(each, each) in theirs)
        if alike:
            raise StateError(
                f"{_shown(alike)} stand in one group (dialogue) with items that certify or are drawn to certify, so "
                f"they cannot {role} ({purpose}): {role} on groups that have no part in the audit"
            )
    tx.roles.enter(context.campaign_id, aspect, role, names, purpose=purpose)


def _refuse_drawn(drawn: list[str], role: str, purpose: str) -> None:
    if drawn:
        raise StateError(
            f"labels of {_shown(drawn)} are drawn to certify, so they cannot {role} ({purpose}): {role} on items "
            "outside the audit"
        )


def require_fresh_audit(context: Context, tx: Transaction, aspect: str, audited: pd.Series[str]) -> None:
    """Refuse a plan whose audit drew items with known labels, or from groups that the calibration in use has learnt.

    That is before anybody is asked or paid.
    """
    if audited.empty:
        return
    used = tx.roles.read(context.campaign_id, aspect)
    learnt = used[used["role"] != "certify"].drop_duplicates("item")
    known = audited[audited.isin(learnt["item"])].tolist()
    if known:
        purpose = str(learnt.loc[learnt["item"] == known[0], "purpose"].iloc[0])
        raise StateError(
            f"labels of {_shown(known)} were used for {purpose}, so they cannot certify; add_gold() them, which takes "
            "them out of the batch: their labels are known"
        )
    newest = tx.models.newest(context.campaign_id, f"confidence:{aspect}")
    if newest is None:
        return
    purpose = f"calibration {newest.version}"
    fitted = used[(used["role"] == "fit") & (used["purpose"] == purpose)]["item"]
    if fitted.empty:
        return
    groups = _groups(context, tx)
    theirs = {groups.get(each, each) for each in fitted}
    alike = [each for each in audited if groups.get(each, each) in theirs]
    if alike:
        raise StateError(
            f"{_shown(alike)} stand in one group (dialogue) with labels that were used for {purpose}, so they cannot "
            "certify; calibrate() again, which leaves such groups out, or add_gold() the whole groups"
        )


def gold_apart(context: Context, tx: Transaction, aspect: str, gold: pd.Series[str]) -> pd.Series[bool]:
    """Say of each gold item whether all of its group (dialogue) is gold: nothing of it is left that might certify."""
    first = tx.campaigns.aspects(context.campaign_id)[0].name
    if aspect != first:
        return pd.Series(True, index=gold.index, dtype=bool)
    groups = _groups(context, tx)
    known = set(tx.frames.read(context.campaign_id, "gold", aspect=aspect, columns=["item"])["item"])
    mixed = {group for item, group in groups.items() if item not in known}
    return pd.Series([groups.get(each, each) not in mixed for each in gold], index=gold.index, dtype=bool)


def _groups(context: Context, tx: Transaction) -> dict[str, str]:
    """Return the group (dialogue) of each item."""
    items = tx.frames.read(context.campaign_id, "items", columns=["item", "group"])
    return dict(zip(items["item"].astype(str), items["group"].astype(str), strict=True))


def _drawn(context: Context, tx: Transaction, aspect: str) -> set[str]:
    """Return what was drawn to certify and may not have been certified with yet."""
    found: set[str] = set()
    plan = tx.plans.latest(context.campaign_id)
    if plan is not None and tx.campaigns.aspects(context.campaign_id)[0].name == aspect:
        rows = tx.plans.read(plan.id, people_only=True, columns=["item", "destination"])
        found.update(rows.loc[rows["destination"].astype(str) == "audit", "item"])
    drawn = tx.expert_audits.newest(context.campaign_id, aspect)
    if drawn is not None:
        found.update(tx.expert_audits.items(context.campaign_id, aspect, drawn.number)["item"])
    return found


def _shown(items: list[str]) -> str:
    return ", ".join(map(repr, items[:_NAMED])) + (" ..." if len(items) > _NAMED else "")
