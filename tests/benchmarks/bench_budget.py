"""How much quicker do many processes spend from blocks of their own than from the one common row?

Sixteen processes spend one budget in equal payments, each payment in a transaction of its own: once by reserving and
settling at the campaign's row (two statements that all processes queue for), once from blocks of twenty-five payments.
The ratio is payments a second, blocks over row; the databases commit as they do in the product (SQLite flushes every
commit to disk) or as the tests' PostgreSQL does (no flush, so that waiting for the row is what is measured).

Run ``python -m tests.benchmarks budget``.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from hmc_crowd.store import open_store

SPENDER = Path(__file__).parents[1] / "store" / "budget_spender.py"
PROCESSES, PAYMENTS, AMOUNT = 16, 1600, 7


def payments_per_second(url: str, how: str, name: str) -> float:
    """Let all processes begin at once; count until the last one finds nothing left."""
    limit = PAYMENTS * AMOUNT
    with open_store(url, create=True) as store, store.begin() as tx:
        campaign = tx.campaigns.create(name, {}, created_at=datetime(2026, 1, 5, tzinfo=UTC)).id
    arguments = [url, "{owner}", AMOUNT, campaign, limit, 25 * AMOUNT]
    spenders = [
        subprocess.Popen(
            [sys.executable, str(SPENDER), how, *(str(each).format(owner=f"p{number}") for each in arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(PROCESSES)
    ]
    for each in spenders:
        assert each.stdout is not None
        assert each.stdout.readline() == "ready\n"
    start = time.perf_counter()
    said = [each.communicate("go\n")[0] for each in spenders]
    seconds = time.perf_counter() - start
    spent = sum(int(each.split()[0]) for each in said)
    with open_store(url) as store, store.read() as tx:
        assert tx.budget.totals(campaign).settled_minor == spent * AMOUNT <= limit
    return spent / seconds


def measure(url: str) -> list[tuple[str, str]]:
    kind = url.partition(":")[0]
    row = payments_per_second(url, "row", f"{kind} row")
    block = payments_per_second(url, "block", f"{kind} block")
    return [
        (f"{kind}: the common row", f"{row:,.0f} payments a second"),
        (f"{kind}: blocks of 25", f"{block:,.0f} payments a second"),
        (f"{kind}: blocks over row", f"{block / row:.2f}"),
    ]


def main() -> list[tuple[str, str]]:
    from tests.conftest import running_postgres

    with tempfile.TemporaryDirectory() as folder:
        rows = measure(f"sqlite:///{folder}/budget.db")
    with running_postgres() as server:
        import psycopg

        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET synchronous_commit = off")
            connection.execute("SELECT pg_reload_conf()")
            connection.execute("CREATE DATABASE bench")
        return rows + measure(server.replace("/postgres?", "/bench?"))
