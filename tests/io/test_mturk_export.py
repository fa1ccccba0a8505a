"""MTurk's batch file: its times, its rates, its columns of answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest

from hmc_crowd.aggregation import MajorityVote
from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.io import read_mturk_batch

if TYPE_CHECKING:
    from pathlib import Path

BASE = {
    "HITId": "H1",
    "HITTypeId": "T",
    "Title": 'Judge a "reply"',
    "Reward": "$0.05",
    "AssignmentId": "A1",
    "WorkerId": "W1",
    "AssignmentStatus": "Submitted",
    "AcceptTime": "Mon Nov 04 22:15:00 PST 2019",
    "SubmitTime": "Mon Nov 04 22:15:19 PST 2019",
    "WorkTimeInSeconds": "19",
    "LifetimeApprovalRate": "0% (0/0)",
    "Last30DaysApprovalRate": "57% (12/21)",
    "Last7DaysApprovalRate": "100% (3/3)",
    "Input.item": "i1",
    "Answer.label": "yes",
    "Approve": "",
    "Reject": "",
}


def batch(tmp_path: Path, *rows: dict[str, str]) -> Path:
    path = tmp_path / "Batch_1_batch_results.csv"
    full = [BASE | {"AssignmentId": f"A{n}"} | row for n, row in enumerate(rows)]
    pd.DataFrame(full).to_csv(path, index=False)
    return path


def test_a_row_becomes_an_answer_with_its_times(tmp_path: Path) -> None:
    answers = read_mturk_batch(batch(tmp_path, {})).answers
    assert answers[["task", "worker", "label"]].values.tolist() == [["i1", "W1", "yes"]]
    # 22:15:19 in Pacific standard time is 06:15:19 of the next day in UTC
    assert answers["submitted"][0] == pd.Timestamp("2019-11-05T06:15:19Z")
    assert (answers["submitted"] - answers["started"])[0].total_seconds() == answers["seconds"][0] == 19


def test_summer_time_is_an_hour_earlier_in_utc(tmp_path: Path) -> None:
    row = {"AcceptTime": "Tue Jul 02 05:00:00 PDT 2019", "SubmitTime": "Tue Jul  2 05:00:09 PDT 2019"}
    answers = read_mturk_batch(batch(tmp_path, row)).answers
    assert answers["started"][0] == pd.Timestamp("2019-07-02T12:00:00Z")
    assert answers["submitted"][0] == pd.Timestamp("2019-07-02T12:00:09Z")


def test_a_rate_of_nothing_is_unknown_not_bad(tmp_path: Path) -> None:
    one = read_mturk_batch(batch(tmp_path, {})).submissions.iloc[0]
    assert pd.isna(one["lifetime_rate"])
    assert (one["days_30_approved"], one["days_30_judged"]) == (12, 21)
    assert one["days_30_rate"] == pytest.approx(12 / 21)
    assert one["reward_minor"] == 5


def test_answers_go_straight_into_aggregation(tmp_path: Path) -> None:
    path = batch(tmp_path, {}, {"WorkerId": "W2"}, {"WorkerId": "W3", "Answer.label": "no"})
    assert MajorityVote().fit_predict(read_mturk_batch(path).answers).to_dict() == {"i1": "yes"}


def test_several_questions_become_aspects(tmp_path: Path) -> None:
    rows = [{"Answer.tone": "rude", "Answer.label": "yes"}]
    answers = read_mturk_batch(batch(tmp_path, *rows)).answers
    assert sorted(zip(answers["aspect"], answers["label"], strict=True)) == [("label", "yes"), ("tone", "rude")]


def test_numbered_inputs_are_paired_with_numbered_answers(tmp_path: Path) -> None:
    path = tmp_path / "b.csv"
    row = {name: value for name, value in BASE.items() if not name.startswith(("Input.", "Answer."))}
    row |= {"Input.item_1": "i1", "Input.item_2": "i2", "Input.text_1": "a", "Input.text_2": "b"}
    row |= {"Answer.label_1": "yes", "Answer.label_2": "no"}
    pd.DataFrame([row]).to_csv(path, index=False)
    answers = read_mturk_batch(path).answers
    assert dict(zip(answers["task"], answers["label"], strict=True)) == {"i1": "yes", "i2": "no"}
    assert "aspect" not in answers


def test_radio_buttons_become_one_answer(tmp_path: Path) -> None:
    path = tmp_path / "b.csv"
    row = {name: value for name, value in BASE.items() if name != "Answer.label"}
    choices = [("true", "false"), ("false", "true"), ("false", "false")]
    rows = [
        row | {"AssignmentId": f"A{n}", "WorkerId": f"W{n}", "Answer.tone.rude": rude, "Answer.tone.kind": kind}
        for n, (rude, kind) in enumerate(choices)
    ]
    pd.DataFrame(rows).to_csv(path, index=False)
    found = read_mturk_batch(path)
    assert found.answers["label"].tolist() == ["rude", "kind"]
    assert found.empty == 1


def test_boxes_of_which_several_are_ticked_stay_apart(tmp_path: Path) -> None:
    row = {"Answer.is.rude": "true", "Answer.is.long": "true"}
    answers = read_mturk_batch(batch(tmp_path, row)).answers.set_index("aspect")["label"]
    assert (answers["is.rude"], answers["is.long"]) == ("true", "true")


def test_answers_of_rejected_submissions_are_left_out_and_counted(tmp_path: Path) -> None:
    path = batch(
        tmp_path, {}, {"AssignmentStatus": "Rejected", "WorkerId": "W2"}, {"Answer.label": "", "WorkerId": "W3"}
    )
    found = read_mturk_batch(path)
    assert (len(found.answers), found.rejected, found.empty) == (1, 1, 1)
    assert len(found.submissions) == 3
    assert len(read_mturk_batch(path, keep_rejected=True).answers) == 2
    assert "1 of rejected submissions and 1 empty ones left out" in str(found)


def test_without_a_telling_input_the_hit_is_the_item(tmp_path: Path) -> None:
    path = batch(tmp_path, {"Input.a": "1", "Input.b": "2"})
    frame = pd.read_csv(path).drop(columns="Input.item")
    frame.to_csv(path, index=False)
    assert read_mturk_batch(path).answers["task"].tolist() == ["H1"]
    assert read_mturk_batch(path, item="b").answers["task"].tolist() == ["2"]


def test_inputs_stand_once_for_each_hit(tmp_path: Path) -> None:
    inputs = read_mturk_batch(batch(tmp_path, {}, {"WorkerId": "W2"})).inputs
    assert inputs.to_dict("records") == [{"hit": "H1", "item": "i1"}]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"SubmitTime": "yesterday"}, r"SubmitTime is no time.*line 2 \('yesterday'\)"),
        ({"SubmitTime": "Mon Nov 04 22:15:19 XYZ 2019"}, "SubmitTime is no time"),
        ({"LifetimeApprovalRate": "good"}, r"LifetimeApprovalRate is no rate.*line 2 \('good'\)"),
        ({"Input.item": ""}, "the item is empty in line 2"),
        ({"WorkerId": ""}, "no worker in line 2"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(tmp_path: Path, row: dict[str, str], words: str) -> None:
    with pytest.raises(FrameError, match=words):
        read_mturk_batch(batch(tmp_path, row))


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("item,label\na,b\n", encoding="utf-8")
    with pytest.raises(FrameError, match="lacks the column HITId, AssignmentId"):
        read_mturk_batch(path)
    pd.DataFrame([{k: v for k, v in BASE.items() if k != "Answer.label"}]).to_csv(path, index=False)
    with pytest.raises(FrameError, match=r"no Answer\.\* column"):
        read_mturk_batch(path)


def test_a_submission_that_stands_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FrameError, match="stands twice, again in line 3"):
        read_mturk_batch(batch(tmp_path, {"AssignmentId": "A"}, {"AssignmentId": "A"}))


def test_an_unknown_item_column_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="item is 'nope'; choose one of the inputs item"):
        read_mturk_batch(batch(tmp_path, {}), item="nope")
