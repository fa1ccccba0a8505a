"""What `hmc-crowd serve` gets from the board, and the keys that the command line issues."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from hmc_crowd._base.clock import SystemClock
from hmc_crowd._base.serving import ServeSettings, make_app
from hmc_crowd.board._mount import mount_board, mount_door
from hmc_crowd.cli._app import app
from hmc_crowd.errors import InputError, StoreError
from hmc_crowd.platform import find_platform

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def folder(played: Path, tmp_path: Path) -> Path:
    return shutil.copytree(played, tmp_path / "served")


@pytest.fixture
def place(folder: Path) -> Iterator[Any]:
    opened: Any = find_platform("local", str(folder / "workplace.db"))
    yield opened
    opened.close()


def call(*words: str) -> Any:
    done = CliRunner().invoke(app, [*words, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_key_of_the_command_line_opens_board_and_door(folder: Path, place: Any) -> None:
    db = ("--db", str(folder / "campaign.db"))
    key = call("keys", "issue", "--role", "owner", "--label", "ann", *db)
    settings = ServeSettings(place, "http://127.0.0.1:8000", SystemClock(), database=str(folder / "campaign.db"))
    mounts = [mount_board(settings), mount_door(settings)]
    client = TestClient(make_app([each for each in mounts if each]), follow_redirects=False)
    assert client.post("/board/sign-in", data={"key": key["key"]}).status_code == 303
    headers = {"Authorization": f"Bearer {key['key']}"}
    assert client.get("/metrics", headers=headers).status_code == 200
    assert [row["label"] for row in call("keys", "list", "--board", *db)] == ["ann"]
    call("keys", "revoke", key["id"], "--board", *db)
    assert client.get("/metrics", headers=headers).status_code == 401
    for each in mounts:
        assert each is not None
        assert each.close is not None
        each.close()


def test_without_campaigns_there_is_no_board(place: Any) -> None:
    settings = ServeSettings(place, "http://127.0.0.1:8000", SystemClock(), database=None)
    assert (mount_board(settings), mount_door(settings)) == (None, None)


def test_a_database_that_was_named_must_be_there(tmp_path: Path) -> None:
    where = ("--workplace", str(tmp_path / "workplace.db"), "--port", "0")
    done = CliRunner().invoke(app, ["serve", "--db", str(tmp_path / "none.db"), *where])
    assert isinstance(done.exception, StoreError)
    assert (done.exception.exit_code, "none.db does not exist" in str(done.exception)) == (2, True)


def test_a_setting_that_cannot_be_read_ends_serve(folder: Path, place: Any) -> None:
    wrong = {"HMC_CROWD_BOARD_PROXIES": "the proxy"}
    at = "http://127.0.0.1:8000"
    settings = ServeSettings(place, at, SystemClock(), database=str(folder / "campaign.db"), environment=wrong)
    with pytest.raises(InputError, match="BOARD_ROLES"):
        mount_board(settings)


def test_an_expert_s_key_says_what_he_knows(folder: Path) -> None:
    db = ("--db", str(folder / "campaign.db"))
    call("keys", "issue", "--role", "expert", "--skill", "Law", "--skill", "de", "--per-hour", "5", *db)
    row = call("keys", "list", "--board", *db)[0]
    assert (row["skills"], row["per_hour"]) == ("law, de", 5)


def test_an_unknown_role_is_refused(folder: Path) -> None:
    done = CliRunner().invoke(app, ["keys", "issue", "--role", "boss", "--db", str(folder / "campaign.db")])
    assert isinstance(done.exception, InputError)
