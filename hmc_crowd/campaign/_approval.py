"""How often was a worker's work approved, as far as was known at a moment? The platform's rate, ours, or unknown.

Our own reviews stand with the submissions; the platform's lifetime rates are kept as they were read, each with its
moment. What the effort model learns of a worker comes from here, and never from after the work that it learns from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmc_crowd.quality import approval_ranking

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import Transaction

__all__ = ["places", "ranking", "reviews"]

_VERDICTS = {"approved": True, "rejected": False}


def reviews(tx: Transaction, campaign: int) -> pd.DataFrame:
    """Return our own reviews: ``worker, approved, at``."""
    work = tx.work.submissions(campaign)
    work = work[work["state"].isin(_VERDICTS) & work["reviewed_at"].notna()]
    approved = work["state"].map(_VERDICTS).astype(bool)
    return pd.DataFrame({"worker": work["worker"], "approved": approved, "at": work["reviewed_at"]})


def ranking(
    context: Context, tx: Transaction, workers: Sequence[str], as_of: datetime | Sequence[datetime]
) -> pd.DataFrame:
    """Return rates and ranks as they were known, as `hmc_crowd.quality.approval_ranking` has them."""
    cid = context.campaign_id
    read = tx.standing.rates(cid)
    return approval_ranking(workers, as_of, reviews=reviews(tx, cid), platform=read if len(read) else None)


def places(
    context: Context, tx: Transaction, workers: Sequence[str], as_of: Sequence[datetime], ours: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the effort model's feature: the place by the platform's rate where one was read, else by ours."""
    if tx.standing.rates(context.campaign_id).empty or not len(workers):
        return ours
    found = ranking(context, tx, workers, as_of)["place"].to_numpy(dtype=np.float64)
    return np.asarray(found)
