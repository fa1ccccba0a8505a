from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmc_crowd.errors import InputError
from hmc_crowd.routing import allowed_wrong, audit_size, certification_chance, certify_batch


def test_chance_by_hand() -> None:
    # 10 kept, 5 audited: with none wrong 3 may be left (worked out in the certificate's test), so .7 holds and .8 not.
    assert allowed_wrong(10, 0, 5, target=0.7) == 0
    assert allowed_wrong(10, 0, 5, target=0.8) == -1
    # One of 10 is wrong: not drawn with probability 5/10; target .7 needs none found.
    assert certification_chance(10, 0, 5, target=0.7, expected_wrong=1) == pytest.approx(0.5)


batches = st.integers(1, 80).flatmap(
    lambda kept: st.tuples(
        st.just(kept), st.integers(0, 40), st.integers(0, kept), st.sampled_from([0.8, 0.9, 0.95, 0.97])
    )
)


@given(batches, st.integers(0, 80))
def test_allowed_wrong_is_where_the_certificate_turns(batch: tuple[int, int, int, float], audited: int) -> None:
    kept, human, _, target = batch
    n = min(audited, kept)
    reached = [w for w in range(n + 1) if certify_batch(kept + human, human, n, w).agreement_at_least >= target]
    assert allowed_wrong(kept + human, human, n, target=target) == max(reached, default=-1)


@given(batches, st.sampled_from([0.5, 0.8, 0.9]))
def test_size_is_the_least_that_does(batch: tuple[int, int, int, float], assurance: float) -> None:
    kept, human, wrong, target = batch
    items = kept + human
    enough = (
        n
        for n in range(kept + 1)
        if certification_chance(items, human, n, target=target, expected_wrong=wrong) >= assurance
    )
    found = audit_size(items, human, target=target, expected_wrong=wrong, assurance=assurance)
    assert found.audited == next(enough)
    assert found.chance >= assurance


def test_chance_is_how_often_the_certificate_comes_out() -> None:
    size = audit_size(5673, 2836, target=0.97, expected_wrong=86)
    found = np.random.default_rng(0).hypergeometric(86, 2837 - 86, size.audited, 20_000)
    # standard error .0021; three of them
    assert np.mean(found <= size.allowed_wrong) == pytest.approx(size.chance, abs=0.0064)
    assert size.chance >= 0.9


def test_a_hundred_million_items_are_no_problem() -> None:
    assert audit_size(10**8, 0, target=0.97, expected_wrong=2_800_000).audited == 59_353


def test_nothing_is_audited_where_nothing_is_at_stake() -> None:
    assert audit_size(100, 100, target=1.0, expected_wrong=0).audited == 0
    assert audit_size(100, 97, target=0.97, expected_wrong=3).audited == 0


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"target": 1.5}, "target is 1.5"),
        ({"expected_wrong": 60}, "expected_wrong is 60, but the machine keeps only 50"),
        ({"assurance": -1}, "assurance is -1"),
        ({"level": 1}, "level is 1"),
        ({"human": 101}, "human is 101 of 100"),
    ],
)
def test_bad_input_is_refused(change: dict[str, float], why: str) -> None:
    good = {"items": 100, "human": 50, "target": 0.9, "expected_wrong": 3}
    with pytest.raises(InputError, match=why):
        audit_size(**{**good, **change})  # type: ignore[arg-type]
