"""Which forms can a raw system score be put into before it is compared with people's?

Six: raw; trimmed to the scale's ends; trimmed and rounded; scaled to the people's mean and spread; and that trimmed,
and trimmed and rounded. Source: RSMTool's page "Evaluation Metrics".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.metrics._validate import as_scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["TRIM_TOLERANCE", "Scaling", "score_types"]

TRIM_TOLERANCE = 0.4998


@dataclass(frozen=True)
class Scaling:
    """Means and standard deviations (ddof 1) of the TRAINING set, to scale predictions like people's scores.

    Parameters
    ----------
    prediction_mean, prediction_sd : float
        Of the system's raw predictions; the sd is positive.
    human_mean, human_sd : float
        Of the people's scores.

    Examples
    --------
    >>> Scaling.fit(predictions=[1.0, 2.0, 3.0], human=[2, 4, 6])
    Scaling(prediction_mean=2.0, prediction_sd=1.0, human_mean=4.0, human_sd=2.0)
    """

    prediction_mean: float
    prediction_sd: float
    human_mean: float
    human_sd: float

    def __post_init__(self) -> None:
        numbers = (self.prediction_mean, self.prediction_sd, self.human_mean, self.human_sd)
        if not all(np.isfinite(each) for each in numbers) or self.prediction_sd <= 0 or self.human_sd < 0:
            raise InputError(f"scaling is {numbers}; give finite means, a positive prediction_sd, and a human_sd >= 0")

    @classmethod
    def fit(cls, *, predictions: ArrayLike, human: ArrayLike) -> Scaling:
        """Measure a training set; missing scores are left out of each column by themselves."""
        found: list[float] = []
        for name, values in (("predictions", predictions), ("human", human)):
            numbers, _ = as_scores(values, name=name)
            numbers = numbers[np.isfinite(numbers)]
            if len(numbers) < 2:
                raise InputError(f"{name} has {len(numbers)} scores; at least 2 are needed for a standard deviation")
            found += [float(numbers.mean()), float(numbers.std(ddof=1))]
        return cls(*found)


def score_types(
    system: Any,
    *,
    score_range: Sequence[float] | None = None,
    tolerance: float = TRIM_TOLERANCE,
    scaling: Scaling | None = None,
) -> dict[str, NDArray[np.float64]]:
    """Return a raw score in all forms that the arguments allow.

    Parameters
    ----------
    system : array of float, shape (n,)
        Raw scores; missing ones stay missing.
    score_range : pair of float, optional
        Lowest and highest human score. Without it nothing is trimmed or rounded.
    tolerance : float, default 0.4998
        Trimming keeps [lowest - tolerance, highest + tolerance], so that rounding ends inside the scale.
    scaling : Scaling, optional
        For the three scaled forms: (raw - prediction_mean) / prediction_sd * human_sd + human_mean.

    Returns
    -------
    dict of str to array, shape (n,)
        ``raw, raw_trim, raw_trim_round, scale, scale_trim, scale_trim_round``; rounding takes halves to even.

    Raises
    ------
    InputError
        A range that does not ascend, or a negative tolerance.

    Examples
    --------
    >>> forms = score_types([0.2, 2.5, 6.2], score_range=(1, 6))
    >>> {name: values.tolist() for name, values in forms.items() if name != "raw"}
    {'raw_trim': [0.5002, 2.5, 6.2], 'raw_trim_round': [1.0, 2.0, 6.0]}
    """
    raw, _ = as_scores(system, name="system")
    if not (np.isfinite(tolerance) and tolerance >= 0):
        raise InputError(f"tolerance is {tolerance!r}; give a number of score points, at least 0")
    forms = {"raw": raw}
    if scaling is not None:
        spread = scaling.human_sd / scaling.prediction_sd
        forms["scale"] = (raw - scaling.prediction_mean) * spread + scaling.human_mean
    if score_range is None:
        return forms
    if len(score_range) != 2 or not score_range[0] <= score_range[1]:
        raise InputError(f"score_range is {score_range!r}; give the lowest and the highest score, such as (1, 6)")
    low, high = score_range[0] - tolerance, score_range[1] + tolerance
    ordered: dict[str, NDArray[np.float64]] = {}
    for name, values in forms.items():
        trimmed = np.clip(values, low, high)
        ordered |= {name: values, f"{name}_trim": trimmed, f"{name}_trim_round": np.rint(trimmed)}
    return ordered
