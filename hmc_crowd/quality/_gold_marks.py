"""How near is an answer to the gold, and how sure does that make us of the worker?

A mark lies in [0, 1]: exact labels are 0 or 1, ratings may differ by a tolerance, free texts are compared by meaning,
the cosine of two vectors mapped from [-1, 1] to [0, 1]. The encoder is any callable from texts to vectors.

The source then says: confidence = .7 x similarity + .3 x accuracy of the last 50, where the last 50 hold the answer
itself, so that it counts twice. Here they are the *earlier* ones; ``rule="literal"`` computes the source's.

Source: requirements D10 and D11.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from hmc_crowd._base.checks import first_rows, float_vector, require_same_length
from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality._gold_scores import beta_interval
from hmc_crowd.quality._matching import same_labels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["exact_marks", "gold_confidence", "semantic_marks", "tolerance_marks"]


def exact_marks(answers: Sequence[Any], gold: Sequence[Any]) -> NDArray[np.float64]:
    """Return 1 where the label is the gold label, else 0; a missing answer is 0.

    Examples
    --------
    >>> exact_marks(["yes", "no", None], ["yes", "yes", "no"]).tolist()
    [1.0, 0.0, 0.0]
    """
    require_same_length([("answers", answers), ("gold", gold)])
    return same_labels(answers, gold).astype(np.float64)


def tolerance_marks(
    answers: ArrayLike, gold: ArrayLike, *, tolerance: float, fades_to: float | None = None
) -> NDArray[np.float64]:
    """Return 1 where a rating is within the tolerance of the gold rating, else 0, or a mark that fades.

    Parameters
    ----------
    answers, gold : arrays of float, shape (n,)
        A missing answer (NaN) is marked 0.
    tolerance : float
        Difference that is still right, at least 0.
    fades_to : float, optional
        Difference at which the mark has fallen to 0, on a straight line from 1 at the tolerance; above it.

    Examples
    --------
    >>> tolerance_marks([3, 4, 5.5], [3, 3, 3], tolerance=1).tolist()
    [1.0, 1.0, 0.0]
    >>> tolerance_marks([3, 4, 4.5], [3, 3, 3], tolerance=1, fades_to=2).tolist()
    [1.0, 1.0, 0.5]
    """
    known = float_vector(gold, name="gold")
    given = np.asarray(answers, dtype=np.float64)
    require_same_length([("answers", given), ("gold", known)])
    if not 0 <= tolerance < np.inf:
        raise InputError(f"tolerance is {tolerance!r}; give the largest difference that is right, at least 0")
    if fades_to is not None and not tolerance < fades_to < np.inf:
        raise InputError(f"fades_to is {fades_to!r}; give a difference above the tolerance {tolerance:g}, or None")
    away = np.abs(given - known) - tolerance
    if fades_to is None:
        return np.asarray(away <= 1e-12, dtype=np.float64)
    return np.nan_to_num(np.clip(1 - away / (fades_to - tolerance), 0.0, 1.0), nan=0.0)


def semantic_marks(
    answers: Sequence[str], gold: Sequence[str], *, encode: Callable[[Sequence[str]], ArrayLike]
) -> NDArray[np.float64]:
    """Return (cosine + 1) / 2 of the meanings of answers and gold texts.

    Parameters
    ----------
    answers, gold : sequences of str, length n
        An empty or missing answer is marked 0 without asking the encoder.
    encode : callable
        Texts -> vectors, shape (n_texts, size); called once for all texts. For the source's encoder:
        ``hmc_crowd.confidence.text.TextEncoder("minilm").transform``.

    Returns
    -------
    array of float, shape (n,)
        A vector of zeros has no direction: its mark is 0, not one half. Unrelated texts are near .5, not near 0: choose
        the threshold of what counts as right on examples.

    Examples
    --------
    >>> words = {"good": [1.0, 0.0], "fine": [0.8, 0.6], "bad": [-1.0, 0.0], "??": [0.0, 0.0]}
    >>> encode = lambda texts: [words[text] for text in texts]
    >>> semantic_marks(["fine", "bad", "??"], ["good", "good", "good"], encode=encode).round(2).tolist()
    [0.9, 0.0, 0.0]
    """
    n = require_same_length([("answers", answers), ("gold", gold)])
    asked = [row for row in range(n) if not pd.isna(answers[row]) and str(answers[row]).strip()]
    texts = [str(answers[row]) for row in asked] + [str(gold[row]) for row in asked]
    marks = np.zeros(n)
    if not asked:
        return marks
    vectors = np.asarray(encode(texts), dtype=np.float64)
    if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
        raise InputError(
            f"encode returned shape {vectors.shape} for {len(texts)} texts; it must give one finite vector for each"
        )
    left, right = vectors[: len(asked)], vectors[len(asked) :]
    length = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    cosine = np.full(len(asked), -1.0)
    np.divide((left * right).sum(axis=1), length, out=cosine, where=length > 0)
    marks[asked] = (np.clip(cosine, -1.0, 1.0) + 1) / 2
    return marks


def gold_confidence(
    marked: pd.DataFrame,
    *,
    rule: Literal["earlier", "literal"] = "earlier",
    threshold: float = 0.7,
    window: int = 50,
    weight: float = 0.7,
    level: float = 0.95,
) -> pd.DataFrame:
    """Return how sure each answer makes us, from its mark and the worker's record.

    Parameters
    ----------
    marked : pandas.DataFrame
        ``worker, mark, at``; ``mark`` is missing where the task has no gold. In any order.
    rule : {"earlier", "literal"}, default "earlier"
        Whether the record holds the worker's earlier marks only (none of the same moment, such as of the same HIT), or
        the present one too, as in the source.
    threshold : float, default 0.7
        Marks from here on count as right in the record (exact marks: any threshold in (0, 1]).
    window : int, default 50
        Marks that the record goes back.
    weight : float, default 0.7
        Of the mark; the rest is the record's.
    level : float, default 0.95
        Of the record's beta interval.

    Returns
    -------
    pandas.DataFrame
        In the order given: ``worker, mark, right, n, rolling, low, high, confidence``. ``n`` marks are in the record
        with share right ``rolling`` (NaN at 0). Confidence is .5 without gold, the mark alone without a record, else
        ``weight * mark + (1 - weight) * rolling``.

    Examples
    --------
    >>> times = pd.date_range("2026-01-05", periods=3, tz="UTC")
    >>> marked = pd.DataFrame({"worker": "ann", "mark": [1.0, 0.0, None], "at": times})
    >>> gold_confidence(marked)["confidence"].round(3).tolist()  # 1; .7 * 0 + .3 * 1; no gold
    [1.0, 0.3, 0.5]
    >>> gold_confidence(marked, rule="literal")["confidence"].round(3).tolist()  # second: .7 * 0 + .3 * 1/2
    [1.0, 0.15, 0.5]
    """
    if rule not in ("earlier", "literal"):
        raise InputError(f"rule is {rule!r}; use 'earlier' or, to reproduce the source, 'literal'")
    if not (0 < threshold <= 1 and 0 <= weight <= 1):
        raise InputError(f"threshold is {threshold!r}, weight is {weight!r}; give shares, the threshold above 0")
    if isinstance(window, bool) or window < 1:
        raise InputError(f"window is {window!r}; give a whole number of at least 1")
    mark = _marks_of(marked)
    known = ~np.isnan(mark)
    hit = np.where(known, mark >= threshold - 1e-12, False)
    n, good = _records(marked, known, hit, window, literal=rule == "literal")
    rolling = np.divide(good, n, out=np.full(len(mark), np.nan), where=n > 0)
    low, high = beta_interval(good, n, level=level, prior=(1.0, 1.0))
    confidence = np.where(n > 0, weight * mark + (1 - weight) * np.nan_to_num(rolling), mark)
    return pd.DataFrame(
        {
            "worker": marked["worker"].to_numpy(),
            "mark": mark,
            "right": hit,
            "n": n,
            "rolling": rolling,
            "low": low,
            "high": high,
            "confidence": np.where(known, confidence, 0.5),
        }
    )


def _records(
    marked: pd.DataFrame, known: NDArray[np.bool_], hit: NDArray[np.bool_], window: int, *, literal: bool
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return how many marks are in the record that each row meets, and how many of them are right."""
    n, good = np.zeros(len(hit), dtype=np.intp), np.zeros(len(hit), dtype=np.intp)
    at = pd.DatetimeIndex(marked["at"]).asi8
    order = np.argsort(at, kind="stable")
    for rows in pd.Series(order).groupby(marked["worker"].to_numpy()[order]).groups.values():
        mine = order[np.asarray(rows)]
        of_mark = mine[known[mine]]
        # A record ends before the moment of its row, or with the row; it begins `window` marks earlier.
        end = np.cumsum(known[mine]) if literal else np.searchsorted(at[of_mark], at[mine], side="left")
        total = np.concatenate([[0], np.cumsum(hit[of_mark])])
        n[mine] = np.minimum(end, window)
        good[mine] = total[end] - total[np.maximum(end - window, 0)]
    return n, good


def _marks_of(marked: pd.DataFrame) -> NDArray[np.float64]:
    lacking = [name for name in ("worker", "mark", "at") if name not in marked.columns]
    if lacking:
        raise FrameError(f"marked lacks the column {', '.join(lacking)}; give worker, mark, at")
    if len(marked) and getattr(marked["at"].dtype, "tz", None) is None:
        raise FrameError("marked.at has no time zone; pass aware times, for example pd.to_datetime(times, utc=True)")
    missing = marked[["worker", "at"]].isna().any(axis=1).to_numpy()
    if missing.any():
        raise FrameError(f"marked misses a worker or a time in {first_rows(missing)}; drop these rows")
    mark: NDArray[np.float64] = marked["mark"].to_numpy(dtype=np.float64, na_value=np.nan)
    bad = ~np.isnan(mark) & ~((mark >= 0) & (mark <= 1))
    if bad.any():
        raise FrameError(f"marked.mark must lie in [0, 1], not so in {first_rows(bad, mark)}; correct these rows")
    return mark
