"""The section on groups of people: what it says, what it draws, and that it is absent where nobody said anything."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from hmc_crowd.report import build_document, write_report

if TYPE_CHECKING:
    from pathlib import Path

    from hmc_crowd.report import ReportData


def test_groups_are_told_drawn_and_in_the_json(data: ReportData, tmp_path: Path) -> None:
    paths = write_report(data, tmp_path)
    html = paths.html.read_text("utf-8")
    assert "Groups of people" in html
    assert "Age group: 46+ say &#39;polite&#39; more often than others." in html
    tables = json.loads(paths.json.read_text("utf-8"))["tables"]
    assert [row["difference"] for row in tables["people_labels"]["rows"]] == [-0.03, 0.05, 0.11, -0.05, None]
    assert {"people_agreement", "people_cohesion"} <= set(tables)
    assert "people_accuracy" not in tables


def test_an_attribute_that_compares_nothing_is_not_drawn(data: ReportData) -> None:
    (section,) = [each for each in build_document(data).sections if each.key == "groups"]
    assert [chart.title for chart in section.charts] == ["age group: labels, against others on the same items"]


def test_two_labels_need_one_drawing(data: ReportData) -> None:
    labels = (data.groups or {})["labels"].head(3)
    (section,) = [
        each for each in build_document(replace(data, groups={**(data.groups or {}), "labels": labels})).sections
        if each.key == "groups"
    ]  # fmt: skip
    assert section.charts[0].title == "age group: “polite”, against others on the same items"


def test_where_nobody_said_anything_nothing_is_said_of_it(data: ReportData) -> None:
    assert "groups" not in [each.key for each in build_document(replace(data, groups=None)).sections]
