"""Keys with roles, and the machine door's requests, line and answers; on both databases."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from hmc_crowd.errors import DuplicateError, InputError, StateError
from hmc_crowd.store import Place, QueueAges

if TYPE_CHECKING:
    from hmc_crowd._base.clock import VirtualClock

ASPECTS = ["malevolent"]


def row(item: str, due: Any = None, destination: str = "people") -> dict[str, Any]:
    words = {"item": item, "text": "so it goes", "destination": destination, "reason": "r", "policy": "p"}
    return words | {"gain": 0.5, "inclusion_probability": 1.0, "due_at": due}


def said(item: str, worker: str = "w1", label: str = "x", **more: Any) -> dict[str, Any]:
    return {"item": item, "aspect": ASPECTS[0], "worker": worker, "label": label, **more}


def test_a_key_is_found_until_it_is_revoked(store: Any) -> None:
    with store.begin() as tx:
        record, key = tx.keys.issue("auditor", label="ann")
        assert tx.keys.find(key) == record
        tx.keys.revoke(record.id)
        assert tx.keys.find(key) is None
        with pytest.raises(StateError, match="unknown"):
            tx.keys.revoke("nobody")


def test_a_key_holds_skills_and_capacity(store: Any) -> None:
    with store.begin() as tx:
        record, _ = tx.keys.issue("expert", skills=["Law", "de"], per_hour=4)
        assert (record.skills, record.per_hour) == (("law", "de"), 4)
        assert tx.keys.get(record.id) == record
        with pytest.raises(InputError, match="per_hour"):
            tx.keys.issue("expert", per_hour=0)


def test_a_reply_belongs_to_one_request(store: Any, campaign: int) -> None:
    with store.begin() as tx:
        assert tx.door.keep_reply(campaign, "k", "f", '{"a":[1]}')
        assert not tx.door.keep_reply(campaign, "k", "f", "{}")
        assert json.loads(tx.door.reply(campaign, "k", "f")) == {"a": [1]}
        with pytest.raises(DuplicateError, match="another request"):
            tx.door.reply(campaign, "k", "other")


def test_the_queue_goes_by_deadline(store: Any, campaign: int, clock: VirtualClock) -> None:
    now = clock.now()
    with store.begin() as tx:
        rows = [row("b"), row("later", now + timedelta(2)), row("soon", now + timedelta(1)), row("m", None, "machine")]
        tx.door.put(campaign, rows)
        assert [each["item"] for each in tx.door.queue(campaign)] == ["soon", "later", "b"]
        assert tx.door.totals(campaign) == {("people", True): 3, ("machine", False): 1}
        with pytest.raises(DuplicateError, match="allocated before"):
            tx.door.put(campaign, [row("new"), row("b")])


def test_an_answer_at_the_door_is_an_answer_of_the_campaign(store: Any, campaign: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        tx.door.put(campaign, [row("a")])
        began = clock.now() - timedelta(seconds=30)
        tx.door.answer(campaign, [said("a", started=began)], aspects=ASPECTS, needed={}, source="expert")
        found = tx.work.answers(campaign).iloc[0]
        assert (found["task"], found["worker"], found["label"], found["platform"]) == ("a", "w1", "x", "door")
        assert (found["round"], found["seconds"]) == (0, 30.0)
        assert [hit.title for hit in tx.work.hits(campaign)] == ["Answers by the machine door (expert)"]


def test_enough_answers_close_an_item(store: Any, campaign: int) -> None:
    with store.begin() as tx:
        tx.door.put(campaign, [row("a"), row("b")])
        two = {"aspects": ASPECTS, "needed": {"a": 2}}
        assert [tx.door.answer(campaign, [said("a")], **two) for _ in range(2)] == [(1, []), (0, [])]
        assert tx.door.answer(campaign, [said("a", "w2")], **two) == (1, ["a"])
        assert [each["item"] for each in tx.door.queue(campaign)] == ["b"]
        with pytest.raises(DuplicateError, match="given once"):
            tx.door.answer(campaign, [said("a", label="y")], **two)
        with pytest.raises(StateError, match="never allocated"):
            tx.door.answer(campaign, [said("z")], **two)


def test_what_the_machine_kept_is_not_for_people(store: Any, campaign: int) -> None:
    with store.begin() as tx:
        tx.door.put(campaign, [row("m", None, "machine")])
        with pytest.raises(StateError, match="never allocated"):
            tx.door.answer(campaign, [said("m")], aspects=ASPECTS, needed={})
        assert tx.door.answer(campaign, [said("m")], aspects=ASPECTS, needed={}, may_all=True) == (1, ["m"])


def test_an_item_with_several_questions_waits_for_all_of_them(store: Any, campaign: int) -> None:
    with store.begin() as tx:
        tx.door.put(campaign, [row("a")])
        both = {"aspects": ["malevolent", "kind"], "needed": {}}
        assert tx.door.answer(campaign, [said("a")], **both) == (1, [])
        assert tx.door.answer(campaign, [said("a") | {"aspect": "kind"}], **both) == (1, ["a"])


def until(clock: VirtualClock, seconds: float = 60) -> Any:
    return clock.now() + timedelta(seconds=seconds)


def test_the_line_goes_by_deadline_then_by_urgency(store: Any, campaign: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        soon = clock.now() + timedelta(hours=1)
        places = [Place("calm"), Place("urgent", urgency=5), Place("due", due_at=soon, urgency=1)]
        assert tx.queue.put(campaign, places) == 3
        assert tx.queue.put(campaign, places) == 0
        assert tx.queue.waiting(campaign, "w") == ["due", "urgent", "calm"]
        assert tx.queue.claim(campaign, "w", until=until(clock), limit=5) == ["due", "urgent", "calm"]


def test_nobody_gets_an_item_twice(store: Any, campaign: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        tx.queue.put(campaign, [Place("a", answers=2)])
        assert [tx.queue.claim(campaign, who, until=until(clock), limit=9) for who in ("w", "w", "v", "u")] == [
            ["a"],
            [],
            ["a"],
            [],
        ]
        assert tx.queue.done(campaign, "w", ["a"]) == 1
        assert tx.queue.claim(campaign, "w", until=until(clock)) == []


def test_a_claim_ends_by_itself(store: Any, campaign: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        tx.queue.put(campaign, [Place("a")])
        tx.queue.claim(campaign, "w", until=until(clock))
    clock.advance(61)
    with store.begin() as tx:
        assert tx.queue.claim(campaign, "v", until=until(clock)) == ["a"]
        # The first one's time is up: the place is the other's now.
        assert tx.queue.done(campaign, "w", ["a"]) == 0
        assert tx.queue.done(campaign, "v", ["a"]) == 1


def test_what_is_given_back_is_free_at_once(store: Any, campaign: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        tx.queue.put(campaign, [Place("a")])
        tx.queue.claim(campaign, "w", until=until(clock))
        assert tx.queue.give_back(campaign, "v", ["a"]) == 0
        assert tx.queue.give_back(campaign, "w", ["a"]) == 1
        assert tx.queue.claim(campaign, "v", until=until(clock)) == ["a"]


def test_what_is_kept_for_an_expert_is_his(store: Any, campaign: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        ann, bea = (tx.keys.issue("expert", label=name)[0].id for name in ("ann", "bea"))
        tx.queue.put(campaign, [Place("a", audience="expert", expert=ann), Place("b", audience="expert", expert=ann)])
        assert tx.queue.loads() == {ann: 2}
        assert tx.queue.claim(campaign, "w", until=until(clock)) == []
        assert tx.queue.claim(campaign, "w", until=until(clock), expert=bea) == []
        assert tx.queue.give_back(campaign, "v", ["a"], expert=ann) == 1
        assert tx.queue.claim(campaign, "w", until=until(clock), limit=2, expert=bea) == ["a"]
        tx.keys.revoke(ann)
        assert tx.queue.claim(campaign, "w", until=until(clock), limit=2, expert=bea) == ["b"]


def test_the_line_tells_its_age(store: Any, campaign: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        assert tx.queue.ages(campaign) == QueueAges(0, 0, None, 0)
        tx.queue.put(campaign, [Place("a", due_at=clock.now() + timedelta(seconds=5)), Place("b", answers=2)])
        tx.queue.claim(campaign, "w", until=until(clock))
    clock.advance(10)
    with store.read() as tx:
        assert tx.queue.ages(campaign) == QueueAges(waiting=2, held=1, oldest_s=10.0, overdue=1)


@pytest.mark.parametrize("change", [{"urgency": 6}, {"answers": 0}, {"audience": "all"}])
def test_a_place_that_makes_no_sense_is_refused(store: Any, campaign: int, change: dict[str, Any]) -> None:
    with store.begin() as tx, pytest.raises(InputError, match="give an urgency"):
        tx.queue.put(campaign, [Place("a", **change)])
