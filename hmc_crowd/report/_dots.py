"""Which of these is larger, and is the difference more than chance? Values with intervals beside one another.

Names stand one below the other, values on a common x axis: positions on one scale are what people compare best. Several
series lie in one row, each with a marker and a colour of its own. On a narrow screen a name stands above its row.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.report._draw import DASHES, Axis, legend_rows, marker, tick_text, ticks
from hmc_crowd.report._svg import NARROW, WIDE, Chart, svg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["Dots", "dot_chart"]

_LETTER = 7.2  # pixels of a letter of 13 pixel text, about
_SERIES_PX, _ROOM_PX = 14, 12


@dataclass(frozen=True)
class Dots:
    """A named series: one value per name, with the ends of its interval where there is one; NaN is not drawn."""

    name: str
    value: ArrayLike
    low: ArrayLike | None = None
    high: ArrayLike | None = None


def dot_chart(
    key: str,
    names: Sequence[str],
    series: Sequence[Dots],
    *,
    title: str,
    description: str,
    x: Axis,
    line: float | None = None,
) -> Chart:
    """Draw values with intervals, a row for each name.

    Parameters
    ----------
    key : str
        Name of the chart, unique in its page.
    names : sequence of str, shape (n,)
        From top to bottom; long ones are shortened in the drawing.
    series : sequence of Dots
        At most six, each with n values; more cannot be told apart.
    title, description : str
        The text alternative.
    x : Axis
        The axis of the values.
    line : float, optional
        Where a dashed line stands, such as 0 for "no difference".

    Raises
    ------
    InputError
        No name, no series or more than six, lengths that differ, or no finite value.

    Examples
    --------
    >>> chart = dot_chart("d", ["rouge", "people"], [Dots("agreement", [0.61, 0.74], [0.53, 0.68], [0.68, 0.79])],
    ...                   title="T", description="People agree more.", x=Axis("Agreement (%)", percent=True))
    >>> chart.wide.count("<circle"), "People agree more." in chart.narrow
    (2, True)
    """
    if not names or not series or len(series) > len(DASHES):
        raise InputError(
            f"dot_chart got {len(names)} names and {len(series)} series; give at least one name and 1 to "
            f"{len(DASHES)} series"
        )
    columns = [_columns(each, len(names)) for each in series]
    every = np.concatenate([part for column in columns for part in column] + [np.array([] if line is None else [line])])
    every = every[np.isfinite(every)]
    if not any(np.isfinite(column[0]).any() for column in columns):
        raise InputError("series holds no finite value; give at least one")
    legend = [each.name for each in series] if len(series) > 1 else []
    drawn = []
    for width in (WIDE[0], NARROW[0]):
        rows = _Rows(width, list(names), len(series), every, x, legend)
        body = [rows.axis(x, line)]
        body += [rows.dots(index, column) for index, column in enumerate(columns)]
        drawn.append(svg(width, rows.height, key, title, description, "".join(body)))
    return Chart(key, title, description, *drawn)


class _Rows:
    """Pixels of names and values, at one width."""

    def __init__(
        self, width: int, names: list[str], n_series: int, values: NDArray[np.float64], x: Axis, legend: list[str]
    ) -> None:
        few = width < 500
        self._names, self._n_series, self._is_narrow = names, n_series, few
        self._legend = legend_rows(legend, width)
        longest = max(len(name) for name in names)
        self.left = 24 if few else round(min(_LETTER * longest + 16, 250))
        self.right = width - 22
        self._shown = int((width - 20) / _LETTER) if few else int((self.left - 12) / _LETTER)
        self._row = _SERIES_PX * n_series + _ROOM_PX + (18 if few else 0)
        self.top = 10 + 22 * len(self._legend)
        self.bottom = self.top + self._row * len(names) + 4
        self.height = self.bottom + 46
        self._width = width
        self._ticks = ticks(float(values.min()), float(values.max()), 4 if few else 8, x.percent)

    def px(self, value: float) -> float:
        low, high = self._ticks[0], self._ticks[-1]
        return self.left + (value - low) / (high - low) * (self.right - self.left)

    def _y(self, row: int, index: int) -> float:
        head = 18 if self._is_narrow else 0
        return self.top + row * self._row + head + _ROOM_PX / 2 + _SERIES_PX * (index + 0.5)

    def axis(self, x: Axis, line: float | None) -> str:
        parts = []
        for tick in self._ticks:
            at = self.px(tick)
            parts.append(f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{self.top}" y2="{self.bottom}"/>')
            text = tick_text(tick, self._ticks, x.percent)
            parts.append(f'<text class="tick" x="{at:.1f}" y="{self.bottom + 18}" text-anchor="middle">{text}</text>')
        if line is not None:
            at = self.px(line)
            parts.append(
                f'<line class="axis" x1="{at:.1f}" x2="{at:.1f}" y1="{self.top}" y2="{self.bottom}" '
                'stroke-dasharray="5 3"/>'
            )
        for row, name in enumerate(self._names):
            if row and self._n_series > 1:
                y = self.top + row * self._row
                parts.append(f'<line class="grid" x1="2" x2="{self.right}" y1="{y}" y2="{y}"/>')
            shown = name if len(name) <= self._shown else f"{name[: self._shown - 1]}…"
            top = self.top + row * self._row
            if self._is_narrow:
                parts.append(f'<text x="2" y="{top + 15}">{escape(shown)}</text>')
            else:
                middle = top + _ROOM_PX / 2 + _SERIES_PX * self._n_series / 2 + 4
                parts.append(f'<text x="{self.left - 10}" y="{middle:.1f}" text-anchor="end">{escape(shown)}</text>')
        parts.append(
            f'<line class="axis" x1="{self.left}" x2="{self.right}" y1="{self.bottom}" y2="{self.bottom}"/>'
            f'<text x="{self._width / 2:.0f}" y="{self.height - 6}" text-anchor="middle">{escape(x.label)}</text>'
        )
        for number, entries in enumerate(self._legend):
            for index, name, at in entries:
                parts.append(marker(index, at + 17, 14 + 22 * number))
                parts.append(f'<text x="{at + 29}" y="{18 + 22 * number}">{escape(name)}</text>')
        return "".join(parts)

    def dots(self, index: int, column: tuple[NDArray[np.float64], ...]) -> str:
        parts = []
        for row, (value, low, high) in enumerate(zip(*column, strict=True)):
            if not np.isfinite(value):
                continue
            y = self._y(row, index)
            if np.isfinite(low) and np.isfinite(high):
                parts.append(
                    f'<line class="mark s{index + 1}" x1="{self.px(low):.1f}" x2="{self.px(high):.1f}" '
                    f'y1="{y:.1f}" y2="{y:.1f}"/>'
                )
            parts.append(marker(index, self.px(value), y))
        return "".join(parts)


def _columns(series: Dots, n: int) -> tuple[NDArray[np.float64], ...]:
    value = np.asarray(series.value, dtype=np.float64)
    ends = [
        np.full(n, np.nan) if each is None else np.asarray(each, dtype=np.float64) for each in (series.low, series.high)
    ]
    for name, each in zip(("value", "low", "high"), (value, *ends), strict=True):
        if each.shape != (n,):
            raise InputError(f"series {series.name!r} has {name} of shape {each.shape} for {n} names; give one each")
    return value, *ends
