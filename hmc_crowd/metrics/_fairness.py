"""Do a system's errors depend on the subgroup of the person who is scored?

Three questions, each a share of variance that group membership explains: of the squared error (overall score
accuracy, OSA), of the error M - H (overall score difference, OSD), and of the error beyond what the human score
explains (conditional score difference, CSD).

The number is the ADJUSTED R2 as a fraction, as in RSMTool, whose page calls it a percentage of variance: it may be
negative, and for CSD, a difference of two of them, it may exceed 1. Plain R2 and partial eta^2 (in [0, 1]) stand
beside it. Where a model is saturated, or the groups are one and the same thing as score levels, there is a reason
instead of a number.

Sources: Loukina, Madnani, Zechner (2019); RSMTool's page "Evaluation Metrics" (its "absolute error" is the signed one).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.metrics._fairness_fit import GroupFit, explained_ends, fit_groups
from hmc_crowd.metrics._fairness_result import FairnessAnalysis, GroupEffect
from hmc_crowd.metrics._intervals import Ask, Interval, ask_for, no_interval, spread_interval
from hmc_crowd.metrics._intervals_boot import bca_ends, counts_of_draws, multiway_ends
from hmc_crowd.metrics._intervals_clusters import spread_of
from hmc_crowd.metrics._scoring_smd import SMALL_GROUP, difference_of_standardized_means
from hmc_crowd.metrics._validate import group_codes, named_or_given, score_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.metrics._intervals_clusters import Way

__all__ = ["fairness_analysis"]

NAMES = {"osa": "overall score accuracy", "osd": "overall score difference", "csd": "conditional score difference"}


def fairness_analysis(
    human: Any,
    system: Any = None,
    groups: Any = None,
    *,
    base: str | None = None,
    level: float = 0.95,
    interval: str = "auto",
    clusters: Any = None,
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> FairnessAnalysis:
    """Return OSA, OSD, CSD and DSM for a column of subgroups.

    Parameters
    ----------
    human, system : array of scores, shape (n,), or a frame
        As in `exact_agreement`.
    groups : array, shape (n,)
        Subgroup of each response, or a column's name beside a frame; responses without one are left out and counted.
    base : str, optional
        Group that the coefficients compare with; the largest if not given, of equal ones the first by name. It
        changes no share of variance and no p-value. The intercept of CSD stands at the most common human score.
    level, interval, clusters, rng, n_boot
        As in `exact_agreement`. "auto" inverts the noncentral F distribution (equal normal errors); with `clusters`
        it is the delta method, which takes the p-value's place where rows are not independent.

    Returns
    -------
    FairnessAnalysis
        ``osa, osd, csd``: metrics whose value is ``r2_adj``, with ``p_value, r2, partial_eta2``; ``details`` hold
        also ``f, df_groups, df_resid, r2_of_fit``. ``estimates``: coefficients by model. ``dsm``: difference of
        standardised means.

    Raises
    ------
    InputError
        Unequal lengths, no group at all, or `base` is no group.

    Notes
    -----
    CSD takes each distinct human score as a category. With continuous scores nearly every score is its own category,
    nothing is left to explain, and there is no value (RSMTool: NaN). One group alone gives no value either. If the
    human score explains the whole error, as for a constant system, the groups explain 0 of it, and p is 1.

    The adjusted R2 falls below 0 where groups explain less than chance alone would, as most unrelated groups do. The
    interval is of the share that it estimates, which cannot: then the value stands left of it, and a warning says so.

    Examples
    --------
    >>> found = fairness_analysis([1, 2, 3, 4] * 2, [1.2, 2.1, 3.3, 3.9, 0.7, 1.6, 2.9, 3.5], ["b"] * 4 + ["a"] * 4)
    >>> found.base, round(found.osd.value, 4), round(found.osd.details["p_value"], 4)
    ('a', 0.648, 0.0098)
    """
    ask = ask_for(level, interval, rng, n_boot)
    pairs = score_pairs(human, system, clusters=clusters)
    if groups is None:
        raise InputError("groups is missing; give the subgroup of each response")
    groups = named_or_given(human, groups)
    names, code = group_codes(groups, pairs.n if pairs.keep is None else len(pairs.keep))
    if base is not None and str(base) not in names:
        raise InputError(f"base is {base!r}, which is no group; the groups are {', '.join(names[:12])}")
    code = code if pairs.keep is None else code[pairs.keep]
    shared: dict[str, Any] = {"level": level, "interval": interval, "clusters": clusters, "rng": rng, "n_boot": n_boot}
    dsm = difference_of_standardized_means(human, system, groups, **shared)
    dropped = dict(pairs.dropped)
    inside = code >= 0
    if not inside.all():
        dropped["group is missing"] = int(np.count_nonzero(~inside))
    ways = tuple(way.take(inside) for way in pairs.ways)
    data = _Data(pairs.human[inside], pairs.system[inside], code[inside], names, ways, dropped)
    order, counts = data.order(base)
    made = {key: _question(key, data, order, ask) for key in NAMES}
    notes = tuple(
        f"group {name!r} has {size} response{'s' if size != 1 else ''}"
        for name, size in counts.items()
        if size < SMALL_GROUP
    )
    return FairnessAnalysis(
        osa=made["osa"][0],
        osd=made["osd"][0],
        csd=made["csd"][0],
        dsm=dsm,
        base=order[0] if order else "",
        counts=counts,
        estimates={key: rows for key, (_, rows) in made.items()},
        dropped=dropped,
        warnings=notes,
    )


@dataclass(frozen=True, eq=False)
class _Data:
    human: NDArray[np.float64]
    system: NDArray[np.float64]
    code: NDArray[np.intp]
    names: list[str]
    ways: tuple[Way, ...]
    dropped: dict[str, int] = field(default_factory=dict)

    def order(self, base: str | None) -> tuple[list[str], dict[str, int]]:
        """Return the groups that occur, base first and the others by size, and their sizes by name."""
        sizes = np.bincount(self.code, minlength=len(self.names)).tolist()
        counts = dict(zip(self.names, sizes, strict=True))
        found = sorted((name for name in self.names if counts[name]), key=lambda name: (-counts[name], name))
        if base is not None and str(base) in found:
            found = [str(base), *(name for name in found if name != str(base))]
        return found, counts

    def quantity(self, key: str) -> NDArray[np.float64]:
        error = self.system - self.human
        return error**2 if key == "osa" else error


Row = dict[str, Any]


def _question(key: str, data: _Data, order: list[str], ask: Ask) -> tuple[GroupEffect, list[Row]]:
    told: dict[str, Any] = {"name": NAMES[key], "n": len(data.human), "dropped": data.dropped, "level": ask.level}
    if len(data.human) < 2:
        return GroupEffect.undefined("fewer than two complete responses", **told), []
    spot = {name: place for place, name in enumerate(order)}
    group = np.array([spot.get(name, 0) for name in data.names], dtype=np.intp)[data.code]
    y = data.quantity(key)
    levels = _levels(data.human) if key == "csd" else None
    if levels is not None and int(levels.max()) + 1 >= len(y):
        why = "every response has a human score of its own, which leaves nothing for the groups to explain (saturated)"
        return GroupEffect.undefined(why, **told), []
    biggest = max(float(np.abs(data.human).max()), float(np.abs(data.system).max()))
    noise = 4e-16 * biggest * (2 * float(np.abs(data.system - data.human).max()) if key == "osa" else 1.0)
    fit = fit_groups(y, group, order, levels, noise=noise)
    reason = _hindrance(fit, key)
    details = _details(fit, reason)
    rows = _estimates(fit, ask.level)
    if reason:
        return GroupEffect.undefined(reason, **told, details=details), rows
    warnings: tuple[str, ...] = ()
    if fit.nothing_left:
        warnings = (
            "the human score explains the whole error; the groups explain none of it, and p is 1 by convention",
        )
        return GroupEffect(
            0.0, **told, method="no interval: nothing left to explain", warnings=warnings, details=details
        ), rows
    found = _interval(fit, y, group, levels, data.ways, ask)
    fields = found.fields()
    fields["warnings"] += _outside(fit.r2_adj(), found)
    if data.ways:
        fields["warnings"] += ("the p-value takes responses as independent; the interval does not",)
    return GroupEffect(fit.r2_adj(), **told, **fields, details=details), rows


def _outside(value: float, interval: Interval) -> tuple[str, ...]:
    """Say why a value stands beside its interval instead of inside it."""
    if interval.low is None or interval.high is None or interval.low <= value <= interval.high:
        return ()
    if value < 0.0 <= interval.low:
        return (
            "the adjusted R2 is below 0, which no share can be: the groups explain less than chance alone would; read "
            "it as 0, the interval is of the share itself",
        )
    return ("the value lies outside its interval, which corrects for the bias of the draws",)


def _levels(human: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return a code for each distinct score; 0 is the most common one, of equally common ones the lowest."""
    code, counts = np.unique(human, return_inverse=True, return_counts=True)[1:]
    common = int(counts.argmax())
    swapped = np.arange(len(counts))
    swapped[[0, common]] = swapped[[common, 0]]
    return swapped[code].astype(np.intp)


def _hindrance(fit: GroupFit, key: str) -> str:
    if len(fit.names) < 2:
        return "one group only: there is nothing to compare"
    if fit.total <= fit.floor:
        return "the error is the same for all responses"
    if fit.df <= 0:
        return "the model has a coefficient for every response (saturated)"
    if fit.rank < len(fit.names) - 1:
        what = "the human score" if key == "csd" else "the others"
        return f"rank {fit.rank} of {len(fit.names) - 1}: some groups cannot be told apart from {what}"
    return ""


def _details(fit: GroupFit, reason: str) -> dict[str, Any]:
    details: dict[str, Any] = {
        "df_groups": fit.rank,
        "df_resid": fit.df,
        "r2_of_fit": fit.r2(),
        "r2": (fit.without - fit.within) / fit.total if fit.total > 0 else None,
        "partial_eta2": fit.partial_eta2(),
        "p_value": None,
        "f": None,
    }
    if not reason:
        from scipy.special import fdtrc

        f = 0.0 if fit.nothing_left else (fit.f() if fit.within > 0 else np.inf)
        details |= {"f": f, "p_value": float(fdtrc(fit.rank, fit.df, f)), "r2_adj": fit.r2_adj()}
    return details


def _estimates(fit: GroupFit, level: float) -> list[Row]:
    from scipy.special import stdtr, stdtrit

    known = fit.df > 0
    t = float(stdtrit(fit.df, (1 + level) / 2)) if known else np.nan
    rows = []
    for place, (name, value, error) in enumerate(zip(fit.names, fit.coefficients, fit.errors, strict=True)):
        with np.errstate(divide="ignore", invalid="ignore"):
            p = float(2 * stdtr(fit.df, -abs(value / error))) if known else np.nan
        told = f"Intercept ({name})" if place == 0 else name
        rows.append(
            {"group": told, "estimate": float(value), "p": p, "low": value - t * error, "high": value + t * error}
        )
    return rows


def _interval(
    fit: GroupFit,
    y: NDArray[np.float64],
    group: NDArray[np.intp],
    levels: NDArray[np.intp] | None,
    ways: tuple[Way, ...],
    ask: Ask,
) -> Interval:
    if ask.interval == "none":
        return no_interval("not asked for")
    if ask.interval == "bootstrap":
        return _bootstrap(fit, y, group, levels, ways, ask)
    if ways:
        return spread_interval(fit.r2_adj(), _pull(fit, y), ways, ask.level)
    if fit.within == 0.0:
        return no_interval("the groups explain the whole error")
    low, high = explained_ends(fit.f(), fit.rank, fit.df, fit.n, ask.level)
    # The share of what the levels leave, as a share of the whole variance.
    left = fit.without / (fit.n - fit.levels) / (fit.total / (fit.n - 1))
    assumed = ("rows are independent", "errors are normal with one variance")
    return Interval(low * left, high * left, "analytic (noncentral F)", (), assumed)


def _pull(fit: GroupFit, y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Influence on r2_adj: each sum of squares moves by the row's own square, its coefficients being best already."""
    per = fit.total / (fit.n - 1)
    without = fit.residuals[0] ** 2 - fit.without / fit.n
    within = fit.residuals[1] ** 2 - fit.within / fit.n
    total = (y - y.mean()) ** 2 - fit.total / fit.n
    top = without / (fit.n - fit.levels) - within / fit.df
    return np.asarray(top / per - fit.r2_adj() * total / (fit.n - 1) / per)


def _bootstrap(
    fit: GroupFit,
    y: NDArray[np.float64],
    group: NDArray[np.intp],
    levels: NDArray[np.intp] | None,
    ways: tuple[Way, ...],
    ask: Ask,
) -> Interval:
    """Draw rows or clusters again and fit each time; a two-way draw counts a row as often as both its clusters."""
    rng, draws = ask.generator(), np.full(ask.n_boot, np.nan)
    for turn in range(ask.n_boot):
        if ways:
            times = np.ones(fit.n)
            for way in ways:
                times *= counts_of_draws(way.size, 1, rng)[0][way.code]
            take = np.repeat(np.arange(fit.n), times.astype(np.intp))
        else:
            take = rng.integers(0, fit.n, fit.n)
        if len(take) < 2:
            continue
        again = None if levels is None else np.unique(levels[take], return_inverse=True)[1].astype(np.intp)
        made = fit_groups(y[take], group[take], fit.names, again)
        if made.df > 0 and made.total > 0 and not made.nothing_left:
            draws[turn] = made.r2_adj()
    good = draws[np.isfinite(draws)]
    if len(good) < 0.9 * ask.n_boot or np.ptp(good) == 0.0:
        return no_interval("the bootstrap draws show no spread or are mostly undefined")
    pull = _pull(fit, y)
    value = fit.r2_adj()
    if len(ways) == 2:
        ends = multiway_ends(value, good, ways, ask.level)
    else:
        ends = bca_ends(value, good, ways[0].sums(pull) if ways else pull, ask.level)
    warned = tuple(each for way in ways for each in spread_of(pull, (way,)).warnings)
    told = "multiway" if len(ways) == 2 else "BCa"
    return Interval(*ends, f"{told} bootstrap, {ask.n_boot:,} draws", warned, ("rows or clusters are independent",))
