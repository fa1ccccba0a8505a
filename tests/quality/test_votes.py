"""Votes by task and label, only the pairs that occur: the same figures as a full table, and room for free text."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmc_crowd.quality import agreement_checks, disagreement, gate_evidence, gold_report
from hmc_crowd.quality._votes import votes_of

CELLS = st.dictionaries(
    st.tuples(st.integers(0, 4), st.integers(0, 6)), st.integers(0, 3), min_size=1, max_size=25
).map(lambda cells: pd.DataFrame([(*key, label) for key, label in cells.items()], columns=["task", "worker", "label"]))


@settings(max_examples=60, deadline=None)
@given(answers=CELLS)
def test_places_and_pairs_are_those_of_the_full_table(answers: pd.DataFrame) -> None:
    votes = votes_of(answers["task"].to_numpy(), answers["label"].to_numpy(), 4)
    full = np.zeros((5, 4), dtype=int)
    np.add.at(full, (answers["task"], answers["label"]), 1)
    ordered = -np.sort(-full, axis=1)
    for place in range(4):
        assert votes.highest(5, place).tolist() == ordered[:, place].tolist()
    assert votes.agreeing_pairs(5).tolist() == (full * (full - 1) // 2).sum(axis=1).tolist()


@settings(max_examples=60, deadline=None)
@given(answers=CELLS, least=st.integers(1, 3))
def test_agreement_with_the_others_is_that_of_counting_them(answers: pd.DataFrame, least: int) -> None:
    wanted = []
    for row in answers.sort_values(["task", "worker"]).itertuples():
        others = answers[(answers["task"] == row.task) & (answers["worker"] != row.worker)]["label"].value_counts()
        if others.sum() >= least and (others == others.max()).sum() == 1:
            wanted.append((row.worker, row.task, bool(others.idxmax() == row.label)))
    found = agreement_checks(answers, least_others=least)
    assert sorted(found.itertuples(index=False, name=None)) == sorted(wanted)


@pytest.fixture
def free_text(rng: np.random.Generator) -> pd.DataFrame:
    # A full table of 20,000 items by some 60,000 texts would have 10 GB.
    rows = {"task": np.repeat(np.arange(20_000), 3), "worker": np.tile(np.arange(3), 20_000)}
    return pd.DataFrame({**rows, "label": [f"text {number}" for number in rng.integers(0, 10**9, 60_000)]})


def test_free_text_fits(free_text: pd.DataFrame) -> None:
    assert (disagreement(free_text)["share"] == 1).all()
    assert agreement_checks(free_text).empty
    assert gate_evidence(None, free_text).tied.all()
    report = gold_report(free_text, dict(zip(free_text["task"], free_text["label"], strict=True)))
    assert (report["top_n"] == 1).all()


def test_a_label_without_weight_is_still_the_one_that_was_given() -> None:
    # The first label of the set was given to another item: no weight at all must not make it this item's.
    answers = pd.DataFrame([("a", "u", "y"), ("b", "v", "x")], columns=["task", "worker", "label"])
    assert gate_evidence(None, answers, {"u": 0.0, "v": 0.9}, weighted=True).label.tolist() == ["y", "x"]
