"""What does a comparison of groups come to, in words? One sentence for each thing that differs beyond chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["accuracy_words", "cohesion_words", "label_words"]


def label_words(labels: pd.DataFrame, *, numeric: bool) -> list[str]:
    """Say which labels a group gives more often; what the others give less often is the same thing."""
    found = []
    more = labels[labels["differs"] & (labels["difference"] > 0)]
    # Two labels that exclude each other, two groups: each of the two sentences would say the other.
    if labels["group"].nunique() == labels["label"].nunique() == 2 and _adds_up(labels):
        more = more.head(1)
    for row in more.to_dict("records"):
        own, others, low, high = (
            row[name] for name in ("share_there", "others_there", "difference_low", "difference_high")
        )
        if numeric:
            said, size = "give higher numbers", f"{own:.3g} against {others:.3g} ({low:.3g} to {high:.3g} more)"
        else:
            said = f"say {row['label']!r} more often"
            size = f"{own:.0%} against {others:.0%} ({low * 100:.0f} to {high * 100:.0f} points more)"
        found.append(f"{row['group']} {said} than others of the same items: {size}")
    return found


def _adds_up(labels: pd.DataFrame) -> bool:
    return bool((labels.groupby("group")["share"].sum().sub(1).abs() < 1e-9).all())


def cohesion_words(cohesion: pd.DataFrame) -> list[str]:
    """Say which groups agree more, or less, inside than with others."""
    found = []
    for row in cohesion[cohesion["differs"]].to_dict("records"):
        more = row["difference"] > 0
        means = "a way of judging of their own" if more else "they judge less surely"
        found.append(
            f"{row['group']} agree {'more' if more else 'less'} with one another than with others on the same items: "
            f"{row['inside']:.0%} against {row['outside']:.0%}, {means}"
        )
    return found


def accuracy_words(accuracy: pd.DataFrame) -> list[str]:
    """Say which groups are right less often on gold."""
    if accuracy.empty:
        return []
    return [
        f"{row['group']} are right less often than others on the same gold: {row['share_there']:.0%} against "
        f"{row['others_there']:.0%}; other labels of theirs may be a matter of skill, or the gold one of view"
        for row in accuracy[accuracy["differs"] & (accuracy["difference"] < 0)].to_dict("records")
    ]
