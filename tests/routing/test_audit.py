from __future__ import annotations

import numpy as np
import pytest

from hmc_crowd.errors import InputError
from hmc_crowd.routing import draw_audit, keyed_fraction


def test_draws_the_number_asked_for_without_repeats() -> None:
    items = [f"i{n}" for n in range(50)]
    draw = draw_audit(items, n=20, rng=np.random.default_rng(2))
    assert len(set(draw.items)) == len(draw) == 20
    assert [items[row] for row in draw.rows] == list(draw.items)
    assert draw.inclusion_probability == 0.4


def test_every_item_has_the_same_chance() -> None:
    rng = np.random.default_rng(4)
    hits = np.zeros(10)
    for _ in range(4000):
        hits[draw_audit(range(10), n=3, rng=rng).rows] += 1
    # standard error sqrt(.21 / 4000) = .0072; four of them
    assert np.abs(hits / 4000 - 0.3).max() < 0.029


def test_probability_draws_each_item_by_itself() -> None:
    draw = draw_audit(np.arange(10_000), probability=0.1, rng=np.random.default_rng(3))
    # standard error sqrt(.09 / 10000) = .003; four of them
    assert abs(len(draw) / 10_000 - 0.1) < 0.012
    assert set(draw.to_frame()["inclusion_probability"]) == {0.1}


def test_same_seed_gives_the_same_draw() -> None:
    first, second = (draw_audit(range(100), n=5, rng=np.random.default_rng(9)).items for _ in range(2))
    assert first == second


def test_nothing_kept_gives_an_empty_draw() -> None:
    assert len(draw_audit([], n=0, rng=np.random.default_rng(0))) == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "give either n"),
        ({"n": 1, "probability": 0.5}, "give either n"),
        ({"n": 4}, "n is 4; give a whole number between 0 and the 3 kept items"),
        ({"n": True}, "n is True"),
        ({"n": 1.5}, "n is 1.5"),
        ({"probability": 1.5}, "probability is 1.5"),
        ({"items": ["a", "b", "a"], "n": 1}, "kept_items holds 'a' twice"),
    ],
)
def test_bad_draw_is_one_sentence(arguments: dict[str, object], says: str) -> None:
    items = arguments.pop("items", ["a", "b", "c"])
    with pytest.raises(InputError, match=says):
        draw_audit(items, rng=np.random.default_rng(0), **arguments)  # type: ignore[arg-type]


def test_a_seed_is_no_generator() -> None:
    with pytest.raises(InputError, match=r"rng is 1; give a numpy.random.Generator"):
        draw_audit(["a", "b"], n=1, rng=1)  # type: ignore[arg-type]


def test_a_keyed_draw_wants_secret_bytes_and_takes_whole_numbers_as_ids() -> None:
    assert keyed_fraction(b"key", 7) == keyed_fraction(b"key", "7")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="key is a str; give secret bytes"):
        keyed_fraction("key", "7")  # type: ignore[arg-type]
