"""quality, tests, alerts and gate on a campaign: what they print, what they write, and what they refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable


def test_check_says_quality_drift_pay_and_alerts(hmc: Callable[..., Any], at: Callable[[str], Any]) -> None:
    at("collected")
    told = hmc("check", "--json")
    assert told.code == 0
    assert {"workers", "excluded", "quality", "alerts"} <= set(told.json)
    worker = told.json["quality"]["workers"][0]
    assert worker["low"] < worker["quality"] < worker["high"]
    said = hmc("check").out
    assert "with an alarm of drift" in said
    assert "an hour of active time" in said
    assert "no alert lasts" in said


@pytest.mark.parametrize("command", ["workers", "gold", "drift", "incoming", "texts", "ranking"])
def test_each_view_is_shown_written_and_printed_as_json(
    hmc: Callable[..., Any], at: Callable[[str], Any], command: str
) -> None:
    folder = at("collected")
    assert hmc("quality", command).code == 0
    assert isinstance(hmc("quality", command, "--json").json, list)
    assert hmc("quality", command, "--out", "table.csv").code == 0
    assert (folder / "table.csv").exists()
    assert hmc("quality", command, "--out", "table.csv").code == 2


def test_approval_rates_are_ranked_as_of_a_moment(hmc: Callable[..., Any], at: Callable[[str], Any]) -> None:
    folder = at("collected")
    pd.DataFrame({"worker": ["ann", "bob"], "rate": ["95% (19/20)", "0% (0/0)"]}).to_csv(
        folder / "rates.csv", index=False
    )
    early = ("--at", "2020-01-01T00:00Z")
    assert hmc("quality", "rates", "rates.csv", "--platform", "prolific", *early, "--json").json == {"readings": 2}
    rows = hmc("quality", "ranking", "--json").json
    # Whose rate was read is there beside those who worked.
    assert [(row["rate"], row["reviewed"]) for row in rows if row["source"] == "platform"] == [(0.95, 20)]
    assert {row["source"] for row in rows} == {"platform", "unknown"}
    assert "rate" in hmc("quality", "rates", "items.csv", "--platform", "prolific").err


def test_a_test_is_kept_taken_and_listed(hmc: Callable[..., Any], at: Callable[[str], Any]) -> None:
    folder = at("planned")
    key = pd.DataFrame({"item": [f"q{n}" for n in range(11)], "label": "good", "training": ["yes"] + ["no"] * 10})
    key.to_csv(folder / "key.csv", index=False)
    assert "9 of 10 right pass" in hmc("tests", "add", "tone", "key.csv").out
    key.assign(label=["good"] * 9 + ["bad"] * 2).to_csv(folder / "ann.csv", index=False)
    take = ("tests", "take", "tone", "ann", "ann.csv", "--platform", "prolific")
    assert hmc(*take, "--json").json["passed"] is False
    again = hmc(*take)
    assert (again.code, "all 1 attempts" in again.err) == (2, True)
    listed = hmc("tests", "list", "--json").json
    assert [each["name"] for each in listed["tests"]] == ["tone"]
    assert len(listed["attempts"]) == 1
    refused = hmc("tests", "sync", "tone", "--platform", "local")
    assert "keeps no qualifications" in refused.err


@pytest.mark.parametrize(
    "target", ["workers", "countries", "response time", "experts", "expert time", "expert accuracy"]
)
def test_a_target_of_the_pools_is_set_by_its_name(
    hmc: Callable[..., Any], at: Callable[[str], Any], target: str
) -> None:
    at("collected")
    rules = {rule["name"]: rule for rule in hmc("alerts", "set", target, "--limit", "5000", "--json").json}
    assert rules[target]["limit"] == 5000
    said = hmc("alerts", "look").out
    # Of the others nothing is known in this campaign, and nothing is said.
    assert (f"{target} is " in said) == (target in {"workers", "experts"})


def test_rules_are_set_and_an_alert_is_said_once(hmc: Callable[..., Any], at: Callable[[str], Any]) -> None:
    at("collected")
    assert "worker quality" in {rule["name"] for rule in hmc("alerts", "rules", "--json").json}
    assert hmc("alerts", "set", "strict", "--limit", "0.5").code == 2
    set_ = ("alerts", "set", "strict", "--figure", "queue_age_s", "--wrong", "below", "--limit", "1")
    assert "strict" in {rule["name"] for rule in hmc(*set_, "--json").json}
    first = hmc("alerts", "look", "--json").json
    assert {each["rule"] for each in first["notices"]} == {"strict"}
    assert hmc("alerts", "look", "--json").json["notices"] == []
    listed = hmc("alerts", "list", "--json").json
    assert len(listed["lasting"]) == len(listed["notices"]) == len(first["notices"])
    assert "still: strict" in hmc("alerts", "look").out
    assert "strict" not in {rule["name"] for rule in hmc("alerts", "usual", "--json").json}
    assert hmc("alerts", "list", "--json").json["lasting"] == []


def test_the_gate_decides_assigns_and_exports(hmc: Callable[..., Any], at: Callable[[str], Any]) -> None:
    folder = at("certified")
    found = hmc("gate", "decide", "--kind", "consensus", "--set", "agreement=0.9", "--json").json
    assert 0 < found["experts"] < found["items"]
    done = hmc("gate", "assign", "--json").json
    assert (done["given"], done["queued"]) == (0, found["experts"])
    key = hmc("keys", "issue", "--role", "expert", "--label", "eva", "--per-hour", "500")
    if key.code == 0:
        assert hmc("gate", "assign", "--json").json["given"] == found["experts"]
        assert len(hmc("gate", "assigned", "--json").json) == found["experts"]
    assert "decisions: " in hmc("gate", "decisions", "--newest", "--out", "decided.csv").out
    rows = pd.read_csv(folder / "decided.csv")
    assert len(rows) == found["items"]
    assert {"policy_version", "reason_code", "decider", "decided_by"} <= set(rows)
    assert "gate is 'magic'" in hmc("gate", "decide", "--kind", "magic").err
    assert "--set" in hmc("gate", "decide", "--set", "agreement").err


def test_a_trained_gate_decides_in_the_campaign(hmc: Callable[..., Any], at: Callable[[str], Any]) -> None:
    at("certified")
    rows = [(f"t{n}", f"w{w}", "good" if (n + w) % 3 else "bad") for n in range(90) for w in range(3)]
    pd.DataFrame(rows, columns=["task", "worker", "label"]).to_csv("said.csv", index=False)
    pd.DataFrame({"item": [f"t{n}" for n in range(90)], "label": ["good", "bad", "bad"] * 30}).to_csv(
        "experts.csv", index=False
    )
    assert hmc("gate", "train", "said.csv", "--gold", "experts.csv", "--out", "gate.skops").code == 0
    told = hmc("gate", "decide", "--model", "gate.skops", "--json").json
    # The file's items were short of a text; those of the campaign are far from them, and still get a probability.
    assert told["items"] == sum(told["reasons"].values())


def test_a_panel_is_drawn_by_quotas(hmc: Callable[..., Any], at: Callable[[str], Any]) -> None:
    folder = at("planned")
    people = pd.DataFrame({"worker": [f"p{n}" for n in range(20)], "region": ["north"] * 15 + ["south"] * 5})
    people.to_csv(folder / "people.csv", index=False)
    draw = ("quality", "panel", "people.csv", "--people", "10", "--quota")
    found = hmc(*draw, "region:south=0.4", "--json").json
    assert (found["feasible"], len(found["workers"])) == (True, 10)
    assert "cannot be kept" in hmc(*draw, "region:south=0.9").out
    assert "COLUMN:VALUE=SHARE" in hmc(*draw, "region=0.9").err


def test_changing_one_thing_of_a_rule_leaves_the_others(hmc: Callable[..., Any], at: Callable[[str], Any]) -> None:
    at("collected")
    new = ("alerts", "set", "slow", "--figure", "queue_age_s", "--wrong", "above", "--limit", "60")
    assert hmc(*new, "--recovers-at", "30", "--in-a-row", "3").code == 0
    rules = {rule["name"]: rule for rule in hmc("alerts", "set", "slow", "--limit", "90", "--json").json}
    assert [rules["slow"][name] for name in ("limit", "recovers_at", "in_a_row")] == [90, 30, 3]
