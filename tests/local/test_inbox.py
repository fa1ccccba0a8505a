"""Events that platforms send: kept once, in order, also over a restart."""

from __future__ import annotations

from datetime import timedelta

from hmc_crowd_local import connect
from hmc_crowd_local._inbox import InboxEvent


def test_an_event_is_kept_once_and_read_in_order_until_it_is_done(database_url, clock) -> None:
    with connect(database_url, clock=clock) as platform:
        inbox = platform.inbox("prolific")
        late, early = InboxEvent("e2", "submission", "s2"), InboxEvent("e1", "submission", "s1")
        assert inbox.add(late, at=clock.now())
        assert inbox.add(early, at=clock.now() - timedelta(seconds=5))
        assert not inbox.add(late, at=clock.now())
    with connect(database_url, clock=clock) as platform:
        inbox = platform.inbox("prolific")
        assert inbox.pending() == [early, late]
        inbox.done("e1")
        assert inbox.pending() == [late]
        assert platform.inbox("other").pending() == []
        assert not inbox.add(early, at=clock.now())
