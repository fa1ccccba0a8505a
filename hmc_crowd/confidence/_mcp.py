"""How sure does the classifier say it is? The probability it gives to the label that it predicts.

Costs nothing and needs no fit beyond the names of the classes. It is a probability of being right only as far as the
classifier is calibrated, which networks seldom are: see `Calibrator`.

Source: Zhang, Ren, de Rijke (2021), section 4.2; Hendrycks, Gimpel (2017).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from hmc_crowd.confidence._estimator import Parameters, register_confidence
from hmc_crowd.confidence._inputs import (
    classes_of,
    codes_of,
    label_vector,
    probability_matrix,
    require_fitted,
    same_items,
)
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["MaximumClassProbability"]


@register_confidence("mcp")
class MaximumClassProbability(Parameters):
    """Probability of the predicted class.

    Examples
    --------
    >>> mcp = MaximumClassProbability().fit([[0.9, 0.1], [0.3, 0.7]], ["good", "bad"], classes=["good", "bad"])
    >>> mcp.confidence([[0.8, 0.2], [0.4, 0.6]], ["good", "bad"]).tolist()
    [0.8, 0.6]
    """

    reads: ClassVar[str] = "probabilities"

    def fit(self, X: ArrayLike, y: Any, *, probabilities: Any = None, classes: Any = None) -> Self:  # noqa: ARG002
        """Learn which column is which class.

        Parameters
        ----------
        X : array of float, shape (n_items, n_classes)
            Class probabilities.
        y : array of labels, shape (n_items,)
            True labels; only their names are used.
        probabilities
            Not used: they are ``X``.
        classes : sequence of labels, optional
            The classes in the order of the columns; those of ``y``, sorted, by default (scikit-learn's order).

        Raises
        ------
        InputError
            ``X`` holds no probabilities, or has not one column for each class.
        """
        given = probability_matrix(X)
        found = classes_of(label_vector(y, name="y"), classes)
        if len(found) != given.shape[1]:
            raise InputError(
                f"probabilities has {given.shape[1]} columns for the classes {found.tolist()}; give classes= in the "
                "order of the columns"
            )
        self.classes_ = found
        return self

    def confidence(self, X: ArrayLike, predicted: Any = None) -> NDArray[np.float64]:
        """Return the probability of the predicted class, shape (n_items,).

        Parameters
        ----------
        X : array of float, shape (n_items, n_classes)
            Class probabilities.
        predicted : array of labels, shape (n_items,), optional
            The labels that were predicted; the most probable ones by default.

        Raises
        ------
        InputError
            Not probabilities, or a predicted label is none of the classes.
        StateError
            It is not fitted, and ``predicted`` is given.
        """
        given = probability_matrix(X, n_classes=len(self.classes_) if hasattr(self, "classes_") else None)
        if predicted is None:
            return np.asarray(given.max(axis=1).clip(max=1.0))
        require_fitted(self, "classes_")
        labels = label_vector(predicted, name="predicted")
        same_items(("probabilities", given), ("predicted", labels))
        codes = codes_of(labels, self.classes_, name="predicted")
        return np.asarray(given[np.arange(len(given)), codes].clip(max=1.0))

    def to_bytes(self) -> bytes:
        """Return the fitted estimator as a skops file; see `load_confidence`."""
        from hmc_crowd.confidence._persist import dump

        return dump(self)

    def _state(self) -> dict[str, Any]:
        require_fitted(self, "classes_")
        return {"classes": self.classes_.tolist()}

    @classmethod
    def _from_state(cls, state: dict[str, Any]) -> Self:
        model = cls()
        model.classes_ = np.asarray(state["classes"])
        return model
