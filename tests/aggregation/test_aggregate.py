"""The one call: what the campaign receives."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from hmc_crowd.aggregation import AggregateResult, Aggregator, DawidSkene, MajorityVote, aggregate
from hmc_crowd.errors import FrameError, InputError


@pytest.mark.parametrize("method", ["dawid_skene", "majority"])
def test_the_frame_has_the_columns_of_the_house(small: pd.DataFrame, method: str) -> None:
    frame = aggregate(small, method=method).frame
    assert frame.columns.tolist() == ["item", "label", "confidence", "n_answers", "tied", "p_x", "p_y"]
    assert frame["item"].tolist() == ["a", "b"]
    assert frame["n_answers"].tolist() == [3, 3]
    assert frame["tied"].dtype == bool


def test_confidence_is_the_probability_of_the_label(small: pd.DataFrame) -> None:
    frame = aggregate(small, method="majority").frame
    assert frame["confidence"].tolist() == pytest.approx([2 / 3, 1.0])


def test_the_result_is_frozen_and_says_what_it_rests_on(small: pd.DataFrame) -> None:
    result = aggregate(small, gold={"b": "y"})
    with pytest.raises(FrozenInstanceError):
        result.method = "x"  # type: ignore[misc]
    assert any("uncalibrated" in sentence for sentence in result.assumptions)
    assert any("1 tasks have gold" in sentence for sentence in result.assumptions)
    assert any("compare with majority vote" in sentence for sentence in result.cautions)
    assert result.converged
    assert len(result.objective) == result.n_iter
    columns = ["worker", "n_answers", "skill", "accuracy", "se", "low", "high", "spammer_score"]
    assert result.workers.columns.tolist() == columns


def test_it_prints_one_line_and_a_table(small: pd.DataFrame) -> None:
    result = aggregate(small, method="majority")
    assert str(result) == (
        "majority vote: 2 items labelled, 0 tied; 6 of 6 answers used (0 without label, 0 repeated): "
        "2 tasks, 3 workers, 2 labels"
    )
    assert "<table" in result._repr_html_()


def test_html_is_escaped(small: pd.DataFrame) -> None:
    hostile = small.replace({"task": {"a": "<script>alert(1)</script>"}})
    assert "<script>" not in aggregate(hostile)._repr_html_()


def test_items_without_any_label_are_named(small: pd.DataFrame) -> None:
    more = pd.concat([small, pd.DataFrame([("c", "w1", None)], columns=small.columns)])
    result = aggregate(more)
    assert result.items_without_label == ("c",)
    assert result.counts.missing_label == 1
    assert "c" not in result.frame["item"].tolist()


def test_ties_are_counted() -> None:
    answers = pd.DataFrame({"task": ["a", "a"], "worker": ["u", "v"], "label": ["x", "y"]})
    result = aggregate(answers, method="majority")
    assert result.n_tied == 1
    assert result.frame["confidence"].tolist() == [0.5]


def test_to_frame_is_a_copy(small: pd.DataFrame) -> None:
    result = aggregate(small, method="majority")
    frame = result.to_frame()
    frame["label"] = "changed"
    assert result.frame["label"].tolist() == ["x", "y"]


def test_an_estimator_can_be_passed(small: pd.DataFrame) -> None:
    result = aggregate(small, method=DawidSkene(3, prior=0))
    assert result.n_iter is not None
    assert result.n_iter <= 3


def test_integer_labels_name_their_posterior_columns() -> None:
    answers = pd.DataFrame({"task": [1, 2], "worker": ["u", "u"], "label": [0, 1]})
    assert aggregate(answers).frame.columns.tolist()[-2:] == ["p_0", "p_1"]


def test_our_estimators_keep_the_protocol(small: pd.DataFrame) -> None:
    for model in (MajorityVote(), DawidSkene()):
        assert isinstance(model.fit(small), Aggregator)


@pytest.mark.parametrize("method", ["kos", "DawidSkene", DawidSkene, None])
def test_unknown_methods_are_refused(small: pd.DataFrame, method: object) -> None:
    with pytest.raises(InputError, match="method is"):
        aggregate(small, method=method)  # type: ignore[arg-type]


def test_the_same_answers_give_the_same_result(small: pd.DataFrame) -> None:
    one, two = aggregate(small), aggregate(small.iloc[::-1])
    assert isinstance(one, AggregateResult)
    pd.testing.assert_frame_equal(one.frame, two.frame, check_exact=True)


@pytest.mark.parametrize("method", ["majority", "dawid_skene", "choose", "crowdkit:rover"])
@pytest.mark.parametrize("library", ["polars", "lazy", "pyarrow", "datasets", "records"])
@pytest.mark.parametrize("labels", [["é", "a,b"], [1, 0]], ids=["text", "numbers"])
def test_tables_of_other_libraries_give_the_same_labels(library: str, method: str, labels: list[Any]) -> None:
    text = ["one two", "one three"] if method.startswith("crowdkit") else labels
    table = pd.DataFrame(
        [(f"{task:02d}", worker, text[(task + worker) % 2]) for task in range(12) for worker in range(3)],
        columns=["task", "worker", "label"],
    )
    gold = pd.DataFrame({"item": [f"{task:02d}" for task in range(12)], "label": text * 6})
    given = {} if method != "choose" else {"gold": gold}
    expected = aggregate(table, method=method, **given).frame
    if method == "choose":
        given = {"gold": converted(gold, library)}
    found = aggregate(converted(table, library), method=method, **given).frame
    assert found.astype(object).equals(expected.astype(object))


def converted(table: pd.DataFrame, library: str) -> Any:
    if library == "records":
        return table.to_dict("records")
    if library == "datasets":
        datasets = pytest.importorskip("datasets")
        return datasets.Dataset.from_pandas(table)
    if library == "pyarrow":
        return pa.Table.from_pandas(table)
    frame = pl.from_pandas(table)
    return frame.lazy() if library == "lazy" else frame


def test_what_is_no_table_is_named_with_a_way_out() -> None:
    with pytest.raises(FrameError, match=r"answers is a str; give a pandas DataFrame .*read_frame makes one"):
        aggregate("answers.csv")
