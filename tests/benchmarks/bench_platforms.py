"""How many submissions a second are read from the local endpoint, and how many answers a second does it take?

``collect``: 10,000 submissions of ten answers each, read by the MTurk adapter over HTTP from `hmc-crowd serve` in a
process of its own, listing and reading the answers, SQL included; to be reached: 500 a second.
``sustain``: workers' hands (accept, hand in) at 1,505 answers a second into PostgreSQL for a minute, and what is left
of the machine, as the rate without a pause. ``HMC_CROWD_BENCH_SECONDS`` and ``HMC_CROWD_BENCH_SUBMISSIONS`` change the
sizes; ``HMC_CROWD_BENCH_DATABASE`` takes another PostgreSQL than one started for this.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

SUBMISSIONS = int(os.environ.get("HMC_CROWD_BENCH_SUBMISSIONS", "10000"))
SECONDS = float(os.environ.get("HMC_CROWD_BENCH_SECONDS", "60"))
RATE = 1505
PER_HIT, ITEMS = 10, 10
# Processes that hand in, and answers in a HIT: some six minutes of a person's work.
HANDS, IN_HAND = 3, 25
SERVE = "from hmc_crowd.cli import main; main()"


def main() -> list[tuple[str, str]]:
    rows = []
    with tempfile.TemporaryDirectory() as folder, postgres() as url:
        for name, address in (("SQLite", str(Path(folder) / "workplace.db")), ("PostgreSQL", url)):
            rows += collect(name, address, folder)
        rows += sustain(url)
    return rows


@contextmanager
def postgres() -> Iterator[str]:
    given = os.environ.get("HMC_CROWD_BENCH_DATABASE")
    if given:
        yield given
        return
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from conftest import running_postgres

    with running_postgres() as url:
        yield url


def collect(name: str, address: str, folder: str) -> list[tuple[str, str]]:
    from hmc_crowd_local.mturk_api import open_front_door
    from hmc_crowd_mturk import connect

    door = open_front_door(address)
    key = door.issue_key()
    hits = fill(door, SUBMISSIONS)
    door.close()
    os.environ.update(AWS_ACCESS_KEY_ID=key.access_key_id, AWS_SECRET_ACCESS_KEY=key.secret_access_key)
    with serving(address, folder) as (url, pid):
        platform = connect(url)
        before, cpu = cpu_of(pid), time.process_time()
        started = time.perf_counter()
        found = list(platform.submissions(hits))
        listed = time.perf_counter()
        answers = sum(len(each) for each in platform.answers([each.submission_id for each in found]).values())
        ended = time.perf_counter()
        client, server = time.process_time() - cpu, cpu_of(pid) - before
    assert len(found) == SUBMISSIONS, len(found)
    assert answers == SUBMISSIONS * ITEMS, answers
    spent = ended - started
    return [
        (f"{name}: submissions read a second (500 wanted)", f"{SUBMISSIONS / spent:,.0f}"),
        (f"{name}: of {spent:.1f} s, listing {len(hits):,} HITs", f"{listed - started:.1f} s"),
        (f"{name}: reading {answers:,} answers out of what was listed", f"{ended - listed:.1f} s"),
        (f"{name}: of a core, boto3 and reading (client), a submission", f"{client / SUBMISSIONS * 1000:.2f} ms"),
        (
            f"{name}: of a core, the front door with its SQL (server), a submission",
            f"{server / SUBMISSIONS * 1000:.2f} ms",
        ),
        (
            f"{name}: submissions a second on a machine with nothing else to do",
            f"{SUBMISSIONS / (client + server):,.0f}",
        ),
    ]


def fill(door, submissions: int) -> list[str]:
    """Make HITs through the API, and what workers handed in straight in the table: how it got there is not timed."""
    import sqlalchemy as sa
    from hmc_crowd_local._tables_mturk import ASSIGNMENT
    from hmc_crowd_local.mturk_api import WorkersDoor
    from hmc_crowd_mturk._questions import answer_name

    door.add_funds(10**9)
    external = (
        '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/'
        'ExternalQuestion.xsd"><ExternalURL>https://e.org/</ExternalURL><FrameHeight>0</FrameHeight></ExternalQuestion>'
    )
    request = {
        "Title": "Judge", "Description": "Read.", "Reward": "0.05", "Question": external, "MaxAssignments": PER_HIT,
        "AssignmentDurationInSeconds": 600, "LifetimeInSeconds": 86_400,
    }  # fmt: skip
    hits = [door.call("main", "CreateHIT", request)["HIT"]["HITId"] for _ in range(submissions // PER_HIT)]
    workers = WorkersDoor(door)
    fields = [(answer_name(i + 1), "yes") for i in range(ITEMS)]
    workers.submit(workers.accept(hits[0], "A0").assignment_id, fields)
    with door.database.write() as connection:
        model = dict(connection.execute(sa.select(ASSIGNMENT)).mappings().one())
        rows = [
            {
                **model,
                "assignment_id": f"A{number:029d}",
                "worker": f"AW{number % PER_HIT}",
                "hit_id": hits[number // PER_HIT],
            }
            for number in range(submissions)
        ]
        connection.execute(sa.insert(ASSIGNMENT), rows[1:])
    return hits


@contextmanager
def serving(address: str, folder: str) -> Iterator[tuple[str, int]]:
    arguments = ["serve", "--port", "0", "--workplace", address, "--json"]
    process = subprocess.Popen([sys.executable, "-c", SERVE, *arguments], cwd=folder, stdout=subprocess.PIPE, text=True)
    try:
        said = json.loads(process.stdout.readline())
        url = next(each["url"] for each in said["serving"] if each["what"].startswith("MTurk API"))
        yield url, process.pid
    finally:
        process.terminate()
        process.wait(timeout=30)


def cpu_of(pid: int) -> float:
    """Seconds of a core that a process has used (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def sustain(url: str) -> list[tuple[str, str]]:
    paced, worst, late, cpu = hands(url, SECONDS, rate=RATE, name="paced")
    free, _, _, _ = hands(url, min(SECONDS, 20), rate=None, name="free")
    return [
        (f"PostgreSQL: answers a second over {SECONDS:.0f} s (1,505 wanted)", f"{paced:,.0f}"),
        (f"PostgreSQL: a HIT of {IN_HAND} answers takes, at the 99th percentile", f"{worst * 1000:.0f} ms"),
        ("PostgreSQL: HITs begun more than a second late", f"{late:.1%}"),
        (f"PostgreSQL: a HIT of {IN_HAND} answers costs our processes, of a core", f"{cpu * 1000:.1f} ms"),
        ("PostgreSQL: answers a second without a pause", f"{free:,.0f}"),
    ]


def hands(url: str, seconds: float, *, rate: float | None, name: str) -> tuple[float, float, float, float]:
    """Let processes accept HITs and hand them in; return answers a second, slow HITs' time, late share, CPU per HIT."""
    from multiprocessing import get_context

    from hmc_crowd_local import connect

    count = int(seconds * (rate or 6_000) / IN_HAND) // HANDS * HANDS
    with connect(url) as platform:
        platform.show(bundle(name, n) for n in range(count))
        ids = {key: each.hit_id for key, each in platform.find_all().items() if key.startswith(f"{name}-")}
    start = time.time() + 3
    jobs = [
        (url, name, {n: ids[f"{name}-{n}"] for n in range(one, count, HANDS)}, start, seconds, rate and rate / HANDS)
        for one in range(HANDS)
    ]
    with get_context("spawn").Pool(HANDS) as pool:
        done = pool.starmap(hand, jobs)
    took = [each for some, _, _, _ in done for each in some]
    late = [each for _, some, _, _ in done for each in some]
    ended = max(end for _, _, end, _ in done)
    rate_met = len(took) * IN_HAND / (ended - start)
    return (
        rate_met,
        float(np.quantile(took, 0.99)),
        float(np.mean(np.array(late) > 1.0)),
        sum(d[3] for d in done) / len(took),
    )


def bundle(name: str, number: int):
    from hmc_crowd.platform import Hit, HitItem

    items = (HitItem(f"{name}-{number}-{i}", "label", "g", i, "Hello.", labels=("yes", "no")) for i in range(IN_HAND))
    return Hit(f"{name}-{number}", "Judge", "Read.", tuple(items), 1, 5, "USD")


def hand(url: str, name: str, hits: dict[int, str], start: float, seconds: float, rate: float | None):
    """One worker process: accept, hand in, at its pace."""
    from hmc_crowd_local import connect

    from hmc_crowd.platform import RemoteAnswer

    took, late = [], []
    with connect(url) as own:
        own.account()
        time.sleep(max(0.0, start - time.time()))
        cpu = time.process_time()
        for turn, (number, hit_id) in enumerate(hits.items()):
            due = start + (turn * IN_HAND / rate if rate else 0)
            time.sleep(max(0.0, due - time.time()))
            begun = time.time()
            if begun - start > seconds:
                break
            late.append(begun - due if rate else 0.0)
            submission = own.accept(hit_id, f"w{number}").submission_id
            answers = [RemoteAnswer(f"{name}-{number}-{i}", "label", "yes") for i in range(IN_HAND)]
            own.hand_in(submission, f"w{number}", answers)
            took.append(time.time() - begun)
        return took, late, time.time(), time.process_time() - cpu


if __name__ == "__main__":
    for what, value in main():
        print(f"{what:<70} {value}")
