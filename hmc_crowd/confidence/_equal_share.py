"""With the same number of items given to people, which confidence gives the most reliable labels?

Each confidence sends its least sure items to people; all of them send equally many. What differs is which. The
differences are paired: every confidence is tried on the same resampled items, so that what all of them find easy or
hard cancels. Percentile bootstrap over items, or over whole clusters.

Source of the question: Zhang, Ren, de Rijke (2021), section 6.2; figure 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import float_vector, require_generator, require_same_length
from hmc_crowd.confidence._inputs import bool_vector
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

__all__ = ["compare_at_equal_share"]


def compare_at_equal_share(
    confidences: Mapping[str, ArrayLike],
    correct: ArrayLike,
    *,
    human_shares: Sequence[float] = (0.1, 0.2, 0.3, 0.4, 0.5),
    human_correct: ArrayLike | None = None,
    clusters: Any = None,
    reference: str | None = None,
    draws: int = 1000,
    level: float = 0.95,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Route by each confidence at equal human shares, and compare the accuracy of the final labels.

    Parameters
    ----------
    confidences : mapping of str to array of float, shape (n_items,)
        Higher for surer; any scale, since only the order counts. Equal values keep item order, as in `route`.
    correct : array of bool, shape (n_items,)
        Whether the machine's label is right.
    human_shares : sequence of float
        Parts of the items that people get, each in [0, 1]; floor(share * n) items.
    human_correct : array of bool, shape (n_items,), optional
        Whether people's label is right; everywhere by default, as in the paper.
    clusters : array (n_items,), optional
        Items that belong together are drawn together.
    reference : str, optional
        The confidence that others are compared with; the first by default.
    draws : int, default 1000
        Of the bootstrap.
    level : float, default 0.95
        Coverage of each interval; not simultaneous.
    rng : Generator
        Draws the samples.

    Returns
    -------
    DataFrame
        ``confidence, human_share, accuracy, low, high, difference, difference_low, difference_high``; the difference
        is to the reference, 0 for itself.

    Raises
    ------
    InputError
        Lengths differ, a share is out of range, or ``reference`` is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> sure = {"good": [0.1, 0.9, 0.8, 0.2], "bad": [0.9, 0.1, 0.2, 0.8]}
    >>> table = compare_at_equal_share(
    ...     sure, [False, True, True, False], human_shares=[0.5], draws=10, rng=np.random.default_rng(0)
    ... )
    >>> table["accuracy"].tolist()
    [1.0, 0.5]
    """
    require_generator(rng)
    import pandas as pd

    right, scores, first = _checked(confidences, correct, reference, draws, level)
    n = len(right)
    people = np.ones(n, dtype=bool) if human_correct is None else bool_vector(human_correct, name="human_correct")
    require_same_length([("correct", right), ("human_correct", people)])
    shares = np.asarray(human_shares, dtype=np.float64)
    if shares.ndim != 1 or not len(shares) or not ((shares >= 0) & (shares <= 1)).all():
        raise InputError(f"human_shares is {human_shares!r}; give shares in [0, 1], such as [0.1, 0.5]")
    orders = [np.argsort(each, kind="stable") for each in scores.values()]
    point = _accuracies(orders, np.ones(n), right, people, shares)
    samples = np.stack(
        [_accuracies(orders, weight, right, people, shares) for weight in _weights(n, clusters, draws, rng)]
    )
    at = list(scores).index(first)
    ends = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(samples, ends, axis=0)
    change_low, change_high = np.quantile(samples - samples[:, at : at + 1], ends, axis=0)
    columns = {
        "accuracy": point,
        "low": low,
        "high": high,
        "difference": point - point[at],
        "difference_low": change_low,
        "difference_high": change_high,
    }
    places = {"confidence": np.repeat(list(scores), len(shares)), "human_share": np.tile(shares, len(scores))}
    return pd.DataFrame(places | {name: each.ravel() for name, each in columns.items()})


def _checked(
    confidences: Mapping[str, ArrayLike], correct: ArrayLike, reference: str | None, draws: int, level: float
) -> tuple[NDArray[np.bool_], dict[str, NDArray[np.float64]], str]:
    right = bool_vector(correct, name="correct")
    scores = {str(name): float_vector(each, name=str(name)) for name, each in confidences.items()}
    if not scores:
        raise InputError("confidences is empty; give at least one")
    for name, each in scores.items():
        require_same_length([("correct", right), (name, each)])
    first = next(iter(scores)) if reference is None else reference
    if first not in scores:
        raise InputError(f"reference is {reference!r}; the confidences are {', '.join(scores)}")
    if draws < 1 or not 0 < level < 1:
        raise InputError(f"draws is {draws} and level is {level}; give at least 1 draw and a level inside (0, 1)")
    return right, scores, first


def _weights(n: int, clusters: Any, draws: int, rng: np.random.Generator) -> Any:
    """Yield how often each item is drawn, one bootstrap sample at a time."""
    member = np.arange(n) if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1]
    require_same_length([("correct", np.empty(n)), ("clusters", member)])
    size = int(member.max()) + 1
    for _ in range(draws):
        yield np.bincount(rng.integers(0, size, size), minlength=size)[member].astype(np.float64)


def _accuracies(
    orders: list[NDArray[np.intp]],
    weight: NDArray[np.float64],
    right: NDArray[np.bool_],
    people: NDArray[np.bool_],
    shares: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the accuracy by confidence and share, shape (n_confidences, n_shares), of weighted items."""
    total = weight.sum()
    count = np.floor(shares * total + 1e-9)
    out = np.empty((len(orders), len(shares)))
    for row, order in enumerate(orders):
        drawn = np.cumsum(weight[order])
        # What each item adds when people judge it; an item drawn several times may lie on the border.
        gained = np.concatenate([[0.0], np.cumsum(weight[order] * (people[order].astype(float) - right[order]))])
        won = np.interp(count, np.concatenate([[0.0], drawn]), gained)
        out[row] = (weight @ right + won) / total
    return out
