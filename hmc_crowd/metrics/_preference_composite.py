"""Which judge should judge which category, and how much of the gain is luck?

A composite takes, per category, the method that agrees best with people. Choosing and reporting on the same pairs
overstates the result: the best of several noisy numbers is too high. So the choice is made on one part and reported
on the other, each part in turn, and the optimism is the difference to choosing and reporting on everything.

Sources: Lyu et al. (2024), "HREF", section 2.2 and table 2 (which choose and report on the same pairs).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.metrics._intervals import ask_for
from hmc_crowd.metrics._intervals_clusters import cluster_ways
from hmc_crowd.metrics._preference_tables import CategoryTable, category_codes, mean_table
from hmc_crowd.metrics._result import Metric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["Composite", "composite_agreement", "composite_choice"]


def composite_choice(
    agreement: Mapping[str, Mapping[str, float | None]], *, candidates: Sequence[str] | None = None
) -> dict[str, str]:
    """Return the method with the highest agreement per category; equal ones go to the first of `candidates`.

    Parameters
    ----------
    agreement : mapping of category -> mapping of method -> rate
        In any one unit; a method without a rate (None, NaN) is not chosen.
    candidates : sequence of str, optional
        Methods in order of preference; default: as each category lists them.

    Returns
    -------
    dict of str to str

    Raises
    ------
    InputError
        A category for which no candidate has a rate.

    Examples
    --------
    >>> composite_choice({"qa": {"judge": 58.5, "embedding": 60.5}, "sum": {"judge": 50.0, "embedding": 50.0}})
    {'qa': 'embedding', 'sum': 'judge'}
    """
    chosen = {}
    for category, rates in agreement.items():
        order = list(rates) if candidates is None else [name for name in candidates if name in rates]
        known = [(name, float(rate)) for name in order if (rate := rates[name]) is not None and rate == rate]
        if not known:
            raise InputError(f"no candidate has an agreement for category {category!r}; name one of {list(rates)}")
        # max() keeps the first of equals.
        chosen[category] = max(known, key=lambda pair: pair[1])[0]
    return chosen


@dataclass(frozen=True, eq=False)
class Composite:
    """A composite judge: what it chooses and what that is worth.

    Parameters
    ----------
    chosen : mapping of category -> method
        Chosen on all pairs: what to use from now on.
    held_out : CategoryTable
        Agreement where each pair is judged by the method chosen without it.
    in_sample : CategoryTable
        Agreement if choice and report use the same pairs (overstated).
    optimism : float
        in_sample - held_out, micro.
    by_part : tuple of mapping
        The choices made without each part.
    singles : mapping of method -> float
        Each method alone, over all pairs (micro).
    """

    chosen: Mapping[str, str]
    held_out: CategoryTable
    in_sample: CategoryTable
    optimism: float
    by_part: tuple[Mapping[str, str], ...] = ()
    singles: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return (
            f"Composite: {float(self.held_out.micro):.4f} held out, {float(self.in_sample.micro):.4f} in sample "
            f"(optimism {self.optimism:+.4f}; n = {self.held_out.micro.n:,})"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return ``category, method, held_out, low, high, in_sample, n`` and the two overall rows."""
        import pandas as pd

        outer, inner = self.held_out.to_frame(), self.in_sample.to_frame()
        return pd.DataFrame(
            {
                "category": outer["category"],
                "method": [self.chosen.get(str(each), "") for each in outer["category"]],
                "held_out": outer["value"],
                "low": outer["low"],
                "high": outer["high"],
                "in_sample": inner["value"],
                "n": outer["n"],
            }
        )


def composite_agreement(
    agreement: Mapping[str, Any],
    categories: Any,
    *,
    candidates: Sequence[str] | None = None,
    parts: int = 2,
    clusters: Any = None,
    level: float = 0.95,
    rng: np.random.Generator | None = None,
) -> Composite:
    """Choose a method per category on one part of the pairs and report it on the other.

    Parameters
    ----------
    agreement : mapping of method -> array of float, shape (n,)
        Agreement of each method with people on each pair, in [0, 1] (``leave_one_out_agreement(...).items``); NaN: no
        judgement.
    categories : array of text, shape (n,)
    candidates : sequence of str, optional
        Methods to choose from, in order of preference among equals; default: all, in the mapping's order.
    parts : int, default 2
        Parts; each is judged by what the others chose.
    clusters : array, shape (n,), optional
        Pairs that belong together (one instruction): never torn apart, and respected by the intervals.
    level : float, default 0.95
    rng : numpy.random.Generator, optional
        Deals the parts; default ``numpy.random.default_rng(0)``.

    Returns
    -------
    Composite

    Raises
    ------
    InputError
        Lengths differ, an unknown candidate, fewer than two parts, or more parts than clusters.

    Examples
    --------
    >>> scores = {"judge": [1, 1, 0, 0] * 5, "embedding": [0, 0, 1, 1] * 5}
    >>> made = composite_agreement(scores, ["a", "a", "b", "b"] * 5)
    >>> dict(made.chosen), made.held_out.micro.value, made.optimism
    ({'a': 'judge', 'b': 'embedding'}, 1.0, 0.0)
    """
    ask = ask_for(level)
    order = list(agreement) if candidates is None else list(candidates)
    unknown = [name for name in order if name not in agreement]
    if unknown or not order:
        raise InputError(f"candidates names {unknown}; agreement has {list(agreement)}")
    table = _scores(agreement, order)
    n = len(table)
    names, code = category_codes(categories, n)
    part = _deal(clusters, n, parts, np.random.default_rng(0) if rng is None else rng)
    chosen = _choose(table, code, np.ones(n, dtype=bool), names, order)
    outer = np.full(n, np.nan)
    by_part = []
    for each in range(parts):
        here = part == each
        without = _choose(table, code, ~here, names, order)
        by_part.append(without)
        outer[here] = _take(table, code, names, order, without)[here]
    inner = _take(table, code, names, order, chosen)
    held = mean_table(outer, categories, ask, clusters, name="composite, held out", missing="unparsed")
    same = mean_table(inner, categories, ask, clusters, name="composite, in sample", missing="unparsed")
    optimism = float(same.micro) - float(held.micro)
    known = ~np.isnan(table)
    singles = {
        name: float(table[known[:, place], place].mean()) if known[:, place].any() else float("nan")
        for place, name in enumerate(order)
    }
    return Composite(chosen, held, same, optimism, tuple(by_part), singles)


def _scores(agreement: Mapping[str, Any], order: Sequence[str]) -> NDArray[np.float64]:
    columns = []
    for name in order:
        values = agreement[name]
        if isinstance(values, Metric):
            raise InputError(f"agreement of {name!r} is one number; give its value per pair, shape (n,)")
        columns.append(np.asarray(values, dtype=np.float64))
    if len({column.shape for column in columns}) > 1 or columns[0].ndim != 1:
        told = ", ".join(f"{name} {column.shape}" for name, column in zip(order, columns, strict=True))
        raise InputError(f"agreement has shapes {told}; give one value per pair and method, shape (n,)")
    table = np.stack(columns, axis=1)
    if ((table < 0.0) | (table > 1.0)).any():
        raise InputError("agreement holds values outside [0, 1]; give shares per pair")
    return table


def _deal(clusters: Any, n: int, parts: int, rng: np.random.Generator) -> NDArray[np.intp]:
    ways = cluster_ways(clusters, n)
    if len(ways) > 1:
        raise InputError("clusters names two ways; parts can keep only one together")
    unit = ways[0].code if ways else np.arange(n)
    many = ways[0].size if ways else n
    if isinstance(parts, bool) or not 2 <= parts <= many:
        raise InputError(f"parts is {parts!r}; give a number from 2 to the {many} independent pairs or clusters")
    dealt = np.empty(many, dtype=np.intp)
    dealt[rng.permutation(many)] = np.arange(many) % parts
    return np.asarray(dealt[unit])


def _choose(
    table: NDArray[np.float64],
    code: NDArray[np.intp],
    rows: NDArray[np.bool_],
    names: list[str],
    order: Sequence[str],
) -> dict[str, str]:
    known = ~np.isnan(table) & rows[:, None]
    filled = np.where(known, table, 0.0)
    chosen = {}
    for place, name in enumerate(names):
        inside = code == place
        size = known[inside].sum(axis=0)
        rate = np.where(size > 0, filled[inside].sum(axis=0) / np.maximum(size, 1), -1.0)
        # argmax takes the first of equals, also where the rows hold nothing of this category.
        chosen[name] = order[int(rate.argmax())]
    return chosen


def _take(
    table: NDArray[np.float64],
    code: NDArray[np.intp],
    names: list[str],
    order: Sequence[str],
    chosen: Mapping[str, str],
) -> NDArray[np.float64]:
    method = np.array([order.index(chosen[name]) for name in names], dtype=np.intp)
    return np.asarray(table[np.arange(len(table)), method[code]])
