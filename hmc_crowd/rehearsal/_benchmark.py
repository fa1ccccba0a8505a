"""Machine only, crowd only, experts only, or a mix: what does each cost, how long does it take, how good is it?

Source: requirement D35. The source's own claims (-44% cost, -95% time, +11% accuracy) come without data; this table is
the same comparison on yours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd.rehearsal._simulate import simulate

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import ArrayLike

__all__ = ["BENCHMARK_POLICIES", "benchmark"]

BENCHMARK_POLICIES = ("machine", "crowd", "experts", "mix")


def benchmark(
    confidence: ArrayLike, seconds: ArrayLike, *, rng: np.random.Generator, repetitions: int = 100, **settings: Any
) -> pd.DataFrame:
    """Compare machine only, crowd only, experts only and the mix on the same items and seeds.

    Parameters
    ----------
    confidence, seconds, rng, repetitions, **settings
        As in `simulate`: give ``truth`` and ``predicted`` for a data set, neither for a simulation.

    Returns
    -------
    pandas.DataFrame
        One row per way: ``policy, accuracy, accuracy_low, accuracy_high, hours, money_minor, days, expert_share`` and,
        against experts only, ``cost_change, time_change, accuracy_change`` (shares; accuracy as a difference).

    Raises
    ------
    InputError
        As `simulate`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> table = benchmark(rng.beta(8, 2, 300), rng.gamma(2, 10, 300), rng=rng, pay_per_hour_minor=1200, repetitions=20)
    >>> table["policy"].tolist()
    ['machine', 'crowd', 'experts', 'mix']
    >>> bool(table.set_index("policy").loc["mix", "cost_change"] < 0)
    True
    """
    settings = {"target_agreement": None, **settings}
    played = simulate(
        confidence, seconds, rng=rng, repetitions=repetitions, policies=BENCHMARK_POLICIES, **settings
    ).summary()
    columns = ["policy", "accuracy", "accuracy_low", "accuracy_high", "hours", "money_minor", "days", "expert_share"]
    table = played[columns].copy()
    experts = table.set_index("policy").loc["experts"]
    for name, column in (("cost_change", "money_minor"), ("time_change", "days")):
        table[name] = table[column] / experts[column] - 1 if experts[column] else float("nan")
    table["accuracy_change"] = table["accuracy"] - experts["accuracy"]
    return table
