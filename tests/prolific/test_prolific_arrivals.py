"""Participants at our router (acceptance cases B24 and B25), with the workplace's pages behind it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qsl, urlsplit

import anyio
import httpx
import pytest
import uvicorn
from hmc_crowd_local import connect as open_workplace
from hmc_crowd_prolific import Arrival, ArrivalOutcome, ProlificRouter, SqliteInbox, WebhookReceiver, make_app
from hmc_crowd_prolific.standin._hooks import sign
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

from hmc_crowd.errors import PlatformError, PlatformUnavailableError
from hmc_crowd.platform import Recruitment


class WorkplaceDoor:
    """The workplace's HITs of one order; a submission keeps the HIT that it was given."""

    def __init__(self, workplace, hits) -> None:
        self.workplace = workplace
        self.hits = {hit.key: workplace.publish(hit).hit_id for hit in hits}
        self.claims: dict[str, tuple[str, str]] = {}

    def claim(self, key: str, *, worker: str, submission_id: str) -> str | None:
        assert key == "round-1"
        if submission_id not in self.claims:
            for name in self.hits.values():
                if any(held[0] == name and who == worker for held, who in self._taken()):
                    continue
                try:
                    self.claims[submission_id] = (name, self.workplace.accept(name, worker).submission_id)
                except PlatformError:
                    continue
                self._workers = {**getattr(self, "_workers", {}), submission_id: worker}
                break
            else:
                return None
        name, draft = self.claims[submission_id]
        return f"https://crowd.example.org/hit/{name}?work={draft}"

    def _taken(self):
        return [(self.claims[each], who) for each, who in getattr(self, "_workers", {}).items()]


@pytest.fixture
def workplace(tmp_path, clock):
    with open_workplace(str(tmp_path / "workplace.db"), clock=clock) as opened:
        yield opened


@pytest.fixture
def hits(lab):
    return [lab.hit("a", redundancy=2), lab.hit("b", redundancy=2)]


@pytest.fixture
def study(lab, hits) -> str:
    return lab.connect().recruit(Recruitment.for_hits("round-1", hits, expected_s=600)).hit_id


@pytest.fixture
def door(workplace, hits) -> WorkplaceDoor:
    return WorkplaceDoor(workplace, hits)


@pytest.fixture
def router(lab, door) -> ProlificRouter:
    return ProlificRouter(lab.connect().client, door)


def arrive(lab, study: str, participant: str) -> dict[str, str]:
    """What the participant's browser brings along."""
    location = lab.control(f"participants/{participant}/take?study={study}")["location"]
    return dict(parse_qsl(urlsplit(location).query))


def test_a_participant_gets_a_hit(lab, study, router) -> None:
    found = router.arrive(arrive(lab, study, "ann"))
    assert found.outcome is ArrivalOutcome.WORK
    assert found.address.startswith("https://crowd.example.org/hit/")
    assert (found.worker, found.study_id) == ("ann", study)


@pytest.mark.parametrize("forged", ["PROLIFIC_PID", "STUDY_ID", "SESSION_ID"])
def test_b24_a_forged_parameter_gets_no_work(lab, study, router, door, forged) -> None:
    params = {**arrive(lab, study, "ann"), forged: "mallory"}
    found = router.arrive(params)
    assert (found.outcome, found.address, found.worker) == (ArrivalOutcome.REFUSED, None, None)
    assert "open the study from Prolific again" in found.message
    assert door.claims == {}


@pytest.mark.parametrize("params", [{}, {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"}, {"SESSION_ID": "a/b"}])
def test_b24_missing_or_unfilled_parameters_get_no_work_and_cost_no_call(lab, study, router, params) -> None:
    before = len(lab.world.calls)
    assert router.arrive(params).outcome is ArrivalOutcome.REFUSED
    assert len(lab.world.calls) == before


def test_a_study_that_is_not_ours_gets_no_work(lab, study, router) -> None:
    record = lab.world.study(study)
    record.body = record.body.model_copy(update={"metadata": "somebody else's"})
    assert router.arrive(arrive(lab, study, "ann")).outcome is ArrivalOutcome.REFUSED


def test_b25_a_participant_who_reloads_gets_the_same_hit_and_his_draft(lab, study, router, door, workplace) -> None:
    params = arrive(lab, study, "ann")
    first = router.arrive(params)
    hit_id, draft = door.claims[params["SESSION_ID"]]
    item = "a-1" if hit_id == door.hits["a"] else "b-1"
    workplace.save_answer(draft, "ann", item=item, aspect="label", label="yes")
    assert arrive(lab, study, "ann") == params
    assert [router.arrive(params), ProlificRouter(lab.connect().client, door).arrive(params)] == [first, first]
    assert [each.label for each in workplace.saved_answers([draft])[draft]] == ["yes"]


def test_a_second_submission_of_a_participant_gets_another_hit(lab, study, router) -> None:
    params = arrive(lab, study, "ann")
    first = router.arrive(params)
    lab.complete(params["SESSION_ID"])
    second = router.arrive(arrive(lab, study, "ann"))
    assert second.outcome is ArrivalOutcome.WORK
    assert second.address.split("?")[0] != first.address.split("?")[0]


def test_when_nothing_is_left_the_participant_is_asked_to_return(lab, study, router, workplace, door) -> None:
    for name in door.hits.values():
        workplace.expire(name)
    found = router.arrive(arrive(lab, study, "ann"))
    assert found.outcome is ArrivalOutcome.NOTHING_LEFT
    assert "return your submission" in found.message


def test_a_submission_that_has_ended_gets_no_work(lab, study, router) -> None:
    params = arrive(lab, study, "ann")
    lab.complete(params["SESSION_ID"])
    assert router.arrive(params).outcome is ArrivalOutcome.OVER


def test_when_prolific_does_not_answer_nobody_is_turned_away_for_good(lab, study, door) -> None:
    params = arrive(lab, study, "ann")
    lab.chaos.inject("status_before", status=503, times=1000)
    with pytest.raises(PlatformUnavailableError):
        ProlificRouter(lab.connect(broken=True).client, door).arrive(params)


@pytest.fixture
def served(lab, router, tmp_path):
    """The application on a real port."""
    inbox = SqliteInbox(tmp_path / "inbox.db")
    receiver = WebhookReceiver(["secret"], inbox, clock=lab.clock)
    config = uvicorn.Config(make_app(router, receiver), port=0, log_config=None, lifespan="off", access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, verify=False) as client:
        yield client, inbox
    server.should_exit = True
    thread.join(10)
    inbox.close()


def test_the_address_of_the_study_leads_to_the_hit(lab, study, served) -> None:
    client, _ = served
    answer = client.get("/arrive", params=arrive(lab, study, "ann"))
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("https://crowd.example.org/hit/")
    assert answer.headers["referrer-policy"] == "no-referrer"


def test_a_forged_address_leads_to_a_polite_page(lab, study, served) -> None:
    client, _ = served
    answer = client.get("/arrive", params={**arrive(lab, study, "ann"), "PROLIFIC_PID": "mallory"})
    assert answer.status_code == 403
    assert "open the study from Prolific again" in answer.text
    assert (answer.headers["x-frame-options"], answer.headers["cache-control"]) == ("DENY", "no-store")


def test_deliveries_reach_the_inbox_through_the_application(lab, served) -> None:
    client, inbox = served
    body, stamp = b'{"event_type": "study.status.change", "resource_id": "t1"}', str(int(lab.clock.now().timestamp()))
    signed = {
        "X-Prolific-Request-Timestamp": stamp,
        "X-Prolific-Request-Signature": sign("secret", stamp, body),
        "X-Event-ID": "e1",
    }
    assert [client.post("/hook", content=body, headers=each).status_code for each in (signed, {})] == [200, 401]
    assert [each.resource_id for each in inbox.pending()] == ["t1"]
    assert client.post("/hook", content=b"x" * 1_000_001, headers=signed).status_code == 413


def calls(lab) -> int:
    return len(lab.world.calls)


def test_prolific_is_asked_once_for_all_who_wait_at_a_moment(lab, study, door) -> None:
    now = [0.0]
    router = ProlificRouter(lab.connect().client, door, monotonic=lambda: now[0])
    params, before = arrive(lab, study, "ann"), calls(lab)
    with ThreadPoolExecutor(8) as people:
        found = list(people.map(lambda _: router.arrive(params), range(40)))
    assert {each.outcome for each in found} == {ArrivalOutcome.WORK}
    assert calls(lab) == before + 2  # the submission, and once for all its study
    now[0] += 0.1
    router.arrive(params)
    assert calls(lab) == before + 3


def test_an_unknown_submission_is_asked_about_once_and_may_be_known_later(lab, study, door) -> None:
    now = [0.0]
    router = ProlificRouter(lab.connect().client, door, monotonic=lambda: now[0])
    forged = {"PROLIFIC_PID": "ann", "STUDY_ID": study, "SESSION_ID": "nobody"}
    before = calls(lab)
    assert {router.arrive(forged).outcome for _ in range(10)} == {ArrivalOutcome.REFUSED}
    assert calls(lab) == before + 1
    now[0] += 21
    router.arrive(forged)
    assert calls(lab) == before + 2


def test_somebody_elses_name_is_refused_from_memory_too(lab, study, router) -> None:
    params = arrive(lab, study, "ann")
    assert router.arrive(params).outcome is ArrivalOutcome.WORK
    assert router.arrive({**params, "PROLIFIC_PID": "mallory"}).outcome is ArrivalOutcome.REFUSED


def test_a_submission_that_ends_is_over_at_once(lab, study, router) -> None:
    params = arrive(lab, study, "ann")
    assert router.arrive(params).outcome is ArrivalOutcome.WORK
    lab.complete(params["SESSION_ID"])
    assert router.arrive(params).outcome is ArrivalOutcome.OVER


class Waiting:
    """A router that waits for Prolific until it is let go."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.asked = 0

    def arrive(self, params) -> Arrival:
        self.asked += 1
        self.go_on.wait(30)
        return Arrival(ArrivalOutcome.NOTHING_LEFT, "No work.")


def test_arrivals_that_wait_for_prolific_keep_nobody_else_waiting() -> None:
    """Sixty strangers from many addresses: the pages beside them answer, and the overflow is asked to come again."""
    router = Waiting()

    def page(_request) -> PlainTextResponse:
        return PlainTextResponse("here")

    app = Starlette(routes=[Mount("/prolific", make_app(router)), Route("/page", page)])

    async def visit(path: str, address: str, statuses: list[int]) -> None:
        network = httpx.ASGITransport(app, client=(address, 1))
        async with httpx.AsyncClient(transport=network, base_url="http://testserver") as client:
            statuses.append((await client.get(path)).status_code)

    async def scene() -> tuple[list[int], list[int]]:
        arrivals: list[int] = []
        pages: list[int] = []
        async with anyio.create_task_group() as strangers:
            for number in range(60):
                strangers.start_soon(visit, f"/prolific/arrive?n={number}", f"10.0.0.{number}", arrivals)
            while router.asked < 8:
                await anyio.sleep(0)
            with anyio.fail_after(20):
                async with anyio.create_task_group() as people:
                    for _ in range(60):
                        people.start_soon(visit, "/page", "10.1.0.1", pages)
            router.go_on.set()
        return arrivals, pages

    arrivals, pages = anyio.run(scene)
    assert pages == [200] * 60
    # Eight in threads and 32 behind them; the others were told at once.
    assert sorted(arrivals) == [200] * 40 + [503] * 20


def test_one_address_takes_no_more_than_half_of_the_room() -> None:
    router = Waiting()
    app = make_app(router)

    async def scene() -> list[int]:
        statuses: list[int] = []

        async def visit() -> None:
            network = httpx.ASGITransport(app, client=("10.0.0.1", 1))
            async with httpx.AsyncClient(transport=network, base_url="http://testserver") as client:
                statuses.append((await client.get("/arrive")).status_code)

        async with anyio.create_task_group() as all_of_one:
            for _ in range(30):
                all_of_one.start_soon(visit)
            while len(statuses) < 10:
                await anyio.sleep(0)
            router.go_on.set()
        return statuses

    assert sorted(anyio.run(scene)) == [200] * 20 + [503] * 10
