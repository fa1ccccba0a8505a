"""Streaming: updates equal one E-step, refits equal fits, state survives JSON."""

from __future__ import annotations

import json
from threading import Event

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.aggregation import AnswerStream, DawidSkene
from hmc_crowd.errors import StateError

COLUMNS = ["task", "worker", "label"]


def answers_of(seed: int, tasks: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, tasks)
    rows = [
        (t, f"w{w}", int(truth[t] if rng.random() < 0.75 else rng.integers(0, 3)))
        for t in range(tasks)
        for w in rng.choice(8, 4, replace=False)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def warm(answers: pd.DataFrame) -> AnswerStream:
    stream = AnswerStream([0, 1, 2])
    stream.update(answers)
    stream.refit()
    return stream


def test_updates_in_pieces_equal_one_update() -> None:
    answers = answers_of(1)
    one, many = AnswerStream([0, 1, 2]), AnswerStream([0, 1, 2])
    one.update(answers)
    for start in range(0, len(answers), 7):
        many.update(answers[start : start + 7])
    pd.testing.assert_frame_equal(one.result(), many.result(), atol=1e-12)


def test_an_update_is_one_step_under_the_present_tables() -> None:
    answers = answers_of(2)
    stream = warm(answers[:150])
    stream.update(answers[150:])
    model = DawidSkene(1).fit(answers, labels=[0, 1, 2], start=DawidSkene().fit(answers[:150], labels=[0, 1, 2]))
    found = stream.result().set_index("task")[["p_0", "p_1", "p_2"]]
    # the refit inside `warm` started from a stranger's tables, as every first fit does from votes: same optimum
    np.testing.assert_allclose(found.to_numpy(), model.probabilities_.to_numpy(), atol=2e-3)


def test_only_touched_tasks_come_back() -> None:
    stream = warm(answers_of(3))
    touched = stream.update(pd.DataFrame([(3, "w99", 1), (777, "w0", 2)], columns=COLUMNS))
    assert touched["task"].tolist() == [3, 777]
    assert touched["n_answers"].tolist() == [5, 1]
    assert stream.n_since_refit == 2


def test_a_second_answer_replaces_the_first() -> None:
    stream, other = warm(answers_of(4)), warm(answers_of(4))
    stream.update(pd.DataFrame([(500, "w1", 0)], columns=COLUMNS))
    stream.update(pd.DataFrame([(500, "w1", 2)], columns=COLUMNS))
    other.update(pd.DataFrame([(500, "w1", 2)], columns=COLUMNS))
    pd.testing.assert_frame_equal(stream.result(), other.result())
    assert stream.n_answers == other.n_answers


def test_a_refit_equals_a_fit_of_everything() -> None:
    answers = answers_of(5)
    stream = warm(answers[:100])
    stream.update(answers[100:])
    stream.refit()
    plain = DawidSkene(tol=1e-9).fit(answers, labels=[0, 1, 2])
    assert (stream.result().set_index("task")["label"] == plain.labels_).mean() > 0.98
    assert stream.n_since_refit == 0


def test_a_refit_may_run_elsewhere_while_answers_go_on() -> None:
    answers = answers_of(6)
    stream = warm(answers[:120])
    background = stream.fit_snapshot(stream.snapshot())
    stream.update(answers[120:])
    stream.adopt(background)
    assert len(stream.result()) == 60
    assert stream.n_answers == len(answers)


def test_state_survives_json() -> None:
    answers = answers_of(7)
    stream = warm(answers[:150])
    stream.update(answers[150:180])
    again = AnswerStream.from_state(json.loads(json.dumps(stream.to_state())))
    pd.testing.assert_frame_equal(again.result(), stream.result(), atol=1e-12)
    one, two = (s.update(answers[180:]) for s in (stream, again))
    pd.testing.assert_frame_equal(one, two, atol=1e-12)


def test_the_worker_table_is_long_and_adds_up() -> None:
    table = warm(answers_of(8)).worker_table()
    assert table.columns.tolist() == ["worker", "label", "truth", "probability"]
    np.testing.assert_allclose(table.groupby(["worker", "truth"])["probability"].sum(), 1.0)


def test_a_bad_update_changes_nothing() -> None:
    stream = warm(answers_of(9))
    before = json.dumps(stream.to_state())
    with pytest.raises(ValueError, match="outside labels"):
        stream.update(pd.DataFrame([(1, "w1", 0), (2, "w1", 9)], columns=COLUMNS))
    assert json.dumps(stream.to_state()) == before


def test_what_is_too_early_or_broken_is_said() -> None:
    with pytest.raises(StateError, match="no answers yet"):
        AnswerStream([0, 1]).refit()
    with pytest.raises(StateError, match="no answers yet"):
        AnswerStream([0, 1]).result()
    with pytest.raises(ValueError, match="format"):
        AnswerStream.from_state({})
    with pytest.raises(ValueError, match="incomplete"):
        AnswerStream.from_state({"format": 1})


def test_a_refit_in_the_background_equals_one_in_the_foreground() -> None:
    answers = answers_of(11)
    one, other = warm(answers[:120]), warm(answers[:120])
    for stream in (one, other):
        stream.update(answers[120:])
    one.refit()
    other.start_refit()
    assert other.refitting
    assert other.finish_refit()
    assert not other.refitting
    pd.testing.assert_frame_equal(one.result(), other.result())


def test_answers_during_a_refit_are_kept_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = answers_of(12)
    stream = warm(answers[:120])
    stream.update(answers[120:160])
    go = Event()
    fit = DawidSkene.fit
    monkeypatch.setattr(DawidSkene, "fit", lambda self, *a, **k: (go.wait(30), fit(self, *a, **k))[1])
    stream.start_refit()
    before = stream.result()
    touched = stream.update(answers[160:])
    assert stream.refitting
    assert (stream.n_since_refit, len(before)) == (len(answers) - 120, 40)
    go.set()
    stream.finish_refit()
    assert stream.n_since_refit == len(answers) - 160
    after = stream.result().set_index("task").loc[touched["task"]]
    assert after["n_answers"].tolist() == touched["n_answers"].tolist()
    assert not np.allclose(after["confidence"], touched["confidence"])


def test_an_unfinished_refit_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = warm(answers_of(13))
    go = Event()
    fit = DawidSkene.fit
    monkeypatch.setattr(DawidSkene, "fit", lambda self, *a, **k: (go.wait(30), fit(self, *a, **k))[1])
    stream.start_refit()
    assert not stream.finish_refit(wait=False)
    with pytest.raises(StateError, match="under way"):
        stream.start_refit()
    go.set()
    assert stream.finish_refit()
    assert not stream.finish_refit()


def test_a_failed_refit_says_so_and_leaves_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = warm(answers_of(14))
    before = stream.result()
    stream.start_refit(gold={0: 9})
    with pytest.raises(ValueError, match="outside"):
        stream.finish_refit()
    assert not stream.refitting
    pd.testing.assert_frame_equal(before, stream.result())


def test_worker_counts_make_the_stream_again() -> None:
    answers = answers_of(15)
    model = DawidSkene().fit(answers)
    shares = model.priors_.to_numpy()
    stream = AnswerStream.from_counts([0, 1, 2], model.history_, class_share=shares, prior=model.prior_used_)
    stream.update(answers)
    found = stream.result().set_index("task")[["p_0", "p_1", "p_2"]].to_numpy()
    # the counts are those of the last E-step, one M-step ahead of the tables that it ran under
    np.testing.assert_allclose(found, model.probabilities_.to_numpy(), atol=1e-3)


def test_worker_counts_of_other_labels_are_refused() -> None:
    model = DawidSkene().fit(answers_of(16))
    with pytest.raises(ValueError, match="outside"):
        AnswerStream.from_counts([0, 1], model.history_, class_share=[0.5, 0.5], prior=6)
    with pytest.raises(ValueError, match="2 values for 3 labels"):
        AnswerStream.from_counts([0, 1, 2], model.history_, class_share=[0.5, 0.5], prior=6)
