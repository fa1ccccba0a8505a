"""What does an expert say where the crowd is in doubt? First blind, then knowing what crowd and machine had said.

The blind label is written down before anything is revealed, with its time, and is never changed: it may certify. What
the expert says after the reveal is the item's label; where it differs from the blind one it carries the evidence
``expert_informed``, which certifies nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from hmc_crowd.campaign._aspects import choice_of
from hmc_crowd.campaign._cases import cases, drawn_items, require_mine
from hmc_crowd.campaign._data import known_labels, require_label
from hmc_crowd.campaign._follow import adjudicated, expert_evidence, keep_outcome, save_in_force
from hmc_crowd.campaign._guideline import Versions
from hmc_crowd.campaign._looks import current_judgements, looks, text_or_none
from hmc_crowd.campaign._tiers import tiers_in
from hmc_crowd.errors import InputError, StateError

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import AspectRecord, Transaction

__all__ = [
    "Adjudicated",
    "Case",
    "adjudicated",
    "cases",
    "confusion",
    "current_judgements",
    "decide",
    "judge",
    "open_case",
    "plain_case",
]


@dataclass(frozen=True)
class Case:
    """One item before an expert.

    ``blind_label`` is None until he has judged; before that ``crowd_label, machine_label`` and ``votes`` (each label
    with how many people gave it) are empty whatever is known, so that nobody can look ahead.
    """

    item: str
    aspect: str
    kind: str
    question: str
    guideline: str
    text: str
    context: tuple[str, ...]
    options: tuple[str, ...]
    labels: tuple[str, ...]
    is_sensitive: bool = False
    blind_label: str | None = None
    crowd_label: str | None = None
    machine_label: str | None = None
    votes: tuple[tuple[str, int], ...] = ()
    final_label: str | None = None


@dataclass(frozen=True)
class Adjudicated:
    """What an expert said in the end, and whether the reveal changed it."""

    item: str
    aspect: str
    label: str
    blind_label: str
    evidence: str

    def __str__(self) -> str:
        how = "kept" if self.label == self.blind_label else f"changed from {self.blind_label!r}"
        return f"item {self.item}: {self.label!r}, {how} after the reveal ({self.evidence})"


def open_case(context: Context, item: str, expert: str, *, aspect: str | None) -> Case:
    """Return an item as this expert may see it now."""
    record = choice_of(context, aspect)
    with context.store.read() as tx:
        shown = plain_case(context, tx, record, item)
        said = current_judgements(context, tx, record.name)
        mine = said[(said["item"] == item) & (said["expert"] == expert)]
        if mine.empty:
            require_mine(context, tx, record, item, expert)
            return shown
        known = {name: text_or_none(mine[name].iloc[0]) for name in _REVEALED}
        return replace(shown, votes=_votes(context, tx, item, record.name), **known)  # type: ignore[arg-type]


def plain_case(context: Context, tx: Transaction, record: AspectRecord, item: str) -> Case:
    """Return an item with nothing that anybody has said of it."""
    columns = ["item", "group", "position", "text", "sensitive", "response_a", "response_b"]
    found = tx.frames.read(context.campaign_id, "items", columns=columns, items=[item])
    if found.empty:
        raise InputError(f"item is {item!r}; campaign {context.name!r} has no such item")
    row = found.iloc[0]
    # Workers have both responses before them whatever they are asked of the item, so the expert has, too.
    is_pair = any(each.kind == "pair" for each in tx.campaigns.aspects(context.campaign_id))
    options = tuple(str(row[name]) for name in ("response_a", "response_b") if isinstance(row[name], str))
    return Case(
        item,
        record.name,
        record.kind,
        record.question,
        record.guideline,
        str(row["text"]),
        _turns_before(context, tx, str(row["group"]), int(row["position"]), item),
        options if is_pair else (),
        tuple(known_labels(context, tx, record)),
        bool(row["sensitive"]),
    )


_REVEALED = ("blind_label", "crowd_label", "machine_label", "final_label")


def judge(context: Context, item: str, label: str, expert: str, *, aspect: str | None) -> Case:
    """Keep an expert's blind label and return the case with everything revealed; the first label counts."""
    record = choice_of(context, aspect)
    with context.store.begin() as tx:
        tx.reviews.one_at_a_time(context.campaign_id)
        require_label(context, tx, record, label)
        crowd = tx.labels.read(context.campaign_id, aspect=record.name, items=[item])
        if crowd.empty and not _is_asked(context, tx, record.name, item):
            raise StateError(f"item {item!r} has no label of people yet; aggregate() first, then experts decide")
        said = current_judgements(context, tx, record.name)
        # The first label counts; the case is read when this transaction has given its connection back.
        if said[(said["item"] == item) & (said["expert"] == expert)].empty:
            require_mine(context, tx, record, item, expert)
            machine = tx.frames.read(context.campaign_id, "predictions", aspect=record.name, items=[item])
            votes = _votes(context, tx, item, record.name)
            is_crowds = len(crowd) > 0 and crowd["source"].iloc[0] == "crowd"
            new = tx.adjudications.judge(
                context.campaign_id,
                aspect=record.name,
                item=item,
                expert=expert,
                label=label,
                guideline_version=record.guideline_version,
                at=context.clock.now(),
                crowd_label=str(crowd["label"].iloc[0]) if is_crowds else votes[0][0] if votes else None,
                machine_label=str(machine["label"].iloc[0]) if len(machine) else None,
                tier=tiers_in(context, tx, [expert])[expert],
            )
            if new:
                save_in_force(context, tx, record.name, item)
                context.log(tx, "judged blind", item=item, aspect=record.name, expert=expert, label=label)
    return open_case(context, item, expert, aspect=record.name)


def decide(context: Context, item: str, label: str, expert: str, *, aspect: str | None) -> Adjudicated:
    """Keep what an expert says after the reveal; unless experts differ it becomes the item's label."""
    record = choice_of(context, aspect)
    with context.store.begin() as tx:
        tx.reviews.one_at_a_time(context.campaign_id)
        require_label(context, tx, record, label)
        said = current_judgements(context, tx, record.name)
        mine = said[(said["item"] == item) & (said["expert"] == expert)]
        if mine.empty:
            raise StateError(f"item {item!r} was not judged blind yet; that comes first")
        blind = str(mine["blind_label"].iloc[0])
        evidence = expert_evidence(label, blind)
        now = context.clock.now()
        tx.adjudications.decide(
            context.campaign_id,
            aspect=record.name,
            item=item,
            expert=expert,
            label=label,
            at=now,
            guideline_version=str(mine["guideline_version"].iloc[0]),
        )
        stand = save_in_force(context, tx, record.name, item)
        keep_outcome(context, tx, record, stand, expert=expert, label=label, evidence=evidence)
        context.log(tx, "adjudicated", item=item, aspect=record.name, expert=expert, label=label, evidence=evidence)
    return Adjudicated(item, record.name, label, blind, evidence)


def confusion(context: Context, *, aspect: str | None) -> pd.DataFrame:
    """Count blind labels of experts (rows) against the crowd's (columns), in the order of the labels."""
    record = choice_of(context, aspect)
    with context.store.read() as tx:
        said = current_judgements(context, tx, record.name)
        labels = known_labels(context, tx, record)
    said = said[said["crowd_label"].notna()]
    order = list(dict.fromkeys([*labels, *said["blind_label"], *said["crowd_label"]]))
    table = pd.crosstab(said["blind_label"], said["crowd_label"])
    table = table.reindex(index=order, columns=order, fill_value=0)
    return table.rename_axis(index="expert", columns="crowd").astype("int64")


def _is_asked(context: Context, tx: Transaction, aspect: str, item: str) -> bool:
    """Say whether an expert is asked about an item that people have not labelled: by an audit, or an appeal."""
    return item in set(drawn_items(context, tx, aspect)) or len(looks(context, tx, aspect, items=[item])) > 0


def _votes(context: Context, tx: Transaction, item: str, aspect: str) -> tuple[tuple[str, int], ...]:
    answers = tx.work.answers(context.campaign_id, aspect=aspect, include_excluded=False, items=[item])
    counted = Versions(context, tx).counting(answers)["label"].astype(str).value_counts()
    return tuple((str(label), int(count)) for label, count in counted.items())


def _turns_before(context: Context, tx: Transaction, group: str, position: int, item: str) -> tuple[str, ...]:
    every = tx.frames.read(context.campaign_id, "items", columns=["item", "group", "position"])
    mine = every[(every["group"] == group) & (every["position"] < position) & (every["item"] != item)]
    if mine.empty:
        return ()
    names = mine.sort_values("position", kind="stable")["item"].tolist()
    texts = tx.frames.read(context.campaign_id, "items", columns=["item", "text"], items=names).set_index("item")
    return tuple(str(texts.loc[name, "text"]) for name in names)
