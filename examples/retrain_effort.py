"""Use 3: retrain the effort model from logged times. First from a log of your own, then from a campaign's own clocks.

    python examples/retrain_effort.py

The command line does the same: `hmc-crowd effort evaluate log.csv --groups worker`, `hmc-crowd effort train log.csv`
for times that were logged elsewhere, and `hmc-crowd learn` for those that the campaign has collected.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd

from hmc_crowd import Campaign, EffortModel
from hmc_crowd.effort import fit_setup_marginal


def make_log(rng: np.random.Generator, n: int = 400) -> pd.DataFrame:
    """Stand in for your own log: one row for each dialogue that somebody judged, with the seconds it took."""
    turns, worker = rng.integers(3, 11, n), rng.integers(0, 25, n)
    tokens = turns * rng.integers(8, 30, n)
    pace = rng.normal(1.0, 0.15, 25)[worker]
    seconds = pace * (20 + 4 * turns + 0.25 * tokens) * rng.lognormal(0.0, 0.2, n)
    return pd.DataFrame({"turns": turns, "length_tokens": tokens, "worker": worker, "seconds": seconds})


def main() -> None:
    rng = np.random.default_rng(5)
    log = make_log(rng)
    features, seconds = log[["turns", "length_tokens"]], log["seconds"]

    # How good is it on workers that it has never seen? Then keep it, and read off what opening a dialogue costs.
    print(EffortModel().evaluate(features, seconds, groups=log["worker"]))
    print(fit_setup_marginal(seconds, log["turns"], clusters=log["worker"], rng=rng))
    folder = Path("retrain")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "effort.skops").write_bytes(EffortModel().fit(features, seconds).to_bytes())
    model = EffortModel.from_bytes((folder / "effort.skops").read_bytes())
    print("P50 and P90 of a new dialogue, in seconds:", model.predict_quantile(features.head(1), [0.5, 0.9]).round(1))

    # The same inside a campaign: version, hash of the data and scores stay in its database.
    with Campaign.create(folder / "retrain.db", labels=["good", "bad"], seed=1) as campaign:
        texts = ["Short and sweet.", "A reply that is quite a bit longer than the other one, so it takes more time."]
        campaign.add_items([{"item": f"i{row}", "group": "d", "position": row, "text": texts[row]} for row in range(2)])
        print(campaign.estimate_effort())
        print(campaign.train_effort(features, seconds, groups=log["worker"]))
        print(campaign.estimate_effort())


if __name__ == "__main__":
    main()
