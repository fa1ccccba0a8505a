"""Percent agreement: pairs counted by hand and against a slow count."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmc_crowd.errors import InputError
from hmc_crowd.quality import agreement_rates

COLUMNS = ["task", "worker", "label"]


def table(*rows: tuple[object, ...]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=COLUMNS)


def test_pairs_by_hand() -> None:
    # task a: u-v agree, u-w and v-w do not; task b: u-v agree; so 2 of 4 pairs
    rates = agreement_rates(table(("a", "u", 1), ("a", "v", 1), ("a", "w", 0), ("b", "u", 0), ("b", "v", 0)))
    assert rates.pairs == 4
    assert rates.value == 0.5
    # u: agrees with v twice, not with w: 2 of 3; w: 0 of 2
    assert rates.workers["agreed"].tolist() == [2, 2, 0]
    assert rates.workers["compared"].tolist() == [3, 3, 2]
    assert rates.workers["rate"].tolist() == pytest.approx([2 / 3, 2 / 3, 0.0])


@settings(max_examples=40, deadline=None)
@given(
    cells=st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 4)), st.integers(0, 2), min_size=1, max_size=20)
)
def test_equal_to_counting_every_pair(cells: dict[tuple[int, int], int]) -> None:
    rows = [(task, worker, label) for (task, worker), label in cells.items()]
    pairs = [one[2] == two[2] for one, two in combinations(rows, 2) if one[0] == two[0]]
    rates = agreement_rates(table(*rows))
    assert rates.pairs == len(pairs)
    if pairs:
        assert rates.value == pytest.approx(np.mean(pairs))


def test_without_shared_tasks_it_is_undefined_and_says_why() -> None:
    rates = agreement_rates(table(("a", "u", 1), ("b", "v", 1)))
    assert rates.value is None
    assert math.isnan(float(rates))
    assert "nothing to compare" in str(rates)
    assert rates.workers["rate"].isna().all()


def test_it_prints_one_line() -> None:
    assert str(agreement_rates(table(("a", "u", 1), ("a", "v", 1)))) == "100.0% of 1 pairs of answers agree"


def test_to_frame_is_a_copy() -> None:
    rates = agreement_rates(table(("a", "u", 1), ("a", "v", 1)))
    frame = rates.to_frame()
    frame["rate"] = 0.0
    assert rates.workers["rate"].tolist() == [1.0, 1.0]


def test_a_worker_is_not_compared_with_themselves() -> None:
    assert agreement_rates(table(("a", "u", 1), ("a", "u", 1))).pairs == 0
    with pytest.raises(InputError, match="compare workers with themselves"):
        agreement_rates(table(("a", "u", 1)), repeats="all")
