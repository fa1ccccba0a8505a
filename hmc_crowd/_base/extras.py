"""Optional dependencies: how a missing one becomes one sentence with the pip line."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from hmc_crowd.errors import MissingExtraError

__all__ = ["require"]


def require(module: str, *, extra: str, purpose: str) -> Any:
    """Import an optional module, or say how to get it.

    Parameters
    ----------
    module : str
        Dotted name of the module to import.
    extra : str
        The extra of this package that brings it.
    purpose : str
        What needs it, as the start of the sentence.

    Raises
    ------
    MissingExtraError
        The module is not installed.

    Examples
    --------
    >>> require("math", extra="none", purpose="Counting").sqrt(9.0)
    3.0
    >>> require("no_such_module_", extra="boost", purpose="kind='xgboost'")
    Traceback (most recent call last):
    ...
    hmc_crowd.errors.MissingExtraError: kind='xgboost' needs no_such_module_: pip install 'hmc-crowd[boost]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        missing = error.name or module
        raise MissingExtraError(f"{purpose} needs {missing}: pip install 'hmc-crowd[{extra}]'") from None
