"""How often was this worker's work approved, as far as was known at a moment, and by whom?

Two rates exist and must not be mixed up: the platform's lifetime rate (work for everybody) and ours. ``0% (0/0)`` is
unknown, not bad. A rank is among workers whose rate is of the same source at that moment, so it never sees the future,
and unknown rates have none.

Source: Zhang, Ren, de Rijke (2021), section 3.3 (approval-rate ranking); requirements A22 and E3.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from hmc_crowd._base.checks import first_rows
from hmc_crowd._base.clock import as_utc
from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality._gold_scores import beta_interval
from hmc_crowd.quality._matching import require_one_kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["approval_ranking"]

ApprovalSource = Literal["platform", "ours"]


def approval_ranking(
    workers: Sequence[Any],
    as_of: datetime | Sequence[datetime],
    *,
    reviews: Any = None,
    platform: Any = None,
    prefer: ApprovalSource = "platform",
    level: float = 0.95,
) -> pd.DataFrame:
    """Return approval rates and ranks as they were known at instants.

    Parameters
    ----------
    workers : sequence, length n
        A worker may occur many times, each with another instant.
    as_of : aware datetime, or sequence of n of them
        Only what happened strictly before it counts.
    reviews : pandas.DataFrame, optional
        Our own approvals and rejections: ``worker, approved`` (true, false, or missing: not reviewed yet), ``at``.
    platform : pandas.DataFrame, optional
        Lifetime rates as they were read off the platform: ``worker, rate`` (in [0, 1], missing: unknown), ``at`` and
        optionally ``reviewed``, how many reviews it rests on; the newest before the instant counts.
    prefer : {"platform", "ours"}, default "platform"
        Which is used where both are known: the platform's rests on more work.
    level : float, default 0.95
        Of the beta interval of our own rates, and of platform rates that come with their number.

    Returns
    -------
    pandas.DataFrame
        ``worker, as_of, rate, reviewed, low, high, source, rank, ranked, place``. ``source`` is ``platform``, ``ours``
        or ``unknown`` (rate NaN). ``rank`` is the place among the ``ranked`` workers of the same source at that
        instant, best first, equal rates sharing their mean place; ``place`` is the same from below as a share in
        (0, 1]: the effort model's feature ``approval_ranking``.

    Raises
    ------
    FrameError, InputError
        A naive time, a missing column, a rate outside [0, 1].

    Examples
    --------
    >>> from datetime import UTC
    >>> day = lambda d: datetime(2026, 1, d, tzinfo=UTC)
    >>> reviews = pd.DataFrame(
    ...     {"worker": ["ann", "bob", "ann"], "approved": [True, False, False], "at": [day(1), day(2), day(9)]}
    ... )
    >>> found = approval_ranking(["ann", "bob", "cy"], day(5), reviews=reviews)
    >>> found[["rate", "source", "rank"]].to_dict("list")
    {'rate': [1.0, 0.0, nan], 'source': ['ours', 'ours', 'unknown'], 'rank': [1.0, 2.0, nan]}
    """
    if prefer not in ("platform", "ours"):
        raise InputError(f"prefer is {prefer!r}; use 'platform' or 'ours'")
    names = list(workers)
    moments = [as_of] * len(names) if isinstance(as_of, datetime) else list(as_of)
    if len(moments) != len(names):
        raise InputError(f"as_of has {len(moments)} rows but workers has {len(names)}; they must describe the same")
    when = pd.DatetimeIndex([as_utc(each, name="as_of") for each in moments])
    ours = _events(reviews, "approved", "reviews")
    theirs = _events(platform, "rate", "platform")
    for table, name in ((ours, "reviews"), (theirs, "platform")):
        require_one_kind(names, table["worker"], name=f"workers and {name}.worker")
    found = _as_they_stood(names, when, ours, theirs, prefer)
    low, high = _interval(found, level)
    rank, ranked = found["rank"].to_numpy(), found["ranked"].to_numpy()
    place = np.divide(ranked + 1 - rank, ranked, out=np.full(len(rank), np.nan), where=ranked > 0)
    found = found.assign(worker=names, as_of=when, low=low, high=high, place=place)
    return found[["worker", "as_of", "rate", "reviewed", "low", "high", "source", "rank", "ranked", "place"]]


def _as_they_stood(
    names: list[Any], when: pd.DatetimeIndex, ours: pd.DataFrame, theirs: pd.DataFrame, prefer: ApprovalSource
) -> pd.DataFrame:
    """Go once through the events in order of time, and answer each question when its instant has come."""
    events = [(at, "ours", *row) for at, *row in ours[["at", "worker", "value", "reviewed"]].itertuples(index=False)]
    events += [
        (at, "platform", *row) for at, *row in theirs[["at", "worker", "value", "reviewed"]].itertuples(index=False)
    ]
    events.sort(key=lambda event: event[0])
    standing, seen = _Standing(prefer), 0
    rows: list[tuple[Any, ...]] = [()] * len(names)
    for row in np.argsort(when.asi8, kind="stable").tolist():
        while seen < len(events) and events[seen][0] < when[row]:
            standing.learn(*events[seen][1:])
            seen += 1
        rows[row] = standing.of(names[row])
    found = pd.DataFrame(rows, columns=["rate", "reviewed", "source", "rank", "ranked"])
    return found.astype({"rate": float, "reviewed": float, "rank": float, "ranked": np.int64, "source": object})


class _Standing:
    """Every worker's rate at a moment, and all rates of a source in order."""

    def __init__(self, prefer: ApprovalSource) -> None:
        self._order = (prefer, "ours" if prefer == "platform" else "platform")
        self._known: dict[str, dict[Any, tuple[float, float]]] = {"ours": {}, "platform": {}}
        self._rates: dict[str, list[float]] = {"ours": [], "platform": []}

    def learn(self, source: str, worker: Any, value: float, reviewed: float) -> None:
        """Take in one review of ours, or one reading of a platform's rate."""
        before, table = self._now(worker), self._known[source]
        if source == "ours":
            rate, n = table.get(worker, (0.0, 0.0))
            table[worker] = (round(rate * n + value) / (n + 1), n + 1)
        elif np.isnan(value):
            # The newest reading counts, also where it says that nothing is known.
            table.pop(worker, None)
        else:
            table[worker] = (value, reviewed)
        after = self._now(worker)
        if before is not None:
            rates = self._rates[before[0]]
            del rates[bisect_left(rates, before[1])]
        if after is not None:
            insort(self._rates[after[0]], after[1])

    def of(self, worker: Any) -> tuple[float, float, str, float, int]:
        """Return rate, reviewed, source, rank and how many are ranked."""
        now = self._now(worker)
        if now is None:
            return np.nan, np.nan, "unknown", np.nan, 0
        source, rate, reviewed = now
        rates = self._rates[source]
        low, high = bisect_left(rates, rate), bisect_right(rates, rate)
        return rate, reviewed, source, len(rates) - high + (high - low + 1) / 2, len(rates)

    def _now(self, worker: Any) -> tuple[str, float, float] | None:
        return next(((each, *self._known[each][worker]) for each in self._order if worker in self._known[each]), None)


def _events(frame: Any, column: str, name: str) -> pd.DataFrame:
    """Return worker, value, reviewed and at, in order of time."""
    if frame is None:
        empty = pd.DataFrame({"worker": [], "value": np.empty(0), "reviewed": np.empty(0)})
        return empty.assign(at=pd.DatetimeIndex([], tz="UTC"))
    lacking = [each for each in ("worker", column, "at") if each not in frame.columns]
    if lacking:
        raise FrameError(f"{name} lacks the column {', '.join(lacking)}; it has {', '.join(map(str, frame.columns))}")
    if len(frame) and getattr(frame["at"].dtype, "tz", None) is None:
        raise FrameError(f"{name}.at has no time zone; pass aware times, for example pd.to_datetime(times, utc=True)")
    values = pd.to_numeric(frame[column].astype(object), errors="coerce").astype(float).to_numpy()
    odd = (frame[column].notna().to_numpy() & np.isnan(values)) | (values < 0) | (values > 1)
    if column == "approved":
        odd |= ~np.isnan(values) & ~np.isin(values, (0.0, 1.0))
    if odd.any():
        raise FrameError(f"{name}.{column} is no share in {first_rows(odd, frame[column].to_numpy())}; correct these")
    n = frame["reviewed"].to_numpy(dtype=float) if "reviewed" in frame.columns else np.full(len(frame), np.nan)
    # A rate over nothing is no rate: "0% (0/0)" in a platform's export.
    values = np.where(n == 0, np.nan, values)
    made = pd.DataFrame({"worker": frame["worker"].to_numpy(), "value": values, "reviewed": n})
    made["at"] = pd.to_datetime(frame["at"], utc=True).array
    made = made.sort_values("at", kind="stable", ignore_index=True)
    return made[made["value"].notna()] if column == "approved" else made


def _interval(found: pd.DataFrame, level: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rate, n = found["rate"].to_numpy(dtype=float), found["reviewed"].to_numpy(dtype=float)
    known = ~np.isnan(rate) & ~np.isnan(n)
    low, high = np.full(len(rate), np.nan), np.full(len(rate), np.nan)
    n_known = np.round(n[known]).astype(np.intp)
    right = np.round(rate[known] * n[known]).astype(np.intp)
    low[known], high[known] = beta_interval(right, n_known, level=level, prior=(1.0, 1.0))
    return low, high
