"""Use 1: launch HITs from a script. Items and predictions in, a look at the price, then people, then labels.

    python examples/launch_from_script.py

Everything happens in the folder ``launch``: the local workplace stands in for a platform, and simulated people answer.
To work with real people, connect their platform instead and leave out `rehearse`; the rest stays as it is.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd

from hmc_crowd import Campaign
from hmc_crowd.platform import find_platform
from hmc_crowd.simulation import SimulatedCrowd, draw_workers

LABELS = ["good", "bad"]


def make_batch(rng: np.random.Generator, n: int = 200) -> pd.DataFrame:
    """Stand in for your own files: replies with a machine's label, its confidence, and the truth it does not know."""
    confidence = rng.uniform(0.5, 1.0, n)
    truth = rng.choice(LABELS, n, p=[0.6, 0.4])
    machine = np.where(rng.random(n) < confidence, truth, np.where(truth == "good", "bad", "good"))
    text = [f"Reply number {number} of the system under test." for number in range(n)]
    items = [f"reply-{number}" for number in range(n)]
    return pd.DataFrame({"item": items, "text": text, "label": machine, "confidence": confidence, "truth": truth})


def main() -> None:
    folder = Path("launch")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    rng = np.random.default_rng(1)
    batch = make_batch(rng)
    truth = dict(zip(batch["item"], batch["truth"], strict=True))
    with (
        Campaign.create(folder / "campaign.db", "launch", labels=LABELS, seed=1) as campaign,
        find_platform("local", str(folder / "workplace.db")) as workplace,
    ):
        campaign.add_items(batch[["item", "text"]])
        campaign.add_predictions(batch[["item", "label", "confidence"]])
        print(campaign.estimate_effort())
        print(campaign.plan(trade_off=1.0, max_human=0.4, audit=40))
        spend = {"redundancy": 3, "pay_per_hour_minor": 1200, "target_minutes": 5.0}
        print(campaign.publish(workplace, **spend))  # a dry run: the price, and nothing is sent
        print(campaign.publish(workplace, dry_run=False, budget_minor=3000, **spend))
        workplace.rehearse(SimulatedCrowd(draw_workers(12, LABELS, rng=rng, accuracy=0.9), truth, rng=rng))
        print(campaign.collect(workplace))
        print(campaign.aggregate())
        print(campaign.certify())
        print("labels:", campaign.labels(folder / "labels.csv"))


if __name__ == "__main__":
    main()
