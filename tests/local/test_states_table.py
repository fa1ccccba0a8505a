"""The state machine, written down a second time by hand."""

from itertools import product

import pytest
from hmc_crowd_local import Action, next_state
from hmc_crowd_local._states import TRANSITIONS

from hmc_crowd.errors import PlatformError
from hmc_crowd.platform import SubmissionState

LEGAL = {
    ("accepted", "save"): "accepted",
    ("accepted", "submit"): "submitted",
    ("accepted", "return"): "returned",
    ("accepted", "expire"): "expired",
    ("submitted", "submit"): "submitted",
    ("submitted", "approve"): "approved",
    ("submitted", "reject"): "rejected",
    ("approved", "approve"): "approved",
    ("rejected", "reject"): "rejected",
    ("expired", "save"): "expired",
    ("expired", "submit"): "expired",
}


@pytest.mark.parametrize(("state", "action"), list(product(SubmissionState, Action)))
def test_every_step_is_as_written_or_refused(state: SubmissionState, action: Action) -> None:
    if (state.value, action.value) in LEGAL:
        assert next_state("s", state, action).value == LEGAL[state.value, action.value]
    else:
        with pytest.raises(PlatformError, match=f"s is {state.value}; {action.value} is not possible"):
            next_state("s", state, action)


def test_the_table_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        TRANSITIONS[SubmissionState.RETURNED, Action.SUBMIT] = SubmissionState.SUBMITTED
