"""Workers who do not exist go through the same doors: invitation, pages, events; their true times are known."""

from __future__ import annotations

import numpy as np
import pytest
from pages_house import SECRET, PagesHouse, Plain, Tab, question

from hmc_crowd.platform import Hit
from hmc_crowd.simulation import Question, SimulatedCrowd, draw_workers

from hmc_crowd_local.pages import Invites  # isort: skip


def do(house: PagesHouse, work, hit: Hit, hit_id: str) -> str:
    """Do simulated work on the pages: a sign of life every 20 s at work, another tab while idle."""
    invite = Invites(house.local, secret=SECRET).issue(work.worker)
    plain = Plain(house.client())
    house.clock.advance(work.starts_after_s)
    plain.get(f"/work/i/{invite.token}/hit/{hit_id}")
    plain.send("Begin")
    link = "/".join(str(plain.page.url).split("/")[:6])
    for number, answer in enumerate(work.answers, start=1):
        tab = Tab(house, link, f"page{number}", number)
        left = answer.setup_s + answer.seconds
        while left > 0:
            house.clock.advance(min(20.0, left))
            left -= 20.0
            tab.note("input")
        if answer.idle_s:
            tab.note("hidden")
            house.clock.advance(answer.idle_s)
            tab.note("visible")
        tab.note("answer")
        tab.flush()
        tab.plain.answer(a0=str(hit.items[number - 1].labels.index(answer.label)), do="next")
        plain.page = tab.plain.page
    plain.send("Hand in")
    return house.local.submissions([hit_id])


@pytest.mark.parametrize("seed", [1, 2])
def test_c09_the_median_active_time_is_found_within_five_percent(house, seed) -> None:
    rng = np.random.default_rng(seed)
    workers = draw_workers(25, ["polite", "rude"], accuracy=0.9, spread=0.05, rng=rng)
    from dataclasses import replace

    workers = [replace(each, idle_probability=0.2, idle_mean_s=400.0, setup_s=20.0) for each in workers]
    items = tuple(question(f"i{i}", group=f"g{i}", text="word " * 30) for i in range(3))
    crowd = SimulatedCrowd(workers, {each.item: "polite" for each in items}, rng=rng)
    hit = Hit("crowd", "Judge", "", items, 25, 5, "USD", time_limit_s=100_000)
    hit_id = house.local.publish(hit).hit_id
    questions = [Question(each.item, each.aspect, each.group, 30, each.labels) for each in items]
    known = {}
    for _ in range(15):
        work = crowd.work(hit.key, questions, frozenset(known))
        if work is None:
            break
        if work.outcome == "submit":
            do(house, work, hit, hit_id)
            known[work.worker] = work
    found = {each.worker: each for each in house.local.submissions([hit_id])}
    assert known.keys() == found.keys()
    true_s = np.median([each.active_s for each in known.values()])
    assert abs(np.median([each.active_s for each in found.values()]) / true_s - 1) <= 0.05
    answers = house.local.answers([each.submission_id for each in found.values()])
    for worker, work in known.items():
        given = answers[found[worker].submission_id]
        assert [each.label for each in given] == [each.label for each in work.answers]
        # Of each item: shown when its page was made, answered when the form came.
        took = [(each.submitted_at - each.started_at).total_seconds() for each in given]
        assert took == pytest.approx([each.elapsed_s for each in work.answers], abs=0.01)
