"""The words of the pages, from one catalogue per language.

Every catalogue has the same keys and the same placeholders as the English one (tested). The pseudo-locale ``xx`` is
made from the English one: longer, accented and in brackets, so that a text which is not in a catalogue stands out.
"""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from hmc_crowd._base.numbers import finite_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["LANGUAGES", "PSEUDO", "Texts", "asked_language", "choose_language"]

#: Code of each language, its name in itself, and the direction of its script.
LANGUAGES: Mapping[str, tuple[str, str]] = {
    "ar": ("العربية", "rtl"),
    "de": ("Deutsch", "ltr"),
    "en": ("English", "ltr"),
    "es": ("Español", "ltr"),
    "vi": ("Tiếng Việt", "ltr"),
}
PSEUDO = "xx"
_ACCENTED = str.maketrans("AEIOUaeiouncsy", "ÀÉÎÖÛàéîöûñçšý")


@lru_cache(maxsize=8)
def _catalogue(language: str) -> Mapping[str, str]:
    if language == PSEUDO:
        return {key: _pseudo(text) for key, text in _catalogue("en").items()}
    text = files("hmc_crowd_local.pages").joinpath("catalogues", f"{language}.json").read_text(encoding="utf-8")
    found: dict[str, str] = json.loads(text)
    return found


def _pseudo(text: str) -> str:
    """Accent what is not a placeholder, and make it a third longer."""
    parts = text.replace("{", "\0{").replace("}", "}\0").split("\0")
    accented = "".join(part if part.startswith("{") else part.translate(_ACCENTED) for part in parts)
    return f"[{accented}{'~' * (len(text) // 3)}]"


class Texts:
    """The texts of one language.

    Examples
    --------
    >>> Texts("de")("progress", number=2, total=5)
    'Frage 2 von 5'
    >>> Texts("xx")("progress", number=2, total=5)
    '[Qûéštîöñ 2 öf 5~~~~~~~~~]'
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self.direction = LANGUAGES.get(language, ("", "ltr"))[1]
        self._of = _catalogue(language)

    def __call__(self, key: str, **values: object) -> str:
        """Return a text with its placeholders filled in."""
        return self._of[key].format(**values) if values else self._of[key]


def asked_language(parameters: Mapping[str, str]) -> str:
    """Return the language that an address asks for, or nothing where we do not have it.

    >>> asked_language({"lang": "de"}), asked_language({"lang": "tlh"})
    ('de', '')
    """
    asked = parameters.get("lang", "")
    return asked if asked in {*LANGUAGES, PSEUDO} else ""


def choose_language(asked: str | None, accepted: str, default: str) -> str:
    """Return the language of a page: the one asked for, else the first of the browser's that we have.

    >>> choose_language(None, "fr-CH, de;q=0.8, en;q=0.9", "es"), choose_language("vi", "de", "en")
    ('en', 'vi')
    """
    known = {*LANGUAGES, PSEUDO}
    if asked in known:
        return str(asked)
    return next((each for each in _by_preference(accepted) if each in LANGUAGES), default)


def _by_preference(header: str) -> Iterable[str]:
    ranked = []
    for place, part in enumerate(header[:500].split(",")):
        code, _, rest = part.strip().partition(";")
        weight = rest.strip().removeprefix("q=")
        liked = finite_number(weight) if weight else 1.0
        if liked is not None:
            ranked.append((-liked, place, code.partition("-")[0].lower()))
    return [code for _, _, code in sorted(ranked)]
