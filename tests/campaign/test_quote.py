"""What a sum of money buys, worked by hand."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmc_crowd._base.money import Money
from hmc_crowd.campaign import quote
from hmc_crowd.errors import InputError
from hmc_crowd.platform import FeeSchedule

PAY = Money(1200, "USD")


def test_items_affordable_without_fees() -> None:
    # 60 s at 12.00 an hour are 20 cents an answer, 60 cents an item at redundancy 3; 30.00 buy 50 items.
    offer = quote([60.0] * 100, Money(3000, "USD"), pay_per_hour=PAY, audit=0)
    assert offer.items_affordable == 50
    assert (offer.people_items, offer.audit_items) == (50, 0)
    assert (offer.reward_minor, offer.fee_minor, offer.left_minor) == (3000, 0, 0)
    assert offer.hours == pytest.approx(2.5)


def test_fees_come_out_of_the_money() -> None:
    # With half the reward as fee an item costs 90 cents: 33 items for 30.00.
    fees = FeeSchedule(rate=Decimal("0.5"))
    offer = quote([60.0] * 100, Money(3000, "USD"), pay_per_hour=PAY, audit=0, fees=fees)
    assert offer.items_affordable == 33
    assert (offer.reward_minor, offer.fee_minor) == (1980, 990)


def test_tax_is_taken_on_the_fee() -> None:
    # 42.8 % of the reward, and a fifth of that: .5136. A HIT of 12 minutes earns 2.40, its fee is 1.03, its tax .21.
    offer = quote([60.0] * 100, Money(3000, "USD"), pay_per_hour=PAY, audit=0, platform="prolific", tax_rate=0.2)
    assert offer.fee_minor == pytest.approx(offer.reward_minor * (103 + 21) / 240, abs=1)


def test_an_audit_that_the_money_or_the_items_cut_says_so() -> None:
    little = quote([60.0] * 100, Money(600, "USD"), pay_per_hour=PAY, audit=60)
    assert little.audit_items == 10
    assert "the audit is cut from 60 to 10 items: the money buys no more" in little.assumptions
    few = quote([60.0] * 20, Money(9000, "USD"), pay_per_hour=PAY, audit=60)
    assert not few.people_items + few.audit_items > 20


def test_every_item_needs_as_many_people_as_answers() -> None:
    # 10 items of 60 s are one HIT of 12 minutes; three people do it.
    offer = quote([60.0] * 10, Money(10_000, "USD"), pay_per_hour=PAY, audit=0)
    assert (offer.submissions, offer.people_at_least) == (3, 3)


def test_coverage_falls_as_redundancy_rises() -> None:
    offer = quote([60.0] * 100, Money(3000, "USD"), pay_per_hour=PAY, audit=0)
    assert [(each.redundancy, each.items_affordable) for each in offer.coverage] == [
        (1, 100),
        (2, 75),
        (3, 50),
        (5, 30),
        (7, 21),
    ]


def test_the_doubtful_are_judged_first_and_the_certificate_expects_the_rest_to_err_as_foretold() -> None:
    # 50 items of confidence .5, 50 of 1: money for 50 items and an audit of 10; the kept ones are all right.
    confidence = [0.5] * 50 + [1.0] * 50
    offer = quote([60.0] * 100, Money(3600, "USD"), pay_per_hour=PAY, confidence=confidence, audit=10)
    assert (offer.people_items, offer.audit_items) == (50, 10)
    # 0 of 10 wrong among 50 kept: at most 11 wrong are plausible at 95 %, C(39,10)/C(50,10) = .062 > .05 > C(38,10)/...
    assert offer.agreement_expected == pytest.approx(0.89)


@given(
    seconds=st.lists(st.floats(1, 600), min_size=1, max_size=40),
    minor=st.integers(1, 100_000),
    redundancy=st.integers(1, 7),
    rate=st.sampled_from(["0", "0.2", "0.428"]),
)
def test_it_never_costs_more_than_the_money(seconds: list[float], minor: int, redundancy: int, rate: str) -> None:
    fees = FeeSchedule(rate=Decimal(rate))
    offer = quote(seconds, Money(minor, "USD"), pay_per_hour=PAY, redundancy=redundancy, fees=fees)
    assert offer.total_minor <= minor
    assert offer.left_minor == minor - offer.total_minor


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"pay_per_hour": Money(1200, "GBP")}, "one currency"),
        ({"pay_per_hour": Money(0, "USD")}, "people are paid"),
        ({"redundancy": 0}, "at least one person"),
        ({"platform": "nowhere"}, "fees are known for"),
        ({"machine_accuracy": 1.2}, "share lies in"),
        ({"confidence": [0.5]}, "same items"),
        ({"audit": 1.5}, "audit is 1.5"),
    ],
)
def test_what_cannot_be_is_refused(change: dict, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        quote([60.0] * 3, Money(1000, "USD"), **{"pay_per_hour": PAY, **change})
