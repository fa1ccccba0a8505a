"""What is known about a worker before the work begins.

`worker_features` answers as of an instant: only what happened strictly before it can change the answer, so a model
trained on these features has seen nothing that it will not have when it is used. The source's approval ranking is
computed over the whole study and nearly names the worker (its correlation with time is .84); it is offered under
``ranking="lifetime"``, to reproduce the source, and is not the default.

Nothing known is NaN, never a bad score: ``0% (0/0)`` in a platform's export means that nobody has looked yet.

Source: Zhang, Ren, de Rijke (2021), section 3.3, worker test score and approval-rate ranking.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import require_same_length
from hmc_crowd._base.clock import as_utc
from hmc_crowd.effort._frames import as_pandas, instants, number_column, require_columns, require_no_missing
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["first_submissions", "parse_approval_rate", "worker_features"]

_RATE = re.compile(r"^\s*(?P<pct>\d+(?:\.\d+)?)\s*%?\s*(?:\(\s*(?P<ok>\d+)\s*/\s*(?P<all>\d+)\s*\))?\s*$")


def parse_approval_rate(text: str) -> float:
    """Read a platform's approval rate as a share in [0, 1]; ``0% (0/0)`` is unknown, NaN.

    Raises
    ------
    InputError
        The text is no rate, or lies outside 0 to 100 %.

    Examples
    --------
    >>> parse_approval_rate("95% (19/20)")
    0.95
    >>> parse_approval_rate("0% (0/0)")
    nan
    """
    match = _RATE.match(text) if isinstance(text, str) else None
    if match is None or float(match["pct"]) > 100 or (match["all"] and int(match["ok"]) > int(match["all"])):
        raise InputError(f"approval rate is {text!r}; expected a form like '95% (19/20)' between 0 and 100 %")
    if match["all"] is None:
        return float(match["pct"]) / 100
    return int(match["ok"]) / int(match["all"]) if int(match["all"]) else float("nan")


def first_submissions(workers: Sequence[str], submitted: Any) -> NDArray[np.int64]:
    """Mark each worker's first submission with 1, all others with 0; of equal times the first row counts.

    Parameters
    ----------
    workers : sequence of str, length n
    submitted : sequence of aware datetime, length n

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> first_submissions(["a", "a", "b"], [datetime(2026, 1, day, tzinfo=UTC) for day in (2, 1, 3)]).tolist()
    [0, 1, 1]
    """
    import pandas as pd

    require_same_length([("workers", workers), ("submitted", submitted)])
    order = np.argsort(instants(submitted, name="submitted"), kind="stable")
    first = ~pd.Series(list(workers)).iloc[order].duplicated().to_numpy()
    marks = np.zeros(len(order), dtype=np.int64)
    marks[order[first]] = 1
    return marks


def worker_features(
    workers: Sequence[str],
    *,
    as_of: datetime | Sequence[datetime],
    gold_checks: Any = None,
    reviews: Any = None,
    ranking: str = "past",
) -> pd.DataFrame:
    """Compute worker test score and approval-rate ranking as they were known at an instant.

    Parameters
    ----------
    workers : sequence of str, length n
        Whose features; a worker may occur many times, each with another instant.
    as_of : aware datetime, or sequence of n of them
        Only events strictly before it count.
    gold_checks : table, optional
        Answers to gold: ``worker``, ``right`` (bool), ``at`` (aware time when the check was made).
    reviews : table, optional
        Approvals and rejections: ``worker``, ``approved`` (bool; missing = not reviewed yet), ``at``.
    ranking : {"past", "lifetime"}, default "past"
        ``past``: the worker's place among all workers with a known approval rate at that instant, ascending, equal
        rates sharing their mean place, divided by their number, so in (0, 1] and comparable while the crowd grows.
        ``lifetime``: the source's form, for reproduction: index 1, 2, ... after sorting by the rate over ALL reviews,
        equal rates in order of worker id. It looks into the future and is nearly the worker's name.

    Returns
    -------
    pandas.DataFrame
        ``worker, as_of, worker_test_score, approval_ranking, n_gold, n_reviewed``; unknown is NaN with count 0.

    Raises
    ------
    InputError, FrameError
        A naive time, a missing column, an unknown ``ranking``, lengths that differ.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> day = lambda d: datetime(2026, 1, d, tzinfo=UTC)
    >>> gold = {"worker": ["a", "a", "a"], "right": [True, False, True], "at": [day(1), day(2), day(9)]}
    >>> worker_features(["a", "b"], as_of=day(5), gold_checks=gold)["worker_test_score"].tolist()
    [0.5, nan]
    """
    import pandas as pd

    if ranking not in {"past", "lifetime"}:
        raise InputError(f"ranking is {ranking!r}; use 'past' or, to reproduce the source, 'lifetime'")
    if isinstance(workers, str):
        raise InputError(f"workers is the string {workers!r}; give a sequence such as [{workers!r}]")
    names = list(workers)
    moments = [as_utc(as_of, name="as_of")] * len(names) if isinstance(as_of, datetime) else list(as_of)
    require_same_length([("workers", names), ("as_of", moments)])
    when = instants(moments, name="as_of") if names else np.empty(0, dtype=np.int64)
    right, n_gold, _ = _known(names, when, _events(gold_checks, "right", "gold_checks"), rank=False)
    events = _events(reviews, "approved", "reviews")
    _, n_reviewed, place = _known(names, when, events, rank=ranking == "past")
    if ranking == "lifetime":
        place = _lifetime(names, events)
    return pd.DataFrame(
        {
            "worker": names,
            "as_of": pd.to_datetime(pd.Series(when), unit="us", utc=True),
            "worker_test_score": right,
            "approval_ranking": place,
            "n_gold": n_gold,
            "n_reviewed": n_reviewed,
        }
    )


def _events(frame: Any, flag: str, name: str) -> pd.DataFrame:
    """Return worker, flag as 0/1 and time in microseconds, in time order."""
    import pandas as pd

    if frame is None:
        return pd.DataFrame({"worker": [], "flag": np.empty(0), "at": np.empty(0, dtype=np.int64)})
    table = as_pandas(frame, name=name)
    require_columns(table, ["worker", flag, "at"], name=name)
    require_no_missing(table, ["worker"], name=name)
    table = table[table[flag].notna()]
    at = instants(table["at"], name=f"{name} column at") if len(table) else np.empty(0, dtype=np.int64)
    values = number_column(table[flag], name=f"{name} column {flag}")
    if not np.isin(values, (0.0, 1.0)).all():
        raise InputError(f"{name} column {flag} must be true or false; got {values[~np.isin(values, (0.0, 1.0))][0]}")
    made = pd.DataFrame({"worker": table["worker"].to_numpy(), "flag": values, "at": at})
    return made.sort_values("at", kind="stable", ignore_index=True)


def _known(names: list[str], when: NDArray[np.int64], events: pd.DataFrame, *, rank: bool) -> tuple[Any, Any, Any]:
    """Return share, count and (with ``rank``) relative place of each query, from the events strictly before it."""
    import pandas as pd

    codes, known = pd.factorize(events["worker"])
    asked = pd.Index(known).get_indexer(pd.Index(names, dtype="object")) if names else np.empty(0, dtype=np.intp)
    good, total = np.zeros(len(known) + 1), np.zeros(len(known) + 1)  # the last slot is the worker never seen
    share, count, place = np.full(len(names), np.nan), np.zeros(len(names), dtype=np.int64), np.full(len(names), np.nan)
    flags, upto = events["flag"].to_numpy(), np.searchsorted(events["at"].to_numpy(), when, side="left")
    order, done = np.argsort(upto, kind="stable"), 0
    bounds = np.flatnonzero(np.diff(upto[order])) + 1
    for rows in np.split(order, bounds) if len(order) else []:
        fresh = slice(done, upto[rows[0]])
        np.add.at(total, codes[fresh], 1.0)
        np.add.at(good, codes[fresh], flags[fresh])
        done = int(upto[rows[0]])
        who, seen = asked[rows], total[asked[rows]] > 0
        count[rows] = total[who].astype(np.int64)
        share[rows[seen]] = good[who[seen]] / total[who[seen]]
        if rank:
            rates = np.sort(good[total > 0] / total[total > 0])
            mine = share[rows[seen]]
            middle = (np.searchsorted(rates, mine, "left") + np.searchsorted(rates, mine, "right") + 1) / 2
            place[rows[seen]] = middle / max(len(rates), 1)
    return share, count, place


def _lifetime(names: list[str], events: pd.DataFrame) -> NDArray[np.float64]:
    """Return the source's index 1, 2, ... by rate over all reviews; NaN for workers without any."""
    rates = events.groupby("worker")["flag"].mean().reset_index().sort_values(["flag", "worker"], kind="stable")
    index = {worker: float(place) for place, worker in enumerate(rates["worker"], start=1)}
    return np.array([index.get(name, np.nan) for name in names], dtype=np.float64)
