"""The page, its JSON and its CSV tables say the same; hostile text stays text; what is missing says why."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.effort import count_time
from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.report import ReportData, Summary, time_both_ways, write_report

if TYPE_CHECKING:
    from pathlib import Path


class Page(HTMLParser):
    """Collects what a browser would make of the page: elements, table cells by caption, and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.text: list[str] = []
        self._rows: list[list[str]] = []
        self._caption = ""
        self._open: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "table":
            self._rows, self._caption = [], ""
        elif tag == "tr":
            self._rows.append([])
        elif tag in {"td", "th", "caption"}:
            self._open = tag
            if tag != "caption":
                self._rows[-1].append("")
        elif tag == "data" and self._open in {"td", "th"}:
            # The unrounded value, in place of the shown text.
            self._rows[-1][-1] = "=" + str(dict(attrs)["value"])

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self.tables[self._caption] = self._rows
        elif tag in {"td", "th", "caption"}:
            self._open = None

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        if self._open == "caption":
            self._caption += data
        elif self._open in {"td", "th"} and not self._rows[-1][-1].startswith("="):
            self._rows[-1][-1] += data


@pytest.fixture
def written(data: ReportData, tmp_path: Path) -> tuple[Page, dict[str, Any], dict[str, Path]]:
    paths = write_report(data, tmp_path / "out" / "pilot.html")
    assert (paths.html.name, paths.json.name) == ("pilot.html", "pilot.json")
    return Page(paths.html.read_text("utf-8")), json.loads(paths.json.read_text("utf-8")), paths.tables


def test_every_number_of_every_table_is_the_same_in_page_and_json(written: Any) -> None:
    page, numbers, _ = written
    compared = 0
    for table in numbers["tables"].values():
        rows = page.tables[table["title"]][1:]
        assert len(rows) == len(table["rows"]), table["title"]
        for cells, row in zip(rows, table["rows"], strict=True):
            # A leading cell that one above it stands for is left out.
            for cell, value in zip(cells, list(row.values())[len(row) - len(cells) :], strict=True):
                if isinstance(value, (int, float)) and not isinstance(value, bool):
                    assert cell.startswith("="), (table["title"], cell)
                    assert float(cell[1:]) == value
                    compared += 1
                elif value is None:
                    assert cell == "–"
    assert compared > 500


def test_csv_tables_hold_the_numbers_of_the_json(written: Any) -> None:
    _, numbers, tables = written
    assert set(tables) == set(numbers["tables"])
    for key, path in tables.items():
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        expected = numbers["tables"][key]["rows"]
        assert len(rows) == len(expected)
        for row, want in zip(rows, expected, strict=True):
            for name, value in want.items():
                if isinstance(value, (int, float)) and not isinstance(value, bool):
                    assert float(row[name]) == value, (key, name)
                elif value is None:
                    assert row[name] == ""


def test_summary_is_shown_with_units_and_kept_unrounded(written: Any) -> None:
    page, numbers, _ = written
    text = " ".join(" ".join(page.text).split())
    for shown in ("98.3 %", "94.1 %", "50.0 %", "83.4 min", "42.18 USD"):  # 5004 s / 60 = 83.4; 4218 cents
        assert shown in text
    assert numbers["summary"]["agreement_at_least"]["value"] == 0.9412
    assert numbers["summary"]["money_minor"] == {
        "label": "Money",
        "value": 4218,
        "unit": "minor units of USD",
        "note": "budget 50.00 USD, fees included",
    }


def test_hostile_text_is_inert(written: Any) -> None:
    page, numbers, tables = written
    names = [name for name, _ in page.elements]
    assert "script" not in names
    assert "img" not in names
    assert not [key for _, attributes in page.elements for key in attributes if key.startswith("on")]
    # ... and it is shown as it was written, not dropped.
    assert any("<script>window.hacked = 1</script>" in text for text in page.text)
    assert numbers["tables"]["wrong_kept"]["rows"][0]["text"].startswith("<script>")
    assert tables["workers"].exists()


def test_page_refers_to_nothing_outside_itself(written: Any) -> None:
    page, _, _ = written
    for name, attributes in page.elements:
        for key in ("src", "href", "srcset", "action", "data", "poster"):
            value = attributes.get(key)
            assert value is None or value.startswith("#") or value == "data:,", (name, value)
    policy = [
        a["content"] for n, a in page.elements if n == "meta" and a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]


def test_a_spreadsheet_runs_no_cell(data: ReportData, tmp_path: Path) -> None:
    workers = pd.DataFrame({"worker": ["=HYPERLINK(1)", "@x", "-1.5", "w"], "answers": [1, 2, 3, 4]})
    paths = write_report(replace(data, workers=workers), tmp_path)
    lines = paths.tables["workers"].read_text("utf-8").splitlines()
    assert lines == ["worker,answers", "'=HYPERLINK(1),1", "'@x,2", "-1.5,3", "w,4"]
    # The JSON file keeps the exact text.
    rows = json.loads(paths.json.read_text("utf-8"))["tables"]["workers"]["rows"]
    assert [row["worker"] for row in rows] == ["=HYPERLINK(1)", "@x", "-1.5", "w"]


def test_missing_parts_say_why(tmp_path: Path) -> None:
    bare = ReportData(
        title="Bare",
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        missing={"certificate": "the audit is still open."},
    )
    paths = write_report(bare, tmp_path)
    numbers = json.loads(paths.json.read_text("utf-8"))
    text = " ".join(" ".join(Page(paths.html.read_text("utf-8")).text).split())
    assert numbers["tables"] == {}
    assert numbers["missing"]["certificate"] == "the audit is still open."
    assert len(numbers["missing"]) == 13
    for reason in numbers["missing"].values():
        assert reason in text
    assert numbers["summary"]["agreement"] == {
        "label": "Agreement with people",
        "value": None,
        "unit": "share",
        "note": "not measured",
    }


def test_a_sweep_without_truth_has_a_table_and_no_drawing(data: ReportData, tmp_path: Path) -> None:
    assert data.curve is not None
    curve = data.curve[["trade_off", "max_human", "human_share", "effort_share"]]
    page = write_report(replace(data, curve=curve), tmp_path).html.read_text("utf-8")
    assert "Points of the curve" in page
    assert "curve-chart" not in page


def test_long_tables_are_cut_on_the_page_and_whole_beside_it(data: ReportData, tmp_path: Path) -> None:
    gold = pd.DataFrame({"item": [f"g{i}" for i in range(1000)], "label": ["x" * 5000] + ["y"] * 999})
    paths = write_report(replace(data, gold=gold), tmp_path)
    page = paths.html.read_text("utf-8")
    assert "The first 200 of 1,000 rows, texts cut at 600 characters; all of it is in gold.csv." in page
    assert "x" * 601 not in page
    assert len(json.loads(paths.json.read_text("utf-8"))["tables"]["gold"]["rows"]) == 1000


def test_infinite_and_missing_numbers_survive_strict_json(data: ReportData, tmp_path: Path) -> None:
    rounds = pd.DataFrame(
        {"round": [1, 2], "trade_off": [np.inf, np.nan], "when": [pd.NaT, pd.Timestamp("2026-01-01T00:00Z")]}
    )
    paths = write_report(replace(data, rounds=rounds), tmp_path)
    rows = json.loads(paths.json.read_text("utf-8"), parse_constant=pytest.fail)["tables"]["rounds"]["rows"]
    assert rows == [
        {"round": 1, "trade_off": "inf", "when": None},
        {"round": 2, "trade_off": None, "when": "2026-01-01T00:00:00+00:00"},
    ]


def test_every_id_is_used_once_and_every_drawing_has_a_text(written: Any) -> None:
    page, _, _ = written
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for name, attributes in page.elements:
        if name == "svg":
            assert set((attributes["aria-labelledby"] or "").split()) <= set(ids)
    assert sum(name == "svg" for name, _ in page.elements) == sum(name == "desc" for name, _ in page.elements) == 8


def test_time_is_counted_per_item_and_per_touched_group() -> None:
    # Groups a (10 + 30 s), b (20 s), c (40 s); people judge the first item of a, and b: 10 + 20 = 30 of 100 seconds;
    # read whole: 10 + 30 + 20 = 60 of 100.
    frame = time_both_ways(count_time([True, False, True, False], ["a", "a", "b", "c"], [10, 30, 20, 40]))
    assert frame["counted"].tolist() == ["each item by itself", "touched groups read whole"]
    assert frame["human_s"].tolist() == [30.0, 60.0]
    assert frame["effort_share"].tolist() == pytest.approx([0.3, 0.6])


class TestFiles:
    def test_overwrite_false_refuses_and_changes_nothing(self, data: ReportData, tmp_path: Path) -> None:
        paths = write_report(data, tmp_path / "r.html")
        before = paths.html.read_bytes()
        with pytest.raises(InputError, match=r"r\.html exists already; give another path"):
            write_report(replace(data, title="Other"), tmp_path / "r.html", overwrite=False)
        assert paths.html.read_bytes() == before

    def test_a_second_report_replaces_the_first_and_drops_only_its_own_tables(
        self, data: ReportData, tmp_path: Path
    ) -> None:
        write_report(data, tmp_path / "r.html")
        mine = tmp_path / "r_tables" / "mine.csv"
        mine.write_text("a\n", encoding="utf-8")
        paths = write_report(replace(data, gold=None), tmp_path / "r.html")
        assert "gold" not in paths.tables
        assert not (tmp_path / "r_tables" / "gold.csv").exists()
        assert mine.exists()

    def test_a_crash_while_writing_leaves_the_old_report(
        self, data: ReportData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        paths = write_report(data, tmp_path / "r.html")
        before = {path: path.read_bytes() for path in (paths.html, paths.json, *paths.tables.values())}

        def fail(*_: Any, **__: Any) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(pd.DataFrame, "to_csv", fail)
        with pytest.raises(InputError, match="No space left on device"):
            write_report(replace(data, title="Other"), tmp_path / "r.html")
        assert {path: path.read_bytes() for path in before} == before
        assert sorted(path.name for path in tmp_path.iterdir()) == ["r.html", "r.json", "r_tables"]

    def test_a_place_that_cannot_be_written_is_named(self, data: ReportData, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("x", encoding="utf-8")
        with pytest.raises(InputError, match=re.escape(str(tmp_path / "file"))):
            write_report(data, tmp_path / "file" / "r.html")


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"title": " "}, InputError, "title is empty"),
        ({"created_at": datetime(2026, 1, 1)}, InputError, "created_at is .* without a time zone"),
        ({"workers": pd.DataFrame({"id": [1]})}, FrameError, "workers lacks the column worker; it has id"),
    ],
)
def test_wrong_data_is_refused(data: ReportData, change: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        replace(data, **change)


def test_summary_refuses_percent_for_shares() -> None:
    with pytest.raises(InputError, match=r"agreement is 98\.3; give a share"):
        Summary(agreement=98.3)
