"""Train here, judge there: how do the two stay apart?

A random split of rows leaks: the same item, the same worker, or the future is on both sides. Here the two sides share
no item, and, as asked, no worker or no time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["GateSplit", "split_answers"]


@dataclass(frozen=True)
class GateSplit:
    """Two sides that share no item.

    Parameters
    ----------
    train, test : pandas.DataFrame
        Answers of each side.
    by : str
        What else they do not share.
    dropped : int
        Answers that are on neither side, because they would have joined them.
    """

    train: pd.DataFrame
    test: pd.DataFrame
    by: str
    dropped: int

    def __str__(self) -> str:
        sides = f"{self.train['task'].nunique():,} items to train on, {self.test['task'].nunique():,} to judge on"
        return f"split by {self.by}: {sides}, {self.dropped:,} answers left out"


def split_answers(
    answers: pd.DataFrame,
    *,
    by: Literal["task", "worker", "time"] = "task",
    share: float = 0.2,
    rng: np.random.Generator | None = None,
) -> GateSplit:
    """Set a share of the items aside.

    Parameters
    ----------
    answers : pandas.DataFrame
        Columns ``task, worker, label``; by time also ``submitted``.
    by : {"task", "worker", "time"}, default "task"
        "task": drawn items. "worker": drawn items as answered by half of the workers, trained on the others' answers
        to the other items. "time": the items that were begun last; trained on answers given before any of theirs.
    share : float, default 0.2
        Share of the items to judge on, in (0, 1).
    rng : numpy.random.Generator
        Draws items and workers; not needed by time.

    Raises
    ------
    InputError, FrameError
        A setting is out of range, or one side would be empty.

    Examples
    --------
    >>> answers = pd.DataFrame([(t, w, "x") for t in range(10) for w in range(4)], columns=["task", "worker", "label"])
    >>> print(split_answers(answers, by="worker", rng=np.random.default_rng(0)))
    split by worker: 8 items to train on, 2 to judge on, 20 answers left out
    """
    if not 0 < share < 1:
        raise InputError(f"share is {share!r}; give a share of the items between 0 and 1")
    if by == "time":
        train, test = _by_time(answers, share)
    elif by in ("task", "worker"):
        if not isinstance(rng, np.random.Generator):
            raise InputError("rng is missing; give a numpy.random.Generator, such as default_rng(0)")
        late = answers["task"].isin(_drawn(answers["task"], share, rng)).to_numpy()
        held = late.copy()
        if by == "worker":
            held = answers["worker"].isin(_drawn(answers["worker"], 0.5, rng)).to_numpy()
        train, test = answers[~late & ~held], answers[late & held]
    else:
        raise InputError(f"by is {by!r}; give 'task', 'worker' or 'time'")
    if not len(train) or not len(test):
        raise InputError(f"a split by {by} leaves one side empty; give more answers, or split by task")
    return GateSplit(train, test, by, len(answers) - len(train) - len(test))


def _drawn(values: pd.Series, share: float, rng: np.random.Generator) -> NDArray[np.object_]:
    names = np.array(sorted(values.unique()), dtype=object)
    return np.asarray(rng.permutation(names)[: max(1, round(share * len(names)))])


def _by_time(answers: pd.DataFrame, share: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    if "submitted" not in answers.columns or answers["submitted"].isna().any():
        raise FrameError("answers lacks the column submitted, or times in it; a split by time needs all of them")
    times = pd.to_datetime(answers["submitted"], utc=True, format="ISO8601" if _is_text(answers) else None)
    # Ordered by its first answer: what is judged on begins after everything that was trained on has ended.
    first = times.groupby(answers["task"]).min().sort_values(kind="stable")
    late = answers["task"].isin(first.index[len(first) - max(1, round(share * len(first))) :])
    cutoff = times[late].min()
    return answers[~late & (times < cutoff)], answers[late]


def _is_text(answers: pd.DataFrame) -> bool:
    return not pd.api.types.is_datetime64_any_dtype(answers["submitted"])
