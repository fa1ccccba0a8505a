"""HREF's table 2 from its own rows: the composite exactly, the differences where the prose and the table part."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from hmc_crowd.cli import main
from hmc_crowd.reproduce import HrefReport, reproduce_href

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def report() -> HrefReport:
    return reproduce_href()


def test_the_composite_row_follows_from_its_judges(report: HrefReport) -> None:
    frame = report.table("composite").frame
    assert (frame["difference"] == 0.0).all()
    chosen = dict(zip(frame["category"].str.extract(r"\((\w+)\)")[0], frame["chosen"], strict=True))
    with_reference = {"CQA", "Ext", "Gen", "Rew", "Cls", "MDS", "RND"}
    assert {name for name, each in chosen.items() if each == "Judge 70B"} == {"Brn", "Sum"}
    assert {name for name, each in chosen.items() if each == "RoBERTa-large"} == {"OQA", "FC"}
    assert {name for name, each in chosen.items() if each == "Judge 70B + reference"} == with_reference


def test_differences_come_from_the_table_where_the_prose_differs(report: HrefReport) -> None:
    frame = report.table("prose").frame.set_index("difference_of")
    # 66.2 - 59.4 = 6.8, told as 6; 67.9 - 62.6 = 5.3, told as 4.2; 62.6 - 59.4 = 3.2, told as 3.2.
    assert frame["measured"].round(1).tolist() == [6.8, 5.3, 3.2]
    assert frame["difference"].round(1).tolist() == [0.8, 1.1, 0.0]


def test_a_reference_helps_all_but_the_smallest_judge(report: HrefReport) -> None:
    gains = report.table("gains").frame.set_index("judge")["by_reference"].round(1)
    assert gains.to_dict() == {"GPT-4": 3.2, "GPT-4-Turbo": 1.6, "7B": -1.9, "70B": 1.7}


def test_facts_follow_from_one_another(report: HrefReport) -> None:
    sizes = report.table("sizes").frame.set_index("number")["value"]
    assert sizes.filter(like="annotations: ").iloc[0] == 7008
    assert sizes.filter(like="hours, ").iloc[0] == pytest.approx(350.4)
    assert sizes.filter(like="pay at").iloc[0] == pytest.approx(5606.4)
    assert sizes.filter(like="pairs of models").iloc[0] == 78


def test_every_method_s_all_is_told_beside_its_mean(report: HrefReport) -> None:
    means = report.table("means").frame.set_index("method")
    # (65.3 + 60.5 + 73.0 + 75.6 + 70.3 + 75.4 + 68.0 + 68.1 + 71.5 + 66.0 + 73.8) / 11 = 767.5 / 11
    assert means.loc["Composite 70B", "measured"] == pytest.approx(767.5 / 11)
    assert (means["difference"].abs() < 2.0).all()


def test_the_command_needs_no_data_and_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["reproduce", "href", "--out", str(tmp_path)])
    assert left.value.code == 0
    assert "Composite 70B, recomputed" in capsys.readouterr().out
    assert (tmp_path / "href.html").read_text().count("<svg") == 2
    assert pd.read_csv(tmp_path / "href_tables" / "composite.csv")["difference"].abs().max() == 0.0
    with pytest.raises(SystemExit):
        main(["reproduce", "href", "--json"])
    assert json.loads(capsys.readouterr().out)["tables"]
