"""Which step may follow which? The whole state machine of a submission as one table.

Whatever is not in the table is refused. A repeated call that changes nothing (a double click, a retry after a lost
reply) is in it, leading back to the same state: submit, approve and reject may be said twice.
"""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType

from hmc_crowd.errors import PlatformError
from hmc_crowd.platform import SubmissionState

__all__ = ["Action", "next_state"]


class Action(StrEnum):
    """What somebody, or the clock, does to a submission."""

    SAVE = "save"
    SUBMIT = "submit"
    RETURN = "return"
    EXPIRE = "expire"
    APPROVE = "approve"
    REJECT = "reject"


_S, _A = SubmissionState, Action

#: (state, action) -> state. Work that comes after its deadline is kept (save, submit) but stays expired: not counted.
TRANSITIONS = MappingProxyType(
    {
        (_S.ACCEPTED, _A.SAVE): _S.ACCEPTED,
        (_S.ACCEPTED, _A.SUBMIT): _S.SUBMITTED,
        (_S.ACCEPTED, _A.RETURN): _S.RETURNED,
        (_S.ACCEPTED, _A.EXPIRE): _S.EXPIRED,
        (_S.EXPIRED, _A.SAVE): _S.EXPIRED,
        (_S.EXPIRED, _A.SUBMIT): _S.EXPIRED,
        (_S.SUBMITTED, _A.SUBMIT): _S.SUBMITTED,
        (_S.SUBMITTED, _A.APPROVE): _S.APPROVED,
        (_S.SUBMITTED, _A.REJECT): _S.REJECTED,
        (_S.APPROVED, _A.APPROVE): _S.APPROVED,
        (_S.REJECTED, _A.REJECT): _S.REJECTED,
    }
)

#: States that hold no place of the HIT; a rejected submission keeps its place.
FREE = frozenset({_S.RETURNED, _S.EXPIRED})


def next_state(submission_id: str, state: SubmissionState, action: Action) -> SubmissionState:
    """Return the state after the action.

    Raises
    ------
    PlatformError
        The action is not possible in this state.

    Examples
    --------
    >>> next_state("s1", SubmissionState.SUBMITTED, Action.APPROVE).value
    'approved'
    >>> next_state("s1", SubmissionState.RETURNED, Action.SUBMIT)
    Traceback (most recent call last):
    ...
    hmc_crowd.errors.PlatformError: submission s1 is returned; submit is not possible then, nothing is
    """
    try:
        return TRANSITIONS[state, action]
    except KeyError:
        possible = ", ".join(sorted(each.value for held, each in TRANSITIONS if held is state))
        raise PlatformError(
            f"submission {submission_id} is {state.value}; {action.value} is not possible then, "
            f"{'only ' + possible if possible else 'nothing is'}"
        ) from None
