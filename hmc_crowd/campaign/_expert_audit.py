"""How many labels are RIGHT, people's own errors included? Experts judge, blind, what chance drew among both.

The draw is of labels as they stand: so many that the machine gave, so many that people gave. Experts meet the items in
their list like any others; nobody chooses them, and nothing tells them apart before the blind label is written down.
Only from such an audit may a campaign say accuracy (`hmc_crowd.routing.certify_accuracy`). The bound that takes
people's errors from gold is named optimistic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmc_crowd._base.ids import digest
from hmc_crowd.campaign._adjudicate import current_judgements
from hmc_crowd.campaign._aspects import CHOICES
from hmc_crowd.campaign._gold_rows import gold_rows
from hmc_crowd.campaign._labels import certify, final_labels
from hmc_crowd.campaign._looks import labels_before
from hmc_crowd.campaign._roles import use_labels
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.routing import OptimisticAccuracy, certify_accuracy, certify_batch, optimistic_accuracy
from hmc_crowd.store import ExpertAuditRecord

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import Transaction

__all__ = ["CampaignAccuracy", "ExpertDraw", "accuracy", "accuracy_in", "draw", "optimistic"]


@dataclass(frozen=True)
class ExpertDraw:
    """What was drawn for experts: how many labels of each kind, out of how many."""

    number: int
    people_drawn: int
    people: int
    machine_drawn: int
    machine: int

    def __str__(self) -> str:
        return (
            f"draw {self.number}: experts judge {self.people_drawn:,} of {self.people:,} labels that people gave and "
            f"{self.machine_drawn:,} of {self.machine:,} that the machine gave; which ones, nobody is told"
        )


@dataclass(frozen=True)
class CampaignAccuracy:
    """A lower bound on the share of right labels, from an audit by experts.

    ``experts`` labels were given by experts when the audit was drawn and are taken as right; the other counts are as
    in `hmc_crowd.routing.AccuracyCertificate`.
    """

    accuracy_at_least: float
    wrong_at_most: int
    level: float
    items: int
    experts: int
    people: int
    machine: int
    people_audited: int
    people_wrong: int
    people_pending: int
    machine_audited: int
    machine_wrong: int
    machine_pending: int
    draw: int
    method: str
    assumptions: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"at least {self.accuracy_at_least:.2%} of the {self.items:,} labels are right, with {self.level:.0%} "
            f"confidence (experts judged {self.people_audited - self.people_pending:,} of people's {self.people:,}, "
            f"{self.people_wrong:,} wrong, and {self.machine_audited - self.machine_pending:,} of the machine's "
            f"{self.machine:,}, {self.machine_wrong:,} wrong)"
        )


def draw(context: Context, n_machine: int, n_people: int, *, people_share: float) -> ExpertDraw:
    """Draw labels of the machine and of people for experts, and keep what they are."""
    if not 0 < people_share < 1:
        raise InputError(f"people_share is {people_share!r}; give a part of the allowed error above 0 and below 1")
    with context.store.begin() as tx:
        aspect = _aspect(context, tx)
        labels = _standing(context, tx, aspect)
        if (labels["stratum"] != "machine").sum() == 0:
            raise StateError("there are no people's labels yet; first aggregate()")
        earlier = tx.expert_audits.newest(context.campaign_id, aspect)
        hashed = _hash(labels)
        if earlier is not None and earlier.labels_hash == _hash(_standing(context, tx, aspect, since=earlier)):
            raise StateError(
                f"experts' audit {earlier.number} is of these very labels; have it judged and certify it, for drawing "
                "until a sample pleases certifies nothing"
            )
        number = 1 if earlier is None else earlier.number + 1
        rng = context.rng("expert audit", number)
        parts = [
            _sample(labels[labels["stratum"] == stratum], name, n, rng)
            for stratum, name, n in (("people", "n_people", n_people), ("machine", "n_machine", n_machine))
        ]
        sizes = labels["stratum"].value_counts()
        counts = {name: int(sizes.get(name, 0)) for name in ("people", "machine", "experts")}
        record = ExpertAuditRecord(
            number, **counts, people_share=people_share, labels_hash=hashed, drawn_at=context.clock.now()
        )
        tx.expert_audits.add(context.campaign_id, aspect, record, pd.concat(parts))
        # How many, not which: the chain of events is shown to others.
        context.log(tx, "experts' audit drawn", number=number, people=len(parts[0]), machine=len(parts[1]))
    return ExpertDraw(number, len(parts[0]), record.people, len(parts[1]), record.machine)


def _sample(rows: pd.DataFrame, name: str, n: int, rng: np.random.Generator) -> pd.DataFrame:
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or not 0 <= n <= len(rows):
        raise InputError(f"{name} is {n!r}; give a whole number from 0 to {len(rows):,}, which is how many there are")
    return rows.iloc[np.sort(rng.choice(len(rows), int(n), replace=False))]


def accuracy(context: Context, *, level: float) -> CampaignAccuracy:
    """Bound the share of right labels from the newest experts' audit."""
    with context.store.begin() as tx:
        aspect = _aspect(context, tx)
        drawn = tx.expert_audits.newest(context.campaign_id, aspect)
        if drawn is None:
            raise StateError("no experts' audit was drawn; first draw_expert_audit(), then experts judge")
        result, items = accuracy_in(context, tx, aspect, drawn, level)
        use_labels(context, tx, aspect, "certify", items, purpose=f"experts' audit {drawn.number}")
        context.log(tx, "accuracy certified", **{name: getattr(result, name) for name in _LOGGED})
    return result


_LOGGED = ("draw", "accuracy_at_least", "level", "people_wrong", "machine_wrong")


def accuracy_in(
    context: Context, tx: Transaction, aspect: str, drawn: ExpertAuditRecord, level: float
) -> tuple[CampaignAccuracy, pd.Series[str]]:
    """Return the bound of a draw and its items; nothing is written."""
    if _hash(_standing(context, tx, aspect, since=drawn)) != drawn.labels_hash:
        raise StateError(
            f"labels have changed since experts' audit {drawn.number} was drawn, and it says nothing of the new ones; "
            "call draw_expert_audit() again"
        )
    judged = _judged(context, tx, aspect, drawn.number)
    return _bound(drawn, judged, level), judged["item"]


def _judged(context: Context, tx: Transaction, aspect: str, number: int) -> pd.DataFrame:
    """Return the drawn items with the first blind label of an expert, whoever gave it: nobody picks the kinder one."""
    items = tx.expert_audits.items(context.campaign_id, aspect, number)
    said = current_judgements(context, tx, aspect).sort_values("blind_at", kind="stable").drop_duplicates("item")
    return items.merge(said[["item", "blind_label"]], on="item", how="left")


def _bound(drawn: ExpertAuditRecord, judged: pd.DataFrame, level: float) -> CampaignAccuracy:
    counts: dict[str, int] = {}
    for stratum in ("people", "machine"):
        rows = judged[judged["stratum"] == stratum]
        counts[f"{stratum}_audited"] = len(rows)
        counts[f"{stratum}_pending"] = int(rows["blind_label"].isna().sum())
        counts[f"{stratum}_wrong"] = int((rows["blind_label"].notna() & (rows["blind_label"] != rows["label"])).sum())
    bound = certify_accuracy(
        drawn.people + drawn.machine,
        drawn.people,
        human_audited=counts["people_audited"],
        human_wrong=counts["people_wrong"],
        human_unanswered=counts["people_pending"],
        machine_audited=counts["machine_audited"],
        machine_wrong=counts["machine_wrong"],
        machine_unanswered=counts["machine_pending"],
        level=level,
        human_share_of_error=drawn.people_share,
    )
    items = bound.items + drawn.experts
    more = (f"this is draw {drawn.number}; the earlier ones were of other labels",) if drawn.number > 1 else ()
    return CampaignAccuracy(
        accuracy_at_least=(items - bound.wrong_at_most) / items,
        wrong_at_most=bound.wrong_at_most,
        level=bound.level,
        items=items,
        experts=drawn.experts,
        people=drawn.people,
        machine=drawn.machine,
        draw=drawn.number,
        method=bound.method,
        assumptions=(*bound.assumptions, *more),
        **counts,
    )


def optimistic(context: Context, *, level: float) -> OptimisticAccuracy:
    """Bound accuracy with people's errors taken from gold: optimistic, since gold tends to be easier."""
    agreed = certify(context, level=1 - (1 - level) / 2)
    with context.store.read() as tx:
        aspect = _aspect(context, tx)
        answers = tx.work.answers(context.campaign_id, aspect=aspect, include_excluded=False)
        counted, keys = gold_rows(context, tx, answers, first_only=True, exact=True)
    met = counted[counted["task"].isin(keys["item"])]
    if met.empty:
        raise StateError("nobody has answered gold; publish with gold, or draw_expert_audit()")
    votes = met.groupby(["task", "label"], observed=True).size().rename("votes").reset_index()
    # A tie is no majority: it counts as wrong.
    best = votes[votes["votes"] == votes.groupby("task")["votes"].transform("max")].drop_duplicates("task", keep=False)
    right = best.merge(keys, left_on=["task", "label"], right_on=["item", "label"])
    n = met["task"].nunique()
    bound = certify_batch(
        agreed.items, agreed.human, agreed.audited, agreed.wrong, unanswered=agreed.audit_pending, level=agreed.level
    )
    return optimistic_accuracy(bound, n, n - len(right), level=level)


def _aspect(context: Context, tx: Transaction) -> str:
    first = tx.campaigns.aspects(context.campaign_id)[0]
    if first.kind not in CHOICES:
        raise InputError(f"aspect {first.name!r} is {first.kind}: experts decide among labels")
    return first.name


def _standing(
    context: Context, tx: Transaction, aspect: str, *, since: ExpertAuditRecord | None = None
) -> pd.DataFrame:
    """Return ``item, label, stratum`` of the batch: as it stands, or without what experts have said since a draw.

    A label that an expert has replaced is then as it was before him: judging does not change what was drawn.
    """
    labels = final_labels(context, tx, aspect)
    gold = tx.frames.read(context.campaign_id, "gold", aspect=aspect, columns=["item"])["item"]
    labels = labels[~labels["item"].isin(gold)][["item", "label", "source"]].reset_index(drop=True)
    if since is not None:
        # Judgements are few: those of drawn items are undone by the draw, the others by what stood before them.
        was = {item: label for item, label in labels_before(context, tx, aspect, since.drawn_at).items() if label}
        drawn = tx.expert_audits.items(context.campaign_id, aspect, since.number)
        was |= {item: label for item, label in zip(drawn["item"], drawn["label"], strict=True) if item in was}
        labels["label"] = [was.get(item, label) for item, label in zip(labels["item"], labels["label"], strict=True)]
    stratum = labels["source"].map({"machine": "machine", "expert": "experts"}).fillna("people")
    return labels.assign(stratum=stratum)[["item", "label", "stratum"]]


def _hash(labels: pd.DataFrame) -> str:
    ordered = labels.sort_values("item", kind="stable")
    return digest("\x1f".join(ordered["item"]), "\x1f".join(ordered["label"].astype(str)))
