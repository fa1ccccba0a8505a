"""`hmc-crowd pools`: added, planned, listed; capacity, fair pay and payroll; and the options that name a pool."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from hmc_crowd.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Run a command in a folder with a campaign; its JSON, or the message and code of a refusal."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str, fails: int = 0) -> Any:
        with pytest.raises(SystemExit) as ended:
            main([*words, "--json"])
        shown = json.loads(capsys.readouterr().out)
        assert int(ended.value.code or 0) == fails, shown
        return shown["error"]["message"] if fails else shown

    run("init", "--labels", "polite,rude")
    return run


def test_a_pool_s_way_from_its_price_to_its_payroll(call: Callable[..., Any], tmp_path: Path) -> None:
    pd.DataFrame({"item": ["a", "b"], "text": ["so", "it goes"]}).to_csv("items.csv", index=False)
    said = pd.DataFrame({"item": ["a", "b"], "label": "polite", "confidence": 0.5})
    said.to_csv("said.csv", index=False)
    call("items", "items.csv", "--predictions", "said.csv")
    call("effort", "estimate")
    pool = call("pools", "add", "experts", "--kind", "tier2", "--price", "60/h", "--capacity", "20", "--language", "DE")
    assert (pool["pay_form"], pool["price_minor"], pool["skills"]) == ("per_hour", 6000, ["language:de"])
    call("invites", "issue", "eva", "--pool", "experts", "--skill", "law")
    times = ("2030-01-01T09:00+01:00", "2030-01-01T11:00+01:00")
    shift = call("pools", "shift", "experts", *times, "--people", "3")
    assert shift["starts_at"].startswith("2030-01-01T08:00:00")
    call("pools", "shift", "experts", "2030-01-01T12:00Z", "2030-01-01T13:00Z", "--worker", "eva")
    listed = call("pools", "list")
    assert (listed["pools"][0]["members"], len(listed["shifts"])) == (1, 2)
    # Three were planned and one belongs to it: two hours of hers, and the one that she agreed to.
    found = call("pools", "capacity", "2030-01-01T00:00Z", "2030-01-02T00:00Z", "--pool", "experts")
    assert [(each["people_minutes"], each["answers"]) for each in found["pools"]] == [(180.0, 60.0)]
    plan = call("plan", "--max-human", "none", "--trade-off", "0", "--audit", "0", "--due", "2029-12-31T00:00Z")
    assert any("the shifts of the pools" in each for each in plan["notes"])
    assert "AMOUNT" in call("pools", "fair-pay", "twelve", fails=2)
    assert call("pools", "fair-pay", "12.00")["floor_minor"] == 1200
    sheet = call("publish", "--pool", "experts", "--skill", "law", "--yes", "--budget", "10.00")
    assert (sheet["total_minor"], [each["pool"] for each in sheet["pools"]]) == (0, ["experts"])
    from hmc_crowd_local import connect

    with connect("workplace.db") as place:
        (remote,) = place.find_all().values()
        name = place.accept(remote.hit_id, "eva").submission_id
        for each in place.hit(remote.hit_id).items:
            place.save_answer(name, "eva", item=each.item, aspect=each.aspect, label="rude")
        place.submit(name, "eva")
    call("collect")
    call("approve", "--yes", "--budget", "10.00")
    assert call("pools", "payroll", "--out", "pay.csv", "--paid")["paid"] in {
        0,
        1,
    }  # some milliseconds may earn nothing
    assert (tmp_path / "pay.csv").exists()
    assert call("pools", "payroll")["owed"] == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("pools", "add", "a"), "give --price"),
        (("pools", "add", "a", "--price", "1.00", "--salaried"), "give --price"),
        (("pools", "add", "a", "--price", "much"), "--price"),
        (("pools", "add", "a", "--price", "1.00", "--kind", "boss"), "kind is 'boss'"),
        (("pools", "shift", "a", "2030-01-01T09:00", "2030-01-01T10:00Z"), "without a zone"),
        (("pools", "shift", "a", "soon", "2030-01-01T10:00Z"), "FROM is 'soon'"),
        (("pools", "shift", "a", "2030-01-01T09:00Z", "2030-01-01T10:00Z"), "pool is 'a'; there are none"),
        (("pools", "shift", "a", "2030-01-01T09:00Z", "2030-01-01T10:00Z", "--remove"), "no planned shift"),
        (("pools", "capacity", "2030-01-02T00:00Z", "2030-01-01T00:00Z"), "not after"),
        (("publish", "--pay", "12/h", "--pool", "a"), "give --pay, or --pool"),
        (("plan", "--due", "tomorrow"), "--due is 'tomorrow'"),
    ],
)
def test_what_makes_no_sense_is_said_in_a_sentence(call: Callable[..., Any], words: tuple[str, ...], said: str) -> None:
    assert said in call(*words, fails=2)


def test_a_shift_is_taken_back(call: Callable[..., Any]) -> None:
    call("pools", "add", "staff", "--salaried")
    times = ("2030-01-01T09:00Z", "2030-01-01T10:00Z")
    call("pools", "shift", "staff", *times)
    call("pools", "shift", "staff", *times, "--remove")
    assert call("pools", "list")["shifts"] == []
