"""By which rule do items go that come after the plan? The newest plan's own cut, frozen as a policy.

The rule is read back from the stored plan: people got the gains above the best one that they did not get, and of the
gains equal to it as many as the plan gave them. So a later item is decided as if it had been in the batch.
"""

from __future__ import annotations

import hmac
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.confidence import load_confidence
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.routing import Policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.routing import Decision
    from hmc_crowd.store import PlanRecord, Transaction

__all__ = ["LivePolicy", "live_policy"]

_FREE = ("gain", "no_gain", "beyond_cap", "audit_draw")


@dataclass(frozen=True)
class LivePolicy:
    """The newest plan's rule for later items of one aspect.

    Parameters
    ----------
    policy : Policy
        The rule; its audit probability is the share that the plan audited of what the machine kept.
    unit : {"share", "seconds"}
        Unit of the effort that it prices, as the plan did.
    calibrator : Calibrator, optional
        Reads the machine's confidences, where the plan read them calibrated.
    key : tuple
        Changes when the plan or the calibration does.
    """

    policy: Policy
    unit: str
    calibrator: Any
    key: tuple[int, int]

    def decide(self, items: Sequence[str], confidence: Sequence[float], effort: Sequence[float]) -> list[Decision]:
        """Decide about items by the machine's confidences as they came, and the effort in ``unit``."""
        raw = np.asarray(confidence, dtype=np.float64)
        # The calibrator would answer a number outside [0, 1] too.
        wrong = np.flatnonzero(~((raw >= 0.0) & (raw <= 1.0)))
        if len(wrong):
            raise InputError(f"confidence of item {items[int(wrong[0])]!r} is {raw[wrong[0]]}; give a share in [0, 1]")
        known = raw if self.calibrator is None else self.calibrator.transform(raw)
        if len(items) == 1:  # a single item has no order, which would settle a tie in a batch
            return [self.policy.decide(items[0], float(known[0]), effort[0])]
        found = self.policy.decide_batch(list(items), known, np.asarray(effort, dtype=np.float64))
        return [found[row] for row in range(len(found))]


def live_policy(context: Context, tx: Transaction, *, held: LivePolicy | None = None) -> LivePolicy:
    """Return the rule of the newest plan; ``held`` again where it still is that.

    Raises
    ------
    StateError
        There is no plan, or it follows no cut: it was shaped by a budget, or everything was asked before.
    """
    plan = tx.plans.latest(context.campaign_id)
    if plan is None:
        raise StateError(f"campaign {context.name!r} has no plan yet; first call plan()")
    aspect = tx.campaigns.aspects(context.campaign_id)[0].name
    made = plan.header["made_from"]
    # Only the plan's own note says which confidences it read (see `_confidence.calibration_note`).
    is_calibrated = any(note.startswith(f"confidences of {aspect!r}: calibrated") for note in plan.header["notes"])
    model = tx.models.latest(context.campaign_id, f"confidence:{aspect}") if is_calibrated else None
    key = (plan.id, 0 if model is None else model.version)
    if held is not None and held.key == key:
        return held
    if made["max_human_s"] is not None or made["max_money_minor"] is not None:
        raise StateError("the newest plan was shaped by a budget, so it has no rule for new items; plan without one")
    calibrator = None if model is None else load_confidence(model.blob)
    rows = _rows(tx, plan, aspect)
    return LivePolicy(_rule(context, tx, plan, rows), _unit(plan, rows), calibrator, key)


def _rows(tx: Transaction, plan: PlanRecord, aspect: str) -> pd.DataFrame:
    """Return the plan's rows of one aspect that it decided afresh."""
    rows = tx.plans.read(
        plan.id,
        columns=["aspect", "reason", "destination", "gain", "confidence", "effort_s", "inclusion_probability"],
    )
    rows = rows[(rows["aspect"].astype(str) == aspect) & rows["reason"].astype(str).isin(_FREE)]
    if rows.empty:
        raise StateError("the newest plan decided about nothing new, so it has no rule for new items; add items, plan")
    return rows


def _unit(plan: PlanRecord, rows: pd.DataFrame) -> str:
    """Say what the plan priced: the header keeps only a digest of the efforts, but each gain tells."""
    trade_off = float(plan.header["request_shown"]["trade_off"])
    if math.isinf(trade_off):
        priced = -rows["gain"].to_numpy()
    else:
        priced = (1.0 - rows["confidence"].to_numpy() - rows["gain"].to_numpy()) / (trade_off or 1.0)
    return "seconds" if trade_off and np.allclose(priced, rows["effort_s"].to_numpy(), rtol=1e-6) else "share"


def _rule(context: Context, tx: Transaction, plan: PlanRecord, rows: pd.DataFrame) -> Policy:
    """Read the cut and the audit's share back from the plan's rows."""
    gain = rows["gain"].to_numpy(dtype=np.float64)
    to_people = (rows["destination"].astype(str) == "people").to_numpy()
    kept = ~to_people
    threshold = max(0.0, float(gain[kept].max())) if kept.any() else 0.0
    at_border = gain == threshold
    border = int((at_border & to_people).sum())
    asked = plan.header["request_shown"]
    return Policy(
        trade_off=float(asked["trade_off"]),
        threshold=threshold,
        border_to_people=border,
        border_total=int(at_border.sum()) if border else 0,
        cap="at_most",
        max_human=asked["max_human"],
        human_confidence=1.0,
        machine_effort=0.0,
        audit_probability=float(rows["inclusion_probability"].to_numpy()[kept][0]) if kept.any() else 0.0,
        version=plan.content_hash[:16],
        # Whoever knows the database but not the key cannot foresee which items are audited.
        key=hmac.digest(context.worker_key, f"allocate|{context.settings_in(tx)['uid']}".encode(), "sha256"),
    )
