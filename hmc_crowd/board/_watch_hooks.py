"""What has changed that nobody did at the door? New alerts, and campaigns that have come to another step."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from hmc_crowd.board._campaign_gate import to_tell
from hmc_crowd.board._figures import read_live

if TYPE_CHECKING:
    from hmc_crowd.board._house import BoardHouse

__all__ = ["look"]

_WATCHED = frozenset({"alert", "campaign"})


def look(house: BoardHouse) -> int:
    """Tell webhooks of new alerts and of campaigns' steps; return how many events there were.

    The first look at a campaign tells its state, so that a receiver knows where it starts. What was told is kept with
    the events in one transaction: of several servers, one tells.
    """
    now = house.clock.now()
    with house.store.begin() as tx:
        until = now + timedelta(seconds=house.settings.hooks.watch_s)
        if not tx.work.take_lane("webhooks", owner=house.name, until=until):
            return 0
        hooks = [hook for hook in tx.hooks.webhooks() if _WATCHED & set(hook.events)]
        names = {tx.campaigns.get(name).id: name for name in (tx.campaigns.names() if hooks else [])}
    return sum(_look_at(house, names[number]) for number in sorted({hook.campaign_id for hook in hooks}))


def _look_at(house: BoardHouse, name: str) -> int:
    context = house.context(name)
    live = read_live(context)
    alerts = [(alert.what, alert.state, alert.text) for alert in to_tell(context, house.settings.gate, live.figures)]
    told = live.status
    state = {"round": told.round, "next_step": told.next_step, "satisfied": told.satisfied}
    # The figures in an alert's text change all the time; it is new when its rule was not broken before.
    seen: dict[str, Any] = {"alerts": sorted({_rule(what, text) for what, _, text in alerts}), "state": state}
    events = 0
    with house.store.begin() as tx:
        before = tx.hooks.told(context.campaign_id) or {"alerts": [], "state": {}}
        if before == seen:
            return 0
        hooks = tx.hooks.webhooks(context.campaign_id)
        for what, grade, text in alerts:
            if _rule(what, text) not in before["alerts"]:
                content = {"campaign": name, "what": what, "state": grade, "text": text}
                events += tx.hooks.tell(context.campaign_id, "alert", content, hooks=hooks)
        if before["state"] != state:
            events += tx.hooks.tell(context.campaign_id, "campaign", {"campaign": name} | state, hooks=hooks)
        tx.hooks.keep_told(context.campaign_id, seen)
    return events


def _rule(what: str, text: str) -> str:
    """Name an alert; those about a worker are one for each."""
    return f"{what}:{text.split()[1]}" if what.startswith("worker") else what
