"""Do the times still come as the model says?

Three things may move: the people (all of them slower or quicker than predicted), the tail (more than a tenth above
P90), the work (features unlike those of the training rows). Each is told with an interval over workers, and called
drift only where the interval leaves the expected value. `DriftReport` watches; whether a new model is better is for
`compare_models`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import float_vector, require_same_length
from hmc_crowd.effort._conformal import cluster_codes, clustered_mean
from hmc_crowd.effort._evaluate import pinball_loss
from hmc_crowd.effort._frames import as_pandas, number_column
from hmc_crowd.effort._log_time import FLOOR_S

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    from hmc_crowd.effort._model import EffortModel

__all__ = ["DriftReport", "drift_report"]

# Of a population stability index: below .1 alike, above .25 moved (the usual reading; no test is behind it).
_MOVED = 0.25
_BINS = 10


@dataclass(frozen=True, eq=False)
class DriftReport:
    """What changed, by period.

    Attributes
    ----------
    periods : pandas.DataFrame
        Index ``period``; ``n, n_workers, speed, speed_low, speed_high`` (typical time over predicted median: 1.1 is a
        tenth slower), ``p90, p90_low, p90_high`` (share within P90), ``pinball_p50, pinball_p90``, ``drifted`` (bool).
    features : pandas.DataFrame
        Index ``feature``; ``stability_index, moved`` (bool); empty without reference rows.
    level : float
    """

    periods: pd.DataFrame
    features: pd.DataFrame
    level: float

    @property
    def drifted(self) -> bool:
        """Whether the newest period or any feature has moved."""
        return bool(self.periods["drifted"].iloc[-1] or self.features["moved"].any())

    def __str__(self) -> str:
        last = self.periods.iloc[-1]
        moved = ", ".join(map(str, self.features.index[self.features["moved"]]))
        return (
            f"{'drift' if self.drifted else 'no drift'} in period {self.periods.index[-1]}: times {last['speed']:.2f} "
            f"of predicted [{last['speed_low']:.2f}, {last['speed_high']:.2f}], P90 keeps {last['p90']:.1%} "
            f"[{last['p90_low']:.1%}, {last['p90_high']:.1%}]" + (f"; moved: {moved}" if moved else "")
        )

    def to_frame(self) -> pd.DataFrame:
        """Return `periods`."""
        return self.periods

    def _repr_html_(self) -> str:
        return f"<p>{self}</p>{self.periods.to_html()}"


def drift_report(
    model: EffortModel,
    X: Any,
    seconds: ArrayLike,
    *,
    periods: ArrayLike | None = None,
    workers: ArrayLike | None = None,
    reference: Any = None,
    level: float = 0.95,
) -> DriftReport:
    """Hold later times against what a model in use says of them.

    Parameters
    ----------
    model : EffortModel
        Fitted, on rows before these.
    X, seconds
        The later rows.
    periods : array, shape (n,), optional
        For example the round of each row; one period by default.
    workers : array, shape (n,), optional
        Every row is its own worker by default.
    reference : table, optional
        The features that the model was trained on, to see whether the work itself has changed.
    level : float, default 0.95

    Examples
    --------
    Everybody became half as quick again:

    >>> import numpy as np
    >>> from hmc_crowd.effort import EffortModel
    >>> rng = np.random.default_rng(1)
    >>> turns = rng.uniform(1, 10, 120)
    >>> seconds = (20 + 8 * turns) * rng.lognormal(0, 0.2, 120)
    >>> model = EffortModel(n_estimators=10).fit({"turns": turns}, seconds)
    >>> report = drift_report(model, {"turns": turns}, 1.5 * seconds)
    >>> report.drifted, bool(1.4 < report.periods["speed"].iloc[0] < 1.6)
    (True, True)
    """
    import pandas as pd

    truth = float_vector(seconds, name="seconds", low=0.0)
    when = np.zeros(len(truth), dtype=np.int64) if periods is None else np.asarray(periods)
    code = cluster_codes(workers, len(truth))
    spread = model.predict_quantile(X, [0.5, 0.9])
    require_same_length([("seconds", truth), ("X", spread), ("periods", when), ("workers", code)])
    logs = np.log(np.maximum(truth, FLOOR_S)) - np.log(np.maximum(spread[:, 0], FLOOR_S))
    named = [(period, when == period) for period in pd.unique(pd.Series(when))]
    rows = [_period(truth[at], spread[at], logs[at], code[at], level) for _, at in named]
    index = pd.Index([period for period, _ in named], name="period")
    return DriftReport(pd.DataFrame(rows, index=index), _moved(model, X, reference), level)


def _period(
    truth: NDArray[np.float64],
    spread: NDArray[np.float64],
    logs: NDArray[np.float64],
    code: NDArray[np.intp],
    level: float,
) -> dict[str, Any]:
    """Return one row of `DriftReport.periods`."""
    middle, speed, workers = clustered_mean(logs, code, level=level)
    p90, kept, _ = clustered_mean((truth <= spread[:, 1]).astype(np.float64), code, level=level)
    speeds = np.exp([middle, *speed])
    # A share has nowhere to go beyond 0 and 1; the interval of few workers would.
    ends = np.clip(kept, 0.0, 1.0)
    return {
        "n": len(truth),
        "n_workers": workers,
        "speed": speeds[0],
        "speed_low": speeds[1],
        "speed_high": speeds[2],
        "p90": p90,
        "p90_low": ends[0],
        "p90_high": ends[1],
        "pinball_p50": float(pinball_loss(truth, spread[:, 0], 0.5).mean()),
        "pinball_p90": float(pinball_loss(truth, spread[:, 1], 0.9).mean()),
        "drifted": bool(speed[0] > 0 or speed[1] < 0 or ends[1] < 0.9),
    }


def _moved(model: EffortModel, X: Any, reference: Any) -> pd.DataFrame:
    """Return the stability index of each feature against the rows the model was trained on."""
    import pandas as pd

    names = [str(name) for name in model.feature_names_in_] if reference is not None else []
    rows = []
    for name in names:
        old = number_column(as_pandas(reference, name="reference")[name], name=f"reference column {name}")
        new = number_column(as_pandas(X, name="X")[name], name=f"X column {name}")
        rows.append(stability_index(old, new))
    frame = pd.DataFrame({"stability_index": rows}, index=pd.Index(names, name="feature"), dtype=float)
    return frame.assign(moved=frame["stability_index"] > _MOVED)


def stability_index(old: NDArray[np.float64], new: NDArray[np.float64]) -> float:
    """Return the population stability index, sum of (p - q) * log(p / q) over tenths of the old values.

    Missing values are a bin of their own; half a row in every bin keeps the logarithm finite.
    """
    known = old[~np.isnan(old)]
    edges = np.unique(np.quantile(known, np.linspace(0, 1, _BINS + 1)[1:-1])) if len(known) else np.empty(0)
    shares = []
    for values in (old, new):
        place = np.where(np.isnan(values), len(edges) + 1, np.searchsorted(edges, values, side="left"))
        count = np.bincount(place, minlength=len(edges) + 2) + 0.5
        shares.append(count / count.sum())
    return float(((shares[1] - shares[0]) * np.log(shares[1] / shares[0])).sum())
