"""The worker's pages: frames, headers, drafts, events, hostile input, links that are nobody else's."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest
import sqlalchemy as sa
from hmc_crowd_local._tables_mturk import ASSIGNMENT, M_EVENT
from hmc_crowd_mturk import read_answer
from mturk_house import NAMESPACES, html_question


def rows(house, table):
    with house.door.database.read() as connection:
        return list(connection.execute(sa.select(table)))


@pytest.fixture
def hit_id(house):
    return house.hit(Question=html_question("<form><input name='assignmentId'><input name='q'></form>"))


def test_pages_may_not_be_framed_and_frames_only_by_us(house, hit_id) -> None:
    for path in (
        f"/mturk/preview?hitId={hit_id}",
        f"/mturk/accept?hitId={hit_id}&workerId=A1",
        "/mturk/hits?workerId=A1",
    ):
        headers = house.page("GET", path).headers
        assert headers["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    name = house.workers.accept(hit_id, "A1").assignment_id
    inside = house.page("GET", f"/mturk/content?hitId={hit_id}&assignmentId={name}")
    thanks = house.page("POST", "/mturk/externalSubmit", data={"assignmentId": name, "q": "1"})
    refused = house.page("POST", "/mturk/externalSubmit", data={"assignmentId": "NONE", "q": "1"})
    for answer in (inside, thanks, refused):
        assert "X-Frame-Options" not in answer.headers
        assert f"frame-ancestors {house.url}" in answer.headers["Content-Security-Policy"]
    assert refused.status_code == 409


def test_a_requesters_html_is_sandboxed(house, hit_id) -> None:
    policy = house.page("GET", f"/mturk/content?hitId={hit_id}").headers["Content-Security-Policy"]
    assert "sandbox allow-scripts allow-forms" in policy
    assert "allow-same-origin" not in policy
    frame = re.search(r"<iframe[^>]*>", house.page("GET", f"/mturk/preview?hitId={hit_id}").text)[0]
    assert "allow-same-origin" not in frame


def test_the_assignment_is_filled_in_without_javascript(house, hit_id) -> None:
    name = house.workers.accept(hit_id, "A1").assignment_id
    page = house.page("GET", f"/mturk/content?hitId={hit_id}&assignmentId={name}").text
    assert f'name="assignmentId" id="assignmentId" value="{name}"' in page
    hostile = house.page("GET", f"/mturk/content?hitId={hit_id}", params={"assignmentId": '"><script>x</script>'}).text
    assert "<script>x" not in hostile


def test_a_worker_cannot_act_for_another(make_house) -> None:
    house = make_house(trust_worker_ids=False)
    hit_id = house.hit()
    assert house.page("GET", f"/mturk/accept?hitId={hit_id}&workerId=A1").status_code == 403
    other = house.door.worker_key("A2")
    assert house.page("GET", f"/mturk/accept?hitId={hit_id}&workerId=A1&key={other}").status_code == 403
    key = house.door.worker_key("A1")
    assert house.page("GET", f"/mturk/accept?hitId={hit_id}&workerId=A1&key={key}").status_code == 200
    (row,) = rows(house, ASSIGNMENT)
    stolen = {"assignmentId": row.assignment_id, "workerId": "A2", "key": other}
    assert house.page("POST", "/mturk/return", data=stolen).status_code == 409
    assert house.page("POST", "/mturk/draft", json={**stolen, "fields": []}).status_code == 409
    assert house.page("POST", "/mturk/return", data={**stolen, "workerId": "A1", "key": key}).status_code == 200


@pytest.mark.parametrize("worker", ["ann", "B1", "A", "A1'; DROP TABLE x", "A" * 65, ""])
def test_worker_ids_that_the_api_could_not_show_are_refused(house, hit_id, worker) -> None:
    answer = house.page("GET", "/mturk/accept", params={"hitId": hit_id, "workerId": worker})
    assert answer.status_code == 400
    assert rows(house, ASSIGNMENT) == []


def test_a_draft_survives_a_reload_and_goes_when_the_work_is_handed_in(house, hit_id) -> None:
    name = house.workers.accept(hit_id, "A1").assignment_id
    who = {"assignmentId": name, "workerId": "A1"}
    assert house.page("POST", "/mturk/draft", json={**who, "fields": [["q", "half"], ["r", "é"]]}).status_code == 204
    assert house.page("GET", "/mturk/draft", params=who).json() == {"fields": [["q", "half"], ["r", "é"]]}
    house.page("POST", "/mturk/externalSubmit", data={"assignmentId": name, "q": "whole"})
    assert house.page("GET", "/mturk/draft", params=who).json() == {"fields": []}
    assert house.page("POST", "/mturk/draft", json={**who, "fields": [["q", "x"]]}).status_code == 409


def test_events_are_kept_once_and_dated_by_our_clock(house, hit_id, clock) -> None:
    house.page("GET", f"/mturk/accept?hitId={hit_id}&workerId=A1")
    (row,) = rows(house, ASSIGNMENT)
    who = {"assignmentId": row.assignment_id, "workerId": "A1"}
    events = [{"seq": 1, "kind": "shown", "t": 0.0}, {"seq": 2, "kind": "input", "t": 20_000.0}]
    clock.advance(20)
    for _ in range(2):
        assert house.page("POST", "/mturk/events", json={**who, "events": events}).status_code == 204
    clock.advance(10)
    house.page("POST", "/mturk/externalSubmit", data={"assignmentId": row.assignment_id, "q": "1"})
    kept = rows(house, M_EVENT)
    assert [each.kind for each in kept] == ["shown", "input"]
    assert (kept[1].at - kept[0].at).total_seconds() == 20
    (done,) = rows(house, ASSIGNMENT)
    # Shown at 0, last input at 20, handed in at 30.
    assert (done.page_elapsed_s, done.active_s, done.time_quality) == (30.0, 20.0, "ok")


def test_work_without_javascript_is_accepted_and_says_so(house, hit_id) -> None:
    house.work(hit_id, "A1", q="1")
    (row,) = rows(house, ASSIGNMENT)
    assert (row.state, row.active_s, row.time_quality) == ("submitted", None, "no_heartbeat")


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"[]",
        b'{"events": 1}',
        b'{"events": [{"seq": "x", "kind": "shown"}]}',
        b'{"events": [{"seq": 1, "kind": "key"}]}',
    ],
)
def test_bad_events_change_nothing(house, hit_id, content) -> None:
    name = house.workers.accept(hit_id, "A1").assignment_id
    try:
        document = json.dumps({**json.loads(content), "assignmentId": name, "workerId": "A1"}).encode()
    except (ValueError, TypeError):
        document = content
    assert house.page("POST", "/mturk/events", content=document).status_code == 400
    assert rows(house, M_EVENT) == []


HOSTILE = {
    "html": "<script>alert(1)</script>",
    "cdata": "]]><![CDATA[",
    "nul": "a\x00b",
    "emoji": "\U0001f600",
    "long": "x" * 70_000,
    "empty": "",
    "formula": "=cmd|' /C calc'!A0",
    "control": "\x0b\x1b\ufffe",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_workers_type_stays_text(house, client, hit_id, text) -> None:
    name = house.workers.accept(hit_id, "A1").assignment_id
    sent = house.page("POST", "/mturk/externalSubmit", data={"assignmentId": name, "q": text})
    assert sent.status_code == 200
    (row,) = client.list_assignments_for_hit(HITId=hit_id)["Assignments"]
    kept = "".join(each for each in text if each not in "\x00\x0b\x1b\ufffe")
    assert read_answer(row["Answer"]).fields == (("q", kept),)
    # What was sent is kept as it was, beside what XML can hold.
    assert json.loads(rows(house, ASSIGNMENT)[0].fields) == [["q", "FreeText", text]]


def test_too_much_is_refused(make_house) -> None:
    house = make_house(most_answer_bytes=5_000)
    hit_id = house.hit()
    name = house.workers.accept(hit_id, "A1").assignment_id
    sent = house.page("POST", "/mturk/externalSubmit", data={"assignmentId": name, "q": "x" * 6_000})
    assert sent.status_code == 413
    assert rows(house, ASSIGNMENT)[0].state == "accepted"


def test_multipart_forms_come_in_too_and_files_are_left_out(house, client, hit_id) -> None:
    name = house.workers.accept(hit_id, "A1").assignment_id
    parts = {"assignmentId": (None, name), "q": (None, "yes"), "file": ("a.txt", b"bytes", "text/plain")}
    assert house.page("POST", "/mturk/externalSubmit", files=parts).status_code == 200
    (row,) = client.list_assignments_for_hit(HITId=hit_id)["Assignments"]
    assert read_answer(row["Answer"]).fields == (("q", "yes"),)


def test_a_form_without_an_answer_is_refused(house, hit_id) -> None:
    name = house.workers.accept(hit_id, "A1").assignment_id
    assert house.page("POST", "/mturk/externalSubmit", data={"assignmentId": name}).status_code == 409


FORM = (
    f'<QuestionForm xmlns="{NAMESPACES}2017-11-06/QuestionForm.xsd"><Overview><Title>All</Title><Text>Of it.</Text>'
    "<FormattedContent><![CDATA[<b>Bold</b>]]></FormattedContent></Overview>"
    "<Question><QuestionIdentifier>many</QuestionIdentifier><QuestionContent><Text>Which?</Text></QuestionContent>"
    "<AnswerSpecification><SelectionAnswer><MaxSelectionCount>2</MaxSelectionCount><Selections>"
    "<Selection><SelectionIdentifier>a</SelectionIdentifier><Text>A &lt;1&gt;</Text></Selection>"
    "<Selection><SelectionIdentifier>b</SelectionIdentifier><Text>B</Text></Selection><OtherSelection/></Selections>"
    "</SelectionAnswer></AnswerSpecification></Question>"
    "<Question><QuestionIdentifier>why</QuestionIdentifier><QuestionContent><Text>Why?</Text></QuestionContent>"
    "<AnswerSpecification><FreeTextAnswer><DefaultText>so</DefaultText></FreeTextAnswer></AnswerSpecification></Question>"
    "</QuestionForm>"
)


def test_a_question_form_becomes_a_form_and_selections_come_back(house, client) -> None:
    hit_id = house.hit(Question=FORM)
    frame = house.page("GET", f"/mturk/accept?hitId={hit_id}&workerId=A1").text
    page = house.page("GET", unescape(re.search(r' src="(/mturk/content[^"]+)"', frame)[1])).text
    assert "A &lt;1&gt;" in page
    assert ">so</textarea>" in page
    assert "&lt;b&gt;" not in page
    name = re.search(r'name="assignmentId" value="(\w+)"', page)[1]
    fields = {"assignmentId": name, "many": ["a", "b"], "many.other": "c", "why": "because", "extra": "x"}
    assert house.page("POST", "/mturk/externalSubmit", data=fields).status_code == 200
    (row,) = client.list_assignments_for_hit(HITId=hit_id)["Assignments"]
    assert read_answer(row["Answer"]).fields == (("many", "a"), ("many", "b"), ("many", "c"), ("why", "because"))
    assert row["Answer"].count("<SelectionIdentifier>") == 2


def test_a_page_for_nobody_is_a_polite_refusal(house) -> None:
    for path in ("/mturk/preview?hitId=NONE", "/mturk/accept?hitId=NONE&workerId=A1", "/mturk/content?hitId=<b>"):
        answer = house.page("GET", path)
        assert answer.status_code == 409
        assert "This is not possible" in answer.text
        assert "<b>" not in answer.text
    assert house.page("GET", "/mturk/static/../_front.py").status_code == 404
    assert house.page("GET", "/mturk/static/secrets").status_code == 404


def test_a_tab_that_was_closed_is_found_again_in_the_list_until_the_work_is_handed_in(house, client, clock) -> None:
    question = html_question("<form><input name='assignmentId'><input name='q'></form>")
    later = house.hit(Title="Later", Question=question, AssignmentDurationInSeconds=1200, MaxAssignments=1)
    sooner = house.hit(Title="Sooner", Question=question, AssignmentDurationInSeconds=600, MaxAssignments=1)
    names = {hit: house.workers.accept(hit, "A1").assignment_id for hit in (later, sooner)}
    page = house.page("GET", "/mturk/hits?workerId=A1").text
    # The most urgent first; nothing else is open, for each HIT had one place.
    assert re.findall(r"<h3>(\w+)</h3>", page) == ["Sooner", "Later"]
    assert "There is no other work for you now." in page
    links = [unescape(each) for each in re.findall(r'href="([^"]+)">Continue</a>', page)]
    again = house.page("GET", links[0])
    assert again.headers["X-Assignment-Id"] == names[sooner]
    assert "Continue" not in house.page("GET", "/mturk/hits?workerId=A2").text
    house.workers.submit(names[sooner], [("q", "1")])
    clock.advance(1201)  # and what was not handed in in time is no longer under way
    assert "Continue" not in house.page("GET", "/mturk/hits?workerId=A1").text


def test_wrong_links_are_put_off_and_right_ones_never(make_house) -> None:
    house = make_house(trust_worker_ids=False, wrong_keys_per_minute=5)
    right = house.door.worker_key("A1")
    paths = ("/mturk/hits?workerId=A1&key=x", "/mturk/hits?workerId=A1&key=" + "é" * 32, "/mturk/hits?workerId=A2&key=")
    codes = [house.page("GET", paths[n % 3]).status_code for n in range(7)]
    assert codes == [403] * 5 + [429] * 2
    sent = house.page("POST", "/mturk/return", data={"workerId": "A1", "key": "x", "assignmentId": "B"})
    drafts = house.page("POST", "/mturk/draft", json={"workerId": "A1", "key": "ключ"})
    assert (sent.status_code, drafts.status_code) == (429, 429)
    assert house.page("GET", f"/mturk/hits?workerId=A1&key={right}").status_code == 200


def test_who_opens_the_list_without_his_link_is_told_to_open_it(house) -> None:
    page = house.page("GET", "/mturk/hits")
    assert page.status_code == 400
    assert "open the link that you were sent" in page.text
