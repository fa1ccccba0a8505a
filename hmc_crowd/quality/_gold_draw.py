"""Which gold does this worker meet next, and what does gold cost?

Gold that leaks is worthless: no item twice for a worker, none more often than its limit, the least shown first. And
gold that is all of one label can be passed by always giving it: labels and steps of difficulty take turns.

Source: requirement D12; PLATFORMS.md, P24.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality._gold_turns import GoldTurns, gold_cells

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import pandas as pd

__all__ = ["GoldDraw", "draw_gold"]


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
        ``item, label`` and optionally ``difficulty`` (any number, larger is harder; cut into three steps). Labels that
        are numbers are balanced in steps, see `GoldTurns`.
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
    cells = gold_cells(pool["label"].tolist(), pool["difficulty"].to_numpy(float) if "difficulty" in pool else None)
    count = [shown.get(item, 0) for item in pool["item"]]
    turns = GoldTurns([cells[row] for row in rows], [count[row] for row in rows], limit=limit, rng=rng)
    picked: list[int] = []
    while len(picked) < n and (drawn := turns.draw()) is not None:
        picked.append(int(rows[drawn]))
    items = pool["item"].to_numpy()
    chosen = tuple(items[row] for row in rng.permutation(np.array(picked, dtype=np.intp)).tolist())
    if len(chosen) == n:
        return GoldDraw(chosen, n)
    reason = f"of {len(pool)} items the worker has met {(~free).sum()}, and {(free & rests).sum()} rest at their limit"
    return GoldDraw(chosen, n, reason + ": make more gold")


def _check_pool(pool: pd.DataFrame) -> None:
    lacking = [name for name in ("item", "label") if name not in pool.columns]
    if lacking:
        raise FrameError(f"pool lacks the column {', '.join(lacking)}; give item, label and optionally difficulty")
    if not len(pool):
        raise InputError("pool is empty: without gold nobody's work can be checked; give items with known labels")
    if pool["item"].duplicated().any():
        raise FrameError(f"pool names {pool['item'][pool['item'].duplicated()].iloc[0]!r} twice; keep one row per item")
