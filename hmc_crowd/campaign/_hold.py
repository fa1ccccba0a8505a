"""Has somebody stopped the campaign? A stop holds, over processes and rounds, until somebody lifts it.

While it holds nothing is offered to anybody: `publish`, `extend` and `run` are refused, and a call that was on its way
is not made again. Work that people have begun is collected, approved and paid as ever.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import StateError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import Transaction

__all__ = ["OFFERING", "hold", "lift", "require_not_stopped", "stopped_since", "stopped_words"]

#: Operations that offer work to people.
OFFERING = frozenset({"publish", "recruit", "extend"})
_LIFT = "hmc-crowd stop --lift (lift_stop)"


def stopped_since(settings: Mapping[str, Any]) -> datetime | None:
    """Return since when the campaign is stopped; None where it is not."""
    since = settings.get("stopped")
    return None if since is None else datetime.fromisoformat(since)


def stopped_words(since: datetime) -> str:
    """Say that the campaign is stopped, and how that ends."""
    return f"stopped since {since:%Y-%m-%d %H:%M} UTC: nothing is offered to anybody until {_LIFT}"


def require_not_stopped(context: Context, what: str) -> None:
    """Refuse to offer work while a stop holds."""
    since = stopped_since(context.settings())
    if since is not None:
        raise StateError(
            f"campaign {context.name!r} is stopped since {since:%Y-%m-%d %H:%M} UTC, so {what} would be against what "
            f"was decided; nothing was sent: lift the stop first with {_LIFT}"
        )


def hold(context: Context, tx: Transaction) -> None:
    """Let the stop hold from now on; where it does already, since when stays as it is."""
    settings = tx.campaigns.settings_to_change(context.campaign_id)
    if settings.get("stopped") is None:
        stopped = {**settings, "stopped": context.clock.now().isoformat()}
        tx.campaigns.save_settings(context.campaign_id, stopped)


def lift(context: Context) -> bool:
    """Let work be offered again; return whether a stop was there."""
    with context.store.begin() as tx:
        settings = tx.campaigns.settings_to_change(context.campaign_id)
        since = settings.pop("stopped", None)
        if since is not None:
            tx.campaigns.save_settings(context.campaign_id, settings)
            context.log(tx, "stop lifted", since=since)
    return since is not None
