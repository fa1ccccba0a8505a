"""Quotas on the task pages: who is not needed now hears so kindly, and is let in once a seat is free."""

from __future__ import annotations

from typing import Any

import pytest
from pages_house import SECRET, Plain, dialogue

from hmc_crowd.platform import SeatRule, Seats

from hmc_crowd_local.pages import Invites  # isort: skip

KIND = "You have done nothing wrong"


def home(house: Any, worker: str, region: str = "") -> tuple[str, Plain]:
    attributes = {"region": region} if region else {}
    invite = Invites(house.local, secret=SECRET).issue(worker, attributes=attributes)
    plain = Plain(house.client())
    plain.get(f"/work/i/{invite.token}")
    return f"/work/i/{invite.token}", plain


@pytest.fixture
def hit_id(house) -> str:
    """A HIT of a study of two people, one of them of the south; the seat for others is taken."""
    remote = house.local.publish(dialogue(redundancy=5, scope="study"))
    house.local.put_seats("study", Seats(2, (SeatRule("region", {"south": 1}),)))
    house.local.accept(remote.hit_id, "ann")
    return str(remote.hit_id)


def test_who_is_not_needed_now_is_told_kindly_and_offered_nothing(house, hit_id) -> None:
    _, plain = home(house, "bob", "north")
    assert KIND in plain.text
    assert "Judge the replies" not in plain.text
    assert "quota" not in plain.text
    assert "north" not in plain.text


@pytest.mark.parametrize(
    ("language", "words"),
    [("de", "Sie haben nichts falsch gemacht"), ("es", "No ha hecho nada mal"), ("vi", "không làm gì sai")],
)
def test_in_the_workers_language(house, hit_id, language, words) -> None:
    door, plain = home(house, "bob", "north")
    plain.get(f"{door}?lang={language}")
    assert words in plain.text


def test_whoever_is_needed_takes_the_work(house, hit_id) -> None:
    door, plain = home(house, "sue", "south")
    assert "Judge the replies" in plain.text
    assert KIND not in plain.text
    plain.get(f"{door}/hit/{hit_id}")
    assert plain.send("Begin").status_code == 200
    assert plain.path != ""


def test_the_address_of_a_hit_opens_no_back_door(house, hit_id) -> None:
    door, plain = home(house, "bob", "north")
    assert plain.get(f"{door}/hit/{hit_id}").status_code == 409
    assert KIND in plain.text


def test_who_looked_and_was_too_late_is_told_kindly(house, hit_id) -> None:
    door, plain = home(house, "sue", "south")
    plain.get(f"{door}/hit/{hit_id}")
    house.local.invites().issue("sam", attributes={"region": "south"})
    house.local.accept(hit_id, "sam")
    assert plain.send("Begin").status_code == 409
    assert KIND in plain.text


def test_a_seat_that_comes_back_is_offered(house, hit_id) -> None:
    door, plain = home(house, "bob", "north")
    work = next(iter(house.local.submissions([hit_id]))).submission_id
    house.local.return_(work, "ann")
    plain.get(door)
    assert "Judge the replies" in plain.text


def test_without_work_there_is_nothing_to_do_and_no_quota_to_blame(house, hit_id) -> None:
    house.local.expire(hit_id)
    _, plain = home(house, "bob", "north")
    assert KIND not in plain.text
    assert "There is nothing to do now" in plain.text


def test_other_studies_go_on(house, hit_id) -> None:
    house.local.publish(dialogue(key="other", scope="other"))
    _, plain = home(house, "bob", "north")
    assert plain.text.count("Judge the replies") > 0
    assert KIND not in plain.text
