"""On a Dask cluster: partitions give what one process gives, wherever a task's answers lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.aggregation import DaskEngine, DawidSkene, aggregate
from hmc_crowd.aggregation._partitions import code_partition, cut, files_of, joined_names, survey
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster, set_as_default=False) as opened,
    ):
        yield opened


@pytest.fixture(scope="module")
def answers() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    task, worker = np.nonzero(rng.random((400, 15)) < 0.3)
    truth = rng.integers(0, 3, 400)
    label = np.where(rng.random(len(task)) < 0.7, truth[task], rng.integers(0, 3, len(task)))
    frame = pd.DataFrame({"task": task, "worker": worker, "label": label}).astype(str)
    frame["task"] = "t" + frame["task"]
    return frame


def written(frame: pd.DataFrame, folder: Path, *, by_task: bool, parts: int = 4) -> Path:
    """Parquet files in which a task lies in one file, or anywhere."""
    place = pd.util.hash_array(frame["task"].astype(object).to_numpy()) if by_task else np.arange(len(frame))
    for part in range(parts):
        frame[place % parts == part].to_parquet(folder / f"part-{part}.parquet", index=False)
    return folder


def same(one: DawidSkene, two: DawidSkene) -> None:
    assert one.labels_.equals(two.labels_)
    np.testing.assert_allclose(one.probabilities_, two.probabilities_, atol=1e-9)
    assert one.counts_ == two.counts_
    assert one.n_answers_.equals(two.n_answers_)
    assert one.workers_["n_answers"].tolist() == two.workers_["n_answers"].tolist()


@pytest.mark.parametrize("by_task", [True, False])
@pytest.mark.parametrize("with_gold", [False, True])
def test_partitions_give_what_one_process_gives(
    client: Any, answers: pd.DataFrame, tmp_path: Path, by_task: bool, with_gold: bool
) -> None:
    gold = {"t1": "0", "t2": "1", "t3": "2", "elsewhere": "0"} if with_gold else None
    path = written(answers, tmp_path, by_task=by_task)
    same(DawidSkene(engine=DaskEngine(client)).fit(path, gold), DawidSkene(engine="numpy").fit(answers, gold))


def test_four_shards_merged_equal_one_run(client: Any, answers: pd.DataFrame, tmp_path: Path) -> None:
    four = DawidSkene(engine=DaskEngine(client)).fit(written(answers, tmp_path, by_task=True))
    one_file = tmp_path / "all"
    one_file.mkdir()
    answers.to_parquet(one_file / "all.parquet")
    same(four, DawidSkene(engine=DaskEngine(client)).fit(str(one_file / "all.parquet")))


def test_a_frame_is_dealt_to_the_cluster(client: Any, answers: pd.DataFrame) -> None:
    same(DawidSkene(engine=DaskEngine(client)).fit(answers), DawidSkene(engine="numpy").fit(answers))


def test_a_dask_frame_is_taken_as_it_lies(client: Any, answers: pd.DataFrame) -> None:
    frames = pytest.importorskip("dask.dataframe")
    spread = frames.from_pandas(answers, npartitions=3)
    one, two = DawidSkene(engine=DaskEngine(client)).fit(spread), DawidSkene(engine="numpy").fit(answers)
    # Dask has a text type of its own
    assert one.labels_.to_dict() == two.labels_.to_dict()
    np.testing.assert_allclose(one.probabilities_, two.probabilities_, atol=1e-9)


@pytest.mark.parametrize("kernel", ["numpy", "numba"])
def test_workers_may_compile(client: Any, answers: pd.DataFrame, tmp_path: Path, kernel: str) -> None:
    if kernel == "numba":
        pytest.importorskip("numba")
    path = written(answers, tmp_path, by_task=True)
    engine = DaskEngine(client, kernel=kernel)
    same(DawidSkene(engine=engine).fit(path), DawidSkene(engine="numpy").fit(answers))


def test_missing_labels_are_left_out_wherever_they_lie(client: Any, answers: pd.DataFrame, tmp_path: Path) -> None:
    holes = answers.copy()
    holes.loc[holes["task"].isin(["t5", "t6"]) | (holes.index % 7 == 0), "label"] = None
    holes.iloc[:50, 2] = None
    for by_task in (True, False):
        folder = tmp_path / str(by_task)
        folder.mkdir()
        path = written(holes, folder, by_task=by_task)
        one, two = DawidSkene(engine=DaskEngine(client)).fit(path), DawidSkene(engine="numpy").fit(holes)
        same(one, two)
        assert one.tasks_without_label_.tolist() == two.tasks_without_label_.tolist()


def test_the_address_of_a_scheduler_will_do(client: Any, answers: pd.DataFrame) -> None:
    with DaskEngine(client.scheduler.address) as engine:
        same(DawidSkene(engine=engine).fit(answers), DawidSkene(engine="numpy").fit(answers))


def test_aggregate_takes_a_client(client: Any, answers: pd.DataFrame, tmp_path: Path) -> None:
    path = written(answers, tmp_path, by_task=True)
    result = aggregate(path, engine="dask", client=client)  # type: ignore[arg-type]
    assert result.frame["label"].tolist() == aggregate(answers).frame["label"].tolist()


def test_without_a_client_the_next_step_is_named(answers: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="no open Dask client; open one, or name the scheduler"):
        DawidSkene(engine="dask").fit(answers)


def test_paths_without_answers_are_refused(client: Any, tmp_path: Path) -> None:
    model = DawidSkene(engine=DaskEngine(client))
    with pytest.raises(InputError, match="does not exist; give a Parquet file"):
        model.fit(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"holds no \.parquet file"):
        model.fit(tmp_path)
    with pytest.raises(FrameError, match="answers is a list; give a frame"):
        model.fit([1, 2])  # type: ignore[arg-type]


def test_partitions_of_different_kinds_are_refused(client: Any, answers: pd.DataFrame, tmp_path: Path) -> None:
    written(answers, tmp_path, by_task=True, parts=2)
    answers.head(20).assign(worker=range(20), task="new").to_parquet(tmp_path / "odd.parquet")
    with pytest.raises(FrameError, match=r"answers\.worker is .* in one partition and"):
        DawidSkene(engine=DaskEngine(client)).fit(tmp_path)


def test_an_error_of_one_partition_reaches_the_user(client: Any, answers: pd.DataFrame, tmp_path: Path) -> None:
    path = written(answers, tmp_path, by_task=True)
    with pytest.raises(FrameError, match="outside labels="):
        DawidSkene(engine=DaskEngine(client)).fit(path, labels=["0", "1"])


def test_pieces_bring_a_task_together(answers: pd.DataFrame) -> None:
    halves = answers.iloc[::2], answers.iloc[1::2]
    dealt = [cut(half, 3) for half in halves]
    tasks = [set(pd.concat([part[piece] for part in dealt])["task"]) for piece in range(3)]
    assert sum(map(len, tasks)) == answers["task"].nunique()
    assert sum(len(piece) for part in dealt for piece in part) == len(answers)


def test_a_partition_is_coded_by_the_names_of_all() -> None:
    frame = pd.DataFrame({"task": ["b"], "worker": ["w2"], "label": ["y"]})
    workers, labels = pd.Index(["w1", "w2"]), pd.Index(["x", "y"])
    block, part = code_partition(frame, workers=workers, labels=labels, gold=None, repeats="latest")
    # worker 1 of (0, 1), label 1 of 2: cell 1 * 2 + 1
    assert block.cell.tolist() == [3]
    assert part.worker_answers.tolist() == [0, 1]


def test_hidden_files_of_a_folder_are_no_partitions(tmp_path: Path) -> None:
    frame = pd.DataFrame({"task": ["b"], "worker": ["w2"], "label": ["y"]})
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_parquet(tmp_path / "_metadata.parquet")
    assert files_of(tmp_path) == [str(tmp_path / "a.parquet")]


def test_names_of_all_partitions_are_sorted_once() -> None:
    found = [survey(pd.DataFrame({"task": ["a"], "worker": [w], "label": ["x"]})).workers for w in ("z", "b", "z")]
    assert joined_names(found, name="answers.worker").tolist() == ["b", "z"]


@pytest.mark.parametrize("more", [{"weights": "trust"}, {"strata": "why"}, {"strata": {"t0": "x"}}])
def test_what_needs_the_answers_here_is_refused_where_they_lie_elsewhere(
    client: Any, answers: pd.DataFrame, tmp_path: Path, more: dict[str, Any]
) -> None:
    folder = written(answers, tmp_path, by_task=True)
    with pytest.raises(InputError, match="weights and strata need the answers in this process"):
        DawidSkene(engine=DaskEngine(client)).fit(folder, **more)  # type: ignore[arg-type]


def test_aspects_in_different_partitions_are_not_mixed(client: Any, answers: pd.DataFrame, tmp_path: Path) -> None:
    half = answers["task"] < "t2"
    answers[half].assign(aspect="tone").to_parquet(tmp_path / "one.parquet")
    answers[~half].assign(aspect="facts").to_parquet(tmp_path / "two.parquet")
    with pytest.raises(FrameError, match="aspects 'facts', 'tone'; aggregate one"):
        DawidSkene(engine=DaskEngine(client)).fit(str(tmp_path))  # type: ignore[arg-type]
