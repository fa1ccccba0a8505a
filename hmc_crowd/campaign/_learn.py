"""What did the clocks teach? The effort model, retrained from the campaign's submissions or from times of elsewhere."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd._base.ids import digest
from hmc_crowd.campaign._effort import MODEL, PER
from hmc_crowd.campaign._judge import judge
from hmc_crowd.campaign._timed import timed_rows
from hmc_crowd.effort import EffortModel, drift_report, fit_setup_marginal, inclusion_weights
from hmc_crowd.errors import FrameError, InputError, StateError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.effort import DriftReport, SetupMarginal, WorkTimes
    from hmc_crowd.store import ModelRecord, Transaction

__all__ = ["Learned", "drift", "learn", "train"]

_LEAST_ROWS = 20
_LEAST_WORKERS = 5
_TRAINED_ON = "trained_on"


@dataclass(frozen=True)
class Learned:
    """A retrained effort model and how good it is on workers it has not seen; ``version`` 0: too few times so far.

    ``adjusted_times`` answers took extremely long or short for their kind and were pulled in, ``capped_times`` were cut
    at the reading allowance, ``overlapping_times`` lay over other work of the same person, and ``suspect_times`` came
    with clocks that disagree; raw times stay as they were. ``first_item_extra_s`` is how much longer the median first
    answer of a session took. ``platform_ratio`` is how many times as long the same work took by the platform's own
    clock: a plan's costs times this are what it would cost by that clock. ``in_use`` is False where the model before
    stays, because the new one is not surely better on the rounds after it; ``notes`` say by how much. ``cut_off`` rows
    are work that was given back or ran out of time, a lower bound; ``per`` is what is timed as one.
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
    cut_off: int = 0
    per: str = "group"

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
            f"effort model {self.version} from {self.rows:,} timed {self.per}s of {self.workers:,} workers: MAE "
            f"{self.mae_s:.1f} s{before}, R2 {self.r2:.2f} on unseen workers{split}{self._by_platform}"
            f"{'' if self.in_use else '; the model before stays in use'}"
        )

    @property
    def _by_platform(self) -> str:
        if self.platform_ratio is None:
            return ""
        return f"; {self.platform_ratio:.2f} times as long by the platform's clock"


def train(
    context: Context,
    features: Any,
    seconds: ArrayLike,
    *,
    kind: str,
    groups: ArrayLike | None,
    finished: ArrayLike | None = None,
) -> Learned:
    """Fit the effort model on times logged elsewhere, one row a timed group."""
    frame = pd.DataFrame(features)
    times = np.asarray(seconds, dtype=np.float64)
    # Numbers in order of appearance: a model is kept for long and must not hold anybody's name.
    who = None if groups is None or kind != "log_time" else pd.factorize(np.asarray(groups))[0]
    model = EffortModel(kind, max_features=min(8, frame.shape[1])).fit(frame, times, workers=who, finished=finished)
    done = None if finished is None else np.asarray(finished, dtype=bool)
    return _save(context, model, _Training(frame, times, None if groups is None else np.asarray(groups), finished=done))


def drift(
    context: Context,
    features: Any,
    seconds: ArrayLike,
    *,
    periods: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> DriftReport:
    """Hold times that were logged later against the model in use."""
    with context.store.read() as tx:
        record = tx.models.latest(context.campaign_id, MODEL)
    if record is None:
        raise StateError(f"campaign {context.name!r} has no effort model yet; first learn() or train_effort(...)")
    model, frame = EffortModel.from_bytes(record.blob), pd.DataFrame(features)
    lacking = sorted(set(map(str, model.feature_names_in_)) - set(map(str, frame.columns)))
    if lacking:
        raise FrameError(f"the effort model looks at {', '.join(lacking)}, which these rows lack; add such columns")
    return drift_report(model, frame, seconds, periods=periods, workers=groups)


def learn(context: Context, *, kind: str, per: str = "group") -> Learned:
    """Retrain from the campaign's own submissions: one row for what one worker judged of a group in one sitting."""
    if per not in PER:
        raise InputError(f"per is {per!r}; a model learns the time per {' or per '.join(PER)}")
    with context.store.read() as tx:
        timed = timed_rows(context, tx, per=per, cut_off=kind == "log_time")
    rows, n = timed.frame, len(timed.frame)
    if n < _LEAST_ROWS:
        note = f"{n} timed {per}s so far; retraining starts at {_LEAST_ROWS}{_left_out(timed.erased)}"
        return Learned(0, n, rows["worker"].nunique(), (), None, None, None, None, None, 0, (note,), per=per)
    times, finished = rows["seconds"].to_numpy(dtype=np.float64), rows["finished"].to_numpy(dtype=bool)
    # Workers in the order in which they came: by their random pseudonyms, folds and figures would differ every time.
    workers = pd.factorize(rows["worker"])[0]
    split, judged = None, rows["judged_items"].to_numpy()
    # Where every group was judged in equally many items, opening it cannot be told from judging in it.
    if len(set(judged[finished].tolist())) > 1:
        split = fit_setup_marginal(
            times[finished], judged[finished], clusters=workers[finished], rng=context.rng("split", 0)
        )
    # A plan chose whom people saw: weights make up for it, or the model would be of doubtful and cheap items alone.
    weight = inclusion_weights(rows["probability"])
    X = rows.drop(columns=["group", "worker", "seconds", "round", "probability", "finished"])
    X = X.dropna(axis="columns", how="all")
    known = {"workers": workers, "finished": finished} if kind == "log_time" else {}
    model = EffortModel(kind, max_features=min(8, X.shape[1])).fit(X, times, weight, **known)
    data = _Training(X, times, workers, rows["round"].to_numpy(), split, timed.worked, timed.erased, weight, finished)
    return _save(context, model, replace(data, per=per))


def _left_out(groups: int) -> str:
    return f"; {groups:,} groups whose texts were erased are left out" if groups else ""


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
    finished: NDArray[np.bool_] | None = None
    per: str = "group"

    @property
    def cut_off(self) -> int:
        """How many rows are lower bounds."""
        return 0 if self.finished is None else int((~self.finished).sum())

    @property
    def n_workers(self) -> int:
        """How many different people were timed; 0 where that is not known."""
        return 0 if self.workers is None else len(set(self.workers.tolist()))


def _save(context: Context, model: EffortModel, data: _Training) -> Learned:
    """Score the model on unseen workers, and the one before it on rounds it has not seen; store the new one.

    The same model from the same times again is not stored again: what was learnt then is returned.
    """
    trained_on = _fingerprint(model, data)
    with context.store.read() as tx:
        if known := _known(tx, context.campaign_id, trained_on):
            return known
    disjoint = data.workers if data.n_workers >= _LEAST_WORKERS else None
    scores = model.evaluate(
        data.X,
        data.seconds,
        groups=disjoint,
        coverage=False,
        workers=data.workers if model.kind == "log_time" else None,
        sample_weight=data.weight,
        finished=data.finished if data.cut_off else None,
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
        notes=_notes(scores.method, data, verdict.notes),
        in_use=verdict.replaces,
        cut_off=data.cut_off,
        per=data.per,
    )
    learned = replace(learned, **_adjustments(data.worked))
    stored = {key: value for key, value in asdict(learned).items() if key != "version"}
    stored["last_round"] = 0 if data.rounds is None else int(data.rounds.max())
    stored[_TRAINED_ON] = trained_on
    with context.store.begin() as tx:
        if known := _known(tx, context.campaign_id, trained_on):  # another process learnt the same meanwhile
            return known
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


def _fingerprint(model: EffortModel, data: _Training) -> str:
    """Return the SHA-256 of all that a model and its figures are made of."""
    columns = (data.workers, data.rounds, data.weight, data.finished)
    parts = [b"-" if each is None else np.ascontiguousarray(each).tobytes() for each in columns]
    return digest("effort-training-1", model.data_hash_, repr(model.get_params()), data.per, str(data.erased), *parts)


def _known(tx: Transaction, campaign: int, trained_on: str) -> Learned | None:
    """Return what the version stored last was, if it was made of the same; None otherwise."""
    newest = tx.models.newest(campaign, MODEL)
    if newest is None or newest.scores.get(_TRAINED_ON) != trained_on:
        return None
    names = {each.name for each in fields(Learned)}
    held = {key: value for key, value in newest.scores.items() if key in names}
    held |= {key: tuple(held[key]) for key in ("features", "notes")}
    return Learned(**held | {"version": newest.version})


def _notes(method: str, data: _Training, verdict: tuple[str, ...]) -> tuple[str, ...]:
    """Return what is to be known beside the figures."""
    bounds = f"{data.cut_off:,} times are lower bounds: that work was given back or ran out of time"
    all_ = (method, bounds if data.cut_off else "", _left_out(data.erased).removeprefix("; "), *verdict)
    return tuple(note for note in all_ if note)


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
    if before is None or data.rounds is None or data.finished is None or before.scores.get("per", PER[0]) != data.per:
        return None
    later = (data.rounds > int(before.scores.get("last_round", 0))) & data.finished
    model = EffortModel.from_bytes(before.blob)
    if not later.any() or not set(map(str, model.feature_names_in_)) <= set(data.X.columns):
        return None
    return float(np.abs(model.predict(data.X[later]) - data.seconds[later]).mean())
