"""How good is an effort model, on given rows and in cross-validation?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from hmc_crowd._base.checks import float_vector, require_same_length
from hmc_crowd.effort._evaluate import EffortScores, evaluate_model
from hmc_crowd.effort._inputs import check_params
from hmc_crowd.effort._kinds import KINDS
from hmc_crowd.effort._manners import Manners

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from hmc_crowd.effort._model import EffortModel

__all__: list[str] = []


class Judged(Manners):
    """What a regressor says of itself: R2 on given rows, and its scores in cross-validation."""

    def score(self, X: Any, seconds: ArrayLike) -> float:
        """Return R2 in seconds on these rows."""
        truth = float_vector(seconds, name="seconds", low=0.0)
        predicted = cast("EffortModel", self).predict(X)
        require_same_length([("X", predicted), ("seconds", truth)])
        spread = float(((truth - truth.mean()) ** 2).sum())
        return 1.0 - float(((truth - predicted) ** 2).sum()) / spread if spread > 0 else float("nan")

    def evaluate(
        self,
        X: Any,
        seconds: ArrayLike,
        folds: int = 5,
        groups: ArrayLike | None = None,
        *,
        scaling: str = "train",
        coverage: bool = True,
        workers: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        finished: ArrayLike | None = None,
    ) -> EffortScores:
        """Cross-validate a clone of this model; itself it stays as it is.

        Parameters
        ----------
        X, seconds
            As in `fit`.
        folds : int, default 5
            Shuffled by ``seed``.
        groups : array, shape (n,), optional
            For example the worker of each row: then no group is in training and test at once.
        scaling : {"train", "all"}, default "train"
            Where the share's minimum and maximum come from: the training fold, or all rows (the source's literal way,
            which lets the test rows set the scale).
        coverage : bool, default True
            Also measure how many held-out times lie within each of ``quantiles``, and the pinball loss.
        workers : array, shape (n,), optional
            Who worked, for kind ``log_time``: in fit and, where ``groups`` does not keep them apart, in prediction.
        sample_weight : array of float, shape (n,), optional
            As in `fit`; held-out rows count alike.
        finished : array of bool, shape (n,), optional
            As in `fit`: what was cut off takes part in training and is not predicted.

        Returns
        -------
        EffortScores

        Examples
        --------
        >>> import numpy as np
        >>> from hmc_crowd.effort import EffortModel
        >>> rng = np.random.default_rng(1)
        >>> turns = rng.uniform(1, 10, 200)
        >>> scores = EffortModel(n_estimators=20).evaluate({"turns": turns}, 20 + 8 * turns + rng.normal(0, 5, 200))
        >>> bool(scores.r2 > 0.8), len(scores.folds)
        (True, 5)
        """
        model = cast("EffortModel", self)
        check_params(model, KINDS)
        return evaluate_model(
            model,
            X,
            seconds,
            folds=folds,
            groups=groups,
            scaling=scaling,
            coverage=coverage,
            workers=workers,
            weight=sample_weight,
            finished=finished,
        )
