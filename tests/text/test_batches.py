"""Batches of like length, and the settings of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmc_crowd.confidence.text._run import by_length, shuffled
from hmc_crowd.confidence.text._train import Recipe, rate_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

LENGTHS = st.lists(st.integers(1, 128), max_size=300).map(np.array)


@given(LENGTHS, st.integers(1, 40), st.integers(0, 9))
def test_every_text_is_in_exactly_one_batch(lengths: NDArray[np.int64], size: int, seed: int) -> None:
    for batches in (by_length(lengths, size), shuffled(lengths, size, np.random.default_rng(seed))):
        assert sorted(int(row) for batch in batches for row in batch) == list(range(len(lengths)))
        assert max(map(len, batches), default=0) <= size


def test_batches_hold_texts_of_like_length_and_the_longest_come_first() -> None:
    lengths = np.random.default_rng(0).integers(4, 128, 1000)
    batches = by_length(lengths, 50)
    assert [lengths[batch].min() for batch in batches[:-1]] >= [lengths[batch].max() for batch in batches[1:]]
    assert max(int(np.ptp(lengths[batch])) for batch in batches) <= 12


def test_training_batches_have_little_padding_in_random_order() -> None:
    lengths = np.random.default_rng(0).integers(4, 128, 3200)
    batches = shuffled(lengths, 32, np.random.default_rng(1))
    padded = sum(len(batch) * lengths[batch].max() for batch in batches)
    assert padded < 1.1 * lengths.sum()
    longest = [lengths[batch].max() for batch in batches]
    assert abs(np.corrcoef(longest, np.arange(len(longest)))[0, 1]) < 0.3


@pytest.mark.text
def test_every_epoch_has_an_order_of_its_own(tiny: str, rude: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from hmc_crowd.confidence.text import TextClassifier, _train

    orders: list[list[int]] = []

    def recorded(*given: Any) -> list[Any]:
        batches = shuffled(*given)
        orders.append(np.concatenate(batches).tolist())
        return batches

    monkeypatch.setattr(_train, "shuffled", recorded)
    TextClassifier(tiny, max_tokens=16, epochs=3, batch_size=8).fit(*rude)
    assert len(orders) == 3
    assert orders[0] != orders[1] != orders[2] != orders[0]


def test_the_rate_rises_and_falls_and_never_is_zero() -> None:
    recipe = Recipe(5e-5, 4, 64, 0.1, 0.1, 0.01, "cls", "float32", 0)
    rates = [rate_at(step, 100, recipe) for step in range(100)]
    assert max(rates) == pytest.approx(5e-5)
    assert int(np.argmax(np.round(rates, 12))) == 9
    assert min(rates) > 0
    assert rates[10:] == sorted(rates[10:], reverse=True)
