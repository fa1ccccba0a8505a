"""What the pages of the MTurk door show, and to whom: nothing that tells gold, nothing guarded, nothing deleted."""

from __future__ import annotations

import json
import re
import time
from html import unescape
from pathlib import Path

import pytest
from hmc_crowd_local.mturk_api import Deliverer, TurkError
from hmc_crowd_local.mturk_api._content import prepare
from hmc_crowd_local.mturk_api._form_check import plain_text
from hmc_crowd_local.mturk_api._markup import start_tags
from hmc_crowd_mturk import read_answer
from hmc_crowd_mturk._questions import page_of
from mturk_house import NAMESPACES, html_question, make_hit

from hmc_crowd.errors import InputError
from hmc_crowd.platform import Hit, HitItem, RemoteAnswer, named

TEXT = "<form method=post><input name='assignmentId'><p>THE TEXT</p><input name='q'></form>"
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def hit_id(house) -> str:
    made: str = house.hit(Question=html_question(TEXT))
    return made


def deleted(house, client, **options) -> str:
    hit_id: str = house.hit(Question=html_question(TEXT), **options)
    client.update_expiration_for_hit(HITId=hit_id, ExpireAt=0)
    client.delete_hit(HITId=hit_id)
    return hit_id


def guarded(house, client, actions: str) -> tuple[str, str]:
    made = client.create_qualification_type(Name="G", Description="d", QualificationTypeStatus="Active")
    type_id = made["QualificationType"]["QualificationTypeId"]
    asked = {"QualificationTypeId": type_id, "Comparator": "Exists", "ActionsGuarded": actions}
    return house.hit(Question=html_question(TEXT), QualificationRequirements=[asked]), type_id


# Gold.


def test_the_source_of_a_page_tells_no_item(house, platform) -> None:
    items = tuple(
        HitItem(name, aspect, group, 1, f"Text {number}", labels=("yes", "no"), question="Is it polite?")
        for number, (name, aspect, group) in enumerate([("g3", "tone", "golds"), ("d1.7", "mood", "d1")], start=1)
    )
    hit = Hit("KEY-1", "Judge", "Read and judge.", items, 1, 5, "USD")
    remote = platform.publish(hit)
    page = house.page("GET", f"/mturk/content?hitId={remote.hit_id}").text
    for told in ("g3", "gold", "d1", "tone", "mood", "KEY-1"):
        assert told not in page
    assert re.findall(r'name="(answer:[^"]*)"', page) == ["answer:1"] * 2 + ["answer:2"] * 2


def test_two_hits_of_one_form_differ_in_their_texts_alone() -> None:
    def page(item: str) -> str:
        return page_of(Hit("k", "Judge", "", (HitItem(item, "label", "g", 1, "Hello."),), 1, 5, "USD"), submit_to="/")

    assert page("gold-1") == page("d1")


def test_answers_get_their_items_by_their_number(house, platform) -> None:
    hit = make_hit(redundancy=1)
    remote = platform.publish(hit)
    name = house.work(remote.hit_id, "A1", **{"answer:2": "no", "answer:1": "yes", "answer:3": "?"})
    answers = platform.answers([name])[name]
    assert [(each.item, each.place) for each in answers] == [("", 2), ("", 1), ("", 3)]
    found = named(answers, [(each.item, each.aspect) for each in hit.items])
    assert [(each.item, each.label, each.place) for each in found] == [
        ("K1-2", "no", None), ("K1-1", "yes", None), ("", "?", 3),
    ]  # fmt: skip


def test_answers_of_hits_from_before_are_still_read(house, platform) -> None:
    hit = make_hit(redundancy=1)
    remote = platform.publish(hit)
    name = house.work(remote.hit_id, "A1", **{"answer:K1-1/label": "no", "times:K1-1/label": "1000,2000"})
    (found,) = named(platform.answers([name])[name], [(each.item, each.aspect) for each in hit.items])
    assert (found.item, found.aspect, found.label, found.place) == ("K1-1", "label", "no", None)
    assert found.submitted_at is not None


def test_one_question_answered_under_both_names_counts_once() -> None:
    both = [RemoteAnswer("a", "label", "no"), RemoteAnswer("", "", "yes", place=1)]
    assert named(both, [("a", "label")]) == (RemoteAnswer("a", "label", "yes"),)


def test_a_number_that_the_hit_has_not_is_strange() -> None:
    raw = (
        "<QuestionFormAnswers><Answer><QuestionIdentifier>answer:2</QuestionIdentifier><FreeText>x</FreeText></Answer>"
        "</QuestionFormAnswers>"
    )
    assert [each.place for each in read_answer(raw).answers] == [2]
    reading = read_answer(raw, questions=[("a", "label")])
    assert (reading.answers, [each.value for each in reading.problems]) == ((), ["unknown_identifier"])


# Who sees what.


@pytest.mark.parametrize("actions", ["PreviewAndAccept", "DiscoverPreviewAndAccept"])
def test_what_is_guarded_is_shown_to_whom_it_is_for(house, client, actions) -> None:
    hit_id, type_id = guarded(house, client, actions)
    client.associate_qualification_with_worker(QualificationTypeId=type_id, WorkerId="A2", IntegerValue=1)
    group = client.get_hit(HITId=hit_id)["HIT"]["HITGroupId"]
    for address in (
        f"/mturk/preview?hitId={hit_id}",
        f"/mturk/preview?groupId={group}",
        f"/mturk/preview?hitId={hit_id}&workerId=A1",
        f"/mturk/content?hitId={hit_id}",
        f"/mturk/content?hitId={hit_id}&workerId=A2",
        f"/mturk/content?hitId={hit_id}&pass=99999999999.{'0' * 32}",
    ):
        answer = house.page("GET", address)
        assert answer.status_code in {403, 409}
        assert "THE TEXT" not in answer.text
        assert "Read and judge." not in answer.text
    page = house.page("GET", f"/mturk/preview?hitId={hit_id}&workerId=A2").text
    frame = unescape(re.search(r' src="(/mturk/content[^"]+)"', page)[1])
    assert "THE TEXT" in house.page("GET", frame).text


def test_a_preview_s_pass_is_for_one_hit_and_some_minutes(house, client, clock) -> None:
    hit_id, _ = guarded(house, client, "PreviewAndAccept")
    pass_ = house.workers.preview_pass(hit_id)
    other = house.workers.preview_pass("OTHER")
    assert house.page("GET", f"/mturk/content?hitId={hit_id}&pass={pass_}").status_code == 200
    assert house.page("GET", f"/mturk/content?hitId={hit_id}&pass={other}").status_code == 403
    clock.advance(601)
    assert house.page("GET", f"/mturk/content?hitId={hit_id}&pass={pass_}").status_code == 403


def test_a_hit_that_is_guarded_for_accepting_alone_may_be_looked_at(house, client) -> None:
    hit_id, _ = guarded(house, client, "Accept")
    assert house.page("GET", f"/mturk/preview?hitId={hit_id}").status_code == 200
    assert "THE TEXT" in house.page("GET", f"/mturk/content?hitId={hit_id}").text


def test_a_deleted_hit_is_not_there(house, client) -> None:
    hit_id = deleted(house, client, RequesterAnnotation="gone")
    seen = client.get_hit(HITId=hit_id)["HIT"]
    for address in (
        f"/mturk/preview?hitId={hit_id}",
        f"/mturk/preview?hitId={hit_id}&workerId=A1",
        f"/mturk/preview?groupId={seen['HITGroupId']}",
        f"/mturk/preview?groupId={seen['HITTypeId']}",
        f"/mturk/content?hitId={hit_id}",
        f"/mturk/accept?hitId={hit_id}&workerId=A1",
    ):
        answer = house.page("GET", address)
        assert answer.status_code == 409
        assert "THE TEXT" not in answer.text


def test_groups_are_found_by_the_id_of_a_group_or_a_type_and_by_nothing_else(house, client) -> None:
    hit_id = house.hit(Question=html_question(TEXT), RequesterAnnotation="batch 7")
    seen = client.get_hit(HITId=hit_id)["HIT"]
    for name in (seen["HITGroupId"], seen["HITTypeId"]):
        assert house.page("GET", f"/mturk/preview?groupId={name}").status_code == 200
    refused = house.page("GET", "/mturk/preview?annotation=batch 7")
    assert (refused.status_code, "give hitId, or groupId" in refused.text) == (400, True)
    assert house.page("GET", "/mturk/preview?groupId=batch 7").status_code == 409


def test_the_frame_is_for_an_assignment_that_can_be_handed_in(house, hit_id) -> None:
    other = house.hit(Title="Other", Question=html_question(TEXT))
    work = house.workers.accept(hit_id, "A1")
    address = f"/mturk/content?hitId={hit_id}&assignmentId={work.assignment_id}"
    assert house.page("GET", f"{address}&workerId=A1").status_code == 200
    assert house.page("GET", f"{address}&workerId=A2").status_code == 409
    assert house.page("GET", address.replace(hit_id, other)).status_code == 409
    assert house.page("GET", address.replace(work.assignment_id, "NONE")).status_code == 409
    house.workers.submit(work.assignment_id, [("q", "1")])
    assert house.page("GET", address).status_code == 409


@pytest.mark.parametrize(
    "sent",
    [
        r"\1",
        r"\g<0>",
        r"\074script\076",
        r"A\\",
        "A B",
        "a1",
        "A1\x00",
        "A1'",
        '"><form action="https://evil.example">',
    ],
)
def test_an_assignment_in_an_address_is_an_id_and_never_a_part_of_a_page(house, hit_id, sent) -> None:
    answer = house.page("GET", "/mturk/content", params={"hitId": hit_id, "assignmentId": sent})
    assert answer.status_code == 409
    assert "THE TEXT" not in answer.text
    assert "evil" not in answer.text or "&#34;&gt;&lt;form" in answer.text


def test_frames_may_ask_and_say_and_have_no_origin_of_ours(house, hit_id) -> None:
    policy = house.page("GET", f"/mturk/content?hitId={hit_id}").headers["Content-Security-Policy"]
    frame = re.search(r'sandbox="([^"]*)"', house.page("GET", f"/mturk/preview?hitId={hit_id}").text)[1]
    assert policy.endswith(f"sandbox {frame}")
    assert "allow-modals" in frame
    assert "allow-same-origin" not in frame


# Pages that take long, or that nobody can hand in.


@pytest.mark.parametrize(
    "piece",
    ["<input ", "<input name='", "<!--", "<a/", "<a b='", "<script>", "<a =", "<input name=assignmentId ", "<", "${"],
)
def test_reading_a_page_takes_time_in_proportion_to_its_length(piece) -> None:
    def spent(size: int) -> float:
        html = piece * (size // len(piece))
        begun = time.process_time()
        prepare(html, page_name="taskAnswers")
        plain_text(html)
        return time.process_time() - begun

    # Ten times the page: a hundred times the time where anything is gone over again for each piece.
    assert min(spent(400_000) for _ in range(2)) < 40 * max(min(spent(40_000) for _ in range(3)), 0.002)


def test_start_tags_are_those_that_a_browser_sees() -> None:
    html = (
        "<!-- <input name=no> --><textarea><input name=no></textarea><script>'<input name=no>'</script><INPUT\n"
        "NAME = \"a\" x='>' name=second/><input name=b"
    )
    assert [(each.name, each.attributes.get("name")) for each in start_tags(html)] == [
        ("textarea", None), ("script", None), ("input", "a"),
    ]  # fmt: skip


def test_a_hit_is_read_once_for_all_who_look(house, hit_id, monkeypatch) -> None:
    read = []
    monkeypatch.setattr("hmc_crowd_local.mturk_api._front.prepare", lambda *a, **k: read.append(1) or prepare(*a, **k))
    for _ in range(3):
        house.page("GET", f"/mturk/content?hitId={hit_id}")
    assert len(read) == 1


def test_the_how_to_s_own_layout_is_taken_and_can_be_handed_in(house, client) -> None:
    text = (DOCS / "howto-run-your-own-workplace.md").read_text(encoding="utf-8")
    layout = house.door.add_layout(re.search(r"judge\.html <<'EOT'\n(.*?)EOT\n", text, re.DOTALL)[1])
    values = {"Title": "t", "Description": "d", "Reward": "0.05", "AssignmentDurationInSeconds": 600}
    given = [{"Name": "text", "Value": "Hello."}]
    made = client.create_hit(**values, LifetimeInSeconds=600, HITLayoutId=layout, HITLayoutParameters=given)["HIT"]
    name = house.workers.accept(made["HITId"], "A1").assignment_id
    page = house.page("GET", f"/mturk/content?hitId={made['HITId']}&assignmentId={name}").text
    (form,) = (each for each in start_tags(page) if each.name == "form")
    assert dict(form.attributes) == {"method": "post", "action": "/mturk/externalSubmit"}
    fields = [each.attributes for each in start_tags(page) if each.name == "input"]
    sent = {each["name"]: each.get("value", "good") for each in fields}
    assert house.page("POST", form.attributes["action"], data=sent).status_code == 200
    (row,) = client.list_assignments_for_hit(HITId=made["HITId"])["Assignments"]
    assert read_answer(row["Answer"]).fields == (("label", "good"),)


@pytest.mark.parametrize(
    ("html", "said"),
    [
        ("<p>${x}</p>", "has no form"),
        ("<p>${x}</p>\n <form action='https://e.org'>\n", r"line 2 is \"<form action='https://e.org'>\": begin its"),
        ("<form method=get></form><form METHOD='dialog'></form>", r'line 1 is "<form method=get>'),
        ("<!-- <form method=post> -->", "has no form"),
    ],
)
def test_a_layout_that_nobody_can_hand_in_is_refused_with_the_line(door, html, said) -> None:
    with pytest.raises(InputError, match=said):
        door.add_layout(html)


@pytest.mark.parametrize("html", ["<FORM METHOD=POST>", "<crowd-form>", "<form></form><form method='post'>"])
def test_a_layout_that_can_be_handed_in_is_taken(door, html) -> None:
    assert door.add_layout(html)


# What is odd is refused in the service's words, and never a fault of ours.


@pytest.mark.parametrize("height", ["²", "99999", "9" * 5_000, "-1", "1.5", "", "٣"])
def test_a_frame_height_is_a_number_of_pixels(door, height) -> None:
    question = html_question("<p>x</p>").replace(">450<", f">{height}<")
    with pytest.raises(TurkError, match="FrameHeight is") as refused:
        make(door, Question=question)
    assert refused.value.code == "AWS.MechanicalTurk.XMLParseError"


@pytest.mark.parametrize("reward", ["99999999", "1000000", "9" * 30, "9" * 5_000, "0" * 5_000 + "1000000.00"])
def test_a_reward_beyond_reason_is_refused(door, reward) -> None:
    with pytest.raises(TurkError, match=r"Reward is [0-9.]+; give less than 1,000,000"):
        make(door, Reward=reward)


@pytest.mark.parametrize("member", ["Title", "Description", "Keywords", "RequesterAnnotation", "UniqueRequestToken"])
def test_half_a_character_is_refused(door, member) -> None:
    with pytest.raises(TurkError, match=f"{member} holds half a character, U\\+D800"):
        make(door, **{member: "a\ud800"})


@pytest.mark.parametrize("url", ["https://[", "https://e.org:99999999/", "https://e.org:x/"])
def test_an_address_that_is_none_is_refused(door, url) -> None:
    question = (
        f'<ExternalQuestion xmlns="{NAMESPACES}2006-07-14/ExternalQuestion.xsd"><ExternalURL>{url}</ExternalURL>'
        "<FrameHeight>0</FrameHeight></ExternalQuestion>"
    )
    with pytest.raises(TurkError, match="ExternalURL is"):
        make(door, Question=question)


def make(door, **options):
    values = {
        "Title": "t", "Description": "d", "Reward": "0.05", "Question": html_question("<p>x</p>"),
        "AssignmentDurationInSeconds": 600, "LifetimeInSeconds": 600, **options,
    }  # fmt: skip
    return door.call("main", "CreateHIT", values)


def key_of(points: str, mapping: str) -> str:
    return (
        f'<AnswerKey xmlns="{NAMESPACES}2005-10-01/AnswerKey.xsd"><Question><QuestionIdentifier>q</QuestionIdentifier>'
        f"<AnswerOption><SelectionIdentifier>a</SelectionIdentifier><AnswerScore>{points}</AnswerScore></AnswerOption>"
        f"</Question><QualificationValueMapping>{mapping}</QualificationValueMapping></AnswerKey>"
    )


@pytest.mark.parametrize("number", ["NaN", "sNaN", "Infinity", "-Infinity", "1e99", "1e999999999", "²", "1_0", ""])
def test_a_multiplier_is_a_plain_number(number) -> None:
    from hmc_crowd_local.mturk_api._answer_key import check_answer_key

    mapping = f"<ScaleMapping><SummedScoreMultiplier>{number}</SummedScoreMultiplier></ScaleMapping>"
    with pytest.raises(TurkError, match="SummedScoreMultiplier is"):
        check_answer_key(key_of("1", mapping))


def test_a_score_fits_what_the_api_can_show() -> None:
    from hmc_crowd_local.mturk_api._answer_key import score

    mapping = "<ScaleMapping><SummedScoreMultiplier>999999999</SummedScoreMultiplier></ScaleMapping>"
    assert score(key_of("999999999", mapping), {"q": {"a"}}) == 2**31 - 1
    assert score(key_of("-999999999", mapping), {"q": {"a"}}) == -(2**31) + 1


@pytest.mark.parametrize("member", ["TestDurationInSeconds", "RetryDelayInSeconds"])
def test_a_time_beyond_a_year_is_refused(door, member) -> None:
    values = {"Name": "n", "Description": "d", "QualificationTypeStatus": "Active", member: 2**62}
    with pytest.raises(TurkError, match=f"{member} is"):
        door.call("main", "CreateQualificationType", values)


def test_a_known_answer_without_its_values_is_refused(door) -> None:
    for entry in ({"Key": "q"}, {"Values": ["a"]}, {}):
        policy = {
            "PolicyName": "ScoreMyKnownAnswers/2011-09-01",
            "Parameters": [{"Key": "AnswerKey", "MapEntries": [entry]}],
        }
        with pytest.raises(TurkError, match="MapEntries without Key or Values"):
            make(door, AssignmentReviewPolicy=policy)


def test_a_query_that_is_too_long_is_refused(door) -> None:
    values = {"Query": "x" * 60_000, "MustBeRequestable": False}
    with pytest.raises(TurkError, match="Query has 60000 characters"):
        door.call("main", "ListQualificationTypes", values)


def test_a_notification_s_address_that_is_none_is_refused(clock) -> None:
    deliverer = Deliverer(["e.org"], secret=b"s", clock=clock)
    try:
        with pytest.raises(InputError, match="is no address"):
            deliverer.check({"Transport": "SQS", "Destination": "https://["})
    finally:
        deliverer.close()


@pytest.mark.parametrize(
    "change",
    [
        {"fields": None}, {"fields": 1}, {"fields": {}}, {"fields": [1]}, {"fields": [None]}, {"fields": [["a"]]},
        {"fields": [["a", 1]]}, {"fields": ["ab"]}, {"fields": [["a", "b"]] * 10_001}, {"key": "é"}, {"workerId": []},
        {"assignmentId": None}, {"assignmentId": "\x00"},
    ],
    ids=lambda change: repr(change)[:40],
)  # fmt: skip
def test_a_draft_that_is_none_is_refused(make_house, change) -> None:
    house = make_house(trust_worker_ids="key" not in change)
    hit_id = house.hit()
    name = house.workers.accept(hit_id, "A1").assignment_id
    sent = {"assignmentId": name, "workerId": "A1", "fields": [["a", "b"]], **change}
    assert house.page("POST", "/mturk/draft", content=json.dumps(sent)).status_code in {400, 403, 409}


def test_half_characters_in_a_draft_come_back_without_them(house, hit_id) -> None:
    who = {"assignmentId": house.workers.accept(hit_id, "A1").assignment_id, "workerId": "A1"}
    sent = json.dumps({**who, "fields": [["a", "x\ud800y"]]})
    assert house.page("POST", "/mturk/draft", content=sent).status_code == 204
    assert house.page("GET", "/mturk/draft", params=who).json() == {"fields": [["a", "xy"]]}


def test_a_key_with_other_letters_is_a_wrong_key(make_house) -> None:
    house = make_house(trust_worker_ids=False)
    assert house.page("GET", "/mturk/hits", params={"workerId": "A1", "key": "ключ"}).status_code == 403
