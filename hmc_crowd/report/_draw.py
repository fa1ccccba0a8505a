"""Where does a value go on the paper? Axes with round ticks, lines, markers and labels as SVG text."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

__all__ = ["Axis", "Frame", "Point", "line_shape", "mark_shapes", "point_shape"]

DASHES = ("", "7 4", "2 3", "9 3 2 3", "12 4", "4 2")
_MARKERS = ("circle", "square", "triangle", "diamond", "cross", "ring")
# Markers nearer than this many pixels melt into a band.
_APART = 36.0


@dataclass(frozen=True)
class Axis:
    """Label and scale of an axis.

    Parameters
    ----------
    label : str
        What is measured, with its unit.
    percent : bool, default False
        The numbers are shares; ticks are printed in percent, and the axis ends at 0 and 100 % at most.
    """

    label: str
    percent: bool = False


@dataclass(frozen=True)
class Point:
    """A single point that the reader should find, with its label."""

    name: str
    x: float
    y: float


class Frame:
    """The drawing area: pixels of a value, axes with round ticks, and the legend above."""

    def __init__(
        self,
        width: int,
        height: int,
        xs: np.ndarray,
        ys: np.ndarray,
        x: Axis,
        y: Axis,
        *,
        legend: list[str],
        top: int = 14,
    ) -> None:
        self.width, self.x, self.y = width, x, y
        self._legend = legend_rows(legend, width)
        self.top = top + 22 * len(self._legend) + 16
        self.height = height + 22 * len(self._legend)
        self.left, self.right, self.bottom = 54, width - 18, self.height - 46
        few = width < 500
        self.x_ticks = ticks(float(xs.min()), float(xs.max()), 5 if few else 8, x.percent)
        self.y_ticks = ticks(float(ys.min()), float(ys.max()), 5 if few else 6, y.percent)

    def px(self, value: float) -> float:
        low, high = self.x_ticks[0], self.x_ticks[-1]
        return self.left + (value - low) / (high - low) * (self.right - self.left)

    def py(self, value: float) -> float:
        low, high = self.y_ticks[0], self.y_ticks[-1]
        return self.bottom - (value - low) / (high - low) * (self.bottom - self.top)

    def axes(self) -> str:
        parts = [f'<text x="2" y="{16 + 22 * len(self._legend)}">{escape(self.y.label)}</text>']
        for tick in self.y_ticks:
            at = self.py(tick)
            parts.append(f'<line class="grid" x1="{self.left}" x2="{self.right}" y1="{at:.1f}" y2="{at:.1f}"/>')
            text = tick_text(tick, self.y_ticks, self.y.percent)
            parts.append(f'<text class="tick" x="{self.left - 8}" y="{at + 4:.1f}" text-anchor="end">{text}</text>')
        for tick in self.x_ticks:
            at = self.px(tick)
            parts.append(f'<line class="axis" x1="{at:.1f}" x2="{at:.1f}" y1="{self.bottom}" y2="{self.bottom + 5}"/>')
            text = tick_text(tick, self.x_ticks, self.x.percent)
            parts.append(f'<text class="tick" x="{at:.1f}" y="{self.bottom + 20}" text-anchor="middle">{text}</text>')
        parts.append(
            f'<line class="axis" x1="{self.left}" x2="{self.right}" y1="{self.bottom}" y2="{self.bottom}"/>'
            f'<text x="{self.width / 2:.0f}" y="{self.height - 6}" text-anchor="middle">{escape(self.x.label)}</text>'
        )
        return "".join(parts + self._legend_parts())

    def _legend_parts(self) -> list[str]:
        parts = []
        for row, entries in enumerate(self._legend):
            for index, name, at in entries:
                y = 14 + 22 * row
                dash = f' stroke-dasharray="{DASHES[index]}"' if DASHES[index] else ""
                parts.append(
                    f'<line class="mark s{index + 1}" x1="{at}" x2="{at + 34}" y1="{y}" y2="{y}"{dash}/>'
                    f"{marker(index, at + 17, y)}"
                    f'<text x="{at + 41}" y="{y + 4}">{escape(name)}</text>'
                )
        return parts


def legend_rows(names: list[str], width: int) -> list[list[tuple[int, str, int]]]:
    """Break the legend into rows: 7 pixels are about a letter of 13 pixel text."""
    rows: list[list[tuple[int, str, int]]] = []
    at = width
    for index, name in enumerate(names):
        need = 41 + int(7.2 * len(name)) + 16
        if at + need > width:
            rows.append([])
            at = 2
        rows[-1].append((index, name, at))
        at += need
    return rows


def line_shape(frame: Frame, index: int, line: tuple[np.ndarray, np.ndarray]) -> str:
    """Draw a line, its points in drawing order, with markers that tell it from the others."""
    places = [(frame.px(a), frame.py(b)) for a, b in zip(*line, strict=True)]
    pairs = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dash = f' stroke-dasharray="{DASHES[index]}"' if DASHES[index] else ""
    drawn = f'<polyline class="s{index + 1}" points="{pairs}"{dash}/>'
    last = None
    for x, y in places:
        if last is None or math.hypot(x - last[0], y - last[1]) >= _APART:
            drawn += marker(index, x, y)
            last = (x, y)
    return drawn


def marker(index: int, x: float, y: float) -> str:
    fill, shape = f"f{index + 1}", _MARKERS[index]
    if shape == "circle":
        return f'<circle class="{fill}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>'
    if shape == "ring":
        return f'<circle class="ring s{index + 1}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>'
    if shape == "square":
        return f'<rect class="{fill}" x="{x - 3.2:.1f}" y="{y - 3.2:.1f}" width="6.4" height="6.4"/>'
    if shape == "cross":
        return f'<path class="mark s{index + 1}" d="M{x - 4:.1f},{y:.1f}h8M{x:.1f},{y - 4:.1f}v8"/>'
    d = "l4.5,8h-9z" if shape == "triangle" else "l4.5,4.5l-4.5,4.5l-4.5,-4.5z"
    return f'<path class="{fill}" d="M{x:.1f},{y - 4.5:.1f}{d}"/>'


def point_shape(frame: Frame, point: Point) -> str:
    """Draw a ring around the point and its label, on the side that has room."""
    x, y = frame.px(point.x), frame.py(point.y)
    room = 7.2 * len(point.name) + 16
    right = x + room < frame.right
    below = y + 22 < frame.bottom
    anchor, shift = ("start", 12) if right else ("end", -12)
    return (
        f'<circle class="ring s2" cx="{x:.1f}" cy="{y:.1f}" r="7"/>'
        f'<circle class="f2" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>'
        f'<text class="strong" x="{x + shift:.1f}" y="{y + (22 if below else -12):.1f}" '
        f'text-anchor="{anchor}">{escape(point.name)}</text>'
    )


def mark_shapes(frame: Frame, marks: Sequence[tuple[str, float]]) -> list[str]:
    """Draw labelled vertical marks, from left to right, below the axis' name: no line runs through a word."""
    places = [(name, frame.px(at), 7.2 * len(name) + 8) for name, at in marks]
    # To the right of their lines, the first on top; where the last has no room there, to the left, the last on top.
    to_left = bool(places) and places[-1][1] + places[-1][2] > frame.right
    shapes = []
    for rank, (name, x, width) in enumerate(places):
        y = frame.top - 12 - 17 * (rank if to_left else len(places) - 1 - rank)
        flip = to_left and x > width
        shapes.append(
            f'<line class="mark s2" x1="{x:.1f}" x2="{x:.1f}" y1="{y - 10}" y2="{frame.bottom}" '
            f'stroke-dasharray="5 3"/><text x="{x + (-6 if flip else 6):.1f}" y="{y}" '
            f'text-anchor="{"end" if flip else "start"}">{escape(name)}</text>'
        )
    return shapes


def ticks(low: float, high: float, most: int, percent: bool) -> list[float]:
    """Return round ticks that enclose [low, high]: steps of 1, 2 or 5 times a power of ten."""
    if high - low < 1e-12:
        room = max(abs(high), 1.0) * 0.05
        low, high = low - room, high + room
        if percent:
            low, high = max(low, 0.0), min(high, 1.0)
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [i * step for i in range(first, last + 1)]


def tick_text(tick: float, ticks: Sequence[float], percent: bool) -> str:
    scale = 100.0 if percent else 1.0
    step = (ticks[1] - ticks[0]) * scale
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    return f"{tick * scale + 0.0:,.{decimals}f}".replace("-", "−")
