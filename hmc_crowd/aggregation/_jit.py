"""Numba, if it is there: compiling a loop once, and keeping the machine code between runs.

Guarantee: nothing is ever written beside the package's own files. Machine code is kept in ``NUMBA_CACHE_DIR`` if the
user names one, else in ``hmc-crowd/numba`` of the user's cache folder; where that cannot be written, each process
compiles anew (about a second).
"""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.extras import require

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["cache_folder", "compiled", "has_numba"]


# numba's folder is a setting of the process: two threads must not change it at once.
_SETTING = Lock()


def has_numba() -> bool:
    """Whether numba is installed, without importing it."""
    return "numba" in sys.modules or find_spec("numba") is not None


def cache_folder() -> Path:
    """Return where machine code is kept by default."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "hmc-crowd" / "numba"


@cache
def compiled(make: Callable[..., Any], *arguments: int) -> Any:
    """Return a loop as machine code: ``make(*arguments)``, or ``make`` itself without arguments.

    It lets other threads run meanwhile. The machine code itself is made at the first call, for the types met there.

    Raises
    ------
    MissingExtraError
        numba is not installed.
    """
    numba = require("numba", extra="fast", purpose="engine='numba'")
    function = make(*arguments) if arguments else make
    try:
        return _kept(numba, function)
    except (RuntimeError, OSError):  # numba finds no folder that it may write to
        return numba.njit(function, nogil=True)


def _kept(numba: Any, function: Callable[..., Any]) -> Any:
    """Compile with a cache outside the package: numba's own choice would be the folder of the source."""
    with _SETTING:
        before = numba.config.CACHE_DIR
        if before:
            return numba.njit(function, nogil=True, cache=True)
        numba.config.CACHE_DIR = str(cache_folder())
        try:
            return numba.njit(function, nogil=True, cache=True)
        finally:
            numba.config.CACHE_DIR = before
