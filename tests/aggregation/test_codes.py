"""Coding: sorted names, counted losses, one sentence for what cannot be used."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.aggregation._codes import encode
from hmc_crowd.errors import FrameError, InputError

COLUMNS = ["task", "worker", "label"]


def table(*rows: tuple[object, ...], columns: list[str] = COLUMNS) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=columns)


def repeated(first: str | None, second: str | None) -> pd.DataFrame:
    return table(
        ("a", "w", "x", first), ("a", "w", "y", second), ("b", "w", "x", None), columns=[*COLUMNS, "submitted"]
    )


def test_codes_are_ranks_of_sorted_names() -> None:
    coded = encode(table(("b", "w2", "y"), ("a", "w1", "z"), ("b", "w1", "x")))
    assert coded.tasks.tolist() == ["a", "b"]
    assert coded.labels.tolist() == ["x", "y", "z"]
    assert coded.task.tolist() == [0, 1, 1]
    assert coded.worker.tolist() == [0, 0, 1]
    assert coded.label.tolist() == [2, 0, 1]


def test_any_row_order_gives_the_same_arrays() -> None:
    rng = np.random.default_rng(3)
    answers = pd.DataFrame({c: rng.integers(0, 9, 60) for c in COLUMNS}).drop_duplicates(["task", "worker"])
    one, other = encode(answers), encode(answers.sample(frac=1, random_state=1))
    for name in ("task", "worker", "label"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("dtype", ["int64", "bool", "str", "category", "Int64", "boolean", "string", "float64"])
def test_every_kind_of_label_comes_back_as_it_went_in(dtype: str) -> None:
    labels = pd.Series([1, 0, 1]).astype(dtype)
    coded = encode(pd.DataFrame({"task": [1, 1, 2], "worker": ["u", "v", "u"], "label": labels}))
    assert coded.labels[coded.label].tolist() == [labels[0], labels[1], labels[2]]


def test_missing_labels_are_left_out_and_counted() -> None:
    coded = encode(table(("a", "w1", "x"), ("a", "w2", None), ("b", "w2", None)))
    assert (coded.counts.rows, coded.counts.used, coded.counts.missing_label) == (3, 1, 2)
    assert coded.counts.tasks_without_label == 1
    assert coded.tasks_without_label.tolist() == ["b"]


def test_integers_with_a_missing_label_still_meet_integer_gold() -> None:
    answers = pd.DataFrame({"task": ["a", "b"], "worker": ["w", "w"], "label": [1, None]})
    assert encode(answers, {"a": 1}).gold.tolist() == [0]


def test_counts_add_up_and_print() -> None:
    answers = table(("a", "w1", "x"), ("a", "w1", "x"), ("a", "w2", None))
    counts = encode(answers).counts
    assert counts.rows == counts.used + counts.missing_label + counts.repeated
    assert str(counts) == "1 of 3 answers used (1 without label, 1 repeated): 1 tasks, 1 workers, 1 labels"
    assert counts.to_frame().set_index("count")["value"]["repeated"] == 1


def test_repeats_that_agree_need_no_times() -> None:
    coded = encode(table(("a", "w", "x"), ("a", "w", "x")))
    assert (len(coded.task), coded.counts.repeated) == (1, 1)


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", "y"),
        ("2026-01-02T00:00:00Z", "2026-01-01T00:00:01Z", "x"),
        ("2026-01-01T02:00:00+02:00", "2026-01-01T00:30:00Z", "y"),
        (None, "2026-01-01T00:00:01Z", "y"),
    ],
)
def test_the_latest_of_repeated_answers_counts(first: str | None, second: str, kept: str) -> None:
    coded = encode(repeated(first, second))
    assert coded.labels[coded.label[0]] == kept
    assert coded.counts.repeated == 1


def test_times_may_be_timestamps() -> None:
    answers = repeated("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z")
    answers["submitted"] = pd.to_datetime(answers["submitted"], utc=True)
    assert encode(answers).label.tolist() == [1, 0]


@pytest.mark.parametrize(("first", "second"), [("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"), (None, None)])
def test_differing_repeats_at_one_moment_are_refused(first: str | None, second: str | None) -> None:
    with pytest.raises(FrameError, match=r"task 'a' by 'w'.*do not say"):
        encode(repeated(first, second))


def test_differing_repeats_without_times_are_refused() -> None:
    with pytest.raises(FrameError, match=r"task 'a' by 'w'.*no column 'submitted'"):
        encode(repeated(None, None).drop(columns="submitted"))


def test_unreadable_times_are_refused() -> None:
    with pytest.raises(FrameError, match="submitted cannot be read"):
        encode(repeated("yesterday", "today"))


def test_all_keeps_every_repeat() -> None:
    coded = encode(repeated(None, None), repeats="all")
    assert (len(coded.task), coded.counts.repeated) == (3, 0)


def test_refuse_names_the_repeats() -> None:
    with pytest.raises(FrameError, match="task 'a' by 'w'"):
        encode(table(("a", "w", "x"), ("a", "w", "x")), repeats="refuse")


def test_named_labels_set_the_order_and_may_be_unused() -> None:
    coded = encode(table(("a", "w", "low")), labels=["low", "mid", "high"])
    assert coded.labels.tolist() == ["low", "mid", "high"]
    assert coded.label.tolist() == [0]


def test_gold_is_found_by_item_or_task_series_or_mapping() -> None:
    answers = table(("a", "w", "x"), ("b", "w", "y"))
    for gold in (
        pd.DataFrame({"item": ["b"], "label": ["y"]}),
        pd.DataFrame({"task": ["b"], "label": ["y"]}),
        pd.Series({"b": "y"}),
        {"b": "y"},
    ):
        assert encode(answers, gold).gold.tolist() == [-1, 1]


def test_gold_without_answers_is_counted_only() -> None:
    coded = encode(table(("a", "w", "x")), {"z": "q", "a": "x"})
    assert (coded.counts.gold, coded.counts.gold_used) == (2, 1)


def test_gold_labels_can_extend_the_label_set() -> None:
    coded = encode(table(("a", "w", "y")), {"a": "x"}, extend_labels=True)
    assert coded.labels.tolist() == ["x", "y"]
    assert (coded.label.tolist(), coded.gold.tolist()) == ([1], [0])


@pytest.mark.parametrize(
    ("answers", "extra", "words"),
    [
        ([("a", "w", "x")], {"gold": {"a": "q"}}, "gold has labels outside \\['x'\\].*'a': 'q'.*labels"),
        ([("a", "w", "x")], {"gold": {1: "x"}}, "gold names items by numbers, the answers by text"),
        ([("a", "w", "x")], {"gold": {"a": None}}, "gold misses an item or a label in row 0"),
        (
            [("a", "w", "x")],
            {"gold": pd.DataFrame({"item": ["a", "a"], "label": ["x", "y"]})},
            "gold gives 'a' several labels \\(x, y\\)",
        ),
        ([("a", "w", "x")], {"gold": pd.DataFrame({"item": ["a"]})}, "gold lacks the column label"),
        ([("a", "w", "x")], {"gold": 3}, "gold is a int"),
        ([("a", "w", "x"), ("a", "v", "z")], {"labels": ["x"]}, "answers.label is outside labels=\\['x'\\] in row 1"),
        ([("a", "w", 1)], {"labels": ["1"]}, "labels are text, the answers numbers"),
        ([("a", "w", 1), ("a", "v", "x")], {}, "answers.label mixes values of the kinds int, str"),
        ([(1, "w", 1), ("a", "v", 1)], {}, "answers.task mixes"),
        ([(None, "w", "x")], {}, "answers has no task in row 0"),
        ([("a", None, "x")], {}, "answers has no worker in row 0"),
        ([("a", "w", None)], {}, "1 rows and none with a label"),
        ([], {}, "0 rows and none with a label"),
    ],
)
def test_unusable_tables_are_refused_in_one_sentence(
    answers: list[tuple[object, ...]], extra: dict[str, object], words: str
) -> None:
    with pytest.raises(FrameError, match=words):
        encode(table(*answers), **extra)  # type: ignore[arg-type]


@pytest.mark.parametrize("labels", ["xy", [], ["x", "x"], ["x", None]])
def test_unusable_label_sets_are_refused(labels: object) -> None:
    with pytest.raises(InputError, match="labels"):
        encode(table(("a", "w", "x")), labels=labels)  # type: ignore[arg-type]


def test_a_wrong_repeat_rule_is_refused() -> None:
    with pytest.raises(InputError, match="repeats is 'first'; choose one of 'latest', 'all', 'refuse'"):
        encode(table(("a", "w", "x")), repeats="first")  # type: ignore[arg-type]


def test_missing_columns_and_other_things_are_refused() -> None:
    with pytest.raises(FrameError, match="answers lacks the column worker, label \\(it has: task\\)"):
        encode(pd.DataFrame({"task": ["a"]}))
    with pytest.raises(FrameError, match="answers is a list"):
        encode([("a", "w", "x")])  # type: ignore[arg-type]


def test_several_aspects_are_refused() -> None:
    answers = table(("a", "w", "x", "tone"), ("a", "w", "y", "facts"), columns=[*COLUMNS, "aspect"])
    with pytest.raises(FrameError, match="aspects 'facts', 'tone'; aggregate one"):
        encode(answers)


def test_the_callers_frame_stays_as_it_is() -> None:
    answers = repeated("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z")
    before = answers.copy()
    encode(answers)
    pd.testing.assert_frame_equal(answers, before)
