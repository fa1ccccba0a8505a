"""The commands on experts: what they print, what they write, and what they refuse."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING, Any

import pytest

from hmc_crowd.campaign import Campaign

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Hmc = Any


@pytest.fixture
def folder(hmc: Hmc, at: Callable[[str], Any]) -> Path:
    """A campaign with labels whose gate sends everything to experts."""
    found: Path = at("collected")
    assert hmc("aggregate").code == 0
    assert hmc("gate", "decide", "--kind", "consensus", "--set", "agreement=1").code == 0
    return found


def judged(folder: Path, *words: tuple[str, str]) -> str:
    """Let experts judge and decide the same item, one after the other; return its name."""
    with Campaign.open(folder / "hmc-crowd.db") as campaign:
        item = str(campaign.cases(words[0][0])["item"].iloc[0])
        for expert, label in words:
            campaign.judge(item, label, expert=expert)
            campaign.decide(item, label, expert=expert)
    return item


def test_a_share_is_looked_at_twice_and_experts_who_differ_are_shown(hmc: Hmc, folder: Path) -> None:
    said = hmc("experts", "review", "--second-look", "1", "--second-look", "high=1", "--top", "3")
    assert "100% of what one expert decided" in " ".join(said.out.split())
    assert hmc("experts", "review", "--json").json == {"second_look": {"all": 1.0, "high": 1.0}, "top": 3}
    judged(folder, ("eva", "good"), ("max", "bad"))
    (row,) = hmc("experts", "standing", "--json").json
    assert (row["state"], row["to_tier"]) == ("second_opinion", 3)
    assert hmc("experts", "standing", "--out", "standing.csv").code == 0
    assert (folder / "standing.csv").exists()


def test_load_says_what_one_more_expert_would_change(hmc: Hmc, folder: Path) -> None:
    none = hmc("experts", "load")
    assert none.code == 0
    assert "there is no expert" in " ".join(none.out.split())
    assert hmc("keys", "issue", "--role", "expert", "--label", "eva").code == 0
    found = hmc("experts", "load", "--add", "2", "--tier", "3", "--json").json
    assert len(found["experts"]) == 1
    assert found["then"]["table"][-1]["people"] == 3
    assert "With more people" in hmc("experts", "load", "--add", "2", "--tier", "3").out


def test_tiers_are_shown_and_written(hmc: Hmc, folder: Path) -> None:
    hmc("experts", "review", "--second-look", "1")
    judged(folder, ("eva", "good"), ("max", "bad"))
    assert hmc("experts", "tiers", "--json").json["judgements"] == [
        {"tier": 3, "judgements": 2, "items": 1, "experts": 2}
    ]
    assert "Not upheld by a higher tier" in hmc("experts", "tiers").out
    assert hmc("experts", "tiers", "--out", "errors.csv").code == 0
    assert hmc("experts", "tiers", "--out", "errors.csv").code == 2


def test_an_appeal_is_opened_listed_and_settled(hmc: Hmc, folder: Path) -> None:
    item = judged(folder, ("eva", "good"))
    opened = hmc("experts", "appeal", "open", item, "--by", "Ann", "--reason", "it was meant kindly")
    assert (opened.code, "waits for another expert" in " ".join(opened.out.split())) == (0, True)
    again = hmc("experts", "appeal", "open", item, "--by", "Bo", "--reason", "no")
    assert (again.code, "open already" in again.err) == (2, True)
    assert [row["state"] for row in hmc("experts", "appeal", "list", "--open", "--json").json] == ["open"]
    assert "it was meant kindly" in " ".join(hmc("experts", "appeal", "list").out.split())
    early = hmc("experts", "appeal", "settle", item, "--label", "bad", "--by", "Olga")
    assert (early.code, "only after three" in " ".join(early.err.split())) == (2, True)
    judged_again = hmc("experts", "appeal", "settle", item, "--json").json
    assert judged_again["state"] == "open"
    with Campaign.open(folder / "hmc-crowd.db") as campaign:
        campaign.judge(item, "good", expert="max")
        campaign.decide(item, "good", expert="max")
    assert "upheld" in hmc("experts", "appeal", "settle", item).out
    assert hmc("experts", "appeal", "list", "--open", "--json").json == []


def test_a_sample_is_drawn_judged_and_opened(hmc: Hmc, folder: Path) -> None:
    key = ("--key-file", "sample.key")
    drawn = hmc("experts", "sample", "draw", *key, "--size", "3")
    assert (drawn.code, "3 of" in drawn.out) == (0, True)
    assert stat.S_IMODE((folder / "sample.key").stat().st_mode) == 0o600
    assert hmc("experts", "sample", "draw", *key, "--size", "3").code == 2
    items = [row["item"] for row in hmc("experts", "sample", "cases", *key, "--json").json]
    for left, item in zip((2, 1, 0), items, strict=True):
        assert f"{left} are left" in hmc("experts", "sample", "judge", item, "good", *key).out
    assert hmc("experts", "sample", "list", "--json").json[0]["judged"] == 3
    assert hmc("experts", "sample", "open", *key, "--json").json["judged"] == 3
    assert "an error rate of" in " ".join(hmc("experts", "sample", "open", *key).out.split())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("review", "--second-look", "2"), "--second-look is 2.0"),
        (("review", "--second-look", "high=much"), "write a share"),
        (("review", "--second-look", "huge=0.1"), "names 'huge'"),
        (("load", "--add", "1", "--tier", "9"), "add is"),
        (("load", "--over", "0"), "--over is 0"),
        (("sample", "draw", "--key-file", "x.key", "--size", "1000000"), "size is 1000000"),
        (("sample", "cases", "--key-file", "nowhere"), "holds no key"),
        (("appeal", "open", "nowhere", "--by", "A", "--reason", "r"), "no such item"),
    ],
)
def test_wrong_input_is_named_and_nothing_is_left(
    hmc: Hmc, folder: Path, arguments: tuple[str, ...], says: str
) -> None:
    said = hmc("experts", *arguments)
    assert said.code == 2
    assert says in " ".join(said.err.split())
    assert not (folder / "x.key").exists()
