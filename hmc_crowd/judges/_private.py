"""Which pairs may a judge on another machine see? Those for anybody, and those whose audience it is allowed by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection

    from hmc_crowd.judges._pairs import Pairs

__all__ = ["refuse_private", "refuse_private_of"]


def refuse_private(given: Pairs, name: str, allowed: Collection[str] = ()) -> None:
    """Refuse pairs that may not leave this machine, before anything is sent."""
    kept = sorted({str(each) for each in given.audience} - {"any", *allowed})
    if kept:
        many = sum(each in kept for each in given.audience)
        raise InputError(
            f"{many:,} pairs are for {', '.join(kept)} only and {name} is on another machine; nothing "
            "was sent. Allow the audience by name (allow_audiences), or use a local judge"
        )


def refuse_private_of(judge: Any, given: Pairs) -> None:
    """Let a judge that is made of others, or sends texts away, say no before any of them is asked."""
    check = getattr(judge, "refuse_private", None)
    if check is not None:
        check(given)
