"""How good and how fast were the workers on record? Profiles fitted to logged answers.

Workers with few answers are drawn towards the whole crowd, so that one lucky or unlucky answer makes nobody perfect or
hopeless. Speeds and errors are taken as they were observed: they describe these workers on this kind of item.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.simulation._draw import symmetric_confusion
from hmc_crowd.simulation._frames import columns_of
from hmc_crowd.simulation._profiles import WorkerProfile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["fit_crowd"]


def fit_crowd(
    answers: Any, *, labels: Sequence[str] | None = None, smoothing: float = 5.0, **habits: float
) -> tuple[WorkerProfile, ...]:
    """Fit one profile per worker to logged answers.

    Parameters
    ----------
    answers : frame
        One row per answer: ``worker``; ``label`` and ``truth``, or ``correct`` (1, 0, or a share such as a test score);
        and, if known, ``seconds`` > 0 and ``expected_s`` > 0, what the item was expected to take.
    labels : sequence of str, optional
        All labels; needed with ``correct``, otherwise those that occur.
    smoothing : float, default 5
        Weight of the whole crowd in each worker's errors and in the noise of his times, counted in answers. His mean
        time is drawn to the crowd's by what the log says of the spread between and within workers (random effects).
    **habits
        Further fields of every `WorkerProfile`, for example ``pause_mean_s=30``.

    Returns
    -------
    tuple of WorkerProfile
        Sorted by worker. ``activity`` is the number of answers. With ``expected_s`` the worker's ``speed`` is relative
        to it (pass the same expectations as ``item_seconds`` of the crowd); without, ``seconds_per_item`` is his own
        mean. The logged time holds everything, so ``setup_s`` and ``seconds_per_word`` are 0 unless given.

    Raises
    ------
    FrameError
        A column is missing or a value out of range.
    InputError
        ``labels`` is missing where needed, or ``smoothing`` is negative.

    Notes
    -----
    Times are taken as lognormal: with m and s the mean and standard deviation of a worker's log time (over its
    expectation), the mean time is exp(m + s^2/2).

    Examples
    --------
    >>> import pandas as pd
    >>> log = pd.DataFrame({"worker": list("aabb"), "label": list("xyxx"), "truth": list("xyxy")})
    >>> a, b = fit_crowd(log, smoothing=1.0)
    >>> a.probability_right("y") > b.probability_right("y")
    True
    """
    if not smoothing >= 0:
        raise InputError(f"smoothing is {smoothing}; give 0 or more answers")
    columns = columns_of(
        answers, name="answers", required=("worker",), optional=("label", "truth", "correct", "seconds", "expected_s")
    )
    names, worker = np.unique(np.asarray([str(each) for each in columns["worker"]]), return_inverse=True)
    confusions = _confusions(columns, worker, len(names), labels, smoothing)
    times = _times(columns, worker, len(names), smoothing)
    counts = np.bincount(worker, minlength=len(names))
    return tuple(
        WorkerProfile(str(name), confusions[w], **{"activity": float(counts[w]), "setup_s": 0.0, **times[w], **habits})
        for w, name in enumerate(names.tolist())
    )


def _confusions(
    columns: dict[str, list[Any]],
    worker: NDArray[np.intp],
    n_workers: int,
    labels: Sequence[str] | None,
    smoothing: float,
) -> list[dict[str, dict[str, float]]]:
    if "label" in columns and "truth" in columns:
        return _from_labels(columns, worker, n_workers, labels, smoothing)
    if "correct" not in columns:
        raise FrameError("answers has neither the columns 'label' and 'truth' nor 'correct'; add one or the other")
    if labels is None or len(set(labels)) < 2:
        raise InputError(f"labels is {labels}; with the column 'correct' give at least two")
    correct = np.asarray(columns["correct"], dtype=float)
    bad = np.flatnonzero((correct < 0) | (correct > 1))
    if bad.size:
        raise FrameError(f"answers column 'correct' is {correct[bad[0]]} in row {bad[0]}; it must lie in [0, 1]")
    count = np.bincount(worker, minlength=n_workers)
    right = np.bincount(worker, weights=correct, minlength=n_workers)
    accuracy = (right + smoothing * correct.mean()) / (count + smoothing)
    return [symmetric_confusion(tuple(labels), float(each)) for each in accuracy]


def _from_labels(
    columns: dict[str, list[Any]],
    worker: NDArray[np.intp],
    n_workers: int,
    labels: Sequence[str] | None,
    smoothing: float,
) -> list[dict[str, dict[str, float]]]:
    given, truth = [str(each) for each in columns["label"]], [str(each) for each in columns["truth"]]
    known = tuple(labels) if labels is not None else tuple(sorted({*given, *truth}))
    code = {label: k for k, label in enumerate(known)}
    for name, values in (("label", given), ("truth", truth)):
        unknown = [row for row, value in enumerate(values) if value not in code]
        if unknown:
            raise FrameError(f"answers column {name!r} is {values[unknown[0]]!r} in row {unknown[0]}, not in labels")
    K = len(known)
    counts = np.zeros((n_workers, K, K))
    np.add.at(counts, (worker, np.array([code[each] for each in truth]), np.array([code[each] for each in given])), 1.0)
    # The crowd's own rows get one answer spread evenly: a label that never occurred still has a row.
    pooled = counts.sum(axis=0) + 1.0 / K
    pooled /= pooled.sum(axis=1, keepdims=True)
    rows = counts + max(smoothing, 1e-9) * pooled
    rows /= rows.sum(axis=2, keepdims=True)
    return [{t: dict(zip(known, rows[w, code[t]].tolist(), strict=True)) for t in known} for w in range(n_workers)]


def _times(
    columns: dict[str, list[Any]], worker: NDArray[np.intp], n_workers: int, smoothing: float
) -> list[dict[str, float]]:
    """Per worker the fields of the profile that say how long he takes; none where no time is logged."""
    if "seconds" not in columns:
        return [{} for _ in range(n_workers)]
    seconds = _positive(columns["seconds"], "seconds")
    expected = _positive(columns["expected_s"], "expected_s") if "expected_s" in columns else None
    log = np.log(seconds) - (np.log(expected) if expected is not None else 0.0)
    count = np.bincount(worker, minlength=n_workers)
    own_mean = np.bincount(worker, weights=log, minlength=n_workers) / count
    within = np.bincount(worker, weights=(log - own_mean[worker]) ** 2, minlength=n_workers)
    pooled_variance = within.sum() / max(len(log) - n_workers, 1)
    mean = _shrunk(own_mean, count, pooled_variance)
    variance = (within + smoothing * pooled_variance) / np.maximum(count - 1 + smoothing, 1)
    factor = np.exp(mean + variance / 2)
    noise = np.sqrt(variance)
    if expected is None:
        return [
            {"seconds_per_item": float(f), "seconds_per_word": 0.0, "noise": float(s)}
            for f, s in zip(factor, noise, strict=True)
        ]
    typical = float(expected.mean())
    return [
        {"speed": 1.0 / float(f), "seconds_per_item": typical, "seconds_per_word": 0.0, "noise": float(s)}
        for f, s in zip(factor, noise, strict=True)
    ]


def _shrunk(own: NDArray[np.float64], count: NDArray[np.intp], within: float) -> NDArray[np.float64]:
    """Return each worker's mean drawn towards the crowd's as far as his few answers are noise.

    One-way random effects by moments: the spread between workers is what is left of the spread of their means once the
    noise within them is taken off. Workers differ much in speed, so a fixed weight would draw the slow ones too far.
    """
    n, total = len(own), float(count.sum())
    if n < 2:
        return own
    around = float(np.average(own, weights=count))
    per_worker = (total - float((count**2).sum()) / total) / (n - 1)
    spread = (float((count * (own - around) ** 2).sum()) / (n - 1) - within) / per_worker
    if spread <= 0:
        return np.full(n, around)
    centre = float(np.average(own, weights=1 / (spread + within / count)))
    trust = spread / (spread + within / count)
    return trust * own + (1 - trust) * centre


def _positive(values: list[Any], name: str) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=float)
    bad = np.flatnonzero(~(array > 0) | ~np.isfinite(array))
    if bad.size:
        raise FrameError(f"answers column {name!r} is {array[bad[0]]} in row {bad[0]}; times must be above 0")
    return array
