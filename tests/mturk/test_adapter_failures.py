"""What the adapter makes of trouble: typed, in bounded time, nothing half done, and nothing secret in the words."""

from __future__ import annotations

import json
from datetime import timedelta
from urllib.parse import quote

import pytest
from hmc_crowd_local.mturk_api import Key
from hmc_crowd_mturk import (
    Requirement,
    assignment_fee,
    connect,
    external_question,
    html_question,
    plan_top_up,
    read_answer,
    read_arrival,
    read_notification,
    receive_notifications,
)
from hypothesis import given
from hypothesis import strategies as st
from mturk_house import answer_fields, make_hit

from hmc_crowd.errors import InputError, NeedsHumanError, PlatformError, PlatformUnavailableError
from hmc_crowd.platform import HitItem, SubmissionState


def done(house, platform, hit, worker="A1"):
    return house.work(platform.publish(hit).hit_id, worker, **answer_fields(hit))


@pytest.mark.parametrize("fault", ["reset_after", "status_after", "html_after", "truncate_after"])
def test_an_approval_whose_answer_was_lost_is_paid_once(house, broken, proxy, fault) -> None:
    name = done(house, broken, make_hit())
    proxy.inject(fault, match="ApproveAssignment")
    try:
        broken.approve(name)
    except PlatformUnavailableError:
        assert broken.approve(name).state is SubmissionState.APPROVED
    # 10000 - 3 * 0.06: one is paid, two are held.
    assert house.client.get_account_balance()["AvailableBalance"] == "9999.82"


@pytest.mark.parametrize("fault", ["reset_after", "status_after"])
def test_a_rejection_whose_answer_was_lost_is_made_once(house, broken, proxy, fault) -> None:
    name = done(house, broken, make_hit())
    proxy.inject(fault, match="RejectAssignment")
    with pytest.raises(PlatformUnavailableError):
        broken.reject(name, "Both gold items are wrong.")
    assert broken.reject(name, "Both gold items are wrong.").state is SubmissionState.REJECTED


@pytest.mark.parametrize("fault", ["reset_after", "status_after", "twice"])
def test_an_extension_whose_answer_was_lost_is_made_once(house, broken, proxy, fault) -> None:
    hit = make_hit(redundancy=3)
    remote = broken.publish(hit)
    proxy.inject(fault, match="CreateAdditionalAssignmentsForHIT")
    try:
        broken.top_up(hit, remote.hit_id, target=5)
    except PlatformUnavailableError:
        broken.top_up(hit, remote.hit_id, target=5)
    assert house.client.get_hit(HITId=remote.hit_id)["HIT"]["MaxAssignments"] == 5
    assert broken.top_up(hit, remote.hit_id, target=4).redundancy == 5


def test_a_message_whose_answer_was_lost_is_for_a_person(house, broken, proxy) -> None:
    done(house, broken, make_hit())
    proxy.inject("reset_after", match="NotifyWorkers")
    with pytest.raises(NeedsHumanError, match="may have happened or not"):
        broken.notify(["A1"], subject="S", text="T")
    assert len(house.workers.messages("A1")) == 1


def test_a_qualification_type_is_made_once(broken, proxy) -> None:
    proxy.inject("reset_after", match="CreateQualificationType")
    with pytest.raises(PlatformUnavailableError):
        broken.ensure_qualification("N", "D")
    first = broken.ensure_qualification("N", "D")
    assert broken.ensure_qualification("N", "D") == first


def test_an_endpoint_that_answers_too_slowly_ends_in_bounded_time(connect_to, proxy) -> None:
    slow = connect_to(proxy.url, read_timeout_s=1.0)
    proxy.inject("hang_after", match="CreateHITType")
    with pytest.raises(PlatformUnavailableError, match="safe"):
        slow.publish(make_hit())


def test_an_endpoint_that_is_not_there(connect_to) -> None:
    gone = connect_to("http://127.0.0.1:9", connect_timeout_s=0.2)
    with pytest.raises(PlatformUnavailableError, match="cannot be reached; nothing was sent"):
        gone._api.write("CreateHITType", is_repeatable=False, Title="T", Description="D", Reward="0.01",
                        AssignmentDurationInSeconds=60)  # fmt: skip


def test_wrong_keys_and_wrong_clocks_are_one_sentence_without_the_secret(house, connect_to) -> None:
    stranger = connect_to(key=Key(house.key.access_key_id, "SECRETSECRET"))
    with pytest.raises(PlatformError, match="check the keys and this machine's clock") as caught:
        stranger.account()
    assert "SECRETSECRET" not in str(caught.value)


def test_no_keys_at_all(monkeypatch, tmp_path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(InputError, match="no keys found; set AWS_ACCESS_KEY_ID"):
        connect("http://127.0.0.1:9")


@pytest.mark.parametrize(
    "address", ["work.example.org", "ftp://x", "http://work.example.org", "https://me:pw@x.org", "https://"]
)
def test_addresses_that_cannot_be_used(address) -> None:
    with pytest.raises(InputError, match="address"):
        connect(address)


def test_the_environment_may_name_the_endpoint(house, connect_to, monkeypatch) -> None:
    connect_to()
    monkeypatch.setenv("HMC_CROWD_MTURK_ENDPOINT", house.url)
    account = connect().account()
    assert (account.endpoint, account.mode, str(account.balance)) == (house.url, "stub", "10,000.00 USD")
    assert account.account.endswith(house.key.access_key_id[-4:])
    assert house.key.access_key_id not in account.account


def test_an_unknown_mode_is_refused(house, connect_to) -> None:
    with pytest.raises(InputError, match="mode is 'play'"):
        connect_to(mode="play")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"currency": "EUR"}, "pays in USD"),
        ({"redundancy": 0}, "redundancy"),
        ({"time_limit_s": 10}, "time_limit_s"),
        ({"lifetime_s": 10**9}, "lifetime_s"),
        ({"items": ()}, "no items"),
        ({"items": (HitItem("i", "a", "g", 1, "t"),) * 2}, "twice"),
        ({"items": (HitItem("i", "a", "g", 1, "x" * 70_000),)}, "fewer items"),
        ({"items": (HitItem("i", "a", "g", 1, "a\x00b"),)}, "U\\+0000"),
        ({"pay_minor": -1}, "pay_minor"),
    ],
)
def test_hits_that_cannot_be_published_send_nothing(house, platform, change, message) -> None:
    with pytest.raises(InputError, match=message):
        platform.publish(make_hit(**change))
    assert house.calls == []


def test_too_long_a_key_or_title(platform) -> None:
    from dataclasses import replace

    with pytest.raises(InputError, match="key of a hit has 300"):
        platform.publish(make_hit("k" * 300))
    with pytest.raises(InputError, match="title of hit"):
        platform.publish(replace(make_hit(), title="x" * 129))


def test_reviews_with_bad_words(house, platform) -> None:
    name = done(house, platform, make_hit())
    for reason in ("", "  ", "x" * 1025):
        with pytest.raises(InputError, match="reason"):
            platform.reject(name, reason)
    with pytest.raises(PlatformError, match="unknown here"):
        platform.approve("not an id")


@pytest.mark.parametrize(("code", "amount"), [("", 5), ("a b", 5), ("q", 0), ("x" * 41, 5)])
def test_bonuses_with_bad_words(platform, code, amount) -> None:
    with pytest.raises(InputError):
        platform.pay_bonus("A1", worker="A1", amount_minor=amount, reason="R", code=code)


def test_one_code_is_one_bonus(house, platform) -> None:
    name = done(house, platform, make_hit())
    platform.pay_bonus(name, worker="A1", amount_minor=5, reason="R", code="q")
    with pytest.raises(PlatformError, match="give another code"):
        platform.pay_bonus(name, worker="A1", amount_minor=6, reason="R", code="q")
    platform.pay_bonus(name, worker="A1", amount_minor=6, reason="R", code="late")
    assert sorted(each.amount_minor for each in platform.bonuses(name)) == [5, 6]


def test_two_hits_under_one_key_are_for_a_person(house, platform, clock) -> None:
    platform.publish(make_hit())
    clock.advance(25 * 3600)  # the token is forgotten, and nobody said when it was sent
    platform.publish(make_hit())
    with pytest.raises(NeedsHumanError, match="was published as the HITs"):
        platform.find("K1")
    with pytest.raises(NeedsHumanError):
        platform.find_all()


def test_hits_of_other_scripts_are_left_alone(house, platform) -> None:
    house.hit(RequesterAnnotation="K1")
    remote = platform.publish(make_hit())
    assert platform.find_all() == {"K1": remote}


def test_an_unknown_status_is_unknown(platform) -> None:
    from hmc_crowd_mturk._mapping import submission_of

    row = {"AssignmentId": "A", "HITId": "H", "WorkerId": "AW", "AssignmentStatus": "Paused", "Novel": 1}
    shown = submission_of(row)
    assert (shown.state, shown.accepted_at, shown.platform_elapsed_s) == (SubmissionState.UNKNOWN, None, None)


def test_a_row_that_moves_between_pages_is_found_by_a_second_look(platform, monkeypatch) -> None:
    row = {"HITId": "H1", "WorkerId": "AW", "AssignmentStatus": "Submitted"}
    looks = iter([[{**row, "AssignmentId": "A1"}], [{**row, "AssignmentId": "A1"}, {**row, "AssignmentId": "A2"}]])
    hit = {"MaxAssignments": 2, "NumberOfAssignmentsAvailable": 0, "NumberOfAssignmentsPending": 0}
    monkeypatch.setattr(platform._api, "read", lambda *_a, **_k: hit)
    monkeypatch.setattr(platform._api, "rows", lambda *_a, **_k: iter(next(looks)))
    assert [each.submission_id for each in platform.submissions(["H1"])] == ["A1", "A2"]


def test_an_external_page_is_told_its_hit(house, connect_to) -> None:
    platform = connect_to(external_url="https://lab.example.org/task?v=1", auto_approval_s=60)
    remote = platform.publish(make_hit())
    question = house.client.get_hit(HITId=remote.hit_id)["HIT"]["Question"]
    assert "https://lab.example.org/task?v=1&amp;hit=K1" in question


def test_requirements_travel(house, connect_to) -> None:
    asked = Requirement("00000000000000000071", "In", locales=("US-CA", "NL"))
    platform = connect_to(requirements=[asked])
    remote = platform.publish(make_hit())
    (kept,) = house.client.get_hit(HITId=remote.hit_id)["HIT"]["QualificationRequirements"]
    assert kept["LocaleValues"] == [{"Country": "US", "Subdivision": "CA"}, {"Country": "NL"}]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("Q", "Near"), "comparator"),
        (("Q", "EqualTo"), "0 integers"),
        (("Q", "EqualTo", (1, 2)), "2 integers"),
        (("Q", "In", tuple(range(16))), "16 integers"),
        (("Q", "EqualTo", (1,), ("US",)), "Locale type"),
        (("00000000000000000071", "EqualTo", (), ("usa",)), "locale is"),
        (("00000000000000000071", "GreaterThan", (), ("US",)), "Locale takes"),
        (("00000000000000000071", "EqualTo", (), ("US", "NL")), "too many"),
        (("Q", "Exists", (), (), "Everything"), "guards"),
    ],
)
def test_requirements_that_cannot_be(arguments, message) -> None:
    with pytest.raises(InputError, match=message):
        Requirement(*arguments)


@pytest.mark.parametrize(
    "parameters", [{}, {"assignmentId": "A"}, {"assignmentId": "A", "hitId": "H", "workerId": "AW"}]
)
def test_arrivals_that_lack_something(parameters) -> None:
    if "assignmentId" not in parameters:
        assert read_arrival(parameters, submit_origins=[]).is_preview
    else:
        with pytest.raises(InputError, match="lacks"):
            read_arrival(parameters, submit_origins=[])


def test_plans_and_fees_check_their_numbers() -> None:
    with pytest.raises(InputError):
        plan_top_up(0, 1)
    with pytest.raises(InputError):
        assignment_fee(0.1, 1)  # type: ignore[arg-type]


SUBMITTED = {
    "EventType": "AssignmentSubmitted", "EventTimestamp": "2026-01-05T09:00:00Z", "HITId": "H1", "AssignmentId": "A1",
}  # fmt: skip
MESSAGE = {
    "EventDocVersion": "2014-08-15", "EventDocId": "d1", "CustomerId": "c",
    "Events": [SUBMITTED, {"EventType": "Novel", "EventTimestamp": "yesterday"}],
}  # fmt: skip


def test_notifications_are_read_plain_and_wrapped() -> None:
    plain = read_notification(json.dumps(MESSAGE))
    wrapped = read_notification(json.dumps({"Type": "Notification", "Message": json.dumps(MESSAGE)}))
    assert plain == wrapped
    assert (plain.document_id, plain.events[0].assignment_id, plain.events[1].at) == ("d1", "A1", None)
    assert plain.events[0].at.utcoffset() == timedelta(0)
    for bad in ("", "[]", "{}", '{"Events": 1, "EventDocId": "x"}', '{"Events": [1], "EventDocId": "x"}'):
        with pytest.raises(InputError, match="no document of MTurk events"):
            read_notification(bad)


def test_a_message_is_deleted_only_when_it_is_kept() -> None:
    class Queue:
        def __init__(self):
            self.deleted = []

        def receive_message(self, **_):
            bodies = [json.dumps(MESSAGE), "nonsense"]
            return {"Messages": [{"Body": body, "ReceiptHandle": str(n)} for n, body in enumerate(bodies)]}

        def delete_message(self, QueueUrl, ReceiptHandle):
            self.deleted.append(ReceiptHandle)

    queue, kept = Queue(), []
    assert receive_notifications(queue, "q", kept.append) == 1
    assert (queue.deleted, kept[0].document_id) == (["0"], "d1")
    broken = Queue()

    def fail(_):
        raise RuntimeError("disk full")

    with pytest.raises(RuntimeError):
        receive_notifications(broken, "q", fail)
    assert broken.deleted == []


@given(st.text(), st.text())
def test_any_item_id_survives_a_form_of_before_that_names_it(item, aspect) -> None:
    if any(0xD800 <= ord(each) <= 0xDFFF for each in item + aspect):
        return
    name = f"answer:{quote(item, safe='')}/{quote(aspect, safe='')}"
    raw = (
        "<QuestionFormAnswers><Answer><QuestionIdentifier>"
        + name.replace("&", "&amp;").replace("<", "&lt;")
        + "</QuestionIdentifier><FreeText>x</FreeText></Answer></QuestionFormAnswers>"
    )
    (answer,) = read_answer(raw).answers
    assert (answer.item, answer.aspect) == (item, aspect)


@given(st.text())
def test_no_answer_breaks_the_reader(raw) -> None:
    reading = read_answer(raw)
    assert reading.raw == raw
    assert reading.answers == ()


@given(st.text(alphabet=st.characters(min_codepoint=32, exclude_categories=["Cs"]), max_size=200))
def test_any_page_survives_the_document(html) -> None:
    from html import unescape
    from xml.etree.ElementTree import fromstring

    if any(each in "\ufffe\uffff" for each in html):
        return
    content = fromstring(html_question(html))[0].text or ""
    wide = "".join(each if ord(each) <= 0xFFFF else f"&#x{ord(each):X};" for each in html)
    assert content == wide
    assert unescape(content) == unescape(html)


@pytest.mark.parametrize("url", ["http://example.org", "javascript:alert(1)", "https://", "example.org"])
def test_urls_that_no_worker_may_be_sent_to(url) -> None:
    with pytest.raises(InputError):
        external_question(url)
