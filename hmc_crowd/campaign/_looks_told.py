"""How did experts' looks at an item come out? One sentence for `hmc_crowd.campaign.Campaign.explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmc_crowd.campaign._aspects import CHOICES
from hmc_crowd.campaign._looks import looks

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import Transaction

__all__ = ["looks_told"]

_INSTEAD = {
    "agreed": "{n} experts say the same ({evidence})",
    "settled": "the highest tier settles it ({evidence})",
    "escalate": "experts differ ({evidence}), and tier {to_tier} must look; until then the earliest of the highest "
    "tier holds",
    "second_opinion": "experts of the highest tier differ ({evidence}), and another one must look",
    "upheld": "upheld on appeal ({evidence})",
    "overturned": "overturned on appeal ({evidence})",
    "person": "a person settled it on appeal ({evidence})",
}
_AFTER = {
    "second_look": "another expert of tier {to_tier} looks, too",
    "appeal": "somebody appeals, and another expert judges blind ({evidence})",
    "appeal_third": "somebody appeals, a second expert differs, a third one judges blind ({evidence})",
    "review": "somebody appeals, and three experts said three things: a person must settle it ({evidence})",
}


def looks_told(context: Context, tx: Transaction, aspect: str, item: str) -> tuple[str, bool]:
    """Return the sentence, empty where one expert or none has spoken; and whether it takes the place of the reason."""
    if context.aspect(aspect).kind not in CHOICES:
        return "", False
    found = looks(context, tx, aspect, items=[item])
    if found.empty:
        return "", False
    row = {str(name): value for name, value in found.iloc[0].items()}
    words = _INSTEAD.get(row["state"]) or _AFTER.get(row["state"], "")
    return words.format(**row), row["state"] in _INSTEAD
