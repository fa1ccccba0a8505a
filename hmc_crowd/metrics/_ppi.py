"""What is the mean human label, when people labelled few items and a machine all of them?

Prediction-powered inference: the machine's mean over the unlabelled items, corrected by its mean error on the labelled
ones. With a factor lambda on the machine's part the estimate lambda * mean(f_unlabelled) + mean(y - lambda f) is right
for every lambda, however bad the machine; the tuned lambda makes it as narrow as the machine allows:

    lambda = cov(y, f) / ((1 + n/N) var(f)), limited to [0, 1].

Conditions: labelled and unlabelled items are drawn from the same population and share no item; labels do not depend on
the machine. Large samples: the normal interval is too narrow for few labels (`small_sample=True` helps).

Differs from ppi-python 0.2.3 on purpose: `alternative` survives the tuning (there it silently turns two-sided); the
p-value uses the same limited lambda as the interval; pairs with a missing value leave, counted, instead of turning all
into NaN; equal labels give no interval of width 0; overlap of the two sets is refused (ids) or suspected (a warning).

Sources: Angelopoulos et al. (2023), "Prediction-powered inference"; Angelopoulos, Duchi, Zrnic (2023), "PPI++".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hmc_crowd._base.evidence import refuse_seeing
from hmc_crowd.errors import InputError
from hmc_crowd.metrics._influence import Spread, share_interval, t_quantile
from hmc_crowd.metrics._intervals import ask_for
from hmc_crowd.metrics._result import Metric
from hmc_crowd.metrics._validate import as_scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ppi_mean"]

Alternative = Literal["two-sided", "larger", "smaller"]
# Fewer labels than this and the normal interval is told to be doubtful.
_FEW = 50


def ppi_mean(
    labels: Any,
    predictions: Any,
    predictions_unlabelled: Any,
    *,
    level: float = 0.95,
    power_tuning: bool | float = True,
    alternative: Alternative = "two-sided",
    null: float | None = None,
    weights: Any = None,
    weights_unlabelled: Any = None,
    ids: Any = None,
    ids_unlabelled: Any = None,
    evidence: Any = None,
    small_sample: bool = False,
) -> Metric:
    """Return the mean of human labels, estimated with the help of machine predictions.

    Parameters
    ----------
    labels, predictions : array of float, shape (n,)
        Human label (or 0, 1; a score; 0, 1/2, 1 of a win rate) and the machine's value, of the labelled items.
    predictions_unlabelled : array of float, shape (N,)
        The machine's value on items that nobody labelled.
    level : float, default 0.95
        Coverage of the interval (ppi-python takes alpha, .1 by default).
    power_tuning : bool or float, default True
        True: lambda from the data; False: 1 (plain PPI); a number: that lambda; 0 leaves the machine out.
    alternative : {"two-sided", "larger", "smaller"}
        "larger" gives a lower bound only, "smaller" an upper one (the open end is None).
    null : float, optional
        A mean to test; ``details["p_value"]`` then holds the p-value for the same alternative.
    weights, weights_unlabelled : array of float, optional
        Importance of each item, >= 0; scaled to mean 1 within each set.
    ids, ids_unlabelled : array, optional
        Item ids; an id in both sets is refused.
    evidence : str or array of str, optional
        On what the labels rest (the column ``evidence`` of a label table): any but blind ones are refused.
    small_sample : bool, default False
        Divide by n - 1 and use t with n - 1 degrees of freedom, where ppi-python divides by n and takes the normal
        quantile. Use it below 50 labels.

    Returns
    -------
    Metric
        ``n`` labelled items used; ``details``: ``lambda, lambda_unclipped, se, n_unlabelled, classical, classical_low,
        classical_high, machine_mean, p_value``. Undefined if no pair is complete.

    Raises
    ------
    InputError
        Lengths differ, weights are negative or sum to 0, an id is in both sets, a label was given in view of the
        machine's, an argument is out of range.

    Examples
    --------
    Labels 1 0 1 0 1, machine right but for two: mean .6, machine .4 on them and .6 on the rest.

    >>> print(ppi_mean([1, 0, 1, 0, 1], [1, 0, 0, 0, 1], [1, 1, 1, 0, 0], power_tuning=False).value)
    0.8
    """
    ask = ask_for(level)
    tuning = _tuning(power_tuning)
    if alternative not in {"two-sided", "larger", "smaller"}:
        raise InputError(f"alternative is {alternative!r}; choose 'two-sided', 'larger' or 'smaller'")
    _refuse_overlap(ids, ids_unlabelled)
    if evidence is not None:
        told = [evidence] if isinstance(evidence, str) else evidence
        refuse_seeing(told, what="correct a machine's mean")
    y, f, w, lost = _labelled(labels, predictions, weights)
    rest, w_rest, lost_rest = _unlabelled(predictions_unlabelled, weights_unlabelled)
    common: dict[str, Any] = {
        "name": "prediction-powered mean",
        "n": len(y),
        "dropped": {"label or prediction is missing": lost, "prediction is missing (unlabelled)": lost_rest},
        "level": ask.level,
    }
    if len(y) == 0:
        return Metric.undefined("no item has both a label and a prediction", **common)
    told = _suspicions(y, f, rest, small_sample, ids)
    fit = _fit(y, f, w, rest, w_rest, tuning, small_sample)
    low, high, method = _ends(fit, y, ask.level, alternative, small_sample)
    if low is None and high is None:
        told += ("the labels show no spread: no interval",)
    classical = _fit(y, f, w, rest[:0], w_rest[:0], 0.0, small_sample)
    c_low, c_high, _ = _ends(classical, y, ask.level, "two-sided", small_sample)
    details = {
        "lambda": fit.factor,
        "lambda_unclipped": fit.free,
        "se": fit.se,
        "n_unlabelled": len(rest),
        "classical": classical.value,
        "classical_low": c_low,
        "classical_high": c_high,
        "machine_mean": float((w_rest * rest).mean()) if len(rest) else math.nan,
        "p_value": math.nan if null is None else _p_value(fit, float(null), alternative, small_sample),
    }
    return Metric(
        fit.value,
        low,
        high,
        method=method,
        warnings=told,
        assumptions=(
            "labelled and unlabelled items are drawn from one population and share none",
            "labels do not depend on the machine's predictions",
        ),
        details=details,
        **common,
    )


@dataclass(frozen=True)
class _Fit:
    value: float
    se: float
    factor: float
    free: float
    n: int


def _fit(
    y: NDArray[np.float64],
    f: NDArray[np.float64],
    w: NDArray[np.float64],
    rest: NDArray[np.float64],
    w_rest: NDArray[np.float64],
    tuning: float | None,
    small_sample: bool,
) -> _Fit:
    free = _best_factor(y, f, w, rest, w_rest)
    factor = min(max(free, 0.0), 1.0) if tuning is None else tuning
    if len(rest) == 0:
        factor = 0.0
    ddof = 1 if small_sample and len(y) > 1 else 0
    residual = w * (y - factor * f)
    value, variance = float(residual.mean()), float(residual.var(ddof=ddof)) / len(y)
    # Differences of equal numbers leave rounding error, which is no spread.
    if float(np.ptp(residual)) <= 1e-14 * max(1.0, float(np.abs(residual).max())):
        variance = 0.0
    if factor and len(rest):
        machine = w_rest * factor * rest
        value += float(machine.mean())
        variance += float(machine.var(ddof=ddof if len(rest) > 1 else 0)) / len(rest)
    return _Fit(value, math.sqrt(variance), factor, free, len(y))


def _best_factor(
    y: NDArray[np.float64],
    f: NDArray[np.float64],
    w: NDArray[np.float64],
    rest: NDArray[np.float64],
    w_rest: NDArray[np.float64],
) -> float:
    n, big = len(y), len(rest)
    if big == 0 or float(np.ptp(y)) == 0.0:
        return 0.0
    # Centred at the plain PPI estimate; matters for weighted items only.
    centre = float((w_rest * rest).mean() + (w * (y - f)).mean())
    of_y, of_f, of_rest = w * (y - centre), w * (f - centre), w_rest * (rest - centre)
    both = np.concatenate([of_f, of_rest])
    spread = float(both.var(ddof=1)) if len(both) > 1 else 0.0
    # A machine that always says the same leaves rounding error, not spread.
    if float(np.ptp(both)) <= 1e-12 * max(1.0, float(np.abs(both).max())):
        return 0.0
    shared = float(((of_y - of_y.mean()) * (of_f - of_f.mean())).mean())
    return shared / ((1.0 + n / big) * spread)


def _ends(
    fit: _Fit, y: NDArray[np.float64], level: float, alternative: Alternative, small_sample: bool
) -> tuple[float | None, float | None, str]:
    two = alternative == "two-sided"
    if not fit.se > 0.0:
        # Nothing varies: for yes/no labels Wilson's interval says what so few labels can tell.
        if not np.isin(y, (0.0, 1.0)).all():
            return None, None, "no interval: the labels show no spread"
        wide = level if two else 2 * level - 1
        if wide <= 0.0:
            return None, None, "no interval: the labels show no spread"
        low, high = share_interval(fit.value, Spread(0.0, 10**7, fit.n), fit.n, wide)
        method = "analytic (Wilson, since all labels are equal)"
    else:
        df = fit.n - 1 if small_sample else 10**7
        quantile = t_quantile(level if two else 2 * level - 1, df) if two or level != 0.5 else 0.0
        low, high = fit.value - quantile * fit.se, fit.value + quantile * fit.se
        method = "analytic (t, n - 1)" if small_sample else "analytic (normal, as PPI++)"
    return (None if alternative == "smaller" else low), (None if alternative == "larger" else high), method


def _p_value(fit: _Fit, null: float, alternative: Alternative, small_sample: bool) -> float:
    from scipy.special import ndtr, stdtr

    if not fit.se > 0.0:
        return math.nan
    z = (fit.value - null) / fit.se

    def below(x: float) -> float:
        return float(stdtr(fit.n - 1, x) if small_sample and fit.n > 1 else ndtr(x))

    if alternative == "two-sided":
        return 2.0 * below(-abs(z))
    return below(-z) if alternative == "larger" else below(z)


def _tuning(power_tuning: bool | float) -> float | None:
    """Return the fixed lambda, None if it is to be found."""
    if isinstance(power_tuning, (bool, np.bool_)):
        return None if power_tuning else 1.0
    if not isinstance(power_tuning, Real) or not math.isfinite(power_tuning):
        raise InputError(f"power_tuning is {power_tuning!r}; give True, False or a finite number for lambda")
    return float(power_tuning)


def _weights(values: Any, n: int, keep: NDArray[np.bool_], name: str) -> NDArray[np.float64]:
    if values is None:
        return np.ones(int(keep.sum()))
    weights, _ = as_scores(values, name=name)
    if len(weights) != n:
        raise InputError(f"{name} has {len(weights)} values for {n} items; give one per item")
    kept = weights[keep]
    if not (np.isfinite(kept).all() and (kept >= 0.0).all() and (kept.sum() > 0.0 or kept.size == 0)):
        raise InputError(f"{name} must be finite, at least 0 and not all 0")
    scaled: NDArray[np.float64] = kept / kept.mean() if kept.size else kept
    return scaled


def _labelled(
    labels: Any, predictions: Any, weights: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], int]:
    y, odd_y = as_scores(labels, name="labels")
    f, odd_f = as_scores(predictions, name="predictions")
    if len(y) != len(f):
        raise InputError(f"predictions has {len(f)} values but labels has {len(y)}; they must be of the same items")
    for name, odd in (("labels", odd_y), ("predictions", odd_f)):
        if odd is not None:
            raise InputError(f"{name} holds text at row {int(odd.argmax())}; a mean needs numbers, such as 0, 0.5, 1")
    keep = np.isfinite(y) & np.isfinite(f)
    return y[keep], f[keep], _weights(weights, len(y), keep, "weights"), int((~keep).sum())


def _unlabelled(predictions: Any, weights: Any) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    f, odd = as_scores(predictions, name="predictions_unlabelled")
    if odd is not None:
        raise InputError(f"predictions_unlabelled holds text at row {int(odd.argmax())}; a mean needs numbers")
    keep = np.isfinite(f)
    return f[keep], _weights(weights, len(f), keep, "weights_unlabelled"), int((~keep).sum())


def _refuse_overlap(ids: Any, ids_unlabelled: Any) -> None:
    if ids is None or ids_unlabelled is None:
        return
    both = set(np.asarray(ids, dtype=object).tolist()) & set(np.asarray(ids_unlabelled, dtype=object).tolist())
    if both:
        some = sorted(map(str, both))[:3]
        raise InputError(
            f"{len(both):,} items are labelled and unlabelled at once ({', '.join(some)}); take them out of the "
            "unlabelled set, or the interval is too narrow"
        )


def _suspicions(
    y: NDArray[np.float64], f: NDArray[np.float64], rest: NDArray[np.float64], small_sample: bool, ids: Any
) -> tuple[str, ...]:
    told: tuple[str, ...] = ()
    n = len(y)
    if n < _FEW and not small_sample:
        told += (f"only {n} labels: the normal interval is too narrow; small_sample=True widens it",)
    if len(rest) == 0:
        told += ("no unlabelled predictions: this is the plain mean",)
    # By chance two unequal sets do not agree in 20 varying values in a row.
    varied = ids is None and 20 <= n <= len(rest) and len(np.unique(f)) > 1
    if varied and (np.array_equal(rest[:n], f) or np.array_equal(rest[-n:], f)):
        told += (
            "the unlabelled predictions begin or end with the labelled ones: if they are the same items, "
            "take them out, or the interval is too narrow",
        )
    return told
