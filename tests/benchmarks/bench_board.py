"""How many decisions a second does the machine door make, in batches and one by one?

One server process over SQLite, one client process, all decisions stored, with the gate's features, before they are
answered. Beside the times on the clock stands the processor time of the server for each request, which other work on
the machine does not change; its inverse is the most that one server could answer.
``python -m tests.benchmarks board``; ``HMC_CROWD_RATE`` and ``HMC_CROWD_SECONDS`` change the load of single decisions.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pandas as pd

from hmc_crowd.campaign import Campaign
from hmc_crowd.store import open_store
from tests.benchmarks.served import Served, quiet_collector, waits_row

BATCH, BATCHES, CONNECTIONS = 2_000, 10, 64
SERVER = """
import sys
from hmc_crowd._base.clock import SystemClock
from hmc_crowd.board import BoardHouse, make_door_app
from hmc_crowd.cli._serving import bind, run
from hmc_crowd.store import open_store
house = BoardHouse(open_store(sys.argv[1]), secret=b"a secret of the benchmark", clock=SystemClock())
listening = bind("127.0.0.1", 0)
run(make_door_app(house), listening, started=lambda: print(listening.getsockname()[1], flush=True))
"""


def fill(path: Path, n: int = 5_000) -> str:
    """Plan a campaign of ``n`` items and return the owner's key."""
    rng = np.random.default_rng(1)
    names = [f"i{row}" for row in range(n)]
    with Campaign.create(path, labels=["good", "bad"], seed=1) as campaign:
        campaign.add_items(pd.DataFrame({"item": names, "text": "so it goes"}))
        said = pd.DataFrame({"item": names, "label": "good", "confidence": 0.5 + rng.random(n) / 2})
        campaign.add_predictions(said)
        campaign.estimate_effort()
        campaign.plan(trade_off=0.5, max_human=0.3, audit=200)
    with open_store(path) as store, store.begin() as tx:
        return str(tx.keys.issue("owner")[1])


def items(name: str, n: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    return [
        {"item": f"{name}-{row}", "confidence": float(sure), "effort": 0.001, "text": "Is it kind?", "risk": "low"}
        for row, sure in enumerate(0.5 + rng.random(n) / 2)
    ]


async def batches(client: httpx.AsyncClient) -> float:
    """Return decisions a second, one batch after another."""
    rng = np.random.default_rng(2)
    bodies = [{"key": f"b{k}", "items": items(f"b{k}", BATCH, rng)} for k in range(BATCHES)]
    (await client.post("/allocate", json={"key": "warm", "items": items("warm", 10, rng)})).raise_for_status()
    started = time.perf_counter()
    for body in bodies:
        (await client.post("/allocate", json=body)).raise_for_status()
    return BATCH * BATCHES / (time.perf_counter() - started)


async def singles(url: str, key: str, rate: float, seconds: float) -> list[float]:
    """Return latencies in seconds, counted from when each request was due, at a fixed rate.

    Written on plain streams: an HTTP library's own pool would be what is measured.
    """
    rng, number = np.random.default_rng(3), int(rate * seconds)
    bodies = [
        json.dumps({"key": f"s{k}", "campaign": "campaign", "items": items(f"s{k}", 1, rng)}) for k in range(number)
    ]
    due_next, waits = iter(range(number)), []
    host, port = url.removeprefix("http://").split(":")
    started = time.perf_counter() + 0.5

    async def connection() -> None:
        reader, writer = await asyncio.open_connection(host, int(port))
        for k in due_next:
            due = started + k / rate
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            head = f"POST /allocate HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\n"
            writer.write(f"{head}Content-Length: {len(bodies[k])}\r\n\r\n{bodies[k]}".encode())
            answer = (await reader.readuntil(b"\r\n\r\n")).lower()
            await reader.readexactly(int(answer.split(b"content-length: ")[1].split(b"\r\n")[0]))
            if b" 200 " not in answer.split(b"\r\n")[0]:
                raise RuntimeError(answer.decode())
            waits.append(time.perf_counter() - due)
        writer.close()

    await asyncio.gather(*(connection() for _ in range(CONNECTIONS)))
    return waits


async def load(url: str, key: str, pid: int) -> list[tuple[str, str]]:
    rate, seconds = float(os.environ.get("HMC_CROWD_RATE", "200")), float(os.environ.get("HMC_CROWD_SECONDS", "10"))
    headers = {"Authorization": f"Bearer {key}"}
    quiet_collector()
    server = Served(pid)
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60) as client:
        per_s = await batches(client)
    batch_s = sum(server.spent_s())
    server = Served(pid)
    waits = await singles(url, key, rate, seconds)
    single_ms = sum(server.spent_s()) / len(waits) * 1000
    return [
        (f"decisions a second, batches of {BATCH:,}", f"{per_s:,.0f}"),
        waits_row(f"single decisions at {rate:g}/s, {len(waits):,} of them", waits),
        ("processor time of the server", f"{batch_s / (BATCH * BATCHES) * 1e6:.0f} us a decision in batches"),
        ("", f"{single_ms:.2f} ms a single request, so {1000 / single_ms:,.0f}/s would fill one core"),
        server.load_row(),
    ]


def main() -> list[tuple[str, str]]:
    """Serve, load, stop."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "campaign.db"
        key = fill(path)
        server = subprocess.Popen([sys.executable, "-c", SERVER, str(path)], stdout=subprocess.PIPE, text=True)
        try:
            port = (server.stdout.readline() if server.stdout else "").strip()
            return asyncio.run(load(f"http://127.0.0.1:{port}", key, server.pid))
        finally:
            server.terminate()
            server.wait(20)
