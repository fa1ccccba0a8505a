"""What `hmc-crowd serve` does for Prolific: arrivals get the workplace's work, ended work gives its place back."""

from __future__ import annotations

import asyncio
import json
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx
import pytest
from hmc_crowd_local import connect as open_workplace
from hmc_crowd_local import read_token
from hmc_crowd_prolific import _serve as serving
from hmc_crowd_prolific._serve import mount
from hmc_crowd_prolific.standin._hooks import sign

from hmc_crowd._base.serving import ServeSettings
from hmc_crowd.platform import Recruitment

PUBLIC = "https://work.example.org"


@pytest.fixture
def workplace(tmp_path, clock):
    with open_workplace(str(tmp_path / "workplace.db"), clock=clock, pages=PUBLIC) as opened:
        yield opened


@pytest.fixture
def settings(lab, workplace, clock) -> ServeSettings:
    environment = {
        "HMC_CROWD_PROLIFIC_TOKEN": lab.world.token,
        "HMC_CROWD_PROLIFIC_URL": f"{lab.standin.url}/api/v1/",
        "HMC_CROWD_PROLIFIC_WEBHOOK_SECRET": "old, new",
    }
    return ServeSettings(workplace, PUBLIC, clock, environment=environment)


@pytest.fixture
def served(settings, monkeypatch):
    monkeypatch.setattr(serving, "_EVERY_S", 0.02)
    mounted = mount(settings)
    assert mounted is not None
    yield mounted.app
    mounted.close()


@pytest.fixture
def study(lab, workplace) -> str:
    hits = [lab.hit("a")]
    workplace.open_order("round-1", hits)
    return lab.connect().recruit(Recruitment.for_hits("round-1", hits, expected_s=600)).hit_id


def ask(app, method: str, path: str, **options) -> httpx.Response:
    async def go() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=PUBLIC) as client:
            return await client.request(method, path, **options)

    # A thread of its own: in this one a browser of another test may keep a loop running.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, go()).result()


def arrive(lab, app, study: str, participant: str) -> tuple[str, httpx.Response]:
    taken = lab.control(f"participants/{participant}/take?study={study}")
    return taken["id"], ask(app, "GET", f"/arrive?{urlsplit(taken['location']).query}")


def work(workplace, clock, address: str) -> None:
    name = read_token(workplace.secret("pages"), address.rsplit("/", 1)[1], now=clock.now())
    remote = workplace.submission(name)
    for each in workplace.hit(remote.hit_id).items:
        workplace.save_answer(name, remote.worker, item=each.item, aspect=each.aspect, label="yes")
    workplace.submit(name, remote.worker)


def test_without_a_token_nothing_is_served(workplace, clock) -> None:
    assert mount(ServeSettings(workplace, PUBLIC, clock, environment={})) is None


def test_without_a_webhook_secret_there_is_no_target(settings, workplace, clock) -> None:
    given = {name: value for name, value in settings.environment.items() if not name.endswith("SECRET")}
    mounted = mount(ServeSettings(workplace, PUBLIC, clock, environment=given))
    assert ask(mounted.app, "POST", "/hook").status_code == 404
    mounted.close()


def test_a_participant_is_sent_to_a_signed_page_and_at_the_end_to_the_completion_link(
    lab, served, study, workplace, clock, settings
) -> None:
    name, answer = arrive(lab, served, study, "ann")
    assert answer.status_code == 303
    assert answer.headers["location"].startswith(f"{PUBLIC}/work/s/")
    work(workplace, clock, answer.headers["location"])
    assert workplace.arrivals("prolific", [name])[name].is_submitted
    link = settings.completion("prolific", name)
    code = lab.connect().client.studies.get(study).codes[0]
    assert link == f"https://app.prolific.com/submissions/complete?cc={code}"
    assert settings.completion("prolific", "unknown") is None


def test_a_stranger_gets_no_work_and_no_redirect(served, study, workplace) -> None:
    answer = ask(served, "GET", f"/arrive?PROLIFIC_PID=eve&STUDY_ID={study}&SESSION_ID=none")
    assert (answer.status_code, "location" in answer.headers) == (403, False)
    assert workplace.places_held("prolific", "round-1") == []


def test_a_place_that_prolific_ended_goes_to_the_next_participant(lab, served, study, workplace) -> None:
    first, _ = arrive(lab, served, study, "ann")
    lab.give_back(first)
    second, answer = arrive(lab, served, study, "bob")
    assert answer.status_code == 303
    assert workplace.places_held("prolific", "round-1") == [second]


def test_who_finished_here_but_timed_out_there_gives_his_place_back(lab, served, study, workplace, clock) -> None:
    first, answer = arrive(lab, served, study, "ann")
    work(workplace, clock, answer.headers["location"])
    clock.advance(24 * 3600)
    second, answer = arrive(lab, served, study, "bob")
    assert answer.status_code == 303
    assert workplace.arrivals("prolific", [first])[first].is_submitted
    assert workplace.places_held("prolific", "round-1") == [second]


@pytest.mark.parametrize("secret", ["old", "new"])
def test_a_webhook_frees_the_place_of_returned_work(lab, served, study, workplace, clock, secret) -> None:
    name, _ = arrive(lab, served, study, "ann")
    lab.give_back(name)
    body = json.dumps({"event_type": "submission.status.change", "resource_id": name, "status": "RETURNED"}).encode()
    stamp = clock.now().isoformat()
    headers = {
        "X-Event-Id": "e1",
        "X-Prolific-Request-Timestamp": stamp,
        "X-Prolific-Request-Signature": sign(secret, stamp, body),
    }
    assert [ask(served, "POST", "/hook", content=body, headers=headers).status_code for _ in range(2)] == [200, 200]
    wait_until(lambda: workplace.places_held("prolific", "round-1") == [])
    wait_until(lambda: workplace.inbox("prolific").pending() == [])


def test_a_forged_webhook_is_refused_and_not_kept(served, workplace) -> None:
    assert ask(served, "POST", "/hook", content=b"{}").status_code == 401
    assert workplace.inbox("prolific").pending() == []


def wait_until(is_so, seconds: float = 60) -> None:
    ends = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < ends
        time.sleep(0.01)
