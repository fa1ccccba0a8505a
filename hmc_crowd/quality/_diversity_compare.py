"""Do groups of people judge alike? All figures of the comparison together, and what they come to, in words.

Four questions, each with intervals that hold together: do they label the same items alike (`group_labels`), do they
agree inside as outside (`group_cohesion`), are they right as often on the same gold (`group_accuracy`), how good are
they (the mean of the workers' quality)? A finding says what differs beyond chance; where nothing does, it is said how
large a difference could still hide.

Source: requirement D26 (pools are mixed so that bias can be seen, and met).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.quality._diversity_agreement import agreement_table, cohesion_table
from hmc_crowd.quality._diversity_groups import Grouped, form_groups
from hmc_crowd.quality._diversity_jackknife import together
from hmc_crowd.quality._diversity_report import group_accuracy, label_table
from hmc_crowd.quality._diversity_words import accuracy_words, cohesion_words, label_words

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from numpy.typing import NDArray

__all__ = ["GroupComparison", "compare_groups"]

_GROUPS = ["group", "people", "answers", "quality", "quality_low", "quality_high"]


@dataclass(frozen=True)
class GroupComparison:
    """How groups of people judge.

    Parameters
    ----------
    attribute : str
    groups : pandas.DataFrame
        ``group, people, answers, quality, quality_low, quality_high``: the mean quality of its workers, missing where
        too few are known.
    labels, agreement, cohesion, accuracy : pandas.DataFrame
        As of `group_labels`, `group_agreement`, `group_cohesion`, `group_accuracy`; empty where there is nothing to
        tell.
    findings : tuple of str
        What differs on the same items beyond chance.
    notes : tuple of str
        What is not shown or cannot be told, and why.
    level : float
        With this probability all intervals of one table hold.
    """

    attribute: str
    groups: pd.DataFrame
    labels: pd.DataFrame
    agreement: pd.DataFrame
    cohesion: pd.DataFrame
    accuracy: pd.DataFrame
    findings: tuple[str, ...]
    notes: tuple[str, ...]
    level: float
    assumptions: tuple[str, ...] = (
        "who gets an item does not depend on the answers to it",
        "people answer independently of one another",
    )

    def __str__(self) -> str:
        people = int(self.groups["people"].sum())
        head = f"{self.attribute}: {people:,} people in {len(self.groups)} group{'s' * (len(self.groups) != 1)}"
        return f"{head}; {self.verdict}"

    @property
    def verdict(self) -> str:
        """What it comes to, in a sentence."""
        if self.findings:
            return "; ".join(self.findings)
        if len(self.groups) < 2:
            return "nothing to compare"
        apart = self.labels[["difference_low", "difference_high"]].abs().max(axis=1).dropna()
        if apart.empty:
            return "no item was judged by people of two groups, so nothing can be told"
        most = apart.max()
        if not np.isfinite(most):
            return "too few people to tell whether groups judge the same items alike"
        size = f"{most * 100:.0f} points" if set(self.labels["label"]) != {"mean"} else f"{most:.3g}"
        return f"no difference beyond chance on the same items; one of up to {size} could still hide"

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the table of labels."""
        return self.labels.copy()


def compare_groups(
    answers: pd.DataFrame,
    workers: pd.DataFrame,
    attribute: str,
    *,
    gold: pd.DataFrame | None = None,
    gold_answers: pd.DataFrame | None = None,
    quality: pd.DataFrame | None = None,
    numeric: bool = False,
    members: Callable[[Any], Collection[Any]] | None = None,
    level: float = 0.95,
    least_people: int = 5,
) -> GroupComparison:
    """Compare how groups of people judge, on the same items.

    Parameters
    ----------
    answers : pandas.DataFrame
        Columns ``task, worker, label``.
    workers : pandas.DataFrame
        Columns ``worker`` and the attribute; who did not say is in the group "not said".
    attribute : str
    gold : pandas.DataFrame, optional
        Columns ``item, label``: right answers are compared, too.
    gold_answers : pandas.DataFrame, optional
        The answers to gold, where they are not among ``answers``: with those of people who are left out since.
    quality : pandas.DataFrame, optional
        Columns ``worker, quality``, of workers of whom something is known.
    numeric : bool, default False
        Labels are numbers that are near or far: means are compared, and agreement is left out.
    members : callable, optional
        Returns what a label consists of, where people chose several: each of these is compared by itself.
    level : float, default 0.95
    least_people : int, default 5
        Smaller groups are put together, or not counted.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = [(t, w, "rude" if rng.random() < (0.3 if w < 20 else 0.6) else "fine")
    ...         for t in range(60) for w in rng.choice(40, 6, replace=False)]
    >>> answers = pd.DataFrame(rows, columns=["task", "worker", "label"])
    >>> people = pd.DataFrame({"worker": range(40), "age_group": ["18-25"] * 20 + ["46+"] * 20})
    >>> print(compare_groups(answers, people, "age_group").findings[0])
    18-25 say 'fine' more often than others of the same items: 73% against 49% (13 to 35 points more)
    """
    grouped = form_groups(answers, workers, attribute, least_people)
    several = len(grouped.names) > 1
    told = answers if gold_answers is None else gold_answers
    accuracy, note = _accuracy(told, gold, workers, attribute, level, least_people)
    pairs = agreement_table(grouped, level)
    cohesion = cohesion_table(grouped, level)
    if numeric:
        pairs, cohesion = pairs.head(0), cohesion.head(0)
    labels = label_table(grouped, level, numeric=numeric, members=members)
    findings = (*label_words(labels, numeric=numeric), *cohesion_words(cohesion), *accuracy_words(accuracy))
    return GroupComparison(
        attribute=attribute,
        groups=_groups(grouped, quality, level, least_people),
        labels=labels,
        agreement=pairs,
        cohesion=cohesion,
        accuracy=accuracy,
        findings=findings if several else (),
        notes=tuple(each for each in (*_notes(grouped, labels, least_people), note) if each),
        level=level,
    )


def _accuracy(
    answers: pd.DataFrame,
    gold: pd.DataFrame | None,
    workers: pd.DataFrame,
    attribute: str,
    level: float,
    least_people: int,
) -> tuple[pd.DataFrame, str]:
    if gold is None or gold.empty or not answers["task"].isin(gold["item"]).any():
        empty = pd.DataFrame(columns=["group"])
        return empty, "nobody has answered gold, so who is right is not in it"
    found = group_accuracy(answers, gold, workers, attribute, level=level, least_people=least_people)
    return found, ""


def _groups(grouped: Grouped, quality: pd.DataFrame | None, level: float, least_people: int) -> pd.DataFrame:
    sizes = grouped.people()
    answers = np.bincount(grouped.of_answer[grouped.of_answer >= 0], minlength=len(sizes))
    known = None if quality is None else quality.set_index("worker")["quality"].reindex(grouped.coded.workers)
    each = together(level, len(sizes))
    rows = []
    for number, name in enumerate(grouped.names):
        mine = np.array([]) if known is None else known[grouped.of_worker == number].dropna().to_numpy(dtype=float)
        rows.append((name, int(sizes[number]), int(answers[number]), *_mean(mine, each, least_people)))
    return pd.DataFrame(rows, columns=_GROUPS)


def _mean(values: NDArray[np.float64], level: float, least_people: int) -> tuple[float, float, float]:
    from scipy.stats import t

    if len(values) < max(least_people, 2):
        return float("nan"), float("nan"), float("nan")
    mean = float(values.mean())
    half = float(t.ppf((1 + level) / 2, len(values) - 1) * values.std(ddof=1) / len(values) ** 0.5)
    return mean, max(0.0, mean - half), min(1.0, mean + half)


def _notes(grouped: Grouped, labels: pd.DataFrame, least_people: int) -> list[str]:
    found = [grouped.note(least_people)]
    if len(grouped.names) < 2:
        found.append(
            f"fewer than two groups of at least {least_people} people answered, so there is nothing to compare"
        )
        return found
    alone = labels.loc[labels["items"] == 0, "group"].unique()
    if len(alone):
        found.append(
            f"nobody else judged an item of {', '.join(alone)}: only the share is known, which compares nothing"
        )
    return found
