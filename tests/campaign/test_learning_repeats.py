"""What a campaign learns depends on its seed and its answers, not on random ids or the key of the pseudonyms."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.campaign import Campaign, Learned
from hmc_crowd.platform import find_platform
from hmc_crowd.simulation import SimulatedCrowd, draw_workers

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from hmc_crowd._base.clock import VirtualClock

LABELS = ["good", "bad"]


def learned(folder: Path, clock: VirtualClock, group: list[str]) -> tuple[Learned, str]:
    """Play one round over 40 items in these groups; return what was learnt, and how an item is explained."""
    folder.mkdir()
    rng = np.random.default_rng(3)
    items = pd.DataFrame({"item": [f"i{row}" for row in range(40)], "group": group})
    items["text"] = ["so it goes " * int(length) for length in rng.integers(1, 9, 40)]
    truth = dict(zip(items["item"], rng.choice(LABELS, 40), strict=True))
    machine = pd.DataFrame({"item": items["item"], "label": "good", "confidence": rng.uniform(0.5, 1, 40)})
    place: Any = find_platform("local", str(folder / "workplace.db"), clock=clock)
    with place, Campaign.create(folder / "c.db", labels=LABELS, seed=1, clock=clock) as campaign:
        campaign.add_items(items)
        campaign.add_predictions(machine)
        campaign.estimate_effort()
        campaign.plan(trade_off=0.0, max_human=20, audit=4)
        campaign.publish(place, dry_run=False, pay_per_hour_minor=1200, budget_minor=10_000, target_minutes=2)
        workers = draw_workers(8, LABELS, rng=np.random.default_rng(4), accuracy=0.9)
        place.rehearse(SimulatedCrowd(workers, truth, rng=np.random.default_rng(5)))
        campaign.collect(place)
        doubtful = machine.nsmallest(1, "confidence")["item"].iloc[0]
        said = campaign.explain(doubtful).answers["label"].tolist()
        return campaign.learn(), " ".join(said)


def test_another_key_learns_the_same(tmp_path: Path, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for number in (1, 2):
        monkeypatch.setenv("HMC_CROWD_WORKER_KEY", f"the secret key number {number}")
        results.append(learned(tmp_path / str(number), clock, [f"g{row // 4}" for row in range(40)]))
    (first, said_first), (second, said_second) = results
    assert first.version == second.version == 1
    assert replace(first, notes=()) == replace(second, notes=())
    assert said_first == said_second


def test_items_without_groups_are_learnt_from(tmp_path: Path, clock: VirtualClock) -> None:
    found, _ = learned(tmp_path / "alone", clock, [f"g{row}" for row in range(40)])
    assert found.version == 1
    # Every group was judged in one item: what opening it costs cannot be told from judging in it.
    assert found.setup_s is None
    assert found.marginal_s is None
