"""Webhook subscriptions: made, confirmed, listed, dropped. What arrives through them is in `_webhooks`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hmc_crowd._base.addresses import shown_address
from hmc_crowd.errors import InputError, PlatformError
from hmc_crowd_prolific._models import Subscription
from hmc_crowd_prolific._parse import identity, one, rows
from hmc_crowd_prolific._studies import segment

if TYPE_CHECKING:
    from hmc_crowd_prolific._http import Http

__all__ = ["Hooks"]


class Hooks:
    """Subscriptions of a workspace."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def event_types(self) -> list[str]:
        """Return what can be subscribed to."""
        return [identity(each, "event_type") for each in rows(self._http.get("hooks/event-types/"))]

    def new_secret(self, workspace: str) -> str:
        """Make the workspace's secret, **replacing the one before**: keep both for a while when verifying."""
        made = self._http.once("POST", "hooks/secrets/", {"workspace_id": workspace})
        return identity(one(made.data), "value")

    def subscribe(self, workspace: str, event_type: str, target_url: str) -> Subscription:
        """Subscribe and confirm; nothing is delivered before that.

        Raises
        ------
        InputError
            The target is not https. (On this machine, with a stand-in, http will do.)
        """
        if urlsplit(target_url).scheme != "https" and self._http.mode == "live":
            raise InputError(
                f"target_url is {shown_address(target_url)!r}; Prolific delivers to public https addresses only"
            )
        body = {"workspace_id": workspace, "event_type": event_type, "target_url": target_url}
        made = self._http.once("POST", "hooks/subscriptions/", body)
        subscription = Subscription.read(one(made.data))
        secret = made.headers.get("X-Hook-Secret")
        if not secret:
            raise PlatformError("Prolific's answer has no X-Hook-Secret, so the subscription cannot be confirmed")
        self._http.again("POST", f"hooks/subscriptions/{segment(subscription.id)}/", {"secret": secret})
        return subscription

    def subscriptions(self, workspace: str) -> list[Subscription]:
        """Return the subscriptions of a workspace."""
        return [
            Subscription.read(each)
            for each in rows(self._http.get("hooks/subscriptions/", {"workspace_id": workspace}))
        ]

    def unsubscribe(self, subscription_id: str) -> None:
        """Drop a subscription."""
        self._http.once("DELETE", f"hooks/subscriptions/{segment(subscription_id)}/")

    def deliveries(self, subscription_id: str, *, offset: int = 0) -> list[dict[str, Any]]:
        """Return up to 100 deliveries with their ``status`` (PENDING, SUCCEEDED, FAILED), resource and event type."""
        path = f"hooks/subscriptions/{segment(subscription_id)}/events/"
        kept = ("id", "event_type", "resource_id", "status", "datetime_created")
        found = rows(self._http.get(path, {"limit": 100, "offset": offset}))
        return [{name: each.get(name) for name in kept} for each in found]
