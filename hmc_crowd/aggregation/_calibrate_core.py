"""The arithmetic of calibration: a map of probabilities fitted on known labels, and how far off probabilities are.

Pure functions of arrays; `_calibrate` says what they are for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["Map", "calibration_error", "fit_map", "sampling_band"]

_BINS = 10
# Log posteriors lower than this say nothing more: exp(-6) is one in four hundred, and raw posteriors exaggerate.
_FLOOR = -6.0
_BAND_DRAWS = 400
# Precision of the penalty on offsets: firm enough that ten gold items do no harm, on ten open data sets.
_FIRM = 4.0
_MOST_STEPS, _MOST_HALVINGS = 60, 20
_SETTLED = 1e-10


def calibration_error(
    confidence: NDArray[np.float64], right: NDArray[np.bool_], weight: NDArray[np.float64] | None = None
) -> float:
    """Return the expected calibration error over ten equal bins of confidence: mean gap between sure and right."""
    weight = np.ones(len(confidence)) if weight is None else weight
    place = np.minimum((confidence * _BINS).astype(np.intp), _BINS - 1)
    gap = np.bincount(place, weights=weight * (confidence - right), minlength=_BINS)
    return float(np.abs(gap).sum() / weight.sum())


def sampling_band(
    confidence: NDArray[np.float64], weight: NDArray[np.float64] | None = None, *, level: float = 0.95
) -> float:
    """Return the calibration error that perfectly calibrated confidences stay below with probability ``level``."""
    rng = np.random.default_rng(0)
    draws = [
        calibration_error(confidence, rng.random(len(confidence)) < confidence, weight) for _ in range(_BAND_DRAWS)
    ]
    return float(np.quantile(draws, level))


def _logs(values: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log(values), _FLOOR)
    centred: NDArray[np.float64] = logs - logs.mean(axis=1, keepdims=True)
    return centred


def _softmax(joint: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = np.exp(joint - joint.max(axis=1, keepdims=True))
    result: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return result


@dataclass(frozen=True)
class Map:
    slope: float
    offsets: NDArray[np.float64]
    top: tuple[float, float] = (0.0, 1.0)

    def __call__(self, values: NDArray[np.float64], *, n_gold: int) -> NDArray[np.float64]:
        found = _softmax(self.slope * _logs(values) + self.offsets)
        if self.top != (0.0, 1.0):
            found = _with_top(found, self.top)
        # n right of n leave a doubt of about 1 / (n + 2).
        doubt = 1.0 / (n_gold + 2)
        result: NDArray[np.float64] = (1 - doubt) * found + doubt / found.shape[1]
        return result


def _with_top(found: NDArray[np.float64], line: tuple[float, float]) -> NDArray[np.float64]:
    """Move each row's largest probability along a line in log odds; the others share the rest as before."""
    rows, best = np.arange(len(found)), found.argmax(axis=1)
    top = found[rows, best]
    others = found.copy()
    others[rows, best] = 0.0
    second = others.max(axis=1)
    rest = np.maximum(1 - top, 1e-12)
    moved = _sigmoid(line[0] + line[1] * _logit(top))
    # It stays the largest.
    moved = np.maximum(moved, second / (rest + second))
    others *= ((1 - moved) / rest)[:, None]
    others[rows, best] = moved
    result: NDArray[np.float64] = others / others.sum(axis=1, keepdims=True)
    return result


def _logit(share: NDArray[np.float64]) -> NDArray[np.float64]:
    inside = np.clip(share, 1e-9, 1 - 1e-9)
    result: NDArray[np.float64] = np.log(inside) - np.log1p(-inside)
    return result


def _sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    result: NDArray[np.float64] = 0.5 * (1.0 + np.tanh(x / 2))
    return result


def fit_map(values: NDArray[np.float64], truth: NDArray[np.intp], weight: NDArray[np.float64]) -> Map:
    """Fit the map; weak Gaussian penalties (log slopes 0 +- 2, offsets 0 +- .5) keep little gold in check."""
    logs, k, rows = _logs(values), values.shape[1], np.arange(len(truth))
    weight = weight * len(weight) / weight.sum()
    penalty = np.concatenate(([0.25], np.full(k, _FIRM)))

    def loss(theta: NDArray[np.float64]) -> _Loss:
        slope = np.exp(theta[0])
        found = _softmax(slope * logs + theta[1:])
        miss = found * weight[:, None]
        miss[rows, truth] -= weight
        value = -np.sum(weight * np.log(np.maximum(found[rows, truth], 1e-300))) + (penalty * theta**2).sum() / 2
        gradient = np.concatenate(([np.sum(miss * logs) * slope], miss.sum(axis=0))) + penalty * theta
        # Fisher information: found is multinomial around its own mean.
        moves = np.concatenate((slope * logs[:, :, None], np.broadcast_to(np.eye(k), (len(found), k, k))), axis=2)
        mean = np.einsum("nk,nkp->np", found, moves)
        square = np.einsum("nk,nkp,nkq->pq", found * weight[:, None], moves, moves, optimize=True)
        return float(value), gradient, square - mean.T @ (mean * weight[:, None]) + np.diag(penalty)

    theta = _minimise(loss, k + 1)
    shape = Map(float(np.exp(theta[0])), theta[1:])
    if k <= 2:  # the line would repeat slope and offset
        return shape
    found = _softmax(shape.slope * logs + shape.offsets)
    x, right = _logit(found.max(axis=1)), (found.argmax(axis=1) == truth).astype(float)

    def top_loss(line: NDArray[np.float64]) -> _Loss:
        slope = np.exp(line[1])
        z = line[0] + slope * x
        value = np.sum(weight * (np.logaddexp(0.0, z) - right * z)) + line[0] ** 2 / 2 + line[1] ** 2 / 8
        share = _sigmoid(z)
        moves = np.stack([np.ones_like(x), slope * x], axis=1)
        gradient = moves.T @ (weight * (share - right)) + np.array([line[0], line[1] / 4])
        information = moves.T @ (moves * (weight * share * (1 - share))[:, None])
        return float(value), gradient, information + np.diag([1.0, 0.25])

    line = _minimise(top_loss, 2)
    return Map(shape.slope, shape.offsets, (float(line[0]), float(np.exp(line[1]))))


_Loss: TypeAlias = "tuple[float, NDArray[np.float64], NDArray[np.float64]]"


def _minimise(loss: Callable[[NDArray[np.float64]], _Loss], n: int) -> NDArray[np.float64]:
    """Return where a loss (value, gradient, information) is least, from 0, by Fisher scoring with halved steps."""
    theta = np.zeros(n)
    value, gradient, information = loss(theta)
    for _ in range(_MOST_STEPS):
        step = np.linalg.solve(information, gradient)
        gain = float(gradient @ step)
        if gain < _SETTLED:
            break
        for _ in range(_MOST_HALVINGS):
            new = loss(theta - step)
            if new[0] <= value:
                break
            step /= 2
        else:
            break
        theta = theta - step
        value, gradient, information = new
    return theta
