"""A worker's link that leaked is refused at once when it is taken back, on every page that it opened."""

from __future__ import annotations

import pytest
from hmc_crowd_local import LocalPlatform
from mturk_house import html_question

from hmc_crowd.errors import InputError
from hmc_crowd.platform import FeeSchedule

PAGE = html_question("<form method=post><input name='assignmentId'><input name='q'></form>")


@pytest.fixture
def house(make_house):
    return make_house(trust_worker_ids=False)


def opened(house, key: str, name: str, hit_id: str) -> set[int]:
    who = {"workerId": "A1", "key": key}
    gets = ("hits", f"preview?hitId={hit_id}", f"accept?hitId={hit_id}", f"draft?assignmentId={name}")
    found = {
        house.page("GET", f"/mturk/{path}{'&' if '?' in path else '?'}workerId=A1&key={key}").status_code
        for path in gets
    }
    found.add(house.page("POST", "/mturk/draft", json={**who, "assignmentId": name, "fields": []}).status_code)
    found.add(house.page("POST", "/mturk/events", json={**who, "assignmentId": name, "events": []}).status_code)
    return found


@pytest.mark.parametrize("way", ["revoke", "new"])
def test_a_link_that_is_taken_back_opens_nothing_from_then_on(house, way) -> None:
    hit_id = house.hit(Question=PAGE)
    leaked = house.door.worker_key("A1")
    name = house.workers.accept(hit_id, "A1").assignment_id
    assert opened(house, leaked, name, hit_id) == {200, 204}
    if way == "revoke":
        house.door.revoke_worker_key("A1")
    else:
        house.door.issue_worker_key("A1", is_new=True)
    assert opened(house, leaked, name, hit_id) == {403}
    assert (
        house.page("POST", "/mturk/return", data={"workerId": "A1", "key": leaked, "assignmentId": name}).status_code
        == 403
    )
    fresh = house.door.issue_worker_key("A1", is_new=True)
    # What the worker had begun is there under the new link.
    assert "Continue" in house.page("GET", f"/mturk/hits?workerId=A1&key={fresh}").text


def test_another_worker_s_link_goes_on(house) -> None:
    bob = house.door.worker_key("A2")
    house.door.revoke_worker_key("A1")
    assert house.page("GET", f"/mturk/hits?workerId=A2&key={bob}").status_code == 200


def test_links_of_older_versions_work_until_they_are_taken_back(house) -> None:
    old = house.door.sign("worker:A1")
    assert house.door.worker_key("A1") == house.door.issue_worker_key("A1") == old
    keys = {old} | {house.door.issue_worker_key("A1", is_new=True) for _ in range(3)}
    assert len(keys) == 4
    assert [house.door.is_worker_key("A1", each) for each in keys].count(True) == 1


def test_a_link_that_was_taken_back_is_not_printed_again(house) -> None:
    house.door.revoke_worker_key("A1")
    house.door.revoke_worker_key("A1")
    for ask in (house.door.worker_key, house.door.issue_worker_key):
        with pytest.raises(InputError, match=r"worker A1 was taken back on .* UTC; make a new one"):
            ask("A1")


def test_the_list_holds_who_has_a_link_or_has_worked(house, clock) -> None:
    house.workers.accept(house.hit(Question=PAGE), "A3")
    house.door.issue_worker_key("A2")
    clock.advance(60)
    house.door.revoke_worker_key("A1")
    found = [(each.worker, each.made_at is None, each.revoked_at) for each in house.door.worker_links()]
    assert found == [("A1", True, clock.now()), ("A2", False, None), ("A3", True, None)]


@pytest.mark.parametrize("way", ["revoke", "new"])
def test_a_link_that_was_taken_back_stays_so_when_its_worker_is_erased(house, way) -> None:
    leaked = house.door.worker_key("A1ERASED")
    if way == "revoke":
        house.door.revoke_worker_key("A1ERASED")
    else:
        house.door.issue_worker_key("A1ERASED", is_new=True)
    place = LocalPlatform(house.door.database, clock=house.clock, ids=house.door._ids, fees=FeeSchedule(), pages="")
    place.erase_person("A1ERASED")
    place.erase_person("A1ERASED")
    assert not house.door.is_worker_key("A1ERASED", leaked)
    with pytest.raises(InputError, match="make a new one"):
        house.door.issue_worker_key("A1ERASED")
    assert house.door.worker_links() == []
    # Whoever is back gets a link of their own, under which the leaked one is refused as before.
    fresh = house.door.issue_worker_key("A1ERASED", is_new=True)
    assert house.door.is_worker_key("A1ERASED", fresh)
    assert not house.door.is_worker_key("A1ERASED", leaked)
    place.erase_person("A1ERASED")
    assert not house.door.is_worker_key("A1ERASED", fresh)
