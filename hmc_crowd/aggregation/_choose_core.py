"""The arithmetic of choosing: methods judged on held-out gold, in pairs with the default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmc_crowd.aggregation._calibrate_core import Map, fit_map

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["LEAST_GOLD", "Picked", "credit", "paired", "pick"]

_FOLDS = 5
# Below this a correction by gold does more harm than good, and no difference can be seen.
LEAST_GOLD = 10


@dataclass(frozen=True)
class Picked:
    method: str
    table: pd.DataFrame
    reason: str


def pick(
    values: dict[str, NDArray[np.float64]],
    gold: NDArray[np.intp],
    truth: NDArray[np.intp],
    *,
    default: str,
    level: float,
) -> Picked:
    """Judge every method on held-out gold, and name the one to use."""
    columns = ["accuracy", "advantage", "low", "high"]
    n = len(gold)
    if n < LEAST_GOLD:
        table = pd.DataFrame(np.nan, index=pd.Index(list(values), name="method"), columns=columns)
        return Picked(default, table, f"fewer than {LEAST_GOLD} gold items, so the default stays")
    right = {name: _held_out(value[gold], truth) for name, value in values.items()}
    rows = {}
    for name, one in right.items():
        low, high = paired(one - right[default], level=level, comparisons=max(len(values) - 1, 1))
        rows[name] = (one.mean(), (one - right[default]).mean(), low, high)
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("method")
    table.loc[default, ["advantage", "low", "high"]] = 0.0
    better = table[table["low"] > 0]
    if len(better) == 0:
        return Picked(default, table, "no method is better than the default beyond chance")
    method = str(better["accuracy"].idxmax())
    row = table.loc[method]
    reason = f"better than {default} by {row['advantage']:.3f} [{row['low']:.3f}, {row['high']:.3f}] on held-out gold"
    return Picked(method, table, reason)


def _held_out(values: NDArray[np.float64], truth: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return how right each gold item is labelled by a posterior corrected with the other folds."""
    n = len(truth)
    fold = np.empty(n, dtype=np.intp)
    fold[np.lexsort((truth, values.max(axis=1)))] = np.arange(n) % _FOLDS
    right = np.empty(n)
    for one in range(_FOLDS):
        rest = fold != one
        shape: Map = fit_map(values[rest], truth[rest], np.ones(int(rest.sum())))
        right[~rest] = credit(shape(values[~rest], n_gold=int(rest.sum())), truth[~rest])
    return right


def credit(values: NDArray[np.float64], truth: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return 1 where the largest probability is right, its part where it is tied."""
    best = values >= values.max(axis=1, keepdims=True) - 1e-9
    result: NDArray[np.float64] = best[np.arange(len(truth)), truth] / best.sum(axis=1)
    return result


def paired(difference: NDArray[np.float64], *, level: float, comparisons: int) -> tuple[float, float]:
    """Return the adjusted Wald interval of a mean paired difference: one half added to each kind of disagreement."""
    from scipy.stats import norm

    n = len(difference) + 2
    mean = difference.sum() / n
    spread = (np.sum(difference**2) + 1) / n - mean**2
    reach = float(norm.ppf(1 - (1 - level) / (2 * comparisons))) * np.sqrt(spread / n)
    return float(mean - reach), float(mean + reach)
