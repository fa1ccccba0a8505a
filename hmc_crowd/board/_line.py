"""How do people get work from the machine door, and where do their answers go? Claims with an end, answers once."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from hmc_crowd.board._fields import require_known, require_rows, require_text, require_whole
from hmc_crowd.board._once import as_text, once
from hmc_crowd.board._refused import RefusedError
from hmc_crowd.board._roles import may
from hmc_crowd.campaign._data import known_labels
from hmc_crowd.campaign._pseudonyms import pseudonyms
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.store import DOOR

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hmc_crowd.board._house import BoardHouse
    from hmc_crowd.board._once import Reply
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import KeyRecord, Transaction, WorkQueue

__all__ = ["claim_items", "give_items_back", "keep_answers", "show_queue"]

_ANSWER = {"item": str, "label": str, "worker": str, "aspect": str}
_MOST_CLAIMED = 100
_LEASE_S = (30, 24 * 3600)


def claim_items(house: BoardHouse, key: KeyRecord, given: dict[str, Any]) -> Reply:
    """Take the next items of the line for the key's holder, until a moment."""
    client_key = require_known(given, {"limit", "lease_s"})
    context = house.asked(given.get("campaign"))
    limit = require_whole("limit", given.get("limit"), least=1, most=_MOST_CLAIMED, usual=1)
    lease_s = require_whole("lease_s", given.get("lease_s"), least=_LEASE_S[0], most=_LEASE_S[1], usual=900)
    me = _pseudonym(context, key)

    def work(tx: Transaction, _shared: dict[Any, Any]) -> Any:
        until = context.clock.now() + timedelta(seconds=lease_s)
        line = house.settings.queue(tx)
        items = line.claim(context.campaign_id, me, until=until, limit=limit, expert=_expert(key))
        return {
            "campaign": context.name,
            "until": until.isoformat(),
            "aspects": _aspects(context, tx),
            "items": _shown(tx.door.texts(context.campaign_id, items)),
        }

    return once(context, f"{key.id}:{client_key}", given, work)


def give_items_back(house: BoardHouse, key: KeyRecord, given: dict[str, Any]) -> Reply:
    """Let others have items that the key's holder has in hand, or that were kept for it."""
    client_key = require_known(given, {"items"})
    context = house.asked(given.get("campaign"))
    items = given.get("items")
    if not isinstance(items, list) or not 1 <= len(items) <= _MOST_CLAIMED:
        raise InputError(f"items must be a list of 1 to {_MOST_CLAIMED} item ids; see openapi.json")
    names = sorted({require_text("item", each, "items") for each in items})
    me = _pseudonym(context, key)

    def work(tx: Transaction, _shared: dict[Any, Any]) -> Any:
        given_back = house.settings.queue(tx).give_back(context.campaign_id, me, names, expert=_expert(key))
        return {"campaign": context.name, "given_back": given_back}

    return once(context, f"{key.id}:{client_key}", given, work)


def keep_answers(house: BoardHouse, key: KeyRecord, given: dict[str, Any]) -> Reply:
    """Keep ``answers``: a worker's or expert's key answers as itself, the owner's names the worker."""
    client_key = require_known(given, {"answers"})
    context = house.asked(given.get("campaign"))
    rows = require_rows(given, "answers", _ANSWER, {"item", "label"}, most=house.settings.most_items)
    is_owner = may(key.role, "answer_for_others")
    if not is_owner and any("worker" in row for row in rows):
        raise RefusedError(403, "worker is given, but this key answers as itself; leave worker out")
    raw = [str(row.get("worker", key.id)) for row in rows]
    names = pseudonyms(context.worker_key, DOOR, raw)

    def work(tx: Transaction, shared: dict[Any, Any]) -> Any:
        asked = _checked_labels(context, tx, rows)
        tx.workers.identify(DOOR, sorted(set(raw)), pseudonyms=names)
        line = house.settings.queue(tx)
        places = line.places(context.campaign_id, {row["item"] for row in rows})
        if not is_owner:
            _require_claimed([row["item"] for row in rows], places, names[key.id])
        answers = [
            {
                "item": row["item"],
                "aspect": row.get("aspect", asked[0]),
                "worker": names[who],
                "label": row["label"],
                "started": _started(places.get(row["item"], ()), names[who]),
            }
            for row, who in zip(rows, raw, strict=True)
        ]
        new, full = tx.door.answer(
            context.campaign_id,
            answers,
            aspects=asked,
            needed={item: len(held) for item, held in places.items()},
            source="expert" if key.role == "expert" else "crowd",
            may_all=is_owner,
        )
        _leave_line(line, context, answers, full)
        if new:
            _tell(context, tx, shared, answers)
        return {"campaign": context.name, "received": len(rows), "new": new}

    # The same client key of two people's keys is two requests.
    return once(context, f"{key.id}:{client_key}", given, work)


def show_queue(house: BoardHouse, key: KeyRecord, given: dict[str, Any]) -> str:
    """List open items, the one due first first: never where they went, nor what the machine or others said."""
    require_known(given, {"limit"}, is_keyed=False)
    context = house.asked(given.get("campaign"))
    limit = require_whole("limit", given.get("limit"), least=1, most=1000, usual=100, in_query=True)
    with house.store.read() as tx:
        if may(key.role, "answer_for_others"):
            items = [row["item"] for row in tx.door.queue(context.campaign_id, limit=limit)]
        else:
            me = _pseudonym(context, key)
            items = house.settings.queue(tx).waiting(context.campaign_id, me, limit=limit, expert=_expert(key))
        rows = _shown(tx.door.texts(context.campaign_id, items))
    return as_text({"campaign": context.name, "items": rows})


def _pseudonym(context: Context, key: KeyRecord) -> str:
    return pseudonyms(context.worker_key, DOOR, [key.id])[key.id]


def _expert(key: KeyRecord) -> str | None:
    return key.id if key.role == "expert" else None


def _aspects(context: Context, tx: Transaction) -> list[dict[str, Any]]:
    asked = tx.campaigns.aspects(context.campaign_id)
    return [{"aspect": each.name, "labels": sorted(known_labels(context, tx, each))} for each in asked]


def _shown(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "item": row["item"],
            "text": row["text"],
            "due_at": None if row["due_at"] is None else row["due_at"].isoformat(),
        }
        for row in rows
    ]


def _checked_labels(context: Context, tx: Transaction, rows: list[dict[str, Any]]) -> list[str]:
    """Refuse labels and aspects that the campaign does not know; return its aspects, the first one first."""
    aspects = {each.name: each for each in tx.campaigns.aspects(context.campaign_id)}
    names = list(aspects)
    allowed: dict[str, Any] = {}
    seen = set()
    for row in rows:
        name = row.get("aspect", names[0])
        if name not in aspects:
            raise StateError(f"aspect is {name!r}; the campaign asks {', '.join(map(repr, names))}")
        if name not in allowed:
            allowed[name] = known_labels(context, tx, aspects[name])
        if allowed[name] and row["label"] not in allowed[name]:
            raise StateError(
                f"label is {row['label']!r}; the campaign's labels are {', '.join(map(repr, allowed[name]))}"
            )
        once_each = (row["item"], name, row.get("worker"))
        if once_each in seen:
            raise StateError(f"item {row['item']!r} is answered twice in one request; give every answer once")
        seen.add(once_each)
    return names


def _require_claimed(items: Iterable[str], places: Mapping[str, Sequence[Any]], worker: str) -> None:
    """Refuse answers to what its sender has not in hand.

    One sentence for all of it: to others, what is for experts looks as if it were not there.
    """
    for item in items:
        if all(place.holder != worker for place in places.get(item, ())):
            raise StateError(
                f"item {item!r} is not in your hands; claim it first (POST /claim): a claim that ended may have gone "
                "to somebody else"
            )


def _started(places: Iterable[Any], worker: str) -> Any:
    """Return when a worker took the item in hand; None where the answer came without a claim."""
    return next((place.held_at for place in places if place.holder == worker), None)


def _leave_line(line: WorkQueue, context: Context, answers: list[dict[str, Any]], full: list[str]) -> None:
    by_worker: dict[str, set[str]] = {}
    for each in answers:
        by_worker.setdefault(each["worker"], set()).add(each["item"])
    for worker, items in sorted(by_worker.items()):
        line.done(context.campaign_id, worker, sorted(items))
    line.close(context.campaign_id, full)


def _tell(context: Context, tx: Transaction, shared: dict[Any, Any], answers: list[dict[str, Any]]) -> None:
    lasting = shared["lasting"]
    if "hooks" not in lasting:
        lasting["hooks"] = tx.hooks.webhooks()
    if lasting["hooks"]:
        told = [{name: each[name] for name in ("item", "aspect", "worker", "label")} for each in answers]
        content = {"campaign": context.name, "answers": told}
        tx.hooks.tell(context.campaign_id, "answer", content, hooks=lasting["hooks"])
