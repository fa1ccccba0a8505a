"""How checks of quality and alerts read on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd.cli._show import notes, say, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

__all__ = ["repeats", "resting", "show_alerts", "show_check", "worker_table"]

_WORKERS = ["worker", "right", "n", "quality", "low", "high", "drift", "left_out"]
_SUSPECTS = ["item", "aspect", "label", "top_label", "reason"]


def worker_table(found: Any) -> pd.DataFrame:
    """Return the workers as the terminal shows them: the drift as a mark."""
    frame = found.workers
    mark = frame["drift_at"].map(lambda at: "" if at is None or at != at else f"since {at:%Y-%m-%d}")
    left_out = frame["left_out"].map(lambda why: "yes" if isinstance(why, str) else "")
    shown: pd.DataFrame = frame.assign(drift=mark, left_out=left_out)[_WORKERS]
    return shown


def show_check(found: Any, *, said: Sequence[str] = ()) -> None:
    """Print what a check of quality adds to the check on gold, but for notes that were said there."""
    say(str(found))
    if len(found.workers):
        table(worker_table(found))
    for row in found.suspects[_SUSPECTS].itertuples():
        say(f"look at the known label of {row.item} ({row.label}; most say {row.top_label}): {row.reason}")
    say(str(found.pay))
    notes([note for note in (*found.notes, *repeats(found)) if note not in said])


def repeats(found: Any) -> tuple[str, ...]:
    if not found.repeated_gold:
        return ()
    return (f"{found.repeated_gold:,} pairs of worker and known item met again; the first answer alone counts",)


def resting(gold: pd.DataFrame) -> tuple[str, ...]:
    """Say how much of the gold rests at its limit, and how much was met twice by somebody."""
    said = []
    if gold["rests"].any():
        limit = gold["limit"].iloc[0]
        said.append(f"{int(gold['rests'].sum()):,} of {len(gold):,} gold items rest: {limit:,} people is their limit")
    again = int((gold["times"] - gold["workers"]).sum())
    if again:
        said.append(f"known items were met once more {again:,} times; the first answer alone counts")
    return tuple(said)


def show_alerts(found: Any) -> None:
    """Print what is said now, and what lasts."""
    for notice in found.notices:
        say(str(notice))
    said = {(each.rule, each.subject) for each in found.notices}
    for each in found.lasting:
        if (each.rule, each.subject) not in said:
            say(f"still: {each}")
    if not found.notices and not found.lasting:
        say("no alert lasts")
