"""How fast is aggregation, as a ratio to a straightforward pandas version in the same run?

The reference is written here, in the usual manner of data-frame code: merge, groupby, sum in every iteration. crowd-kit
is not a dependency of this project and is not what is timed; its code is of the same kind. Both sides start from the
frame of text, so that coding the strings is part of our time. Run ``python tests/benchmarks/bench_aggregation.py
[--large]``; ``--large`` adds 10^6 answers with two and five labels (some minutes, nearly all of it the reference).
"""

from __future__ import annotations

import os
import sys
import time
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.aggregation import DawidSkene, MajorityVote
from hmc_crowd.aggregation._codes import encode
from hmc_crowd.aggregation._em import make_blocks
from hmc_crowd.aggregation._prior import prior_counts
from hmc_crowd.aggregation._start import first_tables

if TYPE_CHECKING:
    from collections.abc import Callable

ITERATIONS = 20


def pandas_majority(answers: pd.DataFrame) -> pd.Series:
    """Votes by groupby, a wide table, the first largest column."""
    return answers.groupby(["task", "label"]).size().unstack(fill_value=0).idxmax(axis=1)


def pandas_dawid_skene(answers: pd.DataFrame, iterations: int) -> pd.DataFrame:
    """Maximum likelihood from vote shares; one merge and one groupby for each half of an iteration."""
    votes = answers.groupby(["task", "label"]).size().unstack(fill_value=0)
    probabilities = votes.div(votes.sum(axis=1), axis=0)
    for _ in range(iterations):
        joined = answers.join(probabilities, on="task")
        errors = joined.groupby(["worker", "label"])[list(probabilities.columns)].sum()
        errors = errors.div(errors.groupby("worker").sum(), level="worker").fillna(1 / probabilities.shape[1])
        with np.errstate(divide="ignore"):
            log_errors, log_prior = np.log(errors), np.log(probabilities.mean())
        scored = answers.join(log_errors, on=["worker", "label"])
        joint = scored.groupby("task")[list(probabilities.columns)].sum() + log_prior
        joint = np.exp(joint.sub(joint.max(axis=1), axis=0))
        probabilities = joint.div(joint.sum(axis=1), axis=0)
    return probabilities


def simulated(n_answers: int, *, labels: int, redundancy: int = 5, seed: int = 0) -> pd.DataFrame:
    """Text answers of workers right with about .7, some 500 answers each."""
    rng = np.random.default_rng(seed)
    n_tasks, n_workers = n_answers // redundancy, max(2 * redundancy, n_answers // 500)
    task = np.repeat(np.arange(n_tasks), redundancy)
    stride = rng.integers(1, n_workers // redundancy, n_tasks).repeat(redundancy)
    first = rng.integers(0, n_workers, n_tasks).repeat(redundancy)
    worker = (first + stride * np.tile(np.arange(redundancy), n_tasks)) % n_workers
    truth = rng.integers(0, labels, n_tasks)[task]
    label = np.where(rng.random(len(task)) < 0.6, truth, rng.integers(0, labels, len(task)))
    order = rng.permutation(len(task))
    names = ("t", task), ("w", worker), ("label ", label)
    columns = zip(("task", "worker", "label"), names, strict=True)
    return pd.DataFrame({c: pd.Series(v[order]).astype(str).radd(p) for c, (p, v) in columns})


def best_of(call: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Return the shortest of several runs, in seconds of processor time, and the last result.

    Processor time, because both sides use one thread and other work on the machine would change the ratio.
    """
    best, result = np.inf, None
    for _ in range(repeats):
        start = time.process_time()
        result = call()
        best = min(best, time.process_time() - start)
    return best, result


def peak(call: Callable[[], Any]) -> int:
    """Return the most bytes allocated during a call."""
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def compare(name: str, answers: pd.DataFrame, *, repeats: int) -> None:
    """Print one case: Dawid-Skene and majority, ours against the reference."""
    n, k = len(answers), answers["label"].nunique()
    model = DawidSkene(ITERATIONS, tol=0.0, prior=0)
    ours, posterior = best_of(lambda: model.fit_predict_proba(answers), max(repeats, 3))
    theirs, reference = best_of(lambda: pandas_dawid_skene(answers, ITERATIONS), repeats)
    furthest = float(np.abs(posterior.to_numpy() - reference.loc[posterior.index].to_numpy()).max())
    print(f"{name}: {n:,} answers, K={k}")
    print(f"  Dawid-Skene, {model.n_iter_} iterations: {theirs / ours:6.1f}x pandas   ({theirs:.3f} s / {ours:.3f} s)")
    print(f"    largest difference of a posterior: {furthest:.1e}")
    quick, _ = best_of(lambda: MajorityVote().fit(answers), max(repeats, 3))
    slow, _ = best_of(lambda: pandas_majority(answers), repeats)
    print(f"  majority vote (with skills, ties, counts): {slow / quick:.2f}x pandas   ({slow:.3f} s / {quick:.3f} s)")
    coding, coded = best_of(lambda: encode(answers), max(repeats, 3))
    blocks = make_blocks(coded)
    tables = first_tables(blocks, prior_counts(k, strength=0.0))
    step, _ = best_of(lambda: map_blocks_serially(blocks, tables), 5)
    column = coded.worker.astype(float)
    floor, _ = best_of(column.sum, 5)
    print(f"  coding {coding / ours:.0%} of our time; an iteration {step / n * 1e9:.1f} ns an answer", end="")
    print(f" = {step / floor:.0f}x one pass over one column")
    mine, other = peak(lambda: model.fit(answers)), peak(lambda: pandas_dawid_skene(answers, 2))
    print(
        f"  peak memory above the data: 1/{other / mine:.1f} of pandas' ({mine / 2**20:.0f} / {other / 2**20:.0f} MiB)"
    )


def main() -> None:
    """Print every case."""
    root = Path(os.environ.get("HMC_CROWD_DATA", Path(__file__).parents[3] / "shared" / "data")) / "crowd"
    for name in ("d_product", "s4_dog"):
        if (root / name).is_dir():
            compare(name, pd.read_csv(root / name / "answers.csv"), repeats=2)
        else:
            print(f"{name}: no such data under {root}; set HMC_CROWD_DATA")
    compare("simulated", simulated(100_000, labels=2), repeats=2)
    if "--large" in sys.argv[1:]:
        for labels in (2, 5):
            compare("simulated", simulated(1_000_000, labels=labels), repeats=1)


if __name__ == "__main__":
    main()
