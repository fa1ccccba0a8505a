from __future__ import annotations

import math
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmc_crowd.errors import InputError
from hmc_crowd.routing import certify_batch, draw_audit
from hmc_crowd.routing._hypergeometric import lower_tail


def exact_tail(seen: int, population: int, wrong: int, drawn: int) -> Fraction:
    ways = sum(comb(wrong, x) * comb(population - wrong, drawn - x) for x in range(min(seen, wrong, drawn) + 1))
    return Fraction(ways, comb(population, drawn))


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.just(n), *[st.integers(0, n)] * 3)))
def test_tail_equals_exact_fractions(numbers: tuple[int, int, int, int]) -> None:
    population, wrong, drawn, seen = numbers
    assert lower_tail(seen, population, wrong, drawn) == pytest.approx(
        float(exact_tail(seen, population, wrong, drawn)), rel=1e-11, abs=1e-300
    )


def test_tail_is_stable_at_a_hundred_million() -> None:
    # exact to 20 digits by integer arithmetic: the product over the draws, as fractions, for seen = 0
    population, wrong, drawn = 10**8, 5_000_000, 200
    log_p = sum(math.log1p(-wrong / (population - i)) for i in range(drawn))
    assert lower_tail(0, population, wrong, drawn) == pytest.approx(math.exp(log_p), rel=1e-11)


@pytest.mark.parametrize(
    ("audited", "wrong", "bound"),
    [(100, 3, 0.9632), (200, 6, 0.9725), (300, 9, 0.9764), (500, 15, 0.9806), (1000, 30, 0.9861)],
)
def test_bounds_on_the_papers_counts(audited: int, wrong: int, bound: float) -> None:
    assert certify_batch(5673, 2836, audited, wrong).agreement_at_least == pytest.approx(bound, abs=5e-5)


@given(
    st.integers(1, 60).flatmap(
        lambda kept: st.integers(0, kept).flatmap(
            lambda n: st.tuples(st.just(kept), st.just(n), st.integers(0, n), st.sampled_from([0.8, 0.95, 0.99]))
        )
    )
)
def test_bound_is_the_largest_number_that_is_still_plausible(numbers: tuple[int, int, int, float]) -> None:
    kept, audited, wrong, level = numbers
    # A tail that equals 1 - level up to rounding still counts as plausible.
    limit = Fraction(1.0 - level) * (1 - Fraction(1, 10**11))
    plausible = [w for w in range(wrong, kept - audited + wrong + 1) if exact_tail(wrong, kept, w, audited) > limit]
    certificate = certify_batch(kept + 7, 7, audited, wrong, level=level)
    assert certificate.wrong_at_most == max(plausible) - wrong
    assert certificate.agreement_at_least == (kept + 7 - certificate.wrong_at_most) / (kept + 7)


def test_hand_worked_bound() -> None:
    # 10 kept, 5 audited, none wrong: P(0 | W) = C(10-W,5)/C(10,5) = .5 (W=1), .2222 (2), .0833 (3), .0238 (4)
    # so W = 3 is the largest above .05: 3 of 10 may be wrong
    certificate = certify_batch(10, 0, 5, 0)
    assert (certificate.wrong_at_most, certificate.agreement_at_least) == (3, 0.7)


def test_no_audit_gives_the_trivial_bound_and_says_why() -> None:
    certificate = certify_batch(10, 4, 0, 0)
    assert (certificate.agreement_at_least, certificate.wrong_at_most) == (0.4, 6)
    assert "nothing was audited" in certificate.reason


def test_auditing_everything_is_certain() -> None:
    certificate = certify_batch(10, 4, 6, 5)
    assert (certificate.agreement_at_least, certificate.wrong_at_most) == (1.0, 0)
    assert "every item that the machine kept was audited" in certificate.reason


def test_people_only_is_certain() -> None:
    certificate = certify_batch(10, 10, 0, 0)
    assert (float(certificate), certificate.reason) == (1.0, "people judged every item")


def test_unanswered_audit_items_count_as_wrong_until_answered() -> None:
    # worse than if they were right, no better than if they turn out wrong and are put right
    waiting = certify_batch(1000, 0, 100, 2, unanswered=3)
    assert waiting.wrong_at_most == certify_batch(1000, 0, 100, 5).wrong_at_most + 3
    assert waiting.agreement_at_least < certify_batch(1000, 0, 100, 2).agreement_at_least


@given(st.integers(0, 50), st.integers(0, 50))
def test_more_wrong_found_never_helps_before_repair(first: int, second: int) -> None:
    few, many = sorted((first, second))
    left = [certify_batch(5000, 1000, 200, wrong).wrong_at_most + wrong for wrong in (few, many)]
    assert left[0] <= left[1]


def test_a_hundred_million_kept_items_are_bounded() -> None:
    # normal approximation of the rate: .03 + 1.645 * sqrt(.03 * .97 / 10^6) = .030281; less what was found
    certificate = certify_batch(2 * 10**8, 10**8, 10**6, 30_000)
    assert certificate.wrong_at_most / 10**8 == pytest.approx(0.03028 - 0.0003, abs=2e-6)


def test_prints_the_bound_with_its_counts() -> None:
    # (5673 - 172) / 5673 = .96968
    assert str(certify_batch(5673, 2836, 200, 6, level=0.975)) == (
        "agreement with our people >= 0.9697 at 97.5%: at most 172 of 5,673 labels wrong "
        "(machine kept 2,837, audited 200, wrong 6)"
    )


def test_a_bound_below_one_never_prints_as_one() -> None:
    assert ">= 0.9999 at" in str(certify_batch(10**7, 10**7 - 100, 90, 0))


def test_as_frame_it_is_one_row() -> None:
    frame = certify_batch(100, 50, 10, 1).to_frame()
    assert len(frame) == 1
    assert {"agreement_at_least", "wrong_at_most", "level", "design"} <= set(frame.columns)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((0, 0, 0, 0), "items is 0"),
        ((10, 11, 0, 0), "human is 11 of 10"),
        ((10, 5, 6, 0), "audited is 6, but the machine kept only 5"),
        ((10, 5, 3, 4), "wrong is 4"),
        ((10, 5, 3, -1), "wrong is -1"),
        ((10, 5, 3.5, 1), "audited is 3.5"),
        ((10, True, 3, 1), "human is True"),
    ],
)
def test_impossible_counts_are_refused(arguments: tuple[int, int, int, int], says: str) -> None:
    with pytest.raises(InputError, match=says):
        certify_batch(*arguments)


@pytest.mark.parametrize("level", [0.0, 1.0, 95, math.nan, True, "high"])
def test_bad_level_is_refused(level: object) -> None:
    with pytest.raises(InputError, match="level is"):
        certify_batch(10, 5, 3, 0, level=level)  # type: ignore[arg-type]


def test_unknown_design_is_refused() -> None:
    with pytest.raises(InputError, match="whole dialogues needs a bound of its own"):
        certify_batch(10, 5, 3, 0, design="dialogues")


def coverage(runs: int, *, clustered: bool, seed: int) -> tuple[float, float]:
    """Share of audits whose bound holds, and mean bound / truth, for one batch: 2,000 kept items, 400 dialogues."""
    rng = np.random.default_rng(seed)
    dialogue = np.repeat(np.arange(400), 5)
    is_wrong = (rng.random(400) < 0.04)[dialogue] if clustered else rng.random(2000) < 0.04
    truth, items = int(is_wrong.sum()), np.arange(2000)
    bounds = {}
    kept, tight = 0, 0.0
    for _ in range(runs):
        audit = draw_audit(items, n=150, rng=rng)
        found = int(is_wrong[audit.rows].sum())
        if found not in bounds:
            bounds[found] = certify_batch(2500, 500, 150, found).wrong_at_most
        kept += truth - found <= bounds[found]
        tight += bounds[found]
    return kept / runs, tight / runs / truth


@pytest.mark.parametrize("clustered", [False, True])
def test_bound_holds_as_often_as_it_says(clustered: bool) -> None:
    # 1,500 audits of one fixed batch; standard error at .95: .0056, three of them
    share, width = coverage(1500, clustered=clustered, seed=11)
    assert share >= 0.95 - 0.017
    assert width < 2.5


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("clustered", [False, True])
def test_bound_holds_as_often_as_it_says_in_many_batches(clustered: bool, seed: int) -> None:
    # 20,000 audits; standard error at .95: .00154, three of them
    share, _ = coverage(20_000, clustered=clustered, seed=seed)
    assert share >= 0.95 - 0.0047
