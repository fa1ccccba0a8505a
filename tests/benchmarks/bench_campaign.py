"""Is a batch of 10^7 items planned in at most 60 s and 4 GB, and where does the time go?"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SIZE = int(os.environ.get("HMC_CROWD_BENCH_ITEMS", 10_000_000))

CHILD = """
import resource, sys, time
from pathlib import Path
from hmc_crowd.campaign import Campaign
started = time.perf_counter()
with Campaign.open(sys.argv[1]) as campaign:
    plan = campaign.plan(trade_off=0.5, max_human=0.2, audit=2000)
print(plan.people, time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""


def main() -> None:
    """Fill a campaign, then plan it in a process of its own, so that its memory is its own."""
    import pyarrow as pa

    from hmc_crowd.campaign import Campaign

    rng = np.random.default_rng(1)
    names = pa.array(np.char.add("item-", np.char.zfill(np.arange(SIZE).astype(str), 8)))
    groups = pa.array(np.char.add("g", np.char.zfill((np.arange(SIZE) // 5).astype(str), 8)))
    items = pa.table({"item": names, "group": groups, "text": pa.array([""] * SIZE)})
    predictions = pa.table(
        {"item": names, "label": np.where(rng.random(SIZE) < 0.5, "a", "b"), "confidence": rng.random(SIZE)}
    )
    effort = pa.table({"item": names, "seconds": rng.gamma(2.0, 8.0, SIZE)})
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "large.db")
        with Campaign.create(path, labels=["a", "b"], seed=1) as campaign:
            for what, add in (
                ("items", lambda: campaign.add_items(items)),
                ("predictions", lambda: campaign.add_predictions(predictions)),
                ("effort", lambda: campaign.add_effort(effort)),
            ):
                started = time.perf_counter()
                add()
                print(f"add {what:<12} {time.perf_counter() - started:8.1f} s")
        done = subprocess.run([sys.executable, "-c", CHILD, path], capture_output=True, text=True, check=True)
        people, seconds, gigabytes = done.stdout.split()
        print(f"plan {SIZE:,} items: {float(seconds):.1f} s (at most 60), {int(people):,} to people")
        print(f"planning process peaked at {float(gigabytes):.2f} GB (at most 4)")
    print(f"filling process peaked at {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB")


if __name__ == "__main__":
    main()
