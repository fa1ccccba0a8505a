"""The rest of a HIT that the rule of ten forbids to extend: offered once, to the same kind of people."""

from __future__ import annotations

from hmc_crowd_mturk import Requirement
from mturk_house import make_hit


def test_the_rest_of_a_hit_is_offered_once_although_its_token_is_too_old(house, platform, clock) -> None:
    hit = make_hit(redundancy=9)
    remote = platform.publish(hit)
    first = platform.top_up(hit, remote.hit_id, target=10)
    clock.advance(25 * 3600)
    assert platform.top_up(hit, remote.hit_id, target=10).hit_id == first.hit_id
    assert sum(each.startswith("CreateHITWith") for each in house.calls) == 2


def test_the_rest_of_a_hit_asks_for_the_same_qualifications(house, platform) -> None:
    asked = Requirement(platform.ensure_qualification("passed the test", "Passed."), "Exists")
    platform._requirements = (asked,)
    hit = make_hit(redundancy=9)
    remote = platform.publish(hit)
    rest = platform.top_up(hit, remote.hit_id, target=10)
    row = platform._api.read("GetHIT", "HIT", HITId=rest.hit_id)
    assert [each["Comparator"] for each in row["QualificationRequirements"]] == ["Exists", "DoesNotExist"]
