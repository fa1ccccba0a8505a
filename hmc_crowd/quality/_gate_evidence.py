"""What is known about an item before a gate decides? Its answers, counted and weighed, and what the item itself says.

Guarantee: the order of the answers and the names of workers and labels change nothing; a worker counts once for an
item, by the same rule as everywhere (the latest answer, or an error where that is not known).

Source: requirements D13 (a worker counts once, confidence of the winning answers) and D14 (weight = quality, .5 where
it is unknown; the sum goes to the answer, over the weight of the workers who answered).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.aggregation._codes import encode  # because repeated and missing answers follow one rule
from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality._matching import require_one_kind
from hmc_crowd.quality._risk_urgency import risk_codes, shares_of, urgency_of
from hmc_crowd.quality._votes import votes_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["GateEvidence", "gate_evidence", "qualities"]

UNKNOWN_QUALITY = 0.5
_NEVER_SURE = 0.01  # a quality of 0 or 1 is an estimate too: one answer may not settle everything


@dataclass(frozen=True)
class GateEvidence:
    """One row per item, in the order of the items; NaN is unknown.

    Parameters
    ----------
    item : array
    label : array of object
        The label with most answers, or most weight; None where there is a tie or no answer.
    n_answers : array of int
    tied : array of bool
    agreement : array
        Share of the answers, or of the weight, that the label has.
    confidence : array
        Mean confidence that the workers stated who gave the label.
    quality, lowest, behind : array
        Mean and lowest quality of the workers who answered; mean quality of those who gave the label.
    support : array
        Probability of the label if each worker is right with his quality and wrong labels are equally likely.
    disagreement : array
        Share of the pairs of answers that differ.
    risk, complexity, semantic_complexity, urgency, text_length : array or None
        Columns of the items; None where there is no such column.
    weighted : bool
        Whether answers count by the quality of their workers.
    answers : pandas.DataFrame
        The answers that count, one per item and worker.
    """

    item: NDArray[Any]
    label: NDArray[np.object_]
    n_answers: NDArray[np.intp]
    tied: NDArray[np.bool_]
    agreement: NDArray[np.float64]
    confidence: NDArray[np.float64]
    quality: NDArray[np.float64]
    lowest: NDArray[np.float64]
    behind: NDArray[np.float64]
    support: NDArray[np.float64]
    disagreement: NDArray[np.float64]
    risk: NDArray[np.float64] | None
    complexity: NDArray[np.float64] | None
    semantic_complexity: NDArray[np.float64] | None
    urgency: NDArray[np.float64] | None
    text_length: NDArray[np.float64] | None
    weighted: bool
    answers: pd.DataFrame

    def __len__(self) -> int:
        return len(self.item)


def gate_evidence(
    items: pd.DataFrame | None,
    answers: pd.DataFrame,
    workers: Any = None,
    *,
    weighted: bool = False,
    n_labels: int = 0,
) -> GateEvidence:
    """Bring together what a gate looks at.

    Parameters
    ----------
    items : pandas.DataFrame, optional
        Column ``item`` and, where known, ``risk`` (low, medium, high), ``complexity``, ``semantic_complexity`` (in
        [0, 1]), ``urgency`` (1 to 5), ``text`` or ``text_length``; default the items that were answered, sorted.
    answers : pandas.DataFrame
        Columns ``task, worker, label``, optionally ``confidence`` (as the worker stated it) and ``submitted``. Answers
        to other items are left aside.
    workers : pandas.DataFrame, pandas.Series or mapping, optional
        ``worker, quality``; a worker who is not there has the quality .5.
    weighted : bool, default False
        Let answers count by the quality of their workers.
    n_labels : int, default 0
        How many labels may be given, where these answers need not show them all; ``support`` depends on it.

    Returns
    -------
    GateEvidence

    Raises
    ------
    FrameError
        A column is missing or holds what it must not.

    Examples
    --------
    >>> answers = pd.DataFrame(
    ...     [("a", "w1", "yes"), ("a", "w2", "yes"), ("a", "w3", "no")], columns=["task", "worker", "label"]
    ... )
    >>> found = gate_evidence(None, answers, {"w1": 0.9, "w2": 0.6})
    >>> found.label.tolist(), found.agreement.round(3).tolist(), found.quality.round(3).tolist()
    (['yes'], [0.667], [0.667])
    """
    rows = _answers_of(answers)
    if items is None:
        items = pd.DataFrame({"item": sorted(set(rows["task"]))})
    names = _item_names(items)
    place = pd.Index(names).get_indexer(pd.Index(rows["task"]))
    quality = qualities(workers)
    require_one_kind(rows["task"], names, name="answers.task and items.item")
    require_one_kind(rows["worker"], quality.index, name="answers.worker and the workers")
    rows, place = rows.loc[place >= 0], place[place >= 0]
    tally = _Tally(rows, place, len(names), quality, weighted=weighted)
    tally.k = max(tally.k, n_labels)
    return tally.evidence(names, items)


def qualities(workers: Any) -> pd.Series[float]:
    """Return quality by worker of a frame, a series or a mapping."""
    if workers is None:
        return pd.Series(dtype=float)
    if isinstance(workers, pd.DataFrame):
        missing = [column for column in ("worker", "quality") if column not in workers.columns]
        if missing:
            raise FrameError(f"workers lacks the column {missing[0]}; give worker and quality")
        workers = workers.set_index("worker")["quality"]
    found = pd.Series(dict(workers) if isinstance(workers, Mapping) else workers, dtype=float)
    values = shares_of(found.to_numpy(), name="quality")
    if found.index.has_duplicates:
        first = found.index[found.index.duplicated()][0]
        raise FrameError(f"workers has {first!r} twice; give one quality per worker")
    return pd.Series(values, index=found.index)


class _Tally:
    """Answers by item and label, as sums over the pairs that occur."""

    def __init__(
        self, rows: pd.DataFrame, place: NDArray[np.intp], n: int, quality: pd.Series[float], *, weighted: bool
    ) -> None:
        self.rows, self.place, self.n, self.weighted = rows, place, n, weighted
        label, names = pd.factorize(rows["label"], sort=True)
        self.names = np.append(np.asarray(names, dtype=object), [None])
        self.k = max(len(names), 1)
        self.votes = votes_of(place, label, self.k)
        known = quality.reindex(rows["worker"]).to_numpy(dtype=float)
        self.quality = np.where(np.isnan(known), UNKNOWN_QUALITY, known)
        self.weight = self.quality if weighted else np.ones(len(rows))

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return sums by pair of item and label, shape (n_pairs,)."""
        n_pairs = len(self.votes.count)
        found: NDArray[np.float64] = np.bincount(self.votes.of_answer, values, n_pairs).astype(np.float64)
        return found

    def per_item(self, pairs: NDArray[Any]) -> NDArray[np.float64]:
        """Return sums of pairs by item, shape (n,)."""
        return np.bincount(self.votes.task, pairs, self.n).astype(np.float64)

    def largest(self, pairs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the largest value of each item's pairs, shape (n,); 0 where it has none."""
        found = np.full(self.n, -np.inf)
        np.maximum.at(found, self.votes.task, pairs)
        return np.where(np.isinf(found), 0.0, found)

    def evidence(self, names: NDArray[Any], items: pd.DataFrame) -> GateEvidence:
        votes, weight = self.votes, self.sums(self.weight)
        total, top = self.per_item(weight), self.largest(weight)
        n_answers = self.per_item(votes.count).astype(np.intp)
        # Weights are sums of shares: what differs by rounding alone is a tie.
        leads = weight >= (top - 1e-9 * np.maximum(total, 1e-300))[votes.task]
        tied = self.per_item(leads) > 1
        leader = np.full(self.n, len(votes.count), dtype=np.intp)
        leader[votes.task[leads]] = np.flatnonzero(leads)

        def of_leader(pairs: NDArray[np.float64]) -> NDArray[np.float64]:
            found: NDArray[np.float64] = np.append(pairs, np.nan)[leader]
            return found

        stands = np.append(votes.label, len(self.names) - 1)[np.where(tied, len(votes.label), leader)]
        with np.errstate(invalid="ignore", divide="ignore"):
            agreement = np.where(total > 0, top / total, np.where(n_answers > 0, 0.0, np.nan))
            quality = self.per_item(self.sums(self.quality)) / n_answers
            pairs = n_answers * (n_answers - 1) / 2
            disagreement = 1 - votes.agreeing_pairs(self.n) / np.where(pairs > 0, pairs, np.nan)
        lowest = np.full(self.n, np.inf)
        np.minimum.at(lowest, self.place, self.quality)
        return GateEvidence(
            item=names,
            label=self.names[stands],
            n_answers=n_answers,
            tied=tied,
            agreement=agreement,
            confidence=of_leader(self._confidence()),
            quality=quality,
            lowest=np.where(n_answers > 0, lowest, np.nan),
            behind=of_leader(self.sums(self.quality) / votes.count),
            support=of_leader(self._support()),
            disagreement=disagreement,
            risk=risk_codes(items["risk"]) if "risk" in items.columns else None,
            complexity=_share(items, "complexity"),
            semantic_complexity=_share(items, "semantic_complexity"),
            urgency=urgency_of(items["urgency"]) if "urgency" in items.columns else None,
            text_length=_length(items),
            weighted=self.weighted,
            answers=self.rows,
        )

    def _confidence(self) -> NDArray[np.float64]:
        """Return the mean confidence stated for each pair."""
        if "confidence" not in self.rows.columns:
            return np.full(len(self.votes.count), np.nan)
        stated = shares_of(self.rows["confidence"].to_numpy(), name="confidence")
        known = ~np.isnan(stated)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.sums(np.where(known, stated, 0.0)) / self.sums(known.astype(float)))

    def _support(self) -> NDArray[np.float64]:
        """Return the probability of each pair's label."""
        task = self.votes.task
        q = np.clip(self.quality, _NEVER_SURE, 1 - _NEVER_SURE)
        odds = self.sums(np.log(q * max(self.k - 1, 1) / (1 - q)))
        # Labels of the set that nobody gave to an item have odds of 1 to 1; where everybody says the same everywhere
        # there is still one other label that could have been said.
        silent = max(self.k, 2) - np.bincount(task, minlength=self.n)
        top = np.maximum(self.largest(odds), np.where(silent > 0, 0.0, -np.inf))
        joint = np.exp(odds - top[task])
        return np.asarray(joint / (self.per_item(joint) + silent * np.exp(-top))[task])


def _answers_of(answers: pd.DataFrame) -> pd.DataFrame:
    """Return one answer per item and worker."""
    if not isinstance(answers, pd.DataFrame):
        raise InputError(f"answers is a {type(answers).__name__}; give a frame with the columns task, worker, label")
    missing = [column for column in ("task", "worker", "label") if column not in answers.columns]
    if missing:
        raise FrameError(f"answers lacks the column {missing[0]}; give task, worker and label")
    rows = answers.loc[answers["label"].notna()]
    if not rows.duplicated(["task", "worker"]).any() and not rows[["task", "worker"]].isna().any(axis=None):
        return rows
    coded = encode(answers)
    kept = pd.DataFrame(
        {
            "task": coded.tasks.take(coded.task),
            "worker": coded.workers.take(coded.worker),
            "label": coded.labels.take(coded.label),
        }
    )
    if "confidence" not in rows.columns:
        return kept
    last = rows.sort_values("submitted", kind="stable") if "submitted" in rows.columns else rows
    stated = last.drop_duplicates(["task", "worker", "label"], keep="last")
    return kept.merge(stated[["task", "worker", "label", "confidence"]], how="left", on=["task", "worker", "label"])


def _item_names(items: pd.DataFrame) -> NDArray[Any]:
    if not isinstance(items, pd.DataFrame) or "item" not in items.columns:
        raise FrameError("items lacks the column item; give one row per item")
    twice = items["item"].duplicated()
    if twice.any() or items["item"].isna().any():
        what = f"{items.loc[twice, 'item'].iloc[0]!r} twice" if twice.any() else "a row without an item"
        raise FrameError(f"items has {what}; give one row per item")
    return items["item"].to_numpy()


def _share(items: pd.DataFrame, name: str) -> NDArray[np.float64] | None:
    return shares_of(items[name].to_numpy(), name=name) if name in items.columns else None


def _length(items: pd.DataFrame) -> NDArray[np.float64] | None:
    if "text_length" in items.columns:
        found = np.asarray(pd.to_numeric(items["text_length"], errors="coerce"), dtype=np.float64)
        if (found < 0).any():
            raise FrameError("text_length is negative; give the number of characters")
        return found
    if "text" in items.columns:
        return np.asarray(items["text"].str.len(), dtype=np.float64)
    return None
