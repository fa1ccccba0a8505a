"""A stop holds until somebody lifts it: nothing is offered meanwhile, and what people have begun still counts."""

from __future__ import annotations

from typing import Any

import pytest
from outside_house import SPEND, hits_of, money_of

from hmc_crowd.errors import StateError
from hmc_crowd.platform import RemoteAnswer
from hmc_crowd.testing import FakePlatform

DO = {**SPEND, "dry_run": False}


class KilledError(BaseException):
    """What a test does in place of kill -9."""


def test_places_of_what_was_stopped_are_not_open_but_work_under_way_comes_in(
    small: Any, workplace: Any, small_batch: Any
) -> None:
    campaign = small()
    campaign.publish(workplace, **DO)
    remote = next(iter(workplace.find_all().values()))
    taken = workplace.accept(remote.hit_id, "ann")
    campaign.collect(workplace)
    campaign.stop(workplace)
    assert campaign.status().open_places == 1
    assert campaign.collect(workplace).open_places == 1
    now = workplace._now()
    said = [
        RemoteAnswer(each.item, each.aspect, small_batch.truth[each.item], now, now)
        for each in workplace.hit(remote.hit_id).items
    ]
    workplace.hand_in(taken.submission_id, "ann", said)
    assert campaign.collect(workplace).answers == len(said)
    assert campaign.status().open_places == 0
    # Only what was handed in is paid; the rest of the money is free again.
    reserved, settled, gap = money_of(campaign)
    pay = {hit.key: hit.pay_minor for hit in hits_of(campaign)}[remote.key]
    assert (reserved, settled, gap) == (0, pay, 0)


def test_a_call_that_was_on_its_way_is_not_made_again_while_the_stop_holds(small: Any, clock: Any) -> None:
    campaign, platform = small(), FakePlatform(clock=clock)

    def kill(step: str, key: str) -> None:
        if step == "sent":
            raise KilledError(key)

    campaign._context.hook = kill
    with pytest.raises(KilledError):
        campaign.publish(platform, **DO)
    campaign._context.hook = None
    campaign.stop(platform)
    clock.advance(3600)
    campaign.reconcile(platform)
    assert [platform.find(hit.key) for hit in hits_of(campaign)].count(None) == len(hits_of(campaign))
    assert campaign.lift_stop()
    clock.advance(3600)
    campaign.reconcile(platform)
    assert [platform.find(hit.key) for hit in hits_of(campaign)].count(None) == len(hits_of(campaign)) - 1


def test_a_lifted_stop_asks_anew_for_what_is_missing(small: Any, workplace: Any) -> None:
    campaign = small()
    campaign.publish(workplace, **DO)
    campaign.stop(workplace)
    for refused in (lambda: campaign.publish(workplace, **DO), lambda: campaign.run(workplace, publish=SPEND)):
        with pytest.raises(StateError, match="stop --lift"):
            refused()
    told = campaign.status()
    assert (told.next_step, told.satisfied, told.stopped is None) == ("lift", False, False)
    campaign.collect(workplace)
    campaign.lift_stop()
    assert campaign.status().next_step == "plan"
    campaign.plan(trade_off=0.5, max_human=8, audit=4)
    campaign.publish(workplace, **DO)
    assert campaign.status().open_places > 0
