"""scikit-learn's manners: an estimator's parameters are what its constructor takes, and can be read, set and cloned.

Guarantee: ``sklearn.base.clone`` makes an unfitted copy of every estimator here. For that a constructor keeps each
argument as it came, under the argument's name; what follows from an argument is worked out when it is needed.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, ClassVar

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

__all__ = ["Parameters"]

_PLAIN = (str, int, float, bool, tuple, type(None))


class Parameters:
    """Base of estimators; ``_kept_as`` names the attribute of an argument whose own name is taken."""

    _kept_as: ClassVar[Mapping[str, str]] = {}

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 - scikit-learn's signature
        """Return the constructor's arguments."""
        return {name: getattr(self, self._kept_as.get(name, name)) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **values: Any) -> Self:
        """Set arguments of the constructor; unknown ones are refused. They take effect at the next ``fit``."""
        known = self.get_params()
        for name, value in values.items():
            if name not in known:
                raise InputError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known) or 'none'}"
                )
            setattr(self, self._kept_as.get(name, name), value)
        return self

    def __repr__(self) -> str:
        default = {name: each.default for name, each in inspect.signature(type(self)).parameters.items()}
        said = (f"{name}={value!r}" for name, value in self.get_params().items() if not _same(value, default[name]))
        return f"{type(self).__name__}({', '.join(said)})"


def _same(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, _PLAIN) and isinstance(default, _PLAIN) and value == default)
