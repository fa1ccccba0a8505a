from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hmc_crowd.errors import InputError
from hmc_crowd.routing import certify_groups, draw_group_audit


def test_draws_whole_groups_in_an_order() -> None:
    groups = ["d1", "d2", "d1", "d3", "d2", "d2"]
    draw = draw_group_audit(groups, n=2, rng=np.random.default_rng(1))
    for group, size in zip(draw.groups, draw.sizes, strict=True):
        assert groups.count(group) == size
    assert sorted(groups[row] for row in draw.rows) == sorted(g for g in groups if g in draw.groups)
    assert (draw.kept, draw.n_groups, draw.largest) == (6, 3, 3)


def test_chance_is_in_proportion_to_the_size_or_even() -> None:
    rng = np.random.default_rng(2)
    groups = ["big"] * 8 + ["small"] * 2
    first = {
        design: np.mean([draw_group_audit(groups, n=1, design=design, rng=rng).groups[0] == "big" for _ in range(3000)])
        for design in ("groups_by_size", "groups")
    }
    # standard errors .0073 and .0091; four of them
    assert first["groups_by_size"] == pytest.approx(0.8, abs=0.03)
    assert first["groups"] == pytest.approx(0.5, abs=0.037)


def test_everything_audited_is_certain() -> None:
    found = certify_groups(20, 10, [5, 5], [2, 0], n_groups=2, largest=5)
    assert (found.wrong_at_most, found.agreement_at_least) == (0, 1.0)


def test_nothing_audited_is_the_trivial_bound() -> None:
    assert certify_groups(20, 10, [], [], n_groups=2, largest=5).wrong_at_most == 10


def test_hand_worked_bound() -> None:
    # 4 groups of 1 item, 2 drawn, none wrong. W = 2: the means before the draws are 2/4 and 2/3. At the grid's last
    # fraction .984 the stake grows by 1 + .984 * .5/.5 = 1.98 and 1 + .984 * (2/3)/(1/3) = 2.97: 5.9 at most, below
    # 20, so 2 stay possible; more than 2 cannot be left.
    found = certify_groups(4, 0, [1, 1], [0, 0], n_groups=4, largest=1)
    assert found.wrong_at_most == 2


def test_uneven_groups_do_better_drawn_by_size() -> None:
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(300), rng.integers(1, 20, 300))
    left = {}
    for design in ("groups_by_size", "groups"):
        draw = draw_group_audit(groups, n=80, design=design, rng=rng)
        bound = certify_groups(
            len(groups), 0, draw.sizes, np.zeros(80), n_groups=300, largest=draw.largest, design=design
        )
        left[design] = bound.wrong_at_most
    assert left["groups_by_size"] < 0.7 * left["groups"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"design": "items"}, "design is 'items'"),
        ({"wrong": [6, 0]}, "group 0 has 6 wrong of 5"),
        ({"wrong": [0.5, 0]}, "group 0 has 0.5 wrong"),
        ({"sizes": [5, 6]}, "sizes at most largest"),
        ({"sizes": [5]}, "wrong has 2 rows"),
        ({"n_groups": 1}, "contradict one another"),
        ({"n_groups": 60}, "cannot lie in 60 groups"),
        ({"human": 60}, "human is 60 of 50"),
    ],
)
def test_bad_input_is_refused(change: dict[str, Any], why: str) -> None:
    good: dict[str, Any] = {"items": 50, "human": 0, "sizes": [5, 5], "wrong": [1, 0], "n_groups": 10, "largest": 5}
    with pytest.raises(InputError, match=why):
        certify_groups(**{**good, **change})


def test_more_groups_than_there_are_cannot_be_drawn() -> None:
    with pytest.raises(InputError, match="only 2 groups"):
        draw_group_audit(["a", "b"], n=3, rng=np.random.default_rng(0))


def test_an_unanswered_item_of_a_group_is_not_repaired() -> None:
    # All groups drawn: what was found wrong is repaired, what nobody answered may stay wrong.
    found = certify_groups(20, 10, [5, 5], [2, 0], n_groups=2, largest=5, unanswered=[0, 3])
    assert (found.wrong_at_most, found.wrong, found.unanswered) == (3, 2, 3)
    nobody = certify_groups(20, 10, [5], [0], n_groups=2, largest=5, unanswered=[5])
    assert nobody.wrong_at_most == 10
    with pytest.raises(InputError, match="wrong and unanswered together at most the size"):
        certify_groups(20, 10, [5, 5], [2, 0], n_groups=2, largest=5, unanswered=[4, 0])
