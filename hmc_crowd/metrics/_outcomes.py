"""Outcomes of comparisons as words, and what they are worth.

The words are ``'win'``, ``'tie'``, ``'loss'`` from the view of the target (the first response); None or ``'unparsed'``
where a judgement could not be read. Codes such as 0, 1, 2 are refused: they were tested elsewhere as if they were
scores, so that a tie ranked below a loss.
"""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hmc_crowd._base.checks import first_rows
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["LOSS", "TIE", "UNPARSED", "WIN", "WORDS", "Unparsed", "outcome_scores", "read_outcomes", "win_scores"]

WIN, TIE, LOSS, UNPARSED = 1, 0, -1, 2
WORDS = (("win", WIN), ("tie", TIE), ("loss", LOSS), ("unparsed", UNPARSED))
Unparsed = Literal["drop", "as_loss"]


def read_outcomes(outcomes: Any, *, name: str = "outcomes") -> NDArray[np.int8]:
    """Return outcomes as 1 win, 0 tie, -1 loss, 2 unparsed, shape (n,).

    Raises
    ------
    InputError
        Anything but 'win', 'tie', 'loss', 'unparsed' and missing values.

    Examples
    --------
    >>> read_outcomes(["win", None, "loss", "tie"]).tolist()
    [1, 2, -1, 0]
    """
    if hasattr(outcomes, "columns") and "outcome" in list(outcomes.columns):
        outcomes = outcomes["outcome"]
    array = np.asarray(outcomes, dtype=object) if isinstance(outcomes, (list, tuple)) else np.asarray(outcomes)
    if array.ndim != 1:
        raise InputError(f"{name} has shape {array.shape}; give one outcome per pair, shape (n,)")
    codes = np.full(len(array), UNPARSED, dtype=np.int8)
    if array.dtype.kind not in "OU":
        missing = array.dtype.kind == "f" and bool(np.isnan(array).all())
        if len(array) and not missing:
            raise InputError(f"{name} holds {array.dtype}; give the words 'win', 'tie', 'loss' (None: unparsed)")
        return codes
    seen = np.zeros(len(array), dtype=bool)
    for word, code in WORDS:
        hit = np.asarray(array == word, dtype=bool)
        codes[hit] = code
        seen |= hit
    if not seen.all():
        odd = ~seen
        odd[odd] = [not _is_missing(each) for each in array[odd].tolist()]
        if odd.any():
            raise InputError(f"{name} must be 'win', 'tie', 'loss' or None (unparsed): {first_rows(odd, array)}")
    return codes


def outcome_scores(outcomes: Any, *, tie: float = 0.5, unparsed: Unparsed = "drop") -> NDArray[np.float64]:
    """Return 1 for a win, `tie` for a tie, 0 for a loss and NaN for unparsed (0 if 'as_loss'), shape (n,).

    Examples
    --------
    >>> outcome_scores(["win", "tie", None, "loss"]).tolist()
    [1.0, 0.5, nan, 0.0]
    """
    return win_scores(read_outcomes(outcomes), tie, unparsed)


def win_scores(codes: NDArray[np.int8], tie: float, unparsed: Unparsed) -> NDArray[np.float64]:
    """Return the scores of outcomes that are read already; see `outcome_scores`."""
    if isinstance(tie, (bool, str)) or not isinstance(tie, Real) or not 0.0 <= float(tie) <= 1.0:
        raise InputError(f"tie is {tie!r}; give the worth of a tie in [0, 1]: 0.5, 1 (a win) or 0 (strict)")
    if unparsed not in {"drop", "as_loss"}:
        raise InputError(f"unparsed is {unparsed!r}; choose 'drop' or 'as_loss'")
    lost = np.nan if unparsed == "drop" else 0.0
    # By position: loss is -1, the last one.
    return np.array([float(tie), 1.0, lost, 0.0])[codes]


def _is_missing(each: Any) -> bool:
    return each is None or type(each).__name__ in {"NAType", "NaTType"} or (isinstance(each, float) and each != each)
