"""What scikit-learn expects of an estimator: parameters that can be read, set and cloned, and its tags."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from typing import Self

__all__: list[str] = []


class Manners:
    """Parameters are the keyword arguments of the constructor, kept as they came."""

    kind: str

    @classmethod
    def _param_names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 - scikit-learn passes it
        """Return the constructor's parameters by name."""
        return {name: getattr(self, name) for name in self._param_names()}

    def set_params(self, **params: Any) -> Self:
        """Set constructor parameters; they take effect at the next `fit`."""
        unknown = sorted(set(params) - set(self._param_names()))
        if unknown:
            raise InputError(
                f"{type(self).__name__} has no parameter {unknown[0]!r}; it has {', '.join(self._param_names())}"
            )
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that this is a regressor that accepts missing values."""
        from sklearn.utils import InputTags, RegressorTags, Tags, TargetTags

        return Tags(
            estimator_type="regressor",
            target_tags=TargetTags(required=True),
            regressor_tags=RegressorTags(),
            input_tags=InputTags(allow_nan=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_core")

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items() if name != "kind")
        return f"{type(self).__name__}({self.kind!r}, {shown})"
