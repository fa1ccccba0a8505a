"""How are numbers drawn so that everybody can read them? As inline SVG.

A chart has real text, a title and a description for those who cannot see it, colours that colour-blind
people can tell apart (Okabe and Ito, 2008), and never colour alone: lines differ by dash and marker as well. Each
chart is drawn twice, for a wide and a narrow screen, so that its letters stay readable on a phone. Colours are the
page's variables, so a chart follows the page into the dark; :meth:`Chart.standalone` brings its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.report._draw import DASHES, Axis, Frame, Point, line_shape, mark_shapes, point_shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

__all__ = ["NARROW", "WIDE", "Chart", "Series", "histogram", "line_chart", "svg"]

WIDE, NARROW = (720, 380), (340, 300)
_LIGHT = ("#1b1f24", "#57606a", "#d4d9de", "#0b5c93", "#b04a00", "#00705a", "#9a4678", "#6b5b00", "#444444")
_STYLE = (
    ".chart text{{font:13px system-ui,sans-serif;fill:{0}}}.chart .tick{{fill:{1}}}.chart .grid{{stroke:{2}}}"
    ".chart .axis{{stroke:{1}}}.chart polyline,.chart .ring{{fill:none;stroke-width:2}}.chart .mark{{stroke-width:2}}"
)


@dataclass(frozen=True)
class Series:
    """A named line: ``x`` and ``y`` of equal length, missing points left out."""

    name: str
    x: ArrayLike
    y: ArrayLike


@dataclass(frozen=True)
class Chart:
    """A drawing with its text alternative.

    Parameters
    ----------
    key : str
        Name of the file and stem of the ids in the page.
    title, description : str
        Read aloud in place of the drawing; the description says what the drawing shows.
    wide, narrow : str
        SVG for a wide and for a narrow screen; made by :func:`line_chart` and :func:`histogram`, safe to embed.
    """

    key: str
    title: str
    description: str
    wide: str
    narrow: str

    def standalone(self) -> str:
        """Return the wide drawing as an SVG file of its own, on white."""
        colours = "".join(
            f".chart .s{i}{{stroke:{colour}}}.chart .f{i}{{fill:{colour}}}" for i, colour in enumerate(_LIGHT[3:], 1)
        )
        style = f"<style>{_STYLE.format(*_LIGHT)}{colours}</style><rect width='100%' height='100%' fill='#ffffff'/>"
        head, close, body = self.wide.partition("</desc>")
        head = head.replace("<svg ", f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDE[0]}" ', 1)
        return f"{head}{close}{style}{body}\n"


def line_chart(
    key: str,
    series: Sequence[Series],
    *,
    title: str,
    description: str,
    x: Axis,
    y: Axis,
    points: Sequence[Point] = (),
) -> Chart:
    """Draw lines over a common x axis.

    Parameters
    ----------
    key : str
        Name of the chart, unique in its page.
    series : sequence of Series
        At most six lines; more cannot be told apart.
    title, description : str
        The text alternative.
    x, y : Axis
        The axes.
    points : sequence of Point, optional
        Single points to show with a label.

    Raises
    ------
    InputError
        More than six lines, or no finite point at all.

    Examples
    --------
    >>> chart = line_chart("c", [Series("a", [0, 1], [0.8, 0.9])], title="T", description="It rises.",
    ...                    x=Axis("Time (s)"), y=Axis("Accuracy (%)", percent=True))
    >>> "<title" in chart.wide and "It rises." in chart.wide
    True
    """
    if len(series) > len(DASHES):
        raise InputError(f"series has {len(series)} lines; draw at most {len(DASHES)} in one chart")
    lines = [_finite(each) for each in series]
    xs = np.concatenate([line[0] for line in lines] + [np.array([p.x for p in points], dtype=float)])
    ys = np.concatenate([line[1] for line in lines] + [np.array([p.y for p in points], dtype=float)])
    if xs.size == 0:
        raise InputError("series holds no finite point; give at least one")
    names = [each.name for each in series]
    drawn = []
    for width, height in (WIDE, NARROW):
        frame = Frame(width, height, xs, ys, x, y, legend=names if len(names) > 1 else [])
        body = [frame.axes()]
        body += [line_shape(frame, i, line) for i, line in enumerate(lines)]
        body += [point_shape(frame, point) for point in points]
        drawn.append(svg(frame.width, frame.height, key, title, description, "".join(body)))
    return Chart(key, title, description, *drawn)


def histogram(
    key: str,
    edges: Sequence[float],
    counts: Sequence[int],
    *,
    title: str,
    description: str,
    x: Axis,
    y: Axis,
    marks: Sequence[tuple[str, float]] = (),
) -> Chart:
    """Draw counts as bars between edges, with labelled vertical marks such as the median.

    Parameters
    ----------
    key : str
        Name of the chart, unique in its page.
    edges : sequence of float, shape (n_bins + 1,)
        Borders of the bins.
    counts : sequence of int, shape (n_bins,)
        Height of each bar.
    title, description : str
        The text alternative.
    x, y : Axis
        The axes.
    marks : sequence of (str, float), optional
        Labelled positions on the x axis.

    Examples
    --------
    >>> chart = histogram("h", [0, 1, 2], [3, 1], title="T", description="Two bars.", x=Axis("s"), y=Axis("n"))
    >>> chart.wide.count('class="bar')
    2
    """
    if len(edges) != len(counts) + 1 or not len(counts):
        raise InputError(f"edges has {len(edges)} borders for {len(counts)} counts; give one border more than counts")
    drawn = []
    for width, height in (WIDE[0], 300), (NARROW[0], 260):
        limits = np.array([edges[0], edges[-1]], dtype=float)
        heights = np.array([0, max(*counts, 1)], dtype=float)
        frame = Frame(width, height, limits, heights, x, y, legend=[], top=14 + 17 * len(marks))
        bars = [
            f'<rect class="bar f1" x="{frame.px(left) + 0.5:.1f}" y="{frame.py(count):.1f}" '
            f'width="{max(frame.px(right) - frame.px(left) - 1, 0.5):.1f}" '
            f'height="{frame.bottom - frame.py(count):.1f}"/>'
            for left, right, count in zip(edges[:-1], edges[1:], counts, strict=True)
            if count
        ]
        lines = mark_shapes(frame, [(name, at) for name, at in marks if edges[0] <= at <= edges[-1]])
        drawn.append(svg(frame.width, frame.height, key, title, description, frame.axes() + "".join(bars + lines)))
    return Chart(key, title, description, *drawn)


def svg(width: int, height: int, key: str, title: str, description: str, body: str) -> str:
    """Return a drawing with its text alternative."""
    size = "wide" if width == WIDE[0] else "narrow"
    stem = escape(f"{key}-{size}")
    return (
        f'<svg class="chart {size}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-labelledby="{stem}-t {stem}-d"><title id="{stem}-t">{escape(title)}</title>'
        f'<desc id="{stem}-d">{escape(description)}</desc>{body}</svg>'
    )


def _finite(series: Series) -> tuple[np.ndarray, np.ndarray]:
    xs, ys = np.asarray(series.x, dtype=float), np.asarray(series.y, dtype=float)
    if xs.shape != ys.shape or xs.ndim != 1:
        raise InputError(f"series {series.name!r} has x of shape {xs.shape} and y of shape {ys.shape}; make them equal")
    good = np.isfinite(xs) & np.isfinite(ys)
    return xs[good], ys[good]
