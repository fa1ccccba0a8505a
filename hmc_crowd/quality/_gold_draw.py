"""Which gold does this worker meet next, and what does gold cost?

Gold that leaks is worthless: no item twice for a worker, none more often than its limit, the least shown first. And
gold that is all of one label can be passed by always giving it: labels and steps of difficulty take turns.

Source: requirement D12; PLATFORMS.md, P24.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import pandas as pd

__all__ = ["GoldDraw", "GoldLoad", "draw_gold", "gold_load"]

_STEPS = 3


@dataclass(frozen=True)
class GoldDraw:
    """The gold drawn for one worker.

    Parameters
    ----------
    items : tuple
        In random order.
    asked : int
        How many were wanted.
    reason : str
        Why there are fewer; empty otherwise.
    """

    items: tuple[Any, ...]
    asked: int
    reason: str = ""

    def __str__(self) -> str:
        return f"{len(self.items)} of {self.asked} gold items" + (f": {self.reason}" if self.reason else "")


def draw_gold(
    pool: pd.DataFrame,
    n: int,
    *,
    seen: Collection[Any] = (),
    exposures: Mapping[Any, int] | None = None,
    limit: int | None = None,
    rng: np.random.Generator,
) -> GoldDraw:
    """Draw gold for one worker: balanced over labels and difficulty, the least shown first.

    Parameters
    ----------
    pool : pandas.DataFrame
        ``item, label`` and optionally ``difficulty`` (any number, larger is harder; cut into three steps).
    n : int
        How many items, at least 0.
    seen : collection
        Items that this worker has met in any role: never again.
    exposures : mapping, optional
        Item -> how often it was shown so far, to anybody.
    limit : int, optional
        An item that was shown so often rests; None sets no limit.
    rng : numpy.random.Generator
        Decides between equals.

    Returns
    -------
    GoldDraw
        Fewer than ``n`` items where the pool has no more for this worker, with the reason.

    Examples
    --------
    >>> import pandas as pd
    >>> pool = pd.DataFrame({"item": ["a", "b", "c", "d"], "label": ["yes", "yes", "yes", "no"]})
    >>> drawn = draw_gold(pool, 2, seen={"a"}, exposures={"b": 5}, rng=np.random.default_rng(0))
    >>> sorted(drawn.items)  # one of each label; of "yes", c was shown less than b
    ['c', 'd']
    """
    if isinstance(n, bool) or n < 0:
        raise InputError(f"n is {n!r}; give a whole number of at least 0")
    if limit is not None and limit < 1:
        raise InputError(f"limit is {limit!r}; give a whole number of at least 1, or None")
    _check_pool(pool)
    shown = dict(exposures or {})
    met = set(seen)
    free = np.array([item not in met for item in pool["item"]], dtype=bool)
    rests = np.array([limit is not None and shown.get(item, 0) >= limit for item in pool["item"]], dtype=bool)
    rows = np.flatnonzero(free & ~rests)
    count = np.array([shown.get(item, 0) for item in pool["item"]])
    # Equal exposures in random order; then the cells take turns, each giving its least shown item.
    rows = rng.permutation(rows)
    rows = rows[np.argsort(count[rows], kind="stable")]
    picked = _in_turns(rows, _cells(pool), n, rng)
    items = pool["item"].to_numpy()
    chosen = tuple(items[row] for row in rng.permutation(np.array(picked, dtype=np.intp)).tolist())
    if len(chosen) == n:
        return GoldDraw(chosen, n)
    reason = f"of {len(pool)} items the worker has met {(~free).sum()}, and {(free & rests).sum()} rest at their limit"
    return GoldDraw(chosen, n, reason + ": make more gold")


def _in_turns(rows: np.ndarray[Any, Any], cell: list[Any], n: int, rng: np.random.Generator) -> list[int]:
    """Take from the labels in turn, within a label from its difficulties in turn."""
    queues: dict[Any, dict[int, list[int]]] = {}
    for row in rows.tolist():
        label, step = cell[row]
        queues.setdefault(label, {}).setdefault(step, []).append(row)
    picked: list[int] = []
    labels = _shuffled(queues, rng)
    orders = {label: _shuffled(queues[label], rng) for label in labels}
    while labels and len(picked) < n:
        label = labels.pop(0)
        step = orders[label].pop(0)
        picked.append(queues[label][step].pop(0))
        if queues[label][step]:
            orders[label].append(step)
        if orders[label]:
            labels.append(label)
    return picked


def _shuffled(names: Any, rng: np.random.Generator) -> list[Any]:
    listed = list(names)
    return [listed[place] for place in rng.permutation(len(listed)).tolist()]


def _cells(pool: pd.DataFrame) -> list[tuple[Any, int]]:
    """Return label and step of difficulty of each item."""
    step = np.zeros(len(pool), dtype=np.intp)
    if "difficulty" in pool.columns and len(pool):
        values = pool["difficulty"].to_numpy(dtype=float)
        known = values[~np.isnan(values)]
        edges = np.quantile(known, np.arange(1, _STEPS) / _STEPS) if len(known) else np.empty(0)
        step = np.where(np.isnan(values), -1, np.searchsorted(edges, values, side="left"))
    return list(zip(pool["label"].tolist(), step.tolist(), strict=True))


def _check_pool(pool: pd.DataFrame) -> None:
    lacking = [name for name in ("item", "label") if name not in pool.columns]
    if lacking:
        raise FrameError(f"pool lacks the column {', '.join(lacking)}; give item, label and optionally difficulty")
    if not len(pool):
        raise InputError("pool is empty: without gold nobody's work can be checked; give items with known labels")
    if pool["item"].duplicated().any():
        raise FrameError(f"pool names {pool['item'][pool['item'].duplicated()].iloc[0]!r} twice; keep one row per item")


@dataclass(frozen=True)
class GoldLoad:
    """What gold costs, and how much of it there must be.

    Parameters
    ----------
    share : float
        Of all answers that are to gold.
    answers : int
        To gold, altogether.
    cost_minor : int
        What they cost, rounded up.
    per_worker : float
        Gold answers of a worker who does his part.
    items_needed : int
        Gold items without which somebody would meet one twice, or one be shown more often than the limit.
    half_width : float
        Half the 95% interval of a worker's accuracy after that many gold answers, if it is .8: what the money buys.
    """

    share: float
    answers: int
    cost_minor: int
    per_worker: float
    items_needed: int
    half_width: float

    def __str__(self) -> str:
        return (
            f"{self.answers:,} gold answers ({self.share:.1%}), {self.cost_minor:,} minor units; {self.per_worker:.1f} "
            f"a worker, whose accuracy is known to +-{self.half_width:.2f}; {self.items_needed:,} gold items needed"
        )


def gold_load(
    *, answers: int, workers: int, per_hit: int, gold_per_hit: int, answer_minor: float, limit: int | None = None
) -> GoldLoad:
    """Return share and cost of mixing gold into HITs.

    Parameters
    ----------
    answers : int
        Answers that are wanted to items that are not gold.
    workers : int
        Who share them evenly.
    per_hit, gold_per_hit : int
        Items of a HIT altogether, and gold items among them.
    answer_minor : float
        Price of one answer in minor units, fees included.
    limit : int, optional
        Most exposures of a gold item.

    Examples
    --------
    9,000 answers in HITs of 9 items and 1 of gold are 1,000 gold answers; shown at most 20 times each, 50 items:

    >>> load = gold_load(answers=9000, workers=100, per_hit=10, gold_per_hit=1, answer_minor=5, limit=20)
    >>> load.answers, load.share, load.cost_minor, load.per_worker, load.items_needed
    (1000, 0.1, 5000, 10.0, 50)
    """
    if not 0 <= gold_per_hit < per_hit:
        raise InputError(f"gold_per_hit is {gold_per_hit} of {per_hit} items; give 0 or more, and less than all")
    if answers < 0 or workers < 1 or not 0 <= answer_minor < math.inf or (limit is not None and limit < 1):
        raise InputError(
            f"answers is {answers}, workers {workers}, answer_minor {answer_minor}, limit {limit}; give none below 0, "
            "and at least one worker and one exposure"
        )
    hits = math.ceil(answers / (per_hit - gold_per_hit))
    gold = hits * gold_per_hit
    per_worker = gold / workers
    needed = max(math.ceil(per_worker), math.ceil(gold / limit) if limit else 0, gold_per_hit if hits else 0)
    spread = 1.96 * math.sqrt(0.16 / (per_worker + 2)) if gold else 0.5
    share = gold / (gold + answers) if gold else 0.0
    return GoldLoad(share, gold, math.ceil(gold * answer_minor - 1e-9), per_worker, needed, min(spread, 0.5))
