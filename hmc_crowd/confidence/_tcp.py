"""What probability does the classifier give to the true label? A network learns to tell it from the features.

The maximum class probability is high by construction, also where the label is wrong; the probability of the true class
is low there. It is known for labelled items only, so it is predicted: five dense layers, sigmoid output, mean squared
error, at most 30 epochs, stopped after 10 without a better validation loss.

The targets should come from a classifier that has not learnt from the items (held-out or out-of-fold probabilities):
one that fits its training set perfectly gives every true class probability 1, and there is nothing to learn.

Sources: Corbiere, Thome, Bar-Hen, Cord, Perez (2019); Zhang, Ren, de Rijke (2021), section 4.2.
"""

from __future__ import annotations

from importlib.util import find_spec
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from hmc_crowd.confidence._estimator import Parameters, register_confidence
from hmc_crowd.confidence._inputs import (
    classes_of,
    codes_of,
    label_vector,
    matrix,
    probability_matrix,
    require_fitted,
    same_items,
)
from hmc_crowd.confidence._network import Network, Training, train_network
from hmc_crowd.errors import InputError, ModelError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

__all__ = ["TrueClassProbability"]

_LEAST_ITEMS = 20


@register_confidence("tcp")
class TrueClassProbability(Parameters):
    """Predicted probability of the true class.

    Parameters
    ----------
    backend : {"auto", "torch", "sklearn"}
        "torch" is the network of the source (the `text` extra brings it; a GPU is used if there is one); "sklearn" has
        the same layers, but learns the log-odds by squared error. "auto" takes torch where it is installed. Once
        fitted, neither is needed.
    width : int, optional
        Units of each hidden layer; as many as there are features by default, which for 768 of them gives the 2.4
        million parameters that the paper names.
    epochs : int, default 30
        Most epochs.
    patience : int, default 10
        Epochs without a better validation loss before it stops.
    batch_size : int, default 64
        Items of a step.
    learning_rate : float, default 1e-4
        Of Adam.
    validation : float, default 0.1
        Share of the items that is held out to decide when to stop.
    seed : int, default 0
        Of weights, split and order.
    progress : callable, optional
        Told (what, done, total) after each epoch (torch).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
    >>> p = 1 / (1 + np.exp(-X[:, 0]))
    >>> tcp = TrueClassProbability("sklearn", width=8, learning_rate=0.01)
    >>> tcp = tcp.fit(X, y, probabilities=np.stack([1 - p, p], axis=1))
    >>> far, near = tcp.confidence([[3.0, 0.0], [0.0, 0.0]])
    >>> bool(far > near)
    True
    """

    reads: ClassVar[str] = "features"

    def __init__(
        self,
        backend: str = "auto",
        *,
        width: int | None = None,
        epochs: int = 30,
        patience: int = 10,
        batch_size: int = 64,
        learning_rate: float = 1e-4,
        validation: float = 0.1,
        seed: int = 0,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> None:
        self.backend = backend
        self.width = width
        self.epochs = epochs
        self.patience = patience
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.validation = validation
        self.seed = seed
        self.progress = progress

    def fit(self, X: ArrayLike, y: Any, *, probabilities: Any = None, classes: Any = None) -> Self:
        """Train the network.

        Parameters
        ----------
        X : array of float, shape (n_items, n_features)
            Features of labelled items.
        y : array of labels, shape (n_items,)
            Their true labels.
        probabilities : array of float, shape (n_items, n_classes)
            What the classifier said of them; needed.
        classes : sequence of labels, optional
            The classes in the order of the columns; those of ``y``, sorted, by default.

        Raises
        ------
        InputError
            ``probabilities`` is missing, or something cannot be used.
        ModelError
            Fewer than 20 items.
        MissingExtraError
            ``backend="torch"`` and torch is not installed.
        """
        self._check()
        points, labels = matrix(X, name="X"), label_vector(y, name="y")
        if probabilities is None:
            raise InputError("probabilities is None; the target is the probability that they give to the true class")
        given = probability_matrix(probabilities)
        same_items(("X", points), ("y", labels), ("probabilities", given))
        found = classes_of(labels, classes)
        if len(found) != given.shape[1]:
            raise InputError(
                f"probabilities has {given.shape[1]} columns for the classes {found.tolist()}; give classes= in the "
                "order of the columns"
            )
        if len(points) < _LEAST_ITEMS:
            raise ModelError(f"there are {len(points)} items; give at least {_LEAST_ITEMS} to train a network")
        target = given[np.arange(len(given)), codes_of(labels, found, name="y")]
        how = Training(
            width=self.width or points.shape[1],
            epochs=self.epochs,
            patience=self.patience,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            validation=self.validation,
            seed=self.seed,
            progress=self.progress,
        )
        self.backend_ = self.backend
        if self.backend == "auto":
            self.backend_ = "torch" if find_spec("torch") is not None else "sklearn"
        self.network_ = train_network(points, target.clip(0, 1), how, backend=self.backend_)
        self.classes_, self.n_features_in_ = found, points.shape[1]
        self.epochs_, self.n_parameters_ = self.network_.epochs, self.network_.n_parameters
        return self

    def confidence(self, X: ArrayLike, predicted: Any = None) -> NDArray[np.float64]:
        """Return the predicted probability of the true class, shape (n_items,).

        Parameters
        ----------
        X : array of float, shape (n_items, n_features)
            Features as in `fit`.
        predicted
            Not used: the network speaks of the classifier's label, whichever it is.
        """
        require_fitted(self, "network_")
        points = matrix(X, name="X", columns=self.n_features_in_)
        if predicted is not None:
            same_items(("X", points), ("predicted", label_vector(predicted, name="predicted")))
        return self.network_.predict(points)

    def to_bytes(self) -> bytes:
        """Return the fitted estimator as a skops file; see `load_confidence`."""
        from hmc_crowd.confidence._persist import dump

        return dump(self)

    def _state(self) -> dict[str, Any]:
        require_fitted(self, "network_")
        return {
            "params": self.get_params() | {"progress": None},
            "classes": self.classes_.tolist(),
            "backend": self.backend_,
            "network": self.network_.state(),
        }

    @classmethod
    def _from_state(cls, state: dict[str, Any]) -> Self:
        model = cls(**state["params"])
        model._check()
        model.network_ = Network.from_state(state["network"])
        model.classes_, model.backend_ = np.asarray(state["classes"]), str(state["backend"])
        model.n_features_in_ = len(model.network_.mean)
        model.epochs_, model.n_parameters_ = model.network_.epochs, model.network_.n_parameters
        return model

    def _check(self) -> None:
        if self.backend not in ("auto", "torch", "sklearn"):
            raise InputError(f"backend is {self.backend!r}; give 'auto', 'torch' or 'sklearn'")
        for name in ("width", "epochs", "patience", "batch_size"):
            value = getattr(self, name)
            if name == "width" and value is None:
                continue
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
                raise InputError(f"{name} is {value!r}; give an integer of at least 1")
        if not isinstance(self.learning_rate, Real) or not self.learning_rate > 0:
            raise InputError(f"learning_rate is {self.learning_rate!r}; give a number above 0")
        if not isinstance(self.validation, Real) or not 0 < self.validation < 1:
            raise InputError(f"validation is {self.validation!r}; give a share strictly between 0 and 1")
