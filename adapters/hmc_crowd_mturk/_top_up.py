"""More answers for a HIT: may it be extended, or must there be another HIT?

A HIT that was made with fewer than ten assignments may not have ten or more. Then a new HIT carries the rest, with a
qualification that keeps out who had the first one.
"""

from __future__ import annotations

from dataclasses import dataclass

from hmc_crowd.errors import InputError

__all__ = ["TopUp", "plan_top_up"]

_TEN = 10


@dataclass(frozen=True)
class TopUp:
    """How places are added: by extending, or by a new HIT that excludes the workers of the first."""

    extend_by: int
    new_hit_places: int

    @property
    def needs_exclusion(self) -> bool:
        """Whether a new HIT is needed, and with it the qualification that keeps workers apart."""
        return self.new_hit_places > 0


def plan_top_up(assignments: int, more: int) -> TopUp:
    """Plan ``more`` places for a HIT that has ``assignments``.

    Examples
    --------
    >>> plan_top_up(9, 1)
    TopUp(extend_by=0, new_hit_places=1)
    >>> plan_top_up(3, 2)
    TopUp(extend_by=2, new_hit_places=0)
    """
    if assignments < 1 or more < 1:
        raise InputError(f"assignments is {assignments}, more is {more}; both must be 1 or more")
    if assignments < _TEN <= assignments + more:
        return TopUp(0, more)
    return TopUp(more, 0)
