"""What a user gets wrong, beyond the answer table itself: one sentence each, and nothing left out without a count."""

from __future__ import annotations

from threading import Event
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.aggregation import (
    AnswerStream,
    DawidSkene,
    NumericAggregator,
    Wawa,
    aggregate,
    calibrate,
    certify_stopping,
    choose,
    soft_labels,
    with_witness,
)
from hmc_crowd.errors import FrameError, InputError, ModelError, StateError

COLUMNS = ["task", "worker", "label"]
PAST = ["worker", "label", "truth", "count"]


@pytest.fixture(scope="module")
def crowd() -> pd.DataFrame:
    """Four workers, forty tasks named by text, two labels."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 40)
    rows = [(f"t{t}", f"w{w}", "ab"[truth[t] ^ int(rng.random() < 0.2)]) for t in range(40) for w in range(4)]
    return pd.DataFrame(rows, columns=COLUMNS)


@pytest.mark.parametrize("labels", [[1, True], [0.0, False], [True, 1, True]])
def test_numbers_and_truth_values_together_are_refused_although_they_are_equal(labels: list[Any]) -> None:
    workers = [f"w{number}" for number in range(len(labels))]
    answers = pd.DataFrame({"task": "a", "worker": workers, "label": pd.Series(labels, dtype=object)})
    with pytest.raises(FrameError, match="label mixes values of the kinds bool"):
        aggregate(answers)


@pytest.mark.parametrize("labels", [[1, 0, 1], [True, False, True], ["x", "y", "x"]])
def test_labels_of_one_kind_in_a_column_of_objects_are_fine(labels: list[Any]) -> None:
    answers = pd.DataFrame({"task": ["a", "b", "c"], "worker": "w", "label": pd.Series(labels, dtype=object)})
    assert aggregate(answers).frame["label"].tolist() == labels


@pytest.mark.parametrize(("label", "words"), [(["x"], "crowdkit:binary_relevance"), (("x", 1), "of the kind tuple")])
def test_labels_that_are_no_single_value_are_refused(label: Any, words: str) -> None:
    with pytest.raises(FrameError, match=words):
        aggregate(pd.DataFrame([("a", "w", label), ("b", "w", label)], columns=COLUMNS))


def test_gold_of_lists_is_refused(crowd: pd.DataFrame) -> None:
    with pytest.raises(FrameError, match="gold holds lists"):
        aggregate(crowd, gold={"t0": ["a"]})


@pytest.mark.parametrize(
    "use",
    [
        lambda crowd, gold: choose(crowd, gold, methods=["dawid_skene"]),
        lambda crowd, gold: calibrate(DawidSkene().fit(crowd), gold),
        lambda crowd, gold: NumericAggregator(["a", "b"]).fit(crowd, gold),
    ],
)
def test_gold_that_names_items_by_another_kind_is_refused(crowd: pd.DataFrame, use: Any) -> None:
    gold = pd.Series(dict.fromkeys(range(40), "a"))
    with pytest.raises(FrameError, match="gold names items by numbers, the answers by text"):
        use(crowd, gold)


def test_history_that_names_workers_by_another_kind_is_refused(crowd: pd.DataFrame) -> None:
    with pytest.raises(FrameError, match="history names workers by numbers, the answers by text"):
        aggregate(crowd, history=pd.DataFrame([(1, "a", "a", 5)], columns=PAST))


@pytest.mark.parametrize("method", ["dawid_skene", "one_coin", "mace"])
def test_workers_of_the_history_who_do_not_take_part_are_counted(crowd: pd.DataFrame, method: str) -> None:
    past = pd.DataFrame([("w1", "a", "a", 5), ("w1", "b", "a", 1), ("nobody", "a", "a", 9)], columns=PAST)
    counts = aggregate(crowd, method=method, history=past).counts
    assert (counts.history, counts.history_used) == (2, 1)
    assert "1 of 2 workers of the history take part" in str(counts)


def test_several_aspects_are_refused_by_numbers_too() -> None:
    answers = pd.DataFrame([("a", "w", 1, "x"), ("a", "v", 2, "y")], columns=[*COLUMNS, "aspect"])
    with pytest.raises(FrameError, match="aspects 'x', 'y'; aggregate one"):
        aggregate(answers, method="numeric")


def test_too_many_labels_are_refused_before_memory_runs_out() -> None:
    with pytest.raises(ModelError, match="check the label column"):
        AnswerStream(range(100_000))
    n = 40_000
    table = {"task": np.arange(n) // 2, "worker": np.arange(n) % 50, "label": [f"l{each}" for each in range(n)]}
    with pytest.raises(ModelError, match="check the label column"):
        soft_labels(pd.DataFrame(table))


@pytest.mark.parametrize(("row", "words"), [((7, "w0", "a"), "tasks by numbers"), (("t0", 7, "a"), "workers by num")])
def test_a_stream_refuses_names_of_another_kind_and_stays_as_it_is(
    crowd: pd.DataFrame, row: tuple[Any, ...], words: str
) -> None:
    stream = AnswerStream(["a", "b"])
    stream.update(crowd)
    before = stream.result()
    with pytest.raises(FrameError, match=words):
        stream.update(pd.DataFrame([row], columns=COLUMNS))
    pd.testing.assert_frame_equal(stream.result(), before)


def test_a_refit_under_way_is_finished_before_the_next(crowd: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    go, stream = Event(), AnswerStream(["a", "b"])
    stream.update(crowd)
    fit = DawidSkene.fit

    def slow(*given: Any, **more: Any) -> Any:
        go.wait(30)
        return fit(*given, **more)

    monkeypatch.setattr(DawidSkene, "fit", slow)
    stream.start_refit()
    with pytest.raises(StateError, match="call finish_refit first"):
        stream.refit()
    go.set()
    assert stream.finish_refit()
    stream.refit()


def test_a_state_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="state is a NoneType"):
        AnswerStream.from_state(None)  # type: ignore[arg-type]


def test_labels_that_a_model_helped_to_make_are_refused_as_gold_and_for_calibration(crowd: pd.DataFrame) -> None:
    posterior = DawidSkene().fit(crowd).probabilities_
    found = with_witness(crowd, posterior)
    told = pd.DataFrame({"item": ["t0"], "label": ["a"], "evidence": ["with_model"]})
    for gold in (found, found.labels_, told):
        with pytest.raises(InputError, match="with_model"):
            aggregate(crowd, gold=gold)
    with pytest.raises(InputError, match="with_model"):
        calibrate(found.probabilities_, found.labels_.to_dict())
    assert aggregate(crowd, gold=told.assign(evidence="people_blind")).counts.gold_used == 1


def test_a_label_may_be_called_evidence(crowd: pd.DataFrame) -> None:
    model = DawidSkene().fit(crowd.replace({"label": {"a": "evidence", "b": "label"}}))
    gold = model.labels_.copy()
    assert calibrate(model.probabilities_, gold).n_gold == 40


def test_weights_of_nothing_cannot_calibrate(crowd: pd.DataFrame) -> None:
    model = DawidSkene().fit(crowd)
    with pytest.raises(InputError, match="weights are 0 for every gold item"):
        calibrate(model, model.labels_.to_dict(), weights=np.zeros(40))


def test_stopping_names_what_it_was_not_given(crowd: pd.DataFrame) -> None:
    model = DawidSkene().fit(crowd)
    with pytest.raises(InputError, match="rng is a NoneType"):
        certify_stopping(crowd, model.labels_, max_error=0.3, rng=None)  # type: ignore[arg-type]
    rule = certify_stopping(crowd, model.labels_, max_error=0.5, rng=np.random.default_rng(0))
    with pytest.raises(InputError, match="n_answers is a ndarray"):
        rule.decide(rule.calibration.apply(model), model.n_answers_.to_numpy())  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [{"prior": None}, {"prior": "none"}, {"tol": "small"}, {"tol": -1.0}])
def test_arguments_of_no_use_are_named(given: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"{next(iter(given))} is"):
        DawidSkene(**given)


def test_weights_reach_the_method_and_are_refused_where_there_are_none(crowd: pd.DataFrame) -> None:
    weighted = crowd.assign(trust=np.where(crowd["worker"] == "w0", 9.0, 1.0))
    found = aggregate(weighted, method="majority", weights="trust").frame["label"]
    assert found.tolist() == crowd[crowd["worker"] == "w0"].sort_values("task")["label"].tolist()
    with pytest.raises(InputError, match="weights goes with other methods"):
        aggregate(weighted, method="choose", gold={"t0": "a"}, weights="trust")


def test_too_little_gold_to_choose_by_is_said(crowd: pd.DataFrame) -> None:
    result = aggregate(crowd, method="choose", gold={"t0": "a", "t1": "b"})
    assert result.method == "Dawid-Skene, the default"
    assert "2 answered items, fewer than 10" in result.cautions[0]


def test_one_label_alone_gives_no_advice_to_compare() -> None:
    answers = pd.DataFrame([("a", "u", "x"), ("b", "v", "x")], columns=COLUMNS)
    assert aggregate(answers).cautions == ()


def test_a_method_without_steps_says_nothing_of_iterations(crowd: pd.DataFrame) -> None:
    assert "iterations" not in str(aggregate(crowd, method=Wawa()))


@pytest.mark.parametrize("method", ["bwa", "dawid_skene", "ebcc", "glad", "ibcc", "mace", "one_coin"])
def test_every_method_with_iterations_tells_of_them(crowd: pd.DataFrame, method: str) -> None:
    told: list[tuple[str, int, int]] = []
    result = aggregate(crowd, method=method, progress=lambda what, done, most: told.append((what, done, most)))
    assert {what for what, _, _ in told} == {"iterations"}
    assert result.n_iter in {done for _, done, _ in told}
    assert all(1 <= done <= most for _, done, most in told)


def test_a_choice_tells_of_the_methods_fitted(crowd: pd.DataFrame) -> None:
    told: list[tuple[str, int, int]] = []
    aggregate(crowd, method="choose", gold={"t0": "a"}, progress=lambda *step: told.append(step))
    assert told == [("methods", done, 7) for done in range(1, 8)]
