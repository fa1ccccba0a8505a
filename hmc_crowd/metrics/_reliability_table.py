"""How reliable are the final labels and what did they cost, overall, per turn or by any group, and how surely?

The metrics of the HMCEval paper, each with an interval that respects clusters (the dialogue of a turn): macro
precision, recall, F1 and accuracy; human ratio and time cost; and for the machine's confidence the AUC, the accuracy of
the most confident, and the area under risk-coverage.

Source: Zhang, Ren, de Rijke (2021), section 4.4, table 3, figure 6; intervals: `_reliability_influence`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import float_vector, require_same_length
from hmc_crowd.errors import InputError
from hmc_crowd.metrics._codes import bool_vector, label_codes
from hmc_crowd.metrics._confidence import confidence_auc, risk_coverage, top_k_accuracy
from hmc_crowd.metrics._influence import Spread, share_interval
from hmc_crowd.metrics._intervals import Ask, Interval, ask_for, no_interval
from hmc_crowd.metrics._intervals_clusters import Way, cluster_ways, spread_of
from hmc_crowd.metrics._reliability_influence import macro_influence, ratio_influence
from hmc_crowd.metrics._result import Metric, metrics_frame

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["Reliability", "influence_interval", "reliability"]


@dataclass(frozen=True, eq=False)
class Reliability:
    """Reliability metrics overall and by group.

    Parameters
    ----------
    metrics : mapping of name -> Metric
        ``precision, recall, f1, accuracy`` and, where the input was given, ``human_ratio, time_cost, auc, top_k,
        risk_area``.
    groups : mapping of group -> mapping of name -> Metric
        In sorted order (turns as numbers); empty without `by`.
    """

    metrics: Mapping[str, Metric]
    groups: Mapping[Any, Mapping[str, Metric]] = field(default_factory=dict)

    def __str__(self) -> str:
        return "; ".join(f"{name} {float(metric):.4f}" for name, metric in self.metrics.items()) + (
            f" (n = {self.metrics['accuracy'].n:,})"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return ``group, metric, value, low, high, n, ...``; the group of the overall rows is 'all'."""
        import pandas as pd

        frames = []
        for group, metrics in [("all", self.metrics), *self.groups.items()]:
            frame = metrics_frame(metrics).rename(columns={"name": "metric"})
            frame.insert(0, "group", [group] * len(frame))
            frames.append(frame)
        return pd.concat(frames, ignore_index=True)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "metrics": {name: metric.to_dict() for name, metric in self.metrics.items()},
            "groups": {
                str(group): {name: metric.to_dict() for name, metric in metrics.items()}
                for group, metrics in self.groups.items()
            },
        }


def reliability(
    target: Any,
    final: Any,
    *,
    by: Any = None,
    to_human: Any = None,
    true_effort: Any = None,
    confidence: Any = None,
    machine: Any = None,
    share: float = 0.5,
    clusters: Any = None,
    level: float = 0.95,
    interval: str = "auto",
) -> Reliability:
    """Return the reliability of final labels with intervals, overall and by group.

    Parameters
    ----------
    target, final : array of labels, shape (n_items,)
        True labels, and the labels of the finished evaluation.
    by : array, shape (n_items,), optional
        The turn, or any other group.
    to_human : array of bool, shape (n_items,), optional
        Items that people judged: gives the human ratio.
    true_effort : array of float, shape (n_items,), optional
        Effort of judging each item, in any unit: gives the time cost.
    confidence : array of float, shape (n_items,), optional
        The machine's confidence.
    machine : array of labels, shape (n_items,), optional
        The machine's labels, which `confidence` speaks of; default `final`.
    share : float, default 0.5
        Part of the items that "most confident" means.
    clusters : array (n_items,), or two of them, optional
        Items that belong together (dialogues).
    level : float, default 0.95
        Coverage of the intervals.
    interval : {"auto", "analytic", "none"}
        "auto" is analytic.

    Returns
    -------
    Reliability

    Raises
    ------
    InputError
        Lengths differ or a value is missing.

    Examples
    --------
    >>> made = reliability(["a", "a", "b", "b"], ["a", "b", "b", "b"], by=[1, 1, 2, 2])
    >>> made.metrics["accuracy"].value, made.groups[1]["accuracy"].value
    (0.75, 0.5)
    """
    if interval == "bootstrap":
        raise InputError("interval is 'bootstrap'; the reliability metrics have analytic intervals")
    ask = ask_for(level, interval)
    _, codes = label_codes(target=target, final=final, **({} if machine is None else {"machine": machine}))
    columns = _Columns(
        codes["target"],
        codes["final"],
        codes.get("machine", codes["final"]),
        None if to_human is None else bool_vector(to_human, name="to_human"),
        None if true_effort is None else float_vector(true_effort, name="true_effort", low=0.0),
        None if confidence is None else float_vector(confidence, name="confidence"),
    )
    n = len(columns.truth)
    named = [("to_human", columns.human), ("true_effort", columns.effort), ("confidence", columns.confidence)]
    require_same_length([("target", columns.truth), *(pair for pair in named if pair[1] is not None)])
    ways = cluster_ways(clusters, n)
    overall = _metrics(columns, ways, ask, share)
    if by is None:
        return Reliability(overall)
    found, code = label_codes(by=by)
    require_same_length([("target", columns.truth), ("by", code["by"])])
    groups = {}
    for place, group in enumerate(found):
        rows = code["by"] == place
        groups[group] = _metrics(columns.take(rows), tuple(way.take(rows) for way in ways), ask, share)
    return Reliability(overall, groups)


@dataclass(frozen=True)
class _Columns:
    truth: NDArray[np.intp]
    final: NDArray[np.intp]
    machine: NDArray[np.intp]
    human: NDArray[np.bool_] | None
    effort: NDArray[np.float64] | None
    confidence: NDArray[np.float64] | None

    def take(self, rows: NDArray[np.bool_]) -> _Columns:
        return _Columns(
            self.truth[rows],
            self.final[rows],
            self.machine[rows],
            None if self.human is None else self.human[rows],
            None if self.effort is None else self.effort[rows],
            None if self.confidence is None else self.confidence[rows],
        )


def _metrics(columns: _Columns, ways: tuple[Way, ...], ask: Ask, share: float) -> dict[str, Metric]:
    n = len(columns.truth)
    size = int(max(columns.truth.max(), columns.final.max(), columns.machine.max())) + 1
    parts = macro_influence(columns.truth, columns.final, size)
    if columns.human is not None:
        human = columns.human.astype(np.float64)
        parts["human_ratio"] = ratio_influence(human, np.ones(n))
        if columns.effort is not None and float(columns.effort.sum()) > 0.0:
            parts["time_cost"] = ratio_influence(human * columns.effort, columns.effort)
    out = {}
    for name, (value, influence) in parts.items():
        made = influence_interval(value, influence, ask, ways)
        out[name] = Metric(value, n=n, level=ask.level, name=name, **made.fields())
    if columns.human is not None and columns.effort is not None and "time_cost" not in out:
        out["time_cost"] = Metric.undefined("the items take no effort", name="time_cost", n=n, level=ask.level)
    if columns.confidence is not None:
        out.update(_confidence(columns, ways, ask, share))
    return out


def _confidence(columns: _Columns, ways: tuple[Way, ...], ask: Ask, share: float) -> dict[str, Metric]:
    score, right = columns.confidence, columns.truth == columns.machine
    if score is None:
        return {}
    clusters = {way.name: way.code for way in ways} or None
    common: dict[str, Any] = {"clusters": clusters, "level": ask.level, "interval": ask.interval}
    auc = confidence_auc(score, right, **common)
    top = top_k_accuracy(score, right, share=share, **common)
    curve = risk_coverage(score, right, **common)
    area = Metric(curve.area, curve.low, curve.high, curve.n, level=ask.level, name="risk_area")
    named = {"auc": auc, "top_k": top}
    return {
        **{
            name: Metric(
                v.value, v.low, v.high, v.n, level=ask.level, method=v.method, reason=v.reason or None, name=name
            )
            for name, v in named.items()
        },
        "risk_area": area,
    }


def influence_interval(
    value: float, influence: NDArray[np.float64], ask: Ask, ways: tuple[Way, ...], *, top: float = 1.0
) -> Interval:
    """Return Wilson's interval with the effective number of rows, for a share whose influences are known."""
    if ask.interval == "none":
        return no_interval("not asked for")
    n = len(influence)
    parts = min((way.size for way in ways), default=n)
    if parts < 2:
        return no_interval("one row or cluster has no spread")
    spread = spread_of(influence, ways)
    rough = Spread(spread.variance**0.5, spread.df, parts)
    low, high = share_interval(value, rough, n, ask.level, high=top)
    how = f", {spread.how}" if spread.how else ", t"
    method = f"analytic (Wilson with the effective number of rows{how})"
    return Interval(low, high, method, spread.warnings, spread.assumptions)
