"""How much of experts' own work is looked at again: set, with what follows for items that were judged before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hmc_crowd.campaign._aspects import CHOICES
from hmc_crowd.campaign._follow import ask_again, ask_no_more
from hmc_crowd.campaign._looks import OPEN, looks
from hmc_crowd.campaign._tiers import ALL, RISKS, SETTING, ReviewPolicy, policy_of
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import Transaction

__all__ = ["set_policy"]


def set_policy(
    context: Context, second_look: float | Mapping[int | str, float] | None, *, top: int | None
) -> ReviewPolicy:
    """Put a policy in force; what is None stays as it is."""
    with context.store.begin() as tx:
        tx.reviews.one_at_a_time(context.campaign_id)
        settings = tx.campaigns.settings_to_change(context.campaign_id)
        before = policy_of(settings)
        shares = before.second_look if second_look is None else _shares(second_look)
        highest = before.top if top is None else top
        if isinstance(highest, bool) or not isinstance(highest, int) or highest not in (1, 2, 3):
            raise InputError(f"top is {top!r}; give 1, 2 or 3")
        policy = ReviewPolicy(shares, highest)
        tx.campaigns.save_settings(
            context.campaign_id, {**settings, SETTING: {"second_look": dict(shares), "top": highest}}
        )
        for aspect in context.aspects():
            if aspect.kind in CHOICES:
                _follow(context, tx, aspect.name)
        context.log(tx, "reviews set", second_look=dict(shares), top=highest)
    return policy


def _follow(context: Context, tx: Transaction, aspect: str) -> None:
    """Ask for the looks that the policy now wants, and for no others; nobody keeps an item that is settled."""
    stand = looks(context, tx, aspect)
    is_open = stand["state"].isin([*OPEN, "begun", "review"])
    ask_again(context, tx, aspect, stand[stand["state"].isin(OPEN)])
    ask_no_more(context, tx, aspect, stand[~is_open])


def _shares(given: float | Mapping[int | str, float]) -> dict[str, float]:
    named = given if isinstance(given, Mapping) else {ALL: given}
    known = (ALL, "1", "2", "3", *RISKS)
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
