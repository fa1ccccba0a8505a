"""A front door of its own for each test, served on a free port; the adapter connected to it."""

from __future__ import annotations

import shutil
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hmc_crowd_local.mturk_api import FrontDoor, Key, Settings, WorkersDoor, build_app, open_front_door
from hmc_crowd_mturk import MTurkPlatform, connect

from hmc_crowd.testing._chaos import ChaosProxy

# Tests are imported without their folder; what they share lies beside them.
sys.path.insert(0, str(Path(__file__).parent))

from mturk_house import AMAZON_FEES, CheckedDoor, House, Server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hmc_crowd._base.clock import VirtualClock


@pytest.fixture(scope="session")
def empty_workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty workplace, migrated once; a copy is quicker than a migration."""
    path = tmp_path_factory.mktemp("workplace") / "empty.db"
    open_front_door(str(path)).close()
    return path


def copied(workplace: Path, to: Path) -> str:
    """Copy a workplace and its key."""
    shutil.copy(f"{workplace}.key", f"{to}.key")
    return str(shutil.copy(workplace, to))


@pytest.fixture(scope="session")
def servers() -> Iterator[list[Server]]:
    """Servers that outlive a test; each test puts its own front door into them."""
    running: list[Server] = []
    yield running
    for each in running:
        each.stop()


@pytest.fixture
def make_house(
    empty_workplace: Path, servers: list[Server], tmp_path: Path, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., House]]:
    monkeypatch.setattr("hmc_crowd_local.mturk_api._connect.FrontDoor", CheckedDoor)
    with ExitStack() as stack:
        count = 0

        def make(address: str | None = None, **options: Any) -> House:
            nonlocal count
            count += 1
            calls: list[str] = []
            values = {
                "fees": AMAZON_FEES, "allow_http": True, "trust_worker_ids": True,
                "on_call": lambda operation, _request: calls.append(operation), **options,
            }  # fmt: skip
            if address is None:
                address = copied(empty_workplace, tmp_path / f"workplace{count}.db")
            door = open_front_door(address, clock=clock, settings=Settings(**values))
            stack.callback(door.close)
            while len(servers) < count:
                servers.append(Server())
            servers[count - 1].app = build_app(door)
            return House(servers[count - 1].url, door, WorkersDoor(door), clock, door.issue_key(), calls)

        yield make


@pytest.fixture
def door(empty_workplace: Path, tmp_path: Path, clock: VirtualClock) -> Iterator[FrontDoor]:
    """A front door without a server, for rules that the wire has no part in."""
    opened = open_front_door(
        copied(empty_workplace, tmp_path / "door.db"), clock=clock, settings=Settings(fees=AMAZON_FEES)
    )
    opened.issue_key()
    yield opened
    opened.close()


@pytest.fixture
def house(make_house: Callable[..., House]) -> House:
    """A served front door with Amazon's fees on SQLite."""
    return make_house()


@pytest.fixture
def client(house: House) -> Any:
    return house.client


@pytest.fixture
def proxy(house: House) -> Iterator[ChaosProxy]:
    """A line to the front door that can be cut."""
    with ChaosProxy(house.url) as line:
        yield line


@pytest.fixture
def connect_to(house: House, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch) -> Callable[..., MTurkPlatform]:
    """Connect the adapter to an address, with the house's keys in the environment as they would be."""

    def go(url: str | None = None, *, key: Key | None = None, **options: Any) -> MTurkPlatform:
        used = key or house.key
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", used.access_key_id)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", used.secret_access_key)
        return connect(url or house.url, **{"clock": clock, **options})

    return go


@pytest.fixture
def platform(connect_to: Callable[..., MTurkPlatform]) -> MTurkPlatform:
    """The adapter, connected to the house."""
    return connect_to()


@pytest.fixture
def broken(connect_to: Callable[..., MTurkPlatform], proxy: ChaosProxy) -> MTurkPlatform:
    """The adapter, connected through the line that can be cut."""
    return connect_to(proxy.url)
