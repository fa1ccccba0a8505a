"""Dawid-Skene: one step by hand, gold, prior, warm start, small and odd inputs."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.aggregation import DawidSkene, MajorityVote
from hmc_crowd.errors import InputError, ModelError

COLUMNS = ["task", "worker", "label"]


def crowd(
    seed: int, *, tasks: int = 300, workers: int = 20, redundancy: int = 5, right: float = 0.75
) -> tuple[pd.DataFrame, np.ndarray]:
    """Two labels; every worker is right with probability ``right``."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, tasks)
    who = np.concatenate([rng.choice(workers, redundancy, replace=False) for _ in range(tasks)])
    task = np.repeat(np.arange(tasks), redundancy)
    label = np.where(rng.random(len(task)) < right, truth[task], 1 - truth[task])
    return pd.DataFrame({"task": task, "worker": who, "label": label}), truth


def test_one_step_by_hand(small: pd.DataFrame) -> None:
    # shares: a = (2/3, 1/3), b = (0, 1); class shares (2/3 + 0, 1/3 + 1) / 2 = (1/3, 2/3)
    # w1, w2 answered x on a and y on b: P(x|x) = 1; P(x|y) = (1/3) / (1/3 + 1) = 1/4, P(y|y) = 3/4
    # w3 answered y twice: P(y|x) = P(y|y) = 1
    # a: x: 1/3 * 1 * 1 * 1 = 8/24;  y: 2/3 * 1/4 * 1/4 * 1 = 1/24  -> 8/9, 1/9
    # b: x: 0 (w1 never says y when it is x);  y: 2/3 * 3/4 * 3/4 * 1 = 3/8 -> 0, 1
    # log-likelihood: log(9/24) + log(3/8) = 2 log(3/8)
    model = DawidSkene(1, prior=0).fit(small)
    assert model.priors_.tolist() == pytest.approx([1 / 3, 2 / 3])
    assert model.errors_.loc[("w1", "x"), "y"] == pytest.approx(1 / 4)
    assert model.errors_.loc[("w3", "y"), "x"] == pytest.approx(1.0)
    assert model.probabilities_.to_numpy().tolist() == [pytest.approx([8 / 9, 1 / 9], abs=1e-9), [0.0, 1.0]]
    assert model.loss_history_ == [pytest.approx(2 * math.log(3 / 8))]
    # skill of w1: 1/3 * 1 + 2/3 * 3/4 = 5/6
    assert model.skills_["w1"] == pytest.approx(5 / 6)


def test_the_prior_adds_its_answers(small: pd.DataFrame) -> None:
    # w1, true label x: counts (2/3, 0) plus prior (2, 1): P(x|x) = (8/3) / (11/3) = 8/11
    # w1, true label y: counts (1/3, 1) plus prior (1, 2): P(x|y) = (4/3) / (13/3) = 4/13
    errors = DawidSkene(1, prior=6.0).fit(small).errors_
    assert errors.loc[("w1", "x"), "x"] == pytest.approx(8 / 11)
    assert errors.loc[("w1", "x"), "y"] == pytest.approx(4 / 13)


def test_the_objective_with_a_prior_adds_its_log_density(small: pd.DataFrame) -> None:
    model = DawidSkene(1, prior=6.0).fit(small)
    e = model.errors_.to_numpy().reshape(3, 2, 2)
    log_likelihood = sum(
        math.log(sum(model.priors_.iloc[k] * math.prod(e[w, said[w], k] for w in range(3)) for k in range(2)))
        for said in ((0, 0, 1), (1, 1, 1))
    )
    log_density = sum(2 * math.log(e[w, k, k]) + math.log(e[w, 1 - k, k]) for w in range(3) for k in range(2))
    # beside it one task of each label: the log density of Dirichlet(2, 2) at the label shares, up to a constant
    log_density += sum(math.log(share) for share in model.priors_)
    assert model.loss_history_[0] == pytest.approx(log_likelihood + log_density)


def test_error_columns_add_up_to_one() -> None:
    answers, _ = crowd(1)
    errors = DawidSkene().fit(answers).errors_
    assert errors.groupby(level="worker").sum().to_numpy() == pytest.approx(np.ones((20, 2)))


def test_error_matrices_are_found_again() -> None:
    # 20 workers with 1,000 answers each: the standard error of a rate near .75 from 500 answers is about .02;
    # a majority of five at .75 is right with .896 (three, four or five of five)
    answers, truth = crowd(2, tasks=4000)
    model = DawidSkene().fit(answers)
    assert (model.labels_.to_numpy() == truth).mean() > 0.88
    assert np.abs(model.skills_ - 0.75).max() < 0.08


def test_a_worker_who_always_lies_is_as_good_as_one_who_never_does() -> None:
    answers, truth = crowd(3, workers=5, right=0.9)
    liar = answers["worker"] == 0
    answers.loc[liar, "label"] = 1 - answers.loc[liar, "label"]
    assert (DawidSkene().fit_predict(answers).to_numpy() == truth).mean() > 0.97


def test_gold_teaches_the_error_matrices() -> None:
    # Two of three lie about every task: the majority is always wrong; gold on 30 of 200 tasks shows who lies.
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 200)
    said = {"liar1": 1 - truth, "liar2": 1 - truth, "honest": truth}
    answers = pd.concat([pd.DataFrame({"task": range(200), "worker": w, "label": x}) for w, x in said.items()])
    gold = dict(enumerate(truth[:30].tolist()))
    rest = slice(30, None)
    assert (DawidSkene().fit_predict(answers)[rest] == truth[rest]).mean() == 0.0
    assert (DawidSkene().fit_predict(answers, gold)[rest] == truth[rest]).mean() == 1.0


def test_gold_stays_clamped_against_all_answers(small: pd.DataFrame) -> None:
    model = DawidSkene().fit(small, {"b": "x"})
    assert model.probabilities_.loc["b"].tolist() == [1.0, 0.0]
    assert model.labels_["b"] == "x"
    assert model.counts_.gold_used == 1


def test_gold_of_a_label_that_nobody_gave_works_with_named_labels(small: pd.DataFrame) -> None:
    model = DawidSkene(prior=0).fit(small, {"b": "q"}, labels=["q", "x", "y"])
    assert model.labels_["b"] == "q"
    assert np.isfinite(model.loss_history_).all()


def test_a_named_label_that_nobody_gave_has_probability_zero(small: pd.DataFrame) -> None:
    assert (DawidSkene().fit_predict_proba(small, labels=["q", "x", "y"])["q"] == 0).all()


def test_one_class_is_certain() -> None:
    model = DawidSkene().fit(pd.DataFrame([("a", "u", "x"), ("b", "v", "x")], columns=COLUMNS))
    assert model.probabilities_.to_numpy().tolist() == [[1.0], [1.0]]
    assert model.ties_ == 0


@pytest.mark.parametrize("prior", [0.0, 6.0])
def test_one_worker_gives_his_answers_back(prior: float) -> None:
    said = ["x", "y", "y", "z"]
    answers = pd.DataFrame({"task": range(4), "worker": "w", "label": said})
    assert DawidSkene(prior=prior).fit_predict(answers).tolist() == said


def test_a_single_answer_is_the_label() -> None:
    model = DawidSkene().fit(pd.DataFrame([("a", "u", True)], columns=COLUMNS))
    assert model.labels_.to_dict() == {"a": True}
    assert model.converged_


def test_two_workers_who_always_differ_leave_ties() -> None:
    answers = pd.DataFrame(
        {"task": [*range(4), *range(4)], "worker": ["u"] * 4 + ["v"] * 4, "label": [0] * 4 + [1] * 4}
    )
    model = DawidSkene().fit(answers)
    assert model.tied_.all()
    assert model.labels_.tolist() == [0, 0, 0, 0]


def test_a_warm_start_ends_at_the_same_labels_sooner() -> None:
    answers, _ = crowd(5, tasks=600, right=0.65)
    first = DawidSkene().fit(answers[answers["task"] < 594])
    cold, warm = DawidSkene().fit(answers), DawidSkene().fit(answers, start=first)
    assert warm.n_iter_ < cold.n_iter_
    assert (warm.labels_ == cold.labels_).mean() > 0.99


def test_a_warm_start_from_the_end_stays_there() -> None:
    answers, _ = crowd(6)
    done = DawidSkene(1000, tol=1e-12).fit(answers)
    again = DawidSkene().fit(answers, start=done)
    assert again.n_iter_ == 2
    np.testing.assert_allclose(again.probabilities_, done.probabilities_, atol=1e-5)


def test_a_warm_start_sorts_workers_and_labels_by_name(small: pd.DataFrame) -> None:
    start = DawidSkene(1, prior=0).fit(small, labels=["y", "x"])
    tables = DawidSkene(1, prior=0).fit(small[small["worker"] != "w2"], start=start)
    expected = start.errors_.loc[("w1", "x"), "y"]
    assert tables.errors_.loc[("w1", "x"), "y"] == pytest.approx(expected)


def test_a_new_worker_starts_with_the_mean_matrix(small: pd.DataFrame) -> None:
    start = DawidSkene(1, prior=0).fit(small)
    new = pd.concat([small, pd.DataFrame([("a", "w9", "x")], columns=COLUMNS)])
    errors = DawidSkene(1, prior=0).fit(new, start=start).errors_
    # P(x|y): w1 1/4, w2 1/4, w3 0 -> 1/6
    assert errors.loc[("w9", "x"), "y"] == pytest.approx(1 / 6)


def test_an_unfitted_or_foreign_start_is_refused(small: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="start is not fitted"):
        DawidSkene().fit(small, start=DawidSkene())
    other = DawidSkene().fit(small.replace({"label": {"x": "q"}}))
    with pytest.raises(InputError, match="start was fitted on the labels \\['q', 'y'\\]"):
        DawidSkene().fit(small, start=other)


def test_stopping_early_is_said(small: pd.DataFrame) -> None:
    model = DawidSkene(1).fit(small)
    assert (model.n_iter_, model.converged_) == (1, False)
    assert any("Not converged after 1" in caution for caution in model.cautions)


def test_few_answers_per_worker_are_cautioned(small: pd.DataFrame) -> None:
    assert any("compare with majority vote" in caution for caution in DawidSkene().fit(small).cautions)
    assert DawidSkene().fit(crowd(7)[0]).cautions == ()


def test_the_automatic_prior_follows_labels_and_answers(small: pd.DataFrame) -> None:
    # 1.5 K^2 (1 + K / n): two labels, two answers a worker: 6 * 2
    assert DawidSkene().fit(small).prior_used_ == pytest.approx(12.0)
    assert DawidSkene(prior=6.0).fit(small).prior_used_ == 6.0
    with pytest.raises(ValueError, match="or 'auto'"):
        DawidSkene(prior="strong")  # type: ignore[arg-type]


def test_workers_with_one_answer_each_need_a_prior_that_follows_the_answers() -> None:
    # One answer teaches nothing about a worker: a weak prior falls behind a majority, the automatic does not.
    wins = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        truth = rng.choice(4, 300, p=[0.55, 0.15, 0.15, 0.15])
        task = np.repeat(np.arange(300), 3)
        label = np.where(rng.random(900) < 0.7, truth[task], rng.integers(0, 4, 900))
        answers = pd.DataFrame({"task": task, "worker": range(900), "label": label})
        right = [
            (m.fit_predict(answers) == truth).mean() for m in (MajorityVote(), DawidSkene(prior=6.0), DawidSkene())
        ]
        wins.append((right[0] - right[1], right[0] - right[2]))
    weak, automatic = np.mean(wins, axis=0)
    assert weak > 0.05
    assert automatic < 0.02


def test_too_many_labels_are_refused_before_memory_is_taken() -> None:
    answers = pd.DataFrame({"task": range(100_000), "worker": "w", "label": range(100_000)})
    with pytest.raises(ModelError, match="1 workers x 100,000 x 100,000 labels"):
        DawidSkene().fit(answers)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n_iter": 0}, "n_iter is 0"),
        ({"n_iter": 1.5}, "n_iter is 1.5"),
        ({"n_iter": True}, "n_iter is True"),
        ({"tol": -1.0}, "tol is -1.0"),
        ({"tol": float("nan")}, "tol is nan"),
        ({"prior": -1.0}, "prior is -1.0"),
        ({"prior": float("inf")}, "prior is inf"),
        ({"tie": "x"}, "tie is 'x'"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        DawidSkene(**arguments)  # type: ignore[arg-type]


def test_a_label_that_people_gave_and_no_item_got_is_a_caution() -> None:
    # Ten items, three workers: too few for error matrices; some such batch collapses to one label, and says so.
    collapsed = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        truth = rng.choice(["a", "b"], 10, p=[0.6, 0.4])
        rows = [
            (f"t{task}", f"w{worker}", label if rng.random() < 0.8 else {"a": "b", "b": "a"}[str(label)])
            for task, label in enumerate(truth)
            for worker in range(3)
        ]
        answers = pd.DataFrame(rows, columns=["task", "worker", "label"])
        model = DawidSkene().fit(answers)
        if model.labels_.nunique() == 1 and (answers["label"].value_counts(normalize=True) >= 0.15).all():
            collapsed.append(any("collapsed" in caution for caution in model.cautions))
    assert collapsed
    assert all(collapsed)


def test_a_small_batch_keeps_all_labels_that_were_given() -> None:
    # one worker of whom nothing is known: without tasks beside the real ones the label share of y would run to 0
    answers = pd.DataFrame([("a", "w", "x"), ("b", "w", "y"), ("c", "w", "x")], columns=COLUMNS)
    model = DawidSkene().fit(answers, labels=["x", "y", "z"])
    assert model.labels_.tolist() == ["x", "y", "x"]
    assert model.priors_["z"] == 0
    # y: about 1 of 3 real tasks, and 1 beside them, of 5
    assert 1 / 5 < model.priors_["y"] < 1 / 2


def test_small_batches_are_labelled_as_well_as_by_majority() -> None:
    # 400 batches of 6 tasks with 3 answers, the same for both; without the prior on label shares the default falls
    # behind the majority vote by .07
    rng = np.random.default_rng(0)
    right = np.zeros(2)
    for _ in range(400):
        truth, skill = rng.integers(0, 2, 6), rng.beta(4, 1.8, 4)
        rows = [
            (t, w, int(truth[t] ^ (rng.random() >= skill[w])))
            for t in range(6)
            for w in rng.choice(4, 3, replace=False)
        ]
        answers = pd.DataFrame(rows, columns=COLUMNS)
        labels = [model.fit_predict(answers, labels=[0, 1]) for model in (DawidSkene(), MajorityVote())]
        right += [(each == truth).mean() for each in labels]
    assert right[0] / 400 >= right[1] / 400 - 0.02


def test_a_label_that_comes_up_again_survives_a_warm_start() -> None:
    labels = ["x", "y"]
    first = DawidSkene().fit(pd.DataFrame([("a", "u", "x"), ("b", "v", "x")], columns=COLUMNS), labels=labels)
    more = pd.DataFrame([(f"t{t}", w, "y") for t in range(8) for w in ("u", "v")], columns=COLUMNS)
    model = DawidSkene().fit(more, labels=labels, start=first)
    assert (model.labels_ == "y").all()
    assert np.all(np.diff(model.loss_history_) >= 0)
