"""Many HITs and submissions at once, and more places for a HIT."""

from __future__ import annotations

import pytest

from hmc_crowd.errors import PlatformError
from hmc_crowd.platform import ApprovesMany, ListsHits, SubmissionState, TopsUp


def test_the_workplace_does_things_in_bulk(local) -> None:
    assert isinstance(local, ApprovesMany)
    assert isinstance(local, ListsHits)
    assert isinstance(local, TopsUp)


def test_find_all_agrees_with_find(platform, hit, finish, clock) -> None:
    hits = [hit("full"), hit("half", redundancy=2), hit("closed"), hit("old", lifetime_s=60), hit("lapsed")]
    for each in hits:
        platform.publish(each)
    finish(platform, platform.find("full").hit_id, hits[0], "ann")
    finish(platform, platform.find("half").hit_id, hits[1], "ann")
    platform.expire(platform.find("closed").hit_id)
    platform.accept(platform.find("lapsed").hit_id, "bob")
    clock.advance(2 * 3600)
    found = platform.find_all()
    assert found == {each.key: platform.find(each.key) for each in hits}
    assert sorted(key for key, each in found.items() if each.is_open) == ["half", "lapsed"]


def test_approve_many_approves_what_waits_and_says_how_all_stand(platform, hit, finish) -> None:
    first, second = hit("a", redundancy=3), hit("b")
    ids = [platform.publish(each).hit_id for each in (first, second)]
    names = [finish(platform, ids[0], first, worker) for worker in ("ann", "bob")]
    names.append(platform.accept(ids[0], "cyd").submission_id)
    names.append(finish(platform, ids[1], second, "ann"))
    platform.reject(names[1], "All gold items wrong.")
    done = platform.approve_many(names[::-1], hit_ids=ids)
    assert [each.submission_id for each in done] == names[::-1]
    assert [each.state.value for each in done] == ["approved", "accepted", "rejected", "approved"]


def test_approve_many_refuses_a_stranger_and_changes_nothing(platform, hit, finish) -> None:
    one = hit("a")
    hit_id = platform.publish(one).hit_id
    name = finish(platform, hit_id, one, "ann")
    with pytest.raises(PlatformError, match="'other' is none of these HITs'"):
        platform.approve_many([name, "other"], hit_ids=[hit_id])
    assert platform.submission(name).state is SubmissionState.SUBMITTED


def test_a_hit_gets_more_places_to_an_absolute_number(platform, hit, finish) -> None:
    one = hit("a")
    remote = platform.publish(one)
    finish(platform, remote.hit_id, one, "ann")
    for _ in range(2):
        assert platform.top_up(one, remote.hit_id, target=3).redundancy == 3
    assert platform.top_up(one, remote.hit_id, target=2).redundancy == 3
    assert platform.find("a").is_open
    finish(platform, remote.hit_id, one, "bob")
    assert platform.publish(one).hit_id == remote.hit_id


def test_more_places_under_a_wrong_key_are_refused(platform, hit) -> None:
    remote = platform.publish(hit("a"))
    with pytest.raises(PlatformError, match="not 'b'"):
        platform.top_up(hit("b"), remote.hit_id, target=3)
