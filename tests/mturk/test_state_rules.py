"""The state rules R1 to R16 of the endpoint, by their numbers, without the wire."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hmc_crowd_local.mturk_api import Settings, TurkError, WorkersDoor, open_front_door
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from mturk_house import AMAZON_FEES, EXTERNAL

from hmc_crowd.errors import InputError

TYPE = {"Title": "T", "Description": "D", "Reward": "0.05", "AssignmentDurationInSeconds": 600}
HIT = {**TYPE, "LifetimeInSeconds": 3600, "Question": EXTERNAL, "MaxAssignments": 2}
DAY = 24 * 3600


class Desk:
    """The requester `main` and its workers, without HTTP."""

    def __init__(self, door, clock):
        self.door, self.clock, self.workers = door, clock, WorkersDoor(door)

    def __call__(self, operation, **request):
        return self.door.call("main", operation, request)

    def hit(self, **change):
        return self("CreateHIT", **{**HIT, **change})["HIT"]["HITId"]

    def status(self, hit_id):
        return self("GetHIT", HITId=hit_id)["HIT"]["HITStatus"]

    def counts(self, hit_id):
        hit = self("GetHIT", HITId=hit_id)["HIT"]
        return tuple(hit[f"NumberOfAssignments{name}"] for name in ("Available", "Pending", "Completed"))

    def work(self, hit_id, worker, *, submit=True, **fields):
        name = self.workers.accept(hit_id, worker).assignment_id
        if submit:
            self.workers.submit(name, list((fields or {"a": "yes"}).items()))
        return name

    def refused(self, code, operation, **request):
        with pytest.raises(TurkError) as caught:
            self(operation, **request)
        assert caught.value.code.rpartition(".")[2] == code, caught.value.message
        return caught.value.message


@pytest.fixture
def desk(door, clock):
    return Desk(door, clock)


def test_r01_the_same_values_are_the_same_type(desk) -> None:
    first = desk("CreateHITType", **TYPE)["HITTypeId"]
    assert desk("CreateHITType", **TYPE)["HITTypeId"] == first
    assert desk("CreateHITType", **TYPE, AutoApprovalDelayInSeconds=2_592_000)["HITTypeId"] == first
    assert desk("CreateHITType", **{**TYPE, "Reward": "0.06"})["HITTypeId"] != first
    assert desk("CreateHITType", **{**TYPE, "Reward": "0.050".rstrip("0")})["HITTypeId"] == first
    hit = desk("CreateHIT", **HIT)["HIT"]
    assert hit["HITTypeId"] == first


def test_r02_a_token_makes_one_hit_for_24_hours(desk, clock) -> None:
    hit_id = desk.hit(UniqueRequestToken="t")
    assert hit_id in desk.refused("HitAlreadyExists", "CreateHIT", **HIT, UniqueRequestToken="t")
    clock.advance(DAY - 1)
    desk.refused("HitAlreadyExists", "CreateHIT", **HIT, UniqueRequestToken="t")
    clock.advance(1)
    assert desk.hit(UniqueRequestToken="t") != hit_id


def test_r02_a_refused_call_uses_no_token(desk) -> None:
    desk.refused("InsufficientFunds", "CreateHIT", **{**HIT, "Reward": "99999.00"}, UniqueRequestToken="t")
    desk.hit(UniqueRequestToken="t")


def test_r02_tokens_of_extensions_and_bonuses(desk) -> None:
    hit_id = desk.hit(MaxAssignments=3)
    name = desk.work(hit_id, "A1")
    more = {"HITId": hit_id, "NumberOfAdditionalAssignments": 1, "UniqueRequestToken": "t"}
    bonus = {"WorkerId": "A1", "AssignmentId": name, "BonusAmount": "0.10", "Reason": "R", "UniqueRequestToken": "t"}
    for operation, request in (("CreateAdditionalAssignmentsForHIT", more), ("SendBonus", bonus)):
        desk(operation, **request)
        with pytest.raises(TurkError, match="has been used already"):
            desk(operation, **request)
    assert desk("GetHIT", HITId=hit_id)["HIT"]["MaxAssignments"] == 4
    assert desk("ListBonusPayments", HITId=hit_id)["NumResults"] == 1


def test_r04_layouts_ask_for_their_parameters(desk) -> None:
    layout = desk.door.add_layout("<p>${x}</p>]]><form method=post>${x}</form>")
    request = {name: value for name, value in HIT.items() if name != "Question"}
    wrong = [{"Name": "y", "Value": "1"}]
    desk.refused("InvalidParameterValue", "CreateHIT", **request, HITLayoutId=layout, HITLayoutParameters=wrong)
    desk.refused("HITLayoutDoesNotExist", "CreateHIT", **request, HITLayoutId="NONE", HITLayoutParameters=wrong)
    right = [{"Name": "x", "Value": "a\U0001f600"}]
    made = desk("CreateHIT", **request, HITLayoutId=layout, HITLayoutParameters=right)["HIT"]
    assert desk.workers.offer(made["HITId"]).question.html == "<p>a&#x1F600;</p>]]><form method=post>a&#x1F600;</form>"


PERCENT, APPROVED, LOCALE = "000000000000000000L0", "00000000000000000040", "00000000000000000071"
BAD_REQUIREMENTS = [
    {"QualificationTypeId": PERCENT, "Comparator": "Exists", "IntegerValues": [1]},
    {"QualificationTypeId": PERCENT, "Comparator": "GreaterThan"},
    {"QualificationTypeId": PERCENT, "Comparator": "GreaterThan", "IntegerValues": [1, 2]},
    {"QualificationTypeId": PERCENT, "Comparator": "In", "IntegerValues": list(range(16))},
    {"QualificationTypeId": PERCENT, "Comparator": "EqualTo", "LocaleValues": [{"Country": "US"}]},
    {"QualificationTypeId": LOCALE, "Comparator": "EqualTo", "IntegerValues": [1]},
    {"QualificationTypeId": LOCALE, "Comparator": "GreaterThan", "LocaleValues": [{"Country": "US"}]},
    {"QualificationTypeId": LOCALE, "Comparator": "In", "LocaleValues": [{"Country": "US"}] * 31},
    {"QualificationTypeId": LOCALE, "Comparator": "Exists"},
    {"QualificationTypeId": "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", "Comparator": "Exists"},
    {"QualificationTypeId": "NOSUCHTYPE", "Comparator": "Exists"},
    {
        "QualificationTypeId": PERCENT,
        "Comparator": "GreaterThan",
        "IntegerValues": [1],
        "ActionsGuarded": "Accept",
        "RequiredToPreview": True,
    },
]


@pytest.mark.parametrize("requirement", BAD_REQUIREMENTS)
def test_r05_requirements_that_contradict_the_rules_are_refused(desk, requirement) -> None:
    with pytest.raises(TurkError):
        desk.hit(QualificationRequirements=[requirement])


def test_r05_at_most_ten(desk) -> None:
    one = {"QualificationTypeId": PERCENT, "Comparator": "GreaterThan", "IntegerValues": [1]}
    desk.hit(QualificationRequirements=[one] * 10)
    desk.refused("InvalidParameterValue", "CreateHIT", **HIT, QualificationRequirements=[one] * 11)


def test_r06_money_is_held_spent_and_released(desk, clock) -> None:
    def balance():
        shown = desk("GetAccountBalance")
        return shown["AvailableBalance"], shown["OnHoldBalance"]

    hit_id = desk.hit(MaxAssignments=3)
    # 3 * (0.05 + 0.01) is held.
    assert balance() == ("9999.82", "0.18")
    good, bad = desk.work(hit_id, "A1"), desk.work(hit_id, "A2")
    desk("ApproveAssignment", AssignmentId=good)
    assert balance() == ("9999.82", "0.12")
    desk("RejectAssignment", AssignmentId=bad, RequesterFeedback="No.")
    assert balance() == ("9999.88", "0.06")
    clock.advance(3600)
    assert balance() == ("9999.94", "0.00")
    desk("ApproveAssignment", AssignmentId=bad, OverrideRejection=True)
    assert balance() == ("9999.88", "0.00")


def test_r06_what_cannot_be_paid_is_not_promised(tmp_path, clock) -> None:
    door = open_front_door(
        str(tmp_path / "w.db"), clock=clock, settings=Settings(fees=AMAZON_FEES, start_balance_minor=20)
    )
    door.issue_key()
    desk = Desk(door, clock)
    hit_id = desk.hit(MaxAssignments=2)  # 0.12 of 0.20
    desk.refused("InsufficientFunds", "CreateHIT", **HIT)
    desk.refused(
        "InsufficientFunds", "CreateAdditionalAssignmentsForHIT", HITId=hit_id, NumberOfAdditionalAssignments=2
    )
    name = desk.work(hit_id, "A1")
    bonus = {"WorkerId": "A1", "AssignmentId": name, "Reason": "R"}
    desk.refused("InsufficientFunds", "SendBonus", **bonus, BonusAmount="0.08")  # 0.08 + 0.02 of 0.08
    desk("SendBonus", **bonus, BonusAmount="0.06")  # 0.06 + 0.01
    desk("ApproveAssignment", AssignmentId=name)
    assert desk("GetAccountBalance") == {"AvailableBalance": "0.01", "OnHoldBalance": "0.06"}
    door.add_funds(100)
    desk.hit(MaxAssignments=1)
    door.close()


def test_r07_the_life_of_a_hit(desk, clock) -> None:
    hit_id = desk.hit()
    first = desk.work(hit_id, "A1", submit=False)
    assert (desk.status(hit_id), desk.counts(hit_id)) == ("Assignable", (1, 1, 0))
    second = desk.work(hit_id, "A2", submit=False)
    assert (desk.status(hit_id), desk.counts(hit_id)) == ("Unassignable", (0, 2, 0))
    with pytest.raises(TurkError, match="Unassignable"):
        desk.workers.accept(hit_id, "A3")
    desk.workers.return_(first, "A1")
    assert desk.status(hit_id) == "Assignable"
    desk.work(hit_id, "A1")
    clock.advance(601)
    assert desk.counts(hit_id) == (1, 0, 0)  # A2 abandoned it
    desk.work(hit_id, "A3")
    assert (desk.status(hit_id), desk.counts(hit_id)) == ("Reviewable", (0, 0, 0))
    assert second in {each.assignment_id for each in [desk.workers.submit(second, [("a", "late")])]}


def test_r07_expiry_does_not_cut_accepted_work(desk, clock) -> None:
    hit_id = desk.hit(LifetimeInSeconds=60)
    name = desk.work(hit_id, "A1", submit=False)
    clock.advance(120)
    assert desk.status(hit_id) == "Reviewable"
    desk.refused("InvalidHITState", "DeleteHIT", HITId=hit_id)
    assert desk.workers.submit(name, [("a", "1")]).status == "submitted"
    assert desk("ListAssignmentsForHIT", HITId=hit_id)["NumResults"] == 1


def test_r07_submitting_again_changes_nothing(desk) -> None:
    name = desk.work(desk.hit(), "A1", a="first")
    desk.workers.submit(name, [("a", "second")])
    assert "first" in desk("GetAssignment", AssignmentId=name)["Assignment"]["Answer"]


def test_r07_returned_work_cannot_be_handed_in(desk) -> None:
    name = desk.work(desk.hit(), "A1", submit=False)
    desk.workers.return_(name, "A1")
    with pytest.raises(TurkError, match="Returned"):
        desk.workers.submit(name, [("a", "1")])


def test_r08_submissions_approve_themselves_when_due(desk, clock) -> None:
    hit_id = desk.hit(AutoApprovalDelayInSeconds=3600)
    name = desk.work(hit_id, "A1")
    submitted = clock.now()
    clock.advance(10 * DAY)
    shown = desk("GetAssignment", AssignmentId=name)["Assignment"]
    assert shown["AssignmentStatus"] == "Approved"
    assert shown["ApprovalTime"] == shown["AutoApprovalTime"] == submitted + timedelta(hours=1)
    assert desk("GetAccountBalance")["AvailableBalance"] == "9999.94"
    message = desk.refused("InvalidAssignmentState", "RejectAssignment", AssignmentId=name, RequesterFeedback="x")
    assert "This operation can be called with a status of: Submitted" in message


def test_r09_reviews_come_from_submitted_only(desk, clock) -> None:
    hit_id = desk.hit(MaxAssignments=3)
    open_, good, bad = desk.work(hit_id, "A1", submit=False), desk.work(hit_id, "A2"), desk.work(hit_id, "A3")
    assert "status of: null" in desk.refused("InvalidAssignmentState", "ApproveAssignment", AssignmentId=open_)
    desk("ApproveAssignment", AssignmentId=good)
    desk("RejectAssignment", AssignmentId=bad, RequesterFeedback="x")
    for operation, name in (("ApproveAssignment", good), ("ApproveAssignment", bad)):
        desk.refused("InvalidAssignmentState", operation, AssignmentId=name)
    clock.advance(30 * DAY + 1)
    desk.refused("InvalidAssignmentState", "ApproveAssignment", AssignmentId=bad, OverrideRejection=True)


def test_r09_no_override_after_the_hit_is_deleted(desk, clock) -> None:
    hit_id = desk.hit(MaxAssignments=1)
    bad = desk.work(hit_id, "A1")
    desk("RejectAssignment", AssignmentId=bad, RequesterFeedback="x")
    desk("DeleteHIT", HITId=hit_id)
    desk.refused("InvalidAssignmentState", "ApproveAssignment", AssignmentId=bad, OverrideRejection=True)


def test_r10_the_rule_of_ten(desk) -> None:
    small, large = desk.hit(MaxAssignments=9), desk.hit(MaxAssignments=10)
    more = "CreateAdditionalAssignmentsForHIT"
    desk.refused("InvalidMaximumAssignmentsIncrease", more, HITId=small, NumberOfAdditionalAssignments=1)
    desk(more, HITId=large, NumberOfAdditionalAssignments=90)
    desk.refused("InvalidParameterValue", more, HITId=large, NumberOfAdditionalAssignments=0)


def test_r11_deleting(desk, clock) -> None:
    hit_id = desk.hit(MaxAssignments=1)
    desk.refused("InvalidHITState", "DeleteHIT", HITId=hit_id)
    name = desk.work(hit_id, "A1")
    desk.refused("InvalidHITState", "DeleteHIT", HITId=hit_id)
    desk("ApproveAssignment", AssignmentId=name)
    desk("DeleteHIT", HITId=hit_id)
    assert desk("ListHITs")["HITs"] == []
    assert desk.status(hit_id) == "Disposed"
    desk.refused("InvalidHITState", "UpdateExpirationForHIT", HITId=hit_id, ExpireAt=clock.now().timestamp())
    desk.refused("InvalidHITState", "DeleteHIT", HITId=hit_id)


def test_r11_hits_are_disposed_of_after_120_days(desk, clock) -> None:
    hit_id = desk.hit(LifetimeInSeconds=300 * DAY)
    clock.advance(120 * DAY)
    assert desk.status(hit_id) == "Disposed"
    assert desk("ListHITs")["HITs"] == []
    assert desk("GetAccountBalance")["OnHoldBalance"] == "0.00"


def test_r12_a_worker_has_a_hit_once(desk) -> None:
    hit_id = desk.hit(MaxAssignments=3)
    name = desk.work(hit_id, "A1", submit=False)
    assert desk.workers.accept(hit_id, "A1").assignment_id == name
    desk.workers.submit(name, [("a", "1")])
    with pytest.raises(TurkError, match="done this HIT already"):
        desk.workers.accept(hit_id, "A1")


def test_r12_blocked_workers_get_nothing(desk) -> None:
    hit_id = desk.hit()
    desk("CreateWorkerBlock", WorkerId="A1", Reason="Spam.")
    with pytest.raises(TurkError, match="does not give you work"):
        desk.workers.accept(hit_id, "A1")
    assert desk.workers.offers("A1") == []
    desk("DeleteWorkerBlock", WorkerId="A1")
    desk.workers.accept(hit_id, "A1")


def test_r12_a_qualification_guards_what_it_says(desk) -> None:
    made = desk("CreateQualificationType", Name="N", Description="D", QualificationTypeStatus="Active")
    type_id = made["QualificationType"]["QualificationTypeId"]
    asked = {"QualificationTypeId": type_id, "Comparator": "GreaterThanOrEqualTo", "IntegerValues": [80]}
    hits = {
        guard: desk.hit(Title=guard, QualificationRequirements=[{**asked, "ActionsGuarded": guard}])
        for guard in ("Accept", "PreviewAndAccept", "DiscoverPreviewAndAccept")
    }
    assert {offer.title for offer in desk.workers.offers("A1")} == {"Accept", "PreviewAndAccept"}
    desk.workers.preview(hits["Accept"], "A1")
    with pytest.raises(TurkError, match="lack the qualification"):
        desk.workers.preview(hits["PreviewAndAccept"], "A1")
    desk("AssociateQualificationWithWorker", QualificationTypeId=type_id, WorkerId="A1", IntegerValue=79)
    with pytest.raises(
        TurkError, match=rf"score in the qualification 'N' \({type_id}\) is 79; .* asks for at least 80"
    ):
        desk.workers.accept(hits["Accept"], "A1")
    desk("AssociateQualificationWithWorker", QualificationTypeId=type_id, WorkerId="A1", IntegerValue=80)
    for hit_id in hits.values():
        desk.workers.accept(hit_id, "A1")


COMPARISONS = [
    ("LessThan", [5], {4}), ("LessThanOrEqualTo", [5], {4, 5}), ("GreaterThan", [5], {6}),
    ("GreaterThanOrEqualTo", [5], {5, 6}), ("EqualTo", [5], {5}), ("NotEqualTo", [5], {4, 6}),
    ("In", [4, 6], {4, 6}), ("NotIn", [4, 6], {5}), ("Exists", [], {4, 5, 6}), ("DoesNotExist", [], {None}),
]  # fmt: skip


@pytest.mark.parametrize(("comparator", "values", "passing"), COMPARISONS)
def test_r12_comparators(desk, comparator, values, passing) -> None:
    type_id = desk("CreateQualificationType", Name="N", Description="D", QualificationTypeStatus="Active")[
        "QualificationType"
    ]["QualificationTypeId"]
    asked = {"QualificationTypeId": type_id, "Comparator": comparator, **({"IntegerValues": values} if values else {})}
    hit_id = desk.hit(MaxAssignments=9, QualificationRequirements=[asked])
    let_in = set()
    for value in (None, 4, 5, 6):
        worker = f"A{value or 0}"
        if value is not None:
            desk("AssociateQualificationWithWorker", QualificationTypeId=type_id, WorkerId=worker, IntegerValue=value)
        try:
            desk.workers.accept(hit_id, worker)
            let_in.add(value)
        except TurkError:
            pass
    assert let_in == passing


REFUSALS = [
    ("GreaterThan", [90], 80, "is 80; this HIT asks for more than 90"),
    ("In", [1, 2], 80, "is 80; this HIT asks for one of 1, 2"),
    ("NotIn", [1, 80], 80, "is 80; this HIT asks for none of 1, 80"),
    ("GreaterThan", [90], None, "You lack the qualification 'N'"),
    ("DoesNotExist", [], 80, "You have the qualification 'N' .*, which this HIT rules out"),
]


@pytest.mark.parametrize(("comparator", "values", "score", "told"), REFUSALS)
def test_r12_a_worker_is_told_what_keeps_him_from_a_hit(desk, comparator, values, score, told) -> None:
    type_id = desk("CreateQualificationType", Name="N", Description="D", QualificationTypeStatus="Active")[
        "QualificationType"
    ]["QualificationTypeId"]
    asked = {"QualificationTypeId": type_id, "Comparator": comparator, **({"IntegerValues": values} if values else {})}
    hit_id = desk.hit(QualificationRequirements=[asked])
    if score is not None:
        desk("AssociateQualificationWithWorker", QualificationTypeId=type_id, WorkerId="A1", IntegerValue=score)
    with pytest.raises(TurkError, match=told):
        desk.workers.accept(hit_id, "A1")


def test_r12_a_worker_is_told_when_it_is_about_where_he_lives_or_his_age(desk) -> None:
    not_us = {"QualificationTypeId": LOCALE, "Comparator": "NotEqualTo", "LocaleValues": [{"Country": "US"}]}
    grown = {"QualificationTypeId": "00000000000000000060", "Comparator": "Exists"}
    for asked, told in ((not_us, "where you live"), (grown, "is for adults")):
        with pytest.raises(TurkError, match=told):
            desk.workers.accept(desk.hit(QualificationRequirements=[asked]), "A1")


def test_r12_system_qualifications_are_worked_out(tmp_path, clock) -> None:
    door = open_front_door(str(tmp_path / "w.db"), clock=clock, settings=Settings(percent_known_from=4))
    door.issue_key()
    desk = Desk(door, clock)
    for number, is_good in enumerate([True, True, False]):
        name = desk.work(desk.hit(Title=f"past {number}"), "A1")
        if is_good:
            desk("ApproveAssignment", AssignmentId=name)
        else:
            desk("RejectAssignment", AssignmentId=name, RequesterFeedback="x")
    asked = {"QualificationTypeId": PERCENT, "Comparator": "GreaterThan", "IntegerValues": [90]}
    hit_id = desk.hit(QualificationRequirements=[asked])
    # Three reviewed, fewer than four: shown as 100 percent.
    desk.workers.return_(desk.workers.accept(hit_id, "A1").assignment_id, "A1")
    desk("ApproveAssignment", AssignmentId=desk.work(desk.hit(Title="past 3"), "A1"))
    # 3 of 4 are 75 percent.
    with pytest.raises(TurkError, match=r"was approved \(in percent\) is 75; this HIT asks for more than 90"):
        desk.workers.accept(hit_id, "A1")
    count = {"QualificationTypeId": APPROVED, "Comparator": "GreaterThanOrEqualTo", "IntegerValues": [3]}
    desk.workers.accept(desk.hit(QualificationRequirements=[count]), "A1")
    door.close()


def test_r12_locale_and_age(desk) -> None:
    west = {"QualificationTypeId": LOCALE, "Comparator": "In", "LocaleValues": [{"Country": "US", "Subdivision": "CA"}]}
    not_us = {"QualificationTypeId": LOCALE, "Comparator": "NotEqualTo", "LocaleValues": [{"Country": "US"}]}
    grown = {"QualificationTypeId": "00000000000000000060", "Comparator": "Exists"}
    hits = [desk.hit(MaxAssignments=9, QualificationRequirements=[each]) for each in (west, not_us, grown)]
    desk.door.set_worker("ACAL", country="US", subdivision="CA", is_adult=True)
    desk.door.set_worker("ANY", country="US", subdivision="NY")
    desk.door.set_worker("ANL", country="NL")
    found = {}
    for worker in ("ACAL", "ANY", "ANL", "AUNKNOWN"):
        found[worker] = []
        for number, hit_id in enumerate(hits):
            try:
                desk.workers.accept(hit_id, worker)
                found[worker].append(number)
            except TurkError:
                pass
    assert found == {"ACAL": [0, 2], "ANY": [], "ANL": [1], "AUNKNOWN": []}


def test_r12_a_subdivision_that_nobody_noted_is_neither_inside_nor_outside(desk) -> None:
    outside = {
        "QualificationTypeId": LOCALE,
        "Comparator": "NotIn",
        "LocaleValues": [{"Country": "US", "Subdivision": "CA"}, {"Country": "FR"}],
    }
    hit_id = desk.hit(MaxAssignments=9, QualificationRequirements=[outside])
    desk.door.set_worker("AUS", country="US")
    with pytest.raises(TurkError, match="nobody has noted here where you live; the people of this workplace"):
        desk.workers.accept(hit_id, "AUS")
    desk.door.set_worker("AUS", country="US", subdivision="NY")
    desk.workers.accept(hit_id, "AUS")


def test_r12_what_is_not_said_of_a_worker_stays(desk) -> None:
    grown = {"QualificationTypeId": "00000000000000000060", "Comparator": "Exists"}
    hit_id = desk.hit(QualificationRequirements=[grown])
    desk.door.set_worker("A1", is_adult=True)
    desk.door.set_worker("A1", country="NL")
    desk.workers.accept(hit_id, "A1")


@pytest.mark.parametrize(("country", "subdivision"), [("us", None), ("USA", None), ("US", "C"), (None, "CA")])
def test_r12_a_place_is_two_capital_letters(desk, country: str | None, subdivision: str | None) -> None:
    with pytest.raises(InputError, match=r"capital letters|of no country"):
        desk.door.set_worker("A1", country=country, subdivision=subdivision)


def test_r13_pages(desk) -> None:
    hits = [desk.hit() for _ in range(12)]
    first = desk("ListHITs")
    assert (first["NumResults"], len(first["NextToken"]) <= 255) == (10, True)
    rest = desk("ListHITs", NextToken=first["NextToken"], MaxResults=100)
    assert {each["HITId"] for each in first["HITs"] + rest["HITs"]} == set(hits)
    # The last page with rows has a token, too; the empty page behind it has none.
    over = desk("ListHITs", NextToken=rest["NextToken"])
    assert (over["HITs"], over["NumResults"], over["NextToken"]) == ([], 0, None)
    for token in ("nonsense", first["NextToken"][:-4] + "AAAA", "ä", first["NextToken"] + "=="):
        with pytest.raises(TurkError, match="NextToken is not one"):
            desk("ListHITs", NextToken=token)
    with pytest.raises(TurkError, match="NextToken is not one that this query returned"):
        desk("ListWorkerBlocks", NextToken=first["NextToken"])
    with pytest.raises(TurkError, match="MaxResults is 101"):
        desk("ListHITs", MaxResults=101)


def test_r13_rows_that_are_added_between_pages_are_not_repeated(desk, clock) -> None:
    hit_id = desk.hit(MaxAssignments=30)
    for number in range(12):
        desk.work(hit_id, f"A{number}")
    first = desk("ListAssignmentsForHIT", HITId=hit_id)
    clock.advance(1)
    for number in range(20, 23):
        desk.work(hit_id, f"A{number}")
    rest = desk("ListAssignmentsForHIT", HITId=hit_id, NextToken=first["NextToken"])
    names = [each["AssignmentId"] for each in first["Assignments"] + rest["Assignments"]]
    assert len(names) == len(set(names)) == 15


def test_r14_a_bonus_goes_to_who_did_the_work(desk) -> None:
    name = desk.work(desk.hit(), "A1")
    bonus = {"AssignmentId": name, "BonusAmount": "0.10", "Reason": "R"}
    desk.refused("InvalidParameterValue", "SendBonus", **bonus, WorkerId="A2")
    desk("SendBonus", **bonus, WorkerId="A1")
    desk.refused("InvalidParameterValue", "SendBonus", **{**bonus, "BonusAmount": "0"}, WorkerId="A1")
    desk.refused("InvalidParameterValue", "ListBonusPayments")
    open_ = desk.work(desk.hit(), "A3", submit=False)
    desk.refused("InvalidAssignmentState", "SendBonus", **{**bonus, "AssignmentId": open_}, WorkerId="A3")


def test_r15_messages_go_to_known_workers(desk) -> None:
    desk.work(desk.hit(), "A1")
    text = {"Subject": "S", "MessageText": "M"}
    failed = desk("NotifyWorkers", **text, WorkerIds=["A1", "A2"])["NotifyWorkersFailureStatuses"]
    assert [(each["WorkerId"], each["NotifyWorkersFailureCode"]) for each in failed] == [("A2", "HardFailure")]
    desk.refused("InvalidParameterValue", "NotifyWorkers", **text, WorkerIds=[f"A{n}" for n in range(101)])
    desk.refused("InvalidParameterValue", "NotifyWorkers", **{**text, "Subject": "x" * 201}, WorkerIds=["A1"])


def test_r16_a_submission_becomes_readable_later(tmp_path, clock) -> None:
    door = open_front_door(str(tmp_path / "w.db"), clock=clock, settings=Settings(readable_after_s=60))
    door.issue_key()
    desk = Desk(door, clock)
    hit_id = desk.hit()
    name = desk.work(hit_id, "A1")
    assert desk("ListAssignmentsForHIT", HITId=hit_id)["NumResults"] == 0
    assert "null" in desk.refused("InvalidAssignmentState", "ApproveAssignment", AssignmentId=name)
    clock.advance(60)
    assert desk("ListAssignmentsForHIT", HITId=hit_id)["NumResults"] == 1
    door.close()


class FrontDoorMachine(RuleBasedStateMachine):
    """Whatever requesters, workers and time do: places are never exceeded, and every cent is accounted for."""

    @initialize()
    def open(self) -> None:
        import tempfile
        from datetime import UTC, datetime

        from hmc_crowd._base.clock import VirtualClock

        self.folder = tempfile.TemporaryDirectory()
        self.clock = VirtualClock(datetime(2026, 1, 5, tzinfo=UTC))
        door = open_front_door(
            f"{self.folder.name}/w.db",
            clock=self.clock,
            settings=Settings(fees=AMAZON_FEES, start_balance_minor=500),
        )
        door.issue_key()
        self.desk = Desk(door, self.clock)
        self.hits: list[str] = []
        self.work: list[tuple[str, str]] = []
        self.bonuses = 0

    def teardown(self) -> None:
        if hasattr(self, "desk"):
            self.desk.door.close()
            self.folder.cleanup()

    def attempt(self, act):
        try:
            return act()
        except TurkError:
            return None

    @rule(places=st.integers(1, 12), auto=st.sampled_from([0, 300, 2_592_000]), life=st.sampled_from([60, 3600]))
    def create(self, places, auto, life) -> None:
        made = self.attempt(
            lambda: self.desk.hit(MaxAssignments=places, AutoApprovalDelayInSeconds=auto, LifetimeInSeconds=life)
        )
        if made:
            self.hits.append(made)

    @precondition(lambda self: self.hits)
    @rule(data=st.data(), worker=st.sampled_from(["A1", "A2", "A3", "A4"]))
    def accept(self, data, worker) -> None:
        hit_id = data.draw(st.sampled_from(self.hits))
        made = self.attempt(lambda: self.desk.workers.accept(hit_id, worker))
        if made:
            self.work.append((made.assignment_id, worker))

    @precondition(lambda self: self.work)
    @rule(data=st.data(), step=st.sampled_from(["submit", "return", "approve", "reject", "override", "bonus"]))
    def go_on(self, data, step) -> None:
        name, worker = data.draw(st.sampled_from(self.work))
        desk = self.desk
        acts = {
            "submit": lambda: desk.workers.submit(name, [("a", "1")], worker),
            "return": lambda: desk.workers.return_(name, worker),
            "approve": lambda: desk("ApproveAssignment", AssignmentId=name),
            "override": lambda: desk("ApproveAssignment", AssignmentId=name, OverrideRejection=True),
            "reject": lambda: desk("RejectAssignment", AssignmentId=name, RequesterFeedback="x"),
            "bonus": lambda: desk("SendBonus", WorkerId=worker, AssignmentId=name, BonusAmount="0.10", Reason="R"),
        }
        done = self.attempt(acts[step])
        if step == "bonus" and done is not None:
            self.bonuses += 12  # 0.10 and 20 percent

    @precondition(lambda self: self.hits)
    @rule(data=st.data(), step=st.sampled_from(["extend", "expire", "reopen", "delete"]))
    def manage(self, data, step) -> None:
        hit_id = data.draw(st.sampled_from(self.hits))
        desk, now = self.desk, self.clock.now().timestamp()
        acts = {
            "extend": lambda: desk("CreateAdditionalAssignmentsForHIT", HITId=hit_id, NumberOfAdditionalAssignments=2),
            "expire": lambda: desk("UpdateExpirationForHIT", HITId=hit_id, ExpireAt=0),
            "reopen": lambda: desk("UpdateExpirationForHIT", HITId=hit_id, ExpireAt=now + 600),
            "delete": lambda: desk("DeleteHIT", HITId=hit_id),
        }
        self.attempt(acts[step])

    @rule(seconds=st.sampled_from([1, 61, 601, 3601, 86_400]))
    def wait(self, seconds) -> None:
        self.clock.advance(seconds)

    @invariant()
    def books_agree(self) -> None:
        if not hasattr(self, "desk"):
            return
        spent = held = 0
        for hit_id in self.hits:
            hit = self.desk("GetHIT", HITId=hit_id)["HIT"]
            found = self.desk("ListAssignmentsForHIT", HITId=hit_id, MaxResults=100)["Assignments"]
            states = [each["AssignmentStatus"] for each in found]
            pending, free = hit["NumberOfAssignmentsPending"], hit["NumberOfAssignmentsAvailable"]
            assert len(found) + pending + free == hit["MaxAssignments"]
            assert len({each["WorkerId"] for each in found}) == len(found)
            unit = 5 + (2 if hit["MaxAssignments"] >= 10 else 1)
            spent += unit * states.count("Approved")
            is_over = hit["HITStatus"] == "Disposed" or hit["Expiration"] <= self.clock.now()
            held += unit * (states.count("Submitted") + pending + (0 if is_over else free))
        balance = self.desk("GetAccountBalance")
        cents = {name: int(text.replace(".", "")) for name, text in balance.items()}
        assert cents["OnHoldBalance"] == held
        assert cents["AvailableBalance"] == 500 - spent - held - self.bonuses


class TestFrontDoorMachine(FrontDoorMachine.TestCase):
    settings = hypothesis_settings(max_examples=8, stateful_step_count=25, deadline=None)


@pytest.mark.slow
class TestFrontDoorMachineLong(FrontDoorMachine.TestCase):
    settings = hypothesis_settings(max_examples=40, stateful_step_count=60, deadline=None)
