"""How long did each submission take its worker? Active time where it was measured, and never more than the clock.

A person has one clock. What a platform or a page claims for one submission is cut at the time from accepting to handing
in; where nothing was measured, queued work counts from when the one before was handed in; and what one person's
submissions take together is no longer than the time in which any of them was under way.
"""

from __future__ import annotations

import pandas as pd

from hmc_crowd.effort import effective_seconds, united_seconds

__all__ = ["worked_seconds"]


def worked_seconds(submissions: pd.DataFrame) -> pd.Series[float]:
    """Return the seconds of each submission, in the order given; missing where nobody knows, or it took none.

    Parameters
    ----------
    submissions : pandas.DataFrame
        ``worker, accepted_at, submitted_at, platform_elapsed_s, active_s``, as the store reads them.

    Examples
    --------
    Two HITs side by side for 100 s, each claimed whole; and one whose page claims an hour within 2 s.

    >>> start = pd.Timestamp("2026-01-01", tz="UTC")
    >>> later = [start + pd.Timedelta(seconds=s) for s in (100, 100, 2)]
    >>> rows = {"worker": ["a", "a", "b"], "accepted_at": [start] * 3, "submitted_at": later}
    >>> rows |= {"platform_elapsed_s": [100.0, 100.0, 2.0], "active_s": [100.0, 100.0, 3450.0]}
    >>> worked_seconds(pd.DataFrame(rows)).tolist()
    [50.0, 50.0, 2.0]
    """
    if submissions.empty:
        return pd.Series(dtype=float, index=submissions.index)
    active, elapsed = (
        submissions[name].astype(float).where(lambda s: s > 0) for name in ("active_s", "platform_elapsed_s")
    )
    begin, end = (_moments(submissions[name]) for name in ("accepted_at", "submitted_at"))
    has_span = (begin.notna() & end.notna() & (end >= begin)).to_numpy(dtype=bool)
    who = submissions["worker"].astype(str)
    queued = elapsed.copy()
    if has_span.any():
        queued[has_span] = effective_seconds(who[has_span], begin[has_span], end[has_span])[0]
    seconds = active.fillna(queued).clip(upper=(end - begin).where(has_span))
    if has_span.any():
        # The union of a person's spans, by the share of each in it.
        together = united_seconds(who[has_span], begin[has_span], end[has_span])[0]
        most = pd.Series(together, index=submissions.index[has_span]).groupby(who[has_span]).transform("sum")
        claimed = seconds[has_span].groupby(who[has_span]).transform("sum")
        seconds[has_span] *= (most / claimed.where(claimed > 0)).clip(upper=1.0).fillna(1.0)
    return seconds.where(seconds > 0)


def _moments(times: pd.Series[pd.Timestamp]) -> pd.Series[float]:
    series = pd.to_datetime(times, utc=True).astype("datetime64[us, UTC]")
    return (series.astype("int64") / 1e6).where(series.notna())
