"""How often is each tier of experts wrong, in which direction, and how often is it overturned?

Wrong is what a known label says: gold, or the label of auditors whose sample was opened. The blind labels are compared,
which nothing had led. Overturned is what a higher tier did not uphold, by what experts said in the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from hmc_crowd.campaign._aspects import CHOICES, choice_of
from hmc_crowd.campaign._looks import own_words
from hmc_crowd.campaign._secret_audit import auditors_labels
from hmc_crowd.quality import overturn_rates, tier_errors

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import Transaction

__all__ = ["TierFigures", "known_labels_of", "tier_figures", "tier_words"]

_ERRORS = ["tier", "true", "answered", "count", "n", "share", "low", "high"]
_OVERTURNED = ["tier", "overturned", "n", "share", "low", "high"]


@dataclass(frozen=True)
class TierFigures:
    """What judging twice teaches about experts.

    Parameters
    ----------
    aspect : str
    judgements : pandas.DataFrame
        ``tier, judgements, items, experts``.
    errors : pandas.DataFrame
        As `hmc_crowd.quality.tier_errors`; empty where no label of a judged item is known.
    overturned : pandas.DataFrame
        As `hmc_crowd.quality.overturn_rates`.
    known : int
        Judged items whose label is known.
    notes : tuple of str
    """

    aspect: str
    judgements: pd.DataFrame
    errors: pd.DataFrame
    overturned: pd.DataFrame
    known: int
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        said = [
            f"tier {row['tier']:.0f}: {row['overturned']:.0f} of {row['n']:.0f} overturned "
            f"({row['low']:.0%} to {row['high']:.0%})"
            for row in self.overturned.to_dict("records")
        ]
        return "; ".join(said) or "no label of a tier has come before a higher one yet"


def tier_figures(context: Context, *, aspect: str | None) -> TierFigures:
    """Return error matrices and rates of overturned labels by tier."""
    record = choice_of(context, aspect)
    with context.store.read() as tx:
        words = own_words(context, tx, record.name)
        known = known_labels_of(context, tx, record.name)
    frame = words[["item", "tier", "expert", "label"]]
    blind = frame.assign(label=words["blind_label"])
    met = blind[blind["item"].isin(known["item"])]
    notes = []
    if words.empty:
        notes.append("no expert has judged anything yet")
    elif met.empty:
        notes.append("no label of a judged item is known: gold, or a sample that auditors opened, would tell errors")
    counted = words.groupby("tier").agg(
        judgements=("item", "size"), items=("item", "nunique"), experts=("expert", "nunique")
    )
    return TierFigures(
        record.name,
        counted.reset_index(),
        tier_errors(met, known) if len(met) else pd.DataFrame(columns=_ERRORS),
        overturn_rates(frame) if len(frame) else pd.DataFrame(columns=_OVERTURNED),
        int(met["item"].nunique()),
        tuple(notes),
    )


def tier_words(context: Context) -> list[str]:
    """Say for the report how often experts were overturned, where any was judged twice."""
    found = [tier_figures(context, aspect=each.name) for each in context.aspects() if each.kind in CHOICES]
    return [f"experts on {each.aspect!r}: {each}" for each in found if len(each.overturned)]


def known_labels_of(context: Context, tx: Transaction, aspect: str) -> pd.DataFrame:
    """Return known labels: gold, and over it nothing; else those of auditors whose samples are open."""
    gold = tx.frames.read(context.campaign_id, "gold", aspect=aspect)[["item", "label"]].astype(str)
    said = auditors_labels(context, tx, aspect)
    audited = pd.DataFrame({"item": list(said), "label": list(said.values())}, dtype=str)
    return pd.concat([gold, audited], ignore_index=True).drop_duplicates("item")
