"""Thousands of submissions, and something wrong with one call and one answer in twenty: none is lost, none paid twice.

Workers hand in what the platform reference names (7.7: markup, the end of CDATA, emoji, NUL, 70 kB, nothing, wrong
ids); the line to the front door breaks before, during and after the work of a call.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from outside_house import hits_of, intents_of, money_of, payments_of, submissions_of

from hmc_crowd.campaign import Campaign
from hmc_crowd.errors import PlatformUnavailableError

SHARE = 0.05
PLACES = 9
LINES = ["reset_before", "reset_after", "status_before", "status_after", "truncate_after", "html_before", "html_after",
         "slow_after", "twice"]  # fmt: skip
ANSWERS = ["<script>alert(1)</script>", "]]>", "\U0001f600", "a\x00b", "x" * 70_000, "", None]
SPEND = {"redundancy": PLACES, "pay_minor": 5, "budget_minor": 1_000_000, "target_minutes": 0.05, "gold_share": 0.0}


@pytest.fixture
def break_the_line(cut_line: Any) -> Any:
    """Break one call in twenty of those to come, each kind of fault as often as any other."""
    rng = np.random.default_rng(4)

    def arm(calls: int) -> None:
        cut_line.reset()
        for nth in np.flatnonzero(rng.random(calls) < SHARE) + 1:
            cut_line.inject(LINES[int(rng.integers(len(LINES)))], nth=int(nth))

    return arm


def until_done(step: Any, clock: Any) -> Any:
    """Call again, as a user would, until it went through."""
    for _ in range(60):
        try:
            done = step()
        except PlatformUnavailableError:
            done = None
        if done is not None and not getattr(done, "deferred", 0):
            return done
        clock.advance(600)
    raise AssertionError("it never went through")


def hand_in(turk: Any, campaign: Campaign, truth: dict[str, str]) -> tuple[dict[str, int], list[str]]:
    """Let people fill every place; return the usable answers of each submission, and who came too late."""
    from hmc_crowd_mturk._questions import answer_name

    rng = np.random.default_rng(5)
    good: dict[str, int] = {}
    for hit in hits_of(campaign):
        for number in range(hit.redundancy):
            work = turk.workers.accept(hit.platform_hit_id, f"A{number}WORKER")
            fields = [(answer_name(place), truth[each.item]) for place, each in enumerate(hit.items, start=1)]
            bad = ANSWERS[int(rng.integers(len(ANSWERS)))] if rng.random() < SHARE else "as it should be"
            if bad is None:
                fields[0] = ("no-such-question", fields[0][1])
            elif bad != "as it should be":
                fields[0] = (fields[0][0], bad)
            turk.workers.submit(work.assignment_id, fields)
            good[str(work.assignment_id)] = len(fields) - (bad != "as it should be")
    return good


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_no_submission_of_many_is_lost_or_paid_twice(
    turk: Any, cut_line: Any, break_the_line: Any, batch_of: Any, tmp_path: Any, count: int
) -> None:
    hits = -(-count // PLACES)
    batch = batch_of(2 * hits + 40, gold=4, seed=12)
    turk.door.add_funds(10**9)
    with Campaign.create(str(tmp_path / "many.db"), labels=["good", "bad"], seed=7, clock=turk.clock) as campaign:
        campaign.add_items(batch.items)
        campaign.add_predictions(batch.predictions)
        campaign.add_gold(batch.gold)
        campaign.estimate_effort()
        campaign.plan(trade_off=0.0, max_human=hits, audit=4)
        place = turk.connect(cut_line.url)
        break_the_line(4 * hits)
        until_done(lambda: campaign.publish(place, dry_run=False, **SPEND), turk.clock)
        assert len(turk.hits()) == len(hits_of(campaign))
        good = hand_in(turk, campaign, batch.truth)
        assert len(good) >= count
        break_the_line(4 * hits)
        until_done(lambda: campaign.collect(place), turk.clock)
        assert sorted(submissions_of(campaign)["submission_id"]) == sorted(good)
        with campaign._context.store.read() as tx:
            stored = tx.work.answer_counts(campaign._context.campaign_id, "mturk")
        assert {name: stored.get(name, 0) for name in good} == good
        break_the_line(4 * len(good))
        names = sorted(good)
        until_done(lambda: campaign.approve(place, names, dry_run=False, budget_minor=1_000_000), turk.clock)
        cut_line.reset()
        assert campaign.reconcile(turk.platform).is_settled
        there = Counter(each.state for each in turk.platform.submissions([hit.hit_id for hit in turk.hits()]))
        assert there == {"approved": len(good)}
        assert Counter(each.submission_id for each in payments_of(campaign)) == dict.fromkeys(good, 1)
        assert {each.state for each in payments_of(campaign)} == {"paid"}
        assert {each.state for each in intents_of(campaign)} == {"done"}
        assert money_of(campaign)[0::2] == (0, 0)
