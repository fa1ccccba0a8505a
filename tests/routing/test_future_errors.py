"""Rates of traffic to come, looked at once or again and again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmc_crowd.errors import InputError
from hmc_crowd.routing import (
    DriftingErrorSequence,
    ErrorSequence,
    bound_future_errors,
    bound_future_errors_in_groups,
)

SEQUENCES = [ErrorSequence, DriftingErrorSequence]


def test_no_error_in_n_is_the_rule_of_three() -> None:
    # (1 - p)^100 = .05: p = 1 - .05^(1/100)
    assert bound_future_errors(100, 0).error_rate_at_most == pytest.approx(1 - 0.05**0.01)


def test_unanswered_items_count_as_wrong() -> None:
    assert float(bound_future_errors(100, 2, unanswered=3)) == pytest.approx(float(bound_future_errors(100, 5)))
    assert float(bound_future_errors(4, 1, unanswered=3)) == 1.0


def test_groups_tell_less_than_as_many_items() -> None:
    wrong = [False] * 195 + [True] * 5
    alone = bound_future_errors(200, 5)
    together = bound_future_errors_in_groups(wrong, np.arange(200) // 5, largest=5)
    assert together.error_rate_at_most > alone.error_rate_at_most
    assert "200 in 40 groups" in str(together)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [((0, 0), "audited is 0"), ((5, 6), "wrong is 6"), ((5, -1), "wrong is -1")],
)
def test_impossible_counts_are_refused(arguments: tuple[int, int], why: str) -> None:
    with pytest.raises(InputError, match=why):
        bound_future_errors(*arguments)


def test_a_group_larger_than_the_largest_is_refused() -> None:
    with pytest.raises(InputError, match="a group has 3 items"):
        bound_future_errors_in_groups([True] * 3, ["a"] * 3, largest=2)


@pytest.mark.parametrize("kind", SEQUENCES)
def test_before_the_first_value_everything_is_possible(kind: Any) -> None:
    assert kind().interval == (0.0, 1.0)


@pytest.mark.parametrize("kind", SEQUENCES)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=60))
def test_the_mean_lies_inside(kind: Any, values: list[float]) -> None:
    found = kind()
    found.add(values)
    low, high = found.interval
    assert -1e-9 <= low <= found.mean + 1e-6
    assert found.mean - 1e-6 <= high <= 1 + 1e-9


def test_parts_merge_to_the_whole() -> None:
    rng = np.random.default_rng(1)
    values = rng.random(400)
    whole, one, two = ErrorSequence(), ErrorSequence(), ErrorSequence()
    whole.add(values)
    one.add(values[:150])
    two.add(values[150:])
    one.merge(two)
    assert one.interval == whole.interval


@pytest.mark.parametrize("kind", SEQUENCES)
def test_the_state_survives(kind: Any) -> None:
    found = kind(level=0.9)
    found.add([0, 1, 0.5])
    again = kind.from_dict(found.to_dict())
    found.add([0, 0])
    again.add([0, 0])
    assert (again.interval, again.level, len(again)) == (found.interval, 0.9, 5)


@pytest.mark.parametrize("kind", SEQUENCES)
def test_sequences_of_other_levels_do_not_merge(kind: Any) -> None:
    with pytest.raises(InputError, match="one kind and level"):
        kind(level=0.9).merge(kind(level=0.95))


def looks(kind: Any, runs: int, rate: float, *, drift: bool, seed: int) -> float:
    """Share of streams in which some interval of 40 looks misses."""
    rng = np.random.default_rng(seed)
    known: dict[tuple[int, float, float], tuple[float, float]] = {}
    missed = 0
    for _ in range(runs):
        found = kind()
        total, out = 0.0, False
        for look in range(40):
            mean = rate * (0.5 + look / 40) if drift else rate
            found.add(rng.random(25) < mean)
            total += 25 * mean
            # Equal states have equal intervals; bisection is not run twice for one.
            state = found.to_dict()
            key = (len(found), state["sum"], state.get("spread", 0.0))
            if key not in known:
                known[key] = found.interval
            low, high = known[key]
            out |= not low <= total / len(found) <= high
        missed += out
    return missed / runs


@pytest.mark.parametrize("kind", SEQUENCES)
def test_all_looks_hold_at_once(kind: Any) -> None:
    assert looks(kind, 60, 0.05, drift=False, seed=1) <= 0.05 + 0.085


def test_a_drifting_rate_is_covered_by_its_average() -> None:
    assert looks(DriftingErrorSequence, 60, 0.2, drift=True, seed=2) <= 0.05 + 0.085


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.001, 0.01, 0.05, 0.2])
@pytest.mark.parametrize("kind", SEQUENCES)
def test_all_looks_hold_at_once_in_2000_streams(kind: Any, rate: float) -> None:
    assert looks(kind, 2000, rate, drift=False, seed=3) <= 0.05 + 0.0146


@pytest.mark.slow
def test_a_drifting_rate_is_covered_in_2000_streams() -> None:
    assert looks(DriftingErrorSequence, 2000, 0.2, drift=True, seed=4) <= 0.05 + 0.0146


def test_an_interval_for_one_look_would_miss() -> None:
    # The same 40 looks with the Clopper-Pearson bound of each.
    rng = np.random.default_rng(5)
    missed = 0
    for _ in range(200):
        wrong = np.cumsum(rng.random(1000) < 0.05)
        missed += any(bound_future_errors(n, int(wrong[n - 1])).value < 0.05 for n in range(25, 1001, 25))
    assert missed / 200 > 0.1


def test_the_interval_reaches_a_machine_that_is_always_right_or_always_wrong() -> None:
    right, wrong = ErrorSequence(), ErrorSequence()
    right.add([0] * 10)
    wrong.add([1] * 10)
    assert right.lower == 0.0
    assert wrong.upper == 1.0
