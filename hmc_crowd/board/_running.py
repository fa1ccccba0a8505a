"""How does it run? Cost and time of an answer, people at work, load of the pools, alerts, uptime: in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from hmc_crowd._base.money import Money
from hmc_crowd.report import Column, Table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from hmc_crowd.board._figures import Live

__all__ = ["missing_note", "pool_table", "running_tiles"]

_REASONS = {
    "cannot_decide": "cannot decide",
    "broken": "broken text",
    "language": "language not understood",
    "upsetting": "upsetting",
    "other": "something else",
}


def running_tiles(live: Live, *, alerts: int, last: datetime | None) -> list[tuple[str, str, str]]:
    """Return the tiles: what, the figure, and what it speaks of."""
    open_s, capacity_s = sum(each.open_s for each in live.pools), sum(each.capacity_s for each in live.pools)
    answer = "not known" if live.answer_s is None else f"{live.answer_s:,.1f} s"
    return [
        ("Cost of an answer", _cost(live), "by the rewards of what was handed in"),
        ("Time of an answer", answer, "median"),
        ("People at work", f"{live.at_work:,}", "with work under way, as of the last collection"),
        ("Answers an hour", f"{live.last_hour:,}", "in the last hour"),
        ("Expert load", _share(open_s / capacity_s if capacity_s else None), "of the shifts of the next 24 hours"),
        ("Alerts active", f"{alerts:,}", _last(last, live.at)),
        ("Server up", _share(live.uptime), "of the last 24 hours, since it was first started"),
    ]


def _cost(live: Live) -> str:
    if live.cost_minor is None:
        return "not known"
    if live.cost_minor < 100:
        # Answers cost cents: whole minor units would hide most of it.
        return f"{live.cost_minor * float(Money(1, live.pay.currency).major):.3f} {live.pay.currency}"
    return str(Money(round(live.cost_minor), live.pay.currency))


def _share(share: float | None) -> str:
    return "not known" if share is None else f"{share:.1%}"


def _last(last: datetime | None, now: datetime) -> str:
    if last is None:
        return "none since the server was started"
    minutes = max(0.0, (now - last).total_seconds() / 60)
    return (
        f"the last came up {minutes:,.0f} min ago" if minutes < 120 else f"the last came up {minutes / 60:,.0f} h ago"
    )


def missing_note(missing: Mapping[tuple[str, str], int]) -> str:
    """Say why questions were left without an answer, the most frequent reason first.

    Examples
    --------
    >>> missing_note({("skip", "cannot_decide"): 2, ("flag", "broken"): 5})
    '5 reported: broken text; 2 skipped: cannot decide'
    """
    verbs = {"flag": "reported", "exposure": "skipped unseen", "skip": "skipped"}
    rows = sorted(missing.items(), key=lambda each: (-each[1], each[0]))
    return "; ".join(
        f"{count:,} {verbs.get(kind, kind)}: {_REASONS.get(reason, reason)}" for (kind, reason), count in rows
    )


def pool_table(live: Live) -> Table:
    """Return the load of each pool as a table."""
    rows = [
        (
            each.pool,
            each.kind,
            each.members,
            each.open_places,
            each.open_s / 3600,
            each.capacity_s / 3600,
            "no shift is planned" if each.share is None else f"{each.share:.0%}",
        )
        for each in live.pools
    ]
    columns = ["pool", "kind", "people", "open_places", "open_hours", "hours_of_people", "used"]
    names = {
        "people": Column("People", "integer"),
        "open_places": Column("Open places", "integer"),
        "open_hours": Column("Hours that they need", "number"),
        "hours_of_people": Column("Hours of people, next 24 h", "number"),
        "used": Column("Share used"),
    }
    return Table(key="pools", title="Pools", frame=pd.DataFrame(rows, columns=columns), columns=names)
