"""What every estimator of categories promises, and hand-worked values of each."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmc_crowd.aggregation import (
    BWA,
    EBCC,
    GLAD,
    IBCC,
    MACE,
    DawidSkene,
    MajorityVote,
    OneCoinDawidSkene,
    Wawa,
    WeightedMajorityVote,
    WorkerHistory,
)

COLUMNS = ["task", "worker", "label"]
QUICK = settings(max_examples=25, deadline=None)

# One maker each; restarts few, so that the properties stay quick.
MAKERS = {
    "majority": MajorityVote,
    "weighted": WeightedMajorityVote,
    "wawa": Wawa,
    "one_coin": OneCoinDawidSkene,
    "dawid_skene": DawidSkene,
    "glad": GLAD,
    "mace": lambda: MACE(n_restarts=3),
    "mace_em": lambda: MACE(n_restarts=2, method="em"),
    "ibcc": IBCC,
    "ebcc": lambda: EBCC(n_subtypes=3, n_restarts=2),
    "bwa": BWA,
}
ITERATIVE = [name for name in MAKERS if name not in {"majority", "weighted", "wawa"}]
WITH_HISTORY = [name for name in MAKERS if name not in {"majority", "wawa", "bwa"}]


@st.composite
def answer_tables(draw: st.DrawFn) -> pd.DataFrame:
    tasks, workers, labels = draw(st.integers(1, 8)), draw(st.integers(1, 6)), draw(st.integers(1, 4))
    cells = draw(st.sets(st.tuples(st.integers(0, tasks - 1), st.integers(0, workers - 1)), min_size=1))
    rows = [(task, worker, draw(st.integers(0, labels - 1))) for task, worker in sorted(cells)]
    return pd.DataFrame(rows, columns=COLUMNS)


def crowd(seed: int, *, tasks: int = 200, workers: int = 12, k: int = 3, redundancy: int = 5) -> tuple:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, tasks)
    skill = rng.uniform(0.5, 0.95, workers)
    rows = []
    for task in range(tasks):
        for worker in rng.choice(workers, redundancy, replace=False):
            right = rng.random() < skill[worker]
            rows.append((task, f"w{worker}", int(truth[task] if right else (truth[task] + rng.integers(1, k)) % k)))
    return pd.DataFrame(rows, columns=COLUMNS), pd.Series(truth), skill


@pytest.mark.parametrize("name", MAKERS)
def test_names_and_order_do_not_matter(name: str) -> None:
    @QUICK
    @given(answers=answer_tables(), seed=st.integers(0, 999))
    def check(answers: pd.DataFrame, seed: int) -> None:
        rng = np.random.default_rng(seed)
        names = {c: dict(zip(range(9), rng.permutation(9).tolist(), strict=True)) for c in COLUMNS}
        other = pd.DataFrame({c: answers[c].map(names[c]) for c in COLUMNS}).sample(frac=1, random_state=seed)
        one, two = MAKERS[name]().fit(answers), MAKERS[name]().fit(other)
        there = two.probabilities_.reindex(
            index=one.probabilities_.index.map(names["task"]), columns=one.probabilities_.columns.map(names["label"])
        )
        np.testing.assert_allclose(one.probabilities_.to_numpy(), there.to_numpy(), atol=1e-7)
        for task, tied in one.tied_.items():
            assert tied == two.tied_[names["task"][task]]
            if not tied:
                assert names["label"][one.labels_[task]] == two.labels_[names["task"][task]]
        if name != "majority":  # its skills follow the tie rule
            skills = two.skills_.reindex(one.skills_.index.map(names["worker"]))
            np.testing.assert_allclose(one.skills_.to_numpy(), skills.to_numpy(), atol=1e-7)

    check()


@pytest.mark.parametrize("name", MAKERS)
def test_a_real_crowd_renamed_gives_the_same_labels(name: str) -> None:
    answers, _, _ = crowd(3, tasks=120)
    rng = np.random.default_rng(9)
    workers = {w: f"v{i}" for w, i in zip(sorted(answers["worker"].unique()), rng.permutation(99), strict=False)}
    labels = {0: 2, 1: 0, 2: 1}
    other = answers.assign(worker=answers["worker"].map(workers), label=answers["label"].map(labels))
    one, two = MAKERS[name]().fit(answers), MAKERS[name]().fit(other.sample(frac=1, random_state=1))
    there = two.probabilities_[[labels[label] for label in one.probabilities_.columns]].to_numpy()
    np.testing.assert_allclose(one.probabilities_.to_numpy(), there, atol=1e-6)


@pytest.mark.parametrize("name", ITERATIVE)
def test_the_objective_never_falls(name: str) -> None:
    @QUICK
    @given(answers=answer_tables(), with_gold=st.booleans(), with_history=st.booleans())
    def check(answers: pd.DataFrame, with_gold: bool, with_history: bool) -> None:
        gold = {answers["task"][0]: answers["label"].iloc[-1]} if with_gold else None
        label = answers["label"].iloc[0]
        past = pd.DataFrame([(answers["worker"][0], label, label, 3.0)], columns=["worker", "label", "truth", "count"])
        model = MAKERS[name]()
        model.tol = 0.0
        history = np.array(model.fit(answers, gold, history=past if with_history else None).loss_history_)
        assert np.isfinite(history).all()
        assert (np.diff(history) >= -1e-7 * (1 + np.abs(history[:-1]))).all()

    check()


@pytest.mark.parametrize("name", MAKERS)
def test_labels_are_better_than_a_coin_and_workers_are_ranked(name: str) -> None:
    answers, truth, skill = crowd(1)
    model = MAKERS[name]().fit(answers)
    assert (model.labels_ == truth[model.labels_.index]).mean() > 0.9
    found = model.skills_.reindex([f"w{i}" for i in range(len(skill))])
    assert np.corrcoef(found, skill)[0, 1] > 0.8


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [4, 17]], ids=["text", "truth values", "numbers"])
def test_labels_of_every_kind_and_abstentions(name: str, labels: list) -> None:
    rows = [("a", "u", 0), ("a", "v", 0), ("a", "w", 1), ("b", "u", 1), ("b", "v", 1), ("b", "w", 1)]
    rows += [(f"d{i}", w, i % 2) for i in range(6) for w in "uvw"]
    answers = pd.DataFrame([(t, w, labels[x]) for t, w, x in rows] + [("c", "u", None)], columns=COLUMNS)
    kept = pd.DataFrame([(t, w, labels[x]) for t, w, x in rows], columns=COLUMNS)
    found = MAKERS[name]().fit(answers if isinstance(labels[0], str) else kept)
    assert found.labels_[["a", "b"]].tolist() == labels
    assert "c" not in found.labels_.index
    assert found.counts_.missing_label == (1 if isinstance(labels[0], str) else 0)


@pytest.mark.parametrize("name", [*WITH_HISTORY, "majority"])
def test_gold_is_kept(name: str) -> None:
    answers, _, _ = crowd(2, tasks=60)
    said = MajorityVote().fit(answers).labels_
    wrong = int((said[5] + 1) % 3)
    model = MAKERS[name]().fit(answers, {5: wrong, 10_000: 1})
    assert model.labels_[5] == wrong
    assert model.probabilities_.loc[5, wrong] == pytest.approx(1.0)
    assert (model.counts_.gold, model.counts_.gold_used) == (2, 1)


@pytest.mark.parametrize("name", WITH_HISTORY)
def test_a_past_tells_whom_to_believe(name: str) -> None:
    # two against two; the past of u and v is perfect, that of x and y a coin
    rows = [("a", "u", 1), ("a", "v", 1), ("a", "x", 0), ("a", "y", 0)]
    rows += [(f"b{i}", w, i % 2) for i in range(6) for w in "uvxy"]
    answers = pd.DataFrame(rows, columns=COLUMNS)
    past = [(w, label, label, 40.0) for w in "uv" for label in (0, 1)]
    past += [(w, label, truth, 20.0) for w in "xy" for label in (0, 1) for truth in (0, 1)]
    history = WorkerHistory(pd.DataFrame(past, columns=["worker", "label", "truth", "count"]))
    found = MAKERS[name]().fit(answers, history=history)
    assert found.labels_["a"] == 1
    assert found.probabilities_.loc["a", 1] > 0.6
    assert found.probabilities_.index.tolist() == sorted(answers["task"].unique())


@pytest.mark.parametrize("name", MAKERS)
def test_a_weight_of_two_is_the_answer_twice(name: str) -> None:
    answers, _, _ = crowd(4, tasks=40)
    weight = np.where(np.arange(len(answers)) % 3 == 0, 2.0, 1.0)
    twice = pd.concat([answers, answers[weight == 2.0]])
    one = MAKERS[name]().fit(answers, weights=weight)
    model = MAKERS[name]()
    model.repeats = "all"
    if name == "dawid_skene":  # the automatic prior and the start look at counts of rows
        one, model = (
            DawidSkene(prior=6.0, tol=1e-12).fit(answers, weights=weight),
            DawidSkene(prior=6.0, tol=1e-12, repeats="all"),
        )
    two = model.fit(twice)
    np.testing.assert_allclose(one.probabilities_.to_numpy(), two.probabilities_.to_numpy(), atol=1e-5)


def test_weights_of_one_change_nothing() -> None:
    answers, _, _ = crowd(5, tasks=60)
    one = DawidSkene().fit(answers)
    two = DawidSkene().fit(answers, weights=np.ones(len(answers)))
    np.testing.assert_allclose(one.probabilities_.to_numpy(), two.probabilities_.to_numpy(), atol=1e-9)
    np.testing.assert_allclose(one.loss_history_, two.loss_history_, rtol=1e-9)


@pytest.mark.parametrize("weights", [[1.0], "nothing", [-1.0] * 6, [0.0] * 6])
def test_weights_that_are_not_weights_are_refused(small: pd.DataFrame, weights: object) -> None:
    with pytest.raises(ValueError, match="weight"):
        OneCoinDawidSkene().fit(small, weights=weights)


def test_one_coin_by_hand() -> None:
    # Task a: u, v say 0, w says 1; start: shares 2/3, 1/3. Task b: all say 1. Expected right of u: 2/3 + 1; of w:
    # 1/3 + 1.
    # Maximum likelihood: p_u = p_v = 5/6, p_w = 2/3; class shares: (2/3) / 2 = 1/3 and 2/3.
    # a: 1/3 * 5/6 * 5/6 * 1/3 = 25/324 against 2/3 * 1/6 * 1/6 * 2/3 = 4/324.
    answers = pd.DataFrame(
        [("a", "u", 0), ("a", "v", 0), ("a", "w", 1), ("b", "u", 1), ("b", "v", 1), ("b", "w", 1)], columns=COLUMNS
    )
    model = OneCoinDawidSkene(1, prior=0).fit(answers)
    assert model.accuracies_.tolist() == pytest.approx([5 / 6, 5 / 6, 2 / 3])
    assert model.probabilities_.loc["a", 0] == pytest.approx(25 / 29)
    # log-likelihood: log(29/324) for a; b: 1/3 * 1/6 * 1/6 * 1/3 + 2/3 * 5/6 * 5/6 * 2/3 = 1/324 + 100/324
    assert model.loss_history_ == pytest.approx([np.log(29 / 324) + np.log(101 / 324)])


def test_weighted_majority_needs_quality_between_zero_and_more() -> None:
    answers = pd.DataFrame([("a", "u", 0)], columns=COLUMNS)
    with pytest.raises(ValueError, match="0 for every worker"):
        WeightedMajorityVote({"u": 0.0}, unknown=0.0).fit(answers)


def test_weighted_majority_gives_unknown_workers_the_default() -> None:
    # .9 for 1 against .5 + .5 for 0: 0 wins with agreement 1 / 1.9
    answers = pd.DataFrame([("a", "u", 1), ("a", "v", 0), ("a", "w", 0)], columns=COLUMNS)
    vote = WeightedMajorityVote({"u": 0.9}).fit(answers)
    assert vote.labels_["a"] == 0
    assert vote.probabilities_.loc["a", 0] == pytest.approx(1 / 1.9)


def test_glad_finds_hard_tasks_hard() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 80)
    rows = [(t, w, int(truth[t] ^ (rng.random() < (0.4 if t < 20 else 0.05)))) for t in range(80) for w in range(9)]
    found = GLAD().fit(pd.DataFrame(rows, columns=COLUMNS)).difficulty_
    assert found[:20].mean() > found[20:].mean()


def test_mace_restarts_differ_and_the_best_is_kept() -> None:
    answers, _, _ = crowd(6, tasks=60)
    model = MACE(n_restarts=5, n_iter=3).fit(answers)
    assert len(set(np.round(model.objectives_, 6))) == 5
    assert model.loss_history_[-1] == pytest.approx(max(model.objectives_), abs=1e-6 * 60)


def test_mace_sees_a_spammer() -> None:
    answers, _, _ = crowd(7)
    spam = pd.DataFrame({"task": range(200), "worker": "spam", "label": 0})
    model = MACE().fit(pd.concat([answers, spam]))
    assert model.trust_.idxmin() == "spam"
    assert model.habits_.loc["spam", 0] > 0.8


@pytest.mark.parametrize("name", MAKERS)
def test_too_many_labels_end_in_a_sentence(name: str) -> None:
    n = 100_000
    answers = pd.DataFrame({"task": range(n), "worker": "u", "label": range(n)})
    from hmc_crowd.errors import ModelError

    with pytest.raises(ModelError, match="labels"):
        MAKERS[name]().fit(answers)


@pytest.mark.parametrize("name", MAKERS)
def test_one_worker_and_one_class(name: str) -> None:
    one_worker = pd.DataFrame([(t, "u", t % 2) for t in range(6)], columns=COLUMNS)
    assert MAKERS[name]().fit_predict(one_worker).tolist() == [0, 1] * 3
    one_class = pd.DataFrame([(t, w, "x") for t in range(3) for w in "uv"], columns=COLUMNS)
    np.testing.assert_allclose(MAKERS[name]().fit(one_class).probabilities_.to_numpy(), 1.0)


@pytest.mark.parametrize("name", MAKERS)
def test_bad_tables_are_refused_in_a_sentence(name: str) -> None:
    make = MAKERS[name]
    with pytest.raises(ValueError, match="lacks the column label"):
        make().fit(pd.DataFrame({"task": [1], "worker": [1]}))
    with pytest.raises(ValueError, match="none with a label"):
        make().fit(pd.DataFrame({"task": ["a"], "worker": ["u"], "label": [None]}))
    with pytest.raises(ValueError, match="mixes"):
        make().fit(pd.DataFrame({"task": ["a", "b"], "worker": ["u", "v"], "label": ["x", 1]}))
    with pytest.raises(ValueError, match="gold has labels outside"):
        make().fit(pd.DataFrame({"task": ["a"], "worker": ["u"], "label": ["x"]}), {"a": "z"})
