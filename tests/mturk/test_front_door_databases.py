"""The front door on both databases: history, races, several processes' worth of threads, restarts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from hmc_crowd_local._database import Database, resolve_address
from hmc_crowd_local._migrate import downgrade, upgrade
from hmc_crowd_local._tables import PREFIX
from hmc_crowd_local.mturk_api import Settings, TurkError, WorkersDoor, open_front_door
from mturk_house import AMAZON_FEES, EXTERNAL

HIT = {
    "Title": "T", "Description": "D", "Reward": "0.05", "AssignmentDurationInSeconds": 600, "LifetimeInSeconds": 3600,
    "Question": EXTERNAL, "MaxAssignments": 5,
}  # fmt: skip


@pytest.fixture
def doors(database_url, clock):
    """Two front doors on one database, as two processes have them."""
    opened = [
        open_front_door(database_url, clock=clock, settings=Settings(fees=AMAZON_FEES, start_balance_minor=100))
        for _ in range(2)
    ]
    opened[0].issue_key()
    yield opened
    for each in opened:
        each.close()


def attempt(act):
    try:
        return act()
    except TurkError as error:
        return error.code


def race(*acts):
    with ThreadPoolExecutor(len(acts)) as pool:
        return [each.result() for each in [pool.submit(attempt, act) for act in acts]]


def test_the_history_goes_down_and_up_with_data_in_the_tables(database_url, clock) -> None:
    database = Database(resolve_address(database_url))
    for _ in range(2):
        door = open_front_door(database_url, clock=clock)
        door.issue_key()
        hit_id = door.call("main", "CreateHIT", HIT)["HIT"]["HITId"]
        workers = WorkersDoor(door)
        workers.submit(workers.accept(hit_id, "A1").assignment_id, [("q", "1")])
        door.close()
        downgrade(database, "w0001")
        with database.read() as connection:
            assert not [each for each in sa.inspect(connection).get_table_names() if each.startswith(PREFIX + "mturk")]
    upgrade(database)
    database.close()


def test_a_life_on_each_database(doors) -> None:
    first, second = doors
    hit_id = first.call("main", "CreateHIT", {**HIT, "UniqueRequestToken": "t"})["HIT"]["HITId"]
    assert attempt(lambda: second.call("main", "CreateHIT", {**HIT, "UniqueRequestToken": "t"})) == (
        "AWS.MechanicalTurk.HitAlreadyExists"
    )
    workers = WorkersDoor(second)
    names = [workers.accept(hit_id, f"A{n}").assignment_id for n in range(3)]
    for name in names:
        workers.submit(name, [("q", "\x00 \U0001f600")])
    page = first.call("main", "ListAssignmentsForHIT", {"HITId": hit_id, "MaxResults": 2})
    # A token of one process is good in the other: both know the same secret.
    rest = second.call(
        "main", "ListAssignmentsForHIT", {"HITId": hit_id, "MaxResults": 2, "NextToken": page["NextToken"]}
    )
    assert len(page["Assignments"]) + len(rest["Assignments"]) == 3
    second.call("main", "ApproveAssignment", {"AssignmentId": names[0]})
    first.call("main", "RejectAssignment", {"AssignmentId": names[1], "RequesterFeedback": "x"})
    # 100 - 5 * 6 held; one is paid, one is free again.
    assert first.call("main", "GetAccountBalance", {}) == {"AvailableBalance": "0.76", "OnHoldBalance": "0.18"}


def test_one_token_sent_by_two_makes_one_hit(doors) -> None:
    for number in range(5):
        request = {**HIT, "MaxAssignments": 1, "UniqueRequestToken": f"t{number}"}
        found = race(*(lambda door=door, r=request: door.call("main", "CreateHIT", r) for door in doors))
        assert sum(isinstance(each, dict) for each in found) == 1
        assert "AWS.MechanicalTurk.HitAlreadyExists" in found


def test_two_that_spend_at_once_never_spend_more_than_there_is(doors) -> None:
    # 100 cents; each HIT holds 60.
    request = {**HIT, "Reward": "0.50", "MaxAssignments": 1}
    found = race(*(lambda door=door: door.call("main", "CreateHIT", request) for door in doors))
    assert sorted(isinstance(each, dict) for each in found) == [False, True]
    assert "AWS.MechanicalTurk.InsufficientFunds" in found


def test_the_last_place_goes_to_one(doors) -> None:
    hit_id = doors[0].call("main", "CreateHIT", {**HIT, "MaxAssignments": 1})["HIT"]["HITId"]
    acts = [lambda n=n, door=doors[n % 2]: WorkersDoor(door).accept(hit_id, f"A{n}") for n in range(6)]
    found = race(*acts)
    assert sum(not isinstance(each, str) for each in found) == 1


def test_two_approvals_pay_once(doors) -> None:
    hit_id = doors[0].call("main", "CreateHIT", {**HIT, "MaxAssignments": 1})["HIT"]["HITId"]
    workers = WorkersDoor(doors[0])
    name = workers.accept(hit_id, "A1").assignment_id
    workers.submit(name, [("q", "1")])
    found = race(*(lambda door=door: door.call("main", "ApproveAssignment", {"AssignmentId": name}) for door in doors))
    assert sorted(each == {} for each in found) == [False, True]
    assert doors[0].call("main", "GetAccountBalance", {})["AvailableBalance"] == "0.94"


def test_the_same_type_made_at_once_is_one(doors) -> None:
    request = {name: HIT[name] for name in ("Title", "Description", "Reward", "AssignmentDurationInSeconds")}
    found = race(*(lambda door=door: door.call("main", "CreateHITType", request)["HITTypeId"] for door in doors * 3))
    assert len(set(found)) == 1


def test_what_time_made_due_is_written_down_once(doors, clock) -> None:
    hit_id = doors[0].call("main", "CreateHIT", {**HIT, "AutoApprovalDelayInSeconds": 60})["HIT"]["HITId"]
    workers = WorkersDoor(doors[0])
    for number in range(3):
        workers.submit(workers.accept(hit_id, f"A{number}").assignment_id, [("q", "1")])
    clock.advance(61)
    found = race(*(lambda door=door: door.call("main", "GetAccountBalance", {}) for door in doors * 3))
    assert {str(each) for each in found} == {"{'AvailableBalance': '0.70', 'OnHoldBalance': '0.12'}"}
