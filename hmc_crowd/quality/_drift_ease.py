"""Have the questions become harder, or has this worker become worse?

Agreement falls for everybody when a round of harder items is handed out, and an alarm about each of them would be
false. So a check is judged beside those of the other workers in the same setting (a round, an aspect): how much easier
was it for them than checks are on the whole? The rate of the others is taken as it was known at the moment.

Source: Steiner et al. (2000), "Monitoring surgical performance using risk-adjusted cumulative sum charts".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmc_crowd.quality._answer_checks import check_table, require_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["check_ease"]

# Checks of the others that weigh as much as what was known before the setting: a handful says little.
_CAUTION = 20.0


def check_ease(checks: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Add to each check how much easier its setting was for the other workers.

    Parameters
    ----------
    checks : pandas.DataFrame
        ``worker, right, at``, such as `agreement_checks`, and the columns of ``by``.
    by : sequence of str
        What makes up a setting, such as ``["aspect", "round"]``.

    Returns
    -------
    pandas.DataFrame
        The checks in order of time with ``ease``: log-odds above those of all checks; 0 where there is one setting. The
        workers' levels that belong to it are those over all checks, as `pool_prior` learns them from their counts.

    Examples
    --------
    Two workers agree with the others in the first round, and both do not in the second:

    >>> times = pd.date_range("2026-01-05", periods=80, freq="h", tz="UTC")
    >>> rounds = np.repeat([1, 2], 40)
    >>> checks = pd.DataFrame({"worker": ["ann", "bob"] * 40, "right": rounds == 1, "at": times, "round": rounds})
    >>> ease = check_ease(checks, ["round"])["ease"]
    >>> bool(ease.iloc[39] > 1), bool(ease.iloc[79] < 0)
    (True, True)
    """
    require_columns(checks, by, name="checks")
    table = check_table(checks)
    setting = table.groupby(list(by), sort=False, dropna=False).ngroup()
    if setting.nunique() <= 1:
        return table.assign(ease=0.0)
    right, worker = table["right"].astype(float), table["worker"]
    others, good = _before(right, [setting]), _before(right, [setting, worker])
    every, mine = _before(right, []), _before(right, [worker])
    known = (every[1] - mine[1] + 1) / (every[0] - mine[0] + 2)
    here = (others[1] - good[1] + _CAUTION * known) / (others[0] - good[0] + _CAUTION)
    # One reference for all: were it to move, a steady worker would seem to move with it.
    whole = (right.sum() + 1) / (len(right) + 2)
    return table.assign(ease=_odds(here) - _odds(np.array([whole])))


def _before(right: pd.Series[float], keys: list[pd.Series]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how many checks of the same keys came before each, and how many of them were right."""
    by = keys or [pd.Series(0, index=right.index)]
    groups = right.groupby(by)
    return np.asarray(groups.cumcount(), dtype=np.float64), np.asarray(groups.cumsum() - right, dtype=np.float64)


def _odds(share: NDArray[np.float64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = np.log(share / (1 - share))
    return found
