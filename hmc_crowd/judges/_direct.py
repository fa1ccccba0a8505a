"""Compare each response with the person's, instead of one with the other; the response that does better wins.

A judge is asked twice: is a better than what the person wrote, and is b? The preference follows from the two answers.
It tells whether a judge knows good responses by themselves, and how often models beat people; for choosing between two
responses the source found the direct question better.

Source: Lyu et al. (2024), "HREF", section 3 and figure 4.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.judges._judge import Judge, fingerprint
from hmc_crowd.judges._pairs import Pairs, read_pairs
from hmc_crowd.judges._private import refuse_private_of
from hmc_crowd.judges._scored import NO_REFERENCE, by_score

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["AgainstPerson"]


class AgainstPerson:
    """Prefer the response that does better against the person's.

    Parameters
    ----------
    judge : Judge
        One that reads two responses; who needs the reference to judge by has nothing to compare it with.

    Raises
    ------
    InputError
        The judge needs a reference.

    Examples
    --------
    Of 3 and 9 characters against 6 the longer one wins, the shorter one loses.

    >>> from hmc_crowd.judges import longer
    >>> pairs = {"item": ["1"], "instruction": ["?"], "reference": ["I see."], "response_a": ["Yes"],
    ...          "response_b": ["Certainly"]}
    >>> AgainstPerson(longer()).judge(pairs)[["label", "beats_a", "beats_b"]].values.tolist()
    [['b', 'b', 'a']]
    """

    needs_reference = True

    def __init__(self, judge: Judge) -> None:
        if judge.needs_reference:
            raise InputError(
                f"judge {judge.name!r} needs the person's response as reference, so it cannot stand as one of the two; "
                "take a judge without reference"
            )
        self._judge, self.leaves_machine = judge, judge.leaves_machine
        self.name = f"{judge.name} against the person"
        self.version = fingerprint("against person", judge.version)

    def refuse_private(self, given: Pairs) -> None:
        """Refuse pairs that the judge may not see."""
        refuse_private_of(self._judge, given)

    def judge(self, pairs: Any) -> pd.DataFrame:
        """Return one judgement per pair; `beats_a` is 'a' where response a beats the person's, 'b' where it loses."""
        started = time.perf_counter()
        given = read_pairs(pairs)
        has, n = given.has_reference, len(given)
        worth, labels = np.full((2, n), np.nan), np.full((2, n), None, dtype=object)
        spent = np.zeros((2, n))
        if has.any():
            some = given.take(has)
            said = self._judge.judge(_against(some))
            half = len(some)
            for side in (0, 1):
                mine = said.iloc[side * half : (side + 1) * half]
                labels[side, has] = mine["label"].to_numpy(dtype=object)
                worth[side, has] = _worth(mine)
                spent[:, has] += mine[["seconds", "cost_micro"]].to_numpy(dtype=np.float64).T
        reason = ["no judgement" if each else NO_REFERENCE for each in has]
        made = by_score(given, worth[0], worth[1], scale=0.25, started=started, reason=reason)
        return made.assign(beats_a=labels[0], beats_b=labels[1], seconds=spent[0], cost_micro=spent[1].astype(np.int64))


def _against(some: Pairs) -> Pairs:
    """Return twice as many pairs: each response, and the person's."""
    item = [f"{name} ({side})" for side in "ab" for name in some.item]
    twice = {name: np.concatenate([getattr(some, name)] * 2) for name in ("instruction", "category", "audience")}
    return Pairs(
        item=np.array(item, dtype=object),
        response_a=np.concatenate([some.response_a, some.response_b]),
        response_b=np.concatenate([some.reference, some.reference]),
        reference=np.full(len(item), "", dtype=object),
        numbers={},
        **twice,
    )


def _worth(said: pd.DataFrame) -> NDArray[np.float64]:
    """Return how probably the response is preferred, a tie counting half; by the label where there is no more."""
    label = np.array([{"a": 1.0, "tie": 0.5, "b": 0.0}.get(str(each), np.nan) for each in said["label"]])
    chance = (said["p_a"] + said["p_tie"] / 2).to_numpy(dtype=np.float64)
    return np.where(np.isnan(label) | np.isnan(chance), label, chance)
