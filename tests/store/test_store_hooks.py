"""What webhooks are told is written with what it tells, sent until it arrives, or dead and to be seen."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from hmc_crowd.errors import InputError, StateError

if TYPE_CHECKING:
    from hmc_crowd._base.clock import VirtualClock

URL = "https://example.org/hook"


def soon(clock: VirtualClock) -> Any:
    return clock.now() + timedelta(seconds=60)


def test_an_event_goes_to_those_who_want_it(store: Any, campaign: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        hook = tx.hooks.subscribe(campaign, URL, ["answer", "alert"], by="k")
        assert tx.hooks.tell(campaign, "decision", {}) == 0
        assert tx.hooks.tell(campaign, "answer", {"n": 1}) == 1
        delivery, to = tx.hooks.due(until=soon(clock))[0]
        assert (delivery.body, to) == ('{"n":1}', hook)
        # Whoever took it has it until then; nobody else sends it meanwhile.
        assert tx.hooks.due(until=soon(clock)) == []
        tx.hooks.sent(delivery.id)
        assert tx.hooks.counts(campaign) == {"sent": 1}


def test_what_is_undone_is_not_told(store: Any, campaign: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        tx.hooks.subscribe(campaign, URL, ["answer"], by="k")

    def cut() -> None:
        with store.begin() as tx:
            tx.hooks.tell(campaign, "answer", {})
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError):
        cut()
    with store.begin() as tx:
        assert tx.hooks.due(until=soon(clock)) == []


def test_a_dead_message_can_be_sent_again(store: Any, campaign: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        tx.hooks.subscribe(campaign, URL, ["answer"], by="k")
        tx.hooks.tell(campaign, "answer", {})
        delivery, _ = tx.hooks.due(until=soon(clock))[0]
        tx.hooks.failed(delivery.id, "503", again_at=None)
        assert [each.problem for each in tx.hooks.deliveries(campaign, state="dead")] == ["503"]
        tx.hooks.send_again(campaign, delivery.id)
        assert [each.id for each, _ in tx.hooks.due(until=soon(clock))] == [delivery.id]
        with pytest.raises(StateError, match="not dead"):
            tx.hooks.send_again(campaign, delivery.id)


def test_ending_a_webhook_ends_what_waits_for_it(store: Any, campaign: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        hook = tx.hooks.subscribe(campaign, URL, ["answer"], by="k")
        tx.hooks.tell(campaign, "answer", {})
        with pytest.raises(StateError, match="unknown"):
            tx.hooks.end(hook.id, campaign=campaign + 1)
        tx.hooks.end(hook.id, campaign=campaign)
        assert (tx.hooks.due(until=soon(clock)), tx.hooks.webhooks(campaign)) == ([], [])
        with pytest.raises(StateError, match="has ended"):
            tx.hooks.end(hook.id)


@pytest.mark.parametrize("events", [[], ["everything"]])
def test_unknown_events_are_refused(store: Any, campaign: int, events: list[str]) -> None:
    with store.begin() as tx, pytest.raises(InputError, match="events is"):
        tx.hooks.subscribe(campaign, URL, events, by="k")


def test_what_was_told_is_kept(store: Any, campaign: int) -> None:
    with store.begin() as tx:
        assert tx.hooks.told(campaign) is None
        for seen in ({"a": 1}, {"a": 2}):
            tx.hooks.keep_told(campaign, seen)
        assert tx.hooks.told(campaign) == {"a": 2}
