"""Do groups of people label differently? Shares of labels, and of right answers, by group, with intervals.

Two figures stand side by side. The **share** of a group's answers describes them, and misleads as a comparison: a group
that saw harder or other items is not biased. The **difference** is taken on the same items: for each item that people
of the group and others judged, the group's share minus theirs, items weighted by how much they tell (Mantel and
Haenszel's weights). Whatever the items are, it is 0 on average if groups judge alike.

Guarantee: all intervals of one table hold together with probability ``level``, answers of one person being alike
(`_diversity_jackknife`). Condition: who gets an item does not depend on the answers to it. A true difference may be
one of skill as well as of views: look at the right answers beside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.quality._diversity_groups import Grouped, form_groups
from hmc_crowd.quality._diversity_jackknife import divided, jackknife, together

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from numpy.typing import NDArray

__all__ = ["SHARES", "group_accuracy", "group_labels", "label_table"]

SHARES = [
    "people", "answers", "share", "low", "high", "items", "share_there", "others_there", "difference",
    "difference_low", "difference_high", "differs",
]  # fmt: skip


def group_labels(
    answers: pd.DataFrame, workers: pd.DataFrame, attribute: str, *, level: float = 0.95, least_people: int = 5
) -> pd.DataFrame:
    """Return the share of each label by group, and its difference from others' on the same items.

    Parameters
    ----------
    answers : pandas.DataFrame
        Columns ``task, worker, label``.
    workers : pandas.DataFrame
        Columns ``worker`` and the attribute; who did not say is in the group "not said".
    attribute : str
    level : float, default 0.95
        With this probability all shares are in their intervals, and so are all differences.
    least_people : int, default 5
        Groups of fewer people are put together as "other groups", and left out if these are still fewer.

    Returns
    -------
    pandas.DataFrame
        Columns ``group, label, people, answers, share, low, high``; and, on the ``items`` that the group and others
        judged: ``share_there`` of the group, ``others_there``, ``difference, difference_low, difference_high``, and
        ``differs``, whether 0 is outside. Missing where there are no such items.

    Examples
    --------
    The south sees the hard items, where everybody is in doubt. Nobody is biased:

    >>> rows = [(task, w, "x" if (task + w) % 10 < (9 if task < 9 else 4) else "y")
    ...         for task in range(12) for w in range(20) if w < 10 or task > 6]
    >>> answers = pd.DataFrame(rows, columns=["task", "worker", "label"])
    >>> people = pd.DataFrame({"worker": range(20), "region": ["north"] * 10 + ["south"] * 10})
    >>> found = group_labels(answers, people, "region")
    >>> found.loc[found["label"] == "x", ["group", "share", "difference", "differs"]].round(3).to_numpy().tolist()
    [['north', 0.775, 0.0, False], ['south', 0.6, 0.0, False]]
    """
    return label_table(form_groups(answers, workers, attribute, least_people), level)


def group_accuracy(
    answers: pd.DataFrame,
    gold: pd.DataFrame,
    workers: pd.DataFrame,
    attribute: str,
    *,
    level: float = 0.95,
    least_people: int = 5,
) -> pd.DataFrame:
    """Return the share of right answers to gold by group, and its difference from others' on the same gold.

    Parameters
    ----------
    answers, workers, attribute, level, least_people
        As for `group_labels`.
    gold : pandas.DataFrame
        Columns ``item, label``.

    Returns
    -------
    pandas.DataFrame
        Columns as of `group_labels` without ``label``; a group of fewer than ``least_people`` who met gold is put
        together with others or left out.

    Examples
    --------
    >>> rows = [(t, w, "x" if w < 20 or (t + w) % 3 else "y") for t in range(6) for w in range(40)]
    >>> answers = pd.DataFrame(rows, columns=["task", "worker", "label"])
    >>> gold = pd.DataFrame({"item": range(6), "label": "x"})
    >>> people = pd.DataFrame({"worker": range(40), "region": ["north"] * 20 + ["south"] * 20})
    >>> found = group_accuracy(answers, gold, people, "region")
    >>> found[["group", "share", "difference", "differs"]].round(2).to_numpy().tolist()
    [['north', 1.0, 0.33, True], ['south', 0.67, -0.33, True]]
    """
    from hmc_crowd.quality._matching import same_labels

    known = gold.drop_duplicates("item").set_index("item")["label"]
    met = answers[answers["task"].isin(known.index)].dropna(subset=["label"])
    right = same_labels(met["label"], known.reindex(met["task"]))
    marked = met.assign(label=np.where(right, "right", "wrong"))
    grouped = form_groups(marked, workers, attribute, least_people)
    found = _table(grouped, {"right": _is_label(grouped, "right")}, level)
    return found.drop(columns="label")


def label_table(
    grouped: Grouped,
    level: float,
    *,
    numeric: bool = False,
    members: Callable[[Any], Collection[Any]] | None = None,
) -> pd.DataFrame:
    """Return the table of `group_labels`; of numbers their mean in the place of a share, of sets their members."""
    labels = grouped.coded.labels
    if numeric:
        values = np.asarray(labels, dtype=np.float64)[grouped.coded.label]
        return _table(grouped, {"mean": values}, level, bounds=(-np.inf, np.inf))
    if members is not None:
        sets = [frozenset(members(label)) for label in labels]
        every = sorted(set().union(*sets), key=str)
        has = {label: np.array([label in each for each in sets], dtype=bool)[grouped.coded.label] for label in every}
        return _table(grouped, has, level, exclusive=False)
    return _table(grouped, {label: grouped.coded.label == code for code, label in enumerate(labels)}, level)


def _is_label(grouped: Grouped, name: str) -> NDArray[np.bool_]:
    labels = list(grouped.coded.labels)
    mine: NDArray[np.bool_] = grouped.coded.label == (labels.index(name) if name in labels else -1)
    return mine


def _table(
    grouped: Grouped,
    values: dict[Any, NDArray[Any]],
    level: float,
    *,
    bounds: tuple[float, float] = (-1.0, 1.0),
    exclusive: bool = True,
) -> pd.DataFrame:
    """Return `SHARES` by group and value."""
    n_groups, n_values = len(grouped.names), len(values)
    # Of two labels the second share is what the first one leaves, and of two groups the second difference mirrors.
    free = n_values - (n_values == 2 and exclusive)
    each = together(level, n_groups * free)
    each_difference = together(level, (n_groups - (n_groups == 2)) * free)
    people = grouped.people()
    rows = []
    for number, group in enumerate(grouped.names):
        for label, value in values.items():
            y = value.astype(np.float64)
            own = _own_share(grouped, y, number, each, bounds)
            rows.append(
                (group, label, int(people[number]), *own, *_same_items(grouped, y, number, each_difference, bounds))
            )
    return pd.DataFrame(rows, columns=["group", "label", *SHARES]).astype({"differs": bool})


def _own_share(
    grouped: Grouped, y: NDArray[np.float64], number: int, level: float, bounds: tuple[float, float]
) -> tuple[int, float, float, float]:
    """Return answers, share and interval of a group."""
    mine = grouped.of_answer == number
    worker = grouped.coded.worker[mine]
    n = np.bincount(worker).astype(np.float64)
    hits = np.bincount(worker, weights=y[mine])[n > 0]
    n = n[n > 0]
    if np.isinf(bounds[0]):
        share = float(hits.sum() / n.sum())
        without = divided(hits.sum() - hits, n.sum() - n)
        return int(n.sum()), share, *jackknife(share, without, np.zeros(len(n), np.intp), level, bounds=bounds)
    return int(n.sum()), *_ratio(hits.astype(np.float64), n, level)


def _same_items(
    grouped: Grouped, y: NDArray[np.float64], number: int, level: float, bounds: tuple[float, float]
) -> tuple[int, float, float, float, float, float, bool]:
    """Return items that both judged, the two means there, their difference, its interval, and whether 0 is outside."""
    coded = grouped.coded
    counts = grouped.of_answer >= 0
    task, worker, y, inside = coded.task[counts], coded.worker[counts], y[counts], grouped.of_answer[counts] == number
    size = len(coded.tasks)
    n_in, n_out = (np.bincount(task[side], minlength=size).astype(np.float64) for side in (inside, ~inside))
    s_in, s_out = (np.bincount(task[side], weights=y[side], minlength=size) for side in (inside, ~inside))
    both = (n_in > 0) & (n_out > 0)
    if not both.any():
        nan = float("nan")
        return 0, nan, nan, nan, nan, nan, False
    weight = divided(n_in * n_out, n_in + n_out)
    total = float(weight.sum())
    own, others = (float((weight * divided(s, n))[both].sum() / total) for s, n in ((s_in, n_in), (s_out, n_out)))
    # What each answer brings: the item's sums once more without it.
    at = both[task]
    task, worker, y, one = task[at], worker[at], y[at], inside[at].astype(np.float64)
    less_in, less_out = n_in[task] - one, n_out[task] - (1 - one)
    top = divided(less_out * (s_in[task] - one * y) - less_in * (s_out[task] - (1 - one) * y), less_in + less_out)
    top -= weight[task] * (divided(s_in, n_in) - divided(s_out, n_out))[task]
    bottom = divided(less_in * less_out, less_in + less_out) - weight[task]
    taking_part = np.unique(worker)
    moved = [np.bincount(worker, weights=part)[taking_part] for part in (top, bottom)]
    without = divided((own - others) * total + moved[0], total + moved[1], empty=np.nan)
    stratum = (grouped.of_worker[taking_part] == number).astype(np.intp)
    low, high = jackknife(own - others, without, stratum, level, bounds=bounds)
    return int(both.sum()), own, others, own - others, low, high, bool(low > 0 or high < 0)


def _ratio(hits: NDArray[np.float64], n: NDArray[np.float64], level: float) -> tuple[float, float, float]:
    """Return sum(hits) / sum(n) with an interval over people: Taylor's linearisation, then Wilson's interval."""
    from scipy.stats import t

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
