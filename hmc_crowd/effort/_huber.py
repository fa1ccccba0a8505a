"""The arithmetic of set-up and marginal time: a line with both coefficients >= 0 that long pauses do not bend.

Huber's estimator by iterated weighting; each step is an exact two-variable non-negative least-squares problem, solved
by looking at the inside and at the two edges of the quadrant. Works on many weightings of the rows at once, which
makes the bootstrap a handful of array operations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__: list[str] = []

_TURN = 1.345  # 95 % efficient where the noise is normal (Huber 1981)
_STEPS = 60


def nonnegative_line(
    setups: NDArray[np.float64], items: NDArray[np.float64], seconds: NDArray[np.float64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the (setup, marginal) >= 0 of least weighted squares per row of ``weight`` (k, n): shape (k, 2)."""
    aa, an, nn = weight @ (setups * setups), weight @ (setups * items), weight @ (items * items)
    ay, ny, yy = weight @ (setups * seconds), weight @ (items * seconds), weight @ (seconds * seconds)
    with np.errstate(divide="ignore", invalid="ignore"):
        determinant = aa * nn - an * an
        inside = np.stack([(nn * ay - an * ny) / determinant, (aa * ny - an * ay) / determinant], axis=1)
        edges = [
            np.stack([np.where(aa > 0, np.maximum(ay / aa, 0), 0.0), np.zeros_like(aa)], axis=1),
            np.stack([np.zeros_like(nn), np.where(nn > 0, np.maximum(ny / nn, 0), 0.0)], axis=1),
        ]
    usable = (determinant > 1e-12 * aa * nn) & (inside >= 0).all(axis=1)
    # Squares of the residual sum, from the moments alone.
    costs = [
        yy - 2 * (s * ay + m * ny) + s * s * aa + 2 * s * m * an + m * m * nn for s, m in (edge.T for edge in edges)
    ]
    edge = np.where((costs[0] <= costs[1])[:, None], edges[0], edges[1])
    return np.where(usable[:, None], inside, edge)


def huber_line(
    setups: NDArray[np.float64],
    items: NDArray[np.float64],
    seconds: NDArray[np.float64],
    weight: NDArray[np.float64],
    *,
    scale: float | None = None,
) -> NDArray[np.float64]:
    """Return (setup, marginal) per row of ``weight``, shape (k, 2); ``scale`` 0 asks for plain least squares.

    With ``scale`` None the spread of the residuals is estimated anew in every step (for one weighting).
    """
    found = nonnegative_line(setups, items, seconds, weight)
    if scale == 0.0:
        return found
    design = np.stack([setups, items])
    for _ in range(_STEPS):
        residual = np.abs(seconds - found @ design)
        width = residual_scale(residual[0]) if scale is None else scale
        if width <= 1e-9 * max(1.0, float(np.abs(seconds).max())):
            break  # the line goes through at least half of the times: nothing left to weigh
        damp = np.minimum(1.0, _TURN * width / np.maximum(residual, 1e-300))
        fresh = nonnegative_line(setups, items, seconds, weight * damp)
        done = np.allclose(fresh, found, rtol=1e-7, atol=1e-9)
        found = fresh
        if done:
            break
    return found


def residual_scale(residual: NDArray[np.float64]) -> float:
    """Return the spread of absolute residuals as a standard deviation (1.4826 times their median)."""
    return 1.4826 * float(np.median(residual))
