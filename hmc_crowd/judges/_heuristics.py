"""Judges that do not read: chance, the shorter response, the longer one. Whoever is not better than these is no judge.

Source: Lyu et al. (2024), "HREF", section 2.2 (Random, Shorter, Longer).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.judges._chance import coin
from hmc_crowd.judges._judge import fingerprint, judgements
from hmc_crowd.judges._pairs import length_of, read_pairs
from hmc_crowd.judges._scored import by_score

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["LengthJudge", "RandomJudge", "longer", "shorter"]


class RandomJudge:
    """a or b with probability 1/2 each, drawn from the seed and the item's id: the same in whatever order or batch.

    Examples
    --------
    >>> pairs = {"item": ["1", "2"], "instruction": ["?"] * 2, "response_a": ["x"] * 2, "response_b": ["y"] * 2}
    >>> set(RandomJudge(seed=1).judge(pairs)["label"]) <= {"a", "b"}
    True
    """

    name = "random"
    leaves_machine = False
    needs_reference = False

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.version = fingerprint(self.name, seed)

    def judge(self, pairs: Any) -> pd.DataFrame:
        """Return one judgement per pair."""
        given = read_pairs(pairs)
        heads = coin(self.seed, "random judge", given.item)
        chances = np.tile([0.5, 0.5, 0.0], (len(given), 1))
        return judgements(given, ["a" if each else "b" for each in heads], chances)


class LengthJudge:
    """Prefer the longer (or the shorter) response; equal lengths are a tie.

    Parameters
    ----------
    prefer : {"longer", "shorter"}
    unit : {"characters", "words", "tokens"}, default "characters"

    Examples
    --------
    >>> pairs = {"item": ["1"], "instruction": ["?"], "response_a": ["Yes, of course."], "response_b": ["No."]}
    >>> longer().judge(pairs)["label"][0], shorter().judge(pairs)["label"][0]
    ('a', 'b')
    """

    leaves_machine = False
    needs_reference = False

    def __init__(self, prefer: str, unit: str = "characters") -> None:
        if prefer not in {"longer", "shorter"}:
            raise InputError(f"prefer is {prefer!r}; choose 'longer' or 'shorter'")
        length_of(np.empty(0, dtype=object), unit)  # says at once that a unit is unknown
        self.name, self.unit = prefer, unit
        self._sign = 1.0 if prefer == "longer" else -1.0
        # A definition that has changed is another judge.
        self.version = fingerprint(prefer, {"tokens": "tokens, characters of unspaced scripts"}.get(unit, unit))

    def judge(self, pairs: Any) -> pd.DataFrame:
        """Return one judgement per pair; scores are signed lengths."""
        started = time.perf_counter()
        given = read_pairs(pairs)
        a, b = (self._sign * length_of(texts, self.unit) for texts in (given.response_a, given.response_b))
        # Half of the pair's own mean length: the probability means the same in every unit, and in every batch.
        scale = np.maximum((np.abs(a) + np.abs(b)) / 4, 1.0)
        return by_score(given, a, b, scale=scale, started=started)


def longer(unit: str = "characters") -> LengthJudge:
    """Return the judge that prefers the longer response."""
    return LengthJudge("longer", unit)


def shorter(unit: str = "characters") -> LengthJudge:
    """Return the judge that prefers the shorter response."""
    return LengthJudge("shorter", unit)
