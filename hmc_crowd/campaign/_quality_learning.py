"""Does a model that learns from features know the people of a campaign better than their gold alone?

Every first answer to gold is an outcome, and what was known of its worker just before it are the features. Some workers
teach before a moment, others check after it; on what they check the model stands beside the pool's mean and beside the
Bayesian quality, which needs no training and stays in force unless the model beats both.

Guarantee: reads alone. Nobody's answers are left out, nobody's pay is touched and nothing is stored: the priority ranks
people for whoever wants to rank them, and is no probability.

Source: requirements D5, D6 and D8.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from hmc_crowd.campaign._gold_check import text_note
from hmc_crowd.campaign._gold_marking import gold_rules
from hmc_crowd.campaign._gold_rows import gold_rows
from hmc_crowd.campaign._standing import quality_table
from hmc_crowd.errors import InputError
from hmc_crowd.quality import (
    FEATURES,
    WorkerQualityModel,
    agreement_checks,
    gold_checks,
    literal_decay,
    pool_prior,
    priority_score,
    quality_features,
    right_in_a_row,
    split_by_worker_and_time,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.quality import QualityModelReport
    from hmc_crowd.store import Transaction

__all__ = ["LearnedQuality", "learn_quality"]

_LEAST = 20
"""Outcomes that must teach, and that must check: with fewer, whether a model is better is a matter of luck."""
_WINDOW = 50
_STEADY = 0.9
"""Consistency from which on a worker gets the bonus, which the source gives to the consistent without a number."""
_CHECKS = ["worker", "task", "right", "at"]


@dataclass(frozen=True)
class LearnedQuality:
    """What features say of each worker, beside what gold alone says.

    Parameters
    ----------
    workers : pandas.DataFrame
        ``worker, quality, low, high`` by the model (missing where none could be taught), ``bayes, bayes_low,
        bayes_high, source`` by gold alone, `hmc_crowd.quality.FEATURES` as of now, ``recent`` (share right on the last
        50 gold answers), ``streak``, ``idle_s``, and ``priority``, the highest first.
    model : WorkerQualityModel or None
        None where there is too little to learn from.
    brier_bayes : float
        Mean squared error of the Bayesian quality, which does not fade here, on the outcomes that check the model.
    outcomes : int
        First answers to gold.
    why_none : str
        Why there is no model; empty where there is one.
    notes : tuple of str
    """

    workers: pd.DataFrame
    model: WorkerQualityModel | None
    brier_bayes: float
    outcomes: int
    why_none: str = ""
    notes: tuple[str, ...] = ()

    @property
    def report(self) -> QualityModelReport | None:
        """How the model did on workers and times that it had not seen."""
        return None if self.model is None else self.model.report_

    @property
    def base(self) -> Literal["model", "bayes"]:
        """Which quality the priority rests on: the model's only where it beats the pool's mean and the Bayesian one."""
        told = self.report
        beats = told is not None and told.better_than_pool and told.brier < self.brier_bayes
        return "model" if beats else "bayes"

    def __str__(self) -> str:
        told = self.report
        if told is None:
            return f"{self.why_none}: there is no model, and the quality is the Bayesian one alone"
        beside = "better than" if told.brier < self.brier_bayes else "NO better than"
        rests = "the model" if self.base == "model" else "the Bayesian quality"
        return f"{told}, {beside} gold alone ({self.brier_bayes:.4f}); the priority rests on {rests}"


def learn_quality(context: Context, kind: Literal["random_forest", "xgboost"] = "random_forest") -> LearnedQuality:
    """Teach a model with the campaign's gold; see `Campaign.quality_model`."""
    model = WorkerQualityModel(kind)
    with context.store.read() as tx:
        answers = tx.work.answers(context.campaign_id)
        rows, keys = gold_rows(context, tx, answers, first_only=True)
        notes = text_note(gold_rules(context, tx), tx.frames.read(context.campaign_id, "gold"), None)
        bayes = quality_table(context, tx, answers=answers)
        past = _past(context, tx, answers, rows, keys)
    checks = past["gold"]
    names, times = checks["worker"].tolist(), pd.DatetimeIndex(checks["at"])
    why = _why_none(checks, model.seed)
    brier = float("nan")
    if not why:
        features = quality_features(names, times, **past)
        right = checks["right"].to_numpy(dtype=bool)
        model.fit(features, right, names, times)
        brier = _brier_of_gold_alone(features, right, model)
    now = _now(context, answers)
    # Features know what came strictly before; all that is stored has come.
    known = quality_features(bayes["worker"].tolist(), [now + pd.Timedelta(1, "us")] * len(bayes), **past)
    table = _side_by_side(bayes, known, None if why else model, past, answers, now)
    found = LearnedQuality(table, None if why else model, brier, len(checks), why, tuple(notes))
    # Which quality leads is known only now.
    table["priority"] = _priority(table, table["quality"] if found.base == "model" else table["bayes"])
    return replace(found, workers=table.sort_values(["priority", "worker"], ascending=[False, True], ignore_index=True))


def _past(
    context: Context, tx: Transaction, answers: pd.DataFrame, rows: pd.DataFrame, keys: pd.DataFrame
) -> dict[str, Any]:
    """Return what features are made of: checks on gold, checks by agreement, and work with its time."""
    columns = ["task", "worker", "label", "submitted"]
    timed = rows[rows["submitted"].notna()]
    gold = gold_checks(timed[columns], keys)[_CHECKS] if len(keys) and len(timed) else _no_checks()
    labels = [name for name, rule in gold_rules(context, tx).items() if rule.kind not in {"numeric", "text"}]
    # Gold has checks of its own; what is left out would speak of others.
    other = timed[~timed["task"].isin(keys["item"]) & timed["aspect"].isin(labels) & timed["excluded"].isna()]
    agreed = agreement_checks(other[columns], as_it_came=True) if len(other) else None
    work = answers.rename(columns={"submitted": "at"})[["worker", "at", "seconds"]]
    return {"gold": gold, "agreement": agreed, "work": work[work["at"].notna() & (work["seconds"] > 0)]}


def _no_checks() -> pd.DataFrame:
    none = pd.DataFrame({name: pd.Series(dtype=object) for name in _CHECKS})
    return none.astype({"right": bool, "at": "datetime64[us, UTC]"})


def _why_none(checks: pd.DataFrame, seed: int) -> str:
    """Return why nothing can be learnt from these outcomes, or nothing."""
    people = checks["worker"].nunique()
    if not len(checks):
        return "nobody has answered gold, or no answer says when"
    if people < 2:
        return "1 worker alone has answered gold, and a model is checked on others than those who teach it"
    if checks["right"].nunique() < 2:
        word = "right" if checks["right"].iloc[0] else "wrong"
        return f"all {len(checks):,} answers to gold are {word}, which leaves nothing to tell apart"
    try:
        split = split_by_worker_and_time(checks["worker"].tolist(), checks["at"], rng=np.random.default_rng(seed))
    except InputError:
        sides = [np.zeros(len(checks), dtype=bool)] * 2
    else:
        sides = [split.fit, split.check]
    said = f"of {len(checks):,} answers to gold by {people:,} workers {sides[0].sum():,} would teach and "
    said += f"{sides[1].sum():,}, of others and later, would check"
    if min(side.sum() for side in sides) < _LEAST:
        return f"{said}, where {_LEAST} each are needed"
    if any(checks["right"][side].nunique() < 2 for side in sides):
        return f"{said}, and on one side all are right or all wrong"
    return ""


def _brier_of_gold_alone(features: pd.DataFrame, right: NDArray[np.bool_], model: WorkerQualityModel) -> float:
    """Return the error of the beta posterior that has seen what the model has: the same teachers, the same past."""
    split = model.split_
    taught = pd.DataFrame({"worker": features["worker"][split.fit], "right": right[split.fit]})
    counts = taught.groupby("worker")["right"].agg(["sum", "size"])
    good, bad = pool_prior(counts["sum"], counts["size"])
    n = features["n_gold"].to_numpy()[split.check]
    share = np.nan_to_num(features["accuracy"].to_numpy()[split.check])
    told = (good + share * n) / (good + bad + n)
    return float(((told - right[split.check]) ** 2).mean())


def _now(context: Context, answers: pd.DataFrame) -> pd.Timestamp:
    """Return the present, which is no earlier than the last answer where a platform's clock is ahead of ours."""
    now, last = pd.Timestamp(context.clock.now()), answers["submitted"].max()
    return now if pd.isna(last) else max(now, last)


def _side_by_side(
    bayes: pd.DataFrame,
    known: pd.DataFrame,
    model: WorkerQualityModel | None,
    past: dict[str, Any],
    answers: pd.DataFrame,
    now: pd.Timestamp,
) -> pd.DataFrame:
    names = bayes["worker"]
    table = pd.DataFrame({"worker": names.to_numpy()})
    by_model = None if model is None else model.predict(known)
    for name in ("quality", "low", "high"):
        table[name] = np.nan if by_model is None else by_model[name].to_numpy()
    for name in ("quality", "low", "high"):
        table["bayes" if name == "quality" else f"bayes_{name}"] = bayes[name].to_numpy(dtype=float)
    table["source"] = bayes["source"].to_numpy()
    table[list(FEATURES)] = known[list(FEATURES)].to_numpy()
    by_worker = past["gold"].groupby("worker")["right"]
    table["recent"] = by_worker.apply(lambda right: right.tail(_WINDOW).mean()).reindex(names).to_numpy(dtype=float)
    streaks = {worker: right_in_a_row(right.tolist()) for worker, right in by_worker}
    table["streak"] = [streaks.get(worker, 0) for worker in names]
    idle = (now - answers.groupby("worker")["submitted"].max()).dt.total_seconds()
    table["idle_s"] = idle.reindex(names).fillna(0.0).to_numpy()
    return table


def _priority(table: pd.DataFrame, base: pd.Series[float]) -> NDArray[np.float64]:
    """Return the source's score; missing where nothing is known of anybody."""
    said = np.full(len(table), np.nan)
    known = base.notna().to_numpy()
    if known.any():
        quality = base[known].to_numpy(dtype=float)
        # Who has met no gold has no recent accuracy: what he is expected to be right on stands for it.
        recent = table["recent"][known].fillna(base[known])
        faded = literal_decay(quality, table["idle_s"][known], recent, streak=table["streak"][known].to_numpy())
        said[known] = priority_score(faded, table["consistency"][known].to_numpy() >= _STEADY)
    return said
