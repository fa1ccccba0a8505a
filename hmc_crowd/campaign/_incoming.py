"""How sure does each submission make us, at the moment at which it comes in?

Nothing of this is stored: answers and their times never change, so what was known at a moment is worked out from the
answers before it whenever somebody asks, and cannot grow stale. Collecting tells at once how many new answers met gold
and how many were right; gates take the confidence of a submission for that of its answers.

Guarantee: a submission's confidence looks at its own gold and at the worker's gold of earlier submissions, never at a
later one. It rejects nobody: it weighs answers and sends items to experts.

Source: requirements D10 and E4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmc_crowd.campaign._gold_marking import gold_rules
from hmc_crowd.campaign._gold_rows import gold_rows
from hmc_crowd.errors import InputError
from hmc_crowd.quality import gold_confidence

if TYPE_CHECKING:
    from datetime import datetime

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.campaign._gold_marking import Meaning
    from hmc_crowd.store import Transaction

__all__ = ["GoldTally", "incoming", "submission_confidence"]

_KEY = ["platform", "submission_id"]
_COLUMNS = [*_KEY, "worker", "at", "answers", "gold", "right", "mark", "n", "rolling", "confidence"]
_UNKNOWN = 0.5


class GoldTally:
    """Counts, while new answers are read, how many met gold and how many of these are right."""

    def __init__(self, context: Context, tx: Transaction) -> None:
        self._rules = gold_rules(context, tx)
        gold = tx.frames.read(context.campaign_id, "gold")
        self._known = dict(zip(zip(gold["item"], gold["aspect"].astype(str), strict=True), gold["label"], strict=True))
        self.met = self.right = 0

    def meet(self, item: str, aspect: str, label: str) -> None:
        """Count an answer; texts, whose meaning nobody compares here, are left out."""
        known = self._known.get((item, aspect))
        if known is not None and self._rules[aspect].kind != "text":
            self.met += 1
            self.right += bool(self._rules[aspect].is_right([label], [known])[0])


def incoming(context: Context, *, as_of: datetime | None = None, meaning: Meaning | None = None) -> pd.DataFrame:
    """Return what each submission's gold says, and how sure it makes us; see `Campaign.incoming`."""
    with context.store.read() as tx:
        return submission_confidence(context, tx, as_of=as_of, meaning=meaning)


def submission_confidence(
    context: Context,
    tx: Transaction,
    *,
    as_of: datetime | None = None,
    meaning: Meaning | None = None,
    answers: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return one row per submission, in the order of time; what came after ``as_of`` is not looked at.

    ``answers`` are all of the campaign, where somebody has read them already.
    """
    if as_of is not None and as_of.tzinfo is None:
        raise InputError(f"as_of is {as_of}, which has no time zone; pass an aware time")
    answers = tx.work.answers(context.campaign_id) if answers is None else answers
    moment = answers.groupby(_KEY)["submitted"].transform("max")
    answers = answers.assign(at=moment)[moment.notna() if as_of is None else moment <= pd.Timestamp(as_of)]
    if answers.empty:
        return pd.DataFrame(columns=_COLUMNS)
    marks = _marks(context, tx, answers, meaning)
    every = answers.groupby(_KEY, sort=False)
    table = every.agg(worker=("worker", "first"), at=("at", "first"), answers=("task", "size")).reset_index()
    rows = table[[*_KEY, "worker", "at"]].merge(marks, on=_KEY, how="left")
    sure = gold_confidence(rows).join(rows[_KEY])
    # What a submission without gold would have shown is expected to be like the record; without one nobody knows.
    sure["confidence"] = sure["confidence"].where(sure["mark"].notna(), sure["rolling"].fillna(_UNKNOWN))
    of_each = sure.groupby(_KEY).agg(
        gold=("mark", "count"),
        right=("right", "sum"),
        mark=("mark", "mean"),
        n=("n", "first"),
        rolling=("rolling", "first"),
        confidence=("confidence", "mean"),
    )
    found = table.join(of_each, on=_KEY).sort_values(["at", *_KEY], kind="stable")
    return found.astype({"gold": int, "right": int})[_COLUMNS].reset_index(drop=True)


def _marks(context: Context, tx: Transaction, answers: pd.DataFrame, meaning: Meaning | None) -> pd.DataFrame:
    """Return the mark of each answer to gold that counts: ``platform, submission_id, mark``."""
    rows, keys = gold_rows(context, tx, answers, first_only=True, meaning=meaning)
    met = rows.merge(keys.rename(columns={"item": "task", "label": "known"}), on="task")
    mark = (met["label"] == met["known"]).to_numpy(dtype=np.float64)
    kinds = {name: rule.kind for name, rule in gold_rules(context, tx).items()}
    words = (met["aspect"].astype(str).map(kinds) == "text").to_numpy()
    if meaning is not None and words.any():
        # What is near in meaning is not wholly right: texts keep their similarity.
        said = answers.set_index([*_KEY, "task", "aspect"])["label"]
        told = said.reindex(pd.MultiIndex.from_frame(met.loc[words, [*_KEY, "item", "aspect"]])).tolist()
        mark[words] = meaning.marks(told, met.loc[words, "known"].tolist())
    return met[_KEY].assign(mark=mark)
