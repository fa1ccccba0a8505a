"""Which model is best, overall and in each category? One table from one row per judgement.

Sources: Lyu et al. (2024), "HREF", tables 5 and 7; the groups of ranks are ours, see `rank_models`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.metrics._outcomes import UNPARSED, Unparsed, read_outcomes, win_scores
from hmc_crowd.metrics._preference_ranking import Correction, rank_models
from hmc_crowd.metrics._ratings_codes import array_of, codes_of, missing_in

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["leaderboard"]


def leaderboard(
    judgements: Any,
    *,
    tie: float = 0.5,
    unparsed: Unparsed = "drop",
    alpha: float = 0.05,
    correction: Correction = "holm",
    clusters: str | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """Return models with rank, win rate and interval, the rate in each category, and counts.

    Parameters
    ----------
    judgements : frame or mapping with ``model, item, outcome`` and optionally ``category``
        One row per model and item; the outcome is 'win', 'tie', 'loss' from the model's view, None: unparsed. An item
        has one category.
    tie, unparsed
        As in `expected_win_rate`.
    alpha, correction
        Of the tests that make the groups of ranks, see `rank_models`.
    clusters : str, optional
        Column whose values belong together; one value per item.
    level : float, default 0.95
        Coverage of the intervals.

    Returns
    -------
    pandas.DataFrame
        ``rank, model, win_rate, low, high``, one column per category (its rate, NaN without a judgement), ``n`` parsed
        judgements and ``unparsed`` ones; best first. "win_rate" is the mean over items (micro).

    Raises
    ------
    InputError
        A column is missing, a model has an item twice, or an item has two categories or clusters.

    Examples
    --------
    >>> rows = {"model": ["a", "b"] * 2, "item": [1, 1, 2, 2], "outcome": ["win", "tie", "win", None]}
    >>> leaderboard({**rows, "category": ["qa", "qa", "sum", "sum"]})[["model", "win_rate", "qa", "n", "unparsed"]]
      model  win_rate   qa  n  unparsed
    0     a       1.0  1.0  2         0
    1     b       0.5  0.5  1         1
    """
    outcome = read_outcomes(_column(judgements, "outcome"), name="outcome")
    n = len(outcome)
    names, model = _codes(judgements, "model", n)
    items, item = _codes(judgements, "item", n)
    if len(np.unique(model * len(items) + item)) < n:
        raise InputError("a model has an item more than once; keep one judgement per model and item")
    scores = np.full((len(items), len(names)), np.nan)
    scores[item, model] = win_scores(outcome, tie, unparsed)
    together = None if clusters is None else _of_item(judgements, clusters, item, len(items))[1]
    ranking = rank_models(
        {str(name): scores[:, place] for place, name in enumerate(names)},
        alpha=alpha,
        correction=correction,
        clusters=together,
        level=level,
    )
    table = ranking.table.rename(columns={"value": "win_rate"})
    place = {str(name): position for position, name in enumerate(names)}
    order = [place[name] for name in table["model"]]
    kinds, kind = _of_item(judgements, "category", item, len(items)) if _has(judgements, "category") else ([], None)
    for code, name in enumerate(kinds):
        inside = scores[kind == code][:, order]
        known = ~np.isnan(inside)
        total = np.where(known, inside, 0.0).sum(axis=0)
        size = known.sum(axis=0)
        rate = np.divide(total, size, out=np.full(len(order), np.nan), where=size > 0)
        table.insert(len(table.columns) - 1, str(name), rate)
    lost = np.bincount(model[outcome == UNPARSED], minlength=len(names))
    table["unparsed"] = lost[order]
    return table


def _has(table: Any, name: str) -> bool:
    return name in (list(table) if isinstance(table, dict) else list(table.columns))


def _column(table: Any, name: str) -> Any:
    if not _has(table, name):
        raise FrameError(f"judgements has no column {name!r}; give model, item and outcome")
    return table[name]


def _codes(table: Any, name: str, n: int) -> tuple[list[Any], NDArray[np.intp]]:
    values = array_of(_column(table, name))
    if values.shape != (n,):
        raise InputError(f"column {name} has shape {values.shape}; give one value per judgement, shape ({n},)")
    missing = missing_in(values)
    if missing.any():
        raise InputError(f"column {name} is missing at row {int(missing.argmax())}; every judgement needs it")
    return codes_of(values)


def _of_item(table: Any, name: str, item: NDArray[np.intp], items: int) -> tuple[list[Any], NDArray[np.intp]]:
    """Return the values of a column that each item has once, and each item's position among them."""
    values, code = _codes(table, name, len(item))
    out = np.zeros(items, dtype=np.intp)
    out[item] = code
    if (out[item] != code).any():
        raise InputError(f"an item has two values of {name}, first at row {int((out[item] != code).argmax())}")
    return values, out
