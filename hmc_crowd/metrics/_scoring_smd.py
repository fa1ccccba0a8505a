"""Does the system score higher or lower than people do, overall and in a subgroup?

Both divide differences by standard deviations, so both need one rule for "no spread": a standard deviation within
1e-7 of 0, or below 1e-9 of the mean, is none, and then there is no value (RSMTool's SMD has no such rule, and a
spread of 1e-9 makes it explode to 1e8; its DSM has the first half).

Sources: RSMTool's page "Evaluation Metrics"; Williamson, Xi, Breyer (2012); Johnson, Liu, McCaffrey (2022).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.metrics._intervals import Ask, ask_for, smooth_interval
from hmc_crowd.metrics._intervals_clusters import cluster_ways
from hmc_crowd.metrics._intervals_moments import Rows, pivot_of, take_totals
from hmc_crowd.metrics._result import Metric
from hmc_crowd.metrics._scoring_centred import RELATIVE
from hmc_crowd.metrics._scoring_groups import GroupMetrics
from hmc_crowd.metrics._validate import Pairs, group_codes, named_or_given, score_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SMALL_GROUP", "difference_of_standardized_means", "standardized_mean_difference"]

METHODS = ("unpooled", "pooled", "johnson", "williamson")
NO_SPREAD = 1e-7
# Means of fewer responses say little about a group; they are shown, with a warning.
SMALL_GROUP = 10


def standardized_mean_difference(
    human: Any,
    system: Any = None,
    *,
    method: str = "unpooled",
    population_human_sd: float | None = None,
    population_system_sd: float | None = None,
    ddof: int = 1,
    level: float = 0.95,
    interval: str = "auto",
    clusters: Any = None,
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> Metric:
    """Return (mean M - mean H) / sd.

    Parameters
    ----------
    human, system, clusters, level, interval, rng, n_boot
        As in `exact_agreement`.
    method : {"unpooled", "pooled", "johnson", "williamson"}
        sd: of H; root mean of both variances; `population_human_sd`; root mean of both population variances. In any
        case of letters. "williamson" is not the default (it was before version 7 of the page).
    population_human_sd, population_system_sd : float, optional
        For "johnson" (the first) and "williamson" (both), in score points.
    ddof : int, default 1
        Taken from n in the sample variances.

    Returns
    -------
    Metric
        In standard deviations; positive if the system scores higher. Undefined where the sd is none.

    Raises
    ------
    InputError
        As `exact_agreement`; an unknown method; a population sd is missing.

    Examples
    --------
    >>> round(standardized_mean_difference([1, 2, 3], [2, 2, 4], interval="none").value, 4)  # (8 / 3 - 2) / 1
    0.6667
    """
    ask = ask_for(level, interval, rng, n_boot)
    kind = str(method).lower()
    fixed = _population(kind, method, population_human_sd, population_system_sd)
    if ddof not in (0, 1):
        raise InputError(f"ddof is {ddof!r}; give 0 or 1")
    pairs = score_pairs(human, system, clusters=clusters)
    told: dict[str, Any] = {"name": f"SMD ({kind})", "n": pairs.n, "dropped": pairs.dropped, "level": ask.level}
    if pairs.n <= ddof and (fixed is None or pairs.n == 0):
        return Metric.undefined("one pair has no variance" if pairs.n else "no complete pair of scores", **told)
    h, m = _standing(pairs.human), _standing(pairs.system)
    needed = [] if fixed is not None else [("human", h)] + ([("system", m)] if kind == "pooled" else [])
    sd = fixed if fixed is not None else math.sqrt(sum(each.sd(ddof) ** 2 for _, each in needed) / len(needed))
    if sd <= max(NO_SPREAD, RELATIVE * max(abs(h.mean), abs(m.mean))):
        return Metric.undefined(f"the {' and '.join(name for name, _ in needed)} scores have no spread", **told)
    rows = Rows.of(h.centred, m.centred, h.centred**2, m.centred**2)

    def formula(sums: NDArray[Any]) -> NDArray[Any]:
        n = sums[..., 0]
        apart = m.above(h) + (sums[..., 2] - sums[..., 1]) / n
        if fixed is not None:
            return np.asarray(apart / fixed)
        squares = sums[..., 3] - sums[..., 1] ** 2 / n
        if kind == "pooled":
            squares = (squares + sums[..., 4] - sums[..., 2] ** 2 / n) / 2
        return np.asarray(apart / np.sqrt(squares / (n - ddof)))

    totals = take_totals(rows, products=ask.interval != "none")
    found = smooth_interval(rows, totals, formula, ask, ways=pairs.ways)
    return Metric(m.above(h) / sd, **told, **found.fields())


def difference_of_standardized_means(
    human: Any,
    system: Any = None,
    groups: Any = None,
    *,
    level: float = 0.95,
    interval: str = "auto",
    clusters: Any = None,
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> GroupMetrics:
    """Return, for each group, the mean of (M - mean M) / sd M - (H - mean H) / sd H.

    Parameters
    ----------
    human, system, clusters, level, interval, rng, n_boot
        As in `exact_agreement`.
    groups : array, shape (n,)
        The group of each response (or a column's name, beside a frame); where it is missing the response still
        counts in the means and sds of all.

    Returns
    -------
    GroupMetrics
        By name of the group; positive if the system favours it more than people do. All four means and sds (ddof 1)
        are those of the whole set, the group included. "All data" is 0 up to rounding. Undefined where a column has
        no spread. Groups of fewer than 10 carry a warning.

    Raises
    ------
    InputError
        As `exact_agreement`, or `groups` has another length.

    Examples
    --------
    >>> found = difference_of_standardized_means([1, 2, 3, 4], [2, 3, 3, 4], ["a", "a", "b", "b"], interval="none")
    >>> {group: round(each.value, 4) for group, each in found.items()}
    {'a': 0.1622, 'b': -0.1622}
    """
    ask = ask_for(level, interval, rng, n_boot)
    pairs = score_pairs(human, system, clusters=clusters)
    length = len(pairs.keep) if pairs.keep is not None else pairs.n
    if groups is None:
        raise InputError("groups is missing; give the group of each response")
    names, code = group_codes(named_or_given(human, groups), length)
    code = code if pairs.keep is None else code[pairs.keep]
    told: dict[str, Any] = {"name": "DSM", "dropped": dict(pairs.dropped), "level": ask.level}
    lost = int(np.count_nonzero(code < 0))
    h, m = _standing(pairs.human), _standing(pairs.system)
    flat = [name for name, each in (("human", h), ("system", m)) if each.none()]
    if pairs.n < 2 or flat:
        why = f"the {' and '.join(flat)} scores have no spread" if pairs.n >= 2 else "fewer than two complete pairs"
        counts = np.bincount(code[code >= 0], minlength=len(names))
        made = {g: Metric.undefined(why, n=int(k), **told) for g, k in zip(names, counts, strict=True)}
        return GroupMetrics(made, Metric.undefined(why, n=pairs.n, **told), "DSM")
    z = np.stack([h.centred / h.sd(1), m.centred / m.sd(1)])
    whole = Metric(float((z[1] - z[0]).mean()), n=pairs.n, **told, method="no interval: 0 by construction")
    if lost:
        told["dropped"]["group is missing"] = lost
    return GroupMetrics({g: _of_group(z, code == k, pairs, ask, told) for k, g in enumerate(names)}, whole, "DSM")


def rater_standing_difference(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    inside: NDArray[np.bool_],
    *,
    level: float = 0.95,
    interval: str = "auto",
    clusters: Any = None,
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> Metric:
    """Return the DSM of a second human against the first in a group, as RSMTool's ``consistency_by_<group>`` has it.

    The group's means are those of its double-scored responses. The first human stands among all responses, the second
    (NaN where there is none) among those that are double-scored: so it is not 0 for all data.
    """
    ask = ask_for(level, interval, rng, n_boot)
    double = np.isfinite(second)
    group = inside & double
    told: dict[str, Any] = {"name": "DSM", "level": ask.level}
    n, size = int(double.sum()), int(group.sum())
    if n < 2 or size == 0:
        why = "fewer than two double-scored responses" if n < 2 else "no double-scored response in this group"
        return Metric.undefined(why, n=size, **told)
    h1, h2 = _standing(first), _standing(second[double])
    flat = [name for name, each in (("first", h1), ("second", h2)) if each.none()]
    if flat:
        return Metric.undefined(f"the {' and '.join(flat)} human's scores have no spread", n=size, **told)
    z1, z2 = h1.centred / h1.sd(1), np.zeros(len(first))
    z2[double] = h2.centred / h2.sd(1)
    both, within = double.astype(np.float64), group.astype(np.float64)
    rows = Rows.of(z1, z1**2, both, z2, z2**2, within, within * z1, within * z2)

    def formula(sums: NDArray[Any]) -> NDArray[Any]:
        apart = []
        for n_, total, squares, part in ((0, 1, 2, 7), (3, 4, 5, 8)):
            count, mean = sums[..., n_], sums[..., total] / sums[..., n_]
            sd = np.sqrt((sums[..., squares] - count * mean**2) / (count - 1))
            apart.append((sums[..., part] / sums[..., 6] - mean) / sd)
        return np.asarray(apart[1] - apart[0])

    totals = take_totals(rows, products=ask.interval != "none")
    found = smooth_interval(rows, totals, formula, ask, ways=cluster_ways(clusters, len(first)))
    if size == 1:
        found = type(found)(None, None, "no interval: one response in this group")
    small = (f"only {size} responses in this group",) if size < SMALL_GROUP else ()
    fields = {**found.fields(), "warnings": (*small, *found.warnings)}
    return Metric(float((z2 - z1)[group].mean()), n=size, **told, **fields)


def _of_group(
    z: NDArray[np.float64], inside: NDArray[np.bool_], pairs: Pairs, ask: Ask, told: dict[str, Any]
) -> Metric:
    size = int(np.count_nonzero(inside))
    if size == 0:
        return Metric.undefined("no complete pair of scores in this group", n=0, **told)
    in_group = inside.astype(np.float64)
    rows = Rows.of(z[0], z[1], z[0] ** 2, z[1] ** 2, in_group, in_group * z[0], in_group * z[1])

    def formula(sums: NDArray[Any]) -> NDArray[Any]:
        n, k = sums[..., 0], sums[..., 5]
        sd = np.sqrt((sums[..., 3:5] - sums[..., 1:3] ** 2 / n[..., None]) / (n[..., None] - 1))
        apart = (sums[..., 6:8] / k[..., None] - sums[..., 1:3] / n[..., None]) / sd
        return np.asarray(apart[..., 1] - apart[..., 0])

    totals = take_totals(rows, products=ask.interval != "none")
    found = smooth_interval(rows, totals, formula, ask, ways=pairs.ways)
    small = (f"only {size} responses in this group",) if size < SMALL_GROUP else ()
    if size == 1:
        found = type(found)(None, None, "no interval: one response in this group")
    fields = {**found.fields(), "warnings": (*small, *found.warnings)}
    return Metric(float((z[1] - z[0])[inside].mean()), n=size, **told, **fields)


@dataclass(frozen=True, eq=False)
class _Standing:
    """A column about its mean; the mean in two parts, since one float would lose digits on a large offset."""

    centred: NDArray[np.float64]
    pivot: float
    rest: float

    @property
    def mean(self) -> float:
        return self.pivot + self.rest

    def above(self, other: _Standing) -> float:
        return (self.pivot - other.pivot) + (self.rest - other.rest)

    def sd(self, ddof: int) -> float:
        n = len(self.centred)
        return math.sqrt(float(np.square(self.centred).sum()) / (n - ddof)) if n > ddof else math.nan

    def none(self) -> bool:
        return not self.sd(1) > max(NO_SPREAD, RELATIVE * abs(self.mean))


def _standing(values: NDArray[np.float64]) -> _Standing:
    if len(values) == 0:
        return _Standing(values, math.nan, math.nan)
    pivot = pivot_of(values)
    shifted = values - pivot
    rest = float(shifted.mean())
    shifted -= rest
    return _Standing(shifted, pivot, rest)


def _population(kind: str, method: str, human_sd: float | None, system_sd: float | None) -> float | None:
    if kind not in METHODS:
        raise InputError(f"method is {method!r}; give one of {', '.join(METHODS)}")
    if kind in {"unpooled", "pooled"}:
        return None
    needed = {"population_human_sd": human_sd}
    if kind == "williamson":
        needed["population_system_sd"] = system_sd
    for name, value in needed.items():
        if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 < float(value) < math.inf:
            raise InputError(
                f"{name} is {value!r}, but method {kind!r} needs it; give a positive number of score points"
            )
    return math.sqrt(sum(float(value or 0.0) ** 2 for value in needed.values()) / len(needed))
