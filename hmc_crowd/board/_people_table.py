"""The people of a campaign as the board shows them: quality with its interval, and who has become worse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from hmc_crowd.campaign._alerts import show
from hmc_crowd.campaign._standing import quality_table
from hmc_crowd.report import Column, Table

if TYPE_CHECKING:
    from collections.abc import Collection

    from hmc_crowd.campaign._context import Context

__all__ = ["notice_table", "people_table"]

_SHOWN_NOTICES = 20


def people_table(context: Context, workers: pd.DataFrame, watched: Collection[str]) -> Table:
    """Return the workers with the quality of each, its interval, and what asks for a look.

    Parameters
    ----------
    workers : pandas.DataFrame
        ``worker`` and whatever else is shown of each.
    watched : collection of str
        Workers whom an alert names.
    """
    with context.store.read() as tx:
        known = quality_table(context, tx).set_index("worker")
        drift = tx.standing.alarms(context.campaign_id).groupby("worker")["at"].max()
    names = workers["worker"].astype(str)
    quality, low, high = (known[name].reindex(names).to_numpy(dtype=float) for name in ("quality", "low", "high"))
    band = [_band(each) for each in zip(quality, low, high, strict=True)]
    lately = [_lately(name, drift, watched) for name in names]
    columns = {"quality": Column("Quality, 95% interval"), "lately": Column("Lately")}
    return Table(key="workers", title="Workers", frame=workers.assign(quality=band, lately=lately), columns=columns)


def notice_table(context: Context) -> Table | None:
    """Return what was said last by the campaign's rules, newest first; None where nothing was."""
    said = show(context, limit=_SHOWN_NOTICES)[1]
    if not said:
        return None
    rows = [(f"{each.at:%Y-%m-%d %H:%M}", each.kind, each.severity, each.message) for each in said]
    names = {"at": Column("When (UTC)"), "what": Column("What was seen")}
    frame = pd.DataFrame(rows, columns=["at", "kind", "severity", "what"])
    return Table(key="notices", title="Alerts and recoveries, newest first", frame=frame, columns=names)


def _band(each: tuple[float, float, float]) -> str:
    quality, low, high = each
    return "not known" if quality != quality else f"{quality:.2f} ({low:.2f} to {high:.2f})"


def _lately(name: str, drift: pd.Series[pd.Timestamp], watched: Collection[str]) -> str:
    if name in drift.index:
        return f"worse since {drift[name]:%Y-%m-%d}"
    return "look at it" if name in watched else "steady"
