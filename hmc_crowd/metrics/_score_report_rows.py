"""One row of a score table: what RSMTool reports about two columns of scores.

Percentages and column names are the tool's; a number that is undefined is NaN and leaves a note.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hmc_crowd.metrics._scoring import pearson, quadratic_weighted_kappa
from hmc_crowd.metrics._scoring_errors import mean_squared_error, r2, root_mean_squared_error
from hmc_crowd.metrics._scoring_kappa import cohen_kappa
from hmc_crowd.metrics._scoring_shares import adjacent_agreement, exact_agreement
from hmc_crowd.metrics._scoring_smd import standardized_mean_difference

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from hmc_crowd.metrics._result import Metric

__all__ = ["PERCENT", "Notes", "agreement_of", "described", "numbers"]

PERCENT = {"exact_agr", "adj_agr"}


@dataclass
class Notes:
    """Collects intervals and reasons while tables are made; becomes two tables itself."""

    intervals: list[dict[str, Any]] = field(default_factory=list)
    reasons: list[dict[str, str]] = field(default_factory=list)

    def add(self, table: str, row: str, metrics: Mapping[str, Metric]) -> None:
        """Keep what the tables cannot show: ends, counts, reasons and warnings."""
        for name, metric in metrics.items():
            factor = 100.0 if name in PERCENT else 1.0
            self.intervals.append(
                {
                    "table": table,
                    "row": row,
                    "metric": name,
                    "value": factor * float(metric),
                    "low": math.nan if metric.low is None else factor * metric.low,
                    "high": math.nan if metric.high is None else factor * metric.high,
                    "level": metric.level,
                    "n": metric.n,
                    "method": metric.method,
                    "warnings": " | ".join(metric.warnings),
                }
            )
            if metric.value is None:
                self.why(table, row, name, metric.reason or "undefined")

    def why(self, table: str, row: str, column: str, reason: str) -> None:
        """Say why a cell of a table is empty."""
        self.reasons.append({"table": table, "row": row, "column": column, "reason": reason})


def agreement_of(
    human: NDArray[np.float64],
    system: NDArray[np.float64],
    *,
    smd: str = "unpooled",
    errors: bool = True,
    **ask: Any,
) -> dict[str, Metric]:
    """Return the metrics of one row, in the tool's order."""
    found = {
        "corr": pearson(human, system, **ask),
        "wtkappa": quadratic_weighted_kappa(human, system, **ask),
        "R2": r2(human, system, **ask),
        "kappa": cohen_kappa(human, system, **ask),
        "exact_agr": exact_agreement(human, system, **ask),
        "adj_agr": adjacent_agreement(human, system, **ask),
        "SMD": standardized_mean_difference(human, system, method=smd, **ask),
        "RMSE": root_mean_squared_error(human, system, **ask),
        "MSE": mean_squared_error(human, system, **ask),
    }
    return found if errors else {name: each for name, each in found.items() if name not in {"R2", "RMSE", "MSE"}}


def numbers(metrics: Mapping[str, Metric]) -> dict[str, float]:
    """Return the values as the tool prints them: shares as percentages, NaN where undefined."""
    return {name: (100.0 if name in PERCENT else 1.0) * float(each) for name, each in metrics.items()}


def described(values: NDArray[np.float64], name: str) -> dict[str, float]:
    """Return mean, sd (ddof 1), least and greatest value under the tool's names."""
    if len(values) == 0:
        return dict.fromkeys((f"{name}_mean", f"{name}_sd", f"{name}_min", f"{name}_max"), math.nan)
    start = float(values[0])
    shifted = values - start
    sd = float(shifted.std(ddof=1)) if len(values) > 1 else math.nan
    mean = start + float(shifted.mean())
    return {
        f"{name}_mean": mean,
        f"{name}_sd": sd,
        f"{name}_min": float(values.min()),
        f"{name}_max": float(values.max()),
    }
