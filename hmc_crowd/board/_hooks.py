"""Who is told, and who may say so? Webhooks made, listed and ended by the owner's programs, and the board's page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd._base.addresses import shown_address
from hmc_crowd.board._deliver import check_address, hook_secret
from hmc_crowd.board._fields import require_known, require_text
from hmc_crowd.board._once import as_text, once
from hmc_crowd.errors import InputError, StateError

if TYPE_CHECKING:
    from hmc_crowd.board._house import BoardHouse
    from hmc_crowd.board._once import Reply
    from hmc_crowd.store import KeyRecord, Transaction, WebhookRecord

# As openapi.json says.
_MOST_EVENTS = 10

__all__ = ["end_webhook", "hooks_view", "list_webhooks", "make_webhook"]


def make_webhook(house: BoardHouse, key: KeyRecord, given: dict[str, Any]) -> Reply:
    """Subscribe an address; the reply alone holds the secret by which its messages are signed."""
    client_key = require_known(given, {"url", "events"})
    context = house.asked(given.get("campaign"))
    url = require_text("url", given.get("url"), "the body")
    events = given.get("events")
    if (
        not isinstance(events, list)
        or not 1 <= len(events) <= _MOST_EVENTS
        or not all(isinstance(each, str) for each in events)
    ):
        raise InputError(f"events must be a list of 1 to {_MOST_EVENTS} names; see openapi.json")
    try:
        check_address(url, house.settings.hooks)
    except InputError as error:
        raise StateError(str(error)) from None

    def work(tx: Transaction, shared: dict[Any, Any]) -> Any:
        made = tx.hooks.subscribe(context.campaign_id, url, events, by=key.id)
        shared["lasting"].pop("hooks", None)
        return _shown(made) | {"campaign": context.name, "secret": hook_secret(house.secret, made.id)}

    return once(context, client_key, given, work)


def list_webhooks(house: BoardHouse, _key: KeyRecord, given: dict[str, Any]) -> str:
    """List a campaign's webhooks, how many messages wait, and which are dead."""
    require_known(given, set(), is_keyed=False)
    context = house.asked(given.get("campaign"))
    with house.store.read() as tx:
        hooks = tx.hooks.webhooks(context.campaign_id)
        counts = tx.hooks.counts(context.campaign_id)
        dead = tx.hooks.deliveries(context.campaign_id, state="dead")
    return as_text(
        {
            "campaign": context.name,
            "webhooks": [_shown(each) for each in hooks],
            "messages": {state: counts.get(state, 0) for state in ("waiting", "sent", "dead")},
            "dead": [
                {"id": each.id, "webhook": each.webhook_id, "event": each.event, "problem": each.problem or ""}
                for each in dead
            ],
        }
    )


def end_webhook(house: BoardHouse, _key: KeyRecord, given: dict[str, Any]) -> Reply:
    """End a webhook of a campaign; ending it again under the same client key changes nothing."""
    client_key = require_known(given, {"webhook"})
    context = house.asked(given.get("campaign"))
    name = require_text("webhook", given.get("webhook"), "the body")

    def work(tx: Transaction, shared: dict[Any, Any]) -> Any:
        tx.hooks.end(name, campaign=context.campaign_id)
        shared["lasting"].pop("hooks", None)
        return {"campaign": context.name, "ended": name}

    return once(context, client_key, given, work)


def hooks_view(house: BoardHouse, campaign: str) -> dict[str, Any]:
    """Return what the board's page of webhooks shows."""
    context = house.context(campaign)
    with house.store.read() as tx:
        hooks = tx.hooks.webhooks(context.campaign_id)
        counts = tx.hooks.counts(context.campaign_id)
        latest = tx.hooks.deliveries(context.campaign_id, limit=30)
        dead = tx.hooks.deliveries(context.campaign_id, state="dead")
    return {"hooks": hooks, "counts": counts, "latest": latest, "dead": dead}


def _shown(hook: WebhookRecord) -> dict[str, Any]:
    return {"webhook": hook.id, "url": shown_address(hook.url), "events": list(hook.events), "by": hook.by}
