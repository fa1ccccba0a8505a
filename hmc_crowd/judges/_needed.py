"""At equal agreement with people, how many pairs must people still see?

The doubtful pairs go to people, whose label is then right by definition; the judge keeps those it is surest of. The
share people need is the smallest at which the final labels agree often enough; an interval comes from drawing whole
instructions again. It describes how well a judge orders pairs on labelled data; a promise needs `Cascade.choose`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import require_generator, require_same_length
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["PeopleNeeded", "people_needed"]


@dataclass(frozen=True)
class PeopleNeeded:
    """Share of pairs that people must see.

    Parameters
    ----------
    share, low, high : float
        In [0, 1], with its interval.
    target : float
        Agreement of the final labels with people.
    alone : float
        Agreement of the judge without people.
    n_pairs : int
    level : float
    """

    share: float
    low: float
    high: float
    target: float
    alone: float
    n_pairs: int
    level: float

    def __str__(self) -> str:
        return (
            f"people see {self.share:.0%} [{self.low:.0%}, {self.high:.0%}] of {self.n_pairs:,} pairs for "
            f"{self.target:.0%} agreement (alone: {self.alone:.1%})"
        )


def people_needed(
    judged: pd.DataFrame,
    people: Mapping[str, str],
    *,
    target: float = 0.95,
    clusters: Any = None,
    draws: int = 1000,
    level: float = 0.95,
    rng: np.random.Generator,
) -> PeopleNeeded:
    """Return the smallest share of pairs, the least sure ones, that people must see.

    Parameters
    ----------
    judged : frame
        With `confidence`; pairs without a label are the first that people see.
    people : mapping of item -> label
        Pairs that people did not judge leave.
    target : float, default 0.95
    clusters : array, shape (n_pairs,), optional
        Instructions, drawn whole.
    draws : int, default 1000
    level : float, default 0.95
    rng : numpy.random.Generator

    Returns
    -------
    PeopleNeeded

    Raises
    ------
    InputError
        No pair has people's label, or a number is out of range.

    Examples
    --------
    Four pairs, right but for the least sure one: with it at people's, all agree.

    >>> import pandas as pd
    >>> judged = pd.DataFrame({"item": list("wxyz"), "label": ["a", "a", "b", "b"], "confidence": [0.9, 0.5, 0.8, 0.7]})
    >>> truth = {"w": "a", "x": "b", "y": "b", "z": "b"}
    >>> people_needed(judged, truth, target=1.0, rng=np.random.default_rng(0)).share
    0.25
    """
    require_generator(rng)
    if not 0.0 < target <= 1.0 or not 0.0 < level < 1.0 or draws < 1:
        raise InputError(
            f"target {target!r}, level {level!r}, draws {draws!r}: give shares in (0, 1) and a count from 1"
        )
    member = np.arange(len(judged)) if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1]
    require_same_length([("judged", judged), ("clusters", member)])
    known = np.array([str(item) in people for item in judged["item"]], dtype=bool)
    if not known.any():
        raise InputError("no pair has people's label; give labels of the judged pairs")
    rows = judged.loc[known]
    label = rows["label"].to_numpy(dtype=object)
    right = np.array([each == people[str(item)] for each, item in zip(label, rows["item"], strict=True)], dtype=bool)
    sure = np.nan_to_num(rows["confidence"].to_numpy(dtype=np.float64), nan=-1.0)
    order = np.argsort(np.where([isinstance(each, str) for each in label], sure, -2.0), kind="stable")
    right, member = right[order], np.unique(member[known][order], return_inverse=True)[1]
    size = int(member.max()) + 1
    samples = [
        _least(right, np.bincount(rng.integers(0, size, size), minlength=size)[member], target) for _ in range(draws)
    ]
    low, high = np.quantile(samples, [(1 - level) / 2, (1 + level) / 2])
    share = _least(right, np.ones(len(right)), target)
    return PeopleNeeded(share, float(low), float(high), target, float(right.mean()), len(right), level)


def _least(right: NDArray[np.bool_], weight: NDArray[Any], target: float) -> float:
    """Return the least share, of pairs ordered from the least sure on, that must be taken from the judge."""
    total = float(weight.sum())
    wrong = np.concatenate([[0.0], np.cumsum(weight * ~right)])
    left = (wrong[-1] - wrong) / total
    # A hair of slack: a sum of ones over n may fall short of the target by rounding.
    first = int(np.argmax(left <= 1.0 - target + 1e-12))
    return float(weight[:first].sum() / total)
