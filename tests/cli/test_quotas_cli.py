"""quality quotas, invites with attributes, publish --short: what they print, and what they refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

SET = ("quality", "quotas", "set", "--quota", "region:south=0.3", "--people", "10")


def test_quotas_are_set_shown_in_status_and_cleared(hmc: Callable[..., Any], at: Callable[[str], Any]) -> None:
    folder = at("planned")
    assert "region south: 0 of 3 done, 3 still to come" in hmc(*SET).out
    told = hmc("quality", "quotas", "show", "--json").json
    assert (told["people"], told["started"], told["done"]) == (10, 0, 0)
    assert [row["wanted"] for row in told["quotas"]] == [3, 7]
    assert hmc("quality", "quotas", "show", "--out", "quotas.csv").code == 0
    assert (folder / "quotas.csv").exists()
    assert hmc("quality", "quotas", "show", "--out", "quotas.csv").code == 2
    assert "region south" in hmc("status").out
    assert hmc("quality", "quotas", "clear", "--json").json == {"cleared": True}
    assert "there were no quotas" in hmc("quality", "quotas", "clear").out
    assert hmc("quality", "quotas", "show").code == 2


def test_prolifics_own_names_are_kept(hmc: Callable[..., Any], at: Callable[[str], Any]) -> None:
    at("planned")
    names = ("--filter", "region=some-filter", "--choice", "region:south=71,72", "--target")
    assert hmc(*SET, *names).code == 0
    assert hmc("quality", "quotas", "show", "--json").json["quotas"][0]["kind"] == "target"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--quota", "region"), "write COLUMN:VALUE=SHARE"),
        (("--quota", "region:south"), "write COLUMN:VALUE=SHARE"),
        (("--quota", "region:south=some"), "'some' is no share"),
        (("--quota", "region:south=1.2"), "give [0, 1]"),
        (("--quota", "region:south=0.6", "--quota", "region:north=0.6"), "more than everybody"),
        (("--quota", "region:south=0.6", "--filter", "gender=x"), "column 'gender' has no --quota"),
        (("--quota", "region:south=0.6", "--filter", "region"), "write COLUMN=ID"),
        (("--quota", "region:south=0.6", "--choice", "region:north=1"), "give a list for a value asked for"),
    ],
)
def test_words_that_say_no_quota_are_refused_in_a_sentence(
    hmc: Callable[..., Any], at: Callable[[str], Any], words: tuple[str, ...], says: str
) -> None:
    at("planned")
    found = hmc("quality", "quotas", "set", *words, "--people", "10")
    assert found.code == 2
    assert says in " ".join(found.err.split())
    assert hmc("quality", "quotas", "show").code == 2


def test_publishing_refuses_what_cannot_be_kept_unless_short(hmc: Callable[..., Any], at: Callable[[str], Any]) -> None:
    at("planned")
    assert hmc(*SET).code == 0
    assert "needs 3; 0 are known" in " ".join(hmc("publish", "--pay", "12/h").out.split())
    spend = ("publish", "--pay", "12/h", "--yes", "--budget", "300", "--target-minutes", "2")
    refused = hmc(*spend)
    assert refused.code == 2
    assert "needs 3; 0 are known" in " ".join(refused.err.split())
    assert hmc("status", "--json").json["hits"] == 0
    assert hmc(*spend, "--short").code == 0
    assert hmc("status", "--json").json["hits"] > 0


def test_attributes_stand_on_the_invitation_and_can_be_taken_back(hmc: Callable[..., Any]) -> None:
    assert hmc("invites", "issue", "ann", "--attribute", "region=south", "--attribute", "gender=woman").code == 0
    assert hmc("invites", "list", "--json").json[0]["attributes"] == {"gender": "woman", "region": "south"}
    assert "region=south" in "".join(hmc("invites", "list").out.split())
    assert hmc("invites", "attributes", "ann", "--attribute", "region=north", "--json").json == {
        "worker": "ann",
        "attributes": {"region": "north"},
    }
    assert "nothing is kept" in hmc("invites", "attributes", "ann").out
    assert hmc("invites", "list", "--json").json[0]["attributes"] == {}
    assert hmc("invites", "attributes", "bob").code == 2
    assert hmc("invites", "issue", "ann", "--attribute", "region").code == 2
