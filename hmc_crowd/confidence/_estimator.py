"""The edge where estimators of confidence plug in: a protocol, and a registering decorator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, runtime_checkable

from hmc_crowd._base.parameters import Parameters
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

__all__ = ["ConfidenceEstimator", "Parameters", "confidence_estimator", "confidence_names", "register_confidence"]

_KNOWN: dict[str, type[Any]] = {}


@runtime_checkable
class ConfidenceEstimator(Protocol):
    """Anything that says how sure one may be of a label: in [0, 1], higher for surer.

    ``reads`` names what its ``X`` is: "probabilities" (n_items, n_classes) or "features" (n_items, n_features).
    """

    reads: ClassVar[str]

    def fit(self, X: ArrayLike, y: Any, *, probabilities: Any = None, classes: Any = None) -> Self:
        """Learn from items whose true label is known; ``probabilities`` is what the classifier said of them."""
        ...

    def confidence(self, X: ArrayLike, predicted: Any) -> NDArray[np.float64]:
        """Return the confidence in the predicted labels, shape (n_items,)."""
        ...


def register_confidence(name: str) -> Callable[[type[Any]], type[Any]]:
    """Make a class known by a name, so that `StackedConfidence` and `confidence_estimator` find it.

    Parameters
    ----------
    name : str
        Short and not taken yet.

    Raises
    ------
    InputError
        Another class has the name, or the class lacks ``reads``, ``fit`` or ``confidence``.

    Examples
    --------
    >>> import numpy as np
    >>> @register_confidence("constant")
    ... class Constant:
    ...     reads = "features"
    ...     def fit(self, X, y, *, probabilities=None, classes=None):
    ...         return self
    ...     def confidence(self, X, predicted):
    ...         return np.full(len(X), 0.5)
    >>> confidence_estimator("constant").confidence([[0.0], [1.0]], ["a", "b"]).tolist()
    [0.5, 0.5]
    """

    def note(kind: type[Any]) -> type[Any]:
        lacking = [each for each in ("reads", "fit", "confidence") if not hasattr(kind, each)]
        if lacking:
            raise InputError(f"{kind.__name__} lacks {', '.join(lacking)}; see ConfidenceEstimator")
        known = _KNOWN.get(name)
        if known is not None and (known.__module__, known.__qualname__) != (kind.__module__, kind.__qualname__):
            raise InputError(f"name is {name!r}, which {known.__name__} has; choose another")
        _KNOWN[name] = kind
        return kind

    return note


def confidence_names() -> tuple[str, ...]:
    """Return the names of the registered estimators, sorted.

    Examples
    --------
    >>> set(confidence_names()) >= {"mcp", "tcp", "trust_score"}
    True
    """
    return tuple(sorted(_KNOWN))


def confidence_estimator(name: str, **parameters: Any) -> Any:
    """Return a new estimator of a registered kind.

    Parameters
    ----------
    name : str
        Such as "mcp", "trust_score" or "tcp".
    **parameters
        Of its constructor.

    Raises
    ------
    InputError
        Nothing is registered by that name.

    Examples
    --------
    >>> confidence_estimator("trust_score", k=5)
    TrustScore(k=5)
    """
    if name not in _KNOWN:
        raise InputError(f"name is {name!r}; the estimators are {', '.join(confidence_names())}")
    return _KNOWN[name](**parameters)
