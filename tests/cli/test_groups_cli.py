"""quality traits and quality groups: what they keep, print and write, and what they refuse."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def told(at: Callable[[str], Path]) -> Path:
    """A campaign whose answers are collected, and a file of what half of its people each said."""
    folder = at("collected")
    with closing(sqlite3.connect(folder / "hmc-crowd.db")) as base:
        names = [row[0] for row in base.execute("SELECT raw_id FROM worker_identity ORDER BY raw_id")]
    made = {"worker": names, "age": range(20, 20 + len(names)), "town": ["Here", "There"] * (len(names) // 2)}
    made["town"] += ["Here"] * (len(names) % 2)
    pd.DataFrame(made).to_csv(folder / "people.csv", index=False)
    return folder


KEEP = ("quality", "traits", "people.csv", "--platform", "local")


def test_attributes_are_kept_and_the_rest_is_named(hmc: Callable[..., Any], told: Path) -> None:
    first = hmc(*KEEP)
    assert first.code == 0
    assert "age_group" in first.out
    assert "not kept: town" in " ".join(first.out.split())
    again = hmc(*KEEP, "--keep", "town=region", "--json").json
    assert (again["attributes"], again["left_out"]) == (["region"], ["age"])


def test_groups_are_shown_written_and_printed_as_json(hmc: Callable[..., Any], told: Path) -> None:
    hmc(*KEEP, "--keep", "town")
    shown = hmc("quality", "groups", "town")
    assert shown.code == 0
    words = " ".join(shown.out.split())
    assert "the difference from others on the same items" in words
    assert "could still hide" in words or "more often than others" in words or "nothing to compare" in words
    found = hmc("quality", "groups", "town", "--json").json
    assert {"groups", "labels", "agreement", "cohesion", "accuracy", "findings", "notes"} <= set(found)
    assert hmc("quality", "groups", "town", "--out", "groups.csv").code == 0
    assert {"group", "label", "difference"} <= set(pd.read_csv(told / "groups.csv"))
    assert hmc("quality", "groups", "town", "--out", "groups.csv").code == 2


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (("quality", "groups", "sex"), "attribute is 'sex'; nobody's is stored"),
        ((*KEEP, "--keep", "worker"), "lack the column worker"),
        ((*KEEP, "--keep", "income"), "lack the column income"),
        (("quality", "traits", "nowhere.csv", "--platform", "local"), "nowhere.csv"),
        (("quality", "groups", "age_group", "--level", "95"), "level is 95"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    hmc: Callable[..., Any], told: Path, asked: tuple[str, ...], says: str
) -> None:
    refused = hmc(*asked)
    assert refused.code == 2
    assert says in " ".join(refused.err.split())


def test_traits_are_erased_after_their_time(hmc: Callable[..., Any], told: Path) -> None:
    hmc(*KEEP, "--at", "2020-01-01T00:00Z")
    kept = hmc("retain", "--traits", "90y", "--json").json["traits"]
    assert kept == 0
    # Who works still keeps what was said of old.
    assert hmc("retain", "--traits", "1y", "--json").json["traits"] == 0
