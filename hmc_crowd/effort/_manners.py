"""What scikit-learn expects of an estimator: parameters that can be read, set and cloned, and its tags."""

from __future__ import annotations

from typing import Any

from hmc_crowd._base.parameters import Parameters

__all__: list[str] = []


class Manners(Parameters):
    """Parameters of a regressor, and its tags."""

    kind: str

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
