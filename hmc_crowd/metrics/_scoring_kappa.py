"""How far does the agreement of two raters exceed chance? Cohen's kappa, plain and weighted.

kappa = 1 - sum(w O) / sum(w E): O are observed proportions, E the products of the two margins, w the weight of a
disagreement. Weights are distances between the labels themselves, so a label in the middle that nobody used keeps its
place, as in an expanded label list.

Sources: Cohen (1960, 1968); Fleiss, Cohen, Everitt (1969) for the variance, which is the delta method's. RSMTool's
page prints a formula that mixes counts and percentages and cannot be coded as it stands; this is what its code does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.metrics._intervals import Ask, Interval, ask_for, no_interval, spread_interval, wilson_interval
from hmc_crowd.metrics._intervals_boot import bca_ends, draws_of_rows, multiway_ends
from hmc_crowd.metrics._intervals_clusters import Way, spread_of
from hmc_crowd.metrics._result import Metric
from hmc_crowd.metrics._scoring_labels import as_labels, nominal_pairs
from hmc_crowd.metrics._validate import score_pairs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["cohen_kappa"]

WEIGHTS = (None, "linear", "quadratic")
# Up to so many labels the table of pairs is counted at once; beyond, only the pairs that occur.
DENSE = 512


def cohen_kappa(
    human: Any,
    system: Any = None,
    *,
    weights: str | None = None,
    labels: Sequence[Any] | None = None,
    level: float = 0.95,
    interval: str = "auto",
    clusters: Any = None,
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> Metric:
    """Return Cohen's kappa of two raters.

    Parameters
    ----------
    human, system : array of scores or text labels, shape (n,), or a frame
        As in `exact_agreement`. Scores that are not whole numbers are rounded, halves to even, with a warning.
    weights : {None, "linear", "quadratic"}
        Weight of a disagreement: 1, the distance of the labels, or its square.
    labels : sequence, optional
        All labels that there are; for text labels with weights in their order, neighbours one apart. A word among
        them says that numbers are labels too.
    clusters, level, interval, rng, n_boot
        As in `exact_agreement`. "auto" is the delta method on Fisher's z.

    Returns
    -------
    Metric
        At most 1; 0 is chance. Undefined if only one label occurs (skll says 1.0, scikit-learn NaN). For complete
        agreement the lower end comes from Wilson's bound on the share of disagreements.

    Raises
    ------
    InputError
        As `exact_agreement`; unknown weights; text labels with weights but without `labels`; a label that `labels`
        lacks or names twice.

    Notes
    -----
    scikit-learn without ``labels`` squeezes 1, 2, 4 to neighbours, which changes its quadratic kappa (here: .4955,
    there: .5000 in the test case).

    Examples
    --------
    >>> print(cohen_kappa([1, 2, 4, 1, 2, 4, 4, 1], [1, 4, 4, 2, 2, 4, 1, 1], weights="quadratic", interval="none"))
    Cohen's kappa (quadratic) 0.4955 (n = 8)
    """
    if weights not in WEIGHTS:
        raise InputError(f"weights is {weights!r}; give None, 'linear' or 'quadratic'")
    ask = ask_for(level, interval, rng, n_boot)
    table = _table(human, system, weights, labels, clusters)
    told: dict[str, Any] = {"name": f"Cohen's kappa ({weights})" if weights else "Cohen's kappa", "n": table.n}
    told |= {"dropped": table.dropped, "level": ask.level}
    if table.n == 0:
        return Metric.undefined("no complete pair of labels", **told)
    if len(table.place) == 1:
        return Metric.undefined("one label only: chance alone gives complete agreement", **told)
    cost = _cost(table.place[table.left], table.place[table.right], weights)
    first = np.bincount(table.left, weights=table.count, minlength=len(table.place))
    second = np.bincount(table.right, weights=table.count, minlength=len(table.place))
    # Counts rather than proportions: sums of whole numbers are exact, so a kappa of 0 is 0.
    lost, by_chance = float(cost @ table.count) * table.n, float(_chance(first, second, table.place, weights))
    value = 1.0 - lost / by_chance
    observed, chance = lost / table.n**2, by_chance / table.n**2
    found = _interval(table, value, observed, chance, cost, (first / table.n, second / table.n), weights, ask)
    details = {"observed_disagreement": observed, "chance_disagreement": chance, "labels": len(table.place)}
    warned = (*table.warnings, *found.warnings)
    return Metric(value, **told, **{**found.fields(), "warnings": warned}, details=details)


@dataclass(frozen=True, eq=False)
class _Table:
    """Pairs of labels that occur: codes, counts, and the labels' places on the scale."""

    place: NDArray[np.float64]
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    count: NDArray[np.float64]
    row: NDArray[np.intp]  # cell of each row; empty unless clusters need it
    n: int
    dropped: dict[str, int] = field(default_factory=dict)
    ways: tuple[Way, ...] = ()
    warnings: tuple[str, ...] = ()


def _table(human: Any, system: Any, weights: str | None, labels: Sequence[Any] | None, clusters: Any) -> _Table:
    order = None if labels is None else _order(labels)
    words = nominal_pairs(human, system, clusters=clusters, listed=labels, ordered=weights is not None)
    if words is None:
        pairs = score_pairs(human, system, clusters=clusters)
        if order is not None:
            used = np.unique(np.rint(np.concatenate([pairs.human, pairs.system])))
            _require_listed([str(int(each)) for each in used.tolist()], order)
        return _score_table(pairs.human, pairs.system, pairs.dropped, pairs.ways)
    place = np.arange(len(words.names), dtype=np.float64)
    if order is not None:
        _require_listed(words.names, order)
        place = np.array([float(order[name]) for name in words.names])
    elif weights is not None:
        raise InputError(f"weights is {weights!r} but the labels are text; give labels=[...] in their order")
    return _cells(words.human, words.system, place, words.dropped, words.ways, words.warnings)


def _order(labels: Sequence[Any]) -> dict[str, int]:
    """Return each label's place in the list."""
    if isinstance(labels, str):
        raise InputError(f"labels is the text {labels!r}; give a list of labels")
    names = as_labels(labels)
    order = {name: spot for spot, name in enumerate(names)}
    if len(order) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"labels names {twice!r} more than once; name each label once, in order")
    return order


def _require_listed(names: Iterable[str], order: dict[str, int]) -> None:
    lost = sorted(name for name in names if name not in order)
    if lost:
        raise InputError(f"labels does not list {', '.join(map(repr, lost[:5]))}; name every label, in order")


def _score_table(
    h: NDArray[np.float64], m: NDArray[np.float64], dropped: dict[str, int], ways: tuple[Way, ...]
) -> _Table:
    if len(h) == 0:
        none = np.zeros(0, dtype=np.intp)
        return _Table(np.zeros(0), none, none, np.zeros(0), none, 0, dropped)
    left, right = np.rint(h), np.rint(m)
    rounded = not (np.array_equal(left, h) and np.array_equal(right, m))
    told = ("scores were rounded to whole numbers, halves to even",) if rounded else ()
    low, high = min(left.min(), right.min()), max(left.max(), right.max())
    if high - low < DENSE:
        place = np.arange(high - low + 1)
        return _cells((left - low).astype(np.intp), (right - low).astype(np.intp), place, dropped, ways, told)
    found, code = np.unique(np.concatenate([left, right]), return_inverse=True)
    return _cells(code[: len(h)], code[len(h) :], found - low, dropped, ways, told)


def _cells(
    left: NDArray[np.intp],
    right: NDArray[np.intp],
    place: NDArray[np.float64],
    dropped: dict[str, int],
    ways: tuple[Way, ...],
    warnings: tuple[str, ...] = (),
) -> _Table:
    size = len(place)
    both = left * size
    both += right
    row = np.zeros(0, dtype=np.intp)
    if size <= DENSE:
        counts = np.bincount(both, minlength=size * size)
        used = np.flatnonzero(counts)
        count = counts[used]
        if ways:
            where = np.zeros(size * size, dtype=np.intp)
            where[used] = np.arange(len(used))
            row = where[both]
    else:
        used, row, count = np.unique(both, return_inverse=True, return_counts=True)
    a, b = used // size, used % size
    # Only labels that occur matter: places keep their distances, so gaps stay gaps.
    seen, code = np.unique(np.concatenate([a, b]), return_inverse=True)
    half = len(a)
    return _Table(
        place[seen], code[:half], code[half:], count.astype(np.float64), row, len(left), dropped, ways, warnings
    )


def _cost(a: NDArray[np.float64], b: NDArray[np.float64], weights: str | None) -> NDArray[np.float64]:
    apart = np.abs(a - b)
    if weights is None:
        return (apart > 0).astype(np.float64)
    return apart if weights == "linear" else apart**2


def _chance(p: NDArray[Any], q: NDArray[Any], place: NDArray[np.float64], weights: str | None) -> NDArray[Any]:
    """Return the cost of independent raters with margins p and q, times their totals: (..., labels) -> (...)."""
    totals = p.sum(axis=-1), q.sum(axis=-1)
    if weights is None:
        return np.asarray(totals[0] * totals[1] - (p * q).sum(axis=-1))
    if weights == "quadratic":
        x = place - np.rint(place.mean())
        square = (p @ (x * x)) * totals[1] + (q @ (x * x)) * totals[0]
        return np.asarray(square - 2.0 * (p @ x) * (q @ x))
    order = np.argsort(place)
    f, g = p[..., order].cumsum(axis=-1)[..., :-1], q[..., order].cumsum(axis=-1)[..., :-1]
    apart = f * (totals[1][..., None] - g) + g * (totals[0][..., None] - f)
    return np.asarray(apart @ np.diff(place[order]))


def _against(q: NDArray[np.float64], place: NDArray[np.float64], weights: str | None) -> NDArray[np.float64]:
    """Return each label's mean cost against a rater with margin q, shape (labels,)."""
    if weights is None:
        return 1.0 - q
    if len(place) <= DENSE:
        return _cost(place[:, None], place[None, :], weights) @ q
    return np.array([float(_cost(np.full_like(place, each), place, weights) @ q) for each in place])


def _interval(
    table: _Table,
    value: float,
    observed: float,
    chance: float,
    cost: NDArray[np.float64],
    margins: tuple[NDArray[Any], NDArray[Any]],
    weights: str | None,
    ask: Ask,
) -> Interval:
    if ask.interval == "none":
        return no_interval("not asked for")
    if table.n < 2:
        return no_interval("one pair has no spread")
    if observed == 0.0:
        # No disagreement seen: the delta method would give an interval of width 0.
        bound = wilson_interval(0, min([table.n, *(way.size for way in table.ways)]), ask.level).high or 0.0
        worst = float(np.ptp(table.place)) ** {None: 0, "linear": 1, "quadratic": 2}[weights]
        low = max(1.0 - bound * worst / chance, -1.0)
        return Interval(low, 1.0, "analytic (Wilson's bound on disagreement)", (), ("rows are independent",))
    a = _against(margins[1], table.place, weights)[table.left]
    b = _against(margins[0], table.place, weights)[table.right]
    pull = ((observed / chance) * (a + b - 2 * chance) - (cost - observed)) / (chance * table.n)
    if ask.interval == "bootstrap":
        return _bootstrap(table, value, cost, weights, pull, ask)
    if table.ways:
        return spread_interval(value, pull[table.row], table.ways, ask.level, scale="fisher")
    # Equal rows have equal influence: weight them instead of listing them.
    return spread_interval(value, pull * np.sqrt(table.count), (), ask.level, scale="fisher", n=table.n)


def _bootstrap(
    table: _Table, value: float, cost: NDArray[np.float64], weights: str | None, pull: NDArray[np.float64], ask: Ask
) -> Interval:
    rng, cells = ask.generator(), len(cost)
    if table.ways:
        hot = np.zeros((cells, table.n))
        hot[table.row, np.arange(table.n)] = 1.0
        counts = draws_of_rows(hot, table.ways, ask.n_boot, rng)
    else:
        counts = rng.multinomial(table.n, table.count / table.n, size=ask.n_boot).astype(np.float64)
    counts /= counts.sum(axis=1, keepdims=True)
    eye = np.eye(len(table.place))
    with np.errstate(all="ignore"):
        draws = 1.0 - counts @ cost / _chance(counts @ eye[table.left], counts @ eye[table.right], table.place, weights)
    good = draws[np.isfinite(draws)]
    if len(good) < 0.9 * ask.n_boot or np.ptp(good) == 0.0:
        return no_interval("the bootstrap draws show no spread or are mostly undefined")
    warned = tuple(each for way in table.ways for each in spread_of(np.zeros(table.n), (way,)).warnings)
    if len(table.ways) == 2:
        return Interval(
            *multiway_ends(value, good, table.ways, ask.level), f"multiway bootstrap, t, {ask.n_boot:,} draws", warned
        )
    units = table.ways[0].sums(pull[table.row]) if table.ways else np.repeat(pull, table.count.astype(np.intp))
    ends = bca_ends(value, good, units, ask.level)
    told = f"{ask.n_boot:,} draws" + (f" of {table.ways[0].size:,} clusters" if table.ways else "")
    return Interval(*ends, f"BCa bootstrap, {told}", warned, ("rows or clusters are independent",))
