"""`hmc-crowd doctor --platform`: what fails is named with the next step, and nothing is changed by looking."""

from __future__ import annotations

import json
import ssl
import subprocess
import sys
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

import httpx
import pytest

pytest.importorskip("fastapi")

from hmc_crowd_prolific import StudySettings, connect
from hmc_crowd_prolific.standin import running_standin
from hmc_crowd_prolific.standin._hooks import new_secret, sign, subscribe

from hmc_crowd.platform import find_platform

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)
SECRET = "a-webhook-secret"
STUDY = "https://work.example.org/prolific/arrive"


@pytest.fixture(scope="module")
def standin() -> Iterator[Any]:
    with running_standin() as running:
        yield running


@dataclass
class Around:
    """Our server as it should be, seen from outside; each test spoils one thing."""

    environment: Mapping[str, str] = field(default_factory=lambda: {"HMC_CROWD_PROLIFIC_WEBHOOK_SECRET": SECRET})
    status: int = 403
    secret: str | None = SECRET
    days: float = 60.0
    ahead_s: float = 0.0
    refused: str = ""
    silent: bool = False
    asked: list[str] = field(default_factory=list)

    def now(self) -> datetime:
        return NOW

    def ask(self, method: str, url: str, *, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Any:
        self.asked.append(f"{method} {url}")
        if self.silent:
            raise httpx.ConnectError("no route")
        status = self.status
        if method == "POST":
            given = dict(headers or {})
            stamp = given.get("X-Prolific-Request-Timestamp", "")
            right = sign(self.secret or "", stamp, body) == given.get("X-Prolific-Request-Signature")
            status = 404 if self.secret is None else 400 if right else 401
        date = format_datetime(NOW + timedelta(seconds=self.ahead_s), usegmt=True)
        return httpx.Response(status, headers={"date": date})

    def certificate_ends(self, host: str, port: int) -> datetime:
        if self.silent:
            raise ConnectionRefusedError
        if self.refused:
            raise ssl.SSLCertVerificationError(self.refused)
        return NOW + timedelta(days=self.days)


@pytest.fixture
def look(standin: Any) -> Iterator[Any]:
    """Examine the stand-in's account with some surroundings and settings; return state and words by check."""
    from hmc_crowd_prolific.standin import Options

    from hmc_crowd._base.clock import VirtualClock

    clock = VirtualClock(NOW)
    standin.world.reset(clock, Options())
    world = standin.world
    settings = StudySettings(workspace=world.workspace, project=next(iter(world.projects)), study_url=STUDY)
    with standin.world.lock:
        new_secret(world)
        hook = subscribe(world, "submission.status.change", STUDY.replace("arrive", "hook"), world.workspace)
        hook.confirmed = True

    def go(around: Around, *, token: str = "", public_url: str | None = None, **changes: Any) -> dict[str, Any]:
        environment = {"HMC_CROWD_PROLIFIC_TOKEN": token or world.token}
        place = connect(standin.api, settings=replace(settings, **changes), environment=environment, mode="stub")
        with place:
            found = list(place.examine(around, public_url=public_url))
        return {each.check: (each.state, each.found) for each in found}

    return go


def test_all_is_well_where_all_is_well(look: Any) -> None:
    found = look(Around())
    assert {check: state for check, (state, _) in found.items()} == {
        "token": "ok",
        "workspace": "ok",
        "project": "ok",
        "clock": "ok",
        "mode": "ok",
        "study address": "ok",
        "TLS": "ok",
        "study address: clock": "ok",
        "webhook secret": "ok",
        "webhook subscription": "ok",
    }


@pytest.mark.parametrize(
    ("around", "changes", "check", "state", "said"),
    [
        (Around(days=9), {}, "TLS", "warn", "valid for 9 more days; its renewal fails"),
        (Around(days=-1), {}, "TLS", "fail", "-1 more days"),
        (Around(refused="self-signed"), {}, "TLS", "fail", "browsers refuse the certificate of work.example.org"),
        (Around(silent=True), {}, "study address", "fail", "does not answer (ConnectError)"),
        (Around(status=404), {}, "study address", "fail", "answers 404 (nothing is served there)"),
        (Around(status=502), {}, "study address", "fail", "the proxy does not reach the server"),
        (Around(ahead_s=-60), {}, "study address: clock", "warn", "ours is 60 s ahead of theirs"),
        (Around(ahead_s=900), {}, "study address: clock", "fail", "ours is 900 s behind theirs; set this machine"),
        (Around(), {"study_url": None}, "study address", "fail", "none is set; set HMC_CROWD_PROLIFIC_STUDY_URL"),
        (Around(), {"study_url": "http://localhost:1/arrive"}, "study address", "warn", "but only on this machine"),
        (Around(), {"project": "p404"}, "project", "fail", "the workspace has no project p404"),
        (Around(), {"project": None}, "project", "fail", "set HMC_CROWD_PROLIFIC_PROJECT to one of"),
        (Around(), {"workspace": "w404"}, "workspace", "fail", "w404"),
        (Around(), {"token": "wrong"}, "token", "fail", "check HMC_CROWD_PROLIFIC_TOKEN"),
        (Around(environment={}), {}, "webhook secret", "warn", "set HMC_CROWD_PROLIFIC_WEBHOOK_SECRET"),
        (Around(secret="another"), {}, "webhook secret", "fail", "has another secret than this shell"),
        (Around(secret=None), {}, "webhook secret", "fail", "the server runs without"),
        (
            Around(),
            {"study_url": "https://elsewhere.example.org/prolific/arrive"},
            "webhook subscription",
            "warn",
            "goes to https://work.example.org/prolific/hook",
        ),
    ],
)
def test_what_is_wrong_is_named(
    look: Any, around: Around, changes: dict[str, Any], check: str, state: str, said: str
) -> None:
    found = look(around, **changes)
    assert found[check][0] == state
    assert said in found[check][1]
    assert SECRET not in str(found)


def test_looking_writes_nothing_on_the_platform(look: Any, standin: Any) -> None:
    before = len(standin.world.calls)
    look(Around())
    assert {call["method"] for call in standin.world.calls[before:]} == {"GET"}


def test_the_address_comes_from_public_url_where_none_is_set(look: Any) -> None:
    around = Around()
    found = look(around, study_url=None, public_url="https://work.example.org")
    assert found["study address"][0] == found["webhook secret"][0] == "ok"
    assert f"GET {STUDY}" in around.asked


@pytest.fixture
def served(tmp_path: Path, standin: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A real server of its own process with the stand-in behind it."""
    monkeypatch.setenv("HMC_CROWD_PROLIFIC_TOKEN", standin.world.token)
    monkeypatch.setenv("HMC_CROWD_PROLIFIC_URL", standin.api)
    monkeypatch.setenv("HMC_CROWD_PROLIFIC_WEBHOOK_SECRET", SECRET)
    command = [sys.executable, "-c", "from hmc_crowd.cli import main; main()", "serve", "--port", "0", "--json"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = json.loads(process.stdout.readline())
        yield next(each["url"] for each in said["serving"] if each["what"].startswith("MTurk API")).rstrip("/")
        process.kill()


def test_the_command_looks_at_a_real_server(
    hmc: Any, served: str, standin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HMC_CROWD_PROLIFIC_WORKSPACE", standin.world.workspace)
    monkeypatch.setenv("HMC_CROWD_PROLIFIC_PROJECT", next(iter(standin.world.projects)))
    prolific = ("doctor", "--platform", "prolific", "--endpoint", standin.api, "--public-url", served, "--json")
    told = hmc(*prolific)
    states = {each["check"]: each["state"] for each in told.json}
    assert (states["token"], states["webhook secret"], states["study address"]) == ("ok", "ok", "warn")
    local = hmc("doctor", "--platform", "local", "--public-url", served, "--json")
    assert local.code == 0
    assert {each["check"]: each["ok"] for each in local.json}["task pages"] is True
    # The deliveries of the doctor left no event behind.
    place: Any = find_platform("local", None)
    assert place.inbox("prolific").pending() == []
    place.close()


def test_without_a_token_it_leaves_with_1_and_says_so(hmc: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HMC_CROWD_PROLIFIC_TOKEN", raising=False)
    told = hmc("doctor", "--platform", "prolific")
    assert told.code == 1
    assert "set HMC_CROWD_PROLIFIC_TOKEN" in " ".join(told.out.split())


def test_a_platform_that_is_silent_leaves_with_3(hmc: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from hmc_crowd_prolific import ProlificPlatform

    from hmc_crowd.errors import PlatformUnavailableError

    def silent(*_: Any, **__: Any) -> Any:
        raise PlatformUnavailableError("Prolific cannot be reached")

    monkeypatch.setenv("HMC_CROWD_PROLIFIC_TOKEN", "secret")
    monkeypatch.setattr(ProlificPlatform, "examine", silent)
    told = hmc("doctor", "--platform", "prolific")
    assert (told.code, told.err) == (3, "hmc-crowd: Prolific cannot be reached\n")


def test_an_unknown_platform_is_wrong_usage(hmc: Any) -> None:
    told = hmc("doctor", "--platform", "nowhere")
    assert (told.code, "there are local, mturk, prolific" in told.err) == (2, True)
