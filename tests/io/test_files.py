"""What files may look like, and how they are written."""

from __future__ import annotations

import csv
import os
import stat
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.io import Form, SourceKind, read_frame, write_frame

if TYPE_CHECKING:
    from pathlib import Path

ENDINGS = ["csv", "tsv", "jsonl", "parquet"]
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=30)


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfitem,text\na,\"one\ntwo\"\nNA,\n",
        b"item,text\r\na,\"one\ntwo\"\r\nNA,\r\n",
        b"item,text\na,\"one\ntwo\"\n\nNA,",
        b"\nitem,text\n\"a\",\"one\ntwo\"\nNA,\"\"\n\n",
    ],
    ids=["byte order mark", "CRLF", "no newline at the end", "blank lines"],
)  # fmt: skip
def test_csv_as_programs_write_it(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "in.csv"
    path.write_bytes(content)
    frame = read_frame(path, kind="items").frame
    assert frame["item"].tolist() == ["a", "NA"]
    assert frame["text"].tolist() == ["one\ntwo", ""]


def test_a_byte_order_mark_before_json(tmp_path: Path) -> None:
    path = tmp_path / "in.ndjson"
    path.write_bytes(b'\xef\xbb\xbf{"item": "a"}\r\n{"item": "b"}')
    assert read_frame(path, kind="items").frame["item"].tolist() == ["a", "b"]


def test_line_separators_of_unicode_do_not_end_a_line(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"item": "a\u2028b\x85c"}\n', encoding="utf-8")
    assert read_frame(path, kind="items").frame["item"].tolist() == ["a\u2028b\x85c"]


def test_endings_in_capitals(tmp_path: Path) -> None:
    path = tmp_path / "IN.CSV"
    path.write_text("item\na\n")
    assert read_frame(path, kind="items").kind_of_source == SourceKind(Form.CSV, path)


def test_numeric_columns_of_a_csv_are_features_and_ids_are_not(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("item,whole,share,gap,code,word\n007,3,0.5,1,01,x\n008,4,1e-3,,02,2\n")
    loaded = read_frame(path, kind="items")
    assert loaded.features == ("whole", "share", "gap")
    assert loaded.frame["whole"].tolist() == [3, 4]
    assert loaded.frame["share"].tolist() == [0.5, 0.001]
    assert loaded.frame["gap"].isna().tolist() == [False, True]
    assert loaded.frame["code"].tolist() == ["01", "02"]
    assert loaded.frame["word"].tolist() == ["x", "2"]


def test_without_rules_a_csv_is_text(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("a,b\n1,NA\n")
    assert read_frame(path, kind=None).frame.to_dict("list") == {"a": ["1"], "b": ["NA"]}


def test_an_index_with_a_name_is_a_column(tmp_path: Path) -> None:
    frame = pd.DataFrame({"item": ["a", "b"], "text": ["x", "y"]}).set_index("item")
    assert read_frame(frame, kind="items").frame["item"].tolist() == ["a", "b"]
    frame.to_parquet(tmp_path / "in.parquet")
    assert read_frame(tmp_path / "in.parquet", kind="items").frame["item"].tolist() == ["a", "b"]


def test_an_index_without_a_name_is_none(tmp_path: Path) -> None:
    frame = pd.DataFrame({"item": ["a", "b"]}, index=[5, 9])
    frame.to_parquet(tmp_path / "in.parquet")
    for source in (frame, tmp_path / "in.parquet"):
        assert list(read_frame(source, kind=None).frame.columns) == ["item"]


def test_categories_are_text() -> None:
    frame = pd.DataFrame({"item": ["a", "b"], "label": pd.Categorical(["yes", "no"])})
    assert read_frame(frame, kind="gold").frame["label"].tolist() == ["yes", "no"]


def test_class_numbers_of_a_dataset_are_their_names() -> None:
    import datasets

    features = datasets.Features({"item": datasets.Value("string"), "label": datasets.ClassLabel(names=["no", "yes"])})
    source = datasets.Dataset.from_dict({"item": ["a", "b"], "label": [1, 0]}, features=features)
    assert read_frame(source, kind="gold").frame["label"].tolist() == ["yes", "no"]


def test_a_dataset_that_was_filtered_has_only_its_rows() -> None:
    import datasets

    source = datasets.Dataset.from_dict({"item": ["a", "b", "c"]}).select([2, 0])
    assert read_frame(source, kind="items").frame["item"].tolist() == ["c", "a"]


def test_a_named_problem_can_be_raised_by_others(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text('item\n"a\n"\nb\n')
    loaded = read_frame(path, kind="items")
    assert loaded.rows((loaded.frame["item"] == "b").to_numpy()) == "line 4"


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_lists_in_other_columns_are_kept(tmp_path: Path, ending: str) -> None:
    rows = [{"item": "a", "context": ["hi", "you"]}, {"item": "b", "context": []}]
    first = write_frame(pd.DataFrame(rows), tmp_path / f"x.{ending}")
    loaded = read_frame(first, kind="items")
    assert [list(each) for each in loaded.frame["context"]] == [["hi", "you"], []]
    again = write_frame(loaded.frame, tmp_path / "y.jsonl")
    assert [list(each) for each in read_frame(again, kind="items").frame["context"]] == [["hi", "you"], []]


@given(body=st.text('ab,"\n\r ;é', max_size=40))
@settings(max_examples=300, deadline=None)
def test_any_text_is_read_as_the_csv_module_reads_it_or_refused(
    tmp_path_factory: pytest.TempPathFactory, body: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_text("x,y\n" + body, encoding="utf-8", newline="")
    try:
        frame = read_frame(path, kind=None).frame
    except FrameError:
        return
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file) if row]
    assert frame.to_numpy().tolist() == rows[1:]


@given(body=st.text('{}[]":,a1 \n\\u0', max_size=40))
@settings(max_examples=300, deadline=None)
def test_any_text_is_json_lines_or_refused(tmp_path_factory: pytest.TempPathFactory, body: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_text('{"item": "a"}\n' + body, encoding="utf-8", newline="")
    try:
        loaded = read_frame(path, kind="items")
    except FrameError:
        return
    assert len(loaded.frame) >= 1
    assert loaded.frame["item"].iloc[0] == "a"


# --- writing


@pytest.mark.parametrize("ending", ENDINGS)
@given(rows=st.lists(st.tuples(TEXT, TEXT, st.floats(0, 1)), min_size=1, max_size=8))
@settings(max_examples=40, deadline=None)
def test_what_was_written_reads_back(
    tmp_path_factory: pytest.TempPathFactory, ending: str, rows: list[tuple[str, str, float]]
) -> None:
    items, labels, confidence = zip(*rows, strict=True)
    frame = pd.DataFrame({"item": items, "label": labels, "confidence": confidence})
    path = write_frame(frame, tmp_path_factory.mktemp("out") / f"x.{ending}")
    again = read_frame(path, kind=None).frame
    assert again["item"].tolist() == list(items)
    assert again["label"].tolist() == list(labels)
    assert [float(each) for each in again["confidence"]] == list(confidence)


@pytest.mark.parametrize("ending", ENDINGS)
def test_times_and_missing_values_read_back(tmp_path: Path, ending: str) -> None:
    times = pd.Series(pd.to_datetime(["2026-01-31T12:00:00.000123Z", None], format="ISO8601", utc=True))
    frame = pd.DataFrame(
        {"task": ["a", "b"], "worker": ["w", "w"], "label": ["x", "y"], "started": times, "seconds": [1.5, None]}
    )
    again = read_frame(write_frame(frame, tmp_path / f"x.{ending}"), kind="answers").frame
    assert again["started"].iloc[0] == pd.Timestamp("2026-01-31T12:00:00.000123Z")
    assert again["started"].isna().tolist() == [False, True]
    assert again["seconds"].isna().tolist() == [False, True]


def test_formulas_are_guarded_only_if_asked(tmp_path: Path) -> None:
    frame = pd.DataFrame({"=item": ["=1+1", "+1", "-1", "@x", "a=b", ""], "x": [-1, 2, 3, 4, 5, 6]})
    write_frame(frame, tmp_path / "plain.csv")
    write_frame(frame, tmp_path / "safe.csv", safe_for_spreadsheets=True)
    assert read_frame(tmp_path / "plain.csv", kind=None).frame["=item"].tolist() == frame["=item"].tolist()
    safe = read_frame(tmp_path / "safe.csv", kind=None).frame
    assert safe["'=item"].tolist() == ["'=1+1", "+1", "-1", "'@x", "a=b", ""]  # numbers run nowhere
    assert safe["x"].tolist() == ["-1", "2", "3", "4", "5", "6"]


def test_the_guard_is_for_spreadsheets_only(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="for CSV and TSV"):
        write_frame(pd.DataFrame({"a": ["x"]}), tmp_path / "x.jsonl", safe_for_spreadsheets=True)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_that_exists_stays_unless_asked(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"x.{ending}"
    write_frame(pd.DataFrame({"a": ["old"]}), path)
    with pytest.raises(InputError, match=r"exists; pass overwrite=True"):
        write_frame(pd.DataFrame({"a": ["new"]}), path)
    assert read_frame(path, kind=None).frame["a"].tolist() == ["old"]
    write_frame(pd.DataFrame({"a": ["new"]}), path, overwrite=True)
    assert read_frame(path, kind=None).frame["a"].tolist() == ["new"]


@pytest.mark.parametrize(
    ("ending", "column"),
    [("jsonl", ["a", object()]), ("parquet", ["a", object()]), ("csv", ["a", "\ud800"]), ("jsonl", ["a", "\ud800"])],
)
def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path, ending: str, column: list[Any]) -> None:
    path = write_frame(pd.DataFrame({"a": ["old"]}), tmp_path / f"x.{ending}")
    before = path.read_bytes()
    with pytest.raises(FrameError):
        write_frame(pd.DataFrame({"a": pd.Series(column, dtype=object)}), path, overwrite=True)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_crash_before_the_last_step_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_frame(pd.DataFrame({"a": ["old"]}), tmp_path / "x.csv")

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(InputError, match="No space left on device; check the folder"):
        write_frame(pd.DataFrame({"a": ["new"]}), path, overwrite=True)
    assert path.read_text() == "a\nold\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.csv"
    monkeypatch.setattr(os, "fsync", lambda _: path.write_text("theirs"))
    with pytest.raises(InputError, match="written by somebody else"):
        write_frame(pd.DataFrame({"a": ["ours"]}), path)
    assert path.read_text() == "theirs"


def test_file_systems_without_links_are_written_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", fail)
    assert write_frame(pd.DataFrame({"a": ["x"]}), tmp_path / "x.csv").read_text() == "a\nx\n"


def test_tables_are_for_their_owner_alone(tmp_path: Path) -> None:
    written = write_frame(pd.DataFrame({"a": ["x"]}), tmp_path / "x.parquet")
    assert stat.S_IMODE(written.stat().st_mode) == 0o600


def test_folders_that_do_not_exist(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be written: No such file .*; check the folder"):
        write_frame(pd.DataFrame({"a": ["x"]}), tmp_path / "no" / "x.csv")


def test_a_folder_is_no_target(tmp_path: Path) -> None:
    (tmp_path / "x.csv").mkdir()
    with pytest.raises(InputError, match="is a folder; name a file in it"):
        write_frame(pd.DataFrame({"a": ["x"]}), tmp_path / "x.csv")


def test_the_frame_written_is_not_changed(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": ["=x"], "t": pd.to_datetime(["2026-01-01T00:00:00Z"])})
    before = frame.copy(deep=True)
    write_frame(frame, tmp_path / "x.csv", safe_for_spreadsheets=True)
    pd.testing.assert_frame_equal(frame, before)


def test_a_source_kind_may_name_another_ending(tmp_path: Path) -> None:
    out = SourceKind(Form.CSV).restore(pd.DataFrame({"a": ["x"]}), to=tmp_path / "x.jsonl")
    assert out.read_text() == '{"a": "x"}\n'
