"""Is a campaign of ten million items planned in 60 s and 4 GB? A process of its own tells its peak memory.

Setting up (items with texts, predictions, efforts) is timed apart. Planning is: read confidence, effort and item ids,
choose by `hmc_crowd.routing.route`, write the plan's Parquet file with all its columns, read back what people see.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hmc_crowd.store import AspectRecord, open_store

AT = datetime(2026, 1, 5, tzinfo=UTC)


def peak_gb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def ids(rows: int) -> pa.Array:
    number = pc.utf8_lpad(pa.array(np.arange(rows)).cast(pa.large_string()), 9, "0")
    return pc.binary_join_element_wise(pa.scalar("item-", pa.large_string()), number, pa.scalar("", pa.large_string()))


def set_up(folder: str, rows: int) -> None:
    rng = np.random.default_rng(0)
    item = ids(rows)
    begin = time.perf_counter()
    with open_store(f"{folder}/a.db", create=True) as store, store.begin() as tx:
        made = tx.campaigns.create("large", {}, created_at=AT).id
        tx.campaigns.add_aspect(made, AspectRecord("malevolent", "nominal", ("yes", "no")))
        text = pc.binary_join_element_wise(
            pa.scalar("the text of ", pa.large_string()), item, pa.scalar("", pa.large_string())
        )
        tx.frames.add_items(made, pa.table({"item": item, "group": item, "text": text}))
        label = pa.DictionaryArray.from_arrays(
            pa.array(rng.integers(0, 2, rows, dtype=np.int32)), pa.array(["no", "yes"])
        )
        confidence = rng.uniform(0.3, 1.0, rows)
        tx.frames.put(made, "predictions", pa.table({"item": item, "label": label, "confidence": confidence}))
        tx.frames.put(
            made, "efforts", pa.table({"item": item, "seconds": rng.gamma(2.0, 20.0, rows), "share": rng.random(rows)})
        )
    print(f"set up, {rows:,} items: {time.perf_counter() - begin:.1f} s, peak {peak_gb():.2f} GB")


def choose(confidence: np.ndarray, effort: np.ndarray) -> np.ndarray:
    try:
        from hmc_crowd.routing import route
    except ImportError:  # the same rule, bare
        gain = (1 - confidence) - 0.5 * effort
        return gain >= np.partition(gain, len(gain) // 2)[len(gain) // 2]
    return route(confidence, effort, trade_off=0.5, max_human=0.5).to_human


def plan(folder: str) -> None:
    marks = [("start", time.perf_counter())]

    def mark(what: str) -> None:
        marks.append((what, time.perf_counter()))

    with open_store(f"{folder}/a.db") as store:
        with store.read() as tx:
            made = tx.campaigns.get().id
            confidence = tx.frames.read(made, "predictions", aspect="malevolent", columns=["confidence"])[
                "confidence"
            ].to_numpy()
            effort = tx.frames.read(made, "efforts", columns=["share"])["share"].to_numpy()
            item = tx.frames.read(made, "items", columns=["item"])["item"]
        mark("read")
        people = choose(confidence, effort)
        mark("route")
        destination = pa.DictionaryArray.from_arrays(pa.array(people.astype(np.int8)), pa.array(["machine", "people"]))
        frame = pa.table(
            {
                "item": pa.array(item),
                "aspect": pa.DictionaryArray.from_arrays(
                    pa.array(np.zeros(len(item), np.int8)), pa.array(["malevolent"])
                ),
                "destination": destination,
                "gain": (1 - confidence) - 0.5 * effort,
                "confidence": confidence,
                "effort_s": effort,
                "inclusion_probability": people.astype(float),
                "rank": np.arange(len(item)),
            }
        )
        with store.begin() as tx:
            saved = tx.plans.save(made, 1, {"trade_off": 0.5}, frame)
        mark("save")
        with store.read() as tx:
            seen = len(tx.plans.read(saved.id, people_only=True, columns=["item"]))
            mark(f"read back {seen:,} of people")
            tx.plans.read(saved.id, items=["item-000000007"])
            mark("explain one item")
    for (_, before), (what, after) in pairwise(marks):
        print(f"plan, {what}: {after - before:.2f} s")
    print(f"plan, all: {marks[-1][1] - marks[0][1]:.1f} s (target 60), peak {peak_gb():.2f} GB (target 4)")


def main(rows: int = 10_000_000) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for step in ("set_up", "plan"):
            command = [sys.executable, "-m", "tests.benchmarks.bench_store_large", step, folder, str(rows)]
            done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
            print(done.stdout or done.stderr[-2000:], end="", flush=True)


if __name__ == "__main__":
    set_up(sys.argv[2], int(sys.argv[3])) if sys.argv[1] == "set_up" else plan(sys.argv[2])
