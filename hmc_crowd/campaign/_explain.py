"""Why did this item go where it went, who answered, and why is its label final?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hmc_crowd.campaign._labels import final_labels
from hmc_crowd.campaign._looks_told import looks_told
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import PlanRecord, Transaction

__all__ = ["WHY", "Explanation", "explain"]

WHY = {
    "gain": "its gain is among the best positive ones that the cap leaves room for",
    "no_gain": "people would gain nothing on it at this trade-off",
    "beyond_cap": "people would gain on it, but items with larger gains filled the cap or the budget",
    "audit_draw": "the machine keeps it; a random draw sends it to people to check the machine",
    "asked_before": "people were asked about it in an earlier round",
    "audited_before": "an earlier audit drew it, so people have judged it",
    "gold": "its label is known: it checks workers and is never planned",
}


@dataclass(frozen=True)
class Explanation:
    """One item's way through the campaign; ``answers`` holds one row for each person who answered (pseudonyms)."""

    item: str
    aspect: str
    text: str
    destination: str
    why: str
    gain: float | None
    rank: int | None
    items_planned: int | None
    confidence: float | None
    effort_s: float | None
    trade_off: float | None
    inclusion_probability: float | None
    prediction: str | None
    answers: pd.DataFrame
    label: str | None
    source: str | None
    label_confidence: float | None
    evidence: str | None
    tied: bool
    why_final: str
    plan_hash: str | None

    def __str__(self) -> str:
        lines = [f"{self.item} ({self.aspect}): {self.text[:200]!r}"]
        lines.append(f"went to {self.destination}: {self.why}")
        if self.gain is not None:
            price = (1 - (self.confidence or 0.0)) - self.gain
            lines.append(
                f"gain {self.gain:+.4f} = (1 - {self.confidence:.4f}) - {price:.4f}, the price of {self.effort_s:.1f} "
                f"s of one person at trade-off {self.trade_off:g}; rank {self.rank:,} of {self.items_planned:,}; "
                f"chance of being seen by people {self.inclusion_probability:.3g}"
            )
        if self.prediction is not None:
            lines.append(f"the machine says {self.prediction!r}")
        lines += [
            f"  {row.worker} said {row.label!r}"
            + (f", left out: {row.excluded}" if isinstance(row.excluded, str) else "")
            for row in self.answers.itertuples(index=False)
        ]
        lines.append(f"label {self.label!r} ({self.source}): {self.why_final}")
        return "\n".join(lines)


def explain(context: Context, item: str, *, aspect: str | None = None) -> Explanation:
    """Collect everything the store knows of one item, also that another expert is still to look."""
    name, first = context.aspect(aspect).name, context.aspects()[0].name
    with context.store.read() as tx:
        items = tx.frames.read(context.campaign_id, "items", columns=["item", "text"], items=[item])
        if items.empty:
            raise InputError(f"item is {item!r}; campaign {context.name!r} has no such item")
        plan = tx.plans.latest(context.campaign_id)
        row = _plan_row(tx, plan, item, name) or _routed(_plan_row(tx, plan, item, first))
        answers = tx.work.answers(context.campaign_id)
        answers = answers[(answers["task"] == item) & (answers["aspect"] == name)]
        # In the order of time; the store's own order goes by random ids.
        answers = answers.sort_values(["submitted", "worker"], ignore_index=True)
        prediction = tx.frames.read(context.campaign_id, "predictions", aspect=name, items=[item])
        is_gold = not tx.frames.read(context.campaign_id, "gold", aspect=name, items=[item]).empty
        labels = final_labels(context, tx, name)
        looked = looks_told(context, tx, name, item)
    label = labels[labels["item"] == item].to_dict("records")
    found = {str(key): value for key, value in label[0].items()} if label else {}
    return _explanation(item, name, items, plan, row, answers, prediction, is_gold, found, looked)


def _plan_row(tx: Transaction, plan: PlanRecord | None, item: str, aspect: str) -> dict[str, Any]:
    if plan is None:
        return {}
    rows = tx.plans.read(plan.id, items=[item])
    rows = rows[rows["aspect"].astype(str) == aspect]
    return dict(rows.iloc[0]) if len(rows) else {}


def _routed(row: dict[str, Any]) -> dict[str, Any]:
    """Return what the first aspect's row says of the others: who sees the item, and nothing of gains."""
    return {name: row[name] for name in ("destination", "reason") if name in row}


def _explanation(
    item: str,
    aspect: str,
    items: pd.DataFrame,
    plan: PlanRecord | None,
    row: dict[str, Any],
    answers: pd.DataFrame,
    prediction: pd.DataFrame,
    is_gold: bool,
    label: dict[str, Any],
    looked: tuple[str, bool],
) -> Explanation:
    reason = "gold" if is_gold else str(row.get("reason", ""))
    planned = "gain" in row and plan is not None
    return Explanation(
        item=item,
        aspect=aspect,
        text=str(items["text"].iloc[0]),
        destination="gold" if is_gold else str(row.get("destination", "not planned yet")),
        why=("" if planned or is_gold or not row else "the first question decides: ")
        + WHY.get(reason, "there is no plan yet"),
        gain=float(row["gain"]) if planned and row["gain"] == row["gain"] else None,
        rank=int(row["rank"]) if planned else None,
        items_planned=int(plan.header["counts"]["items"]) if planned and plan is not None else None,
        confidence=float(row["confidence"]) if planned else None,
        effort_s=float(row["effort_s"]) if planned else None,
        trade_off=float(plan.header["request_shown"]["trade_off"]) if planned and plan is not None else None,
        inclusion_probability=float(row["inclusion_probability"]) if planned else None,
        prediction=str(prediction["label"].iloc[0]) if len(prediction) else None,
        answers=answers,
        label=label.get("label"),
        source=label.get("source"),
        label_confidence=label.get("confidence"),
        evidence=label.get("evidence"),
        tied=bool(label.get("tied", False)),
        why_final=_with_looks(
            _why_final(label, answers, is_asked=row.get("destination") in {"people", "audit"}), looked
        ),
        plan_hash=plan.content_hash if plan is not None else None,
    )


def _with_looks(why: str, looked: tuple[str, bool]) -> str:
    """Return what experts' several looks came to, in the place of the plain reason or after it."""
    told, instead = looked
    return (told if instead else f"{why}; {told}") if told else why


def _why_final(label: dict[str, Any], answers: pd.DataFrame, *, is_asked: bool) -> str:
    if not label:
        return "there is no label yet"
    if label["source"] == "machine":
        waits = "the machine's, until people have answered" if is_asked else "the machine keeps it"
        return waits if answers.empty else "people's answers are not aggregated yet"
    if label["source"] == "gold":
        return "it is gold"
    if label["source"] == "expert":
        return f"an expert decided ({str(label['evidence']).replace('_', ', ')})"
    if label["confidence"] != label["confidence"]:
        return f"{int(label['n_answers'])} people answered; a number has an interval, no probability"
    state = "tied, one more answer is asked in the next round" if label["tied"] else "final"
    return f"{int(label['n_answers'])} people answered, probability {label['confidence']:.3f}; {state}"
