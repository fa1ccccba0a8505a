"""An intent is worked on by one process at a time, a lane lets one through, and a person answers what is unknown."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from hmc_crowd.errors import InputError, StateError
from hmc_crowd.store import IntentRecord, open_store

if TYPE_CHECKING:
    from hmc_crowd._base.clock import VirtualClock
    from hmc_crowd.store import Store

AT = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def intent(campaign: int, key: str, **changes: object) -> IntentRecord:
    made = IntentRecord(key, campaign, "publish", "hash", 0, "USD", AT, AT)
    return replace(made, **changes)


@pytest.fixture
def planned(store: Store, campaign: int) -> int:
    """Intents a (oldest), b, c."""
    with store.begin() as tx:
        for at, key in enumerate("abc"):
            tx.work.add_intent(intent(campaign, key, created_at=AT + at * MINUTE))
    return campaign


def keys(intents: list[IntentRecord]) -> list[str]:
    return [each.key for each in intents]


def test_all_columns_come_back(store: Store, campaign: int) -> None:
    full = intent(campaign, "k", lane="mturk 1", payload={"hit": "h1"}, not_before=AT, state="sent", attempts=2)
    full = replace(full, sent_at=AT, lease_owner="p1", lease_until=AT + MINUTE, result={"id": 7})
    with store.begin() as tx:
        assert tx.work.add_intent(full) == full
        assert tx.work.intent("k") == full
        assert tx.work.intent("other") is None


def test_a_claim_leases_the_oldest_first(store: Store, planned: int, clock: VirtualClock) -> None:
    until = clock.now() + MINUTE
    with store.begin() as tx:
        first = tx.work.claim_intents(planned, owner="p1", until=until, limit=2)
        assert keys(first) == ["a", "b"]
        assert {(each.lease_owner, each.lease_until) for each in first} == {("p1", until)}
        assert keys(tx.work.claim_intents(planned, owner="p2", until=until)) == ["c"]
        assert tx.work.claim_intents(planned, owner="p1", until=until) == []


def test_a_lease_that_ran_out_is_taken_over(store: Store, planned: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        tx.work.claim_intents(planned, owner="p1", until=clock.now() + MINUTE)
    clock.advance(60)
    with store.begin() as tx:
        assert keys(tx.work.claim_intents(planned, owner="p2", until=clock.now() + MINUTE)) == ["a", "b", "c"]
        with pytest.raises(
            StateError, match=r"'a' is planned and leased to 'p2', not to 'p1' any more; claim it again"
        ):
            tx.work.set_intent("a", "sent", owner="p1")


def test_releasing_ends_every_lease_of_an_owner(store: Store, planned: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        tx.work.claim_intents(planned, owner="p1", until=clock.now() + MINUTE, limit=2)
        assert tx.work.release_intents("p1") == 2
        assert len(tx.work.claim_intents(planned, owner="p2", until=clock.now() + MINUTE)) == 3


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"operations": ["pay"]}, ["pay"]),
        ({"lane": "money"}, ["pay"]),
        ({"keys": ["b", "nope"]}, ["b"]),
        ({"keys": []}, []),
        ({}, ["a", "b", "c", "pay", "sent"]),
    ],
)
def test_a_claim_takes_what_is_asked_and_open(
    store: Store, planned: int, clock: VirtualClock, filters: dict[str, object], expected: list[str]
) -> None:
    later = AT + timedelta(hours=12)
    with store.begin() as tx:
        for made in (
            intent(planned, "pay", operation="pay", lane="money", created_at=AT + 5 * MINUTE),
            intent(planned, "sent", state="sent", created_at=AT + 6 * MINUTE),
            intent(planned, "not yet", not_before=later),
            intent(planned, "done", state="done"),
            intent(planned, "asked", state="needs_human"),
            intent(planned, "dropped", state="cancelled"),
        ):
            tx.work.add_intent(made)
        assert keys(tx.work.claim_intents(planned, owner="p", until=clock.now() + MINUTE, **filters)) == expected


def test_a_lease_must_end_later(store: Store, planned: int, clock: VirtualClock) -> None:
    with pytest.raises(InputError, match="which is past; a lease must end later than now"), store.begin() as tx:
        tx.work.claim_intents(planned, owner="p", until=clock.now())


def test_two_processes_never_claim_the_same_intent(store: Store, campaign: int, made_url: str) -> None:
    with store.begin() as tx:
        for number in range(60):
            tx.work.add_intent(intent(campaign, f"k{number:02}"))

    def work(owner: str) -> list[str]:
        got: list[str] = []
        with open_store(made_url, busy_s=60) as own:
            while True:
                with own.begin() as tx:
                    until = datetime.now(UTC) + timedelta(hours=1)
                    new = keys(tx.work.claim_intents(campaign, owner=owner, until=until, limit=3))
                    for key in new:
                        tx.work.set_intent(key, "sent", owner=owner)
                got += new
                if not new:
                    return got

    with ThreadPoolExecutor(4) as threads:
        lists = list(threads.map(work, ["p1", "p2", "p3", "p4"]))
    assert sorted(key for each in lists for key in each) == [f"k{number:02}" for number in range(60)]
    with store.read() as tx:
        assert {each.attempts for each in tx.work.intents(campaign)} == {1}


def test_sending_keeps_the_first_time_and_counts(store: Store, planned: int, clock: VirtualClock) -> None:
    first = clock.now()
    with store.begin() as tx:
        tx.work.set_intent("a", "sent")
    clock.advance(30)
    with store.begin() as tx:
        tx.work.set_intent("a", "sent", not_before=clock.now() + MINUTE)
        found = tx.work.intent("a")
    assert found is not None
    assert (found.sent_at, found.attempts, found.updated_at) == (first, 2, first + MINUTE / 2)
    assert found.not_before == first + 1.5 * MINUTE


@pytest.mark.parametrize("state", ["done", "needs_human", "cancelled"])
def test_what_is_over_is_leased_no_more(store: Store, planned: int, clock: VirtualClock, state: str) -> None:
    with store.begin() as tx:
        tx.work.claim_intents(planned, owner="p1", until=clock.now() + MINUTE, keys=["a"])
        tx.work.set_intent("a", "sent", owner="p1")
        tx.work.set_intent("a", state, {"why": 1}, owner="p1")
        found = tx.work.intent("a")
        assert found is not None
        assert (found.state, found.lease_owner, found.lease_until, found.result) == (state, None, None, {"why": 1})
        with pytest.raises(StateError, match="leased to nobody, not to 'p1'"):
            tx.work.set_intent("a", "sent", owner="p1")


def test_an_outcome_is_kept_after_the_lease_but_nothing_is_sent(
    store: Store, planned: int, clock: VirtualClock
) -> None:
    with store.begin() as tx:
        tx.work.claim_intents(planned, owner="p1", until=clock.now() + MINUTE, keys=["a"])
    clock.advance(61)
    with store.begin() as tx:
        with pytest.raises(StateError, match="claim it again"):
            tx.work.set_intent("a", "sent", owner="p1")
        tx.work.set_intent("a", "done", {"hit_id": "7"}, owner="p1")


def test_unknown_states_and_keys_are_named(store: Store, planned: int) -> None:
    with store.begin() as tx:
        with pytest.raises(InputError, match="state is 'finished'; choose planned, sent, done, needs_human, cancelled"):
            tx.work.set_intent("a", "finished")
        with pytest.raises(StateError, match="no intent has the key 'x'"):
            tx.work.set_intent("x", "sent", owner="p1")


def test_a_person_answers_what_is_unknown(store: Store, planned: int) -> None:
    with store.begin() as tx:
        tx.work.set_intent("a", "needs_human", {"question": "was it paid?"})
        tx.work.answer_question("a", "done", "the bonus shows on the account; Ada")
        found = tx.work.intent("a")
    assert found is not None
    assert (found.state, found.result) == (
        "done",
        {"question": "was it paid?", "note": "the bonus shows on the account; Ada"},
    )


@pytest.mark.parametrize(
    ("key", "state", "note", "message"),
    [
        ("a", "done", "seen", "'a' is planned and waits for no answer"),
        ("x", "done", "seen", "no intent has the key 'x'"),
        ("q", "sent", "seen", "a person answers planned, done, cancelled"),
        ("q", "done", " ", "note is empty"),
    ],
)
def test_wrong_answers_are_refused(store: Store, planned: int, key: str, state: str, note: str, message: str) -> None:
    with store.begin() as tx:
        tx.work.add_intent(intent(planned, "q", state="needs_human"))
        with pytest.raises((InputError, StateError), match=message):
            tx.work.answer_question(key, state, note)


def test_one_at_a_time_is_in_a_lane(store: Store, clock: VirtualClock) -> None:
    with store.begin() as tx:
        assert tx.work.take_lane("money of 1", owner="p1", until=clock.now() + MINUTE)
        assert tx.work.take_lane("money of 2", owner="p2", until=clock.now() + MINUTE)
        assert not tx.work.take_lane("money of 1", owner="p2", until=clock.now() + MINUTE)
        assert tx.work.take_lane("money of 1", owner="p1", until=clock.now() + 2 * MINUTE)
    clock.advance(90)
    with store.begin() as tx:
        assert not tx.work.take_lane("money of 1", owner="p2", until=clock.now() + MINUTE)
        tx.work.free_lane("money of 1", "p2")
        assert not tx.work.take_lane("money of 1", owner="p2", until=clock.now() + MINUTE)
        tx.work.free_lane("money of 1", "p1")
        assert tx.work.take_lane("money of 1", owner="p2", until=clock.now() + MINUTE)


def test_a_lane_that_ran_out_is_free(store: Store, clock: VirtualClock) -> None:
    with store.begin() as tx:
        tx.work.take_lane("money", owner="p1", until=clock.now() + MINUTE)
    clock.advance(60)
    with store.begin() as tx:
        assert tx.work.take_lane("money", owner="p2", until=clock.now() + MINUTE)
