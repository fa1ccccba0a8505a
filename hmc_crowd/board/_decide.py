"""What does each call of the machine door do? Allocations by the plan's rule, the queue by deadline, answers once."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.ids import digest
from hmc_crowd.board._roles import may
from hmc_crowd.campaign._data import known_labels
from hmc_crowd.campaign._policy import live_policy
from hmc_crowd.campaign._pseudonyms import pseudonyms
from hmc_crowd.errors import DuplicateError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hmc_crowd.board._house import BoardHouse
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import KeyRecord, Transaction

__all__ = ["allocate_items", "keep_answers", "show_queue"]

_PLATFORM = "door"
_ITEM = {"item": str, "confidence": float, "effort": float, "text": str, "due_at": str}
_ANSWER = {"item": str, "label": str, "worker": str}
_LONGEST = {"item": 500, "label": 500, "worker": 200, "due_at": 60, "key": 200, "campaign": 500}


def allocate_items(house: BoardHouse, given: dict[str, Any]) -> Any:
    """Decide about ``items`` by the newest plan's rule; see the OpenAPI document for the fields."""
    context, key = _asked(house, given, {"items"})
    items = _rows(given, "items", _ITEM, {"item", "confidence", "effort"}, most=house.settings.most_items)
    due = [_moment(row["item"], row.get("due_at")) for row in items]

    def work(tx: Transaction, shared: dict[Any, Any]) -> Any:
        rule = shared.get(context.campaign_id)
        if rule is None:
            rule = live_policy(context, tx, held=house.policies.get(context.campaign_id))
            shared[context.campaign_id] = house.policies[context.campaign_id] = rule
        names = [row["item"] for row in items]
        decided = rule.decide(names, [row["confidence"] for row in items], [row["effort"] for row in items])
        rows = [
            {
                "item": each.item,
                "text": row.get("text", ""),
                "destination": each.destination,
                "reason": each.reason,
                "policy": each.policy_version,
                "gain": each.gain,
                "inclusion_probability": each.inclusion_probability,
                "due_at": moment,
            }
            for each, row, moment in zip(decided, items, due, strict=True)
        ]
        tx.door.put(context.campaign_id, rows)
        shown = [{**row, "due_at": None if row["due_at"] is None else row["due_at"].isoformat()} for row in rows]
        for row in shown:
            del row["text"], row["policy"]
        return {"campaign": context.name, "policy": rule.policy.version, "effort_unit": rule.unit, "decisions": shown}

    return _once(house, context, key, given, work)


def keep_answers(house: BoardHouse, key: KeyRecord, given: dict[str, Any]) -> Any:
    """Keep ``answers``: a worker's or expert's key answers as itself, the owner's names the worker."""
    context, client_key = _asked(house, given, {"answers"})
    answers = _rows(given, "answers", _ANSWER, {"item", "label"}, most=house.settings.most_items)
    for row in answers:
        if "worker" in row and not may(key.role, "answer_for_others"):
            raise InputError("worker is given, but this key answers as itself; leave worker out")
    raw = [str(row.get("worker", key.id)) for row in answers]

    def work(tx: Transaction, _shared: dict[Any, Any]) -> Any:
        aspect = tx.campaigns.aspects(context.campaign_id)[0]
        allowed = known_labels(context, tx, aspect)
        wrong = [row["label"] for row in answers if allowed and row["label"] not in allowed]
        if wrong:
            raise InputError(f"label is {wrong[0]!r}; the campaign's labels are {', '.join(map(repr, allowed))}")
        names = pseudonyms(context.worker_key, _PLATFORM, raw)
        tx.workers.identify(_PLATFORM, raw, pseudonyms=names)
        rows = [
            {"item": row["item"], "worker": names[who], "label": row["label"]}
            for row, who in zip(answers, raw, strict=True)
        ]
        redundancy = int(context.settings_in(tx).get("redundancy", 1))
        new = tx.door.answer(context.campaign_id, rows, redundancy=redundancy)
        return {"campaign": context.name, "received": len(rows), "new": new}

    # The same client key of two people's keys is two requests.
    return _once(house, context, f"{key.id}:{client_key}", given, work)


def show_queue(house: BoardHouse, key: KeyRecord, given: dict[str, Any]) -> Any:
    """List open items, the one due first first: never where they went, nor what the machine or others said."""
    context = house.context(given.get("campaign"))
    limit = str(given.get("limit", "100"))
    if not (limit.isascii() and limit.isdecimal() and 1 <= int(limit[:6]) <= 1000):
        raise InputError(f"limit is {limit[:20]!r}; give a whole number from 1 to 1000")
    who = pseudonyms(context.worker_key, _PLATFORM, [key.id])[key.id]
    with house.store.read() as tx:
        rows = tx.door.queue(context.campaign_id, limit=int(limit), without=who)
    return {
        "campaign": context.name,
        "items": [
            {
                "item": row["item"],
                "text": row["text"],
                "due_at": None if row["due_at"] is None else row["due_at"].isoformat(),
            }
            for row in rows
        ],
    }


def _asked(house: BoardHouse, given: dict[str, Any], own: set[str]) -> tuple[Context, str]:
    """Return the campaign and the client key of a request whose fields are all known."""
    unknown = sorted(set(given) - own - {"campaign", "key"})
    if unknown:
        raise InputError(f"the body has the unknown field {unknown[0]!r}; see openapi.json")
    for name in ("campaign", "key"):
        if given.get(name) is not None or name == "key":
            _check(name, given.get(name), str, "the body")
    return house.context(given.get("campaign")), str(given["key"])


def _rows(
    given: dict[str, Any], name: str, fields: Mapping[str, type], needed: set[str], *, most: int
) -> list[dict[str, Any]]:
    rows = given.get(name)
    if not isinstance(rows, list) or not 1 <= len(rows) <= most:
        raise InputError(f"{name} must be a list of 1 to {most:,}; see openapi.json")
    for at, row in enumerate(rows):
        where = f"{name}[{at}]"
        if not isinstance(row, dict):
            raise InputError(f"{where} is a {type(row).__name__}; give an object")
        odd = sorted((set(row) - set(fields)) | (needed - set(row)))
        if odd:
            state = "lacks" if odd[0] in needed else "has the unknown field"
            raise InputError(f"{where} {state} {odd[0]!r}; see openapi.json")
        for field, value in row.items():
            if value is not None or field in needed:
                _check(field, value, fields[field], where)
    return [{field: value for field, value in row.items() if value is not None} for row in rows]


def _check(name: str, value: Any, kind: type, where: str) -> None:
    if kind is float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise InputError(f"{name} of {where} is {str(value)[:50]!r}; give a number")
        return
    most = _LONGEST.get(name, 1_000_000)
    if not isinstance(value, str) or not (value or name == "text") or len(value) > most:
        raise InputError(f"{name} of {where} is {str(value)[:50]!r}; give text of 1 to {most:,} characters")


def _moment(item: str, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise InputError(f"due_at of item {item!r} is {text!r}; give a time with its zone, as 2026-01-05T12:00:00Z")
    return moment


def _once(
    house: BoardHouse,
    context: Context,
    key: str,
    given: dict[str, Any],
    work: Callable[[Transaction, dict[Any, Any]], Any],
) -> Any:
    """Answer a client key once: what was answered before is answered again, whoever was quicker."""
    fingerprint = digest(repr(_sorted(given)))
    cid = context.campaign_id

    def answer(tx: Transaction, shared: dict[Any, Any]) -> Any:
        held = tx.door.reply(cid, key, fingerprint)
        if held is not None:
            return held
        reply = work(tx, shared)
        if not tx.door.keep_reply(cid, key, fingerprint, reply):
            raise DuplicateError(f"key {key!r} is in use by another request; send it again")
        return reply

    try:
        return house.group.run(answer)
    except DuplicateError:
        # Another process may have answered the same request in the meantime.
        with context.store.read() as tx:
            held = tx.door.reply(cid, key, fingerprint)
        if held is None:
            raise
        return held


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return [(name, _sorted(value[name])) for name in sorted(value)]
    return [_sorted(each) for each in value] if isinstance(value, list) else value
