"""Engines: whatever computes, the same labels and posteriors; and a small job waits for no compiler."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmc_crowd.aggregation import DawidSkene, LocalEngine, aggregate
from hmc_crowd.aggregation._codes import encode
from hmc_crowd.aggregation._em import expectation_maximisation, make_blocks
from hmc_crowd.aggregation._jit import _kept, compiled, has_numba
from hmc_crowd.aggregation._kernels import step_two
from hmc_crowd.aggregation._prior import prior_counts
from hmc_crowd.aggregation._start import first_tables
from hmc_crowd.errors import InputError

needs_numba = pytest.mark.skipif(not has_numba(), reason="numba is not installed")


def crowd(seed: int, *, labels: int, tasks: int = 300, workers: int = 12) -> tuple[pd.DataFrame, dict[int, int]]:
    """Answers of workers of mixed skill, and the truth of some tasks."""
    rng = np.random.default_rng(seed)
    task, worker = np.nonzero(rng.random((tasks, workers)) < 0.4)
    truth = rng.integers(0, labels, tasks)
    skill = rng.uniform(0.3, 0.95, workers)
    label = np.where(rng.random(len(task)) < skill[worker], truth[task], rng.integers(0, labels, len(task)))
    answers = pd.DataFrame({"task": task, "worker": worker, "label": label})
    return answers, {int(t): int(truth[t]) for t in np.unique(task)[::15]}


@needs_numba
@pytest.mark.parametrize("labels", [1, 2, 3, 5, 8, 11])
@pytest.mark.parametrize("prior", [0.0, 6.0])
@pytest.mark.parametrize("with_gold", [False, True])
def test_numba_gives_what_numpy_gives(labels: int, prior: float, with_gold: bool) -> None:
    answers, truth = crowd(labels, labels=labels)
    gold = truth if with_gold else None
    one, two = (
        DawidSkene(prior=prior, engine=name).fit(answers, gold, labels=range(labels)) for name in ("numpy", "numba")
    )
    np.testing.assert_allclose(one.probabilities_, two.probabilities_, atol=1e-9)
    assert one.labels_.equals(two.labels_)
    assert one.n_iter_ == two.n_iter_
    np.testing.assert_allclose(one.loss_history_, two.loss_history_, rtol=1e-10)
    np.testing.assert_allclose(one.errors_, two.errors_, atol=1e-9)


@needs_numba
# The same tables in each run: where a climb without a prior is nearly flat, the last digit of a gain decides whether it
# stops a step earlier, and chances of a millionth differ in their second digit.
@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    rows=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=30),
    prior=st.sampled_from([0.0, 3.0]),
)
def test_engines_agree_on_any_small_table(rows: list[tuple[int, int, int]], prior: float) -> None:
    answers = pd.DataFrame(rows, columns=["task", "worker", "label"]).drop_duplicates(["task", "worker"])
    one, two = (DawidSkene(prior=prior, engine=name).fit(answers) for name in ("numpy", "numba"))
    np.testing.assert_allclose(one.probabilities_, two.probabilities_, atol=1e-9)
    assert one.labels_.equals(two.labels_)
    assert one.tied_.equals(two.tied_)


@needs_numba
@pytest.mark.parametrize("labels", [2, 4])
def test_the_number_of_threads_changes_no_bit(labels: int) -> None:
    coded = encode(crowd(1, labels=labels, tasks=3000, workers=4)[0])
    pseudo = prior_counts(labels, strength=6.0)
    fits = []
    for threads in (1, 3):
        session = LocalEngine("numba", threads=threads).open(make_blocks(coded, block_answers=500))
        fits.append(expectation_maximisation(session, first_tables(session, pseudo), pseudo=pseudo, n_iter=30, tol=0.0))
    np.testing.assert_array_equal(fits[0].posterior, fits[1].posterior)
    assert fits[0].history == fits[1].history


@needs_numba
def test_a_warm_start_runs_on_any_engine() -> None:
    answers, _ = crowd(3, labels=3)
    first = DawidSkene(engine="numpy").fit(answers)
    again = [DawidSkene(engine=name).fit(answers, start=first) for name in ("numpy", "numba")]
    np.testing.assert_allclose(again[0].probabilities_, again[1].probabilities_, atol=1e-9)
    assert again[0].n_iter_ == again[1].n_iter_ < first.n_iter_


def test_small_jobs_never_load_the_compiler() -> None:
    code = (
        "import sys, pandas as pd; from hmc_crowd.aggregation import DawidSkene;"
        "DawidSkene().fit(pd.DataFrame({'task': [1, 1], 'worker': [1, 2], 'label': [0, 0]}));"
        "print([m for m in ('numba', 'dask', 'distributed', 'crowdkit') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_auto_compiles_for_large_jobs_only() -> None:
    assert not LocalEngine("auto").compiles(100_000)
    assert LocalEngine("auto").compiles(10_000_000) == has_numba()
    assert not LocalEngine("numpy").compiles(10_000_000)


@needs_numba
def test_machine_code_is_kept_outside_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import hmc_crowd

    code = (
        "import pandas as pd; from hmc_crowd.aggregation import DawidSkene;"
        "DawidSkene(engine='numba').fit(pd.DataFrame({'task': [1, 1], 'worker': [1, 2], 'label': [0, 1]}))"
    )
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    subprocess.run([sys.executable, "-c", code], check=True)
    assert list((tmp_path / "hmc-crowd" / "numba").rglob("*.nbi"))
    assert not list(Path(next(iter(hmc_crowd.__path__))).rglob("*.nb[ic]"))


@needs_numba
def test_threads_that_compile_at_once_keep_to_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import numba

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.chdir(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: _kept(numba, step_two), range(200)))
    folders = {Path(one._cache._impl.locator.get_cache_path()).is_absolute() for one in made}
    assert folders == {True}
    assert numba.config.CACHE_DIR == ""


@needs_numba
def test_without_a_folder_to_write_to_it_still_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr("hmc_crowd.aggregation._jit._kept", refuse)
    compiled.cache_clear()
    try:
        assert compiled(step_two).py_func is step_two
    finally:
        compiled.cache_clear()


@pytest.mark.parametrize("engine", ["cuda", 3, LocalEngine, None])
def test_an_unknown_engine_is_refused(engine: object) -> None:
    with pytest.raises(InputError, match="engine is"):
        DawidSkene(engine=engine)  # type: ignore[arg-type]


@pytest.mark.parametrize("threads", [0, True, 1.5])
def test_a_wrong_number_of_threads_is_refused(threads: object) -> None:
    with pytest.raises(InputError, match="threads is"):
        LocalEngine("numba", threads=threads)  # type: ignore[arg-type]


def test_aggregate_takes_an_engine_and_tells_progress(small: pd.DataFrame) -> None:
    told: list[tuple[str, int, int]] = []
    result = aggregate(small, engine="numpy", progress=lambda *step: told.append(step))
    assert result.n_iter == len(told) > 0


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"method": "majority", "engine": "numpy"}, "engine goes with method='dawid_skene'"),
        ({"method": DawidSkene(), "engine": "numpy"}, "not with an estimator"),
        ({"client": "tcp://x:1"}, "client goes with engine='dask'"),
    ],
)
def test_an_engine_that_would_not_be_used_is_refused(small: pd.DataFrame, more: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        aggregate(small, **more)  # type: ignore[arg-type]
