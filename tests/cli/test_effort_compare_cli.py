"""hmc-crowd effort compare, and the kind log_time at the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.cli import main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def times(tmp_path_factory: Any) -> Path:
    """Sixty rows of twelve workers; the first column says everything, the second nothing."""
    draw = np.random.default_rng(1)
    turns = draw.integers(2, 11, 60).astype(float)
    frame = pd.DataFrame({"turns": turns, "noise": draw.normal(size=60), "who": np.arange(60) % 12})
    frame["seconds"] = (20 + 6 * turns) * draw.lognormal(0, 0.1, 60)
    path = tmp_path_factory.mktemp("times") / "times.csv"
    frame.to_csv(path, index=False)
    return path


def call(capsys: Any, *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as done:
        main([str(each) for each in arguments])
    said = capsys.readouterr()
    return int(done.value.code or 0), said.out, said.err


def test_a_kind_is_not_better_than_itself(times: Path, capsys: Any) -> None:
    both = ("--champion", "random_forest", "--challenger", "random_forest", "--folds", 2)
    code, out, _ = call(capsys, "effort", "compare", times, "--groups", "who", *both, "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["change"], found["better"], found["n_workers"]) == (0, False, 12)


def test_it_says_which_is_better(times: Path, capsys: Any) -> None:
    code, out, _ = call(capsys, "effort", "compare", times, "--groups", "who", "--folds", 2)
    assert code == 0
    assert "the challenger is" in out
    assert "champion" in out


def test_an_unknown_kind_is_refused_by_name(times: Path, capsys: Any) -> None:
    code, _, err = call(capsys, "effort", "compare", times, "--challenger", "oracle")
    assert code == 2
    assert "kind is 'oracle'" in err


def test_the_kind_log_time_is_evaluated(times: Path, capsys: Any) -> None:
    code, out, _ = call(
        capsys, "effort", "evaluate", times, "--groups", "who", "--kind", "log_time", "--folds", 2, "--json"
    )
    assert code == 0
    assert json.loads(out)["pooled"]["n"] == 60


def test_work_that_was_cut_off_is_a_bound_for_log_time_alone(times: Path, tmp_path: Path, capsys: Any) -> None:
    frame = pd.read_csv(times)
    limit = frame["seconds"].quantile(0.8)
    frame["done"] = np.where(frame["seconds"] <= limit, "yes", "no")
    frame.assign(seconds=frame["seconds"].clip(upper=limit)).to_csv(tmp_path / "cut.csv", index=False)
    asked = ("effort", "evaluate", tmp_path / "cut.csv", "--finished", "done", "--folds", 2, "--json")
    code, out, _ = call(capsys, *asked, "--kind", "log_time")
    assert code == 0
    assert json.loads(out)["pooled"]["n"] == 48  # the twelve that were cut off only train
    code, _, err = call(capsys, *asked)
    assert code == 2
    assert "says nothing to kind 'random_forest'" in err


def test_drift_of_a_campaigns_model(times: Path, tmp_path: Path, capsys: Any) -> None:
    db = ("--db", tmp_path / "c.db")
    call(capsys, "init", "--name", "c", "--labels", "a,b", *db)
    later = pd.read_csv(times).assign(month=1)
    slower = later.assign(month=2, seconds=2 * later["seconds"])
    pd.concat([later, slower]).to_csv(tmp_path / "later.csv", index=False)
    asked = ("effort", "drift", tmp_path / "later.csv", "--groups", "who", "--periods", "month", *db)
    code, _, err = call(capsys, *asked)
    assert code == 2
    assert "has no effort model yet" in err
    call(capsys, "effort", "train", times, "--groups", "who", *db)
    code, out, _ = call(capsys, *asked, "--json")
    found = json.loads(out)
    assert code == 0
    assert found["drifted"]
    assert [row["drifted"] for row in found["periods"]] == [False, True]
    code, out, _ = call(capsys, *asked)
    assert code == 0
    assert "times of predicted" in out
    later.drop(columns="turns").to_csv(tmp_path / "later.csv", index=False)
    code, _, err = call(capsys, *asked)
    assert code == 2
    assert "looks at turns, which these rows lack" in err
