"""Of which tier is an expert, and how much of what one expert decided does a second one look at?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.ids import digest
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import KeyRecord, PoolRecord, Transaction

__all__ = ["ANY_TIER", "ReviewPolicy", "policy_of", "pool_of", "set_policy", "skills_of", "tier_in_pool", "tiers_in"]

ANY_TIER = 3
"""Who belongs to no tier may judge everything: nobody has said otherwise."""
_POOL = "pool:"
_TIERS = {"tier1": 1, "tier2": 2, "tier3": 3}
_RISKS = ("low", "medium", "high")
_SETTING = "reviews"
_ALL = "all"


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
        return any(name in self.second_look for name in _RISKS)

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
        names = (_ALL, str(tier), risk if isinstance(risk, str) else "")
        return max((self.second_look.get(name, 0.0) for name in names), default=0.0)

    def __str__(self) -> str:
        shares = ", ".join(f"{share:.0%} of {_called(name)}" for name, share in self.second_look.items() if share)
        return f"a second expert looks at {shares or 'nothing'}; the highest tier is {self.top}"


def policy_of(settings: Mapping[str, Any]) -> ReviewPolicy:
    """Return the policy that the campaign's settings hold."""
    held = settings.get(_SETTING) or {}
    return ReviewPolicy(dict(held.get("second_look", {})), int(held.get("top", ANY_TIER)))


def set_policy(
    context: Context, second_look: float | Mapping[int | str, float] | None, *, top: int | None
) -> ReviewPolicy:
    """Put a policy in force; what is None stays as it is."""
    with context.store.begin() as tx:
        settings = context.settings_in(tx)
        before = policy_of(settings)
        shares = before.second_look if second_look is None else _shares(second_look)
        highest = before.top if top is None else top
        if isinstance(highest, bool) or highest not in (1, 2, 3):
            raise InputError(f"top is {top!r}; give 1, 2 or 3")
        policy = ReviewPolicy(shares, highest)
        tx.campaigns.save_settings(
            context.campaign_id, {**settings, _SETTING: {"second_look": dict(shares), "top": highest}}
        )
        context.log(tx, "reviews set", second_look=dict(shares), top=highest)
    return policy


def _shares(given: float | Mapping[int | str, float]) -> dict[str, float]:
    named = given if isinstance(given, Mapping) else {_ALL: given}
    known = (_ALL, "1", "2", "3", *_RISKS)
    found = {str(name): share for name, share in named.items()}
    odd = [name for name in found if name not in known]
    if odd:
        raise InputError(f"second_look names {odd[0]!r}; name {', '.join(known)}")
    bad = [share for share in found.values() if isinstance(share, bool) or not _is_share(share)]
    if bad:
        raise InputError(f"second_look is {bad[0]!r}; give a share in [0, 1]")
    return {name: float(share) for name, share in found.items() if share}


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and 0 <= value <= 1


def _called(name: str) -> str:
    if name == _ALL:
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
