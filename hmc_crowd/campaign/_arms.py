"""Which answers were given blind and which in view of the machine's label, and how much that label moved people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hmc_crowd.metrics import anchoring

if TYPE_CHECKING:
    import pandas as pd

    from hmc_crowd.metrics import Metric

__all__ = ["Arms", "arms_of"]


@dataclass(frozen=True)
class Arms:
    """The two arms of an aspect; ``anchoring`` is the share agreeing with the machine, shown minus hidden."""

    aspect: str
    blind: int
    suggest: int
    anchoring: Metric

    def __str__(self) -> str:
        told = self.anchoring
        counts = f"{self.aspect}: {self.blind:,} answers blind, {self.suggest:,} in view of the machine's label"
        if told.value is None:
            return counts
        shown, hidden = told.details["agree_shown"], told.details["agree_hidden"]
        ends = "" if told.low is None or told.high is None else f" ({told.low:+.1%} to {told.high:+.1%})"
        return f"{counts}; {shown:.1%} and {hidden:.1%} agree with it, anchoring {told.value:+.1%}{ends}"


def arms_of(answers: pd.DataFrame) -> tuple[Arms, ...]:
    """Return the arms of every aspect of which answers were given in view of suggestions.

    Parameters
    ----------
    answers : pandas.DataFrame
        As `AnswerRepository.answers` returns them.
    """
    found = []
    for aspect, rows in answers[answers["suggestion"].notna()].groupby("aspect", observed=True):
        shown = (rows["mode"] == "suggest").to_numpy()
        if shown.any():
            agrees = (rows["label"].astype(str) == rows["suggestion"].astype(str)).to_numpy()
            effect = anchoring(agrees, shown, rows["worker"].astype(str).to_numpy())
            found.append(Arms(str(aspect), int((~shown).sum()), int(shown.sum()), effect))
    return tuple(found)
