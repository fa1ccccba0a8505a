"""The examples run as they are: a process of their own, an empty folder, no network."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SHORT = ("launch_from_script.py", "aggregate_crowd_labels.py", "retrain_effort.py")


def run(name: str, folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "HMC_CROWD_DATABASE_URL": "", "PYTHONWARNINGS": "error"}
    done = subprocess.run(
        [sys.executable, EXAMPLES / name, *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_launching_from_a_script_looks_before_it_spends(tmp_path: Path) -> None:
    out = run("launch_from_script.py", tmp_path)
    assert out.index("would publish") < out.index("published")
    assert "agree with our people" in out
    assert (tmp_path / "launch" / "labels.csv").exists()


def test_aggregating_finds_the_labels_behind_the_answers(tmp_path: Path) -> None:
    out = run("aggregate_crowd_labels.py", tmp_path)
    right = {
        line.split(":")[0]: float(line.split(":")[1].split("%")[0]) for line in out.splitlines() if "% right" in line
    }
    assert set(right) == {"majority", "dawid_skene"}
    assert right["dawid_skene"] > right["majority"] > 70


def test_retraining_tells_how_good_the_new_model_is(tmp_path: Path) -> None:
    out = run("retrain_effort.py", tmp_path)
    assert "R2" in out
    assert "reading speed" in out
    assert "effort model 1" in out


def test_judges_tell_what_is_left_for_people(tmp_path: Path) -> None:
    out = run("judge_and_people.py", tmp_path)
    left = [float(line.split("people see ")[1].split("%")[0]) for line in out.splitlines() if "people see" in line]
    assert len(left) >= 3
    assert left == sorted(left)
    assert 0 < left[0] < 100
    assert out.index("rouge ") < out.index("people ")


@pytest.mark.parametrize("name", SHORT)
def test_short_examples_are_short(name: str) -> None:
    assert len((EXAMPLES / name).read_text(encoding="utf-8").splitlines()) <= 60


@pytest.mark.parametrize("name", SHORT)
def test_examples_use_the_public_names_only(name: str) -> None:
    source = (EXAMPLES / name).read_text(encoding="utf-8")
    assert [line for line in source.splitlines() if "import" in line and "._" in line and "_base" not in line] == []


@pytest.mark.parametrize(
    "share",
    [pytest.param("0.15", id="a seventh of the dialogues"), pytest.param("1", marks=pytest.mark.slow, id="everything")],
)
def test_the_whole_loop_runs_on_the_published_data(share: str, data_dir: Path, tmp_path: Path) -> None:
    out = run("hmceval_campaign.py", tmp_path, "--data", str(data_dir / "hmceval"), "--share", share)
    assert "satisfied" in out
    agreement = float(out.split("with the published ones: ")[1].split()[0])
    assert agreement > 0.95
    assert (tmp_path / "hmceval-campaign" / "report.html").exists()


@pytest.mark.parametrize(
    "share",
    [pytest.param("0.08", id="a twelfth of the tweets"), pytest.param("1", marks=pytest.mark.slow, id="everything")],
)
def test_real_text_is_routed_by_every_confidence(share: str, data_dir: Path, tmp_path: Path) -> None:
    if not (data_dir / "offensive" / "tweets.csv").is_file():
        pytest.skip(f"no offensive/tweets.csv in {data_dir}")
    words = ("--data", str(data_dir / "offensive"), "--encoder", "tfidf", "--share", share, "--out", "page")
    out = run("offensive_routing.py", tmp_path, *words)
    first = next(line for line in out.splitlines() if line.split()[:1] == ["stack"])  # the table of measures: AUC first
    assert float(first.split()[1]) > 0.8
    page = (tmp_path / "page" / "report.html").read_text(encoding="utf-8")
    assert all(name in page for name in ("mcp", "trust_score", "tcp", "stack", "Accuracy against people"))
