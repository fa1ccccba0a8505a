"""Attacks on the MTurk API: calls that are not signed as they should be, ids of another account, hostile documents."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from tests.attacks import attack, refused
from tests.attacks._mturk import ANN, BOB, EVE, FORM, GUARDED, TARGET, MTurkScene, mturk

from hmc_crowd_local.mturk_api import Key  # isort: skip
from mturk_house import EXTERNAL, NAMESPACES, html_question  # isort: skip

at = partial(attack, "MTurk API", scene=mturk)
HIT: dict[str, Any] = {
    "Title": "Judge", "Description": "Read.", "Reward": "0.05", "Question": EXTERNAL, "MaxAssignments": 1,
    "AssignmentDurationInSeconds": 600, "LifetimeInSeconds": 86_400,
}  # fmt: skip
TYPE: dict[str, Any] = {"Name": "New", "Description": "Some.", "QualificationTypeStatus": "Active"}

# Another account's, by each operation that takes an id. ``str.format`` fills in the ids of the scene.
OF_OTHERS: dict[str, dict[str, Any]] = {
    "GetHIT": {"HITId": "{hit}"},
    "DeleteHIT": {"HITId": "{hit}"},
    "UpdateExpirationForHIT": {"HITId": "{hit}", "ExpireAt": 0},
    "UpdateHITReviewStatus": {"HITId": "{hit}"},
    "CreateAdditionalAssignmentsForHIT": {"HITId": "{hit}", "NumberOfAdditionalAssignments": 1},
    "ListAssignmentsForHIT": {"HITId": "{bobs_hit}"},
    "ListReviewPolicyResultsForHIT": {"HITId": "{hit}"},
    "GetAssignment": {"AssignmentId": "{done}"},
    "ApproveAssignment": {"AssignmentId": "{done}", "OverrideRejection": True},
    "RejectAssignment": {"AssignmentId": "{done}", "RequesterFeedback": "No."},
    "SendBonus": {"AssignmentId": "{done}", "WorkerId": ANN, "BonusAmount": "0.05", "Reason": "x"},
    "GetQualificationType": {"QualificationTypeId": "{qualification}"},
    "UpdateQualificationType": {"QualificationTypeId": "{qualification}", "Description": "Mine."},
    "DeleteQualificationType": {"QualificationTypeId": "{qualification}"},
    "AssociateQualificationWithWorker": {"QualificationTypeId": "{qualification}", "WorkerId": EVE, "IntegerValue": 1},
    "DisassociateQualificationFromWorker": {"QualificationTypeId": "{qualification}", "WorkerId": ANN},
    "GetQualificationScore": {"QualificationTypeId": "{qualification}", "WorkerId": ANN},
    "ListWorkersWithQualificationType": {"QualificationTypeId": "{qualification}"},
    "ListHITsForQualificationType": {"QualificationTypeId": "{qualification}"},
    "AcceptQualificationRequest": {"QualificationRequestId": "{request}"},
    "RejectQualificationRequest": {"QualificationRequestId": "{request}"},
    "CreateHITWithHITType": {"Question": EXTERNAL, "LifetimeInSeconds": 86_400, "HITTypeId": "{type}"},
    "UpdateHITTypeOfHIT": {"HITId": "{hit}", "HITTypeId": "{type}"},
    "UpdateNotificationSettings": {"HITTypeId": "{type}", "Active": False},
}  # fmt: skip
#: What only lists the caller's own: nothing of the other account is among it.
LISTS = ("ListHITs", "ListReviewableHITs", "ListBonusPayments", "ListQualificationRequests", "ListWorkerBlocks")


def known(scene: MTurkScene) -> dict[str, str]:
    view = scene.door.call("main", "GetHIT", {"HITId": scene.ids.hit})["HIT"]
    asked = scene.door.call("main", "ListQualificationRequests", {})["QualificationRequests"]
    request = asked[0]["QualificationRequestId"] if asked else "3" * 30
    return {name: str(each) for name, each in scene.ids.__dict__.items()} | {
        "type": view["HITTypeId"],
        "request": request,
    }


def filled(body: dict[str, Any], ids: dict[str, str]) -> dict[str, Any]:
    return {
        name: each.format(**ids) if isinstance(each, str) and each.startswith("{") else each
        for name, each in body.items()
    }


def _of_others(operation: str, body: dict[str, Any]) -> Any:
    def act(scene: MTurkScene) -> None:
        reply = scene.call(operation, filled(body, known(scene)))
        # A qualification's public face may be seen by whoever wants to require it; of all else a list is empty.
        if operation != "GetQualificationType":
            assert reply.status_code >= 400 or reply.json().get("NumResults") == 0, reply.text[:300]

    return act


for _operation, _body in OF_OTHERS.items():
    at(f"another account's by {_operation}", defence="everything belongs to one account")(_of_others(_operation, _body))

for _operation in LISTS:

    @at(f"another account's in {_operation}", defence="lists are of one account")
    def _(scene: MTurkScene, operation: str = _operation) -> None:
        reply = scene.call(operation, {"HITId": scene.ids.bobs_hit} if operation == "ListBonusPayments" else {})
        for name in (scene.ids.hit, scene.ids.bobs_hit, scene.ids.done, ANN, BOB):
            assert reply.status_code >= 400 or name not in reply.text


# Signatures.


def _now(**ago: float) -> str:
    return (datetime.now(UTC) - timedelta(**ago)).strftime("%Y%m%dT%H%M%SZ")


UNSIGNED: dict[str, Any] = {
    "no signature": {"Authorization": ""},
    "a signature of another scheme": {"Authorization": "Basic bWFpbjptYWlu"},
    "a bearer's word": {"Authorization": "Bearer x"},
    "an empty signature": {"Authorization": "AWS4-HMAC-SHA256 Credential=, SignedHeaders=, Signature="},
    "another operation than was signed": {"X-Amz-Target": TARGET + "DeleteHIT"},
    "another day than was signed": {"X-Amz-Date": _now(days=1)},
    "a time that is none": {"X-Amz-Date": "now"},
    "two operations": {"X-Amz-Target": f"{TARGET}GetHIT,{TARGET}DeleteHIT"},
    "an operation of another service": {"X-Amz-Target": "DynamoDB_20120810.GetItem"},
    "an operation that there is not": {"X-Amz-Target": TARGET + "DropTables"},
    "an operation by its name in our code": {"X-Amz-Target": TARGET + "__class__"},
    "a form in place of a document": {"Content-Type": "application/x-www-form-urlencoded"},
}
for _name, _headers in UNSIGNED.items():

    @at(f"a call with {_name}", defence="the whole request is signed")
    def _(scene: MTurkScene, headers: Any = _headers) -> None:
        refused(
            scene.call(
                "UpdateExpirationForHIT", {"HITId": scene.ids.hit, "ExpireAt": 0}, key=scene.key, headers=headers
            )
        )


@at("a body that was changed after it was signed", defence="the body is signed")
def _(scene: MTurkScene) -> None:
    body = json.dumps({"HITId": scene.ids.hit, "ExpireAt": 0}).encode()
    refused(
        scene.call("UpdateExpirationForHIT", {"HITId": scene.ids.deleted, "ExpireAt": 0}, key=scene.key, content=body)
    )


@at("a query that was added after it was signed", defence="the query is signed")
def _(scene: MTurkScene) -> None:
    refused(scene.call("GetAccountBalance", {}, key=scene.key, path="/?account=main"))


@at("a request that was signed for another host", defence="the host is among what is signed, and ours")
def _(scene: MTurkScene) -> None:
    for host in ("mturk-requester.us-east-1.amazonaws.com", "evil.example.org", "testserver.evil.example.org"):
        refused(scene.call("GetAccountBalance", {}, key=scene.key, headers={"Host": host}))


for _name, _key in {
    "another's secret": lambda scene: Key(scene.ids.key[0], scene.ids.eves[1]),
    "no secret": lambda scene: Key(scene.ids.key[0], ""),
    "a key that there is not": lambda scene: Key("AKIAAAAAAAAAAAAAAAAA", scene.ids.eves[1]),
    "a key that is an expression": lambda scene: Key("%", scene.ids.eves[1]),
    "an account in place of a key": lambda scene: Key("main", scene.ids.eves[1]),
    "the key in lower case": lambda scene: Key(scene.ids.key[0].lower(), scene.ids.key[1]),
}.items():

    @at(f"a call signed with {_name}", defence="keys have their own secrets")
    def _(scene: MTurkScene, key: Any = _key) -> None:
        refused(scene.call("GetAccountBalance", {}, key=key(scene)))


@at("a key that was revoked", defence="revoked keys open nothing", stores="the revocation")
def _(scene: MTurkScene) -> None:
    made = scene.door.issue_key("main")
    assert scene.call("GetAccountBalance", {}, key=made).status_code == 200
    scene.door.revoke_key(made.access_key_id)
    refused(scene.call("GetAccountBalance", {}, key=made))


# Documents.

FILE, GROWN = FORM.replace("Is it so?", "&e;"), FORM.replace("Is it so?", "&c;")
GROWING = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;">]>'
QUESTIONS: dict[str, str] = {
    "an entity that reads a file": f'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>{FILE}',
    "an entity that asks another server": f'<!DOCTYPE x [<!ENTITY e SYSTEM "http://127.0.0.1:9/">]>{FILE}',
    "entities that grow": GROWING + GROWN,
    "a document type alone": "<!DOCTYPE x>" + FORM,
    "another namespace": FORM.replace(NAMESPACES, "http://evil.example.org/"),
    "no namespace": "<QuestionForm><Question/></QuestionForm>",
    "half a document": FORM[: len(FORM) // 2],
    "no XML": "hello",
    "70 kB": html_question("<form>" + "x" * 70_000 + "</form>"),
    "an ExternalURL of a script": EXTERNAL.replace("https://survey.example.org/q?a=1&amp;b=2", "javascript:alert(1)"),
    "an ExternalURL of a file": EXTERNAL.replace("https://survey.example.org/q?a=1&amp;b=2", "file:///etc/passwd"),
    "an ExternalURL without https": EXTERNAL.replace("https://survey", "http://survey"),
    "an ExternalURL of data": EXTERNAL.replace("https://survey.example.org/q?a=1&amp;b=2", "data:text/html,x"),
    "an ExternalURL with half an address": EXTERNAL.replace("https://survey.example.org/q", "https://[::1"),
    "a FrameHeight that is a superscript": EXTERNAL.replace(">600<", ">²<"),
    "a FrameHeight that is negative": EXTERNAL.replace(">600<", ">-1<"),
    "a FrameHeight of 5,000 digits": EXTERNAL.replace(">600<", f">{'9' * 5000}<"),
    "a FrameHeight that is markup": EXTERNAL.replace(">600<", '>600" onload="x<'),
    "another document of the same service": f'<AnswerKey xmlns="{NAMESPACES}2005-10-01/AnswerKey.xsd"/>',
}  # fmt: skip
for _name, _question in QUESTIONS.items():

    @at(f"a HIT whose question holds {_name}", defence="documents are checked when they come")
    def _(scene: MTurkScene, question: str = _question) -> None:
        refused(scene.call("CreateHIT", {**HIT, "Question": question}))
        assert "root:" not in "".join(scene.shown)


for _name, _values in {
    "Reward": ("99999999", "-1", "NaN", "Infinity", "1e9", "0.001", "", "²", "$5", "0x1", "9" * 400),
    "MaxAssignments": (0, -1, 10**9, 10**30, 1.5, "3", True),
    "LifetimeInSeconds": (0, -1, 10**12, 10**30, "60"),
    "AssignmentDurationInSeconds": (0, -1, 10**12, 10**30),
    "AutoApprovalDelayInSeconds": (-1, 10**12),
    "Title": ("", "x" * 200, "a\x00", "\ud800", 5),
    "Description": ("x" * 3000, "a\x00"),
    "RequesterAnnotation": ("x" * 300, 5),
    "UniqueRequestToken": ("", "x" * 70, "a\x00"),
    "HITLayoutId": ("nowhere", "' OR 1=1 --"),
    "QualificationRequirements": ({}, "x", [{}], [{"QualificationTypeId": "x", "Comparator": "Exists"}] * 11),
    "AssignmentReviewPolicy": ({}, {"PolicyName": "x"}, {"PolicyName": "__import__"}),
}.items():

    @at(f"a HIT whose {_name} is odd", defence="the service's model, and its limits")
    def _(scene: MTurkScene, name: str = _name, values: Any = _values) -> None:
        for value in values:
            reply = scene.call("CreateHIT", {**HIT, name: value})
            assert reply.status_code in range(400, 500), (value, reply.text[:200])


for _name, _body in {
    "no JSON": b"{", "no object": b"[]", "nested without end": b"[" * 60_000,
    "a number that is none": b'{"MaxResults": NaN}', "half a character": b'{"Title": "\\ud800"}',
    "bytes that are no text": b"\xff\xfe", "a megabyte and more": b" " * 1_100_000,
    "one field twice": b'{"HITId": "a", "HITId": 5}',
}.items():  # fmt: skip

    @at(f"a body with {_name}", defence="bodies are limited and read once")
    def _(scene: MTurkScene, body: bytes = _body) -> None:
        refused(scene.call("CreateHIT", body))


@at("a cursor of a list that is another's, or made up", defence="cursors are sealed, for one account and one list")
def _(scene: MTurkScene) -> None:
    first = scene.call("ListHITs", {"MaxResults": 1}, key=scene.key).json()["NextToken"]
    for token in (first, first[:-4] + "AAAA", "x", "", "é", "W10=", "A" * 5000):
        refused(scene.call("ListHITs", {"NextToken": token}))
    refused(scene.call("ListWorkerBlocks", {"NextToken": first}, key=scene.key))


@at("more money than there is", defence="funds are held before a HIT is made")
def _(scene: MTurkScene) -> None:
    refused(scene.call("CreateHIT", {**HIT, "Reward": "100.00", "MaxAssignments": 1_000}))


@at("a bonus for somebody who did not work", defence="a bonus belongs to an assignment and its worker")
def _(scene: MTurkScene) -> None:
    for worker in (BOB, EVE, "A", ""):
        sent = {"AssignmentId": scene.ids.done, "WorkerId": worker, "BonusAmount": "0.05", "Reason": "x"}
        refused(scene.call("SendBonus", sent, key=scene.key))


@at("a bonus that takes money away", defence="amounts are positive")
def _(scene: MTurkScene) -> None:
    for amount in ("-0.05", "0", "0.00", "NaN", "1e2", "10000000000", "²"):
        sent = {"AssignmentId": scene.ids.done, "WorkerId": ANN, "BonusAmount": amount, "Reason": "x"}
        refused(scene.call("SendBonus", sent, key=scene.key))


@at("work that is not handed in, approved", defence="states go one way")
def _(scene: MTurkScene) -> None:
    for name in (scene.ids.ann, scene.ids.bob):
        refused(scene.call("ApproveAssignment", {"AssignmentId": name}, key=scene.key))
        refused(scene.call("RejectAssignment", {"AssignmentId": name, "RequesterFeedback": "No."}, key=scene.key))


@at("paid work, rejected", defence="states go one way")
def _(scene: MTurkScene) -> None:
    refused(scene.call("RejectAssignment", {"AssignmentId": scene.ids.done, "RequesterFeedback": "No."}, key=scene.key))


@at("notices to queues and topics of anybody", defence="events go to hosts that the owner named")
def _(scene: MTurkScene) -> None:
    kind = known(scene)["type"]
    for transport, place in (
        ("SQS", "https://evil.example.org/q"), ("SQS", "http://127.0.0.1:9/q"), ("SNS", "arn:aws:sns:us-east-1:1:x"),
        ("Email", "eve@example.org"), ("SQS", "file:///etc/passwd"),
    ):  # fmt: skip
        asked: dict[str, Any] = {
            "Destination": place,
            "Transport": transport,
            "Version": "2006-05-05",
            "EventTypes": ["AssignmentSubmitted"],
        }
        refused(
            scene.call(
                "UpdateNotificationSettings", {"HITTypeId": kind, "Notification": asked, "Active": True}, key=scene.key
            )
        )
        sent = {"Notification": asked, "TestEventType": "AssignmentSubmitted"}
        refused(scene.call("SendTestEventNotification", sent, key=scene.key))


@at("a qualification whose name is another's, or hostile", defence="names are the service's, and once")
def _(scene: MTurkScene) -> None:
    refused(scene.call("CreateQualificationType", {**TYPE, "Name": "Guard"}, key=scene.key))
    for odd in (
        {"Name": ""}, {"Name": "x" * 300}, {"RetryDelayInSeconds": -1}, {"Test": FORM},
        {"Test": "<x/>", "TestDurationInSeconds": 60}, {"AnswerKey": "<x/>"}, {"QualificationTypeStatus": "x"},
        {"AutoGranted": True, "AutoGrantedValue": 10**30},
    ):  # fmt: skip
        refused(scene.call("CreateQualificationType", {**TYPE, **odd}))


@at("an answer key that gives no number", defence="answer keys are checked when they come")
def _(scene: MTurkScene) -> None:
    key = (
        f'<AnswerKey xmlns="{NAMESPACES}2005-10-01/AnswerKey.xsd"><Question><QuestionIdentifier>q1</QuestionIdentifier>'
        "<AnswerOption><SelectionIdentifier>y</SelectionIdentifier><AnswerScore>SCORE</AnswerScore></AnswerOption>"
        "</Question></AnswerKey>"
    )
    for score in ("NaN", "Infinity", "1e400", "²", "", "1" * 5000, "x"):
        sent = {**TYPE, "Test": FORM, "TestDurationInSeconds": 60, "AnswerKey": key.replace("SCORE", score)}
        refused(scene.call("CreateQualificationType", sent))


@at(
    "a text that is guarded, through a qualification of one's own",
    defence="only the account guards, and its words stay",
)
def _(scene: MTurkScene) -> None:
    reply = scene.call("ListHITsForQualificationType", {"QualificationTypeId": scene.ids.qualification})
    assert GUARDED not in reply.text


@at("a file that a worker is to have uploaded", defence="there are no files")
def _(scene: MTurkScene) -> None:
    for name in ("../../etc/passwd", "q", ""):
        refused(
            scene.call("GetFileUploadURL", {"AssignmentId": scene.ids.done, "QuestionIdentifier": name}, key=scene.key)
        )


@at("messages to workers that are no ids", defence="the service's form of worker ids")
def _(scene: MTurkScene) -> None:
    for worker in ("ann", "A'; --", "A\r\nBcc: x", "", "A" * 200):
        sent = {"Subject": "s", "MessageText": "t", "WorkerIds": [worker]}
        reply = scene.call("NotifyWorkers", sent)
        assert reply.status_code >= 400 or reply.json()["NotifyWorkersFailureStatuses"]
