"""What are the models' win rates when people saw only the doubtful pairs, and which models can be told apart?

People judge every routed pair and a random sample of those the machine kept (the audit). So the mean of people's
labels is of odd pairs, and the mean of the final labels keeps the machine's errors; the machine's mean over all pairs,
corrected by its mean error in the audit, is neither (`hmc_crowd.metrics.routed_mean`). How much of the machine is used
is one number for all models, learnt from the audit.

Models are compared by the same corrected scores, pair by pair: of a kept pair the score is ``w * machine``, and of an
audited one ``w * machine + (people - w * machine) / share audited``, whose mean is the win rate. Paired t-tests over
shared instructions, Holm-corrected, make the groups of ranks.

Sources: Lyu et al. (2024), "HREF", tables 5 and 7; Zrnic, Candes (2024), "Active statistical inference".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import require_same_length
from hmc_crowd.errors import StateError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from hmc_crowd.metrics import Metric  # because estimates have one form

__all__ = ["KEPT", "WinRates", "win_rates"]

KEPT = "kept"


@dataclass(frozen=True, eq=False)
class WinRates:
    """Models in order, each with its win rate against the baseline.

    Parameters
    ----------
    table : pandas.DataFrame
        ``rank, model, win_rate, low, high, pairs, people, audited`` and, to compare, ``machine`` (the machine's labels
        alone) and ``final`` (people's where they looked, else the machine's; biased). Best first; models that cannot be
        told apart share a rank. A model without an audited pair has no rate.
    pairs : pandas.DataFrame
        Of each two models: ``p``, ``p_corrected`` and their difference; empty for one model.
    weight : float
        How much of the machine is used, in [0, 1].
    level : float
        Of the intervals.
    notes : tuple of str
        What a reader must know.
    """

    table: pd.DataFrame
    pairs: pd.DataFrame
    weight: float
    level: float
    notes: tuple[str, ...]

    def __str__(self) -> str:
        best = self.table.iloc[0]
        return (
            f"{len(self.table)} models in {self.table['rank'].nunique()} groups, first {best['model']}: "
            f"{best['win_rate']:.3f} [{best['low']:.3f}, {best['high']:.3f}] of {int(best['pairs']):,} pairs, "
            f"{int(best['people']):,} judged by people"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        rows = self.table.astype(object).where(self.table.notna(), None).to_dict("records")
        compared = self.pairs.astype(object).where(self.pairs.notna(), None).to_dict("records")
        return {
            "models": rows,
            "pairs": compared,
            "weight": self.weight,
            "level": self.level,
            "notes": list(self.notes),
        }


def win_rates(
    people: Sequence[str | None],
    machine: Sequence[str | None],
    models: Sequence[str],
    *,
    part: Sequence[str],
    instructions: Sequence[str],
    level: float = 0.95,
    alpha: float = 0.05,
) -> WinRates:
    """Return each model's win rate from people's labels of some pairs and the machine's of all.

    Parameters
    ----------
    people : sequence of 'a', 'b', 'tie' or None, shape (n_pairs,)
        Blind labels; None where nobody looked. A win is 'a'.
    machine : sequence of 'a', 'b', 'tie' or None, shape (n_pairs,)
        None counts as a tie: nothing was read.
    models : sequence of str, shape (n_pairs,)
        Who wrote response a.
    part : sequence of str, shape (n_pairs,)
        ``"kept"`` where people saw a random sample, else a name such as ``"people"``, where they saw all.
    instructions : sequence of str, shape (n_pairs,)
        What belongs together, and what models are compared on.
    level : float, default 0.95
        Of the intervals.
    alpha : float, default 0.05
        Of the tests between models.

    Returns
    -------
    WinRates

    Raises
    ------
    StateError
        Nobody looked at what the machine kept: nothing can be said about it.

    Examples
    --------
    Both models' first 20 pairs were judged by people; of the other 60 every third was audited.

    >>> rows = range(80)
    >>> truth = {"good": ["a" if row % 4 else "b" for row in rows], "bad": ["b" if row % 4 else "a" for row in rows]}
    >>> machine = {name: [each if row % 10 else "tie" for row, each in enumerate(said)] for name, said in truth.items()}
    >>> looked = [row < 20 or row % 3 == 0 for row in rows]
    >>> people = [each if seen else None for said in truth.values() for each, seen in zip(said, looked)]
    >>> found = win_rates(people, [each for said in machine.values() for each in said], ["good"] * 80 + ["bad"] * 80,
    ...                   part=["people" if row < 20 else "kept" for row in rows] * 2,
    ...                   instructions=[f"q{row}" for row in rows] * 2)
    >>> found.table[["rank", "model", "pairs", "people"]].values.tolist()
    [[1, 'good', 80, 40], [2, 'bad', 80, 40]]
    """
    from hmc_crowd.metrics import routed_mean  # because a mean under routing has one home

    require_same_length(
        [("people", people), ("machine", machine), ("models", models), ("part", part), ("instructions", instructions)]
    )
    y, f = _scores(people, np.nan), _scores(machine, 0.5)
    who, where = np.array(list(map(str, models)), dtype=object), np.array(list(map(str, part)), dtype=object)
    kept, seen = where == KEPT, ~np.isnan(y)
    if kept.any() and not (kept & seen).any():
        raise StateError(
            f"people looked at none of the {int(kept.sum()):,} pairs that the machine kept, so nothing corrects its "
            "errors; plan with an audit, publish and collect"
        )
    asked = np.array(list(map(str, instructions)), dtype=object)
    weight = float(routed_mean(y[kept], f[kept]).details["lambda"]) if kept.any() else 0.0
    rates, corrected = {}, np.full(len(y), np.nan)
    for model in dict.fromkeys(who.tolist()):
        here = who == model
        rates[model] = routed_mean(
            y[here], f[here], strata=where[here], clusters=asked[here], power_tuning=weight, level=level
        )
        if rates[model].value is not None:
            corrected[here] = _corrected(y[here], f[here], where[here], weight)
    return _joined(rates, corrected, (y, f, who, where, asked), weight, level, alpha)


def _scores(labels: Sequence[str | None], missing: float) -> NDArray[np.float64]:
    worth = {"a": 1.0, "tie": 0.5, "b": 0.0}
    return np.array([worth.get(each, missing) if isinstance(each, str) else missing for each in labels])


def _corrected(
    y: NDArray[np.float64], f: NDArray[np.float64], part: NDArray[np.object_], weight: float
) -> NDArray[np.float64]:
    """Return one score per pair whose mean is the estimate: unbiased for the pair, whatever the machine said."""
    seen = ~np.isnan(y)
    out = weight * f
    for name in set(part.tolist()):
        here = part == name
        share = float(seen[here].mean())
        out[here & seen] += (y[here & seen] - weight * f[here & seen]) / share
    return np.asarray(out)


def _joined(
    rates: Mapping[str, Metric],
    corrected: NDArray[np.float64],
    columns: tuple[NDArray[Any], ...],
    weight: float,
    level: float,
    alpha: float,
) -> WinRates:
    import pandas as pd

    from hmc_crowd.metrics import rank_models  # because ranks have one home

    y, f, who, where, asked = columns
    frame = pd.DataFrame({"model": who, "instruction": asked, "score": corrected})
    # A model may answer an instruction in several pairs: the first with the first, the second with the second.
    frame["turn"] = frame.groupby(["model", "instruction"]).cumcount()
    wide = frame.pivot(index=["instruction", "turn"], columns="model", values="score")
    together = wide.index.get_level_values("instruction").to_numpy()
    order, compared = [(1, name) for name in rates], pd.DataFrame()
    if len(rates) > 1:
        ranking = rank_models(
            {name: wide[name].to_numpy() for name in rates},
            alpha=alpha,
            clusters=together if len(set(together)) < len(wide) else None,
            level=level,
        )
        order, compared = list(ranking.table[["rank", "model"]].itertuples(index=False, name=None)), ranking.pairs
    seen, notes, rows = ~np.isnan(y), [], []
    for rank, name in order:
        here, rate = who == name, rates[name]
        numbers = {"rank": int(rank), "model": name, "win_rate": rate.value, "low": rate.low, "high": rate.high}
        counts = {
            "pairs": int(here.sum()),
            "people": int((here & seen).sum()),
            "audited": int((here & seen & (where == KEPT)).sum()),
        }
        alone = {"machine": float(f[here].mean()), "final": float(np.where(seen, y, f)[here].mean())}
        rows.append({**numbers, **counts, **alone})
        told = [rate.reason] if rate.value is None else rate.warnings
        notes += [f"{name}: {each}" for each in told]
    table = pd.DataFrame(rows)
    for column in ("win_rate", "low", "high"):
        table[column] = table[column].astype(np.float64)
    return WinRates(table, compared, weight, level, tuple(notes))
