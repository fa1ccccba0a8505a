"""One test text for every kind of source: what goes in comes out, and goes back as the same kind."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pytest

from hmc_crowd.errors import FrameError
from hmc_crowd.io import Form, SourceKind, iter_frames, read_frame

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ITEMS = [
    {"item": "007", "group": "d1", "position": 1, "text": 'hi, "you"', "words": 2, "note": "a"},
    {"item": "NA", "group": "d1", "position": 2, "text": "two\nlines\r\nhere 🙂", "words": 3, "note": "NA"},
    {"item": "1.0", "group": "d2", "position": 1, "text": "x" * 100_000, "words": 1, "note": "nan"},
]
PREDICTIONS = [
    {"item": "a", "label": "yes", "p_yes": 0.75, "p_no": 0.25},
    {"item": "b", "label": "no", "p_yes": 0.125, "p_no": 0.875},
]


def test_items_come_in_as_they_are(form: str, make_source: Callable[..., Any]) -> None:
    loaded = read_frame(make_source(form, ITEMS), kind="items")
    assert loaded.frame["item"].tolist() == ["007", "NA", "1.0"]
    assert loaded.frame["group"].tolist() == ["d1", "d1", "d2"]
    assert loaded.frame["position"].tolist() == [1, 2, 1]
    assert loaded.frame["text"].tolist() == [each["text"] for each in ITEMS]
    assert loaded.frame["note"].tolist() == ["a", "NA", "nan"]
    assert loaded.features == ("words",)
    assert loaded.frame["words"].tolist() == [2, 3, 1]
    assert loaded.kind_of_source.form == form


def test_columns_that_are_missing_get_their_stand_in(form: str, make_source: Callable[..., Any]) -> None:
    frame = read_frame(make_source(form, [{"item": "a"}, {"item": "b"}]), kind="items").frame
    assert frame.to_dict("list") == {"item": ["a", "b"], "group": ["a", "b"], "position": [1, 1], "text": ["", ""]}


def test_audience_and_sensitive_are_no_features(form: str, make_source: Callable[..., Any]) -> None:
    rows = [
        {"item": "a", "audience": "in_house", "sensitive": 1, "words": 3},
        {"item": "b", "audience": " ", "sensitive": 0, "words": 4},
    ]
    loaded = read_frame(make_source(form, rows), kind="items")
    assert loaded.frame["audience"].tolist() == ["in_house", "any"]
    assert loaded.frame["sensitive"].tolist() == [True, False]
    assert loaded.features == ("words",)


def test_flags_are_read_in_every_spelling_and_others_refused() -> None:
    rows = [{"item": str(at), "sensitive": flag} for at, flag in enumerate(["TRUE", "no", "", None, "Yes", "0"])]
    assert read_frame(rows, kind="items").frame["sensitive"].tolist() == [True, False, False, False, True, False]
    with pytest.raises(FrameError, match=r"sensitive must be true or false: row 1 \('perhaps'\)"):
        read_frame([{"item": "a", "sensitive": "1"}, {"item": "b", "sensitive": "perhaps"}], kind="items")


def test_position_is_the_order_in_the_group(form: str, make_source: Callable[..., Any]) -> None:
    rows = [{"item": f"i{n}", "group": group} for n, group in enumerate("abaab")]
    # a, b, a, a, b: first a, first b, second a, third a, second b
    assert read_frame(make_source(form, rows), kind="items").frame["position"].tolist() == [1, 1, 2, 3, 2]


def test_integers_become_their_digits(form: str, make_source: Callable[..., Any]) -> None:
    big = 2**53 + 1
    rows = [{"item": 7, "label": 1}, {"item": big, "label": 0}]
    frame = read_frame(make_source(form, rows), kind="gold").frame
    assert frame["item"].tolist() == ["7", str(big)]
    assert frame["label"].tolist() == ["1", "0"]


def test_integers_beside_missing_ones_keep_their_digits(form: str, make_source: Callable[..., Any]) -> None:
    big = 2**53 + 1
    if form == "pandas":  # where a plain column would hold floats before anybody reads it
        source: Any = pd.DataFrame({"item": ["a", "b"], "text": pd.array([big, None], dtype="Int64")})
    else:
        source = make_source(form, [{"item": "a", "text": big}, {"item": "b", "text": None}])
    assert read_frame(source, kind="items").frame["text"].tolist() == [str(big), ""]


def test_confidence_is_the_largest_probability(form: str, make_source: Callable[..., Any]) -> None:
    loaded = read_frame(make_source(form, PREDICTIONS), kind="predictions")
    assert loaded.frame["confidence"].tolist() == [0.75, 0.875]
    assert loaded.classes == ("yes", "no")
    assert loaded.frame["p_no"].tolist() == [0.25, 0.875]


def test_a_missing_cell_is_named(form: str, make_source: Callable[..., Any]) -> None:
    rows = [{"item": "a", "label": "x"}, {"item": None, "label": "y"}, {"item": "c", "label": "z"}]
    where = {"csv": "line 3", "tsv": "line 3", "jsonl": "line 2", "parquet": "row 2"}.get(form, "row 1")
    with pytest.raises(FrameError, match=rf"item is empty in {where}\b.*; fill it in"):
        read_frame(make_source(form, rows), kind="gold")


def test_a_missing_column_is_named_with_those_there(form: str, make_source: Callable[..., Any]) -> None:
    with pytest.raises(FrameError, match=r"lacks the column worker that answers need \(it has: task, label\)"):
        read_frame(make_source(form, [{"task": "a", "label": "x"}]), kind="answers")


def test_duplicates_are_named(form: str, make_source: Callable[..., Any]) -> None:
    with pytest.raises(FrameError, match=r"same item more than once: (line|row) \d \('a'\)"):
        read_frame(make_source(form, [{"item": "a"}, {"item": "b"}, {"item": "a"}]), kind="items")


def test_times_become_aware_utc(form: str, make_source: Callable[..., Any]) -> None:
    rows = [
        {"task": "a", "worker": "w", "label": "x", "started": "2026-01-31T12:00:00+02:00", "seconds": 4.5},
        {"task": "b", "worker": "w", "label": "x", "started": None, "seconds": None},
    ]
    frame = read_frame(make_source(form, rows), kind="answers").frame
    assert frame["started"].iloc[0] == datetime(2026, 1, 31, 10, tzinfo=UTC)
    assert str(frame["started"].dtype) == "datetime64[us, UTC]"
    assert frame["started"].isna().tolist() == [False, True]
    assert frame["seconds"].iloc[0] == 4.5


def test_the_source_is_not_changed() -> None:
    source = pd.DataFrame({"item": [1, 2], "x": [0.5, 1.5]})
    before = source.copy(deep=True)
    frame = read_frame(source, kind="items").frame
    frame["x"] = 9.0
    frame.loc[0, "item"] = "other"
    pd.testing.assert_frame_equal(source, before)


def test_labels_go_out_as_the_kind_the_items_came_in(
    form: str, make_source: Callable[..., Any], tmp_path: Path
) -> None:
    source = make_source(form, ITEMS)
    loaded = read_frame(source, kind="items")
    labels = pd.DataFrame(
        {
            "item": loaded.frame["item"],
            "label": ["=yes", "no", ""],
            "confidence": [0.1, 1 / 3, 1.0],
            "n_answers": [3, 2, 0],
            "tied": [False, True, False],
        },
        index=[5, 3, 1],
    )
    labels["item"] = loaded.frame["item"].tolist()
    if loaded.kind_of_source.form.is_file:
        out = loaded.kind_of_source.restore(labels, to=tmp_path / "labels")
        assert out == tmp_path / f"labels.{form}"
    else:
        out = loaded.kind_of_source.restore(labels)
        assert type(out) is type(source)
    again = read_frame(out, kind=None).frame
    assert list(again.columns) == list(labels.columns)
    assert again["item"].tolist() == ["007", "NA", "1.0"]
    assert again["label"].tolist() == ["=yes", "no", ""]
    assert [float(each) for each in again["confidence"]] == [0.1, 1 / 3, 1.0]
    assert [int(each) for each in again["n_answers"]] == [3, 2, 0]
    assert again["tied"].astype(str).tolist() == ["False", "True", "False"]


def test_chunks_join_to_the_whole(form: str, make_source: Callable[..., Any]) -> None:
    rows = [{"item": f"i{n}", "group": f"g{n % 3}", "text": f"t\n{n}", "x": n / 4} for n in range(11)]
    source = make_source(form, rows)
    whole = read_frame(source, kind="items").frame
    parts = [part.frame for part in iter_frames(source, kind="items", rows=4)]
    assert [len(part) for part in parts] == [4, 4, 3]
    pd.testing.assert_frame_equal(pd.concat(parts, ignore_index=True), whole)


def test_a_duplicate_in_a_later_chunk_is_named(form: str, make_source: Callable[..., Any]) -> None:
    rows = [{"item": f"i{n % 6}", "text": "one\ntwo"} for n in range(7)]
    parts = iter_frames(make_source(form, rows), kind="items", rows=4)
    assert next(parts).frame["item"].tolist() == ["i0", "i1", "i2", "i3"]
    # CSV: the header is line 1 and every row takes two lines, so row 6 begins on line 14; JSON: line 7; Parquet: row 7
    where = {"csv": "line 14", "tsv": "line 14", "jsonl": "line 7", "parquet": "row 7"}.get(form, "row 6")
    with pytest.raises(FrameError, match=rf"{where} \('i0'\)"):
        next(parts)


def test_an_empty_source_is_refused() -> None:
    for source in (pd.DataFrame({"item": []}), [], pa.table({"item": pa.array([], pa.string())})):
        with pytest.raises(FrameError, match="items has no rows"):
            read_frame(source, kind="items")


def test_restoring_a_file_needs_a_path() -> None:
    with pytest.raises(ValueError, match="to=PATH"):
        SourceKind(Form.CSV).restore(pd.DataFrame({"item": ["a"]}))


def test_restoring_a_frame_takes_no_path() -> None:
    with pytest.raises(ValueError, match="write_frame"):
        SourceKind(Form.PANDAS).restore(pd.DataFrame({"item": ["a"]}), to="labels.csv")
