"""Prolific's submissions file, and a survey's answers joined to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.io import read_prolific_export

if TYPE_CHECKING:
    from pathlib import Path

BASE = {
    "Submission id": "s1",
    "Participant id": "p1",
    "Status": "APPROVED",
    "Started at": "2026-01-02T10:00:00.500000Z",
    "Completed at": "2026-01-02T10:05:00.500000Z",
    "Reviewed at": "2026-01-02T11:00:00Z",
    "Time taken": "300",
    "Completion code": "C1",
    "Total approvals": "12",
    "Age": "33",
    "Nationality": "Dutch",
}


def export(tmp_path: Path, *rows: dict[str, str]) -> Path:
    path = tmp_path / "prolific_export.csv"
    pd.DataFrame([BASE | row for row in rows]).to_csv(path, index=False)
    return path


def two(tmp_path: Path) -> Path:
    return export(tmp_path, {}, {"Submission id": "s2", "Participant id": "p2", "Status": "RETURNED"})


def test_a_row_becomes_a_submission(tmp_path: Path) -> None:
    one = read_prolific_export(export(tmp_path, {})).submissions.iloc[0]
    assert (one["submission"], one["worker"], one["status"], one["seconds"]) == ("s1", "p1", "approved", 300)
    assert one["submitted"] - one["started"] == pd.Timedelta(minutes=5)
    assert one["approvals"] == 12


def test_personal_details_are_not_read_unless_named(tmp_path: Path) -> None:
    path = export(tmp_path, {})
    found = read_prolific_export(path)
    assert found.details_left_out == ("Age", "Nationality")
    assert not {"Age", "Nationality"} & set(found.submissions.columns)
    assert read_prolific_export(path, details=["Age"]).submissions["Age"].tolist() == ["33"]


def test_who_withdrew_is_counted_and_gone(tmp_path: Path) -> None:
    path = export(tmp_path, {}, {"Submission id": "s2", "Participant id": "CONSENT_REVOKED"})
    found = read_prolific_export(path)
    assert (found.withdrawn, found.submissions["submission"].tolist()) == (1, ["s1"])


def test_times_of_old_files_are_utc(tmp_path: Path) -> None:
    path = tmp_path / "old.csv"
    row = {"session_id": "s", "participant_id": "p", "status": "AWAITING REVIEW", "time_taken": "12.5"}
    pd.DataFrame([row | {"started_datetime": "2020-03-01 10:00:00.120000", "completed_date_time": ""}]).to_csv(
        path, index=False
    )
    one = read_prolific_export(path).submissions.iloc[0]
    assert one["started"] == pd.Timestamp("2020-03-01T10:00:00.12Z")
    assert pd.isna(one["submitted"])
    assert one["status"] == "awaiting review"


def test_answers_get_times_and_lose_what_was_returned(tmp_path: Path) -> None:
    answers = pd.DataFrame({"task": ["a"] * 3, "worker": ["p1", "p2", "p9"], "label": ["x", "y", "z"]})
    kept, out = read_prolific_export(two(tmp_path)).join(answers)
    assert kept[["worker", "label", "seconds"]].values.tolist() == [["p1", "x", 300.0]]
    assert dict(zip(out["worker"], out["status"], strict=True)) == {"p2": "returned", "p9": "unknown"}
    assert len(kept) + len(out) == len(answers)


def test_two_submissions_of_one_worker_need_the_submission(tmp_path: Path) -> None:
    found = read_prolific_export(export(tmp_path, {}, {"Submission id": "s2"}))
    with pytest.raises(FrameError, match="'p1' has several submissions; add the column submission"):
        found.join(pd.DataFrame({"task": ["a"], "worker": ["p1"], "label": ["x"]}))
    kept, _ = found.join(pd.DataFrame({"task": ["a"], "worker": ["p1"], "label": ["x"], "submission": ["s2"]}))
    assert len(kept) == 1


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"Started at": "soon"}, r"Started at is no time.*line 2 \('soon'\)"),
        ({"Time taken": "long"}, r"Time taken is no number: line 2 \('long'\)"),
        ({"Participant id": ""}, "no worker in 1 rows"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, row: dict[str, str], words: str) -> None:
    with pytest.raises(FrameError, match=words):
        read_prolific_export(export(tmp_path, row))


def test_other_files_and_details_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("item,label\na,b\n", encoding="utf-8")
    with pytest.raises(FrameError, match="lacks the column Submission id, Participant id, Status"):
        read_prolific_export(path)
    with pytest.raises(InputError, match="details names 'Shoe size'"):
        read_prolific_export(export(tmp_path, {}), details=["Shoe size"])
