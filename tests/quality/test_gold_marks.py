"""Marks against gold: exact, within a tolerance, by meaning; and the source's confidence with its double count."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality import exact_marks, gold_confidence, semantic_marks, tolerance_marks

VECTORS = {"right": [3.0, 0.0], "near": [1.0, 1.0], "off": [0.0, 2.0], "against": [-2.0, 0.0], "nothing": [0.0, 0.0]}


def encode(texts: list[str]) -> list[list[float]]:
    return [VECTORS[text] for text in texts]


@pytest.mark.parametrize(
    ("text", "mark"),
    [("right", 1.0), ("near", (np.sqrt(0.5) + 1) / 2), ("off", 0.5), ("against", 0.0), ("nothing", 0.0)],
)
def test_d11_cosine_mapped_to_zero_and_one(text: str, mark: float) -> None:
    assert semantic_marks([text], ["right"], encode=encode)[0] == pytest.approx(mark)


def test_the_encoder_is_asked_once_and_never_about_nothing() -> None:
    calls: list[list[str]] = []

    def counting(texts: list[str]) -> list[list[float]]:
        calls.append(list(texts))
        return encode(texts)

    marks = semantic_marks(["right", "  ", "off"], ["right"] * 3, encode=counting)
    assert marks.tolist() == [1.0, 0.0, 0.5]
    assert calls == [["right", "off", "right", "right"]]


def test_only_empty_answers_ask_nobody() -> None:
    assert semantic_marks(["", None], ["right", "right"], encode=lambda _: 1 / 0).tolist() == [0.0, 0.0]  # type: ignore


@pytest.mark.parametrize("vectors", [[[1.0]], [1.0, 2.0], [[np.nan], [1.0]]])
def test_an_encoder_that_fails_is_named(vectors: list) -> None:
    with pytest.raises(InputError, match="one finite vector"):
        semantic_marks(["a"], ["b"], encode=lambda _: vectors)


def test_exact_marks_know_missing_answers() -> None:
    assert exact_marks(["a", None, float("nan"), pd.NA], ["a"] * 4).tolist() == [1.0, 0.0, 0.0, 0.0]


def test_tolerance_by_hand() -> None:
    assert tolerance_marks([2, 2.5, np.nan, 5], [2, 2, 2, 2], tolerance=0.5).tolist() == [1, 1, 0, 0]
    # away by 2: one above the tolerance of 1, halfway to 3
    assert tolerance_marks([4, np.nan, 9], [2, 2, 2], tolerance=1, fades_to=3).tolist() == [0.5, 0, 0]


@pytest.mark.parametrize("settings_", [{"tolerance": -1}, {"tolerance": 2, "fades_to": 2}])
def test_wrong_tolerances(settings_: dict[str, float]) -> None:
    with pytest.raises(InputError):
        tolerance_marks([1.0], [1.0], **settings_)


def marked(*marks: float | None, worker: str = "ann") -> pd.DataFrame:
    times = pd.date_range("2026-01-05", periods=len(marks), freq="h", tz="UTC")
    return pd.DataFrame({"worker": worker, "mark": list(marks), "at": times})


def test_d10_unknown_task_is_one_half() -> None:
    assert gold_confidence(marked(None))["confidence"].tolist() == [0.5]


def test_d10_the_record_is_of_earlier_answers() -> None:
    # third: record 1, 0 -> .5: .7 * 1 + .3 * .5 = .85; literal: record 1, 0, 1 -> 2/3: .7 + .2 = .9
    table = marked(1.0, 0.0, 1.0)
    assert gold_confidence(table)["confidence"].tolist()[2] == pytest.approx(0.85)
    assert gold_confidence(table, rule="literal")["confidence"].tolist()[2] == pytest.approx(0.9)


def test_the_first_answer_has_no_record() -> None:
    row = gold_confidence(marked(0.8)).iloc[0]
    assert (row["n"], row["confidence"]) == (0, 0.8)
    assert np.isnan(row["rolling"])


def test_the_record_goes_back_fifty_marks() -> None:
    found = gold_confidence(marked(*[0.0] * 30, *[1.0] * 50, 1.0)).iloc[-1]
    assert (found["n"], found["rolling"]) == (50, 1.0)


def test_tasks_without_gold_are_no_part_of_the_record() -> None:
    found = gold_confidence(marked(1.0, None, None, 1.0)).iloc[3]
    assert (found["n"], found["rolling"]) == (1, 1.0)


def test_workers_are_apart_and_rows_keep_their_order() -> None:
    both = pd.concat([marked(0.0, 1.0), marked(1.0, 1.0, worker="bob")]).sample(frac=1, random_state=2)
    found = gold_confidence(both)
    assert found["worker"].tolist() == both["worker"].tolist()
    last = both["at"].to_numpy() == both["at"].max()
    assert found["rolling"][last & (found["worker"] == "ann")].tolist() == [0.0]
    assert found["rolling"][last & (found["worker"] == "bob")].tolist() == [1.0]


def test_the_record_has_a_beta_interval() -> None:
    # three right: Beta(4, 1), low = .025 ** (1/4)
    row = gold_confidence(marked(1.0, 1.0, 1.0, 1.0)).iloc[3]
    assert row["low"] == pytest.approx(0.025**0.25)
    assert row["high"] == 1.0


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), min_size=1, max_size=40), st.integers(1, 10))
def test_against_a_plain_loop(marks: list[float | None], window: int) -> None:
    for rule in ("earlier", "literal"):
        found = gold_confidence(marked(*marks), rule=rule, window=window)["confidence"].tolist()
        record: list[bool] = []
        for place, mark in enumerate(marks):
            if mark is None:
                assert found[place] == 0.5
                continue
            if rule == "literal":
                record.append(mark >= 0.7 - 1e-12)
            last = record[-window:]
            expected = 0.7 * mark + 0.3 * sum(last) / len(last) if last else mark
            assert found[place] == pytest.approx(expected)
            if rule == "earlier":
                record.append(mark >= 0.7 - 1e-12)


@pytest.mark.parametrize(
    ("table", "given_", "words"),
    [
        (marked(1.2), {}, r"\[0, 1\], not so in row 0 \(1.2\)"),
        (marked(1.0).drop(columns="at"), {}, "lacks the column at"),
        (marked(1.0).assign(at=pd.Timestamp("2026-01-05")), {}, "no time zone"),
        (marked(1.0), {"rule": "later"}, "rule is 'later'"),
        (marked(1.0), {"threshold": 0}, "threshold is 0"),
        (marked(1.0), {"weight": 1.5}, "weight is 1.5"),
        (marked(1.0), {"window": 0}, "window is 0"),
    ],
)
def test_wrong_input_is_one_sentence(table: pd.DataFrame, given_: dict[str, object], words: str) -> None:
    with pytest.raises((FrameError, InputError), match=words):
        gold_confidence(table, **given_)  # type: ignore[arg-type]


@pytest.mark.text
def test_the_sources_encoder_knows_meaning() -> None:
    pytest.importorskip("torch")
    from hmc_crowd.confidence.text import TextEncoder

    marks = semantic_marks(
        ["I really hate you.", "The train leaves at nine."], ["I hate you!"] * 2, encode=TextEncoder("minilm").transform
    )
    assert marks[0] > 0.8
    assert marks[1] < 0.65


def test_marks_of_one_moment_are_not_earlier_than_each_other() -> None:
    at = pd.Timestamp("2026-01-05", tz="UTC")
    marked = pd.DataFrame({"worker": "ann", "mark": [1.0, 0.0, 1.0], "at": [at, at, at + pd.Timedelta("1h")]})
    found = gold_confidence(marked)
    assert found["n"].tolist() == [0, 0, 2]
    turned = gold_confidence(marked.iloc[[1, 0, 2]])
    assert turned["confidence"].tolist() == found["confidence"].iloc[[1, 0, 2]].tolist()
