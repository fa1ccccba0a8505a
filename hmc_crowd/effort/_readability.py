"""How hard is a text to read? Flesch's and Dale-Chall's scores, equal to textstat's and without its download.

textstat fetches a pronouncing dictionary over the network before its first score, and keeps the language in a global
setting. Words, sentences and formulas here are textstat's (0.7.13), so the scores agree to the last digit with
``syllables="cmudict"``, where that dictionary is on the machine. By default syllables come from hyphenation, which
needs no network, is the same on every machine, and is what textstat used when the source was written.

Guarantee: for any text, and each language that declares the score, the value is textstat's for the same syllables.
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.extras import require
from hmc_crowd.effort._languages import Language, language_features
from hmc_crowd.effort._text import listed_texts
from hmc_crowd.errors import InputError, MissingExtraError, ModelError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

__all__ = ["readability"]

_LONE_APOSTROPHE = re.compile(r"'(?![tsd]|ve|ll|re)")
_PUNCTUATION = re.compile(r"[^\w\s']")
_SENTENCE = re.compile(r"\b[^.!?]+[.!?]*")
_SHORT = 2  # "sentences" of so many words are none
_HARD_PCT, _HARD_EXTRA = 5, 3.6365
_DICTIONARIES = ("hyphenation", "cmudict")


def readability(texts: Sequence[str], *, language: str = "en", syllables: str = "hyphenation") -> pd.DataFrame:
    """Compute the readability scores that are declared for a language.

    Parameters
    ----------
    texts : sequence of str, length n
    language : str, default "en"
        As in `LANGUAGES`.
    syllables : {"hyphenation", "cmudict"}, default "hyphenation"
        What counts syllables: pyphen's patterns, or for English the CMU dictionary where nltk has it on this machine,
        and patterns for words outside it.

    Returns
    -------
    pandas.DataFrame
        ``flesch_reading_ease`` (higher is easier; about 0 to 100, but not bounded) and ``dale_chall`` (higher is
        harder), as far as the language declares them. A text without words scores 0, as in textstat.

    Raises
    ------
    InputError
        No texts, or an option is not allowed.
    MissingExtraError
        textstat, which holds the word list and brings the hyphenation, is not installed.
    ModelError
        The CMU dictionary is not on this machine.

    Examples
    --------
    >>> scores = readability(["The cat sat on the mat.", "Notwithstanding, jurisprudence necessitates deliberation."])
    >>> scores.round(2).to_dict("list")
    {'flesch_reading_ease': [116.15, -135.62], 'dale_chall': [0.3, 19.62]}
    """
    import pandas as pd

    if syllables not in _DICTIONARIES:
        raise InputError(f"syllables is {syllables!r}; use {' or '.join(map(repr, _DICTIONARIES))}")
    listed, (declared, _) = listed_texts(texts), language_features(language)
    split = [_words(text) for text in listed]
    words = np.array([len(each) for each in split], dtype=np.float64)
    sentences = np.array([_count_sentences(text) for text in listed], dtype=np.float64)
    per_sentence = _ratio(words, sentences)
    scores = {}
    if declared.flesch is not None:
        of_word = _Remembered(_syllable_counter(declared, syllables))
        counted = np.array([sum(map(of_word.__getitem__, each)) for each in split], dtype=np.float64)
        scores["flesch_reading_ease"] = _flesch(declared.flesch, per_sentence, _ratio(counted, words))
    if declared.dale_chall:
        easy = _easy_words()
        hard = words - np.array([sum(map(easy.__contains__, each)) for each in split], dtype=np.float64)
        scores["dale_chall"] = _dale_chall(_ratio(100 * hard, words), per_sentence, words)
    return pd.DataFrame(scores, index=pd.RangeIndex(len(listed)))


def _words(text: str) -> list[str]:
    """Return a text's words: small letters, without signs, apostrophes kept in English contractions."""
    return _PUNCTUATION.sub("", _LONE_APOSTROPHE.sub("", text)).lower().split()


def _count_sentences(text: str) -> int:
    """Count sentences of more than two words; at least 1 in any text that is not empty."""
    if not text:
        return 0
    return max(1, sum(len(_words(each)) > _SHORT for each in _SENTENCE.findall(text)))


def _ratio(above: Any, below: Any) -> Any:
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


def _flesch(weights: tuple[float, float, float], per_sentence: Any, per_word: Any) -> Any:
    base, sentence, syllable = weights
    # In this order of operations, for equality to the last digit.
    score = base - sentence * per_sentence - syllable * per_word
    return np.where((per_sentence == 0) | (per_word == 0), 0.0, score)


def _dale_chall(hard_pct: Any, per_sentence: Any, words: Any) -> Any:
    score = (0.1579 * hard_pct) + (0.0496 * per_sentence)
    return np.where(words == 0, 0.0, np.where(hard_pct > _HARD_PCT, score + _HARD_EXTRA, score))


class _Remembered(dict[str, int]):
    """Word -> count, worked out when first asked for."""

    def __init__(self, count: Callable[[str], int]) -> None:
        super().__init__()
        self._count = count

    def __missing__(self, word: str) -> int:
        self[word] = made = self._count(word)
        return made


def _syllable_counter(language: Language, syllables: str) -> Callable[[str], int]:
    """Return what counts the syllables of one word."""
    pyphen = require("pyphen", extra="text", purpose="Counting syllables")
    patterns = pyphen.Pyphen(lang=language.hyphenation)
    spoken: Any = _spoken() if syllables == "cmudict" and language.hyphenation == "en_US" else {}

    def count(word: str) -> int:
        if word in spoken:
            return sum(sound[-1].isdigit() for sound in spoken[word][0])
        return len(patterns.positions(word)) + 1

    return count


def _spoken() -> Any:
    """Return the CMU dictionary, if it is here; nothing is fetched."""
    nltk = require("nltk", extra="text", purpose="syllables='cmudict'")
    try:
        nltk.data.find("corpora/cmudict")
        return nltk.corpus.cmudict.dict()
    except LookupError:
        raise ModelError(
            "syllables is 'cmudict' but nltk has no CMU dictionary here; let nltk download it, or use 'hyphenation'"
        ) from None


def _easy_words() -> frozenset[str]:
    """Read the list of easy words from textstat's files, without loading textstat and all it brings."""
    spec = find_spec("textstat")
    places = [] if spec is None else list(spec.submodule_search_locations or [])
    if not places:
        raise MissingExtraError("The Dale-Chall score needs textstat: pip install textstat")
    path = Path(places[0]) / "resources" / "en" / "easy_words.txt"
    return frozenset(line.strip() for line in path.read_text(encoding="utf-8").splitlines())
