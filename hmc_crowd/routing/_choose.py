"""Which point of a sweep should be used? Rules instead of a glance at a plot.

The paper names its choice (trade-off 4.6, half of the items) but not its criterion. The rules here are stated, and
repeatable. Choose on one part of the data and report on another: the best of many points looks better than it is.

Source of the knee: Satopaa, Albrecht, Irwin, Raghavan (2011), "Finding a 'kneedle' in a haystack".
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.routing._render import html_table

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["Choice", "Rule", "choose", "pareto_front"]

Rule: TypeAlias = Literal["best_within_effort", "least_effort", "knee"]
_METRICS = ("accuracy", "f1", "precision", "recall")
_ASSUMPTIONS = ("chosen because it looks best on these points: report its figures on other data",)


@dataclass(frozen=True)
class Choice:
    """One point of a sweep, and the rule that chose it. Made by `choose`.

    Parameters
    ----------
    trade_off, max_human
        Arguments for `route`.
    score : float
        The metric at this point.
    human_share, effort_share : float
        As in the sweep.
    metric, rule : str
        What was compared, and how.
    row : object
        Index of the point in the frame.
    n_points, n_allowed : int
        Points compared, and those that the rule allows.
    assumptions : tuple of str
        What to keep in mind.
    """

    trade_off: float
    max_human: int | float | None
    score: float
    human_share: float
    effort_share: float
    metric: str
    rule: str
    row: Any
    n_points: int
    n_allowed: int
    assumptions: tuple[str, ...] = _ASSUMPTIONS

    def __str__(self) -> str:
        cap = "no cap" if self.max_human is None else f"max_human {self.max_human:g}"
        return (
            f"trade_off {self.trade_off:g}, {cap}: {self.metric} {self.score:.4f}, human share {self.human_share:.4f}, "
            f"effort share {self.effort_share:.4f} ({self.rule}, {self.n_allowed:,} of {self.n_points:,} points)"
        )

    def _repr_html_(self) -> str:
        return html_table("Choice", ((name, getattr(self, name)) for name in self.__dataclass_fields__))

    def to_frame(self) -> pd.DataFrame:
        """Return one row with a column per field but the assumptions."""
        import pandas as pd

        names = [name for name in self.__dataclass_fields__ if name != "assumptions"]
        return pd.DataFrame([{name: getattr(self, name) for name in names}])


def choose(
    frame: pd.DataFrame,
    *,
    rule: Rule,
    max_effort_share: float | None = None,
    min_score: float | None = None,
    metric: str = "accuracy",
) -> Choice:
    """Choose one point of a sweep by a stated rule.

    Parameters
    ----------
    frame : pandas.DataFrame
        What `sweep` gave, with labels.
    rule : {"best_within_effort", "least_effort", "knee"}
        "best_within_effort": the best score whose `effort_share` is at most `max_effort_share`. "least_effort": the
        least effort whose score is at least `min_score`. "knee": the point of the Pareto front that lies farthest
        above the straight line between the front's ends, both axes stretched to [0, 1]; further effort brings less
        from there on.
    max_effort_share, min_score : float, optional
        In [0, 1]. Each is needed by the rule that names it; the others take it as a further condition.
    metric : {"accuracy", "f1", "precision", "recall"}, default "accuracy"
        What counts as score.

    Returns
    -------
    Choice
        Equal points: less effort (or the better score), then fewer people, then the first row.

    Raises
    ------
    InputError
        A limit is missing or out of range, the rule is unknown, or no point satisfies the conditions (the message
        names the nearest figure).
    FrameError
        The frame lacks a column, or has no labels.

    Examples
    --------
    >>> from hmc_crowd.routing import sweep
    >>> labels = {"target": ["a", "b"], "predicted": ["a", "a"]}
    >>> points = sweep([0.9, 0.2], [0.5, 0.5], trade_offs=[0.0], max_humans=[0, 1, 2], **labels)
    >>> choose(points, rule="least_effort", min_score=1.0).max_human
    1
    """
    if rule not in {"best_within_effort", "least_effort", "knee"}:
        raise InputError(f"rule is {rule!r}; use 'best_within_effort', 'least_effort' or 'knee'")
    score, effort, people = _axes(frame, metric)
    _check_limits(rule, max_effort_share, min_score)
    allowed = _allowed(score, effort, max_effort_share, min_score, metric)
    rows = np.flatnonzero(allowed)
    if rule == "knee":
        rows = _front(score, effort, people, rows)
        best = rows[_knee(score[rows], effort[rows])]
    elif rule == "least_effort":
        best = rows[np.lexsort((rows, people[rows], -score[rows], effort[rows]))[0]]
    else:
        best = rows[np.lexsort((rows, people[rows], effort[rows], -score[rows]))[0]]
    point = frame.iloc[int(best)]
    return Choice(
        trade_off=float(point["trade_off"]),
        max_human=_cap(frame, int(best)),
        score=float(score[best]),
        human_share=float(people[best]),
        effort_share=float(effort[best]),
        metric=metric,
        rule=rule,
        row=frame.index[int(best)],
        n_points=len(frame),
        n_allowed=int(allowed.sum()),
    )


def pareto_front(frame: pd.DataFrame, *, metric: str = "accuracy") -> pd.DataFrame:
    """Return the points of a sweep that no other beats: more score always costs more effort.

    Parameters
    ----------
    frame : pandas.DataFrame
        What `sweep` gave, with labels.
    metric : {"accuracy", "f1", "precision", "recall"}, default "accuracy"
        What counts as score.

    Returns
    -------
    pandas.DataFrame
        Rows of `frame` with their index, by rising effort; of equal points the one with fewer people, then the first.

    Raises
    ------
    InputError, FrameError
        As `choose`.

    Examples
    --------
    >>> from hmc_crowd.routing import sweep
    >>> labels = {"target": ["a", "b"], "predicted": ["a", "a"]}
    >>> points = sweep([0.9, 0.2], [0.5, 0.5], trade_offs=[0.0], max_humans=[0, 1, 2], **labels)
    >>> pareto_front(points)["max_human"].tolist()
    [0, 1]
    """
    score, effort, people = _axes(frame, metric)
    return frame.iloc[_front(score, effort, people, np.arange(len(frame)))]


def _axes(frame: pd.DataFrame, metric: str) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return score, effort share and human share of every point."""
    if metric not in _METRICS:
        raise InputError(f"metric is {metric!r}; use one of {', '.join(_METRICS)}")
    missing = {"trade_off", "max_human", "human_share", "effort_share", metric} - set(frame.columns)
    if missing:
        raise FrameError(f"frame lacks {', '.join(sorted(missing))}; give the frame that sweep() returned")
    if len(frame) == 0:
        raise FrameError("frame has no rows; give the frame that sweep() returned")
    columns = [frame[name].to_numpy(dtype=np.float64) for name in (metric, "effort_share", "human_share")]
    for name, column in zip((metric, "effort_share", "human_share"), columns, strict=True):
        if np.isnan(column).any():
            raise FrameError(f"frame has no {name} in some rows; give sweep() target, predicted and an effort above 0")
    return columns[0], columns[1], columns[2]


def _check_limits(rule: str, max_effort_share: float | None, min_score: float | None) -> None:
    for name, limit in (("max_effort_share", max_effort_share), ("min_score", min_score)):
        if limit is None:
            if (rule, name) in {("best_within_effort", "max_effort_share"), ("least_effort", "min_score")}:
                raise InputError(f"rule={rule!r} needs {name}; give a number in [0, 1]")
        elif isinstance(limit, (bool, np.bool_)) or not isinstance(limit, Real) or not 0.0 <= float(limit) <= 1.0:
            raise InputError(f"{name} is {limit!r}; give a number in [0, 1]")


def _allowed(
    score: NDArray[np.float64],
    effort: NDArray[np.float64],
    max_effort_share: float | None,
    min_score: float | None,
    metric: str,
) -> NDArray[np.bool_]:
    """Mark the points within the limits, or name what the points could reach."""
    allowed = np.ones(len(score), dtype=bool)
    if max_effort_share is not None:
        allowed &= effort <= max_effort_share
        if not allowed.any():
            raise InputError(
                f"no point has an effort_share of at most {max_effort_share:g}; the least is {effort.min():.4f}"
            )
    if min_score is not None:
        reached = float(score[allowed].max())
        allowed &= score >= min_score
        if not allowed.any():
            within = "" if max_effort_share is None else " within that effort"
            raise InputError(f"no point reaches {metric} {min_score:g}{within}; the best is {reached:.4f}")
    return allowed


def _front(
    score: NDArray[np.float64], effort: NDArray[np.float64], people: NDArray[np.float64], rows: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return the rows that no other row beats, by rising effort."""
    ranked = rows[np.lexsort((rows, people[rows], -score[rows], effort[rows]))]
    before = np.concatenate(([-np.inf], np.maximum.accumulate(score[ranked])[:-1]))
    return ranked[score[ranked] > before]


def _knee(score: NDArray[np.float64], effort: NDArray[np.float64]) -> int:
    """Return the place on a front that is farthest above the line between its ends; the first of a front of two."""
    if len(score) < 3:
        return 0
    x = (effort - effort[0]) / (effort[-1] - effort[0])
    y = (score - score[0]) / (score[-1] - score[0])
    return int(np.argmax(y - x))


def _cap(frame: pd.DataFrame, row: int) -> int | float | None:
    """Give a cap back as it went in: a count as int, a share as float, no cap as None."""
    value = frame["max_human"].iloc[row]
    if value != value:
        return None
    # An int column that came to hold NaN has turned to floats; a share never exceeds 1.
    if isinstance(value, (int, np.integer)) or float(value) > 1.0:
        return int(value)
    return float(value)
