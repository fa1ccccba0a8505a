"""Anchoring: the effect of a shown suggestion, with an interval that counts workers, not answers."""

from __future__ import annotations

import numpy as np
import pytest

from hmc_crowd.errors import InputError
from hmc_crowd.metrics import anchoring


def test_the_value_and_its_interval_by_hand() -> None:
    # Shown: 3 of 4 agree, hidden: 1 of 4; the difference is 1/2. Influence values: shown (a - 3/4)/4, hidden
    # -(a - 1/4)/4. Worker a has 1,1 shown and 1,0 hidden: 2 * 1/16 - (3/16 - 1/16) = 0. So has b by symmetry: the
    # workers do not differ, and the interval joins Wilson's of 3/4 and 1/4 of two workers.
    agrees, shown = [1, 1, 1, 0, 1, 0, 0, 0], [1, 1, 1, 1, 0, 0, 0, 0]
    result = anchoring(agrees, shown, ["a", "a", "b", "b", "a", "a", "b", "b"])
    assert result.value == 0.5
    assert (result.details["n_shown"], result.details["n_hidden"], result.details["workers"]) == (4, 4, 2)
    assert result.low is not None
    assert -1 <= result.low < 0.5 < (result.high or 0) <= 1
    # Apart: a has 1,1 shown, 0,0 hidden; b has 1,0 and 1,0. Sums: a 2/16 + 2/16 = 1/4, b the negative. The variance is
    # 2/1 * (1/16 + 1/16) = 1/4, its root 1/2; t with 1 degree of freedom is 12.7062: 6.35 either way, cut at 1.
    apart = anchoring([1, 1, 1, 0, 0, 0, 1, 0], shown, ["a", "a", "b", "b", "a", "a", "b", "b"])
    assert apart.value == 0.5
    assert (apart.low, apart.high) == (-1.0, 1.0)
    wide = anchoring([1, 1, 1, 0, 0, 0, 1, 0], shown, ["a", "a", "b", "b", "a", "a", "b", "b"], level=0.1)
    # t at 10 % with 1 degree of freedom: tan(pi/20) = .158384, half of it .079192.
    assert (wide.low, wide.high) == (pytest.approx(0.5 - 0.079192, abs=1e-6), pytest.approx(0.5 + 0.079192, abs=1e-6))


def test_the_effect_splits_where_the_truth_is_known() -> None:
    # Machine right: shown 2 of 2, hidden 1 of 2; wrong: shown 1 of 2, hidden 0 of 2.
    agrees, shown = [1, 1, 1, 0, 1, 0, 0, 0], [1, 1, 0, 0, 1, 1, 0, 0]
    right = [1, 1, 1, 1, 0, 0, 0, 0]
    result = anchoring(agrees, shown, list("abababab"), machine_right=right)
    assert result.details["where_right"].value == 0.5
    assert result.details["where_wrong"].value == 0.5


def test_one_arm_alone_has_no_effect_to_measure() -> None:
    result = anchoring([1, 0], [1, 1], ["a", "b"])
    assert result.value is None
    assert "hidden" in (result.reason or "")
    assert anchoring([1, 0], [0, 1], ["a", "a"]).low is None


@pytest.mark.parametrize("given", [([1], [1, 0], ["a"]), ([1, 0], [1, 0], ["a"]), ([1, 2], [1, 0], ["a", "b"])])
def test_bad_input_is_named(given: tuple[list[int], list[int], list[str]]) -> None:
    with pytest.raises(InputError):
        anchoring(*given)


def covered(worlds: int, workers: int, seed: int) -> float:
    """Share of worlds whose interval holds the true effect; workers differ in skill and in how far they follow."""
    rng = np.random.default_rng(seed)
    hits = 0
    for _ in range(worlds):
        base, pull = rng.beta(6, 3, workers), rng.beta(2, 6, workers)
        who = np.repeat(np.arange(workers), 12)
        shown = rng.random(len(who)) < 0.5
        chance = np.where(shown, base[who] + pull[who] * (1 - base[who]), base[who])
        result = anchoring(rng.random(len(who)) < chance, shown, who)
        true = 0.25 * (1 - 6 / 9)  # E pull * (1 - E base), independent
        hits += (result.low or -1) <= true <= (result.high or 1)
    return hits / worlds


def test_intervals_cover_the_true_effect() -> None:
    # 150 worlds: four standard errors of .95 are .071.
    assert covered(150, 40, seed=1) >= 0.95 - 0.071


@pytest.mark.slow
def test_intervals_cover_in_many_worlds() -> None:
    # 3,000 worlds: four standard errors are .016.
    assert covered(3000, 40, seed=2) >= 0.95 - 0.016
