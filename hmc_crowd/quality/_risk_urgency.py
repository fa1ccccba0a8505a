"""How risky and how urgent is an item? The one place where words become numbers, and back.

The source names risk and urgency but no levels; ours are low, medium and high, and 1 (can wait) to 5 (now).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd._base.checks import first_rows
from hmc_crowd.errors import FrameError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["RISKS", "URGENCIES", "risk_codes", "shares_of", "urgency_of"]

RISKS = ("low", "medium", "high")
URGENCIES = (1, 2, 3, 4, 5)


def risk_codes(values: Any) -> NDArray[np.float64]:
    """Return 0, 1 or 2 for low, medium and high; NaN where the risk is not known.

    Raises
    ------
    FrameError
        A level that is none of the three.

    Examples
    --------
    >>> risk_codes(["high", "low", None]).tolist()
    [2.0, 0.0, nan]
    """
    given = pd.Series(values, dtype=object)
    places = given.map({level: float(place) for place, level in enumerate(RISKS)})
    codes: NDArray[np.float64] = np.asarray(places, dtype=np.float64)
    bad = np.isnan(codes) & given.notna().to_numpy()
    if bad.any():
        raise FrameError(f"risk must be low, medium or high: {first_rows(bad, given.to_numpy())}; correct these rows")
    return codes


def urgency_of(values: Any) -> NDArray[np.float64]:
    """Return the urgency, 1 to 5; NaN where it is not known.

    Raises
    ------
    FrameError
        Not a whole number from 1 to 5.
    """
    given = pd.Series(values, dtype=object)
    urgency: NDArray[np.float64] = np.asarray(pd.to_numeric(given, errors="coerce"), dtype=np.float64)
    bad = given.notna().to_numpy() & ~np.isin(urgency, URGENCIES)
    if bad.any():
        raise FrameError(f"urgency must be 1 to 5: {first_rows(bad, given.to_numpy())}; correct these rows")
    return urgency


def shares_of(values: Any, *, name: str) -> NDArray[np.float64]:
    """Return numbers in [0, 1]; NaN where they are not known.

    Raises
    ------
    FrameError
        Something that is no number, or outside [0, 1].
    """
    given = pd.Series(values)
    found: NDArray[np.float64] = np.asarray(pd.to_numeric(given, errors="coerce"), dtype=np.float64)
    bad = given.notna().to_numpy() & ~((found >= 0) & (found <= 1))
    if bad.any():
        raise FrameError(f"{name} must lie in [0, 1]: {first_rows(bad, given.to_numpy())}; correct these rows")
    return found
