"""Which text features mean something in which language? Declared, not guessed.

Readability formulas belong to a language: Flesch's has been refitted for some, Dale-Chall's list of easy words is
English. Where nothing is declared the feature is left out and the loss is stated; a number from the wrong formula would
look like any other. Token counts need spaces between words, or one character per word.

Sources of the coefficients: Flesch (1948) for English, Amstad (1978) German, Fernandez Huerta (1959) Spanish, Kandel
and Moles (1958) French, Franchina and Vacca (1972) Italian, Douma (1960) Dutch, Oborneva (2006) Russian; the values,
and those for Hungarian, are the ones that textstat uses.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType

from hmc_crowd.errors import InputError

__all__ = ["LANGUAGES", "Language", "language_features"]

READABILITY_LOSS = (
    "on the source's English dialogues leaving both readability scores out lowers R2 by about .01 and raises the mean "
    "error by about 2 % (workers never seen: .005 and 0.6 %)"
)
"""Measured on per_dialogue.tsv; tests/effort/test_text_published.py measures it again."""


@dataclass(frozen=True)
class Language:
    """What is declared for a language.

    Attributes
    ----------
    name : str
    flesch : tuple of float, optional
        Base, weight of words per sentence, weight of syllables per word.
    hyphenation : str, optional
        Dictionary of pyphen that syllables are counted by.
    dale_chall : bool
        Whether there is a list of easy words that the formula was made for.
    tokens : bool
        Whether `count_tokens` counts words; scripts without spaces other than Chinese and Japanese it counts too short.
    """

    name: str
    flesch: tuple[float, float, float] | None = None
    hyphenation: str | None = None
    dale_chall: bool = False
    tokens: bool = True


LANGUAGES = MappingProxyType(
    {
        "de": Language("German", (180.0, 1.0, 58.5), "de"),
        "en": Language("English", (206.835, 1.015, 84.6), "en_US", dale_chall=True),
        "es": Language("Spanish", (206.84, 1.02, 60.0), "es"),
        "fr": Language("French", (207.0, 1.015, 73.6), "fr"),
        "hu": Language("Hungarian", (206.835, 1.015, 58.5), "hu"),
        "it": Language("Italian", (217.0, 1.3, 60.0), "it"),
        "ja": Language("Japanese"),
        "km": Language("Khmer", tokens=False),
        "lo": Language("Lao", tokens=False),
        "my": Language("Burmese", tokens=False),
        "nl": Language("Dutch", (206.835, 0.93, 77.0), "nl"),
        "ru": Language("Russian", (206.835, 1.3, 60.1), "ru"),
        "th": Language("Thai", tokens=False),
        "zh": Language("Chinese"),
    }
)
"""Two-letter code -> what is declared; any other language has token counts and no readability."""


def language_features(language: str) -> tuple[Language, dict[str, str]]:
    """Return what is declared for a language, and why each feature that it lacks is left out.

    Parameters
    ----------
    language : str
        Two- or three-letter code; a region after ``-`` or ``_`` is not looked at.

    Raises
    ------
    InputError
        That is no language code.

    Examples
    --------
    >>> language_features("en-GB")[1]
    {}
    >>> language_features("de")[1]
    {'dale_chall': 'there is no list of easy words for German'}
    >>> sorted(language_features("th")[1])
    ['dale_chall', 'flesch_reading_ease', 'length_tokens']
    """
    if not isinstance(language, str) or not re.fullmatch(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]+)*", language):
        raise InputError(f"language is {language!r}; give a code such as 'en' or 'de'")
    code = re.split("[-_]", language)[0].lower()
    found = LANGUAGES.get(code, Language(f"language {code!r}"))
    reasons: dict[str, str] = {}
    if found.flesch is None:
        reasons["flesch_reading_ease"] = f"there is no readability formula for {found.name}"
    if not found.dale_chall:
        reasons["dale_chall"] = f"there is no list of easy words for {found.name}"
    if not found.tokens:
        reasons["length_tokens"] = f"{found.name} is written without spaces and would be counted too short"
    return found, reasons
