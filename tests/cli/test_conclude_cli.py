"""Figures, accuracy and certificates of counts on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from hmc_crowd.campaign import Campaign
from hmc_crowd.routing import bound_future_errors, certify_groups

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_a_figure_with_its_interval(hmc: Any, at: Callable[[str], Path]) -> None:
    at("certified")
    told = hmc("estimate", "share:bad", "--json")
    assert told.code == 0, told.err
    with Campaign.open("hmc-crowd.db") as campaign:
        expected = campaign.estimate("share:bad").overall
    assert told.json["figures"]["all"]["value"] == pytest.approx(expected.value)
    plain = hmc("estimate", "share:bad", "--by", "group", "--of", "batch")
    assert plain.out.startswith("share:bad: 0.")
    assert "machine helps" in plain.out
    wrong = hmc("estimate", "share:ugly")
    assert wrong.code == 2
    assert "of is 'share:ugly'" in wrong.err


def test_accuracy_comes_from_an_experts_audit_only(hmc: Any, at: Callable[[str], Path]) -> None:
    at("certified")
    assert "expert-audit" in hmc("certify", "--accuracy").err
    drawn = hmc("expert-audit", "--machine", "10", "--people", "10")
    assert "experts judge 10 of" in drawn.out
    # Nobody has judged yet, and all that is unjudged counts as wrong.
    told = hmc("certify", "--accuracy", "--at-least", "0.5")
    assert told.code == 3
    assert "labels are right" in told.out
    by_gold = hmc("certify", "--optimistic")
    assert by_gold.out.startswith("optimistic accuracy >= ")
    assert hmc("certify", "--accuracy", "--optimistic").code == 2


def test_whole_groups_from_a_file(hmc: Any, tmp_path: Path) -> None:
    (tmp_path / "drawn.csv").write_text("size,wrong\n" + "5,0\n" * 29 + "5,2\n")
    asked = ("certify", "--design", "groups", "--items", "1000", "--human", "500", "--sizes", "drawn.csv")
    told = hmc(*asked, "--groups", "100", "--largest", "5", "--json")
    bound = certify_groups(1000, 500, [5] * 30, [0] * 29 + [2], n_groups=100, largest=5)
    assert told.json["wrong_at_most"] == bound.wrong_at_most == 60
    assert "--largest is missing" in hmc(*asked, "--groups", "100").err
    assert "add --design groups" in hmc("certify", "--items", "9", "--sizes", "drawn.csv").err


def test_traffic_to_come_is_another_promise(hmc: Any) -> None:
    told = hmc("certify", "--future", "--audited", "200", "--wrong", "6", "--at-least", "0.95")
    assert told.out.startswith(str(bound_future_errors(200, 6)))
    assert told.code == 3
    assert "no batch" in hmc("certify", "--future", "--items", "5", "--audited", "2", "--wrong", "0").err
