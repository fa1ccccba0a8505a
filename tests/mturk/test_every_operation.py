"""boto3's own client, unmodified, against every operation of the service model."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hmc_crowd_local.mturk_api._front import OPERATIONS
from hmc_crowd_local.mturk_api._shapes import operation_names
from mturk_house import EXTERNAL, NAMESPACES

SOON = datetime(2026, 1, 7, tzinfo=UTC)
TEST = (
    f'<QuestionForm xmlns="{NAMESPACES}2017-11-06/QuestionForm.xsd"><Question>'
    "<QuestionIdentifier>q</QuestionIdentifier><QuestionContent><Text>Why?</Text></QuestionContent><AnswerSpecification><FreeTextAnswer/></AnswerSpecification>"
    "</Question></QuestionForm>"
)
NOTIFICATION = {
    "Destination": "queue",
    "Transport": "SQS",
    "Version": "2014-08-15",
    "EventTypes": ["AssignmentSubmitted"],
}


def test_all_operations_of_the_model_are_there() -> None:
    assert set(OPERATIONS) == operation_names()
    assert len(OPERATIONS) == 39


def test_hits(house, client) -> None:
    kind = client.create_hit_type(
        Title="T", Description="D", Reward="0.05", AssignmentDurationInSeconds=60, Keywords="a,b"
    )["HITTypeId"]
    other = client.create_hit_type(Title="U", Description="D", Reward="0.10", AssignmentDurationInSeconds=60)[
        "HITTypeId"
    ]
    hit = client.create_hit_with_hit_type(HITTypeId=kind, LifetimeInSeconds=3600, Question=EXTERNAL)["HIT"]
    hit_id = hit["HITId"]
    assert (hit["HITStatus"], hit["MaxAssignments"], hit["Keywords"]) == ("Assignable", 1, "a,b")
    client.update_hit_type_of_hit(HITId=hit_id, HITTypeId=other)
    assert client.get_hit(HITId=hit_id)["HIT"]["Reward"] == "0.10"
    client.create_additional_assignments_for_hit(HITId=hit_id, NumberOfAdditionalAssignments=2, UniqueRequestToken="x")
    assert client.list_hits()["HITs"][0]["MaxAssignments"] == 3
    assert client.list_reviewable_hits()["NumResults"] == 0
    client.update_expiration_for_hit(HITId=hit_id, ExpireAt=datetime(2015, 1, 1, tzinfo=UTC))
    assert [each["HITId"] for each in client.list_reviewable_hits(HITTypeId=other)["HITs"]] == [hit_id]
    client.update_hit_review_status(HITId=hit_id)
    assert client.get_hit(HITId=hit_id)["HIT"]["HITStatus"] == "Reviewing"
    assert client.list_reviewable_hits(Status="Reviewing")["NumResults"] == 1
    client.update_hit_review_status(HITId=hit_id, Revert=True)
    client.update_expiration_for_hit(HITId=hit_id, ExpireAt=SOON)
    assert client.get_hit(HITId=hit_id)["HIT"]["HITStatus"] == "Assignable"
    client.update_expiration_for_hit(HITId=hit_id, ExpireAt=datetime(2015, 1, 1, tzinfo=UTC))
    client.delete_hit(HITId=hit_id)
    assert client.list_hits()["HITs"] == []
    assert client.get_hit(HITId=hit_id)["HIT"]["HITStatus"] == "Disposed"


def test_assignments_and_money(house, client) -> None:
    hit_id = house.hit()
    names = [house.work(hit_id, worker) for worker in ("A1", "A2", "A3")]
    listed = client.list_assignments_for_hit(HITId=hit_id, AssignmentStatuses=["Submitted"])
    assert [each["AssignmentId"] for each in listed["Assignments"]] == sorted(names)
    client.approve_assignment(AssignmentId=names[0], RequesterFeedback="Well done.")
    client.reject_assignment(AssignmentId=names[1], RequesterFeedback="Empty.")
    client.approve_assignment(AssignmentId=names[1], OverrideRejection=True)
    shown = client.get_assignment(AssignmentId=names[0])
    assert (shown["Assignment"]["AssignmentStatus"], shown["HIT"]["HITId"]) == ("Approved", hit_id)
    assert shown["Assignment"]["RequesterFeedback"] == "Well done."
    assert "RejectionTime" not in shown["Assignment"]
    client.send_bonus(WorkerId="A3", AssignmentId=names[2], BonusAmount="1", Reason="Thanks", UniqueRequestToken="b")
    (paid,) = client.list_bonus_payments(HITId=hit_id)["BonusPayments"]
    assert (paid["BonusAmount"], paid["WorkerId"], paid["Reason"]) == ("1.00", "A3", "Thanks")
    # 10000 - 2 * 0.06 - 1.20, and one submission waits: 0.06 is held.
    balance = client.get_account_balance()
    assert (balance["AvailableBalance"], balance["OnHoldBalance"]) == ("9998.62", "0.06")
    with pytest.raises(client.exceptions.RequestError, match="takes none"):
        client.get_file_upload_url(AssignmentId=names[0], QuestionIdentifier="q")


def test_qualifications(house, client) -> None:
    made = client.create_qualification_type(
        Name="N", Description="D", QualificationTypeStatus="Active", Test=TEST, TestDurationInSeconds=60, Keywords="k"
    )["QualificationType"]
    type_id = made["QualificationTypeId"]
    assert (made["IsRequestable"], made["AutoGranted"]) == (True, False)
    assert client.get_qualification_type(QualificationTypeId=type_id)["QualificationType"]["Test"] == TEST
    assert client.list_qualification_types(Query="n", MustBeRequestable=True)["NumResults"] == 1
    changed = client.update_qualification_type(QualificationTypeId=type_id, Description="E", RetryDelayInSeconds=0)
    assert changed["QualificationType"]["Description"] == "E"
    for worker in ("A1", "A2"):
        request_id, state, _ = house.workers.ask_qualification(type_id, worker)
        assert state == "started"
        assert house.workers.submit_test(type_id, request_id, worker, [("q", "because")]) == "pending"
    first, second = client.list_qualification_requests(QualificationTypeId=type_id)["QualificationRequests"]
    assert ("because" in first["Answer"], first["Test"]) == (True, TEST)
    client.accept_qualification_request(QualificationRequestId=first["QualificationRequestId"], IntegerValue=7)
    client.reject_qualification_request(QualificationRequestId=second["QualificationRequestId"], Reason="No.")
    assert client.list_qualification_requests()["QualificationRequests"] == []
    score = client.get_qualification_score(QualificationTypeId=type_id, WorkerId=first["WorkerId"])["Qualification"]
    assert (score["IntegerValue"], score["Status"]) == (7, "Granted")
    client.associate_qualification_with_worker(QualificationTypeId=type_id, WorkerId="A3", IntegerValue=1)
    client.disassociate_qualification_from_worker(QualificationTypeId=type_id, WorkerId="A3", Reason="Over.")
    listed = client.list_workers_with_qualification_type(QualificationTypeId=type_id, Status="Revoked")
    assert [each["WorkerId"] for each in listed["Qualifications"]] == ["A3"]
    requirement = {"QualificationTypeId": type_id, "Comparator": "Exists"}
    hit_id = house.hit(QualificationRequirements=[requirement])
    shown = client.list_hits_for_qualification_type(QualificationTypeId=type_id)["HITs"]
    assert [each["HITId"] for each in shown] == [hit_id]
    client.delete_qualification_type(QualificationTypeId=type_id)
    with pytest.raises(client.exceptions.RequestError, match="does not exist"):
        client.get_qualification_type(QualificationTypeId=type_id)


def test_workers(house, client) -> None:
    house.work(house.hit(), "A1")
    failed = client.notify_workers(Subject="S", MessageText="Hello.", WorkerIds=["A1", "A2"])
    assert [each["WorkerId"] for each in failed["NotifyWorkersFailureStatuses"]] == ["A2"]
    assert [each[:2] for each in house.workers.messages("A1")] == [("S", "Hello.")]
    client.create_worker_block(WorkerId="A9", Reason="Spam.")
    assert client.list_worker_blocks()["WorkerBlocks"] == [{"WorkerId": "A9", "Reason": "Spam."}]
    client.delete_worker_block(WorkerId="A9", Reason="Sorry.")
    client.delete_worker_block(WorkerId="A9")
    assert client.list_worker_blocks()["WorkerBlocks"] == []


def test_notifications_are_delivered(make_house) -> None:
    sent: list[tuple[dict, dict]] = []
    house = make_house(deliver=lambda to, message: sent.append((to, message)))
    client = house.client
    hit_id = house.hit()
    kind = client.get_hit(HITId=hit_id)["HIT"]["HITTypeId"]
    client.update_notification_settings(HITTypeId=kind, Notification=NOTIFICATION, Active=True)
    client.send_test_event_notification(Notification=NOTIFICATION, TestEventType="Ping")
    name = house.work(hit_id, "A1")
    assert [message["Events"][0]["EventType"] for _, message in sent] == ["Ping", "AssignmentSubmitted"]
    assert sent[1][1]["Events"][0]["AssignmentId"] == name
    client.update_notification_settings(HITTypeId=kind, Active=False)
    house.work(hit_id, "A2")
    assert len(sent) == 2


def test_notifications_that_cannot_be_delivered_are_refused(house, client) -> None:
    kind = client.get_hit(HITId=house.hit())["HIT"]["HITTypeId"]
    for call in (
        lambda: client.update_notification_settings(HITTypeId=kind, Notification=NOTIFICATION),
        lambda: client.send_test_event_notification(Notification=NOTIFICATION, TestEventType="Ping"),
    ):
        with pytest.raises(client.exceptions.RequestError) as caught:
            call()
        assert caught.value.response["TurkErrorCode"] == "AWS.MechanicalTurk.InvalidTransportEndpoint"


def test_every_paginator_reads_to_the_end(house, client) -> None:
    hits = {house.hit(MaxAssignments=25) for _ in range(23)}
    type_id = client.create_qualification_type(Name="N", Description="D", QualificationTypeStatus="Active")[
        "QualificationType"
    ]["QualificationTypeId"]
    first = min(hits)
    for number in range(12):
        name = house.work(first, f"A{number:02d}")
        client.send_bonus(WorkerId=f"A{number:02d}", AssignmentId=name, BonusAmount="0.01", Reason="R")
        client.create_worker_block(WorkerId=f"A{number:02d}", Reason="R")
        client.associate_qualification_with_worker(QualificationTypeId=type_id, WorkerId=f"A{number:02d}")
    found = {
        "list_hits": ("HITs", {}, 23),
        "list_assignments_for_hit": ("Assignments", {"HITId": first}, 12),
        "list_bonus_payments": ("BonusPayments", {"HITId": first}, 12),
        "list_worker_blocks": ("WorkerBlocks", {}, 12),
        "list_workers_with_qualification_type": ("Qualifications", {"QualificationTypeId": type_id}, 12),
    }
    for operation, (member, parameters, count) in found.items():
        pages = list(client.get_paginator(operation).paginate(**parameters))
        rows = [row for page in pages for row in page[member]]
        assert (operation, len(rows), len(pages)) == (operation, count, -(-count // 10) + 1)  # and an empty one
        assert len({str(row) for row in rows}) == count
