"""How many seconds people will need for this dialogue.

`EffortModel` learns it from logged times: random forest as in the source, boosted trees, or the grown-up model on log
seconds (``kind="log_time"``). It predicts mean seconds, quantiles (P50 fills HITs, P90 sets time limits) and the
source's share, (t - min) / (max - min) with the extremes of the rows it was trained on.

Source: Zhang, Ren, de Rijke (2021), section 3.3 and appendix (random forest, 100 trees, 8 features per split, seed
397).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import float_vector, require_same_length
from hmc_crowd.effort._frames import as_pandas, number_matrix
from hmc_crowd.effort._inputs import (
    MIN_ROWS,
    array_matrix,
    check_params,
    check_quantiles,
    data_hash,
    is_array,
    training_matrix,
)
from hmc_crowd.effort._judged import Judged
from hmc_crowd.effort._kinds import KINDS, Core
from hmc_crowd.errors import InputError, ModelError, StateError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["EffortModel"]


class EffortModel(Judged):
    """Predict the time people need, in scikit-learn manners (works with ``clone``, ``cross_val_score``, pipelines).

    Parameters
    ----------
    kind : {"random_forest", "xgboost", "log_time"}, default "random_forest"
        The source's forest; boosted trees (extra ``boost``); or the model on log seconds that knows time-outs and
        workers' speeds and whose quantiles are calibrated.
    n_estimators : int, default 100
        Trees (or boosting rounds), 1 or more; the source's number.
    max_features : int, default 8
        Features tried per split (at most those there are); the source's number.
    min_samples_leaf : int, default 1
        Fewest rows in a leaf of the mean's trees (a forest's quantiles come from leaves of at least twenty rows).
    quantiles : sequence of float, default (0.5, 0.9)
        Quantiles in (0, 1) that are evaluated; a forest can predict any, the others only these. ``()`` learns no
        spread, in half the time.
    features : str, sequence of str or None, default None
        Columns to use: a group (``"D"``, ``"W"``, ``"T"``, ``"D+W"``), a list of names, or None for all columns of
        ``X``.
    seed : int, default 397
        The source's; fitting twice gives the same model.
    n_jobs : int or None, default None
        Threads; None is one.

    Attributes
    ----------
    feature_names_in_ : array of str
        Columns in the order used (``x0, x1, ...`` after fitting on an array).
    feature_importances_ : array of float, shape (n_features,)
        Sums to 1.
    min_s_, max_s_ : float
        Extremes of the training times: the scale of `predict_share`.
    n_rows_ : int
    data_hash_ : str
        SHA-256 of the training features and times.

    Notes
    -----
    Missing feature values (NaN) are allowed and mean "unknown" (a worker nobody has tested): trees learn which side
    they go to. Infinite values, and missing or negative times, are refused.

    Examples
    --------
    >>> import numpy as np
    >>> turns = np.arange(1.0, 41.0)
    >>> model = EffortModel(n_estimators=20).fit({"turns": turns}, 10 + 5 * turns)
    >>> bool(abs(model.predict({"turns": [20.0]})[0] - 110) < 10)
    True
    >>> model.predict_share({"turns": [1.0, 40.0]}).round(1).tolist()
    [0.0, 1.0]
    """

    def __init__(
        self,
        kind: str = "random_forest",
        *,
        n_estimators: int = 100,
        max_features: int = 8,
        min_samples_leaf: int = 1,
        quantiles: Sequence[float] = (0.5, 0.9),
        features: str | Sequence[str] | None = None,
        seed: int = 397,
        n_jobs: int | None = None,
    ) -> None:
        # Kept as they come and checked in fit: scikit-learn's clone asks for the very same objects back.
        self.kind = kind
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.quantiles = quantiles
        self.features = features
        self.seed = seed
        self.n_jobs = n_jobs

    # -- fitting -------------------------------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        seconds: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        workers: ArrayLike | None = None,
        finished: ArrayLike | None = None,
    ) -> EffortModel:
        """Learn from logged times.

        Parameters
        ----------
        X : table or array, shape (n, n_features)
        seconds : array of float, shape (n,)
            Cleaned times, finite and >= 0, not all equal; at least 10 rows.
        sample_weight : array of float, shape (n,), optional
            For example the inverse inclusion probability, where a plan chose which items people timed.
        workers : array, shape (n,), optional
            Who worked (``log_time`` only): quantiles are calibrated on workers not seen, and `predict` can be asked
            about these people. Kept in the model as text: give numbers where names are private.
        finished : array of bool, shape (n,), optional
            False where the work was cut off (time-out, given back), so that ``seconds`` is a lower bound (``log_time``
            only).

        Returns
        -------
        EffortModel
            Itself.

        Raises
        ------
        InputError, FrameError
            A parameter, column or value is not allowed.
        ModelError
            Too few rows, or all times equal.
        """
        check_params(self, KINDS)
        target = float_vector(seconds, name="seconds", low=0.0)
        names, matrix = training_matrix(X, self.features)
        require_same_length([("seconds", target), ("X", matrix)])
        if len(target) < MIN_ROWS:
            raise ModelError(f"only {len(target)} timed rows; collect at least {MIN_ROWS}, or plan with prior_effort")
        low, high = float(target.min()), float(target.max())
        if not high > low:
            raise ModelError(
                f"all {len(target)} times are {low:g} s, nothing can be learnt; check the clock that wrote them"
            )
        weight = None if sample_weight is None else float_vector(sample_weight, name="sample_weight", low=0.0)
        if weight is not None:
            require_same_length([("sample_weight", weight), ("seconds", target)])
            if not weight.sum() > 0:
                raise InputError("sample_weight is 0 everywhere; give some rows a weight")
        core = KINDS[self.kind].fit(matrix, target, weight, self, **self._known(workers, finished, len(target)))
        self._set_fitted(core, names, low, high, len(target), data_hash(names, matrix, target))
        return self

    def _known(self, workers: Any, finished: Any, n: int) -> dict[str, Any]:
        """Return who worked and what was finished, checked, for the kind that can use it."""
        given: dict[str, Any] = {}
        if workers is not None:
            given["workers"] = np.asarray(workers)
        if finished is not None:
            done = float_vector(finished, name="finished", low=0.0, high=1.0)
            if not np.isin(done, (0.0, 1.0)).all() or not done.any():
                raise InputError(
                    "finished must be true or false per row, and true for some; mark what was cut off false"
                )
            given["finished"] = done.astype(bool)
        if given and self.kind != "log_time":
            raise InputError(f"{next(iter(given))} says nothing to kind {self.kind!r}; use EffortModel('log_time')")
        for name, each in given.items():
            require_same_length([(name, each), ("seconds", np.empty(n))])
        return given

    def _set_fitted(
        self,
        core: Core,
        names: tuple[str, ...] | None,
        low: float,
        high: float,
        n_rows: int,
        hashed: str,
    ) -> None:
        """Set everything a fitted or loaded model has, at once, so that a failed fit leaves the old one whole."""
        importances = core.importances
        self._core, self._names = core, names
        self.n_features_in_ = len(importances)
        self.feature_names_in_ = np.array(
            names if names is not None else [f"x{k}" for k in range(len(importances))], dtype=object
        )
        self.feature_importances_ = importances
        self.min_s_, self.max_s_, self.n_rows_, self.data_hash_ = low, high, n_rows, hashed

    # -- predicting ----------------------------------------------------------------------------------------------------

    def _matrix(self, X: Any) -> NDArray[np.float64]:
        """Return the model's columns of ``X``, found by name where both sides have names."""
        if not hasattr(self, "_core"):
            raise StateError("this EffortModel is not fitted; first call fit(X, seconds)")
        if is_array(X) or self._names is None:
            matrix = array_matrix(X if is_array(X) else as_pandas(X, name="X").to_numpy())
            if matrix.shape[1] != self.n_features_in_:
                raise InputError(f"X has {matrix.shape[1]} columns but the model was fitted on {self.n_features_in_}")
            return matrix
        table = as_pandas(X, name="X")
        table = table.set_axis([str(column) for column in table.columns], axis=1)
        return number_matrix(table, self._names, name="X")

    def predict(self, X: Any, *, workers: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return expected seconds, shape (n,); a table may hold further columns, in any order.

        With ``workers`` (``log_time`` only) those of these people; who was not there at fit time is anyone. Without,
        as when planning, the expectation over whoever may come.
        """
        matrix = self._matrix(X)
        who = self._known(workers, None, len(matrix))
        return self._core.predict(matrix, **who) if len(matrix) else np.empty(0)

    def predict_share(self, X: Any) -> NDArray[np.float64]:
        """Return (seconds - min) / (max - min) of the training rows, clipped to [0, 1], shape (n,).

        A forest stays inside by itself; boosted trees may leave it a little, and the router takes shares only.
        """
        return np.clip((self.predict(X) - self.min_s_) / (self.max_s_ - self.min_s_), 0.0, 1.0)

    def predict_quantile(
        self, X: Any, q: float | Sequence[float] = 0.9, *, workers: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Return the seconds within which a share ``q`` of such rows is done: shape (n,), or (n, len(q)) for many.

        ``workers`` as in `predict`.
        """
        one = np.ndim(q) == 0
        asked = check_quantiles([q] if one else q, name="q")
        matrix = self._matrix(X)
        who = self._known(workers, None, len(matrix))
        found = self._core.quantiles(matrix, asked, **who) if len(matrix) else np.empty((0, len(asked)))
        return found[:, 0] if one else found

    # -- saving --------------------------------------------------------------------------------------------------------

    def to_bytes(self) -> bytes:
        """Return the fitted model as the bytes of a skops file; never a pickle. See `from_bytes`."""
        from hmc_crowd.effort._persist import dump_model

        if not hasattr(self, "_core"):
            raise StateError("this EffortModel is not fitted; first call fit(X, seconds)")
        return dump_model(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> EffortModel:
        """Load what `to_bytes` wrote; predictions are equal to the last bit.

        Raises
        ------
        ModelError
            Not such a file, cut short, newer than this code, or holding types that we do not write.
        """
        from hmc_crowd.effort._persist import load_model

        return load_model(cls, data)
