"""The final figures, the plans worth having, and the certificate in words."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmc_crowd.campaign._frontier import plan_frontier
from hmc_crowd.campaign._report_words import certificate_words
from hmc_crowd.report import latex_table, write_report
from hmc_crowd.routing import route

if TYPE_CHECKING:
    from pathlib import Path

    from hmc_crowd.report import ReportData


def test_figures_and_the_machine_that_does_not_help(data: ReportData, tmp_path: Path) -> None:
    figures = pd.DataFrame(
        {"figure": ["share of rude"], "value": [0.2], "low": [0.15], "high": [0.25], "labels": [40]}
        | {"effective_n": [39.6], "machine_helps": [False], "final_mean": [0.1], "said": ["the machine does not help"]}
    )
    paths = write_report(replace(data, figures=figures), tmp_path)
    html = paths.html.read_text("utf-8")
    assert "Final figures" in html
    assert "The machine does not help" in html
    (row,) = json.loads(paths.json.read_text("utf-8"))["tables"]["figures"]["rows"]
    assert (row["low"], row["machine_helps"]) == (0.15, "no")


def test_a_better_plan_is_named_only_where_there_is_one(data: ReportData, tmp_path: Path) -> None:
    frontier = pd.DataFrame(
        {"trade_off": [0.0, 1.0], "max_human": [0, 30], "human_share": [0.0, 0.2], "effort_share": [0.0, 0.1]}
        | {"accuracy": [0.8, 0.999]}
    )
    some = replace(data, frontier=frontier, plan={**(data.plan or {}), "effort_share": 0.3, "accuracy": 0.95})
    html = write_report(some, tmp_path / "a.html").html.read_text("utf-8")
    assert "trade-off 1 and at most 30 items would reach 99.9 % where the plan reaches 95.0 %" in html
    assert "best of all plans" in html
    good = replace(some, plan={**(some.plan or {}), "accuracy": 0.999})
    html = write_report(good, tmp_path / "b.html").html.read_text("utf-8")
    assert "No other trade-off and cap would reach more" in html


def test_the_frontier_is_made_of_plans() -> None:
    rng = np.random.default_rng(0)
    confidence, share = rng.uniform(0.5, 1, 60), rng.uniform(0, 1, 60)
    front = plan_frontier(confidence, share, share, confidence)
    assert front["accuracy"].is_monotonic_increasing
    for row in front.iloc[[5, 20]].itertuples():
        plan = route(confidence, share, max_human=int(row.max_human), trade_off=row.trade_off)
        assert np.isclose(plan.confidence_total / 60, row.accuracy)
        assert np.isclose(share[plan.to_human].sum() / share.sum(), row.effort_share)


def test_the_certificate_says_what_became_of_the_promise() -> None:
    found = {"items": 260, "human": 100, "audited": 60, "wrong": 1, "audit_pending": 2, "pending": 1, "level": 0.95}
    found |= {"wrong_at_most": 13, "agreement_at_least": 0.95, "agreement_at_most": 0.97}
    held, open_, missed = (certificate_words({**found, "target": share}) for share in (0.94, 0.96, 0.98))
    assert "1 of its labels was wrong and has been corrected" in held
    assert "3 answers are still missing" in held
    assert "The 94.00 % that the plan had promised are reached." in held
    assert "neither shown nor ruled out" in open_
    assert "are missed: the audit shows at most 97.00 %" in missed
    assert "promised" not in certificate_words(found)


def test_a_label_of_two_lines_stays_in_its_cell() -> None:
    # An empty line inside a tabular stops LaTeX.
    table = latex_table(pd.DataFrame({"label": ["rude\r\n\nvery"]}), caption="a\nb", label="tab:x")
    assert r"rude   very \\" in table
    assert r"\caption{a b}" in table
