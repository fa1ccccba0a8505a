"""What would every trade-off and every cap bring? Reliability against effort, over a whole grid.

Plans of one trade-off are nested: a larger cap only adds items, in the order of their gains. So one sort per
trade-off serves all caps, and every number is a difference of running counts along that order. The grid of the
paper (451 trade-offs by 21 caps, for which its authors needed about 2.5 hours) takes a fraction of a second, and
each point equals what `route` gives.

Source: Zhang, Ren, de Rijke (2021), figures 2 and 3.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import float_vector, require_same_length
from hmc_crowd.errors import InputError
from hmc_crowd.metrics import label_codes, macro_from_counts  # because a point of a sweep is scored by the metrics part
from hmc_crowd.routing._gain import Cap, as_cap, cap_count, costs, gains, trade_off_value

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

__all__ = ["sweep"]


def sweep(
    confidence: ArrayLike,
    effort: ArrayLike,
    *,
    trade_offs: Iterable[float],
    max_humans: Iterable[int | float | None],
    target: ArrayLike | None = None,
    predicted: ArrayLike | None = None,
    true_effort: ArrayLike | None = None,
    cap: Cap = "at_most",
    human_confidence: ArrayLike = 1.0,
    machine_effort: ArrayLike = 0.0,
) -> pd.DataFrame:
    """Tell reliability and effort for every pair of trade-off and cap.

    Parameters
    ----------
    confidence, effort, human_confidence, machine_effort, cap
        As in `route`.
    trade_offs : iterable of float
        Prices of effort, as `trade_off` in `route`.
    max_humans : iterable of int, float or None
        Caps, as `max_human` in `route`: ints count items, floats are shares.
    target, predicted : array of labels, shape (n_items,), optional
        True labels (people are taken to give these) and the machine's. Give both or none.
    true_effort : array of float, shape (n_items,), optional
        Effort that was really spent, for `effort_share` (the paper's time cost); `effort` by default.

    Returns
    -------
    pandas.DataFrame
        One row per pair, trade-offs outside, caps inside: ``trade_off, max_human, human_share, effort_share,
        precision, recall, f1, accuracy``. Precision, recall and F1 are macro means as in
        `hmc_crowd.metrics.macro_scores`. The last four columns are NaN without labels, `effort_share` is NaN if no
        item costs any effort, `max_human` is NaN where no cap is set.

    Raises
    ------
    InputError
        As `route`, or an empty grid, or one of `target` and `predicted` without the other.

    Notes
    -----
    Labels that people give are taken as right: the reliability is agreement with them.

    Examples
    --------
    >>> labels = {"target": ["a", "b"], "predicted": ["a", "a"]}
    >>> table = sweep([0.9, 0.2], [0.5, 0.5], trade_offs=[0.0], max_humans=[0, 1], **labels)
    >>> table[["max_human", "human_share", "accuracy"]].values.tolist()
    [[0.0, 0.0, 0.5], [1.0, 0.5, 1.0]]
    """
    import pandas as pd

    mode = as_cap(cap)
    given = costs(confidence, effort, human_confidence=human_confidence, machine_effort=machine_effort)
    limits = _listed(max_humans, "max_humans")
    prices = [trade_off_value(each, mode, limits[0]) for each in _listed(trade_offs, "trade_offs")]
    if mode == "exactly" and any(limit is None for limit in limits):
        raise InputError("max_humans holds None, but cap='exactly' needs a number for every point")
    counts = np.array([cap_count(limit, given.size, name="max_humans") for limit in limits], dtype=np.intp)
    spent = given.effort if true_effort is None else float_vector(true_effort, name="true_effort", low=0.0)
    require_same_length([("confidence", given.confidence), ("true_effort", spent)])
    mistakes = _mistakes(target, predicted, given.size)

    taken = np.empty((len(prices), len(limits)), dtype=np.intp)
    effort_spent = np.empty(taken.shape)
    scores = np.full((4, *taken.shape), np.nan)
    running = np.zeros(given.size + 1)
    for row, price in enumerate(prices):
        order, taken[row] = _order(gains(given, price), counts, mode)
        np.cumsum(spent[order], out=running[1:])
        effort_spent[row] = running[taken[row]]
        if mistakes is not None:
            scores[:, row] = mistakes.scores_after(order, taken[row])
    all_effort = float(spent.sum())
    columns = {
        "trade_off": np.repeat(prices, len(limits)),
        "max_human": _cap_column(limits, len(prices)),
        "human_share": (taken / given.size).ravel(),
        "effort_share": (effort_spent / all_effort if all_effort > 0.0 else np.full(taken.shape, np.nan)).ravel(),
        **dict(zip(("precision", "recall", "f1", "accuracy"), scores.reshape(4, -1), strict=True)),
    }
    return pd.DataFrame(columns)


def _listed(values: Iterable[Any], name: str) -> list[Any]:
    """Return the points of one axis of the grid."""
    if (
        isinstance(values, str)
        or not isinstance(values, Iterable)
        or (isinstance(values, np.ndarray) and not values.ndim)
    ):
        raise InputError(f"{name} is {values!r}; give a list of them, such as [{values!r}]")
    points = list(values)
    if not points:
        raise InputError(f"{name} is empty; give at least one")
    return points


def _cap_column(limits: list[Any], times: int) -> NDArray[Any]:
    """Repeat the caps as given: counts stay integers where all are; counts among others keep their type."""
    if all(isinstance(each, (int, np.integer)) for each in limits):
        return np.tile(np.array(limits, dtype=np.int64), times)
    column: list[Any] = [math.nan if each is None else each for each in limits]
    if all(isinstance(each, (float, np.floating)) for each in column):
        return np.tile(np.array(column, dtype=np.float64), times)
    # 1 (one item) and 1.0 (all of them) must stay apart.
    mixed = np.empty(len(column), dtype=object)
    mixed[:] = column
    return np.tile(mixed, times)


def _order(gain: NDArray[np.float64], counts: NDArray[np.intp], cap: Cap) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Sort by falling gain, so that each plan is the beginning of the order; and tell how many items each takes."""
    taken = counts if cap == "exactly" else np.minimum(counts, np.count_nonzero(gain > 0.0))
    falling = -gain
    order = np.argsort(falling)
    ranked = falling[order]
    # The quick sort leaves equal gains in any order; that matters only where a cap cuts between them.
    inner = np.unique(taken[(taken > 0) & (taken < len(gain))])
    for value in np.unique(ranked[inner[ranked[inner - 1] == ranked[inner]]]).tolist():
        first, last = np.searchsorted(ranked, value, side="left"), np.searchsorted(ranked, value, side="right")
        order[first:last].sort()
    return order, taken


@dataclass(frozen=True)
class _Mistakes:
    """Where the machine is wrong, and its counts per class: all that reliability depends on."""

    is_wrong: NDArray[np.bool_]
    target: NDArray[np.intp]
    predicted: NDArray[np.intp]
    hits: NDArray[np.intp]
    n_predicted: NDArray[np.intp]
    n_target: NDArray[np.intp]

    def scores_after(self, order: NDArray[np.intp], taken: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return precision, recall, F1 and accuracy, shape (4, n_caps), when the first `taken` items are put right."""
        size = len(self.hits)
        places = np.flatnonzero(self.is_wrong[order])
        wrong = order[places]
        sorted_caps, back = np.unique(taken, return_inverse=True)
        # Band j holds the mistakes that cap j is the first to reach; the last band is reached by none.
        band = np.searchsorted(sorted_caps, places, side="right") * size
        bands = (len(sorted_caps) + 1, size)

        def reached(label: NDArray[np.intp]) -> NDArray[np.intp]:
            cells = np.bincount(band + label[wrong], minlength=bands[0] * size).reshape(bands)
            return np.cumsum(cells[:-1], axis=0)[back]

        gained, lost = reached(self.target), reached(self.predicted)
        hits = self.hits + gained
        macro = macro_from_counts(hits, self.n_predicted + gained - lost, self.n_target)
        return np.stack([*macro, hits.sum(axis=-1) / len(order)])


def _mistakes(target: ArrayLike | None, predicted: ArrayLike | None, n_items: int) -> _Mistakes | None:
    if target is None and predicted is None:
        return None
    if target is None or predicted is None:
        missing = "target" if target is None else "predicted"
        raise InputError(f"{missing} is missing; reliability needs target and predicted, so give both or none")
    labels, codes = label_codes(target=target, predicted=predicted)
    truth, guess = codes["target"], codes["predicted"]
    if len(truth) != n_items:
        raise InputError(
            f"target has {len(truth)} rows but confidence has {n_items}; they must describe the same items"
        )
    right, size = truth == guess, len(labels)
    return _Mistakes(
        ~right,
        truth,
        guess,
        np.bincount(truth[right], minlength=size),
        np.bincount(guess, minlength=size),
        np.bincount(truth, minlength=size),
    )
