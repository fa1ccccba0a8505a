"""Does the ROUTING treat subgroups alike: whose items go to people, and how good are the final labels of each?

Per subgroup: the share of items sent to people, the accuracy of the final labels, and the error left in the items that
the machine kept, each with an interval, and each compared with all other items. A router may be accurate overall and
still leave one group to a machine that is worse for it; a share sent that differs is no fault by itself, an accuracy
that differs is.

For numeric labels also the difference of standardised means (DSM) and the share of squared error that the groups
explain (OSA) of the FINAL labels; for other labels OSA of right and wrong.

Sources: requirement F14; DSM and OSA: Loukina, Madnani, Zechner (2019), as in `fairness_analysis`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import require_same_length
from hmc_crowd.metrics._codes import bool_vector, label_codes
from hmc_crowd.metrics._fairness import fairness_analysis
from hmc_crowd.metrics._influence import t_quantile
from hmc_crowd.metrics._intervals import ask_for
from hmc_crowd.metrics._intervals_clusters import cluster_ways, spread_of
from hmc_crowd.metrics._result import Metric
from hmc_crowd.metrics._scoring_smd import difference_of_standardized_means
from hmc_crowd.metrics._unit_intervals import mean_interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from numpy.typing import NDArray

    from hmc_crowd.metrics._intervals import Ask
    from hmc_crowd.metrics._intervals_clusters import Way

__all__ = ["RoutingFairness", "routing_fairness"]

_FEW = 30


@dataclass(frozen=True, eq=False)
class RoutingFairness:
    """Routing by subgroup.

    Parameters
    ----------
    sent : mapping of group -> Metric
        Share of the group's items that people judged.
    accuracy : mapping of group -> Metric
        Of the final labels.
    kept_error : mapping of group -> Metric
        Share of wrong labels among the items the machine kept.
    gaps : mapping of (name, group) -> Metric
        Group minus all other items, for ``sent, accuracy, kept_error``; ``details`` hold ``p_value``.
    dsm : mapping of group -> Metric
        Difference of standardised means of the final labels (numeric labels only, else empty).
    osa : Metric
        Adjusted R2 of the groups for the squared error of the final labels; ``details`` hold ``p_value``.
    warnings : tuple of str
        Small groups and the like.
    """

    sent: Mapping[str, Metric]
    accuracy: Mapping[str, Metric]
    kept_error: Mapping[str, Metric]
    gaps: Mapping[tuple[str, str], Metric]
    dsm: Mapping[str, Metric]
    osa: Metric
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        worst = min(self.accuracy, key=lambda group: float(self.accuracy[group]))
        return (
            f"RoutingFairness: {len(self.accuracy)} groups, lowest accuracy {float(self.accuracy[worst]):.4f} "
            f"({worst}); groups explain {float(self.osa):.4f} of the squared error"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row per group: ``group, n, dsm`` and per metric the value, ``_low, _high, _gap, _p``."""
        import pandas as pd

        rows = []
        for group, accuracy in self.accuracy.items():
            row: dict[str, Any] = {"group": group, "n": accuracy.n}
            named = {"sent": self.sent[group], "accuracy": accuracy, "kept_error": self.kept_error[group]}
            for name, metric in named.items():
                gap = self.gaps[name, group]
                row |= {
                    name: float(metric),
                    f"{name}_low": _nan(metric.low),
                    f"{name}_high": _nan(metric.high),
                    f"{name}_gap": float(gap),
                    f"{name}_p": gap.details.get("p_value", math.nan),
                }
            row["dsm"] = float(self.dsm[group]) if group in self.dsm else math.nan
            rows.append(row)
        return pd.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "groups": {
                group: {
                    "sent": self.sent[group].to_dict(),
                    "accuracy": self.accuracy[group].to_dict(),
                    "kept_error": self.kept_error[group].to_dict(),
                    "gaps": {name: self.gaps[name, group].to_dict() for name in ("sent", "accuracy", "kept_error")},
                    "dsm": self.dsm[group].to_dict() if group in self.dsm else None,
                }
                for group in self.accuracy
            },
            "osa": self.osa.to_dict(),
            "warnings": list(self.warnings),
        }


def routing_fairness(
    target: Any,
    final: Any,
    to_human: Any,
    groups: Any,
    *,
    clusters: Any = None,
    level: float = 0.95,
) -> RoutingFairness:
    """Compare subgroups in what is sent to people and in what comes out.

    Parameters
    ----------
    target, final : array of labels, shape (n_items,)
        True labels, and the labels of the finished evaluation.
    to_human : array of bool, shape (n_items,)
        Items that people judged.
    groups : array, shape (n_items,)
        Subgroup of each item.
    clusters : array (n_items,), or two of them, optional
        Items that belong together (dialogues).
    level : float, default 0.95
        Coverage of the intervals.

    Returns
    -------
    RoutingFairness

    Raises
    ------
    InputError
        Lengths differ or a value is missing.

    Notes
    -----
    A gap is the group's mean minus that of all other items, with a t interval and p-value from clustered influences;
    the p-values are not corrected for the number of groups.

    Examples
    --------
    >>> fair = routing_fairness([1, 0, 1, 0], [1, 0, 1, 1], [True, True, False, False], ["a", "a", "b", "b"])
    >>> fair.sent["a"].value, fair.accuracy["b"].value, fair.kept_error["b"].value
    (1.0, 0.5, 0.5)
    """
    ask = ask_for(level)
    labels, codes = label_codes(target=target, final=final)
    human = bool_vector(to_human, name="to_human")
    names, member = label_codes(groups=groups)
    require_same_length([("target", codes["target"]), ("to_human", human), ("groups", member["groups"])])
    code, n = member["groups"], len(human)
    ways = cluster_ways(clusters, n)
    right = (codes["target"] == codes["final"]).astype(np.float64)
    everything = np.ones(n, dtype=bool)
    columns = {
        "sent": (human.astype(np.float64), everything),
        "accuracy": (right, everything),
        "kept_error": (1.0 - right, ~human),
    }
    found: dict[str, dict[str, Metric]] = {name: {} for name in columns}
    gaps: dict[tuple[str, str], Metric] = {}
    texts = [str(each) for each in names]
    for name, (values, counted) in columns.items():
        for place, group in enumerate(texts):
            inside = (code == place) & counted
            found[name][group] = _mean(values, inside, ask, ways, name)
            gaps[name, group] = _gap(values, inside, counted & ~inside, ask, ways, f"{name}, {group} minus the rest")
    dsm, osa = _numeric(labels, codes, right, np.array(texts, dtype=object)[code], clusters, level)
    size = np.bincount(code, minlength=len(texts))
    small = [
        f"group {group!r} has {many} items" for group, many in zip(texts, size.tolist(), strict=True) if many < _FEW
    ]
    return RoutingFairness(found["sent"], found["accuracy"], found["kept_error"], gaps, dsm, osa, tuple(small))


def _mean(values: NDArray[np.float64], rows: NDArray[np.bool_], ask: Ask, ways: tuple[Way, ...], name: str) -> Metric:
    n = int(rows.sum())
    if n == 0:
        why = "the machine kept no item of the group" if name == "kept_error" else "the group has no item"
        return Metric.undefined(why, name=name, level=ask.level)
    made = mean_interval(values[rows], ask, tuple(way.take(rows) for way in ways))
    return Metric(float(values[rows].mean()), n=n, level=ask.level, name=name, **made.fields())


def _gap(
    values: NDArray[np.float64],
    inside: NDArray[np.bool_],
    outside: NDArray[np.bool_],
    ask: Ask,
    ways: tuple[Way, ...],
    name: str,
) -> Metric:
    from scipy.special import stdtr

    n, m = int(inside.sum()), int(outside.sum())
    if n == 0 or m == 0:
        return Metric.undefined("no items to compare", name=name, n=n + m, level=ask.level)
    first, second = float(values[inside].mean()), float(values[outside].mean())
    influence = np.zeros(len(values))
    influence[inside] = (values[inside] - first) / n
    influence[outside] = -(values[outside] - second) / m
    both = inside | outside
    spread = spread_of(influence[both], tuple(way.take(both) for way in ways))
    error = spread.variance**0.5
    if not error > 0.0:
        return Metric(first - second, n=n + m, level=ask.level, name=name, method="no interval: no spread")
    half = t_quantile(ask.level, spread.df) * error
    p_value = float(2.0 * stdtr(spread.df, -abs((first - second) / error)))
    ends = max(first - second - half, -1.0), min(first - second + half, 1.0)
    how = spread.how or "t"
    return Metric(
        first - second,
        *ends,
        n + m,
        level=ask.level,
        method=f"analytic (difference of means, {how})",
        warnings=spread.warnings,
        name=name,
        assumptions=spread.assumptions,
        details={"p_value": p_value, "se": error},
    )


def _numeric(
    labels: list[Any],
    codes: dict[str, NDArray[np.intp]],
    right: NDArray[np.float64],
    groups: NDArray[Any],
    clusters: Any,
    level: float,
) -> tuple[Mapping[str, Metric], Metric]:
    """Return DSM by group and OSA of the final labels; of right and wrong where labels are no numbers."""
    numeric = all(isinstance(each, (int, float, np.number)) for each in labels)
    if not numeric:
        whole = fairness_analysis(np.ones(len(right)), right, groups, level=level, clusters=clusters)
        return {}, whole.osa
    numbers = np.asarray(labels, dtype=np.float64)
    truth, made = numbers[codes["target"]], numbers[codes["final"]]
    whole = fairness_analysis(truth, made, groups, level=level, clusters=clusters)
    dsm = difference_of_standardized_means(truth, made, groups, level=level, clusters=clusters)
    return dict(dsm.items()), whole.osa


def _nan(value: float | None) -> float:
    return math.nan if value is None else value
