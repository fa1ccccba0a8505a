"""Do people of a group agree with one another as much as with others? Within groups, between them, on the same items.

Agreement rises where items are easy and where one label is common, so two groups' figures are not alike by themselves.
Two things are done about it: chance is taken out (Scott's correction within a group, Cohen's between two, over all
pairs of answers), and `group_cohesion` compares inside with outside **on the same items**. If groups judge alike, both
are the same on average, whatever the items are. A group that agrees more inside has a way of judging of its own, also
where its shares of labels are everybody's; one that agrees less inside judges less surely than others.

Guarantee: all intervals of a column hold together with probability ``level``; see `_diversity_jackknife`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmc_crowd.quality._diversity_groups import Grouped, form_groups
from hmc_crowd.quality._diversity_jackknife import divided, jackknife, together

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["agreement_table", "cohesion_table", "group_agreement", "group_cohesion"]

_PAIRS = ["group", "other", "pairs", "share", "low", "high", "chance", "kappa", "kappa_low", "kappa_high"]
_COHESION = ["group", "items", "inside", "outside", "difference", "low", "high", "differs"]


def group_agreement(
    answers: pd.DataFrame, workers: pd.DataFrame, attribute: str, *, level: float = 0.95, least_people: int = 5
) -> pd.DataFrame:
    """Return how often answers to the same task agree, within each group and between each two.

    Parameters
    ----------
    answers, workers, attribute, level, least_people
        As for `hmc_crowd.quality.group_labels`.

    Returns
    -------
    pandas.DataFrame
        Columns ``group, other, pairs, share, low, high, chance, kappa, kappa_low, kappa_high``; ``other`` is the same
        group for pairs within it. ``kappa`` is what is left of the share when ``chance`` is taken out, 1 where people
        always agree, 0 where only by chance, missing where everybody gives one label. Compare groups by
        `group_cohesion`: these figures are of the items that each group saw.

    Examples
    --------
    >>> rows = [(task, w, "x" if w < 5 else "y") for task in range(3) for w in range(10)]
    >>> answers = pd.DataFrame(rows, columns=["task", "worker", "label"])
    >>> people = pd.DataFrame({"worker": range(10), "region": ["north"] * 5 + ["south"] * 5})
    >>> group_agreement(answers, people, "region")[["group", "other", "pairs", "share"]].to_numpy().tolist()
    [['north', 'north', 30, 1.0], ['north', 'south', 75, 0.0], ['south', 'south', 30, 1.0]]
    """
    return agreement_table(form_groups(answers, workers, attribute, least_people), level)


def group_cohesion(
    answers: pd.DataFrame, workers: pd.DataFrame, attribute: str, *, level: float = 0.95, least_people: int = 5
) -> pd.DataFrame:
    """Return whether people of a group agree more with one another than with others about the same items.

    Parameters
    ----------
    answers, workers, attribute, level, least_people
        As for `hmc_crowd.quality.group_labels`.

    Returns
    -------
    pandas.DataFrame
        Columns ``group, items, inside, outside, difference, low, high, differs``: on ``items`` that at least two of the
        group and one other judged, the share of pairs that agree ``inside`` the group and with others.

    Examples
    --------
    >>> rows = [(task, w, "xy"[(task + (w > 4)) % 2]) for task in range(8) for w in range(10)]
    >>> answers = pd.DataFrame(rows, columns=["task", "worker", "label"])
    >>> people = pd.DataFrame({"worker": range(10), "region": ["north"] * 5 + ["south"] * 5})
    >>> group_cohesion(answers, people, "region")[["group", "inside", "outside", "differs"]].to_numpy().tolist()
    [['north', 1.0, 0.0, True], ['south', 1.0, 0.0, True]]
    """
    return cohesion_table(form_groups(answers, workers, attribute, least_people), level)


def agreement_table(grouped: Grouped, level: float) -> pd.DataFrame:
    """Return the table of `group_agreement`."""
    several = len(grouped.names)
    each = together(level, several * (several + 1) // 2)
    rows = []
    for first in range(several):
        for second in range(first, several):
            found = _Pairs.within(grouped, first) if first == second else _Pairs.between(grouped, first, second)
            rows.append((grouped.names[first], grouped.names[second], *found.figures(each)))
    return pd.DataFrame(rows, columns=_PAIRS)


class _Pairs:
    """Pairs of answers: how many there are and agree, and their labels; over all, and without each person."""

    def __init__(
        self,
        agreed: NDArray[np.float64],
        pairs: NDArray[np.float64],
        rows: NDArray[np.float64],
        columns: NDArray[np.float64],
        stratum: NDArray[np.intp],
    ) -> None:
        # The first entry is over everybody, the others without one person each; labels have shape (1 + people, labels).
        self.agreed, self.pairs, self.rows, self.columns, self.stratum = agreed, pairs, rows, columns, stratum

    @classmethod
    def within(cls, grouped: Grouped, number: int) -> _Pairs:
        mine = grouped.of_answer == number
        count, n = _counts(grouped, mine)
        task, worker, label = (each[mine] for each in (grouped.coded.task, grouped.coded.worker, grouped.coded.label))
        people, at = np.unique(worker, return_inverse=True)
        agreed = (count * (count - 1)).sum() / 2
        lost_labels = _summed(count[task], at, len(people))
        np.add.at(lost_labels, (at, label), n[task] - 2)
        labels = (count * (n - 1)[:, None]).sum(axis=0)
        all_labels = np.vstack([labels, labels - lost_labels])
        return cls(
            agreed - np.append(0.0, np.bincount(at, weights=count[task, label] - 1)),
            (n * (n - 1)).sum() / 2 - np.append(0.0, np.bincount(at, weights=n[task] - 1)),
            all_labels,
            all_labels,
            np.zeros(len(people), dtype=np.intp),
        )

    @classmethod
    def between(cls, grouped: Grouped, first: int, second: int) -> _Pairs:
        sides = [grouped.of_answer == number for number in (first, second)]
        (count_a, n_a), (count_b, n_b) = (_counts(grouped, side) for side in sides)
        lost = []
        # Rows are the first group's labels: what one of its people takes away counts by how many others are there.
        for side, own_first, count, n in ((sides[0], True, count_b, n_b), (sides[1], False, count_a, n_a)):
            task, worker, label = (
                each[side] for each in (grouped.coded.task, grouped.coded.worker, grouped.coded.label)
            )
            people, at = np.unique(worker, return_inverse=True)
            own, other = np.zeros((len(people), count.shape[1])), _summed(count[task], at, len(people))
            np.add.at(own, (at, label), n[task])
            agreed = np.bincount(at, weights=count[task, label])
            lost.append((agreed, np.bincount(at, weights=n[task]), *((own, other) if own_first else (other, own))))
        whole = ((count_a * count_b).sum(), (n_a * n_b).sum(), count_a.T @ n_b, count_b.T @ n_a)
        agreed, pairs, rows, columns = (
            np.concatenate([np.asarray(total)[None], total - lost[0][k], total - lost[1][k]])
            for k, total in enumerate(whole)
        )
        stratum = np.repeat([0, 1], [len(lost[0][0]), len(lost[1][0])]).astype(np.intp)
        return cls(agreed.astype(np.float64), pairs, rows, columns, stratum)

    def figures(self, level: float) -> tuple[int, float, float, float, float, float, float, float]:
        """Return pairs, share with interval, chance, and kappa with interval."""
        nan = float("nan")
        if self.pairs[0] <= 0:
            return 0, nan, nan, nan, nan, nan, nan, nan
        share = divided(self.agreed, np.maximum(self.pairs, 0.0), empty=nan)
        row, column = (self._shares(each) for each in (self.rows, self.columns))
        chance = (row * column).sum(axis=1)
        kappa = divided(share - chance, 1 - chance, empty=nan)
        part = self.pairs[1:] < self.pairs[0]  # who has no pair has no say
        stratum = self.stratum[part]
        low, high = jackknife(float(share[0]), share[1:][part], stratum, level, bounds=(0.0, 1.0))
        kappa_low, kappa_high = jackknife(float(kappa[0]), kappa[1:][part], stratum, level)
        pairs = round(float(self.pairs[0]))
        return pairs, float(share[0]), low, high, float(chance[0]), float(kappa[0]), kappa_low, kappa_high

    def _shares(self, labels: NDArray[np.float64]) -> NDArray[np.float64]:
        return divided(labels, np.maximum(labels.sum(axis=1, keepdims=True), 0.0), empty=float("nan"))


def cohesion_table(grouped: Grouped, level: float) -> pd.DataFrame:
    """Return the table of `group_cohesion`."""
    each = together(level, len(grouped.names))
    rows = [(name, *_cohesion(grouped, number, each)) for number, name in enumerate(grouped.names)]
    return pd.DataFrame(rows, columns=_COHESION).astype({"differs": bool})


def _cohesion(grouped: Grouped, number: int, level: float) -> tuple[int, float, float, float, float, float, bool]:
    counts = grouped.of_answer >= 0
    inside = counts & (grouped.of_answer == number)
    (own, n), (other, m) = _counts(grouped, inside), _counts(grouped, counts & ~inside)
    items = (n > 1) & (m > 0)
    if not items.any():
        nan = float("nan")
        return 0, nan, nan, nan, nan, nan, False
    agree_in, agree_out = (own * (own - 1)).sum(axis=1) / 2, (own * other).sum(axis=1)
    # Weights as for a difference of two means: as many pairs inside as tell as much as those outside.
    weight, top = _weighted(agree_in, n * (n - 1) / 2, agree_out, n * m)
    at = np.flatnonzero(counts & items[grouped.coded.task])
    task, worker, label, one = grouped.coded.task[at], grouped.coded.worker[at], grouped.coded.label[at], inside[at]
    less_n = n[task] - one
    less_in = agree_in[task] - np.where(one, own[task, label] - 1, 0.0)
    less_out = agree_out[task] - np.where(one, other[task, label], own[task, label])
    new_weight, new_top = _weighted(less_in, less_n * (less_n - 1) / 2, less_out, less_n * (m[task] - ~one))
    people, who = np.unique(worker, return_inverse=True)
    bottom = weight.sum() + np.bincount(who, weights=new_weight - weight[task])
    moved = top.sum() + np.bincount(who, weights=new_top - top[task])
    without = divided(moved, np.maximum(bottom, 0.0), empty=float("nan"))
    share_in = float((weight[items] * agree_in[items] / (n * (n - 1) / 2)[items]).sum() / weight.sum())
    share_out = float((weight[items] * agree_out[items] / (n * m)[items]).sum() / weight.sum())
    stratum = (grouped.of_worker[people] == number).astype(np.intp)
    low, high = jackknife(share_in - share_out, without, stratum, level)
    return int(items.sum()), share_in, share_out, share_in - share_out, low, high, bool(low > 0 or high < 0)


def _weighted(
    agree_in: NDArray[np.float64],
    pairs_in: NDArray[np.float64],
    agree_out: NDArray[np.float64],
    pairs_out: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return each item's weight, and its difference of shares times that weight."""
    total = pairs_in + pairs_out
    # Where one side has no pairs none of them agree, so both quotients are 0.
    return divided(pairs_in * pairs_out, total), divided(pairs_out * agree_in - pairs_in * agree_out, total)


def _counts(grouped: Grouped, side: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return answers by item and label, shape (n_tasks, n_labels), and by item."""
    size = (len(grouped.coded.tasks), len(grouped.coded.labels))
    cell = grouped.coded.task[side] * size[1] + grouped.coded.label[side]
    count = np.bincount(cell, minlength=size[0] * size[1]).reshape(size).astype(np.float64)
    return count, count.sum(axis=1)


def _summed(rows: NDArray[np.float64], at: NDArray[np.intp], people: int) -> NDArray[np.float64]:
    """Return the sum of rows by person."""
    found = np.zeros((people, rows.shape[1]))
    np.add.at(found, at, rows)
    return found
