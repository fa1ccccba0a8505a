"""How good is each worker, so that the answers can be weighed by it?

The share right on gold, pulled towards the pool: a worker with two gold answers is mostly taken for one of the pool, a
worker with fifty for himself. How strongly to pull is learnt from the pool's own spread, with caution. What is known
fades while nobody sees the worker work: the counts shrink, quality goes back to the pool's mean, its interval widens.

Guarantee: over workers spread as a given prior says, the interval holds the true rate of a share ``level`` of them.
With a learnt prior it does so in simulations (92 to 99% at .95, from 60 workers with two gold answers each on).
``quality`` is a probability; whatever ranks workers for other ends is `priority_score`.

Source: the beta-binomial likelihood, after Skellam (1948). Requirements D6, D8, D12.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd._base.checks import float_vector
from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality._decay import kept_share
from hmc_crowd.quality._gold_scores import beta_interval, gold_answers
from hmc_crowd.quality._matching import require_one_kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from hmc_crowd.aggregation._codes import Repeats  # because repeated answers follow one rule

__all__ = ["answer_weights", "pool_prior", "worker_quality"]

# A pool's prior counts between these; outside of them the spread of a handful of workers says too little.
_LEAST, _MOST = 2.0, 50.0


def pool_prior(right: ArrayLike, n: ArrayLike) -> tuple[float, float]:
    """Learn a beta prior from how the workers of a pool differ.

    Parameters
    ----------
    right, n : arrays of int, shape (n_workers,)
        Right answers and answers to gold of each worker.

    Returns
    -------
    (float, float)
        Pseudo-counts of right and wrong answers. Their sum, the strength, lies in [2, 50] and is chosen with caution:
        three to one the pool's likelihood takes a larger one. Too strong a prior would make the intervals of
        `worker_quality` too narrow. With fewer than three workers, or none with two answers, it is 2 and only the mean
        is learnt.

    Raises
    ------
    InputError
        Nobody answered any gold.

    Examples
    --------
    Ten workers right on 8 of 10 each differ less than chance would have it; a hundred of them say so with more weight:

    >>> few, many = pool_prior([8] * 10, [10] * 10), pool_prior([8] * 100, [10] * 100)
    >>> round(sum(few)), round(sum(many))
    (22, 43)
    """
    good, total = float_vector(right, name="right", low=0.0), float_vector(n, name="n", low=0.0)
    if len(good) != len(total) or (good > total).any():
        raise InputError(f"right ({len(good)}) and n ({len(total)}) must have one row per worker, right at most n")
    good, total = good[total > 0], total[total > 0]
    if not len(total):
        raise InputError("no worker has answered gold; mix gold into the work, or give a prior such as (4, 1)")
    # One right and one wrong answer more: a small perfect pool is not proof of perfection.
    mean = (good.sum() + 1) / (total.sum() + 2)
    strength = _strength(mean, good, total)
    return float(mean * strength), float((1 - mean) * strength)


def _strength(mean: float, good: NDArray[np.float64], total: NDArray[np.float64]) -> float:
    """Return the lower quartile of the prior's size by the counts' likelihood, all orders of size alike before."""
    from scipy.special import betaln

    if len(total) < 3 or total.max() < 2:
        return _LEAST
    sizes = np.geomspace(_LEAST, _MOST, 25)
    # Workers with the same counts are one row: a large pool costs no more than a small one.
    counts, times = np.unique(np.stack([good, total - good]), axis=1, return_counts=True)
    before = np.stack([mean * sizes, (1 - mean) * sizes])[:, :, None]
    told = (betaln(*(before + counts[:, None, :])) - betaln(*before)) @ times
    weight = np.exp(told - told.max())
    return float(np.interp(0.25, np.cumsum(weight) / weight.sum(), sizes))


def worker_quality(
    answers: pd.DataFrame,
    gold: Any,
    *,
    prior: tuple[float, float] | None = None,
    idle_s: Mapping[Any, float] | pd.Series[Any] | None = None,
    half_life_s: float = 30 * 86_400.0,
    level: float = 0.95,
    repeats: Repeats = "latest",
) -> pd.DataFrame:
    """Return the probability that each worker's next answer is right, with its interval.

    Parameters
    ----------
    answers : pandas.DataFrame
        Columns ``task, worker, label`` and optionally ``submitted``; gold and other items together.
    gold : pandas.DataFrame, pandas.Series or mapping
        Known labels.
    prior : (float, float), optional
        Pseudo-counts of right and wrong answers; by default learnt from these workers, see `pool_prior`.
    idle_s : mapping or Series, optional
        Seconds since each worker's last submission; absent workers count as active now.
    half_life_s : float, default 30 days
        Idle time after which half of what is known of a worker is left. The source's 24 hours would forget everybody
        over a weekend; its formula is `literal_decay`.
    level : float, default 0.95
    repeats : {"latest", "all", "refuse"}, default "latest"

    Returns
    -------
    pandas.DataFrame
        One row per worker of ``answers``, sorted: ``worker, right, n, score, quality, low, high, kept, source``;
        `screen_workers` takes it too. ``score`` is right / n (NaN without gold), ``kept`` what idleness left of the
        counts; ``source`` is ``gold``, or ``pool`` where a worker has answered none: unknown, not bad.

    Examples
    --------
    >>> rows = [("g1", "ann", 1), ("g2", "ann", 0), ("g3", "ann", 1), ("g1", "bob", 0), ("a", "cy", 1)]
    >>> answers = pd.DataFrame(rows, columns=["task", "worker", "label"])
    >>> found = worker_quality(answers, {"g1": 1, "g2": 0, "g3": 1}, prior=(3.0, 1.0))
    >>> found[["worker", "quality", "source"]].round(3).to_dict("list")  # (3 + 3) / 7, (3 + 0) / 5, 3 / 4
    {'worker': ['ann', 'bob', 'cy'], 'quality': [0.857, 0.6, 0.75], 'source': ['gold', 'gold', 'pool']}
    """
    coded, row = gold_answers(answers, gold, repeats=repeats)
    hit = coded.label[row] == coded.gold[coded.task[row]]
    n_workers = len(coded.workers)
    n = np.bincount(coded.worker[row], minlength=n_workers)
    right = np.bincount(coded.worker[row][hit], minlength=n_workers)
    before = pool_prior(right, n) if prior is None else prior
    kept = np.ones(n_workers)
    if idle_s is not None:
        table = idle_s if isinstance(idle_s, pd.Series) else pd.Series(dict(idle_s), dtype=float)
        if not table.index.is_unique:
            raise FrameError(f"idle_s names {table.index[table.index.duplicated()][0]!r} twice; keep one time")
        require_one_kind(table.index, coded.workers, name="the workers of idle_s and answers.worker")
        kept = kept_share(table.reindex(coded.workers).fillna(0.0).to_numpy(dtype=float), half_life_s=half_life_s)
    low, high = beta_interval_of(right * kept, n * kept, level=level, prior=before)
    quality = (before[0] + right * kept) / (sum(before) + n * kept)
    return pd.DataFrame(
        {
            "worker": coded.workers,
            "right": right,
            "n": n,
            "score": np.divide(right, n, out=np.full(n_workers, np.nan), where=n > 0),
            "quality": quality,
            "low": low,
            "high": high,
            "kept": kept,
            "source": np.where(n > 0, "gold", "pool"),
        }
    )


def beta_interval_of(
    right: NDArray[np.float64], n: NDArray[np.float64], *, level: float, prior: tuple[float, float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the equal-tailed interval without opened ends: the prior has seen both kinds of answers."""
    from scipy.special import betaincinv

    beta_interval(np.zeros(1, dtype=np.intp), np.ones(1, dtype=np.intp), level=level, prior=prior)  # its checks
    up, down, tail = prior[0] + right, prior[1] + (n - right), (1 - level) / 2
    return np.asarray(betaincinv(up, down, tail), float), np.asarray(betaincinv(up, down, 1 - tail), float)


def answer_weights(answers: pd.DataFrame, quality: pd.DataFrame, *, excluded: Any = None) -> NDArray[np.float64]:
    """Return the weight of each answer for `hmc_crowd.aggregation.aggregate`: quality over the best one, 0 if excluded.

    The best worker's answer counts as one. Quality says who counts more than whom and nothing else: where it tells
    nobody apart, the labels are those without weights. (Weights below 1 for everybody, such as the qualities as they
    are, also make the evidence of all answers weaker, which helps on one data set and harms on another.)

    Parameters
    ----------
    answers : pandas.DataFrame
        With the column ``worker``.
    quality : pandas.DataFrame
        ``worker, quality``, as `worker_quality` or `WorkerQualityModel` give it. Workers that it does not name get the
        mean of the others.
    excluded : table of exclude_workers, or collection of workers, optional
        Left out: weight 0. If that leaves nobody for an item, it has no label and goes to other people.

    Returns
    -------
    array of float, shape (n_answers,)

    Examples
    --------
    >>> answers = pd.DataFrame({"task": ["a", "a", "a"], "worker": ["ann", "bob", "cy"], "label": [1, 0, 0]})
    >>> quality = pd.DataFrame({"worker": ["ann", "bob"], "quality": [0.9, 0.5]})
    >>> answer_weights(answers, quality, excluded=["bob"]).round(2).tolist()
    [1.0, 0.0, 0.78]
    """
    if "worker" not in answers.columns:
        raise FrameError("answers lacks the column worker; pass the table that will be aggregated")
    lacking = [name for name in ("worker", "quality") if name not in quality.columns]
    if lacking:
        raise FrameError(f"quality lacks the column {', '.join(lacking)}; pass what worker_quality returns")
    if quality["worker"].duplicated().any():
        raise FrameError(f"quality names {quality['worker'][quality['worker'].duplicated()].iloc[0]!r} twice; keep one")
    require_one_kind(quality["worker"], answers["worker"], name="quality.worker and answers.worker")
    values = float_vector(quality["quality"].to_numpy(), name="quality", low=0.0, high=1.0)
    known = pd.Series(values, index=quality["worker"].to_numpy())
    given = answers["worker"].map(known).fillna(float(values.mean()))
    weight: NDArray[np.float64] = np.array(given, dtype=np.float64)
    if isinstance(excluded, pd.DataFrame):
        excluded = excluded["worker"][excluded["excluded"]]
    if excluded is not None:
        excluded = list(excluded)
        require_one_kind(excluded, answers["worker"], name="excluded and answers.worker")
        weight[answers["worker"].isin(excluded).to_numpy()] = 0.0
    if len(weight) and not weight.any():
        raise InputError("every answer has weight 0; nobody is left to aggregate: ask other people, or exclude fewer")
    return weight / weight.max() if len(weight) else weight
