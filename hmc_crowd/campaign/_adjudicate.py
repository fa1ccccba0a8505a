"""What does an expert say where the crowd is in doubt? First blind, then knowing what crowd and machine had said.

The blind label is written down before anything is revealed, with its time, and is never changed: it may certify. What
the expert says after the reveal is the item's label; where it differs from the blind one it carries the evidence
``expert_informed``, which certifies nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from hmc_crowd._base.ids import digest
from hmc_crowd.campaign._aspects import CHOICES
from hmc_crowd.campaign._data import known_labels
from hmc_crowd.campaign._guideline import Versions
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
]

_COLUMNS = ["item", "aspect", "label", "source", "confidence", "n_answers", "tied", "evidence", "posterior"]


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


def cases(context: Context, expert: str, *, aspect: str | None) -> pd.DataFrame:
    """Return what waits for an expert: ``item, tied, confidence, n_answers, is_begun``, the most doubtful first."""
    record = _choice(context, aspect)
    with context.store.read() as tx:
        labels = tx.labels.read(context.campaign_id, aspect=record.name)
        said = current_judgements(context, tx, record.name)
        sent = tx.gates.decisions(context.campaign_id, aspect=record.name, newest=True)
        given = tx.gates.assigned(context.campaign_id, aspect=record.name)
        drawn = _drawn(context, tx, record.name)
    drawn = drawn[~drawn.isin(said["item"])]
    mine = said[said["expert"] == expert]
    done = mine.loc[mine["final_label"].notna(), "item"]
    # What another expert has decided needs no second one.
    others = said.loc[said["final_label"].notna(), "item"]
    waiting = labels[~labels["item"].isin(done) & ~labels["item"].isin(others)]
    waiting = _of_expert(waiting, sent, given, expert, mine["item"])
    waiting = waiting.assign(
        is_begun=waiting["item"].isin(mine["item"]), tied=waiting["tied"].astype(bool), doubt=waiting["confidence"]
    )
    if len(drawn):
        return _mixed(waiting, drawn)
    # Begun first, then in the order in which they were given out, then ties, then the least sure.
    order = ["is_begun", "place", "tied", "doubt"]
    waiting = waiting.sort_values(order, ascending=[False, True, False, True], kind="stable")
    return waiting[["item", "tied", "confidence", "n_answers", "is_begun"]].reset_index(drop=True)


def _drawn(context: Context, tx: Transaction, aspect: str) -> pd.Series[str]:
    """Return the items of the newest experts' audit."""
    newest = tx.expert_audits.newest(context.campaign_id, aspect)
    if newest is None:
        return pd.Series([], dtype="str", name="item")
    return tx.expert_audits.items(context.campaign_id, aspect, newest.number)["item"]


def _mixed(waiting: pd.DataFrame, drawn: pd.Series[str]) -> pd.DataFrame:
    """Put an audit's items among the others so that nothing tells them apart: what is known of any is left out."""
    others = waiting.loc[~waiting["item"].isin(drawn), ["item", "is_begun"]]
    every = pd.concat([others, pd.DataFrame({"item": drawn, "is_begun": False})], ignore_index=True)
    every["place"] = [digest("case", item) for item in every["item"]]
    every = every.sort_values(["is_begun", "place"], ascending=[False, True], ignore_index=True)
    every = every.assign(tied=False, confidence=float("nan"), n_answers=0)
    return every[["item", "tied", "confidence", "n_answers", "is_begun"]]


def _of_expert(
    waiting: pd.DataFrame, sent: pd.DataFrame, given: pd.DataFrame, expert: str, begun: pd.Series[str]
) -> pd.DataFrame:
    """Leave out what a gate accepted and what another expert has; without a gate everything is for everybody."""
    place = given.loc[given["expert"] == expert].set_index("item")["place"]
    if (sent["decision"] != "decided").any():
        # What an expert decided under an earlier guideline comes again; under this one it is not among the waiting.
        wanted = set(sent.loc[sent["decision"] != "accept", "item"])
        taken = set(given.loc[given["expert"] != expert, "item"])
        waiting = waiting[waiting["item"].isin((wanted - taken) | set(begun))]
    # What is nobody's comes after what was given to this expert.
    return waiting.assign(place=waiting["item"].map(place).fillna(len(given) + 1))


def open_case(context: Context, item: str, expert: str, *, aspect: str | None) -> Case:
    """Return an item as this expert may see it now."""
    record = _choice(context, aspect)
    # Workers have both responses before them whatever they are asked of the item, so the expert has, too.
    is_pair = any(each.kind == "pair" for each in context.aspects())
    with context.store.read() as tx:
        columns = ["item", "group", "position", "text", "sensitive", "response_a", "response_b"]
        found = tx.frames.read(context.campaign_id, "items", columns=columns, items=[item])
        if found.empty:
            raise InputError(f"item is {item!r}; campaign {context.name!r} has no such item")
        row = found.iloc[0]
        labels = tuple(known_labels(context, tx, record))
        before = _turns_before(context, tx, str(row["group"]), int(row["position"]), item)
        said = current_judgements(context, tx, record.name)
        mine = said[(said["item"] == item) & (said["expert"] == expert)]
        votes = _votes(context, tx, item, record.name) if len(mine) else ()
    options = tuple(str(row[name]) for name in ("response_a", "response_b") if isinstance(row[name], str))
    shown = {} if mine.empty else {name: _text(mine[name].iloc[0]) for name in _REVEALED}
    return Case(
        item,
        record.name,
        record.kind,
        record.question,
        record.guideline,
        str(row["text"]),
        before,
        options if is_pair else (),
        labels,
        bool(row["sensitive"]),
        votes=votes,
        **shown,
    )


_REVEALED = ("blind_label", "crowd_label", "machine_label", "final_label")


def judge(context: Context, item: str, label: str, expert: str, *, aspect: str | None) -> Case:
    """Keep an expert's blind label and return the case with everything revealed; the first label counts."""
    record = _choice(context, aspect)
    with context.store.begin() as tx:
        _checked(context, tx, record, label)
        crowd = tx.labels.read(context.campaign_id, aspect=record.name, items=[item])
        if crowd.empty and not _drawn(context, tx, record.name).eq(item).any():
            raise StateError(f"item {item!r} has no label of people yet; aggregate() first, then experts decide")
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
        )
        if new:
            _save(context, tx, record.name, item, label, "expert_blind", crowd)
            context.log(tx, "judged blind", item=item, aspect=record.name, expert=expert, label=label)
    return open_case(context, item, expert, aspect=record.name)


def decide(context: Context, item: str, label: str, expert: str, *, aspect: str | None) -> Adjudicated:
    """Keep what an expert says after the reveal; it becomes the item's label."""
    record = _choice(context, aspect)
    with context.store.begin() as tx:
        _checked(context, tx, record, label)
        said = current_judgements(context, tx, record.name)
        mine = said[(said["item"] == item) & (said["expert"] == expert)]
        if mine.empty:
            raise StateError(f"item {item!r} was not judged blind yet; that comes first")
        blind = str(mine["blind_label"].iloc[0])
        evidence = "expert_blind" if label == blind else "expert_informed"
        now = context.clock.now()
        tx.adjudications.decide(context.campaign_id, aspect=record.name, item=item, expert=expert, label=label, at=now)
        stored = tx.labels.read(context.campaign_id, aspect=record.name, items=[item])
        _save(context, tx, record.name, item, label, evidence, stored)
        _keep_decision(context, tx, record, item, expert, label, evidence)
        context.log(tx, "adjudicated", item=item, aspect=record.name, expert=expert, label=label, evidence=evidence)
    return Adjudicated(item, record.name, label, blind, evidence)


def _keep_decision(
    context: Context, tx: Transaction, record: AspectRecord, item: str, expert: str, label: str, evidence: str
) -> None:
    """Keep among the decisions that an expert settled an item; nobody has to do it any more."""
    row: dict[str, object] = {
        "aspect": record.name,
        "item": item,
        "decided_at": context.clock.now(),
        "decided_by": expert,
        "decider": "person",
        "policy": "guideline",
        "policy_version": record.guideline_version,
        "decision": "decided",
        "reason_code": evidence,
        "evidence": "",
        "label": label,
    }
    tx.gates.add(context.campaign_id, pd.DataFrame([row]))
    tx.gates.release(context.campaign_id, record.name, [item])


def adjudicated(context: Context, tx: Transaction, aspect: str) -> pd.DataFrame:
    """Return the newest expert's word on each item: ``item, label, evidence, blind_label``."""
    said = current_judgements(context, tx, aspect)
    said = said.assign(label=said["final_label"].fillna(said["blind_label"]), is_final=said["final_label"].notna())
    said = said.sort_values(["is_final", "blind_at"], kind="stable").drop_duplicates("item", keep="last")
    is_blind = said["label"] == said["blind_label"]
    evidence = is_blind.map({True: "expert_blind", False: "expert_informed"}).astype(object)
    return said.assign(evidence=evidence)[["item", "label", "evidence", "blind_label"]].reset_index(drop=True)


def confusion(context: Context, *, aspect: str | None) -> pd.DataFrame:
    """Count blind labels of experts (rows) against the crowd's (columns), in the order of the labels."""
    record = _choice(context, aspect)
    with context.store.read() as tx:
        said = current_judgements(context, tx, record.name)
        labels = known_labels(context, tx, record)
    said = said[said["crowd_label"].notna()]
    order = list(dict.fromkeys([*labels, *said["blind_label"], *said["crowd_label"]]))
    table = pd.crosstab(said["blind_label"], said["crowd_label"])
    table = table.reindex(index=order, columns=order, fill_value=0)
    return table.rename_axis(index="expert", columns="crowd").astype("int64")


def _choice(context: Context, aspect: str | None) -> AspectRecord:
    """Return the aspect that experts decide: one whose answers are choices."""
    record = context.aspect(aspect) if aspect is not None else context.aspects()[0]
    if record.kind not in CHOICES:
        raise InputError(
            f"aspect {record.name!r} is {record.kind}; experts decide among labels, so name a nominal, ordinal or pair "
            "aspect"
        )
    return record


def current_judgements(context: Context, tx: Transaction, aspect: str) -> pd.DataFrame:
    """Return the judgements that were made under the guideline in force."""
    versions = Versions(context, tx)
    said = tx.adjudications.read(context.campaign_id, aspect=aspect)
    return said[said["guideline_version"] == versions.current[aspect]].reset_index(drop=True)


def _checked(context: Context, tx: Transaction, record: AspectRecord, label: str) -> None:
    known = known_labels(context, tx, record)
    if known and label not in known:
        raise InputError(f"label is {label!r}; allowed are {', '.join(known)}")


def _votes(context: Context, tx: Transaction, item: str, aspect: str) -> tuple[tuple[str, int], ...]:
    answers = tx.work.answers(context.campaign_id, aspect=aspect, include_excluded=False)
    answers = answers[(answers["task"] == item) & (answers["retest"] == 0)]
    answers = answers[~Versions(context, tx).stale(answers)]
    counted = answers["label"].astype(str).value_counts()
    return tuple((str(label), int(count)) for label, count in counted.items())


def _turns_before(context: Context, tx: Transaction, group: str, position: int, item: str) -> tuple[str, ...]:
    every = tx.frames.read(context.campaign_id, "items", columns=["item", "group", "position"])
    mine = every[(every["group"] == group) & (every["position"] < position) & (every["item"] != item)]
    if mine.empty:
        return ()
    names = mine.sort_values("position", kind="stable")["item"].tolist()
    texts = tx.frames.read(context.campaign_id, "items", columns=["item", "text"], items=names).set_index("item")
    return tuple(str(texts.loc[name, "text"]) for name in names)


def _save(
    context: Context, tx: Transaction, aspect: str, item: str, label: str, evidence: str, before: pd.DataFrame
) -> None:
    answers = int(before["n_answers"].iloc[0]) if len(before) else 0
    row = (item, aspect, label, "expert", 1.0, answers, False, evidence, None)
    round_ = tx.campaigns.get(context.name).round
    tx.labels.save(context.campaign_id, round_, pd.DataFrame([row], columns=_COLUMNS))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
