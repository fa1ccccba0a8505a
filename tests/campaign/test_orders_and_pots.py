"""What is asked for in one call, and whose money is whose."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from outside_house import SPEND, hits_of

from hmc_crowd.campaign._keys import campaign_key, campaign_mark
from hmc_crowd.campaign._ledger import pots_of, settle_pot
from hmc_crowd.campaign._orders import level_pay
from hmc_crowd.platform import Capabilities, RemoteAnswer, RemoteSubmission, SubmissionState
from hmc_crowd.simulation import SimulatedCrowd, draw_workers
from hmc_crowd.store import HitItemRecord, HitRecord, IntentRecord, open_store
from hmc_crowd.testing import FakePlatform

NOW = datetime(2026, 1, 5, tzinfo=UTC)


def hit(key: str, seconds: float = 60.0, **changes: Any) -> HitRecord:
    items = (HitItemRecord(f"{key}-item", "label", 0),)
    return HitRecord(key, "Judge", 2, 100, "USD", seconds, items, **changes)


def intent(key: str, operation: str, amount: int, payload: dict[str, Any], **changes: Any) -> IntentRecord:
    return IntentRecord(key, 1, operation, "h", amount, "USD", NOW, NOW, payload=payload, **changes)


def test_hits_of_about_one_length_get_the_pay_of_the_longest() -> None:
    # 1,200 an hour: 100 s -> 33.3, so 34; 81 s is within 1.25 of 100 s; 79 s is not: 26.3, so 27; 64 s is with it.
    levelled = level_pay([hit("a", 79), hit("b", 100), hit("c", 64), hit("d", 81)], 1200)
    assert [each.pay_minor for each in levelled] == [27, 34, 27, 34]


@given(st.lists(st.floats(1, 10_000), min_size=1, max_size=30), st.integers(1, 10_000))
def test_nobody_earns_less_than_the_hourly_pay(seconds: list[float], hourly: int) -> None:
    for each in level_pay([hit(str(at), each) for at, each in enumerate(seconds)], hourly):
        assert each.pay_minor * 3600 >= hourly * each.expected_s * (1 - 1e-12)


def test_keys_say_whose_they_are_and_are_fit_for_request_tokens() -> None:
    key = campaign_key("uid", "order", 3)
    assert (len(key), key.isalnum(), key[:8]) == (32, True, campaign_mark("uid"))
    assert campaign_key("uid", "order", 3) == key != campaign_key("uid", "order", 4)
    assert campaign_mark("other") != campaign_mark("uid")


def test_a_pot_holds_what_was_reserved_for_its_places() -> None:
    hits = [hit("a"), hit("b", order_key="o"), hit("c", order_key="o"), hit("x", order_key="o", salvaged_from="b")]
    intents = [
        intent("a", "publish", 240, {"places": 2}),
        intent("e", "extend", 120, {"way": "top_up", "hit_key": "a", "more": 1}, result={"hit_id": "1"}),
        intent("o", "recruit", 600, {"places": 4, "hits": ["b", "c"]}, result={"unmatched": {"s": "submitted"}}),
        intent("f", "extend", 300, {"way": "places", "order_key": "o", "new_key": "x", "more": 2}),
        intent("gone", "publish", 999, {"places": 1}, state="cancelled"),
    ]
    alone, order = pots_of(hits, intents)
    assert alone.reservations == (("a", 2, 240), ("e", 1, 120))
    assert order.reservations == (("o", 4, 600), ("f", 2, 300))
    assert (order.places, order.unmatched) == (6, (("s", "submitted"),))


@pytest.mark.parametrize(("used", "spent"), [(0, 0), (1, 121), (2, 241), (3, 361)])
def test_a_pot_is_settled_by_its_places_and_lowered_when_fewer_are_paid(tmp_path: Any, used: int, spent: int) -> None:
    # 241 for two places is 120.5 each: one costs 121, rounded up.
    intents = [
        intent("a", "publish", 241, {"places": 2}),
        intent("e", "extend", 120, {"way": "top_up", "hit_key": "a", "more": 1}),
    ]
    pot = pots_of([hit("a")], intents)[0]
    with open_store(tmp_path / "pot.db", create=True) as store, store.begin() as tx:
        cid = tx.campaigns.create("c", {}, created_at=NOW).id
        for key, _, amount in pot.reservations:
            tx.budget.reserve(cid, key, amount, "USD", 1_000)
        settle_pot(cid, tx, pot, 3)
        assert tx.budget.totals(cid).settled_minor == 361
        settle_pot(cid, tx, pot, used)
        settle_pot(cid, tx, pot, used)
        assert (tx.budget.totals(cid).settled_minor, tx.budget.gap(cid)) == (spent, 0)


def test_a_gap_in_the_ledger_is_found(tmp_path: Any) -> None:
    import sqlite3

    path = tmp_path / "gap.db"
    with open_store(path, create=True) as store:
        with store.begin() as tx:
            cid = tx.campaigns.create("c", {}, created_at=NOW).id
            tx.budget.reserve(cid, "a", 100, "USD", 1_000)
            assert tx.budget.gap(cid) == 0
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE budget SET reserved_minor = 97")
        with store.read() as tx:
            assert tx.budget.gap(cid) == 3


def test_a_workers_second_answer_to_an_item_is_kept_and_is_no_second_opinion(
    small: Any, small_batch: Any, clock: Any
) -> None:
    """The platform cannot keep him from it: said in the cost sheet, and counted once."""
    campaign, platform = small(), FakePlatform(clock=clock, capabilities=Capabilities(idempotent_create=True))
    workers = draw_workers(2, ["good", "bad"], rng=np.random.default_rng(1), accuracy=0.95)
    crowd = SimulatedCrowd(workers, small_batch.truth, rng=np.random.default_rng(2))
    campaign.publish(platform, dry_run=False, **SPEND)
    platform.rehearse(crowd)
    campaign.collect(platform)
    campaign.aggregate()
    first = campaign.status()
    campaign.plan(trade_off=0.5, max_human=8, audit=4)
    sheet = campaign.publish(platform, **{**SPEND, "redundancy": 3})
    assert any("cannot keep a worker" in note for note in sheet.notes)
    campaign.publish(platform, dry_run=False, **{**SPEND, "redundancy": 3})
    again = hits_of(campaign)[-1]
    assert again.round == 2
    old = next(platform.submissions([hits_of(campaign)[0].platform_hit_id]))
    asked = [each for each in again.items if not each.is_gold]
    remote = RemoteSubmission("again", again.platform_hit_id, old.worker, SubmissionState.SUBMITTED, NOW, NOW)
    platform._functions |= {
        "submissions": lambda ids: iter([remote] if again.platform_hit_id in ids else []),
        "answers": lambda _: {"again": tuple(RemoteAnswer(each.item, each.aspect, "good") for each in again.items)},
    }
    left = campaign.status().work_left
    collected = campaign.collect(platform)
    assert (collected.answers, collected.submissions) == (len(again.items), 1)
    assert collected.repeated >= len(asked)
    assert "repeated" in str(collected)
    # Its place is taken, and the question still needs somebody else.
    assert campaign.status().work_left >= left
    before = {each.answers for each in [campaign.aggregate()]}
    assert before == {first.answers + (len(again.items) - collected.repeated)}
