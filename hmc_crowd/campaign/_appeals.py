"""Somebody objects to a label: who judges it again, without knowing that, and what comes of it?

Another expert judges blind, among his other cases: neither the label, nor who gave it, nor the objection is shown to
him. If he differs, a third one decides in the same way; three different labels are a person's to settle. The blind
labels alone count. Each step stands among the decisions with its reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from hmc_crowd.campaign._aspects import choice_of
from hmc_crowd.campaign._data import require_label
from hmc_crowd.campaign._follow import ask_again, close_settled, save_in_force
from hmc_crowd.campaign._guideline import Versions
from hmc_crowd.campaign._labels import final_labels
from hmc_crowd.campaign._looks import looks, own_words
from hmc_crowd.campaign._pseudonyms import pseudonyms
from hmc_crowd.campaign._tiers import tiers_in
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.store import AppealRecord

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import AspectRecord, Transaction

__all__ = ["APPELLANTS", "AppealState", "appeal", "appeals", "settle", "to_settle"]

APPELLANTS = ("author", "worker", "owner")
_STATES = {"appeal": "open", "appeal_third": "third_needed", "person": "decided"}
_COLUMNS = [
    "item",
    "aspect",
    "number",
    "role",
    "by",
    "reason",
    "state",
    "first_label",
    "label",
    "opened_at",
    "closed_at",
]


@dataclass(frozen=True)
class AppealState:
    """How an appeal stands.

    Parameters
    ----------
    item, aspect : str
    number : int
    state : {"open", "third_needed", "upheld", "overturned", "review", "decided"}
        ``review``: three experts said three things, a person must settle it; ``decided``: a person did.
    first_label : str
        What is appealed against.
    label : str or None
        What holds; None while it is open.
    notes : tuple of str
    """

    item: str
    aspect: str
    number: int
    state: str
    first_label: str
    label: str | None = None
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        said = {
            "open": "waits for another expert's blind judgement",
            "third_needed": "the second expert differs; a third one judges",
            "upheld": f"upheld: {self.label!r} stays",
            "overturned": f"overturned: {self.label!r} takes the place of {self.first_label!r}",
            "review": "three experts said three things; a person must settle it",
            "decided": f"settled by a person: {self.label!r}",
        }
        return f"appeal {self.number} about item {self.item}: {said[self.state]}"


def appeal(
    context: Context, item: str, *, by: str, reason: str, role: str, platform: str | None, aspect: str | None
) -> AppealState:
    """Open an appeal; refused where one is open, or the same person has appealed before."""
    record = choice_of(context, aspect)
    if role not in APPELLANTS:
        raise InputError(f"role is {role!r}; choose {', '.join(APPELLANTS)}")
    if not by.strip() or not reason.strip():
        raise InputError(f"{'by' if not by.strip() else 'reason'} is empty; say who appeals, and why")
    if platform is not None and role != "worker":
        raise InputError(f"platform is {platform!r}, but the role is {role!r}; only workers are known to platforms")
    with context.store.begin() as tx:
        tx.reviews.one_at_a_time(context.campaign_id)
        label = _appealed(context, tx, record, item)
        who = _appellant(context, tx, by.strip(), role, platform)
        earlier = [each for each in tx.reviews.appeals(context.campaign_id, aspect=record.name) if each.item == item]
        versions = Versions(context, tx)
        now = [each for each in earlier if versions.holds(record.name, each.guideline_version)]
        _refuse_second(earlier, now, item, who)
        words = own_words(context, tx, record.name, items=[item])
        judges = sorted({*words["expert"], *(name for each in earlier for name in each.judges)})
        tier = int(words["tier"].max()) if len(words) else 1
        made = AppealRecord(
            aspect=record.name,
            item=item,
            number=1 + len(earlier),
            guideline_version=record.guideline_version,
            role=role,
            worker=who if role == "worker" else None,
            appellant=None if role == "worker" else who,
            reason=reason.strip(),
            judges=tuple(judges),
            tier=tier,
            first_label=label,
            opened_at=context.clock.now(),
        )
        tx.reviews.open_appeal(context.campaign_id, made)
        stand = looks(context, tx, record.name, items=[item])
        ask_again(context, tx, record.name, stand)
        # Who it is, and why, is nobody's but the owner's.
        context.log(tx, "appeal opened", item=item, aspect=record.name, number=made.number, role=role)
        return _state(made, stand.iloc[0], _who_could(context, tx, stand.iloc[0]))


def appeals(context: Context, *, aspect: str | None, open_only: bool) -> pd.DataFrame:
    """Return the appeals, oldest first."""
    with context.store.read() as tx:
        found = tx.reviews.appeals(context.campaign_id, aspect=aspect)
        states = [_now(context, tx, each) for each in found]
    rows = [
        {**{name: getattr(each, name, None) for name in _COLUMNS}, "by": each.worker or each.appellant, "state": state}
        for each, state in zip(found, states, strict=True)
        if not open_only or state in {"open", "third_needed", "review"}
    ]
    return pd.DataFrame(rows, columns=_COLUMNS)


def to_settle(context: Context, tx: Transaction) -> tuple[str, ...]:
    """Return the items whose appeal only a person can settle: three experts said three things."""
    held = [each for each in tx.reviews.appeals(context.campaign_id) if each.outcome is None]
    return tuple(each.item for each in held if _now(context, tx, each) == "review")


def settle(context: Context, item: str, *, label: str | None, by: str | None, aspect: str | None) -> AppealState:
    """Say what the newest appeal about an item comes to; with a label a person settles what experts could not."""
    record = choice_of(context, aspect)
    with context.store.begin() as tx:
        tx.reviews.one_at_a_time(context.campaign_id)
        mine = [each for each in tx.reviews.appeals(context.campaign_id, aspect=record.name) if each.item == item]
        if not mine:
            raise StateError(f"nobody has appealed about item {item!r}; first appeal()")
        state = _now(context, tx, mine[-1])
        if label is None and mine[-1].outcome is not None:
            # What came of it stands, whatever has been said of the item since.
            return AppealState(item, record.name, mine[-1].number, state, mine[-1].first_label, mine[-1].label)
        if label is not None:
            _settle_by_person(context, tx, record, mine[-1], state, label, by)
        stand = looks(context, tx, record.name, items=[item])
        close_settled(context, tx, record.name, stand.iloc[0])
        return _state(mine[-1], stand.iloc[0], _who_could(context, tx, stand.iloc[0]))


def _settle_by_person(
    context: Context, tx: Transaction, record: AspectRecord, held: AppealRecord, state: str, label: str, by: str | None
) -> None:
    require_label(context, tx, record, label)
    if not (by or "").strip():
        raise InputError("by is empty; say who settles the appeal")
    if _is_same(by, held):
        raise InputError(f"by is {by!r}, who appealed; somebody else must settle it")
    if state != "review":
        raise StateError(
            f"the appeal about item {held.item!r} is {state.replace('_', ' ')}; a person settles it only after three "
            "experts have said three things"
        )
    now = context.clock.now()
    tx.reviews.close_appeal(context.campaign_id, held, outcome="decided", label=label, at=now, by=by)
    save_in_force(context, tx, record.name, held.item)
    ask_again(context, tx, record.name, looks(context, tx, record.name, items=[held.item]))
    context.log(tx, "appeal settled", item=held.item, aspect=record.name, outcome="decided")


def _appealed(context: Context, tx: Transaction, record: AspectRecord, item: str) -> str:
    """Return the label that is appealed against."""
    if tx.frames.read(context.campaign_id, "items", columns=["item"], items=[item]).empty:
        raise InputError(f"item is {item!r}; campaign {context.name!r} has no such item")
    if len(tx.frames.read(context.campaign_id, "gold", aspect=record.name, items=[item])):
        raise StateError(f"item {item!r} is gold, whose label nobody judged; correct it with add_gold()")
    labels = final_labels(context, tx, record.name)
    mine = labels[labels["item"] == item]
    if mine.empty:
        raise StateError(
            f"item {item!r} has no label of aspect {record.name!r} yet; there is nothing to appeal against"
        )
    return str(mine["label"].iloc[0])


def _appellant(context: Context, tx: Transaction, by: str, role: str, platform: str | None) -> str:
    """Return a worker's pseudonym, or the name of somebody else."""
    if role != "worker" or platform is None:
        return by
    named = pseudonyms(context.worker_key, platform, [by])
    tx.workers.identify(platform, [by], pseudonyms=named)
    return named[by]


def _refuse_second(earlier: list[AppealRecord], now: list[AppealRecord], item: str, who: str) -> None:
    if any(each.outcome is None for each in earlier):
        raise StateError(f"an appeal about item {item!r} is open already; see the list of appeals")
    if any(_is_same(who, each) for each in now):
        raise StateError(f"{who!r} has appealed about item {item!r} before; what came of it stands")


def _is_same(name: str | None, held: AppealRecord) -> bool:
    """Say whether a name is that of who appealed, however it is written."""
    known = {each.strip().casefold() for each in (held.worker, held.appellant) if each}
    return (name or "").strip().casefold() in known


def _now(context: Context, tx: Transaction, held: AppealRecord) -> str:
    """Return an appeal's state at this moment."""
    if held.outcome is not None:
        return held.outcome
    stand = looks(context, tx, held.aspect, items=[held.item])
    state = str(stand["state"].iloc[0])
    return _STATES.get(state, state)


def _who_could(context: Context, tx: Transaction, stand: pd.Series) -> tuple[str, ...]:
    """Return a note where nobody is there who could judge: it waits, and nothing is decided meanwhile."""
    if stand["to_tier"] == 0:
        return ()
    keys = [each.id for each in tx.keys.all() if each.role == "expert" and each.revoked_at is None]
    tier = tiers_in(context, tx, [*keys, *tx.reviews.seats(context.campaign_id)])
    free = [name for name, level in tier.items() if level >= stand["to_tier"] and name not in stand["judges"]]
    return () if free else (f"no expert of tier {stand['to_tier']} or above is left who has not judged it: it waits",)


def _state(held: AppealRecord, stand: pd.Series, notes: tuple[str, ...]) -> AppealState:
    state = _STATES.get(str(stand["state"]), str(stand["state"]))
    label = str(stand["label"]) if state in {"upheld", "overturned", "decided"} else None
    return AppealState(held.item, held.aspect, held.number, state, held.first_label, label, notes)
