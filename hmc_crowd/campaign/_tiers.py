"""Of which tier is an expert, and how much of what one expert decided does a second one look at?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from hmc_crowd._base.ids import digest
from hmc_crowd.errors import FrameError
from hmc_crowd.quality import tier_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import KeyRecord, PoolRecord, Transaction

__all__ = [
    "ALL",
    "ANY_TIER",
    "RISKS",
    "SETTING",
    "ReviewPolicy",
    "policy_of",
    "pool_of",
    "skills_of",
    "tier_in_pool",
    "tiers_in",
]

ANY_TIER = 3
"""Who belongs to no tier may judge everything: nobody has said otherwise."""
_POOL = "pool:"
_TIERS = {"tier1": 1, "tier2": 2, "tier3": 3}
RISKS = ("low", "medium", "high")
SETTING = "reviews"
ALL = "all"


@dataclass(frozen=True)
class ReviewPolicy:
    """How experts' own work is reviewed.

    Parameters
    ----------
    second_look : mapping of str to float
        Share of what one expert decided that a second one of the same tier judges blind: of ``all``, of a tier ("1")
        or of a risk ("high"); where several apply, the largest.
    top : int
        The highest tier: beyond it nothing is escalated.
    """

    second_look: Mapping[str, float] = field(default_factory=dict)
    top: int = ANY_TIER

    @property
    def by_risk(self) -> bool:
        """Whether the risk of an item matters."""
        return any(name in self.second_look for name in RISKS)

    @property
    def version(self) -> str:
        """A hash of the settings."""
        return digest(sorted(self.second_look.items()), self.top)[:12]

    def share(self, tier: int, risk: Any = None) -> float:
        """Return the share that applies to an item that an expert of a tier decided.

        Examples
        --------
        >>> policy = ReviewPolicy({"all": 0.1, "1": 0.2, "high": 1.0})
        >>> policy.share(1), policy.share(2), policy.share(2, "high")
        (0.2, 0.1, 1.0)
        """
        names = (ALL, str(tier), risk if isinstance(risk, str) else "")
        return max((self.second_look.get(name, 0.0) for name in names), default=0.0)

    def __str__(self) -> str:
        shares = ", ".join(f"{share:.0%} of {_called(name)}" for name, share in self.second_look.items() if share)
        looks = f"a second expert looks at {shares}" if shares else "no second looks are asked for"
        return f"{looks}; the highest tier is {self.top}"


def policy_of(settings: Mapping[str, Any]) -> ReviewPolicy:
    """Return the policy that the campaign's settings hold."""
    held = settings.get(SETTING) or {}
    return ReviewPolicy(dict(held.get("second_look", {})), int(held.get("top", ANY_TIER)))


def _called(name: str) -> str:
    if name == ALL:
        return "what one expert decided"
    return f"tier {name}'s" if name.isdecimal() else f"items of {name} risk"


def pool_of(key: KeyRecord, pools: Mapping[str, PoolRecord]) -> PoolRecord | None:
    """Return the pool that a key's skill ``pool:NAME`` names; ``pools`` by name in lower case."""
    named = [each.removeprefix(_POOL) for each in key.skills if each.startswith(_POOL)]
    return pools.get(named[0]) if named else None


def skills_of(key: KeyRecord) -> set[str]:
    """Return what a key's holder knows, without the skill that names the pool."""
    return {each for each in key.skills if not each.startswith(_POOL)}


def tier_in_pool(pool: PoolRecord | None) -> int:
    """Return the tier of a pool's experts; a pool of the crowd counts as the lowest."""
    return ANY_TIER if pool is None else _TIERS.get(pool.kind, 1)


def tiers_asked(known: pd.DataFrame, *, top: int) -> pd.Series[int] | None:
    """Return the tier that each item asks for, ``top`` at most; None where nothing is known that would say it.

    Parameters
    ----------
    known : pandas.DataFrame
        ``tier``, or any of ``risk, complexity``; what is missing of an item asks for the highest tier.
    top : int
    """
    if "tier" in known:
        tier = pd.to_numeric(known["tier"], errors="coerce").fillna(top)
    elif {"risk", "complexity"} & set(known.columns):
        risk = known["risk"] if "risk" in known else pd.Series("low", index=known.index)
        hard = known["complexity"] if "complexity" in known else pd.Series(0.0, index=known.index)
        numbers = pd.to_numeric(hard, errors="coerce")
        bad = numbers.isna() & hard.notna()
        if bad.any():
            item = known.loc[bad, "item"].iloc[0]
            raise FrameError(f"complexity of item {item!r} is {hard[bad].iloc[0]!r}; give a number in [0, 1]")
        tier = pd.Series(tier_of(risk.tolist(), numbers.to_numpy(dtype=float)), index=known.index)
    else:
        return None
    return tier.clip(upper=top)


def tiers_in(context: Context, tx: Transaction, experts: list[str]) -> dict[str, int]:
    """Return the tier of each expert: by the pool of his key, else as work was last given to him, else any."""
    if not experts:
        return {}
    pools = {each.name.casefold(): each for each in tx.pools.all(context.campaign_id)}
    seats = tx.reviews.seats(context.campaign_id)
    found = {name: seats.get(name, ANY_TIER) for name in experts}
    for key in tx.keys.all():
        pool = pool_of(key, pools)
        if key.id in found and pool is not None:
            found[key.id] = tier_in_pool(pool)
    return found
