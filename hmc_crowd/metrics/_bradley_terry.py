"""How strong is each model, judged by comparisons of pairs of models?

Bradley-Terry: model i is preferred to j with probability 1 / (1 + exp(s_j - s_i)). The strengths s are the maximum of
the likelihood (a tie counts as half a win each), found by Newton's method; they sum to 0. The maximum exists only if
the models cannot be split in two groups of which one never wins against the other (Ford, 1957); where they can, there
is no value, with the reason, rather than a large number that depends on the stopping rule.

Intervals: the sandwich variance over comparisons, or over clusters of them; it is right for ties as half wins, where
the inverse information is too wide.

Sources: Bradley, Terry (1952); Ford (1957); Hunter (2004); White (1982) for the sandwich.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.metrics._influence import t_quantile
from hmc_crowd.metrics._intervals import ask_for
from hmc_crowd.metrics._intervals_clusters import cluster_ways
from hmc_crowd.metrics._outcomes import UNPARSED, read_outcomes
from hmc_crowd.metrics._ratings_codes import codes_of
from hmc_crowd.metrics._result import Metric

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["BradleyTerry", "bradley_terry"]


@dataclass(frozen=True, eq=False)
class BradleyTerry:
    """Strengths of models on the logit scale, with intervals.

    Parameters
    ----------
    strengths : mapping of model -> Metric
        Best first; they sum to 0. ``details``: ``se``, and ``win_probability`` against the average model.
    covariance : array of float, shape (models, models)
        Of the strengths, in the order of `strengths`; NaN if undefined.
    n : int
        Comparisons used.
    dropped : mapping of reason -> comparisons
    reason : str or None
        Why there are no values.
    method : str
    """

    strengths: Mapping[str, Metric]
    covariance: NDArray[np.float64]
    n: int
    dropped: Mapping[str, int]
    reason: str | None
    method: str
    level: float

    def __str__(self) -> str:
        if self.reason:
            return f"Bradley-Terry undefined: {self.reason} (n = {self.n:,})"
        best = next(iter(self.strengths.items()))
        return f"Bradley-Terry: {len(self.strengths)} models, first {best[0]} ({float(best[1]):+.4f}; n = {self.n:,})"

    def to_frame(self) -> pd.DataFrame:
        """Return ``model, strength, low, high, se, win_probability, n``, best first."""
        import pandas as pd

        rows = [
            (name, float(m), m.low, m.high, m.details.get("se"), m.details.get("win_probability"), m.n)
            for name, m in self.strengths.items()
        ]
        return pd.DataFrame(rows, columns=["model", "strength", "low", "high", "se", "win_probability", "n"])

    def win_probability(self, first: str, second: str) -> Metric:
        """Return the probability that the first model is preferred to the second, with its interval.

        Raises
        ------
        InputError
            A model that was not compared.
        """
        names = list(self.strengths)
        for name in (first, second):
            if name not in names:
                raise InputError(f"model {name!r} was not compared; there are {', '.join(names)}")
        title = f"P({first} preferred to {second})"
        if self.reason:
            return Metric.undefined(self.reason, name=title, n=self.n, level=self.level)
        i, j = names.index(first), names.index(second)
        gap = float(self.strengths[first]) - float(self.strengths[second])
        variance = self.covariance[i, i] + self.covariance[j, j] - 2.0 * self.covariance[i, j]
        half = t_quantile(self.level, 10**7) * float(max(variance, 0.0)) ** 0.5
        low, value, high = (1.0 / (1.0 + np.exp(-each)) for each in (gap - half, gap, gap + half))
        return Metric(value, low, high, self.n, self.dropped, self.level, self.method, name=title)


def bradley_terry(
    comparisons: Any, *, clusters: Any = None, level: float = 0.95, max_iterations: int = 100
) -> BradleyTerry:
    """Fit the Bradley-Terry model.

    Parameters
    ----------
    comparisons : frame or mapping with ``model_a, model_b, outcome``
        One row per comparison; the outcome is 'win', 'tie', 'loss' from model_a's view, None: unparsed.
    clusters : array, shape (n,), optional
        Comparisons that belong together, such as those of one instruction.
    level : float, default 0.95
        Coverage of the intervals (normal).
    max_iterations : int, default 100
        Newton steps before giving up with a reason.

    Returns
    -------
    BradleyTerry

    Raises
    ------
    InputError
        A column is missing, a model is missing or compared with itself, fewer than two models.

    Examples
    --------
    Two models, 3 wins of 4: the difference is log 3.

    >>> fit = bradley_terry({"model_a": ["x"] * 4, "model_b": ["y"] * 4, "outcome": ["win", "win", "win", "loss"]})
    >>> round(fit.strengths["x"].value - fit.strengths["y"].value, 4), round(float(fit.win_probability("x", "y")), 4)
    (1.0986, 0.75)
    """
    ask = ask_for(level)
    names, a, b, codes = _read(comparisons)
    ways = cluster_ways(clusters, len(codes))
    keep = codes != UNPARSED
    dropped = {"unparsed": int((~keep).sum())}
    a, b, win = a[keep], b[keep], (codes[keep].astype(np.float64) + 1.0) / 2.0
    n, k = len(a), len(names)
    method = "analytic (sandwich, normal)" + (f", clusters: {', '.join(way.name for way in ways)}" if ways else "")
    wins = np.bincount(a * k + b, weights=win, minlength=k * k) + np.bincount(
        b * k + a, weights=1 - win, minlength=k * k
    )
    table = np.asarray(wins, dtype=np.float64).reshape(k, k)
    strength, reason = _fit(table, names, max_iterations)
    if reason is not None:
        none = {name: Metric.undefined(reason, name=name, level=ask.level) for name in names}
        return BradleyTerry(none, np.full((k, k), np.nan), n, dropped, reason, method, ask.level)
    chance = 1.0 / (1.0 + np.exp(strength[b] - strength[a]))
    rest = win - chance
    scores = [np.arange(n), np.arange(n)], [a, b], [rest, -rest]
    groups = tuple(way.take(keep) for way in ways)
    covariance = _sandwich(table + table.T, strength, scores, groups, n)
    order = sorted(range(k), key=lambda each: (-strength[each], each))
    played = np.bincount(a, minlength=k) + np.bincount(b, minlength=k)
    quantile = t_quantile(ask.level, 10**7)
    found = {}
    for each in order:
        se, s = float(covariance[each, each]) ** 0.5, float(strength[each])
        details = {"se": se, "win_probability": 1.0 / (1.0 + np.exp(-s))}
        found[names[each]] = Metric(
            s, s - quantile * se, s + quantile * se, int(played[each]), {}, ask.level, method, name=names[each],
            assumptions=("strengths explain all preferences (no cycles)", "comparisons (clusters) are independent"),
            details=details,
        )  # fmt: skip
    return BradleyTerry(found, covariance[np.ix_(order, order)], n, dropped, None, method, ask.level)


def _read(comparisons: Any) -> tuple[list[str], NDArray[np.intp], NDArray[np.intp], NDArray[np.int8]]:
    columns = []
    for name in ("model_a", "model_b", "outcome"):
        try:
            columns.append(comparisons[name])
        except (KeyError, TypeError, IndexError):
            raise FrameError(f"comparisons has no column {name!r}; give model_a, model_b and outcome") from None
    codes = read_outcomes(columns[2], name="outcome")
    texts = [np.asarray([str(each) for each in np.asarray(column, dtype=object).tolist()]) for column in columns[:2]]
    if not len(texts[0]) == len(texts[1]) == len(codes):
        raise InputError("model_a, model_b and outcome differ in length; give one row per comparison")
    names, flat = codes_of(np.concatenate(texts))
    a, b = flat[: len(codes)], flat[len(codes) :]
    if (a == b).any():
        row = int((a == b).argmax())
        raise InputError(f"row {row} compares model {names[a[row]]!r} with itself; drop such rows")
    if len(names) < 2:
        raise InputError(f"comparisons holds {len(names)} models; give at least two")
    return names, a, b, codes


def _fit(wins: NDArray[np.float64], names: list[str], steps: int) -> tuple[NDArray[np.float64], str | None]:
    from scipy.sparse.csgraph import connected_components

    k = len(names)
    parts, label = connected_components(wins > 0.0, directed=True, connection="strong")
    if parts > 1:
        small = names_of(label, names)
        return np.zeros(k), f"{small} cannot be placed: some models never win, or never lose, against the others"
    total, met = wins.sum(axis=1), wins + wins.T
    s = np.zeros(k)

    def likelihood(at: NDArray[np.float64]) -> float:
        return -float((wins * np.logaddexp(0.0, at[None, :] - at[:, None])).sum())

    now = likelihood(s)
    for _ in range(steps):
        p = 1.0 / (1.0 + np.exp(s[None, :] - s[:, None]))
        slope = total - (met * p).sum(axis=1)
        if float(np.abs(slope).max()) < 1e-11 * max(float(total.max()), 1.0):
            break
        move = np.linalg.pinv(_information(met, p), hermitian=True) @ slope
        size = 1.0
        while likelihood(s + size * move) < now - 1e-12 * abs(now) and size > 1e-8:
            size /= 2.0
        s = s + size * move
        s -= s.mean()
        now = likelihood(s)
    else:
        return s, f"no maximum within {steps} steps"
    return s, None


def _information(met: NDArray[np.float64], p: NDArray[np.float64]) -> NDArray[np.float64]:
    weight = met * p * (1.0 - p)
    return np.asarray(np.diag(weight.sum(axis=1)) - weight)


def _sandwich(
    met: NDArray[np.float64], s: NDArray[np.float64], scores: Any, groups: Any, n: int
) -> NDArray[np.float64]:
    from scipy.sparse import csr_array

    k = len(s)
    p = 1.0 / (1.0 + np.exp(s[None, :] - s[:, None]))
    bread = np.linalg.pinv(_information(met, p), hermitian=True)
    row, column, value = (np.concatenate(each) for each in scores)

    def meat(code: NDArray[np.intp], size: int) -> NDArray[np.float64]:
        summed = csr_array((value, (code[row], column)), shape=(size, k))
        return np.asarray((summed.T @ summed).toarray()) * (size / max(size - 1, 1))

    middle = meat(np.arange(n), n) if not groups else sum(meat(way.code, way.size) for way in groups)
    if len(groups) == 2:
        cell, code = np.unique(groups[0].code * groups[1].size + groups[1].code, return_inverse=True)
        middle = middle - meat(code, len(cell))
    return np.asarray(bread @ middle @ bread)


def names_of(label: NDArray[np.int32], names: list[str]) -> str:
    """Return the models of the smallest part, shortened."""
    size = np.bincount(label)
    inside = [name for name, part in zip(names, label.tolist(), strict=True) if part == int(size.argmin())]
    return ", ".join(inside[:3]) + (" and others" if len(inside) > 3 else "")
