"""Which plans are worth having? Reliability against people's time over all trade-offs and caps, and where ours lies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.routing import pareto_front

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["frontier_of", "plan_frontier"]

_TRADE_OFFS = (0.0, 0.5, 1.0, 2.0, 4.6, 10.0, 20.0, 50.0)
_CAPS = np.linspace(0.0, 1.0, 21)


def plan_frontier(
    confidence: NDArray[np.float64],
    share: NDArray[np.float64],
    seconds: NDArray[np.float64],
    right: NDArray[np.float64],
) -> pd.DataFrame:
    """Return the plans that no other beats: ``trade_off, max_human, human_share, effort_share, accuracy``.

    Parameters
    ----------
    confidence, share, seconds : array, shape (n_items,)
        What plans see, and the time that they cost.
    right : array, shape (n_items,)
        Chance that the machine's label is right: 0 or 1 where the truth is known. People are taken as right.

    Examples
    --------
    >>> a, l = np.array([0.9, 0.5]), np.array([0.5, 0.5])
    >>> front = plan_frontier(a, l, l, a)
    >>> front[["human_share", "accuracy"]].round(2).values.tolist()
    [[0.0, 0.7], [0.5, 0.95], [1.0, 1.0]]
    """
    parts = []
    total = float(seconds.sum()) or 1.0
    for trade_off in _TRADE_OFFS:
        gain = 1.0 - confidence - trade_off * share
        order = np.argsort(-gain, kind="stable")
        # At most the cap, and nobody who does not gain: so the plan with a cap of n is the first n of this order.
        most = int((gain > 0).sum())
        counts = np.unique(np.minimum(np.floor(_CAPS * len(gain) + 1e-9).astype(int), most))
        repaired = np.concatenate([[0.0], np.cumsum(1.0 - right[order])])
        spent = np.concatenate([[0.0], np.cumsum(seconds[order])])
        parts.append(
            pd.DataFrame(
                {
                    "trade_off": trade_off,
                    "max_human": counts,
                    "human_share": counts / len(gain),
                    "effort_share": spent[counts] / total,
                    "accuracy": right.mean() + repaired[counts] / len(gain),
                }
            )
        )
    return pareto_front(pd.concat(parts, ignore_index=True)).reset_index(drop=True)


def frontier_of(units: pd.DataFrame) -> pd.DataFrame:
    """Return the frontier of a plan's rows: by the truth where it is known, else as the confidences foretell."""
    confidence = units["confidence"].to_numpy(dtype=np.float64)
    share, seconds = (units[name].to_numpy(dtype=np.float64) for name in ("share", "effort_s"))
    true = units.get("true_label")
    if true is None or true.isna().any():
        frame = plan_frontier(confidence, share, seconds, confidence)
        return frame.rename(columns={"accuracy": "expected_accuracy"})
    right: NDArray[Any] = (units["machine_label"] == true).to_numpy(dtype=np.float64)
    return plan_frontier(confidence, share, seconds, right)
