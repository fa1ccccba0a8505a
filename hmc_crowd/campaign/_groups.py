"""Do groups of a campaign's people judge alike? What they said of themselves, joined to their answers.

Counted are answers that count: of nobody who is left out, under the guideline in force, the first to each question.
What leaves the campaign (`report`) holds groups alone: no counts of answers by which a group could be put together
again from the table of workers, and shares rounded to a thousandth.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from hmc_crowd.campaign._gold_rows import gold_rows
from hmc_crowd.campaign._guideline import Versions
from hmc_crowd.campaign._standing import quality_table
from hmc_crowd.campaign._traits import wide_traits
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.quality import GroupComparison
from hmc_crowd.quality import compare_groups as compare

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import AspectRecord, Transaction

__all__ = ["compare_groups", "groups_of_report"]

_SHOWN = {
    "labels": ["group", "people", "label", "share", "low", "high", "difference", "difference_low", "difference_high"],
    "agreement": ["group", "other", "share", "low", "high", "chance", "kappa", "kappa_low", "kappa_high"],
    "cohesion": ["group", "inside", "outside", "difference", "low", "high"],
    # No people here: one more than above would say of whom is left out which group is theirs.
    "accuracy": ["group", "share", "low", "high", "difference", "difference_low", "difference_high"],
    "groups": ["group", "people", "quality", "quality_low", "quality_high"],
}


def compare_groups(
    context: Context, attribute: str, *, aspect: str | None, level: float, least_people: int
) -> GroupComparison:
    """Compare groups by an attribute that is stored."""
    asked = context.aspect_or_first(aspect)
    if asked.kind == "text":
        raise InputError(f"aspect {asked.name!r} is answered in words; groups are compared by labels or numbers")
    if not isinstance(level, int | float) or not 0 < level < 1:
        raise InputError(f"level is {level!r}; give a probability between 0 and 1, such as 0.95")
    with context.store.read() as tx:
        workers = wide_traits(tx, context.campaign_id, attribute)
        return _compared(context, tx, asked, workers, attribute, level, least_people)


def groups_of_report(context: Context, tx: Transaction) -> dict[str, Any] | None:
    """Return what a report shows of every attribute that is stored; None where none is, or nothing can be compared."""
    attributes = list(tx.traits.attributes(context.campaign_id))
    asked = context.aspects()[0]
    parts: dict[str, list[pd.DataFrame]] = {name: [] for name in _SHOWN}
    said, notes = [], []
    for attribute in attributes:
        workers = wide_traits(tx, context.campaign_id, attribute)
        try:
            # Of several attributes, all intervals shall hold together.
            found = _compared(context, tx, asked, workers, attribute, 0.95 ** (1 / len(attributes)), 5)
        except StateError:
            return None
        words = attribute.replace("_", " ")
        said.append(str(replace(found, attribute=words)))
        notes += [f"{words}: {each}" for each in found.notes]
        for name, columns in _SHOWN.items():
            frame = getattr(found, name)
            if len(frame):
                parts[name].append(frame[columns].round(3).assign(attribute=words)[["attribute", *columns]])
    if not said:
        return None
    tables = {name: pd.concat(each, ignore_index=True) for name, each in parts.items() if each}
    return {**tables, "said": tuple(said), "notes": tuple(dict.fromkeys(notes))}


def _compared(
    context: Context,
    tx: Transaction,
    asked: AspectRecord,
    workers: pd.DataFrame,
    attribute: str,
    level: float,
    least_people: int,
) -> GroupComparison:
    answers = tx.work.answers(context.campaign_id, include_excluded=False)
    answers = Versions(context, tx).counting(answers[answers["aspect"].astype(str) == asked.name])
    if answers.empty:
        raise StateError(f"nobody has answered {asked.name!r} yet, so there is nothing to compare; first collect()")
    columns = ["task", "worker", "label", "submitted"]
    numeric = asked.kind == "numeric"
    rows = answers[columns].assign(label=pd.to_numeric(answers["label"])) if numeric else answers[columns]
    found = compare(
        rows,
        workers,
        attribute,
        **_gold(context, tx, asked.name),
        quality=_quality(context, tx),
        numeric=numeric,
        members=json.loads if asked.kind == "multi_label" else None,
        level=level,
        least_people=least_people,
    )
    suggested = float((answers["mode"] != "blind").mean())
    if not suggested:
        return found
    note = f"{suggested:.0%} of the answers were given with the machine's label in sight, which makes groups more alike"
    return replace(found, notes=(*found.notes, note))


def _gold(context: Context, tx: Transaction, aspect: str) -> dict[str, pd.DataFrame]:
    """Return known labels and everybody's answers to them: who is left out was mostly left out for these."""
    rows, keys = gold_rows(context, tx, tx.work.answers(context.campaign_id), first_only=True)
    rows = rows[rows["aspect"].astype(str) == aspect]
    return {"gold": keys, "gold_answers": rows[["task", "worker", "label"]]}


def _quality(context: Context, tx: Transaction) -> pd.DataFrame:
    table = quality_table(context, tx)
    return table.loc[table["n"] > 0, ["worker", "quality"]].dropna()
