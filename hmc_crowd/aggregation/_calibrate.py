"""Posteriors that mean what they say.

How often is a label right of which the model is 95% sure? Less often: posteriors of all these models are too high.
Gold corrects them: log posteriors are stretched by one slope and moved by one offset per label; with more than two
labels the largest probability is then bent once more, by a line in log odds; both are fitted by penalised maximum
likelihood. No probability goes beyond what so much gold can show.

Guarantee: the map does not depend on names or order. It is right for tasks like the gold ones (give ``weights`` where
gold was drawn unevenly) and for the same model on the same kind of
answers. Gold that taught the fit, and labels that a model helped to make, are refused.

Source: Guo et al. (2017), "On Calibration of Modern Neural Networks" (vector scaling); Platt (1999) for the line; the
last step is the rule of succession.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd._base.checks import float_vector
from hmc_crowd._base.evidence import BLIND
from hmc_crowd.aggregation._calibrate_core import Map, calibration_error, fit_map, sampling_band
from hmc_crowd.aggregation._gold import evidence_of, gold_table, require_gold_kind
from hmc_crowd.aggregation._names import coded as place_in
from hmc_crowd.errors import InputError, ModelError, StateError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["CalibratedPosterior", "Calibration", "calibrate", "calibration_of", "require_blind"]

LEAST_GOLD = 20
_FOLDS = 5


@dataclass(frozen=True)
class Calibration:
    """A map from posteriors to probabilities.

    Parameters
    ----------
    labels : tuple
        The label set it is for.
    slope : float
        Below 1 where posteriors are overconfident.
    offsets : tuple of float
        One per label, in log units.
    top : tuple of float
        Intercept and slope of the line for the largest probability; (0, 1) changes nothing.
    n_gold, n_gold_unused : int
        Gold items used, and those without a posterior.
    error_before, error_after : float
        Expected calibration error on the gold (10 equal bins): as the posteriors came, and cross-validated after.
    band : float
        The error that a perfectly calibrated confidence would stay below in 95 of 100 samples of this size.
    """

    labels: tuple[Any, ...]
    slope: float
    offsets: tuple[float, ...]
    top: tuple[float, float]
    n_gold: int
    n_gold_unused: int
    error_before: float
    error_after: float
    band: float
    method: str = "vector scaling on gold"
    assumptions: tuple[str, ...] = (
        "The gold items are like the others, or weighted so that they are, and their labels are right.",
        "The posteriors come from the same method on answers collected in the same way.",
    )

    def apply(self, model: Any) -> CalibratedPosterior:
        """Return calibrated probabilities of a fitted aggregator, or of a frame task x label."""
        require_blind(model, purpose="calibrated")
        frame = _probabilities(model)
        place = place_in(pd.Index(frame.columns), pd.Index(list(self.labels)))
        if len(place) != len(frame.columns) or bool((place < 0).any()):
            raise InputError(
                f"probabilities has the labels {frame.columns.tolist()[:20]}, the calibration was fitted on "
                f"{list(self.labels)[:20]}; pass the same labels to both fits"
            )
        shape = Map(self.slope, np.array(self.offsets), self.top)
        values = shape(frame.to_numpy(dtype=float)[:, place], n_gold=self.n_gold)
        back = np.empty_like(place)
        back[place] = np.arange(len(place))
        known = getattr(model, "gold_tasks_", None)
        result = pd.DataFrame(values[:, back], index=frame.index, columns=frame.columns)
        if known is not None and len(known):
            result.loc[known] = frame.loc[known]
        return CalibratedPosterior(result, self)

    def __str__(self) -> str:
        return (
            f"{self.method}: calibration error {self.error_before:.3f} before, {self.error_after:.3f} after "
            f"(sampling band {self.band:.3f}), {self.n_gold} gold items, slope {self.slope:.2f}"
        )


@dataclass(frozen=True)
class CalibratedPosterior:
    """Probabilities, task x label, with the calibration they went through: what stopping and routing may use."""

    probabilities: pd.DataFrame
    calibration: Calibration

    @property
    def confidence(self) -> pd.Series[float]:
        """The largest probability of each task."""
        return self.probabilities.max(axis=1).rename("confidence")

    @property
    def labels(self) -> pd.Series[Any]:
        """The most probable label of each task, the first in label order where several are."""
        chosen = self.probabilities.to_numpy().argmax(axis=1)
        values = self.probabilities.columns.take(chosen)
        return pd.Series(values.to_numpy(), index=self.probabilities.index, name="label", dtype=values.dtype)


def calibrate(model: Any, gold: Any, *, weights: ArrayLike | None = None, least_gold: int = LEAST_GOLD) -> Calibration:
    """Fit a calibration on gold that the model has not seen.

    Parameters
    ----------
    model : fitted aggregator, or pandas.DataFrame of probabilities, task x label
        Fitted without the gold given here.
    gold : pandas.DataFrame, pandas.Series or mapping
        Known labels, blind to the model.
    weights : array of float, optional
        One per gold item, in its order: inverse inclusion probabilities, where gold was drawn unevenly.
    least_gold : int, default 20
        With fewer gold items nothing is calibrated.

    Returns
    -------
    Calibration
        Its ``apply`` makes a `CalibratedPosterior`.

    Raises
    ------
    ModelError
        Too little gold.
    InputError
        The model was fitted with this gold, its labels carry the evidence ``with_model``, or gold has a label outside
        the label set.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 400)
    >>> sure = np.where(rng.random(400) < 0.8, truth, 1 - truth)  # right in 80%, said to be 99% sure
    >>> said = pd.DataFrame({0: np.where(sure == 0, 0.99, 0.01), 1: np.where(sure == 1, 0.99, 0.01)})
    >>> found = calibrate(said, pd.Series(truth[:200]))
    >>> bool(abs(found.apply(said).confidence.mean() - 0.8) < 0.05)
    True
    """
    require_blind(model, purpose="used for calibration")
    frame = _probabilities(model)
    table = gold_table(gold)
    require_gold_kind(table, frame.index)
    place = place_in(pd.Index(frame.index), pd.Index(table.index))
    used = place >= 0
    if int(used.sum()) < least_gold:
        raise ModelError(
            f"gold has {int(used.sum())} items with a posterior ({len(table)} given), fewer than {least_gold}; collect "
            "more gold, or use labels without a probability"
        )
    seen = getattr(model, "gold_tasks_", None)
    if seen is not None and bool(pd.Index(table.index)[used].isin(seen).any()):
        first = pd.Index(table.index)[used & pd.Index(table.index).isin(seen)][0]
        raise InputError(
            f"gold item {first!r} was given to fit, where it fixed its own posterior; fit without it, or calibrate on "
            "other gold"
        )
    truth = place_in(pd.Index(frame.columns), pd.Index(table[used]))
    if (truth < 0).any():
        bad = table[used][truth < 0]
        raise InputError(
            f"gold has the label {bad.iloc[0]!r} (item {bad.index[0]!r}) outside {frame.columns.tolist()[:20]}; "
            "correct it, or name the whole label set, labels=[...]"
        )
    weight = np.ones(len(table)) if weights is None else float_vector(weights, name="weights", low=0.0)
    if len(weight) != len(table):
        raise InputError(f"weights has {len(weight)} values but gold has {len(table)} items; give one per item")
    if not weight[used].sum() > 0:
        raise InputError("weights are 0 for every gold item with a posterior; give at least one a weight above 0")
    return calibration_of(frame.iloc[place[used]], truth, weight[used], unused=int((~used).sum()))


def calibration_of(
    frame: pd.DataFrame,
    truth: NDArray[np.intp],
    weight: NDArray[np.float64],
    *,
    n_gold: int | None = None,
    unused: int = 0,
) -> Calibration:
    """Fit on rows of a frame, label by column, whose true columns are known; rows of one gold item share its weight."""
    values, n = frame.to_numpy(dtype=float), len(truth)
    shape = fit_map(values, truth, weight)
    # Folds go round by confidence: no chance, no names.
    fold = np.empty(n, dtype=np.intp)
    fold[np.lexsort((truth, values.max(axis=1)))] = np.arange(n) % _FOLDS
    after = np.empty_like(values)
    for one in range(_FOLDS):
        rest = fold != one
        part = fit_map(values[rest], truth[rest], weight[rest])
        after[~rest] = part(values[~rest], n_gold=int(rest.sum()))
    before = calibration_error(values.max(axis=1), values.argmax(axis=1) == truth, weight)
    final = calibration_error(after.max(axis=1), after.argmax(axis=1) == truth, weight)
    return Calibration(
        labels=tuple(frame.columns.tolist()),
        slope=shape.slope,
        offsets=tuple(shape.offsets.tolist()),
        top=shape.top,
        n_gold=n if n_gold is None else n_gold,
        n_gold_unused=unused,
        error_before=before,
        error_after=final,
        band=sampling_band(after.max(axis=1), weight),
    )


def require_blind(model: Any, *, purpose: str) -> None:
    """Refuse labels that a model helped to make, or that were given in view of a machine's."""
    told = evidence_of(model)
    if isinstance(told, str) and told not in BLIND:
        raise InputError(
            f"these labels carry the evidence {told!r} and must not be {purpose}; use the labels of people alone"
        )


def _probabilities(model: Any) -> pd.DataFrame:
    if isinstance(model, pd.DataFrame):
        values = model.to_numpy(dtype=float)
        if len(model) == 0 or not bool(((values >= 0) & (values <= 1)).all()):
            raise InputError("probabilities must be a table task x label with values in [0, 1] and at least one row")
        return model
    found = getattr(model, "probabilities_", None)
    if not isinstance(found, pd.DataFrame):
        raise StateError("the model is not fitted: call its fit first, or pass a frame of probabilities, task x label")
    return found
