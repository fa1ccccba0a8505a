"""Random numbers that depend on what they are for, not on when they are asked for.

One stream per (HIT, worker): HITs may be visited in any order, or again after a crash, with the same draws.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd._base.ids import digest

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Streams"]


class Streams:
    """Generators by name, all from one secret that is drawn once from the generator passed in."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._secret = rng.bytes(16)

    def generator(self, *name: str) -> np.random.Generator:
        """Return the generator of this name, at its beginning."""
        return np.random.Generator(np.random.Philox(key=int(digest(self._secret, *name)[:32], 16)))

    def order(self, weights: NDArray[np.float64], *name: str) -> NDArray[np.intp]:
        """Return positions of positive weight in random order, heavier ones sooner.

        An exponential race: the first is position i with probability weights[i] / sum, the next likewise among the
        rest.
        """
        arrival = self.generator(*name).standard_exponential(len(weights))
        able = np.flatnonzero(weights > 0)
        return able[np.argsort(arrival[able] / weights[able], kind="stable")]
