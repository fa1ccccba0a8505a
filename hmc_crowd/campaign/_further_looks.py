"""Who looks again? Another expert of the tier that is asked for, one item at a time, before new items are given out.

They come first since a judgement on them is paid for already; an item asks for as many looks as there are experts at
most, so that new items never wait for ever.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from hmc_crowd.quality import choose_expert
from hmc_crowd.quality._experts import waiting_order  # because everything waits by the same order

if TYPE_CHECKING:
    from hmc_crowd.quality import Expert

__all__ = ["give_looks", "in_order"]


def give_looks(
    frame: pd.DataFrame,
    judges: dict[str, tuple[str, ...]],
    people: list[Expert],
    *,
    hours: float,
    patience_s: float,
    cost_weight: float,
) -> tuple[pd.DataFrame, list[Expert]]:
    """Choose an expert for each item that needs another look; ``judges`` may not have it.

    Returns
    -------
    pandas.DataFrame
        ``item, expert, score, state``, the experts' loads counted up as items are given.
    list of Expert
        The same people with their new loads.
    """
    by_name = {each.expert: each for each in people}
    rows = []
    for row in frame.iloc[waiting_order(frame, patience_s=patience_s)].to_dict("records"):
        area, due = row.get("area"), row.get("deadline_s")
        chosen = choose_expert(
            row["item"],
            list(by_name.values()),
            area=area if isinstance(area, str) else None,
            deadline_s=None if due is None or due != due else float(due),
            tier=int(row["tier"]),
            hours=hours,
            cost_weight=cost_weight,
            exclude=judges[row["item"]],
        )
        if chosen.expert is not None:
            one = by_name[chosen.expert]
            by_name[chosen.expert] = replace(one, load=one.load + 1)
        state = "queued" if chosen.expert is None else "late" if chosen.late_s else "given"
        rows.append((row["item"], chosen.expert, chosen.score, state, chosen.reason))
    found = pd.DataFrame(rows, columns=["item", "expert", "score", "state", "reason"])
    return found.astype({"expert": object}), list(by_name.values())


def in_order(given: pd.DataFrame, frame: pd.DataFrame, people: list[Expert], *, patience_s: float) -> pd.DataFrame:
    """Return who has what with each expert's items in the order of the queue, whether it is a first look or another.

    Parameters
    ----------
    given : pandas.DataFrame
        ``item, expert, score, state``; without an expert an item is queued.
    frame : pandas.DataFrame
        What is known of the same items: ``item`` and ``urgency, waited_s, deadline_s`` where known.
    people : list of Expert
        With the loads of before.
    """
    rows = frame.merge(given, on="item", validate="one_to_one")
    rows = rows.iloc[waiting_order(rows, patience_s=patience_s)]
    has = rows["expert"].notna()
    place = rows[has].groupby("expert").cumcount().reindex(rows.index) + 1
    load = rows["expert"].map({each.expert: each.load for each in people})
    pace = rows["expert"].map({each.expert: each.per_hour for each in people})
    finish = (load + place) * 3600 / pace
    due = rows["deadline_s"].fillna(float("inf")) if "deadline_s" in rows else float("inf")
    late = (finish - due).clip(lower=0).fillna(0.0)
    state = rows["state"].where(~has, late.gt(0).map({True: "late", False: "given"}))
    rows = rows.assign(place=place.fillna(0).astype(int), finish_s=finish, late_s=late, state=state)
    return rows.sort_index(ignore_index=True)
