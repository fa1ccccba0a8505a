"""How often was a worker's work approved, as far as was known at a moment? The platform's rate, ours, or unknown.

Our own reviews stand with the submissions; the platform's lifetime rates are kept as they were read, each with its
moment. What the effort model learns of a worker comes from here, and never from after the work that it learns from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd._base.clock import as_utc
from hmc_crowd.campaign._pseudonyms import pseudonyms
from hmc_crowd.effort import parse_approval_rate
from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality import approval_ranking

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import Transaction

__all__ = ["add_rates", "places", "ranking", "reviews"]

_VERDICTS = {"approved": True, "rejected": False}


def add_rates(context: Context, source: Any, *, platform: str, at: datetime | None) -> int:
    """Keep lifetime rates as they were read off a platform; return how many readings are new.

    A rate is a share, or a platform's text such as ``95% (19/20)``; ``0% (0/0)`` is unknown.
    """
    from hmc_crowd.io import read_frame

    frame = source if isinstance(source, pd.DataFrame) else read_frame(source, kind=None).frame
    missing = [name for name in ("worker", "rate") if name not in frame]
    if missing:
        raise FrameError(f"rates lack the column {missing[0]}; give worker (the platform's id) and rate")
    if not platform.strip():
        raise InputError("platform is empty; name the one whose rates these are")
    moment = context.clock.now() if at is None else as_utc(at, name="at")
    raw = frame["worker"].astype(str)
    names = pseudonyms(context.worker_key, platform, raw)
    rates = [_rate(each) for each in frame["rate"]]
    made = pd.DataFrame({"worker": raw.map(names), "source": platform, "rate": rates})
    made["reviewed"] = pd.to_numeric(frame["reviewed"], errors="coerce") if "reviewed" in frame else np.nan
    made["at"] = pd.to_datetime(frame["at"], utc=True) if "at" in frame else pd.Timestamp(moment)
    with context.store.begin() as tx:
        new = tx.standing.add_rates(context.campaign_id, made.astype({"reviewed": "Int64"}))
        context.log(tx, "approval rates", platform=platform, readings=new)
    return new


def _rate(value: Any) -> float | None:
    if value is None or value != value or value == "":
        return None
    if isinstance(value, str):
        read = parse_approval_rate(value)
        return None if read != read else read
    return float(value)


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
