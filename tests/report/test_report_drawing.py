"""Drawings: where a value lands, what is escaped, and how cells are shown."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.errors import InputError
from hmc_crowd.report import Axis, Column, Point, Series, Table, histogram, line_chart
from hmc_crowd.report._curve import curve_chart
from hmc_crowd.report._format import column_for, shown
from hmc_crowd.report._times import time_tables

X, Y = Axis("Time (s)"), Axis("Accuracy (%)", percent=True)


def line(*series: Series, **more: object) -> str:
    return line_chart("c", series, title="T", description="D", x=X, y=Y, **more).wide  # type: ignore[arg-type]


def test_points_land_in_proportion_between_the_axes() -> None:
    places = re.search(r'<polyline[^>]*points="([^"]*)"', line(Series("a", [0, 5, 10], [0.0, 0.5, 1.0])))
    assert places is not None
    (x0, y0), (x1, y1), (x2, y2) = (tuple(map(float, pair.split(","))) for pair in places[1].split())
    assert (x0 + x2) / 2 == pytest.approx(x1, abs=0.1)
    assert (y0 + y2) / 2 == pytest.approx(y1, abs=0.1)
    assert x0 < x2
    assert y0 > y2  # SVG counts downwards


def test_lines_differ_by_dash_and_marker_not_by_colour_alone() -> None:
    drawn = line(*(Series(str(i), [0, 1, 2], [i / 9, i / 9, 0.5]) for i in range(5)))
    dashes = [re.search(r'stroke-dasharray="([^"]*)"', tag) for tag in re.findall(r"<polyline[^>]*>", drawn)]
    assert len({found[1] if found else "" for found in dashes}) == 5


def test_missing_points_are_left_out() -> None:
    places = re.search(r'points="([^"]*)"', line(Series("a", [0, 1, 2], [0.1, np.nan, 0.3])))
    assert places is not None
    assert len(places[1].split()) == 2


def test_names_are_escaped() -> None:
    drawn = line(Series("<b>", [0, 1], [0, 1]), Series("&", [0, 1], [1, 0]), points=[Point("<script>", 0.5, 0.5)])
    assert "<script>" not in drawn
    assert "&lt;script&gt;" in drawn
    assert "<b>" not in drawn


def test_a_flat_line_and_a_single_point_can_be_drawn() -> None:
    assert "NaN" not in line(Series("a", [1.0], [1.0]))
    assert "nan" not in line(Series("a", [0.0, 0.0], [0.5, 0.5]))


def test_too_many_lines_and_empty_ones_are_refused() -> None:
    with pytest.raises(InputError, match="7 lines; draw at most 6"):
        line(*(Series(str(i), [0], [0]) for i in range(7)))
    with pytest.raises(InputError, match="no finite point"):
        line(Series("a", [np.nan], [0]))
    with pytest.raises(InputError, match="'a' has x of shape"):
        line(Series("a", [1, 2], [0]))


def test_bars_have_heights_in_proportion() -> None:
    drawn = histogram("h", [0, 1, 2, 3], [10, 5, 0], title="T", description="D", x=X, y=Axis("n")).wide
    heights = [float(found) for found in re.findall(r'class="bar[^>]*height="([\d.]+)"', drawn)]
    assert heights[0] == pytest.approx(2 * heights[1], abs=0.2)
    assert len(heights) == 2


def test_histogram_checks_its_edges() -> None:
    with pytest.raises(InputError, match="edges has 2 borders for 2 counts"):
        histogram("h", [0, 1], [1, 2], title="T", description="D", x=X, y=Y)


def test_standalone_drawing_brings_its_own_colours() -> None:
    svg = line_chart("c", [Series("a", [0, 1], [0, 1])], title="T", description="D", x=X, y=Y).standalone()
    assert svg.startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    assert "var(--" not in svg
    assert "#0b5c93" in svg


def test_times_above_the_99th_percentile_are_counted_in_the_last_bin() -> None:
    content = time_tables([*range(1, 200), 10_000], None)
    assert content is not None
    bins = content["tables"][1].frame
    assert bins["count"].sum() == 200
    assert bins["to_s"].iloc[-1] == 10_000
    assert bins["from_s"].iloc[-1] < 200
    quantiles = content["tables"][0].frame.iloc[0]
    assert (quantiles["n"], quantiles["max_s"], quantiles["p50_s"]) == (200, 10_000, 100.5)


def test_a_seed_is_shown_as_it_is_typed_and_an_error_by_its_name() -> None:
    assert shown(20_210, column_for("seed", whole=True)) == "20210"
    assert column_for("mae_s").heading == "MAE (s)"


def test_curve_draws_at_most_four_trade_offs_with_the_plans_own() -> None:
    curve = pd.DataFrame({"trade_off": np.repeat(np.arange(20.0), 2), "effort_share": [0.0, 1.0] * 20, "accuracy": 0.9})
    chart = curve_chart(curve, {"trade_off": 7.0, "effort_share": 0.5, "accuracy": 0.95})
    assert chart is not None
    assert re.findall(r">trade-off (\d+)<", chart.wide) == ["0", "7", "13", "19"]
    assert ">plan<" in chart.wide
    assert "The plan reaches 95.0 % with 50.0 % of the time." in chart.description


@pytest.mark.parametrize(
    ("value", "column", "text"),
    [
        (0.98484, Column("a", "percent", 2), "98.48"),
        (-0.0004, Column("a", "number", 3), "0.000"),
        (-1.5, Column("a", "number", 1), "−1.5"),
        (0.25, Column("a", "number", 2, sign=True), "+0.25"),
        (0.0, Column("a", "number", 2, sign=True), "0.00"),
        (np.int64(1234567), Column("a", "integer"), "1,234,567"),
        (float("inf"), Column("a", "number"), "∞"),
        (150050, Column("a", "money", unit="USD"), "1,500.50"),
        (500, Column("a", "money", unit="JPY"), "500"),
        (None, Column("a"), "–"),
        (pd.NA, Column("a"), "–"),
        (6000.0, Column("a", "either", 4), "6,000"),
        (0.19983, Column("a", "either", 4), "0.1998"),
        (True, Column("a", "flag"), "yes"),
        (np.bool_(False), Column("a", "flag"), "no"),
        ("text", Column("a", "number"), "text"),
    ],
)
def test_cells(value: object, column: Column, text: str) -> None:
    assert shown(value, column) == text


def test_numbers_with_a_gap_are_numbers_even_as_objects() -> None:
    frame = pd.DataFrame({"score": [0.1 + 0.2, None], "seen": [True, None], "note": ["a", None]}, dtype=object)
    table = Table(key="t", title="T", frame=frame)
    assert [[cell.text for cell in row] for row in table.shown_rows()] == [["0.30", "yes", "a"], ["–", "–", "–"]]


def test_merged_columns_say_a_repeated_value_once() -> None:
    frame = pd.DataFrame({"run": ["a", "a", "b", "b"], "cap": ["x", "y", "y", "y"], "value": [1.0, 1.0, 1.0, 2.0]})
    rows = list(Table(key="t", title="T", frame=frame, merged=2).shown_rows())
    # The second y stands under another run than the first, so it is said again.
    assert [[(cell.text, cell.span) for cell in row] for row in rows] == [
        [("a", 2), ("x", 1), ("1.000", 1)],
        [("y", 1), ("1.000", 1)],
        [("b", 2), ("y", 2), ("1.000", 1)],
        [("2.000", 1)],
    ]


@pytest.mark.parametrize(
    ("name", "heading"),
    [
        ("pay_minor", "Pay (EUR)"),
        ("wait_s", "Wait (s)"),
        ("audit_share", "Audit share (%)"),
        ("reading_min", "Reading (min)"),
        ("anything", "Anything"),
    ],
)
def test_units_come_from_the_columns_name(name: str, heading: str) -> None:
    assert column_for(name, currency="EUR").heading == heading


@pytest.mark.parametrize("at", [(2.0, 4.0), (2.0, 9.5), (8.5, 9.5), (0.1, 9.9)])
def test_no_mark_runs_through_a_label_and_no_label_lies_on_the_name_of_the_axis(at: tuple[float, float]) -> None:
    marks = [("median 12.7 s", at[0]), ("90th percentile 25.1 s", at[1])]
    chart = histogram("h", range(11), [1] * 10, title="T", description="D", x=X, y=Axis("Number of items"), marks=marks)
    for drawn in (chart.wide, chart.narrow):
        lines = [
            (float(x), float(top))
            for x, top in re.findall(r'<line class="mark s2" x1="([\d.]+)" x2="[\d.]+" y1="([\d.]+)"', drawn)
        ]
        labels = re.findall(r'<text x="([\d.]+)" y="(\d+)" text-anchor="(start|end)">(median|90th)([^<]*)<', drawn)
        axis = re.search(r'<text x="2" y="(\d+)">Number', drawn)
        assert axis is not None
        assert len(lines) == len(labels) == 2
        assert min(top for _, top in lines) > int(axis[1])
        for x, y, anchor, *words in labels:
            width = 6.5 * len("".join(words))
            left, right = (float(x) - width, float(x)) if anchor == "end" else (float(x), float(x) + width)
            assert int(y) - 13 >= int(axis[1])
            assert not [line for line in lines if left < line[0] < right and line[1] < int(y) - 10]
