"""The workplace's ledger of bonuses: once per order and submission, however often it is sent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hmc_crowd.errors import InputError, PlatformError
from hmc_crowd.platform import BonusOrder, BonusRow, PaysBonuses


@pytest.fixture
def order(platform, hit, finish) -> BonusOrder:
    one = hit(redundancy=2)
    remote = platform.publish(one)
    rows = tuple(BonusRow(finish(platform, remote.hit_id, one, worker), worker, 50) for worker in ("ann", "bob"))
    return BonusOrder("k", remote.hit_id, "quality", "All gold items right.", "USD", rows)


def test_the_workplace_pays_bonuses(local) -> None:
    assert isinstance(local, PaysBonuses)
    assert local.capabilities.bonuses
    assert local.capabilities.bonus_is_repeatable


def test_a_bonus_is_paid_once_however_often_it_is_sent(platform, order) -> None:
    prepared = platform.prepare_bonus(order)
    assert platform.bonus_paid(order, prepared) == frozenset()
    for _ in range(3):
        platform.send_bonus(order, prepared)
    assert platform.bonus_paid(order, prepared) == {row.submission_id for row in order.rows}
    assert platform.bonuses("ann") == [(order.rows[0].submission_id, 50, "USD", "All gold items right.")]


def test_another_amount_under_the_same_key_is_refused_whole(platform, order) -> None:
    first, second = order.rows
    platform.send_bonus(replace(order, rows=(first,)), {})
    with pytest.raises(PlatformError, match="50 minor units, not 70"):
        platform.send_bonus(replace(order, rows=(second, replace(first, amount_minor=70))), {})
    assert platform.bonus_paid(order, {}) == {first.submission_id}


def test_an_order_for_the_wrong_worker_is_refused(platform, order) -> None:
    wrong = replace(order, rows=(replace(order.rows[0], worker="bob"),))
    with pytest.raises(PlatformError, match="not that of the worker who is meant"):
        platform.prepare_bonus(wrong)
    with pytest.raises(PlatformError, match="not that of the worker who is meant"):
        platform.send_bonus(wrong, {})


@pytest.mark.parametrize("rows", [(), (BonusRow("s", "ann", 5),) * 2, (BonusRow("s", "ann", 0),)])
def test_an_order_that_makes_no_sense_is_refused(platform, rows) -> None:
    with pytest.raises(InputError):
        platform.prepare_bonus(BonusOrder("k", "h", "quality", "Thanks.", "USD", rows))
