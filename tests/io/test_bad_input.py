"""Every bad file or frame is one sentence that names file or argument, the first rows, and the next step."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.io import iter_frames, read_frame

if TYPE_CHECKING:
    from pathlib import Path


def refusal(source: Any, kind: str | None = "items", **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read_frame(source, kind=kind, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


def file(path: Path, content: str | bytes, name: str = "in.csv") -> Path:
    target = path / name
    target.write_bytes(content.encode() if isinstance(content, str) else content)
    return target


# --- files as such


@pytest.mark.parametrize("name", ["in.csv", "in.tsv", "in.jsonl", "in.parquet"])
def test_an_empty_file(tmp_path: Path, name: str) -> None:
    assert refusal(file(tmp_path, b"", name)).startswith(f"{tmp_path / name} is empty")


@pytest.mark.parametrize(("name", "content"), [("in.csv", "item\n"), ("in.tsv", "item\r\n"), ("in.jsonl", "\n \n")])
def test_a_file_without_rows(tmp_path: Path, name: str, content: str) -> None:
    assert "has no rows; give at least one" in refusal(file(tmp_path, content, name))


@pytest.mark.parametrize("name", ["in.csv", "in.jsonl"])
def test_wrong_encoding_names_the_byte(tmp_path: Path, name: str) -> None:
    # 'item\nok\n' is 8 bytes, 'caf' three more: the e-acute of Latin-1 stands at offset 11 in line 3.
    message = refusal(file(tmp_path, "item\nok\ncafé\n".encode("latin-1"), name))
    assert "is not UTF-8: byte 0xe9 at offset 11 (line 3); save it as UTF-8" in message


def test_a_character_that_is_cut_off_at_the_end(tmp_path: Path) -> None:
    assert "byte 0xf0 at offset 5" in refusal(file(tmp_path, b"item\n\xf0\x9f"))


def test_a_wrong_byte_after_a_character_over_two_blocks(tmp_path: Path) -> None:
    block = 1 << 22
    start = b"item\n" + b"x" * (block - 6)
    content = start + "é".encode() + b"ok\n\xff\n"
    assert f"byte 0xff at offset {len(start) + 5} (line 3)" in refusal(file(tmp_path, content))


def test_utf_16_is_called_by_its_name(tmp_path: Path) -> None:
    assert "UTF-16; save it as UTF-8" in refusal(file(tmp_path, "item\na\n".encode("utf-16")))


def test_nul_bytes(tmp_path: Path) -> None:
    assert "holds a NUL byte at offset 6" in refusal(file(tmp_path, b"item\na\0\n"))


def test_an_unknown_ending(tmp_path: Path) -> None:
    assert "ends in '.xlsx'; save it as one of .csv, .tsv" in refusal(file(tmp_path, b"PK", "in.xlsx"))
    assert "ends in 'nothing'" in refusal(file(tmp_path, b"", "items"))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert "does not exist; check the path" in refusal(tmp_path / "no.csv")


def test_a_folder(tmp_path: Path) -> None:
    (tmp_path / "parts.parquet").mkdir()
    assert "is a folder" in refusal(tmp_path / "parts.parquet")


def test_the_text_of_a_file_in_place_of_its_path() -> None:
    assert "is no path; give the path of a file, not its text" in refusal("item,text\na,b\n")


def test_no_table_at_all() -> None:
    assert "items is a builtins.int; give a path" in refusal(5)


def test_a_dataset_of_several_splits() -> None:
    import datasets

    part = datasets.Dataset.from_dict({"item": ["a"]})
    assert "splits 'train', 'test'; pass one" in refusal(datasets.DatasetDict({"train": part, "test": part}))


def test_an_unknown_kind() -> None:
    assert "kind is 'item'; give one of items, predictions, gold, answers" in refusal([{"item": "a"}], kind="item")


def test_chunks_of_no_rows() -> None:
    with pytest.raises(InputError, match="rows is 0"):
        next(iter_frames([{"item": "a"}], kind="items", rows=0))


# --- CSV


def test_rows_with_too_many_cells_are_named(tmp_path: Path) -> None:
    message = refusal(file(tmp_path, "item,text\na,b\n\nc,d,e\nf,g\nh\n"))
    assert "has 2 columns but line 4 has 3, line 6 has 1; put cells that hold a comma" in message


def test_cells_of_a_tsv(tmp_path: Path) -> None:
    assert "line 2 has 3; put cells that hold a tab" in refusal(file(tmp_path, "item\ttext\na\tb\tc\n", "in.tsv"))


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize(
    "content",
    [
        'item,text\na,x\nb,"open\nc,d\n',
        'item,text\na,x\nb,"open\nc,"d"\n',
        'item,text\na,x\nb,"open\nc,d"e\n',
        'item,text\na,x\nb,"open\n',
    ],
    ids=["to the end", "to another quote", "closed too late", "in the last row"],
)
def test_a_quote_that_stays_open_does_not_swallow_rows(tmp_path: Path, content: str, chunked: bool) -> None:
    path = file(tmp_path, content)
    with pytest.raises(FrameError, match=r"wrong quotes in the row that begins on line 3 .*; close the quote"):
        list(iter_frames(path, kind="items", rows=1)) if chunked else read_frame(path, kind="items")


def test_other_separators_are_guessed_in_the_message(tmp_path: Path) -> None:
    assert "separated by ';', save it with commas" in refusal(file(tmp_path, "item;text\na;b\n"))


def test_a_column_without_a_name(tmp_path: Path) -> None:
    assert "no name for column 1; name it" in refusal(file(tmp_path, ",item\n0,a\n"))


def test_a_column_that_is_there_twice(tmp_path: Path) -> None:
    assert "the column 'item' more than once" in refusal(file(tmp_path, "item,item\na,b\n"))


def test_a_name_that_is_nearly_right(tmp_path: Path) -> None:
    assert "rename ' Item' to 'item'" in refusal(file(tmp_path, " Item,text\na,b\n"))


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    # The header and the second row take two lines each, a blank line does not count: the third row is on line 7.
    content = 'item,"con\nfidence",label\na,1,x\nb,"1\n",x\n\n,1,x\n'
    assert "item is empty in line 7;" in refusal(file(tmp_path, content.replace("con\nfidence", "t\n")), kind="gold")


def test_only_the_first_rows_are_shown(tmp_path: Path) -> None:
    message = refusal(file(tmp_path, "item,label\n" + ",x\n" * 9), kind="gold")
    assert "item is empty in lines 2, 3, 4, 5, 6 and 4 more; fill" in message


def test_long_values_are_cut() -> None:
    message = refusal([{"item": "a", "label": "x" * 999}], kind="gold", labels=["yes", "no"])
    assert "label must be one of yes, no: row 0 ('" in message
    assert len(message) < 160


# --- JSON lines


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"item": "b"', "Expecting ',' delimiter at column 13"),
        ('["b"]', "it holds a JSON list"),
        ("7", "it holds a JSON int"),
        ('{"item": ' + "9" * 5000 + "}", "Exceeds the limit"),
        ("[" * 100_000, "recursion"),
    ],
)
def test_a_line_that_is_no_object(tmp_path: Path, line: str, reason: str) -> None:
    message = refusal(file(tmp_path, f'{{"item": "a"}}\n\n{line}\n', "in.jsonl"))
    assert "no JSON object on line 3 (" in message
    assert reason in message


def test_half_a_character_in_json(tmp_path: Path) -> None:
    content = '{"item": "a", "text": "ok"}\n{"item": "b", "text": "\\ud83d"}\n'
    assert "text holds a NUL or half a character in line 2 ('\\ud83d')" in refusal(file(tmp_path, content, "in.jsonl"))


def test_nul_in_json(tmp_path: Path) -> None:
    assert "item holds a NUL" in refusal(file(tmp_path, '{"item": "a\\u0000"}\n', "in.jsonl"))


def test_a_list_where_text_belongs(tmp_path: Path) -> None:
    content = '{"item": "a", "text": ["one", "two"]}\n'
    assert "text must be text" in refusal(file(tmp_path, content, "in.jsonl"))


# --- Parquet


@pytest.mark.parametrize("keep", [3, 100, -1])
def test_a_truncated_parquet(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "in.parquet"
    pd.DataFrame({"item": [f"i{n}" for n in range(1000)]}).to_parquet(path)
    path.write_bytes(path.read_bytes()[:keep])
    assert "is not a whole Parquet file" in refusal(path)


def test_a_damaged_parquet(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    pd.DataFrame({"item": [f"i{n}" for n in range(1000)]}).to_parquet(path)
    content = bytearray(path.read_bytes())
    content[4:40] = b"\xff" * 36
    path.write_bytes(content)
    assert "is not a whole Parquet file" in refusal(path)


# --- columns


@pytest.mark.parametrize("value", [float("nan"), None, 1.01, -0.1, float("inf"), "high", "0,5", ""])
def test_confidence_outside_0_to_1(value: object) -> None:
    rows = [{"item": "a", "label": "x", "confidence": 0.5}, {"item": "b", "label": "x", "confidence": value}]
    message = refusal(rows, kind="predictions")
    assert re.search(r"confidence must be a number in \[0, 1\]: row 1 \(.*\) \(counted from 0\); correct", message)


def test_confidence_in_a_file_names_line_and_text(tmp_path: Path) -> None:
    content = "item,label,confidence\na,x,0.5\nb,x,nan\nc,x,1.5\n"
    assert "confidence must be a number in [0, 1]: lines 3 ('nan'), 4 ('1.5');" in refusal(
        file(tmp_path, content), kind="predictions"
    )


def test_neither_confidence_nor_probabilities() -> None:
    assert "has neither confidence nor p_<label> columns" in refusal([{"item": "a", "label": "x"}], kind="predictions")


def prediction(**change: Any) -> list[dict[str, Any]]:
    return [{"item": "a", "label": "yes", "p_yes": 0.6, "p_no": 0.4} | change]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"p_no": 0.3}, r"must sum to 1 within 0.001: row 0 \(0.9\)"),
        ({"p_no": 1.4}, r"p_no must be a number in \[0, 1\]: row 0 \(1.4\)"),
        ({"p_no": None}, r"p_no must be a number in \[0, 1\]: row 0"),
        ({"label": "no"}, r"not the most probable class in row 0 \('no'\).*require_argmax=False"),
        ({"label": "maybe"}, r"label has no p_<label> column in row 0 \('maybe'\)"),
    ],
)
def test_probabilities_that_cannot_be(change: dict[str, Any], message: str) -> None:
    assert re.search(message, refusal(prediction(**change), kind="predictions"))


def test_probabilities_may_be_rounded() -> None:
    frame = read_frame(prediction(p_yes=0.667, p_no=0.3325), kind="predictions").frame
    assert frame["confidence"].tolist() == [0.667]


def test_another_label_than_the_most_probable_if_said() -> None:
    frame = read_frame(prediction(label="no"), kind="predictions", require_argmax=False).frame
    assert frame["label"].tolist() == ["no"]


def test_a_tie_may_have_either_label() -> None:
    read_frame(prediction(label="no", p_yes=0.5, p_no=0.5), kind="predictions")


def test_given_confidence_is_kept_beside_probabilities() -> None:
    assert read_frame(prediction(confidence=0.55), kind="predictions").frame["confidence"].tolist() == [0.55]


def test_a_probability_column_of_an_unknown_label() -> None:
    assert "the column p_no, which is no label here" in refusal(prediction(), kind="predictions", labels=["yes"])


def test_unknown_labels(tmp_path: Path) -> None:
    message = refusal(file(tmp_path, "item,label\na,yes\nb,Yes\n"), kind="gold", labels=["yes", "no"])
    assert "label must be one of yes, no: line 3 ('Yes'); correct these rows or add the label" in message


def test_labels_must_be_a_list() -> None:
    assert "labels is the text 'yes'" in refusal([{"item": "a", "label": "y"}], kind="gold", labels="yes")


@pytest.mark.parametrize("position", [-1, 1.5, None, "first"])
def test_positions_are_whole(position: object) -> None:
    assert "position must be" in refusal([{"item": "a", "position": position}])


def test_a_group_that_is_there_must_be_filled() -> None:
    assert "group is empty in row 1" in refusal([{"item": "a", "group": "g"}, {"item": "b", "group": ""}])


def test_an_infinite_feature() -> None:
    assert "length is infinite in row 0" in refusal([{"item": "a", "length": float("inf")}])


def test_an_id_that_went_through_a_float_and_lost_digits() -> None:
    message = refusal(pd.DataFrame({"item": [1.0, 2.0**53]}))
    assert "item must be text (or whole numbers below 2^53): row 1 ('float')" in message


def test_ids_that_are_times() -> None:
    assert "item must be text" in refusal(pd.DataFrame({"item": pd.to_datetime(["2026-01-01"])}))


def test_a_row_that_is_no_dict() -> None:
    assert "items holds a str in row 1" in refusal([{"item": "a"}, "b"])


def test_column_names_that_are_numbers() -> None:
    assert "the column name 0, which is no text" in refusal(pd.DataFrame([["a"]]))


# --- answers


def answer(**change: Any) -> dict[str, Any]:
    return {"task": "a", "worker": "w", "label": "x"} | change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"started": "2026-01-31 12:00"}, r"started has no time zone in row 0 \('2026-01-31 12:00'\) .*; add one"),
        ({"started": "2026-01-31"}, "started has no time zone"),
        ({"started": pd.Timestamp("2026-01-31")}, "started has no time zone"),
        ({"started": "31.1.2026 12:00Z"}, r"started must be a time such as .*: row 0 \('31.1.2026 12:00Z'\)"),
        ({"submitted": 1769860800}, r"submitted must be a time such as .*: row 0 \(1769860800\)"),
        (
            {"started": "2026-01-31T12:00:00Z", "submitted": "2026-01-31T12:30:00+01:00"},
            "submitted is before started in row 0",
        ),
        ({"seconds": -1}, r"seconds must be a number at least 0: row 0 \(-1\)"),
        ({"score": "good"}, r"score must be a finite number: row 0 \('good'\)"),
        ({"aspect": ""}, "aspect is empty in row 0"),
        ({"worker": None}, "worker is empty in row 0"),
    ],
)
def test_answers_that_cannot_be(change: dict[str, Any], message: str) -> None:
    assert re.search(message, refusal([answer(**change)], kind="answers"))


def test_a_naive_column_of_pandas_times() -> None:
    frame = pd.DataFrame([answer(started=pd.Timestamp("2026-01-31"))])
    assert "started has no time zone in row 0" in refusal(frame, kind="answers")


@pytest.mark.parametrize("time", ["2026-01-31 12:00", pd.Timestamp("2026-01-31 12:00")])
def test_naive_times_are_utc_if_said(time: Any) -> None:
    frame = read_frame([answer(started=time)], kind="answers", assume_utc=True).frame
    assert frame["started"].iloc[0] == pd.Timestamp("2026-01-31T12:00:00Z")


def test_the_item_column_of_answers_is_called_task() -> None:
    assert "rename 'item' to 'task'" in refusal([{"item": "a", "worker": "w", "label": "x"}], kind="answers")


def test_a_second_answer_of_a_worker() -> None:
    message = refusal([answer(), answer(label="y")], kind="answers")
    assert "same task, worker more than once: row 1 (('a', 'w')) (counted from 0); pass allow_repeats=True" in message


def test_a_retest_if_said() -> None:
    assert len(read_frame([answer(), answer()], kind="answers", allow_repeats=True).frame) == 2


def test_another_aspect_is_another_answer() -> None:
    assert len(read_frame([answer(aspect="x"), answer(aspect="y")], kind="answers").frame) == 2


def test_numpy_and_pandas_scalars_are_read() -> None:
    rows = [{"item": np.int64(7), "x": np.float32(0.5)}, {"item": "b", "x": pd.NA}]
    loaded = read_frame(rows, kind="items")
    assert loaded.frame["item"].tolist() == ["7", "b"]
    assert loaded.frame["x"].isna().tolist() == [False, True]


def test_labels_that_hold_a_comma_or_a_line_are_listed_in_quotes() -> None:
    rows = [{"item": "a", "label": "c", "confidence": 1.0}]
    with pytest.raises(FrameError, match=r"label must be one of 'a,b', 'x\\ny': row 0 \('c'\)"):
        read_frame(rows, kind="predictions", labels=["a,b", "x\ny"])


@pytest.mark.parametrize(("sign", "told"), [("\t", "tabs, name it .tsv"), ("|", "'|', save it with commas")])
def test_other_separators_are_recognised(tmp_path: Path, sign: str, told: str) -> None:
    assert f"separated by {told}" in refusal(file(tmp_path, f"item{sign}text\na{sign}b\n"))


def test_a_name_that_an_object_of_json_has_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "twice.jsonl"
    path.write_text('{"item": "a"}\n{"item": "b", "item": "c"}\n')
    with pytest.raises(FrameError, match=r"twice\.jsonl has 'item' more than once on line 2; keep one of them"):
        read_frame(path, kind="items")
