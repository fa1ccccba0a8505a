"""Results as MTurk's batch file: written by the front door, read back by the package's own reader."""

from __future__ import annotations

import csv
import json

import pandas as pd
import pytest
from hmc_crowd_local.mturk_api import write_batch_file
from mturk_house import html_question

from hmc_crowd.errors import InputError
from hmc_crowd.io import read_mturk_batch

PAGE = "<form method='post'><p>${text}</p><input name='assignmentId'><input name='label'></form>"


@pytest.fixture
def layout_hit(house, client) -> str:
    layout = house.door.add_layout(PAGE)
    parameters = [{"Name": "text", "Value": "Hello, 🙂"}]
    made = client.create_hit(
        Title='Judge a "reply"', Description="Read.", Reward="0.05", AssignmentDurationInSeconds=600,
        LifetimeInSeconds=86_400, MaxAssignments=5, HITLayoutId=layout, HITLayoutParameters=parameters,
    )  # fmt: skip
    hit_id: str = made["HIT"]["HITId"]
    return hit_id


def test_what_was_handed_in_reads_back_as_answers(house, client, layout_hit, clock, tmp_path) -> None:
    for worker, label in [("A1ANN", "yes"), ("A2BOB", "no"), ("A3CYD", "yes")]:
        work = house.workers.accept(layout_hit, worker)
        clock.advance(19)
        house.workers.submit(work.assignment_id, [("label", label)])
    first, second, _ = client.list_assignments_for_hit(HITId=layout_hit)["Assignments"]
    client.approve_assignment(AssignmentId=first["AssignmentId"])
    client.reject_assignment(AssignmentId=second["AssignmentId"], RequesterFeedback="Not read.")
    assert write_batch_file(house.door, tmp_path / "b.csv") == 3
    batch = read_mturk_batch(tmp_path / "b.csv")
    assert batch.answers[["task", "worker", "label"]].values.tolist() == [
        ["Hello, 🙂", "A1ANN", "yes"],
        ["Hello, 🙂", "A3CYD", "yes"],
    ]
    assert batch.rejected == 1
    assert batch.submissions["status"].tolist() == ["approved", "rejected", "submitted"]
    assert batch.submissions["seconds"].tolist() == [19, 19, 19]
    assert batch.submissions["reward_minor"].tolist() == [5, 5, 5]
    assert batch.submissions["submitted"][0] == pd.Timestamp(first["SubmitTime"])
    assert batch.submissions["lifetime_rate"].tolist()[:2] == [1.0, 0.0]
    assert pd.isna(batch.submissions["lifetime_rate"][2])
    assert batch.inputs["text"].tolist() == ["Hello, 🙂"]


def test_a_crowd_form_is_laid_flat_as_the_file_had_it(house, tmp_path) -> None:
    hit_id = house.hit(Question=html_question("<crowd-form></crowd-form>"))
    sent = json.dumps([{"mood": {"label": "good"}, "sure": True, "level": {"a": True, "b": False}}])
    house.work(hit_id, "A1ANN", taskAnswers=sent)
    write_batch_file(house.door, tmp_path / "b.csv")
    with (tmp_path / "b.csv").open(encoding="utf-8", newline="") as file:
        row = next(csv.DictReader(file))
    said = {name: value for name, value in row.items() if name.startswith("Answer.")}
    assert said == {
        "Answer.level.a": "true", "Answer.level.b": "false", "Answer.mood.label": "good", "Answer.sure": "true",
    }  # fmt: skip
    answers = read_mturk_batch(tmp_path / "b.csv").answers
    assert set(zip(answers["aspect"], answers["label"], strict=True)) >= {("mood.label", "good"), ("level", "a")}


def test_c10_a_formula_in_an_answer_is_inert(house, tmp_path) -> None:
    house.work(house.hit(), "A1ANN", answer="=cmd|' /C calc'!A0", other="<script>alert(1)</script>")
    write_batch_file(house.door, tmp_path / "b.csv")
    text = (tmp_path / "b.csv").read_text(encoding="utf-8")
    assert "\"'=cmd" in text
    assert '"=cmd' not in text
    write_batch_file(house.door, tmp_path / "raw.csv", safe=False)
    assert '"=cmd' in (tmp_path / "raw.csv").read_text(encoding="utf-8")


def test_only_the_hits_of_an_account_and_a_type_are_written(house, client, tmp_path) -> None:
    for reward in ("0.05", "0.10"):
        house.work(house.hit(Reward=reward), "A1ANN")
    kind = client.list_hits()["HITs"][0]["HITTypeId"]
    assert write_batch_file(house.door, tmp_path / "a.csv", hit_type_id=kind) == 1
    house.door.issue_key("other")
    assert write_batch_file(house.door, tmp_path / "b.csv", account="other") == 0


def test_a_file_that_is_there_is_kept(house, tmp_path) -> None:
    (tmp_path / "b.csv").write_text("mine")
    with pytest.raises(InputError, match="exists"):
        write_batch_file(house.door, tmp_path / "b.csv")
    with pytest.raises(InputError, match="cannot be written"):
        write_batch_file(house.door, tmp_path / "none" / "b.csv")
    assert [each.name for each in tmp_path.glob("*.csv")] == ["b.csv"]
    assert write_batch_file(house.door, tmp_path / "b.csv", overwrite=True) == 0


def test_characters_that_no_file_can_hold_do_not_make_the_batch_unreadable(house, tmp_path) -> None:
    hit_id = house.hit(Question=html_question("<form><input name='assignmentId'><input name='q'></form>"))
    name = house.workers.accept(hit_id, "A1ANN").assignment_id
    sent = {"assignmentId": name, "q": "y\x00es\x0b", "r\x00": "1"}
    assert house.page("POST", "/mturk/externalSubmit", data=sent).status_code == 200
    write_batch_file(house.door, tmp_path / "b.csv")
    answers = read_mturk_batch(tmp_path / "b.csv").answers
    assert sorted(zip(answers["aspect"], answers["label"], strict=True)) == [("q", "yes"), ("r", "1")]


def test_a_crowd_form_cannot_smuggle_them_in_as_escapes(house, tmp_path) -> None:
    hit_id = house.hit(Question=html_question("<crowd-form></crowd-form>"))
    house.work(hit_id, "A1ANN", taskAnswers='[{"mo\\u0000od": "go\\u0000od\\ud800", "list": ["a\\u0000"]}]')
    write_batch_file(house.door, tmp_path / "b.csv")
    answers = read_mturk_batch(tmp_path / "b.csv").answers
    assert sorted(zip(answers["aspect"], answers["label"], strict=True)) == [("list", '["a\\u0000"]'), ("mood", "good")]
