"""Waiting: how long, how often, and by whose clock. Passed in, so that no test sleeps."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Pace"]


@dataclass(frozen=True)
class Pace:
    """How to wait between attempts, and when to give up.

    Parameters
    ----------
    first_s, longest_s : float, default 0.5 and 30
        The ceiling of the first pause and of any pause; it doubles from one to the other. A pause is drawn evenly
        between half of its ceiling and all of it, so that processes do not march in step.
    give_up_after_s : float, default 120
        No attempt begins later than that after the first one.
    exchange_s : float, default 60
        One request and its whole answer may take so long.
    silence_s : float, default 30
        Longest wait for the next bytes of an answer.
    sleep, monotonic : callable
        The machine's by default.
    rng : numpy.random.Generator, optional
        Draws the pauses; unseeded by default.
    """

    first_s: float = 0.5
    longest_s: float = 30.0
    give_up_after_s: float = 120.0
    exchange_s: float = 60.0
    silence_s: float = 30.0
    sleep: Callable[[float], None] = time.sleep
    monotonic: Callable[[], float] = time.monotonic
    rng: np.random.Generator | None = None

    def __post_init__(self) -> None:
        for name in ("first_s", "longest_s", "give_up_after_s", "exchange_s", "silence_s"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} is {getattr(self, name)}; give a time above 0")
        if self.first_s > self.longest_s:
            raise InputError(f"first_s is {self.first_s}, above longest_s of {self.longest_s}; turn them round")

    def attempts(self) -> Iterator[int]:
        """Yield 1, 2, ... with a pause before each but the first, until it is time to give up."""
        rng = self.rng if self.rng is not None else np.random.default_rng()
        started, ceiling, number = self.monotonic(), self.first_s, 1
        while True:
            yield number
            pause = ceiling * (0.5 + 0.5 * float(rng.random()))
            if self.monotonic() - started + pause > self.give_up_after_s:
                return
            self.sleep(pause)
            ceiling, number = min(2 * ceiling, self.longest_s), number + 1
