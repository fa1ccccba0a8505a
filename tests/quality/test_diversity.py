"""Quotas that are kept or said to be infeasible, and differences between groups with intervals that hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality import Quota, age_group, draw_diverse, group_labels


def pool(rng: np.random.Generator, n: int = 400) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "worker": [f"w{k:03d}" for k in range(n)],
            "gender": rng.choice(["f", "m", None], n, p=[0.3, 0.6, 0.1]),
            "region": rng.choice(["north", "south", "east"], n, p=[0.7, 0.2, 0.1]),
            "availability": rng.choice([0.5, 0.8, 1.0], n),
        }
    )


def test_ages_by_the_sources_groups() -> None:
    ages = [18, 25, 26, 36, 45, 46, 99]
    assert [age_group(age) for age in ages] == ["18-25", "18-25", "26-35", "36-45", "36-45", "46+", "46+"]
    with pytest.raises(InputError, match="under 18"):
        age_group(17)


def test_quotas_of_several_attributes_are_kept_together(rng: np.random.Generator) -> None:
    quotas = [Quota("gender", {"f": 0.5}), Quota("region", {"east": 0.2, "south": 0.4})]
    found = draw_diverse(pool(rng), quotas, 60, rng=rng)
    assert found.feasible, found.note
    drawn = pool(np.random.default_rng(20260105)).set_index("worker").loc[list(found.workers)]
    assert len(set(found.workers)) == 60
    assert (drawn["availability"] >= 0.8).all()
    assert (drawn["gender"] == "f").sum() >= 30
    assert (drawn["region"] == "east").sum() >= 12


def test_a_target_is_met_exactly(rng: np.random.Generator) -> None:
    found = draw_diverse(pool(rng), [Quota("region", {"north": 0.5, "south": 0.5}, kind="target")], 41, rng=rng)
    assert found.feasible
    assert sorted(found.quotas["drawn"]) == [20, 21]


def test_without_quotas_the_mix_is_that_of_the_pool(rng: np.random.Generator) -> None:
    found = draw_diverse(pool(rng), [], 50, rng=rng, availability=0.0)
    assert found.feasible
    assert len(found.workers) == 50


def test_the_draw_repeats_and_is_fair_within_a_kind() -> None:
    people = pd.DataFrame({"worker": range(20), "region": ["north"] * 10 + ["south"] * 10})
    quota = [Quota("region", {"south": 0.5})]
    first = draw_diverse(people, quota, 10, rng=np.random.default_rng(3))
    assert first.workers == draw_diverse(people.iloc[::-1], quota, 10, rng=np.random.default_rng(3)).workers
    times = np.zeros(20)
    for seed in range(100):
        times[list(draw_diverse(people, quota, 10, rng=np.random.default_rng(seed)).workers)] += 1
    # Each is drawn with probability 1/2: 50 times, standard deviation 5.
    assert abs(times - 50).max() < 5 * 5


def test_impossible_quotas_are_named_and_fall_short_least(rng: np.random.Generator) -> None:
    people = pd.DataFrame({"worker": range(10), "gender": list("ffffmmmmmm"), "region": ["n"] * 8 + ["s"] * 2})
    found = draw_diverse(people, [Quota("region", {"s": 0.5}), Quota("gender", {"f": 0.5})], 8, rng=rng)
    assert not found.feasible
    assert found.note == "the quotas cannot be kept: region s has 2 of the 4 asked for"
    assert found.quotas["short"].tolist() == [2, 0]


def test_too_small_a_pool_is_said(rng: np.random.Generator) -> None:
    found = draw_diverse(pd.DataFrame({"worker": range(3)}), [], 5, rng=rng)
    assert (len(found.workers), found.feasible) == (3, False)
    assert "only 3 of 5" in found.note
    nobody = draw_diverse(pd.DataFrame({"worker": [1], "availability": [0.1]}), [], 5, rng=rng)
    assert (nobody.workers, nobody.feasible) == ((), False)


def test_expertise_is_asked_for(rng: np.random.Generator) -> None:
    people = pd.DataFrame({"worker": [1, 2, 3], "expertise": [["law"], ["tax", "law"], []]})
    assert set(draw_diverse(people, [], 3, rng=rng, expertise="law").workers) == {1, 2}


@settings(max_examples=40, deadline=None)
@given(
    counts=st.lists(st.integers(0, 6), min_size=4, max_size=4),
    share=st.floats(0, 0.5),
    other=st.floats(0, 0.5),
    n=st.integers(1, 12),
)
def test_a_quota_is_called_infeasible_only_if_it_is(counts: list[int], share: float, other: float, n: int) -> None:
    kinds = [("f", "n"), ("f", "s"), ("m", "n"), ("m", "s")]
    rows = [kind for kind, count in zip(kinds, counts, strict=True) for _ in range(count)]
    people = pd.DataFrame(rows, columns=["gender", "region"]).assign(worker=range(len(rows)))
    if not len(rows):
        return
    found = draw_diverse(
        people, [Quota("gender", {"f": share}), Quota("region", {"s": other})], n, rng=np.random.default_rng(0)
    )
    need_f, need_s = np.ceil(share * n - 1e-9), np.ceil(other * n - 1e-9)
    possible = any(
        a + b + c + d == n and a + b >= need_f and b + d >= need_s
        for a in range(counts[0] + 1)
        for b in range(counts[1] + 1)
        for c in range(counts[2] + 1)
        for d in range(counts[3] + 1)
    )
    assert found.feasible == possible


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda rng: Quota("region", {"n": 1.2}), "asks 1.2"),
        (lambda rng: Quota("region", {"n": "half"}), "asks 'half'"),
        (lambda rng: Quota("region", {"n": 0.7, "s": 0.7}), "add up to 1.4"),
        (lambda rng: Quota("region", {}), "names no share"),
        (lambda rng: draw_diverse(pd.DataFrame({"worker": [1]}), [Quota("region", {"n": 0.5})], 1, rng=rng), "region"),
        (lambda rng: draw_diverse(pd.DataFrame({"worker": [1]}), [], 5001, rng=rng), "n is 5001"),
    ],
)
def test_wrong_quotas_are_one_sentence(make: Any, says: str, rng: np.random.Generator) -> None:
    with pytest.raises((InputError, FrameError), match=says):
        make(rng)


def crowd(
    rng: np.random.Generator, share: dict[str, float], people: int, each: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Workers of two groups whose own rates of saying yes differ from each other."""
    workers = pd.DataFrame({"worker": range(2 * people), "group": ["a"] * people + ["b"] * people})
    rates = np.concatenate([rng.beta(8 * share[name], 8 * (1 - share[name]), people) for name in "ab"])
    rows = [(task, w, "yes" if rng.random() < rates[w] else "no") for w in range(2 * people) for task in range(each)]
    return pd.DataFrame(rows, columns=["task", "worker", "label"]), workers


def test_shares_by_group_by_hand() -> None:
    answers = pd.DataFrame(
        [(t, w, "yes" if w < 3 else "no") for t in range(2) for w in range(5)], columns=["task", "worker", "label"]
    )
    workers = pd.DataFrame({"worker": range(5), "group": "a"})
    found = group_labels(answers, workers, "group").set_index("label")
    assert found.loc["yes", ["people", "answers", "share"]].tolist() == [5, 10, 0.6]


@pytest.mark.parametrize(("repeats", "slack"), [(60, 0.09), pytest.param(2000, 0.015, marks=pytest.mark.slow)])
def test_intervals_hold_though_answers_of_a_person_are_alike(repeats: int, slack: float) -> None:
    rng, held = np.random.default_rng(1), 0
    for _ in range(repeats):
        answers, workers = crowd(rng, {"a": 0.7, "b": 0.5}, 20, 12)
        row = group_labels(answers, workers, "group").set_index(["group", "label"]).loc[("a", "yes")]
        held += row["low"] <= 0.7 <= row["high"]
    # The Monte Carlo standard error at 95%: 2.8 points with 60 repeats, .5 with 2,000.
    assert held / repeats > 0.95 - slack


def test_small_groups_are_never_shown() -> None:
    answers = pd.DataFrame([(t, w, "x") for t in range(3) for w in range(9)], columns=["task", "worker", "label"])
    workers = pd.DataFrame({"worker": range(9), "group": ["a"] * 5 + ["b"] * 2 + ["c"] * 2})
    assert group_labels(answers, workers, "group")["group"].unique().tolist() == ["a"]
    few = pd.DataFrame({"worker": range(9), "group": ["a"] * 4 + ["b"] * 3 + [None, None]})
    assert group_labels(answers, few, "group")["group"].unique().tolist() == ["other groups"]


def test_groups_need_their_columns() -> None:
    answers = pd.DataFrame({"task": [1], "worker": [1], "label": ["x"]})
    with pytest.raises(FrameError, match="workers lacks the column region"):
        group_labels(answers, pd.DataFrame({"worker": [1]}), "region")


def test_expertise_is_an_area_and_not_a_part_of_its_name(rng: np.random.Generator) -> None:
    people = pd.DataFrame({"worker": range(5), "expertise": ["cartography", None, np.nan, "law, art", ["art"]]})
    assert sorted(draw_diverse(people, [], 5, rng=rng, expertise="art").workers) == [3, 4]


def test_an_availability_out_of_range_is_refused(rng: np.random.Generator) -> None:
    with pytest.raises(InputError, match="availability is 80"):
        draw_diverse(pool(rng), [], 5, rng=rng, availability=80)
