"""What is the malevolence rate, the mean score, the win rate, when people saw only some items, and not the same share?

Routing sends people the doubtful and the cheap items, so neither the mean of their labels nor that of the final labels
is the figure: the first is of odd items, the second keeps the machine's errors. What makes an estimate possible is
that people see EVERY item with a known probability above 0 (audit). Then weighting by its inverse is right whatever
the machine says, and the machine's values make it narrower where they are good: their mean over all items, corrected
by their weighted error where people looked. How much of the machine is used (lambda in [0, 1]) is tuned per part; a
useless machine is not used, and the result says that it does not help.

Two figures have this name. ``target="population"``: the mean over all items that could have come (the model's rate);
items, or their clusters, are what is random. ``target="batch"``: the mean over just these items; only the draw of
people's items is random, and clusters do not matter.

Sources: Horvitz, Thompson (1952) and Hajek (1971) for weighting; Angelopoulos, Duchi, Zrnic (2023), "PPI++"; Fisch et
al. (2024), "Stratified prediction-powered inference"; Zrnic, Candes (2024), "Active statistical inference".
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hmc_crowd._base.evidence import require_blind
from hmc_crowd.errors import InputError
from hmc_crowd.metrics._codes import label_codes
from hmc_crowd.metrics._intervals import ask_for
from hmc_crowd.metrics._result import Metric
from hmc_crowd.metrics._routed_combine import FEW, Alternative, Estimate, combine, effective_labels, ends_of
from hmc_crowd.metrics._routed_inputs import cut_to, labels_and_machine, parts_of, tuning_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["routed_mean", "routed_means"]

# The machine helps if it saves at least this share of the variance.
_HELPS = 0.05


def routed_mean(
    labels: Any,
    machine: Any,
    *,
    inclusion_probability: Any = None,
    strata: Any = None,
    target: Literal["population", "batch"] = "population",
    level: float = 0.95,
    power_tuning: bool | float = True,
    alternative: Alternative = "two-sided",
    clusters: Any = None,
    evidence: Any = None,
    small_sample: bool = True,
) -> Metric:
    """Return the mean human label of a batch that was routed, with an interval that routing does not spoil.

    Parameters
    ----------
    labels : array of float, shape (n_items,)
        People's label (0 or 1, a score, 0, 1/2, 1 of a win); NaN or None where nobody looked.
    machine : array of float, shape (n_items,)
        The machine's value, for every item.
    inclusion_probability : float or array of float, shape (n_items,), optional
        Probability with which people see each item (`Decisions.inclusion_probability`), each drawn by itself. 1 where
        people judge for sure; never 0.
    strata : array, shape (n_items,), optional
        Parts in each of which a fixed number of items was drawn at random, such as route and audit. Without this and
        the probabilities all items are one such part.
    target : {"population", "batch"}
        See above.
    level : float, default 0.95
        Coverage of the interval, in large samples.
    power_tuning : bool or float, default True
        True: lambda from the data, per part; False or 0: without the machine (inverse-probability weighting); a
        number: that lambda.
    alternative : {"two-sided", "larger", "smaller"}
        "larger" gives a lower bound only, "smaller" an upper one.
    clusters : array, tuple of two arrays or mapping, optional
        What hangs together (dialogue; dialogue and worker), for the population. Items nobody looked at need a worker
        of their own, such as their id.
    evidence : str or array of str, optional
        How the labels came about; others than blind ones are refused.
    small_sample : bool, default True
        t quantile, n - 1, and imagined errors for labels of 0 and 1. False gives PPI++'s large-sample interval.

    Returns
    -------
    Metric
        ``n`` labels; ``details``: ``lambda`` (mean over the parts, by their items), ``se``, ``n_items``, ``n_random``
        (labels drawn with a probability below 1), ``effective_n`` (so many labels of randomly drawn items would do as
        well without the machine), ``machine_saves`` (share of the variance), ``machine_helps``, ``without_machine_low,
        without_machine_high``, ``machine_mean``, ``final_mean`` (of the final labels: biased). Undefined, with the
        reason, where a stratum has no label.

    Raises
    ------
    InputError
        A probability is 0 or missing, an item that people see for sure has no label, lengths differ, labels are not
        blind, or an argument is out of range.

    Examples
    --------
    Half of the items are judged by people, a tenth of the others are audited.

    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(4000) < 0.3
    >>> machine = np.where(rng.random(4000) < 0.9, truth, ~truth).astype(float)
    >>> chance = np.where(np.arange(4000) < 2000, 1.0, 0.1)
    >>> labels = np.where(rng.random(4000) < chance, truth, np.nan)
    >>> rate = routed_mean(labels, machine, inclusion_probability=chance)
    >>> print(rate)
    mean under routing 0.2886 [0.2646, 0.3126] (95%, n = 2,203)
    >>> rate.details["machine_helps"]
    True
    """
    ask = ask_for(level)
    factor = tuning_of(power_tuning)
    if alternative not in {"two-sided", "larger", "smaller"}:
        raise InputError(f"alternative is {alternative!r}; choose 'two-sided', 'larger' or 'smaller'")
    if target not in {"population", "batch"}:
        raise InputError(f"target is {target!r}; choose 'population' or 'batch'")
    if target == "batch" and clusters is not None:
        raise InputError("clusters matter for target='population' only: in a batch, the draw of items alone is random")
    given = labels_and_machine(labels, machine)
    if evidence is not None:
        seen = np.flatnonzero(~np.isnan(given[0]))
        told = [evidence] * len(seen) if isinstance(evidence, str) else np.asarray(evidence, dtype=object)[seen]
        require_blind(told, what="correct a machine's mean")
    parts, empty = parts_of(*given, inclusion_probability, strata)
    told_n = int((~np.isnan(given[0])).sum())
    common: dict[str, Any] = {"name": "mean under routing", "n": told_n, "level": ask.level}
    if empty:
        return Metric.undefined(empty, **common)
    found = combine(parts, factor, given, target, clusters, small_sample)
    plain = found if factor == 0.0 else combine(parts, 0.0, given, target, clusters, small_sample)
    return _metric(found, plain, given, target, alternative, ask.level, common, small_sample)


def routed_means(labels: Any, machine: Any, by: Any, **keywords: Any) -> dict[Any, Metric]:
    """Return `routed_mean` for each category, and for all items under the key "all".

    Parameters
    ----------
    labels, machine : array of float, shape (n_items,)
        As in `routed_mean`.
    by : array, shape (n_items,)
        Category of each item.
    **keywords
        As in `routed_mean`; arrays are cut like the labels.

    Returns
    -------
    dict of category to Metric
        A category in which nobody was drawn has no value, and says so.

    Examples
    --------
    >>> found = routed_means([1, 0, None, 1], [1, 0, 1, 0], ["a", "b", "a", "b"], inclusion_probability=0.75)
    >>> sorted(found)
    ['a', 'all', 'b']
    """
    names, coded = label_codes(by=by)
    found: dict[Any, Metric] = {}
    y, f = np.asarray(labels, dtype=object), np.asarray(machine, dtype=object)
    for place, name in enumerate(names):
        rows = coded["by"] == place
        found[name] = routed_mean(y[rows], f[rows], **{key: cut_to(each, rows) for key, each in keywords.items()})
    found["all"] = routed_mean(labels, machine, **keywords)
    return found


def _metric(
    found: Estimate,
    plain: Estimate,
    given: tuple[NDArray[np.float64], NDArray[np.float64]],
    target: str,
    alternative: Alternative,
    level: float,
    common: dict[str, Any],
    small: bool,
) -> Metric:
    y, f = given
    seen = ~np.isnan(y)
    low, high = ends_of(found, y[seen], target, level, alternative, small)
    saves = 1.0 - found.variance / plain.variance if plain.variance > 0.0 else 0.0
    helps = found.factor > 0.0 and saves >= _HELPS
    without = ends_of(plain, y[seen], target, level, "two-sided", small)
    told = found.warnings
    if found.random and not helps and plain is not found:
        told += (f"the machine does not help: without it the variance is {_compared(saves)}",)
    if found.random and found.random < 2 * FEW:
        told += (f"only {found.random} labels were drawn at random: the interval is rough",)
    if low is None and high is None:
        told += ("the labels show no spread: no interval",)
    return Metric(
        found.value,
        low,
        high,
        method=f"analytic ({'t' if small else 'normal'}, {target}{found.how})"
        if low is not None or high is not None
        else "no interval: the labels show no spread",
        warnings=told,
        assumptions=(*found.assumptions, "labels do not depend on the machine's values"),
        details={
            "lambda": found.factor,
            "se": math.sqrt(found.variance),
            "n_items": len(y),
            "n_random": found.random,
            "effective_n": effective_labels(found, len(y), target),
            "machine_saves": saves,
            "machine_helps": helps,
            "without_machine_low": without[0],
            "without_machine_high": without[1],
            "machine_mean": float(f.mean()),
            "final_mean": float(np.where(seen, y, f).mean()),
        },
        **common,
    )


def _compared(saves: float) -> str:
    return "the same" if abs(saves) < 1e-9 else f"{abs(saves):.1%} {'larger' if saves > 0 else 'smaller'}"
