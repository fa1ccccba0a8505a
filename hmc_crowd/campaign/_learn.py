"""What did the clocks teach? The effort model, retrained from the campaign's submissions or from times of elsewhere."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.campaign._effort import MODEL, group_table
from hmc_crowd.effort import WORKER_FEATURES, EffortModel, clean_times, fit_setup_marginal, worker_features

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.effort import SetupMarginal
    from hmc_crowd.store import ModelRecord, Transaction

__all__ = ["Learned", "learn", "train"]

_LEAST_ROWS = 20
_LEAST_WORKERS = 5


@dataclass(frozen=True)
class Learned:
    """A retrained effort model and how good it is on workers it has not seen; ``version`` 0: too few times so far."""

    version: int
    rows: int
    workers: int
    features: tuple[str, ...]
    mae_s: float | None
    previous_mae_s: float | None
    r2: float | None
    setup_s: float | None
    marginal_s: float | None
    adjusted_times: int
    notes: tuple[str, ...]

    def __str__(self) -> str:
        if not self.version:
            return "; ".join(self.notes)
        split = "" if self.setup_s is None else f"; {self.setup_s:.1f} s a group + {self.marginal_s:.1f} s an item"
        before = (
            ""
            if self.previous_mae_s is None
            else f" (the model before, on the new rounds: {self.previous_mae_s:.1f} s)"
        )
        return (
            f"effort model {self.version} from {self.rows:,} timed groups of {self.workers:,} workers: MAE "
            f"{self.mae_s:.1f} s{before}, R2 {self.r2:.2f} on unseen workers{split}"
        )


def train(context: Context, features: Any, seconds: ArrayLike, *, kind: str, groups: ArrayLike | None) -> Learned:
    """Fit the effort model on times logged elsewhere, one row a timed group."""
    frame = pd.DataFrame(features)
    times = np.asarray(seconds, dtype=np.float64)
    model = EffortModel(kind, max_features=min(8, frame.shape[1])).fit(frame, times)
    return _save(context, model, _Training(frame, times, None if groups is None else np.asarray(groups)))


def learn(context: Context, *, kind: str) -> Learned:
    """Retrain from the campaign's own submissions: one row for each group that one worker judged in one sitting."""
    with context.store.read() as tx:
        rows = _timed_groups(context, tx)
    if len(rows) < _LEAST_ROWS:
        note = f"{len(rows)} timed groups so far; retraining starts at {_LEAST_ROWS}"
        return Learned(0, len(rows), rows["worker"].nunique(), (), None, None, None, None, None, 0, (note,))
    cleaned = clean_times(rows, seconds="raw_s")
    times = cleaned.frame["seconds_clean"].to_numpy()
    # Workers in the order in which they came: by their random pseudonyms, folds and figures would differ every time.
    workers = pd.factorize(rows["worker"])[0]
    split = None
    # Where every group was judged in equally many items, opening it cannot be told from judging in it.
    if rows["judged_items"].nunique() > 1:
        split = fit_setup_marginal(
            times, rows["judged_items"].to_numpy(), clusters=workers, rng=context.rng("split", 0)
        )
    X = rows.drop(columns=["group", "worker", "raw_s", "round"]).dropna(axis="columns", how="all")
    model = EffortModel(kind, max_features=min(8, X.shape[1])).fit(X, times)
    return _save(
        context,
        model,
        _Training(X, times, workers, rows["round"].to_numpy(), split, cleaned.n_winsorised),
    )


def _timed_groups(context: Context, tx: Transaction) -> pd.DataFrame:
    """Return features and raw seconds of each (submission, group); answers without a time are left out."""
    cid = context.campaign_id
    answers = tx.work.answers(cid)
    answers = answers[answers["seconds"].notna()]
    items = tx.frames.read(cid, "items", columns=["item", "group", "text", "features"])
    table = group_table(context, tx, items)
    answers = answers.merge(items[["item", "group"]], left_on="task", right_on="item")
    sittings = answers.groupby(["submission_id", "group"], sort=True)
    rows = sittings.agg(
        worker=("worker", "first"),
        raw_s=("seconds", "sum"),
        judged_items=("task", "size"),
        submitted=("submitted", "max"),
        round=("round", "first"),
    ).reset_index()
    if rows.empty:
        return rows
    # In the order of time: ids and pseudonyms are random, and a forest depends on the order of its rows.
    rows = rows.sort_values(["submitted", "group"], kind="stable", ignore_index=True)
    first = rows.groupby("worker")["submitted"].transform("min") == rows["submitted"]
    known = worker_features(
        rows["worker"].tolist(), as_of=rows["submitted"].tolist(), gold_checks=_gold_checks(tx, cid)
    )
    features = table.drop(columns=["judged_items", "first_submission"], errors="ignore")
    rows = rows.merge(features, left_on="group", right_index=True).sort_index()
    rows["first_submission"] = first.astype(float)
    for name in WORKER_FEATURES:
        rows[name] = known[name].to_numpy()
    return rows.drop(columns=["submission_id", "submitted"])


def _gold_checks(tx: Transaction, campaign: int) -> pd.DataFrame:
    gold = tx.frames.read(campaign, "gold").rename(columns={"item": "task"})
    answers = tx.work.answers(campaign)
    checked = answers.merge(gold[["task", "aspect", "label"]], on=["task", "aspect"], suffixes=("", "_gold"))
    return pd.DataFrame(
        {
            "worker": checked["worker"],
            "right": (checked["label"] == checked["label_gold"]).astype(float),
            "at": checked["submitted"],
        }
    )


@dataclass(frozen=True)
class _Training:
    """What a model was fitted on: one row a timed group, who worked, in which round (0: elsewhere)."""

    X: pd.DataFrame
    seconds: NDArray[np.float64]
    workers: NDArray[Any] | None = None
    rounds: NDArray[np.int64] | None = None
    split: SetupMarginal | None = None
    adjusted: int = 0

    @property
    def n_workers(self) -> int:
        """How many different people were timed; 0 where that is not known."""
        return 0 if self.workers is None else len(set(self.workers.tolist()))


def _save(context: Context, model: EffortModel, data: _Training) -> Learned:
    """Score the model on unseen workers, and the one before it on rounds it has not seen; store the new one."""
    disjoint = data.workers if data.n_workers >= _LEAST_WORKERS else None
    scores = model.evaluate(data.X, data.seconds, groups=disjoint, coverage=False)
    with context.store.read() as tx:
        before = tx.models.latest(context.campaign_id, MODEL)
    learned = Learned(
        version=0,
        rows=len(data.X),
        workers=data.n_workers,
        features=tuple(map(str, model.feature_names_in_)),
        mae_s=scores.pooled.mae_s,
        previous_mae_s=_previous_mae(before, data),
        r2=scores.pooled.r2,
        setup_s=None if data.split is None else data.split.setup_s,
        marginal_s=None if data.split is None else data.split.marginal_s,
        adjusted_times=data.adjusted,
        notes=(scores.method,),
    )
    stored = {key: value for key, value in asdict(learned).items() if key != "version"}
    stored["last_round"] = 0 if data.rounds is None else int(data.rounds.max())
    with context.store.begin() as tx:
        saved = tx.models.save(
            context.campaign_id,
            MODEL,
            model.to_bytes(),
            data_hash=model.data_hash_,
            scores=stored,
            created_at=context.clock.now(),
        )
        context.log(tx, "effort model trained", version=saved.version, rows=len(data.X), mae_s=learned.mae_s)
    return replace(learned, version=saved.version)


def _previous_mae(before: ModelRecord | None, data: _Training) -> float | None:
    """Return the error of the model before on the rounds that came after it; None where there are none."""
    if before is None or data.rounds is None:
        return None
    later = data.rounds > int(before.scores.get("last_round", 0))
    model = EffortModel.from_bytes(before.blob)
    if not later.any() or not set(map(str, model.feature_names_in_)) <= set(data.X.columns):
        return None
    return float(np.abs(model.predict(data.X[later]) - data.seconds[later]).mean())
