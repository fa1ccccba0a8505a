"""A laboratory: a stand-in on a real port, its participants, a chaos proxy before it, and platforms on either."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np
import pytest
from hmc_crowd_prolific import Pace, ProlificPlatform, StudySettings, connect
from hmc_crowd_prolific.standin import Options, StandIn, running_standin
from hmc_crowd_prolific.standin._world import SubmissionRecord

from hmc_crowd.errors import PlatformError
from hmc_crowd.platform import Hit, HitItem, Recruitment
from hmc_crowd.testing import ChaosProxy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hmc_crowd._base.clock import VirtualClock
    from hmc_crowd.platform import RemoteHit

# Real seconds. A busy machine may be slow, and a client that gave up early would send again and meet itself; only over
# the line that can be cut does silence mean anything.
PATIENT_S, HANGING_S = 30.0, 1.0


class Lab:
    """A stand-in, who plays there, and how to get at it."""

    def __init__(self, standin: StandIn, chaos: ChaosProxy, clock: VirtualClock, stack: ExitStack) -> None:
        self.standin = standin
        self.world = standin.world
        self.chaos = chaos
        self.clock = clock
        self._stack = stack
        self._http = stack.enter_context(httpx.Client(base_url=f"{standin.url}/_ctl/", trust_env=False, verify=False))

    def pace(self, **changes: Any) -> Pace:
        """Waiting moves the virtual clock, and nothing else does."""
        settings: dict[str, Any] = {
            "sleep": self.clock.advance,
            "monotonic": lambda: self.clock.now().timestamp(),
            "rng": np.random.default_rng(1),
            "silence_s": PATIENT_S,
        }
        return Pace(**{**settings, **changes})

    def connect(self, *, broken: bool = False, pace: Pace | None = None, **settings: Any) -> ProlificPlatform:
        """A new process's platform, straight or through the chaos proxy."""
        base = StudySettings(
            workspace=self.world.workspace,
            project=next(iter(self.world.projects)),
            study_url="https://crowd.example.org/arrive",
        )
        opened = connect(
            f"{self.chaos.url if broken else self.standin.url}/api/v1/",
            settings=replace(base, **settings),
            clock=self.clock,
            pace=pace or self.pace(silence_s=HANGING_S if broken else PATIENT_S),
            environment={"HMC_CROWD_PROLIFIC_TOKEN": self.world.token},
        )
        return self._stack.enter_context(opened)

    # Participants.

    def take(self, study: str, participant: str) -> str:
        """Take a place; the stand-in's refusal comes through as PlatformError."""
        name: str = self.control(f"participants/{participant}/take?study={study}")["id"]
        return name

    def complete(self, submission: str, code: str | None = None) -> None:
        self.control(f"submissions/{submission}/complete{f'?cc={code}' if code else ''}")

    def give_back(self, submission: str) -> None:
        self.control(f"submissions/{submission}/return")

    def submit(self, study: str, participant: str, *, minutes: float = 10, code: str | None = None) -> str:
        """Do the whole study; the clock moves by the participant's time."""
        name = self.take(study, participant)
        self.clock.advance(60 * minutes)
        self.complete(name, code)
        return name

    def fill(self, study: str, count: int, *, status: str = "AWAITING REVIEW") -> list[str]:
        """Put many submissions into the world at once."""
        with self.world.lock:
            names = [self.world.new_id("submission") for _ in range(count)]
            for number, name in enumerate(names):
                at = self.world.now()
                self.world.add(SubmissionRecord(name, study, f"participant{number:05d}", status, at, completed=at))
        return names

    def control(self, path: str, body: Any = None) -> dict[str, Any]:
        answer = self._http.post(path, json=body)
        if answer.status_code >= 400:
            raise PlatformError(answer.text)
        found: dict[str, Any] = answer.json()
        return found

    def drive(self, platform: Any, remote: RemoteHit, hit: Hit, worker: str, until: str) -> str:
        """The conformance suite's participant; going on with what he has is one more take."""
        name = self.take(remote.hit_id, worker)
        if until == "return":
            self.give_back(name)
        elif until == "submit":
            self.complete(name)
        return name

    # What is asked for.

    def order(self, key: str = "round-1", *, places: int = 3, pay_minor: int = 200, **changes: Any) -> Recruitment:
        settings: dict[str, Any] = {
            "title": "Judge replies",
            "description": "Read & judge.",
            "currency": "USD",
            "expected_s": 600.0,
        }
        return Recruitment(key=key, places=places, pay_minor=pay_minor, **{**settings, **changes})

    def hit(self, key: str = "hit-1", *, redundancy: int = 1, pay_minor: int = 200) -> Hit:
        items = tuple(HitItem(f"{key}-{i}", "label", "dialogue", i, f"Text {i}", labels=("yes", "no")) for i in (1, 2))
        return Hit(key, "Judge", "Read and judge.", items, redundancy, pay_minor, "USD")


@pytest.fixture(scope="session")
def servers() -> Iterator[tuple[StandIn, ChaosProxy]]:
    """One stand-in and one proxy for all tests; each test begins with an empty world."""
    with running_standin() as standin, ChaosProxy(standin.url) as chaos:
        yield standin, chaos


@pytest.fixture
def open_lab(servers: tuple[StandIn, ChaosProxy], clock: VirtualClock) -> Iterator[Callable[..., Lab]]:
    """Make the laboratory; options are those of the stand-in."""
    standin, chaos = servers
    with ExitStack() as stack:

        def go(**options: Any) -> Lab:
            standin.world.reset(clock, Options(**options))
            chaos.reset()
            return Lab(standin, chaos, clock, stack)

        yield go


@pytest.fixture
def lab(open_lab: Callable[..., Lab]) -> Lab:
    """A laboratory with a rich wallet and Prolific's own delays."""
    return open_lab()
