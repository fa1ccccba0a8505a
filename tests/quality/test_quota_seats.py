"""Seats: no value gets more people than it may, and nobody is refused who could come in; against brute force."""

from __future__ import annotations

from itertools import combinations_with_replacement, product

from hypothesis import given, settings
from hypothesis import strategies as st

from hmc_crowd._base.quotas import SeatRule, Seats

OTHER = None
VALUES = ("a", "b", OTHER)


def traits(region, gender):
    said = {"region": region, "gender": gender}
    return {name: value for name, value in said.items() if value is not OTHER}


KINDS = [traits(region, gender) for region, gender in product(VALUES, VALUES)]


def is_kept(seats, people):
    """Whether a full house keeps every quota: counted from the definition, not from the rule's arithmetic."""
    for rule in seats.rules:
        for value, wanted in rule.wanted.items():
            has = sum(each.get(rule.attribute) == value for each in people)
            if has < wanted or (rule.is_most and has > wanted):
                return False
    return len(people) == seats.people


def can_be_completed(seats, people):
    """Whether some way to fill the rest of the seats keeps every quota: all ways are tried."""
    left = seats.people - len(people)
    if left < 0:
        return False
    return any(is_kept(seats, [*people, *rest]) for rest in combinations_with_replacement(KINDS, left))


@st.composite
def small_seats(draw):
    people = draw(st.integers(1, 4))
    rules = []
    for name in draw(st.sampled_from([("region",), ("gender",), ("region", "gender")])):
        first = draw(st.integers(0, people))
        wanted = {"a": first, "b": draw(st.integers(0, people - first))}
        rules.append(SeatRule(name, wanted, draw(st.booleans())))
    return Seats(people, tuple(rules))


@given(small_seats(), st.lists(st.sampled_from(KINDS), max_size=12))
@settings(max_examples=150, deadline=None)
def test_whoever_can_come_in_does_and_nobody_else_in_any_order(seats, arrivals) -> None:
    seated = []
    for each in arrivals:
        assert seats.admits(each, seated) == can_be_completed(seats, [*seated, each])
        if seats.admits(each, seated):
            seated.append(each)
    assert len(seated) <= seats.people


@given(small_seats(), st.lists(st.sampled_from(KINDS), max_size=5))
@settings(max_examples=150, deadline=None)
def test_missing_is_the_least_number_who_must_still_come(seats, arrivals) -> None:
    seated = []
    for each in arrivals:
        if seats.admits(each, seated):
            seated.append(each)

    def keeps_the_least(more):
        people = [*seated, *more]
        return all(
            sum(each.get(rule.attribute) == value for each in people) >= wanted
            for rule in seats.rules
            for value, wanted in rule.wanted.items()
        )

    least = next(
        n for n in range(seats.people + 1) if any(map(keeps_the_least, combinations_with_replacement(KINDS, n)))
    )
    assert seats.missing(seated) == least


@given(st.permutations(["south"] * 12 + ["north"] * 30 + [None] * 10))
@settings(max_examples=50, deadline=None)
def test_everybody_needed_gets_in_whatever_the_order(arrivals) -> None:
    # 12 of 40 from the south, so 28 seats are open to anybody: 30 + 10 others come, and all 12 of the south.
    seats = Seats(40, (SeatRule("region", {"south": 12}),))
    seated = []
    for region in arrivals:
        said = {} if region is None else {"region": region}
        if seats.admits(said, seated):
            seated.append(said)
    assert len(seated) == 40
    assert sum(each.get("region") == "south" for each in seated) == 12


def test_a_target_is_no_more_either() -> None:
    seats = Seats(4, (SeatRule("region", {"south": 1}, is_most=True),))
    assert not seats.admits({"region": "south"}, [{"region": "south"}])
    assert seats.admits({"region": "north"}, [{"region": "south"}])


def test_who_said_nothing_sits_in_the_open_rest_alone() -> None:
    # Of 3, 2 are claimed: one seat is open.
    seats = Seats(3, (SeatRule("region", {"south": 1, "north": 1}),))
    assert seats.admits({}, [])
    assert not seats.admits({}, [{}])
    assert seats.admits({"region": "north"}, [{}])


def test_quotas_raised_on_the_way_still_let_in_who_is_missing() -> None:
    # Three of the north are in already, and two seats cannot hold the three of the south that are now asked for.
    seats = Seats(5, (SeatRule("region", {"south": 3}),))
    seated = [{"region": "north"}] * 3
    assert seats.admits({"region": "south"}, seated)
    assert not seats.admits({"region": "north"}, seated)
