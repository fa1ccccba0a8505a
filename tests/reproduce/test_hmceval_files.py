"""The report as files, and what is said about data that is not the published one."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.errors import InputError
from hmc_crowd.reproduce import HmcevalData, HmcevalReport, load_hmceval, reproduce_hmceval
from hmc_crowd.reproduce._confidence import figure_4, table_3

if TYPE_CHECKING:
    from pathlib import Path


def test_written_files_hold_the_numbers_of_to_dict(report: HmcevalReport, tmp_path: Path) -> None:
    paths = report.write(tmp_path / "out")
    assert json.loads(paths.json.read_text("utf-8")) == json.loads(json.dumps(report.to_dict()))
    assert set(paths.tables) == {table.key for table in report.tables()}
    assert set(paths.figures) == {f"figure_{i}" for i in (2, 3, 4, 5, 6)}
    for path in (*paths.tables.values(), *paths.figures.values()):
        assert path.stat().st_size > 0
    table_1 = pd.read_csv(paths.tables["table_1"])
    assert list(table_1.columns) == ["run", "cap", "metric", "paper", "measured", "difference"]


def test_every_compared_table_has_paper_measured_and_their_difference(report: HmcevalReport) -> None:
    compared = [table.frame for table in report.tables() if {"paper", "measured"} <= set(table.frame.columns)]
    assert len(compared) == 10
    for frame in compared:
        np.testing.assert_allclose(frame["difference"], frame["measured"] - frame["paper"], atol=1e-12)


def test_drawings_stand_alone(report: HmcevalReport) -> None:
    for chart in report.charts():
        svg = chart.standalone()
        assert svg.startswith("<svg xmlns=")
        assert "var(--" not in svg


@pytest.fixture
def copy(hmceval_dir: Path, tmp_path: Path) -> Path:
    return shutil.copytree(hmceval_dir, tmp_path / "hmceval")


@pytest.mark.parametrize("name", ["per_dialogue.tsv", "sae_trust_score.tsv", "sae_mcp.tsv"])
def test_a_missing_file_is_named(copy: Path, name: str) -> None:
    (copy / name).unlink()
    with pytest.raises(InputError, match=rf"{name} is not there; give the folder with the HMCEval data by --data DIR"):
        reproduce_hmceval(copy)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere is no folder; .*--data DIR"):
        reproduce_hmceval(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        (
            "sae_mcp.tsv",
            lambda text: text.replace("machine_confidence", "conf"),
            "sae_mcp.tsv lacks the column machine_conf",
        ),
        (
            "sae_mcp.tsv",
            lambda text: text.replace("0.7996466", "1.5", 1),
            r"machine_confidence leaves \[0, 1\] in row 0 \(1.5\)",
        ),
        (
            "sae_mcp.tsv",
            lambda text: text.replace("0.7996466", "high", 1),
            r"machine_confidence is no number in row 0 \(high\)",
        ),
        (
            "sae_mcp.tsv",
            lambda text: "\n".join(text.splitlines()[:100]),
            "does not hold the responses of sae_trust_score.tsv",
        ),
        ("sae_mcp.tsv", lambda text: text.splitlines()[0] + "\n", "sae_mcp.tsv has no rows"),
        ("sae_mcp.tsv", lambda text: "", "sae_mcp.tsv cannot be read as a table"),
        (
            "sae_trust_score.tsv",
            lambda text: "\n".join(text.splitlines()[:-40]),
            "sae_mcp.tsv does not hold|do not describe the same test dialogues",
        ),
        ("per_dialogue.tsv", lambda text: text.replace("\ttest\t", "\tTEST\t"), "my_split holds 'TEST'"),
        (
            "per_dialogue.tsv",
            lambda text: "\n".join(text.splitlines()[:3000]),
            "do not describe the same test dialogues",
        ),
    ],
)
def test_wrong_files_are_refused_with_their_name(copy: Path, name: str, change: object, message: str) -> None:
    path = copy / name
    path.write_text(change(path.read_text("utf-8")), encoding="utf-8")  # type: ignore[operator]
    with pytest.raises(InputError, match=message):
        load_hmceval(copy)


def test_a_file_in_another_encoding_is_refused(copy: Path) -> None:
    (copy / "sae_mcp.tsv").write_bytes(b"\xff\xfe" + "machine_confidence\n1\n".encode("utf-16-le"))
    with pytest.raises(InputError, match=r"sae_mcp\.tsv cannot be read as a table"):
        load_hmceval(copy)


def test_true_class_probability_joins_when_its_file_is_there(copy: Path, published: HmcevalData) -> None:
    # Nobody has published it: a stand-in with the columns of the others.
    shutil.copy(copy / "sae_mcp.tsv", copy / "sae_tcp.tsv")
    data = load_hmceval(copy)
    assert set(data.confidences) == {"Trust Score", "MCP", "TCP"}
    table = table_3(data)
    assert table.note == ""
    assert table.frame.loc[table.frame["run"] == "TCP", "paper"].tolist() == [0.823, 0.975]
    assert figure_4(data)[0].frame["run"].nunique() == 3
    assert set(published.confidences) == {"Trust Score", "MCP"}
