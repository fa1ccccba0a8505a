"""Every table of a score report equals RSMTool 12's file of that name: its columns in its order, its rows, its numbers.

The file beside this test holds what `rsmeval` 12.0.0 wrote about 60 responses (one first score of 0, one second).
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import pandas as pd
import pytest

from hmc_crowd import metrics as m
from hmc_crowd.errors import InputError

THEIRS = json.loads((Path(__file__).parent / "rsmtool_12_tables.json").read_text(encoding="utf-8"))
# What we add beside theirs.
MORE_COLUMNS = {"eval": ["MSE"]}
MORE_ROWS = {"fairness_metrics_by_L1": ["R2_not_adjusted", "partial_eta2", "f", "df_groups", "df_resid"]}


@pytest.fixture(scope="module")
def report() -> m.ScoreReport:
    training = pd.DataFrame(THEIRS["training"])
    return m.score_report(
        pd.DataFrame(THEIRS["predictions"]),
        system="score",
        human="h1",
        second_human="h2",
        groups="L1",
        score_range=(1, 5),
        scaling=m.Scaling.fit(predictions=training["prediction"], human=training["sc1"]),
        use="scale",
    )


@pytest.mark.parametrize("name", THEIRS["tables"])
def test_a_table_is_rsmtools(report: m.ScoreReport, name: str) -> None:
    theirs = THEIRS["tables"][name]
    # Their file has the scores of this table as a column beside row numbers.
    ours = report[name].reset_index() if name == "score_dist" else report[name]
    ours.columns, rows = ours.columns.astype(str), ours.index.astype(str).tolist()
    assert [each for each in ours.columns if each not in MORE_COLUMNS.get(name, [])] == theirs["columns"]
    if name == "score_dist" or len(theirs["rows"]) == 1:
        rows = theirs["rows"]
    assert {each for each in rows if each not in MORE_ROWS.get(name, [])} == set(theirs["rows"])
    for row, cells in zip(theirs["rows"], theirs["cells"], strict=True):
        for column, theirs_says in zip(theirs["columns"], cells, strict=True):
            value = ours[column].iloc[rows.index(row)]
            if theirs_says is None:
                assert math.isnan(value), (row, column)
            elif isinstance(theirs_says, str):
                assert value == theirs_says
            else:
                assert float(value) == pytest.approx(theirs_says, rel=1e-9, abs=1e-12), (row, column)


def test_a_confusion_matrix_has_people_in_its_rows() -> None:
    # People said 1 twice, the system 1 and 3: row 1 holds both.
    table = {"human": [1, 1, 3], "system": [1.0, 3.0, 3.0], "h2": [1, 2, None]}
    report = m.score_report(table, second_human="h2", score_range=(1, 3))
    assert report["confMatrix"].to_numpy().tolist() == [[1, 1], [0, 1]]
    assert (report["confMatrix"].index.name, report["confMatrix"].columns.name) == ("human", "system")
    # First humans said 1 twice, second ones 1 and 2.
    assert report["confMatrix_h1h2"].to_numpy().tolist() == [[1, 1], [0, 0]]
    assert "confMatrix_h1h2" not in m.score_report({"human": [1, 2], "system": [1, 2]}, score_range=(1, 2))


def test_a_report_says_which_tables_it_has(report: m.ScoreReport) -> None:
    assert "eval" in report
    assert "evil" not in report
    assert list(report) == list(report.tables)
    assert len(report) == len(report.tables)


def test_the_dsm_of_two_people_by_hand() -> None:
    # First: 1 2 3 4, mean 2.5, sd sqrt(5/3) = 1.2910; the second of the double-scored 2 3 4, mean 3, sd 1. Group a
    # holds the first two, both double-scored: (2.5 - 3) / 1 - (1.5 - 2.5) / 1.2910 = -.5 + .7746 = .2746. Of all
    # data, three double-scored: 0 - (2 - 2.5) / 1.2910 = .3873.
    table = {"human": [1, 2, 3, 4], "system": [1, 2, 3, 4], "h2": [2, 3, 4, None], "g": ["a", "a", "b", "b"]}
    dsm = m.score_report(table, second_human="h2", groups="g", score_range=(1, 4))["consistency_by_g"]["DSM"]
    assert dsm["a"] == pytest.approx(0.274597, abs=1e-6)
    assert dsm["All data"] == pytest.approx(0.387298, abs=1e-6)


def test_people_without_a_spread_have_no_dsm() -> None:
    table = {"human": [1, 2, 3, 4], "system": [1, 2, 3, 4], "h2": [2, 2, 2, None], "g": ["a", "a", "b", "b"]}
    report = m.score_report(table, second_human="h2", groups="g", score_range=(1, 4))
    assert report["consistency_by_g"]["DSM"].isna().all()
    assert any("second human's scores have no spread" in why for why in report["notes"]["reason"])
    with pytest.raises(InputError, match="there is no table 'moon'"):
        report["moon"]
