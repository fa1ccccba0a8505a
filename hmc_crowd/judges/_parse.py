"""What did the judge say? Exact answers only, and sides put right before anything else.

Strip, lower-case, then 'a', 'b' or 'tie' exactly; all else ("(a)", "a.", "neither", "") is unparsed and leaves,
counted. A swapped pair is turned back while there are three answers: turning a tie round after it was made binary
would make it a loss.

Source: Lyu et al. (2024), "HREF", appendix C.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["binary", "chances_from_logprobs", "chances_from_samples", "parse_answer", "turned_back"]

_ANSWERS = ("a", "b", "tie")
_OTHER = {"a": "b", "b": "a", "tie": "tie"}


def parse_answer(text: str | None) -> str | None:
    """Return 'a', 'b', 'tie', or None for anything else.

    Examples
    --------
    >>> [parse_answer(each) for each in (" B ", "Tie", "a.", "neither", None)]
    ['b', 'tie', None, None, None]
    """
    word = "" if text is None else text.strip().lower()
    return word if word in _ANSWERS else None


def turned_back(label: str | None, swapped: bool) -> str | None:
    """Return the label as if nothing had been swapped.

    Raises
    ------
    InputError
        It is none of the three.

    Examples
    --------
    >>> turned_back("a", True), turned_back("tie", True), turned_back("a", False)
    ('b', 'tie', 'a')
    """
    if label is not None and label not in _OTHER:
        raise InputError(f"label is {label!r}; give 'a', 'b', 'tie' or None")
    return _OTHER[label] if swapped and label is not None else label


def binary(label: str | None) -> int | None:
    """Return the paper's binary form: 0 for a, 1 for b and for tie, None where nothing was read.

    Examples
    --------
    >>> [binary(turned_back(parse_answer("tie"), swapped)) for swapped in (False, True)]
    [1, 1]
    """
    return None if label is None else int(label != "a")


def chances_from_logprobs(alternatives: Mapping[str, float]) -> dict[str, float] | None:
    """Return the probabilities of a, b and tie from the first token's alternatives, or None if none of them fits.

    Parameters
    ----------
    alternatives : mapping of token -> natural log of its probability
        A token counts for the one answer that it begins ("T" for tie); the three are scaled to sum to 1.

    Examples
    --------
    >>> found = chances_from_logprobs({"A": math.log(0.6), " b": math.log(0.2), "The": math.log(0.2)})
    >>> {name: round(value, 2) for name, value in found.items()}
    {'a': 0.75, 'b': 0.25, 'tie': 0.0}
    """
    mass = dict.fromkeys(_ANSWERS, 0.0)
    for token, log in alternatives.items():
        word = token.strip().lower()
        fits = [answer for answer in _ANSWERS if word and answer.startswith(word)]
        if len(fits) == 1 and log == log:
            mass[fits[0]] += math.exp(min(log, 0.0))
    total = sum(mass.values())
    return {name: value / total for name, value in mass.items()} if total > 0.0 else None


def chances_from_samples(labels: Sequence[str | None]) -> dict[str, float] | None:
    """Return the shares of a, b and tie among the samples that could be read, or None if none could.

    Examples
    --------
    >>> chances_from_samples(["a", "a", None, "tie", "a"])
    {'a': 0.75, 'b': 0.0, 'tie': 0.25}
    """
    known = [each for each in labels if each is not None]
    return {name: known.count(name) / len(known) for name in _ANSWERS} if known else None
