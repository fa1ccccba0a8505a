"""What was read off a platform about how often workers' work was approved? All of a table, or nothing of it.

Guarantee: a share is never taken for a percentage, or the other way round, and a time without a zone is refused; a
wrong reading would rank everybody, and teach the effort model, without anybody seeing it.

Source: requirements A22 and E3 (``0% (0/0)`` is unknown, not bad).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd._base.clock import as_utc
from hmc_crowd.campaign._pseudonyms import pseudonyms, worker_column
from hmc_crowd.effort import parse_approval_rate
from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.io import read_frame
from hmc_crowd.io._columns import missing_cells, number_column, text_column
from hmc_crowd.io._times import time_column

if TYPE_CHECKING:
    from datetime import datetime

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.io import Loaded

__all__ = ["add_rates"]

# As our own frames, and MTurk's results, name it.
_RATE = ("rate", "LifetimeApprovalRate")


def add_rates(context: Context, source: Any, *, platform: str, at: datetime | None) -> int:
    """Keep lifetime rates as they were read off a platform; return how many readings are new."""
    if not platform.strip():
        raise InputError("platform is empty; name the one whose rates these are")
    moment = context.clock.now() if at is None else as_utc(at, name="at")
    loaded = read_frame(source, kind=None, name="rates")
    workers = text_column(loaded.frame[worker_column(loaded.frame, name="rates")], "worker", loaded.where).str.strip()
    if (workers == "").any():
        raise FrameError(f"{loaded.where.name}: worker is empty: {loaded.rows((workers == '').to_numpy())}; name each")
    rate, counted = _rates(loaded)
    made = pd.DataFrame({"worker": workers, "source": platform.strip(), "rate": rate})
    made["reviewed"] = pd.array(_reviewed(loaded, counted), dtype="Float64").astype("Int64")
    made["at"] = _moments(loaded, moment)
    _refuse_two(made, loaded)
    names = pseudonyms(context.worker_key, platform, workers)
    made["worker"] = workers.map(names)
    with context.store.begin() as tx:
        new = tx.standing.add_rates(context.campaign_id, made)
        context.log(tx, "approval rates", platform=platform, readings=new)
    return new


def _rates(loaded: Loaded) -> tuple[list[float | None], list[float]]:
    """Return the rates as shares, missing where unknown, and on how many reviews each rests, where that is said."""
    column = next((each for each in _RATE if each in loaded.frame), None)
    if column is None:
        raise FrameError("rates lack the column rate; give worker (the platform's id) and rate")
    cells = loaded.frame[column]
    is_empty = missing_cells(cells, cells.astype(object).to_numpy())
    found: list[float | None] = []
    counted: list[float] = []
    wrong = np.zeros(len(cells), dtype=bool)
    for place, cell in enumerate(cells.astype(object).tolist()):
        try:
            share, n = (None, np.nan) if is_empty[place] else _rate(cell)
        except InputError:
            share, n, wrong[place] = None, np.nan, True
        found.append(share)
        counted.append(n)
    if wrong.any():
        seen = loaded.rows(wrong, cells.astype(object).to_numpy())
        raise FrameError(
            f"{loaded.where.name}: rate is no share of approved work: {seen}; write 0.95, 95% or 95% (19/20), and "
            "nothing where nobody knows"
        )
    return found, counted


def _rate(cell: Any) -> tuple[float | None, float]:
    """Read a share, or a platform's text; a bare number above 1 could mean anything and is refused."""
    text = str(cell).strip()
    if "%" not in text and "/" not in text:
        try:
            share = float(text)
        except ValueError:
            share = np.nan
        if isinstance(cell, bool) or not 0 <= share <= 1:
            raise InputError(f"rate is {cell!r}")
        return share, np.nan
    read = parse_approval_rate(text)
    _, _, n = text.rstrip(") ").partition("/")
    return (None if np.isnan(read) else read), float(n) if n else np.nan


def _reviewed(loaded: Loaded, counted: list[float]) -> list[float | None]:
    """Return how many reviews a rate rests on: as a column says, else as the rate's own text does."""
    given = np.full(len(counted), np.nan)
    if "reviewed" in loaded.frame:
        cells = loaded.frame["reviewed"]
        given = number_column(cells, "reviewed", loaded.where, low=0, may_miss=True)
        bad = ~np.isnan(given) & (given != np.floor(given))
        if bad.any():
            raise FrameError(f"{loaded.where.name}: reviewed is no whole number: {loaded.rows(bad, given)}; correct it")
    both = np.where(np.isnan(given), counted, given)
    return [None if np.isnan(each) else float(each) for each in both]


def _moments(loaded: Loaded, moment: datetime) -> Any:
    """Return when each was read; a row that does not say so was read now, or when the caller says."""
    now = pd.Timestamp(moment)
    if "at" not in loaded.frame:
        return now
    return time_column(loaded.frame["at"], "at", loaded.where, assume_utc=False).fillna(now)


def _refuse_two(made: pd.DataFrame, loaded: Loaded) -> None:
    """Refuse two different readings of a worker at one moment: which of them holds, nobody could say."""
    several = made.drop_duplicates()[["worker", "at"]].duplicated(keep=False)
    if several.any():
        bad = several.reindex(made.index, fill_value=False).to_numpy()
        raise FrameError(
            f"{loaded.where.name}: rates differ for the same worker and moment: {loaded.rows(bad, made['worker'])}; "
            "keep one of them, or say in a column at when each was read"
        )
