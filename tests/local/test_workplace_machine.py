"""Random steps against a model of a few lines: the promises hold after each of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hmc_crowd_local import connect
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from hmc_crowd._base.clock import VirtualClock
from hmc_crowd.errors import PlatformError
from hmc_crowd.platform import Hit, HitItem

WORKERS = ["ann", "bob", "cyd", "dan"]
# Items that HITs share: a worker may have each once.
QUESTIONS = {"h1": ["a", "b"], "h2": ["b", "c"], "h3": ["d"]}
LIMIT_S = 100


class Workplace(RuleBasedStateMachine):
    """The model: state, deadline and saved answers of every submission, by (hit, worker)."""

    submissions = Bundle("submissions")

    @initialize(redundancy=st.integers(1, 2))
    def open_workplace(self, redundancy: int) -> None:
        self.folder = TemporaryDirectory()
        self.clock = VirtualClock(datetime(2026, 1, 5, tzinfo=UTC))
        self.platform = connect(str(Path(self.folder.name) / "w.db"), clock=self.clock)
        self.redundancy = redundancy
        self.hit_ids = {}
        for key, items in QUESTIONS.items():
            questions = tuple(
                HitItem(each, "label", "g", i, each, labels=("yes", "no")) for i, each in enumerate(items)
            )
            hit = Hit(key, "t", "d", questions, redundancy, 5, "USD", time_limit_s=LIMIT_S)
            self.hit_ids[key] = self.platform.publish(hit).hit_id
        self.closed: set[str] = set()
        self.state: dict[str, str] = {}
        self.where: dict[str, tuple[str, str]] = {}
        self.deadline: dict[str, datetime] = {}
        self.saved: dict[str, dict[str, str]] = {}

    def teardown(self) -> None:
        if hasattr(self, "platform"):
            self.platform.close()
            self.folder.cleanup()

    def _lapse(self) -> None:
        for name, state in self.state.items():
            if state == "accepted" and self.clock.now() > self.deadline[name]:
                self.state[name] = "expired"

    def _try(self, call, is_legal: bool):
        """Refused exactly when the model says so."""
        if is_legal:
            return call()
        with pytest.raises(PlatformError):
            call()
        return None

    @rule(target=submissions, key=st.sampled_from(sorted(QUESTIONS)), worker=st.sampled_from(WORKERS))
    def accept(self, key: str, worker: str):
        own = next((name for name, place in self.where.items() if place == (key, worker)), None)
        resumes = own is not None and self.state[own] == "accepted"
        held = sum(
            where[0] == key and self.state[name] not in {"returned", "expired"} for name, where in self.where.items()
        )
        had = {item for where in self.where.values() if where[1] == worker for item in QUESTIONS[where[0]]}
        is_new = own is None and key not in self.closed and held < self.redundancy and not had & {*QUESTIONS[key]}
        done = self._try(lambda: self.platform.accept(self.hit_ids[key], worker), resumes or is_new)
        if done is None:
            return multiple()
        if resumes:
            assert done.submission_id == own
            return multiple()
        name = done.submission_id
        self.state[name], self.where[name], self.saved[name] = "accepted", (key, worker), {}
        self.deadline[name] = self.clock.now() + timedelta(seconds=LIMIT_S)
        return name

    @rule(name=submissions, position=st.integers(0, 1), label=st.sampled_from(["yes", "no"]))
    def save(self, name: str, position: int, label: str) -> None:
        key, worker = self.where[name]
        item = QUESTIONS[key][position % len(QUESTIONS[key])]
        is_legal = self.state[name] in {"accepted", "expired"}
        self._try(lambda: self.platform.save_answer(name, worker, item=item, aspect="label", label=label), is_legal)
        if is_legal:
            self.saved[name][item] = label

    @rule(name=submissions)
    def submit(self, name: str) -> None:
        key, worker = self.where[name]
        state = self.state[name]
        is_complete = set(self.saved[name]) == set(QUESTIONS[key])
        is_legal = state in {"submitted", "expired"} or (state == "accepted" and is_complete)
        done = self._try(lambda: self.platform.submit(name, worker), is_legal)
        if is_legal:
            self.state[name] = "submitted" if state == "accepted" else state
            assert done.state.value == self.state[name]

    @rule(name=submissions)
    def return_(self, name: str) -> None:
        is_legal = self.state[name] == "accepted"
        self._try(lambda: self.platform.return_(name, self.where[name][1]), is_legal)
        if is_legal:
            self.state[name] = "returned"

    @rule(name=submissions)
    def approve(self, name: str) -> None:
        is_legal = self.state[name] in {"submitted", "approved"}
        self._try(lambda: self.platform.approve(name), is_legal)
        if is_legal:
            self.state[name] = "approved"

    @rule(name=submissions)
    def reject(self, name: str) -> None:
        is_legal = self.state[name] in {"submitted", "rejected"}
        self._try(lambda: self.platform.reject(name, "Gold is wrong."), is_legal)
        if is_legal:
            self.state[name] = "rejected"

    @rule(key=st.sampled_from(sorted(QUESTIONS)))
    def expire(self, key: str) -> None:
        assert not self.platform.expire(self.hit_ids[key]).is_open
        self.closed.add(key)

    @rule(seconds=st.sampled_from([1, 40, LIMIT_S + 1]))
    def wait(self, seconds: int) -> None:
        self.clock.advance(seconds)
        self._lapse()

    @invariant()
    def the_platform_agrees(self) -> None:
        listed = list(self.platform.submissions(self.hit_ids.values()))
        assert {each.submission_id: each.state.value for each in listed} == self.state
        assert len(listed) == len({(each.hit_id, each.worker) for each in listed})

    @invariant()
    def places_are_never_exceeded(self) -> None:
        for hit_id in self.hit_ids.values():
            held = [
                each for each in self.platform.submissions([hit_id]) if each.state.value not in {"returned", "expired"}
            ]
            assert len(held) <= self.redundancy

    @invariant()
    def answers_are_never_lost(self) -> None:
        kept = self.platform.saved_answers(list(self.saved))
        assert {name: {a.item: a.label for a in answers} for name, answers in kept.items()} == {
            name: answers for name, answers in self.saved.items() if answers
        }
        shown = self.platform.answers(list(self.saved))
        assert set(shown) == {n for n, s in self.state.items() if s in {"submitted", "approved", "rejected"}}


QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def run(examples: int, steps: int) -> None:
    run_state_machine_as_test(
        Workplace,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=QUIET,
            derandomize=True,
            database=None,
        ),
    )


def test_some_hundred_random_steps() -> None:
    run(examples=12, steps=30)


@pytest.mark.slow
def test_ten_thousand_random_steps() -> None:
    run(examples=200, steps=50)
