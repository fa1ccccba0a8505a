"""Can 200 people answer at once, each every five seconds, without an error or a lost answer?

`hmc-crowd serve` on PostgreSQL, HITs of 12 questions with redundancy 3. Each annotator does what a browser does at
every question: sends the answer, sends what the page saw, goes on, opens the next page.
``python -m tests.benchmarks pages``; ``HMC_CROWD_ANNOTATORS`` and ``HMC_CROWD_EVERY_S`` change the load,
``HMC_CROWD_WORKERS`` how many processes answer: two for 200 people and more, else one.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import httpx
import psutil
from hmc_crowd_local import connect, sign_token

from hmc_crowd.platform import Hit, HitItem
from tests.benchmarks.served import Served, quiet_collector, waits_row
from tests.conftest import running_postgres

if TYPE_CHECKING:
    from collections.abc import Iterator

QUESTIONS, REDUNDANCY = 12, 3
SERVE = [sys.executable, "-c", "from hmc_crowd.cli import main; main()", "serve", "--port", "0", "--json"]


def fill(address: str, people: int) -> list[tuple[str, str]]:
    """Publish HITs, give each annotator a place, and return submission ids with their paths."""
    expires, links = datetime.now(UTC) + timedelta(days=1), []
    with connect(address) as local:
        secret = local.secret("pages")
        for number in range(-(-people // REDUNDANCY)):
            items = tuple(
                HitItem(f"h{number}-{i}", "label", f"g{i // 4}", i % 4, f"Turn {i} " * 10, (), ("good", "bad"))
                for i in range(QUESTIONS)
            )
            hit_id = local.publish(Hit(f"h{number}", "Judge", "", items, REDUNDANCY, 100, "USD")).hit_id
            for place in range(min(REDUNDANCY, people - len(links))):
                name = local.accept(hit_id, f"w{number}-{place}").submission_id
                links.append((name, f"/work/s/{sign_token(secret, name, expires_at=expires)}"))
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
            headers = {"Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded"}
            body = urlencode({**fields, "a0": str(number % 2), "do": "save"})
            await self.call("POST", f"{self.path}/q/{number}", content=body, headers=headers)
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


@contextmanager
def served(address: str, workers: int) -> Iterator[tuple[str, int]]:
    """Serve the workplace; give its address, and the process that all others come from."""
    with tempfile.TemporaryDirectory() as folder, Path(folder, "log").open("w") as log:
        command = [*SERVE, "--workplace", address, "--workers", str(workers)]
        server = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            said = json.loads((server.stdout.readline() if server.stdout else "") or "{}")
            if "serving" not in said:
                raise RuntimeError(Path(folder, "log").read_text())
            while workers > 1 and len(psutil.Process(server.pid).children()) < workers:
                time.sleep(0.1)
            # One that is there does not answer yet: connections kept open would all be those of the first.
            time.sleep(3.0 * (workers > 1))
            yield said["serving"][0]["url"].partition("/work")[0].rstrip("/"), server.pid
        finally:
            server.terminate()
            server.wait(30)


def main() -> list[tuple[str, str]]:
    people = int(os.environ.get("HMC_CROWD_ANNOTATORS", "200"))
    every_s = float(os.environ.get("HMC_CROWD_EVERY_S", "5"))
    workers = int(os.environ.get("HMC_CROWD_WORKERS", "2" if people >= 200 else "1"))
    with running_postgres() as address:
        links = fill(address, people)
        with served(address, workers) as (url, pid):
            quiet_collector()
            server, begun = Served(pid), time.perf_counter()
            done = asyncio.run(crowd(url, links, every_s))
            took, spent, load = time.perf_counter() - begun, server.spent_s(), server.load_row()
        with connect(address) as local:
            kept = local.answers([name for name, _ in links])
            right = sum(
                each.label == ("good", "bad")[(number + 1) % 2]
                for name, _ in links
                for number, each in enumerate(kept.get(name, ()))
            )
    waits = [each for one in done for each in one.waits]
    errors = [each for one in done for each in one.errors]
    of_request, of_answer = (sum(spent) / n * 1000 for n in (len(waits), people * QUESTIONS))
    shares = ", ".join(f"{each:.1f} s" for each in (spent[1:] or spent))
    return [
        ("annotators, an answer every", f"{people}, {every_s:g} s"),
        ("processes, processor time of each", f"{workers}, {shares} in {took:.1f} s"),
        ("requests a second", f"{len(waits) / took:,.0f}"),
        ("answers a second", f"{people * QUESTIONS / took:,.1f} of {people / every_s:,.1f} asked for"),
        waits_row("waiting for a request", waits),
        ("processor time of the server", f"{of_request:.2f} ms a request, {of_answer:.1f} ms an answer"),
        load,
        ("sent again", f"{sum(each.retries for each in done)}"),
        ("errors", f"{len(errors)} {sorted(set(errors))[:3] if errors else ''}"),
        ("answers kept as given", f"{right:,} of {people * QUESTIONS:,}"),
    ]
