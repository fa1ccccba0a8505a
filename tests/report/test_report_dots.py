"""Values beside one another: positions, intervals, names, markers that differ by more than colour."""

from __future__ import annotations

import re

import numpy as np
import pytest

from hmc_crowd.errors import InputError
from hmc_crowd.report import Axis, Dots, dot_chart

X = Axis("Share (%)", percent=True)


def drawn(series: list[Dots], names: tuple[str, ...] = ("one", "two"), **more: float) -> str:
    return dot_chart("d", names, series, title="T", description="D", x=X, **more).wide


def test_a_value_stands_on_its_tick_and_its_interval_around_it() -> None:
    svg = drawn([Dots("s", [0.2, 0.6], [0.1, 0.5], [0.3, 0.8])])
    ticks = {text: float(x) for x, text in re.findall(r'<text class="tick" x="([\d.]+)"[^>]*>(\d+)</text>', svg)}
    first, second = (float(x) for x in re.findall(r'<circle class="f1" cx="([\d.]+)"', svg))
    assert (first, second) == (ticks["20"], ticks["60"])
    ends = re.findall(r'<line class="mark s1" x1="([\d.]+)" x2="([\d.]+)"', svg)
    assert [tuple(map(float, each)) for each in ends] == [(ticks["10"], ticks["30"]), (ticks["50"], ticks["80"])]


def test_series_differ_by_their_markers() -> None:
    svg = drawn([Dots(f"s{number}", [0.1, 0.2]) for number in range(6)])
    shapes = [len(re.findall(shape, svg)) for shape in ('<circle class="f', "<rect", "<path", 'class="ring')]
    # Two dots and an entry of the legend each: circle, square, three paths, ring.
    assert shapes == [3, 3, 9, 3]


def test_what_is_missing_is_not_drawn_and_hostile_names_are_text() -> None:
    svg = drawn([Dots("s", [np.nan, 0.2])], names=("<script>", "b" * 80), line=0.0)
    assert svg.count("<circle") == 1
    assert "<script>" not in svg
    assert "…" in svg
    assert 'stroke-dasharray="5 3"' in svg


@pytest.mark.parametrize(
    ("names", "series", "told"),
    [
        ((), [Dots("s", [])], "0 names and 1 series"),
        (("one",), [Dots("s", [0.1])] * 7, "1 names and 7 series"),
        (("one",), [Dots("s", [np.nan])], "no finite value"),
        (("one",), [Dots("s", [0.1, 0.2])], r"'s' has value of shape \(2,\) for 1 names"),
        (("one",), [Dots("s", [0.1], [0.1, 0.2], [0.3])], r"'s' has low of shape \(2,\)"),
    ],
)
def test_wrong_series_are_refused(names: tuple[str, ...], series: list[Dots], told: str) -> None:
    with pytest.raises(InputError, match=told):
        drawn(series, names)
