"""A small campaign with known truth, a local workplace, and a crowd that answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.campaign import Campaign
from hmc_crowd.platform import find_platform
from hmc_crowd.simulation import SimulatedCrowd, draw_workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from hmc_crowd._base.clock import VirtualClock

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
