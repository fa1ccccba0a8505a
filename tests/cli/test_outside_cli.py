"""approve, reject, pay, extend, stop, reconcile and answer on the workplace: dry runs, rules, files, questions."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from hmc_crowd.campaign import Campaign
from hmc_crowd.campaign._keys import campaign_key
from hmc_crowd.cli._arguments import read_duration
from hmc_crowd.cli._outside_files import read_signal
from hmc_crowd.errors import InputError
from hmc_crowd.platform import find_platform

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SPEND = ("--yes", "--budget", "300")
MESSAGE = (
    "Your answers were the same for every question and four of five known items were wrong, so we cannot use them."
)
DATABASES = ("hmc-crowd.db", "workplace.db")


def dump(folder: Path) -> list[str]:
    """Everything that the campaign and the workplace hold."""
    held: list[str] = []
    for name in DATABASES:
        connection = sqlite3.connect(folder / name)
        held += connection.iterdump()
        connection.close()
    return held


def ids(hmc: Any) -> list[str]:
    return [each["submission"] for each in hmc("submissions", "--json").json]


def orphan(folder: Path) -> str:
    """Put a HIT on the workplace that carries the campaign's mark and that the campaign does not know."""
    from dataclasses import replace

    with Campaign.open(folder / "hmc-crowd.db") as campaign:
        uid = str(campaign._context.settings()["uid"])
    place: Any = find_platform("local", str(folder / "workplace.db"))
    hit = replace(place.hit(next(iter(place.find_all().values())).hit_id), key=campaign_key(uid, "lost"), scope="")
    place.publish(hit)
    place.close()
    return hit.key


COSTLY = {
    "publish": ("publish", "--pay", "12/h"),
    "approve": ("approve",),
    "pay": ("pay", "bonuses.csv"),
    "reject": ("reject", "rejections.csv"),
    "extend": ("extend", "HIT", "--target", "5"),
}


@pytest.mark.parametrize("name", COSTLY)
def test_c03_p18_a_dry_run_changes_nothing_and_prints_endpoint_account_mode_and_cost(
    hmc: Any, at: Callable[[str], Path], name: str
) -> None:
    folder = at("planned" if name == "publish" else "collected")
    if name != "publish":
        first = ids(hmc)[0]
        pd.DataFrame({"submission": [first], "amount": ["1.50USD"]}).to_csv("bonuses.csv", index=False)
        write_rejections([(first, "no_work", "0 words", MESSAGE), (first, "same_label", "all are good", "")])
    else:
        find_platform("local", "workplace.db").close()  # type: ignore[attr-defined]
    command = [hmc("hits", "--json").json[0]["hit"] if word == "HIT" else word for word in COSTLY[name]]
    before = dump(folder)
    told = hmc(*command)
    assert told.code == 0, told.err
    assert dump(folder) == before
    assert "  endpoint  sqlite:///workplace.db" in told.out
    assert "workplace, mode local" in told.out
    assert "nothing was sent; add --yes" in told.out
    if name != "reject":
        assert "fees" in told.out
        assert "total" in told.out
    assert told.out.splitlines()[0].split(" ")[-1] in {"local", "person"}


@pytest.mark.parametrize("name", ["publish", "approve", "pay", "extend"])
def test_spending_needs_a_budget(hmc: Any, at: Callable[[str], Path], name: str) -> None:
    at("collected")
    told = hmc(*COSTLY[name], "--yes")
    assert told.code == 2
    assert "--yes needs --budget AMOUNT" in told.err


def write_rejections(rows: list[tuple[Any, ...]], **more: Any) -> None:
    frame = pd.DataFrame(rows, columns=["submission", "rule", "evidence", "message"])
    frame.assign(**more).to_csv("rejections.csv", index=False)


# Approving.


def test_approving_pays_everything_once(hmc: Any, at: Callable[[str], Path]) -> None:
    at("collected")
    assert hmc("status", "--json").json["not_reviewed"] == 30
    assert "30 submissions to approve" in hmc("status").out
    done = hmc("approve", *SPEND, "--by", "kim", "--json").json
    assert (done["approved"], done["deferred"], done["total_minor"]) == (30, 0, 1074)
    again = hmc("approve", *SPEND, "--json").json
    assert (again["submissions"], again["approved"]) == (0, 0)
    named = hmc("approve", *ids(hmc)[:2], *SPEND, "--json").json
    assert (named["submissions"], named["paid_before"]) == (0, 2)
    assert hmc("status", "--json").json["not_reviewed"] == 0
    with Campaign.open("hmc-crowd.db") as campaign, campaign._context.store.read() as tx:
        assert set(tx.work.submissions(campaign._context.campaign_id)["reviewed_by"]) == {"kim"}


def test_approving_above_the_budget_is_refused(hmc: Any, at: Callable[[str], Path]) -> None:
    folder = at("collected")
    before = dump(folder)
    told = hmc("approve", "--yes", "--budget", "5USD")
    assert told.code == 2
    assert "nothing was sent" in told.err
    assert dump(folder) == before


def test_an_unknown_submission_is_named(hmc: Any, at: Callable[[str], Path]) -> None:
    at("collected")
    told = hmc("approve", "s1")
    assert told.code == 2
    assert "'s1' is unknown on local; `hmc-crowd collect` first" in told.err
    assert hmc("approve", "--override").code == 2


# Rejecting.


def test_one_submission_is_rejected_by_its_signals(hmc: Any, at: Callable[[str], Path]) -> None:
    at("collected")
    name = ids(hmc)[0]
    signals = ("--signal", "gold:4=4 of 5 known items wrong", "--signal", "same_label=all 8 answers are good")
    command = ("reject", name, "--message", MESSAGE, *signals, "--cap", "0.04")
    assert "would reject 1 submission on local" in hmc(*command).out
    unsigned = hmc(*command, "--yes")
    assert unsigned.code == 3
    assert "give --signed-off-by" in unsigned.err
    done = hmc(*command, "--yes", "--signed-off-by", "kim", "--json").json
    assert (done["rejected"], done["deferred"], done["disputed"]) == (1, 0, 0)
    again = hmc(*command, "--yes", "--signed-off-by", "kim", "--json").json
    assert (again["submissions"], again["rejected_before"]) == (0, 1)
    assert [each["submission"] for each in hmc("submissions", "--state", "rejected", "--json").json] == [name]


def test_a_file_of_rejections_above_the_cap_rejects_nobody(hmc: Any, at: Callable[[str], Path]) -> None:
    folder = at("collected")
    some = ids(hmc)[:5]
    rows = [(name, rule, "all of it", MESSAGE) for name in some for rule in ("no_work", "too_fast")]
    write_rejections(rows)
    before = dump(folder)
    told = hmc("reject", "rejections.csv", "--yes", "--signed-off-by", "kim")
    assert told.code == 3
    assert "5 of 30 submissions (16.7%) would be rejected" in told.err
    assert dump(folder) == before
    done = hmc("reject", "rejections.csv", "--yes", "--signed-off-by", "kim", "--cap", "0.2", "--json").json
    assert done["rejected"] == 5


BAD_REJECTIONS = {
    "one signal": ([("S", "no_work", "0 words", MESSAGE)], {}, ("line 2", "1 independent signals")),
    "gold once": (
        [("S", "gold", "1 wrong", MESSAGE), ("S", "no_work", "0 words", "")],
        {"count": ["1", "1"]},
        ("lines 2", "1 independent signals"),
    ),
    "short message": ([("S", "a", "b", "bad"), ("S", "c", "d", "")], {}, ("lines 2", "has 3 characters")),
    "no evidence": ([("S", "a", "b", MESSAGE), ("S", "c", "", "")], {}, ("evidence is empty", "line 3")),
    "no submission": ([("", "a", "b", MESSAGE)], {}, ("submission is empty", "line 2")),
    "two messages": (
        [("S", "a", "b", MESSAGE), ("S", "c", "d", "or else " + MESSAGE)],
        {},
        ("message differs", "line 3", "give it once"),
    ),
    "bad count": (
        [("S", "a", "b", MESSAGE), ("S", "c", "d", "")],
        {"count": ["1", "many"]},
        ("count", "line 3 ('many')"),
    ),
}


@pytest.mark.parametrize("case", BAD_REJECTIONS)
def test_bad_rows_of_rejections_are_named_and_nothing_is_done(hmc: Any, at: Callable[[str], Path], case: str) -> None:
    folder = at("collected")
    rows, more, words = BAD_REJECTIONS[case]
    first = ids(hmc)[0]
    write_rejections([tuple(first if cell == "S" else cell for cell in row) for row in rows], **more)
    before = dump(folder)
    told = hmc("reject", "rejections.csv", "--yes", "--signed-off-by", "kim", "--cap", "1")
    assert told.code == 2
    assert [word for word in ("rejections.csv", *words) if word not in told.err] == [], told.err
    assert told.err.count("\n") == 1
    assert dump(folder) == before


def test_words_of_one_rejection_do_not_go_with_a_file(hmc: Any, at: Callable[[str], Path]) -> None:
    at("collected")
    told = hmc("reject", "rejections.csv", "--message", MESSAGE)
    assert told.code == 2
    assert "put them in it" in told.err
    assert "no_such.csv" in hmc("reject", "no_such.csv").err


@pytest.mark.parametrize("text", ["gold", "gold=", "=much", "gold:x=much"])
def test_other_signals_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="write RULE=EVIDENCE"):
        read_signal(text)


# Paying.


def test_a_file_of_bonuses_is_paid_once(hmc: Any, at: Callable[[str], Path]) -> None:
    at("collected")
    first, second, third = ids(hmc)[:3]
    rows = [(first, "1.50USD", "quality", "Very careful."), (second, "0.25", "", ""), (first, "2", "speed", "")]
    pd.DataFrame(rows, columns=["submission", "amount", "code", "reason"]).to_csv("bonuses.csv", index=False)
    dry = hmc("pay", "bonuses.csv", "--json").json
    assert (dry["bonuses"], dry["total_minor"], dry["dry_run"]) == (3, 375, True)
    done = hmc("pay", "bonuses.csv", *SPEND, "--by", "kim", "--json").json
    assert (done["paid"], done["before"]) == (3, 0)
    again = hmc("pay", "bonuses.csv", *SPEND, "--json").json
    assert (again["bonuses"], again["paid"], again["before"]) == (0, 0, 3)
    paid = {each["submission"]: each["bonuses_minor"] for each in hmc("submissions", "--json").json}
    assert [paid[each] for each in (first, second, third)] == [350, 25, 0]


def test_cents_and_single_submissions(hmc: Any, at: Callable[[str], Path]) -> None:
    at("collected")
    first, second = ids(hmc)[:2]
    pd.DataFrame({"submission": [first], "amount_minor": [150]}).to_csv("bonuses.csv", index=False)
    assert hmc("pay", "bonuses.csv", "--json").json["total_minor"] == 150
    done = hmc("pay", second, "1.50USD", "--code", "quality", "--reason", "Very careful.", *SPEND)
    assert (done.code, "  paid      1" in done.out) == (0, True)
    other = hmc("pay", second, "2USD", "--code", "quality")
    assert other.code == 2
    assert "has a bonus 'quality' of 1.50 USD already" in other.err
    assert hmc("pay", *SPEND, "--json").json["bonuses"] == 0


BAD_BONUSES = {
    "amount": ("submission,amount\nS,1.50USD\nT,much\n", ("amount", "line 3 ('much')", "1500USD")),
    "currency": ("submission,amount\nS,1.50GBP\n", ("line 2", "mixes the currencies")),
    "fraction": ("submission,amount\nS,1.505\n", ("line 2", "smallest unit")),
    "nothing": ("submission,amount\nS,0\n", ("line 2", "at least 1")),
    "cents": ("submission,amount_minor\nS,1.5\n", ("line 2 ('1.5')", "whole number")),
    "both": ("submission,amount,amount_minor\nS,1,100\n", ("give one of them",)),
    "neither": ("submission,sum\nS,1\n", ("give one of them",)),
    "no id": ("submission,amount\n,1\n", ("submission is empty", "line 2")),
    "no column": ("worker,amount\nS,1\n", ("lacks the column submission", "worker, amount")),
    "reward": ("submission,amount,code\nS,1,reward\n", ("line 2", "'reward' is taken")),
    "twice": ("submission,amount\nS,1\nS,1\n", ("two bonuses",)),
    "unknown": ("submission,amount\nS,1\nT,1\n", ("'T' is unknown on local",)),
}


@pytest.mark.parametrize("case", BAD_BONUSES)
def test_bad_rows_of_bonuses_are_named_and_nothing_is_paid(hmc: Any, at: Callable[[str], Path], case: str) -> None:
    folder = at("collected")
    content, words = BAD_BONUSES[case]
    first = ids(hmc)[0]
    (folder / "bonuses.csv").write_text(content.replace("\nS,", f"\n{first},"))
    before = dump(folder)
    told = hmc("pay", "bonuses.csv", *SPEND)
    assert told.code == 2
    assert [word for word in words if word not in told.err] == [], told.err
    assert told.err.count("\n") == 1
    assert dump(folder) == before


@pytest.mark.parametrize("words", [("s1",), ("bonuses.csv", "1USD"), ("bonuses.csv", "--code", "x")])
def test_amount_and_code_go_with_one_submission(hmc: Any, at: Callable[[str], Path], words: tuple[str, ...]) -> None:
    at("collected")
    assert hmc("pay", *words).code == 2


# What is out, and what came back.


def test_lists_name_what_other_commands_take(hmc: Any, at: Callable[[str], Path]) -> None:
    folder = at("collected")
    hits = hmc("hits", "--json").json
    assert (len(hits), {each["state"] for each in hits}, hits[0]["places"]) == (10, {"complete"}, 3)
    assert hmc("hits", "--state", "open", "--json").json == []
    assert hmc("submissions", "--out", "work.csv").out == "30 rows: work.csv\n"
    work = pd.read_csv(folder / "work.csv")
    assert (work["answers"] == work["items"]).all()
    assert set(work["hit"]) == {each["hit"] for each in hits}
    with Campaign.open("hmc-crowd.db") as campaign, campaign._context.store.read() as tx:
        raw = set(tx.workers.known("local"))
    assert not raw & set((folder / "work.csv").read_text().replace("\n", ",").split(","))
    assert hmc("submissions", "--out", "work.csv").code == 2


# More people, and none.


def test_extending_to_a_target_asks_once(hmc: Any, at: Callable[[str], Path]) -> None:
    at("collected")
    hit = hmc("hits", "--json").json[0]["hit"]
    dry = hmc("extend", hit, "--target", "5")
    assert f"would ask 2 more people about HIT {hit} on local" in dry.out
    done = hmc("extend", hit, "--target", "5", *SPEND, "--json").json
    assert (done["more"], done["dry_run"]) == (2, False)
    again = hmc("extend", hit, "--target", "5", *SPEND)
    assert (again.code, "nothing to do" in again.out) == (0, True)
    assert hmc("status", "--json").json["open_places"] == 2
    unknown = hmc("extend", "nope", "--target", "5")
    assert (unknown.code, "no HIT of this campaign" in unknown.err) == (2, True)


def test_stopping_offers_nothing_more(hmc: Any, at: Callable[[str], Path]) -> None:
    at("published")
    done = hmc("stop")
    assert (done.code, done.out.startswith("10 closed, 0 not sent at all; ")) == (0, True)
    # Said at once, not only after the next collection.
    status = hmc("status", "--json").json
    assert (status["open_places"], status["next_step"], status["stopped"] is None) == (0, "lift", False)
    assert "stop --lift" in hmc("status").out
    assert hmc("collect", "--crowd", "truth.csv", "--json").json["submissions"] == 0
    assert hmc("stop", "--json").json["closed"] == 0


def test_a_stop_holds_until_it_is_lifted(hmc: Any, at: Callable[[str], Path]) -> None:
    at("published")
    hmc("stop")
    before = hmc("status", "--json").json
    for refused in (("run", "--pay", "12/h", *SPEND), ("publish", "--pay", "12/h", *SPEND)):
        done = hmc(*refused)
        assert (done.code, "stop --lift" in done.err) == (2, True)
    assert hmc("publish", "--pay", "12/h").code == 0
    hit = hmc("hits", "--json").json[0]["hit"]
    assert "stop --lift" in hmc("extend", hit, "--target", "5", *SPEND).err
    hmc("collect")
    now = hmc("status", "--json").json
    assert (now["round"], now["hits"], now["reserved_minor"]) == (before["round"], before["hits"], 0)
    assert hmc("stop", "--lift", "--json").json == {"lifted": True}
    assert hmc("stop", "--lift").out == "no stop was there\n"
    done = hmc("run", "--pay", "12/h", *SPEND)
    assert done.code == 0
    assert hmc("status", "--json").json["open_places"] > 0


# Questions.


def test_a_question_is_shown_exactly_and_answered(hmc: Any, at: Callable[[str], Path]) -> None:
    folder = at("collected")
    assert hmc("reconcile").code == 0
    lost = orphan(folder)
    found = hmc("reconcile", "--json")
    assert found.code == 3
    (question,) = found.json["questions"]
    assert f"under the key {lost} of this campaign, which is unknown here" in question["text"]
    shown = hmc("status")
    assert shown.code == 3
    assert f"a person is needed: expire {question['key']}" in shown.out
    assert question["text"] in " ".join(shown.out.split())
    assert f"hmc-crowd answer {question['key']} retry|cancel --note TEXT" in " ".join(shown.out.split())
    assert hmc("status", "--json").json["questions"] == [question]
    wrong = hmc("answer", question["key"], "done", "--note", "kim looked")
    assert (wrong.code, "takes retry, cancel" in wrong.err) == (2, True)
    assert hmc("answer", question["key"], "retry", "--note", " ").code == 2
    told = hmc("answer", question["key"], "retry", "--note", "kim looked: it is a leftover")
    assert told.out == "noted: retry; `hmc-crowd reconcile` goes on with it; 0 questions left\n"
    assert hmc("reconcile", "--json").json["is_settled"] is True
    place: Any = find_platform("local", "workplace.db")
    assert not place.find(lost).is_open
    place.close()
    assert hmc("status").code == 0
    assert hmc("answer", question["key"], "retry", "--note", "again").code == 2


# Addresses.


@pytest.mark.parametrize("command", [("reconcile",), ("collect",), ("publish", "--pay", "12/h")])
def test_the_local_platform_has_no_endpoint_and_its_own_pages(
    hmc: Any, at: Callable[[str], Path], command: tuple[str, ...]
) -> None:
    at("planned")
    assert "name it with --workplace" in hmc(*command, "--endpoint", "http://127.0.0.1:1").err
    told = hmc(*command, "--pages", "local")
    assert (told.code, "leave it out" in told.err) == (2, True)


def test_mturk_needs_an_endpoint(hmc: Any, at: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HMC_CROWD_MTURK_ENDPOINT", raising=False)
    at("planned")
    assert hmc("publish", "--pay", "12/h", "--platform", "mturk").code == 2
    closed = hmc("approve", "--platform", "mturk", "--endpoint", "https://mturk-requester.us-east-1.amazonaws.com")
    assert (closed.code, "Amazon closed Mechanical Turk" in closed.err) == (3, True)


@pytest.mark.parametrize("text", ["", "2", "m", "-1m", "1y", "1e3s", "400d"])
def test_other_times_are_named(text: str) -> None:
    with pytest.raises(InputError, match=r"--every is .*; give a time such as 30s, 2m, 1.5h or 3d"):
        read_duration(text, name="--every")
