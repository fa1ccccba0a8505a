"""Keys with roles, and the machine door's requests, queue and answers; on both databases."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from hmc_crowd.errors import DuplicateError, InputError, StateError

if TYPE_CHECKING:
    from hmc_crowd._base.clock import VirtualClock


def row(item: str, due: Any = None, destination: str = "people") -> dict[str, Any]:
    words = {"item": item, "text": "so it goes", "destination": destination, "reason": "r", "policy": "p"}
    return words | {"gain": 0.5, "inclusion_probability": 1.0, "due_at": due}


def test_a_key_is_found_until_it_is_revoked(store: Any) -> None:
    with store.begin() as tx:
        record, key = tx.keys.issue("auditor", label="ann")
        assert tx.keys.find(key) == record
        tx.keys.revoke(record.id)
        assert tx.keys.find(key) is None
        with pytest.raises(StateError, match="unknown"):
            tx.keys.revoke("nobody")


def test_a_reply_belongs_to_one_request(store: Any, campaign: int) -> None:
    with store.begin() as tx:
        assert tx.door.keep_reply(campaign, "k", "f", {"a": [1]})
        assert not tx.door.keep_reply(campaign, "k", "f", {"a": [2]})
        assert tx.door.reply(campaign, "k", "f") == {"a": [1]}
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


def test_enough_answers_close_an_item(store: Any, campaign: int) -> None:
    with store.begin() as tx:
        tx.door.put(campaign, [row("a"), row("b")])
        said = [{"item": "a", "worker": "w1", "label": "x"}]
        assert [tx.door.answer(campaign, said, redundancy=2) for _ in range(2)] == [1, 0]
        assert [each["item"] for each in tx.door.queue(campaign, without="w1")] == ["b"]
        tx.door.answer(campaign, [said[0] | {"worker": "w2"}], redundancy=2)
        assert [each["item"] for each in tx.door.queue(campaign)] == ["b"]
        with pytest.raises(DuplicateError, match="given once"):
            tx.door.answer(campaign, [said[0] | {"label": "y"}], redundancy=2)
        with pytest.raises(InputError, match="never allocated"):
            tx.door.answer(campaign, [{"item": "z", "worker": "w", "label": "x"}], redundancy=2)
