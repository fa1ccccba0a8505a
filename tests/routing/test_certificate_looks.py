"""Looking more than once: shared error, bounds for any time, parts audited at different rates."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmc_crowd.errors import InputError
from hmc_crowd.routing import (
    AlphaSpending,
    AuditCounts,
    certify_any_time,
    certify_batch,
    certify_rounds,
    certify_strata,
)

TWO = AlphaSpending(0.95, weights=(0.8, 0.2))


def test_shares_of_endless_looks_sum_to_one() -> None:
    # the rest beyond n looks is about 6 / (pi^2 n)
    total = sum(AlphaSpending(0.9).share_of(look) for look in range(1, 2001))
    assert total == pytest.approx(1 - 6 / (math.pi**2 * 2000), abs=1e-6)


def test_one_round_with_all_of_the_error_is_the_plain_certificate() -> None:
    alone = certify_rounds(5673, 2836, [(200, 6)], spending=AlphaSpending(0.95, weights=(1.0,)))
    assert alone.wrong_at_most == certify_batch(5673, 2836, 200, 6).wrong_at_most


def test_rounds_take_the_best_look_and_count_later_repairs() -> None:
    # look 1 alone at .96, look 2 at .99; what the second round found (9 more) was among those the first left
    first = certify_batch(5673, 2836, 200, 0, level=0.96).wrong_at_most
    second = certify_batch(5673, 2836, 400, 9, level=0.99).wrong_at_most
    joint = certify_rounds(5673, 2836, [(200, 0), (400, 9)], spending=TWO)
    assert joint.wrong_at_most == min(first - 9, second)
    assert (joint.level, joint.audited, joint.wrong) == (0.95, 400, 9)


@pytest.mark.parametrize(
    ("rounds", "why"),
    [
        ([], "rounds is empty"),
        ([(200, 6), (100, 6)], "rounds falls"),
        ([(200, 6), (300, 5)], "rounds falls"),
        ([(1, 0), (2, 0), (3, 0)], "look is 3"),
    ],
)
def test_impossible_rounds_are_refused(rounds: list[tuple[int, int]], why: str) -> None:
    with pytest.raises(InputError, match=why):
        certify_rounds(5673, 2836, rounds, spending=TWO)


@pytest.mark.parametrize("weights", [(), (0.5, 0.6), (0.5, -0.1)])
def test_shares_that_are_none_are_refused(weights: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match="weights is"):
        AlphaSpending(0.95, weights=weights)


@given(st.integers(1, 300), st.data())
def test_any_time_is_never_narrower_than_one_look(kept: int, data: st.DataObject) -> None:
    audited = data.draw(st.integers(0, kept))
    wrong = data.draw(st.integers(0, audited))
    one = certify_batch(kept + 5, 5, audited, wrong)
    always = certify_any_time(kept + 5, 5, audited, wrong)
    assert always.wrong_at_most >= 0
    assert always.wrong_at_most <= kept - audited
    if wrong <= 0.2 * audited:
        assert always.wrong_at_most >= one.wrong_at_most


def test_any_time_ends() -> None:
    assert certify_any_time(10, 4, 0, 0).wrong_at_most == 6
    assert certify_any_time(10, 4, 6, 5).wrong_at_most == 0
    assert certify_any_time(10, 10, 0, 0).agreement_at_least == 1.0


def test_any_time_counts_the_unanswered_as_wrong() -> None:
    waiting = certify_any_time(1000, 0, 100, 2, unanswered=3).wrong_at_most
    assert waiting == certify_any_time(1000, 0, 100, 5).wrong_at_most + 3


def test_four_shards_merged_are_one_run() -> None:
    shards = [AuditCounts(1400, 700, 50, wrong) for wrong in (1, 0, 3, 2)]
    whole = sum(shards[1:], start=shards[0]).certify()
    assert whole == certify_batch(5600, 2800, 200, 6)


def test_one_stratum_is_the_plain_certificate() -> None:
    assert certify_strata([AuditCounts(5673, 2836, 200, 6)]).wrong_at_most == 156


def test_strata_add_up_and_share_the_error() -> None:
    # 900 and 400 kept: shares 30/50 and 20/50 of the error
    parts = [AuditCounts(1000, 100, 90, 2), AuditCounts(500, 100, 60, 1), AuditCounts(50, 50, 0, 0)]
    left = [
        certify_batch(1000, 100, 90, 2, level=1 - 0.05 * 0.6).wrong_at_most,
        certify_batch(500, 100, 60, 1, level=1 - 0.05 * 0.4).wrong_at_most,
    ]
    found = certify_strata(parts)
    assert found.wrong_at_most == sum(left)
    assert (found.items, found.human, found.audited, found.wrong) == (1550, 250, 150, 3)


@pytest.mark.parametrize(
    ("shares", "why"),
    [([0.5], "shares is"), ([0.9, 0.9], "shares is"), ([1.0, 0.0], "gives 0 to a part")],
)
def test_shares_that_do_not_fit_are_refused(shares: list[float], why: str) -> None:
    with pytest.raises(InputError, match=why):
        certify_strata([AuditCounts(10, 5, 2, 0), AuditCounts(10, 5, 2, 0)], shares=shares)
