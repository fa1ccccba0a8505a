"""What would the model have said of a campaign that is over, and what did it take?

Part of the logged rows is played as a campaign still to come: the model is fitted on the rest, and the sum of its
predictions stands against the sum of the times. Repeated over random parts; the median error is the headline. With the
same people a campaign's total is an easy figure, because single errors cancel; with people never seen it is not, since
a crew as a whole may be quick or slow. Both are told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import float_vector, require_generator, require_same_length
from hmc_crowd.effort._conformal import cluster_codes
from hmc_crowd.effort._evaluate import take_rows
from hmc_crowd.effort._frames import as_pandas
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hmc_crowd.effort._model import EffortModel

__all__ = ["Backtest", "backtest_total"]


@dataclass(frozen=True, eq=False)
class Backtest:
    """Predicted over true total time of each campaign played, less 1.

    Attributes
    ----------
    errors : array of float, shape (n_campaigns,)
    share : float
        Part of the rows (or workers) in each campaign.
    unseen_workers : bool
    method : str
    """

    errors: NDArray[np.float64]
    share: float
    unseen_workers: bool
    method: str

    @property
    def median_error(self) -> float:
        """Median of the absolute relative errors."""
        return float(np.median(np.abs(self.errors)))

    def __str__(self) -> str:
        low, high = np.quantile(self.errors, [0.05, 0.95])
        return (
            f"total time missed by {self.median_error:.1%} (median of {len(self.errors)} campaigns of "
            f"{self.share:.0%}, {'workers never seen' if self.unseen_workers else 'the same workers'}; nine of ten "
            f"between {low:+.1%} and {high:+.1%})"
        )

    def _repr_html_(self) -> str:
        return f"<p>{self}</p>"


def backtest_total(
    model: EffortModel,
    X: Any,
    seconds: ArrayLike,
    *,
    rng: np.random.Generator,
    workers: ArrayLike | None = None,
    unseen_workers: bool = False,
    share: float = 0.2,
    n_campaigns: int = 20,
) -> Backtest:
    """Play campaigns that are over, and miss their total time by so much.

    Parameters
    ----------
    model : EffortModel
        Its parameters are used; itself it stays as it is. Nobody's identity is used for predicting.
    X, seconds
        As in `EffortModel.fit`.
    rng : numpy.random.Generator
        Draws the campaigns.
    workers : array, shape (n,), optional
        Who worked; needed for ``unseen_workers``.
    unseen_workers : bool, default False
        Draw workers with all their rows instead of rows.
    share : float, default 0.2
        Part of the rows, or of the workers, in a campaign.
    n_campaigns : int, default 20

    Examples
    --------
    >>> from hmc_crowd.effort import EffortModel
    >>> rng = np.random.default_rng(1)
    >>> turns = rng.uniform(1, 10, 300)
    >>> seconds = (20 + 8 * turns) * rng.lognormal(0, 0.3, 300)
    >>> found = backtest_total(EffortModel(n_estimators=10), {"turns": turns}, seconds, rng=rng, n_campaigns=5)
    >>> found.median_error < 0.1
    True
    """
    require_generator(rng)
    truth = float_vector(seconds, name="seconds", low=0.0)
    table = X if isinstance(X, np.ndarray) else as_pandas(X, name="X")
    require_same_length([("seconds", truth), ("X", table)])
    if not 0 < share < 1 or n_campaigns < 1:
        raise InputError(f"share is {share} and n_campaigns {n_campaigns}; give a share below 1 and 1 campaign or more")
    if unseen_workers and workers is None:
        raise InputError("unseen_workers needs workers; name who worked on each row")
    code = cluster_codes(workers, len(truth))
    unit = code if unseen_workers else np.arange(len(truth))
    many = int(unit.max()) + 1
    errors = np.empty(n_campaigns)
    for campaign in range(n_campaigns):
        drawn = rng.choice(many, size=min(many - 1, max(1, round(share * many))), replace=False)
        test = np.isin(unit, drawn)
        fresh = type(model)(**{**model.get_params(), "quantiles": ()})
        known = {"workers": code[~test]} if workers is not None and model.kind == "log_time" else {}
        fresh.fit(take_rows(table, np.flatnonzero(~test)), truth[~test], **known)
        predicted = fresh.predict(take_rows(table, np.flatnonzero(test)))
        errors[campaign] = predicted.sum() / max(truth[test].sum(), 1e-9) - 1
    return Backtest(errors, share, unseen_workers, f"{n_campaigns} random parts, {model.kind}")
