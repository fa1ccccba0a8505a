"""Do groups of people judge differently? Agreement and label shares by group, with intervals.

Answers of one person are alike, so an interval counts people, not answers: the variance of the share is taken over
workers (Taylor's linearisation of a ratio), and the interval is Wilson's for as many independent answers as have that
variance. Groups of few people are not shown: attributes are protected, and appear in sums alone.

A difference is no proof of bias: groups may have had other tasks. Compare on the same tasks where you can.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality._agreement import agreement_rates
from hmc_crowd.quality._matching import require_one_kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["group_agreement", "group_labels"]


def group_labels(
    answers: pd.DataFrame, workers: pd.DataFrame, attribute: str, *, level: float = 0.95, least_people: int = 5
) -> pd.DataFrame:
    """Return the share of each label by group.

    Parameters
    ----------
    answers : pandas.DataFrame
        Columns ``task, worker, label``.
    workers : pandas.DataFrame
        Columns ``worker`` and the attribute; who did not say is in the group "not said".
    attribute : str
    level : float, default 0.95
    least_people : int, default 5
        Groups of fewer people are put together as "other groups", and left out if these are still fewer.

    Returns
    -------
    pandas.DataFrame
        Columns ``group, label, people, answers, share, low, high``.

    Examples
    --------
    >>> answers = pd.DataFrame({"task": range(20), "worker": [n % 10 for n in range(20)], "label": list("xy") * 10})
    >>> people = pd.DataFrame({"worker": range(10), "region": ["north"] * 6 + ["south"] * 4})
    >>> group_labels(answers, people, "region")[["group", "label", "people", "share"]].to_numpy().tolist()
    [['north', 'x', 6, 0.5], ['north', 'y', 6, 0.5]]
    """
    rows = _with_group(answers, workers, attribute, least_people)
    found = []
    for group, part in rows.groupby("group", sort=True):
        n = part.groupby("worker").size()
        size = n.to_numpy().astype(np.float64)
        for label in sorted(rows["label"].unique(), key=str):
            hits = (part["label"] == label).groupby(part["worker"]).sum().reindex(n.index)
            share, low, high = _ratio(hits.to_numpy().astype(np.float64), size, level)
            found.append((group, label, len(n), int(n.sum()), share, low, high))
    return pd.DataFrame(found, columns=["group", "label", "people", "answers", "share", "low", "high"])


def group_agreement(
    answers: pd.DataFrame, workers: pd.DataFrame, attribute: str, *, level: float = 0.95, least_people: int = 5
) -> pd.DataFrame:
    """Return how often answers of each group agree with the answers of others to the same tasks.

    Parameters
    ----------
    answers, workers, attribute, level, least_people
        As for `group_labels`.

    Returns
    -------
    pandas.DataFrame
        Columns ``group, people, pairs, share, low, high``: ``pairs`` are pairs of an answer of the group and an answer
        of anybody else to the same task. A group that agrees less is in the minority; who is right is not in it.
    """
    rows = _with_group(answers, workers, attribute, least_people)
    rates = agreement_rates(answers).workers.set_index("worker")
    groups = rows.drop_duplicates("worker").set_index("worker")["group"]
    rates = rates.loc[rates.index.isin(groups.index) & (rates["compared"] > 0)]
    found = []
    for group, part in rates.groupby(groups.reindex(rates.index), sort=True):
        agreed, compared = part["agreed"].to_numpy(dtype=float), part["compared"].to_numpy(dtype=float)
        found.append((group, len(part), int(compared.sum()), *_ratio(agreed, compared, level)))
    return pd.DataFrame(found, columns=["group", "people", "pairs", "share", "low", "high"])


def _with_group(answers: pd.DataFrame, workers: pd.DataFrame, attribute: str, least_people: int) -> pd.DataFrame:
    for frame, name, wanted in (
        (answers, "answers", ("task", "worker", "label")),
        (workers, "workers", ("worker", attribute)),
    ):
        missing = [column for column in wanted if column not in frame.columns]
        if missing:
            raise FrameError(f"{name} lacks the column {missing[0]}; it has {', '.join(map(str, frame.columns[:12]))}")
    if workers["worker"].duplicated().any():
        raise FrameError(f"workers has {workers.loc[workers['worker'].duplicated(), 'worker'].iloc[0]!r} twice")
    if least_people < 1:
        raise InputError(f"least_people is {least_people}; give at least 1")
    said = workers.set_index("worker")[attribute].astype(object)
    require_one_kind(said.index, answers["worker"], name="workers.worker and answers.worker")
    rows = answers.dropna(subset=["label"])
    group = said.reindex(rows["worker"]).to_numpy(dtype=object)
    rows = rows.assign(group=np.where(pd.isna(group), "not said", group.astype(str)))
    people = rows.groupby("group")["worker"].nunique()
    small = rows["group"].isin(people.index[people < least_people])
    rows = rows.assign(group=rows["group"].where(~small, "other groups"))
    people = rows.groupby("group")["worker"].nunique()
    return rows[rows["group"].isin(people.index[people >= least_people])]


def _ratio(hits: NDArray[np.float64], n: NDArray[np.float64], level: float) -> tuple[float, float, float]:
    """Return sum(hits) / sum(n) with an interval over the clusters."""
    from scipy.stats import t

    if not 0 < level < 1:
        raise InputError(f"level is {level!r}; give a probability between 0 and 1, such as 0.95")
    people, total = len(n), n.sum()
    share = float(hits.sum() / total)
    if people < 2:
        return share, 0.0, 1.0
    variance = float(((hits - share * n) ** 2).sum() * people / (people - 1) / total**2)
    # Nobody differs: each person is still only one observation. And clustering never makes answers worth more.
    independent = float(people) if variance <= 0 else min(share * (1 - share) / variance, float(total))
    return share, *_wilson(share, independent, float(t.ppf((1 + level) / 2, people - 1)))


def _wilson(share: float, n: float, z: float) -> tuple[float, float]:
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))
