"""The workplace hands work out by quotas: people count, abandoned seats come back, and the last one is given once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hmc_crowd_local import connect

from hmc_crowd.errors import InputError, PlatformError
from hmc_crowd.platform import KeepsQuotas, SeatRule, Seats

SOUTH = Seats(4, (SeatRule("region", {"south": 2}),))


@pytest.fixture
def invite():
    def go(platform, **people):
        for worker, region in people.items():
            platform.invites().issue(worker, attributes={"region": region} if region else {})

    return go


def publish(platform, hit, *, hits=3, redundancy=6, scope="c"):
    return [
        platform.publish(hit(f"{scope}{number}", redundancy=redundancy, scope=scope)).hit_id for number in range(hits)
    ]


def try_to(platform, hit_id, worker):
    try:
        return platform.accept(hit_id, worker)
    except PlatformError as error:
        if "leave no seat" in str(error):
            return None
        raise


def test_it_is_a_workplace_with_quotas(local) -> None:
    assert isinstance(local, KeepsQuotas)


def test_a_full_cell_gets_no_more_work_and_the_others_do(platform, hit, invite) -> None:
    invite(platform, ann="north", bob="north", cid="north", sue="south", sam="south", sid="south")
    first, *_ = publish(platform, hit)
    platform.put_seats("c", SOUTH)
    assert try_to(platform, first, "ann")
    assert try_to(platform, first, "bob")
    assert not try_to(platform, first, "cid")
    assert platform.shut_scopes("cid") == {"c"}
    assert try_to(platform, first, "sue")
    assert try_to(platform, first, "sam")
    assert not try_to(platform, first, "sid")


def test_people_count_and_not_answers(platform, hit, finish, invite) -> None:
    invite(platform, ann="north", bob="north", cid="north")
    hits = publish(platform, hit)
    platform.put_seats("c", SOUTH)
    for number, hit_id in enumerate(hits):
        finish(platform, hit_id, hit(f"c{number}", redundancy=6, scope="c"), "ann")
    assert try_to(platform, hits[0], "bob")
    assert not try_to(platform, hits[0], "cid")


def test_who_said_nothing_gets_an_open_seat_only(platform, hit, invite) -> None:
    invite(platform, ann="", bob="west", cid="")
    first, *_ = publish(platform, hit)
    platform.put_seats("c", SOUTH)
    assert try_to(platform, first, "ann")
    assert try_to(platform, first, "bob")
    assert not try_to(platform, first, "cid")
    assert not try_to(platform, first, "nobody knows him")


@pytest.mark.parametrize("how", ["return", "lapse"])
def test_an_abandoned_seat_comes_back(platform, hit, invite, clock, how) -> None:
    invite(platform, ann="north", bob="north", cid="north")
    first, second, _ = publish(platform, hit)
    platform.put_seats("c", SOUTH)
    name = platform.accept(first, "ann").submission_id
    platform.accept(first, "bob")
    assert not try_to(platform, second, "cid")
    if how == "return":
        platform.return_(name, "ann")
    else:
        clock.advance(3601)  # the time of both ran out, and nobody has looked at their HIT since
    assert try_to(platform, second, "cid")


def test_work_under_way_is_gone_on_with_whatever_became_of_the_quotas(platform, hit, invite) -> None:
    invite(platform, ann="north")
    first, *_ = publish(platform, hit)
    name = platform.accept(first, "ann").submission_id
    platform.put_seats("c", Seats(1, (SeatRule("region", {"south": 1}),)))
    assert platform.accept(first, "ann").submission_id == name


def test_the_last_places_are_kept_for_people_who_are_missing(platform, hit, invite) -> None:
    invite(platform, ann="north", sue="south", sam="south")
    hits = publish(platform, hit, redundancy=1)
    platform.put_seats("c", SOUTH)
    assert try_to(platform, hits[0], "ann")
    # Two places are left, and two of the south are missing: ann is in and yet takes none of them.
    assert not try_to(platform, hits[1], "ann")
    assert try_to(platform, hits[1], "sue")
    assert not try_to(platform, hits[2], "ann")
    assert not try_to(platform, hits[2], "sue")
    assert try_to(platform, hits[2], "sam")


def test_without_quotas_or_in_another_campaign_everybody_may(platform, hit, invite) -> None:
    invite(platform, ann="north", bob="north", cid="north")
    other, *_ = publish(platform, hit, scope="other")
    ours, *_ = publish(platform, hit)
    platform.put_seats("c", Seats(1))
    for worker in ("ann", "bob", "cid"):
        assert try_to(platform, other, worker)
    assert try_to(platform, ours, "ann")
    assert not try_to(platform, ours, "bob")
    platform.put_seats("c", None)
    assert try_to(platform, ours, "bob")
    assert platform.shut_scopes("cid") == frozenset()


def test_a_changed_guideline_is_the_same_study(platform, hit, invite) -> None:
    invite(platform, ann="north", bob="north")
    before, *_ = publish(platform, hit)
    after, *_ = publish(platform, hit, scope="c:2")
    platform.put_seats("c", Seats(1))
    assert try_to(platform, before, "ann")
    assert not try_to(platform, after, "bob")
    assert try_to(platform, after, "ann")


@pytest.mark.parametrize("same_hit", [True, False])
def test_two_for_the_last_seat_and_one_gets_it(platform, hit, invite, same_hit) -> None:
    people = [f"n{number}" for number in range(6)]
    invite(platform, **dict.fromkeys(people, "north"))
    hits = publish(platform, hit, hits=6)
    platform.put_seats("c", SOUTH)

    def go(number):
        return try_to(platform, hits[0 if same_hit else number], people[number])

    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(go, range(6)))
    # Four people, of whom two shall be of the south: two seats are open to the north.
    assert sum(each is not None for each in done) == 2


def test_two_processes_count_the_same_people(tmp_path, hit, clock, invite) -> None:
    path = str(tmp_path / "w.db")
    with connect(path, clock=clock) as one, connect(path, clock=clock) as two:
        people = [f"n{number}" for number in range(8)]
        invite(one, **dict.fromkeys(people, "north"))
        first, *_ = publish(one, hit, redundancy=9)
        one.put_seats("c", SOUTH)
        with ThreadPoolExecutor(8) as pool:
            done = list(pool.map(lambda at: try_to((one, two)[at % 2], first, people[at]), range(8)))
        assert sum(each is not None for each in done) == 2


@pytest.mark.parametrize("seed", range(4))
def test_any_order_of_arrivals_fills_every_seat(local, hit, invite, seed) -> None:
    seats = Seats(12, (SeatRule("region", {"south": 4, "east": 2}), SeatRule("gender", {"woman": 6}, is_most=True)))
    rng = np.random.default_rng(seed)
    invites = local.invites()
    said = {}
    for number in range(60):
        said[f"w{number}"] = {
            "region": str(rng.choice(["south", "east", "north"])),
            "gender": str(rng.choice(["woman", "man"])),
        }
        invites.issue(f"w{number}", attributes=said[f"w{number}"])
    first, *_ = publish(local, hit, redundancy=12)
    local.put_seats("c", seats)
    seated = []
    for worker in rng.permutation(list(said)).tolist():
        is_in = try_to(local, first, worker) is not None
        assert is_in == seats.admits(said[worker], seated)
        if is_in:
            seated.append(said[worker])
    assert len(seated) == 12
    assert sum(each["gender"] == "woman" for each in seated) == 6
    assert sum(each["region"] == "south" for each in seated) >= 4
    assert sum(each["region"] == "east" for each in seated) >= 2


def test_a_new_invitation_says_what_the_one_before_said(local) -> None:
    invites = local.invites()
    invites.issue("ann", attributes={"region": " south "})
    assert invites.issue("ann").attributes == {"region": "south"}
    invites.set_attributes("ann", {"region": "north"})
    assert local.known_people() == {"ann": {"region": "north"}}
    invites.set_attributes("ann", {})
    assert [each.attributes for each in invites.of("ann")] == [{}, {}]
    # Campaigns hear that it was taken back, and drop what they stored.
    assert local.known_people() == {"ann": {"region": ""}}


def test_known_are_people_whose_invitation_works(local, clock) -> None:
    invites = local.invites()
    invites.issue("ann", attributes={"region": "south"}, lifetime_s=60)
    invites.revoke(invites.issue("bob", attributes={"region": "south"}).invite_id)
    assert set(local.known_people()) == {"ann"}
    clock.advance(61)
    assert local.known_people() == {}


@pytest.mark.parametrize("bad", [{"region": ""}, {" ": "south"}, {f"a{n}": "b" for n in range(51)}])
def test_attributes_that_say_nothing_are_refused(local, bad) -> None:
    with pytest.raises(InputError, match="attributes holds"):
        local.invites().issue("ann", attributes=bad)


def test_known_are_the_people_of_a_pool(local) -> None:
    local.invites().issue("ann", pool="tier1", attributes={"region": "south"})
    local.invites().issue("bob")
    assert local.known_people("tier1") == {"ann": {"region": "south"}}
    assert set(local.known_people()) == {"ann", "bob"}


def test_attributes_of_somebody_without_an_invitation_are_refused(local) -> None:
    with pytest.raises(InputError, match="'ann' has no invitation"):
        local.invites().set_attributes("ann", {"region": "south"})


def test_people_who_came_before_there_were_quotas_have_their_seats(platform, hit, invite) -> None:
    invite(platform, ann="north", bob="north", cid="north")
    first, second, _ = publish(platform, hit)
    platform.accept(first, "ann")
    platform.accept(second, "bob")
    platform.put_seats("c", SOUTH)
    assert platform.shut_scopes("cid") == {"c"}
    assert try_to(platform, second, "ann")
    platform.put_seats("c", None)
    platform.accept(first, "cid")
    platform.put_seats("c", SOUTH)
    # Three of the north are in two seats by now: nobody else of the north, and still everybody of the south.
    invite(platform, dee="north", sue="south")
    assert not try_to(platform, first, "dee")
    assert try_to(platform, first, "sue")
