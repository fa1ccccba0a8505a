"""Do two names, or two labels, mean the same?

Names of items and workers come from tables of different hands: 7 in one and "7" in the other would never meet, and
everything would look unknown. That is refused. A label that was read from a file or a form (text, or a float because a
label was missing) is the same label.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.aggregation._names import kind_of  # because names are of the same kinds there
from hmc_crowd.errors import FrameError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["require_one_kind", "same_label", "same_labels"]


def require_one_kind(first: Any, second: Any, *, name: str) -> None:
    """Refuse text on one side and numbers on the other.

    Examples
    --------
    >>> require_one_kind(["7"], [7], name="workers and answers.worker")
    Traceback (most recent call last):
    ...
    hmc_crowd.errors.FrameError: workers and answers.worker are of different kinds, text and numbers; make both text ...
    """
    kinds = [kind_of(pd.Index(each)) for each in (first, second)]
    if len(first) and len(second) and set(kinds) == {"text", "numbers"}:
        raise FrameError(f"{name} are of different kinds, {kinds[0]} and {kinds[1]}; make both text or both numbers")


def same_label(first: Any, second: Any) -> bool:
    """Whether two labels are the same, whatever file they went through.

    Examples
    --------
    >>> same_label(1.0, "1"), same_label("yes", "no"), same_label(float("nan"), "nan")
    (True, False, False)
    """
    if pd.isna(first) or pd.isna(second):
        return False
    return bool(first == second) or _text(first) == _text(second)


def same_labels(first: Iterable[Any], second: Iterable[Any]) -> NDArray[np.bool_]:
    """Return `same_label` of each pair."""
    return np.array([same_label(a, b) for a, b in zip(first, second, strict=True)], dtype=bool)


def _text(label: Any) -> str:
    if isinstance(label, float | np.floating) and float(label).is_integer():
        return str(int(label))
    return str(label)
