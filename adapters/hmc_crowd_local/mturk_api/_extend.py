"""More places for a HIT: by the requester, or by a review policy that he set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd_local.mturk_api._call import hold
from hmc_crowd_local.mturk_api._problems import TurkError, invalid

if TYPE_CHECKING:
    from hmc_crowd_local.mturk_api._call import Call

__all__ = ["MOST_ASSIGNMENTS", "extend"]

MOST_ASSIGNMENTS = 1_000_000_000
_TEN = 10  # fewer assignments than this at the start must stay fewer


def extend(call: Call, hit: Any, number: int) -> None:
    """Add places to a HIT, and hold the money for them."""
    if number < 1:
        raise invalid(f"NumberOfAdditionalAssignments is {number}; give 1 or more")
    total = hit.max_assignments + number
    if hit.max_assignments < _TEN <= total:
        raise TurkError(
            "InvalidMaximumAssignmentsIncrease",
            f"HIT {hit.hit_id} was created with fewer than {_TEN} assignments and cannot have {total}.",
        )
    if total > MOST_ASSIGNMENTS:
        raise invalid(f"MaxAssignments would be {total}, more than {MOST_ASSIGNMENTS}")
    call.update_hit(hit.hit_id, max_assignments=total, is_reviewing=False, is_policy_done=False)
    hold(call, hit.hit_id, check=True)
    call.tell("HITExtended", hit)
