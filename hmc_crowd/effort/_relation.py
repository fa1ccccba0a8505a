"""Which features go with time, and what the worker features add.

`time_correlations` is table 5 of the source (Pearson and Spearman with stars), `ablation` its table 4 (dialogue
features against dialogue and worker features, same folds).

Source: Zhang, Ren, de Rijke (2021), section 4.4, tables 4 and 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import float_vector, require_same_length
from hmc_crowd.effort._frames import as_pandas, number_matrix
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    from hmc_crowd.effort._evaluate import EffortScores
    from hmc_crowd.effort._model import EffortModel

__all__ = ["Ablation", "ablation", "select_features", "time_correlations"]


def stars(p: float) -> str:
    """Return the source's mark: ``**`` below .001, ``*`` below .05."""
    return "**" if p < 0.001 else "*" if p < 0.05 else ""


def time_correlations(features: Any, seconds: ArrayLike, *, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Correlate each feature with time.

    Parameters
    ----------
    features : table, n rows
    seconds : array of float, shape (n,)
    columns : sequence of str, optional
        Which features; all by default.

    Returns
    -------
    pandas.DataFrame
        Index ``feature``; ``pearson, pearson_p, pearson_stars, spearman, spearman_p, spearman_stars, n, reason``.
        Rows with a missing value are left out of that feature alone. A constant feature has NaN and a ``reason``.

    Examples
    --------
    >>> table = time_correlations({"turns": [1, 2, 3, 4], "same": [7, 7, 7, 7]}, [10.0, 20.0, 30.0, 80.0])
    >>> round(float(table.loc["turns", "spearman"]), 6), table.loc["same", "reason"]
    (1.0, 'the feature does not vary')
    """
    import pandas as pd

    table, target = as_pandas(features, name="features"), float_vector(seconds, name="seconds", low=0.0)
    names = [str(column) for column in table.columns] if columns is None else list(columns)
    matrix = number_matrix(table.set_axis([str(column) for column in table.columns], axis=1), names, name="features")
    require_same_length([("seconds", target), ("features", matrix)])
    rows = [_correlate(matrix[:, k], target) for k in range(len(names))]
    return pd.DataFrame(rows, index=pd.Index(names, name="feature"))


def _correlate(feature: NDArray[np.float64], seconds: NDArray[np.float64]) -> dict[str, Any]:
    """Return one row of the table."""
    from scipy.stats import pearsonr, spearmanr

    known = ~np.isnan(feature)
    x, y = feature[known], seconds[known]
    why = "fewer than 3 rows" if len(x) < 3 else ""
    for name, values in (("feature", x), ("time", y)):
        if not why and np.ptp(values) <= 1e-12 * max(1.0, float(np.abs(values).max())):
            why = f"the {name} does not vary"
    row: dict[str, Any] = {}
    for name, test in (("pearson", pearsonr), ("spearman", spearmanr)):
        value, p = (float("nan"), float("nan")) if why else (float(each) for each in test(x, y))
        row |= {name: value, f"{name}_p": p, f"{name}_stars": stars(p)}
    return row | {"n": len(x), "reason": why}


def select_features(features: Any, seconds: ArrayLike, *, limit: int = 10, level: float = 0.05) -> tuple[str, ...]:
    """Return the features that go with time, strongest first, at most ``limit``: the source's selection.

    A feature counts if its Pearson or its Spearman correlation is significant at ``level``; strength is the larger of
    both absolute values.

    Examples
    --------
    >>> select_features({"turns": [1, 2, 3, 4, 5, 6], "same": [7] * 6}, [10.0, 20.0, 30.0, 40.0, 55.0, 60.0])
    ('turns',)
    """
    if limit < 1:
        raise InputError(f"limit is {limit}; keep at least 1 feature")
    table = time_correlations(features, seconds)
    related = table[(table["pearson_p"] < level) | (table["spearman_p"] < level)]
    strength = related[["pearson", "spearman"]].abs().max(axis=1).sort_values(ascending=False, kind="stable")
    return tuple(map(str, strength.index[:limit]))


@dataclass(frozen=True)
class Ablation:
    """Scores per set of features, from the same folds.

    Attributes
    ----------
    scores : dict of str to EffortScores
    """

    scores: dict[str, EffortScores]

    def to_frame(self) -> pd.DataFrame:
        """Return ``mse, rmse, mae, r2`` per set, and their change against the first set (``_change_pct``)."""
        import pandas as pd

        names = ["mse", "rmse", "mae", "r2"]
        rows = [[getattr(each, name) for name in names] for each in self.scores.values()]
        frame = pd.DataFrame(rows, columns=names, index=pd.Index(list(self.scores), name="features"))
        change = 100 * (frame / frame.iloc[0] - 1)
        return frame.join(change.add_suffix("_change_pct"))

    def __str__(self) -> str:
        return "\n".join(f"{name}: {scores}" for name, scores in self.scores.items())

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html())


def ablation(
    model: EffortModel,
    X: Any,
    seconds: ArrayLike,
    *,
    sets: Sequence[str] | Mapping[str, Sequence[str]] = ("D", "D+W"),
    folds: int = 5,
    groups: ArrayLike | None = None,
    scaling: str = "train",
) -> Ablation:
    """Evaluate the same kind of model on different sets of features.

    Parameters
    ----------
    model : EffortModel
        Its parameters are used; itself it stays as it is.
    X : table
        With the columns of all sets.
    seconds : array of float
    sets : sequence of group names, or mapping of name to feature names, default ("D", "D+W")
    folds, groups, scaling
        As in `EffortModel.evaluate`.
    """
    named: dict[str, Any] = dict(sets) if isinstance(sets, Mapping) else {name: name for name in sets}
    if not named:
        raise InputError("sets is empty; name at least one set of features, for example 'D'")
    scores = {}
    for name, features in named.items():
        variant = type(model)(**{**model.get_params(), "features": features})
        scores[name] = variant.evaluate(X, seconds, folds, groups, scaling=scaling, coverage=False)
    return Ablation(scores)
