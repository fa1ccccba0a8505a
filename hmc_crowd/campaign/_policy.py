"""By which rule do items go that come after the plan? The newest plan's own cut, frozen as a policy.

The rule is read back from the stored plan: people got the gains above the best one that they did not get, and of the
gains equal to it as many as the plan gave them. So a later item is decided as if it had been in the batch.
"""

from __future__ import annotations

import hmac
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.confidence import load_confidence
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.routing import Policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

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
    price_per_s : float, default 0
        What a second of one person costs beside its effort, where the plan was shaped by a budget of time or money.
    trade_off : float, default 0
        The plan's price of effort, where there is such a price of seconds too; the rule then reads their sum.
    """

    policy: Policy
    unit: str
    calibrator: Any
    key: tuple[int, int]
    price_per_s: float = 0.0
    trade_off: float = 0.0

    def decide(
        self,
        items: Sequence[str],
        confidence: Sequence[float],
        effort: Sequence[float],
        *,
        seconds: Sequence[float | None] | None = None,
    ) -> list[Decision]:
        """Decide about items by the machine's confidences as they came, and the effort in ``unit``.

        ``seconds`` of one person are needed where the plan's budget gave them a price and ``unit`` is another.
        """
        raw = np.asarray(confidence, dtype=np.float64)
        # The calibrator would answer a number outside [0, 1] too.
        wrong = np.flatnonzero(~((raw >= 0.0) & (raw <= 1.0)))
        if len(wrong):
            raise InputError(f"confidence of item {items[int(wrong[0])]!r} is {raw[wrong[0]]}; give a share in [0, 1]")
        known = raw if self.calibrator is None else self.calibrator.transform(raw)
        effort = self._priced(items, effort, seconds)
        if len(items) == 1:  # a single item has no order, which would settle a tie in a batch
            return [self.policy.decide(items[0], float(known[0]), effort[0])]
        found = self.policy.decide_batch(list(items), known, np.asarray(effort, dtype=np.float64))
        return [found[row] for row in range(len(found))]

    def _priced(
        self, items: Sequence[str], effort: Sequence[float], seconds: Sequence[float | None] | None
    ) -> Sequence[float]:
        """Return what people's work costs in units of confidence, where a budget has its own price of a second."""
        if not self.price_per_s:
            return effort
        needed: Sequence[float | None] = effort if self.unit == "seconds" else seconds or [None] * len(items)
        found = []
        for item, each, time in zip(items, effort, needed, strict=True):
            if time is None or not (time >= 0 and each >= 0):
                raise InputError(
                    f"seconds of item {item!r} is {time}, its effort {each}; the newest plan keeps within a budget, "
                    "so give the seconds that one person needs, at least 0"
                )
            found.append(self.trade_off * each + self.price_per_s * time)
        return found


def live_policy(context: Context, tx: Transaction, *, held: LivePolicy | None = None) -> LivePolicy:
    """Return the rule of the newest plan; ``held`` again where it still is that.

    Raises
    ------
    StateError
        There is no plan, or it follows no cut: a budget and a cap shaped it, or everything was asked before.
    """
    plan = tx.plans.latest(context.campaign_id)
    if plan is None:
        raise StateError(f"campaign {context.name!r} has no plan yet; first call plan()")
    aspect = tx.campaigns.aspects(context.campaign_id)[0].name
    # Only the plan's own note says which confidences it read (see `_confidence.calibration_note`).
    is_calibrated = any(note.startswith(f"confidences of {aspect!r}: calibrated") for note in plan.header["notes"])
    model = tx.models.latest(context.campaign_id, f"confidence:{aspect}") if is_calibrated else None
    key = (plan.id, 0 if model is None else model.version)
    if held is not None and held.key == key:
        return held
    calibrator = None if model is None else load_confidence(model.blob)
    rows = _rows(tx, plan, aspect)
    rule, unit = _rule(context, tx, plan, rows), _unit(plan, rows)
    # Only the plan's own note says whether a budget shaped it (see `_plan._notes`).
    if not any(note.startswith("limited by ") for note in plan.header["notes"]):
        return LivePolicy(rule, unit, calibrator, key)
    price = budget_price(rows["gain"].to_numpy(), rows["effort_s"].to_numpy(), _to_people(rows))
    if price is None:
        raise StateError(
            "the newest plan was shaped by a budget and a cap at once, so it has no rule for new items; plan without "
            "max_human, or without the budget"
        )
    priced = replace(rule, trade_off=1.0, threshold=0.0, border_to_people=0, border_total=0)
    return LivePolicy(priced, unit, calibrator, key, price, rule.trade_off)


def budget_price(gain: NDArray[np.float64], seconds: NDArray[np.float64], to_people: NDArray[np.bool_]) -> float | None:
    """Return the price of a second at which ``gain > price * seconds`` repeats a plan best; None where it does not.

    Time and money are one budget here, for money is paid by the time. The plan filled up what was left of the budget
    past its own price, so a few items in a hundred may differ, and no more.

    Examples
    --------
    >>> budget_price(np.array([0.5, 0.4, 0.3]), np.array([10.0, 10.0, 30.0]), np.array([True, True, False]))
    0.025
    """
    some = gain > 0
    rate = np.divide(gain[some], seconds[some], out=np.full(int(some.sum()), np.inf), where=seconds[some] > 0)
    order = np.argsort(-rate, kind="stable")
    chosen = to_people[some][order]
    # Cut after n items: those before it that the machine keeps are wrong, and those after it that people get.
    wrong = np.concatenate([[0], np.cumsum(~chosen)]) + (chosen.sum() - np.concatenate([[0], np.cumsum(chosen)]))
    cut = int(np.argmin(wrong))
    if wrong[cut] > max(2, 0.02 * len(chosen)):
        return None
    if cut == 0:
        return None
    dearest, next_one = float(rate[order][cut - 1]), float(rate[order][cut]) if cut < len(order) else 0.0
    return next_one if math.isinf(dearest) else (dearest + next_one) / 2


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


def _to_people(rows: pd.DataFrame) -> NDArray[np.bool_]:
    return (rows["destination"].astype(str) == "people").to_numpy()


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
    to_people = _to_people(rows)
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
