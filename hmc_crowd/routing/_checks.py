"""Checks that the statistics share: counts, levels and shares, each refused by name."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from hmc_crowd.errors import InputError

__all__ = ["audit_counts", "count", "level_of", "share"]


def count(name: str, value: Any, *, least: int = 0) -> int:
    """Return a whole number of at least `least`, or say what was given."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{name} is {value!r}; give a whole number of items, at least {least}")
    return int(value)


def level_of(level: Any, *, name: str = "level") -> float:
    """Return a confidence strictly between 0 and 1."""
    if isinstance(level, (bool, np.bool_)) or not isinstance(level, Real) or not 0.0 < float(level) < 1.0:
        raise InputError(f"{name} is {level!r}; give a confidence strictly between 0 and 1, such as 0.95")
    return float(level)


def share(name: str, value: Any, *, low: float = 0.0, high: float = 1.0, open_low: bool = False) -> float:
    """Return a number in [low, high], or in (low, high] if `open_low`."""
    good = not isinstance(value, (bool, np.bool_)) and isinstance(value, Real) and low <= float(value) <= high
    if not good or (open_low and float(value) == low):
        raise InputError(f"{name} is {value!r}; give a number in {'(' if open_low else '['}{low:g}, {high:g}]")
    return float(value)


def audit_counts(items: Any, human: Any, audited: Any, wrong: Any, unanswered: Any) -> tuple[int, int, int, int, int]:
    """Return the five counts of an audit, or name those that contradict one another."""
    n, people = count("items", items), count("human", human)
    drawn, found, waiting = count("audited", audited), count("wrong", wrong), count("unanswered", unanswered)
    if n == 0:
        raise InputError("items is 0; there is no batch to certify")
    if people > n:
        raise InputError(f"human is {people} of {n} items; people cannot have judged more than there are")
    kept = n - people
    if drawn > kept:
        raise InputError(f"audited is {drawn}, but the machine kept only {kept} of {n} items")
    if found + waiting > drawn:
        raise InputError(
            f"wrong is {found} and unanswered {waiting}, more than the {drawn} audited; give one audit's counts"
        )
    return n, people, drawn, found, waiting
