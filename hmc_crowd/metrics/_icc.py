"""How much of the spread in scores is the units', and how much the raters' and noise?

The six intraclass correlations of McGraw and Wong: one-way (raters are a random handful for each unit), absolute
agreement (the same random raters; a rater who is always 1 higher costs) and consistency (that rater costs nothing);
each for a single rating and for the mean of k.

Complete designs use the analysis of variance and the exact F intervals. Incomplete designs use every rating by
Henderson's method 3 (fitting constants), which gives the same numbers when nothing is missing: with U units, R raters,
n ratings, c connected parts and SSE the residual sum of squares of unit + rater,

* sigma_e^2 = SSE / (n - U - R + c),
* sigma_unit^2 = (SSE_rater - SSE - (U - c) sigma_e^2) / (n - R), SSE_rater within raters,
* sigma_rater^2 = (SSE_unit - SSE - (R - c) sigma_e^2) / (n - U), SSE_unit within units.

Sources: McGraw, Wong (1996), table 7; Henderson (1953), method 3; Searle, Casella, McCulloch (1992), chapter 5.
Conformance: pingouin 0.6.1, which knows complete units only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.metrics._icc_parts import Components, components, group_interval
from hmc_crowd.metrics._intervals import ask_for
from hmc_crowd.metrics._intervals_clusters import cluster_ways
from hmc_crowd.metrics._ratings import Ratings, read_ratings
from hmc_crowd.metrics._result import Metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ICC_FORMS", "icc"]

ICC_FORMS = ("ICC(1,1)", "ICC(A,1)", "ICC(C,1)", "ICC(1,k)", "ICC(A,k)", "ICC(C,k)")
# Shrout and Fleiss' names, which older releases of pingouin and much of the literature use.
_OLD_NAMES = {
    "ICC1": "ICC(1,1)",
    "ICC2": "ICC(A,1)",
    "ICC3": "ICC(C,1)",
    "ICC1K": "ICC(1,k)",
    "ICC2K": "ICC(A,k)",
    "ICC3K": "ICC(C,k)",
}
Missing = Literal["auto", "drop", "use"]


def icc(
    ratings: Any,
    form: str = "ICC(A,1)",
    *,
    missing: Missing = "auto",
    k: float | None = None,
    clusters: Any = None,
    level: float = 0.95,
    interval: str = "auto",
) -> Metric:
    """Return an intraclass correlation with its interval.

    Parameters
    ----------
    ratings : array of shape (units, raters), wide frame, or long frame ``task, worker, label``
        Numbers; NaN, None: not rated.
    form : {"ICC(1,1)", "ICC(A,1)", "ICC(C,1)", "ICC(1,k)", "ICC(A,k)", "ICC(C,k)"}, default "ICC(A,1)"
        One-way, Agreement or Consistency; of one rating or of the mean of k. ICC1, ICC2, ICC3, ICC1k ... also work.
    missing : {"auto", "drop", "use"}, default "auto"
        "drop" keeps the units that every rater rated, as pingouin and SPSS do; "use" takes every rating by variance
        components; "auto" drops while at least half of the rated units (and two) are complete, with a warning that
        "use" would use more, and else uses every rating.
    k : float, optional
        Ratings whose mean the k-forms speak of. Default: the raters, or the harmonic mean of the ratings per unit
        when the design is incomplete.
    clusters : array, shape (units,), optional
        Units that belong together; the interval then leaves out whole clusters in turn.
    level : float, default 0.95
        Coverage of the interval.
    interval : {"auto", "analytic", "none"}
        "auto" is the exact F interval for complete designs without clusters, else a delete-a-group jackknife of the
        units on Fisher's z.

    Returns
    -------
    Metric
        At most 1; negative when raters differ more inside units than units do. ``n`` counts ratings used; ``details``
        hold the variance components, and for complete designs ``F, df1, df2, p_value``. Undefined with a reason for
        fewer than two units, fewer than two ratings anywhere, or no spread at all.

    Raises
    ------
    InputError
        Unknown form, ratings that are no numbers, `k` below 1.

    Examples
    --------
    Rater 2 is always 1 higher: consistent, but not in absolute agreement.

    >>> ratings = [[1, 2], [3, 4], [5, 6]]
    >>> icc(ratings, "ICC(C,1)").value, round(icc(ratings, "ICC(A,1)").value, 4)
    (1.0, 0.8889)
    """
    kind, single, name = _form(form)
    if missing not in {"auto", "drop", "use"}:
        raise InputError(f"missing is {missing!r}; choose auto, drop or use")
    if interval == "bootstrap":
        raise InputError("interval is 'bootstrap'; an intraclass correlation has analytic intervals only")
    coverage = ask_for(level, interval).level
    if k is not None and not k >= 1:
        raise InputError(f"k is {k!r}; give the number of ratings that are averaged, at least 1")
    read = read_ratings(ratings)
    ways = cluster_ways(clusters, read.n_units)
    if len(ways) > 1:
        raise InputError("clusters names two ways; the units of an intraclass correlation have one")
    numbers = read.values(why="the intraclass correlation")
    data = _choose(read, numbers, missing)
    common: dict[str, Any] = {"name": name, "dropped": data.dropped, "level": coverage, "warnings": data.warnings}
    together = ways[0].take(data.kept).code if ways else None
    parts = components(data.unit, data.rater, data.numbers, one_way=kind == "1")
    if isinstance(parts, str):
        return Metric.undefined(parts, n=len(data.unit), **common)
    size = k if k is not None else parts.mean_ratings
    value = _value(parts, kind, 1.0 if single else size)
    common["n"] = len(data.unit)
    if value is None:
        return Metric.undefined("the scores have no spread", **common)
    details = {**parts.told(kind), "k": 1.0 if single else size}
    if interval == "none":
        return Metric(value, details=details, **common)
    if parts.complete and together is None:
        low, high = _exact(parts, kind, 1.0 if single else size, coverage)
        method = "analytic (exact F)" if kind != "A" else "analytic (F with Satterthwaite's degrees of freedom)"
        assumes = ("units, raters and errors are normal and independent",)
        return Metric(value, low, high, method=method, assumptions=assumes, details=details, **common)

    def again(rows: NDArray[np.bool_]) -> float | None:
        part = components(data.unit[rows], data.rater[rows], data.numbers[rows], one_way=kind == "1")
        return None if isinstance(part, str) else _value(part, kind, 1.0 if single else size)

    made, error = group_interval(again, value, data.unit, together, coverage)
    common["warnings"] = (*data.warnings, *made.warnings)
    return Metric(value, **{**made.fields(), **common}, details={**details, "se": error})


@dataclass(frozen=True)
class _Chosen:
    unit: NDArray[np.intp]
    rater: NDArray[np.intp]
    numbers: NDArray[np.float64]
    kept: NDArray[np.bool_]
    dropped: dict[str, int]
    warnings: tuple[str, ...]


def _choose(read: Ratings, numbers: NDArray[np.float64], missing: Missing) -> _Chosen:
    whole = read.per_unit == read.n_raters
    n_whole, n_rated = int(whole.sum()), int((read.per_unit > 0).sum())
    drop = missing == "drop" or (missing == "auto" and n_whole >= max(2.0, n_rated / 2))
    kept = whole if drop else read.per_unit >= 1
    rows = kept[read.unit]
    lost = int((~rows).sum())
    dropped = {**read.dropped, "rating of an incomplete unit": lost}
    told: tuple[str, ...] = ()
    if lost and missing == "auto":
        told = (f"{n_rated - n_whole:,} incomplete units were left out; missing='use' takes every rating",)
    if missing == "auto" and not drop and not whole.all():
        told = (f"only {n_whole:,} of {n_rated:,} units are complete: every rating is used, by variance components",)
    place = np.cumsum(kept) - 1
    return _Chosen(place[read.unit[rows]], read.rater[rows], numbers[rows], kept, dropped, told)


def _form(form: str) -> tuple[str, bool, str]:
    name = _OLD_NAMES.get(str(form).upper(), form)
    if name not in ICC_FORMS:
        raise InputError(f"form is {form!r}; choose one of {', '.join(ICC_FORMS)}")
    return name[4], name[6] == "1", name


def _value(parts: Components, kind: str, k: float) -> float | None:
    rater = parts.rater if kind == "A" else 0.0
    below = parts.unit + (rater + parts.error) / k
    if not below > parts.tiny:
        return None
    return parts.unit / below


def _exact(parts: Components, kind: str, k: float, level: float) -> tuple[float | None, float | None]:
    """Return McGraw and Wong's interval for a complete design."""
    from scipy.stats import f as f_law

    tail = (1.0 + level) / 2.0
    n, r = parts.units, parts.raters
    ms_r, ms_c, ms_e = parts.between_units, parts.between_raters, parts.residual
    if kind in "1C":
        inside = parts.within_units if kind == "1" else ms_e
        df2 = n * (r - 1) if kind == "1" else (n - 1) * (r - 1)
        if inside <= parts.tiny:
            return None, None
        ratio = ms_r / inside
        lower = ratio / float(f_law.ppf(tail, n - 1, df2))
        upper = ratio * float(f_law.ppf(tail, df2, n - 1))
        ends = [(each - 1.0) / (each + r - 1.0) for each in (lower, upper)]
    else:
        value = parts.unit / (parts.unit + parts.rater + parts.error)
        # Between values of 1 and beyond the approximation has no degrees of freedom.
        if not value < 1.0 or ms_e <= parts.tiny:
            return None, None
        a = r * value / (n * (1.0 - value))
        b = 1.0 + r * value * (n - 1.0) / (n * (1.0 - value))
        top = (a * ms_c + b * ms_e) ** 2
        df = top / ((a * ms_c) ** 2 / (r - 1.0) + (b * ms_e) ** 2 / ((n - 1.0) * (r - 1.0)))
        f_low, f_high = float(f_law.ppf(tail, n - 1, df)), float(f_law.ppf(tail, df, n - 1))
        rest = r * ms_c + (r * n - r - n) * ms_e
        ends = [
            n * (ms_r - f_low * ms_e) / (f_low * rest + n * ms_r),
            n * (f_high * ms_r - ms_e) / (rest + n * f_high * ms_r),
        ]
    low, high = (each if k == 1.0 else k * each / (1.0 + (k - 1.0) * each) for each in ends)
    return low, high
