"""How do answers of each kind become one? Numbers by their values, sets label by label; texts stay as they are.

Nominal answers and pairs are labels and go to the methods of `hmc_crowd.aggregation`. Ordinal and numeric ones go to
its numeric method, which knows a worker's bias and variance. Of a multi-label question every label is a question of
its own: is it in the set?
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.aggregation import aggregate as aggregate_answers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hmc_crowd.aggregation import AggregateResult

__all__ = ["aggregate_numbers", "aggregate_sets"]

_YES, _NO = "yes", "no"


def aggregate_numbers(
    rows: pd.DataFrame, *, levels: Sequence[str] | None, gold: pd.DataFrame | None
) -> tuple[pd.DataFrame, AggregateResult]:
    """Aggregate ordinal answers (``levels`` in order) or numbers.

    Returns
    -------
    tuple
        Label rows ``item, label, confidence, n_answers, tied, posterior`` and what the method found. The posterior of a
        number is ``value, low, high`` (95 %); a number has no confidence, an ordinal label the probability of its step.
    """
    answers = rows[["task", "worker", "label", "submitted"]]
    if levels is None:
        answers = answers.assign(label=pd.to_numeric(answers["label"]))
        gold = None if gold is None else gold.assign(label=pd.to_numeric(gold["label"]))
    result = aggregate_answers(answers, method="numeric", gold=gold, labels=levels)
    frame = result.frame
    labels = frame["label"].astype(str) if levels is not None else frame["label"].map(_written)
    ends = zip(*(frame[name].tolist() for name in ("value", "low", "high")), strict=True)
    posterior = [dict(zip(("value", "low", "high"), each, strict=True)) for each in ends]
    kept = frame[["item", "confidence", "n_answers", "tied"]].assign(label=labels)
    return kept.assign(posterior=pd.Series(posterior, index=kept.index, dtype=object)), result


def _written(value: float) -> str:
    """Write a number with the digits that mean something."""
    short = float(f"{value:.6g}")
    return str(int(short)) if short.is_integer() and abs(short) < 2.0**53 else repr(short)


def aggregate_sets(
    rows: pd.DataFrame,
    *,
    labels: Sequence[str],
    gold: pd.DataFrame | None,
    one: Callable[[pd.DataFrame, pd.DataFrame | None], AggregateResult],
) -> tuple[pd.DataFrame, list[AggregateResult]]:
    """Aggregate multi-label answers, every label by itself.

    Parameters
    ----------
    rows : pandas.DataFrame
        ``task, worker, label, submitted``; labels are JSON lists.
    one : callable
        Aggregates answers yes and no, with gold of the same.

    Returns
    -------
    tuple
        Label rows as of `aggregate_numbers`, their posterior the probability of each label; the confidence is the
        probability that the whole set is right, if labels err independently. And what each label's aggregation found.
    """
    chosen = rows["label"].map(lambda each: frozenset(json.loads(each)))
    known = None if gold is None or gold.empty else gold["label"].map(lambda each: frozenset(json.loads(each)))
    results = []
    for label in labels:
        answers = rows[["task", "worker", "submitted"]].assign(label=_said(chosen, label))
        truth = None if known is None or gold is None else gold[["item"]].assign(label=_said(known, label))
        results.append(one(answers, truth))
    first = results[0].frame
    yes = pd.DataFrame({label: _yes(result, first["item"]) for label, result in zip(labels, results, strict=True)})
    sure = np.maximum(yes.to_numpy(), 1 - yes.to_numpy())
    tied = np.column_stack([result.frame.set_index("item").loc[first["item"], "tied"] for result in results])
    written = [
        json.dumps([label for label in labels if row[label] > 0.5], ensure_ascii=False)
        for row in yes.to_dict("records")
    ]
    frame = pd.DataFrame(
        {
            "item": first["item"].to_numpy(),
            "label": written,
            "confidence": [math.prod(row) for row in sure.tolist()],
            "n_answers": first["n_answers"].to_numpy(),
            "tied": tied.any(axis=1),
        }
    )
    return frame.assign(posterior=pd.Series(yes.to_dict("records"), index=frame.index, dtype=object)), results


def _said(sets: pd.Series[Any], label: str) -> pd.Series[str]:
    return sets.map(lambda each: _YES if label in each else _NO)


def _yes(result: AggregateResult, items: pd.Series[Any]) -> Any:
    frame = result.frame.set_index("item").loc[items]
    if f"p_{_YES}" in frame:
        return frame[f"p_{_YES}"].to_numpy()
    return (frame["label"] == _YES).to_numpy(dtype=np.float64)
