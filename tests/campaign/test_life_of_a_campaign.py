"""Whatever breaks, in whatever order: nothing twice, nothing lost, the books right (PLATFORMS.md 6.1, 7.7).

Hypothesis looks for an order of steps and faults that hurts; a long walk takes a thousand steps in one life. After each
step the stand-in's own books are compared with ours, and at the end of each life all of them.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from life import BONUSES, FAULTS, PEOPLE, Life

from hmc_crowd._base.clock import VirtualClock

SOME_FAULT = st.one_of(st.none(), st.sampled_from(FAULTS))
WHICH = st.integers(0, 30)


@pytest.fixture
def begin(recruiting_servers: Any, small_batch: Any) -> Any:
    """Begin a life; they follow one another, in one stand-in."""
    standin, chaos = recruiting_servers
    return lambda: Life(standin, chaos, VirtualClock(datetime(2026, 1, 5, 9, tzinfo=UTC)), small_batch)


def machine(begin: Any) -> type[RuleBasedStateMachine]:
    class Lives(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.life = begin()
            self.life.publish()

        @rule(fault=SOME_FAULT)
        def publish(self, fault: str | None) -> None:
            self.life.publish(fault)

        @rule(does=st.sampled_from(PEOPLE), which=WHICH)
        def somebody(self, does: str, which: int) -> None:
            self.life.somebody(does, which)

        @rule(which=WHICH)
        def three_people_work(self, which: int) -> None:
            for number in range(3):
                self.life.somebody("works", which + number)

        @rule(fault=SOME_FAULT)
        def collect(self, fault: str | None) -> None:
            self.life.collect(fault)

        @rule(fault=SOME_FAULT)
        def reconcile(self, fault: str | None) -> None:
            self.life.reconcile(fault)

        @rule(fault=SOME_FAULT)
        def approve(self, fault: str | None) -> None:
            self.life.approve(fault)

        @rule(which=WHICH, fault=SOME_FAULT)
        def reject(self, which: int, fault: str | None) -> None:
            self.life.reject(which, fault)

        @rule(which=WHICH, code=st.sampled_from(sorted(BONUSES)), fault=SOME_FAULT)
        def pay(self, which: int, code: str, fault: str | None) -> None:
            self.life.pay(which, code, fault)

        @rule(fault=SOME_FAULT, reopen=st.booleans())
        def extend(self, fault: str | None, reopen: bool) -> None:
            self.life.extend(fault, reopen=reopen)

        @rule(hours=st.sampled_from([1, 3, 26]))
        def wait(self, hours: int) -> None:
            self.life.wait(hours)

        @rule()
        def start_again(self) -> None:
            self.life.start_again()

        @rule()
        def answer_questions(self) -> None:
            self.life.answer_questions()

        @invariant()
        def the_books_are_right(self) -> None:
            self.life.check()

        def teardown(self) -> None:
            try:
                self.life.check_the_end()
            finally:
                self.life.close()

    return Lives


@pytest.mark.parametrize(
    ("lives", "steps"), [(2, 20), pytest.param(25, 40, marks=pytest.mark.slow, id="a thousand steps")]
)
def test_no_order_of_steps_and_faults_hurts(begin: Any, lives: int, steps: int) -> None:
    run_state_machine_as_test(
        machine(begin),
        settings=settings(
            max_examples=lives,
            stateful_step_count=steps,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.parametrize("steps", [40, pytest.param(1_000, marks=pytest.mark.slow)])
def test_a_long_life_with_faults_in_every_second_step(begin: Any, steps: int) -> None:
    rng = np.random.default_rng(3)
    life = begin()
    moves = ["publish", "collect", "reconcile", "approve", "reject", "pay", "extend", "somebody", "somebody", "wait"]
    try:
        for _ in range(steps):
            move, which = str(rng.choice(moves)), int(rng.integers(30))
            fault = str(rng.choice(FAULTS)) if rng.random() < 0.5 else None
            if move == "somebody":
                life.somebody(str(rng.choice(PEOPLE)), which)
            elif move == "wait":
                life.wait(1)
                life.answer_questions()
            elif move == "pay":
                life.pay(which, str(rng.choice(sorted(BONUSES))), fault)
            elif move == "reject":
                life.reject(which, fault)
            else:
                getattr(life, move)(fault)
            life.check()
        life.check_the_end()
    finally:
        life.close()
