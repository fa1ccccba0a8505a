"""The selection against a branch-and-cut solver: the same optimum, instance by instance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

from hmc_crowd.routing import route

if TYPE_CHECKING:
    import pandas as pd


def solver_objective(plan_inputs: dict[str, np.ndarray], price: float, cap: int, mode: str) -> float:
    """Equations 3 and 4 as the paper writes them: z = 1 is the machine, sum(z) >= M - N."""
    a, b = plan_inputs["confidence"], plan_inputs["human_confidence"]
    effort, k = plan_inputs["effort"], plan_inputs["machine_effort"]
    n = len(a)
    machine, people = a - price * k, b - price * effort
    rows = LinearConstraint(np.ones((1, n)), n - cap, n - cap if mode == "exactly" else n)
    # HiGHS' presolve takes ten seconds on the paper's instance and finds nothing.
    solved = milp(
        people - machine,
        constraints=rows,
        integrality=np.ones(n),
        bounds=Bounds(0, 1),
        options={"presolve": False, "mip_rel_gap": 0.0},
    )
    chosen = np.round(solved.x).astype(bool)
    return float(np.where(chosen, machine, people).sum())


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 40),
    st.sampled_from([0.0, 0.5, 4.6, 100.0]),
    st.floats(0, 1),
    st.sampled_from(["at_most", "exactly"]),
)
def test_objective_equals_the_solvers(seed: int, n: int, price: float, share: float, mode: str) -> None:
    rng = np.random.default_rng(seed)
    inputs = {
        "confidence": rng.random(n).round(2),
        "effort": rng.random(n).round(2),
        "human_confidence": 1 - rng.random(n) / 5,
        "machine_effort": rng.random(n) / 10,
    }
    cap = int(share * n)
    plan = route(**inputs, trade_off=price, max_human=cap, cap=mode)  # type: ignore[arg-type]
    assert plan.objective == pytest.approx(solver_objective(inputs, price, cap, mode), abs=1e-7)


@pytest.mark.parametrize("mode", ["at_most", "exactly"])
def test_the_papers_instance_agrees_to_nine_digits(responses: pd.DataFrame, mode: str) -> None:
    inputs = {
        "confidence": responses["machine_confidence"].to_numpy(),
        "effort": responses["human_effort_predicted_avg"].to_numpy(),
        "human_confidence": responses["human_confidence"].to_numpy(dtype=float),
        "machine_effort": responses["machine_effort"].to_numpy(dtype=float),
    }
    plan = route(**inputs, trade_off=4.6, max_human=2836, cap=mode)  # type: ignore[arg-type]
    assert plan.objective == pytest.approx(solver_objective(inputs, 4.6, 2836, mode), abs=5e-10 * 5047)
