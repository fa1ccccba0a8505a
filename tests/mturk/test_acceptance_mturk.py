"""The acceptance cases A01 to A27 of the platform reference, by their numbers."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from types import SimpleNamespace
from xml.etree.ElementTree import fromstring

import boto3
import numpy as np
import pytest
from hmc_crowd_local.mturk_api import TurkError
from hmc_crowd_mturk import (
    AnswerProblem,
    Requirement,
    assignment_fee,
    connect,
    currency_amount,
    external_question,
    html_question,
    plan_top_up,
    read_answer,
    read_arrival,
    retry_later,
)
from mturk_house import answer_fields, make_hit
from mturk_house import html_question as html_document

from hmc_crowd.errors import InputError, NeedsHumanError, PlatformError, PlatformUnavailableError
from hmc_crowd.platform import SubmissionState


def hits_of(house) -> int:
    return len(house.client.list_hits(MaxResults=100)["HITs"])


def creates(house) -> int:
    return sum(call.startswith("CreateHITWith") for call in house.calls)


def done(house, platform, hit, worker):
    remote = platform.publish(hit)
    return house.work(remote.hit_id, worker, **answer_fields(hit))


def test_a01_reset_after_create_leaves_one_hit(house, broken, proxy) -> None:
    proxy.inject("reset_after", match="CreateHITWithHITType")
    with pytest.raises(PlatformUnavailableError, match="safe"):
        broken.publish(make_hit())
    assert hits_of(house) == 1
    remote = broken.publish(make_hit())
    assert hits_of(house) == 1
    assert remote == broken.find("K1")


@pytest.mark.parametrize("fault", ["status_after", "html_after", "truncate_after"])
def test_a01_other_broken_answers_after_create_leave_one_hit(house, broken, proxy, fault) -> None:
    proxy.inject(fault, match="CreateHITWithHITType")
    with pytest.raises(PlatformUnavailableError):
        broken.publish(make_hit())
    assert broken.publish(make_hit()).hit_id == broken.find("K1").hit_id
    assert hits_of(house) == 1


def test_a01_writes_are_sent_once(broken, proxy) -> None:
    proxy.inject("status_before", match="CreateHITWithHITType", times=5)
    with pytest.raises(PlatformUnavailableError):
        broken.publish(make_hit())
    assert sum(call.fault is not None for call in proxy.calls) == 1


_PUBLISH_AND_DIE = """
import os, signal, sys
sys.path.insert(0, sys.argv[2])
from mturk_house import make_hit
from hmc_crowd_mturk import connect
platform = connect(sys.argv[1])
die = lambda **_: os.kill(os.getpid(), signal.SIGKILL)
platform._api._writing.meta.events.register("after-call.mturk.CreateHITWithHITType", die)
platform.publish(make_hit())
"""


def test_a02_after_kill_the_hit_is_adopted_by_its_annotation(house, platform) -> None:
    run = subprocess.run(
        [sys.executable, "-c", _PUBLISH_AND_DIE, house.url, str(__file__).rpartition("/")[0]], capture_output=True
    )
    assert run.returncode == -9, run.stderr.decode()
    found = platform.find("K1")
    assert found is not None
    assert (hits_of(house), creates(house)) == (1, 1)
    row = house.client.get_hit(HITId=found.hit_id)["HIT"]
    assert row["RequesterAnnotation"].startswith("K1#")


def test_a03_an_old_create_is_looked_for_before_it_is_sent(house, platform, clock) -> None:
    sent = clock.now()
    first = platform.publish(make_hit())
    clock.advance(25 * 3600)
    house.calls.clear()
    assert platform.publish(make_hit(), first_sent_at=sent).hit_id == first.hit_id
    assert house.calls == ["ListHITs", "ListHITs"]  # the page, and the empty one that ends the list
    house.calls.clear()
    other = platform.publish(make_hit("K2"), first_sent_at=sent)
    assert house.calls.index("ListHITs") < house.calls.index("CreateHITWithHITType")
    assert other.hit_id != first.hit_id


def test_a03_a_young_create_needs_no_look(house, platform, clock) -> None:
    platform.publish(make_hit(), first_sent_at=clock.now() - timedelta(hours=22))
    assert "ListHITs" not in house.calls


@pytest.mark.parametrize("reward", ["0.105", "$1", 0.1, "-1", "1e2", "", Decimal("0.001"), True, -5])
def test_a04_a_wrong_reward_is_refused_here(reward) -> None:
    with pytest.raises(InputError, match="reward is"):
        currency_amount(reward)


@pytest.mark.parametrize("pay", [10.5, "$1", "0.105", None])
def test_a04_nothing_is_sent(house, platform, pay) -> None:
    with pytest.raises(InputError, match="pay_minor"):
        platform.publish(make_hit(pay_minor=pay))
    assert house.calls == []


@pytest.mark.parametrize("reward", ["0.105", "$1"])
def test_a04_the_endpoint_refuses_it_too(house, client, reward) -> None:
    with pytest.raises(client.exceptions.ClientError, match="Reward"):
        house.hit(Reward=reward)


def test_a05_nine_places_are_not_extended_to_ten(house, platform) -> None:
    hit = make_hit(redundancy=9)
    remote = platform.publish(hit)
    house.work(remote.hit_id, "AFIRST", **answer_fields(hit))
    house.calls.clear()
    rest = platform.top_up(hit, remote.hit_id, target=10)
    assert "CreateAdditionalAssignmentsForHIT" not in house.calls
    assert (rest.hit_id != remote.hit_id, rest.redundancy) == (True, 1)
    with pytest.raises(TurkError, match="have the qualification"):
        house.workers.accept(rest.hit_id, "AFIRST")
    assert house.workers.accept(rest.hit_id, "ASECOND").hit_id == rest.hit_id


def test_a05_the_plan() -> None:
    # 9 + 1 = 10 crosses ten; 8 + 1 = 9 and 10 + 5 = 15 do not.
    assert (plan_top_up(9, 1).extend_by, plan_top_up(9, 1).needs_exclusion) == (0, True)
    assert (plan_top_up(8, 1).extend_by, plan_top_up(10, 5).extend_by) == (1, 5)


def test_a05_the_endpoint_refuses_it_too(house, client) -> None:
    hit_id = house.hit(MaxAssignments=9)
    with pytest.raises(client.exceptions.RequestError) as caught:
        client.create_additional_assignments_for_hit(HITId=hit_id, NumberOfAdditionalAssignments=1)
    assert caught.value.response["TurkErrorCode"] == "AWS.MechanicalTurk.InvalidMaximumAssignmentsIncrease"


def test_a06_fees() -> None:
    # 0.05 * (0.20 + 0.20) = 0.02; 0.01 * 0.20 = 0.002, so the least fee; 0.13 * 0.20 = 0.026 -> 0.03.
    assert assignment_fee(Decimal("0.05"), 10) == Decimal("0.02")
    assert assignment_fee(Decimal("0.01"), 1) == Decimal("0.01")
    assert assignment_fee(Decimal("0.13"), 1) == Decimal("0.03")
    # 1.00 * (0.20 + 0.05) = 0.25
    assert assignment_fee(Decimal("1.00"), 1, masters=True) == Decimal("0.25")


def test_a06_the_estimate_is_what_the_endpoint_holds(house, platform) -> None:
    platform.publish(make_hit(redundancy=10))
    # 10 * (0.05 + 0.02) = 0.70
    assert platform.fees.fee_minor(5, redundancy=10) == 2
    assert house.client.get_account_balance()["OnHoldBalance"] == "0.70"


def test_a07_261_assignments_come_in_pages_none_twice(house, platform) -> None:
    hit = make_hit(redundancy=300)
    remote = platform.publish(hit)
    for number in range(261):
        house.work(remote.hit_id, f"AW{number}", **answer_fields(hit))
    house.calls.clear()
    found = list(platform.submissions([remote.hit_id]))
    assert len(found) == len({each.submission_id for each in found}) == 261
    assert house.calls.count("ListAssignmentsForHIT") == 3
    answers = platform.answers([each.submission_id for each in found])
    assert sum(len(each) for each in answers.values()) == 522
    assert "GetAssignment" not in house.calls


def test_a08_an_empty_page_with_a_token_is_no_end(platform, monkeypatch) -> None:
    pages = iter(
        [{"HITs": [], "NextToken": "t1"}, {"HITs": [{"HITId": "H1"}], "NextToken": "t2"}, {"HITs": [], "NumResults": 0}]
    )
    monkeypatch.setattr(platform._api, "_send", lambda *_a, **_k: next(pages))
    assert list(platform._api.rows("ListHITs", "HITs")) == [{"HITId": "H1"}]


def test_a08_a_token_that_comes_back_is_no_endless_loop(platform, monkeypatch) -> None:
    monkeypatch.setattr(platform._api, "_send", lambda *_a, **_k: {"HITs": [], "NextToken": "t1"})
    with pytest.raises(PlatformError, match="same NextToken twice"):
        list(platform._api.rows("ListHITs", "HITs"))


def test_a09_auto_approved_work_is_an_outcome_not_an_error(house, connect_to, clock) -> None:
    platform = connect_to(auto_approval_s=3600)
    hit = make_hit(redundancy=1)
    name = done(house, platform, hit, "A1")
    clock.advance(3601)
    shown = platform.approve(name)
    assert (shown.state, shown.auto_approved) == (SubmissionState.APPROVED, True)
    assert platform.approve(name).auto_approved
    # 10000.00 - (0.05 + 0.01), once.
    assert house.client.get_account_balance()["AvailableBalance"] == "9999.94"


def test_a09_our_own_approval_is_not_called_automatic(house, platform) -> None:
    assert not platform.approve(done(house, platform, make_hit(), "A1")).auto_approved


def test_a10_rejected_work_is_a_conflict_for_a_person(house, platform, clock) -> None:
    name = done(house, platform, make_hit(), "A1")
    platform.reject(name, "Both gold items are wrong.")
    with pytest.raises(NeedsHumanError, match="override"):
        platform.approve(name)
    clock.advance(29 * 24 * 3600)
    assert platform.approve(name, override=True).state is SubmissionState.APPROVED


def test_a10_an_override_comes_too_late_after_30_days(house, platform, clock) -> None:
    name = done(house, platform, make_hit(), "A1")
    platform.reject(name, "Both gold items are wrong.")
    clock.advance(31 * 24 * 3600)
    with pytest.raises(NeedsHumanError):
        platform.approve(name, override=True)


def test_a11_work_that_cannot_be_read_yet_is_deferred(make_house, connect_to, clock) -> None:
    house = make_house(readable_after_s=150)
    platform = connect_to(house.url, key=house.key)
    name = done(house, platform, make_hit(), "A1")
    with pytest.raises(PlatformUnavailableError, match="cannot be read yet"):
        platform.approve(name)
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        clock.advance(seconds)

    approved = retry_later(lambda: platform.approve(name), clock=clock, sleep=sleep, rng=np.random.default_rng(0))
    assert approved.state is SubmissionState.APPROVED
    assert sum(waits) >= 150
    assert waits == sorted(waits)


def test_a12_only_who_submitted_is_paid(make_house, connect_to, clock) -> None:
    house = make_house(reuse_assignment_ids=True)
    platform = connect_to(house.url, key=house.key)
    hit = make_hit(redundancy=1)
    remote = platform.publish(hit)
    first = house.work(remote.hit_id, "AGONE", submit=False)
    clock.advance(3601)
    second = house.work(remote.hit_id, "ADONE", **answer_fields(hit))
    assert first == second
    with pytest.raises(NeedsHumanError, match="another worker"):
        platform.approve(second, worker="AGONE")
    with pytest.raises(NeedsHumanError, match="another worker"):
        platform.pay_bonus(second, worker="AGONE", amount_minor=10, reason="Thanks.", code="q")
    assert "ApproveAssignment" not in house.calls
    assert "SendBonus" not in house.calls
    platform.approve(second, worker="ADONE")
    paid = platform.pay_bonus(second, worker="ADONE", amount_minor=10, reason="Thanks.", code="q")
    assert paid.worker == "ADONE"


def test_a13_work_accepted_before_expiry_is_collected(house, platform, clock) -> None:
    hit = make_hit(redundancy=1, lifetime_s=600, time_limit_s=3600)
    remote = platform.publish(hit)
    name = house.work(remote.hit_id, "A1", submit=False)
    clock.advance(1800)
    assert not platform.find("K1").is_open
    house.workers.submit(name, list(answer_fields(hit).items()))
    (one,) = platform.submissions([remote.hit_id])
    assert one.state is SubmissionState.SUBMITTED
    assert [each.label for each in platform.answers([name])[name]] == ["yes", "yes"]


def test_a14_work_after_the_deadline_is_saved_and_listed(house, platform, clock) -> None:
    hit = make_hit(redundancy=1, time_limit_s=600)
    remote = platform.publish(hit)
    name = house.work(remote.hit_id, "A1", submit=False)
    clock.advance(601)
    page = house.page("POST", "/mturk/externalSubmit", data={"assignmentId": name, **answer_fields(hit)})
    assert page.status_code == 200
    assert "saved" in page.text
    assert list(platform.submissions([remote.hit_id])) == []
    (late,) = house.workers.late_work()
    assert (late.worker, late.status) == ("A1", "unpaid_late")
    assert [each.label for each in read_answer(late.answer).answers] == ["yes", "yes"]


BAD_ANSWERS = {
    None: AnswerProblem.ABSENT,
    "": AnswerProblem.EMPTY,
    "  \n": AnswerProblem.EMPTY,
    "<QuestionFormAnswers/>": AnswerProblem.EMPTY,
    "no xml": AnswerProblem.NOT_XML,
    "<html/>": AnswerProblem.NOT_XML,
    "<QuestionFormAnswers><Answer><QuestionIdentifier>q</QuestionIdentifier><FreeText>x</FreeText></Answer>"
    "</QuestionFormAnswers>": AnswerProblem.UNKNOWN_IDENTIFIER,
}


@pytest.mark.parametrize(("raw", "problem"), BAD_ANSWERS.items())
def test_a15_a_bad_answer_is_a_typed_problem(raw, problem) -> None:
    reading = read_answer(raw)
    assert (reading.problems, reading.answers, reading.raw) == ((problem,), (), raw)


def test_a15_the_batch_goes_on(house, platform) -> None:
    hit = make_hit(redundancy=2)
    remote = platform.publish(hit)
    bad = house.work(remote.hit_id, "A1", something="else")
    good = house.work(remote.hit_id, "A2", **answer_fields(hit))
    list(platform.submissions([remote.hit_id]))
    readings = platform.readings([bad, good])
    assert readings[bad].problems == (AnswerProblem.UNKNOWN_IDENTIFIER,)
    assert "something" in readings[bad].raw
    assert len(platform.answers([bad, good])[good]) == 2


XXE = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><QuestionFormAnswers><Answer>&x;</Answer></QuestionFormAnswers>'
LAUGHS = (
    '<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;"><!ENTITY c "&b;&b;&b;">]>'
    "<QuestionFormAnswers><Answer>&c;</Answer></QuestionFormAnswers>"
)


@pytest.mark.parametrize("raw", [XXE, LAUGHS])
def test_a16_hostile_xml_is_refused(raw, monkeypatch) -> None:
    def forbidden(*_a, **_k):
        raise AssertionError("a file or the network was touched")

    monkeypatch.setattr("socket.socket.connect", forbidden)
    monkeypatch.setattr("builtins.open", forbidden)
    assert read_answer(raw).problems == (AnswerProblem.HOSTILE,)


@pytest.mark.parametrize("payload", [XXE, LAUGHS])
def test_a16_the_endpoint_refuses_it_in_a_question(client, house, payload) -> None:
    with pytest.raises(client.exceptions.RequestError, match="DTD or an entity"):
        house.hit(Question=payload)


def test_a17_an_emoji_travels_as_an_entity(house, client) -> None:
    document = html_question("<p>\U0001f600 &amp; ü</p>")
    assert all(ord(each) <= 0xFFFF for each in document)
    hit_id = house.hit(Question=document)
    content = fromstring(client.get_hit(HITId=hit_id)["HIT"]["Question"])[0].text
    assert content == "<p>&#x1F600; &amp; ü</p>"
    with pytest.raises(client.exceptions.ClientError, match="4-byte"):
        house.hit(Question=html_document("<p>\U0001f600</p>"))


def test_a18_a_url_with_an_ampersand_is_well_formed() -> None:
    document = external_question("https://e.org/q?a=1&b=<2>&c=ü")
    assert fromstring(document)[0].text == "https://e.org/q?a=1&b=%3C2%3E&c=%C3%BC"
    assert len(document.encode()) <= 65_535
    with pytest.raises(InputError, match="at most 65,535"):
        external_question("https://e.org/?" + "x" * 65_535)


def test_a18_only_https_is_shown() -> None:
    with pytest.raises(InputError, match="https pages only"):
        external_question("http://e.org/q")


def test_a19_a_preview_claims_nothing_and_cannot_be_handed_in(house, platform) -> None:
    hit = make_hit(redundancy=1)
    remote = platform.publish(hit)
    page = house.page("GET", f"/mturk/preview?hitId={remote.hit_id}")
    assert "ASSIGNMENT_ID_NOT_AVAILABLE" in page.text
    assert "workerId" not in page.text
    assert platform.find("K1").is_open
    fields = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", **answer_fields(hit)}
    assert house.page("POST", "/mturk/externalSubmit", data=fields).status_code == 400
    arrival = read_arrival({"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "H1"}, submit_origins=[])
    assert (arrival.is_preview, arrival.submit_to, arrival.worker) == (True, None, None)


def test_a20_answers_go_to_hosts_of_the_list_only(house) -> None:
    good = {"assignmentId": "A", "hitId": "H", "workerId": "AW", "turkSubmitTo": "https://work.example.org"}
    assert read_arrival(good, submit_origins=["https://work.example.org/"]).submit_to == (
        "https://work.example.org/mturk/externalSubmit"
    )
    for evil in ("https://evil", "https://work.example.org.evil", "http://work.example.org", "https://x@evil"):
        with pytest.raises(InputError, match="turkSubmitTo"):
            read_arrival({**good, "turkSubmitTo": evil}, submit_origins=["https://work.example.org"])
    hit_id = house.hit(Question=html_document("<form></form>"))
    page = house.page("GET", f"/mturk/content?hitId={hit_id}&assignmentId=A&turkSubmitTo=https://evil")
    assert (page.status_code, "turkSubmitTo" in page.text) == (400, True)


class Throttle:
    """Refuses the next calls as the service did, then lets them through."""

    def __init__(self) -> None:
        self.left = 0

    def __call__(self, operation, request) -> None:
        if self.left:
            self.left -= 1
            raise TurkError("AWS.ServiceUnavailable", "Rate exceeded", kind="ThrottlingException")


@pytest.fixture
def pauses(monkeypatch):
    import botocore.endpoint

    found: list[float] = []
    monkeypatch.setattr(botocore.endpoint, "time", SimpleNamespace(sleep=found.append))
    return found


def test_a21_throttling_is_waited_out_with_growing_pauses(make_house, connect_to, pauses) -> None:
    throttle = Throttle()
    house = make_house(on_call=throttle)
    platform = connect_to(house.url, key=house.key)
    platform.publish(make_hit())
    throttle.left = 3
    assert platform.find("K1") is not None
    # Random, below bounds that double: 1, 2, 4 seconds.
    assert len(pauses) == 3
    assert all(pause <= 2**number for number, pause in enumerate(pauses))


def test_a21_throttling_without_end_stops(make_house, connect_to, pauses, clock) -> None:
    throttle = Throttle()
    house = make_house(on_call=throttle)
    platform = connect_to(house.url, key=house.key)
    throttle.left = 10**9
    with pytest.raises(PlatformUnavailableError, match="slow down"):
        platform.find("K1")
    assert len(pauses) == 4
    started = clock.now()
    with pytest.raises(PlatformUnavailableError):
        retry_later(
            lambda: platform.find("K1"), clock=clock, sleep=clock.advance, rng=np.random.default_rng(1), deadline_s=60
        )
    assert (clock.now() - started).total_seconds() <= 60


@pytest.mark.parametrize("fault", ["reset_after", "status_after", "html_after", "truncate_after"])
def test_a22_a_bonus_whose_answer_was_lost_is_paid_once(house, broken, proxy, fault) -> None:
    name = done(house, broken, make_hit(), "A1")
    proxy.inject(fault, match="SendBonus")
    paid = broken.pay_bonus(name, worker="A1", amount_minor=150, reason="Thanks.", code="quality")
    again = broken.pay_bonus(name, worker="A1", amount_minor=150, reason="Thanks.", code="quality")
    assert paid == again
    assert [each.amount_minor for each in broken.bonuses(name)] == [150]
    assert house.calls.count("SendBonus") == 1


def test_a22_a_bonus_that_never_arrived_is_paid_by_the_next_call(house, broken, proxy) -> None:
    name = done(house, broken, make_hit(), "A1")
    proxy.inject("reset_before", match="SendBonus")
    with pytest.raises(PlatformUnavailableError):
        broken.pay_bonus(name, worker="A1", amount_minor=150, reason="Thanks.", code="quality")
    broken.pay_bonus(name, worker="A1", amount_minor=150, reason="Thanks.", code="quality")
    assert len(broken.bonuses(name)) == 1


class RedirectedSession:
    """A session whose clients point at Amazon whatever they are told: a profile or an environment may do that."""

    def get_credentials(self):
        return SimpleNamespace(access_key="HMCTEST")

    def client(self, name, **options):
        options.pop("endpoint_url")
        return boto3.client(name, aws_access_key_id="x", aws_secret_access_key="y", **options)


def test_a23_a_client_at_production_is_refused_before_the_network(platform, monkeypatch) -> None:
    with pytest.raises(PlatformError, match="Amazon closed Mechanical Turk on 2026-09-30"):
        connect("https://work.example.org", mode="sandbox", session=RedirectedSession())
    amazon = RedirectedSession().client("mturk", region_name="us-east-1", endpoint_url="")
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("the network was touched"))
    platform._api._writing = platform._api._reading = amazon
    for call in (lambda: platform.publish(make_hit()), lambda: platform.approve("A1"), platform.account):
        with pytest.raises(PlatformError, match=r"points at mturk-requester\.us-east-1\.amazonaws\.com"):
            call()


@pytest.mark.parametrize(
    "address",
    [
        "https://mturk-requester.us-east-1.amazonaws.com",
        "https://mturk-requester-sandbox.us-east-1.amazonaws.com/",
        "https://MTURK-REQUESTER.us-east-1.AmazonAWS.com.",
        "https://www.mturk.com",
    ],
)
def test_a23_amazons_addresses_are_refused(address) -> None:
    with pytest.raises(PlatformError, match="your own workplace"):
        connect(address)


def test_a23_no_address_is_refused(monkeypatch) -> None:
    monkeypatch.delenv("HMC_CROWD_MTURK_ENDPOINT", raising=False)
    with pytest.raises(InputError, match="address is missing"):
        connect()


def test_a24_unreviewed_work_is_never_deleted(house, platform) -> None:
    hit = make_hit(redundancy=2)
    remote = platform.publish(hit)
    name = house.work(remote.hit_id, "A1", **answer_fields(hit))
    assert platform.delete(remote.hit_id) is False
    assert "DeleteHIT" not in house.calls
    assert not platform.find("K1").is_open
    platform.approve(name)
    assert platform.delete(remote.hit_id) is True
    assert platform.find("K1") is None


@pytest.mark.parametrize("comparator", ["Exists", "DoesNotExist"])
def test_a25_exists_takes_no_values(comparator) -> None:
    with pytest.raises(InputError, match=f"{comparator} takes no values"):
        Requirement("Q1", comparator, (1,))


def test_a25_the_endpoint_refuses_it_too(house, client) -> None:
    requirement = {"QualificationTypeId": "00000000000000000060", "Comparator": "Exists", "IntegerValues": [1]}
    with pytest.raises(client.exceptions.ClientError, match="leave IntegerValues"):
        house.hit(QualificationRequirements=[requirement])


def test_a26_a_score_is_set_once_and_quietly(house, platform) -> None:
    type_id = platform.ensure_qualification("hmc test v1", "How well the test went.")
    assert platform.ensure_qualification("hmc test v1", "How well the test went.") == type_id
    assert platform.sync_scores(type_id, {"A1": 80, "A2": 55}) == 2
    house.calls.clear()
    assert platform.sync_scores(type_id, {"A1": 80, "A2": 60}) == 1
    assert house.calls.count("AssociateQualificationWithWorker") == 1
    score = house.client.get_qualification_score(QualificationTypeId=type_id, WorkerId="A2")["Qualification"]
    assert score["IntegerValue"] == 60
    assert house.workers.messages("A2") == []


def test_a27_naive_times_are_refused_and_aware_ones_converted(house, platform) -> None:
    remote = platform.publish(make_hit())
    with pytest.raises(InputError, match="without a time zone"):
        platform.expire(remote.hit_id, at=datetime(2026, 1, 6))
    moment = datetime(2026, 1, 6, 1, 30, tzinfo=timezone(timedelta(hours=-5)))
    platform.expire(remote.hit_id, at=moment)
    shown = house.client.get_hit(HITId=remote.hit_id)["HIT"]["Expiration"]
    assert shown == datetime(2026, 1, 6, 6, 30, tzinfo=UTC)
    with pytest.raises(InputError, match="first_sent_at"):
        platform.publish(make_hit("K2"), first_sent_at=datetime(2026, 1, 6))
