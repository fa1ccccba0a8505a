"""What were labels used for? What fits a model or chooses a setting does not certify, and what certifies does neither.

The ledger is in the database and outlives processes and rounds. Labels that are drawn to certify are spoken for from
the draw on: a calibration made from them while answers come in would spoil the certificate that they were paid for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmc_crowd.errors import StateError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import Transaction

__all__ = ["require_fresh_audit", "use_labels"]

_NAMED = 3


def use_labels(
    context: Context, tx: Transaction, aspect: str, role: str, items: Iterable[str], *, purpose: str
) -> None:
    """Note that labels fit, choose or certify; refused where they have the opposite use, or are drawn to certify."""
    names = list(items)
    if role != "certify":
        drawn = sorted(_drawn(context, tx, aspect) & set(names))
        if drawn:
            raise StateError(
                f"labels of {_shown(drawn)} are drawn to certify, so they cannot {role} ({purpose}): {role} on items "
                "outside the audit"
            )
    tx.roles.enter(context.campaign_id, aspect, role, names, purpose=purpose)


def require_fresh_audit(context: Context, tx: Transaction, aspect: str, audited: pd.Series[str]) -> None:
    """Refuse a plan whose audit drew items with known labels, before anybody is asked or paid."""
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
