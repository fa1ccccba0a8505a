"""Filters are looked up, never written down; the stand-in lets in whom they let in."""

from __future__ import annotations

import pytest
from hmc_crowd_prolific._filters import Filter, filter_for

from hmc_crowd.errors import InfeasibleError, PlatformError
from hmc_crowd.platform import FiltersPeople, Trait

REGION = Filter("region-of-birth", "Region of birth", "select", {"7": "North", "8": "South", "9": "East"})
AGE = Filter("age", "Age", "range", least=18, most=100)
ALLOW = Filter("participant_group_allowlist", "Group", "select")
BLOCK = Filter("participant_group_blocklist", "No group", "select")


def span(lower, upper):
    return {"filter_id": "age", "selected_range": {"lower": lower, "upper": upper}}


@pytest.mark.parametrize(
    ("trait", "wanted"),
    [
        (Trait("region_of_birth", "South"), {"filter_id": "region-of-birth", "selected_values": ["8"]}),
        (
            Trait("where", "south", filter_id="region-of-birth"),
            {"filter_id": "region-of-birth", "selected_values": ["8"]},
        ),
        (
            Trait("region of birth", "cold", choices={"cold": ("7", "9")}),
            {"filter_id": "region-of-birth", "selected_values": ["7", "9"]},
        ),
        (
            Trait("region of birth", others=("cold",), choices={"cold": ("7", "9")}),
            {"filter_id": "region-of-birth", "selected_values": ["8"]},
        ),
        (Trait("age", "18-25"), span(18, 25)),
        (Trait("age_group", "46+", filter_id="age"), span(46, 100)),
        (Trait("age", "young", choices={"young": ("18-25",)}), span(18, 25)),
        (Trait("age", others=("18-25",)), span(26, 100)),
        (
            Trait("age", others=("26-35", "46+")),
            {"filter_id": "or", "selected_filters": [span(18, 25), span(36, 45)]},
        ),
        (
            Trait("panel", "in", filter_id="participant_group_allowlist", choices={"in": ("g1",)}),
            {"filter_id": "participant_group_allowlist", "selected_values": ["g1"]},
        ),
        (
            Trait("panel", others=("in",), filter_id="participant_group_allowlist", choices={"in": ("g1",)}),
            {"filter_id": "participant_group_blocklist", "selected_values": ["g1"]},
        ),
    ],
    ids=str,
)
def test_a_trait_becomes_the_platforms_own_filter(trait, wanted) -> None:
    assert filter_for(trait, [REGION, AGE, ALLOW, BLOCK]) == wanted


@pytest.mark.parametrize(
    ("trait", "says"),
    [
        (Trait("shoe size", "44"), "no filter for 'shoe size'"),
        (Trait("region of birth", "west"), "no choice 'west' of its own; name choices in the quota, such as North"),
        (Trait("region of birth", "cold", choices={"cold": ("70",)}), "no choice '70'"),
        (Trait("region of birth", others=("North", "South", "East")), "whom Prolific does not have"),
        (Trait("age", others=("18-45", "46+")), "there are none"),
        (Trait("age", "young"), "'young' is no range"),
    ],
    ids=str,
)
def test_what_prolific_does_not_have_is_refused_with_what_it_has(trait, says) -> None:
    with pytest.raises(InfeasibleError, match=says):
        filter_for(trait, [REGION, AGE])


def test_two_filters_of_one_name_are_refused() -> None:
    with pytest.raises(InfeasibleError, match=r"several filters for 'age'.*Age \(years\)"):
        filter_for(Trait("age", "18-25"), [Filter("years", "Age", "range"), Filter("birth", "AGE", "range")])


def test_ids_come_from_the_list_of_today(lab) -> None:
    platform = lab.connect()
    assert isinstance(platform, FiltersPeople)
    assert platform.filters_for([Trait("region", "south"), Trait("gender", "woman")]) == (
        {"filter_id": "standin-region", "selected_values": ["71"]},
        {"filter_id": "standin-gender", "selected_values": ["80"]},
    )
    assert platform.filters_for([]) == ()


def test_people_outside_the_filters_are_refused(lab) -> None:
    platform = lab.connect()
    filters = platform.filters_for([Trait("region", "south"), Trait("age", others=("26-35",))])
    study = platform.recruit(lab.order(places=5, filters=filters)).hit_id
    for who, region, age in (("in1", "71", 25), ("in2", "71", 40), ("out1", "70", 25), ("out2", "71", 30)):
        lab.control(f"participants/{who}/traits", {"standin-region": region, "age": age})
    for who in ("in1", "in2"):
        assert lab.take(study, who)
    for who in ("out1", "out2", "stranger"):
        with pytest.raises(PlatformError, match="does not pass the filters"):
            lab.take(study, who)


def test_the_settings_filters_stay_beside_those_of_the_order(lab) -> None:
    platform = lab.connect(filters=({"filter_id": "age", "selected_range": {"lower": 18, "upper": 30}},))
    study = platform.recruit(lab.order(filters=platform.filters_for([Trait("region", "south")]))).hit_id
    assert [each["filter_id"] for each in lab.world.studies[study].body.filters] == ["age", "standin-region"]


def test_other_filters_are_another_study(lab) -> None:
    platform = lab.connect()
    platform.recruit(lab.order(filters=platform.filters_for([Trait("region", "south")])))
    with pytest.raises(PlatformError, match="with other content"):
        platform.recruit(lab.order(filters=platform.filters_for([Trait("region", "north")])))


def test_few_eligible_people_are_told_as_a_range(lab) -> None:
    platform = lab.connect()
    south = platform.filters_for([Trait("region", "south")])
    assert platform.eligible(south) == (1000, 1000)
    for number in range(30):
        lab.control(f"participants/p{number}/traits", {"standin-region": "71" if number < 26 else "70"})
    assert platform.eligible(south) == (26, 26)
    # Prolific tells no numbers below 25.
    assert platform.eligible(platform.filters_for([Trait("region", "north")])) == (0, 24)
