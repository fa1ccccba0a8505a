"""What does an opened sample of auditors say? The share of wrong labels, and whether somebody steered it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.quality._gold_scores import beta_interval  # because error rates have one interval everywhere

if TYPE_CHECKING:
    import pandas as pd

    from hmc_crowd.store import SecretAuditRecord

__all__ = ["SecretAudit", "SecretDraw", "audit_result", "result_of"]

_PRIOR = (0.5, 0.5)
_BY_CHANCE = 0.001


@dataclass(frozen=True)
class SecretDraw:
    """How many labels were drawn of how many, and the hash that binds the auditors; never which.

    Parameters
    ----------
    aspect : str
    number : int
        1 for the first sample of the aspect.
    drawn, items : int
        Labels in the sample, and labels there are.
    commitment : str
        Hash of the key, published in the event log.
    earlier_unopened : int
        Samples drawn before this one that nobody has opened: who draws until he likes the sample is seen by it.
    """

    aspect: str
    number: int
    drawn: int
    items: int
    commitment: str
    earlier_unopened: int

    def __str__(self) -> str:
        more = f"; {self.earlier_unopened:,} earlier samples were never opened" if self.earlier_unopened else ""
        count = f"{self.drawn:,} of {self.items:,} labels"
        return f"sample {self.number}: {count}, key committed as {self.commitment[:12]}{more}"


@dataclass(frozen=True)
class SecretAudit:
    """What an opened sample says of the labels as they stood when it was drawn.

    Parameters
    ----------
    aspect : str
    number : int
    items, drawn, judged, wrong : int
    error, low, high : float
        Share of wrong labels among the judged, with a 95% interval (beta, Jeffreys' prior).
    changed : int
        Labels of the sample that were changed between the draw and the opening; the result is of the labels before.
    changed_elsewhere : int
        Labels outside the sample that were.
    steered : bool
        Whether the sample's labels were changed more than chance explains: somebody seems to know it.
    unopened : int
        Samples drawn before this one that were never opened.
    wrong_items : tuple of str
        What the auditors would call otherwise.
    """

    aspect: str
    number: int
    items: int
    drawn: int
    judged: int
    wrong: int
    error: float
    low: float
    high: float
    changed: int
    changed_elsewhere: int
    steered: bool
    unopened: int
    wrong_items: tuple[str, ...] = ()

    def __str__(self) -> str:
        left = f" ({self.drawn - self.judged:,} of the sample were not judged)" if self.judged < self.drawn else ""
        moved = ""
        if self.changed:
            moved = f"; {self.changed:,} of these labels were changed after the draw, which the result leaves out"
            moved += ": more than chance explains, so somebody seems to know the sample" if self.steered else ""
        none = f"; {self.unopened:,} earlier samples were never opened" if self.unopened else ""
        return (
            f"{self.wrong:,} of {self.judged:,} labels wrong{left}: an error rate of {self.error:.1%} "
            f"({self.low:.1%} to {self.high:.1%}) among {self.items:,} labels as they stood at the draw{moved}{none}"
        )


def audit_result(
    held: SecretAuditRecord, stood: pd.Series, said: dict[str, str], items: list[str], now: pd.Series, unopened: int
) -> SecretAudit:
    """Compare what auditors ``said`` of ``items`` with how labels ``stood`` at the draw, and these with ``now``."""
    wrong = tuple(item for item, label in said.items() if stood[item] != label)
    low, high = (float(each[0]) for each in beta_interval(
        np.array([len(wrong)]), np.array([len(said)]), level=0.95, prior=_PRIOR
    ))  # fmt: skip
    moved = {item for item in stood.index if item in now.index and now[item] != stood[item]}
    inside = len(moved & set(items))
    return SecretAudit(
        aspect=held.aspect,
        number=held.number,
        items=held.items,
        drawn=held.drawn,
        judged=len(said),
        wrong=len(wrong),
        error=len(wrong) / len(said),
        low=low,
        high=high,
        changed=inside,
        changed_elsewhere=len(moved) - inside,
        steered=_is_steered(held.items, held.drawn, len(moved), inside),
        unopened=unopened,
        wrong_items=wrong,
    )


def _is_steered(items: int, drawn: int, moved: int, inside: int) -> bool:
    """Say whether so many of the changed labels lie in the sample that chance does so less than once in 1,000 times."""
    from scipy.stats import hypergeom

    return inside > 0 and float(hypergeom.sf(inside - 1, items, drawn, moved)) < _BY_CHANCE


def result_of(held: dict[str, Any]) -> SecretAudit:
    """Return a result as it was kept."""
    return SecretAudit(**{**held, "wrong_items": tuple(held["wrong_items"])})
