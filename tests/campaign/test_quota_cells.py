"""Cells of quotas: people and places come out as the quotas say, and every item is judged by the mix."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmc_crowd.campaign._quota_cells import cells_of, share_places, split_records
from hmc_crowd.errors import InfeasibleError
from hmc_crowd.quality import Quota
from hmc_crowd.store import HitItemRecord, HitRecord


def record(number, redundancy, pay=100):
    items = (HitItemRecord(f"i{number}", "label", 0),)
    return HitRecord(
        key=f"hit{number}", title="T", redundancy=redundancy, pay_minor=pay, currency="USD", expected_s=60, items=items
    )


@st.composite
def quotas(draw):
    made = []
    for name in draw(st.sampled_from([("region",), ("region", "gender"), ("region", "gender", "age")])):
        first = draw(st.integers(0, 100))
        shares = {"a": first / 100, "b": draw(st.integers(0, 100 - first)) / 100}
        made.append(Quota(name, shares, kind=draw(st.sampled_from(["minimum", "target"]))))
    return made


@given(quotas(), st.integers(2, 60))
@settings(max_examples=60, deadline=None)
def test_people_of_the_cells_add_up_to_every_quota(asked, people) -> None:
    cells = cells_of(asked, people)
    assert sum(each.people for each in cells) == people
    for quota in asked:
        wanted = quota.counts(people)
        if sum(wanted.values()) > people:
            continue  # least numbers rounded up beyond everybody: set_quotas refuses them
        for value, number in wanted.items():
            assert sum(each.people for each in cells if each.values().get(quota.attribute) == value) == number


def test_two_attributes_are_crossed_as_if_independent() -> None:
    # 10 people: 4 south and 6 others, 5 women and 5 others: 2, 2, 3, 3.
    found = cells_of([Quota("region", {"south": 0.4}), Quota("gender", {"woman": 0.5})], 10)
    assert [(str(each), each.people) for each in found] == [
        ("region south, gender woman", 2),
        ("region south, gender other than woman", 2),
        ("region other than south, gender woman", 3),
        ("region other than south, gender other than woman", 3),
    ]


def test_a_cell_that_nobody_is_wanted_for_is_left_out() -> None:
    found = cells_of([Quota("region", {"south": 0.5, "north": 0.5, "east": 0.0})], 4)
    assert [str(each) for each in found] == ["region south", "region north"]


def test_very_many_cells_are_refused() -> None:
    many = [Quota(name, {str(i): 0.1 for i in range(10)}) for name in ("a", "b", "c")]
    with pytest.raises(InfeasibleError, match="1000 cells"):
        cells_of(many, 5000)


@given(quotas(), st.integers(1, 20), st.lists(st.integers(1, 5), min_size=1, max_size=12))
@settings(max_examples=60, deadline=None)
def test_every_hit_keeps_its_redundancy_and_every_cell_its_places(asked, people, redundancies) -> None:
    records = [record(number, many, pay=100 + number % 2) for number, many in enumerate(redundancies)]
    places = sum(redundancies)
    cells = cells_of(asked, min(people, places))
    parts = split_records("uid", records, cells)
    assert [sum(each.redundancy for each in part) for part in parts] == share_places(places, cells)
    for one in records:
        mine = [each for part in parts for each in part if each.items == one.items]
        assert sum(each.redundancy for each in mine) == one.redundancy
    keys = [each.key for part in parts for each in part]
    assert len(set(keys)) == len(keys)
    assert keys == [each.key for part in split_records("uid", records, cells) for each in part]


def test_every_item_is_judged_by_the_mix() -> None:
    # Half and half of redundancy 2: each HIT has one place for either.
    records = [record(number, 2) for number in range(10)]
    parts = split_records("uid", records, cells_of([Quota("region", {"south": 0.5})], 10))
    assert [[each.redundancy for each in part] for part in parts] == [[1] * 10, [1] * 10]


def test_fewer_places_than_people_are_refused() -> None:
    with pytest.raises(InfeasibleError, match="40 people, but there are 39 places"):
        share_places(39, cells_of([Quota("region", {"south": 0.3})], 40))
