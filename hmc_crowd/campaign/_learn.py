"""What did the clocks teach? The effort model, retrained from the campaign's submissions or from times of elsewhere."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.campaign._effort import MODEL, group_table, readable_items
from hmc_crowd.campaign._judge import inclusion_probability, judge
from hmc_crowd.effort import (
    WORKER_FEATURES,
    EffortModel,
    clean_work_times,
    fit_setup_marginal,
    inclusion_weights,
    worker_features,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.effort import SetupMarginal, WorkTimes
    from hmc_crowd.store import ModelRecord, Transaction

__all__ = ["Learned", "learn", "train"]

_LEAST_ROWS = 20
_LEAST_WORKERS = 5


@dataclass(frozen=True)
class Learned:
    """A retrained effort model and how good it is on workers it has not seen; ``version`` 0: too few times so far.

    ``adjusted_times`` answers took extremely long or short for their kind and were pulled in, ``capped_times`` were cut
    at the reading allowance, ``overlapping_times`` lay over other work of the same person, and ``suspect_times`` came
    with clocks that disagree; raw times stay as they were. ``first_item_extra_s`` is how much longer the median first
    answer of a session took. ``platform_ratio`` is how many times as long the same work took by the platform's own
    clock: a plan's costs times this are what it would cost by that clock. ``in_use`` is False where the model before
    stays, because the new one is not surely better on the rounds after it; ``notes`` say by how much.
    """

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
    capped_times: int = 0
    overlapping_times: int = 0
    suspect_times: int = 0
    first_item_extra_s: float | None = None
    platform_ratio: float | None = None
    in_use: bool = True

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
            f"{self.mae_s:.1f} s{before}, R2 {self.r2:.2f} on unseen workers{split}{self._by_platform}"
            f"{'' if self.in_use else '; the model before stays in use'}"
        )

    @property
    def _by_platform(self) -> str:
        if self.platform_ratio is None:
            return ""
        return f"; {self.platform_ratio:.2f} times as long by the platform's clock"


def train(context: Context, features: Any, seconds: ArrayLike, *, kind: str, groups: ArrayLike | None) -> Learned:
    """Fit the effort model on times logged elsewhere, one row a timed group."""
    frame = pd.DataFrame(features)
    times = np.asarray(seconds, dtype=np.float64)
    # Numbers in order of appearance: a model is kept for long and must not hold anybody's name.
    who = None if groups is None or kind != "log_time" else pd.factorize(np.asarray(groups))[0]
    model = EffortModel(kind, max_features=min(8, frame.shape[1])).fit(frame, times, workers=who)
    return _save(context, model, _Training(frame, times, None if groups is None else np.asarray(groups)))


def learn(context: Context, *, kind: str) -> Learned:
    """Retrain from the campaign's own submissions: one row for each group that one worker judged in one sitting."""
    with context.store.read() as tx:
        rows, worked, erased = _timed_groups(context, tx)
    if len(rows) < _LEAST_ROWS:
        note = f"{len(rows)} timed groups so far; retraining starts at {_LEAST_ROWS}{_left_out(erased)}"
        return Learned(0, len(rows), rows["worker"].nunique(), (), None, None, None, None, None, 0, (note,))
    times = rows["seconds"].to_numpy()
    # Workers in the order in which they came: by their random pseudonyms, folds and figures would differ every time.
    workers = pd.factorize(rows["worker"])[0]
    split = None
    # Where every group was judged in equally many items, opening it cannot be told from judging in it.
    if rows["judged_items"].nunique() > 1:
        split = fit_setup_marginal(
            times, rows["judged_items"].to_numpy(), clusters=workers, rng=context.rng("split", 0)
        )
    # A plan chose whom people saw: weights make up for it, or the model would be of doubtful and cheap items alone.
    weight = inclusion_weights(rows["probability"])
    X = rows.drop(columns=["group", "worker", "seconds", "round", "probability"]).dropna(axis="columns", how="all")
    known = {"workers": workers} if kind == "log_time" else {}
    model = EffortModel(kind, max_features=min(8, X.shape[1])).fit(X, times, weight, **known)
    return _save(
        context,
        model,
        _Training(X, times, workers, rows["round"].to_numpy(), split, worked, erased, weight),
    )


def _left_out(groups: int) -> str:
    return f"; {groups:,} groups whose texts were erased are left out" if groups else ""


def _timed_groups(context: Context, tx: Transaction) -> tuple[pd.DataFrame, WorkTimes | None, int]:
    """Return features and cleaned seconds of each (submission, group), and how many groups have lost their texts.

    Answers without a time are left out.
    """
    cid = context.campaign_id
    answers = tx.work.answers(cid)
    answers = answers[answers["seconds"].notna()]
    items, erased = readable_items(context, tx)
    if answers.empty or items.empty:
        return pd.DataFrame({"worker": []}), None, erased
    worked = _worked(tx, cid, answers, items)
    table = group_table(context, tx, items)
    answers = worked.frame.merge(items[["item", "group"]], left_on="task", right_on="item")
    answers["probability"] = inclusion_probability(tx, cid, answers)
    sittings = answers.groupby(["submission_id", "group"], sort=True)
    rows = sittings.agg(
        worker=("worker", "first"),
        seconds=("seconds_clean", "sum"),
        judged_items=("task", "size"),
        submitted=("submitted", "max"),
        round=("round", "first"),
        probability=("probability", "max"),
    ).reset_index()
    if rows.empty:
        return rows, worked, erased
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
    return rows.drop(columns=["submission_id", "submitted"]), worked, erased


def _worked(tx: Transaction, campaign: int, answers: pd.DataFrame, items: pd.DataFrame) -> WorkTimes:
    """Clean the times of all answers: whose texts are erased may still overlap with others."""
    submissions = tx.work.submissions(campaign)
    # Two platforms may give the same number.
    answers, submissions = (
        frame.assign(submission_id=frame["platform"] + "\x1f" + frame["submission_id"])
        for frame in (answers, submissions)
    )
    words = dict(zip(items["item"], items["text"].str.count(r"\S+"), strict=True))
    return clean_work_times(answers.drop(columns="seconds"), submissions, words)


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
    worked: WorkTimes | None = None
    erased: int = 0
    weight: NDArray[np.float64] | None = None

    @property
    def n_workers(self) -> int:
        """How many different people were timed; 0 where that is not known."""
        return 0 if self.workers is None else len(set(self.workers.tolist()))


def _save(context: Context, model: EffortModel, data: _Training) -> Learned:
    """Score the model on unseen workers, and the one before it on rounds it has not seen; store the new one."""
    disjoint = data.workers if data.n_workers >= _LEAST_WORKERS else None
    scores = model.evaluate(
        data.X,
        data.seconds,
        groups=disjoint,
        coverage=False,
        workers=data.workers if model.kind == "log_time" else None,
        sample_weight=data.weight,
    )
    with context.store.read() as tx:
        before = tx.models.latest(context.campaign_id, MODEL)
    verdict = judge(before, model, data)
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
        adjusted_times=0,
        notes=tuple(
            note for note in (scores.method, _left_out(data.erased).removeprefix("; "), *verdict.notes) if note
        ),
        in_use=verdict.replaces,
    )
    learned = replace(learned, **_adjustments(data.worked))
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
            active=verdict.replaces,
        )
        context.log(
            tx,
            "effort model trained",
            version=saved.version,
            rows=len(data.X),
            mae_s=learned.mae_s,
            in_use=verdict.replaces,
        )
    return replace(learned, version=saved.version)


def _adjustments(worked: WorkTimes | None) -> dict[str, Any]:
    """Return what cleaning did to the times, as `Learned` has it."""
    if worked is None:
        return {}
    return {
        "adjusted_times": worked.n_winsorised,
        "capped_times": worked.n_capped,
        "overlapping_times": worked.n_overlapping,
        "suspect_times": worked.n_suspect,
        "first_item_extra_s": worked.first_extra_s,
        "platform_ratio": worked.platform_ratio,
    }


def _previous_mae(before: ModelRecord | None, data: _Training) -> float | None:
    """Return the error of the model before on the rounds that came after it; None where there are none."""
    if before is None or data.rounds is None:
        return None
    later = data.rounds > int(before.scores.get("last_round", 0))
    model = EffortModel.from_bytes(before.blob)
    if not later.any() or not set(map(str, model.feature_names_in_)) <= set(data.X.columns):
        return None
    return float(np.abs(model.predict(data.X[later]) - data.seconds[later]).mean())
