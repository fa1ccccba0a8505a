"""Gold on the command line: its limit and cost, its state, and how far an answer to it may be off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_a_dry_run_says_what_gold_costs_and_lacks(hmc: Callable[..., Any], at: Callable[[str], Any]) -> None:
    at("planned")
    told = hmc("publish", "--pay", "12/h", "--gold-limit", "3", "--people", "5", "--json").json["gold"]
    assert (told["limit"], told["people"], told["people_from"]) == (3, 5, "told")
    assert 0 < told["load"]["share"] < 0.5
    said = hmc("publish", "--pay", "12/h").out
    assert "gold " in said
    assert "of the answers (" in said
    refused = hmc("publish", "--pay", "12/h", "--gold-limit", "1")
    assert (refused.code, "--gold-limit is 1, but 3 people do a HIT" in refused.err) == (2, True)
    assert "note: no gold is mixed in" in hmc("publish", "--pay", "12/h", "--gold-share", "0").out


def test_the_state_of_gold_is_shown(hmc: Callable[..., Any], at: Callable[[str], Any]) -> None:
    at("collected")
    rows = hmc("quality", "gold", "--json").json
    assert {"item", "aspect", "label", "workers", "given_out", "limit", "rests", "answers", "missed"} <= set(rows[0])
    assert all(row["limit"] is None and row["rests"] is False for row in rows)
    assert sum(row["workers"] for row in rows) > 0
    head = hmc("quality", "gold").out.split("\n")[0].split()
    assert head == ["item", "aspect", "label", "workers", "given", "rests", "answers", "missed", "suspect"]


def test_the_tolerance_is_shown_and_refused_where_labels_are_right_or_wrong(
    hmc: Callable[..., Any], at: Callable[[str], Any]
) -> None:
    at("planned")
    assert "the known label alone is right" in hmc("quality", "tolerance").out
    assert hmc("quality", "tolerance", "--json").json[0]["tolerance"] == 0.0
    assert "whose labels are right or wrong" in hmc("quality", "tolerance", "1").err
    assert hmc("quality", "tolerance", "1", "--usual").code == 2


def test_a_tolerance_is_set_and_brought_back(hmc: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "aspects.toml").write_text(
        '[[aspect]]\nname = "tone"\nlabels = ["kind", "rude"]\n'
        '[[aspect]]\nname = "warmth"\nkind = "ordinal"\nlabels = ["1", "2", "3", "4", "5", "6"]\n'
    )
    assert hmc("init", "--aspects", "aspects.toml").code == 0
    assert "warmth: right within 1 of 6 steps (by default)" in hmc("quality", "tolerance").out
    assert "warmth: right within 2 of 6 steps\n" in hmc("quality", "tolerance", "2", "--aspect", "warmth").out
    assert "warmth: right within 2 of 6 steps\n" in hmc("quality", "tolerance").out
    usual = hmc("quality", "tolerance", "--usual", "--aspect", "warmth", "--json").json
    assert [(each["aspect"], each["tolerance"], each["is_default"]) for each in usual] == [
        ("tone", 0.0, True),
        ("warmth", 1.0, True),
    ]
