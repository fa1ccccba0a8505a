"""tests add --study, collect and funnel: one file for pages and campaign, in the words of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hmc_crowd_local import connect
from hmc_crowd_local.pages import read_study
from hmc_crowd_local.pages._exam import Exam, Exams, ExamState

from hmc_crowd._base.clock import SystemClock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STUDY = """test_name = "tone"
test_share = 0.5
test_attempts = 2
test_delay_s = 60
[[training]]
text = "Shut up."
labels = ["good", "bad"]
label = "bad"
[[test]]
text = "Hello."
labels = ["good", "bad"]
label = "good"
[[test]]
text = "Thanks."
labels = ["good", "bad"]
label = "good"
"""


def try_it(folder: Path, worker: str, *given: str) -> None:
    """Take a place and end an attempt, as the pages do."""
    with connect(str(folder / "workplace.db")) as place:
        place.accept(next(iter(place.find_all().values())).hit_id, worker)
        study = read_study(folder / "study.toml")
        exam = Exam(ExamState.OPEN)
        Exams(place._database).finish(worker, study, exam, given, sent_by=None, at=SystemClock().now())


def test_the_pages_test_is_kept_collected_and_counted(hmc: Callable[..., Any], at: Callable[[str], Any]) -> None:
    folder = at("published")
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    assert hmc("tests", "add", "--study", "study.toml").out == "test 'tone', version 1: 1 of 2 right pass\n"
    kept = hmc("tests", "add", "--study", "study.toml", "--json").json
    assert (kept["attempts"], kept["delay_s"], len(kept["key"]), len(kept["training"])) == (2, 60.0, 2, 1)
    try_it(folder, "ann", "good", "bad")
    try_it(folder, "bob", "bad", "bad")
    assert hmc("tests", "collect", "--json").json == {"new": 2, "unmatched": 0}
    assert hmc("tests", "collect").out == "0 new attempts at tests\n"
    assert [(each["right"], each["passed"]) for each in hmc("tests", "list", "--json").json["attempts"]] in (
        [(1, True), (0, False)],
        [(0, False), (1, True)],
    )
    rows = hmc("tests", "funnel", "tone", "--json").json
    assert [(each["stage"], each["people"]) for each in rows] == [
        ("arrived", 2),
        ("tried", 2),
        ("passed", 1),
        ("worked", 0),
    ]
    assert rows[2]["low"] < 0.5 < rows[2]["high"]
    assert "passed" in hmc("tests", "funnel", "tone").out
    told = hmc("tests", "funnel", "tone", "--platform", "prolific", "--json").json
    assert [each["stage"] for each in told] == ["tried", "passed", "worked"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("tests", "add"), "TEST or FILE is missing"),
        (("tests", "add", "tone"), "TEST or FILE is missing"),
        (("tests", "add", "tone", "--study", "study.toml"), "TEST is 'tone'"),
        (("tests", "add", "--study", "study.toml", "--attempts", "3"), "--attempts is '3'"),
        (("tests", "add", "--study", "none.toml"), "cannot be read"),
        (("tests", "add", "--study", "items.csv"), "is no TOML"),
        (("tests", "funnel", "moon"), "no test 'moon'"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(
    hmc: Callable[..., Any], at: Callable[[str], Any], arguments: tuple[str, ...], said: str
) -> None:
    (at("planned") / "study.toml").write_text(STUDY, encoding="utf-8")
    told = hmc(*arguments)
    assert told.code == 2
    assert said in " ".join(told.err.split())


def test_other_questions_under_the_same_number_are_said(hmc: Callable[..., Any], at: Callable[[str], Any]) -> None:
    folder = at("published")
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    hmc("tests", "add", "--study", "study.toml")
    (folder / "study.toml").write_text(STUDY.replace("Hello.", "Hi."), encoding="utf-8")
    assert "give the next number" in " ".join(hmc("tests", "add", "--study", "study.toml").err.split())
    try_it(folder, "ann", "good", "good")
    assert "1 at other questions or another mark" in " ".join(hmc("tests", "collect").out.split())
