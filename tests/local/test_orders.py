"""People whom another platform recruited: who gets which HIT, once, and what the campaign reads of it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hmc_crowd_local import connect, read_token
from hmc_crowd_local._queries import open_hits

from hmc_crowd.errors import InputError, PlatformError
from hmc_crowd.platform import RoutedPages, SubmissionState


def hit_of(platform, address: str) -> str:
    return platform.submission(own_id(platform, address)).hit_id


def own_id(platform, address: str) -> str:
    token = address.rsplit("/", 1)[1]
    return read_token(platform.secret("pages"), token, now=platform._now())


def work(platform, address: str, *, submit: bool = True) -> str:
    name = own_id(platform, address)
    remote = platform.submission(name)
    for each in platform.hit(remote.hit_id).items:
        platform.save_answer(name, remote.worker, item=each.item, aspect=each.aspect, label="yes")
    if submit:
        platform.submit(name, remote.worker)
    return name


@pytest.fixture
def door(platform, hit):
    """Two HITs of two places each, under one order."""
    platform.open_order("order", [hit("a", redundancy=2), hit("b", redundancy=2)])
    return platform.order_door("prolific")


def test_the_workplace_is_routed_pages(local) -> None:
    assert isinstance(local, RoutedPages)


def test_the_same_submission_always_gets_the_same_page(platform, door) -> None:
    first = door.claim("order", worker="ann", submission_id="s1")
    assert first is not None
    assert door.claim("order", worker="ann", submission_id="s1") == first
    work(platform, first)
    assert door.claim("order", worker="ann", submission_id="s1") == first


def test_a_submission_of_somebody_else_gets_nothing(door) -> None:
    door.claim("order", worker="ann", submission_id="s1")
    assert door.claim("order", worker="bob", submission_id="s1") is None


def test_the_same_worker_gets_each_hit_once(platform, door) -> None:
    pages = [door.claim("order", worker="ann", submission_id=f"s{i}") for i in range(3)]
    assert pages[2] is None
    assert {platform.hit(hit_of(platform, page)).key for page in pages[:2]} == {"a", "b"}


def test_places_are_given_out_once(platform, door) -> None:
    pages = [door.claim("order", worker=f"w{i}", submission_id=f"s{i}") for i in range(5)]
    assert pages[4] is None
    assert sorted(platform.hit(hit_of(platform, page)).key for page in pages[:4]) == ["a", "a", "b", "b"]


def test_an_item_in_two_hits_of_an_order_is_met_once(platform, hit) -> None:
    platform.open_order("order", [hit("a", "gold", "x"), hit("b", "gold", "y"), hit("c", "z")])
    door = platform.order_door("prolific")
    pages = [door.claim("order", worker="ann", submission_id=f"s{i}") for i in range(3)]
    assert [platform.hit(hit_of(platform, page)).key for page in pages[:2]] == ["a", "c"]
    assert pages[2] is None


def test_an_unknown_order_has_nothing(door) -> None:
    assert door.claim("other", worker="ann", submission_id="s1") is None


def test_opening_again_changes_nothing_and_adds_what_is_new(platform, door, hit) -> None:
    platform.open_order("order", [hit("a", redundancy=2), hit("b", redundancy=2), hit("c")])
    platform.open_order("order", [])
    pages = [door.claim("order", worker="ann", submission_id=f"s{i}") for i in range(4)]
    assert [page is None for page in pages] == [False, False, False, True]


def test_a_released_place_goes_to_the_next_arrival(platform, hit) -> None:
    platform.open_order("order", [hit("a")])
    door = platform.order_door("prolific")
    page = door.claim("order", worker="ann", submission_id="s1")
    name = work(platform, page, submit=False)
    assert door.claim("order", worker="bob", submission_id="s2") is None
    assert platform.release("prolific", ["s1", "s9"]) == 1
    assert platform.release("prolific", ["s1"]) == 0
    assert door.claim("order", worker="bob", submission_id="s2") is not None
    assert door.claim("order", worker="ann", submission_id="s3") is None
    assert len(platform.saved_answers([name])[name]) == 2


def test_work_that_comes_after_the_release_is_kept_for_a_person_to_see(platform, hit) -> None:
    platform.open_order("order", [hit("a")])
    page = platform.order_door("prolific").claim("order", worker="ann", submission_id="s1")
    platform.release("prolific", ["s1"])
    name = work(platform, page)
    assert platform.submission(name).state is SubmissionState.EXPIRED
    assert platform.arrivals("prolific", ["s1"])["s1"].is_submitted
    assert len(platform.answers([name])[name]) == 2


def test_releasing_what_was_handed_in_frees_the_place_and_keeps_the_work(platform, hit) -> None:
    platform.open_order("order", [hit("a")])
    door = platform.order_door("prolific")
    name = work(platform, door.claim("order", worker="ann", submission_id="s1"))
    assert platform.release("prolific", ["s1"]) == 1
    assert platform.submission(name).state is SubmissionState.SUBMITTED
    assert door.claim("order", worker="bob", submission_id="s2") is not None


def test_a_place_nobody_releases_is_free_after_time_and_grace(platform, hit, clock) -> None:
    platform.open_order("order", [hit("a", time_limit_s=600)])
    door = platform.order_door("prolific")
    door.claim("order", worker="ann", submission_id="s1")
    clock.advance(600 + 3600)
    assert door.claim("order", worker="bob", submission_id="s2") is None
    clock.advance(1)
    assert door.claim("order", worker="bob", submission_id="s2") is not None


def test_how_long_work_is_offered_is_the_recruiters_business(platform, hit, clock) -> None:
    platform.open_order("order", [hit("a", lifetime_s=60), hit("b", lifetime_s=60)])
    clock.advance(3600)
    door = platform.order_door("prolific")
    assert door.claim("order", worker="ann", submission_id="s1") is not None
    platform.expire(platform.find("b").hit_id)
    assert door.claim("order", worker="ann", submission_id="s2") is None


def test_arrivals_say_what_the_pages_know(platform, door, clock) -> None:
    name = work(platform, door.claim("order", worker="ann", submission_id="s1"))
    door.claim("order", worker="bob", submission_id="s2")
    found = platform.arrivals("prolific", ["s1", "s2", "s3"])
    assert set(found) == {"s1", "s2"}
    assert (found["s1"].hit_key, found["s1"].submission_id, found["s1"].is_submitted) == ("a", name, True)
    assert not found["s2"].is_submitted
    assert platform.arrivals("mturk", ["s1"]) == {}
    assert platform.recruiter_of(name) == ("prolific", "s1")


@pytest.mark.parametrize(("worker", "name"), [("", "s1"), ("ann", ""), ("a\x00", "s1"), ("ann", "\ud800")])
def test_ids_that_no_database_holds_are_refused(door, worker, name) -> None:
    with pytest.raises(InputError):
        door.claim("order", worker=worker, submission_id=name)


def test_an_order_without_a_key_is_refused(platform, hit) -> None:
    with pytest.raises(InputError, match="key of the order is empty"):
        platform.open_order("", [hit("a")])
    assert platform.find("a") is None


def test_an_order_over_a_changed_hit_is_refused_whole(platform, hit) -> None:
    platform.publish(hit("b", redundancy=1))
    with pytest.raises(PlatformError, match="other content"):
        platform.open_order("order", [hit("a"), hit("b", "other")])
    assert platform.find("a") is None


def test_arrivals_at_once_never_share_a_place(database_url, hit, clock) -> None:
    with connect(database_url, clock=clock) as platform:
        platform.open_order("order", [hit(f"k{i}", redundancy=2) for i in range(4)])

    def arrive(number: int) -> str | None:
        with connect(database_url, clock=clock) as own:
            # Every submission asks twice, as two tabs would.
            return own.order_door("prolific").claim("order", worker=f"w{number // 2}", submission_id=f"s{number // 2}")

    with ThreadPoolExecutor(6) as pool:
        pages = list(pool.map(arrive, range(24)))
    assert pages[::2] == pages[1::2]
    given = [page for page in pages[::2] if page is not None]
    assert len(set(given)) == len(given) == 8


def test_one_worker_at_two_doors_at_once_meets_an_item_once(database_url, hit, clock) -> None:
    with connect(database_url, clock=clock) as platform:
        platform.open_order("order", [hit(f"k{i}", "gold", f"x{i}", redundancy=3) for i in range(4)])

    def arrive(number: int) -> str | None:
        with connect(database_url, clock=clock) as own:
            return own.order_door("prolific").claim("order", worker="ann", submission_id=f"s{number}")

    with ThreadPoolExecutor(4) as pool:
        pages = list(pool.map(arrive, range(4)))
    assert sum(page is not None for page in pages) == 1


def test_another_scope_does_not_bar_a_worker(platform, hit, finish) -> None:
    first, second = hit("a", "i", scope="one"), hit("b", "i", scope="two")
    finish(platform, platform.publish(first).hit_id, first, "ann")
    finish(platform, platform.publish(second).hit_id, second, "ann")
    third = platform.publish(hit("c", "i", scope="one"))
    with pytest.raises(PlatformError, match="in another HIT"):
        platform.accept(third.hit_id, "ann")


def test_hits_of_an_order_are_offered_to_nobody_else(platform, hit) -> None:
    platform.publish(hit("own"))
    platform.open_order("order", [hit("a")])
    offered = open_hits(platform._database, at=platform._now())
    assert [platform.hit(each).key for each in offered] == ["own"]
