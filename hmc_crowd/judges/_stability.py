"""Would the models rank alike against another baseline, on another set, or by another way to decode?

Each model's win rate under both, and how alike the two orders are (Spearman, Pearson).

Source: Lyu et al. (2024), "HREF", section 4 and figures 7 and 8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import require_same_length
from hmc_crowd.errors import InputError
from hmc_crowd.judges._judge import outcomes_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from hmc_crowd.metrics import Metric  # because estimates have one form

__all__ = ["Stability", "compare_rankings", "model_rates"]


@dataclass(frozen=True, eq=False)
class Stability:
    """Models under two conditions.

    Parameters
    ----------
    table : pandas.DataFrame
        ``model, first, first_low, first_high, second, second_low, second_high``, best first.
    spearman, pearson : Metric
        Of the two columns; their intervals take the models as a random sample.
    """

    table: pd.DataFrame
    spearman: Metric
    pearson: Metric

    def __str__(self) -> str:
        return f"{len(self.table)} models: {self.spearman}; {self.pearson}"


def model_rates(
    judged: pd.DataFrame, models: Sequence[str], *, instructions: Any = None, level: float = 0.95
) -> dict[str, Metric]:
    """Return each model's win rate by a judge, ties counting half, unread answers left out.

    Parameters
    ----------
    judged : frame
        As judges return it.
    models : sequence of str, shape (n_pairs,)
        Who wrote response a.
    instructions : array, shape (n_pairs,), optional
        What belongs together.
    level : float, default 0.95

    Examples
    --------
    >>> import pandas as pd
    >>> found = model_rates(pd.DataFrame({"label": ["a", "b", "a", "tie"]}), ["m", "m", "n", "n"])
    >>> {name: rate.value for name, rate in found.items()}
    {'m': 0.5, 'n': 0.75}
    """
    from hmc_crowd.metrics import expected_win_rate  # because it is measured there

    require_same_length([("judged", judged), ("models", models)])
    who, outcomes = np.array([str(each) for each in models], dtype=object), outcomes_of(judged)
    asked = None if instructions is None else np.asarray(instructions, dtype=object)
    found = {}
    for name in dict.fromkeys(who.tolist()):
        here = np.flatnonzero(who == name)
        together = None if asked is None or len(set(asked[here])) == len(here) else asked[here]
        found[name] = expected_win_rate([outcomes[row] for row in here], clusters=together, level=level)
    return found


def compare_rankings(first: Mapping[str, Metric], second: Mapping[str, Metric], *, level: float = 0.95) -> Stability:
    """Compare the models' rates under two conditions.

    Parameters
    ----------
    first, second : mapping of model -> rate
        As `model_rates` gives them; models of one side only leave.
    level : float, default 0.95

    Returns
    -------
    Stability

    Raises
    ------
    InputError
        Fewer than two models are in both.

    Examples
    --------
    >>> from hmc_crowd.metrics import Metric
    >>> first = {"m": Metric(0.6, n=10), "n": Metric(0.4, n=10), "o": Metric(0.2, n=10)}
    >>> compare_rankings(first, {name: Metric(1 - rate.value, n=10) for name, rate in first.items()}).spearman.value
    -1.0
    """
    import pandas as pd

    from hmc_crowd.metrics import rank_correlation  # because it is measured there

    common = [name for name in first if name in second]
    if len(common) < 2:
        raise InputError(
            f"{len(common)} models are in both (first: {', '.join(first)}; second: {', '.join(second)}); give the same "
            "models under both"
        )
    rows = []
    for name in common:
        row: dict[str, Any] = {"model": name}
        for kind, rate in (("first", first[name]), ("second", second[name])):
            row |= {kind: float(rate), f"{kind}_low": rate.low, f"{kind}_high": rate.high}
        rows.append(row)
    table = pd.DataFrame(rows).sort_values("first", ascending=False, kind="stable", ignore_index=True)
    table = table.astype(dict.fromkeys([name for name in table if name != "model"], np.float64))
    values = [{name: float(rates[name]) for name in common} for rates in (first, second)]
    alike = rank_correlation(*values, level=level)
    return Stability(table, alike["spearman"], alike["pearson"])
