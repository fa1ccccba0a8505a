"""Does the retrained effort model take over, and how much does each timed group count?

The model in use is the champion, the retrained one the challenger. Both predict the rounds that came after the
champion was trained: the champion has never seen them, the challenger is fitted anew without the workers whose rows it
predicts. Only a difference that is sure over workers makes the challenger the model in use; both are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.effort import EffortModel, compare_losses, compare_models, drift_report, held_out_quantiles
from hmc_crowd.errors import ModelError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from hmc_crowd.store import ModelRecord, Transaction

__all__ = ["Verdict", "inclusion_probability", "judge"]

_LEAST_LATER = 10
_LEAST_WORKERS = 3
_AT = (0.5, 0.9)


@dataclass(frozen=True)
class Verdict:
    """Whether the new model replaces the one in use, and why."""

    replaces: bool
    notes: tuple[str, ...] = ()


def judge(before: ModelRecord | None, model: EffortModel, data: Any) -> Verdict:
    """Compare the new model with the one in use on rounds that the latter has not seen.

    Parameters
    ----------
    before : ModelRecord or None
        The model in use.
    model : EffortModel
        The new one.
    data : training rows
        ``X, seconds, workers, rounds, weight, finished, per`` as the new model was fitted on; without rounds (times of
        elsewhere, given by the user) the new model replaces. Rows that are not finished only train.
    """
    if before is None or data.rounds is None or data.workers is None:
        return Verdict(True)
    champion = EffortModel.from_bytes(before.blob)
    if before.scores.get("per", "group") != data.per:
        return Verdict(True, (f"the model before told times of another kind, not per {data.per}, so it is replaced",))
    if not set(map(str, champion.feature_names_in_)) <= set(map(str, data.X.columns)):
        return Verdict(True, ("the model before knew other features, so it is replaced without a comparison",))
    later = data.rounds > int(before.scores.get("last_round", 0))
    if data.finished is not None:
        later &= data.finished
    stays = f"model {before.version} stays in use"
    if champion.kind != model.kind and not later.any():
        return _same_rows(champion, model, data, stays)
    if later.sum() < _LEAST_LATER or len(set(data.workers[later].tolist())) < _LEAST_WORKERS:
        return Verdict(
            False,
            (f"{stays}: {int(later.sum())} timed groups after it, too few to judge (from {_LEAST_LATER})",),
        )
    try:
        held_out = held_out_quantiles(
            model,
            data.X,
            data.seconds,
            groups=data.workers,
            workers=data.workers if model.kind == "log_time" else None,
            folds=min(5, len(set(data.workers[later].tolist()))),
            rows=later,
            sample_weight=data.weight,
            finished=data.finished if model.kind == "log_time" else None,
        )
    except ModelError as error:
        return Verdict(False, (f"{stays}: the new one cannot be judged on later rounds ({error})",))
    known = champion.predict_quantile(data.X[later], _AT)
    found = compare_losses(data.seconds[later], known, held_out, workers=data.workers[later])
    drift = drift_report(
        champion, data.X[later], data.seconds[later], periods=data.rounds[later], workers=data.workers[later]
    )
    return Verdict(found.better, (*(() if found.better else (stays,)), str(found), f"model before: {drift}"))


def _same_rows(champion: EffortModel, model: EffortModel, data: Any, stays: str) -> Verdict:
    """Compare two kinds where no round came after the one in use: both cross-validated in the same folds."""
    workers = len(set(data.workers.tolist()))
    if workers < _LEAST_WORKERS:
        return Verdict(False, (f"{stays}: {workers} workers are too few to compare kinds (from {_LEAST_WORKERS})",))
    done = np.ones(len(data.X), dtype=bool) if data.finished is None else data.finished
    who = data.workers[done]
    found = compare_models(
        champion, model, data.X[done], data.seconds[done], workers=who, folds=min(5, len(set(who.tolist())))
    )
    return Verdict(found.better, (*(() if found.better else (stays,)), f"in the same folds, {found}"))


def inclusion_probability(tx: Transaction, campaign: int, answers: pd.DataFrame) -> NDArray[np.float64]:
    """Return the chance with which people were to see each answer's item in its round; 1 where no plan chose (gold)."""
    chance = np.ones(len(answers))
    for number in answers["round"].unique():
        plan = tx.plans.latest(campaign, int(number))
        if plan is None:
            continue
        rows = tx.plans.read(plan.id, people_only=True, columns=["item", "inclusion_probability"])
        known = rows.groupby("item")["inclusion_probability"].max()
        at = (answers["round"] == number).to_numpy()
        found = answers.loc[at, "task"].map(known).to_numpy(dtype=np.float64)
        chance[at] = np.where(np.isnan(found) | (found <= 0), 1.0, found)
    return chance
