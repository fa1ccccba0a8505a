"""Can 200 people answer at once, each every five seconds, without an error or a lost answer?

One server process, PostgreSQL, HITs of 12 questions with redundancy 3. Each annotator does what a browser does at every
question: sends the answer, sends what the page saw, goes on, opens the next page. ``python -m tests.benchmarks pages``;
``HMC_CROWD_ANNOTATORS`` and ``HMC_CROWD_EVERY_S`` change the load.
"""

from __future__ import annotations

import asyncio
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import numpy as np
from hmc_crowd_local import connect, sign_token

from hmc_crowd.platform import Hit, HitItem
from tests.conftest import running_postgres

QUESTIONS, REDUNDANCY = 12, 3
SECRET = b"a secret of the benchmark"
SERVER = """
import sys, uvicorn
from hmc_crowd_local import connect
from hmc_crowd_local.pages import PagesSettings, make_pages_app
from starlette.applications import Starlette
from starlette.routing import Mount
local = connect(sys.argv[1])
pages = make_pages_app(local, secret=b"a secret of the benchmark", settings=PagesSettings(strangers_per_minute=10**6))
uvicorn.run(Starlette(routes=[Mount("/work", pages)]), port=int(sys.argv[2]), log_level="warning", access_log=False)
"""


def fill(address: str, people: int) -> list[tuple[str, str]]:
    """Publish HITs, give each annotator a place, and return submission ids with their paths."""
    from datetime import UTC, datetime, timedelta

    expires, links = datetime.now(UTC) + timedelta(days=1), []
    with connect(address) as local:
        for number in range(-(-people // REDUNDANCY)):
            items = tuple(
                HitItem(f"h{number}-{i}", "label", f"g{i // 4}", i % 4, f"Turn {i} " * 10, (), ("good", "bad"))
                for i in range(QUESTIONS)
            )
            hit_id = local.publish(Hit(f"h{number}", "Judge", "", items, REDUNDANCY, 100, "USD")).hit_id
            for place in range(min(REDUNDANCY, people - len(links))):
                name = local.accept(hit_id, f"w{number}-{place}").submission_id
                links.append((name, f"/work/s/{sign_token(SECRET, name, expires_at=expires)}"))
    return links


class Annotator:
    """One person at work, with the times that the server took to answer."""

    def __init__(self, client: httpx.AsyncClient, path: str, every_s: float) -> None:
        self.client, self.path, self.every_s = client, path, every_s
        self.waits: list[float] = []
        self.errors: list[str] = []
        self.retries = 0

    async def call(self, method: str, path: str, **options: Any) -> httpx.Response | None:
        begun = time.perf_counter()
        for attempt in range(5):
            try:
                answer = await self.client.request(method, path, **options)
                break
            except httpx.TransportError as error:
                # A connection that the server closes in the moment it is used again; the pages' script tries again too.
                self.retries += 1
                if attempt == 4:
                    self.errors.append(repr(error))
                    return None
        self.waits.append(time.perf_counter() - begun)
        if answer.status_code >= 400:
            self.errors.append(f"{method} {answer.status_code}")
        return answer

    async def work(self, delay_s: float) -> None:
        await asyncio.sleep(delay_s)
        for number in range(1, QUESTIONS + 1):
            begun = time.perf_counter()
            page = await self.call("GET", f"{self.path}/q/{number}")
            if page is None:
                continue
            fields = {
                name: unescape(value)
                for name, value in re.findall(r'<input type="hidden" name="(form|was_a0)" value="([^"]*)"', page.text)
            }
            events = re.search(r'data-events-form="([^"]*)"', page.text)
            seen = [{"seq": i, "kind": kind, "t": i * 100.0, "epoch": 0, "n": number} for i, kind in enumerate(
                ("shown", "input", "input", "answer"))]  # fmt: skip
            batch = {"form": events and events[1], "page": f"p{number}", "now": 400.0, "events": seen}
            json = {"Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded"}
            body = urlencode({**fields, "a0": str(number % 2), "do": "save"})
            await self.call("POST", f"{self.path}/q/{number}", content=body, headers=json)
            await self.call("POST", f"{self.path}/events", json=batch)
            await asyncio.sleep(max(0.0, self.every_s - (time.perf_counter() - begun)))
        page = await self.call("GET", f"{self.path}/review")
        mark = re.search(r'name="form" value="([^"]*)"', page.text if page is not None else "")
        await self.call("POST", f"{self.path}/review", data={"form": mark[1] if mark else ""})


async def crowd(url: str, links: list[tuple[str, str]], every_s: float) -> list[Annotator]:
    limits = httpx.Limits(max_connections=len(links), max_keepalive_connections=len(links))
    async with httpx.AsyncClient(base_url=url, limits=limits, timeout=60) as client:
        people = [Annotator(client, path, every_s) for _, path in links]
        await asyncio.gather(*(each.work(i / len(people) * every_s) for i, each in enumerate(people)))
    return people


def main() -> list[tuple[str, str]]:
    people, every_s = (
        int(os.environ.get("HMC_CROWD_ANNOTATORS", "200")),
        float(os.environ.get("HMC_CROWD_EVERY_S", "5")),
    )
    port = 8000 + os.getpid() % 1000
    with running_postgres() as address, tempfile.TemporaryDirectory() as folder:
        links = fill(address, people)
        with Path(folder, "log").open("w") as log:
            spent = resource.getrusage(resource.RUSAGE_CHILDREN)
            before = spent.ru_utime + spent.ru_stime
            server = subprocess.Popen([sys.executable, "-c", SERVER, address, str(port)], stderr=log)
            try:
                for _ in range(300):
                    time.sleep(0.1)
                    try:
                        httpx.get(f"http://127.0.0.1:{port}/work/static/page.css").raise_for_status()
                        break
                    except httpx.HTTPError:
                        continue
                begun = time.perf_counter()
                done = asyncio.run(crowd(f"http://127.0.0.1:{port}", links, every_s))
                took = time.perf_counter() - begun
            finally:
                server.terminate()
                server.wait(30)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent_s = used.ru_utime + used.ru_stime - before
        with connect(address) as local:
            kept = local.answers([name for name, _ in links])
            right = sum(
                each.label == ("good", "bad")[(number + 1) % 2]
                for name, _ in links
                for number, each in enumerate(kept.get(name, ()))
            )
    waits = np.array([each for one in done for each in one.waits])
    errors = [each for one in done for each in one.errors]
    return [
        ("annotators, an answer every", f"{people}, {every_s:g} s"),
        ("requests a second", f"{len(waits) / took:,.0f}"),
        ("answers a second", f"{people * QUESTIONS / took:,.1f} of {people / every_s:,.1f} asked for"),
        ("waiting, median, p99, longest", "{:.3f} s, {:.3f} s, {:.3f} s".format(*np.quantile(waits, [0.5, 0.99, 1.0]))),
        ("processor time of the server", f"{spent_s / len(waits) * 1e3:.1f} ms a request"),
        ("sent again", f"{sum(each.retries for each in done)}"),
        ("errors", f"{len(errors)} {sorted(set(errors))[:3] if errors else ''}"),
        ("answers kept as given", f"{right:,} of {people * QUESTIONS:,}"),
    ]
