"""Optional dependencies: how a missing one becomes one sentence with the pip line.

The line names the packages themselves: it works however this package came here (a checkout, a wheel), since nothing
has to be found under its name.
"""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires
from typing import Any

from hmc_crowd.errors import MissingExtraError

__all__ = ["HOW_TO_INSTALL", "install_line", "require"]

HOW_TO_INSTALL = "pip install . in its checkout, or pip install its wheel"


def install_line(extra: str) -> str:
    """Return what installs the packages of an extra.

    Examples
    --------
    >>> install_line("boost")
    "pip install 'xgboost>=2.0'"
    """
    try:
        declared = requires("hmc-crowd") or []
    except PackageNotFoundError:  # run from a folder that was never installed
        declared = []
    parts = (each.partition(";") for each in declared)
    packages = [name.strip() for name, _, when in parts if re.search(rf"""extra == ['"]{re.escape(extra)}['"]""", when)]
    return f"pip install {shlex.join(packages)}" if packages else f"pip install '.[{extra}]' in its checkout"


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
    hmc_crowd.errors.MissingExtraError: kind='xgboost' needs no_such_module_: pip install 'xgboost>=2.0'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        missing = error.name or module
        raise MissingExtraError(f"{purpose} needs {missing}: {install_line(extra)}") from None
