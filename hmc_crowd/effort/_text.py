"""How long a text is, and how long people would need for it if nobody has ever been timed.

Token counts need no library and no language: a token is a run of letters, digits and inner apostrophes or hyphens, or
one other visible sign; Chinese and Japanese characters count one by one, because those scripts write no spaces (Thai,
Lao and Khmer, which do not either, are counted too short).

`prior_effort` is a guess from reading speed, there so that a first campaign can be planned at all. Replace it by a
fitted `EffortModel` as soon as some dozens of submissions are timed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd._base.checks import first_rows, float_vector
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["PriorEffort", "count_tokens", "prior_effort"]

_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(
    rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])\w)+(?:['’\-](?:(?![{_UNSPACED}])\w)+)*|[^\w\s]",
)
_WORD = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])\w)+(?:['’\-](?:(?![{_UNSPACED}])\w)+)*")


def listed_texts(texts: Sequence[str]) -> list[str]:
    """Refuse one bare string and anything that is no text."""
    if isinstance(texts, str):
        raise InputError("texts is one string; give a sequence of texts, for example [text]")
    listed = list(texts)
    bad = np.array([not isinstance(text, str) for text in listed], dtype=bool)
    if bad.any():
        raise InputError(f"texts must hold text: {first_rows(bad, listed)}; fill or drop these rows")
    return listed


def count_tokens(texts: Sequence[str], *, punctuation: bool = True) -> NDArray[np.int64]:
    """Count the tokens of each text.

    Parameters
    ----------
    texts : sequence of str, length n
    punctuation : bool, default True
        Count signs other than letters and digits too, as the source's token counts do; False counts words only.

    Returns
    -------
    array of int, shape (n,)

    Examples
    --------
    >>> count_tokens(["Don't stop, please!", "", "今日は"]).tolist()
    [5, 0, 3]
    >>> count_tokens(["Don't stop, please!"], punctuation=False).tolist()
    [3]
    """
    pattern = _TOKEN if punctuation else _WORD
    return np.fromiter((len(pattern.findall(text)) for text in listed_texts(texts)), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class PriorEffort:
    """Seconds per item guessed from reading speed; a prior, not a measurement.

    Attributes
    ----------
    seconds : array of float, shape (n_items,)
        Guessed seconds per item.
    words_per_minute, answer_s : float
        What the guess rests on.
    method, assumptions : str, tuple of str
    """

    seconds: NDArray[np.float64]
    words_per_minute: float
    answer_s: float
    method: str = "prior from reading speed"
    assumptions: tuple[str, ...] = (
        "a guess: nobody was timed",
        "every item is read once, at one speed, and answered in one fixed time",
    )

    @property
    def share(self) -> NDArray[np.float64]:
        """Seconds on the scale of the router, (t - min) / (max - min) in [0, 1]; all zero where all items are alike."""
        low, high = float(self.seconds.min()), float(self.seconds.max())
        return (self.seconds - low) / (high - low) if high > low else np.zeros_like(self.seconds)

    def __str__(self) -> str:
        return (
            f"prior effort of {len(self.seconds):,} items: {self.seconds.sum() / 3600:,.1f} h at "
            f"{self.words_per_minute:g} words a minute and {self.answer_s:g} s an answer (a guess, nobody was timed)"
        )


def prior_effort(
    texts: Sequence[str] | None = None,
    *,
    words: ArrayLike | None = None,
    words_per_minute: float = 100.0,
    answer_s: float = 5.0,
) -> PriorEffort:
    """Guess seconds per item from its length, for a first plan without any timings.

    ``seconds = 60 * words / words_per_minute + answer_s``.

    Parameters
    ----------
    texts : sequence of str, optional
        What people will read per item; words are counted by `count_tokens` without punctuation.
    words : array of float, shape (n_items,), optional
        Word counts, instead of ``texts``.
    words_per_minute : float, default 100
        Reading for judgement, not for pleasure: the same allowance by which our pages tell silent reading from idling.
        Silent reading of easy prose is about twice as quick, so this errs towards planning too few items.
    answer_s : float, default 5
        Deciding and clicking, per item.

    Raises
    ------
    InputError
        Neither or both of ``texts`` and ``words`` are given, or a number is out of range.

    Examples
    --------
    >>> prior_effort(words=[100, 20]).seconds.tolist()
    [65.0, 17.0]
    >>> print(prior_effort(["How dare you!"]))
    prior effort of 1 items: 0.0 h at 100 words a minute and 5 s an answer (a guess, nobody was timed)
    """
    if (texts is None) == (words is None):
        raise InputError("prior_effort needs either texts or words; give exactly one of them")
    if not words_per_minute > 0:
        raise InputError(f"words_per_minute is {words_per_minute}; give a speed above 0")
    if not answer_s >= 0:
        raise InputError(f"answer_s is {answer_s}; give 0 seconds or more")
    counted = words if texts is None else count_tokens(texts, punctuation=False)
    counts = float_vector(counted if counted is not None else [], name="words", low=0.0)
    return PriorEffort(60.0 * counts / words_per_minute + answer_s, float(words_per_minute), float(answer_s))
