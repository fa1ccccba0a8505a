"""Where does each item go? The plan's rule says machine or people, a gate says crowd or expert, the staff says who.

What is of high or unknown risk is an expert's whatever the plan's rule says: it counts as people's, and neither as kept
by the machine nor as a draw of the audit.

Every item has an answer: the machine keeps it, it is queued before the crowd, an expert has it, or nobody is there, or
nobody has room; then it waits in the line all the same, and the first who can take it does. Source: requirement D32.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hmc_crowd.board._features import WHOEVER_HAS_IT, Features, complexity_of
from hmc_crowd.board._fields import moment, require_known, require_rows
from hmc_crowd.board._once import once
from hmc_crowd.board._staff import Staff, Wanted, seconds_until
from hmc_crowd.campaign._policy import live_policy
from hmc_crowd.campaign._stream import look, steered
from hmc_crowd.errors import StateError
from hmc_crowd.store import Place

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hmc_crowd.board._house import BoardHouse
    from hmc_crowd.board._once import Reply
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.routing import Decision
    from hmc_crowd.store import KeyRecord, Transaction

__all__ = ["allocate_items"]

_ITEM = {
    "item": str,
    "label": str,
    "confidence": float,
    "effort": float,
    "seconds": float,
    "text": str,
    "due_at": str,
    "risk": ("low", "medium", "high"),
    "complexity": float,
    "urgency": (1, 2, 3, 4, 5),
    "skills": list,
}
_NEEDED = {"item", "confidence", "effort"}
# How long figures that many requests read may be old: the people's mean score, and the length of the line.
_QUALITY_S, _LINE_S, _STREAM_S = 30.0, 2.0, 2.0
_TOLD_AT_MOST = 1_000


@dataclass(frozen=True)
class _Asked:
    """One item of a request, with what was computed of it."""

    item: str
    text: str
    due_at: datetime | None
    features: Features
    skills: frozenset[str]
    label: str | None
    confidence: float


def allocate_items(house: BoardHouse, _key: KeyRecord, given: dict[str, Any]) -> Reply:
    """Decide about ``items`` by the newest plan's rule; see the OpenAPI document for the fields."""
    client_key = require_known(given, {"items"})
    context = house.asked(given.get("campaign"))
    rows = require_rows(given, "items", _ITEM, _NEEDED, most=house.settings.most_items)
    quality = _quality(house, context)
    # Looked at here, since it may close windows: a transaction of its own, before the one that decides.
    stream = house.kept(("stream", context.campaign_id), _STREAM_S, lambda: look(context))
    asked = [_asked(row, quality) for row in rows]
    names = [row["item"] for row in rows]
    if len(set(names)) < len(names):
        twice = next(name for at, name in enumerate(names) if name in names[:at])
        raise StateError(f"item {twice!r} is in the list twice; give every item once")

    def work(tx: Transaction, shared: dict[Any, Any]) -> Any:
        rule, answers = _rule(house, context, tx, shared)
        rule = steered(rule, stream)
        decided = rule.decide(
            names,
            [row["confidence"] for row in rows],
            [row["effort"] for row in rows],
            seconds=[row.get("seconds") for row in rows],
        )
        shown = _give_out(house, context, tx, shared, asked, decided, answers)
        return {"campaign": context.name, "policy": rule.policy.version, "effort_unit": rule.unit, "decisions": shown}

    return once(context, client_key, given, work)


def _asked(row: dict[str, Any], quality: float | None) -> _Asked:
    text = row.get("text", "")
    complexity = row.get("complexity")
    if complexity is None:
        complexity = complexity_of(text)
    features = Features(len(text), complexity, row.get("risk"), int(row.get("urgency", 3)), quality)
    skills = frozenset(each.strip().casefold() for each in row.get("skills", ()))
    return _Asked(row["item"], text, moment(row["item"], row.get("due_at")), features, skills, *_said(row))


def _said(row: dict[str, Any]) -> tuple[str | None, float]:
    """Return the machine's label, where it is told, and how sure it is."""
    return row.get("label"), row["confidence"]


def _rule(house: BoardHouse, context: Context, tx: Transaction, shared: dict[Any, Any]) -> Any:
    """Return the newest plan's rule, and how many people answer an item."""
    name, lasting = ("rule", context.campaign_id), shared["lasting"]
    if name not in lasting:
        held = house.policies.get(context.campaign_id)
        rule = house.policies[context.campaign_id] = live_policy(context, tx, held=held)
        lasting[name] = rule, int(context.settings_in(tx).get("redundancy", 1))
    return lasting[name]


def _give_out(
    house: BoardHouse,
    context: Context,
    tx: Transaction,
    shared: dict[Any, Any],
    asked: Sequence[_Asked],
    decided: Sequence[Decision],
    answers: int,
) -> list[dict[str, Any]]:
    """Give the items out in the order of the line, store all of it, and show it in the order of the request."""
    cid, now, settings = context.campaign_id, context.clock.now(), house.settings
    shown: list[dict[str, Any]] = [{}] * len(asked)
    stored: list[dict[str, Any]] = []
    places: list[Place] = []
    far = float("inf")
    due = [seconds_until(each.due_at, now) for each in asked]
    order = sorted(range(len(asked)), key=lambda at: (far if due[at] is None else due[at], -asked[at].features.urgency))
    for at in order:
        each, what = asked[at], decided[at]
        reason = settings.entry(each.features)
        if reason in WHOEVER_HAS_IT:
            if what.destination != "people":
                said = f"{reason.replace('_', ' ')}: an expert judges it, though the machine could keep it"
                what = replace(what, destination="people", reason=said, inclusion_probability=1.0)
        elif what.destination == "machine":
            reason = None
        to, status, expert, met = "machine", "kept_by_machine", None, "none"
        if reason is not None:
            to = "expert"
            wanted = Wanted(each.item, each.skills, each.features.urgency, due[at])
            status, expert, met = _staff(house, context, tx, shared).give(wanted, settings.choose)
            places.append(Place(each.item, 1, "expert", expert, each.due_at, each.features.urgency))
        elif what.destination != "machine":
            to = "crowd"
            status, met = _staff(house, context, tx, shared).line_up(due[at], answers)
            places.append(Place(each.item, answers, "crowd", None, each.due_at, each.features.urgency))
        row = {
            "item": each.item,
            "destination": what.destination,
            "reason": what.reason,
            "gain": what.gain,
            "inclusion_probability": what.inclusion_probability,
            "due_at": each.due_at,
            "allocated_to": to,
            "expert": expert,
            "features": each.features.shown(),
        }
        machine = {"label": each.label, "confidence": each.confidence}
        stored.append({**row, **machine, "text": each.text, "policy": what.policy_version})
        shown[at] = {
            **row,
            "due_at": None if each.due_at is None else each.due_at.isoformat(),
            "needs_expert": reason is not None,
            "gate": reason or "none",
            "status": status,
            "deadline": met,
        }
    tx.door.put(cid, stored)
    settings.queue(tx).put(cid, places)
    _tell(context, tx, shared, shown)
    return shown


def _tell(context: Context, tx: Transaction, shared: dict[Any, Any], shown: Sequence[dict[str, Any]]) -> None:
    lasting = shared["lasting"]
    if "hooks" not in lasting:
        lasting["hooks"] = tx.hooks.webhooks()
    hooks = lasting["hooks"]
    if not hooks:
        return
    fields = ("item", "destination", "allocated_to", "expert", "status", "due_at", "deadline")
    told = [{name: row[name] for name in fields} for row in shown]
    for start in range(0, len(told), _TOLD_AT_MOST):
        content = {"campaign": context.name, "decisions": told[start : start + _TOLD_AT_MOST]}
        tx.hooks.tell(context.campaign_id, "decision", content, hooks=hooks)


def _staff(house: BoardHouse, context: Context, tx: Transaction, shared: dict[Any, Any]) -> Staff:
    """Return who is there, read once a transaction; a crowd's line of another campaign is another one."""
    name = ("staff", context.campaign_id)
    if name not in shared:
        if "loads" not in shared:
            lasting = shared["lasting"]
            if "keys" not in lasting:
                lasting["keys"] = tx.keys.all()
            shared["keys"] = lasting["keys"]
            shared["loads"] = house.settings.queue(tx).loads()
        line = house.kept(("line", context.campaign_id), _LINE_S, lambda: _line(house, tx, context.campaign_id))
        staff = shared[name] = Staff.of(shared["keys"], shared["loads"], line)
        # Experts work for all campaigns: what one of them gives out counts for the others.
        staff.experts = shared.setdefault("experts", staff.experts)
    found: Staff = shared[name]
    return found


def _line(house: BoardHouse, tx: Transaction, campaign: int) -> int:
    ages = house.settings.queue(tx).ages(campaign)
    return ages.waiting + ages.held


def _quality(house: BoardHouse, context: Context) -> float | None:
    """Return the mean score of the campaign's people on gold, at most half a minute old."""

    def read() -> float | None:
        with context.store.read() as tx:
            scores = tx.workers.scores(context.campaign_id)
        known = scores["score"].dropna()
        return float(known.mean()) if len(known) else None

    found: float | None = house.kept(("quality", context.campaign_id), _QUALITY_S, read)
    return found
