"""How much of the reference's wording is in a response? ROUGE-1, ROUGE-2 and ROUGE-L, fast, by a stated definition.

Two packages of the name "rouge" disagree and can turn a winner round, so the definition is named:

* ``"words"`` (default): counts of n-grams; a token is a run of letters, marks and digits of any script, lower case by
  Unicode's case folding. Chinese and Japanese have no spaces: there each character is a token.
* ``"rouge-score"``: the package rouge-score 0.1.2 without stemmer: counts of n-grams over ``[a-z0-9]+``.
* ``"rouge"``: the package rouge 1.0.1, as HREF's published numbers use it: sets of n-grams over what spaces and full
  stops divide, case and commas kept, 1e-8 in the denominator, 0 for a blank text.

The longest common subsequence is counted with one big integer per text (bit-parallel), not with a table of cells.

Sources: Lin (2004), "ROUGE", for the measures; Crochemore et al. (2001), "A fast and practical bit-vector algorithm for
the longest common subsequence problem"; Lyu et al. (2024), "HREF", section 2.2.
"""

from __future__ import annotations

import re
import time
import unicodedata
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.judges._judge import fingerprint
from hmc_crowd.judges._pairs import read_pairs
from hmc_crowd.judges._rouge_href import href_rouge
from hmc_crowd.judges._scored import NO_REFERENCE, by_score

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

__all__ = ["Rouge", "RougeJudge", "rouge", "tokens"]

PRESETS = ("words", "rouge-score", "rouge")
# A definition that has changed is another judge.
_DEFINITIONS = {"words": "words, characters of unspaced scripts"}
MEASURES = ("rouge1", "rouge2", "rougeL")
_ASCII = re.compile(r"[a-z0-9]+")
# \w without the underscore; combining marks are not in \w, so scripts that need them get a class of their own.
# Kana and ideographs stand alone: without spaces a whole sentence would be one token, and hardly two be equal.
_UNSPACED = "\u3041-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_MARKED = re.compile(rf"[{_UNSPACED}]|(?:[^\W_{_UNSPACED}][\u0300-\u036f\u0900-\u0dff\u0e00-\u0eff\u064b-\u065f]*)+")
# Of ASCII text both presets keep letters and digits alone: a table is faster than a pattern.
_PLAIN = bytes(ord(chr(code).lower()) if chr(code).isalnum() else 32 for code in range(128)).ljust(256)


@dataclass(frozen=True)
class Rouge:
    """Overlap of a text with its reference: precision, recall and their harmonic mean, each in [0, 1]."""

    precision: float
    recall: float
    f: float


def tokens(text: str, preset: str = "words") -> list[str]:
    """Divide a text into tokens as a preset does.

    Examples
    --------
    >>> tokens("L'été, well-known!"), tokens("L'été, well-known!", "rouge-score")
    (['l', 'été', 'well', 'known'], ['l', 't', 'well', 'known'])
    >>> tokens("GPT-4は早い")
    ['gpt', '4', 'は', '早', 'い']
    """
    if text.isascii() and preset in {"words", "rouge-score"}:
        return text.encode().translate(_PLAIN).decode().split()
    if preset == "words":
        return _MARKED.findall(unicodedata.normalize("NFC", text).casefold())
    if preset == "rouge-score":
        return _ASCII.findall(text.lower())
    raise InputError(f"preset is {preset!r}; choose one of {', '.join(PRESETS)}")


def rouge(candidate: str, reference: str, measure: str = "rouge1", *, preset: str = "words") -> Rouge:
    """Compare a text with its reference.

    Parameters
    ----------
    candidate, reference : str
    measure : {"rouge1", "rouge2", "rougeL"}, default "rouge1"
    preset : {"words", "rouge-score", "rouge"}, default "words"
        Whose definition; see the module's text.

    Returns
    -------
    Rouge

    Examples
    --------
    Five of six words are shared, on both sides.

    >>> round(rouge("the cat sat on the mat", "the cat sat on a mat").f, 4)
    0.8333
    """
    _check(measure, preset)
    if preset == "rouge":
        return Rouge(*href_rouge(candidate, reference, measure))
    return _overlap(tokens(candidate, preset), tokens(reference, preset), measure)


class RougeJudge:
    """Prefer the response that shares more wording with the reference.

    Parameters
    ----------
    measure : {"rouge1", "rouge2", "rougeL"}, default "rouge1"
    preset : {"words", "rouge-score", "rouge"}, default "words"
    tokenizer : callable str -> sequence of str, optional
        Takes the place of the preset's; give `version` with it.
    version : str, optional
        What your tokenizer is called, so that a changed one is seen as another judge.

    Examples
    --------
    >>> pairs = {"item": ["1"], "instruction": ["Sky?"], "reference": ["The sky is blue."],
    ...          "response_a": ["It is blue."], "response_b": ["Green!"]}
    >>> judged = RougeJudge().judge(pairs)
    >>> judged["label"][0], round(float(judged["score_a"][0]), 4), float(judged["score_b"][0])
    ('a', 0.5714, 0.0)
    """

    leaves_machine = False
    needs_reference = True

    def __init__(
        self, measure: str = "rouge1", *, preset: str = "words", tokenizer: Any = None, version: str = ""
    ) -> None:
        _check(measure, preset)
        if tokenizer is not None and not version:
            raise InputError("a tokenizer of your own needs version='...': judges are told apart by it")
        self.name = "rouge" if measure == "rouge1" else measure
        self.measure, self.preset, self._tokenizer = measure, preset, tokenizer
        self.version = fingerprint("rouge", measure, version or _DEFINITIONS.get(preset, preset))

    def judge(self, pairs: Any) -> pd.DataFrame:
        """Return one judgement per pair; pairs without a reference stay unjudged."""
        started = time.perf_counter()
        given = read_pairs(pairs)
        has = given.has_reference
        scores = np.full((2, len(given)), np.nan)
        columns = zip(given.response_a, given.response_b, given.reference, strict=True)
        for row, (first, second, reference) in enumerate(columns):
            if has[row]:
                scores[:, row] = self._both(first, second, reference)
        reason = ["" if each else NO_REFERENCE for each in has]
        return by_score(given, scores[0], scores[1], scale=0.1, started=started, reason=reason)

    def _both(self, first: str, second: str, reference: str) -> tuple[float, float]:
        if self._tokenizer is None and self.preset == "rouge":
            a, b = (href_rouge(each, reference, self.measure)[2] for each in (first, second))
            return a, b
        cut = self._tokenizer or (lambda text: tokens(text, self.preset))
        wanted = cut(reference)
        # The reference is cut once for both.
        return _overlap(cut(first), wanted, self.measure).f, _overlap(cut(second), wanted, self.measure).f


def _check(measure: str, preset: str) -> None:
    if measure not in MEASURES:
        raise InputError(f"measure is {measure!r}; choose one of {', '.join(MEASURES)}")
    if preset not in PRESETS:
        raise InputError(f"preset is {preset!r}; choose one of {', '.join(PRESETS)}")


def _overlap(candidate: Sequence[str], reference: Sequence[str], measure: str) -> Rouge:
    size = 2 if measure == "rouge2" else 1
    if measure == "rougeL":
        shared = longest_common(candidate, reference)
    elif size == 2:
        shared = _shared(pairwise(candidate), pairwise(reference))
    else:
        shared = _shared(candidate, reference)
    many, wanted = max(len(candidate) - size + 1, 0), max(len(reference) - size + 1, 0)
    precision, recall = shared / many if many else 0.0, shared / wanted if wanted else 0.0
    return Rouge(precision, recall, 2 * precision * recall / (precision + recall) if shared else 0.0)


def _shared(ours: Iterable[Any], theirs: Iterable[Any]) -> int:
    """Return how many of our grams find one of theirs that no other has taken."""
    one, other = Counter(ours), Counter(theirs)
    return sum(min(one[gram], other[gram]) for gram in one.keys() & other.keys())


def longest_common(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence of two token lists.

    Examples
    --------
    >>> longest_common("a b c d".split(), "b d c".split())
    2
    """
    if not first or not second:
        return 0
    where: dict[str, int] = {}
    for place, word in enumerate(first):
        where[word] = where.get(word, 0) | (1 << place)
    full = (1 << len(first)) - 1
    row = full
    for match in _matches(second, where):
        hit = row & match
        row = ((row + hit) | (row - hit)) & full
    # Every bit that fell from 1 to 0 is one more matched token.
    return len(first) - row.bit_count()


def _matches(words: Iterable[str], where: dict[str, int]) -> Iterable[int]:
    return (where[word] for word in words if word in where)
