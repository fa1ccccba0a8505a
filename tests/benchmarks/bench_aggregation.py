"""How fast is aggregation, as a ratio to crowd-kit in the same run, at equal iterations?

Both sides start from the same frame of text, so coding the strings is part of our time. Times are processor time of the
process (the best of several for ours), since other work on the machine would change a ratio of wall times; compiled
loops run in one thread and are warm. Posteriors are compared with crowd-kit's, its clip of counts at 1e-10 put into
ours for that (`DawidSkene._trace`); crowd-kit's own clip of the result leaves 1e-10.

Run ``python -m tests.benchmarks.bench_aggregation [--large] [--huge] [--dask]``: ``--large`` adds 10^6 answers (two
minutes), ``--huge`` 10^7 with peak memory, in processes of their own (some ten minutes), ``--dask`` a cluster of two.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.aggregation import DaskEngine, DawidSkene, LocalEngine, MajorityVote
from hmc_crowd.aggregation._codes import encode
from hmc_crowd.aggregation._em import make_blocks
from hmc_crowd.aggregation._prior import prior_counts
from hmc_crowd.aggregation._start import first_tables

if TYPE_CHECKING:
    from collections.abc import Callable

ITERATIONS = 20


def simulated(n_answers: int, *, labels: int, redundancy: int = 5, seed: int = 0, text: bool = True) -> pd.DataFrame:
    """Answers of workers right with about .7, some 500 answers each, in mixed order."""
    rng = np.random.default_rng(seed)
    n_tasks, n_workers = n_answers // redundancy, max(2 * redundancy, n_answers // 500)
    task = np.repeat(np.arange(n_tasks), redundancy)
    stride = rng.integers(1, n_workers // redundancy, n_tasks).repeat(redundancy)
    first = rng.integers(0, n_workers, n_tasks).repeat(redundancy)
    worker = (first + stride * np.tile(np.arange(redundancy), n_tasks)) % n_workers
    truth = rng.integers(0, labels, n_tasks)[task]
    label = np.where(rng.random(len(task)) < 0.6, truth, rng.integers(0, labels, len(task)))
    order = rng.permutation(len(task))
    named = zip(("task", "worker", "label"), (("t", task), ("w", worker), ("label ", label)), strict=True)
    return pd.DataFrame({c: pd.Series(v[order]).astype(str).radd(p) if text else v[order] for c, (p, v) in named})


def best_of(call: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Return the shortest of several runs, in seconds of processor time, and the last result."""
    best, result = np.inf, None
    for _ in range(repeats):
        start = time.process_time()
        result = call()
        best = min(best, time.process_time() - start)
    return best, result


def ours(engine: str, iterations: int = ITERATIONS) -> DawidSkene:
    """Maximum likelihood with crowd-kit's clip, one thread."""
    model = DawidSkene(iterations, tol=0.0, prior=0, engine=LocalEngine(engine, threads=1))
    model._trace = 1e-10
    return model


def crowd_kit(answers: pd.DataFrame, iterations: int) -> Any:
    """Fit crowd-kit's Dawid-Skene with all of its iterations."""
    from crowdkit.aggregation import DawidSkene as Theirs

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Theirs(n_iter=iterations, tol=-1e18).fit(answers[["task", "worker", "label"]])


def furthest(model: DawidSkene, theirs: Any) -> float:
    """Return the largest difference of a posterior."""
    mine = model.probabilities_
    return float(np.abs(mine.to_numpy() - theirs.probas_.loc[mine.index, mine.columns].to_numpy()).max())


def compare(name: str, answers: pd.DataFrame, *, repeats: int, iterations: int = ITERATIONS) -> None:
    """Print one case of Dawid-Skene: each engine against crowd-kit."""
    n, k = len(answers), answers["label"].nunique()
    print(f"{name}: {n:,} answers, K={k}, {iterations} iterations", flush=True)
    slow, theirs = best_of(lambda: crowd_kit(answers, iterations), min(repeats, 2))
    for engine in ("numpy", "numba"):
        model = ours(engine, iterations)
        model.fit(answers)
        quick, _ = best_of(lambda: model.fit(answers), 3 * repeats)  # noqa: B023
        print(
            f"  {engine}: {slow / quick:6.1f}x crowd-kit ({slow:.3f} s / {quick:.4f} s), largest difference of a "
            f"posterior {furthest(model, theirs):.0e}",
            flush=True,
        )
    steps(answers, repeats=repeats)


def steps(answers: pd.DataFrame, *, repeats: int) -> None:
    """Print what coding costs, and an answer and iteration, beside one pass over the column of cells."""
    coding, coded = best_of(lambda: encode(answers), repeats)
    n, k = len(coded.cell), len(coded.labels)
    floor, _ = best_of(lambda: coded.cell.max(), 5)
    print(f"  coding {coding / n * 1e9:.0f} ns an answer; streaming floor {floor / n * 1e9:.2f} ns an answer")
    for engine in ("numpy", "numba"):
        session = LocalEngine(engine, threads=1).open(make_blocks(coded))
        tables = first_tables(session, prior_counts(k, strength=0.0))
        session.step(tables)
        step, _ = best_of(lambda: session.step(tables), 5)  # noqa: B023
        print(f"  {engine}: {step / n * 1e9:.1f} ns an answer and iteration", flush=True)


def compare_others(answers: pd.DataFrame, truth: pd.Series[Any]) -> None:
    """Print GLAD and MACE against crowd-kit, at the defaults of both."""
    from crowdkit import aggregation as kit

    from hmc_crowd import aggregation as house

    rng = np.random.default_rng(0)
    workers = answers["worker"].unique()
    renamed = answers.assign(worker=answers["worker"].map(dict(zip(workers, rng.permutation(workers), strict=True))))
    for name in ("GLAD", "MACE"):
        if not hasattr(house, name):
            print(f"{name}: not there yet")
            continue
        quick, labels = best_of(lambda: getattr(house, name)().fit_predict(answers), 3)  # noqa: B023
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            slow, theirs = best_of(lambda: getattr(kit, name)().fit_predict(answers), 1)  # noqa: B023
            again = getattr(kit, name)().fit_predict(renamed)
        mine, *others = (float((found.reindex(truth.index) == truth).mean()) for found in (labels, theirs, again))
        print(
            f"{name}: {slow / quick:.1f}x crowd-kit ({slow:.2f} s / {quick:.3f} s); accuracy {mine:.4f}, crowd-kit "
            f"{others[0]:.4f}, with workers renamed {others[1]:.4f}",
            flush=True,
        )


CHILD = """
import json, sys, time, threading, resource
import pandas as pd
from tests.benchmarks.bench_aggregation import crowd_kit, ours, resident
who, path, iterations = sys.argv[1], sys.argv[2], int(sys.argv[3])
answers = pd.read_parquet(path)
if who != "crowdkit":
    ours(who, 2).fit(answers.head(10_000))
else:
    crowd_kit(answers.head(10_000), 2)
before, most, done = resident(), [0], threading.Event()
def watch():
    while not done.wait(0.02):
        most[0] = max(most[0], resident())
watcher = threading.Thread(target=watch); watcher.start()
start = time.process_time()
found = crowd_kit(answers, iterations) if who == "crowdkit" else ours(who, iterations).fit(answers)
seconds = time.process_time() - start
done.set(); watcher.join()
labels = found.labels_.sort_index().astype(str)
print(json.dumps({"seconds": seconds, "before": before, "peak": most[0] - before,
                  "labels": int(pd.util.hash_pandas_object(labels).sum() % 2**53)}))
"""


def resident() -> int:
    """Return this process's resident bytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def child(who: str, path: Path, iterations: int) -> dict[str, Any]:
    """Measure one fit in a process of its own: seconds of processor time, and peak bytes above the data."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CHILD, who, str(path), str(iterations)],
        capture_output=True,
        text=True,
        check=True,
    )
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def huge(n: int) -> None:
    """Print time and peak memory of 10^7 answers, each side in its own process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.parquet"
        simulated(n, labels=2).to_parquet(path)
        print(f"simulated: {n:,} answers, K=2, {ITERATIONS} iterations, a process each", flush=True)
        found = {}
        for who in ("numba", "numpy", "crowdkit"):
            found[who] = child(who, path, ITERATIONS)
            print(
                f"  {who}: {found[who]['seconds']:.2f} s of processor time, peak {found[who]['peak'] / 2**20:,.0f} MiB "
                f"above the data of {found[who]['before'] / 2**20:,.0f} MiB",
                flush=True,
            )
        for who in ("numba", "numpy"):
            one, other = found[who], found["crowdkit"]
            print(
                f"  {who}: {other['seconds'] / one['seconds']:.1f}x crowd-kit, peak memory 1/"
                f"{other['peak'] / one['peak']:.1f}, labels {'equal' if one['labels'] == other['labels'] else 'DIFFER'}"
            )
        steps(pd.read_parquet(path), repeats=1)


def on_dask(n: int) -> None:
    """Print a cluster of two processes against this one, on eight Parquet files of whole tasks."""
    from distributed import Client, LocalCluster

    answers = simulated(n, labels=2)
    with tempfile.TemporaryDirectory() as folder:
        place = pd.util.hash_array(answers["task"].astype(object).to_numpy()) % np.uint64(8)
        for part in range(8):
            answers[place == part].to_parquet(Path(folder) / f"part-{part}.parquet", index=False)
        start = time.perf_counter()
        local = DawidSkene(ITERATIONS, tol=0.0, engine=LocalEngine("numba")).fit(answers)
        alone = time.perf_counter() - start
        del answers
        print(f"simulated: {n:,} answers, K=2, {ITERATIONS} iterations, two Dask workers, eight files", flush=True)
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            engine, moments = DaskEngine(client), []
            start = time.perf_counter()
            model = DawidSkene(ITERATIONS, tol=0.0, engine=engine)
            model.fit(folder, progress=lambda *_: moments.append(time.perf_counter()))
            whole = time.perf_counter() - start
            same = bool((model.labels_ == local.labels_).all())
            apart = float(np.abs(model.probabilities_.to_numpy() - local.probabilities_.to_numpy()).max())
            each = float(np.median(np.diff(moments)))
            small = simulated(10_000, labels=2)
            idle: list[float] = []
            DawidSkene(ITERATIONS, tol=0.0, engine=engine).fit(
                small, progress=lambda *_: idle.append(time.perf_counter())
            )
        print(f"  labels {'equal' if same else 'DIFFER'} local ones, largest difference of a posterior {apart:.0e}")
        print(f"  {whole:.1f} s in all against {alone:.1f} s here; {each * 1e3:.0f} ms an iteration, of which")
        print(f"  {np.median(np.diff(idle)) * 1e3:.0f} ms are Dask's (measured on 10,000 answers)")


def main() -> None:
    """Print every case asked for."""
    root = Path(os.environ.get("HMC_CROWD_DATA", Path(__file__).parents[3] / "shared" / "data")) / "crowd"
    asked = set(sys.argv[1:])
    for name in ("d_product", "s4_dog") if not asked & {"--only"} else ():
        if not (root / name).is_dir():
            print(f"{name}: no such data under {root}; set HMC_CROWD_DATA")
            continue
        answers = pd.read_csv(root / name / "answers.csv")
        compare(name, answers, repeats=5)
        if name == "d_product":
            compare(f"{name}, crowd-kit's default", answers, repeats=5, iterations=100)
        if name == "s4_dog":
            truth = pd.read_csv(root / name / "truth.csv").set_index("task")["label"]
            compare_others(answers, truth)
    if "--only" not in asked:
        votes, _ = best_of(lambda: MajorityVote().fit(answers), 3)
        print(f"majority vote of {len(answers):,} answers: {votes * 1e3:.1f} ms")
    if "--large" in asked:
        for labels in (2, 5):
            compare("simulated", simulated(1_000_000, labels=labels), repeats=1)
    if "--huge" in asked:
        huge(10_000_000)
    if "--dask" in asked:
        on_dask(10_000_000)


if __name__ == "__main__":
    main()
