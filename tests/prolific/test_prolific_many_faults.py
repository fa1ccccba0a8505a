"""A long run over a bad line: nothing is lost, nothing is done twice."""

from __future__ import annotations

import numpy as np
import pytest
from hmc_crowd_prolific import Bonus, BonusPayer, BonusRecord, BonusState
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hmc_crowd.errors import PlatformError, PlatformUnavailableError

KINDS = [
    "reset_before",
    "reset_after",
    "status_before",
    "status_after",
    "truncate_after",
    "html_before",
    "html_after",
]


@pytest.mark.parametrize("count", [1_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_no_submission_is_lost_with_five_percent_of_faults(lab, rng, count) -> None:
    study = lab.connect().recruit(lab.order(places=count)).hit_id
    names = lab.fill(study, count)
    for nth in np.flatnonzero(rng.random(400) < 0.05) + 1:
        lab.chaos.inject(KINDS[int(rng.integers(len(KINDS)))], nth=int(nth))
    lab.world.page_faults = [
        str(each) for each in rng.choice(["", "skip", "repeat", "shuffle"], 20, p=[0.85, 0.05, 0.05, 0.05])
    ]
    platform = lab.connect(broken=True)
    found = list(platform.submissions([study]))
    assert sorted(each.submission_id for each in found) == sorted(names)
    assert {each.state for each in platform.approve_many(names, hit_ids=[study])} == {"approved"}
    assert {each.paid_minor for each in lab.world.submissions.values()} == {200}


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["recruit", "work", "approve", "bonus", "places", "wait"]),
        st.sampled_from([None, None, *KINDS]),
    ),
    min_size=5,
    max_size=40,
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_whatever_breaks_one_study_recruits_and_everybody_is_paid_once(open_lab, steps) -> None:
    lab = open_lab()
    state = _Run(lab)
    for step, fault in steps:
        lab.chaos.reset()
        if fault:
            lab.chaos.inject(fault)
        getattr(state, step)()
        state.check()


class _Run:
    """A campaign's worth of steps; each may be cut off and is taken again later."""

    def __init__(self, lab) -> None:
        self.lab = lab
        self.study: str | None = None
        self.people = 0
        self.wanted = 5
        self.record: BonusRecord | None = None

    def recruit(self) -> None:
        try:
            self.study = self.lab.connect(broken=True).recruit(self.lab.order(places=5)).hit_id
        except PlatformUnavailableError:
            return

    def work(self) -> None:
        if self.study is None:
            return
        self.people += 1
        try:
            self.lab.submit(self.study, f"p{self.people}")
        except PlatformError:
            return  # full

    def approve(self) -> None:
        if self.study is None:
            return
        platform = self.lab.connect(broken=True)
        for each in list(platform.submissions([self.study])):
            if each.state.has_work:
                platform.approve(each.submission_id)

    def bonus(self) -> None:
        done = [each for each in self.lab.world.submissions.values() if each.status == "APPROVED"]
        if self.record is None and done:
            self.record = BonusRecord(done[0].study, (Bonus(done[0].id, 75),))
        if self.record is None:
            return

        def save(record: BonusRecord) -> None:
            self.record = record

        try:
            BonusPayer(self.lab.connect(broken=True).client, save, clock=self.lab.clock).advance(self.record)
        except PlatformUnavailableError:
            return

    def places(self) -> None:
        if self.study is None:
            return
        self.wanted += 1
        self.lab.connect(broken=True).set_places(self.study, self.wanted, reopen=True)
        assert self.lab.world.study(self.study).body.total_available_places == self.wanted

    def wait(self) -> None:
        self.lab.clock.advance(300)

    def check(self) -> None:
        live = [each for each in self.lab.world.studies.values() if each.status != "UNPUBLISHED"]
        assert len(live) <= 1
        for each in self.lab.world.submissions.values():
            assert each.paid_minor == (200 if each.status == "APPROVED" else 0)
            assert each.bonuses in ([], [75])
        assert sum(len(each.pays) + each.times_paid for each in self.lab.world.bonuses.values()) <= 1
        if self.record is not None and self.record.state is BonusState.CONFIRMED:
            assert self.lab.world.submission(self.record.bonuses[0].submission_id).bonuses == [75]
