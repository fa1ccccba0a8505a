"""A small campaign with known truth, a local workplace, and a crowd that answers."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.campaign import Campaign
from hmc_crowd.platform import find_platform
from hmc_crowd.simulation import SimulatedCrowd, draw_workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hmc_crowd._base.clock import VirtualClock

# Tests are imported without their folder; what they share lies beside them.
sys.path.insert(0, str(Path(__file__).parent))

LABELS = ["good", "bad"]


@dataclass
class Batch:
    """What the machine has to judge, with the truth it does not know."""

    items: pd.DataFrame
    predictions: pd.DataFrame
    gold: pd.DataFrame
    truth: dict[str, str]


def make_batch(n: int = 160, gold: int = 24, seed: int = 5) -> Batch:
    rng = np.random.default_rng(seed)
    truth = rng.choice(LABELS, n, p=[0.6, 0.4])
    confidence = 0.5 + 0.5 * rng.beta(4, 2, n)
    other = np.where(truth == "good", "bad", "good")
    items = pd.DataFrame(
        {
            "item": [f"i{index:04d}" for index in range(n)],
            "group": [f"g{index // 4:03d}" for index in range(n)],
            "text": ["so it goes " * int(length) for length in rng.integers(1, 8, n)],
        }
    )
    predicted = np.where(rng.random(n) < confidence, truth, other)
    return Batch(
        items,
        pd.DataFrame({"item": items["item"], "label": predicted, "confidence": confidence}),
        pd.DataFrame({"item": items["item"][:gold], "label": truth[:gold]}),
        dict(zip(items["item"], truth, strict=True)),
    )


@pytest.fixture(autouse=True)
def quick_learning(small_forests: None) -> None:
    """Learn in a fifth of the time."""


@pytest.fixture
def spend() -> dict[str, Any]:
    """What publishing costs: arguments of `Campaign.publish`."""
    return {"redundancy": 3, "pay_per_hour_minor": 1200, "budget_minor": 100_000}


@pytest.fixture
def wanted() -> dict[str, Any]:
    """What is planned: arguments of `Campaign.plan`."""
    return {"trade_off": 0.5, "max_human": 0.4, "audit": 20}


@pytest.fixture(scope="session")
def batch() -> Batch:
    return make_batch()


@pytest.fixture
def crowd(batch: Batch) -> SimulatedCrowd:
    workers = draw_workers(12, LABELS, rng=np.random.default_rng(1), accuracy=0.92, spread=0.02)
    return SimulatedCrowd(workers, batch.truth, rng=np.random.default_rng(2))


@pytest.fixture
def workplace(tmp_path: Path, clock: VirtualClock) -> Iterator[Any]:
    place = find_platform("local", str(tmp_path / "workplace.db"), clock=clock)
    yield place
    place.close()


@pytest.fixture
def start(tmp_path: Path, clock: VirtualClock, batch: Batch) -> Iterator[Callable[..., Campaign]]:
    """Make campaigns that hold the batch; all are closed at the end."""
    made: list[Campaign] = []

    def make(url: str | None = None, **settings: Any) -> Campaign:
        options = {"labels": LABELS, "positive_labels": ["bad"], "seed": 7, "clock": clock, **settings}
        campaign = Campaign.create(url or str(tmp_path / "campaign.db"), **options)
        made.append(campaign)
        campaign.add_items(batch.items)
        campaign.add_predictions(batch.predictions)
        campaign.add_gold(batch.gold)
        campaign.estimate_effort()
        return campaign

    yield make
    for campaign in made:
        campaign.close()


@pytest.fixture
def small(tmp_path: Path, clock: VirtualClock) -> Iterator[Callable[..., Campaign]]:
    """Make planned campaigns of a few items: their truth is `small_batch`'s."""
    made: list[Campaign] = []

    def make(url: str | None = None, *, plan: dict[str, Any] | None = None, **settings: Any) -> Campaign:
        some = make_batch(24, gold=4, seed=11)
        options = {"labels": LABELS, "seed": 7, "clock": clock, **settings}
        campaign = Campaign.create(url or str(tmp_path / f"small{len(made)}.db"), **options)
        made.append(campaign)
        campaign.add_items(some.items)
        campaign.add_predictions(some.predictions)
        campaign.add_gold(some.gold)
        campaign.estimate_effort()
        campaign.plan(**(plan or {"trade_off": 0.5, "max_human": 8, "audit": 4}))
        return campaign

    yield make
    for campaign in made:
        campaign.close()


@pytest.fixture(scope="session")
def batch_of() -> Callable[..., Batch]:
    """Make batches of any size."""
    return make_batch


@pytest.fixture(scope="session")
def small_batch() -> Batch:
    return make_batch(24, gold=4, seed=11)


@pytest.fixture(scope="session")
def recruiting_servers() -> Iterator[Any]:
    """One stand-in for Prolific and one line to it for all tests; each test begins with an empty world."""
    from hmc_crowd_prolific.standin import running_standin

    from hmc_crowd.testing import ChaosProxy

    with running_standin() as standin, ChaosProxy(standin.url) as chaos:
        yield standin, chaos


@pytest.fixture
def recruiting(recruiting_servers: Any, workplace: Any, clock: VirtualClock) -> Iterator[Any]:
    """Prolific's stand-in with the workplace's pages."""
    from contextlib import ExitStack

    from hmc_crowd_prolific.standin import Options
    from outside_house import Recruiting

    standin, chaos = recruiting_servers
    with ExitStack() as stack:
        standin.world.reset(clock, Options())
        chaos.reset()
        yield Recruiting(standin, chaos, workplace, clock, stack)


@pytest.fixture(scope="session")
def turk_server() -> Iterator[Any]:
    sys.path.insert(0, str(Path(__file__).parents[1] / "mturk"))
    from mturk_house import Server

    server = Server()
    yield server
    server.stop()


@pytest.fixture
def turk(turk_server: Any, tmp_path: Path, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A front door of its own, with Amazon's fees."""
    from hmc_crowd_local.mturk_api import Settings, WorkersDoor, build_app, open_front_door
    from hmc_crowd_mturk import connect
    from mturk_house import AMAZON_FEES
    from outside_house import Turk

    calls: list[str] = []
    settings = Settings(
        fees=AMAZON_FEES,
        allow_http=True,
        trust_worker_ids=True,
        on_call=lambda operation, _request: calls.append(operation),
    )
    door = open_front_door(str(tmp_path / "turk.db"), clock=clock, settings=settings)
    turk_server.app = build_app(door)
    key = door.issue_key()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", key.access_key_id)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", key.secret_access_key)
    yield Turk(turk_server.url, door, WorkersDoor(door), clock, calls, lambda url: connect(url, clock=clock))
    door.close()


@pytest.fixture
def cut_line(turk: Any) -> Iterator[Any]:
    """A line to the front door that can be cut."""
    from hmc_crowd.testing import ChaosProxy

    with ChaosProxy(turk.url) as line:
        yield line
