"""Numbers, scales, soft labels and difficulty."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmc_crowd.aggregation import DawidSkene, NumericAggregator, soft_labels, task_difficulty

COLUMNS = ["task", "worker", "label"]
QUICK = settings(max_examples=25, deadline=None)


def judges(seed: int, tasks: int = 200) -> tuple[pd.DataFrame, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    value, bias = rng.normal(50, 10, tasks), rng.normal(0, 4, 10)
    bias -= bias.mean()
    sd = rng.uniform(2, 9, 10)
    rows = [
        (t, w, value[t] + bias[w] + sd[w] * rng.normal())
        for t in range(tasks)
        for w in rng.choice(10, 4, replace=False)
    ]
    return pd.DataFrame(rows, columns=COLUMNS), value, bias, sd


def test_bias_and_variance_are_found_and_used() -> None:
    answers, value, bias, sd = judges(1)
    model = NumericAggregator().fit(answers)
    assert np.abs(model.workers_["bias"] - bias).max() < 2.5
    assert np.corrcoef(model.workers_["sd"], sd)[0, 1] > 0.9
    plain = answers.groupby("task")["label"].mean()
    assert np.mean((model.labels_ - value) ** 2) < 0.8 * np.mean((plain - value) ** 2)


def test_value_intervals_cover_and_prmse_is_the_share_of_error_removed() -> None:
    hits, gaps = [], []
    for seed in range(12):
        answers, value, _, _ = judges(seed)
        model = NumericAggregator().fit(answers)
        hits.append(((model.values_["low"] <= value) & (value <= model.values_["high"])).mean())
        gaps.append(model.prmse_ - (1 - np.mean((model.labels_ - value) ** 2) / np.var(value)))
    assert 0.92 <= np.mean(hits) <= 0.97
    assert abs(np.mean(gaps)) < 0.03


def test_one_step_of_a_known_task_by_hand() -> None:
    # gold 10 for the only task: residuals 1 and -1 around it
    model = NumericAggregator().fit(pd.DataFrame([(0, "u", 11.0), (0, "v", 9.0)], columns=COLUMNS), {0: 10.0})
    assert model.labels_[0] == 10.0
    assert model.values_.loc[0, "se"] == 0.0
    assert model.workers_["bias"].tolist() == pytest.approx([-b for b in model.workers_["bias"][::-1]])
    assert model.workers_["bias"][0] > 0


@st.composite
def number_tables(draw: st.DrawFn) -> pd.DataFrame:
    cells = draw(st.sets(st.tuples(st.integers(0, 5), st.integers(0, 4)), min_size=1))
    rows = [(t, w, float(draw(st.integers(0, 20)))) for t, w in sorted(cells)]
    return pd.DataFrame(rows, columns=COLUMNS)


@QUICK
@given(answers=number_tables(), with_gold=st.booleans())
def test_the_objective_never_falls(answers: pd.DataFrame, with_gold: bool) -> None:
    gold = {answers["task"][0]: 7.0} if with_gold else None
    history = np.array(NumericAggregator(n_iter=60, tol=0.0).fit(answers, gold).loss_history_)
    assert (np.diff(history) >= -1e-8 * (1 + np.abs(history[:-1]))).all()


@QUICK
@given(answers=number_tables(), seed=st.integers(0, 99))
def test_names_order_and_units_do_not_matter(answers: pd.DataFrame, seed: int) -> None:
    rng = np.random.default_rng(seed)
    task, worker = rng.permutation(6), rng.permutation(5)
    other = answers.assign(
        task=task[answers["task"]], worker=worker[answers["worker"]], label=3 * answers["label"] - 5
    ).sample(frac=1, random_state=seed)
    one, two = (NumericAggregator(n_iter=30).fit(a).labels_ for a in (answers, other))
    np.testing.assert_allclose(3 * one.to_numpy() - 5, two[task[one.index]].to_numpy(), atol=1e-5, rtol=1e-5)


def test_ordinal_levels_give_levels_and_probabilities() -> None:
    levels = ["bad", "fair", "good"]
    rows = [("a", "u", "bad"), ("a", "v", "bad"), ("b", "u", "good"), ("b", "v", "good"), ("c", "u", "fair")]
    model = NumericAggregator(levels).fit(pd.DataFrame([*rows, ("d", "u", None)], columns=COLUMNS))
    assert model.labels_.to_dict() == {"a": "bad", "b": "good", "c": "fair"}
    np.testing.assert_allclose(model.probabilities_.sum(axis=1), 1.0)
    assert (model.counts_.missing_label, model.counts_.tasks_without_label) == (1, 1)


def test_bad_numbers_are_refused_in_a_sentence() -> None:
    for label, words in (("x", "numbers"), (np.inf, "finite"), (True, "truth values")):
        with pytest.raises(ValueError, match=words):
            NumericAggregator().fit(pd.DataFrame({"task": ["a"], "worker": ["u"], "label": [label]}))
    with pytest.raises(ValueError, match="outside levels"):
        NumericAggregator(["x"]).fit(pd.DataFrame({"task": ["a"], "worker": ["u"], "label": ["y"]}))
    twice = pd.DataFrame([("a", "u", 1.0), ("a", "u", 2.0)], columns=COLUMNS)
    with pytest.raises(ValueError, match="different labels by one worker"):
        NumericAggregator().fit(twice)
    assert NumericAggregator(repeats="all").fit(twice).counts_.used == 2


def test_soft_labels_by_hand() -> None:
    # overall 3 x, 1 y; task a: 1 x, 1 y; strength 2: (1 + 2 * 3/4) / 4
    answers = pd.DataFrame([("a", "u", "x"), ("a", "v", "y"), ("b", "u", "x"), ("b", "v", "x")], columns=COLUMNS)
    found = soft_labels(answers, strength=2).set_index("task")
    assert found.loc["a", "p_x"] == pytest.approx(2.5 / 4)
    plain = soft_labels(answers, strength=0).set_index("task")
    assert (plain.loc["a", "entropy"], plain.loc["b", "entropy"]) == (pytest.approx(1.0), 0.0)


def test_soft_labels_by_group_count_strangers_apart() -> None:
    answers = pd.DataFrame([("a", "u", 1), ("a", "v", 0), ("a", "w", 0)], columns=COLUMNS)
    found = soft_labels(answers, groups={"u": "g"}, strength=0)
    assert found[["group", "n_answers", "p_1"]].to_numpy().tolist() == [["g", 1, 1.0], ["unknown", 2, 0.0]]


def test_disputed_tasks_are_difficult() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 100)
    rows = [(t, w, int(truth[t] ^ (rng.random() < (0.4 if t < 30 else 0.05)))) for t in range(100) for w in range(7)]
    answers = pd.DataFrame(rows, columns=COLUMNS)
    found = task_difficulty(answers, DawidSkene().fit(answers))
    assert found[:30].mean() > 2 * found[30:].mean()
    assert found.between(0, 1).all()
