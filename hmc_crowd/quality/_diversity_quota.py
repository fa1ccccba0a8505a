"""Who shall judge, so that the pool is mixed? Quotas per value of an attribute, and a random draw that keeps them.

Guarantee: the draw keeps every quota if any draw of that size does; within what the quotas leave open, the mix stays as
close as possible to that of the pool, and everybody of the same kind has the same chance. Where no draw keeps them all,
the one that falls short least is made, and every shortfall is named.

Attributes are what people say of themselves: optional, never guessed; whoever says nothing is in the draw like anybody
else and counts for no quota. Nobody is left out for an attribute: a quota is a least or a wanted share of a value.

Source: requirement D26 (availability of at least .8, the needed expertise, at most 5,000).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from hmc_crowd._base.shares import largest_remainders
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["DiverseDraw", "Quota", "age_group", "draw_diverse"]

AGE_GROUPS = ((18, 25), (26, 35), (36, 45))
_MOST = 5000


def age_group(age: float | None) -> str | None:
    """Return 18-25, 26-35, 36-45 or 46+; None where the age is not known.

    Examples
    --------
    >>> [age_group(age) for age in (18, 35, 46, None)]
    ['18-25', '26-35', '46+', None]
    """
    if age is None or age != age:
        return None
    if age < AGE_GROUPS[0][0]:
        raise InputError(f"age is {age:g}; people under 18 do not work here")
    return next((f"{low}-{high}" for low, high in AGE_GROUPS if age < high + 1), "46+")


@dataclass(frozen=True)
class Quota:
    """What share of the people drawn shall have a value of an attribute.

    Parameters
    ----------
    attribute : str
        A column of the workers, such as ``gender``, ``region`` or ``age_group``.
    shares : mapping
        Share by value, in [0, 1].
    kind : {"minimum", "target"}, default "minimum"
        At least this share (rounded up to people), or this share (rounded to the nearest whole numbers; the shares of a
        target may add up to at most 1).
    filter_id : str, default ""
        How a recruiting platform calls the attribute; without it, it is looked up there by its name.
    choices : mapping, optional
        How that platform calls a value: its choice ids, or ranges such as ``18-25``; the others are looked up.

    Examples
    --------
    >>> Quota("region", {"north": 0.25, "south": 0.25}).counts(10)
    {'north': 3, 'south': 3}
    >>> Quota("region", {"north": 0.25, "south": 0.75}, kind="target").counts(10)
    {'north': 3, 'south': 7}
    """

    attribute: str
    shares: Mapping[Any, float]
    kind: Literal["minimum", "target"] = "minimum"
    filter_id: str = ""
    choices: Mapping[Any, Collection[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind not in ("minimum", "target"):
            raise InputError(f"kind is {self.kind!r}; give 'minimum' or 'target'")
        if not isinstance(self.shares, Mapping) or not self.shares:
            raise InputError(f"the quota for {self.attribute!r} names no share; give one by value")
        bad = [value for value, share in self.shares.items() if not isinstance(share, Real) or not 0 <= share <= 1]
        if bad:
            raise InputError(
                f"the quota for {self.attribute!r} asks {self.shares[bad[0]]!r} of {bad[0]!r}; give [0, 1]"
            )
        if sum(self.shares.values()) > 1 + 1e-9:
            total = sum(self.shares.values())
            raise InputError(f"the quotas for {self.attribute!r} add up to {total:g}, more than everybody; lower them")
        for value, names in self.choices.items():
            if value not in self.shares or isinstance(names, str):
                raise InputError(
                    f"choices of {self.attribute!r} has {value!r}: {names!r}; give a list for a value asked for"
                )

    def counts(self, n: int) -> dict[Any, int]:
        """Return how many of ``n`` people the quota asks for, by value."""
        exact = {value: share * n for value, share in self.shares.items()}
        if self.kind == "minimum":
            return {value: int(np.ceil(number - 1e-9)) for value, number in exact.items()}
        values = sorted(exact, key=str)
        whole = largest_remainders([exact[value] for value in values], round(sum(exact.values())))
        counts = dict(zip(values, whole, strict=True))
        return {value: counts[value] for value in exact}


@dataclass(frozen=True)
class DiverseDraw:
    """People drawn, and how the quotas came out.

    Parameters
    ----------
    workers : tuple
        In random order.
    quotas : pandas.DataFrame
        Columns ``attribute, value, kind, wanted, available, drawn, short``.
    feasible : bool
        Whether every quota is kept and as many were drawn as asked for.
    note : str
        What falls short, in one sentence; empty otherwise.
    n_asked, n_eligible : int
    """

    workers: tuple[Any, ...]
    quotas: pd.DataFrame
    feasible: bool
    note: str
    n_asked: int
    n_eligible: int

    def __str__(self) -> str:
        text = f"{len(self.workers):,} of {self.n_eligible:,} people drawn"
        return f"{text}, all quotas kept" if self.feasible else f"{text}; {self.note}"


def draw_diverse(
    workers: pd.DataFrame,
    quotas: Sequence[Quota],
    n: int,
    *,
    rng: np.random.Generator,
    availability: float = 0.8,
    expertise: str | None = None,
) -> DiverseDraw:
    """Draw people at random so that quotas are kept.

    Parameters
    ----------
    workers : pandas.DataFrame
        Column ``worker``; the attributes of the quotas; optionally ``availability`` (in [0, 1]) and ``expertise`` (a
        list of areas, or text with commas or semicolons between them).
    quotas : sequence of Quota
    n : int
        People to draw, at most 5,000.
    rng : numpy.random.Generator
    availability : float, default 0.8
        People with less are not drawn; where there is no such column everybody may be.
    expertise : str, optional
        Draw only people who have it.

    Returns
    -------
    DiverseDraw

    Examples
    --------
    >>> pool = pd.DataFrame({"worker": range(100), "region": ["north"] * 90 + ["south"] * 10})
    >>> quota = [Quota("region", {"south": 0.3})]
    >>> print(draw_diverse(pool, quota, 20, rng=np.random.default_rng(0)))
    20 of 100 people drawn, all quotas kept
    >>> print(draw_diverse(pool, quota, 50, rng=np.random.default_rng(0)))
    50 of 100 people drawn; the quotas cannot be kept: region south has 10 of the 15 asked for
    """
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 1 <= n <= _MOST:
        raise InputError(f"n is {n!r}; give a number of people from 1 to {_MOST:,}")
    if not isinstance(rng, np.random.Generator):
        raise InputError("rng is missing; give a numpy.random.Generator, such as default_rng(0)")
    pool = _eligible(workers, quotas, availability, expertise)
    size = min(int(n), len(pool))
    attributes = [quota.attribute for quota in quotas]
    kinds = pool.groupby(attributes, dropna=False, sort=True).ngroup().to_numpy() if attributes else np.zeros(len(pool))
    chosen = np.empty(0, dtype=np.intp)
    if size:
        take = _per_kind(pool, kinds.astype(np.intp), quotas, size, int(n))
        rows = [rng.permutation(np.flatnonzero(kinds == kind))[:count] for kind, count in enumerate(take.tolist())]
        chosen = rng.permutation(np.concatenate(rows))
    drawn = pool.iloc[chosen]
    table = pd.DataFrame(
        [
            (quota.attribute, value, quota.kind, wanted, _having(pool, quota, value), _having(drawn, quota, value))
            for quota in quotas
            for value, wanted in quota.counts(int(n)).items()
        ],
        columns=["attribute", "value", "kind", "wanted", "available", "drawn"],
    )
    table["short"] = np.maximum(table["wanted"] - table["drawn"], 0)
    off = table["short"].to_numpy() + np.where(table["kind"] == "target", abs(table["wanted"] - table["drawn"]), 0)
    note = _note(table[off > 0], size, int(n))
    return DiverseDraw(tuple(drawn["worker"].tolist()), table, not note, note, int(n), len(pool))


def _eligible(
    workers: pd.DataFrame, quotas: Sequence[Quota], availability: float, expertise: str | None
) -> pd.DataFrame:
    wanted = ["worker", *(quota.attribute for quota in quotas), *(["expertise"] if expertise else [])]
    missing = [column for column in wanted if column not in workers.columns]
    if missing:
        raise FrameError(f"workers lacks the column {missing[0]}; bring it, or leave the quota out")
    if workers["worker"].duplicated().any():
        raise FrameError(f"workers has {workers.loc[workers['worker'].duplicated(), 'worker'].iloc[0]!r} twice")
    if len({quota.attribute for quota in quotas}) < len(quotas):
        raise InputError("quotas names an attribute twice; put all its values into one quota")
    if not 0 <= availability <= 1:
        raise InputError(f"availability is {availability!r}; give a share between 0 and 1")
    keep = np.ones(len(workers), dtype=bool)
    if "availability" in workers.columns:
        keep &= (workers["availability"] >= availability).to_numpy()
    if expertise:
        keep &= np.array([expertise in _areas(has) for has in workers["expertise"]], dtype=bool)
    return workers[keep].sort_values("worker", ignore_index=True)


def _areas(has: Any) -> list[Any]:
    """Return the areas of a list, or of text with commas or semicolons between them; none where it is not known."""
    if isinstance(has, str):
        return [area.strip() for area in re.split("[,;]", has)]
    return list(has) if isinstance(has, Collection) else []


def _having(people: pd.DataFrame, quota: Quota, value: Any) -> int:
    return int((people[quota.attribute] == value).sum())


def _per_kind(
    pool: pd.DataFrame, kinds: NDArray[np.intp], quotas: Sequence[Quota], size: int, asked: int
) -> NDArray[np.intp]:
    """Return how many people of each kind (combination of values) to draw: a small integer program.

    Falling short of a quota costs more than any distance from the pool's own mix.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, eye_array, hstack

    count = np.bincount(kinds).astype(float)
    first = pool.groupby(kinds).first()
    k = len(count)
    rows = [(quota, value, wanted) for quota in quotas for value, wanted in quota.counts(asked).items()]
    q = len(rows)
    # Columns: people per kind, distance from the pool's mix per kind, short and over per quota.
    cost = np.concatenate([np.zeros(k), np.ones(k), np.full(2 * q, 10.0 * asked)])
    mix = count * size / count.sum()
    # Sparse: with a few attributes there are thousands of kinds, and each rule is about a handful of columns.
    eye, none = eye_array(k, format="csr"), csr_array((k, 2 * q))
    rules = [
        LinearConstraint(np.concatenate([np.ones(k), np.zeros(k + 2 * q)])[None, :], size, size),
        LinearConstraint(hstack([eye, -eye, none], format="csr"), -np.inf, mix),
        LinearConstraint(hstack([eye, eye, none], format="csr"), mix, np.inf),
    ]
    for row, (quota, value, wanted) in enumerate(rows):
        line = np.zeros(2 * k + 2 * q)
        line[:k] = (first[quota.attribute] == value).to_numpy()
        line[2 * k + row], line[2 * k + q + row] = 1.0, -1.0
        rules.append(LinearConstraint(line[None, :], wanted, np.inf if quota.kind == "minimum" else wanted))
    # What goes beyond a minimum is free.
    cost[2 * k + q :] = [0.0 if quota.kind == "minimum" else 10.0 * asked for quota, _, _ in rows]
    whole = np.concatenate([np.ones(k), np.zeros(k + 2 * q)])
    limits = Bounds(np.zeros(len(cost)), np.concatenate([count, np.full(k + 2 * q, np.inf)]))
    found = milp(cost, constraints=rules, integrality=whole, bounds=limits)
    if found.x is None:
        raise InputError(f"no draw of {size} people could be found ({found.message}); ask for fewer quotas")
    return np.asarray(np.round(found.x[:k]), dtype=np.intp)


def _note(off: pd.DataFrame, size: int, asked: int) -> str:
    parts = [] if size == asked else [f"only {size:,} of {asked:,} people are eligible"]
    if len(off):
        named = [
            f"{row.attribute} {row.value} has {row.drawn} of the {row.wanted} asked for" for row in off.itertuples()
        ]
        parts.append(f"the quotas cannot be kept: {', '.join(named)}")
    return "; ".join(parts)
