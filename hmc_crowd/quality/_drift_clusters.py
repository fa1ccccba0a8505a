"""How many answers of one sitting are worth one answer that stands for itself?

Whoever misreads a dialogue disagrees on all its turns. Taken for as many independent signs, ten such answers would ring
an alarm about somebody who has not changed. The design effect says by how much sums over a sitting vary more than the
sum of independent answers would; a watch that is told it lets each answer speak so much more quietly.

Source: Kish (1965), "Survey Sampling", for the design effect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmc_crowd.quality._answer_checks import check_table, require_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["design_effect"]

# Sittings of a worker without which nothing is said of him.
_LEAST = 5


def design_effect(checks: pd.DataFrame, by: Sequence[str]) -> float:
    """Return the design effect of checks that come in sittings.

    Parameters
    ----------
    checks : pandas.DataFrame
        ``worker, right, at``, the columns of ``by`` and, where known, ``ease`` of `check_ease`.
    by : sequence of str
        What makes up a sitting of a worker, such as ``["submission_id"]``.

    Returns
    -------
    float
        At least 1: the median over workers, so that one who has changed does not count for the others. With fewer than
        five sittings of every worker the mean size of a sitting, as if its answers were all alike.

    Examples
    --------
    Of two people who judge ten dialogues of five turns one after the other, one is right on all turns or on none:

    >>> times = pd.date_range("2026-01-05", periods=50, freq="h", tz="UTC")
    >>> dialogue = np.repeat(np.arange(10), 5)
    >>> checks = pd.DataFrame({"worker": "ann", "right": dialogue % 3 > 0, "at": times, "dialogue": dialogue})
    >>> round(design_effect(checks, ["dialogue"]), 1)
    5.0
    """
    require_columns(checks, by, name="checks")
    table = check_table(checks)
    if table.empty:
        return 1.0
    right, worker = table["right"].astype(float), table["worker"]
    counts = right.groupby(worker).agg(["sum", "size"])
    rate = worker.map((counts["sum"] + 1) / (counts["size"] + 2)).to_numpy(dtype=np.float64)
    odds = np.log(rate / (1 - rate))
    if "ease" in table.columns:
        odds = odds + (table["ease"] - table.groupby("worker")["ease"].transform("mean")).to_numpy(dtype=np.float64)
    off = right.to_numpy() - 1 / (1 + np.exp(-odds))
    sitting = table.groupby(["worker", *by], sort=False, dropna=False).ngroup().to_numpy()
    sums = pd.DataFrame({"worker": worker, "sitting": sitting, "off": off, "alone": off**2})
    of_each = sums.groupby("sitting").agg(worker=("worker", "first"), off=("off", "sum"), alone=("alone", "sum"))
    squared = of_each.assign(off=of_each["off"] ** 2).groupby("worker")[["off", "alone"]].agg(["sum", "size"])
    known = squared[squared["off", "size"] >= _LEAST]
    if known.empty:
        return float(len(table) / len(of_each))
    ratio = known["off", "sum"] / known["alone", "sum"]
    return float(max(1.0, ratio.median()))
