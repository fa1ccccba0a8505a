"""Gold scores.

How often is each worker right on gold, and how sure is that?

Guarantee: over workers whose true rates are spread as the prior says, the interval holds the true rate of a share
``level`` of them, whatever the number of gold items (tested by simulation). For one fixed rate it is approximate.

Source: Brown, Cai, DasGupta (2001), "Interval Estimation for a Binomial Proportion" (beta intervals and their ends).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.aggregation._codes import Repeats, encode  # because repeated and missing answers follow one rule
from hmc_crowd.aggregation._gold import gold_table  # because gold is read in one way
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.aggregation._codes import CodedAnswers  # because the coded answers are typed there

__all__ = ["beta_interval", "gold_answers", "gold_scores"]


def gold_scores(
    answers: pd.DataFrame,
    gold: Any,
    *,
    level: float = 0.95,
    prior: tuple[float, float] = (1.0, 1.0),
    repeats: Repeats = "latest",
) -> pd.DataFrame:
    """Score every worker on the gold items, with a beta interval.

    Parameters
    ----------
    answers : pandas.DataFrame
        Columns ``task, worker, label`` and optionally ``submitted``; gold and other items together.
    gold : pandas.DataFrame, pandas.Series or mapping
        Known labels, columns ``item`` (or ``task``) and ``label``.
    level : float, default 0.95
        Probability that the interval should hold, in (0, 1).
    prior : (float, float), default (1, 1)
        Beta prior as pseudo-counts of right and wrong answers, both > 0. (1, 1) is uniform: the more cautious towards
        workers; (0.5, 0.5) is Jeffreys', narrower at the ends.
    repeats : {"latest", "all", "refuse"}, default "latest"
        Which of several answers of one worker to one item counts, as in `hmc_crowd.aggregation`.

    Returns
    -------
    pandas.DataFrame
        One row per worker of ``answers``, sorted: ``worker, right, n, score, low, high``. ``score`` is right / n; a
        worker without gold answers has n = 0, score NaN and the prior's interval: unknown, not bad. ``low`` is 0 where
        nothing was right and ``high`` is 1 where everything was, so that the score always lies in its interval.

    Raises
    ------
    InputError, FrameError
        ``level`` or ``prior`` is out of range, or the tables are not as described.

    Examples
    --------
    >>> answers = pd.DataFrame(
    ...     [("g1", "ann", "yes"), ("g2", "ann", "no"), ("g1", "bob", "no"), ("a", "bob", "no")],
    ...     columns=["task", "worker", "label"],
    ... )
    >>> gold_scores(answers, {"g1": "yes", "g2": "no"}).round(3).to_dict("records")[1]
    {'worker': 'bob', 'right': 0, 'n': 1, 'score': 0.0, 'low': 0.0, 'high': 0.842}
    """
    coded, row = gold_answers(answers, gold, repeats=repeats)
    is_right = coded.label[row] == coded.gold[coded.task[row]]
    n_workers = len(coded.workers)
    n = np.bincount(coded.worker[row], minlength=n_workers)
    right = np.bincount(coded.worker[row][is_right], minlength=n_workers)
    low, high = beta_interval(right, n, level=level, prior=prior)
    score = np.full(n_workers, np.nan)
    np.divide(right, n, out=score, where=n > 0)
    return pd.DataFrame(
        {"worker": coded.workers, "right": right, "n": n, "score": score, "low": low, "high": high},
    )


def gold_answers(answers: pd.DataFrame, gold: Any, *, repeats: Repeats) -> tuple[CodedAnswers, NDArray[np.intp]]:
    """Code the answers and return the rows that answer a gold item.

    The label set is what the answers and the gold hold together: a gold label that nobody gave is just missed by all.
    """
    if gold is None or len(gold_table(gold)) == 0:
        raise InputError("gold is empty; give at least one item with a known label")
    coded = encode(answers, gold, repeats=repeats, extend_labels=True)
    return coded, np.flatnonzero(coded.gold[coded.task] >= 0)


def beta_interval(
    right: NDArray[np.intp], n: NDArray[np.intp], *, level: float, prior: tuple[float, float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the equal-tailed interval of Beta(prior + right, prior + wrong), its ends opened to 0 and 1.

    Examples
    --------
    >>> low, high = beta_interval(np.array([3]), np.array([3]), level=0.95, prior=(1.0, 1.0))
    >>> round(float(low[0]), 4), float(high[0])  # low solves x**4 = 0.025
    (0.3976, 1.0)
    """
    from scipy.stats import beta

    if not 0 < level < 1:
        raise InputError(f"level is {level!r}; give a probability between 0 and 1, such as 0.95")
    if len(prior) != 2 or not all(0 < part < np.inf for part in prior):
        raise InputError(f"prior is {prior!r}; give two positive numbers, such as (1, 1)")
    a, b = prior[0] + right, prior[1] + (n - right)
    tail = (1 - level) / 2
    low = np.where((right == 0) & (n > 0), 0.0, beta.ppf(tail, a, b))
    high = np.where((right == n) & (n > 0), 1.0, beta.ppf(1 - tail, a, b))
    return low, high
