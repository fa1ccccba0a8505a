"""How far do final labels agree with the true ones? Macro precision, recall and F1, and accuracy.

Macro means the plain mean over the classes that occur in either column, F1 the mean of the classes' F1s. A class
that is never predicted has precision 0, one that never occurs has recall 0: scikit-learn's numbers with
``zero_division=0``.

Source: Zhang, Ren, de Rijke (2021), section 4.4; per turn: their figure 6.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import float_vector, require_same_length
from hmc_crowd.errors import InputError
from hmc_crowd.metrics._codes import bool_vector, label_codes
from hmc_crowd.metrics._influence import Spread, share_interval
from hmc_crowd.metrics._intervals import ask_for
from hmc_crowd.metrics._intervals_clusters import cluster_ways, spread_of
from hmc_crowd.metrics._reliability_influence import macro_cells

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

__all__ = ["MacroScores", "macro_from_counts", "macro_scores", "per_position"]

# Up to so many labels the table of true x given labels is written out; the intervals need it.
_TABLE = 1_000


@dataclass(frozen=True)
class MacroScores:
    """Agreement of final labels with target labels.

    Parameters
    ----------
    precision, recall, f1 : float
        Means over the classes.
    accuracy : float
        Share of items whose labels agree.
    n, n_classes : int
        Items, and classes that occur in either column.
    method : str
        Which mean.
    intervals : mapping of str to (low, high)
        Of ``precision, recall, f1, accuracy``; empty if not asked for, or above 1,000 labels.
    level : float
        Their coverage.
    """

    precision: float
    recall: float
    f1: float
    accuracy: float
    n: int
    n_classes: int
    method: str = "macro mean over classes, 0 where a class is never predicted or never occurs"
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict, compare=False, repr=False)
    level: float = 0.95

    def __str__(self) -> str:
        return (
            f"precision {self.precision:.4f}, recall {self.recall:.4f}, F1 {self.f1:.4f}, accuracy {self.accuracy:.4f} "
            f"(macro, {self.n_classes} classes, n = {self.n:,})"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row: the metrics, ``n``, ``n_classes`` and, where there are intervals, ``<metric>_low, _high``."""
        import pandas as pd

        row = asdict(self)
        for name in ("method", "intervals", "level"):
            del row[name]
        for name, (low, high) in self.intervals.items():
            row[f"{name}_low"], row[f"{name}_high"] = low, high
        return pd.DataFrame([row])


def macro_scores(
    target: ArrayLike,
    predicted: ArrayLike,
    *,
    clusters: Any = None,
    level: float = 0.95,
    interval: str = "auto",
) -> MacroScores:
    """Compare labels with the true ones.

    Parameters
    ----------
    target, predicted : array of labels, shape (n_items,)
        Text, numbers or booleans, none missing.
    clusters : array (n_items,), or two of them, optional
        Items that belong together (dialogues); the intervals respect them.
    level : float, default 0.95
        Coverage of the intervals.
    interval : {"auto", "analytic", "none"}
        "auto" is analytic.

    Returns
    -------
    MacroScores

    Raises
    ------
    InputError
        Empty, of different lengths, or with missing labels.

    Examples
    --------
    >>> print(macro_scores(["a", "a", "b", "b"], ["a", "b", "b", "b"]))
    precision 0.8333, recall 0.7500, F1 0.7333, accuracy 0.7500 (macro, 2 classes, n = 4)
    """
    ask = ask_for(level, interval)
    if ask.interval == "bootstrap":
        raise InputError("interval is 'bootstrap'; the macro scores have analytic intervals")
    labels, codes = label_codes(target=target, predicted=predicted)
    truth, guess, size = codes["target"], codes["predicted"], len(labels)
    n = len(truth)
    if size > _TABLE:
        return _many_labels(truth, guess, size)
    cell = truth * size + guess
    table = np.bincount(cell, minlength=size * size).reshape(size, size)
    found = macro_cells(table)
    precision, recall, f1, accuracy = (found[name][0] for name in ("precision", "recall", "f1", "accuracy"))
    ends: dict[str, tuple[float, float]] = {}
    ways = cluster_ways(clusters, n)
    parts = min((way.size for way in ways), default=n)
    if ask.interval != "none" and parts > 1:
        for name, (value, influence) in found.items():
            if ways:
                spread = spread_of(influence.reshape(-1)[cell], ways)
                rough = Spread(spread.variance**0.5, spread.df, parts)
            else:
                rough = Spread((n / (n - 1) * float((table * influence**2).sum())) ** 0.5, n - 1, n)
            low, high = share_interval(value, rough, n, ask.level)
            if low is not None and high is not None:
                ends[name] = (low, high)
    return MacroScores(precision, recall, f1, accuracy, n, size, intervals=ends, level=ask.level)


def _many_labels(truth: NDArray[np.intp], guess: NDArray[np.intp], size: int) -> MacroScores:
    """Return the scores alone where the table of labels x labels would be too large."""
    right = truth == guess
    counts = (np.bincount(each, minlength=size) for each in (truth[right], guess, truth))
    precision, recall, f1 = macro_from_counts(*counts)
    return MacroScores(float(precision), float(recall), float(f1), float(right.mean()), len(truth), size)


def macro_from_counts(
    hits: NDArray[Any], predicted: NDArray[Any], occurring: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return macro precision, recall and F1 from counts per class, the classes on the last axis.

    Parameters
    ----------
    hits, predicted, occurring : array of int, shape (..., n_classes)
        Items of the class that are predicted as it; items predicted as it; items of it.

    Returns
    -------
    precision, recall, f1 : array of float, shape (...)

    Examples
    --------
    >>> [float(each.round(4)) for each in macro_from_counts(np.array([1, 2]), np.array([1, 3]), np.array([2, 2]))]
    [0.8333, 0.75, 0.7333]
    """
    classes = np.count_nonzero((predicted > 0) | (occurring > 0), axis=-1)
    # Where a divisor is 0 the numerator is 0 too, so dividing by 1 gives the wanted 0.
    precision = (hits / np.maximum(predicted, 1)).sum(axis=-1) / classes
    recall = (hits / np.maximum(occurring, 1)).sum(axis=-1) / classes
    f1 = (2.0 * hits / np.maximum(predicted + occurring, 1)).sum(axis=-1) / classes
    return precision, recall, f1


def per_position(
    position: ArrayLike,
    target: ArrayLike,
    final: ArrayLike,
    *,
    to_human: ArrayLike | None = None,
    true_effort: ArrayLike | None = None,
) -> pd.DataFrame:
    """Tell reliability and effort for every position (turn) inside the dialogues.

    Parameters
    ----------
    position : array of int, shape (n_items,)
        Turn of each item.
    target, final : array of labels, shape (n_items,)
        True labels and the labels of the finished evaluation.
    to_human : array of bool, shape (n_items,), optional
        Items that people judged.
    true_effort : array of float, shape (n_items,), optional
        Effort that people spend on the item if they judge it, in any unit.

    Returns
    -------
    pandas.DataFrame
        One row per position, in order: ``position, n, precision, recall, f1, accuracy, human_share, effort_share``,
        where `effort_share` is people's effort on their items of that position / the effort of all items of that
        position. NaN where the input for a column is not given. Small `n` means a shaky row.

    Raises
    ------
    InputError
        Lengths differ, a position is not a whole number, or a value is missing.

    Examples
    --------
    >>> table = per_position([1, 1, 2], ["a", "b", "a"], ["a", "a", "a"], to_human=[True, False, False])
    >>> table[["position", "n", "accuracy", "human_share"]].values.tolist()
    [[1.0, 2.0, 0.5, 0.5], [2.0, 1.0, 1.0, 0.0]]
    """
    import pandas as pd

    labels, codes = label_codes(target=target, final=final)
    truth, guess = codes["target"], codes["final"]
    turns = float_vector(position, name="position")
    if (turns != np.floor(turns)).any():
        raise InputError("position must hold whole numbers; give the turn of each item, such as 1, 2, 3")
    human = None if to_human is None else bool_vector(to_human, name="to_human")
    effort = None if true_effort is None else float_vector(true_effort, name="true_effort", low=0.0)
    optional = [("to_human", human), ("true_effort", effort)]
    require_same_length([("target", truth), ("position", turns), *(pair for pair in optional if pair[1] is not None)])
    found, row = np.unique(turns.astype(np.int64), return_inverse=True)
    cell, shape = len(labels), (len(found), len(labels))
    right = truth == guess

    def by_class(code: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.intp]:
        return np.bincount(rows * cell + code, minlength=shape[0] * cell).reshape(shape)

    n = np.bincount(row, minlength=len(found))
    precision, recall, f1 = macro_from_counts(
        by_class(truth[right], row[right]), by_class(guess, row), by_class(truth, row)
    )
    nothing = np.full(len(found), np.nan)
    human_share = nothing if human is None else np.bincount(row, weights=human, minlength=len(found)) / n
    effort_share = nothing
    if human is not None and effort is not None:
        total = np.bincount(row, weights=effort, minlength=len(found))
        spent = np.bincount(row, weights=effort * human, minlength=len(found))
        effort_share = np.divide(spent, total, out=np.full(len(found), np.nan), where=total > 0)
    columns = {"position": found, "n": n, "precision": precision, "recall": recall, "f1": f1}
    accuracy = np.bincount(row, weights=right, minlength=len(found)) / n
    return pd.DataFrame({**columns, "accuracy": accuracy, "human_share": human_share, "effort_share": effort_share})
