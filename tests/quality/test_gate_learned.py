"""Learned gates: they find where the crowd is wrong, know when they know nothing, and their files are safe."""

from __future__ import annotations

import io
import pickle
import zipfile
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmc_crowd.errors import FrameError, InputError, ModelError, StateError
from hmc_crowd.quality import (
    GateCosts,
    LearnedGate,
    RuleGate,
    compare_gates,
    decision_records,
    gate_curve,
    load_gate,
    save_gate,
    split_answers,
)
from hmc_crowd.quality._gate_compare import gate_outcome

if TYPE_CHECKING:
    from pathlib import Path

QUALITY = {0: 0.95, 1: 0.7, 2: 0.6, 3: 0.55}


def crowd(seed: int, n: int = 500) -> tuple[pd.DataFrame, pd.Series[int]]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    rows = [
        (item, worker, int(truth[item] if rng.random() < QUALITY[int(worker)] else 1 - truth[item]))
        for item in range(n)
        for worker in rng.permutation(4)[:3]
    ]
    return pd.DataFrame(rows, columns=["task", "worker", "label"]), pd.Series(truth)


@pytest.fixture(scope="module")
def trained() -> dict[str, LearnedGate]:
    answers, truth = crowd(0)
    kinds: tuple[Any, ...] = ("logistic", "random_forest", "xgboost")
    return {kind: LearnedGate(kind, features="answers").fit(None, answers, QUALITY, gold=truth) for kind in kinds}


@pytest.mark.parametrize("kind", ["logistic", "random_forest", "xgboost"])
def test_what_it_sends_is_wrong_more_often_than_what_it_keeps(trained: dict[str, LearnedGate], kind: str) -> None:
    answers, truth = crowd(1)
    found = trained[kind].decide(None, answers, QUALITY).frame
    wrong = found["label"].to_numpy() != truth.to_numpy()
    sent = found["needs_expert"].to_numpy()
    assert wrong[sent].mean() > 2 * wrong[~sent].mean()


@pytest.mark.parametrize("kind", ["logistic", "random_forest", "xgboost"])
def test_its_probabilities_are_calibrated_on_new_items(trained: dict[str, LearnedGate], kind: str) -> None:
    answers, truth = crowd(2, 2000)
    found = trained[kind].decide(None, answers, QUALITY).frame
    wrong = found["label"].to_numpy() != truth.to_numpy()
    # Training holds 500 items of which about a fifth are wrong: the mean may be off by two of its standard errors.
    assert abs(found["score"].mean() - wrong.mean()) < 2 * np.sqrt(0.2 * 0.8 / 500) + 2 * np.sqrt(0.2 * 0.8 / 2000)


def test_the_threshold_is_what_the_costs_make_worth_it() -> None:
    assert LearnedGate(costs=GateCosts(expert=2, error=10, expert_error=0.1)).threshold == pytest.approx(0.3)
    assert LearnedGate(threshold=0.25).threshold == 0.25


@given(p=st.floats(0, 1), expert=st.floats(0, 10), error=st.floats(0.1, 100), slip=st.floats(0, 0.9))
def test_no_decision_costs_less_than_the_thresholds(p: float, expert: float, error: float, slip: float) -> None:
    # Keeping costs p x error, sending costs expert + slip x error.
    keep, send = p * error, expert + slip * error
    sends = p >= GateCosts(expert, error, slip).threshold
    chosen = send if sends else keep
    # At p = 1 the threshold is capped: then everything wrong is sent, even where that is dear.
    assert chosen <= min(keep, send) + 1e-9 * error or p == 1


def test_the_source_features_are_taken_where_they_are_known() -> None:
    answers, truth = crowd(3, 100)
    items = pd.DataFrame({"item": range(100), "complexity": 0.5, "risk": "low", "text": "some words"})
    forest = LearnedGate("random_forest", features="source").fit(items, answers, QUALITY, gold=truth)
    boosted = LearnedGate("xgboost", features="source").fit(items, answers, QUALITY, gold=truth)
    assert forest.features_ == ("worker_quality", "complexity", "text_length")
    assert boosted.features_ == ("worker_quality", "complexity", "risk")
    with pytest.raises(InputError, match="no column text_length"):
        forest.decide(items.drop(columns="text"), answers, QUALITY)


@pytest.mark.parametrize("flip", [False, True])
def test_one_class_teaches_nothing_and_everything_goes_to_an_expert(flip: bool) -> None:
    answers = pd.DataFrame(
        [(item, w, "x") for item in range(50) for w in range(3)], columns=["task", "worker", "label"]
    )
    gate = LearnedGate("random_forest", features="answers")
    gate.fit(None, answers, gold=dict.fromkeys(range(50), "y" if flip else "x"))
    assert "everything goes to an expert" in gate.note_
    assert gate.decide(None, answers).reasons() == {"untrained": 50}


def test_a_tie_in_everything_teaches_nothing() -> None:
    answers = pd.DataFrame(
        [(item, w, "xy"[w]) for item in range(50) for w in range(2)], columns=["task", "worker", "label"]
    )
    gate = LearnedGate("random_forest", features="answers").fit(None, answers, gold=dict.fromkeys(range(50), "x"))
    assert "0 of 0 items to learn from" in gate.note_
    assert gate.decide(None, answers).reasons() == {"tie": 50}


def test_no_gold_is_refused() -> None:
    answers, _ = crowd(0, 30)
    with pytest.raises(InputError, match="gold is empty"):
        LearnedGate().fit(None, answers, gold={})
    with pytest.raises(InputError, match="no label for any"):
        LearnedGate().fit(None, answers, gold={"elsewhere": 1})


def test_a_gate_that_has_not_learnt_says_so() -> None:
    answers, _ = crowd(0, 30)
    with pytest.raises(StateError, match="call its fit first"):
        LearnedGate().decide(None, answers)


@pytest.mark.parametrize("kind", ["logistic", "random_forest", "xgboost"])
def test_a_gate_comes_back_from_its_file_as_it_went(trained: dict[str, LearnedGate], kind: str, tmp_path: Path) -> None:
    answers, _ = crowd(4, 200)
    save_gate(trained[kind], tmp_path / "gate.skops")
    loaded = load_gate(tmp_path / "gate.skops")
    pd.testing.assert_frame_equal(
        loaded.decide(None, answers, QUALITY).frame, trained[kind].decide(None, answers, QUALITY).frame
    )
    assert loaded.version == trained[kind].version


def test_a_pickle_is_refused_unread(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return (pytest.fail, ("the pickle was run",))

    (tmp_path / "gate.skops").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(ModelError, match="no gate that can be read"):
        load_gate(tmp_path / "gate.skops")


def test_a_forest_that_points_outside_itself_is_refused(trained: dict[str, LearnedGate], tmp_path: Path) -> None:
    from hmc_crowd.quality._gate_trees import ForestTrees

    gate = trained["random_forest"]
    with pytest.raises(ModelError, match="splits on a feature"):
        ForestTrees.from_state(gate.trees_.model, 1)  # type: ignore[union-attr]
    save_gate(gate, tmp_path / "gate.skops")
    source = zipfile.ZipFile(tmp_path / "gate.skops")
    schema = source.read("schema.json").replace(b"RandomForestClassifier", b"RandomForestRegressor")
    changed = io.BytesIO()
    with zipfile.ZipFile(changed, "w") as target:
        for name in source.namelist():
            target.writestr(name, schema if name == "schema.json" else source.read(name))
    (tmp_path / "other.skops").write_bytes(changed.getvalue())
    with pytest.raises(ModelError):
        load_gate(tmp_path / "other.skops")


def test_a_curve_whose_numbers_do_not_fit_is_refused(trained: dict[str, LearnedGate]) -> None:
    from hmc_crowd.quality._gate_trees import Curve

    state = trained["logistic"].trees_.state()  # type: ignore[union-attr]
    with pytest.raises(ModelError, match="do not fit together"):
        Curve.from_state(state, 2)
    with pytest.raises(ModelError, match="do not fit together"):
        Curve.from_state({**state, "slope": [np.nan] * len(state["slope"])}, len(state["slope"]))


def test_the_curve_by_hand() -> None:
    # Wrong are the 1st and 3rd of the order: .5, .75, .75, 1, and expert errors of .1 take .025 an item.
    curve = gate_curve([4, 3, 2, 1], [True, False, True, False], expert_error=0.1)
    assert curve.accuracy == pytest.approx([0.5, 0.725, 0.7, 0.925, 0.9])
    assert curve.least_sent(0.72) == 1
    assert curve.least_sent(0.99) is None


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.booleans()), min_size=1, max_size=20))
def test_a_curve_ends_right_and_never_falls(rows: list[tuple[float, bool]]) -> None:
    curve = gate_curve([score for score, _ in rows], [wrong for _, wrong in rows])
    assert curve.accuracy[-1] == pytest.approx(1.0)
    assert (np.diff(curve.accuracy) >= -1e-12).all()


def test_outcome_counts_both_errors() -> None:
    # 5 items, 2 wrong; sent are one wrong and two right: missed 1, needless 2; cost 3 x 1 + 10 x (1 + .1 x 3)
    expert, wrong = np.array([1, 1, 1, 0, 0], bool), np.array([1, 0, 0, 1, 0], bool)
    found = gate_outcome(expert, wrong, GateCosts(1, 10, 0.1))
    assert (found["recall"], found["missed"], found["needless"]) == (0.5, 1, 2)
    assert found["precision"] == pytest.approx(1 / 3)
    assert found["cost"] == pytest.approx(16.0)
    assert found["accuracy"] == pytest.approx(1 - 1.3 / 5)


def test_gates_are_compared_on_held_out_items_at_equal_accuracy() -> None:
    answers, truth = crowd(5, 800)
    split = split_answers(answers, by="task", share=0.5, rng=np.random.default_rng(0))
    learned = LearnedGate("random_forest", features="answers").fit(None, split.train, QUALITY, gold=truth)
    gates = {"rules": RuleGate(risk=None, complexity=None, quality=0.68), "learned": learned}
    found = compare_gates(gates, None, split.test, QUALITY, gold=truth)
    rules, model = found.table.to_dict("records")
    assert model["sent_at_equal"] < rules["sent"]
    assert rules["sent_at_equal"] == rules["sent"]
    assert model["brier"] < model["wrong"] / model["n"] * (1 - model["wrong"] / model["n"])


def test_labels_of_people_who_are_all_right_tell_no_gate_from_another() -> None:
    answers = pd.DataFrame([(i, w, "x") for i in range(5) for w in range(3)], columns=["task", "worker", "label"])
    found = compare_gates(
        {"rules": RuleGate(risk=None, complexity=None)}, None, answers, gold=dict.fromkeys(range(5), "x")
    )
    assert "no gate can be told" in found.note


def timed(n: int = 100) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "task": np.repeat(np.arange(n), 4),
            "worker": np.tile(np.arange(20), n * 4 // 20),
            "label": "x",
            "submitted": pd.date_range("2026-01-05", periods=4 * n, freq="min", tz="UTC"),
        }
    )


@pytest.mark.parametrize("by", ["task", "worker", "time"])
def test_a_split_shares_neither_items_nor_what_was_asked(by: Any) -> None:
    split = split_answers(timed(), by=by, rng=np.random.default_rng(0))
    assert not set(split.train["task"]) & set(split.test["task"])
    assert split.test["task"].nunique() == 20
    if by == "worker":
        assert not set(split.train["worker"]) & set(split.test["worker"])
    if by == "time":
        assert split.train["submitted"].max() < split.test["submitted"].min()
    assert len(split.train) + len(split.test) + split.dropped == 400


def test_a_split_by_time_drops_what_comes_too_late() -> None:
    rows = timed(10)
    # Item 0 gets one more answer at the very end: it may not teach anything about items judged before.
    late = pd.DataFrame({"task": [0], "worker": [99], "label": ["x"], "submitted": [rows["submitted"].max()]})
    split = split_answers(pd.concat([rows, late]), by="time")
    assert split.dropped == 1
    assert 99 not in set(split.train["worker"])


def test_a_split_that_cannot_be_made_is_refused() -> None:
    with pytest.raises(FrameError, match="lacks the column submitted"):
        split_answers(timed().drop(columns="submitted"), by="time")
    with pytest.raises(InputError, match="leaves one side empty"):
        split_answers(timed().assign(worker=0), by="worker", rng=np.random.default_rng(0))


def test_records_say_who_decided() -> None:
    answers, _ = crowd(0, 20)
    decisions = RuleGate(risk=None, complexity=None).decide(None, answers, QUALITY)
    at = datetime(2026, 1, 5, tzinfo=UTC)
    rows = decision_records(decisions, decided_at=at)
    assert set(rows["decider"]) == {"gate"}
    assert set(rows["policy_version"]) == {decisions.version}
    assert decision_records(decisions, decided_at=at, decided_by="p1")["decided_by"].unique().tolist() == ["p1"]
    with pytest.raises(InputError, match="without a time zone"):
        decision_records(decisions, decided_at=datetime(2026, 1, 5))
