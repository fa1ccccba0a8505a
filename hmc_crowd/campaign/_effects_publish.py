"""Publishing, recruiting, more places, no more offers: what the outbox does about HITs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from hmc_crowd.campaign._effect import Effect, Outcome
from hmc_crowd.campaign._pages import Pages
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.platform import Recruiter, Recruitment, RoutedPages, TopsUp

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.platform import Hit, Platform, RemoteHit, TaskPages
    from hmc_crowd.store import HitRecord, IntentRecord, Transaction

__all__ = ["Expiring", "Extending", "HitBook", "Publishing", "Recruiting", "order_of", "require_routed"]


class HitBook:
    """The campaign's HITs as they are stored and as pages show them, read when the first of a round is asked for."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._records: dict[str, HitRecord] = {}
        self._shown: dict[str, Hit] = {}

    def record(self, key: str) -> HitRecord:
        """Return a stored HIT."""
        if key not in self._records:
            with self._context.store.read() as tx:
                self._records = {hit.key: hit for hit in tx.work.hits(self._context.campaign_id)}
        if key not in self._records:
            raise StateError(f"no HIT has the key {key!r}; it was removed while it waited to be sent")
        return self._records[key]

    def hit(self, key: str) -> Hit:
        """Return a HIT as the platform gets it."""
        if key not in self._shown:
            wanted = self.record(key)
            together = [each for each in self._records.values() if each.round == wanted.round]
            with self._context.store.read() as tx:
                pages = Pages(self._context, tx, together)
            self._shown |= {each.key: pages.hit(each) for each in together}
        return self._shown[key]


def order_of(key: str, hits: list[Hit], payload: Mapping[str, Any]) -> Recruitment:
    """Return the order that an intent stands for: the same each time, whatever was added to it later."""
    return Recruitment.for_hits(
        key,
        hits,
        expected_s=float(payload["expected_s"]),
        is_sensitive=bool(payload["is_sensitive"]),
        content_warning=str(payload.get("content_warning", "")),
        filters=payload.get("filters", ()),
        per_worker=payload.get("per_worker"),
    )


def require_routed(platform: Platform, pages: TaskPages | None) -> RoutedPages:
    """Return the pages that a recruiting platform's people come to."""
    found = pages if pages is not None else platform
    if not isinstance(found, RoutedPages):
        raise InputError(
            f"platform {platform.name!r} recruits people and shows them no pages of its own; pass pages=, for example "
            "find_platform('local')"
        )
    return found


def _opened(platform: Platform, keys: Iterable[str], hit_id: str) -> Any:
    """Return the change that notes where HITs are offered."""

    def apply(tx: Transaction) -> None:
        for key in keys:
            tx.work.set_hit(key, state="open", platform=platform.name, platform_hit_id=hit_id)

    return apply


class Publishing(Effect):
    """One HIT on a platform that shows it itself, or in a frame that our own pages fill."""

    operation = "publish"
    verb = "publishing"

    def __init__(self, context: Context, platform: Platform, pages: TaskPages | None, book: HitBook) -> None:
        self._context = context
        self._platform = platform
        self._pages = pages
        self._book = book

    def settle(self, intent: IntentRecord) -> Outcome | None:
        """Ask for the key; what is there is adopted."""
        remote = self._platform.find(intent.key)
        return None if remote is None else self._done(intent, remote)

    def call(self, intent: IntentRecord) -> Outcome:
        """Publish; a key that was sent before says when, because request tokens age."""
        hit = self._book.hit(intent.key)
        shown_by, itself = self._pages, cast("object", self._platform)
        if isinstance(shown_by, RoutedPages) and shown_by is not itself:
            # Nobody may open the frame before his work is there; an order of its own keeps it from other people.
            shown_by.open_order(hit.key, [hit])
        if intent.sent_at is None:
            return self._done(intent, self._platform.publish(hit))
        return self._done(intent, self._platform.publish(hit, first_sent_at=intent.sent_at))

    def _done(self, intent: IntentRecord, remote: RemoteHit) -> Outcome:
        return Outcome(result={"hit_id": remote.hit_id}, apply=_opened(self._platform, [intent.key], remote.hit_id))


class Recruiting(Effect):
    """People for many HITs at once, which our own pages show."""

    operation = "recruit"
    verb = "recruiting"

    def __init__(self, context: Context, platform: Platform, pages: TaskPages | None, book: HitBook) -> None:
        self._context = context
        self._platform = platform
        self._pages = pages
        self._book = book

    def settle(self, intent: IntentRecord) -> Outcome | None:
        """Ask for the key; what recruits already is adopted."""
        remote = self._platform.find(intent.key)
        return None if remote is None else self._done(intent, remote)

    def call(self, intent: IntentRecord) -> Outcome:
        """Make the pages ready, then recruit: nobody may arrive before his work is there."""
        payload = intent.payload or {}
        hits = [self._book.hit(key) for key in payload["hits"]]
        pages = require_routed(self._platform, self._pages)
        if not isinstance(self._platform, Recruiter):
            raise InputError(f"platform {self._platform.name!r} recruits nobody; use the one this was planned for")
        pages.show(hits)
        pages.open_order(intent.key, hits)
        return self._done(intent, self._platform.recruit(order_of(intent.key, hits, payload)))

    def _done(self, intent: IntentRecord, remote: RemoteHit) -> Outcome:
        keys = (intent.payload or {})["hits"]
        return Outcome(result={"hit_id": remote.hit_id}, apply=_opened(self._platform, keys, remote.hit_id))


class Extending(Effect):
    """More answers for a HIT: more places, or another HIT with the same questions."""

    operation = "extend"
    verb = "extending"

    def __init__(self, context: Context, platform: Platform, pages: TaskPages | None, book: HitBook) -> None:
        self._context = context
        self._platform = platform
        self._pages = pages
        self._book = book

    def settle(self, intent: IntentRecord) -> Outcome | None:  # noqa: ARG002
        """Say nothing: every way of doing it asks for an absolute number or by a key, so it may be repeated."""
        return None

    def call(self, intent: IntentRecord) -> Outcome:
        """Do it the platform's way."""
        payload = intent.payload or {}
        if payload["way"] == "places":
            return self._by_places(payload)
        if payload["way"] == "top_up":
            return self._by_top_up(payload)
        new = self._book.hit(payload["new_key"])
        remote = self._platform.publish(new) if intent.sent_at is None else self._again(new, intent)
        return self._done(payload["new_key"], remote)

    def _again(self, hit: Hit, intent: IntentRecord) -> RemoteHit:
        found = self._platform.find(hit.key)
        return found if found is not None else self._platform.publish(hit, first_sent_at=intent.sent_at)

    def _by_places(self, payload: Mapping[str, Any]) -> Outcome:
        new = self._book.hit(payload["new_key"])
        pages = require_routed(self._platform, self._pages)
        if not isinstance(self._platform, Recruiter):
            raise InputError(f"platform {self._platform.name!r} recruits nobody; use the one this was planned for")
        pages.show([new])
        pages.open_order(payload["order_key"], [new])
        places = max(int(payload["study_places"]), self._places_there(payload) + new.redundancy)
        remote = self._platform.find(payload["order_key"])
        # A later extension counts the places of the earlier ones: where it was quicker, nothing is left to ask for.
        if remote is None or remote.redundancy < places:
            remote = self._platform.set_places(payload["hit_id"], places, reopen=bool(payload["reopen"]))
        return self._done(payload["new_key"], remote)

    def _places_there(self, payload: Mapping[str, Any]) -> int:
        """Return the order's other places: another HIT of it may have been extended since this was written down."""
        with self._context.store.read() as tx:
            hits = tx.work.hits(self._context.campaign_id, with_items=False)
        others = [each for each in hits if each.order_key == payload["order_key"] and each.key != payload["new_key"]]
        return sum(each.redundancy for each in others if each.state not in {"planned", "cancelled"})

    def _by_top_up(self, payload: Mapping[str, Any]) -> Outcome:
        if not isinstance(self._platform, TopsUp):
            raise InputError(f"platform {self._platform.name!r} adds no places; use the one this was planned for")
        record = self._book.record(payload["hit_key"])
        hit = replace(self._book.hit(record.key), redundancy=payload["base"])
        remote = self._platform.top_up(hit, payload["hit_id"], target=payload["target"])
        if remote.hit_id != payload["hit_id"]:
            return Outcome(
                result={"hit_id": remote.hit_id, "rest_key": remote.key},
                apply=self._adopt(record, remote, payload["more"]),
            )

        def apply(tx: Transaction) -> None:
            # A later extension may have been quicker.
            tx.work.set_hit(record.key, state="open", redundancy=max(payload["target"], remote.redundancy))

        return Outcome(result={"hit_id": remote.hit_id}, apply=apply)

    def _adopt(self, record: HitRecord, remote: RemoteHit, more: int) -> Any:
        """Return the change that stores the HIT which carries the rest."""
        rest = replace(record, key=remote.key, redundancy=more, state="planned", salvaged_from=record.key)

        def apply(tx: Transaction) -> None:
            tx.work.add_hits(self._context.campaign_id, int(record.round or 0), [rest])
            _opened(self._platform, [rest.key], remote.hit_id)(tx)

        return apply

    def _done(self, key: str, remote: RemoteHit) -> Outcome:
        return Outcome(result={"hit_id": remote.hit_id}, apply=_opened(self._platform, [key], remote.hit_id))


class Expiring(Effect):
    """Offered to nobody more; repeating it is harmless."""

    operation = "expire"
    verb = "closing"

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    def settle(self, intent: IntentRecord) -> Outcome | None:  # noqa: ARG002
        """Say nothing: it is simply done again."""
        return None

    def call(self, intent: IntentRecord) -> Outcome:
        """Close the HIT or the study."""
        hit_id = (intent.payload or {})["hit_id"]
        remote = self._platform.expire(hit_id)

        def apply(tx: Transaction) -> None:
            for hit in tx.work.hits(intent.campaign_id, state="open", with_items=False):
                if (hit.platform, hit.platform_hit_id) == (self._platform.name, hit_id):
                    tx.work.set_hit(hit.key, state="stopped")

        return Outcome(result={"is_open": remote.is_open}, apply=None if remote.is_open else apply)
