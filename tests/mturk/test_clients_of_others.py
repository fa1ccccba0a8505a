"""The calls that Dallinger, psiTurk, Mephisto and oTree make, with their arguments, and what they read of the replies.

Written after their sources (Dallinger 7e9c279, psiTurk af00724, Mephisto 4e99247, oTree 813efd7), without a line of
them: plain calls of boto3, or for oTree signed JSON, whose replies are read as they read them, so that a member they
count on and that is missing is a KeyError here too.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.dom.minidom import parseString

import httpx
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError
from mturk_house import EXTERNAL, NAMESPACES, boto, html_question

NOBODY = "ANOBODY"
PERCENT, APPROVED, LOCALE = "000000000000000000L0", "00000000000000000040", "00000000000000000071"


@pytest.fixture
def told(make_house) -> tuple[Any, list[Any]]:
    """A house that notes what it would deliver."""
    sent: list[Any] = []
    return make_house(deliver=lambda notification, message: sent.append((notification, message))), sent


def says(error: pytest.ExceptionInfo[ClientError]) -> str:
    return str(error.value)


# Dallinger: HIT types with notifications, named qualifications whose scores count up, bonuses.


def is_ok(response: dict[str, Any]) -> bool:
    return response == {} or list(response) == ["ResponseMetadata"]


def read_hit(hit: dict[str, Any]) -> dict[str, Any]:
    """What Dallinger keeps of a HIT; all but the annotation and the keywords must be there."""
    needed = (
        "HITId", "HITTypeId", "CreationTime", "Expiration", "MaxAssignments", "Title", "Description", "HITReviewStatus",
        "HITStatus", "NumberOfAssignmentsAvailable", "NumberOfAssignmentsCompleted", "NumberOfAssignmentsPending",
    )  # fmt: skip
    found = {name: hit[name] for name in needed}
    found["types"] = [each["QualificationTypeId"] for each in hit["QualificationRequirements"]]
    return {**found, "reward": float(hit["Reward"]), "annotation": hit.get("RequesterAnnotation")}


def follow(call: Any, member: str, **arguments: Any) -> list[dict[str, Any]]:
    """Read pages while a token is there, a hundred rows at once."""
    rows, token = [], None
    while True:
        page = call(MaxResults=100, **arguments, **({} if token is None else {"NextToken": token}))
        rows += page[member]
        if "NextToken" not in page:
            return rows
        token = page["NextToken"]


def test_dallinger_recruits_extends_and_disposes_of_a_hit(told) -> None:
    house, sent = told
    client = house.client
    assert float(client.get_account_balance()["AvailableBalance"]) == 10_000
    percent = {"QualificationTypeId": PERCENT, "Comparator": "GreaterThanOrEqualTo", "IntegerValues": [95]}
    locale = {"QualificationTypeId": LOCALE, "Comparator": "EqualTo", "LocaleValues": [{"Country": "US"}]}
    needed = [{**each, "RequiredToPreview": True} for each in (percent, locale)]
    hit_type = client.create_hit_type(
        Title="Recall (dlgr-1)", Description="Recall a list.", Reward=str(0.01), AssignmentDurationInSeconds=3600,
        Keywords=",".join(["memory", "words"]), AutoApprovalDelayInSeconds=0, QualificationRequirements=needed,
    )["HITTypeId"]  # fmt: skip
    events = ["AssignmentAccepted", "AssignmentAbandoned", "AssignmentReturned", "AssignmentSubmitted"]
    client.update_notification_settings(
        HITTypeId=hit_type,
        Notification={
            "Destination": "arn:aws:sns:us-east-1:123456789012:dlgr-1", "Transport": "SNS", "Version": "2014-08-15",
            "EventTypes": [*events, "HITReviewable", "HITExpired"],
        },
        Active=True,
    )  # fmt: skip
    made = read_hit(
        client.create_hit_with_hit_type(
            HITTypeId=hit_type, Question=EXTERNAL, LifetimeInSeconds=86_400, MaxAssignments=1,
            UniqueRequestToken=str(1_700_000_000.5), RequesterAnnotation="dlgr-1",
        )["HIT"]
    )  # fmt: skip
    assert (made["types"], made["annotation"], made["HITStatus"]) == ([PERCENT, LOCALE], "dlgr-1", "Assignable")
    hit_id = made["HITId"]
    added = client.create_additional_assignments_for_hit(
        HITId=hit_id, NumberOfAdditionalAssignments=2, UniqueRequestToken=str(1_700_000_001.5)
    )
    assert is_ok(added)
    later = client.get_hit(HITId=hit_id)["HIT"]["Expiration"] + timedelta(hours=2)
    assert is_ok(client.update_expiration_for_hit(HITId=hit_id, ExpireAt=later))
    again = read_hit(client.get_hit(HITId=hit_id)["HIT"])
    assert (again["MaxAssignments"], again["Expiration"]) == (3, later)
    house.door.set_worker("AHERE", country="US")
    name = house.work(hit_id, "AHERE")
    assert {message["Events"][0]["EventType"] for _, message in sent} == {"AssignmentAccepted", "AssignmentSubmitted"}
    got = client.get_assignment(AssignmentId=name)["Assignment"]
    # A delay of 0 means that work approves itself at once.
    assert (got["AssignmentStatus"], got["HITId"], got["WorkerId"]) == ("Approved", hit_id, "AHERE")
    assert [read_hit(each)["HITId"] for each in follow(client.list_hits, "HITs")] == [hit_id]
    assert is_ok(client.update_expiration_for_hit(HITId=hit_id, ExpireAt=0))
    assert is_ok(client.delete_hit(HITId=hit_id))
    with pytest.raises(ClientError) as error:
        client.delete_hit(HITId=hit_id)
    assert "currently in the state 'Disposed'" in says(error)


def test_dallinger_pays_and_asks_about_work_that_is_not_there(house) -> None:
    client = house.client
    name = house.work(house.hit(), "A1")
    paid = {"AssignmentId": name, "BonusAmount": f"{2.99:.2f}", "Reason": "You did it."}
    token = str(1_700_000_002.5)
    assert is_ok(client.approve_assignment(AssignmentId=name))
    assert is_ok(client.send_bonus(**paid, WorkerId="A1", UniqueRequestToken=token))
    with pytest.raises(ClientError) as error:
        client.approve_assignment(AssignmentId=name)
    assert client.get_assignment(AssignmentId=name)["Assignment"]["AssignmentStatus"] == "Approved"
    with pytest.raises(ClientError) as error:
        client.get_assignment(AssignmentId="3NOTTHERE")
    assert "does not exist" in says(error)
    with pytest.raises(ClientError):
        boto(house.url, type(house.key)("HMCNOBODY", "x")).get_account_balance()


def dallinger_score(client: Any, type_id: str, worker: str) -> int | None:
    """The score of a worker; None where they never had one, or have it no more."""
    try:
        answer = client.get_qualification_score(QualificationTypeId=type_id, WorkerId=worker)
    except ClientError as error:
        if "does not exist" in str(error) or "operation can be called with a status of: Granted" in str(error):
            return None
        raise
    return int(answer["Qualification"]["IntegerValue"])


def test_dallinger_counts_by_qualifications_and_begins_again_after_one_was_revoked(house) -> None:
    client = house.client
    made = client.create_qualification_type(Name="Seen it", Description="Took part.", QualificationTypeStatus="Active")
    kind = {
        name: made["QualificationType"][name]
        for name in ("QualificationTypeId", "CreationTime", "Name", "Description", "QualificationTypeStatus")
    }
    type_id = kind["QualificationTypeId"]
    with pytest.raises(ClientError) as error:
        client.create_qualification_type(Name="Seen it", Description="Again.", QualificationTypeStatus="Active")
    assert "already created a QualificationType with this name" in says(error)
    query = {"Query": "SEEN IT", "MustBeRequestable": False, "MustBeOwnedByCaller": True, "MaxResults": 100}
    assert [each["Name"] for each in client.list_qualification_types(**query)["QualificationTypes"]] == ["Seen it"]

    def count_up() -> int:
        score = (dallinger_score(client, type_id, "A1") or 0) + 1
        assert is_ok(
            client.associate_qualification_with_worker(
                QualificationTypeId=type_id, WorkerId="A1", IntegerValue=score, SendNotification=False
            )
        )
        return score

    assert dallinger_score(client, type_id, "A1") is None
    assert [count_up(), count_up(), dallinger_score(client, type_id, "A1")] == [1, 2, 2]
    revoked = client.disassociate_qualification_from_worker(
        QualificationTypeId=type_id, WorkerId="A1", Reason="A mistake"
    )
    assert is_ok(revoked)
    assert dallinger_score(client, type_id, "A1") is None
    assert [count_up(), dallinger_score(client, type_id, "A1")] == [1, 1]
    listing = {"QualificationTypeId": type_id, "Status": "Granted"}
    granted = follow(client.list_workers_with_qualification_type, "Qualifications", **listing)
    assert [(each["WorkerId"], each["IntegerValue"]) for each in granted] == [("A1", 1)]
    assert is_ok(client.delete_qualification_type(QualificationTypeId=type_id))


# psiTurk: HIT types, paginators, reviews with empty words.


def psiturk_hit(hit: dict[str, Any]) -> dict[str, Any]:
    """What psiTurk shows of a HIT, with what waits for a decision."""
    waiting = hit["MaxAssignments"] - sum(
        hit[f"NumberOfAssignments{which}"] for which in ("Completed", "Pending", "Available")
    )
    shown = {name: hit[name] for name in ("HITId", "Title", "HITStatus", "CreationTime", "Reward", "Description")}
    is_expired = datetime.now(hit["Expiration"].tzinfo) >= hit["Expiration"]
    return {**shown, "duration": hit["AssignmentDurationInSeconds"], "waiting": waiting, "is_expired": is_expired}


def test_psiturk_posts_reviews_extends_and_deletes(house) -> None:
    client = house.client
    assert client.get_account_balance()["AvailableBalance"] == "10000.00"
    mine = client.create_qualification_type(Name="Mine", Description="D", QualificationTypeStatus="Active")
    other = client.create_qualification_type(Name="Other", Description="D", QualificationTypeStatus="Inactive")
    mine_id, other_id = (each["QualificationType"]["QualificationTypeId"] for each in (mine, other))
    pages = client.get_paginator("list_qualification_types").paginate(MustBeRequestable=False, MustBeOwnedByCaller=True)
    listed = [each for page in pages for each in page["QualificationTypes"]]
    assert [each["Name"] for each in listed if each["QualificationTypeStatus"] == "Active"] == ["Mine"]
    needed = [
        {"QualificationTypeId": PERCENT, "Comparator": "GreaterThanOrEqualTo", "IntegerValues": [0]},
        {"QualificationTypeId": APPROVED, "Comparator": "GreaterThanOrEqualTo", "IntegerValues": [0]},
        {"QualificationTypeId": LOCALE, "Comparator": "EqualTo", "LocaleValues": [{"Country": "US"}]},
        {"QualificationTypeId": mine_id, "Comparator": "Exists"},
        {"QualificationTypeId": other_id, "Comparator": "DoesNotExist"},
    ]
    hit_type = client.create_hit_type(
        Title="Stroop", Description="Name colours.", Reward=str(1.0), AssignmentDurationInSeconds=1800,
        Keywords="colours, words", QualificationRequirements=needed,
    )  # fmt: skip
    made = client.create_hit_with_hit_type(
        HITTypeId=hit_type["HITTypeId"], Question=EXTERNAL, LifetimeInSeconds=86_400, MaxAssignments=4
    )["HIT"]
    hit_id = made["HITId"]
    for worker in ("A1", "A2", "A3"):
        house.door.set_worker(worker, country="US")
        client.associate_qualification_with_worker(QualificationTypeId=mine_id, WorkerId=worker, IntegerValue=1)
        house.work(hit_id, worker)
    hits = [each for page in client.get_paginator("list_hits").paginate() for each in page["HITs"]]
    assert [psiturk_hit(each)["waiting"] for each in hits] == [3]
    pages = client.get_paginator("list_assignments_for_hit").paginate(HITId=hit_id, AssignmentStatuses=["Submitted"])
    found = [each for page in pages for each in page["Assignments"]]
    names = {each["WorkerId"]: each["AssignmentId"] for each in found}
    assert all(each["HITId"] == hit_id and each["SubmitTime"] >= each["AcceptTime"] for each in found)

    def status(worker: str) -> str:
        return str(client.get_assignment(AssignmentId=names[worker])["Assignment"]["AssignmentStatus"])

    client.approve_assignment(AssignmentId=names["A1"], OverrideRejection=False)
    client.reject_assignment(AssignmentId=names["A2"], RequesterFeedback="")
    assert (status("A1"), status("A2"), status("A3")) == ("Approved", "Rejected", "Submitted")
    client.approve_assignment(AssignmentId=names["A2"], OverrideRejection=True)
    client.reject_assignment(AssignmentId=names["A3"], RequesterFeedback="")
    worker = client.get_assignment(AssignmentId=names["A1"])["Assignment"]["WorkerId"]
    client.send_bonus(WorkerId=worker, AssignmentId=names["A1"], BonusAmount=str(0.5), Reason="Thank you")
    client.create_additional_assignments_for_hit(HITId=hit_id, NumberOfAdditionalAssignments=1)
    before = client.get_hit(HITId=hit_id)["HIT"]["Expiration"]
    client.update_expiration_for_hit(HITId=hit_id, ExpireAt=before + timedelta(minutes=30))
    client.update_expiration_for_hit(HITId=hit_id, ExpireAt=datetime.now(UTC) + timedelta(-30 * 365))
    client.delete_hit(HITId=hit_id)
    assert [page["HITs"] for page in client.get_paginator("list_hits").paginate()] == [[]]


# Mephisto: pages until one is empty, names that exist already, compensation forms, soft blocks.

EXISTS = "You have already created a QualificationType with this name."
COMPENSATION = (
    f'<QuestionForm xmlns="{NAMESPACES}2017-11-06/QuestionForm.xsd"><Question>'
    "<QuestionIdentifier>workerid</QuestionIdentifier><DisplayName>Confirm Worker ID</DisplayName>"
    "<IsRequired>true</IsRequired><QuestionContent><Text>Enter Worker ID to submit</Text></QuestionContent>"
    '<AnswerSpecification><FreeTextAnswer><Constraints><Length minLength="2" />'
    '<AnswerFormatRegex regex="\\S" errorText="The content cannot be blank."/></Constraints></FreeTextAnswer>'
    "</AnswerSpecification></Question></QuestionForm>"
)


def mephisto_find(client: Any, name: str) -> str | None:
    for is_own in (True, False):
        found = client.list_qualification_types(Query=name, MustBeRequestable=True, MustBeOwnedByCaller=is_own)
        for each in found["QualificationTypes"]:
            if each["Name"] == name:
                return str(each["QualificationTypeId"])
    return None


def mephisto_hits(client: Any) -> list[dict[str, Any]]:
    """All HITs: the token is read off every page that has any."""
    page = client.list_hits(MaxResults=100)
    found = page["HITs"]
    while len(page["HITs"]) > 0:
        page = client.list_hits(MaxResults=100, NextToken=page["NextToken"])
        found += page["HITs"]
    return found


def test_mephisto_finds_or_makes_a_qualification(house) -> None:
    client = boto(house.url, house.key, retries={"max_attempts": 10})
    assert mephisto_find(client, "quality") is None
    new = {"Name": "quality", "Description": "D", "QualificationTypeStatus": "Active"}
    type_id = client.create_qualification_type(**new)["QualificationType"]["QualificationTypeId"]
    with pytest.raises(ClientError) as error:
        client.create_qualification_type(**new)
    assert error.value.response.get("Error", {}).get("Message").startswith(EXISTS)
    assert mephisto_find(client, "quality") == type_id
    granted = {"QualificationTypeId": type_id, "WorkerId": "A1", "SendNotification": False}
    client.associate_qualification_with_worker(**granted, IntegerValue=7)
    client.associate_qualification_with_worker(**granted, IntegerValue=1)
    client.disassociate_qualification_from_worker(QualificationTypeId=type_id, WorkerId="A1", Reason="")
    client.delete_qualification_type(QualificationTypeId=type_id)
    with pytest.raises(ClientError) as error:
        client.create_qualification_type(**new)
    assert error.value.response["Error"]["Message"].startswith(EXISTS)


def test_mephisto_launches_pays_and_cleans_up(house) -> None:
    client = house.client
    countries = [{"Country": each} for each in ("US", "CA", "GB", "AU", "NZ")]
    locale = {"QualificationTypeId": LOCALE, "Comparator": "In", "LocaleValues": countries}
    hit_type = client.create_hit_type(
        AutoApprovalDelayInSeconds=7 * 24 * 3600, AssignmentDurationInSeconds=1800, Reward=str(0.3), Title="Chat",
        Keywords="chat,dialogue", Description="Chat with us.",
        QualificationRequirements=[{**locale, "ActionsGuarded": "DiscoverPreviewAndAccept"}],
    )["HITTypeId"]  # fmt: skip
    month = 60 * 60 * 24 * 31
    made = client.create_hit_with_hit_type(
        HITTypeId=hit_type, MaxAssignments=1, LifetimeInSeconds=month, Question=EXTERNAL
    )
    hit_id = made["HIT"]["HITId"]
    assert made["HIT"]["HITTypeId"] == hit_type
    assert client.get_hit(HITId=hit_id)["HIT"]["HITStatus"] == "Assignable"
    with pytest.raises(ClientError):
        client.get_hit(HITId="3NOTTHERE")
    house.door.set_worker("A1", country="GB")
    name = house.work(hit_id, "A1", first="1", second="2")
    hit = client.get_hit(HITId=hit_id)["HIT"]
    assert (hit["HITStatus"], hit["NumberOfAssignmentsAvailable"]) == ("Reviewable", 0)
    assert [each["AssignmentId"] for each in client.list_assignments_for_hit(HITId=hit_id)["Assignments"]] == [name]
    answer = parseString(client.get_assignment(AssignmentId=name)["Assignment"]["Answer"])
    assert {each.firstChild.data for each in answer.getElementsByTagName("FreeText")} == {"1", "2"}
    before = client.list_bonus_payments(AssignmentId=name, MaxResults=100)
    assert before["NumResults"] == 0
    client.approve_assignment(AssignmentId=name, OverrideRejection=False)
    client.send_bonus(
        WorkerId="A1", BonusAmount=str(1.5), AssignmentId=name, Reason="Well done", UniqueRequestToken="t1"
    )
    bonuses = client.list_bonus_payments(AssignmentId=name, MaxResults=100)
    assert (bonuses["NumResults"], sum(float(each["BonusAmount"]) for each in bonuses["BonusPayments"])) == (1, 1.5)
    client.create_worker_block(WorkerId="A1", Reason="Rude")
    assert "A1" in [each["WorkerId"] for each in client.list_worker_blocks(MaxResults=100)["WorkerBlocks"]]
    client.delete_worker_block(WorkerId="A1", Reason="")
    assert client.list_worker_blocks(MaxResults=100)["WorkerBlocks"] == []
    message = {"Subject": "Thanks", "MessageText": "For the chat."}
    assert len(client.notify_workers(**message, WorkerIds=["A1"])["NotifyWorkersFailureStatuses"]) == 0
    [failed] = client.notify_workers(**message, WorkerIds=[NOBODY])["NotifyWorkersFailureStatuses"]
    assert failed["NotifyWorkersFailureMessage"]
    open_ = client.create_hit_with_hit_type(
        HITTypeId=hit_type, MaxAssignments=1, LifetimeInSeconds=month, Question=EXTERNAL
    )
    hits = mephisto_hits(client)
    assert {each["HITId"] for each in hits} == {hit_id, open_["HIT"]["HITId"]}
    assert all(each["CreationTime"].strftime("%Y") and each["Title"] and each["HITTypeId"] == hit_type for each in hits)
    broken = [each for each in hits if each["NumberOfAssignmentsCompleted"] == 0 and each["HITStatus"] != "Reviewable"]
    assert [each["HITId"] for each in broken] == [open_["HIT"]["HITId"]]
    kept = []
    for each in hits:
        try:
            client.delete_hit(HITId=each["HITId"])
        except ClientError:
            client.update_expiration_for_hit(HITId=each["HITId"], ExpireAt=datetime(2015, 1, 1))
            kept.append(each["HITId"])
    assert kept == [open_["HIT"]["HITId"]]
    client.delete_hit(HITId=kept[0])
    assert mephisto_hits(client) == []


def test_mephisto_compensates_by_a_form_whose_constraints_the_page_holds(house) -> None:
    hit_id = house.hit(Question=COMPENSATION, MaxAssignments=1)
    shown = house.page("GET", f"/mturk/content?hitId={hit_id}").text
    assert 'name="workerid"' in shown
    assert 'minlength="2"' in shown
    assert r'pattern="[\s\S]*(?:\S)[\s\S]*"' in shown
    assert 'title="The content cannot be blank."' in shown
    house.work(hit_id, "A1", workerid="A1")
    [row] = house.client.list_assignments_for_hit(HITId=hit_id).get("Assignments", [])
    house.client.approve_assignment(AssignmentId=row["AssignmentId"], OverrideRejection=False)


# oTree: signed JSON without boto3, read as it comes.


class OTreeError(Exception):
    pass


def otree(house: Any, operation: str, **request: Any) -> Any:
    headers = {
        "Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": f"MTurkRequesterServiceV20170117.{operation}",
    }  # fmt: skip
    body = json.dumps(request)
    signed = AWSRequest("POST", house.url + "/", data=body, headers=headers)
    key = Credentials(house.key.access_key_id, house.key.secret_access_key)
    SigV4Auth(key, "mturk-requester", "us-east-1").add_auth(signed)
    answer = httpx.post(house.url + "/", content=body, headers=dict(signed.headers.items()))
    if answer.status_code != 200:
        raise OTreeError(answer.json())
    return answer.json()


def otree_assignments(house: Any, hit_id: str) -> list[dict[str, Any]]:
    """All assignments: a page is read until one is empty, by the token of the page before it."""
    found = []
    asked = {"HITId": hit_id, "MaxResults": 100, "AssignmentStatuses": ["Submitted", "Approved", "Rejected"]}
    while True:
        page = otree(house, "ListAssignmentsForHIT", **asked)
        if not page["Assignments"]:
            return found
        needed = ("WorkerId", "AssignmentId", "AssignmentStatus", "Answer")
        found += [{name: each[name] for name in needed} for each in page["Assignments"]]
        asked["NextToken"] = page["NextToken"]


def test_otree_publishes_pays_rejects_and_expires(house) -> None:
    grant = otree(house, "CreateQualificationType", Name="Took part", Description="D", QualificationTypeStatus="Active")
    type_id = grant["QualificationType"]["QualificationTypeId"]
    form = '<a class="otree-link">Start</a><crowd-input name="completion_code" required></crowd-input>'
    asked = {
        "Title": "Bargain", "Description": "A game for two.", "Keywords": "game, study", "MaxAssignments": 3,
        "Reward": "0.5", "AssignmentDurationInSeconds": 60 * 60, "LifetimeInSeconds": 7 * 86_400,
        "UniqueRequestToken": "otree_abc", "Question": html_question(f"<crowd-form>{form}</crowd-form>"),
        "QualificationRequirements": [
            {"QualificationTypeId": PERCENT, "Comparator": "GreaterThanOrEqualTo", "IntegerValues": [50]},
            {"QualificationTypeId": type_id, "Comparator": "DoesNotExist"},
        ],
    }  # fmt: skip
    hit = otree(house, "CreateHIT", **asked)["HIT"]
    assert isinstance(hit["Expiration"], (int, float))
    assert hit["HITGroupId"]
    with pytest.raises(OTreeError, match="HitAlreadyExists"):
        otree(house, "CreateHIT", **asked)
    for worker in ("A1", "A2"):
        house.work(hit["HITId"], worker, taskAnswers=json.dumps([{"completion_code": "code" + worker}]))
        otree(house, "AssociateQualificationWithWorker", QualificationTypeId=type_id, WorkerId=worker, IntegerValue=1)
        otree(house, "AssociateQualificationWithWorker", QualificationTypeId=type_id, WorkerId=worker, IntegerValue=1)
    first, second = sorted(otree_assignments(house, hit["HITId"]), key=lambda each: str(each["WorkerId"]))
    [given] = parseString(first["Answer"]).getElementsByTagName("Answer")
    name, value = (each.firstChild.data for each in given.childNodes if each.nodeType == each.ELEMENT_NODE)
    assert (name, json.loads(value)[0]["completion_code"]) == ("taskAnswers", "codeA1")
    bonus = {
        "WorkerId": first["WorkerId"], "AssignmentId": first["AssignmentId"], "BonusAmount": f"{1.25:.2f}",
        "UniqueRequestToken": f"{first['WorkerId']}_{first['AssignmentId']}", "Reason": "Thank you",
    }  # fmt: skip
    otree(house, "SendBonus", **bonus)
    with pytest.raises(OTreeError):
        otree(house, "SendBonus", **bonus)
    otree(house, "ApproveAssignment", AssignmentId=first["AssignmentId"])
    otree(house, "RejectAssignment", AssignmentId=second["AssignmentId"], RequesterFeedback="")
    statuses = {each["WorkerId"]: each["AssignmentStatus"] for each in otree_assignments(house, hit["HITId"])}
    assert statuses == {"A1": "Approved", "A2": "Rejected"}
    past = datetime(2015, 1, 1).timestamp()
    otree(house, "UpdateExpirationForHIT", HITId=hit["HITId"], ExpireAt=past)
    assert otree(house, "GetHIT", HITId=hit["HITId"])["HIT"]["HITStatus"] == "Reviewable"
    assert (
        otree_assignments(house, otree(house, "CreateHIT", **{**asked, "UniqueRequestToken": "x"})["HIT"]["HITId"])
        == []
    )
