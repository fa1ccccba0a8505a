"""Reading what Prolific holds (acceptance cases B16 to B18, B29, B30), and a line that misbehaves."""

from __future__ import annotations

import logging
import time
from dataclasses import fields

import httpx
import pytest
from hmc_crowd_prolific import Pace, ProlificClient, Study, StudyStatus, Submission, SubmissionStatus

from hmc_crowd.errors import InputError, NeedsHumanError, PlatformError, PlatformUnavailableError, StateError

LIST_ROW = {
    "id": "s1",
    "participant_id": "p1",
    "status": "AWAITING REVIEW",
    "started_at": "2026-01-05T09:00:00.000Z",
    "completed_at": "2026-01-05T09:12:30.000Z",
    "study_code": "ABC",
    "has_siblings": False,
    "ip": "203.0.113.7",
    "strata": {"sex": "x"},
    "some_new_field": 1,
}
DETAIL = {
    "id": "s1",
    "participant": "p1",
    "study_id": "t1",
    "status": "AWAITING REVIEW",
    "started_at": "2026-01-05T09:00:00.000Z",
    "completed_at": "2026-01-05T09:12:30.000Z",
    "entered_code": "ABC",
}


def client(answer, **options) -> ProlificClient:
    """A client whose network is a function."""
    ticks = iter(range(10_000))
    pace = Pace(sleep=lambda _: None, monotonic=lambda: float(next(ticks)), **options)
    return ProlificClient(token="secret-token", mode="live", transport=httpx.MockTransport(answer), pace=pace)


@pytest.fixture
def study(lab) -> str:
    return lab.connect().recruit(lab.order(places=500)).hit_id


@pytest.mark.parametrize("count", [0, 1, 20, 21, 200, 201, 450])
def test_every_submission_is_read_whatever_the_size_of_a_page(lab, study, count) -> None:
    names = lab.fill(study, count)
    assert [each.id for each in lab.connect().client.submissions.of_study(study)] == names


@pytest.mark.parametrize(
    "drift",
    [["", "skip"], ["", "repeat"], ["shuffle", "shuffle"], ["", "empty"], ["", "skip", "", "", "skip"], ["skip"] * 5],
)
def test_b16_a_list_that_drifts_is_read_until_it_is_complete(lab, study, drift) -> None:
    names = lab.fill(study, 450)
    lab.world.page_faults = list(drift)
    found = [each.id for each in lab.connect().client.submissions.of_study(study)]
    assert sorted(found) == sorted(names)
    assert len(set(found)) == len(found)


def test_b16_a_list_that_counts_nothing_is_read_until_a_scan_brings_nothing_new() -> None:
    rows = [{"id": f"t{number:03d}"} for number in range(300)]
    calls = []

    def answer(request: httpx.Request) -> httpx.Response:
        page = int(request.url.params["page"])
        calls.append(page)
        # In the first scan a row moves from the second page to the first one, after that was read.
        shown = rows[:200] if page == 1 else rows[200 + (len(calls) == 2) :]
        return httpx.Response(200, json={"results": shown})

    assert len(client(answer).studies.of_project("p")) == 300
    assert calls == [1, 2, 1, 2, 1, 2]


def test_b16_a_list_that_never_comes_to_rest_ends_with_an_error(lab, study) -> None:
    lab.fill(study, 450)
    lab.world.page_faults = ["skip"] * 10_000
    # Each scan misses the first row of every page, and the count says so.
    with pytest.raises(PlatformUnavailableError, match="changed in each of 8 scans"):
        lab.connect().client.submissions.of_study(study)


def test_b17_list_and_detail_become_the_same_model() -> None:
    assert Submission.read(LIST_ROW, study_id="t1") == Submission.read(DETAIL)


def test_b17_the_standin_agrees(lab, study) -> None:
    name = lab.submit(study, "ann", code="ABC")
    submissions = lab.connect().client.submissions
    assert submissions.of_study(study) == [submissions.get(name)]


def test_the_platforms_clock_runs_from_start_to_completion() -> None:
    remote = Submission.read(DETAIL).remote()
    # 09:00:00 to 09:12:30.
    assert (remote.platform_elapsed_s, remote.page_elapsed_s, remote.active_s) == (750.0, None, None)


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("RESERVED", "accepted"),
        ("ACTIVE", "accepted"),
        ("AWAITING REVIEW", "submitted"),
        ("AWAITING_REVIEW", "submitted"),
        ("APPROVED", "approved"),
        ("PARTIALLY APPROVED", "approved"),
        ("REJECTED", "rejected"),
        ("RETURNED", "returned"),
        ("SCREENED OUT", "returned"),
        ("TIMED-OUT", "expired"),
        ("PROCESSING", "unknown"),
        ("UNKNOWN", "unknown"),
        (None, "unknown"),
    ],
)
def test_statuses_become_the_ports_states(word, state) -> None:
    assert Submission.read({**DETAIL, "status": word}).state == state


def test_b18_an_unknown_status_is_warned_about(caplog) -> None:
    with caplog.at_level(logging.WARNING):
        held = Submission.read({**DETAIL, "status": "PROCESSING"})
    assert held.status is SubmissionStatus.UNKNOWN
    assert "unknown SubmissionStatus 'PROCESSING'" in caplog.text
    assert "p1" not in caplog.text


def test_b18_an_unknown_status_of_a_study_is_no_open_study() -> None:
    study = Study.read({"id": "t1", "status": "ARCHIVED"})
    assert (study.status, study.is_open) == (StudyStatus.UNKNOWN, False)


def test_b29_personal_data_of_a_row_stop_at_the_boundary(caplog) -> None:
    with caplog.at_level(logging.DEBUG):
        held = Submission.read(LIST_ROW, study_id="t1")
    assert {"ip", "strata"} & {each.name for each in fields(held)} == set()
    assert "203.0.113.7" not in repr(held) + repr(held.remote()) + caplog.text


def test_b29_logs_of_a_whole_run_name_neither_people_nor_token(lab, study, caplog) -> None:
    with caplog.at_level(logging.DEBUG):
        platform = lab.connect()
        name = lab.submit(study, "ann-the-participant")
        list(platform.submissions([study]))
        platform.approve(name)
        platform.client.messages.send(["ann-the-participant"], "Thank you.", study_id=study)
    ours = "\n".join(each.getMessage() for each in caplog.records if each.name.startswith("hmc_crowd"))
    assert ours
    for private in ("ann-the-participant", "203.0.113.7", lab.world.token):
        assert private not in ours


@pytest.mark.parametrize(
    ("status", "body", "kind", "text"),
    [
        (
            502,
            b"<html><head><title>502 Bad Gateway</title></head></html>",
            PlatformUnavailableError,
            "502 .*502 Bad Gateway",
        ),
        (400, b'{"message": "Nope.", "detail": "Bad places."}', PlatformError, "400 .*Nope.: Bad places."),
        (
            400,
            b'{"error": {"status": 400, "error_code": 1, "title": "Bad", "detail": {"reward": ["Too low."]}}}',
            PlatformError,
            "Bad: reward: Too low.",
        ),
        (400, b'{"error": {"title": "Bad", "detail": ["One.", "Two."]}}', PlatformError, "Bad: One., Two."),
        (401, b"{}", PlatformError, "401 .*check HMC_CROWD_PROLIFIC_TOKEN"),
        (404, b"", PlatformError, "404 to GET studies/t1/: no text"),
        (400, b"x" * 5000, PlatformError, "x{50}"),
        (400, b"\xff\xfe\x00", PlatformError, "400"),
        (302, b"", PlatformError, "redirect .*not followed"),
        (200, b"<html>Log in</html>", PlatformUnavailableError, "no JSON: 'Log in'"),
        (200, b"[1, 2]", PlatformError, "where a list of objects was expected"),
        (200, b"{}", PlatformError, "where an object was expected"),
        (200, b'{"id": "t1", "reward": 1.5}', PlatformError, "reward = 1.5, where a whole number"),
        (200, b'{"id": "t1", "date_created": "soon"}', PlatformError, "date_created = 'soon', which is no time"),
    ],
)
def test_b30_whatever_the_answer_the_error_is_typed_and_short(status, body, kind, text) -> None:
    with pytest.raises(kind, match=text) as caught:
        client(lambda _: httpx.Response(status, content=body)).studies.get("t1")
    assert type(caught.value) is kind
    assert len(str(caught.value)) < 600


def test_b30_an_error_that_echoes_the_token_is_blotted_out() -> None:
    with pytest.raises(PlatformError) as caught:
        client(lambda _: httpx.Response(400, content=b"Bad header: Token secret-token")).studies.get("t1")
    assert "secret-token" not in str(caught.value)
    assert "Token ***" in str(caught.value)


def test_the_token_is_shown_nowhere() -> None:
    made = client(lambda _: httpx.Response(200, json={}))
    assert "secret-token" not in repr(made) + repr(made.http)


def test_the_token_goes_to_no_other_address() -> None:
    seen = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append((request.url.host, request.url.params.get("page")))
        more = {"next": {"href": "https://evil.example.org/steal?page=2&page_size=200"}} if len(seen) == 1 else {}
        return httpx.Response(200, json={"results": [{"id": f"t{len(seen)}"}], "_links": more})

    client(answer).studies.of_project("p")
    assert {host for host, _ in seen} == {"api.prolific.com"}
    assert seen[1][1] == "2"


def test_lists_without_links_are_read_by_their_pages() -> None:
    rows = [{"id": f"t{number:03d}"} for number in range(401)]

    def answer(request: httpx.Request) -> httpx.Response:
        start = (int(request.url.params["page"]) - 1) * 200
        return httpx.Response(200, json={"results": rows[start : start + 200]})

    assert len(client(answer).studies.of_project("p")) == 401


@pytest.mark.parametrize(
    "fault", ["reset_before", "reset_after", "status_after", "hang_after", "truncate_after", "html_before"]
)
def test_reading_is_repeated_until_the_line_is_back(lab, study, fault) -> None:
    platform = lab.connect(broken=True)
    lab.chaos.inject(fault, times=2)
    assert platform.client.studies.get(study).id == study
    assert len(lab.chaos.calls) == 3


def test_reading_gives_up_in_time(lab, study) -> None:
    platform = lab.connect(broken=True)
    lab.chaos.inject("status_before", times=1000, status=503)
    before = lab.clock.now()
    with pytest.raises(PlatformUnavailableError, match=r"503 .*gave up after \d+ attempts, try again later"):
        platform.client.studies.get(study)
    assert (lab.clock.now() - before).total_seconds() <= 120


@pytest.mark.parametrize("is_head", [True, False])
def test_a_platform_that_drips_for_ever_is_left_in_time(lab, study, is_head) -> None:
    # A byte every 20 ms never trips a limit on silence; the whole answer has some 400 bytes of head, 1,000 of body.
    pace = Pace(exchange_s=0.2 if is_head else 0.5, give_up_after_s=0.3, first_s=0.2, silence_s=5)
    platform = lab.connect(broken=True, pace=pace)
    lab.chaos.inject("drip_after", seconds=0.02 if is_head else 0.0008, times=99)
    started = time.monotonic()
    with pytest.raises(PlatformUnavailableError, match=r"the line broke .*ReadTimeout"):
        platform.client.studies.get(study)
    assert time.monotonic() - started < 30


def test_a_slow_answer_that_comes_in_time_is_taken(lab, study) -> None:
    platform = lab.connect(broken=True)
    lab.chaos.inject("slow_after", seconds=0.1)
    assert platform.client.studies.get(study).id == study


def test_nothing_is_written_in_read_mode(lab, study) -> None:
    platform = lab.connect()
    platform.client.http.mode = "read"
    before = len(lab.world.calls)
    client = platform.client
    for write in (
        lambda: client.studies.set_places(study, 600),
        lambda: client.submissions.approve("s1"),
        lambda: client.bonuses.pay("b1"),
        lambda: client.studies.delete_draft("t1"),
        lambda: client.messages.send(["p"], "x", study_id=study),
    ):
        with pytest.raises(StateError, match=r"was not sent: the mode is 'read'.*connect with mode='live'"):
            write()
    assert {call["method"] for call in lab.world.calls[before:]} <= {"GET"}
    assert platform.quote(lab.order()).total_minor > 0


@pytest.mark.parametrize(
    ("answer", "total"),
    [
        (
            {
                "rewards": {
                    "rewards": {"amount": 600, "currency": "USD"},
                    "fees": {"amount": 257.0},
                    "tax": {"amount": 51},
                }
            },
            908,
        ),
        ({"rewards": {"rewards": 600, "fees": 257, "tax": 51}}, 908),
        ({"rewards": {"rewards": 600, "fees": 257}}, 857),
        ({"rewards": {"rewards": 600}}, None),
        ({"rewards": {"rewards": {"currency": "USD"}, "fees": 1}}, None),
        ({"total": 5}, None),
    ],
)
def test_the_cost_is_read_or_refused_but_never_guessed(answer, total) -> None:
    studies = client(lambda _: httpx.Response(200, json=answer)).studies
    if total is not None:
        assert studies.cost("t1").total_minor == total
        return
    with pytest.raises(PlatformError, match=r"where a whole number was expected|has no rewards"):
        studies.cost("t1")


def test_the_skew_of_the_platforms_clock_is_measured() -> None:
    made = client(lambda _: httpx.Response(200, json={"id": "t1"}, headers={"Date": "Thu, 01 Jan 2099 00:00:00 GMT"}))
    made.studies.get("t1")
    assert made.http.skew_s > 3600


def test_a_create_that_timed_out_is_not_sent_again_by_the_client() -> None:
    calls = []

    def answer(request: httpx.Request) -> httpx.Response:
        calls.append(request)
        raise httpx.ReadTimeout("late", request=request)

    with pytest.raises(NeedsHumanError, match="nobody can know whether POST studies/ took effect"):
        client(answer).http.once("POST", "studies/", {})
    assert len(calls) == 1


@pytest.mark.parametrize(("identity", "path"), [("a/../b", "a%2F..%2Fb"), ("a?b", "a%3Fb")])
def test_ids_cannot_change_the_path(identity, path) -> None:
    seen = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.url.raw_path.decode())
        return httpx.Response(200, json={"id": "t1"})

    client(answer).studies.get(identity)
    assert seen == [f"/api/v1/studies/{path}/"]


@pytest.mark.parametrize("identity", ["", ".", ".."])
def test_an_id_that_is_no_id_is_refused(identity) -> None:
    with pytest.raises(InputError, match="give one that Prolific handed out"):
        client(lambda _: httpx.Response(200, json={})).studies.get(identity)


@pytest.mark.parametrize(
    "changes",
    [
        {"started_at": "tomorrow"},
        {"completed_at": "0001-01-01T00:00:00+14:00"},
        {"bonus_payments": [1.5]},
        {"bonus_payments": ["x"]},
        {"participant_id": None},
        {"participant_id": 7},
    ],
)
def test_one_row_that_cannot_be_read_keeps_no_other_row_out(changes) -> None:
    rows = [{**LIST_ROW, **changes, "id": "odd"}, LIST_ROW]
    counts = {"AWAITING_REVIEW": 2, "TOTAL": 2}
    reader = client(lambda request: httpx.Response(200, json=counts if "counts" in request.url.path else rows))
    odd, honest = reader.submissions.of_study("t1")
    assert (honest.status, honest.problem) == (SubmissionStatus.AWAITING_REVIEW, "")
    assert (odd.id, odd.status, odd.remote().state.value) == ("odd", SubmissionStatus.UNKNOWN, "unknown")
    assert odd.remote().problem


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "1e300"])
def test_a_number_that_is_no_amount_is_refused(number) -> None:
    body = f'{{"id": "t1", "reward": {number}}}'.encode()
    with pytest.raises(PlatformError, match="where a whole number"):
        client(lambda _: httpx.Response(200, content=body)).studies.get("t1")
