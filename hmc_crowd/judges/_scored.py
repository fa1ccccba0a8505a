"""Judges that score each response: the higher score wins, equal scores are a tie, no score is no judgement.

The probability is a logistic curve of the difference of the scores in units of the judge's `scale`. It orders pairs by
how sure the judge is; it is not calibrated.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd.judges._judge import judgements

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from hmc_crowd.judges._pairs import Pairs

__all__ = ["NO_REFERENCE", "by_score"]

NO_REFERENCE = "no reference"


def by_score(
    pairs: Pairs,
    score_a: NDArray[np.float64],
    score_b: NDArray[np.float64],
    *,
    scale: float | NDArray[np.float64],
    started: float,
    reason: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Return judgements by two scores per pair; NaN in either leaves the pair unjudged.

    Parameters
    ----------
    score_a, score_b : array of float, shape (n,)
        Higher is better.
    scale : float, or array of float, shape (n,)
        Difference at which the odds are e to 1; never one that depends on the other pairs of a batch.
    started : float
        ``time.perf_counter()`` before the work, whose duration is shared among the pairs.
    reason : sequence of str, optional
        Why a pair has no score.
    """
    # Equal texts get equal scores from any function, but not from one whose floats depend on the batch.
    margin = np.where(pairs.is_equal & ~np.isnan(score_a), 0.0, score_a - score_b)
    known = ~np.isnan(margin)
    p_a = 1.0 / (1.0 + np.exp(-np.clip(margin / scale, -700.0, 700.0)))
    chances = np.stack([p_a, 1.0 - p_a, np.zeros(len(pairs))], axis=1)
    chances[~known] = np.nan
    # A tie of scores is no doubt between a and b: the judge cannot tell them apart.
    chances[known & (margin == 0.0)] = (0.25, 0.25, 0.5)
    label = [
        None if not sure else "a" if value > 0 else "b" if value < 0 else "tie"
        for sure, value in zip(known, margin, strict=True)
    ]
    told = [""] * len(pairs) if reason is None else list(reason)
    told = [each or "no score" if not sure else "" for each, sure in zip(told, known, strict=True)]
    seconds = np.full(len(pairs), (time.perf_counter() - started) / len(pairs))
    return judgements(pairs, label, chances, seconds=seconds, reason=told, score_a=score_a, score_b=score_b)
