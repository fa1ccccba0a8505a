"""Batches with known errors, audited again and again: how often does a promise break?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

SHARES = (0.001, 0.01, 0.05, 0.2)


def wrong_items(rng: np.random.Generator, n: int, share: float, *, clustered: bool) -> np.ndarray:
    """Which kept items are wrong: one by one, or in dialogues of five that are wrong in four items of five."""
    if not clustered:
        return rng.random(n) < share
    bad = rng.random(n // 5) < share / 0.8
    return np.repeat(bad, 5) & (rng.random(n) < 0.8)


def violations(
    promise: Callable[[np.random.Generator, np.ndarray], bool], *, runs: int, kept: int, share: float, clustered: bool
) -> float:
    """Share of runs in which `promise` (given the wrong items of a new batch) does not hold."""
    rng = np.random.default_rng([7, runs, kept, int(share * 1e4), clustered])
    return float(np.mean([not promise(rng, wrong_items(rng, kept, share, clustered=clustered)) for _ in range(runs)]))


def limit(runs: int, level: float = 0.95) -> float:
    """What chance allows: the promised share of violations plus three Monte Carlo errors."""
    return 1 - level + 3 * float(np.sqrt(level * (1 - level) / runs))
