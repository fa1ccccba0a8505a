"""Screening.

Whose answers enter the aggregation?

A worker is left out only on evidence: the upper end of the gold interval lies below the minimum, on enough gold items,
with more than one failure. The decision concerns the aggregation alone. It is never a reason to refuse payment: that
needs more than one signal and a person who signs (see the platform's review).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmc_crowd._base.checks import first_rows
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from collections.abc import Hashable

__all__ = ["screen_workers"]

_COLUMNS = ("worker", "right", "n", "score", "low", "high")


def screen_workers(scores: pd.DataFrame, *, minimum: float = 0.6, at_least: int = 3) -> pd.DataFrame:
    """Decide whose answers are left out of the aggregation, with reason and evidence.

    Parameters
    ----------
    scores : pandas.DataFrame
        Columns ``worker, right, n, score, low, high``, as `gold_scores` returns them.
    minimum : float, default 0.6
        Share of right answers that is asked for, in [0, 1].
    at_least : int, default 3
        Gold answers without which nothing is decided, at least 2: one failed gold item never excludes anybody.

    Returns
    -------
    pandas.DataFrame
        One row per worker in the order of ``scores``: ``worker, decision, excluded, reason, evidence``. ``decision`` is

        ``keep``      the score reaches the minimum
        ``unproven``  fewer than ``at_least`` gold answers; kept
        ``doubtful``  the score is below the minimum, but the upper end of its interval is not, or there is only one
                      failure; kept, more gold would tell
        ``exclude``   the upper end of the interval is below the minimum

    Raises
    ------
    FrameError, InputError
        A column is missing or holds wrong numbers, or a limit is out of range.

    Examples
    --------
    >>> columns = ["worker", "right", "n", "score", "low", "high"]
    >>> scores = pd.DataFrame([("bob", 2, 12, 1 / 6, 0.05, 0.45)], columns=columns)
    >>> screen_workers(scores).to_dict("records")[0]["evidence"]
    'right on 2 of 12 gold items; interval 0.050 to 0.450'
    """
    if not 0 <= minimum <= 1:
        raise InputError(f"minimum is {minimum!r}; give a share between 0 and 1")
    if isinstance(at_least, bool) or not isinstance(at_least, int | np.integer) or at_least < 2:
        raise InputError(f"at_least is {at_least!r}; give a whole number of at least 2: one answer decides nothing")
    _check(scores)
    rows = [
        _decide(worker, right=right, n=n, low=low, high=high, minimum=minimum, at_least=int(at_least))
        for worker, right, n, low, high in zip(
            scores["worker"], scores["right"], scores["n"], scores["low"], scores["high"], strict=True
        )
    ]
    return pd.DataFrame(rows, columns=["worker", "decision", "excluded", "reason", "evidence"])


def _decide(
    worker: Hashable, *, right: int, n: int, low: float, high: float, minimum: float, at_least: int
) -> tuple[Hashable, str, bool, str, str]:
    evidence = f"right on {right} of {n} gold items; interval {low:.3f} to {high:.3f}"
    if n < at_least:
        return worker, "unproven", False, f"{n} gold answers, {at_least} are needed to judge", evidence
    if right >= minimum * n - 1e-12:
        return worker, "keep", False, f"score {right / n:.3f} reaches the minimum {minimum:g}", evidence
    if n - right < 2:
        return worker, "doubtful", False, "one failed gold item never excludes", evidence
    if high < minimum:
        reason = f"even the upper end {high:.3f} is below the minimum {minimum:g}"
        return worker, "exclude", True, reason, evidence
    reason = f"score {right / n:.3f} is below the minimum {minimum:g}, the upper end {high:.3f} is not"
    return worker, "doubtful", False, reason, evidence


def _check(scores: pd.DataFrame) -> None:
    missing = [column for column in _COLUMNS if column not in scores.columns]
    if missing:
        raise FrameError(f"scores lacks the column {', '.join(missing)}; pass what gold_scores returns")
    right, n = scores["right"].to_numpy(), scores["n"].to_numpy()
    low, high = scores["low"].to_numpy(), scores["high"].to_numpy()
    bad = ~((right >= 0) & (right <= n) & (low >= 0) & (low <= high) & (high <= 1))
    if bad.any():
        raise FrameError(
            f"scores needs 0 <= right <= n and 0 <= low <= high <= 1, not so in {first_rows(bad)}; pass what "
            "gold_scores returns"
        )
