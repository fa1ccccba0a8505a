"""What is said of workers: accuracy with its interval, spammer score, past counts, strata."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

from hmc_crowd.aggregation import IBCC, DawidSkene, OneCoinDawidSkene, WorkerHistory, spammer_score
from hmc_crowd.aggregation._codes import encode
from hmc_crowd.aggregation._skills import accuracy_of
from hmc_crowd.aggregation._votes import votes_of

COLUMNS = ["task", "worker", "label"]


def crowd(rng: np.random.Generator, *, k: int, redundancy: int, per_worker: int, one_coin: bool, tasks: int = 400):
    """Answers, and each worker's true accuracy under the true label shares."""
    workers = round(tasks * redundancy / per_worker)
    share = rng.dirichlet(np.full(k, 8.0))
    truth = rng.choice(k, tasks, p=share)
    skill = rng.beta(4, 1.5, workers)
    errors = np.empty((workers, k, k))  # worker, true, answered
    for worker in range(workers):
        for true in range(k):
            right = skill[worker] if one_coin else np.clip(skill[worker] + rng.normal(0, 0.1), 0.05, 0.99)
            off = np.full(k - 1, 1 / (k - 1)) if one_coin else rng.dirichlet(np.ones(k - 1))
            errors[worker, true] = np.insert(off * (1 - right), true, right)
    who = np.repeat(np.arange(workers), -(-tasks * redundancy // workers))[: tasks * redundancy]
    which = np.concatenate([rng.permutation(tasks) for _ in range(redundancy)])
    said = [rng.choice(k, p=errors[w, truth[t]]) for t, w in zip(which, who, strict=True)]
    answers = pd.DataFrame({"task": which, "worker": who, "label": said}).drop_duplicates(["task", "worker"])
    return answers, np.einsum("wkk,k->w", errors, share)


def coverage(seed: int, runs: int, makers: list) -> np.ndarray:
    """Share of intervals that hold the true accuracy, of workers with 20 answers or more; one row a design."""
    rng = np.random.default_rng(seed)
    designs = [(2, 3, 30, True), (2, 5, 30, False), (2, 5, 100, False), (4, 3, 30, False), (4, 5, 100, False)]
    found = []
    for k, redundancy, per_worker, one_coin in designs:
        hits = [[] for _ in makers]
        for _ in range(runs):
            answers, true = crowd(rng, k=k, redundancy=redundancy, per_worker=per_worker, one_coin=one_coin)
            for place, make in enumerate(makers):
                table = make().fit(answers, labels=range(k)).workers_
                table = table[table["n_answers"] >= 20]
                accuracy = true[table["worker"]]
                hits[place].append(((table["low"] <= accuracy) & (accuracy <= table["high"])).mean())
        found.append([float(np.mean(one)) for one in hits])
    return np.array(found)


def test_worker_intervals_cover() -> None:
    # 5 designs x 4 runs x some 40 workers: Monte Carlo error about .008 over all designs
    found = coverage(1, 4, [DawidSkene])
    assert 0.93 <= found.mean() <= 0.97


@pytest.mark.slow
def test_worker_intervals_cover_in_every_design() -> None:
    # some 40 workers x 40 runs a design: Monte Carlo error about .006
    found = coverage(2, 40, [DawidSkene, OneCoinDawidSkene])
    assert (np.abs(found[:, 0] - 0.95) <= 0.02 + 0.012).all(), found
    assert 0.93 <= found[:, 0].mean() <= 0.97
    assert 0.93 <= found[[0], 1].mean() <= 0.975, found  # one-coin, where it is true


def test_intervals_with_all_truths_known_are_jeffreys() -> None:
    # w is right 3 times of 4
    answers = pd.DataFrame([(t, "w", 1 if t < 3 else 0) for t in range(4)], columns=COLUMNS)
    row = DawidSkene().fit(answers, dict.fromkeys(range(4), 1)).workers_.iloc[0]
    assert (row["accuracy"], row["low"]) == (0.75, pytest.approx(beta.ppf(0.025, 3.5, 1.5)))
    assert row["high"] == pytest.approx(beta.ppf(0.975, 3.5, 1.5))


def test_doubt_about_the_truth_widens_the_interval() -> None:
    # Louis: 4 answers, each right with .9 or .5: n - sum q(1-q) / (p (1-p))
    answers = pd.DataFrame([(t, "w", 0) for t in range(4)], columns=COLUMNS)
    coded = encode(answers, labels=[0, 1])
    posterior = np.array([[0.9, 0.1], [0.9, 0.1], [0.5, 0.5], [0.5, 0.5]])
    found = accuracy_of(votes_of(coded), posterior)
    # p = .7; sum q (1 - q) = .09 + .09 + .25 + .25 = .68; 4 - .68 / .21
    assert found.value[0] == pytest.approx(0.7)
    assert found.effective[0] == pytest.approx(4 - 0.68 / 0.21)


def test_spammer_score_of_two_labels_is_youden_squared() -> None:
    # sensitivity .9, specificity .7: (.9 + .7 - 1)^2
    assert spammer_score(np.array([[[0.7, 0.1], [0.3, 0.9]]])).tolist() == pytest.approx([0.36])


def test_spammer_score_stands_in_the_worker_table() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 100)
    rows = [(t, w, int(truth[t] ^ (rng.random() < 0.1))) for t in range(100) for w in "abcd"]
    rows += [(t, "spam", int(rng.random() < 0.5)) for t in range(100)]
    for model in (DawidSkene(), IBCC()):
        table = model.fit(pd.DataFrame(rows, columns=COLUMNS)).workers_.set_index("worker")
        assert table["spammer_score"]["spam"] < 0.1 < 0.4 < table["spammer_score"]["a"]


def test_history_survives_json_and_adds_up() -> None:
    answers = pd.DataFrame([(t, w, t % 2) for t in range(8) for w in ("u", "v")], columns=COLUMNS)
    history = DawidSkene().fit(answers).history_
    assert WorkerHistory.from_dict(json.loads(json.dumps(history.to_dict()))) == history
    assert history.table["count"].sum() == pytest.approx(16, abs=1e-3)
    assert history.add(history).table["count"].sum() == pytest.approx(32, abs=1e-3)


def test_two_batches_with_history_are_nearly_one() -> None:
    # what the first batch taught of workers reaches the second
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 300)
    lie = {"a": 0.05, "b": 0.1, "c": 0.45, "d": 0.45, "e": 0.45}
    rows = [(t, w, int(truth[t] ^ (rng.random() < p))) for t in range(300) for w, p in lie.items()]
    answers = pd.DataFrame(rows, columns=COLUMNS)
    first, second = answers[answers["task"] < 280], answers[answers["task"] >= 280]
    known = DawidSkene().fit(second, history=DawidSkene().fit(first).history_)
    assert (known.labels_ == truth[280:]).mean() >= 0.9
    assert known.skills_.rank().tolist()[:2] == pytest.approx([5, 4])


def test_history_outside_the_labels_is_refused_and_strangers_ignored(small: pd.DataFrame) -> None:
    table = pd.DataFrame([("w1", "x", "q", 1.0)], columns=["worker", "label", "truth", "count"])
    with pytest.raises(ValueError, match="history has labels outside"):
        DawidSkene().fit(small, history=table)
    stranger = table.assign(worker="nobody", truth="x")
    one, two = DawidSkene().fit(small, history=stranger), DawidSkene().fit(small)
    assert one.probabilities_.equals(two.probabilities_)
    with pytest.raises(ValueError, match="at least 0"):
        WorkerHistory(table.assign(count=-1.0))


def two_strata(rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray, dict]:
    """Audit items: 3% are 1. Routed items: 50% are 1, and harder."""
    stratum = np.repeat(["audit", "routed"], [600, 300])
    truth = np.where(stratum == "audit", rng.random(900) < 0.03, rng.random(900) < 0.5).astype(int)
    wrong = np.where(stratum == "audit", 0.1, 0.15)
    rows = [
        (t, f"w{w}", int(truth[t] ^ (rng.random() < wrong[t]))) for t in range(900) for w in rng.choice(8, 3, False)
    ]
    return pd.DataFrame(rows, columns=COLUMNS), truth, dict(enumerate(stratum.tolist()))


def test_strata_have_shares_and_skills_of_their_own() -> None:
    answers, truth, strata = two_strata(np.random.default_rng(3))
    plain, model = DawidSkene().fit(answers), DawidSkene().fit(answers, strata=strata)
    assert model.stratum_priors_ is not None
    assert model.stratum_skills_ is not None
    assert model.stratum_priors_[1].tolist() == pytest.approx([0.03, 0.5], abs=0.08)
    assert model.stratum_skills_["audit"].mean() > model.stratum_skills_["routed"].mean()
    right = [(one.labels_ == truth).mean() for one in (plain, model)]
    assert right[1] >= right[0]
    assert (np.diff(model.loss_history_) >= -1e-6).all()


def test_a_column_may_name_the_strata_and_every_task_needs_one() -> None:
    answers, _, strata = two_strata(np.random.default_rng(3))
    column = answers.assign(stratum=answers["task"].map(strata))
    one, two = DawidSkene().fit(answers, strata=strata), DawidSkene().fit(column, strata="stratum")
    assert one.probabilities_.equals(two.probabilities_)
    with pytest.raises(ValueError, match="no stratum for 899 tasks"):
        DawidSkene().fit(answers, strata={0: "audit"})


def test_one_stratum_is_the_pooled_fit_seen_twice(small: pd.DataFrame) -> None:
    model = DawidSkene().fit(small, strata=dict.fromkeys("ab", "all"))
    assert model.labels_.equals(DawidSkene().fit(small).labels_)
