"""Which logged times train the model, and how much does each count?

All paid valid times do by default: what a campaign costs is what everybody takes, whether they agree in the end or
not; agreement becomes a feature. The source keeps one time per item, of a worker who agreed and has the better score:
that is a preset here, and the result says how far its times lie from those of everybody.

A plan sends doubtful and cheap items to people, so logged times are of a chosen sample. The inverse of the chance with
which an item was chosen makes up for it (Horvitz, Thompson 1952).

Source: Zhang, Ren, de Rijke (2021), section 4.1, for the preset.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import first_rows, float_vector
from hmc_crowd.effort._frames import as_pandas, require_columns, require_no_missing
from hmc_crowd.effort._one_time import agreed_labels, one_time_per_item
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

__all__ = ["TrainingTimes", "inclusion_weights", "training_times"]


@dataclass(frozen=True, eq=False)
class TrainingTimes:
    """Times to train on, beside what was left out.

    Attributes
    ----------
    frame : pandas.DataFrame
        The kept submissions with ``agrees`` (1, 0, NaN where nothing is agreed on).
    preset : str
    n_all, n_kept : int
        Valid paid submissions, and those kept.
    mean_all_s, mean_kept_s, median_all_s, median_kept_s : float
    """

    frame: pd.DataFrame
    preset: str
    n_all: int
    n_kept: int
    mean_all_s: float
    mean_kept_s: float
    median_all_s: float
    median_kept_s: float

    @property
    def bias(self) -> float:
        """Mean of the kept times over the mean of all, less 1: a budget from them would be off by so much."""
        return self.mean_kept_s / self.mean_all_s - 1 if self.mean_all_s > 0 else float("nan")

    def __str__(self) -> str:
        return (
            f"{self.n_kept:,} of {self.n_all:,} paid times by preset {self.preset!r}: mean {self.mean_kept_s:.1f} s, "
            f"of all {self.mean_all_s:.1f} s ({self.bias:+.1%}); median {self.median_kept_s:.1f} s, of all "
            f"{self.median_all_s:.1f} s"
        )


def training_times(
    submissions: Any,
    agreed: Any = None,
    *,
    preset: str = "all",
    rng: np.random.Generator | None = None,
    scores: Mapping[Any, float] | None = None,
) -> TrainingTimes:
    """Choose the submissions whose times train an effort model.

    Parameters
    ----------
    submissions : table
        ``task, worker, label, seconds``: all that were paid and have a valid time.
    agreed : table or mapping, optional
        The agreed labels (``item, label``); without them ``agrees`` is unknown.
    preset : {"all", "paper"}, default "all"
        ``all`` keeps every submission. ``paper`` drops those that disagree and keeps one per task, as
        `one_time_per_item`; it needs ``agreed`` and ``rng``.
    rng : numpy.random.Generator, optional
        Decides between workers of equal score in the paper's preset.
    scores : mapping, optional
        Worker -> test score, as in `one_time_per_item`.

    Raises
    ------
    InputError, FrameError
        An unknown preset, a missing column, label or time; what the paper's preset needs is not given.

    Examples
    --------
    Who disagrees was twice as quick; the paper's preset does not see it: mean 60 of 50.

    >>> rows = {"task": ["d", "d", "e"], "worker": ["a", "b", "a"], "label": ["x", "y", "x"], "seconds": [60, 30, 60]}
    >>> kept = training_times(rows, {"d": "x", "e": "x"}, preset="paper", rng=np.random.default_rng(1), scores={"a": 1})
    >>> kept.n_kept, round(kept.bias, 6)
    (2, 0.2)
    >>> training_times(rows, {"d": "x", "e": "x"}).frame["agrees"].tolist()
    [1.0, 0.0, 1.0]
    """
    if preset not in {"all", "paper"}:
        raise InputError(f"preset is {preset!r}; use 'all', or 'paper' to drop what disagrees as the source does")
    table = as_pandas(submissions, name="submissions")
    require_columns(table, ["task", "worker", "label", "seconds"], name="submissions")
    require_no_missing(table, ["task", "worker", "label"], name="submissions")
    seconds = float_vector(table["seconds"].to_numpy(), name="submissions column seconds", low=0.0)
    agrees = np.full(len(table), np.nan)
    if agreed is not None:
        truth = table["task"].map(agreed_labels(agreed))
        agrees = np.where(truth.isna(), np.nan, (table["label"] == truth).astype(float))
    kept = table.assign(agrees=agrees)
    if preset == "paper":
        if agreed is None or rng is None:
            raise InputError("preset 'paper' needs agreed labels and an rng for its draws; give both, or use 'all'")
        kept = one_time_per_item(kept, agreed, rng=rng, scores=scores).frame
    chosen = kept["seconds"].to_numpy(dtype=np.float64)
    middle = (float(chosen.mean()), float(np.median(chosen))) if len(chosen) else (float("nan"), float("nan"))
    return TrainingTimes(
        frame=kept.reset_index(drop=True),
        preset=preset,
        n_all=len(table),
        n_kept=len(kept),
        mean_all_s=float(seconds.mean()),
        mean_kept_s=middle[0],
        median_all_s=float(np.median(seconds)),
        median_kept_s=middle[1],
    )


def inclusion_weights(probability: ArrayLike, *, most: float = 20.0) -> NDArray[np.float64]:
    """Return training weights 1 / probability, at most ``most`` times the smallest, with mean 1.

    Parameters
    ----------
    probability : array of float, shape (n,)
        The chance with which people were to see the row's item, in (0, 1].
    most : float, default 20
        Bounds what one row that was drawn by a thin chance can do to a fit, at the price of a little bias.

    Raises
    ------
    InputError
        A probability is 0: such an item cannot have been timed.

    Examples
    --------
    >>> inclusion_weights([1.0, 1.0, 0.5]).tolist()
    [0.75, 0.75, 1.5]
    """
    chance = float_vector(probability, name="probability", low=0.0, high=1.0)
    if not most >= 1:
        raise InputError(f"most is {most}; give 1 or more")
    if not chance.all():
        raise InputError(
            f"probability is 0 in {first_rows(chance == 0)}; an item that people could not see has no time"
        )
    weight = 1 / chance
    weight = np.minimum(weight, most * weight.min())
    return np.asarray(weight / weight.mean())
