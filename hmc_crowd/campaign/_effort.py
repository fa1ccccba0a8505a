"""How long will people need? Predicted before the plan, learnt from the campaign's own clocks after it.

The model predicts the time of a group (a dialogue) from its features; an item gets the group's time divided by its
turns, as in the HMCEval paper. A worker is not known when a plan is made, so a model with worker features is averaged
over the workers of the pool. Without any model, seconds come from reading speed, and the note says so.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd._base.checks import float_vector
from hmc_crowd.effort import (
    WORKER_FEATURES,
    EffortModel,
    clean_times,
    dialogue_features,
    fit_setup_marginal,
    plan_effort,
    prior_effort,
    worker_features,
)
from hmc_crowd.errors import FrameError, StateError
from hmc_crowd.io import read_frame

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.effort import SetupMarginal
    from hmc_crowd.store import ModelRecord, Transaction

__all__ = ["EffortEstimate", "Learned", "add_effort", "estimate", "learn", "train"]

# Without logged times there is no fastest and slowest dialogue to scale by: the hard cap on one sitting is the scale.
PRIOR_SCALE_S = 600.0
_POOL = 20
_LEAST_ROWS = 20
_LEAST_WORKERS = 5
_KIND = "effort"


@dataclass(frozen=True)
class EffortEstimate:
    """Predicted human time of one person for the whole batch."""

    items: int
    groups: int
    model: str
    total_s: float
    median_item_s: float
    setup_s: float
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{self.items:,} items in {self.groups:,} groups: {self.total_s / 3600:.1f} h of one person, median "
            f"{self.median_item_s:.1f} s an item, by {self.model}"
        )


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


def add_effort(context: Context, source: Any) -> int:
    """Store efforts that come from elsewhere: ``item, seconds[, share, setup_s, p90_s]``, for every item."""
    loaded = read_frame(source, kind="items", name="efforts")
    if "seconds" not in loaded.features:
        raise FrameError("efforts lacks the column seconds; give item and seconds for every item")
    frame = loaded.frame.assign(model_version="given")
    float_vector(frame["seconds"], name="efforts column seconds", low=0.0)
    if "share" not in frame:
        low, high = frame["seconds"].min(), frame["seconds"].max()
        frame["share"] = (frame["seconds"] - low) / (high - low) if high > low else 0.0
    for column, default in (("setup_s", 0.0), ("p90_s", np.nan)):
        if column not in frame:
            frame[column] = default
    columns = ["item", "seconds", "share", "setup_s", "p90_s", "model_version"]
    with context.begin() as tx:
        count = tx.frames.put(context.campaign_id, "efforts", frame[columns])
        _remember(context, tx, given=True)
        context.log(tx, "effort given", items=count)
    return count


def estimate(context: Context, model: EffortModel | None = None) -> EffortEstimate:
    """Predict the time of every item and store it."""
    with context.store.read() as tx:
        items = tx.frames.read(context.campaign_id, "items", columns=["item", "group", "text", "features"])
        if items.empty:
            raise StateError(f"campaign {context.name!r} has no items; first add_items()")
        record = None if model is not None else tx.models.latest(context.campaign_id, _KIND)
        table = _group_table(context, tx, items)
        pool = tx.workers.scores(context.campaign_id)
    if model is None and record is not None:
        model = EffortModel.from_bytes(record.blob)
    if model is None:
        frame, name = _from_reading(items), "reading speed"
        notes: tuple[str, ...] = ("a guess: nobody was timed yet",)
    else:
        setup_s = float(record.scores.get("setup_s") or 0.0) if record is not None else 0.0
        frame, notes = _from_model(model, items, table, pool, setup_s)
        name = f"effort model {record.version}" if record is not None else "a given model"
    frame["model_version"] = name
    with context.store.begin() as tx:
        tx.frames.put(context.campaign_id, "efforts", frame)
        _remember(context, tx, given=False)
        context.log(tx, "effort estimated", model=name, total_s=float(frame["seconds"].sum()))
    return EffortEstimate(
        items=len(frame),
        groups=len(table),
        model=name,
        total_s=float(frame["seconds"].sum()),
        median_item_s=float(frame["seconds"].median()),
        setup_s=float(frame["setup_s"].median()),
        notes=tuple(notes),
    )


def _remember(context: Context, tx: Transaction, *, given: bool) -> None:
    """Keep whether the efforts are the user's own, so that a run does not replace them."""
    settings = tx.campaigns.get(context.name).settings
    tx.campaigns.save_settings(context.campaign_id, {**settings, "effort_given": given})


def _group_table(context: Context, tx: Transaction, items: pd.DataFrame) -> pd.DataFrame:
    """Return one row of features per group: from texts and machine labels, the user's columns above all."""
    given = _given_features(items)
    positive = context.settings().get("positive_labels", [])
    labels = None
    if positive:
        aspect = context.aspects()[0].name
        labels = tx.frames.read(context.campaign_id, "predictions", aspect=aspect, columns=["item", "label"])
        labels = labels if len(labels) == len(items) else None
    table = dialogue_features(
        items[["item", "group", "text"]],
        labels,
        positive_labels=positive if labels is not None else None,
        columns=given,
        text_features=True,
    ).frame
    return table.assign(judged_items=table["turns"])


def _given_features(items: pd.DataFrame) -> pd.DataFrame | None:
    """Return the user's numeric columns, one row per group: the first item's values stand for the group."""
    first = items.drop_duplicates("group")
    rows = [value if isinstance(value, dict) else {} for value in first["features"]]
    if not any(rows):
        return None
    return pd.DataFrame(rows, index=pd.Index(first["group"], name="group"))


def _from_reading(items: pd.DataFrame) -> pd.DataFrame:
    seconds = prior_effort(items["text"].tolist()).seconds
    codes = pd.factorize(items["group"])[0]
    group_s, turns = np.bincount(codes, weights=seconds)[codes], np.bincount(codes)[codes]
    return pd.DataFrame(
        {
            "item": items["item"].array,
            "seconds": seconds,
            "share": np.minimum(1.0, group_s / PRIOR_SCALE_S) / turns,
            "setup_s": 0.0,
            "p90_s": np.nan,
        }
    )


def _from_model(
    model: EffortModel, items: pd.DataFrame, table: pd.DataFrame, pool: pd.DataFrame, setup_s: float
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Predict group times, averaged over the pool where the model looks at workers, and share them among the items."""
    known = set(map(str, model.feature_names_in_))
    X = table if "first_submission" in table or "first_submission" not in known else table.assign(first_submission=0.0)
    workers = None
    if known & set(WORKER_FEATURES):
        # The worker is not known when planning: the expectation over the pool stands for whoever will come.
        scores = pool["score"].to_numpy(dtype=np.float64)[:_POOL] if len(pool) else np.array([np.nan])
        workers = pd.DataFrame({"worker_test_score": scores, "approval_ranking": np.nan})
        workers = workers[[name for name in workers if name in known]]
    made = plan_effort(model, X, items[["item", "group"]], pool=workers)
    median = X if workers is None else X.assign(**{str(name): value for name, value in workers.median().items()})
    p90 = pd.Series(np.ravel(model.predict_quantile(median, 0.9)), index=X.index)
    frame = pd.DataFrame(
        {
            "item": items["item"].array,
            "seconds": made["effort_s"].to_numpy(),
            "share": made["effort_share"].to_numpy(),
            "setup_s": np.minimum(setup_s, (made["effort_s"] * made["turns"]).to_numpy()),
            "p90_s": p90.loc[items["group"]].to_numpy() / made["turns"].to_numpy(),
        }
    )
    notes = (f"expectation over {len(workers)} workers of the pool",) if workers is not None and len(pool) else ()
    return frame, notes


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
    split = fit_setup_marginal(times, rows["judged_items"].to_numpy(), clusters=workers, rng=context.rng("split", 0))
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
    table = _group_table(context, tx, items)
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
        before = tx.models.latest(context.campaign_id, _KIND)
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
            _KIND,
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
