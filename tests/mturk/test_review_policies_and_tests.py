"""Review policies and qualification tests: scores worked out by hand, and what they do."""

from __future__ import annotations

import pytest
from hmc_crowd_local.mturk_api import TurkError, WorkersDoor
from hmc_crowd_local.mturk_api._answer_key import score
from hmc_crowd_local.mturk_api._policy_rules import plurality
from mturk_house import EXTERNAL, NAMESPACES

HIT = {
    "Title": "T", "Description": "D", "Reward": "0.05", "AssignmentDurationInSeconds": 600, "LifetimeInSeconds": 3600,
    "Question": EXTERNAL,
}  # fmt: skip


def policy(name, **parameters):
    made = []
    for key, value in parameters.items():
        if key == "AnswerKey":
            entries = [{"Key": question, "Values": values} for question, values in value.items()]
            made.append({"Key": key, "MapEntries": entries})
        else:
            made.append({"Key": key, "Values": value if isinstance(value, list) else [str(value)]})
    return {"PolicyName": name, "Parameters": made}


KNOWN = "ScoreMyKnownAnswers/2011-09-01"
PLURALITY = "SimplePlurality/2011-09-01"


@pytest.fixture
def desk(door):
    workers = WorkersDoor(door)

    class Desk:
        def __call__(self, operation, **request):
            return door.call("main", operation, request)

        def hit(self, **change):
            return self("CreateHIT", **{**HIT, **change})["HIT"]["HITId"]

        def work(self, hit_id, worker, **fields):
            name = workers.accept(hit_id, worker).assignment_id
            workers.submit(name, list(fields.items()))
            return name

        def status(self, name):
            return self("GetAssignment", AssignmentId=name)["Assignment"]["AssignmentStatus"]

    return Desk()


def test_known_answers_approve_reject_and_extend(desk) -> None:
    rules = policy(
        KNOWN, AnswerKey={"a": ["1"], "b": ["2", "3"]}, ApproveIfKnownAnswerScoreIsAtLeast=100,
        RejectIfKnownAnswerScoreIsLessThan=50, RejectReason="Both are wrong.", ExtendIfKnownAnswerScoreIsLessThan=60,
        ExtendMaximumAssignments=4, ExtendMinimumTimeInSeconds=7200,
    )  # fmt: skip
    hit_id = desk.hit(MaxAssignments=3, AssignmentReviewPolicy=rules)
    # All of two: 100. One of two: 50, neither approved nor rejected, but below 60. None: 0.
    both, one, none = (
        desk.work(hit_id, "A1", a="1", b="2|3"), desk.work(hit_id, "A2", a="1", b="2"), desk.work(hit_id, "A3", a="9")
    )  # fmt: skip
    assert [desk.status(each) for each in (both, one, none)] == ["Approved", "Submitted", "Rejected"]
    assert desk("GetAssignment", AssignmentId=none)["Assignment"]["RequesterFeedback"] == "Both are wrong."
    assert desk("GetHIT", HITId=hit_id)["HIT"]["MaxAssignments"] == 4
    report = desk("ListReviewPolicyResultsForHIT", HITId=hit_id, MaxResults=100)["AssignmentReviewReport"]
    scores = {each["SubjectId"]: each["Value"] for each in report["ReviewResults"] if each["Key"] == "KnownAnswerScore"}
    assert scores == {both: "100", one: "50", none: "0"}
    assert [each["ActionName"] for each in report["ReviewActions"]] == ["approve", "extend", "reject"]


def test_plurality_arithmetic() -> None:
    given = {
        "w1": {"a": {"x"}, "b": {"p"}},
        "w2": {"a": {"x"}, "b": {"q"}},
        "w3": {"a": {"y"}, "b": {"r"}},
    }
    # a: 2 of 3 are 66 percent, above 50; b: 1 of 3 is 33, not agreed. One of two questions is agreed: 50.
    found = plurality(given, ["a", "b"], 50)
    assert {name: share for name, (share, _) in found.questions.items()} == {"a": 66, "b": 33}
    assert (found.questions["a"][1], found.questions["b"][1], found.hit_score) == ({"x"}, None, 50)
    assert found.worker_scores == {"w1": 100, "w2": 100, "w3": 0}


def test_plurality_acts_when_the_hit_can_be_reviewed(desk) -> None:
    rules = policy(
        PLURALITY, QuestionIds=["a"], QuestionAgreementThreshold=50, ApproveIfWorkerAgreementScoreIsAtLeast=100,
        RejectIfWorkerAgreementScoreIsLessThan=100, DisregardAssignmentIfRejected="true",
    )  # fmt: skip
    hit_id = desk.hit(MaxAssignments=3, HITReviewPolicy=rules)
    names = [desk.work(hit_id, f"A{number}", a=answer) for number, answer in enumerate(["x", "x"])]
    assert desk("ListReviewPolicyResultsForHIT", HITId=hit_id)["HITReviewReport"]["ReviewResults"] == []
    names.append(desk.work(hit_id, "A9", a="y"))
    assert [desk.status(each) for each in names] == ["Approved", "Approved", "Rejected"]
    results = desk("ListReviewPolicyResultsForHIT", HITId=hit_id, PolicyLevels=["HIT"], RetrieveActions=False)
    found = {
        each["Key"]: each["Value"]
        for each in results["HITReviewReport"]["ReviewResults"]
        if each["SubjectType"] == "HIT"
    }
    assert found == {"QuestionAgreement": "66", "AgreedAnswer": "x", "HITAgreementScore": "100"}
    assert results["HITReviewReport"]["ReviewActions"] == []


def test_plurality_asks_more_people_until_they_agree(desk) -> None:
    rules = policy(
        PLURALITY, QuestionIds=["a"], QuestionAgreementThreshold=50, ExtendIfHITAgreementScoreIsLessThan=100,
        ExtendMaximumAssignments=3, ExtendMinimumTimeInSeconds=60,
    )  # fmt: skip
    hit_id = desk.hit(MaxAssignments=2, HITReviewPolicy=rules)
    desk.work(hit_id, "A1", a="x")
    desk.work(hit_id, "A2", a="y")
    assert desk("GetHIT", HITId=hit_id)["HIT"]["HITStatus"] == "Assignable"
    desk.work(hit_id, "A3", a="x")
    hit = desk("GetHIT", HITId=hit_id)["HIT"]
    assert (hit["HITStatus"], hit["MaxAssignments"]) == ("Reviewable", 3)


BAD_POLICIES = [
    ("AssignmentReviewPolicy", policy(PLURALITY, QuestionIds=["a"])),
    ("AssignmentReviewPolicy", policy(KNOWN)),
    ("AssignmentReviewPolicy", policy(KNOWN, AnswerKey={"a": ["1"]}, ApproveIfKnownAnswerScoreIsAtLeast="high")),
    ("AssignmentReviewPolicy", policy(KNOWN, AnswerKey={"a": ["1"]}, Colour="red")),
    ("AssignmentReviewPolicy", policy(KNOWN, AnswerKey={"a": ["1"]}, ExtendIfKnownAnswerScoreIsLessThan=5)),
    ("HITReviewPolicy", policy(PLURALITY, QuestionIds=["a"])),
    ("HITReviewPolicy", policy(PLURALITY, QuestionAgreementThreshold=50)),
    ("HITReviewPolicy", policy(PLURALITY, QuestionIds=[f"q{n}" for n in range(16)], QuestionAgreementThreshold=50)),
]


@pytest.mark.parametrize(("member", "document"), BAD_POLICIES)
def test_policies_that_are_not_understood_are_refused(desk, member, document) -> None:
    with pytest.raises(TurkError, match=member):
        desk.hit(**{member: document})


def key(mapping: str) -> str:
    return (
        f'<AnswerKey xmlns="{NAMESPACES}2005-10-01/AnswerKey.xsd">'
        "<Question><QuestionIdentifier>q1</QuestionIdentifier>"
        "<AnswerOption><SelectionIdentifier>a</SelectionIdentifier><SelectionIdentifier>b</SelectionIdentifier>"
        "<AnswerScore>10</AnswerScore></AnswerOption>"
        "<AnswerOption><SelectionIdentifier>a</SelectionIdentifier><AnswerScore>5</AnswerScore></AnswerOption>"
        "<DefaultScore>-1</DefaultScore></Question>"
        "<Question><QuestionIdentifier>q2</QuestionIdentifier>"
        "<AnswerOption><SelectionIdentifier>c</SelectionIdentifier><AnswerScore>10</AnswerScore></AnswerOption></Question>"
        f"{mapping}</AnswerKey>"
    )


def mapped(inside: str) -> str:
    return key(f"<QualificationValueMapping>{inside}</QualificationValueMapping>")


RANGES = (
    "<RangeMapping><SummedScoreRange><InclusiveLowerBound>5</InclusiveLowerBound>"
    "<InclusiveUpperBound>19</InclusiveUpperBound><QualificationValue>1</QualificationValue></SummedScoreRange>"
    "<SummedScoreRange><InclusiveLowerBound>20</InclusiveLowerBound><InclusiveUpperBound>20</InclusiveUpperBound>"
    "<QualificationValue>2</QualificationValue></SummedScoreRange>"
    "<OutOfRangeQualificationValue>0</OutOfRangeQualificationValue></RangeMapping>"
)
BOTH, HALF, NONE = {"q1": {"a", "b"}, "q2": {"c"}}, {"q1": {"a"}}, {"q1": {"z"}}


@pytest.mark.parametrize(
    ("document", "values"),
    [
        # Sums: 10 + 10 = 20; 5 + 0 = 5; -1 + 0 = -1.
        (key(""), (20, 5, -1)),
        # Of 20: 100, 25, -5 percent.
        (mapped("<PercentageMapping><MaximumSummedScore>20</MaximumSummedScore></PercentageMapping>"), (100, 25, -5)),
        # Times 0.5: 10; 2.5, half up 3; -0.5, half away from zero -1.
        (mapped("<ScaleMapping><SummedScoreMultiplier>0.5</SummedScoreMultiplier></ScaleMapping>"), (10, 3, -1)),
        (mapped(RANGES), (2, 1, 0)),
    ],
)
def test_answer_keys(document, values) -> None:
    assert tuple(score(document, given) for given in (BOTH, HALF, NONE)) == values


@pytest.mark.parametrize(
    "document",
    [
        mapped("<PercentageMapping><MaximumSummedScore>0</MaximumSummedScore></PercentageMapping>"),
        mapped("<ScaleMapping><SummedScoreMultiplier>much</SummedScoreMultiplier></ScaleMapping>"),
        mapped(""),
        key("").replace("<AnswerScore>10", "<AnswerScore>ten"),
        key("").replace("<QuestionIdentifier>q1</QuestionIdentifier>", ""),
        EXTERNAL,
    ],
)
def test_bad_answer_keys_are_refused(document) -> None:
    with pytest.raises(TurkError):
        score(document, {})


TEST = (
    f'<QuestionForm xmlns="{NAMESPACES}2005-10-01/QuestionForm.xsd"><Question>'
    "<QuestionIdentifier>q2</QuestionIdentifier><QuestionContent><Text>?</Text></QuestionContent><AnswerSpecification><SelectionAnswer><Selections><Selection>"
    "<SelectionIdentifier>c</SelectionIdentifier><Text>C</Text></Selection></Selections></SelectionAnswer>"
    "</AnswerSpecification></Question></QuestionForm>"
)
TYPE = {"Name": "N", "Description": "D", "QualificationTypeStatus": "Active"}


def test_a_test_is_taken_again_only_after_the_delay(door, desk, clock) -> None:
    workers = WorkersDoor(door)
    tested = {**TYPE, "Test": TEST, "AnswerKey": key(""), "TestDurationInSeconds": 60}
    type_id = desk("CreateQualificationType", **tested, RetryDelayInSeconds=3600)["QualificationType"][
        "QualificationTypeId"
    ]
    once = desk("CreateQualificationType", **{**tested, "Name": "M"})["QualificationType"]["QualificationTypeId"]
    for each in (type_id, once):
        request_id, _, _ = workers.ask_qualification(each, "A1")
        assert workers.submit_test(each, request_id, "A1", [("q2", "c")]) == "granted"
    # q1 is not in the test: -1 by default; q2: 10.
    assert (
        desk("GetQualificationScore", QualificationTypeId=type_id, WorkerId="A1")["Qualification"]["IntegerValue"] == 9
    )
    with pytest.raises(TurkError, match="You can ask again from 2026-01-05 10:00"):
        workers.ask_qualification(type_id, "A1")
    clock.advance(3600)
    assert workers.ask_qualification(type_id, "A1")[1] == "started"
    with pytest.raises(TurkError, match="asked for this qualification already"):
        workers.ask_qualification(once, "A1")


def test_a_test_that_takes_too_long_is_not_scored(door, desk, clock) -> None:
    workers = WorkersDoor(door)
    tested = {**TYPE, "Test": TEST, "AnswerKey": key(""), "TestDurationInSeconds": 60, "RetryDelayInSeconds": 0}
    type_id = desk("CreateQualificationType", **tested)["QualificationType"]["QualificationTypeId"]
    request_id, _, _ = workers.ask_qualification(type_id, "A1")
    clock.advance(91)
    assert workers.submit_test(type_id, request_id, "A1", [("q2", "c")]) == "lapsed"
    with pytest.raises(TurkError):
        desk("GetQualificationScore", QualificationTypeId=type_id, WorkerId="A1")


def test_auto_granted_types_are_granted_at_once(door, desk) -> None:
    type_id = desk("CreateQualificationType", **TYPE, AutoGranted=True, AutoGrantedValue=3)["QualificationType"][
        "QualificationTypeId"
    ]
    assert WorkersDoor(door).ask_qualification(type_id, "A1")[1] == "granted"
    assert (
        desk("GetQualificationScore", QualificationTypeId=type_id, WorkerId="A1")["Qualification"]["IntegerValue"] == 3
    )


BAD_TYPES = [
    {"Test": TEST},
    {"Test": TEST, "TestDurationInSeconds": 60, "AutoGranted": True},
    {"Test": EXTERNAL, "TestDurationInSeconds": 60},
    {"AnswerKey": key("")},
    {"AutoGrantedValue": 3},
    {"RetryDelayInSeconds": -1},
    {"Name": " "},
    {"QualificationTypeStatus": "Sleeping"},
]


@pytest.mark.parametrize("change", BAD_TYPES)
def test_types_that_contradict_the_rules_are_refused(desk, change) -> None:
    with pytest.raises(TurkError):
        desk("CreateQualificationType", **{**TYPE, **change})
    assert desk("ListQualificationTypes", MustBeRequestable=False)["NumResults"] == 0


def test_a_name_is_unique_and_blocked_for_two_days_after_deletion(desk, clock) -> None:
    type_id = desk("CreateQualificationType", **TYPE)["QualificationType"]["QualificationTypeId"]
    with pytest.raises(TurkError, match="already created a QualificationType with this name"):
        desk("CreateQualificationType", **TYPE)
    desk("DeleteQualificationType", QualificationTypeId=type_id)
    with pytest.raises(TurkError, match="It was deleted; the name is free again from"):
        desk("CreateQualificationType", **TYPE)
    clock.advance(2 * 24 * 3600)
    assert desk("CreateQualificationType", **TYPE)["QualificationType"]["QualificationTypeId"] != type_id
