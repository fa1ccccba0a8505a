"""Do two sets of items, or two ways to judge, rank the models alike?

Spearman's and Pearson's correlation of the models' rates (development against test set, greedy against sampled
answers, one baseline against another).

Sources: Lyu et al. (2024), "HREF", section 5 (Spearman .98, Pearson .99); Fisher (1915); Bonett, Wright (2000) for
Spearman's standard error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from hmc_crowd._base.checks import require_same_length
from hmc_crowd.metrics._influence import t_quantile
from hmc_crowd.metrics._intervals import ask_for
from hmc_crowd.metrics._result import Metric
from hmc_crowd.metrics._validate import as_scores

__all__ = ["rank_correlation"]


def rank_correlation(first: Any, second: Any, *, level: float = 0.95) -> dict[str, Metric]:
    """Return Spearman's and Pearson's correlation of two columns of rates.

    Parameters
    ----------
    first, second : array of float, shape (models,), or mapping of model -> rate
        Mappings are joined by model; models of one side only are counted as dropped.
    level : float, default 0.95
        Coverage of the intervals (Fisher's z; they treat the models as a random sample).

    Returns
    -------
    dict of str to Metric
        ``spearman`` (middle ranks for equal rates) and ``pearson``. Undefined below 2 models or without spread; no
        interval below 4.

    Examples
    --------
    >>> both = rank_correlation({"a": 0.9, "b": 0.5, "c": 0.1}, {"a": 0.8, "b": 0.6, "c": 0.3, "d": 0.2})
    >>> both["spearman"].value, round(both["pearson"].value, 4), dict(both["pearson"].dropped)
    (1.0, 0.9934, {'only in one': 1})
    """
    ask = ask_for(level)
    alone = 0
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        common = [name for name in first if name in second]
        alone = len(set(first) ^ set(second))
        first, second = [first[name] for name in common], [second[name] for name in common]
    x, _ = as_scores(first, name="first")
    y, _ = as_scores(second, name="second")
    require_same_length([("first", x), ("second", y)])
    keep = np.isfinite(x) & np.isfinite(y)
    x, y = x[keep], y[keep]
    dropped = {"only in one": alone, "missing rate": int((~keep).sum())}
    kinds = {"spearman": (_ranks(x), _ranks(y)), "pearson": (x, y)}
    return {name: _correlation(*pair, name, ask.level, dropped) for name, pair in kinds.items()}


def _correlation(x: Any, y: Any, name: str, level: float, dropped: dict[str, int]) -> Metric:
    n = len(x)
    common: dict[str, Any] = {"name": f"{name.capitalize()}'s correlation", "n": n, "dropped": dropped, "level": level}
    if n < 2:
        return Metric.undefined("fewer than two models in common", **common)
    if np.ptp(x) == 0.0 or np.ptp(y) == 0.0:
        return Metric.undefined("all rates of one side are equal", **common)
    a, b = x - x.mean(), y - y.mean()
    r = float(np.clip((a @ b) / math.sqrt(float(a @ a) * float(b @ b)), -1.0, 1.0))
    if n < 4 or abs(r) >= 1.0:
        return Metric(r, method="no interval: fewer than four models, or a perfect order", **common)
    # Spearman's z varies more than Pearson's when the correlation is high.
    width = (1.0 + r * r / 2.0 if name == "spearman" else 1.0) / (n - 3)
    half = t_quantile(level, 10**7) * math.sqrt(width)
    ends = (math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half))
    assumes = ("the models are a random sample of models",)
    return Metric(r, *ends, method="analytic (Fisher's z)", assumptions=assumes, **common)


def _ranks(values: Any) -> Any:
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count - 1) / 2.0)[place]
