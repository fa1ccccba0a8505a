"""Which responses take part in a score report, and what was left out why?

Source: RSMTool's page "Evaluation Metrics". One flag, two rules, as in the tool: a first human score of 0 drops the
response; a second human score of 0 only makes that score missing, and the response counts as single-scored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.metrics._intervals_clusters import cluster_ways
from hmc_crowd.metrics._validate import as_column, as_scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Population", "read_population"]


@dataclass(frozen=True, eq=False)
class Population:
    """Responses of the evaluation set.

    Parameters
    ----------
    human, system : array of float, shape (n,)
        Complete.
    others : array of float, shape (n, raters - 1)
        Further human scores, NaN where missing; the second human first.
    groups : dict of str to array (n,)
    clusters : dict of str to array (n,), or None
    total : int
        Rows of the input.
    dropped : dict of str to int
        Responses left out, by reason.
    set_missing : dict of str to int
        Further human scores made missing, by reason; their responses stay.
    """

    human: NDArray[np.float64]
    system: NDArray[np.float64]
    others: NDArray[np.float64]
    groups: dict[str, NDArray[Any]]
    clusters: dict[str, NDArray[Any]] | None
    total: int
    dropped: dict[str, int]
    set_missing: dict[str, int]

    @property
    def n(self) -> int:
        """Responses."""
        return len(self.human)

    @property
    def second(self) -> NDArray[np.float64] | None:
        """The second human score; None if there is no such column."""
        return self.others[:, 0] if self.others.shape[1] else None

    @property
    def double(self) -> NDArray[np.bool_]:
        """Which responses have a second human score."""
        return np.zeros(self.n, dtype=bool) if self.second is None else np.isfinite(self.second)


def read_population(
    frame: Any,
    *,
    human: str,
    system: str,
    others: Sequence[str],
    groups: Sequence[str],
    clusters: Sequence[str],
    exclude_zero_scores: bool,
) -> Population:
    """Read columns by name and leave out what cannot be evaluated."""
    h, odd_h = as_scores(as_column(frame, human), name=human)
    m, odd_m = as_scores(as_column(frame, system), name=system)
    keep, dropped = np.ones(len(h), dtype=bool), {}
    reasons: list[tuple[str, NDArray[np.bool_]]] = []
    for name, values, odd in (("human", h, odd_h), ("system", m, odd_m)):
        if odd is not None:
            reasons.append((f"{name} score is not a number", odd))
        reasons.append((f"{name} score is missing or infinite", ~np.isfinite(values)))
    if exclude_zero_scores:
        reasons.append(("human score is zero", h == 0.0))
    for reason, bad in reasons:
        rows = int(np.count_nonzero(keep & bad))
        if rows:
            dropped[reason] = rows
        keep &= ~bad
    more, set_missing = _others(frame, others, keep, exclude_zero_scores=exclude_zero_scores)
    named = {name: np.asarray(as_column(frame, name)) for name in clusters}
    cluster_ways(named or None, len(h))  # says what is wrong before anything is computed
    return Population(
        h[keep],
        m[keep],
        more,
        {name: np.asarray(as_column(frame, name))[keep] for name in groups},
        {name: values[keep] for name, values in named.items()} or None,
        len(h),
        dropped,
        set_missing,
    )


def _others(
    frame: Any, names: Sequence[str], keep: NDArray[np.bool_], *, exclude_zero_scores: bool
) -> tuple[NDArray[np.float64], dict[str, int]]:
    columns, told = [], {}
    for name in names:
        values, odd = as_scores(as_column(frame, name), name=name)
        if len(values) != len(keep):
            raise InputError(f"{name} has {len(values)} scores for {len(keep)} responses; give one per response")
        values = np.where(np.isfinite(values), values, np.nan)[keep]
        if odd is not None and (strange := int(np.count_nonzero(odd[keep]))):
            told[f"{name} is not a number"] = strange
        if exclude_zero_scores and (zeros := int(np.count_nonzero(values == 0.0))):
            told[f"{name} is zero"] = zeros
            values = np.where(values == 0.0, np.nan, values)
        columns.append(values)
    return np.column_stack(columns) if columns else np.zeros((int(keep.sum()), 0)), told
