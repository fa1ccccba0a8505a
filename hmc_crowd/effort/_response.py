"""What one response costs, and what a plan costs, counted both ways.

The source gives every response of a dialogue the same part of its time, value / turns. That is `response_effort`, and
the router's input by default (`plan_effort`). `count_time` says what a plan then costs under that count, and what it
costs if a touched dialogue must be read whole; with a fitted `SetupMarginal` also the figure between the two.

Source: Zhang, Ren, de Rijke (2021), section 3.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import first_rows, float_vector, require_same_length
from hmc_crowd.effort._frames import as_pandas, require_columns, require_no_missing, require_unique
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    from hmc_crowd.effort._model import EffortModel
    from hmc_crowd.effort._setup import SetupMarginal

__all__ = ["TimeCount", "count_time", "plan_effort", "predict_over_pool", "response_effort"]

_ROWS = 200_000  # rows of worker x dialogue predicted at once


def response_effort(dialogue_value: ArrayLike, turns: ArrayLike) -> NDArray[np.float64]:
    """Return the source's effort of one response: the dialogue's value (seconds or share) divided by its turns.

    Parameters
    ----------
    dialogue_value : array of float, shape (n,)
        >= 0.
    turns : array of int, shape (n,)
        >= 1.

    Examples
    --------
    >>> response_effort([60.0, 90.0], [3, 9]).tolist()
    [20.0, 10.0]
    """
    value = float_vector(dialogue_value, name="dialogue_value", low=0.0, allow_empty=True)
    count = float_vector(turns, name="turns", low=1.0, allow_empty=True)
    require_same_length([("dialogue_value", value), ("turns", count)])
    return value / count


def predict_over_pool(
    model: EffortModel, X: Any, pool: Any, *, share: bool = False, weights: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Return the mean prediction of each row over the workers who may get it.

    When a plan is made nobody knows yet who will work; the expectation over the available pool is what to plan with.

    Parameters
    ----------
    model : EffortModel
        Fitted on a table with dialogue and worker features.
    X : table, n rows
        Dialogue features.
    pool : table, one row per worker
        The worker features that ``X`` lacks.
    share : bool, default False
        Shares in [0, 1] instead of seconds.
    weights : array of float, shape (n_workers,), optional
        How much each worker is expected to do; equal by default.

    Raises
    ------
    FrameError
        ``pool`` is empty, or a feature stands in neither table.
    """
    dialogues, workers = as_pandas(X, name="X"), as_pandas(pool, name="pool")
    own = [column for column in workers.columns if column in set(model.feature_names_in_)]
    if not len(workers) or not own:
        raise FrameError("pool has no worker or none of the model's features; give one row of features per worker")
    weight = np.ones(len(workers)) if weights is None else float_vector(weights, name="weights", low=0.0)
    require_same_length([("weights", weight), ("pool", workers)])
    if not weight.sum() > 0:
        raise InputError("weights is 0 for every worker of the pool; give some worker a weight")
    # Workers with the same features get the same prediction: predict once, count them together.
    kinds = workers[own].assign(weight_=weight).groupby(own, dropna=False, as_index=False)["weight_"].sum()
    kinds["weight_"] = kinds["weight_"] / kinds["weight_"].sum()
    total, step = np.zeros(len(dialogues)), max(1, _ROWS // max(len(kinds), 1))
    base = dialogues.drop(columns=[column for column in own if column in dialogues.columns])
    for start in range(0, len(base), step):
        part = base.iloc[start : start + step]
        crossed = part.loc[part.index.repeat(len(kinds))] if part.index.is_unique else None
        if crossed is None:
            crossed = part.iloc[np.repeat(np.arange(len(part)), len(kinds))]
        crossed = crossed.assign(**{column: np.tile(kinds[column].to_numpy(), len(part)) for column in own})
        predicted = model.predict_share(crossed) if share else model.predict(crossed)
        total[start : start + step] = predicted.reshape(len(part), len(kinds)) @ kinds["weight_"].to_numpy()
    return total


def plan_effort(
    model: EffortModel,
    X: Any,
    items: Any,
    *,
    pool: Any = None,
    turns: ArrayLike | None = None,
    quantiles: tuple[float, ...] = (),
    split: SetupMarginal | None = None,
) -> pd.DataFrame:
    """Return the effort of every item for the router, in the source's manner: the group's prediction / its turns.

    Parameters
    ----------
    model : EffortModel
    X : table, one row per group
        Features with the group as index (as `FeatureTable.frame` has it) or as column ``group``.
    items : table
        ``item, group``; without ``group`` every item is its own.
    pool : table, optional
        Worker features to average over, see `predict_over_pool`.
    turns : array of int, shape (n_items,), optional
        Turns of each item's group; by default the number of its rows in ``items``.
    quantiles : tuple of float, optional
        Also give these quantiles, as ``p50_s`` and so on (a group's quantile / its turns; not with ``pool``).
    split : SetupMarginal, optional
        Also cut each group's seconds into ``setup_s`` (per group, repeated on its items) and ``marginal_s`` (per
        item) in the fitted proportion.

    Returns
    -------
    pandas.DataFrame
        ``item, group, turns, effort_share, effort_s`` and what was asked for, in the order of ``items``.

    Examples
    --------
    >>> import numpy as np
    >>> n = np.arange(1.0, 21.0)
    >>> from hmc_crowd.effort import EffortModel
    >>> model = EffortModel(n_estimators=5).fit({"turns": n}, 10 * n)
    >>> plan = plan_effort(model, {"group": ["g"], "turns": [2.0]}, {"item": ["a", "b"], "group": ["g", "g"]})
    >>> bool(plan["effort_s"].iloc[0] == model.predict({"turns": [2.0]})[0] / 2)
    True
    """
    import pandas as pd

    features, table = as_pandas(X, name="X"), as_pandas(items, name="items")
    if "group" in features:
        features = features.set_index("group")
    require_unique(features.index.to_series(), name="X group")
    require_columns(table, ["item"], name="items")
    group = table["group"] if "group" in table else table["item"]
    require_no_missing(group.to_frame("group"), ["group"], name="items")
    row = features.index.get_indexer(pd.Index(group))
    if (row < 0).any():
        raise FrameError(
            f"X has no features for the group of {first_rows(row < 0, group.to_numpy())} of items; add them"
        )
    count = (
        np.bincount(row, minlength=len(features))[row].astype(np.float64)
        if turns is None
        else float_vector(turns, name="turns", low=1.0)
    )
    require_same_length([("turns", count), ("items", table)])
    seconds, share = _predictions(model, features, pool)
    made = table[["item"]].reset_index(drop=True).assign(group=group.to_numpy(), turns=count)
    made["effort_share"] = response_effort(share[row], count)
    made["effort_s"] = response_effort(seconds[row], count)
    if quantiles:
        if pool is not None:
            raise InputError("quantiles are of one worker, not of a pool's mean; leave out pool or quantiles")
        spread = model.predict_quantile(features, quantiles)
        for column, q in enumerate(quantiles):
            made[f"p{100 * q:g}_s"] = response_effort(spread[row, column], count)
    if split is not None:
        part = split.setup_share(count)
        made["setup_s"] = part * seconds[row]
        made["marginal_s"] = (1 - part) * seconds[row] / count
    return made


def _predictions(model: EffortModel, features: pd.DataFrame, pool: Any) -> tuple[Any, Any]:
    """Return seconds and share per group."""
    if pool is None:
        seconds = model.predict(features)
        return seconds, np.clip((seconds - model.min_s_) / (model.max_s_ - model.min_s_), 0.0, 1.0)
    return predict_over_pool(model, features, pool), predict_over_pool(model, features, pool, share=True)


@dataclass(frozen=True)
class TimeCount:
    """The time of a plan, counted both ways; shares are of the time of all items.

    Attributes
    ----------
    per_item_s, per_item_share : float
        If every item costs its part of the group's time (the source's count).
    read_whole_s, read_whole_share : float
        If a group of which any item is judged costs all of its time.
    split_s, split_share : float
        With a fitted set-up and marginal time; NaN without one.
    total_s : float
    n_items, n_judged, n_groups, n_touched : int
    """

    per_item_s: float
    per_item_share: float
    read_whole_s: float
    read_whole_share: float
    split_s: float
    split_share: float
    total_s: float
    n_items: int
    n_judged: int
    n_groups: int
    n_touched: int

    @property
    def touched_share(self) -> float:
        """Share of the groups of which people see at least one item."""
        return self.n_touched / self.n_groups

    def __str__(self) -> str:
        between = "" if np.isnan(self.split_share) else f", {self.split_share:.3f} by set-up and marginal time"
        return (
            f"time share {self.per_item_share:.3f} if every item costs its part, {self.read_whole_share:.3f} if "
            f"touched groups are read whole{between}; {self.n_judged:,} of {self.n_items:,} items in "
            f"{self.n_touched:,} of {self.n_groups:,} groups ({self.touched_share:.1%})"
        )


def count_time(to_human: ArrayLike, group: Any, seconds: ArrayLike, *, split: SetupMarginal | None = None) -> TimeCount:
    """Count the time of a plan both ways.

    Parameters
    ----------
    to_human : array of bool, shape (n_items,)
    group : array, shape (n_items,)
    seconds : array of float, shape (n_items,)
        Each item's part of its group's time, >= 0, in any one unit.
    split : SetupMarginal, optional
        For the third figure; its own seconds decide the proportion, the total is that of ``seconds``.

    Raises
    ------
    InputError
        Lengths differ, or all seconds are 0.

    Examples
    --------
    Two groups of 40 and 20 seconds; one item of the first is judged: 20 of 60 by parts, 40 of 60 read whole.

    >>> print(count_time([True, False, False], ["a", "a", "b"], [20.0, 20.0, 20.0]))
    time share 0.333 if every item costs its part, 0.667 if touched groups are read whole; 1 of 3 items in 1 of 2
    groups (50.0%)
    """
    import pandas as pd

    chosen = float_vector(to_human, name="to_human", low=0.0, high=1.0)
    if not np.isin(chosen, (0.0, 1.0)).all():
        raise InputError("to_human must be true or false per item; pass a plan's to_human")
    part = float_vector(seconds, name="seconds", low=0.0)
    codes, names = pd.factorize(np.asarray(group))
    require_same_length([("to_human", chosen), ("seconds", part), ("group", codes)])
    if (codes < 0).any():
        raise InputError(f"group is missing in {first_rows(codes < 0)}; every item needs its group")
    total = float(part.sum())
    if not total > 0:
        raise InputError("seconds is 0 for every item, so there is no time to share; pass the items' times")
    whole, size = np.bincount(codes, weights=part), np.bincount(codes)
    judged = np.bincount(codes, weights=chosen)
    per_item, touched = float(part @ chosen), judged > 0
    between = float("nan")
    if split is not None:
        setup = split.setup_share(size) * whole
        between = float((touched * setup + (whole - setup) * judged / size).sum())
    read_whole = float(whole[touched].sum())
    return TimeCount(
        per_item, per_item / total, read_whole, read_whole / total, between, between / total, total,
        len(part), int(chosen.sum()), len(names), int(touched.sum()),
    )  # fmt: skip
