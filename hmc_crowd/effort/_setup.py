"""What it costs to open a dialogue, and what each judgement in it costs on top.

Time divided by turns hides that a dialogue has to be read before any turn of it can be judged. `SetupMarginal` splits
logged times into a set-up cost per group and marginal seconds per item, both >= 0, with bootstrap intervals. Two
kinds of logs identify the split: totals of groups of different sizes, or a time for every item (the first of a group
against the rest).

Guarantee: consistent for ``seconds = setup + marginal * items + noise`` with noise symmetric about 0; long pauses have
bounded influence. With skewed noise the robust fit estimates typical, not mean, seconds (``robust=False`` gives means).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import float_vector, require_same_length
from hmc_crowd.effort._huber import huber_line, residual_scale
from hmc_crowd.errors import InputError, ModelError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

__all__ = ["SetupMarginal", "fit_setup_marginal", "fit_setup_marginal_items"]

_CELLS = 4_000_000  # bootstrap weights held at once


@dataclass(frozen=True)
class SetupMarginal:
    """Set-up seconds per group and marginal seconds per item.

    Attributes
    ----------
    setup_s, marginal_s : float
    setup_interval, marginal_interval : tuple of float
        Percentile bootstrap at ``level``; (nan, nan) where no bootstrap was asked.
    level : float
    n, n_clusters : int
        Times, and units that were drawn in the bootstrap (workers, where given).
    method : str
    assumptions : tuple of str
    """

    setup_s: float
    marginal_s: float
    setup_interval: tuple[float, float]
    marginal_interval: tuple[float, float]
    level: float
    n: int
    n_clusters: int
    method: str
    assumptions: tuple[str, ...]

    def expected_seconds(self, groups: ArrayLike, items: ArrayLike) -> NDArray[np.float64]:
        """Return the seconds of judging ``items`` items that lie in ``groups`` different groups; broadcasts.

        Examples
        --------
        >>> split = fit_setup_marginal([30.0, 50.0], [2, 6])
        >>> float(split.expected_seconds(3, 10))
        110.0
        """
        touched, judged = np.asarray(groups, dtype=np.float64), np.asarray(items, dtype=np.float64)
        if not (touched >= 0).all() or not (judged >= 0).all():
            raise InputError("groups and items are counts; give 0 or more of each")
        return np.asarray(self.setup_s * touched + self.marginal_s * judged)

    def setup_share(self, items_in_group: ArrayLike) -> NDArray[np.float64]:
        """Return the set-up's share of the time of a whole group of this many items, in [0, 1]."""
        count = float_vector(np.atleast_1d(np.asarray(items_in_group)), name="items_in_group", low=0.0)
        total = self.setup_s + self.marginal_s * count
        return np.divide(self.setup_s, total, out=np.zeros_like(total), where=total > 0)

    def __str__(self) -> str:
        return (
            f"set-up {self.setup_s:.1f} s per group [{self.setup_interval[0]:.1f}, {self.setup_interval[1]:.1f}], "
            f"{self.marginal_s:.1f} s per item [{self.marginal_interval[0]:.1f}, {self.marginal_interval[1]:.1f}] "
            f"({self.method}, {self.level:.0%} intervals, {self.n:,} times)"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row per coefficient: ``value, low, high, level, n``."""
        import pandas as pd

        rows = [(self.setup_s, *self.setup_interval), (self.marginal_s, *self.marginal_interval)]
        frame = pd.DataFrame(rows, columns=["value", "low", "high"], index=["setup_s", "marginal_s"])
        return frame.assign(level=self.level, n=self.n)

    def _repr_html_(self) -> str:
        return f"<p>{self}</p>"


def fit_setup_marginal(
    seconds: ArrayLike,
    items: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    rng: np.random.Generator | None = None,
    n_boot: int = 400,
    level: float = 0.95,
    robust: bool = True,
) -> SetupMarginal:
    """Split the times of whole groups: ``seconds = setup + marginal * items``.

    Parameters
    ----------
    seconds : array of float, shape (n,)
        Time of one worker on one group, >= 0.
    items : array of int, shape (n,)
        Items judged in that time, >= 1, of at least two different sizes.
    clusters : array, shape (n,), optional
        Who worked: then the bootstrap draws workers, as times of one worker are alike.
    rng : numpy.random.Generator, optional
        Draws the bootstrap; without it there are no intervals.
    n_boot : int, default 400
    level : float, default 0.95
    robust : bool, default True
        Huber's estimator, whose typical seconds long pauses cannot pull up; False is least squares, for mean seconds.

    Raises
    ------
    InputError
        Bad values or lengths that differ.
    ModelError
        All groups have the same size: totals cannot tell the two costs apart.

    Examples
    --------
    Groups of 1, 2 and 4 items took 15, 20 and 30 seconds: 10 to read, 5 for each judgement.

    >>> split = fit_setup_marginal([15.0, 20.0, 30.0], [1, 2, 4])
    >>> round(split.setup_s, 6), round(split.marginal_s, 6)
    (10.0, 5.0)
    """
    counts = float_vector(items, name="items", low=1.0)
    if np.unique(counts).size < 2:
        raise ModelError(
            f"every group has {counts[0]:g} items, so totals cannot tell set-up from marginal time; "
            "log a time per item and call fit_setup_marginal_items"
        )
    return _fit(
        seconds, np.ones_like(counts), counts, "items", clusters, rng, n_boot, level, robust, "totals of groups"
    )


def fit_setup_marginal_items(
    seconds: ArrayLike,
    first: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    rng: np.random.Generator | None = None,
    n_boot: int = 400,
    level: float = 0.95,
    robust: bool = True,
) -> SetupMarginal:
    """Split times logged per item: the first item of a group costs set-up + marginal, every later one marginal.

    Parameters
    ----------
    seconds : array of float, shape (n,)
        Time from showing an item to its answer, >= 0.
    first : array of bool, shape (n,)
        Whether it was the first item of its group in that worker's submission; both kinds must occur.
    clusters, rng, n_boot, level, robust
        As in `fit_setup_marginal`.

    Examples
    --------
    >>> split = fit_setup_marginal_items([25.0, 5.0, 5.0, 25.0, 5.0], [True, False, False, True, False])
    >>> round(split.setup_s, 6), round(split.marginal_s, 6)
    (20.0, 5.0)
    """
    opening = float_vector(first, name="first", low=0.0, high=1.0)
    if not np.isin(opening, (0.0, 1.0)).all():
        raise InputError("first must be true or false per item; mark the first item of every group")
    if not 0 < opening.sum() < len(opening):
        missing = "first" if not opening.any() else "later"
        raise ModelError(f"there are no times of {missing} items, so set-up and marginal time cannot be told apart")
    return _fit(
        seconds, opening, np.ones_like(opening), "first", clusters, rng, n_boot, level, robust, "times per item"
    )


def _fit(
    seconds: ArrayLike,
    setups: NDArray[np.float64],
    counts: NDArray[np.float64],
    name: str,
    clusters: ArrayLike | None,
    rng: np.random.Generator | None,
    n_boot: int,
    level: float,
    robust: bool,
    source: str,
) -> SetupMarginal:
    """Fit the line and its intervals."""
    times = float_vector(seconds, name="seconds", low=0.0)
    require_same_length([("seconds", times), (name, counts)])
    if not 0 < level < 1:
        raise InputError(f"level is {level}; give a share between 0 and 1, for example 0.95")
    everyone = np.ones((1, len(times)))
    point = huber_line(setups, counts, times, everyone, scale=None if robust else 0.0)[0]
    codes, n_clusters = _cluster_codes(clusters, len(times))
    intervals = np.full((2, 2), np.nan)
    if rng is not None and n_boot > 0:
        scale = residual_scale(np.abs(times - point[0] * setups - point[1] * counts)) if robust else 0.0
        drawn = _bootstrap(times, setups, counts, codes, n_clusters, rng, n_boot, scale)
        intervals = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0).T
    return SetupMarginal(
        setup_s=float(point[0]),
        marginal_s=float(point[1]),
        setup_interval=(float(intervals[0, 0]), float(intervals[0, 1])),
        marginal_interval=(float(intervals[1, 0]), float(intervals[1, 1])),
        level=level,
        n=len(times),
        n_clusters=n_clusters,
        method=f"{'Huber' if robust else 'least-squares'} line through {source}",
        assumptions=(
            "every group costs the same set-up, every item the same on top",
            "times of different workers are independent" if clusters is not None else "all times are independent",
        ),
    )


def _cluster_codes(clusters: ArrayLike | None, n: int) -> tuple[NDArray[np.intp], int]:
    """Return 0-based cluster numbers; every row is its own where none are given."""
    if clusters is None:
        return np.arange(n), n
    import pandas as pd

    codes, names = pd.factorize(np.asarray(clusters))
    require_same_length([("clusters", codes), ("seconds", np.empty(n))])
    if (codes < 0).any():
        raise InputError("clusters has missing values; every time needs its worker")
    return np.asarray(codes), len(names)


def _bootstrap(
    times: NDArray[np.float64],
    setups: NDArray[np.float64],
    counts: NDArray[np.float64],
    codes: NDArray[np.intp],
    n_clusters: int,
    rng: np.random.Generator,
    n_boot: int,
    scale: float,
) -> NDArray[Any]:
    """Return (setup, marginal) of every redrawn set of clusters, shape (n_boot, 2)."""
    found, block = [], max(1, min(n_boot, _CELLS // len(times)))
    for start in range(0, n_boot, block):
        size = min(block, n_boot - start)
        drawn = np.stack(
            [np.bincount(rng.integers(0, n_clusters, n_clusters), minlength=n_clusters) for _ in range(size)]
        )
        weight = drawn[:, codes].astype(np.float64)
        # With the point's scale held fixed; 0 (an exact line, or least squares) needs no weighing.
        found.append(huber_line(setups, counts, times, weight, scale=scale))
    return np.vstack(found)
