"""Which names can labels have? Texts that nobody confuses: not with one another, and not with nothing.

A label is compared as it is written, by people who see only how it looks. So two that look alike (spaces around, one
accent written in two ways) are refused before anybody is asked, and so is what was meant otherwise: one text in place
of a list of them, a missing value, a set, whose order differs from run to run.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from numbers import Integral, Real
from typing import Any

from hmc_crowd.errors import InputError

__all__ = ["label_names"]

# Control characters and halves of characters; what joins or directs letters (Cf) belongs to some scripts and to emoji.
_UNSEEN = {"Cc", "Cs"}


def label_names(labels: Any, *, name: str) -> tuple[str, ...]:
    """Return labels as texts in their order, or say which of them cannot be one.

    Numbers and truth values become what they are written as.

    Parameters
    ----------
    labels : iterable of str
        Empty: none are named.
    name : str
        The argument, for messages.

    Raises
    ------
    InputError
        One text or a set in place of a list; an empty or missing label, one with spaces around it or with characters
        that cannot be seen; two that are the same, or look the same.

    Examples
    --------
    >>> label_names(["good", "bad"], name="labels"), label_names([1, 2], name="labels")
    (('good', 'bad'), ('1', '2'))
    """
    if isinstance(labels, str | bytes):
        raise InputError(f"{name} is the text {labels!r}; give a list, such as ['good', 'bad']")
    if isinstance(labels, Mapping | AbstractSet) or not isinstance(labels, Iterable):
        raise InputError(f"{name} is a {type(labels).__name__}; give a list, such as ['good', 'bad']: its order counts")
    found = tuple(_text(each, name) for each in labels)
    if len(set(found)) != len(found):
        raise InputError(f"{name} repeat: {', '.join(map(repr, found))}; name each once")
    met: dict[str, str] = {}
    for each in found:
        like = met.setdefault(_looks(each), each)
        if like != each:
            raise InputError(f"{name} has {like!a} and {each!a}, which look the same; keep one of them")
    return found


def _text(label: Any, name: str) -> str:
    """Return one label as text."""
    is_number = isinstance(label, Integral) or (isinstance(label, Real) and label == label)
    if not (isinstance(label, str) or is_number):
        raise InputError(f"{name} has {label!r}, which is no text; leave it out, or write it as one")
    text = str(label)
    if not _looks(text):
        raise InputError(f"{name} has {text!r}, a label that nobody sees; leave it out, or give it a name")
    if text != text.strip():
        raise InputError(f"{name} has {text!r}, with spaces around it that nobody sees; write {text.strip()!r}")
    if any(unicodedata.category(each) in _UNSEEN for each in text):
        raise InputError(f"{name} has {text!r}, which holds control characters; leave them out")
    return text


def _looks(text: str) -> str:
    """Return what is seen of a text: no joiners and the like, every space alike, each accent in one form."""
    seen = "".join(each for each in text if unicodedata.category(each) != "Cf")
    return unicodedata.normalize("NFC", " ".join(seen.split()))
