"""Every command does its job for a newcomer, in words that fit a terminal, and again without doing anything twice."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from hmc_crowd.campaign import Campaign

if TYPE_CHECKING:
    from collections.abc import Callable

COMMANDS = (
    *("init", "demo", "doctor", "quote", "items", "plan", "sweep", "route", "publish", "collect", "check", "aggregate"),
    *("certify", "learn", "effort", "status", "explain", "report", "run", "reproduce"),
)
PLAN = ("plan", "--trade-off", "0.5", "--max-human", "0.4", "--audit", "20")
# How a frozen dataclass or a numpy value looks when nobody formatted it.
RAW = re.compile(r"[A-Z]\w+\(\w+=|np\.float64|array\(|Timestamp\(|<[a-z_.]+ object")


def fits(text: str) -> bool:
    return max(map(len, text.splitlines()), default=0) <= 80


def test_without_a_command_the_help_lists_all_of_them(hmc: Any) -> None:
    told = hmc()
    assert told.code == 2
    assert not told.err
    assert [name for name in COMMANDS if name not in told.out] == []


def test_the_version_is_told(hmc: Any) -> None:
    told = hmc("--version")
    assert (told.code, told.out.split()[0]) == (0, "hmc-crowd")


@pytest.mark.parametrize("name", [*COMMANDS, "retrain"])
def test_every_command_has_help_and_json(hmc: Any, name: str) -> None:
    names = {"effort": ["effort", "estimate"], "reproduce": ["reproduce", "hmceval"]}.get(name, [name])
    told = hmc(*names, "--help")
    assert told.code == 0
    assert "--json" in told.out


@pytest.mark.parametrize("name", ["effort", "reproduce"])
def test_a_group_without_a_command_shows_what_it_has(hmc: Any, name: str) -> None:
    told = hmc(name)
    assert told.code == 2
    assert "Commands" in told.out


def test_a_word_that_is_near_a_command_is_suggested(hmc: Any) -> None:
    assert "did you mean 'publish'?" in hmc("publsh").err


def test_init_says_what_comes_next(hmc: Any, tmp_path: Path) -> None:
    told = hmc("init", "--labels", "good,bad")
    assert (tmp_path / "hmc-crowd.db").exists()
    assert "hmc-crowd items FILE" in told.out


def test_init_again_leaves_the_campaign_as_it_is(hmc: Any, at: Callable[[str], Path]) -> None:
    at("planned")
    before = hmc("status", "--json").json
    told = hmc("init", "--labels", "good,bad")
    assert told.code == 0
    assert "is there already" in told.out
    assert hmc("status", "--json").json == before


def test_init_alone_brings_a_database_up_to_date_and_makes_no_further_campaign(hmc: Any) -> None:
    hmc("init", "--name", "helpdesk", "--labels", "good,bad")
    told = hmc("init")
    assert told.code == 0
    assert "campaign 'helpdesk' is there already" in told.out
    assert hmc("status", "--json").json["campaign"] == "helpdesk"
    hmc("init", "--name", "second")
    assert "campaigns  helpdesk, second" in hmc("init").out
    assert hmc("init", "--json").json["campaigns"] == ["helpdesk", "second"]
    assert hmc("init", "--seed", "7").out.startswith("campaign 'campaign' is ready")


def test_init_with_other_labels_is_refused(hmc: Any, at: Callable[[str], Path]) -> None:
    at("planned")
    told = hmc("init", "--labels", "x,y")
    assert told.code == 2
    assert "with the labels good, bad" in told.err


def test_two_campaigns_share_a_database_by_name(hmc: Any) -> None:
    assert hmc("init", "--name", "one").code == hmc("init", "--name", "two").code == 0
    assert "--campaign" in hmc("status").err
    assert hmc("status", "--campaign", "two", "--json").json["campaign"] == "two"


def test_the_database_comes_from_the_environment(hmc: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HMC_CROWD_DATABASE_URL", f"sqlite:///{tmp_path}/elsewhere.db")
    assert hmc("init").code == 0
    assert (tmp_path / "elsewhere.db").exists()


def test_the_workplace_comes_from_the_environment(
    hmc: Any, at: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = at("planned")
    monkeypatch.setenv("HMC_CROWD_WORKPLACE_URL", str(folder / "bench.db"))
    hmc("publish", "--pay", "12/h")
    assert (folder / "bench.db").exists()


def test_items_counts_what_it_stored(hmc: Any, at: Callable[[str], Path]) -> None:
    at("files")
    hmc("init")
    told = hmc("items", "items.csv", "--predictions", "predictions.csv", "--gold", "gold.csv")
    assert told.out == "stored 160 items, 160 predictions, 24 gold labels\n"


def test_own_efforts_can_be_given(hmc: Any, at: Callable[[str], Path]) -> None:
    folder = at("files")
    items = pd.read_csv(folder / "items.csv")
    items[["item"]].assign(seconds=7.0).to_csv("effort.csv", index=False)
    hmc("init")
    told = hmc("items", "items.csv", "--predictions", "predictions.csv", "--effort", "effort.csv")
    assert "160 efforts" in told.out
    assert hmc("status", "--json").json["effort_given"] is True


def test_the_plan_counts_time_both_ways(hmc: Any, at: Callable[[str], Path]) -> None:
    at("planned")
    told = hmc(*PLAN)
    assert "if an item costs its share" in told.out
    assert "if touched groups are read whole" in told.out


def test_a_plan_keeps_a_budget_of_hours(hmc: Any, at: Callable[[str], Path]) -> None:
    at("planned")
    free = hmc(*PLAN, "--json").json
    tight = hmc(*PLAN, "--max-hours", "0.5", "--json").json
    # Three answers an item; human_s is of one person, the audit included.
    assert tight["human_s"] * 3 <= 0.5 * 3600 + 1e-6
    assert 0 < tight["people"] < free["people"]


def test_a_plan_keeps_a_budget_of_money(hmc: Any, at: Callable[[str], Path]) -> None:
    at("planned")
    tight = hmc(*PLAN, "--max-money", "6", "--pay", "12/h", "--json").json
    assert tight["human_s"] * 3 / 3600 * 12 <= 6


def test_a_plan_says_the_fees_in_its_money_and_what_it_cut(hmc: Any, at: Callable[[str], Path]) -> None:
    at("planned")
    options = ("plan", "--max-human", "1.0", "--audit", "60", "--max-money", "600", "--pay", "12/h")
    told = hmc(*options, "--platform", "prolific", "--vat", "0.2", "--json").json
    assert any("fee of prolific" in note and "20.0% tax" in note for note in told["notes"])
    plan = hmc("plan", "--max-human", "1.0", "--trade-off", "0.01", "--audit", "100000", "--json").json
    assert any(note.startswith("the audit is cut from 100,000 to") for note in plan["notes"])
    assert "the audit is cut from 100,000 to" in hmc(
        "plan", "--max-human", "1.0", "--trade-off", "0.01", "--audit", "100000"
    ).out.replace("\n  ", " ")


def test_publishing_is_a_dry_run_unless_told_otherwise(hmc: Any, at: Callable[[str], Path]) -> None:
    at("planned")
    told = hmc("publish", "--pay", "12/h")
    assert "would publish" in told.out
    assert "total" in told.out
    assert "nothing was sent; add --yes --budget AMOUNT" in told.out
    assert hmc("status", "--json").json["hits"] == 0


def test_publishing_twice_sends_once(hmc: Any, at: Callable[[str], Path]) -> None:
    at("published")
    told = hmc("publish", "--pay", "12/h", "--yes", "--budget", "300", "--target-minutes", "2")
    assert "nothing new was sent" in told.out


def test_collecting_without_people_says_so(hmc: Any, at: Callable[[str], Path]) -> None:
    at("published")
    told = hmc("collect")
    assert told.code == 0
    assert "people are still at work" in told.out


def test_simulated_people_answer_every_place(hmc: Any, at: Callable[[str], Path]) -> None:
    at("published")
    told = hmc("collect", "--crowd", "truth.csv", "--json").json
    assert told["open_places"] == 0
    assert told["answers"] == hmc("status", "--json").json["answers"] > 0


def test_recorded_answers_are_given_again(hmc: Any, at: Callable[[str], Path]) -> None:
    folder = at("published")
    truth = pd.read_csv(folder / "truth.csv")
    recorded = pd.concat([truth.assign(worker=f"r{number}", seconds=5.0) for number in range(9)], ignore_index=True)
    recorded.rename(columns={"item": "task"}).to_csv("recorded.csv", index=False)
    hmc("collect", "--crowd", "recorded.csv")
    hmc("aggregate", "--method", "majority", "--out", "labels.csv")
    labels = pd.read_csv("labels.csv").set_index("item")
    crowd = labels[labels["source"] == "crowd"]["label"]
    assert len(crowd) > 0
    assert (crowd == truth.set_index("item").loc[crowd.index, "label"]).all()


def test_collecting_twice_brings_nothing_new(hmc: Any, at: Callable[[str], Path]) -> None:
    at("collected")
    assert hmc("collect", "--json").json["answers"] == 0


def test_check_shows_every_worker(hmc: Any, at: Callable[[str], Path]) -> None:
    at("collected")
    told = hmc("check")
    workers = hmc("check", "--json").json["workers"]
    assert all(each["worker"] in told.out for each in workers)


def test_aggregate_writes_one_label_for_every_item(hmc: Any, at: Callable[[str], Path]) -> None:
    at("collected")
    assert hmc("aggregate", "--method", "dawid-skene", "--out", "labels.csv").code == 0
    labels = pd.read_csv("labels.csv")
    assert len(labels) == 160
    assert set(labels["source"]) == {"machine", "crowd", "gold"}


def test_aggregate_takes_a_file_of_answers_without_a_campaign(hmc: Any, at: Callable[[str], Path]) -> None:
    at("files")
    told = hmc("aggregate", "answers.csv", "--method", "majority", "--json").json
    assert told["method"] == "majority vote"
    assert "4 labels from 12 answers" in hmc("aggregate", "answers.csv", "--method", "majority").out


def test_certify_says_what_it_assumes(hmc: Any, at: Callable[[str], Path]) -> None:
    at("certified")
    told = hmc("certify")
    assert "labels agree with our people" in told.out
    assert "assuming: " in told.out


def test_certify_works_from_four_counts(hmc: Any) -> None:
    # 100 items, 40 by people, 10 of the other 60 audited, none wrong. K wrong among the 60 show none in the audit with
    # probability C(60 - K, 10) / C(60, 10): K = 14 .0541, K = 15 .0423; the largest above .05 is 14, so 86 agree.
    told = hmc("certify", "--items", "100", "--human", "40", "--audited", "10", "--wrong", "0", "--json").json
    assert told["wrong_at_most"] == 14
    assert told["agreement_at_least"] == pytest.approx(0.86)


def test_learn_and_retrain_are_one(hmc: Any, at: Callable[[str], Path]) -> None:
    at("certified")
    first, second = hmc("learn", "--json").json, hmc("retrain", "--json").json
    # The same times make the same model, which is kept once.
    assert second["version"] == first["version"]


def test_effort_is_trained_on_times_logged_elsewhere(hmc: Any, at: Callable[[str], Path]) -> None:
    at("planned")
    told = hmc("effort", "train", "times.csv", "--groups", "worker", "--json").json
    assert told["features"] == ["turns"]
    assert told["rows"] == 60
    assert told["workers"] == 6


def test_effort_is_evaluated_from_a_file_alone(hmc: Any, at: Callable[[str], Path]) -> None:
    at("files")
    told = hmc("effort", "evaluate", "times.csv", "--groups", "worker")
    assert told.code == 0
    assert "60 rows, 5 folds" in told.out
    assert hmc("effort", "evaluate", "times.csv", "--groups", "worker", "--json").json["pooled"]["r2_s"] > 0.5


@pytest.mark.parametrize("stage", ["planned", "published", "collected", "certified"])
def test_status_names_the_next_command(hmc: Any, at: Callable[[str], Path], stage: str) -> None:
    at(stage)
    following = {
        "planned": "hmc-crowd publish",
        "published": "hmc-crowd collect",
        "collected": "hmc-crowd aggregate",
        "certified": "hmc-crowd report",
    }
    assert following[stage] in hmc("status").out


def test_explain_tells_way_answers_and_label(hmc: Any, at: Callable[[str], Path]) -> None:
    at("certified")
    with Campaign.open("hmc-crowd.db") as campaign:
        labels = campaign.labels().set_index("item")
    item = labels.index[labels["source"] == "crowd"][0]
    told = hmc("explain", item)
    assert "went to " in told.out
    assert " said '" in told.out
    assert "people answered" in told.out
    assert len(hmc("explain", item, "--json").json["answers"]) == 3


def test_the_report_is_written(hmc: Any, at: Callable[[str], Path]) -> None:
    folder = at("certified")
    told = hmc("report", "--truth", "truth.csv", "--out", "out/report.html")
    assert told.out == "report: out/report.html\n"
    assert "<html" in (folder / "out" / "report.html").read_text(encoding="utf-8")


def test_doctor_finds_the_local_platform_and_the_campaign(hmc: Any, at: Callable[[str], Path]) -> None:
    at("planned")
    found = {each["check"]: each["found"] for each in hmc("doctor", "--json").json}
    assert "local" in found["platforms"]
    assert found["database"].endswith("hmc-crowd.db: campaign")


def test_doctor_makes_no_database(hmc: Any, tmp_path: Path) -> None:
    assert hmc("doctor").code == 0
    assert list(tmp_path.glob("*.db")) == []


def test_route_takes_the_best_gains(hmc: Any) -> None:
    # Gains 1 - b - .5 l: a .05 - .10 < 0, b .40 - .05 = .35, c .50 - .45 = .05; two may go to people.
    Path("small.csv").write_text("item,confidence,effort\na,0.95,0.2\nb,0.6,0.1\nc,0.5,0.9\n")
    told = hmc("route", "small.csv", "--trade-off", "0.5", "--max-human", "2", "--json").json
    assert [each["to_human"] for each in told["items"]] == [False, True, True]
    assert told["human_count"] == 2


def test_route_writes_a_file_and_never_over_another(hmc: Any, at: Callable[[str], Path]) -> None:
    at("files")
    assert hmc("route", "routable.csv", "--out", "plan.parquet").code == 0
    assert len(pd.read_parquet("plan.parquet")) == 160
    assert "add --overwrite" in hmc("route", "routable.csv", "--out", "plan.parquet").err
    assert hmc("route", "routable.csv", "--out", "plan.parquet", "--overwrite").code == 0


def test_sweep_gives_every_pair(hmc: Any, at: Callable[[str], Path]) -> None:
    at("files")
    told = hmc("sweep", "routable.csv", "--trade-offs", "0:1:0.5", "--max-humans", "0,0.5,1", "--json").json
    assert [(each["trade_off"], each["max_human"]) for each in told[:4]] == [(0, 0), (0, 0.5), (0, 1), (0.5, 0)]
    assert len(told) == 9
    # Everything by people, who are taken as right.
    assert told[2]["accuracy"] == 1.0


def test_quote_says_what_the_money_buys(hmc: Any, at: Callable[[str], Path]) -> None:
    at("files")
    told = hmc("quote", "items.csv", "--money", "15USD", "--platform", "prolific", "--redundancy", "3", "--pay", "12/h",
               "--predictions", "predictions.csv")  # fmt: skip
    for word in ("affordable", "audited", "certificate", "hours", "people needed", "fees", "redundancy", "total"):
        assert word in told.out


def test_a_quote_never_costs_more_than_the_money(hmc: Any, at: Callable[[str], Path]) -> None:
    at("files")
    for money in (1, 5, 10, 15, 20, 40):
        told = hmc("quote", "items.csv", "--money", f"{money}USD", "--platform", "prolific", "--pay", "12/h",
                   "--predictions", "predictions.csv", "--json").json  # fmt: skip
        assert told["total_minor"] <= money * 100
        assert told["left_minor"] == money * 100 - told["total_minor"]


def test_run_without_yes_spends_nothing(hmc: Any, at: Callable[[str], Path]) -> None:
    at("files")
    hmc("init", "--labels", "good,bad", "--seed", "7")
    hmc("items", "items.csv", "--predictions", "predictions.csv", "--gold", "gold.csv")
    told = hmc("run", "--pay", "12/h", "--trade-off", "0.5")
    assert "would publish" in told.out
    assert hmc("status", "--json").json["hits"] == 0


def test_run_waits_for_people(hmc: Any, at: Callable[[str], Path]) -> None:
    at("planned")
    told = hmc("run", "--pay", "12/h", "--yes", "--budget", "300")
    assert told.code == 0
    assert "waiting" in told.out
    assert "call the same command again" in told.out


def test_run_with_simulated_people_satisfies_the_plan(hmc: Any, at: Callable[[str], Path]) -> None:
    at("planned")
    spend = ("--pay", "12/h", "--yes", "--budget", "300", "--crowd", "truth.csv")
    told = hmc("run", *PLAN[1:], *spend, "--json").json
    assert told["state"] == "satisfied"
    assert told["agreement_at_least"] > 0


TALK: list[tuple[str, tuple[str, ...]]] = [
    ("planned", ("status",)),
    ("planned", PLAN),
    ("planned", ("publish", "--pay", "12/h")),
    ("collected", ("check",)),
    ("collected", ("aggregate",)),
    ("certified", ("certify",)),
    ("certified", ("status",)),
    ("certified", ("explain", "i0001")),
    ("certified", ("explain", "i0100")),
    ("files", ("quote", "items.csv", "--money", "1500USD", "--pay", "12/h", "--predictions", "predictions.csv")),
    ("files", ("route", "routable.csv")),
    ("files", ("sweep", "routable.csv", "--trade-offs", "0:1:0.25")),
    ("files", ("effort", "evaluate", "times.csv")),
    ("files", ("aggregate", "answers.csv")),
    ("planned", ("doctor",)),
]


@pytest.mark.parametrize(("stage", "command"), TALK, ids=[f"{stage}-{' '.join(words[:2])}" for stage, words in TALK])
def test_what_people_read_is_worded_and_fits_80_columns(
    hmc: Any, at: Callable[[str], Path], stage: str, command: tuple[str, ...]
) -> None:
    at(stage)
    told = hmc(*command)
    assert told.code == 0
    assert told.out.strip()
    assert fits(told.out), told.out
    assert not RAW.search(told.out), told.out


JSON: list[tuple[str, tuple[str, ...]]] = [
    ("files", ("init",)),
    ("planned", ("items", "--gold", "gold.csv")),
    ("planned", ("effort", "estimate")),
    ("planned", PLAN),
    ("planned", ("publish", "--pay", "12/h")),
    ("planned", ("run", "--pay", "12/h")),
    ("published", ("collect",)),
    ("collected", ("check",)),
    ("collected", ("aggregate",)),
    ("certified", ("certify",)),
    ("certified", ("report",)),
    ("certified", ("explain", "i0001")),
    ("files", ("quote", "items.csv", "--money", "1500USD", "--pay", "12/h")),
    ("files", ("route", "routable.csv")),
    ("files", ("aggregate", "answers.csv")),
    ("files", ("sweep", "routable.csv", "--trade-offs", "0,1")),
]


@pytest.mark.parametrize(("stage", "command"), JSON, ids=[f"{stage}-{' '.join(words[:2])}" for stage, words in JSON])
def test_json_is_all_that_programs_read(
    hmc: Any, at: Callable[[str], Path], stage: str, command: tuple[str, ...]
) -> None:
    at(stage)
    told = hmc(*command, "--json")
    assert told.code == 0, told.err
    assert told.json
    assert told.err == ""


def test_an_error_is_json_too(hmc: Any) -> None:
    told = hmc("status", "--json")
    assert told.json["error"]["type"] == "StoreError"
    assert told.json["error"]["exit_code"] == told.code == 2
    assert told.err.startswith("hmc-crowd: hmc-crowd.db does not exist")


def test_a_worked_example_of_undefined_is_null(hmc: Any, at: Callable[[str], Path]) -> None:
    at("files")
    told = hmc("quote", "items.csv", "--money", "1500USD", "--pay", "12/h", "--audit", "0", "--json").json
    assert told["agreement_expected"] is None


def test_reproduce_prints_every_table_and_names_the_folder(hmc: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Table:
        title, note = "Table 1: how it was", "The paper rounds."
        frame = pd.DataFrame({"metric": ["f1"], "paper": [0.98], "measured": [0.9794]})

    class Reproduction:
        tables = staticmethod(lambda: [Table])
        to_dict = staticmethod(lambda: {"tables": {"1": Table.frame}, "undefined": float("nan")})

    monkeypatch.setattr("hmc_crowd.reproduce.reproduce_hmceval", lambda *_, **__: Reproduction)
    told = hmc("reproduce", "hmceval", "--data", ".", "--out", "tables").out
    assert "Table 1: how it was" in told
    assert "0.9794" in told
    assert "tables, plots and page: tables" in told
    assert hmc("reproduce", "hmceval", "--data", ".", "--json").json["undefined"] is None


@pytest.mark.slow
def test_reproduce_hmceval_from_the_published_data(hmc: Any, data_dir: Path) -> None:
    told = hmc("reproduce", "hmceval", "--data", str(data_dir / "hmceval"))
    assert told.code == 0
    assert fits(told.out)
    assert "Table 1" in told.out
